/* SPDX-License-Identifier: MIT
 *
 * Whether programs can be served without the preload library.
 */
#include <stdlib.h>

#include "support.h"
#include "winsys/virtual/doors/serve/supervisor.h"

static void the_environment_switches_it_off(void **state)
{
   setenv("AGX_VIRTUAL_SECCOMP", "0", 1);
   assert_fails(agxv_supervisor_check(), AGX_UNIMPLEMENTED, "AGX_VIRTUAL_SECCOMP");
   unsetenv("AGX_VIRTUAL_SECCOMP");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_environment_switches_it_off),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
