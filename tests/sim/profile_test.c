/* SPDX-License-Identifier: MIT
 *
 * Statistics of executed code, each number counted by hand: a comment gives the clock at
 * which every instruction issues, where that isn't plain. Notation: `t+s` is an instruction
 * that could issue at t and waits s cycles.
 */
#include "sim_support.h"

#include <stdlib.h>
#include <string.h>

#include "agx/sim/profile.h"
#include "base/util.h"

#define MAX_SPOTS 64
#define OUT       0x100000u /* where du4 points, relative to SIM_DATA */

struct counted {
   struct sim_launch launch;
   struct agxs_dispatch_stats stats;
   struct agxs_spot spots[MAX_SPOTS];
   unsigned dispatches;
};

static void keep(void *user, const struct agxs_dispatch_stats *stats)
{
   struct counted *counted = user;
   counted->stats = *stats;
   counted->stats.spots = counted->spots;
   for (uint32_t i = 0; i < stats->spot_count && i < MAX_SPOTS; i++)
      counted->spots[i] = stats->spots[i];
   counted->dispatches++;
}

/* A launch of one workgroup of 32 threads; du0 and du4 address 256 KiB each. */
static void begin(struct counted *counted, const char *program)
{
   memset(counted, 0, sizeof(*counted));
   sim_launch_init(&counted->launch, program);
   counted->launch.grid[0] = counted->launch.local[0] = 32;
   counted->launch.options.profile = true;
   counted->launch.options.check = true;
   counted->launch.options.user = counted;
   counted->launch.options.on_dispatch = keep;
   counted->launch.uniform[0] = SIM_DATA;
   counted->launch.uniform[2] = SIM_DATA + OUT;
}

static void run(struct counted *counted)
{
   struct sim_memory *memory = &counted->launch.memory;
   sim_map(memory, SIM_DATA, 0x40000, true);
   sim_map(memory, SIM_DATA + OUT, 0x40000, true);
   assert_ok(sim_launch_run(&counted->launch));
   assert_int_equal(counted->dispatches, 1);
   assert_int_equal(counted->stats.counts.issue, counted->launch.stats.instructions);
}

static void end(struct counted *counted)
{
   sim_launch_fini(&counted->launch);
}

static struct agxs_model model(const struct counted *counted)
{
   return agxs_model(&counted->stats.counts, counted->stats.chip, 1);
}

/* Quarters are exact. */
#define assert_cycles(value, quarters) assert_int_equal((int64_t)((value)*4), quarters)

struct sums {
   uint64_t issue, stall, complex_pipe, lsu, lines;
};

static void expect(const struct counted *counted, struct sums sums)
{
   const struct agxs_counts *counts = &counted->stats.counts;
   assert_int_equal(counts->issue, sums.issue);
   assert_int_equal(counts->stall, sums.stall);
   assert_int_equal(counts->complex_pipe, sums.complex_pipe);
   assert_int_equal(counts->lsu, sums.lsu);
   assert_int_equal(counts->lines, sums.lines);
}

/* One SIMD-group of one workgroup. */
static void count_one(const char *program, struct sums sums)
{
   struct counted counted;
   begin(&counted, program);
   run(&counted);
   expect(&counted, sums);
   assert_int_equal(counted.stats.counts.longest, sums.issue + sums.stall);
   end(&counted);
}

/* perf.md's own: load 0; wait 1+199; fadd 201; store 202+2; stop 205. */
static void counts_the_worked_example(void **state)
{
   struct counted counted;
   begin(&counted, "load r=r4 base=du0 index=0 format=i32 mask=x group=a\n"
                   "wait group=a\n"
                   "fadd d=r5 a=r4 b=1.0\n"
                   "store r=r5 base=du4 index=0 format=i32 mask=x group=a");
   run(&counted);
   expect(&counted, (struct sums){5, 201, 0, 4, 2});
   struct agxs_model m = model(&counted);
   assert_cycles(m.term[AGXS_TERM_ISSUE], 5); /* 5 / (4 * 1) */
   assert_cycles(m.term[AGXS_TERM_COMPLEX], 0);
   assert_cycles(m.term[AGXS_TERM_LSU], 16); /* 4 / 1 */
   assert_cycles(m.term[AGXS_TERM_REFETCH], 0);
   assert_cycles(m.term[AGXS_TERM_TRAFFIC], 32);  /* 256 / 32 */
   assert_cycles(m.term[AGXS_TERM_LATENCY], 824); /* 206 / 1 */
   assert_cycles(m.term[AGXS_TERM_LONGEST], 824);
   assert_cycles(m.cold, 64);
   assert_cycles(m.main, 888);
   assert_cycles(m.total, 888);
   assert_int_equal(m.cores, 1);
   assert_int_equal(m.concurrency, 1);
   assert_int_equal(counted.stats.waits_met, 1);
   assert_int_equal(counted.stats.wait_stall, 199);
   assert_int_equal(counted.stats.requested_B, 256);
   end(&counted);
}

/* Unit stride is as many lines as one address: mfsr 0; load 1+1; wait 3+199; fadd 203;
 * store 204+2; stop 207. */
static void counts_unit_stride(void **state)
{
   count_one("mfsr d=r1 sr=thread_index_in_simdgroup\n"
             "load r=r4 base=du0 index=r1 format=i32 mask=x group=a\n"
             "wait group=a\n"
             "fadd d=r5 a=r4 b=1.0\n"
             "store r=r5 base=du4 index=r1 format=i32 mask=x group=a",
             (struct sums){6, 202, 0, 4, 2});
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_the_worked_example),
      cmocka_unit_test(counts_unit_stride),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
