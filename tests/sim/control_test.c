/* SPDX-License-Identifier: MIT
 *
 * The execution mask, jumps, calls, special registers and check mode, on single
 * SIMD-groups. r1 holds the lane's number at the start.
 */
#include "sim_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static struct sim_group *with_lanes(const char *program)
{
   struct sim_group *group = sim_group_new(program);
   for (unsigned lane = 0; lane < 32; lane++) {
      group->reg[1][lane] = lane;
      group->reg[2][lane] = 0;
   }
   return group;
}

typedef uint32_t expect(unsigned lane);

static void check_lanes(const char *program, expect *expected)
{
   struct sim_group *group = with_lanes(program);
   assert_ok(sim_group_run(group));
   for (unsigned lane = 0; lane < 32; lane++) {
      if (group->reg[2][lane] != expected(lane))
         fail_msg("lane %u: %u, not %u in\n%s", lane, group->reg[2][lane], expected(lane), program);
   }
   assert_int_equal(group->active, ~0u);
   free(group);
}

static uint32_t expect_if(unsigned lane)
{
   return lane < 10 ? 100 + lane : 200 + lane;
}

static void runs_if_else(void **state)
{
   check_lanes("ldimm16 d=r0l imm=0\n"
               "if_icmp a=r1 b=10 nest=1 cond=ult\n"
               "iadd d=r2 a=r1 b=100\n"
               "else_fcmp a=0.0 b=0.0 nest=1 cond=feq\n"
               "iadd d=r2 a=r1 b=200\n"
               "pop_exec nest=1",
               expect_if);
   check_lanes("ldimm16 d=r0l imm=0\n"
               "if_icmp a=r1 b=10 nest=1 cond=ult\n"
               "jmp_none offset=@other\n"
               "iadd d=r2 a=r1 b=100\n"
               "other:\n"
               "else_icmp a=0 b=0 nest=1 cond=ieq\n"
               "jmp_none offset=@end\n"
               "iadd d=r2 a=r1 b=200\n"
               "end:\n"
               "pop_exec nest=1",
               expect_if);
}

static uint32_t expect_nested(unsigned lane)
{
   if (lane & 1)
      return lane & 2 ? 3 : 1;
   return lane & 4 ? 4 : 9;
}

static void nests_conditions(void **state)
{
   check_lanes("ldimm16 d=r0l imm=0\n"
               "and d=r3 a=r1 b=1\n"
               "and d=r4 a=r1 b=2\n"
               "and d=r5 a=r1 b=4\n"
               "if_icmp a=r3 b=0 nest=1 cond=ine\n"
               "if_icmp a=r4 b=0 nest=1 cond=ine\n"
               "mov d=r2 a=3\n"
               "else_icmp a=0 b=0 nest=1 cond=ieq\n"
               "mov d=r2 a=1\n"
               "pop_exec nest=1\n"
               "else_icmp a=0 b=0 nest=1 cond=ieq\n"
               "if_icmp a=r5 b=0 nest=1 cond=ine\n"
               "mov d=r2 a=4\n"
               "else_icmp a=0 b=0 nest=1 cond=ieq\n"
               "mov d=r2 a=9\n"
               "pop_exec nest=2",
               expect_nested);
}

static uint32_t expect_triangle(unsigned lane)
{
   return lane * (lane + 1) / 2;
}

/* Sum of 1..lane: a while loop whose lanes leave one after another. */
static void loops_until_no_lane_is_left(void **state)
{
   check_lanes("ldimm16 d=r0l imm=0\n"
               "mov d=r3 a=0\n"
               "top:\n"
               "while_icmp a=r3 b=r1 nest=1 cond=ult\n"
               "iadd d=r3 a=r3 b=1\n"
               "iadd d=r2 a=r2 b=r3\n"
               "jmp_any offset=@top\n"
               "pop_exec nest=1",
               expect_triangle);
}

static uint32_t expect_break(unsigned lane)
{
   return lane == 7 ? 1000 : lane < 12 ? lane : 12;
}

/* Break out of an if inside the loop by writing r0l; lane 7 breaks at once. */
static void breaks_by_writing_the_counter(void **state)
{
   check_lanes("ldimm16 d=r0l imm=0\n"
               "top:\n"
               "if_icmp a=r1 b=7 nest=1 cond=ieq\n"
               "ldimm32 d=r2 imm=1000\n"
               "ldimm16 d=r0l imm=2\n"
               "pop_exec nest=0\n"
               "pop_exec nest=1\n"
               "icsel d=r3 a=r2 b=12 x=1 y=0 cond=ult\n"
               "if_icmp a=r3 b=0 nest=1 cond=ieq\n"
               "ldimm16 d=r0l imm=2\n"
               "update_exec\n"
               "pop_exec nest=1\n"
               "while_icmp a=r2 b=r1 nest=1 cond=ult\n"
               "iadd d=r2 a=r2 b=1\n"
               "jmp_any offset=@top\n"
               "pop_exec nest=1",
               expect_break);
}

static uint32_t expect_inner(unsigned lane)
{
   return 3 * (lane % 4);
}

/* push_exec (if_fcmp of equal zeros) keeps lanes that are off off through an inner loop. */
static void nests_loops(void **state)
{
   check_lanes("ldimm16 d=r0l imm=0\n"
               "and d=r5 a=r1 b=3\n"
               "mov d=r3 a=0\n"
               "outer:\n"
               "if_fcmp a=0.0 b=0.0 nest=1 cond=feq\n"
               "mov d=r4 a=0\n"
               "inner:\n"
               "while_icmp a=r4 b=r5 nest=1 cond=ult\n"
               "iadd d=r4 a=r4 b=1\n"
               "iadd d=r2 a=r2 b=1\n"
               "jmp_any offset=@inner\n"
               "pop_exec nest=1\n"
               "iadd d=r3 a=r3 b=1\n"
               "while_icmp a=r3 b=3 nest=1 cond=ult\n"
               "jmp_any offset=@outer\n"
               "pop_exec nest=1",
               expect_inner);
}

/* The table of docs/hw/machine.md 5, value by value: r0l before, the instruction, r0l after. */
static void updates_the_counter_as_the_table_says(void **state)
{
   static const struct {
      const char *instr;
      uint32_t before[4], after[4];
   } rows[] = {
      {"if_icmp a=0 b=0 nest=2 cond=ieq", {0, 1, 2, 5}, {0, 3, 4, 7}},
      {"if_icmp a=0 b=0 nest=2 cond=ine", {0, 1, 2, 5}, {1, 3, 4, 7}},
      {"else_icmp a=0 b=0 nest=2 cond=ieq", {0, 1, 2, 5}, {2, 0, 2, 5}},
      {"else_icmp a=0 b=0 nest=2 cond=ine", {0, 1, 2, 5}, {2, 1, 2, 5}},
      {"while_icmp a=0 b=0 nest=2 cond=ieq", {0, 1, 2, 5}, {0, 0, 2, 5}},
      {"while_icmp a=0 b=0 nest=2 cond=ine", {0, 1, 2, 5}, {2, 2, 2, 5}},
      {"if_fcmp a=1.0 b=0.0 nest=3 cond=fgt", {0, 1, 2, 5}, {0, 4, 5, 8}},
      {"else_fcmp a=1.0 b=0.0 nest=1 cond=fngt", {0, 1, 2, 5}, {1, 1, 2, 5}},
      {"while_fcmp a=1.0 b=0.0 nest=1 cond=flt", {0, 1, 2, 5}, {1, 1, 2, 5}},
      {"pop_exec nest=2", {0, 1, 2, 5}, {0, 0, 0, 3}},
      {"update_exec", {0, 1, 2, 5}, {0, 1, 2, 5}},
   };
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      struct sim_group *group = sim_group_new(rows[i].instr);
      uint32_t active = 0;
      group->exists = 0x0fffffff;
      for (unsigned lane = 0; lane < 32; lane++) {
         group->reg[0][lane] = 0xcafe0000 | rows[i].before[lane % 4];
         active |= (uint32_t)(rows[i].after[lane % 4] == 0 && lane < 28) << lane;
      }
      assert_ok(sim_group_run(group));
      for (unsigned lane = 0; lane < 32; lane++) {
         if (group->reg[0][lane] != (0xcafe0000 | rows[i].after[lane % 4]))
            fail_msg("%s: lane %u: 0x%x", rows[i].instr, lane, group->reg[0][lane]);
      }
      assert_int_equal(group->active, active); /* never a lane without a thread */
      free(group);
   }
}

/* r0l of all lanes after one instruction; docs/hw/machine.md 5. */
static uint32_t step(unsigned op, uint32_t v, uint32_t n, bool holds)
{
   switch (op) {
   case 0: /* if */
      return v ? v + n : !holds;
   case 1: /* else */
      return v == 0 ? n : v == 1 ? !holds : v;
   case 2: /* while */
      return v < n ? (holds ? 0 : n) : v;
   default: /* pop_exec */
      return v > n ? v - n : 0;
   }
}

/* Random sequences of mask instructions and of writes to the counter, deep ones too. */
static void follows_the_table_through_random_nesting(void **state)
{
   static const char *const names[] = {"if_icmp", "else_icmp", "while_icmp", "pop_exec"};
   struct agx_test_rng rng = {0xc0de};
   for (unsigned round = 0; round < 200; round++) {
      uint32_t v[32] = {0}, exists = round & 1 ? ~0u : (uint32_t)agx_test_random(&rng) | 1;
      char program[4096] = "ldimm16 d=r0l imm=0\n";
      uint32_t active = exists;
      for (unsigned i = 0; i < 24; i++) {
         unsigned op = (unsigned)agx_test_random_below(&rng, 5), at = (unsigned)strlen(program);
         unsigned n = (unsigned)agx_test_random_below(&rng, 4);
         unsigned bound = (unsigned)agx_test_random_below(&rng, 33);
         unsigned deep = agx_test_random_below(&rng, 3) ? n : 250 * n;
         if (op == 4)
            snprintf(program + at, sizeof(program) - at, "ldimm16 d=r0l imm=%u\nupdate_exec\n",
                     deep);
         else if (op == 3)
            snprintf(program + at, sizeof(program) - at, "pop_exec nest=%u\n", n);
         else
            snprintf(program + at, sizeof(program) - at, "%s a=r1 b=%u nest=%u cond=ult\n",
                     names[op], bound, n);
         for (unsigned lane = 0; lane < 32; lane++)
            v[lane] = op < 4               ? step(op, v[lane], n, lane < bound)
                      : active >> lane & 1 ? deep
                                           : v[lane];
         active = 0;
         for (unsigned lane = 0; lane < 32; lane++)
            active |= (uint32_t)(v[lane] == 0) << lane & exists;
      }
      struct sim_group *group = with_lanes(program);
      group->exists = exists;
      assert_ok(sim_group_run(group));
      if (group->active != active)
         fail_msg("0x%08x of 0x%08x are active, not 0x%08x, after\n%s", group->active, exists,
                  active, program);
      for (unsigned lane = 0; lane < 32; lane++) {
         if (exists >> lane & 1 && (group->reg[0][lane] & 0xffff) != v[lane])
            fail_msg("lane %u: r0l is %u, not %u, after\n%s", lane, group->reg[0][lane] & 0xffff,
                     v[lane], program);
      }
      free(group);
   }
}

static uint32_t expect_call(unsigned lane)
{
   return 2 * lane + 5;
}

static void calls_and_returns(void **state)
{
   check_lanes("mov d=r3 a=r1\n"
               "call offset=@double\n"
               "iadd d=r2 a=r2 b=5\n"
               "jmp_any offset=@end\n"
               "double:\n"
               "iadd d=r2 a=r3 b=r3\n"
               "ret target=r1\n"
               "end:\n"
               "mov d=r1 a=0",
               expect_call);
   struct sim_group *group = with_lanes("ldimm32 d=r1 imm=1048576\nret target=r1");
   assert_fails(sim_group_run(group), AGX_DATA_LOSS, "pc 0x100000: (no instruction): code fetch");
   free(group);
}

static uint32_t expect_dispatch(unsigned lane)
{
   return lane & 1 ? 5 * lane + 1 : 2 * lane + 1;
}

/* Two functions, called through a register: each turn takes the lanes that agree with the
 * first one, an else brings the others back. */
static void calls_through_a_register(void **state)
{
   check_lanes("ldimm16 d=r0l imm=0\n"
               "mov d=r3 a=r1\n"
               "call offset=@here\n"
               "here:\n"
               "and d=r4 a=r3 b=1\n"
               "icsel d=r5 a=r4 b=0 x=70 y=80 cond=ieq\n" /* from here to twice and five */
               "iadd d=r5 a=r1 b=r5\n"
               "if_fcmp a=0.0 b=0.0 nest=2 cond=feq\n"
               "again:\n"
               "call_reg target=r5\n"
               "iadd d=r2 a=r2 b=1\n"
               "else_fcmp a=0.0 b=0.0 nest=2 cond=feq\n"
               "jmp_any offset=@again\n"
               "pop_exec nest=2\n"
               "mov d=r1 a=r3\n"
               "jmp_any offset=@end\n"
               "twice:\n" /* here + 70 */
               "iadd d=r2 a=r3 b=r3\n"
               "ret target=r1\n"
               "five:\n" /* here + 80 */
               "imul d=r2 a=r3 b=5\n"
               "ret target=r1\n"
               "end:\n"
               "mov d=r1 a=0",
               expect_dispatch);
   /* No lane calls: on. */
   struct sim_group *group = with_lanes("ldimm16 d=r0l imm=1\nupdate_exec\ncall_reg target=r9\n"
                                        "ldimm16 d=r0l imm=0\npop_exec nest=0");
   assert_ok(sim_group_run(group));
   free(group);
}

static void stops_what_is_endless_or_wrong(void **state)
{
   struct sim_group *group = with_lanes("top:\njmp_any offset=@top");
   group->options.max_instructions_per_group = 1000;
   assert_fails(sim_group_run(group), AGX_DEADLINE_EXCEEDED, "pc 0x0: jmp_any");
   assert_int_equal(group->stats.instructions, 1000);
   free(group);
   group = with_lanes("jmp_any offset=-2");
   assert_fails(sim_group_run(group), AGX_INVALID_ARGUMENT, "leaves the 4 GiB window");
   free(group);
   group = with_lanes("jmp_any offset=1048576");
   assert_fails(sim_group_run(group), AGX_DATA_LOSS, "code fetch from unmapped memory");
   free(group);
   group = with_lanes("trap");
   assert_fails(sim_group_run(group), AGX_DATA_LOSS, "trap");
   free(group);
   group = with_lanes("mov d=r2 a=1\nno_var");
   assert_fails(sim_group_run(group), AGX_UNIMPLEMENTED, "pc 0x6: no_var");
   free(group);
   /* Never reached: no error. Doorbells are skipped; no older fragment is waited for. */
   group = with_lanes("jmp_if_skipping_doorbell offset=6\ndoorbell imm=32\n"
                      "jmp_any offset=@end\nno_var\nend:\npixwait i=1 j=0\npixrel i=1 j=0");
   assert_ok(sim_group_run(group));
   free(group);
}

static void jumps_into_the_middle(void **state)
{
   /* ldimm32's immediate is itself an instruction and a stop. */
   struct sim_group *group = with_lanes("ldimm16 d=r0l imm=0\njmp_any offset=8\n"
                                        "ldimm32 d=r2 imm=8913032");
   assert_ok(sim_group_run(group)); /* lands on 0x00880088: stop */
   assert_int_equal(group->reg[2][0], 0);
   free(group);
}

/* r0l = 0 in even lanes only, then what the registers say. */
static void reads_special_registers(void **state)
{
   struct sim_group *group = with_lanes("and d=r0l a=r1l b=1\nupdate_exec\n"
                                        "mfsr d=r3 sr=thread_index_in_simdgroup\n"
                                        "mfsr d=r4 sr=active_thread_index_in_simdgroup\n"
                                        "mfsr d=r5 sr=total_active_threads_in_simdgroup\n"
                                        "mfsr d=r6 sr=active_thread_index_in_quadgroup\n"
                                        "mfsr d=r7 sr=total_active_threads_in_quadgroup\n"
                                        "mfsr d=r8 sr=is_active_thread\n"
                                        "mfsr d=r9 sr=threads_per_threadgroup_x\n"
                                        "mfsr d=r10l sr=thread_in_threadgroup_x\n"
                                        "ballot d=r11");
   memset(group->reg[3], 0, 9 * sizeof(group->reg[0]));
   group->exists = 0x3fffffff;
   assert_ok(sim_group_run(group));
   for (unsigned lane = 0; lane < 32; lane++) {
      bool on = lane % 2 == 0 && lane < 30;
      assert_int_equal(group->reg[3][lane], on ? lane : 0);
      assert_int_equal(group->reg[4][lane], on ? lane / 2 : 0);
      assert_int_equal(group->reg[5][lane], on ? 15 : 0);
      assert_int_equal(group->reg[6][lane], on ? lane % 4 / 2 : 0);
      assert_int_equal(group->reg[7][lane], on ? (lane >= 28 ? 1 : 2) : 0);
      assert_int_equal(group->reg[8][lane], on);
      assert_int_equal(group->reg[9][lane], on ? 32 : 0);
      assert_int_equal(group->reg[10][lane], on ? lane : 0);
      assert_int_equal(group->reg[11][lane], on ? 0x15555555 : 0);
   }
   free(group);
   group = with_lanes("mfsr d=r3 sr=helper_op");
   assert_fails(sim_group_run(group), AGX_UNIMPLEMENTED, "special register is not modelled");
   free(group);
}

/* Check mode, with memory at u0 that can be read and written. */
static agx_status run_checked(const char *program, uint32_t *out_r2)
{
   struct sim_memory memory;
   sim_memory_init(&memory);
   uint8_t *data = sim_map(&memory, SIM_DATA, 0x4000, true);
   agxs_put_le32(data, 77);
   struct sim_group *group = with_lanes(program);
   group->memory = &memory;
   group->options.check = true;
   for (unsigned i = 0; i < 4; i++)
      group->uniform[i] = (uint16_t)(SIM_DATA >> 16 * i);
   agx_status status = sim_group_run(group);
   *out_r2 = group->reg[2][0];
   free(group);
   sim_memory_fini(&memory);
   return status;
}

#define LOAD(r, g) "load r=" r " base=du0 index=0 format=i32 mask=x group=" g "\n"

static void checks_waits(void **state)
{
   uint32_t r2;
   assert_ok(run_checked(LOAD("r2", "a") "wait group=a\niadd d=r2 a=r2 b=1", &r2));
   assert_int_equal(r2, 78);
   assert_fails(run_checked(LOAD("r2", "a") "iadd d=r3 a=r2 b=1", &r2), AGX_FAILED_PRECONDITION,
                "check: r2l is read while an operation of group a will write it");
   assert_fails(run_checked(LOAD("r2", "b") "wait group=a\nmov d=r2h a=1", &r2),
                AGX_FAILED_PRECONDITION,
                "check: r2h is written while an operation of group b will write it");
   assert_fails(run_checked(LOAD("r2", "b") "memory_barrier", &r2), AGX_FAILED_PRECONDITION,
                "check: 0 operations of group a and 1 of b are outstanding");
   assert_ok(run_checked(LOAD("r2", "b") "wait group=b\nmemory_barrier", &r2));
}

static void counts_what_is_outstanding(void **state)
{
   uint32_t r2;
   char program[2048] = "";
   for (unsigned i = 0; i < 8; i++)
      strcat(program, "store r=r1 base=du0 index=1 format=i32 mask=x group=a\n");
   strcat(program, LOAD("r2", "b"));
   assert_ok(run_checked(program, &r2));
   strcat(program, LOAD("r3", "a"));
   assert_fails(run_checked(program, &r2), AGX_FAILED_PRECONDITION,
                "check: a ninth operation outstanding in group a");
}

static void poisons_discarded_registers(void **state)
{
   uint32_t r2;
   assert_ok(run_checked("mov d=r3 a=7\niadd d=r4 a=^r3 b=1\nmov d=r2 a=r3", &r2));
   assert_int_equal(r2, AGXS_POISON);
   assert_ok(run_checked("mov d=r2 a=7\niadd d=r2 a=^r2 b=1", &r2));
   assert_int_equal(r2, 8);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_if_else),
      cmocka_unit_test(nests_conditions),
      cmocka_unit_test(loops_until_no_lane_is_left),
      cmocka_unit_test(breaks_by_writing_the_counter),
      cmocka_unit_test(nests_loops),
      cmocka_unit_test(updates_the_counter_as_the_table_says),
      cmocka_unit_test(follows_the_table_through_random_nesting),
      cmocka_unit_test(calls_and_returns),
      cmocka_unit_test(calls_through_a_register),
      cmocka_unit_test(stops_what_is_endless_or_wrong),
      cmocka_unit_test(jumps_into_the_middle),
      cmocka_unit_test(reads_special_registers),
      cmocka_unit_test(checks_waits),
      cmocka_unit_test(counts_what_is_outstanding),
      cmocka_unit_test(poisons_discarded_registers),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
