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
      const char *message;
   } cases[] = {
      {"kernels/image_fetch.spv", SpvOpTypeImage, 3, SpvDimRect, "dimension Rect"},
      {"kernels/image_sample.spv", SpvOpImageSampleExplicitLod, 5, SpvImageOperandsBiasMask,
       "operand Bias"},
      {"kernels/image_sample.spv", SpvOpImageSampleExplicitLod, 0,
       7u << 16 | SpvOpImageSampleImplicitLod, "implicit level of detail"},
      {"kernels/image_sample.spv", SpvOpImageSampleExplicitLod, 5, SpvImageOperandsMinLodMask,
       "operand MinLod"},
      {"kernels/image_write.spv", SpvOpTypeImage, 3, SpvDimSubpassData, "dimension SubpassData"},
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
      assert_fails(agxc_compile(words, size, &options, &program), AGX_UNIMPLEMENTED,
                   cases[i].message);
      free(words);
   }
}

static void unsized_samplers_are_refused(void **state)
{
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   struct agx_program *program = NULL;
   size_t size;
   uint32_t *words = read_kernel("kernels/image_samplers.spv", &size);
   assert_fails(agxc_compile(words, size, &options, &program), AGX_UNIMPLEMENTED,
                "array of more than 16 samplers");
   free(words);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_level_that_may_be_missing_costs_one_select),
      cmocka_unit_test(checks_cost_one_select_each),
      cmocka_unit_test(what_is_missing_is_named),
      cmocka_unit_test(unsized_samplers_are_refused),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
