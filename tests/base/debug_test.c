/* SPDX-License-Identifier: MIT
 *
 * Names in AGX_DEBUG become flags; an unknown name is refused.
 */
#include "support.h"

#include "base/debug.h"

static void names_become_flags(void **state)
{
   uint32_t flags = 1;
   assert_ok(agx_debug_parse(NULL, &flags));
   assert_int_equal(flags, 0);
   assert_ok(agx_debug_parse("ir,,sync,", &flags));
   assert_int_equal(flags, AGX_DEBUG_IR | AGX_DEBUG_SYNC);
}

static void an_unknown_name_is_refused(void **state)
{
   uint32_t flags;
   assert_fails(agx_debug_parse("ir,syn", &flags), AGX_INVALID_ARGUMENT, "\"syn\"");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_become_flags),
      cmocka_unit_test(an_unknown_name_is_refused),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
