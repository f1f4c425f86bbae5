/* SPDX-License-Identifier: MIT
 *
 * Command buffers with binding tables: what a submission gives counts, for as long as it is under
 * way, however many of them are, and from whatever threads.
 */
#include "conformance.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct agx_command_buffer *create(struct fixture *f, uint32_t slots)
{
   const struct agx_command_buffer_desc desc = {
      .size = sizeof(desc), .label = "by table", .table_slots = slots};
   struct agx_command_buffer *commands = NULL;
   assert_ok(agx_command_buffer_create(f->device, &desc, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   return commands;
}

/* y = x + push, of 32 words: x is slot 0 or the buffer, y slot 1. */
static agx_status add(struct agx_command_buffer *commands, struct agx_executable *kernel,
                      struct agx_buffer *x, uint32_t push, uint32_t y_slot)
{
   const struct agx_binding bindings[] = {
      {.binding = 0, .ref = {x, 0, 128, x ? 0 : 1}},
      {.binding = 1, .ref = {NULL, 0, 128, y_slot + 1}},
   };
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = kernel,
                                         .workgroups = {1, 1, 1},
                                         .binding_count = 2,
                                         .bindings = bindings,
                                         .push = &push,
                                         .push_B = sizeof(push)};
   return agx_cmd_dispatch(commands, &dispatch);
}

static agx_status submit(struct fixture *f, struct agx_command_buffer *commands,
                         const struct agx_buffer_ref *table, uint32_t count, struct agx_point wait,
                         struct agx_point signal)
{
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_EXECUTE,
                             .waits = &wait,
                             .wait_count = wait.semaphore != NULL,
                             .signals = &signal,
                             .signal_count = signal.semaphore != NULL,
                             .u.execute = {commands, table, count}};
   return agx_submit(f->device, &op, 1, NULL);
}

enum {
   MANY = 40
};

/* All under way at once, each with its own table; the buffers are let go of at once. */
static void resubmit_with_different_bindings(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *kernel = fixture_kernel(f, &agx_test_add);
   struct agx_command_buffer *commands = create(f, 2);
   struct agx_semaphore *go = fixture_semaphore(f), *done = fixture_semaphore(f);
   struct agx_buffer *in[MANY], *out[MANY];
   uint32_t *x[MANY], *y[MANY];
   assert_ok(add(commands, kernel, NULL, 5, 1));
   assert_ok(agx_command_buffer_end(commands));
   for (uint32_t i = 0; i < MANY; i++) {
      in[i] = fixture_buffer(f, 128, &x[i]);
      out[i] = fixture_buffer(f, 128, &y[i]);
      for (uint32_t w = 0; w < 32; w++)
         x[i][w] = 100 * i + w;
      struct agx_buffer_ref table[] = {{in[i], 0, 128}, {out[i], 0, AGX_WHOLE_LENGTH}};
      assert_ok(
         submit(f, commands, table, 2, conformance_point(go, 1), conformance_point(done, i + 1)));
      memset(table, 0x55, sizeof(table)); /* captured */
      agx_release(in[i]);
   }
   assert_fails(agx_command_buffer_begin(commands), AGX_FAILED_PRECONDITION, "in flight");
   agx_release(commands);
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(done, MANY));
   for (uint32_t i = 0; i < MANY; i++) {
      for (uint32_t w = 0; w < 32; w++)
         assert_int_equal(y[i][w], 100 * i + w + 5);
      agx_release(out[i]);
   }
   agx_release(go);
   agx_release(done);
   agx_release(kernel);
}

static void mixed_direct_and_indirect_bindings(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *kernel = fixture_kernel(f, &agx_test_add);
   struct agx_command_buffer *commands = create(f, 2);
   struct agx_semaphore *done = fixture_semaphore(f);
   uint32_t *x, *y;
   struct agx_buffer *in = fixture_buffer(f, 128, &x), *out = fixture_buffer(f, 256, &y);
   const uint32_t pattern = 1000;
   for (uint32_t w = 0; w < 32; w++)
      x[w] = w;
   assert_ok(agx_cmd_begin_label(commands, "outer", 0));
   assert_ok(agx_cmd_fill(commands, (struct agx_buffer_ref){NULL, 0, 128, 1}, &pattern, 4));
   assert_ok(agx_cmd_barrier(commands, NULL));
   assert_ok(add(commands, kernel, in, 7, 1));
   assert_ok(agx_cmd_end_label(commands));
   assert_ok(agx_cmd_barrier(commands, NULL));
   assert_ok(agx_cmd_copy(commands, (struct agx_buffer_ref){NULL, 8, 4, 2},
                          (struct agx_buffer_ref){NULL, 0, 4, 1}));
   assert_ok(agx_command_buffer_end(commands));
   for (uint32_t i = 0; i < 3; i++) {
      const struct agx_buffer_ref table[] = {{out, 128, 128}, {out, 0, 128}};
      memset(y, 0, 256);
      assert_ok(submit(f, commands, table, 2, NO_POINT, conformance_point(done, i + 1)));
      assert_ok(fixture_wait(done, i + 1));
      for (uint32_t w = 0; w < 32; w++)
         assert_int_equal(y[w], w + 7);
      assert_int_equal(y[32], 2 + 7);
      assert_int_equal(y[33], 1000);
      assert_int_equal(y[63], 1000);
   }
   assert_ok(agx_command_buffer_begin(commands));
   assert_ok(add(commands, kernel, in, 8, 0));
   assert_ok(agx_command_buffer_end(commands));
   const struct agx_buffer_ref table[] = {{out, 128, 128}, {0}};
   assert_ok(submit(f, commands, table, 2, NO_POINT, conformance_point(done, 9)));
   assert_ok(fixture_wait(done, 9));
   assert_int_equal(y[63], 31 + 8);
   agx_release(commands);
   agx_release(done);
   agx_release(out);
   agx_release(in);
   agx_release(kernel);
}

/* A caller may have one table for command buffers of different lengths. */
static void longer_tables_are_taken(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *kernel = fixture_kernel(f, &agx_test_add);
   struct agx_command_buffer *commands = create(f, 2);
   struct agx_semaphore *done = fixture_semaphore(f);
   uint32_t *x, *y;
   struct agx_buffer *in = fixture_buffer(f, 128, &x), *out = fixture_buffer(f, 128, &y);
   const struct agx_buffer_ref useless = {out, 1000, 1000, 7, 9};
   const struct agx_buffer_ref table[] = {{in, 0, 128}, {out, 0, 128}, useless, useless};
   for (uint32_t w = 0; w < 32; w++)
      x[w] = w;
   assert_ok(add(commands, kernel, NULL, 3, 1));
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(submit(f, commands, table, 4, NO_POINT, conformance_point(done, 1)));
   assert_ok(submit(f, commands, table, 2, conformance_point(done, 1), conformance_point(done, 2)));
   assert_ok(fixture_wait(done, 2));
   for (uint32_t w = 0; w < 32; w++)
      assert_int_equal(y[w], w + 3);
   agx_release(commands);
   agx_release(done);
   agx_release(out);
   agx_release(in);
   agx_release(kernel);
}

static void bad_tables_are_refused(void **state)
{
   struct fixture *f = conformance_device(state), other;
   struct agx_executable *kernel = fixture_kernel(f, &agx_test_add);
   struct agx_command_buffer *commands = create(f, 2), *plain = fixture_begin(f);
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 256, &words), *theirs;
   conformance_open_another(&other);
   theirs = fixture_buffer(&other, 256, &words);
   const struct agx_buffer_ref useless = {buffer, 0, 128};
   assert_fails(add(plain, kernel, buffer, 1, 0), AGX_INVALID_ARGUMENT, "without table_slots");
   assert_ok(agx_command_buffer_begin(plain));
   assert_ok(agx_command_buffer_end(plain));
   assert_ok(submit(f, plain, &useless, 1, NO_POINT, NO_POINT)); /* not looked at */
   for (uint32_t kind = AGX_OP_BARRIER; kind <= AGX_OP_EXECUTE; kind++) {
      const struct agx_op op = {
         .size = sizeof(op), .kind = kind, .flags = 1, .u.execute.commands = plain};
      assert_fails(agx_submit(f->device, &op, 1, NULL), AGX_INVALID_ARGUMENT, "flags 0x1");
   }
   assert_fails(agx_submit(f->device, NULL, 1, NULL), AGX_INVALID_ARGUMENT, "at NULL");
   assert_ok(add(commands, kernel, NULL, 5, 1));
   assert_ok(agx_command_buffer_end(commands));
   const struct {
      struct agx_buffer_ref table[2];
      uint32_t count;
      agx_status status;
      const char *text;
   } cases[] = {
      {{{0}}, 0, AGX_INVALID_ARGUMENT, "2 slots"},
      {{{buffer, 0, 128}}, 1, AGX_OUT_OF_RANGE, "2 slots"},
      {{{buffer, 0, 128}, {buffer, 200, 128}}, 2, AGX_OUT_OF_RANGE, "slot 1: offset 200"},
      {{{buffer, 0, 128}, {buffer, 0, 64}}, 2, AGX_OUT_OF_RANGE, "slot 1: offset 0, length 128"},
      {{{buffer, 0, 128}, {NULL, 0, 0}}, 2, AGX_INVALID_ARGUMENT, "no buffer"},
      {{{buffer, 0, 128}, {theirs, 0, 128}}, 2, AGX_INVALID_ARGUMENT, "another device"},
      {{{buffer, 0, 128}, {NULL, 0, 128, 1}}, 2, AGX_INVALID_ARGUMENT, "a slot itself"},
   };
   for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
      assert_fails(submit(f, commands, cases[i].table, cases[i].count, NO_POINT, NO_POINT),
                   cases[i].status, cases[i].text);
   assert_fails(submit(f, commands, NULL, 2, NO_POINT, NO_POINT), AGX_INVALID_ARGUMENT, "2 slots");
   assert_ok(agx_command_buffer_begin(commands));
   assert_fails(add(commands, kernel, NULL, 5, 2), AGX_OUT_OF_RANGE, "slot 2");
   assert_fails(agx_command_buffer_end(commands), AGX_OUT_OF_RANGE, "earlier");
   agx_release(commands);
   agx_release(plain);
   agx_release(theirs);
   agx_release(buffer);
   agx_release(kernel);
   fixture_close(&other);
}

/* Memory of the queues is told apart, too. */
static void buffers_of_the_queue_in_turn(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *kernel = fixture_kernel(f, &agx_test_add);
   struct agx_command_buffer *commands = create(f, 2);
   struct agx_semaphore *done = fixture_semaphore(f);
   struct agx_buffer *in[2] = {NULL};
   uint64_t value = 0;
   uint32_t *y;
   struct agx_buffer *out = fixture_buffer(f, 128, &y);
   assert_ok(add(commands, kernel, NULL, 5, 1));
   assert_ok(agx_command_buffer_end(commands));
   for (uint32_t i = 0; i < 2; i++) {
      const struct agx_point points[] = {{done, value}, {done, value + 1}, {done, value + 2}};
      const struct agx_op alloca = {.size = sizeof(alloca),
                                    .kind = AGX_OP_ALLOCA,
                                    .signals = &points[1],
                                    .signal_count = 1,
                                    .u.alloca = {.size_B = 128, .out_buffer = &in[i]}};
      assert_ok(agx_submit(f->device, &alloca, 1, NULL));
      const struct agx_op fill = {.size = sizeof(fill),
                                  .kind = AGX_OP_FILL,
                                  .waits = &points[1],
                                  .wait_count = 1,
                                  .signals = &points[2],
                                  .signal_count = 1,
                                  .u.fill = {{in[i], 0, 128}, {10 + i}, 4}};
      assert_ok(agx_submit(f->device, &fill, 1, NULL));
      value += 2;
   }
   for (uint32_t i = 0; i < 2; i++) {
      const struct agx_buffer_ref table[] = {{in[i], 0, 128}, {out, 0, 128}};
      assert_ok(submit(f, commands, table, 2, conformance_point(done, value),
                       conformance_point(done, value + 1)));
      assert_ok(fixture_wait(done, ++value));
      assert_int_equal(y[31], 10 + i + 5);
   }
   for (uint32_t i = 0; i < 2; i++)
      agx_release(in[i]);
   agx_release(commands);
   agx_release(done);
   agx_release(out);
   agx_release(kernel);
}

/* Indirect counts are kept alive as bindings are, and callers may be newer than the library. */
static void what_is_recorded_is_kept(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *kernel = fixture_kernel(f, &agx_test_add);
   struct agx_command_buffer *commands = create(f, 2);
   struct agx_semaphore *done = fixture_semaphore(f);
   uint32_t *x, *y, *groups, *others, push = 3;
   struct agx_buffer *in = fixture_buffer(f, 128, &x), *out = fixture_buffer(f, 128, &y),
                     *counts = fixture_buffer(f, 12, &groups);
   const struct agx_binding bindings[] = {{.binding = 0, .ref = {NULL, 0, 128, 1}},
                                          {.binding = 1, .ref = {NULL, 0, 128, 2}}};
   const struct agx_binding direct[] = {{.binding = 0, .ref = {in, 0, 128}},
                                        {.binding = 1, .ref = {out, 0, 128}}};
   struct {
      struct agx_dispatch dispatch;
      uint64_t of_later_versions;
   } newer = {{.size = sizeof(newer),
               .executable = kernel,
               .binding_count = 2,
               .bindings = bindings,
               .push = &push,
               .push_B = sizeof(push),
               .counts = {counts, 0, 12}},
              0};
   struct {
      struct agx_barrier barrier;
      uint64_t of_later_versions;
   } newer_barrier = {{.size = sizeof(newer_barrier)}, 0};
   for (unsigned i = 0; i < 3; i++)
      groups[i] = 1;
   assert_ok(agx_cmd_dispatch(commands, &newer.dispatch));
   assert_ok(agx_cmd_barrier(commands, &newer_barrier.barrier));
   assert_ok(agx_cmd_barrier(commands, NULL));
   assert_ok(agx_command_buffer_end(commands));
   agx_release(counts);
   struct agx_buffer *another = fixture_buffer(f, 12, &others); /* not in its place */
   const struct agx_buffer_ref table[] = {{in, 0, 128}, {out, 0, 128}};
   x[31] = 4;
   assert_ok(submit(f, commands, table, 2, NO_POINT, conformance_point(done, 1)));
   assert_ok(fixture_wait(done, 1));
   assert_int_equal(y[31], 7);
   /* A table without counts doesn't make it direct. */
   newer.dispatch.counts = (struct agx_buffer_ref){NULL, 0, 12, 1};
   newer.dispatch.bindings = direct;
   newer.dispatch.workgroups[0] = newer.dispatch.workgroups[1] = newer.dispatch.workgroups[2] = 1;
   assert_ok(agx_command_buffer_begin(commands));
   assert_ok(agx_cmd_dispatch(commands, &newer.dispatch));
   assert_ok(agx_command_buffer_end(commands));
   const struct agx_buffer_ref without[] = {{0}, {out, 0, 128}};
   assert_fails(submit(f, commands, without, 2, NO_POINT, NO_POINT), AGX_INVALID_ARGUMENT,
                "no buffer for indirect counts");
   newer_barrier.of_later_versions = 1;
   assert_ok(agx_command_buffer_begin(commands));
   assert_fails(agx_cmd_barrier(commands, &newer_barrier.barrier), AGX_UNIMPLEMENTED, "offset");
   agx_release(another);
   agx_release(commands);
   agx_release(done);
   agx_release(in);
   agx_release(out);
   agx_release(kernel);
}

struct again {
   struct fixture *f;
   struct agx_command_buffer *commands;
   struct agx_buffer_ref table[2];
   struct agx_semaphore *done;
};

static void submit_again(void *user)
{
   struct again *again = user;
   assert_ok(submit(again->f, again->commands, again->table, 2, NO_POINT,
                    conformance_point(again->done, 2)));
}

/* Who hears that a table's buffer has gone may submit the command buffer. */
static void tables_are_let_go_without_locks(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *kernel = fixture_kernel(f, &agx_test_add);
   struct agx_command_buffer *commands = create(f, 2);
   uint32_t *y;
   struct agx_buffer *out = fixture_buffer(f, 128, &y), *shared, *imported;
   struct again again = {f, commands, {{out, 0, 128}, {out, 0, 128}}, fixture_semaphore(f)};
   const struct agx_buffer_desc desc = {.size = sizeof(desc),
                                        .size_B = 128,
                                        .usage = AGX_USAGE_TRANSFER | AGX_USAGE_DISPATCH |
                                                 AGX_USAGE_SHARING_EXPORT};
   struct agx_external external = {.size = sizeof(external)};
   assert_ok(agx_buffer_create(f->device, &desc, &shared));
   assert_ok(agx_buffer_export(shared, AGX_EXTERNAL_DMA_BUF, &external));
   assert_ok(agx_buffer_import(f->device, NULL, &external,
                               (struct agx_release_callback){submit_again, &again}, &imported));
   close(external.fd);
   assert_ok(add(commands, kernel, NULL, 5, 1));
   assert_ok(agx_command_buffer_end(commands));
   const struct agx_buffer_ref table[] = {{imported, 0, 128}, {out, 0, 128}};
   assert_ok(submit(f, commands, table, 2, NO_POINT, conformance_point(again.done, 1)));
   agx_release(imported);
   assert_ok(fixture_wait(again.done, 2));
   assert_int_equal(y[31], 10);
   agx_release(again.done);
   agx_release(shared);
   agx_release(out);
   agx_release(commands);
   agx_release(kernel);
}

struct racer {
   struct fixture *f;
   struct agx_command_buffer *commands;
   uint32_t number;
   bool failed;
};

enum {
   RACERS = 4,
   ROUNDS = 60
};

static void *race(void *argument)
{
   struct racer *racer = argument;
   struct agx_semaphore *done = fixture_semaphore(racer->f);
   uint32_t *x, *y;
   struct agx_buffer *in = fixture_buffer(racer->f, 128, &x),
                     *out = fixture_buffer(racer->f, 128, &y);
   for (uint32_t round = 1; round <= ROUNDS; round++) {
      const struct agx_buffer_ref table[] = {{in, 0, 128}, {out, 0, 128}};
      for (uint32_t w = 0; w < 32; w++)
         x[w] = racer->number * 100000 + round * 100 + w;
      assert_ok(
         submit(racer->f, racer->commands, table, 2, NO_POINT, conformance_point(done, round)));
      assert_ok(fixture_wait(done, round));
      for (uint32_t w = 0; w < 32; w++)
         racer->failed |= y[w] != x[w] + 5;
   }
   agx_release(in);
   agx_release(out);
   agx_release(done);
   return NULL;
}

static void threads_resubmit_one_command_buffer(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *kernel = fixture_kernel(f, &agx_test_add);
   struct agx_command_buffer *commands = create(f, 2);
   struct racer racers[RACERS];
   pthread_t threads[RACERS];
   assert_ok(add(commands, kernel, NULL, 5, 1));
   assert_ok(agx_command_buffer_end(commands));
   for (uint32_t i = 0; i < RACERS; i++) {
      racers[i] = (struct racer){f, commands, i, false};
      assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
   }
   for (uint32_t i = 0; i < RACERS; i++) {
      pthread_join(threads[i], NULL);
      assert_false(racers[i].failed);
   }
   agx_release(commands);
   agx_release(kernel);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(resubmit_with_different_bindings),
      cmocka_unit_test(mixed_direct_and_indirect_bindings),
      cmocka_unit_test(buffers_of_the_queue_in_turn),
      cmocka_unit_test(what_is_recorded_is_kept),
      cmocka_unit_test(tables_are_let_go_without_locks),
      cmocka_unit_test(longer_tables_are_taken),
      cmocka_unit_test(bad_tables_are_refused),
      cmocka_unit_test(threads_resubmit_one_command_buffer),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
