/* SPDX-License-Identifier: MIT
 *
 * What nothing uses goes; what has an effect, or is used in part, stays.
 */
#include "agx/compiler/opt/opt.h"
#include "uniform_support.h"

#define X   "%0:32 = load_shared #0:32\n"
#define OUT "store_shared #0:32, "
#define LOOP(phi, next)                                                                            \
   X "loop\n" phi "   %3:1 = ieq %0:32, #0:32\n   branch %3:1\n   if\n      break\n   else\n"      \
     "   end\ncontinuing\n" next "end\n"

static void check(enum agxc_stage stage, const char *before, const char *after)
{
   uniform_check(&(struct uniform_case){
      .pass = agxc_opt_dce, .before = before, .after = after, .stage = stage});
}

static void what_nothing_uses_goes(void **state)
{
   /* Chains at once. */
   check(AGXC_STAGE_GENERIC,
         X "%1:32 = iadd %0:32, #1:32\n%2:32 = imul %1:32, #3:32\n" OUT "%0:32\n", X OUT "%0:32\n");
   /* Loads have no effect. */
   check(AGXC_STAGE_GENERIC, X OUT "#1:32\n", OUT "#1:32\n");
   /* Nor has a loop's variable that counts for nobody. */
   check(AGXC_STAGE_GENERIC,
         LOOP("   %1:32 = phi #0:32, %2:32\n", "   %2:32 = iadd %1:32, #1:32\n"), LOOP("", ""));
}

static void what_is_used_in_part_stays(void **state)
{
   check(AGXC_STAGE_GENERIC,
         "%0:32x2 = load_shared #0:32\n%1:32, %2:32 = split %0:32x2\n" OUT "%2:32\n", NULL);
   check(AGXC_STAGE_GENERIC,
         LOOP("   %1:32 = phi #0:32, %2:32\n", "   %2:32 = iadd %1:32, #1:32\n") OUT "%1:32\n",
         NULL);
}

static void effects_stay(void **state)
{
   check(AGXC_STAGE_GENERIC,
         X "%1:32 = atomic_shared #0:32, %0:32, _, #0:64\nbarrier #3:64\n" OUT "#1:32\n", NULL);
   check(AGXC_STAGE_GENERIC, X "%3:1 = ieq %0:32, #0:32\nbranch %3:1\nif\n   return\nelse\nend\n",
         NULL);
}

static void rows_too(void **state)
{
   check(AGXC_STAGE_MACHINE,
         "%0:32 = agx.mfsr #0x34:64\n%1:32 = agx.iadd %0:32, #1:32, #0:64, #0:64\n"
         "%2:32 = agx.load u0l:64, %0:32, #0:64, #2:64, #1:64, #0:64, #0:64\n"
         "%3:32 = agx.atomic u0l:64, %0:32, %0:32, #0:64, #0:64, #0:64\nagx.barrier\n",
         "%0:32 = agx.mfsr #0x34:64\n"
         "%3:32 = agx.atomic u0l:64, %0:32, %0:32, #0:64, #0:64, #0:64\nagx.barrier\n");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_nothing_uses_goes),
      cmocka_unit_test(what_is_used_in_part_stays),
      cmocka_unit_test(effects_stay),
      cmocka_unit_test(rows_too),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
