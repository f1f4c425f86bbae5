/* SPDX-License-Identifier: MIT
 *
 * Float instructions and conversions, one line each; expected bits by hand from
 * docs/hw/semantics.md 1 to 4. Functions that the hardware approximates are
 * compared with a tolerance.
 */
#include "sim_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "base/util.h"

#define QNAN 0x7fc00000u
#define INF  0x7f800000u
#define ONE  0x3f800000u
#define TWO  0x40000000u
#define MIN  0x00800000u /* smallest normal */
#define DEN  0x00400000u /* half of it, a denormal */
#define NEG  0x80000000u

struct row {
   const char *program;
   uint32_t r1, r2, r3;
   uint32_t expected; /* r5; starts as 0xeeeeeeee */
};

static const struct row rows[] = {
   /* Single add: zeros, denormals, NaN. */
   {"fadd d=r5 a=r1 b=r2", ONE, TWO, 0, 0x40400000},
   {"fadd d=r5 a=r1 b=r2", ONE, ONE | NEG, 0, 0},
   {"fadd d=r5 a=r1 b=r2", NEG, NEG, 0, NEG},
   {"fadd d=r5 a=r1 b=r2", NEG, 0, 0, 0},
   {"fadd d=r5 a=r1 b=r2", INF, INF | NEG, 0, QNAN},
   {"fadd d=r5 a=r1 b=r2", 0xffc12345, ONE, 0, QNAN},
   {"fadd d=r5 a=r1 b=r2", 0x7f800001, ONE, 0, QNAN},
   {"fadd d=r5 a=r1 b=r2", DEN, DEN, 0, 0},              /* inputs flushed */
   {"fadd d=r5 a=r1 b=r2", MIN, NEG | DEN, 0, MIN},      /* the denormal counts as zero */
   {"fadd d=r5 a=r1 b=r2", 0x00c00000, NEG | MIN, 0, 0}, /* result flushed */
   {"fadd d=r5 a=r1 b=r2", NEG | 0x00c00000, MIN, 0, NEG},
   {"fadd d=r5 a=r1 b=-0.0", NEG | DEN, 0, 0, NEG},
   {"fadd d=r5 a=r1.abs b=r2.neg", NEG | TWO, ONE, 0, ONE},
   {"fadd d=r5 a=r1.abs.neg b=0.5", TWO, 0, 0, 0xbfc00000},
   {"fadd d=r5 a=1.0 b=31.0", 0, 0, 0, 0x42000000},
   {"fadd d=r5 a=u1 b=r1", ONE, 0, 0, TWO},
   {"fadd d=r5 a=u1.neg b=r1", ONE, 0, 0, 0},
   {"fadd d=r5 a=u1h b=r1", ONE, 0, 0, 0x40380000},         /* u1h: half 0x3f80 = 1.875 */
   {"fadd d=r5 a=r1 b=r2", 0x4b800000, ONE, 0, 0x4b800000}, /* 2^24 + 1: tie to even */
   {"fadd d=r5 a=r1 b=r2", 0x4b800001, ONE, 0, 0x4b800002},
   {"fadd d=r5 a=r1 b=r2 sat", ONE, ONE, 0, ONE},
   {"fadd d=r5 a=r1 b=r2 sat", NEG | ONE, 0, 0, 0},
   {"fadd d=r5 a=r1 b=r2 sat", NEG, NEG, 0, 0},
   {"fadd d=r5 a=r1 b=r2 sat", QNAN, ONE, 0, 0},
   {"fadd d=r5 a=r1 b=-0.0 sat", 0x3f000000, 0, 0, 0x3f000000},
   /* Half sources keep their denormals; half destinations round twice. */
   {"fadd d=r5 a=r1l b=r2h", 0x3c00, 0x40000000, 0, 0x40400000},
   {"fadd d=r5 a=r1l b=-0.0", 0x0001, 0, 0, 0x33800000},
   {"fadd d=r5 a=r1l b=-0.0", 0x83ff, 0, 0, 0xb87fc000},
   {"fadd d=r5 a=r1l b=-0.0", 0xfc00, 0, 0, NEG | INF},
   {"fadd d=r5 a=r1l b=-0.0", 0x7e01, 0, 0, QNAN},
   {"fadd d=r5l a=r1 b=-0.0", 0x33800000, 0, 0, 0xeeee0001},
   {"fadd d=r5h a=r1 b=-0.0", 0x477fe000, 0, 0, 0x7bffeeee},
   {"fadd d=r5l a=r1 b=-0.0", 0x477ff000, 0, 0, 0xeeee7c00}, /* 65520 */
   {"fadd d=r5l a=r1 b=-0.0", 0x477fefff, 0, 0, 0xeeee7bff},
   {"fadd d=r5l a=r1 b=-0.0", QNAN | NEG, 0, 0, 0xeeee7e00},
   /* 1 + 2^-11 + 2^-25 is above the tie of half, but single rounding makes it the tie. */
   {"fadd d=r5l a=r1 b=r2", 0x3f801000, 0x33000000, 0, 0xeeee3c00},
   /* Single multiply and fused. */
   {"fmul d=r5 a=r1 b=r2", NEG | ONE, 0, 0, NEG},
   {"fmul d=r5 a=r1 b=r2", INF, 0, 0, QNAN},
   {"fmul d=r5 a=r1 b=r2", 0x7f000000, TWO, 0, INF},
   {"fmul d=r5 a=r1 b=0.5", MIN, 0, 0, 0},
   {"fmul d=r5 a=r1 b=0.5", NEG | MIN, 0, 0, NEG},
   {"fmul d=r5 a=r1 b=r2", 0x3f800001, 0x3f800001, 0, 0x3f800002},
   {"fmul d=r5 a=r1 b=r2 sat", TWO, TWO, 0, ONE},
   {"ffma d=r5 a=r1 b=r2 c=r3", TWO, 0x40400000, ONE, 0x40e00000},
   /* (1 + 2^-23)^2 - (1 + 2^-22) = 2^-46: only a fused one sees it. */
   {"ffma d=r5 a=r1 b=r2 c=r3.neg", 0x3f800001, 0x3f800001, 0x3f800002, 0x28800000},
   {"ffma d=r5 a=r1 b=r2 c=r3", INF, 0, ONE, QNAN},
   {"ffma d=r5 a=r1 b=r2 c=r3", NEG, ONE, NEG, NEG},
   {"ffma d=r5 a=r1 b=r2 c=r3", NEG, ONE, 0, 0},
   {"ffma d=r5 a=r1 b=r2 c=r3", DEN, 0x7f000000, 0, 0},
   {"ffma d=r5l a=r1l b=r2l c=r3l", 0x4000, 0x4200, 0x3c00, 0xeeee4700},
   /* Half family: one rounding, denormals kept, the size flag ignored. */
   {"hadd d=r5l a=r1l b=r2l", 0x3c00, 0x4000, 0, 0xeeee4200},
   {"hadd d=r5h a=r1h b=r2l", 0x3c000000, 0x4000, 0, 0x4200eeee},
   {"hadd d=r5l a=r1l b=r2l", 0x0001, 0x0001, 0, 0xeeee0002},
   {"hadd d=r5l a=r1l b=r2l", 0x7bff, 0x4c00, 0, 0xeeee7c00}, /* 65504 + 16 rounds up */
   {"hadd d=r5l a=r1l b=r2l", 0x7c00, 0xfc00, 0, 0xeeee7e00},
   {"hadd d=r5l a=r1l b=r2l.neg", 0x3c00, 0x3c00, 0, 0xeeee0000},
   {"hadd d=r5l a=r1l b=r2l", 0x8000, 0x8000, 0, 0xeeee8000},
   {"hmul d=r5l a=r1l b=r2l", 0x3c01, 0x3c01, 0, 0xeeee3c02},
   {"hmul d=r5l a=r1l b=0.5", 0x0001, 0, 0, 0xeeee0000}, /* tie to even */
   {"hmul d=r5l a=r1l b=0.5", 0x0003, 0, 0, 0xeeee0002},
   {"hmul d=r5l a=r1l b=r2l sat", 0x4000, 0x4000, 0, 0xeeee3c00},
   {"hfma d=r5l a=r1l b=r2l c=r3l", 0x3c01, 0x3c01, 0xbc02, 0xeeee0010}, /* 2^-20 */
   {"hfma d=r5l a=r1l b=r2l c=r3l", 0x7bff, 0x4000, 0xfbff, 0xeeee7bff},
   {"hfma d=r5l a=r1l b=1.0 c=r3l", 0x7e00, 0, 0x3c00, 0xeeee7e00},
   /* 1 + 2^-11 + 2^-21, just above the tie. */
   {"hfma d=r5l a=r1l b=r2l c=1.0", 0x1001, 0x3c00, 0, 0xeeee3c01},
   /* Rounding to integers. */
   {"floor d=r5 a=r1", 0xbfc00000, 0, 0, 0xc0000000},
   {"ceil d=r5 a=r1", 0xbfc00000, 0, 0, 0xbf800000},
   {"ceil d=r5 a=r1", 0xbf000000, 0, 0, NEG},
   {"trunc d=r5 a=r1", 0xbfc00000, 0, 0, 0xbf800000},
   {"rint d=r5 a=r1", 0x3fc00000, 0, 0, TWO},
   {"rint d=r5 a=r1", 0x40200000, 0, 0, TWO}, /* 2.5 */
   {"rint d=r5 a=r1", 0xbf000000, 0, 0, NEG},
   {"rint d=r5 a=r1", 0x4b000001, 0, 0, 0x4b000001},
   {"floor d=r5 a=r1", NEG, 0, 0, NEG},
   {"floor d=r5 a=r1", QNAN | NEG, 0, 0, QNAN},
   {"floor d=r5l a=r1l", 0x3e00, 0, 0, 0xeeee3c00},
   /* Special values of the approximations. */
   {"rcp d=r5 a=r1", 0, 0, 0, INF},
   {"rcp d=r5 a=r1", NEG, 0, 0, NEG | INF},
   {"rcp d=r5 a=r1", NEG | INF, 0, 0, NEG},
   {"rcp d=r5 a=r1", TWO, 0, 0, 0x3f000000},
   {"rcp d=r5 a=r1", DEN, 0, 0, INF},
   {"rsqrt d=r5 a=r1", 0, 0, 0, INF},
   {"rsqrt d=r5 a=r1", NEG | ONE, 0, 0, QNAN},
   {"rsqrt d=r5 a=r1", INF, 0, 0, 0},
   {"rsqrt d=r5 a=r1", 0x40800000, 0, 0, 0x3f000000},
   {"rsqrts d=r5 a=r1; fmul d=r5 a=r5 b=r1", 0, 0, 0, 0},
   {"rsqrts d=r5 a=r1; fmul d=r5 a=r5 b=r1", INF, 0, 0, INF},
   {"rsqrts d=r5 a=r1; fmul d=r5 a=r5 b=r1", 0x41100000, 0, 0, 0x40400000},
   {"log2 d=r5 a=r1", 0, 0, 0, NEG | INF},
   {"log2 d=r5 a=r1", DEN, 0, 0, NEG | INF},
   {"log2 d=r5 a=r1", 0x41000000, 0, 0, 0x40400000},
   {"log2 d=r5 a=r1", NEG | ONE, 0, 0, QNAN},
   {"exp2 d=r5 a=r1", 0x40400000, 0, 0, 0x41000000},
   {"exp2 d=r5 a=r1", NEG | INF, 0, 0, 0},
   {"exp2 d=r5 a=r1", 0x43000000, 0, 0, INF},         /* 2^128 */
   {"exp2 d=r5 a=r1", 0xc2fe0000, 0, 0, 0},           /* 2^-127: flushed */
   {"exp2 d=r5l a=r1", 0xc1c00000, 0, 0, 0xeeee0001}, /* 2^-24 as half */
   {"sinr d=r5 a=r1", 0x3f000000, 0, 0, 0x3f000000},
   {"sinr d=r5 a=r1", 0x3fc00000, 0, 0, 0x3f000000}, /* 1.5 -> 0.5 */
   {"sinr d=r5 a=r1", 0x40600000, 0, 0, 0xbf000000}, /* 3.5 -> -0.5 */
   {"sinc d=r5 a=r1", 0, 0, 0, 0x3fc90fdb},
   {"sinc d=r5 a=r1", ONE, 0, 0, ONE},
   {"sinc d=r5 a=r1", INF, 0, 0, QNAN},
   /* Integers to floats. */
   {"u32_to_f d=r5 a=r1 round=rte", 0x01000001, 0, 0, 0x4b800000},
   {"u32_to_f d=r5 a=r1 round=rte", 0x01000003, 0, 0, 0x4b800002},
   {"u32_to_f d=r5 a=r1 round=rtz", 0x01000003, 0, 0, 0x4b800001},
   {"u32_to_f d=r5 a=r1 round=rte", 0xffffffff, 0, 0, 0x4f800000},
   {"u32_to_f d=r5 a=r1 round=rtz", 0xffffffff, 0, 0, 0x4f7fffff},
   {"s32_to_f d=r5 a=r1 round=rte", 0xffffffff, 0, 0, 0xbf800000},
   {"s32_to_f d=r5 a=r1 round=rte", 0x80000000, 0, 0, 0xcf000000},
   {"u16_to_f d=r5 a=r1 round=rte", 0x1ffff, 0, 0, 0x477fff00},
   {"s16_to_f d=r5 a=r1 round=rte", 0x1ffff, 0, 0, 0xbf800000},
   {"u8_to_f d=r5 a=r1 round=rte", 0x1ff, 0, 0, 0x437f0000},
   {"s8_to_f d=r5 a=r1h round=rte", 0x1800000, 0, 0, 0xc3000000},
   {"u32_to_f d=r5l a=r1 round=rte", 2049, 0, 0, 0xeeee6800},
   {"u32_to_f d=r5l a=r1 round=rte", 65520, 0, 0, 0xeeee7c00},
   {"u32_to_f d=r5l a=r1 round=rtz", 65535, 0, 0, 0xeeee7bff},
   {"s32_to_f d=r5l a=r1 round=rtz", 0xfff00000, 0, 0, 0xeeeefbff},
   /* Floats to integers: clamped, NaN is 0. */
   {"f_to_s32 d=r5 a=r1 round=rtz", 0xbfe00000, 0, 0, 0xffffffff},
   {"f_to_s32 d=r5 a=r1 round=rte", 0xbfc00000, 0, 0, 0xfffffffe},
   {"f_to_s32 d=r5 a=r1 round=rtz", 0x4f000000, 0, 0, 0x7fffffff},
   {"f_to_s32 d=r5 a=r1 round=rtz", 0xff800000, 0, 0, 0x80000000},
   {"f_to_u32 d=r5 a=r1 round=rtz", 0x4f7fffff, 0, 0, 0xffffff00},
   {"f_to_u32 d=r5 a=r1 round=rtz", INF, 0, 0, 0xffffffff},
   {"f_to_u32 d=r5 a=r1 round=rtz", NEG | ONE, 0, 0, 0},
   {"f_to_u32 d=r5 a=r1 round=rtz", QNAN, 0, 0, 0},
   {"f_to_u16 d=r5 a=r1 round=rtz", 0x47c35000, 0, 0, 0xffff},
   {"f_to_s16 d=r5 a=r1 round=rtz", 0xc7c35000, 0, 0, 0xffff8000},
   {"f_to_s16 d=r5l a=r1l round=rtz", 0xc500, 0, 0, 0xeeeefffb},
   {"f_to_u32 d=r5 a=r1 round=rte", 0x40200000, 0, 0, 2},
   /* Selects: NaN loses in fltn and fgtn; values pass as they are. */
   {"fcsel d=r5 a=r1 b=r2 x=r1 y=r2 cond=fltn", QNAN, ONE, 0, ONE},
   {"fcsel d=r5 a=r1 b=r2 x=r1 y=r2 cond=fltn", ONE, QNAN, 0, ONE},
   {"fcsel d=r5 a=r1 b=r2 x=r1 y=r2 cond=fgtn", ONE, TWO, 0, TWO},
   {"fcsel d=r5 a=r1 b=r2 x=r1 y=r2 cond=fltn", 0, NEG, 0, NEG}, /* equal: b */
   {"fcsel d=r5 a=r1 b=r2 x=r1 y=r2 cond=flt", DEN, ONE, 0, DEN},
   {"fcsel d=r5 a=r1 b=r2 x=1 y=0 cond=feq", DEN, NEG, 0, 1},
   {"fcsel d=r5 a=r1 b=r2 x=1 y=0 cond=fgte", QNAN, ONE, 0, 0},
   {"fcsel d=r5 a=r1 b=r2 x=1 y=0 cond=flte", ONE, ONE, 0, 1},
   {"fcsel d=r5 a=r1l b=r2 x=1 y=0 cond=flt", 0x0001, ONE, 0, 1},
   {"fcsel d=r5 a=r1l b=r2 x=1 y=0 cond=fgt", 0x0001, 0, 0, 1}, /* half denormals count */
   {"fcsel d=r5 a=r1 b=r2.neg x=r3 y=0 cond=fgt", ONE, ONE, 0x12345678, 0x12345678},
};

static void set_sources(struct sim_group *group, const struct row *row)
{
   group->uniform[2] = 0, group->uniform[3] = 0x3f80;
   for (unsigned lane = 0; lane < 32; lane++) {
      group->reg[1][lane] = row->r1;
      group->reg[2][lane] = row->r2;
      group->reg[3][lane] = row->r3;
      group->reg[5][lane] = 0xeeeeeeee;
   }
}

static void run_rows(const struct agxs_exec_set *set)
{
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      struct sim_group *group = sim_group_new(rows[i].program);
      group->set = set;
      set_sources(group, &rows[i]);
      assert_ok(sim_group_run(group));
      for (unsigned lane = 0; lane < 32; lane++) {
         if (group->reg[5][lane] != rows[i].expected)
            fail_msg("%s (0x%08x 0x%08x 0x%08x): 0x%08x, not 0x%08x", rows[i].program, rows[i].r1,
                     rows[i].r2, rows[i].r3, group->reg[5][lane], rows[i].expected);
      }
      free(group);
   }
}

static void computes_floats(void **state)
{
   run_rows(agxs_exec_best());
}

static void computes_the_same_in_the_plain_variant(void **state)
{
   run_rows(&agxs_exec_set_plain);
}

static float as_float(uint32_t bits)
{
   float value;
   memcpy(&value, &bits, sizeof(value));
   return value;
}

static uint32_t as_bits(float value)
{
   uint32_t bits;
   memcpy(&bits, &value, sizeof(bits));
   return bits;
}

/* sin(x) as programs compute it: fold quarter turns, multiply the two halves. */
static void approximates_well(void **state)
{
   struct sim_group *group = sim_group_new("sinr d=r2 a=r1\nsinc d=r3 a=r2\nfmul d=r4 a=r2 b=r3\n"
                                           "log2 d=r5 a=r1\nexp2 d=r6 a=r1\nrsqrt d=r7 a=r1");
   for (unsigned lane = 0; lane < 32; lane++)
      group->reg[1][lane] = as_bits(0.01f + (float)lane * 0.1237f);
   assert_ok(sim_group_run(group));
   for (unsigned lane = 0; lane < 32; lane++) {
      double x = (double)as_float(group->reg[1][lane]);
      assert_true(fabs((double)as_float(group->reg[4][lane]) - sin(x * 1.57079632679489661923)) <
                  1e-6);
      assert_true(fabs((double)as_float(group->reg[5][lane]) - log2(x)) < 1e-6);
      assert_true(fabs((double)as_float(group->reg[6][lane]) / exp2(x) - 1.0) < 1e-6);
      assert_true(fabs((double)as_float(group->reg[7][lane]) * sqrt(x) - 1.0) < 1e-6);
   }
   free(group);
}

static void derives_in_quads(void **state)
{
   struct sim_group *group = sim_group_new("dfdx d=r2 a=r1\ndfdy d=r3 a=r1");
   for (unsigned lane = 0; lane < 32; lane++)
      group->reg[1][lane] = as_bits((float)(lane * lane));
   assert_ok(sim_group_run(group));
   for (unsigned lane = 0; lane < 32; lane++) {
      unsigned x0 = lane & ~1u, y0 = lane & ~2u;
      assert_true(as_float(group->reg[2][lane]) == (float)((x0 + 1) * (x0 + 1) - x0 * x0));
      assert_true(as_float(group->reg[3][lane]) == (float)((y0 + 2) * (y0 + 2) - y0 * y0));
   }
   free(group);
}

/* Every half there is, to single and back, against base/half. */
static void converts_all_halves(void **state)
{
   for (uint32_t first = 0; first < 65536; first += 32) {
      struct sim_group *group = sim_group_new("fadd d=r2 a=r1l b=-0.0\nfadd d=r3l a=r2 b=-0.0");
      for (unsigned lane = 0; lane < 32; lane++)
         group->reg[1][lane] = first + lane, group->reg[3][lane] = 0;
      if (first % 2048 == 0 || (first & 0x7c00) == 0 || (first & 0x7c00) == 0x7800) {
         assert_ok(sim_group_run(group));
         for (unsigned lane = 0; lane < 32; lane++) {
            float value = agx_half_to_float((uint16_t)(first + lane));
            bool is_nan = value != value;
            assert_int_equal(group->reg[2][lane], is_nan ? QNAN : as_bits(value));
            assert_int_equal(group->reg[3][lane], is_nan ? 0x7e00 : first + lane);
         }
      }
      free(group);
   }
}

/* Both variants on random bits, every float instruction. */
static void variants_agree(void **state)
{
   static const char *const programs[] = {
      "ffma d=r5 a=r1 b=r2 c=r3",
      "ffma d=r5 a=r1.neg b=r2.abs c=r3 sat",
      "ffma d=r5l a=r1l b=r2 c=r3h",
      "fadd d=r5 a=r1 b=r2",
      "fmul d=r5 a=r1 b=r2",
      "hfma d=r5l a=r1l b=r2h c=r3l",
      "hadd d=r5l a=r1l b=r2l",
      "hmul d=r5l a=r1l b=r2l",
      "rcp d=r5 a=r1",
      "rsqrt d=r5 a=r1",
      "exp2 d=r5 a=r1",
      "log2 d=r5 a=r1",
      "floor d=r5 a=r1",
      "rint d=r5 a=r1",
      "f_to_s32 d=r5 a=r1 round=rtz",
      "f_to_u32 d=r5 a=r1 round=rte",
      "s32_to_f d=r5 a=r1 round=rte",
      "u32_to_f d=r5l a=r1 round=rte",
      "fcsel d=r5 a=r1 b=r2 x=r3 y=r2 cond=fltn",
      "imadd d=dr5 a=r1.sx b=r2 c=r3",
      "extr d=r5 a=r1 b=r2 c=r3 bitmask=9",
      "asr d=r5 a=r1l b=r2 c=0 bitmask=0",
   };
   struct agx_test_rng rng = {20240817};
   for (size_t i = 0; i < AGX_COUNT(programs); i++) {
      for (unsigned round = 0; round < 20; round++) {
         struct sim_group *best = sim_group_new(programs[i]), *plain = sim_group_new(programs[i]);
         plain->set = &agxs_exec_set_plain;
         for (unsigned reg = 0; reg < 8; reg++) {
            for (unsigned lane = 0; lane < 32; lane++) {
               uint32_t bits = (uint32_t)agx_test_random(&rng);
               /* Half of them near 1, so that sums cancel and products stay in range. */
               if (lane & 1)
                  bits = (bits & 0x83ffffff) | 0x3c000000;
               best->reg[reg][lane] = plain->reg[reg][lane] = bits;
            }
         }
         assert_ok(sim_group_run(best));
         assert_ok(sim_group_run(plain));
         assert_memory_equal(best->reg, plain->reg, sizeof(best->reg));
         free(best);
         free(plain);
      }
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(computes_floats),
      cmocka_unit_test(computes_the_same_in_the_plain_variant),
      cmocka_unit_test(approximates_well),
      cmocka_unit_test(derives_in_quads),
      cmocka_unit_test(converts_all_halves),
      cmocka_unit_test(variants_agree),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
