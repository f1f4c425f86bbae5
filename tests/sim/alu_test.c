/* SPDX-License-Identifier: MIT
 *
 * Integer, bit and select instructions, one line each; the expected values are
 * computed by hand from docs/hw/semantics.md 5 to 9.
 */
#include "sim_support.h"

#include <stdlib.h>

#include "base/util.h"

struct row {
   const char *program;
   uint32_t r1, r2, r3, r4;
   uint32_t expected, high; /* r5 and r6; both start as 0xeeeeeeee */
};

static const struct row rows[] = {
   /* Moves and constants. */
   {"ldimm32 d=r5 imm=3735928559", 0, 0, 0, 0, 0xdeadbeef, 0xeeeeeeee},
   {"ldimm16 d=r5h imm=43981", 0, 0, 0, 0, 0xabcdeeee, 0xeeeeeeee},
   {"ldimm16 d=r5l imm=1", 0, 0, 0, 0, 0xeeee0001, 0xeeeeeeee},
   {"mov d=r5 a=r1", 0x12345678, 0, 0, 0, 0x12345678, 0xeeeeeeee},
   {"mov d=r5 a=r1h", 0x12345678, 0, 0, 0, 0x1234, 0xeeeeeeee},
   {"mov d=r5h a=r1l", 0x12345678, 0, 0, 0, 0x5678eeee, 0xeeeeeeee},
   {"mov d=r5l a=r1", 0x12345678, 0, 0, 0, 0xeeee5678, 0xeeeeeeee},
   {"mov d=r5 a=200", 0, 0, 0, 0, 200, 0xeeeeeeee},
   {"mov d=r5 a=u2", 0, 0, 0, 0, 0x00050004, 0xeeeeeeee},
   {"mov d=r5 a=u2h", 0, 0, 0, 0, 5, 0xeeeeeeee},
   /* Add: sizes, extension, shift, saturation. */
   {"iadd d=r5 a=r1 b=r2", 7, 8, 0, 0, 15, 0xeeeeeeee},
   {"iadd d=r5 a=r1 b=r2", 0xffffffff, 2, 0, 0, 1, 0xeeeeeeee},
   {"iadd d=r5 a=r1 b=r2 shift=lsl3", 1, 5, 0, 0, 41, 0xeeeeeeee},
   {"iadd d=r5 a=r1 b=r2 shift=5", 1, 5, 0, 0, 1, 0xeeeeeeee},
   {"isub d=r5 a=r1 b=r2", 7, 8, 0, 0, 0xffffffff, 0xeeeeeeee},
   {"isub d=r5 a=r1 b=r2 shift=lsl1", 7, 8, 0, 0, 0xfffffff7, 0xeeeeeeee},
   {"iadd d=r5 a=r1l b=0", 0x1234ffff, 0, 0, 0, 0xffff, 0xeeeeeeee},
   {"iadd d=r5 a=r1l.sx b=0", 0x1234ffff, 0, 0, 0, 0xffffffff, 0xeeeeeeee},
   {"iadd d=r5 a=r1h.sx b=r2l.sx", 0x80000000, 0x1fffe, 0, 0, 0xffff7ffe, 0xeeeeeeee},
   {"iadd d=r5h a=r1 b=r2", 0xffff, 2, 0, 0, 0x0001eeee, 0xeeeeeeee},
   {"iadd d=dr5 a=r1 b=r2", 0xffffffff, 2, 0, 0, 1, 1},
   {"iadd d=dr5 a=r1.sx b=r2", 0xffffffff, 0, 0, 0, 0xffffffff, 0xffffffff},
   {"iadd d=dr5 a=dr1 b=r3 shift=lsl4", 0xfffffff0, 5, 1, 0, 0, 6},
   {"iadd d=dr5 a=dr1 b=r3.sx shift=lsl2", 0, 5, 0xffffffff, 0, 0xfffffffc, 4},
   {"isub d=dr5 a=dr1 b=dr3", 0, 1, 1, 0, 0xffffffff, 0},
   {"iadd d=r5 a=dr1 b=dr3", 9, 1, 1, 7, 10, 0xeeeeeeee},
   {"iadd d=r5 a=r1 b=r2 sat", 0xffffffff, 2, 0, 0, 0xffffffff, 0xeeeeeeee},
   {"iadd d=r5 a=r1.sx b=r2.sx sat", 0x7fffffff, 1, 0, 0, 0x7fffffff, 0xeeeeeeee},
   {"iadd d=r5 a=r1.sx b=r2.sx sat", 0x80000000, 0xffffffff, 0, 0, 0x80000000, 0xeeeeeeee},
   {"isub d=r5 a=r1 b=r2 sat", 3, 4, 0, 0, 0, 0xeeeeeeee},
   {"isub d=r5 a=r1.sx b=r2 sat", 3, 4, 0, 0, 0xffffffff, 0xeeeeeeee},
   {"iadd d=r5l a=r1l b=r2l sat", 0xffff, 1, 0, 0, 0xeeeeffff, 0xeeeeeeee},
   {"iadd d=r5l a=r1l.sx b=r2l.sx sat", 0x7fff, 1, 0, 0, 0xeeee7fff, 0xeeeeeeee},
   {"iadd d=r5l a=r1 b=r2 sat", 0x12345, 1, 0, 0, 0xeeeeffff, 0xeeeeeeee},
   {"iadd d=r5 a=r1 b=r2 shift=lsl1 sat", 0xffffffff, 1, 0, 0, 1, 0xeeeeeeee},
   {"iadd d=r5 a=dr1 b=r3 sat", 0xffffffff, 0, 1, 0, 0, 0xeeeeeeee},
   /* Multiply-add. */
   {"imul d=r5 a=r1 b=r2", 100000, 100000, 0, 0, 0x540be400, 0xeeeeeeee},
   {"imul d=dr5 a=r1 b=r2", 100000, 100000, 0, 0, 0x540be400, 2},
   {"imul d=dr5 a=r1 b=r2", 0xffffffff, 0xffffffff, 0, 0, 1, 0xfffffffe},
   {"imul d=dr5 a=r1.sx b=r2.sx", 0xffffffff, 0xffffffff, 0, 0, 1, 0},
   {"imul d=dr5 a=r1.sx b=r2", 0xffffffff, 0xffffffff, 0, 0, 1, 0xffffffff},
   {"imadd d=r5 a=r1 b=r2 c=r3", 6, 7, 8, 0, 50, 0xeeeeeeee},
   {"imadd d=r5 a=r1 b=r2 c=r3 shift=lsl4", 6, 7, 8, 0, 170, 0xeeeeeeee},
   {"imsub d=r5 a=r1 b=r2 c=r3 shift=lsl1", 6, 7, 8, 0, 26, 0xeeeeeeee},
   {"imadd d=r5 a=r1l.sx b=r2l.sx c=r3l.sx", 0xffff, 5, 0xfffe, 0, 0xfffffff9, 0xeeeeeeee},
   {"imadd d=dr5 a=r1 b=r2 c=dr3", 0x80000000, 4, 1, 1, 1, 3},
   {"imadd d=r5 a=r1 b=r2 c=r3 sat", 0x80000000, 4, 1, 0, 0xffffffff, 0xeeeeeeee},
   {"imadd d=r5 a=r1.sx b=r2.sx c=r3.sx sat", 0x80000000, 4, 1, 0, 0x80000000, 0xeeeeeeee},
   {"imsub d=r5 a=r1 b=r2 c=r3 sat", 2, 3, 7, 0, 0, 0xeeeeeeee},
   {"imadd d=r5 a=r1 b=r2 c=r3 sat", 0xffffffff, 0xffffffff, 0xffffffff, 0, 0xffffffff, 0xeeeeeeee},
   /* Shifts beyond 31 give 0; only 7 bits count. */
   {"shl d=r5 b=r1 c=r2", 1, 31, 0, 0, 0x80000000, 0xeeeeeeee},
   {"shl d=r5 b=r1 c=r2", 1, 32, 0, 0, 0, 0xeeeeeeee},
   {"shl d=r5 b=r1 c=r2", 3, 128, 0, 0, 3, 0xeeeeeeee},
   {"shl d=r5l b=r1 c=r2", 0x12345, 4, 0, 0, 0xeeee3450, 0xeeeeeeee},
   {"shr d=r5 b=r1 c=r2", 0x80000000, 31, 0, 0, 1, 0xeeeeeeee},
   {"shr d=r5 b=r1 c=r2", 0x80000000, 64, 0, 0, 0, 0xeeeeeeee},
   {"shr d=r5 b=r1h c=4", 0xf2340000, 0, 0, 0, 0xf23, 0xeeeeeeee},
   {"asr d=r5 a=r1 b=r2 c=0 bitmask=0", 0x80000000, 4, 0, 0, 0xf8000000, 0xeeeeeeee},
   {"asr d=r5 a=r1 b=r2 c=0 bitmask=0", 0x80000000, 100, 0, 0, 0xffffffff, 0xeeeeeeee},
   {"asr d=r5 a=r1l b=r2 c=0 bitmask=0", 0x8000, 4, 0, 0, 0xfffff800, 0xeeeeeeee},
   {"asrh d=r5 a=r1 b=r2 c=0 bitmask=0", 0x80000001, 4, 0, 0, 0x10000000, 0xeeeeeeee},
   {"asrh d=r5 a=r1 b=r2 c=0 bitmask=0", 0x80000001, 36, 0, 0, 0xf8000000, 0xeeeeeeee},
   {"asrh d=r5 a=r1 b=r2 c=0 bitmask=0", 0x80000001, 127, 0, 0, 0xffffffff, 0xeeeeeeee},
   /* Bit fields. */
   {"bfi d=r5 a=r1 b=r2 c=r3 bitmask=8", 0xffffffff, 0x123, 4, 0, 0xfffff23f, 0xeeeeeeee},
   {"bfi d=r5 a=r1 b=r2 c=r3 bitmask=0", 0xffffffff, 0x123, 4, 0, 0x123f, 0xeeeeeeee},
   {"bfi d=r5 a=r1 b=r2 c=r3 bitmask=8", 0x55, 0x123, 40, 0, 0x55, 0xeeeeeeee},
   {"bfeil d=r5 a=r1 b=r2 c=r3 bitmask=8", 0xaaaaaa00, 0x12345678, 12, 0, 0xaaaaaa45, 0xeeeeeeee},
   {"bfeil d=r5 a=r1 b=r2 c=r3 bitmask=8", 0xaaaaaaff, 0x12345678, 33, 0, 0xaaaaaa00, 0xeeeeeeee},
   {"extr d=r5 a=r1 b=r2 c=r3 bitmask=0", 0x11223344, 0x55667788, 8, 0, 0x88112233, 0xeeeeeeee},
   {"extr d=r5 a=r1 b=r2 c=r3 bitmask=0", 0x11223344, 0x55667788, 40, 0, 0x556677, 0xeeeeeeee},
   {"extr d=r5 a=r1 b=r2 c=r3 bitmask=4", 0x11223344, 0x55667788, 32, 0, 8, 0xeeeeeeee},
   {"extr d=r5 a=r1 b=r2 c=r3 bitmask=0", 0x11223344, 0x55667788, 64, 0, 0, 0xeeeeeeee},
   {"shlhi d=r5 a=r1 b=r2 c=r3 bitmask=0", 0x77, 0x80000001, 4, 0, 8, 0xeeeeeeee},
   {"shlhi d=r5 a=r1 b=r2 c=r3 bitmask=8", 0x7700, 0x80000001, 4, 0, 0x7708, 0xeeeeeeee},
   {"shlhi d=r5 a=r1 b=r2 c=r3 bitmask=8", 0x7777, 0x3f, 36, 0, 0x73f7, 0xeeeeeeee},
   {"shlhi d=r5 a=r1 b=r2 c=r3 bitmask=8", 0x7777, 0x3f, 64, 0, 0x7777, 0xeeeeeeee},
   {"shlhi d=r5 a=r1 b=r2 c=r3 bitmask=0", 0x77, 5, 0, 0, 0, 0xeeeeeeee},
   {"shrhi d=r5 a=r1 b=r2 c=r3 bitmask=0", 0x77, 0x12345678, 4, 0, 0x80000077, 0xeeeeeeee},
   {"shrhi d=r5 a=r1 b=r2 c=r3 bitmask=0", 0x77, 0x12345678, 36, 0, 0x01234567, 0xeeeeeeee},
   {"shrhi d=r5 a=r1 b=r2 c=r3 bitmask=4", 0x12345678, 0xf, 8, 0, 0x1f345678, 0xeeeeeeee},
   /* Bit operations: r1 = a, r2 = b. */
   {"and d=r5 a=r1 b=r2", 0xc, 0xa, 0, 0, 8, 0xeeeeeeee},
   {"or d=r5 a=r1 b=r2", 0xc, 0xa, 0, 0, 0xe, 0xeeeeeeee},
   {"xor d=r5 a=r1 b=r2", 0xc, 0xa, 0, 0, 6, 0xeeeeeeee},
   {"andn1 d=r5 a=r1 b=r2", 0xc, 0xa, 0, 0, 2, 0xeeeeeeee},
   {"andn2 d=r5 a=r1 b=r2", 0xc, 0xa, 0, 0, 4, 0xeeeeeeee},
   {"orn1 d=r5 a=r1 b=r2", 0xc, 0xa, 0, 0, 0xfffffffb, 0xeeeeeeee},
   {"orn2 d=r5 a=r1 b=r2", 0xc, 0xa, 0, 0, 0xfffffffd, 0xeeeeeeee},
   {"nor d=r5 a=r1l b=r2l", 0xc, 0xa, 0, 0, 0xfffffff1, 0xeeeeeeee},
   {"nand d=r5 a=r1 b=r2", 0xc, 0xa, 0, 0, 0xfffffff7, 0xeeeeeeee},
   {"xnor d=r5 a=r1 b=r2", 0xc, 0xa, 0, 0, 0xfffffff9, 0xeeeeeeee},
   {"not d=r5 a=r1l", 0xc, 0, 0, 0, 0xfffffff3, 0xeeeeeeee},
   {"zero d=r5 a=r1 b=r2", 0xc, 0xa, 0, 0, 0, 0xeeeeeeee},
   {"one d=r5 a=r1 b=r2", 0xc, 0xa, 0, 0, 0xffffffff, 0xeeeeeeee},
   {"bitop d=r5 a=r1 b=r2 truth=mov_a", 0xc, 0xa, 0, 0, 0xc, 0xeeeeeeee},
   {"bitop d=r5 a=r1 b=r2 truth=not_a", 0xc, 0xa, 0, 0, 0xc, 0xeeeeeeee},
   {"bitrev d=r5 a=r1", 0x1, 0, 0, 0, 0x80000000, 0xeeeeeeee},
   {"bitrev d=r5 a=r1l", 0xffff8001, 0, 0, 0, 0x80010000, 0xeeeeeeee},
   {"popcnt d=r5 a=r1", 0xf000000f, 0, 0, 0, 8, 0xeeeeeeee},
   {"ffs d=r5 a=r1", 0x00800001, 0, 0, 0, 23, 0xeeeeeeee},
   {"ffs d=r5l a=r1", 0, 0, 0, 0, 0xeeeeffff, 0xeeeeeeee},
   {"intl d=r5 a=r1 b=r2", 0x1ffff, 0x30001, 0, 0, 0x55555557, 0xeeeeeeee},
   /* Compares and selects. */
   {"icsel d=r5 a=r1 b=r2 x=r3 y=r4 cond=ieq", 5, 5, 10, 20, 10, 0xeeeeeeee},
   {"icsel d=r5 a=r1 b=r2 x=r3 y=r4 cond=ult", 5, 0xffffffff, 10, 20, 10, 0xeeeeeeee},
   {"icsel d=r5 a=r1 b=r2 x=r3 y=r4 cond=slt", 5, 0xffffffff, 10, 20, 20, 0xeeeeeeee},
   {"icsel d=r5 a=r1 b=r2 x=r3 y=r4 cond=ugt", 5, 0xffffffff, 10, 20, 20, 0xeeeeeeee},
   {"icsel d=r5 a=r1 b=r2 x=r3 y=r4 cond=sgt", 5, 0xffffffff, 10, 20, 10, 0xeeeeeeee},
   {"icsel d=r5 a=r1l b=r2 x=1 y=0 cond=ieq", 0x7ffff, 0xffff, 0, 0, 1, 0xeeeeeeee},
   {"icsel d=r5 a=r1l b=r2 x=1 y=0 cond=seq", 0xffff, 0xffffffff, 0, 0, 1, 0xeeeeeeee},
   {"icsel d=r5l a=r1 b=r2 x=r3h y=r4l cond=ieq", 1, 1, 0xabcd1234, 0, 0xeeeeabcd, 0xeeeeeeee},
   {"icsel d=r5 a=r1 b=r2 x=u1 y=0 cond=ieq", 1, 1, 0, 0, 0x00030002, 0xeeeeeeee},
};

static void computes_integers(void **state)
{
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      const struct row *row = &rows[i];
      struct sim_group *group = sim_group_new(row->program);
      for (unsigned half = 0; half < AGX_UNIFORM_HALVES; half++)
         group->uniform[half] = (uint16_t)half;
      for (unsigned lane = 0; lane < 32; lane++) {
         group->reg[1][lane] = row->r1;
         group->reg[2][lane] = row->r2;
         group->reg[3][lane] = row->r3;
         group->reg[4][lane] = row->r4;
         group->reg[5][lane] = group->reg[6][lane] = 0xeeeeeeee;
      }
      group->exists = 0x7fffffff;
      assert_ok(sim_group_run(group));
      for (unsigned lane = 0; lane < 31; lane++) {
         if (group->reg[5][lane] != row->expected || group->reg[6][lane] != row->high)
            fail_msg("%s: lane %u: 0x%08x 0x%08x, not 0x%08x 0x%08x", row->program, lane,
                     group->reg[5][lane], group->reg[6][lane], row->expected, row->high);
      }
      assert_int_equal(group->reg[5][31], 0xeeeeeeee); /* the inactive lane */
      free(group);
   }
}

/* The destination may be a source; each lane has its own value. */
static void keeps_lanes_apart(void **state)
{
   struct sim_group *group = sim_group_new("iadd d=r1 a=r1 b=r2\n"
                                           "imadd d=dr1 a=r1 b=r1 c=r2\n"
                                           "mov d=r3l a=r3h");
   for (unsigned lane = 0; lane < 32; lane++) {
      group->reg[1][lane] = lane;
      group->reg[2][lane] = 100 * lane;
      group->reg[3][lane] = lane << 16 | 7;
   }
   assert_ok(sim_group_run(group));
   for (unsigned lane = 0; lane < 32; lane++) {
      assert_int_equal(group->reg[1][lane], 101 * lane * 101 * lane + 100 * lane);
      assert_int_equal(group->reg[2][lane], 0);
      assert_int_equal(group->reg[3][lane], lane << 16 | lane);
   }
   free(group);
}

static void refuses_registers_beyond_the_count(void **state)
{
   static const char *const programs[] = {
      "mov d=r4 a=0",
      "mov d=r0 a=r4l",
      "iadd d=dr3 a=r0 b=r0",
      "load r=r3..r4 base=dr0 index=0 format=i32 mask=xy group=a",
   };
   for (size_t i = 0; i < AGX_COUNT(programs); i++) {
      struct sim_group *group = sim_group_new(programs[i]);
      group->halves = 8;
      assert_fails(sim_group_run(group), AGX_INVALID_ARGUMENT,
                   "a register beyond the count that the launch declares");
      free(group);
   }
   struct sim_group *group = sim_group_new("mov d=r3 a=r2");
   group->halves = 8;
   assert_ok(sim_group_run(group));
   free(group);
}

static void refuses_unknown_conditions_by_name(void **state)
{
   struct sim_group *group = sim_group_new("icsel d=r0 a=r1 b=r2 x=1 y=0 cond=3");
   assert_fails(sim_group_run(group), AGX_UNIMPLEMENTED, "condition is unknown");
   free(group);
   group = sim_group_new("nop_by_jump:\nfcsel d=r0 a=r1 b=r2 x=1 y=0 cond=4");
   assert_fails(sim_group_run(group), AGX_UNIMPLEMENTED, "pc 0x0: fcsel");
   free(group);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(computes_integers),
      cmocka_unit_test(keeps_lanes_apart),
      cmocka_unit_test(refuses_registers_beyond_the_count),
      cmocka_unit_test(refuses_unknown_conditions_by_name),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
