/* SPDX-License-Identifier: MIT */
#include "tool.h"

static char text[TOOL_MAX_OUTPUT];

/* Whatever the figures are, they are there. */
static void the_table_is_complete(void **state)
{
   char *corpus = agx_test_path("corpus"), *path = agx_test_path("corpus/tiers.tsv");
   char arguments[1024], *table = agx_test_read_file(path, NULL), *rest = table;
   snprintf(arguments, sizeof(arguments), "bench --corpus %s", corpus);
   assert_int_equal(tool_run("AGX_TOOL", arguments, text), 0);
   for (char *line; (line = strsep(&rest, "\n"));) {
      char start[64], *tier = strsep(&line, "\t"), *kernel = strsep(&line, "\t");
      snprintf(start, sizeof(start), "\n%s ", kernel ? kernel : "");
      if (strcmp(tier, "1") == 0)
         assert_non_null(strstr(text, start));
   }
   assert_null(strstr(text, "not compiled"));
   assert_non_null(strstr(text, "record a dispatch"));
   assert_non_null(strstr(text, "submit it and wait"));
   free(table);
   free(path);
   free(corpus);
}

static void mistakes_are_named(void **state)
{
   assert_int_equal(tool_run("AGX_TOOL", "bench --corpus /nonexistent", text), 1);
   assert_non_null(strstr(text, "/nonexistent/tiers.tsv"));
   assert_int_equal(tool_run("AGX_TOOL", "bench --chip g99x", text), 2);
   assert_int_equal(tool_run("AGX_TOOL", "bench fast", text), 2);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_is_complete),
      cmocka_unit_test(mistakes_are_named),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
