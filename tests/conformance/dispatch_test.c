/* SPDX-License-Identifier: MIT
 *
 * IREE's cases for dispatches, by name: constants, many workgroups, pipelines, command buffers used
 * again, and dispatches as operations of queues. Those that IREE runs in two forms run with buffers
 * bound directly, and over a table.
 */
#include "conformance.h"

#include <string.h>

struct setup {
   struct fixture *f;
   struct agx_executable *count, *add, *grid;
   struct agx_semaphore *done;
   uint64_t value;
   bool has_table;
   struct agx_buffer_ref table[4];
   uint32_t slots;
};

static void open_setup(void **state, struct setup *s, bool has_table)
{
   *s = (struct setup){.f = conformance_device(state), .has_table = has_table};
   s->count = fixture_kernel(s->f, &agx_test_count);
   s->add = fixture_kernel(s->f, &agx_test_add);
   s->grid = fixture_kernel(s->f, &conformance_grid);
   s->done = fixture_semaphore(s->f);
}

static void close_setup(struct setup *s)
{
   agx_release(s->done);
   agx_release(s->grid);
   agx_release(s->add);
   agx_release(s->count);
}

static struct agx_command_buffer *begin(struct setup *s)
{
   const struct agx_command_buffer_desc desc = {.size = sizeof(desc),
                                                .table_slots = s->has_table ? 4 : 0};
   struct agx_command_buffer *commands = NULL;
   assert_ok(agx_command_buffer_create(s->f->device, &desc, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   memset(s->table, 0, sizeof(s->table));
   s->slots = 0;
   return commands;
}

/* The range, or a new slot that stands for it. */
static struct agx_buffer_ref bind(struct setup *s, struct agx_buffer *buffer, uint64_t offset,
                                  uint64_t length)
{
   const struct agx_buffer_ref ref = {buffer, offset, length};
   if (!s->has_table)
      return ref;
   s->table[s->slots] = ref;
   return (struct agx_buffer_ref){.length_B = AGX_WHOLE_LENGTH, .table_slot = ++s->slots};
}

static agx_status try_submit(struct setup *s, struct agx_command_buffer *commands,
                             struct agx_point wait, uint64_t value)
{
   const struct agx_point signal = {s->done, value};
   const struct agx_op op = {
      .size = sizeof(op),
      .kind = AGX_OP_EXECUTE,
      .waits = &wait,
      .wait_count = wait.semaphore != NULL,
      .signals = &signal,
      .signal_count = 1,
      .u.execute = {commands, s->has_table ? s->table : NULL, s->has_table ? 4u : 0u}};
   return agx_submit(s->f->device, &op, 1, NULL);
}

static void run(struct setup *s, struct agx_command_buffer *commands)
{
   assert_ok(try_submit(s, commands, NO_POINT, ++s->value));
   assert_ok(fixture_wait(s->done, s->value));
}

static struct agx_dispatch make(struct agx_executable *executable, uint32_t workgroups,
                                const struct agx_binding *bindings, uint32_t count,
                                const uint32_t *push, uint32_t push_B)
{
   return (struct agx_dispatch){.size = sizeof(struct agx_dispatch),
                                .executable = executable,
                                .workgroups = {workgroups, 1, 1},
                                .binding_count = count,
                                .bindings = bindings,
                                .push = push,
                                .push_B = push_B};
}

/* y = x + push, 32 words. */
static void add(struct setup *s, struct agx_command_buffer *commands, struct agx_buffer_ref x,
                struct agx_buffer_ref y, uint32_t push)
{
   const struct agx_binding bindings[] = {{.binding = 0, .ref = x}, {.binding = 1, .ref = y}};
   const struct agx_dispatch dispatch = make(s->add, 1, bindings, 2, &push, sizeof(push));
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
}

static void barrier(struct agx_command_buffer *commands)
{
   assert_ok(agx_cmd_barrier(commands, NULL));
}

/* ---- one dispatch --------------------------------------------------------- */

static void scale_and_offset(void **state)
{
   for (int has_table = 0; has_table < 2; has_table++) {
      struct setup s;
      uint32_t *x, *y;
      open_setup(state, &s, has_table);
      struct agx_buffer *in = fixture_buffer(s.f, 256, &x), *out = fixture_buffer(s.f, 256, &y);
      struct agx_command_buffer *commands = begin(&s);
      for (uint32_t i = 0; i < 64; i++)
         x[i] = i * 3;
      add(&s, commands, bind(&s, in, 64, 128), bind(&s, out, 4, 128), 1000);
      assert_ok(agx_command_buffer_end(commands));
      run(&s, commands);
      assert_int_equal(y[0], 0);
      for (uint32_t i = 0; i < 32; i++)
         assert_int_equal(y[1 + i], (16 + i) * 3 + 1000);
      assert_int_equal(y[33], 0);
      agx_release(commands);
      agx_release(out);
      agx_release(in);
      close_setup(&s);
   }
}

/* Constants of several dispatches don't mix. */
static void dispatch_with_dispatch_constants(void **state)
{
   for (int has_table = 0; has_table < 2; has_table++) {
      struct setup s;
      uint32_t *x, *y;
      open_setup(state, &s, has_table);
      struct agx_buffer *in = fixture_buffer(s.f, 128, &x), *out = fixture_buffer(s.f, 512, &y);
      struct agx_command_buffer *commands = begin(&s);
      const struct agx_buffer_ref from = bind(&s, in, 0, 128);
      for (uint32_t i = 0; i < 3; i++)
         add(&s, commands, from, bind(&s, out, 128 * i, 128), 7 + i);
      assert_ok(agx_command_buffer_end(commands));
      run(&s, commands);
      for (uint32_t i = 0; i < 96; i++)
         assert_int_equal(y[i], 7 + i / 32);
      agx_release(commands);
      agx_release(out);
      agx_release(in);
      close_setup(&s);
   }
}

static void write_workgroup_ids(void **state)
{
   for (int has_table = 0; has_table < 2; has_table++) {
      struct setup s;
      uint32_t *words;
      open_setup(state, &s, has_table);
      struct agx_buffer *out = fixture_buffer(s.f, 64 * 64 * 4, &words);
      struct agx_command_buffer *commands = begin(&s);
      const struct agx_binding binding = {.ref = bind(&s, out, 0, 64 * 64 * 4)};
      const struct agx_dispatch dispatch = make(s.count, 50, &binding, 1, NULL, 0);
      assert_ok(agx_cmd_dispatch(commands, &dispatch));
      assert_ok(agx_command_buffer_end(commands));
      run(&s, commands);
      for (uint32_t i = 0; i < 64 * 64; i++)
         assert_int_equal(words[i], i < 50 * 64 ? i + 1 : 0);
      agx_release(commands);
      agx_release(out);
      close_setup(&s);
   }
}

static void dispatch_abs(void **state)
{
   for (int has_table = 0; has_table < 2; has_table++) {
      const float values[] = {-2.5f, 7, -0.0f, -1e30f};
      struct setup s;
      uint32_t *x, *y;
      open_setup(state, &s, has_table);
      struct agx_executable *abs = conformance_kernel(s.f, "kernels/abs.spv", NULL);
      struct agx_buffer *in = fixture_buffer(s.f, 16, &x), *out = fixture_buffer(s.f, 16, &y);
      struct agx_command_buffer *commands = begin(&s);
      const struct agx_binding bindings[] = {{.binding = 0, .ref = bind(&s, in, 0, 16)},
                                             {.binding = 1, .ref = bind(&s, out, 0, 16)}};
      const struct agx_dispatch dispatch = make(abs, 4, bindings, 2, NULL, 0);
      memcpy(x, values, sizeof(values));
      assert_ok(agx_cmd_dispatch(commands, &dispatch));
      assert_ok(agx_command_buffer_end(commands));
      run(&s, commands);
      for (uint32_t i = 0; i < 4; i++)
         assert_int_equal(y[i], x[i] & 0x7fffffff);
      agx_release(commands);
      agx_release(out);
      agx_release(in);
      agx_release(abs);
      close_setup(&s);
   }
}

/* ---- DispatchPipelineTest ------------------------------------------------- */

static void update_then_dispatch(void **state)
{
   for (int has_table = 0; has_table < 2; has_table++) {
      struct setup s;
      uint32_t *x, *y, values[32];
      open_setup(state, &s, has_table);
      struct agx_buffer *in = fixture_buffer(s.f, 128, &x), *out = fixture_buffer(s.f, 128, &y);
      struct agx_command_buffer *commands = begin(&s);
      for (uint32_t i = 0; i < 32; i++)
         values[i] = i * i;
      const struct agx_buffer_ref middle = bind(&s, in, 0, 128);
      struct agx_buffer_ref target = middle;
      target.length_B = 128;
      assert_ok(agx_cmd_update(commands, values, target));
      memset(values, 0, sizeof(values)); /* captured */
      barrier(commands);
      add(&s, commands, middle, bind(&s, out, 0, 128), 1);
      assert_ok(agx_command_buffer_end(commands));
      run(&s, commands);
      for (uint32_t i = 0; i < 32; i++)
         assert_int_equal(y[i], i * i + 1);
      agx_release(commands);
      agx_release(out);
      agx_release(in);
      close_setup(&s);
   }
}

static void chained_dispatches(void **state)
{
   for (int has_table = 0; has_table < 2; has_table++) {
      struct setup s;
      uint32_t *x, *y;
      open_setup(state, &s, has_table);
      struct agx_buffer *a = fixture_buffer(s.f, 128, &x), *b = fixture_buffer(s.f, 128, &y);
      struct agx_command_buffer *commands = begin(&s);
      const struct agx_buffer_ref refs[] = {bind(&s, a, 0, 128), bind(&s, b, 0, 128)};
      for (uint32_t i = 0; i < 21; i++) {
         add(&s, commands, refs[i % 2], refs[1 - i % 2], 2);
         barrier(commands);
      }
      assert_ok(agx_command_buffer_end(commands));
      run(&s, commands);
      for (uint32_t i = 0; i < 32; i++)
         assert_int_equal(y[i], 42);
      agx_release(commands);
      agx_release(b);
      agx_release(a);
      close_setup(&s);
   }
}

static void fill_dispatch_dispatch_pipeline(void **state)
{
   for (int has_table = 0; has_table < 2; has_table++) {
      struct setup s;
      uint32_t *x, *y, *z;
      const uint32_t pattern = 100;
      open_setup(state, &s, has_table);
      struct agx_buffer *a = fixture_buffer(s.f, 128, &x), *b = fixture_buffer(s.f, 128, &y),
                        *c = fixture_buffer(s.f, 128, &z);
      struct agx_command_buffer *commands = begin(&s);
      const struct agx_buffer_ref refs[] = {bind(&s, a, 0, 128), bind(&s, b, 0, 128),
                                            bind(&s, c, 0, 128)};
      assert_ok(agx_cmd_fill(commands, refs[0], &pattern, 4));
      barrier(commands);
      add(&s, commands, refs[0], refs[1], 10);
      barrier(commands);
      add(&s, commands, refs[1], refs[2], 1);
      assert_ok(agx_command_buffer_end(commands));
      run(&s, commands);
      for (uint32_t i = 0; i < 32; i++)
         assert_int_equal(z[i], 111);
      agx_release(commands);
      agx_release(c);
      agx_release(b);
      agx_release(a);
      close_setup(&s);
   }
}

/* ALLOCA, a command buffer that was recorded over what it gave, DEALLOCA: all submitted at once. */
struct transient {
   struct agx_buffer *buffer;
   struct agx_command_buffer *commands;
};

static struct transient submit_transient(struct setup *s, struct agx_buffer *out, uint32_t push)
{
   struct transient t = {0};
   struct agx_point points[4];
   for (uint64_t i = 0; i < 4; i++)
      points[i] = (struct agx_point){s->done, s->value + i};
   struct agx_op op = {.size = sizeof(op),
                       .kind = AGX_OP_ALLOCA,
                       .waits = &points[0],
                       .wait_count = s->value != 0,
                       .signals = &points[1],
                       .signal_count = 1,
                       .u.alloca = {.size_B = 128, .out_buffer = &t.buffer}};
   assert_ok(agx_submit(s->f->device, &op, 1, NULL));
   t.commands = fixture_begin(s->f);
   assert_ok(agx_cmd_fill(t.commands, (struct agx_buffer_ref){t.buffer, 0, 128}, &push, 4));
   barrier(t.commands);
   add(s, t.commands, (struct agx_buffer_ref){t.buffer, 0, 128},
       (struct agx_buffer_ref){out, 0, 128}, 1);
   assert_ok(agx_command_buffer_end(t.commands));
   op = (struct agx_op){.size = sizeof(op),
                        .kind = AGX_OP_EXECUTE,
                        .waits = &points[1],
                        .wait_count = 1,
                        .signals = &points[2],
                        .signal_count = 1,
                        .u.execute = {.commands = t.commands}};
   assert_ok(agx_submit(s->f->device, &op, 1, NULL));
   op = (struct agx_op){.size = sizeof(op),
                        .kind = AGX_OP_DEALLOCA,
                        .waits = &points[2],
                        .wait_count = 1,
                        .signals = &points[3],
                        .signal_count = 1,
                        .u.dealloca = {.buffer = t.buffer}};
   assert_ok(agx_submit(s->f->device, &op, 1, NULL));
   s->value += 3;
   return t;
}

static void drop_transient(struct transient *t)
{
   agx_release(t->buffer);
   agx_release(t->commands);
}

static void transient_input_pipeline(void **state)
{
   struct setup s;
   uint32_t *y;
   open_setup(state, &s, false);
   struct agx_buffer *out = fixture_buffer(s.f, 128, &y);
   struct transient t = submit_transient(&s, out, 500);
   drop_transient(&t);
   assert_ok(fixture_wait(s.done, s.value));
   for (uint32_t i = 0; i < 32; i++)
      assert_int_equal(y[i], 501);
   agx_release(out);
   close_setup(&s);
}

static void reusable_pipeline_with_different_inputs(void **state)
{
   struct setup s;
   uint32_t *x, *y;
   open_setup(state, &s, false);
   struct agx_buffer *in = fixture_buffer(s.f, 128, &x), *out = fixture_buffer(s.f, 128, &y);
   struct agx_command_buffer *commands = begin(&s);
   add(&s, commands, bind(&s, in, 0, 128), bind(&s, out, 0, 128), 3);
   assert_ok(agx_command_buffer_end(commands));
   for (uint32_t round = 0; round < 20; round++) {
      for (uint32_t i = 0; i < 32; i++)
         x[i] = round * 1000 + i;
      run(&s, commands);
      for (uint32_t i = 0; i < 32; i++)
         assert_int_equal(y[i], round * 1000 + i + 3);
   }
   agx_release(commands);
   agx_release(out);
   agx_release(in);
   close_setup(&s);
}

/* ---- DispatchReuseTest ---------------------------------------------------- */

static void large_workgroup_count(void **state)
{
   enum {
      GROUPS = 1500
   };
   struct setup s;
   uint32_t *words;
   open_setup(state, &s, false);
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
   close_setup(&s);
}

static void deferred_execute_retains_dispatch_binding_table(void **state)
{
   struct setup s;
   uint32_t *x, *y;
   open_setup(state, &s, true);
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
   close_setup(&s);
}

static void alloca_execute_dealloca_cycle(void **state)
{
   struct setup s;
   uint32_t *y;
   open_setup(state, &s, false);
   struct agx_buffer *out = fixture_buffer(s.f, 128, &y);
   for (uint32_t round = 0; round < 12; round++) {
      struct transient t = submit_transient(&s, out, round * 10);
      assert_ok(fixture_wait(s.done, s.value));
      for (uint32_t i = 0; i < 32; i++)
         assert_int_equal(y[i], round * 10 + 1);
      drop_transient(&t);
   }
   agx_release(out);
   close_setup(&s);
}

static void pipelined_alloca_execute_dealloca(void **state)
{
   enum {
      DEEP = 8
   };
   struct setup s;
   struct transient transients[DEEP];
   struct agx_buffer *out[DEEP];
   uint32_t *y[DEEP];
   open_setup(state, &s, false);
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
   close_setup(&s);
}

static void multi_dispatch(void **state, uint32_t submissions)
{
   struct setup s;
   uint32_t *x, *y;
   open_setup(state, &s, false);
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
   close_setup(&s);
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

static agx_status queue_dispatch(struct setup *s, const struct agx_dispatch *dispatch,
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
   struct setup s;
   uint32_t *words;
   open_setup(state, &s, false);
   struct agx_semaphore *go = fixture_semaphore(s.f);
   struct agx_buffer *out = fixture_buffer(s.f, 256, &words);
   const struct agx_binding binding = {.ref = {out, 0, 256}};
   const struct agx_dispatch nothing = make(s.count, 0, &binding, 1, NULL, 0);
   assert_ok(queue_dispatch(&s, &nothing, NO_POINT, 1));
   assert_ok(fixture_wait(s.done, 1));
   assert_int_equal(words[0], 0);
   agx_release(out);
   agx_release(go);
   close_setup(&s);
}

static void deferred_noop_dispatch(void **state)
{
   struct setup s;
   uint32_t *words;
   open_setup(state, &s, false);
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
   close_setup(&s);
}

static void deferred_wait_before_signal_dispatch(void **state)
{
   struct setup s;
   uint32_t *x, *y, push = 9;
   open_setup(state, &s, false);
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
   close_setup(&s);
}

/* Whoever keeps things alive by himself may have command buffers that don't. */
static void dispatch_with_borrowed_resource_lifetimes(void **state)
{
   struct setup s;
   uint32_t *x, *y;
   open_setup(state, &s, false);
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
   close_setup(&s);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(scale_and_offset),
      cmocka_unit_test(dispatch_with_dispatch_constants),
      cmocka_unit_test(write_workgroup_ids),
      cmocka_unit_test(dispatch_abs),
      cmocka_unit_test(update_then_dispatch),
      cmocka_unit_test(chained_dispatches),
      cmocka_unit_test(fill_dispatch_dispatch_pipeline),
      cmocka_unit_test(transient_input_pipeline),
      cmocka_unit_test(reusable_pipeline_with_different_inputs),
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
