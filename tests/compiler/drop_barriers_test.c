/* SPDX-License-Identifier: MIT
 *
 * Which barriers order nothing, by the workgroup's size and by what stands between them.
 */
#include "agx/compiler/emit/emit.h"
#include "uniform_support.h"

#define BARRIER "agx.barrier\n"
#define FENCE   "agx.memory_barrier\n"
#define LOAD    "r0l:32 = agx.load u0l:64, r1l:32, #0:64, #2:64, #1:64, #0:64, #0:64\n"
#define LLOAD   "r0l:32 = agx.lload r1l:16, #0:16, #2:64, #1:64\n"
#define ADD     "r0l:32 = agx.iadd r0l:32, #1:32, #0:64, #0:64\n"

static void check(const char *local, const char *before, const char *after)
{
   uniform_check(&(struct uniform_case){.pass = agxc_drop_barriers,
                                        .local = local,
                                        .before = before,
                                        .after = after,
                                        .stage = AGXC_STAGE_REGISTERS});
}

static void one_simd_group_waits_for_nobody(void **state)
{
   check("32x1x1", LOAD BARRIER LOAD, LOAD LOAD);
   check("4x4x2", LOAD BARRIER LOAD, LOAD LOAD);
   /* Memory keeps its order. */
   check("32x1x1", LOAD FENCE BARRIER LOAD, LOAD FENCE LOAD);
   check("32x1x1", LOAD FENCE LOAD, NULL);
}

static void several_do(void **state)
{
   check("33x1x1", LOAD BARRIER LOAD, NULL);
   check("8x4x2", LOAD BARRIER LOAD, NULL);
   check("64x1x1", LOAD FENCE BARRIER LOAD, NULL);
}

static void once_is_enough(void **state)
{
   check("64x1x1", LOAD BARRIER BARRIER LOAD, LOAD BARRIER LOAD);
   check("64x1x1", LOAD FENCE BARRIER FENCE BARRIER LOAD, LOAD FENCE BARRIER LOAD);
   check("64x1x1", LOAD BARRIER ADD BARRIER LOAD, LOAD BARRIER ADD LOAD);
}

static void sequences_stay_whole(void **state)
{
#define WIDE FENCE "agx.unknown_barrier_1\nagx.memory_barrier_2\n"
   check("64x1x1", LOAD FENCE WIDE LOAD, NULL);
   check("64x1x1", LOAD WIDE WIDE LOAD, NULL);
   check("64x1x1", LOAD FENCE FENCE WIDE LOAD, LOAD FENCE WIDE LOAD);
}

static void what_an_access_is_between_stays(void **state)
{
   check("64x1x1", BARRIER LOAD BARRIER, NULL);
   check("64x1x1", BARRIER LLOAD BARRIER, NULL);
   check("64x1x1", FENCE LOAD FENCE, NULL);
   /* Another block may be reached another way. */
   check("64x1x1",
         BARRIER "agx.if_icmp r1l:32, #9:32, #0:64, #0:64, #2:64\nif\n   " BARRIER
                 "else\nend\n" BARRIER,
         NULL);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_simd_group_waits_for_nobody),
      cmocka_unit_test(several_do),
      cmocka_unit_test(once_is_enough),
      cmocka_unit_test(sequences_stay_whole),
      cmocka_unit_test(what_an_access_is_between_stays),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
