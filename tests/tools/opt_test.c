/* SPDX-License-Identifier: MIT
 *
 * `agx opt`: passes by name over IR text, and what it says about wrong names and wrong text.
 */
#include "tool.h"

#define HEADER "shader main local 32x1x1 shared 0 push 0\n"

/* `agx opt arguments` with the shader's body on standard input. */
static int opt(const char *arguments, const char *body, char *text)
{
   char all[2048];
   const char *tool = getenv("AGX_TOOL");
   assert_non_null(tool);
   snprintf(all, sizeof(all), "printf '%%s' '" HEADER "%s' | '%s' opt %s 2>&1", body, tool,
            arguments);
   FILE *pipe = popen(all, "r");
   assert_non_null(pipe);
   size_t size = fread(text, 1, TOOL_MAX_OUTPUT - 1, pipe);
   text[size] = 0;
   return WEXITSTATUS(pclose(pipe));
}

static const char add_of_zero[] = "%0:32 = load_shared #0:32\n%1:32 = iadd %0:32, #0:32\n"
                                  "store_shared #0:32, %1:32\n";

static void passes_run_in_order(void **state)
{
   char text[TOOL_MAX_OUTPUT];
   assert_int_equal(
      opt("--pass opt_algebraic --pass opt_copy_prop --pass opt_dce -", add_of_zero, text), 0);
   assert_string_equal(text, HEADER "%0:32 = load_shared #0:32\nstore_shared #0:32, %0:32\n");
   assert_int_equal(opt("--pass select --pass opt_dce --pass ra", add_of_zero, text), 0);
   assert_string_equal(text, HEADER "r0l:32 = agx.lload _, #0:16, format=i32, mask=x\n"
                                    "r0l:32 = agx.iadd r0l:32, #0:32\n"
                                    "agx.lstore r0l:32, _, #0:16, format=i32, mask=x\n");
   assert_int_equal(opt("", add_of_zero, text), 0);
   assert_int_equal(strncmp(text, HEADER "%0", strlen(HEADER) + 2), 0);
}

static void mistakes_are_named(void **state)
{
   char text[TOOL_MAX_OUTPUT];
   assert_int_equal(opt("--pass opt_nothing", "", text), 1);
   assert_non_null(strstr(text, "there is no pass opt_nothing"));
   assert_int_equal(opt("--pass ra", add_of_zero, text), 1);
   assert_non_null(strstr(text, "before ra: block 0, instruction 0"));
   assert_int_equal(opt("", "%0:32 = nonsense\n", text), 1);
   assert_non_null(strstr(text, "line 2"));
   assert_int_equal(opt("--halves 257", "", text), 2);
   assert_int_equal(opt("--pass", "", text), 2);
   assert_int_equal(opt("--sideways", "", text), 2);
}

static void the_list_names_each_pass_once(void **state)
{
   char text[TOOL_MAX_OUTPUT];
   assert_int_equal(opt("--list", "", text), 0);
   const char *first = strstr(text, "opt_dce\n");
   assert_non_null(first);
   assert_null(strstr(first + 1, "opt_dce\n"));
   assert_non_null(strstr(text, "\nselect\n"));
   assert_non_null(strstr(text, "\nra\n"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(passes_run_in_order),
      cmocka_unit_test(mistakes_are_named),
      cmocka_unit_test(the_list_names_each_pass_once),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
