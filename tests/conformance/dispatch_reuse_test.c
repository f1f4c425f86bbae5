/* SPDX-License-Identifier: MIT
 *
 * Dispatches that are submitted again, and as operations of queues.
 */
#include "dispatch_scene.h"

/* ---- DispatchReuseTest ---------------------------------------------------- */

static void large_workgroup_count(void **state)
{
   enum {
      GROUPS = 1500
   };
   struct dispatches s;
   uint32_t *words;
   open_dispatches(state, &s, false);
   struct agx_buffer *out = fixture_buffer(s.f, GROUPS * 64 * 4, &words);
   struct agx_command_buffer *commands = begin(&s);
   const struct agx_binding binding = {.ref = {out, 0, AGX_WHOLE_LENGTH}};
   const struct agx_dispatch dispatch = make(s.count, GROUPS, &binding, 1, NULL, 0);
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_command_buffer_end(commands));
   run(&s, commands);
   for (uint32_t i = 0; i < GROUPS * 64; i++)
      assert_int_equal(words[i], i + 1);
   agx_release(commands);
   agx_release(out);
   close_dispatches(&s);
}

static void deferred_execute_retains_dispatch_binding_table(void **state)
{
   struct dispatches s;
   uint32_t *x, *y;
   open_dispatches(state, &s, true);
   struct agx_semaphore *go = fixture_semaphore(s.f);
   struct agx_buffer *in = fixture_buffer(s.f, 128, &x), *out = fixture_buffer(s.f, 128, &y);
   struct agx_command_buffer *commands = begin(&s);
   for (uint32_t i = 0; i < 32; i++)
      x[i] = i;
   add(&s, commands, bind(&s, in, 0, 128), bind(&s, out, 0, 128), 4);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(try_submit(&s, commands, conformance_point(go, 1), 1));
   memset(s.table, 0, sizeof(s.table));
   agx_release(in);
   agx_release(commands);
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(s.done, 1));
   for (uint32_t i = 0; i < 32; i++)
      assert_int_equal(y[i], i + 4);
   agx_release(out);
   agx_release(go);
   close_dispatches(&s);
}

static void alloca_execute_dealloca_cycle(void **state)
{
   struct dispatches s;
   uint32_t *y;
   open_dispatches(state, &s, false);
   struct agx_buffer *out = fixture_buffer(s.f, 128, &y);
   for (uint32_t round = 0; round < 12; round++) {
      struct transient t = submit_transient(&s, out, round * 10);
      assert_ok(fixture_wait(s.done, s.value));
      for (uint32_t i = 0; i < 32; i++)
         assert_int_equal(y[i], round * 10 + 1);
      drop_transient(&t);
   }
   agx_release(out);
   close_dispatches(&s);
}

static void pipelined_alloca_execute_dealloca(void **state)
{
   enum {
      DEEP = 8
   };
   struct dispatches s;
   struct transient transients[DEEP];
   struct agx_buffer *out[DEEP];
   uint32_t *y[DEEP];
   open_dispatches(state, &s, false);
   for (uint32_t i = 0; i < DEEP; i++) {
      out[i] = fixture_buffer(s.f, 128, &y[i]);
      transients[i] = submit_transient(&s, out[i], 100 * i);
   }
   assert_ok(fixture_wait(s.done, s.value));
   for (uint32_t i = 0; i < DEEP; i++) {
      assert_int_equal(y[i][0], 100 * i + 1);
      assert_int_equal(y[i][31], 100 * i + 1);
      drop_transient(&transients[i]);
      agx_release(out[i]);
   }
   close_dispatches(&s);
}

static void multi_dispatch(void **state, uint32_t submissions)
{
   struct dispatches s;
   uint32_t *x, *y;
   open_dispatches(state, &s, false);
   struct agx_buffer *in = fixture_buffer(s.f, 128, &x), *out = fixture_buffer(s.f, 4096, &y);
   struct agx_command_buffer *commands = begin(&s);
   for (uint32_t i = 0; i < 32; i++)
      add(&s, commands, (struct agx_buffer_ref){in, 0, 128},
          (struct agx_buffer_ref){out, 128 * i, 128}, i);
   assert_ok(agx_command_buffer_end(commands));
   for (uint32_t i = 0; i < submissions; i++)
      assert_ok(try_submit(&s, commands, NO_POINT, ++s.value));
   assert_ok(fixture_wait(s.done, s.value));
   for (uint32_t i = 0; i < 1024; i++)
      assert_int_equal(y[i], i / 32);
   agx_release(commands);
   agx_release(out);
   agx_release(in);
   close_dispatches(&s);
}

static void multiple_dispatches_in_single_command_buffer(void **state)
{
   multi_dispatch(state, 1);
}

static void multi_dispatch_multi_resubmit(void **state)
{
   multi_dispatch(state, 10);
}

/* ---- QueueDispatchTest ---------------------------------------------------- */

static agx_status queue_dispatch(struct dispatches *s, const struct agx_dispatch *dispatch,
                                 struct agx_point wait, uint64_t value)
{
   const struct agx_point signal = {s->done, value};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_DISPATCH,
                             .waits = &wait,
                             .wait_count = wait.semaphore != NULL,
                             .signals = &signal,
                             .signal_count = 1,
                             .u.dispatch = {dispatch}};
   return agx_submit(s->f->device, &op, 1, NULL);
}

/* 0 workgroups, parked or not, touch nothing and signal all the same. */
static void noop_dispatch_signals_and_does_not_touch_buffers(void **state)
{
   struct dispatches s;
   uint32_t *words;
   open_dispatches(state, &s, false);
   struct agx_semaphore *go = fixture_semaphore(s.f);
   struct agx_buffer *out = fixture_buffer(s.f, 256, &words);
   const struct agx_binding binding = {.ref = {out, 0, 256}};
   const struct agx_dispatch nothing = make(s.count, 0, &binding, 1, NULL, 0);
   assert_ok(queue_dispatch(&s, &nothing, NO_POINT, 1));
   assert_ok(fixture_wait(s.done, 1));
   assert_int_equal(words[0], 0);
   agx_release(out);
   agx_release(go);
   close_dispatches(&s);
}

static void deferred_noop_dispatch(void **state)
{
   struct dispatches s;
   uint32_t *words;
   open_dispatches(state, &s, false);
   struct agx_semaphore *go = fixture_semaphore(s.f);
   struct agx_buffer *out = fixture_buffer(s.f, 256, &words);
   const struct agx_binding binding = {.ref = {out, 0, 256}};
   const struct agx_dispatch nothing = make(s.count, 0, &binding, 1, NULL, 0);
   assert_ok(queue_dispatch(&s, &nothing, conformance_point(go, 1), 1));
   struct agx_point point = {s.done, 1};
   assert_fails(agx_semaphore_wait(&point, 1, false, 0), AGX_DEADLINE_EXCEEDED, "");
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(s.done, 1));
   assert_int_equal(words[0], 0);
   agx_release(out);
   agx_release(go);
   close_dispatches(&s);
}

static void deferred_wait_before_signal_dispatch(void **state)
{
   struct dispatches s;
   uint32_t *x, *y, push = 9;
   open_dispatches(state, &s, false);
   struct agx_semaphore *go = fixture_semaphore(s.f);
   struct agx_buffer *in = fixture_buffer(s.f, 128, &x), *out = fixture_buffer(s.f, 128, &y);
   struct agx_binding bindings[] = {{.binding = 0, .ref = {in, 0, 128}},
                                    {.binding = 1, .ref = {out, 0, 128}}};
   const struct agx_dispatch dispatch = make(s.add, 1, bindings, 2, &push, sizeof(push));
   assert_ok(queue_dispatch(&s, &dispatch, conformance_point(go, 1), 1));
   push = 0; /* captured, as the bindings are, and retained */
   memset(bindings, 0, sizeof(bindings));
   agx_release(in);
   assert_int_equal(y[0], 0);
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(s.done, 1));
   assert_int_equal(y[31], 9);
   agx_release(out);
   agx_release(go);
   close_dispatches(&s);
}

/* A caller that keeps objects alive itself may have command buffers that don't retain them. */
static void dispatch_with_borrowed_resource_lifetimes(void **state)
{
   struct dispatches s;
   uint32_t *x, *y;
   open_dispatches(state, &s, false);
   const struct agx_command_buffer_desc desc = {.size = sizeof(desc),
                                                .flags = AGX_COMMAND_BUFFER_UNRETAINED};
   struct agx_buffer *in = fixture_buffer(s.f, 128, &x), *out = fixture_buffer(s.f, 128, &y);
   struct agx_command_buffer *commands = NULL;
   assert_ok(agx_command_buffer_create(s.f->device, &desc, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   add(&s, commands, (struct agx_buffer_ref){in, 0, 128}, (struct agx_buffer_ref){out, 0, 128}, 6);
   assert_ok(agx_command_buffer_end(commands));
   run(&s, commands);
   assert_int_equal(y[31], 6);
   agx_release(commands);
   agx_release(out);
   agx_release(in);
   close_dispatches(&s);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(large_workgroup_count),
      cmocka_unit_test(deferred_execute_retains_dispatch_binding_table),
      cmocka_unit_test(alloca_execute_dealloca_cycle),
      cmocka_unit_test(pipelined_alloca_execute_dealloca),
      cmocka_unit_test(multiple_dispatches_in_single_command_buffer),
      cmocka_unit_test(multi_dispatch_multi_resubmit),
      cmocka_unit_test(noop_dispatch_signals_and_does_not_touch_buffers),
      cmocka_unit_test(deferred_noop_dispatch),
      cmocka_unit_test(deferred_wait_before_signal_dispatch),
      cmocka_unit_test(dispatch_with_borrowed_resource_lifetimes),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
