/* SPDX-License-Identifier: MIT
 *
 * What vertex fetch costs: attributes as code, in each mode; and what of vertex stages is refused,
 * by name.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/compiler/compiler.h"
#include "base/util.h"

struct code {
   char text[32768];
   size_t start; /* of this compilation's */
   char *ir;     /* of the front end */
};

static void append(struct code *code, const char *text)
{
   size_t used = strlen(code->text);
   int length = snprintf(code->text + used, sizeof(code->text) - used, "%s", text);
   assert_true(length >= 0 && used + (size_t)length < sizeof(code->text));
}

static void keep(void *user, const char *pass, const char *text)
{
   struct code *code = user;
   if (strcmp(pass, "asm") == 0)
      code->text[code->start] = 0; /* robust code is compiled twice; the last counts */
   if (strcmp(pass, "asm") == 0 || strcmp(pass, "asm preamble") == 0)
      append(code, text);
   else if (!code->ir)
      code->ir = strdup(text);
}

static agx_status compile(const char *kernel, struct agxc_options *options, struct code *code,
                          struct agx_program **out_program)
{
   size_t size;
   char *path = agx_test_path(kernel);
   char *spirv = agx_test_read_file(path, &size);
   if (code)
      code->start = strlen(code->text);
   options->chip = agx_chip_find("g13g");
   options->debug = AGXC_DEBUG_VALIDATE;
   options->dump = code ? keep : NULL;
   options->dump_user = code;
   agx_status status = agxc_compile(spirv, size, options, out_program);
   free(spirv);
   free(path);
   return status;
}

/* Appends the code of one attribute; returns its instructions. */
static uint32_t attribute(const char *format, uint32_t stride_B, enum agxc_robustness robustness,
                          struct code *all)
{
   static const char *const modes[] = {"off", "clamp", "zero"};
   char title[96];
   const struct agxc_attribute a = {.format = agx_vertex_format_find(format), .stride_B = stride_B};
   struct agxc_options options = {.robustness = robustness, .attributes = &a, .attribute_count = 1};
   struct agx_program *program;
   snprintf(title, sizeof(title), "%s, stride %u, %s\n", format, stride_B, modes[robustness]);
   append(all, title);
   assert_ok(compile("kernels/vertex_dense.spv", &options, all, &program));
   uint32_t count = program->stats.instructions;
   assert_int_equal(program->stats.preamble_instructions > 0, stride_B == 0);
   assert_int_equal(program->stats.loads, stride_B != 0);
   agx_program_free(program);
   return count;
}

/* The load, and nothing in front of it but the umin. */
static void dense_attributes_take_two_instructions(void **state)
{
   static const char *const formats[] = {"R32G32B32A32_FLOAT", "R8G8B8A8_UNORM", "R16G16_SNORM"};
   static const uint32_t strides[] = {16, 4, 4};
   struct code *all = calloc(1, sizeof(*all));
   for (uint32_t i = 0; i < AGX_COUNT(formats); i++) {
      uint32_t off = attribute(formats[i], strides[i], AGXC_ROBUST_NONE, all);
      assert_int_equal(attribute(formats[i], strides[i], AGXC_ROBUST_CLAMP, all), off + 1);
      assert_int_equal(attribute(formats[i], strides[i], AGXC_ROBUST_ZERO, all), off + 1);
   }
   agx_test_golden("compiler/vertex_dense.txt", all->text);
   free(all->ir);
   free(all);
}

static void formats_are_converted(void **state)
{
   static const char *const formats[] = {
      "R32G32B32_FLOAT", "R16G16B16A16_FLOAT", "R10G10B10A2_SNORM", "R32_FIXED",
      "B8G8R8A8_UNORM",  "R11G11B10_FLOAT",    "R8_SSCALED"};
   static const uint32_t strides[] = {12, 8, 4, 4, 20, 64, 0};
   struct code *all = calloc(1, sizeof(*all));
   for (uint32_t i = 0; i < AGX_COUNT(formats); i++)
      attribute(formats[i], strides[i], AGXC_ROBUST_CLAMP, all);
   agx_test_golden("compiler/vertex_formats.txt", all->text);
   free(all->ir);
   free(all);
}

static void indices_are_clamped(void **state)
{
   struct code *all = calloc(1, sizeof(*all));
   struct agxc_options options = {.index_B = 2, .robustness = AGXC_ROBUST_ZERO};
   struct agx_program *program;
   assert_ok(compile("kernels/vertex_default.spv", &options, all, &program));
   agx_program_free(program);
   agx_test_golden("compiler/vertex_index.txt", all->text);
   agx_test_golden("compiler/vertex_index_ir.txt", all->ir);
   free(all->ir);
   free(all);
}

static void what_is_missing_is_named(void **state)
{
   static const struct {
      const char *format;
      uint32_t location, stride_B, index_B;
      agx_status code;
      const char *text;
   } cases[] = {
      {"R8_UINT", 0, 4, 0, AGX_INVALID_ARGUMENT, "input location 0 is a float, its format R8_UINT"},
      {"R32_FLOAT", 0, 6, 0, AGX_UNIMPLEMENTED, "stride 6 is no multiple of 4"},
      {"R32_FLOAT", 0, 8196, 0, AGX_OUT_OF_RANGE, "stride 8196"},
      {"R32_FLOAT", 3, 4, 0, AGX_INVALID_ARGUMENT, "input location 0 has no attribute"},
      {"R64_FLOAT", 0, 8, 0, AGX_INVALID_ARGUMENT, "location 0 has no format"},
      {"R32_FLOAT", 0, 4, 3, AGX_INVALID_ARGUMENT, "indices of 3 bytes"},
   };
   for (uint32_t i = 0; i < AGX_COUNT(cases); i++) {
      const struct agxc_attribute a = {.location = cases[i].location,
                                       .format = agx_vertex_format_find(cases[i].format),
                                       .stride_B = cases[i].stride_B};
      struct agxc_options options = {
         .attributes = &a, .attribute_count = 1, .index_B = cases[i].index_B};
      struct agx_program *program;
      assert_fails(compile("kernels/vertex_dense.spv", &options, NULL, &program), cases[i].code,
                   cases[i].text);
   }
}

/* Whatever words are changed, the compiler ends with a program or a status. */
static void damaged_modules_end_well(void **state)
{
   static const char *const kernels[] = {"kernels/vertex_stage.spv", "kernels/vertex_default.spv",
                                         "kernels/vertex_store.spv"};
   struct agx_test_rng rng = {5};
   const struct agxc_options options = {.chip = agx_chip_find("g13g"), .index_B = 2};
   uint32_t failed = 0;
   for (uint32_t i = 0; i < AGX_COUNT(kernels); i++) {
      size_t size;
      char *path = agx_test_path(kernels[i]);
      char *spirv = agx_test_read_file(path, &size);
      uint32_t *words = malloc(size);
      for (uint32_t n = 0; n < 700; n++) {
         memcpy(words, spirv, size);
         for (uint32_t k = 0; k <= n % 3; k++) {
            uint32_t *word = &words[5 + agx_test_random_below(&rng, size / 4 - 5)];
            *word = n % 2 ? *word ^ 1u << agx_test_random_below(&rng, 32)
                          : (uint32_t)agx_test_random_below(&rng, 80);
         }
         struct agx_program *program = NULL;
         if (agxc_compile(words, size, &options, &program) == AGX_OK)
            agx_program_free(program);
         else
            failed++;
      }
      free(words);
      free(spirv);
      free(path);
   }
   assert_true(failed > 200);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(dense_attributes_take_two_instructions),
      cmocka_unit_test(formats_are_converted),
      cmocka_unit_test(indices_are_clamped),
      cmocka_unit_test(what_is_missing_is_named),
      cmocka_unit_test(damaged_modules_end_well),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
