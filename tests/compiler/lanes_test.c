/* SPDX-License-Identifier: MIT
 *
 * Code that a workgroup's shape or the program's end makes needless: barriers, positions,
 * mask instructions.
 */
#include "agx/compiler/emit/emit.h"
#include "agx/compiler/lower/lower.h"
#include "uniform_support.h"

static void check(const char *local, bool (*pass)(struct agxc_shader *), const char *before,
                  const char *after)
{
   uniform_check(&(struct uniform_case){.local = local,
                                        .pass = pass,
                                        .before = before,
                                        .after = after,
                                        .stage = AGXC_STAGE_REGISTERS});
}

#define STORE   "agx.lstore r1l:32, _, r2l:16, #2:64, #1:64\n"
#define ADD     "r1l:32 = agx.iadd r1l:32, #1:32, #0:64, #0:64\n"
#define BARRIER "agx.barrier\n"
#define MEMBAR  "agx.memory_barrier\n"
#define IF(c)   "agx.if_icmp r1l:32, u4l:32, #1:64, #0:64, #" c ":64\n"

static void one_simd_group_waits_for_nobody(void **state)
{
   check("8x4x1", agxc_drop_barriers, STORE BARRIER STORE, STORE STORE);
   check("33x1x1", agxc_drop_barriers, STORE BARRIER STORE, NULL);
   /* Order in device memory is not the barrier's. */
   check("32x1x1", agxc_drop_barriers, STORE MEMBAR BARRIER STORE, STORE MEMBAR STORE);
}

static void barriers_without_access_between_are_one(void **state)
{
   check(NULL, agxc_drop_barriers, STORE BARRIER ADD BARRIER STORE, STORE BARRIER ADD STORE);
   check(NULL, agxc_drop_barriers, STORE MEMBAR BARRIER MEMBAR BARRIER STORE,
         STORE MEMBAR BARRIER STORE);
   check(NULL, agxc_drop_barriers, STORE BARRIER STORE BARRIER STORE, NULL);
}

static void a_return_at_top_level_is_one_instruction(void **state)
{
   check(NULL, agxc_lower_control, IF("2") "if\n   return\nelse\nend\n" STORE,
         "r0l:16 = agx.ldimm16 #0:64\n" IF("0xa") "if\nelse\nend\n" STORE);
   /* Inside an if the lane must not come back with the others. */
   check(NULL, agxc_lower_control,
         IF("2") "if\n   " IF("2") "   if\n      return\n   else\n   end\nelse\nend\n" STORE,
         "r0l:16 = agx.ldimm16 #0:64\n" IF("2") "if\n   " IF(
            "2") "   if\n      r0l:16 = agx.ldimm16 #0x8000:64\n   else\n   end\n"
                 "   agx.pop_exec #1:64, #0:64\nelse\nend\nagx.pop_exec #1:64, #0:64\n" STORE);
}

static void the_last_if_pops_nothing(void **state)
{
   check(NULL, agxc_lower_control, IF("2") "if\n   " STORE "else\nend\n",
         "r0l:16 = agx.ldimm16 #0:64\n" IF("2") "if\n   " STORE "else\nend\n");
   check(NULL, agxc_lower_control, IF("2") "if\n   " STORE "else\nend\n" STORE,
         "r0l:16 = agx.ldimm16 #0:64\n" IF("2") "if\n   " STORE
                                                "else\nend\nagx.pop_exec #1:64, #0:64\n" STORE);
}

static void positions_in_flat_workgroups_are_zero(void **state)
{
#define USE(value) "store_shared #0:32, " value "\n"
   static const char text[] = "%0:32 = sysval #4:32\n" USE("%0:32") "%1:32 = sysval #0xe:32\n" USE(
      "%1:32") "%2:32 = sysval #3:32\n" USE("%2:32");
   uniform_check(&(struct uniform_case){.local = "32x1x1",
                                        .pass = agxc_lower_buffer,
                                        .before = text,
                                        .after = USE("#0:32")
                                           USE("#0:32") "%2:32 = sysval #3:32\n" USE("%2:32")});
   uniform_check(&(struct uniform_case){
      .local = "32x2x1", .pass = agxc_lower_buffer, .before = text, .after = text});
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_simd_group_waits_for_nobody),
      cmocka_unit_test(barriers_without_access_between_are_one),
      cmocka_unit_test(a_return_at_top_level_is_one_instruction),
      cmocka_unit_test(the_last_if_pops_nothing),
      cmocka_unit_test(positions_in_flat_workgroups_are_zero),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
