/* SPDX-License-Identifier: MIT
 *
 * Statistics as text: the table and the JSON of a kernel that was run, against golden
 * files, and a small parser that takes JSON apart.
 */
#include "sim_support.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/sim/check/statistics.h"

struct reports {
   char *table, *json;
};

static void print_both(void *user, const struct agxs_dispatch_stats *stats)
{
   struct reports *reports = user;
   const struct agxs_origin origin = {.submission = 3, .command = 1};
   size_t size;
   FILE *file = open_memstream(&reports->table, &size);
   agxs_report_table(file, stats, &origin, 4);
   fclose(file);
   file = open_memstream(&reports->json, &size);
   agxs_report_json(file, stats, &origin);
   fclose(file);
}

/* A branch, a preamble, memory of all kinds, two and a half workgroups. */
static struct reports run_kernel(void)
{
   struct reports reports = {0};
   struct sim_launch launch;
   sim_launch_init(&launch, "ldimm16 d=r0l imm=0\n"
                            "mfsr d=r1 sr=thread_in_grid_x\n"
                            "mfsr d=r2 sr=thread_index_in_threadgroup\n"
                            "load r=r3 base=du0 index=r1 format=i32 mask=x group=a\n"
                            "lstore r=r1 base=none index=r2l format=i32 mask=x\n"
                            "if_icmp a=r2 b=40 nest=1 cond=ult\n"
                            "jmp_none offset=@end\n"
                            "rcp d=r4 a=r1\n"
                            "end:\n"
                            "pop_exec nest=1\n"
                            "wait group=a\n"
                            "iadd d=r3 a=r3 b=u20\n"
                            "store r=r3 base=du4 index=r1 format=i32 mask=x group=b\n"
                            "atomic r=none s=r3 base=du0 index=0 op=add coherency=coherent1 "
                            "group=b");
   launch.preamble = "ldimm32 d=r1 imm=5\nuniform_store u=u20 r=r1";
   launch.options.profile = true;
   launch.options.user = &reports;
   launch.options.on_dispatch = print_both;
   launch.local[0] = 64;
   launch.grid[0] = 2 * 64 + 32;
   launch.shared_bytes = 256;
   launch.uniform[0] = SIM_DATA;
   launch.uniform[2] = SIM_DATA + 0x4000;
   sim_map(&launch.memory, SIM_DATA, 0x8000, true);
   assert_ok(sim_launch_run(&launch));
   sim_launch_fini(&launch);
   assert_non_null(reports.table);
   return reports;
}

static void prints_as_ever(void **state)
{
   struct reports reports = run_kernel();
   agx_test_golden("statistics.txt", reports.table);
   agx_test_golden("statistics.json", reports.json);
   free(reports.table);
   free(reports.json);
}

/* ---- JSON --------------------------------------------------------------- */

static const char *skip_value(const char *at);

static const char *skip_space(const char *at)
{
   return at + strspn(at, " \n");
}

static const char *skip_string(const char *at)
{
   assert_int_equal(*at, '"');
   for (at++; *at != '"'; at++) {
      assert_true(*at && (unsigned char)*at >= 0x20);
      at += *at == '\\';
   }
   return at + 1;
}

static const char *skip_members(const char *at, char end, bool has_names)
{
   at = skip_space(at + 1);
   while (*at != end) {
      if (has_names) {
         at = skip_space(skip_string(at));
         assert_int_equal(*at++, ':');
      }
      at = skip_space(skip_value(skip_space(at)));
      if (*at == ',') {
         at = skip_space(at + 1);
         assert_int_not_equal(*at, end);
      } else {
         assert_int_equal(*at, end);
      }
   }
   return at + 1;
}

static const char *skip_value(const char *at)
{
   if (*at == '{')
      return skip_members(at, '}', true);
   if (*at == '[')
      return skip_members(at, ']', false);
   if (*at == '"')
      return skip_string(at);
   assert_true(isdigit((unsigned char)*at));
   at += strspn(at, "0123456789");
   return *at == '.' ? at + 1 + strspn(at + 1, "0123456789") : at;
}

static void is_one_line_of_json(void **state)
{
   struct reports reports = run_kernel();
   assert_int_equal(*skip_space(skip_value(reports.json)), 0);
   assert_ptr_equal(strchr(reports.json, '\n'), reports.json + strlen(reports.json) - 1);
   free(reports.table);
   free(reports.json);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(prints_as_ever),
      cmocka_unit_test(is_one_line_of_json),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
