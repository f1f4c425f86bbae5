/* SPDX-License-Identifier: MIT
 *
 * `agx info` on the virtual device, and what it says about mistakes.
 */
#include "tool.h"

#include <unistd.h>

#include "agx/chip.h"

static void the_virtual_device_is_described(void **state)
{
   static char text[TOOL_MAX_OUTPUT];
   for (size_t i = 0; agx_chip_at(i); i++) {
      char arguments[64], line[64];
      snprintf(arguments, sizeof(arguments), "info --device virtual:%s", agx_chip_at(i)->soc);
      assert_int_equal(tool_run("AGX_TOOL", arguments, text), 0);
      snprintf(line, sizeof(line), "virtual:%s\n", agx_chip_at(i)->name);
      assert_non_null(strstr(text, line));
      assert_non_null(strstr(text, agx_chip_at(i)->market));
      assert_non_null(strstr(text, "virtual: a simulation"));
   }
   assert_int_equal(tool_run("AGX_TOOL", "info --json --device virtual:g14s", text), 0);
   assert_non_null(strstr(text, "\"chip\": \"g14s\""));
   assert_non_null(strstr(text, "\"virtual\": true"));
   assert_non_null(strstr(text, "\"max_binding_bytes\": 4294967295"));
   assert_non_null(strstr(text, "\"nodes\": ["));
}

static void mistakes_are_named(void **state)
{
   static char text[TOOL_MAX_OUTPUT];
   assert_int_equal(tool_run("AGX_TOOL", "info --device virtual:g99x", text), 1);
   assert_non_null(strstr(text, "agx info: "));
   assert_non_null(strstr(text, "g99x"));
   assert_int_equal(tool_run("AGX_TOOL", "info --device /dev/null --json", text), 1);
   assert_non_null(strstr(text, "\"error\": \"/dev/null: not a DRM device\""));
   assert_int_equal(tool_run("AGX_TOOL", "info --device", text), 2);
   assert_non_null(strstr(text, "--device: its value is missing"));
   assert_int_equal(tool_run("AGX_TOOL", "info --jsn", text), 2);
   assert_non_null(strstr(text, "--jsn"));
}

static void an_unknown_debug_flag_is_refused(void **state)
{
   static char text[TOOL_MAX_OUTPUT];
   static const char *const commands[] = {"info --device virtual", "compile /dev/null", "asm"};
   assert_int_equal(setenv("AGX_DEBUG", "asm,typo", 1), 0);
   for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
      assert_int_equal(tool_run("AGX_TOOL", commands[i], text), 1);
      assert_non_null(strstr(text, "AGX_DEBUG: unknown flag \"typo\"; AGX_DEBUG=help lists them"));
   }
   unsetenv("AGX_DEBUG");
}

static void a_limit_of_addresses_is_named(void **state)
{
   static char text[TOOL_MAX_OUTPUT];
   char command[1024];
   snprintf(command, sizeof(command), "ulimit -v 2000000; exec '%s' info --device virtual 2>&1",
            getenv("AGX_TOOL"));
   FILE *pipe = popen(command, "r");
   assert_non_null(pipe);
   text[fread(text, 1, sizeof(text) - 1, pipe)] = 0;
   pclose(pipe);
   if (!strstr(text, "AddressSanitizer") && !strstr(text, "ThreadSanitizer"))
      assert_non_null(strstr(text, "may have 1953 (RLIMIT_AS, ulimit -v)"));
}

/* Of every command: what follows trusts the exit status. */
static void a_full_disk_is_a_failure(void **state)
{
   static char text[TOOL_MAX_OUTPUT];
   if (access("/dev/full", W_OK) != 0)
      skip();
   assert_int_equal(tool_run("AGX_TOOL", "info --device virtual", text), 0);
   assert_int_equal(tool_run("AGX_TOOL", "info --device virtual >/dev/full", text), 1);
   assert_int_equal(
      tool_run("AGX_TOOL", "selftest --device virtual --only imul --json >/dev/full", text), 1);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_virtual_device_is_described),
      cmocka_unit_test(mistakes_are_named),
      cmocka_unit_test(an_unknown_debug_flag_is_refused),
      cmocka_unit_test(a_limit_of_addresses_is_named),
      cmocka_unit_test(a_full_disk_is_a_failure),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
