/* SPDX-License-Identifier: MIT
 *
 * The whole compiler over the corpus, with every check between passes: the first tier
 * compiles, with and without optimisation and robustness; everything else compiles or
 * names what is missing. What comes out survives its file.
 */
#include "support.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/compiler/compiler.h"
#include "base/util.h"

static const struct {
   const char *chip;
   enum agxc_robustness robustness;
   uint32_t debug;
} modes[] = {
   {"g13g", AGXC_ROBUST_NONE, 0},
   {"g13s", AGXC_ROBUST_CLAMP, 0},
   {"g14g", AGXC_ROBUST_CLAMP, AGXC_DEBUG_NO_OPT},
   {"g13g", AGXC_ROBUST_ZERO, AGXC_DEBUG_VALIDATE},
   {"g14s", AGXC_ROBUST_ZERO, AGXC_DEBUG_NO_OPT},
   {"g13g", AGXC_ROBUST_NONE, AGXC_DEBUG_NO_SCHEDULE},
};

/* The file's program is the one that was written. */
static void check_file(const struct agx_program *program)
{
   void *image;
   size_t size;
   struct agx_program *got;
   assert_ok(agx_program_write_elf(program, NULL, &image, &size));
   assert_ok(agx_program_read_elf(image, size, NULL, &got));
   assert_int_equal(got->code_B, program->code_B);
   assert_memory_equal(got->code, program->code, program->code_B);
   assert_int_equal(got->uniform_count, program->uniform_count);
   assert_memory_equal(&got->stats, &program->stats, sizeof(got->stats));
   agx_program_free(got);
   agx_host_free(NULL, image, size);
}

static void check_kernel(const char *name, bool must_compile)
{
   char path[128];
   snprintf(path, sizeof(path), "corpus/%s.spv", name);
   char *full = agx_test_path(path);
   size_t size;
   char *spirv = agx_test_read_file(full, &size);
   for (size_t i = 0; i < AGX_COUNT(modes); i++) {
      struct agxc_options options = {
         .chip = agx_chip_find(modes[i].chip),
         .robustness = modes[i].robustness,
         .debug = modes[i].debug | AGXC_DEBUG_VALIDATE,
      };
      assert_non_null(options.chip);
      struct agx_program *program;
      agx_status status = agxc_compile(spirv, size, &options, &program);
      if (status != AGX_OK && (must_compile || status != AGX_UNIMPLEMENTED))
         fail_msg("%s, mode %zu: %s", name, i, agx_error_peek());
      if (status != AGX_OK)
         continue;
      check_file(program);
      agx_program_free(program);
   }
   free(spirv);
   free(full);
}

static void test_corpus(void **state)
{
   char *path = agx_test_path("corpus/tiers.tsv"), *end = NULL;
   size_t size;
   char *text = agx_test_read_file(path, &size);
   unsigned first_tier = 0;
   for (char *line = strtok_r(text, "\n", &end); line; line = strtok_r(NULL, "\n", &end)) {
      char name[64];
      unsigned tier;
      if (sscanf(line, "%u %63s", &tier, name) != 2)
         continue;
      check_kernel(name, tier == 1);
      first_tier += tier == 1;
   }
   assert_true(first_tier >= 20);
   free(text);
   free(path);
}

/* 0.1 * 0.3 is not exact. */
static char *fold_product(void)
{
   static const char text[] = "shader main local 32x1x1 shared 0 push 0\n"
                              "%0:32 = load_shared #0:32\n"
                              "%1:32 = fmul %0:32, #0x3dcccccd:32\n"
                              "%2:32 = fmul %1:32, #0x3e99999a:32\n"
                              "store_shared #0:32, %2:32\n";
   static const char *const passes[] = {"opt_algebraic", "opt_copy_prop", "opt_dce"};
   const struct agxc_options options = {.chip = agx_chip_find("g13g")};
   char *out;
   assert_ok(agxc_run_passes(text, passes, AGX_COUNT(passes), &options, NULL, &out));
   return out;
}

static void constants_fold_alike_in_each_environment(void **state)
{
   static const int roundings[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
   char *plain = fold_product();
   assert_null(strstr(plain, "0x3dcccccd"));
   for (size_t i = 0; i < AGX_COUNT(roundings); i++) {
      fesetround(roundings[i]);
      char *changed = fold_product();
      int rounding = fegetround();
      fesetround(FE_TONEAREST);
      assert_int_equal(rounding, roundings[i]);
      assert_string_equal(changed, plain);
      free(changed);
   }
   free(plain);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_corpus),
      cmocka_unit_test(constants_fold_alike_in_each_environment),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
