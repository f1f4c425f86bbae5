/* SPDX-License-Identifier: MIT
 *
 * `agx bench`: its table has all rows, whatever their figures are.
 */
#include "tool.h"
#include "base/text.h"
#include "base/util.h"

static char text[TOOL_MAX_OUTPUT];

/* Whatever the figures are, they are there. */
static void the_table_is_complete(void **state)
{
   char *corpus = agx_test_path("corpus"), *path = agx_test_path("corpus/tiers.tsv");
   char arguments[1024], *table = agx_test_read_file(path, NULL), *rest = table;
   snprintf(arguments, sizeof(arguments), "bench --best 1 --corpus %s", corpus);
   int status = tool_run("AGX_TOOL", arguments, text);
   for (char *line; (line = agx_split(&rest, "\n"));) {
      char start[64], *tier = agx_split(&line, "\t"), *kernel = agx_split(&line, "\t");
      snprintf(start, sizeof(start), "\n%s ", kernel ? kernel : "");
      if (kernel && strcmp(tier, "tier") != 0)
         assert_non_null(strstr(text, start));
   }
   assert_int_equal(status, strstr(text, "not compiled") ? 1 : 0);
   assert_non_null(strstr(text, "record a dispatch"));
   assert_non_null(strstr(text, "and wait"));
   assert_non_null(strstr(text, "4 in flight"));
   free(table);
   free(path);
   free(corpus);
}

static void mistakes_are_named(void **state)
{
   assert_int_equal(tool_run("AGX_TOOL", "bench --corpus /nonexistent", text), 1);
   assert_non_null(strstr(text, "/nonexistent/tiers.tsv"));
   assert_non_null(strstr(text, "--corpus names"));
   assert_int_equal(tool_run("AGX_TOOL", "bench --only host --json --corpus /nonexistent", text),
                    1);
   assert_ptr_equal(strstr(text, "agx bench: /nonexistent/tiers.tsv"), text); /* and no JSON */
   assert_int_equal(tool_run("AGX_TOOL", "bench --corpus", text), 2);
   assert_non_null(strstr(text, "--corpus: no option, or its value is missing"));
   assert_int_equal(tool_run("AGX_TOOL", "bench --chip g99x", text), 2);
   assert_int_equal(tool_run("AGX_TOOL", "bench fast", text), 2);
   assert_int_equal(tool_run("AGX_TOOL", "bench --best 0", text), 2);
   assert_int_equal(tool_run("AGX_TOOL", "bench --only guess", text), 2);
   assert_non_null(strstr(text, "--only guess"));
}

static void parts_are_chosen(void **state)
{
   char *corpus = agx_test_path("corpus"), arguments[1024];
   snprintf(arguments, sizeof(arguments), "bench --only host --json --corpus %s", corpus);
   assert_int_equal(tool_run("AGX_TOOL", arguments, text), 0);
   assert_non_null(strstr(text, "{\"host\": {\"record\": {"));
   assert_null(strstr(text, "kernels"));
   snprintf(arguments, sizeof(arguments), "bench --only compile --best 1 --json --corpus %s",
            corpus);
   (void)tool_run("AGX_TOOL", arguments, text);
   assert_non_null(strstr(text, "{\"kernel\": \"saxpy\", \"instructions\": "));
   assert_null(strstr(text, "host"));
   free(corpus);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_is_complete),
      cmocka_unit_test(mistakes_are_named),
      cmocka_unit_test(parts_are_chosen),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
