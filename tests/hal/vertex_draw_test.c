/* SPDX-License-Identifier: MIT
 *
 * Draws: where outputs go, what a stage knows of its draw, programs as files, what reflection says,
 * and what recording refuses.
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "agx/compiler/compiler.h"
#include "base/util.h"

struct stage {
   struct fixture f;
   struct agx_executable *executable;
   struct agx_buffer *in, *out[2];
   uint32_t *in_words, *out_words[2];
};

static void open_stage(struct stage *s, const char *kernel, uint32_t robustness)
{
   struct agx_executable_desc desc = {.size = sizeof(desc), .robustness = robustness};
   char *path = agx_test_path(kernel);
   setenv("AGX_DEBUG", "bounds,validate", 1);
   fixture_open(&s->f, "virtual:g13g");
   unsetenv("AGX_DEBUG");
   char *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(s->f.device, &desc, &s->executable));
   free(spirv);
   free(path);
   s->in = fixture_buffer(&s->f, 4096, &s->in_words);
   for (uint32_t i = 0; i < 2; i++)
      s->out[i] = fixture_buffer(&s->f, 4096, &s->out_words[i]);
}

static void close_stage(struct stage *s)
{
   agx_release(s->executable);
   agx_release(s->in);
   agx_release(s->out[0]);
   agx_release(s->out[1]);
   fixture_close(&s->f);
}

static void run(struct stage *s, const struct agx_vertex_dispatch *draw)
{
   struct agx_command_buffer *commands = fixture_begin(&s->f);
   struct agx_semaphore *semaphore = fixture_semaphore(&s->f);
   assert_ok(agx_cmd_dispatch_vertices(commands, draw));
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&s->f, commands, NO_POINT, (struct agx_point){semaphore, 1}));
   assert_ok(fixture_wait(semaphore, 1));
   agx_release(commands);
   agx_release(semaphore);
}

static uint32_t word(float value)
{
   uint32_t bits;
   memcpy(&bits, &value, 4);
   return bits;
}

/* The position, then by location, without gaps; where an ELF file comes from makes no difference.
 */
static void outputs_are_packed(struct stage *s)
{
   const struct agx_vertex_buffer buffers[] = {{1, {s->in, 0, 60}, 0}, {4, {s->in, 60, 20}, 0}};
   const struct agx_buffer_ref feedback = {s->out[0], 16, AGX_WHOLE_LENGTH};
   for (uint32_t i = 0; i < 20; i++)
      s->in_words[i] = word((float)i);
   const struct agx_vertex_dispatch draw = {.size = sizeof(draw),
                                            .executable = s->executable,
                                            .first = 1,
                                            .vertex_count = 3,
                                            .instance_count = 2,
                                            .vertex_buffer_count = 2,
                                            .vertex_buffers = buffers,
                                            .feedback_count = 1,
                                            .feedback = &feedback};
   run(s, &draw);
   for (uint32_t y = 0; y < 2; y++)
      for (uint32_t x = 0; x < 3; x++) {
         const uint32_t *got = s->out_words[0] + 4 + (y * 3 + x) * 7;
         float scale = (float)(15 + x + 1), first = (float)(3 * (x + 1));
         const uint32_t want[7] = {word(first * scale),
                                   word((first + 1) * scale),
                                   word((first + 2) * scale),
                                   word(1.0f),
                                   x + 1,
                                   word(first),
                                   word(first + 1)};
         for (uint32_t i = 0; i < 7; i++)
            assert_int_equal(got[i], want[i]);
      }
   assert_int_equal(s->out_words[0][3], 0);
   assert_int_equal(s->out_words[0][4 + 6 * 7], 0);
}

static void default_outputs_are_packed(void **state)
{
   struct stage s;
   open_stage(&s, "kernels/vertex_default.spv", AGX_ROBUST_OFF);
   outputs_are_packed(&s);
   close_stage(&s);
}

static void files_carry_what_a_draw_must_know(void **state)
{
   const struct agxc_robust_binding clamped = {AGX_PROGRAM_VERTEX_SET, 4, AGXC_ROBUST_CLAMP};
   struct agxc_options options = {.chip = agx_chip_find("g13g"),
                                  .robustness = AGXC_ROBUST_ZERO,
                                  .robust_bindings = &clamped,
                                  .robust_binding_count = 1};
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   struct agx_program *program;
   struct stage s;
   size_t spirv_B;
   void *image;
   open_stage(&s, "kernels/vertex_default.spv", AGX_ROBUST_OFF);
   char *path = agx_test_path("kernels/vertex_default.spv");
   char *spirv = agx_test_read_file(path, &spirv_B);
   assert_ok(agxc_compile(spirv, spirv_B, &options, &program));
   assert_ok(agx_program_write_elf(program, NULL, &image, &desc.data_B));
   desc.data = image;
   agx_release(s.executable);
   assert_ok(agx_executable_create(s.f.device, &desc, &s.executable));
   outputs_are_packed(&s);

   struct agx_executable_info info = {.size = sizeof(info)};
   struct agx_binding_info binding = {.size = sizeof(binding)};
   agx_executable_get_info(s.executable, &info);
   assert_true(info.is_vertex);
   assert_int_equal(info.binding_count, 3);
   assert_ok(agx_executable_get_binding(s.executable, 0, &binding));
   assert_int_equal(binding.type, AGX_BINDING_ATTRIBUTE);
   assert_int_equal(binding.binding, 1);
   assert_int_equal(binding.stride_B, 12);
   assert_int_equal(binding.element_B, 12);
   assert_int_equal(binding.robustness, AGX_ROBUST_ZERO);
   assert_ok(agx_executable_get_binding(s.executable, 1, &binding));
   assert_int_equal(binding.set, AGX_VERTEX_SET);
   assert_int_equal(binding.binding, 4);
   assert_int_equal(binding.robustness, AGX_ROBUST_CLAMP);
   assert_ok(agx_executable_get_binding(s.executable, 2, &binding));
   assert_int_equal(binding.type, AGX_BINDING_FEEDBACK);
   assert_int_equal(binding.binding, 0);
   assert_int_equal(binding.stride_B, 28);
   const struct agx_vertex_input input = {.size = sizeof(input), 0};
   desc.vertex = &input;
   struct agx_executable *none;
   assert_fails(agx_executable_create(s.f.device, &desc, &none), AGX_INVALID_ARGUMENT,
                "vertex input for an ELF file");
   agx_host_free(agx_host_alloc_default(), image, desc.data_B);
   agx_program_free(program);
   free(spirv);
   free(path);
   close_stage(&s);
}

static void captures_go_where_the_module_says(void **state)
{
   struct stage s;
   open_stage(&s, "kernels/vertex_stage.spv", AGX_ROBUST_CLAMP);
   static const uint32_t starts[] = {0, 16, 32, 48, 64, 80, 96};
   static const uint32_t sizes[] = {16, 8, 8, 8, 8, 12, 4};
   struct agx_vertex_buffer buffers[7];
   for (uint32_t i = 0; i < 7; i++) /* one element each, which all vertices read */
      buffers[i] = (struct agx_vertex_buffer){i, {s.in, starts[i], sizes[i]}, 0};
   for (uint32_t i = 0; i < 20; i++)
      s.in_words[i] = word((float)i);
   for (uint32_t i = 20; i < 32; i++)
      s.in_words[i] = i;
   const struct agx_buffer_ref feedback[] = {{s.out[0], 0, AGX_WHOLE_LENGTH},
                                             {s.out[1], 0, AGX_WHOLE_LENGTH}};
   struct agx_vertex_dispatch draw = {.size = sizeof(draw),
                                      .executable = s.executable,
                                      .first = 2,
                                      .vertex_count = 2,
                                      .base_instance = 11,
                                      .instance_count = 1,
                                      .draw_index = 5,
                                      .vertex_buffer_count = 7,
                                      .vertex_buffers = buffers,
                                      .feedback_count = 2,
                                      .feedback = feedback};
   for (uint32_t i = 0; i < 64; i++)
      s.out_words[0][i] = s.out_words[1][i] = 0xcafe;
   run(&s, &draw);
   /* Columns of the second matrix are locations 3 and 4, of the first 1 and 2; vertex 2 takes
    * the first one's. low is (0, 1): the second column. */
   const uint32_t want_0[] = {0xcafe, 2, 11, 22, 24, 0xcafe, 20, 21, 22, 24, 0xcafe};
   const uint32_t want_1[] = {word(5), 0xcafe,  0xcafe,  0xcafe,  word(0), word(1),
                              word(2), word(3), word(8), word(9), 0xcafe,  0xcafe,
                              word(5), 0xcafe,  0xcafe,  0xcafe,  word(0), word(1),
                              word(2), word(3), word(7), word(7), 0xcafe,  0xcafe};
   for (uint32_t i = 0; i < AGX_COUNT(want_0); i++)
      assert_int_equal(s.out_words[0][i], want_0[i]);
   for (uint32_t i = 0; i < AGX_COUNT(want_1); i++)
      assert_int_equal(s.out_words[1][i], want_1[i]);
   close_stage(&s);
}

/* Robust buffers of a stage are checked whatever the draw looks like. */
static void other_buffers_are_checked(void **state)
{
   struct stage s;
   open_stage(&s, "kernels/vertex_store.spv", AGX_ROBUST_ZERO);
   const struct agx_vertex_buffer buffer = {0, {s.in, 0, 400}, 0};
   const struct agx_binding counts = {.ref = {s.out[1], 0, 20}};
   const struct agx_buffer_ref feedback = {s.out[0], 0, AGX_WHOLE_LENGTH};
   for (uint32_t i = 0; i < 100; i++) {
      s.in_words[i] = 99 - i;
      s.out_words[1][i] = 1000;
   }
   const struct agx_vertex_dispatch draw = {.size = sizeof(draw),
                                            .executable = s.executable,
                                            .vertex_count = 100,
                                            .instance_count = 1,
                                            .vertex_buffer_count = 1,
                                            .vertex_buffers = &buffer,
                                            .feedback_count = 1,
                                            .feedback = &feedback,
                                            .binding_count = 1,
                                            .bindings = &counts};
   run(&s, &draw);
   for (uint32_t i = 0; i < 100; i++) {
      assert_int_equal(s.out_words[1][i], i < 5 ? 1001 : 1000);
      if (i >= 5)
         assert_int_equal(s.out_words[0][i], 0);
   }
   close_stage(&s);
}

/* GL's numbers, as its headers have them. */
static void formats_are_named_by_gl(void **state)
{
   const uint32_t rgba8 = 0x8058, bgra = 0x80e1, ubyte = 0x1401, real = 0x1406, wide = 0x140a;
   assert_string_equal(agx_format_from_gl(rgba8), "R8G8B8A8_UNORM");
   assert_null(agx_format_from_gl(0));
   assert_string_equal(agx_vertex_format_from_gl(3, real, false, false), "R32G32B32_FLOAT");
   assert_string_equal(agx_vertex_format_from_gl(bgra, ubyte, true, false), "B8G8R8A8_UNORM");
   assert_string_equal(agx_vertex_format_from_gl(4, ubyte, false, true), "R8G8B8A8_UINT");
   assert_null(agx_vertex_format_from_gl(4, wide, false, false));
}

static void what_does_not_fit_is_refused(void **state)
{
   struct stage s;
   open_stage(&s, "kernels/vertex_dense.spv", AGX_ROBUST_OFF);
   struct agx_vertex_buffer buffer = {0, {s.in, 0, 64}, 0};
   struct agx_buffer_ref feedback = {s.out[0], 0, 64};
   const struct agx_vertex_dispatch good = {.size = sizeof(good),
                                            .executable = s.executable,
                                            .vertex_count = 4,
                                            .instance_count = 1,
                                            .vertex_buffer_count = 1,
                                            .vertex_buffers = &buffer,
                                            .feedback_count = 1,
                                            .feedback = &feedback};
   struct agx_vertex_dispatch draw = good;
   struct agx_command_buffer *commands = fixture_begin(&s.f);
   const struct agx_dispatch compute = {
      .size = sizeof(compute), .executable = s.executable, .workgroups = {1, 1, 1}};
   assert_ok(agx_cmd_dispatch_vertices(commands, &draw));
   assert_fails(agx_cmd_dispatch(commands, &compute), AGX_INVALID_ARGUMENT, "vertex stage");
   draw.vertex_count = 5;
   assert_fails(agx_cmd_dispatch_vertices(commands, &draw), AGX_OUT_OF_RANGE, "feedback 0");
   draw.vertex_count = 1u << 31;
   assert_fails(agx_cmd_dispatch_vertices(commands, &draw), AGX_OUT_OF_RANGE, "vertices");
   draw = good;
   draw.instance_count = 65536;
   assert_fails(agx_cmd_dispatch_vertices(commands, &draw), AGX_OUT_OF_RANGE, "instances");
   draw = good;
   draw.first = UINT32_MAX - 3;
   assert_fails(agx_cmd_dispatch_vertices(commands, &draw), AGX_OUT_OF_RANGE, "beyond 2^32");
   draw = good;
   draw.feedback_count = 0;
   assert_fails(agx_cmd_dispatch_vertices(commands, &draw), AGX_INVALID_ARGUMENT, "no feedback");
   draw = good;
   draw.vertex_buffer_count = 0;
   assert_fails(agx_cmd_dispatch_vertices(commands, &draw), AGX_INVALID_ARGUMENT,
                "input location 0: is not given");
   draw = good;
   draw.indices = (struct agx_buffer_ref){s.in, 0, 16};
   assert_fails(agx_cmd_dispatch_vertices(commands, &draw), AGX_INVALID_ARGUMENT,
                "vertices in order");
   draw = good;
   draw.base_vertex = -1;
   assert_fails(agx_cmd_dispatch_vertices(commands, &draw), AGX_INVALID_ARGUMENT, "base vertex");
   buffer.offset_B = 2;
   assert_fails(agx_cmd_dispatch_vertices(commands, &good), AGX_INVALID_ARGUMENT,
                "no multiple of 4");
   buffer.offset_B = 49; /* no whole element */
   assert_fails(agx_cmd_dispatch_vertices(commands, &good), AGX_INVALID_ARGUMENT, "no buffer");
   agx_release(commands);
   close_stage(&s);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(default_outputs_are_packed),
      cmocka_unit_test(files_carry_what_a_draw_must_know),
      cmocka_unit_test(captures_go_where_the_module_says),
      cmocka_unit_test(other_buffers_are_checked),
      cmocka_unit_test(formats_are_named_by_gl),
      cmocka_unit_test(what_does_not_fit_is_refused),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
