/* SPDX-License-Identifier: MIT
 *
 * Launches on several threads: every workgroup runs once, results and failures are
 * the same whatever the number of threads. Runs under TSan.
 */
#include "sim_support.h"

#include <string.h>

/* Thread t of the grid stores 3 t + its workgroup's sum of lanes, via threadgroup memory. */
static const char *const program =
   "mfsr d=r1 sr=thread_in_grid_x\n"
   "mfsr d=r2 sr=thread_index_in_threadgroup\n"
   "lstore r=r1 base=none index=r2l format=i32 mask=x\n"
   "barrier\n"
   "isub d=r3l a=63 b=r2l\n"
   "lload r=r4 base=none index=r3l format=i32 mask=x\n"
   "imadd d=r4 a=r1 b=3 c=r4\n"
   "store r=r4 base=du0 index=r1 format=i32 mask=x group=a\n"
   "atomic r=none s=r1 base=du4 index=0 op=add coherency=coherent1 group=a";

static void gives_the_same_on_any_number_of_threads(void **state)
{
   for (unsigned threads = 0; threads <= 5; threads++) {
      struct sim_launch launch;
      sim_launch_init(&launch, program);
      launch.options.thread_count = threads;
      launch.options.check = true;
      launch.grid[0] = 64 * 200, launch.local[0] = 64;
      launch.shared_bytes = 256;
      launch.uniform[0] = SIM_DATA;
      launch.uniform[2] = SIM_DATA + 0x100000;
      const uint8_t *out = sim_map(&launch.memory, SIM_DATA, 0x10000, true);
      const uint8_t *sum = sim_map(&launch.memory, SIM_DATA + 0x100000, 0x4000, true);
      assert_ok(sim_launch_run(&launch));
      for (uint32_t t = 0; t < 64 * 200; t++)
         assert_int_equal(agxs_get_le32(out + 4 * t), 3 * t + (t & ~63u) + 63 - (t & 63));
      assert_int_equal(agxs_get_le32(sum), 64 * 200 / 2 * (64 * 200 - 1));
      assert_int_equal(launch.stats.threads, 64 * 200);
      assert_int_equal(launch.stats.workgroups, 200);
      assert_int_equal(launch.stats.instructions, 200 * 2 * 10);
      sim_launch_fini(&launch);
   }
}

static void reports_the_first_failing_workgroup(void **state)
{
   for (unsigned threads = 1; threads <= 4; threads++) {
      struct sim_launch launch;
      /* Workgroups 9 and up read where nothing is mapped. */
      sim_launch_init(&launch, "mfsr d=r1 sr=threadgroup_in_grid_x\n"
                               "mfsr d=r2 sr=thread_in_threadgroup_x\n"
                               "shl d=r1 b=r1 c=14\n"
                               "load r=r3 base=du0 index=r1 format=i8 mask=x group=a");
      launch.grid[0] = 64 * 64, launch.local[0] = 64;
      launch.options.thread_count = threads;
      launch.uniform[0] = SIM_DATA;
      sim_map(&launch.memory, SIM_DATA, 9 * 0x4000, true);
      assert_fails(sim_launch_run(&launch), AGX_DATA_LOSS,
                   "load at 0x2000124000 is not mapped so: dispatch 0, workgroup 9,0,0, thread 0");
      sim_launch_fini(&launch);
   }
}

static void stops_when_cancelled(void **state)
{
   struct sim_launch launch;
   atomic_bool cancel = true;
   sim_launch_init(&launch, "mov d=r1 a=0");
   launch.options.cancel = &cancel;
   launch.options.thread_count = 3;
   launch.grid[0] = 0xffffffff;
   assert_fails(sim_launch_run(&launch), AGX_CANCELLED, "dispatch 0: cancelled");
   sim_launch_fini(&launch);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(gives_the_same_on_any_number_of_threads),
      cmocka_unit_test(reports_the_first_failing_workgroup),
      cmocka_unit_test(stops_when_cancelled),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
