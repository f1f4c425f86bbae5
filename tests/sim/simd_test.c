/* SPDX-License-Identifier: MIT
 *
 * Ballots, shuffles, reductions, scans and the matrix instruction; expectations
 * are written from the formulas of docs/hw/semantics.md 11.
 */
#include "sim_support.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* r1 = lane, r2 = lane * lane, r3 = 1000 + lane, r5 = 0xeeeeeeee. */
static struct sim_group *begin(const char *program, uint32_t exists)
{
   struct sim_group *group = sim_group_new(program);
   group->exists = exists;
   for (unsigned lane = 0; lane < 32; lane++) {
      group->reg[1][lane] = lane;
      group->reg[2][lane] = lane * lane;
      group->reg[3][lane] = 1000 + lane;
      group->reg[5][lane] = 0xeeeeeeee;
   }
   return group;
}

typedef uint32_t expect(unsigned lane);

static void check(const char *program, uint32_t exists, expect *expected)
{
   struct sim_group *group = begin(program, exists);
   assert_ok(sim_group_run(group));
   for (unsigned lane = 0; lane < 32; lane++) {
      uint32_t wanted = exists >> lane & 1 ? expected(lane) : 0xeeeeeeee;
      if (group->reg[5][lane] != wanted)
         fail_msg("%s: lane %u: 0x%x, not 0x%x", program, lane, group->reg[5][lane], wanted);
   }
   free(group);
}

#define ALL  0xffffffffu
#define SOME 0x0ff0f0f5u

static uint32_t votes_below_ten(unsigned lane)
{
   return 0x3ff;
}
static uint32_t some_votes(unsigned lane)
{
   return 0x3ff & SOME;
}
static uint32_t quad_votes(unsigned lane)
{
   return 0xaaaaaaaau >> (lane & ~3u) & 15;
}
static uint32_t float_votes(unsigned lane)
{
   return ~1u; /* half denormals above zero: all but lane 0 */
}
static uint32_t truncated(unsigned lane)
{
   return 0xeeee03ff;
}

static void ballots(void **state)
{
   check("icmp_ballot d=r5 a=r1 b=10 window=simd cond=ult", ALL, votes_below_ten);
   check("icmp_ballot d=r5 a=r1 b=10 window=simd cond=ult", SOME, some_votes);
   check("icmp_ballot d=r5l a=r1 b=10 window=simd cond=ult", ALL, truncated);
   check("and d=r6 a=r1 b=1\nicmp_ballot d=r5 a=r6 b=0 window=quad cond=ine", ALL, quad_votes);
   check("fcmp_ballot d=r5 a=r1l b=0.0 window=simd cond=fgt", ALL, float_votes);
}

static uint32_t from_13(unsigned lane)
{
   return 13 * 13;
}
static uint32_t own(unsigned lane)
{
   return lane * lane;
}
static uint32_t xor_6(unsigned lane)
{
   return (lane ^ 6) * (lane ^ 6);
}
static uint32_t down_5(unsigned lane)
{
   return lane + 5 < 32 ? (lane + 5) * (lane + 5) : lane * lane;
}
static uint32_t up_5(unsigned lane)
{
   return lane >= 5 ? (lane - 5) * (lane - 5) : lane * lane;
}
static uint32_t rotate_5(unsigned lane)
{
   return ((lane - 5) & 31) * ((lane - 5) & 31);
}
static uint32_t quad_2(unsigned lane)
{
   return ((lane & ~3u) + 2) * ((lane & ~3u) + 2);
}
static uint32_t quad_xor_3(unsigned lane)
{
   return (lane ^ 3) * (lane ^ 3);
}
static uint32_t reversed_quads(unsigned lane)
{
   return (28 - (lane & ~3u)) * (28 - (lane & ~3u));
}

/* B differs inside the quad: k is the OR over the source quad. Lane l asks for 31 - l;
 * each quad's low bits OR to 3. */
static uint32_t combined(unsigned lane)
{
   uint32_t from = ((31 - lane) & ~3u) + 3;
   return from * from;
}

static void shuffles(void **state)
{
   check("shuffle d=r5 a=r2 b=13 window=simd op=index", ALL, from_13);
   check("shuffle d=r5 a=r2 b=40 window=simd op=index", ALL, own);
   check("shuffle d=r5 a=r2 b=6 window=simd op=xor", ALL, xor_6);
   check("shuffle d=r5 a=r2 b=6 window=simd op=xor", SOME, xor_6); /* inactive ones are read */
   check("shuffle d=r5 a=r2 b=5 window=simd op=down", ALL, down_5);
   check("shuffle d=r5 a=r2 b=5 window=simd op=up", ALL, up_5);
   check("shuffle d=r5 a=r2 b=5 window=simd rotate op=up", ALL, rotate_5);
   check("shuffle d=r5 a=r2 b=2 window=quad op=index", ALL, quad_2);
   check("shuffle d=r5 a=r2 b=3 window=quad op=xor", ALL, quad_xor_3);
   check("and d=r6 a=r1 b=28\nisub d=r6 a=28 b=r6\nshuffle d=r5 a=r2 b=r6 window=simd op=index",
         ALL, reversed_quads);
   check("isub d=r6 a=31 b=r1\nshuffle d=r5 a=r2 b=r6 window=simd op=index", ALL, combined);
   struct sim_group *group = begin("shuffle d=r5 a=r2 b=3 window=simd rotate op=down", ALL);
   assert_fails(sim_group_run(group), AGX_UNIMPLEMENTED, "rotation is only known for op=up");
   free(group);
}

/* Lanes without a thread have no say in a quad's low bits, whatever their registers hold. */
static void shuffles_of_partial_groups(void **state)
{
   static const uint32_t exists[] = {1, 3, 0x1fffff, 0x7fffffff, SOME};
   for (unsigned n = 0; n < AGX_COUNT(exists); n++) {
      struct sim_group *group = begin("shuffle d=r5 a=r2 b=r7 window=simd op=index", exists[n]);
      group->options.check = true;
      for (unsigned lane = 0; lane < 32; lane++) {
         bool is_there = exists[n] >> lane & 1;
         group->reg[7][lane] = is_there ? lane & ~3u : ~0u;
         group->undefined[7][lane] = is_there ? 0 : ~0u;
      }
      assert_ok(sim_group_run(group));
      for (unsigned lane = 0; lane < 32; lane++) {
         uint32_t from = lane & ~3u;
         if ((exists[n] >> lane & 1) && (exists[n] >> from & 1))
            assert_int_equal(group->reg[5][lane] | (uint64_t)group->undefined[5][lane] << 32,
                             from * from);
      }
      free(group);
   }
}

static uint32_t sum_of_some(unsigned lane)
{
   uint32_t sum = 0;
   for (unsigned i = 0; i < 32; i++)
      sum += SOME >> i & 1 ? i * i : 0;
   return sum;
}
static uint32_t prefix_of_some(unsigned lane)
{
   uint32_t sum = 0;
   for (unsigned i = 0; i < lane; i++)
      sum += SOME >> i & 1 ? i * i : 0;
   return sum;
}
static uint32_t quad_sum(unsigned lane)
{
   return 4 * (lane & ~3u) + 6;
}
static uint32_t least(unsigned lane)
{
   return 1000;
}
static uint32_t largest(unsigned lane)
{
   return 0xffff + 1000 + 31;
}
static uint32_t all_ones_first(unsigned lane)
{
   return lane ? 1000 : 0xffffffff;
}
static uint32_t signed_least(unsigned lane)
{
   return (uint32_t)-16;
}
static uint32_t signed_least_half(unsigned lane)
{
   return 0xeeeefff0;
}
static uint32_t anded(unsigned lane)
{
   return 64;
}
static uint32_t ored(unsigned lane)
{
   return 2047;
}
static uint32_t xored(unsigned lane)
{
   uint32_t all = 0;
   for (unsigned i = 0; i < 32; i++)
      all ^= 1000 + i;
   return all;
}

static void reduces_integers(void **state)
{
   check("simd d=r5 a=r2 op=iadd", SOME, sum_of_some);
   check("simd d=r5 a=r2 prefix op=iadd", SOME, prefix_of_some);
   check("quad d=r5 a=r1 op=iadd", ALL, quad_sum);
   check("simd d=r5 a=r3 op=umin", ALL, least);
   check("simd d=r5 a=r3 prefix op=umin", ALL, all_ones_first);
   check("ldimm32 d=r6 imm=65535\niadd d=r6 a=r6 b=r3\nsimd d=r5 a=r6 op=umax", ALL, largest);
   check("isub d=r6 a=r1 b=16\nsimd d=r5 a=r6 op=smin", ALL, signed_least);
   check("isub d=r6 a=r1 b=16\nsimd d=r5l a=r6l op=smin", ALL, signed_least_half);
   check("or d=r6 a=r3 b=64\nsimd d=r5 a=r6 op=and", ALL, anded);
   check("simd d=r5 a=r3 op=or", ALL, ored);
   check("simd d=r5 a=r3 op=xor", ALL, xored);
   struct sim_group *group = begin("simd d=r5 a=r2 op=9", ALL);
   assert_fails(sim_group_run(group), AGX_UNIMPLEMENTED, "this reduction is unknown");
   free(group);
}

static uint32_t float_496(unsigned lane)
{
   return 0x43f80000;
}
static uint32_t half_496(unsigned lane)
{
   return 0xeeee5fc0;
}
static uint32_t float_31(unsigned lane)
{
   return 0x41f80000;
}
static uint32_t float_0(unsigned lane)
{
   return 0;
}
static uint32_t minus_zero_first(unsigned lane)
{
   return lane ? 0 : 0x80000000;
}

static void reduces_floats(void **state)
{
   check("u32_to_f d=r6 a=r1 round=rte\nsimd d=r5 a=r6 op=fadd", ALL, float_496);
   check("u32_to_f d=r6l a=r1 round=rte\nsimd d=r5l a=r6l op=fadd", ALL, half_496);
   check("u32_to_f d=r6 a=r1 round=rte\nsimd d=r5 a=r6 op=fmax", ALL, float_31);
   check("u32_to_f d=r6 a=r1 round=rte\nsimd d=r5 a=r6 op=fmin", ALL, float_0);
   check("u32_to_f d=r6 a=r1 round=rte\nsimd d=r5 a=r6 op=fmul", ALL, float_0);
   check("mov d=r6 a=0\nsimd d=r5 a=r6 prefix op=fadd", ALL, minus_zero_first);
}

/* The tile's element (row, column): lane and which of its two registers. */
static void place(unsigned row, unsigned column, unsigned *lane, unsigned *element)
{
   for (unsigned l = 0; l < 32; l++) {
      unsigned q = l >> 3;
      unsigned r = (q >> 1) * 4 + (l >> 1 & 3), c = (q & 1) * 4 + (l & 1) * 2;
      if (r == row && c == (column & ~1u)) {
         *lane = l;
         *element = column & 1;
      }
   }
}

static void multiplies_matrices(void **state)
{
   struct sim_group *group =
      sim_group_new("simd_matrix_fmadd32 d=r8..r9 a=r2..r3 b=r4..r5 c=r6..r7");
   float a[8][8], b[8][8];
   for (unsigned r = 0; r < 8; r++) {
      for (unsigned c = 0; c < 8; c++) {
         unsigned lane = 0, element = 0;
         a[r][c] = (float)(r + 2 * c), b[r][c] = (float)(3 * r) - (float)c;
         place(r, c, &lane, &element);
         memcpy(&group->reg[2 + element][lane], &a[r][c], 4);
         memcpy(&group->reg[4 + element][lane], &b[r][c], 4);
         group->reg[6 + element][lane] = 0x3f800000;
      }
   }
   assert_ok(sim_group_run(group));
   for (unsigned r = 0; r < 8; r++) {
      for (unsigned c = 0; c < 8; c++) {
         unsigned lane = 0, element = 0;
         float sum = 1.0f, result;
         for (unsigned k = 0; k < 8; k++)
            sum += a[r][k] * b[k][c];
         place(r, c, &lane, &element);
         memcpy(&result, &group->reg[8 + element][lane], 4);
         assert_true(result == sum);
      }
   }
   /* Sums on the way may be denormal: eight times half the smallest normal number. */
   for (unsigned lane = 0; lane < 32; lane++) {
      for (unsigned e = 0; e < 2; e++) {
         group->reg[2 + e][lane] = 0x00800000;
         group->reg[4 + e][lane] = 0x3f000000;
         group->reg[6 + e][lane] = 0;
      }
   }
   assert_ok(sim_group_run(group));
   for (unsigned lane = 0; lane < 32; lane++)
      assert_int_equal(group->reg[8 + (lane & 1)][lane], 0x01800000);
   free(group);
   group = sim_group_new("simd_matrix_fmadd32 d=r3..r4 a=r2..r3 b=r4..r5 c=r6..r7");
   assert_fails(sim_group_run(group), AGX_INVALID_ARGUMENT, "the destination overlaps a or b");
   free(group);
   group = sim_group_new("simd_matrix_fmadd16 d=r8l..r8h a=r2l..r2h b=r4l..r4h c=r6l..r6h");
   group->exists = 0x7fffffff;
   assert_fails(sim_group_run(group), AGX_UNIMPLEMENTED, "not all lanes are active");
   free(group);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(ballots),
      cmocka_unit_test(shuffles),
      cmocka_unit_test(shuffles_of_partial_groups),
      cmocka_unit_test(reduces_integers),
      cmocka_unit_test(reduces_floats),
      cmocka_unit_test(multiplies_matrices),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
