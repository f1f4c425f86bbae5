/* SPDX-License-Identifier: MIT
 *
 * The variants of exec functions: each has all of them, and the environment can force the portable
 * one.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

#include "agx/sim/exec/exec.h"

static void every_variant_is_whole(void **state)
{
   const struct agxs_exec_set *best = agxs_exec_best();
   for (unsigned i = 0; i < AGXS_X_COUNT; i++) {
      assert_non_null(agxs_exec_set_plain.exec[i]);
      assert_non_null(best->exec[i]);
   }
}

static void the_environment_forces_the_plain_one(void **state)
{
   const char *before = getenv("AGX_SIM_VARIANT");
   char kept[32] = "";
   if (before)
      snprintf(kept, sizeof(kept), "%s", before);
   setenv("AGX_SIM_VARIANT", "plain", 1);
   assert_ptr_equal(agxs_exec_best(), &agxs_exec_set_plain);
   if (before)
      setenv("AGX_SIM_VARIANT", kept, 1);
   else
      unsetenv("AGX_SIM_VARIANT");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_variant_is_whole),
      cmocka_unit_test(the_environment_forces_the_plain_one),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
