/* SPDX-License-Identifier: MIT
 *
 * agx selftest on the virtual AGX: all experiments agree, each alteration is seen, and the report
 * says which questions were asked.
 */
#include "tool.h"

#include <unistd.h>

static void all_agree(void **state)
{
   char text[TOOL_MAX_OUTPUT];
   int code = tool_run("AGX_TOOL", "selftest --device virtual --risky", text);
   if (code != 0 || !strstr(text, " 0 differ, 0 could not run"))
      fail_msg("exit code %d: %s", code, text);
}

/* What the virtual AGX refuses may hang a GPU: nothing of it runs without --risky. */
static void nothing_refused_runs_unasked(void **state)
{
   char text[TOOL_MAX_OUTPUT];
   tool_run("AGX_TOOL",
            "selftest --device virtual --json | "
            "grep -o -e '\"reason\": \"[^\"]*\"' -e '\"differs\": [0-9]*'",
            text);
   if (strncmp(text, "\"differs\": 0\n", 13) != 0 || strstr(text, "reason"))
      fail_msg("%s", text);
}

static void each_alteration_is_seen(void **state)
{
   char text[TOOL_MAX_OUTPUT];
   int code = tool_run("AGX_TOOL", "selftest --device virtual --risky --mutate", text);
   if (code != 0 || !strstr(text, " 0 NOT SEEN, 0 could not run"))
      fail_msg("exit code %d: %s", code, text);
}

static void through_a_node(void **state)
{
   char text[TOOL_MAX_OUTPUT];
   if (!getenv("AGX_VIRTUAL_LIBRARY")) {
      skip();
      return;
   }
   int code = tool_run("AGX_TOOL", "virtual -- $AGX_TOOL selftest --device drm --risky", text);
   if (code != 0 || !strstr(text, " 0 differ"))
      fail_msg("exit code %d: %s", code, text);
}

/* What follows a loss is said not to have run, or runs on a new device. */
static void a_lost_device_is_survived(void **state)
{
   char text[TOOL_MAX_OUTPUT];
   setenv("AGX_VIRTUAL_INJECT", "lose 5", 1);
   int code = tool_run("AGX_TOOL", "selftest --device virtual", text);
   unsetenv("AGX_VIRTUAL_INJECT");
   if ((code != 0 && code != 3) || !strstr(text, " experiments on Apple M1") ||
       !strstr(text, "could not run"))
      fail_msg("exit code %d: %s", code, text);
}

static void report(void **state)
{
   char text[TOOL_MAX_OUTPUT];
   assert_int_equal(tool_run("AGX_TOOL", "selftest --device virtual --only U-sem-06 --json", text),
                    0);
   assert_non_null(strstr(text, "\"chip\": \"g13g\""));
   assert_non_null(strstr(text, "\"generation\": 13"));
   assert_non_null(strstr(text, "\"settles\": [\"U-sem-06\"]"));
   assert_non_null(
      strstr(text, "{\"id\": \"U-sem-06\", \"question\": \"What do conversions to integers"));
   assert_non_null(strstr(text, "\"result\": \"not asked\""));
}

/* A report says that it is one of alterations, and gives names of values in full. */
static void report_of_a_mutation(void **state)
{
   char text[TOOL_MAX_OUTPUT];
   assert_int_equal(
      tool_run("AGX_TOOL", "selftest --device virtual --only indirect-sizes --mutate --json", text),
      0);
   assert_non_null(strstr(text, "\"mutation\": true"));
   assert_non_null(strstr(text, "{\"name\": \"mode 1: threads that ran\", \"device\": "));
}

/* A report that can't be written is told before anything runs, not behind half an hour. */
static void a_wrong_path_is_told_first(void **state)
{
   char text[TOOL_MAX_OUTPUT];
   assert_int_equal(tool_run("AGX_TOOL",
                             "selftest --device virtual --only imul --json /nonexistent/report",
                             text),
                    1);
   assert_non_null(strstr(text, "/nonexistent/report can't be written: No such file"));
   assert_null(strstr(text, "agrees"));
}

static void usage(void **state)
{
   char text[TOOL_MAX_OUTPUT];
   assert_int_equal(tool_run("AGX_TOOL", "selftest --only nothing", text), 2);
   assert_non_null(strstr(text, "no experiment is called \"nothing\""));
   assert_int_equal(tool_run("AGX_TOOL", "selftest --device", text), 2);
   assert_non_null(strstr(text, "its value is missing"));
   assert_int_equal(tool_run("AGX_TOOL", "selftest --list", text), 0);
   assert_non_null(strstr(text, "U-stream-03"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_agree),
      cmocka_unit_test(nothing_refused_runs_unasked),
      cmocka_unit_test(each_alteration_is_seen),
      cmocka_unit_test(through_a_node),
      cmocka_unit_test(a_lost_device_is_survived),
      cmocka_unit_test(report),
      cmocka_unit_test(report_of_a_mutation),
      cmocka_unit_test(usage),
      cmocka_unit_test(a_wrong_path_is_told_first),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
