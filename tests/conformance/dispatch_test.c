/* SPDX-License-Identifier: MIT
 *
 * IREE's cases for dispatches, by name: constants, many workgroups, pipelines, command buffers used
 * again, and dispatches as operations of queues. Those that IREE runs in two forms run with buffers
 * bound directly, and over a table.
 */
#include "dispatch_scene.h"

/* ---- one dispatch --------------------------------------------------------- */

static void scale_and_offset(void **state)
{
   for (int has_table = 0; has_table < 2; has_table++) {
      struct dispatches s;
      uint32_t *x, *y;
      open_dispatches(state, &s, has_table);
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
      close_dispatches(&s);
   }
}

/* Constants of several dispatches don't mix. */
static void dispatch_with_dispatch_constants(void **state)
{
   for (int has_table = 0; has_table < 2; has_table++) {
      struct dispatches s;
      uint32_t *x, *y;
      open_dispatches(state, &s, has_table);
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
      close_dispatches(&s);
   }
}

static void write_workgroup_ids(void **state)
{
   for (int has_table = 0; has_table < 2; has_table++) {
      struct dispatches s;
      uint32_t *words;
      open_dispatches(state, &s, has_table);
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
      close_dispatches(&s);
   }
}

static void dispatch_abs(void **state)
{
   for (int has_table = 0; has_table < 2; has_table++) {
      const float values[] = {-2.5f, 7, -0.0f, -1e30f};
      struct dispatches s;
      uint32_t *x, *y;
      open_dispatches(state, &s, has_table);
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
      close_dispatches(&s);
   }
}

/* ---- DispatchPipelineTest ------------------------------------------------- */

static void update_then_dispatch(void **state)
{
   for (int has_table = 0; has_table < 2; has_table++) {
      struct dispatches s;
      uint32_t *x, *y, values[32];
      open_dispatches(state, &s, has_table);
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
      close_dispatches(&s);
   }
}

static void chained_dispatches(void **state)
{
   for (int has_table = 0; has_table < 2; has_table++) {
      struct dispatches s;
      uint32_t *x, *y;
      open_dispatches(state, &s, has_table);
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
      close_dispatches(&s);
   }
}

static void fill_dispatch_dispatch_pipeline(void **state)
{
   for (int has_table = 0; has_table < 2; has_table++) {
      struct dispatches s;
      uint32_t *x, *y, *z;
      const uint32_t pattern = 100;
      open_dispatches(state, &s, has_table);
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
      close_dispatches(&s);
   }
}

static void transient_input_pipeline(void **state)
{
   struct dispatches s;
   uint32_t *y;
   open_dispatches(state, &s, false);
   struct agx_buffer *out = fixture_buffer(s.f, 128, &y);
   struct transient t = submit_transient(&s, out, 500);
   drop_transient(&t);
   assert_ok(fixture_wait(s.done, s.value));
   for (uint32_t i = 0; i < 32; i++)
      assert_int_equal(y[i], 501);
   agx_release(out);
   close_dispatches(&s);
}

static void reusable_pipeline_with_different_inputs(void **state)
{
   struct dispatches s;
   uint32_t *x, *y;
   open_dispatches(state, &s, false);
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
   close_dispatches(&s);
}

AGX_TEST_FILE(void)
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
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
