/* SPDX-License-Identifier: MIT
 *
 * `agx virtual`: a program of the system, unmodified, sees the node.
 */
#include "tool.h"

static void a_program_sees_the_node(void **state)
{
   static char text[TOOL_MAX_OUTPUT];
   assert_int_equal(tool_run("AGX_TOOL", "virtual --chip t6020 -- ls /dev/dri", text), 0);
   assert_string_equal(text, "renderD128\n");
   assert_int_equal(tool_run("AGX_TOOL", "virtual -- sh -c 'echo $AGX_DEVICE; exit 7'", text), 7);
   assert_string_equal(text, "virtual:g13g\n");
}

static void mistakes_are_named(void **state)
{
   static char text[TOOL_MAX_OUTPUT];
   assert_int_equal(tool_run("AGX_TOOL", "virtual", text), 2);
   assert_non_null(strstr(text, "no command to run"));
   assert_int_equal(tool_run("AGX_TOOL", "virtual --chip g99 -- ls", text), 2);
   assert_non_null(strstr(text, "g99"));
   assert_int_equal(tool_run("AGX_TOOL", "virtual --chaos 1 -- ls", text), 2);
   assert_non_null(strstr(text, "--chaos: not an option of this version"));
   assert_int_equal(tool_run("AGX_TOOL", "virtual -- /nonexistent/program", text), 1);
   assert_non_null(strstr(text, "/nonexistent/program"));
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_program_sees_the_node),
      cmocka_unit_test(mistakes_are_named),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
