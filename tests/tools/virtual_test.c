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

static void options_reach_the_program(void **state)
{
   static char text[TOOL_MAX_OUTPUT];
   assert_int_equal(
      tool_run(
         "AGX_TOOL",
         "virtual --check --strict --chaos 0x7 --timeout 12 --timeout 250ms --stats=/s --json "
         "--inject /dev/null -- sh -c 'env | grep -v TOOL= | grep ^AGX_VIRTUAL_[CIT] | sort; "
         "echo $AGX_VIRTUAL_STRICT $AGX_VIRTUAL_STATS'",
         text),
      0);
   assert_string_equal(text, "AGX_VIRTUAL_CHAOS=0x7\nAGX_VIRTUAL_CHECK=1\n"
                             "AGX_VIRTUAL_INJECT=@/dev/null\nAGX_VIRTUAL_TIMEOUT=12\n"
                             "AGX_VIRTUAL_TIMEOUT_MS=250\n"
                             "1 json:/s\n");
   assert_int_equal(tool_run("AGX_TOOL",
                             "virtual --stats=s -- sh -c "
                             "'test $AGX_VIRTUAL_STATS = table:$PWD/s && "
                             "test -z \"$AGX_VIRTUAL_CHECK\"'",
                             text),
                    0);
}

/* --inject takes what the variable takes. */
static void scripts_may_stand_in_the_option(void **state)
{
   static char text[TOOL_MAX_OUTPUT];
   assert_int_equal(tool_run("AGX_TOOL",
                             "virtual --inject 'hang 5; lose 7' -- sh -c 'echo "
                             "$AGX_VIRTUAL_INJECT'",
                             text),
                    0);
   assert_string_equal(text, "hang 5; lose 7\n");
   assert_int_equal(
      tool_run("AGX_TOOL", "virtual --inject=@/dev/null -- sh -c 'echo $AGX_VIRTUAL_INJECT'", text),
      0);
   assert_string_equal(text, "@/dev/null\n");
}

/* Before the command runs. */
static void bad_variables_are_refused_by_name(void **state)
{
   static const struct {
      const char *name, *value, *words;
   } rows[] = {
      {"AGX_VIRTUAL_STRICT", "yes", "AGX_VIRTUAL_STRICT=yes: it takes a number from 0 to 1"},
      {"AGX_VIRTUAL_STATS", "xml", "AGX_VIRTUAL_STATS=xml: it takes table, json"},
      {"AGX_VIRTUAL_MEMORY", "4096", "AGX_VIRTUAL_MEMORY=4096: it takes a number from 1048576 to"},
      {"AGX_VIRTUAL_INJECT", "hang x", "fault script, line 1: \"x\""},
      {"AGX_VIRTUAL_SECCOMP", "no", "AGX_VIRTUAL_SECCOMP=no: it takes a number from 0 to 1"},
      {"AGX_VIRTUAL_STRICKT", "1", "AGX_VIRTUAL_STRICKT: the virtual AGX has no such variable"},
   };
   static char text[TOOL_MAX_OUTPUT];
   for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
      setenv(rows[i].name, rows[i].value, 1);
      assert_int_not_equal(tool_run("AGX_TOOL", "virtual -- echo ran", text), 0);
      unsetenv(rows[i].name);
      if (!strstr(text, rows[i].words) || strstr(text, "ran\n"))
         fail_msg("%s: %s", rows[i].name, text);
   }
   assert_int_not_equal(tool_run("AGX_TOOL", "virtual --inject 'explode 1' -- echo ran", text), 0);
   assert_non_null(strstr(text, "\"explode\" is none of"));
}

static void what_is_preloaded_stays(void **state)
{
   static char text[TOOL_MAX_OUTPUT];
   assert_int_equal(tool_run("AGX_TOOL",
                             "virtual -- sh -c 'LD_PRELOAD=$LD_PRELOAD:libm.so.6 exec \"$0\" "
                             "virtual -- sh -c \"echo \\$LD_PRELOAD\"' \"$AGX_TOOL\"",
                             text),
                    0);
   assert_non_null(strstr(text, "libagx_virtual.so:libm.so.6\n"));
   assert_null(strstr(strstr(text, "libagx_virtual.so") + 1, "libagx_virtual.so"));
}

/* A tree that was configured for any libdir and then moved, and one without the library. */
static void the_library_is_found_beside_the_program(void **state)
{
   static const char script[] =
      "set -e; tree=$(mktemp -d); trap 'rm -rf \"$tree\"' EXIT; mkdir -p \"$tree/bin\" "
      "\"$tree/$AGX_TEST_LIBDIR\"; "
      "cp \"$AGX_TOOL\" \"$tree/bin/agx\"; library=$AGX_VIRTUAL_LIBRARY; unset "
      "AGX_VIRTUAL_LIBRARY; "
      "text=$(\"$tree/bin/agx\" virtual -- ls /dev/dri 2>&1) && exit 3; "
      "case $text in *\"$tree/$AGX_TEST_LIBDIR/libagx_virtual.so\"*AGX_VIRTUAL_LIBRARY*) ;; *) "
      "exit 4 ;; esac; "
      "cp \"$library\" \"$tree/$AGX_TEST_LIBDIR/\"; "
      "[ \"$(\"$tree/bin/agx\" virtual -- ls /dev/dri)\" = renderD128 ]";
   int status = system(script);
   assert_true(WIFEXITED(status));
   assert_int_equal(WEXITSTATUS(status), 0);
}

static void the_end_is_passed_on(void **state)
{
   static char text[TOOL_MAX_OUTPUT];
   assert_int_equal(tool_run("AGX_TOOL", "virtual -- sh -c 'exit 77'", text), 77);
   assert_int_equal(tool_run("AGX_TOOL", "virtual -- sh -c 'kill -9 $$'", text), 128 + 9);
   assert_int_equal(tool_run("AGX_TOOL", "virtual sh -c 'kill -15 $PPID; exec sleep 20'", text),
                    128 + 15);
   assert_int_equal(tool_run("AGX_TOOL", "virtual -- /nonexistent/program", text), 127);
   assert_non_null(strstr(text, "/nonexistent/program: No such file"));
   assert_int_equal(tool_run("AGX_TOOL", "virtual -- /dev/null", text), 126);
}

/* A program that opened the node by its path; both forms, to standard error. */
static void statistics_come_from_any_program(void **state)
{
   static char text[TOOL_MAX_OUTPUT];
   char *corpus = agx_test_path("corpus"), arguments[1500];
   for (unsigned i = 0; i < 2; i++) {
      snprintf(arguments, sizeof(arguments),
               "virtual --stats %s -- env -u AGX_DEVICE \"$AGX_TOOL\" run '%s/saxpy.spv' "
               "--manifest '%s/saxpy.txt'",
               i ? "--json" : "", corpus, corpus);
      assert_int_equal(tool_run("AGX_TOOL", arguments, text), 0);
      assert_null(strstr(text, ", virtual"));
      assert_non_null(strstr(text, i ? "\"bound\": \"" : "bound by: "));
   }
   free(corpus);
}

static void mistakes_are_named(void **state)
{
   static const struct {
      const char *arguments, *words;
   } rows[] = {
      {"virtual", "no command to run"},
      {"virtual --check --", "no command to run"},
      {"virtual --chip g99 -- ls", "--chip g99: there is no such chip"},
      {"virtual --chip -- ls", "--chip: not an option, or its value is missing"},
      {"virtual --chip=g99 -- ls", "--chip g99: there is no such chip"},
      {"virtual --chip= -- ls", "--chip: not an option, or its value is missing"},
      {"virtual --chaos=seven ls", "--chaos seven: not a number of 64 bits"},
      {"virtual --inject=/nonexistent ls", "--inject /nonexistent: No such file"},
      {"virtual --timeout=7 --chip=g14s", "no command to run"},
      {"virtual --check=1 ls", "--check: there is no such option"},
      {"virtual --chaos -- ls", "--chaos: not an option, or its value is missing"},
      {"virtual --chaos seven -- ls", "--chaos seven: not a number of 64 bits"},
      {"virtual --timeout 18446744073709551616 ls", "--timeout 18446744073709551616: not a number"},
      {"virtual --timeout -1 ls", "--timeout -1: not a number"},
      {"virtual --timeout xms ls", "--timeout xms: not a number"},
      {"virtual --timeout 5s ls", "--timeout 5s: not a number"},
      {"virtual --inject /nonexistent ls", "--inject /nonexistent: No such file"},
      {"virtual --json ls", "--json: the form of --stats"},
      {"virtual --stats= ls", "--stats=: the file's name is missing"},
      {"virtual --fast ls", "--fast: there is no such option"},
   };
   static char text[TOOL_MAX_OUTPUT];
   for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
      assert_int_equal(tool_run("AGX_TOOL", rows[i].arguments, text), 2);
      if (!strstr(text, rows[i].words))
         fail_msg("%s: %s", rows[i].arguments, text);
   }
   assert_int_equal(tool_run("AGX_TOOL", "virtual --help", text), 0);
   assert_non_null(strstr(text, "--inject SCRIPT"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_program_sees_the_node),
      cmocka_unit_test(options_reach_the_program),
      cmocka_unit_test(scripts_may_stand_in_the_option),
      cmocka_unit_test(bad_variables_are_refused_by_name),
      cmocka_unit_test(what_is_preloaded_stays),
      cmocka_unit_test(the_library_is_found_beside_the_program),
      cmocka_unit_test(the_end_is_passed_on),
      cmocka_unit_test(statistics_come_from_any_program),
      cmocka_unit_test(mistakes_are_named),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
