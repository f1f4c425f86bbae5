/* SPDX-License-Identifier: MIT
 *
 * What applications are told about compiled kernels: numbers, machine code, IR, and the file that
 * makes them again.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define CHECKED   AGX_VARIANT_CHECKED
#define UNCHECKED AGX_VARIANT_UNCHECKED

static struct agx_executable *compile(struct fixture *f, const char *kernel, uint32_t robustness,
                                      uint32_t flags)
{
   struct agx_executable_desc desc = {
      .size = sizeof(desc), .robustness = robustness, .flags = flags};
   struct agx_executable *executable;
   char *path = agx_test_path(kernel);
   char *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(f->device, &desc, &executable));
   free(spirv);
   free(path);
   return executable;
}

/* The whole text; free it. */
static char *text_of(struct agx_executable *executable, uint32_t entry, uint32_t variant,
                     uint32_t kind)
{
   size_t bytes = 0, again;
   assert_ok(agx_executable_get_text(executable, entry, variant, kind, &bytes, NULL));
   assert_true(bytes > 1);
   char *text = malloc(again = bytes);
   assert_ok(agx_executable_get_text(executable, entry, variant, kind, &again, text));
   assert_int_equal(again, bytes);
   assert_int_equal(strlen(text), bytes - 1);
   return text;
}

static uint64_t number(struct agx_executable *executable, uint32_t variant, const char *name)
{
   struct agx_statistic all[64];
   uint32_t count = AGX_COUNT(all);
   assert_ok(agx_executable_get_statistics(executable, 0, variant, &count, all));
   for (uint32_t i = 0; i < count; i++)
      if (strcmp(all[i].name, name) == 0)
         return all[i].value;
   fail_msg("no statistic \"%s\"", name);
   return 0;
}

/* ---- numbers ------------------------------------------------------------- */

static void statistics_are_those_of_the_program(void **state)
{
   struct fixture f;
   struct agx_executable_info info = {.size = sizeof(info)};
   struct agx_statistic some[2] = {{0}};
   uint32_t all = 0, count = 1;
   fixture_open(&f, "virtual:g13g");
   struct agx_executable *executable = compile(&f, "corpus/jacobi.spv", 0, 0);
   agx_executable_get_info(executable, &info);
   assert_int_equal(number(executable, CHECKED, "Instructions"), info.instructions);
   assert_int_equal(number(executable, CHECKED, "Preamble instructions"),
                    info.preamble_instructions);
   assert_int_equal(number(executable, CHECKED, "Registers"), info.gpr_halves);
   assert_int_equal(number(executable, CHECKED, "Code size"), info.code_B);
   assert_int_equal(number(executable, CHECKED, "Resident threads"), info.resident_threads);
   assert_int_equal(number(executable, CHECKED, "Spills"), 0);
   assert_ok(agx_executable_get_statistics(executable, 0, CHECKED, &all, NULL));
   assert_ok(agx_executable_get_statistics(executable, 0, CHECKED, &count, some));
   assert_int_equal(count, all);
   assert_string_equal(some[0].name, "Instructions");
   assert_true(strlen(some[0].description) > 0);
   assert_null(some[1].name);
   assert_fails(agx_executable_get_statistics(executable, 1, CHECKED, &count, some),
                AGX_OUT_OF_RANGE, "entry point 1 of 1");
   assert_fails(agx_executable_get_statistics(executable, 0, UNCHECKED, &count, some),
                AGX_NOT_FOUND, "no variant 1");
   assert_fails(agx_executable_get_statistics(executable, 0, 2, &count, some), AGX_NOT_FOUND,
                "no variant 2");
   agx_release(executable);
   fixture_close(&f);
}

static void a_robust_kernel_has_two_variants(void **state)
{
   struct fixture f;
   fixture_open(&f, "virtual:g13g");
   struct agx_executable *executable =
      compile(&f, "corpus/jacobi.spv", AGX_ROBUST_ZERO, AGX_EXECUTABLE_KEEP_IR);
   assert_true(number(executable, CHECKED, "Instructions") >
               number(executable, UNCHECKED, "Instructions"));
   for (uint32_t kind = AGX_TEXT_ASSEMBLY; kind <= AGX_TEXT_IR_REGISTERS; kind++) {
      char *checked = text_of(executable, 0, CHECKED, kind);
      char *unchecked = text_of(executable, 0, UNCHECKED, kind);
      /* The front end knows nothing of checks; later there are more of them. */
      if (kind == AGX_TEXT_IR)
         assert_string_equal(checked, unchecked);
      else
         assert_true(strlen(checked) > strlen(unchecked));
      free(checked);
      free(unchecked);
   }
   agx_release(executable);
   fixture_close(&f);
}

/* ---- texts --------------------------------------------------------------- */

static void assembly_is_cut_where_the_room_ends(void **state)
{
   struct fixture f;
   char cut[8] = "-------";
   fixture_open(&f, "virtual:g13g");
   struct agx_executable *executable = fixture_kernel(&f, &agx_test_count);
   char *text = text_of(executable, 0, CHECKED, AGX_TEXT_ASSEMBLY);
   size_t whole_B = strlen(text) + 1, bytes = 5;
   assert_int_equal(strncmp(text, "# count\n", 8), 0);
   assert_non_null(strstr(text, "  stop\n"));
   assert_ok(agx_executable_get_text(executable, 0, CHECKED, AGX_TEXT_ASSEMBLY, &bytes, cut));
   assert_int_equal(bytes, whole_B);
   assert_string_equal(cut, "# co");
   assert_int_equal(cut[5], '-');
   bytes = 0;
   assert_ok(agx_executable_get_text(executable, 0, CHECKED, AGX_TEXT_ASSEMBLY, &bytes, cut));
   assert_int_equal(cut[0], '#');
   assert_fails(agx_executable_get_text(executable, 0, CHECKED, AGX_TEXT_IR, &bytes, NULL),
                AGX_NOT_FOUND, "AGX_EXECUTABLE_KEEP_IR");
   assert_fails(agx_executable_get_text(executable, 0, CHECKED, 4, &bytes, NULL), AGX_NOT_FOUND,
                "no text 4");
   assert_fails(agx_executable_get_text(executable, 3, CHECKED, 0, &bytes, NULL), AGX_OUT_OF_RANGE,
                "entry point 3");
   free(text);
   agx_release(executable);
   fixture_close(&f);
}

/* Out of the cache there is none; who asks for it gets it all the same. */
static void each_entry_point_has_its_ir(void **state)
{
   struct fixture f;
   size_t bytes = 0;
   fixture_open(&f, "virtual:g13g");
   struct agx_executable *plain = compile(&f, "kernels/entries.spv", 0, 0);
   assert_fails(agx_executable_get_text(plain, 0, CHECKED, AGX_TEXT_IR, &bytes, NULL),
                AGX_NOT_FOUND, "not kept");
   struct agx_executable *kept = compile(&f, "kernels/entries.spv", 0, AGX_EXECUTABLE_KEEP_IR);
   assert_int_equal(agx_executable_get_entry_count(kept), 3);
   for (uint32_t entry = 0; entry < 3; entry++)
      for (uint32_t kind = AGX_TEXT_IR; kind <= AGX_TEXT_IR_REGISTERS; kind++) {
         const char *name;
         char start[128];
         assert_ok(agx_executable_get_entry_name(kept, entry, &name));
         snprintf(start, sizeof(start), "shader %.60s ", name);
         char *text = text_of(kept, entry, CHECKED, kind);
         assert_int_equal(strncmp(text, start, strlen(start)), 0);
         free(text);
      }
   agx_release(plain);
   agx_release(kept);
   fixture_close(&f);
}

static void a_preamble_stands_behind_its_program(void **state)
{
   struct fixture f;
   fixture_open(&f, "virtual:g13g");
   struct agx_executable *executable =
      compile(&f, "corpus/loop_invariant.spv", 0, AGX_EXECUTABLE_KEEP_IR);
   assert_true(number(executable, CHECKED, "Preamble instructions") > 0);
   for (uint32_t kind = AGX_TEXT_ASSEMBLY; kind <= AGX_TEXT_IR_REGISTERS; kind++) {
      char *text = text_of(executable, 0, CHECKED, kind);
      const char *preamble =
         strstr(text, kind == AGX_TEXT_ASSEMBLY ? ", preamble\n" : "preamble\n");
      assert_int_equal(preamble != NULL, kind != AGX_TEXT_IR);
      free(text);
   }
   agx_release(executable);
   fixture_close(&f);
}

/* ---- the file ------------------------------------------------------------ */

static void *binary_of(struct agx_executable *executable, size_t *out_B)
{
   size_t bytes = 0;
   assert_ok(agx_executable_get_binary(executable, &bytes, NULL));
   uint8_t *binary = malloc(bytes);
   binary[0] = 0x55;
   size_t little = bytes - 1;
   assert_ok(agx_executable_get_binary(executable, &little, binary));
   assert_int_equal(little, bytes);
   assert_int_equal(binary[0], 0x55);
   assert_ok(agx_executable_get_binary(executable, &little, binary));
   *out_B = bytes;
   return binary;
}

static void expect_same_again(struct fixture *f, struct agx_executable *executable,
                              struct agx_executable_desc *desc)
{
   size_t bytes, again_B;
   void *binary = binary_of(executable, &bytes);
   struct agx_executable *again;
   struct agx_cache_stats before = {.size = sizeof(before)}, after = before;
   agx_device_get_cache_stats(f->device, &before);
   desc->data = binary;
   desc->data_B = bytes;
   assert_ok(agx_executable_create(f->device, desc, &again));
   agx_device_get_cache_stats(f->device, &after);
   assert_int_equal(after.compiles, before.compiles);
   assert_int_equal(agx_executable_get_entry_count(again),
                    agx_executable_get_entry_count(executable));
   for (uint32_t i = 0; i < agx_executable_get_entry_count(again); i++) {
      char *first = text_of(executable, i, CHECKED, AGX_TEXT_ASSEMBLY);
      char *second = text_of(again, i, CHECKED, AGX_TEXT_ASSEMBLY);
      assert_string_equal(first, second);
      free(first);
      free(second);
   }
   void *same = binary_of(again, &again_B);
   assert_int_equal(again_B, bytes);
   assert_memory_equal(same, binary, bytes);
   free(same);
   free(binary);
   agx_release(again);
}

static void a_binary_makes_the_executable_again(void **state)
{
   struct fixture f;
   struct agx_executable *first = NULL, *second = NULL;
   fixture_open(&f, "virtual:g13g");
   first = compile(&f, "corpus/jacobi.spv", AGX_ROBUST_ZERO, 0);
   struct agx_executable_desc desc = {.size = sizeof(desc), .robustness = AGX_ROBUST_ZERO};
   expect_same_again(&f, first, &desc);
   agx_release(first);
   desc.robustness = 0;
   first = compile(&f, "kernels/entries.spv", 0, 0);
   expect_same_again(&f, first, &desc);
   /* One entry point of that file is a file of its own. */
   size_t bytes;
   void *binary = binary_of(first, &bytes);
   desc.data = binary;
   desc.data_B = bytes;
   assert_ok(agx_executable_get_entry_name(first, 1, &desc.entry));
   assert_ok(agx_executable_create(f.device, &desc, &second));
   expect_same_again(&f, second, &desc);
   free(binary);
   agx_release(first);
   agx_release(second);
   fixture_close(&f);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(statistics_are_those_of_the_program),
      cmocka_unit_test(a_robust_kernel_has_two_variants),
      cmocka_unit_test(assembly_is_cut_where_the_room_ends),
      cmocka_unit_test(each_entry_point_has_its_ir),
      cmocka_unit_test(a_preamble_stands_behind_its_program),
      cmocka_unit_test(a_binary_makes_the_executable_again),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
