/* SPDX-License-Identifier: MIT
 *
 * AGX_VIRTUAL_STATS: what its values mean, and where the text goes.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/virtual/gpu/faultlog.h"

static void understands_its_values(void **state)
{
   static const struct {
      const char *text;
      enum agxv_stats_form form;
      const char *path;
   } cases[] = {
      {NULL, AGXV_STATS_NONE, ""},
      {"", AGXV_STATS_NONE, ""},
      {"0", AGXV_STATS_NONE, ""},
      {"table", AGXV_STATS_TABLE, ""},
      {"json", AGXV_STATS_JSON, ""},
      {"json:/tmp/a:b.json", AGXV_STATS_JSON, "/tmp/a:b.json"},
      {"table:out.txt", AGXV_STATS_TABLE, "out.txt"},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agxv_stats stats;
      assert_ok(agxv_stats_parse(cases[i].text, &stats));
      assert_int_equal(stats.form, cases[i].form);
      assert_string_equal(stats.path, cases[i].path);
   }
   char text[2000] = "json:";
   memset(text + 5, 'a', sizeof(text) - 6);
   struct agxv_stats stats;
   assert_fails(agxv_stats_parse(text, &stats), AGX_INVALID_ARGUMENT, "1994 bytes; it takes up to");
   assert_int_equal(stats.form, AGXV_STATS_NONE);
   assert_fails(agxv_stats_parse("jsonl", &stats), AGX_INVALID_ARGUMENT,
                "AGX_VIRTUAL_STATS=jsonl: it takes table, json");
   assert_fails(agxv_stats_parse("yes", &stats), AGX_INVALID_ARGUMENT, "=yes: it takes");
}

/* One line each, the later after the earlier. */
static void appends_to_a_file(void **state)
{
   char path[] = "/tmp/agx-stats-XXXXXX", value[64];
   int fd = mkstemp(path);
   assert_true(fd >= 0);
   close(fd);
   snprintf(value, sizeof(value), "json:%s", path);
   struct agxv_stats stats;
   assert_ok(agxv_stats_parse(value, &stats));
   const struct agxs_dispatch_stats dispatch = {.chip = agx_chip_find("g14s"), .index = 5};
   agxv_stats_write(&stats, 7, 0, &dispatch);
   agxv_stats_write(&stats, 8, 1, &dispatch);
   char *text = agx_test_read_file(path, NULL);
   static const char first[] = "{\"submission\": 7, \"command\": 0, \"dispatch\": 5, \"chip\": "
                               "\"g14s\", ",
                     second[] = "}\n{\"submission\": 8, \"command\": 1, ";
   assert_int_equal(strncmp(text, first, sizeof(first) - 1), 0);
   assert_non_null(strstr(text, second));
   free(text);
   unlink(path);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(understands_its_values),
      cmocka_unit_test(appends_to_a_file),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
