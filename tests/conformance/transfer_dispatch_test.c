/* SPDX-License-Identifier: MIT
 *
 * Dispatches as operations of queues, and command buffers under stress.
 */
#include "transfer_scene.h"

/* ---- dispatch -------------------------------------------------------------- */

static void dispatch_captures_all_it_is_given(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *add = fixture_kernel(f, &agx_test_add);
   uint32_t *from, *to, push = 1000;
   struct agx_buffer *x = fixture_buffer(f, 128, &from), *y = fixture_buffer(f, 128, &to);
   struct agx_semaphore *go = fixture_semaphore(f), *done = fixture_semaphore(f);
   struct agx_binding bindings[2] = {{.binding = 0, .ref = {x, 0, AGX_WHOLE_LENGTH}},
                                     {.binding = 1, .ref = {y, 0, AGX_WHOLE_LENGTH}}};
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = add,
                                   .workgroups = {1, 1, 1},
                                   .binding_count = 2,
                                   .bindings = bindings,
                                   .push = &push,
                                   .push_B = sizeof(push)};
   struct agx_op op = {.size = sizeof(op), .kind = AGX_OP_DISPATCH, .u.dispatch = {&dispatch}};
   for (uint32_t i = 0; i < 32; i++)
      from[i] = i;
   assert_ok(submit(f, op, conformance_point(go, 1), conformance_point(done, 1)));
   push = 5;
   memset(bindings, 0, sizeof(bindings));
   memset(&dispatch, 0, sizeof(dispatch));
   agx_release(x); /* all is kept alive until it has run */
   agx_release(add);
   assert_int_equal(to[3], 0);
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(done, 1));
   for (uint32_t i = 0; i < 32; i++)
      assert_int_equal(to[i], i + 1000);
   agx_release(y);
   agx_release(go);
   agx_release(done);
}

/* What does nothing signals nevertheless. */
static void nothing_to_do_signals(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *count = fixture_kernel(f, &agx_test_count);
   uint8_t *bytes;
   struct agx_buffer *buffer = make_buffer(f, 256, GUARD, &bytes);
   struct agx_binding binding = {.ref = {buffer, 0, AGX_WHOLE_LENGTH}};
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = count,
                                   .workgroups = {1, 0, 1},
                                   .binding_count = 1,
                                   .bindings = &binding};
   run(f, (struct agx_op){
             .size = sizeof(struct agx_op), .kind = AGX_OP_DISPATCH, .u.dispatch = {&dispatch}});
   run(f, fill_op(buffer, 256, 0, 1, 4));
   run(f, copy_op(buffer, 8, buffer, 8, 0));
   for (int i = 0; i < 256; i++)
      assert_int_equal(bytes[i], GUARD);
   agx_release(buffer);
   agx_release(count);
}

/* A refusal leaves no trace: its signal may be submitted again. */
static void refusals_leave_no_trace(void **state)
{
   struct fixture *f = conformance_device(state);
   uint8_t *bytes;
   struct agx_buffer *buffer = make_buffer(f, 64, GUARD, &bytes);
   struct agx_semaphore *done = fixture_semaphore(f);
   struct agx_op flagged = fill_op(buffer, 0, 4, 1, 4);
   flagged.flags = 4;
   assert_fails(submit(f, flagged, NO_POINT, conformance_point(done, 1)), AGX_INVALID_ARGUMENT,
                "fill: flags 0x4: 0x4 is unknown");
   assert_fails(submit(f, fill_op(buffer, 0, 65, 1, 1), NO_POINT, conformance_point(done, 1)),
                AGX_OUT_OF_RANGE, "length 65");
   assert_fails(submit(f, fill_op(buffer, 0, 6, 1, 4), NO_POINT, conformance_point(done, 1)),
                AGX_INVALID_ARGUMENT, "length 6");
   assert_fails(submit(f, copy_op(buffer, 0, buffer, 3, 4), NO_POINT, conformance_point(done, 1)),
                AGX_INVALID_ARGUMENT, "overlap");
   assert_fails(submit(f, (struct agx_op){.size = sizeof(struct agx_op), .kind = AGX_OP_DISPATCH},
                       NO_POINT, conformance_point(done, 1)),
                AGX_INVALID_ARGUMENT, "NULL");
   assert_ok(submit(f, fill_op(buffer, 0, 64, 7, 1), NO_POINT, conformance_point(done, 1)));
   assert_ok(fixture_wait(done, 1));
   assert_int_equal(bytes[63], 7);
   agx_release(done);
   agx_release(buffer);
}

/* Nothing runs behind a failure, and its text comes through. */
static void failed_waits_fail_transfers(void **state)
{
   struct fixture *f = conformance_device(state);
   uint8_t *bytes;
   struct agx_buffer *buffer = make_buffer(f, 64, GUARD, &bytes);
   struct agx_semaphore *go = fixture_semaphore(f), *done = fixture_semaphore(f);
   assert_ok(submit(f, fill_op(buffer, 0, 64, 1, 1), conformance_point(go, 1),
                    conformance_point(done, 1)));
   agx_semaphore_fail(go, AGX_ABORTED, "the hose is cut");
   assert_fails(fixture_wait(done, 1), AGX_ABORTED, "the hose is cut");
   assert_int_equal(bytes[0], GUARD);
   agx_release(buffer);
   agx_release(go);
   agx_release(done);
}

/* ---- command buffers under stress ------------------------------------------- */

static void rapid_fill_submit(void **state)
{
   enum {
      ROUNDS = 200
   };
   struct fixture *f = conformance_device(state);
   uint8_t *bytes;
   struct agx_buffer *buffer = make_buffer(f, 1024, 0, &bytes);
   struct agx_semaphore *chain = fixture_semaphore(f);
   for (uint32_t i = 0; i < ROUNDS; i++) {
      struct agx_command_buffer *commands = fixture_begin(f);
      const uint32_t pattern = i + 1;
      assert_ok(agx_cmd_fill(commands, (struct agx_buffer_ref){buffer, 0, 1024}, &pattern, 4));
      assert_ok(agx_command_buffer_end(commands));
      assert_ok(
         fixture_submit(f, commands, conformance_point(chain, i), conformance_point(chain, i + 1)));
      agx_release(commands);
   }
   assert_ok(fixture_wait(chain, ROUNDS));
   for (int i = 0; i < 1024; i += 4)
      assert_int_equal(bytes[i], ROUNDS);
   agx_release(chain);
   agx_release(buffer);
}

static void rapid_copy_submit(void **state)
{
   enum {
      ROUNDS = 100
   };
   struct fixture *f = conformance_device(state);
   uint8_t *bytes[2];
   struct agx_buffer *buffers[2] = {make_buffer(f, 1000, 0, &bytes[0]),
                                    make_buffer(f, 1000, 0, &bytes[1])};
   struct agx_semaphore *chain = fixture_semaphore(f);
   scatter(bytes[0], 1000, 9);
   for (uint32_t i = 0; i < ROUNDS; i++) {
      struct agx_command_buffer *commands = fixture_begin(f);
      assert_ok(agx_cmd_copy(commands, (struct agx_buffer_ref){buffers[i % 2], i % 2, 999},
                             (struct agx_buffer_ref){buffers[1 - i % 2], 1 - i % 2, 999}));
      assert_ok(agx_command_buffer_end(commands));
      assert_ok(
         fixture_submit(f, commands, conformance_point(chain, i), conformance_point(chain, i + 1)));
      agx_release(commands);
   }
   assert_ok(fixture_wait(chain, ROUNDS));
   assert_memory_equal(bytes[0], bytes[1] + 1, 999);
   agx_release(chain);
   agx_release(buffers[0]);
   agx_release(buffers[1]);
}

static void large_fill_command_buffer(void **state)
{
   enum {
      FILLS = 2000
   };
   struct fixture *f = conformance_device(state);
   uint8_t *bytes;
   struct agx_buffer *buffer = make_buffer(f, FILLS * 4, 0, &bytes);
   struct agx_command_buffer *commands = fixture_begin(f);
   for (uint32_t i = 0; i < FILLS; i++)
      assert_ok(agx_cmd_fill(commands, (struct agx_buffer_ref){buffer, i * 4ull, 4}, &i, 4));
   conformance_run(f, commands);
   for (uint32_t i = 0; i < FILLS; i++)
      assert_int_equal(((uint32_t *)bytes)[i], i);
   agx_release(commands);
   agx_release(buffer);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(dispatch_captures_all_it_is_given),
      cmocka_unit_test(nothing_to_do_signals),
      cmocka_unit_test(refusals_leave_no_trace),
      cmocka_unit_test(failed_waits_fail_transfers),
      cmocka_unit_test(rapid_fill_submit),
      cmocka_unit_test(rapid_copy_submit),
      cmocka_unit_test(large_fill_command_buffer),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
