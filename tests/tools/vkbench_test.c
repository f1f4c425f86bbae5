/* SPDX-License-Identifier: MIT
 *
 * agx-vkbench: the HAL and lavapipe compute the same; time is not measured here.
 */
#include "tool.h"

static char text[TOOL_MAX_OUTPUT];

/* Both sides compute the same; how fast is no test's business. */
static void both_sides_agree(void **state)
{
   char *corpus = agx_test_path("corpus"), arguments[1024];
   snprintf(arguments, sizeof(arguments), "--only saxpy --rounds 1 --json --corpus %s", corpus);
   int code = tool_run("AGX_VKBENCH", arguments, text);
   free(corpus);
   if (code != 0 && strstr(text, "vulkan: "))
      skip(); /* no lavapipe */
   assert_int_equal(code, 0);
   assert_non_null(strstr(text, "\"kernel\": \"saxpy\""));
   assert_non_null(strstr(text, "\"same_output\": true"));
   assert_non_null(strstr(text, "\"geometric_mean\": "));
}

static void mistakes_are_named(void **state)
{
   assert_int_equal(tool_run("AGX_VKBENCH", "--fast", text), 2);
   assert_int_equal(tool_run("AGX_VKBENCH", "--corpus /nonexistent", text), 1);
   assert_non_null(strstr(text, "/nonexistent/tiers.tsv"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_sides_agree),
      cmocka_unit_test(mistakes_are_named),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
