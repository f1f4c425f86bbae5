/* SPDX-License-Identifier: MIT
 *
 * The model of cycles, as far as it is arithmetic; profile_test.c counts what launches execute.
 */
#include "support.h"

#include "agx/sim/check/statistics.h"
#include "base/util.h"

static void knows_occupancy(void **state)
{
   static const struct {
      uint32_t halves, shared_B, threads, groups;
   } cases[] = {
      {8, 0, 32, 32},                            /* at most 1024 threads */
      {104, 0, 1024, 32},    {105, 0, 32, 28},   /* 896 */
      {256, 0, 96, 12},                          /* 384 threads: 4 workgroups of 3 */
      {256, 0, 160, 10},                         /* 2 workgroups of 5, not 12 */
      {8, 32768, 64, 2},                         /* 60 KiB hold one of 32 KiB */
      {8, 20480, 64, 6},                         /* three of 20 KiB */
      {8, 20736, 64, 4},                         /* but two of 20.25 KiB */
      {8, 256, 64, 32},                          /* registers are the limit */
      {256, 32768, 384, 12}, {128, 0, 1000, 32}, /* not even one fits: one */
      {8, 0, 1, 32},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++)
      assert_int_equal(agxs_occupancy(cases[i].halves, cases[i].shared_B, cases[i].threads),
                       cases[i].groups);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {cmocka_unit_test(knows_occupancy)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
