/* SPDX-License-Identifier: MIT
 *
 * What images cost: the level workaround as code; and what of images is refused, by name.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spirv/unified1/spirv.h>

#include "agx/compiler/compiler.h"
#include "base/util.h"

#define FIRST_INSTRUCTION 5

struct code {
   char text[8192];
};

static void append(struct code *code, const char *text)
{
   size_t used = strlen(code->text);
   int length = snprintf(code->text + used, sizeof(code->text) - used, "%s", text);
   assert_true(length >= 0 && used + (size_t)length < sizeof(code->text));
}

static void keep_code(void *user, const char *pass, const char *text)
{
   struct code *code = user;
   if (strcmp(pass, "asm") == 0)
      append(code, text);
}

static uint32_t *read_kernel(const char *name, size_t *size)
{
   char *path = agx_test_path(name);
   char *spirv = agx_test_read_file(path, size);
   free(path);
   return (uint32_t *)spirv;
}

static unsigned count(const char *text, const char *word)
{
   unsigned n = 0;
   while ((text = strstr(text, word))) {
      text++;
      n++;
   }
   return n;
}

/* Returns how many selects the code has. */
static unsigned compile(const char *kernel, struct code *all)
{
   struct code code = {""};
   struct agxc_options options = {
      .chip = agx_chip_find("g13g"), .dump = keep_code, .dump_user = &code};
   struct agx_program *program;
   size_t size;
   uint32_t *words = read_kernel(kernel, &size);
   assert_ok(agxc_compile(words, size, &options, &program));
   agx_program_free(program);
   free(words);
   append(all, kernel);
   append(all, "\n");
   append(all, code.text);
   return count(code.text, "icsel");
}

static void a_level_that_may_be_missing_costs_one_select(void **state)
{
   struct code all = {""};
   assert_int_equal(compile("kernels/image_level_0.spv", &all), 0);
   assert_int_equal(compile("kernels/image_level_level.spv", &all), 1);
   agx_test_golden("compiler/image_level.txt", all.text);
}

/* One select for each number that may lie outside and that hardware does not look at. */
static void checks_cost_one_select_each(void **state)
{
   static const struct {
      const char *kernel;
      unsigned selects;
   } cases[] = {
      {"kernels/image_cost_layer.spv", 1},       {"kernels/image_cost_texel.spv", 1},
      {"kernels/image_cost_texel_store.spv", 1}, {"kernels/image_cost_sample.spv", 1},
      {"kernels/image_cost_heap.spv", 0},        {"kernels/image_cost_heap_level.spv", 1},
   };
   struct code all = {""};
   for (size_t i = 0; i < AGX_COUNT(cases); i++)
      assert_int_equal(compile(cases[i].kernel, &all), cases[i].selects);
   agx_test_golden("compiler/image_cost.txt", all.text);
}

static void what_is_missing_is_named(void **state)
{
   static const struct {
      const char *kernel;
      uint32_t opcode, word, value; /* of its first instruction of that opcode */
      agx_status code;
      const char *message;
   } cases[] = {
      {"kernels/image_fetch.spv", SpvOpTypeImage, 3, SpvDimRect, AGX_UNIMPLEMENTED,
       "dimension Rect"},
      {"kernels/image_fetch.spv", SpvOpImageFetch, 5, SpvImageOperandsBiasMask,
       AGX_INVALID_ARGUMENT, "operand Bias, which this instruction can't have"},
      {"kernels/image_sample.spv", SpvOpImageSampleExplicitLod, 5, SpvImageOperandsBiasMask,
       AGX_INVALID_ARGUMENT, "operand Bias, which this instruction can't have"},
      {"kernels/image_sample.spv", SpvOpImageSampleExplicitLod, 0,
       7u << 16 | SpvOpImageSampleImplicitLod, AGX_INVALID_ARGUMENT,
       "operand Lod, which this instruction can't have"},
      {"kernels/image_sample.spv", SpvOpImageSampleExplicitLod, 5, SpvImageOperandsMinLodMask,
       AGX_INVALID_ARGUMENT, "without Lod or Grad"},
      {"kernels/image_quads_linear.spv", SpvOpImageSampleImplicitLod, 0,
       5u << 16 | SpvOpImageSampleExplicitLod, AGX_INVALID_ARGUMENT, "at least 7"},
      {"kernels/image_atomics_arrays.spv", SpvOpTypeImage, 3, SpvDimBuffer, AGX_UNIMPLEMENTED,
       "atomic on one of an array of texel buffers"},
      {"kernels/image_write.spv", SpvOpTypeImage, 3, SpvDimSubpassData, AGX_UNIMPLEMENTED,
       "dimension SubpassData"},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agxc_options options = {.chip = agx_chip_find("g13g")};
      struct agx_program *program = NULL;
      size_t size, at = FIRST_INSTRUCTION;
      uint32_t *words = read_kernel(cases[i].kernel, &size);
      while (at < size / 4 && (words[at] & 0xffff) != cases[i].opcode)
         at += words[at] >> 16;
      assert_true(at < size / 4);
      words[at + cases[i].word] = cases[i].value;
      assert_fails(agxc_compile(words, size, &options, &program), cases[i].code, cases[i].message);
      free(words);
   }
}

/* Modules about quads with that execution mode changed, and for workgroups of other sizes. */
static void quads_are_refused_by_name(void **state)
{
   static const struct {
      const char *kernel;
      uint32_t mode;
      struct agxc_spec specs[3];
      bool is_dynamic;
      agx_status code;
      const char *message;
   } cases[] = {
      {"kernels/quads_squares.spv",
       SpvExecutionModeDerivativeGroupQuadsNV,
       {{0, 4, 3}},
       false,
       AGX_INVALID_ARGUMENT,
       "DerivativeGroupQuadsKHR with a workgroup of 3 x 2 x 1 threads: x and y must be multiples "
       "of 2"},
      {"kernels/quads_squares.spv",
       SpvExecutionModeDerivativeGroupQuadsNV,
       {{1, 4, 5}, {2, 4, 4}},
       false,
       AGX_INVALID_ARGUMENT,
       "4 x 5 x 4 threads: x and y must be multiples of 2"},
      {"kernels/quads_linear.spv",
       SpvExecutionModeDerivativeGroupLinearNV,
       {{0, 4, 3}, {1, 4, 3}, {2, 4, 2}},
       false,
       AGX_INVALID_ARGUMENT,
       "DerivativeGroupLinearKHR with a workgroup of 3 x 3 x 2 threads: their number must be a "
       "multiple of 4"},
      {"kernels/quads_linear.spv",
       SpvExecutionModeDerivativeGroupLinearNV,
       {{0}},
       true,
       AGX_UNIMPLEMENTED,
       "DerivativeGroupLinearKHR with a workgroup size that launches choose"},
      {"kernels/quads_linear.spv",
       SpvExecutionModeSubgroupUniformControlFlowKHR,
       {{0}},
       false,
       AGX_INVALID_ARGUMENT,
       "without execution mode DerivativeGroupQuadsKHR or DerivativeGroupLinearKHR"},
      {"kernels/image_quads_linear.spv",
       SpvExecutionModeSubgroupUniformControlFlowKHR,
       {{0}},
       false,
       AGX_INVALID_ARGUMENT,
       "or give Lod or Grad"},
      {"kernels/quads_linear.spv",
       SpvExecutionModeQuads,
       {{0}},
       false,
       AGX_UNIMPLEMENTED,
       "execution mode Quads (24) is not supported"},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agxc_options options = {.chip = agx_chip_find("g13g"),
                                     .specs = cases[i].specs,
                                     .has_dynamic_local_size = cases[i].is_dynamic};
      struct agx_program *program = NULL;
      size_t size, at = FIRST_INSTRUCTION;
      uint32_t *words = read_kernel(cases[i].kernel, &size);
      while (options.spec_count < 3 && cases[i].specs[options.spec_count].bytes)
         options.spec_count++;
      while (at < size / 4 && ((words[at] & 0xffff) != SpvOpExecutionMode ||
                               words[at + 2] == SpvExecutionModeLocalSize))
         at += words[at] >> 16;
      assert_true(at < size / 4);
      words[at + 2] = cases[i].mode;
      assert_fails(agxc_compile(words, size, &options, &program), cases[i].code, cases[i].message);
      free(words);
   }
}

static uint32_t sampler_count(const struct agx_program *program)
{
   uint32_t count = 0;
   for (uint32_t i = 0; i < program->state_count; i++)
      count += !agx_state_is_texture(program->states[i].kind);
   return count;
}

static bool has_slot(const struct agx_program *program, uint32_t kind, uint64_t value)
{
   for (uint32_t i = 0; i < program->uniform_count; i++)
      if (program->uniforms[i].kind == kind && program->uniforms[i].value == value)
         return true;
   return false;
}

static void samplers_that_fit_are_in_registers(void **state)
{
   static const struct {
      const char *kernel;
      uint32_t registers;
      bool has_table, has_names;
   } cases[] = {
      {"kernels/image_heap.spv", 4, false, false},
      {"kernels/image_sampler_mixed.spv", 4, false, false},
      {"kernels/image_samplers.spv", 0, true, false},
      {"kernels/image_sampler_heap.spv", 16, true, true},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agxc_options options = {.chip = agx_chip_find("g13g")};
      struct agx_program *program = NULL;
      size_t size;
      uint32_t *words = read_kernel(cases[i].kernel, &size);
      assert_ok(agxc_compile(words, size, &options, &program));
      assert_int_equal(sampler_count(program), cases[i].registers);
      assert_int_equal(has_slot(program, AGX_UNIFORM_HEAP, AGX_HEAP_SAMPLERS), cases[i].has_table);
      assert_int_equal(has_slot(program, AGX_UNIFORM_SAMPLER, 19), cases[i].has_names);
      agx_program_free(program);
      free(words);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_level_that_may_be_missing_costs_one_select),
      cmocka_unit_test(checks_cost_one_select_each),
      cmocka_unit_test(what_is_missing_is_named),
      cmocka_unit_test(quads_are_refused_by_name),
      cmocka_unit_test(samplers_that_fit_are_in_registers),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
