/* SPDX-License-Identifier: MIT
 *
 * Reductions and scans, for subgroup.c. The machine combines over 4 or 32 lanes for most operations
 * on 16 and 32 bits, and leaves lanes that are away out. Booleans become ballots, sums of 64 bits
 * sums of parts that can't overflow; the rest is done in steps of shuffles: over fixed distances
 * where all lanes run, else from each lane to the next lower one that runs.
 */
#include "agx/compiler/lower/subgroup_impl.h"

/* The machine combines with it. */
static bool is_native(unsigned with)
{
   return with != AGXC_COMBINE_IMUL;
}

static bool is_signed(unsigned with)
{
   return with == AGX_ISA_SUBOP_SMIN || with == AGX_ISA_SUBOP_SMAX;
}

static bool is_float(unsigned with)
{
   return with == AGX_ISA_SUBOP_FADD || with == AGX_ISA_SUBOP_FMUL || with == AGX_ISA_SUBOP_FMIN ||
          with == AGX_ISA_SUBOP_FMAX;
}

static const struct {
   uint8_t with;
   uint16_t op;
} ops[] = {
   {AGX_ISA_SUBOP_AND, AGXC_OP_IAND},  {AGX_ISA_SUBOP_OR, AGXC_OP_IOR},
   {AGX_ISA_SUBOP_XOR, AGXC_OP_IXOR},  {AGX_ISA_SUBOP_IADD, AGXC_OP_IADD},
   {AGX_ISA_SUBOP_SMIN, AGXC_OP_IMIN}, {AGX_ISA_SUBOP_SMAX, AGXC_OP_IMAX},
   {AGX_ISA_SUBOP_UMIN, AGXC_OP_UMIN}, {AGX_ISA_SUBOP_UMAX, AGXC_OP_UMAX},
   {AGX_ISA_SUBOP_FADD, AGXC_OP_FADD}, {AGX_ISA_SUBOP_FMUL, AGXC_OP_FMUL},
   {AGX_ISA_SUBOP_FMIN, AGXC_OP_FMIN}, {AGX_ISA_SUBOP_FMAX, AGXC_OP_FMAX},
   {AGXC_COMBINE_IMUL, AGXC_OP_IMUL},
};

static struct agxc_ref combine(struct agxc_subgroup *l, unsigned with, struct agxc_ref a,
                               struct agxc_ref b)
{
   unsigned i = 0;
   while (i + 1 < AGX_COUNT(ops) && ops[i].with != with)
      i++;
   return agxc_build2(&l->b, (enum agxc_op)ops[i].op, a.bits, a, b);
}

/* What changes nothing. */
static struct agxc_ref identity(unsigned with, unsigned bits)
{
   uint64_t top = 1ull << (bits - 1), infinity = bits == 16   ? 0x7c00
                                                 : bits == 32 ? 0x7f800000
                                                              : 0x7ffull << 52;
   switch (with) {
   case AGX_ISA_SUBOP_AND:
   case AGX_ISA_SUBOP_UMIN:
      return agxc_imm(~0ull, bits);
   case AGX_ISA_SUBOP_SMIN:
      return agxc_imm(top - 1, bits);
   case AGX_ISA_SUBOP_SMAX:
   case AGX_ISA_SUBOP_FADD: /* -0.0 */
      return agxc_imm(top, bits);
   case AGX_ISA_SUBOP_FMUL:
      return agxc_imm(bits == 16 ? 0x3c00 : bits == 32 ? 0x3f800000 : 0x3ffull << 52, bits);
   case AGX_ISA_SUBOP_FMIN:
      return agxc_imm(infinity, bits);
   case AGX_ISA_SUBOP_FMAX:
      return agxc_imm(top | infinity, bits);
   case AGXC_COMBINE_IMUL:
      return agxc_imm(1, bits);
   default:
      return agxc_imm(0, bits);
   }
}

static struct agxc_ref lane_number(struct agxc_subgroup *l)
{
   return agxc_build_sysval(&l->b, AGXC_SYSVAL_SUBGROUP_LANE);
}

/* ---- masks of lanes ---------------------------------------------------- */

/* The lanes below the own one, and the own one too when inclusive. */
static struct agxc_ref lanes_below(struct agxc_subgroup *l, bool inclusive)
{
   struct agxc_ref bit = agxc_build_ishl(&l->b, agxc_u32(inclusive ? 2 : 1), lane_number(l));
   return agxc_build_isub(&l->b, bit, agxc_u32(1));
}

/* Of these lanes, those of the own cluster. */
static struct agxc_ref in_cluster(struct agxc_subgroup *l, struct agxc_ref lanes, uint32_t cluster)
{
   if (cluster == AGX_SIMD_LANES)
      return lanes;
   struct agxc_ref first = agxc_build_iand(&l->b, lane_number(l), agxc_u32(32 - cluster));
   struct agxc_ref mask = agxc_build_ishl(&l->b, agxc_u32((1u << cluster) - 1), first);
   return agxc_build_iand(&l->b, lanes, mask);
}

/* ---- booleans ---------------------------------------------------------- */

/* lanes: whose votes count; AGXC_NONE: all. */
static struct agxc_ref combine_votes(struct agxc_subgroup *l, struct agxc_ref value, unsigned with,
                                     uint32_t cluster, struct agxc_ref lanes)
{
   bool is_and = with == AGX_ISA_SUBOP_AND;
   struct agxc_ref votes = agxc_build_ballot(&l->b, is_and ? agxc_build_inot(&l->b, value) : value);
   votes = in_cluster(l, votes, cluster);
   if (lanes.kind != AGXC_NONE)
      votes = agxc_build_iand(&l->b, votes, lanes);
   if (with == AGX_ISA_SUBOP_XOR)
      votes = agxc_build_iand(&l->b, agxc_build_bitcount(&l->b, 32, votes), agxc_u32(1));
   return agxc_build2(&l->b, is_and ? AGXC_OP_IEQ : AGXC_OP_INE, 1, votes, agxc_u32(0));
}

/* ---- steps of shuffles ------------------------------------------------- */

/* All lanes run: over fixed distances. */
static struct agxc_ref reduce_full(struct agxc_subgroup *l, struct agxc_ref x, unsigned with,
                                   uint32_t from, uint32_t cluster)
{
   for (uint32_t step = from; step < cluster; step *= 2)
      x = combine(l, with, x, agxc_sg_shuffle(l, x, agxc_u32(step), AGXC_SHUFFLE_XOR));
   return x;
}

static struct agxc_ref scan_full(struct agxc_subgroup *l, struct agxc_ref x, unsigned with,
                                 bool inclusive)
{
   struct agxc_ref lane = lane_number(l);
   for (uint32_t step = 1; step < AGX_SIMD_LANES; step *= 2) {
      struct agxc_ref below = agxc_sg_shuffle(l, x, agxc_u32(step), AGXC_SHUFFLE_UP);
      struct agxc_ref exists = agxc_build_uge(&l->b, lane, agxc_u32(step));
      x = agxc_build_select(&l->b, exists, combine(l, with, below, x), x);
   }
   if (inclusive)
      return x;
   struct agxc_ref below = agxc_sg_shuffle(l, x, agxc_u32(1), AGXC_SHUFFLE_UP);
   struct agxc_ref is_first = agxc_build_ieq(&l->b, lane, agxc_u32(0));
   return agxc_build_select(&l->b, is_first, identity(with, x.bits), below);
}

/* The chain of lanes that run: each knows the next lower one of its cluster, or -1. */
struct chain {
   struct agxc_ref active, below;
};

static struct chain chain_of(struct agxc_subgroup *l, uint32_t cluster)
{
   struct chain c;
   c.active = in_cluster(l, agxc_build_ballot(&l->b, agxc_imm(1, 1)), cluster);
   struct agxc_ref lower = agxc_build_iand(&l->b, c.active, lanes_below(l, false));
   c.below = agxc_build_find_umsb(&l->b, 32, lower);
   return c;
}

/* Inclusive scan: with every step a lane looks twice as many lanes further down. */
static struct agxc_ref scan_chain(struct agxc_subgroup *l, struct agxc_ref x, unsigned with,
                                  uint32_t cluster, struct agxc_ref below)
{
   for (uint32_t step = 1; step < cluster; step *= 2) {
      struct agxc_ref exists = agxc_build_sge(&l->b, below, agxc_u32(0));
      struct agxc_ref other = agxc_sg_shuffle(l, x, below, AGXC_SHUFFLE_INDEX);
      x = agxc_build_select(&l->b, exists, combine(l, with, other, x), x);
      if (step * 2 < cluster)
         below = agxc_build_select(&l->b, exists,
                                   agxc_sg_shuffle(l, below, below, AGXC_SHUFFLE_INDEX), below);
   }
   return x;
}

static struct agxc_ref reduce_chain(struct agxc_subgroup *l, struct agxc_ref x, unsigned with,
                                    uint32_t cluster)
{
   struct chain c = chain_of(l, cluster);
   x = scan_chain(l, x, with, cluster, c.below);
   struct agxc_ref last = agxc_build_find_umsb(&l->b, 32, c.active);
   return agxc_sg_shuffle(l, x, last, AGXC_SHUFFLE_INDEX);
}

static struct agxc_ref scan_steps(struct agxc_subgroup *l, struct agxc_ref x, unsigned with,
                                  bool inclusive)
{
   if (l->full)
      return scan_full(l, x, with, inclusive);
   struct chain c = chain_of(l, AGX_SIMD_LANES);
   x = scan_chain(l, x, with, AGX_SIMD_LANES, c.below);
   if (inclusive)
      return x;
   struct agxc_ref exists = agxc_build_sge(&l->b, c.below, agxc_u32(0));
   return agxc_build_select(&l->b, exists, agxc_sg_shuffle(l, x, c.below, AGXC_SHUFFLE_INDEX),
                            identity(with, x.bits));
}

/* ---- clusters ---------------------------------------------------------- */

/* Pairs: the other lane counts when it runs. */
static struct agxc_ref reduce_pair(struct agxc_subgroup *l, struct agxc_ref x, unsigned with)
{
   struct agxc_ref one = agxc_u32(1);
   struct agxc_ref both = combine(l, with, x, agxc_sg_shuffle(l, x, one, AGXC_SHUFFLE_XOR));
   if (l->full)
      return both;
   struct agxc_ref active = agxc_build_ballot(&l->b, agxc_imm(1, 1));
   struct agxc_ref other = agxc_build_ixor(&l->b, lane_number(l), one);
   struct agxc_ref bit = agxc_build_iand(&l->b, agxc_build_ushr(&l->b, active, other), one);
   return agxc_build_select(&l->b, agxc_build_ine(&l->b, bit, agxc_u32(0)), both, x);
}

/* Each cluster with the reduction over all lanes, which sees nothing of the others. */
static struct agxc_ref reduce_masked(struct agxc_subgroup *l, struct agxc_ref x, unsigned with,
                                     uint32_t cluster)
{
   struct agxc_ref first = agxc_build_iand(&l->b, lane_number(l), agxc_u32(32 - cluster));
   struct agxc_ref result = x;
   for (uint32_t i = 0; i < AGX_SIMD_LANES; i += cluster) {
      struct agxc_ref inside = agxc_build_ieq(&l->b, first, agxc_u32(i));
      struct agxc_ref part = agxc_build_select(&l->b, inside, x, identity(with, x.bits));
      part = agxc_build_reduce(&l->b, part, with, AGX_SIMD_LANES);
      result = i ? agxc_build_select(&l->b, inside, part, result) : part;
   }
   return result;
}

/* 16 or 32 bits. */
static struct agxc_ref reduce_word(struct agxc_subgroup *l, struct agxc_ref x, unsigned with,
                                   uint32_t cluster)
{
   if (cluster == 2)
      return reduce_pair(l, x, with);
   if (!is_native(with))
      return l->full ? reduce_full(l, x, with, 1, cluster) : reduce_chain(l, x, with, cluster);
   if (cluster == 4 || cluster == AGX_SIMD_LANES)
      return agxc_build_reduce(&l->b, x, with, cluster);
   if (l->full)
      return reduce_full(l, agxc_build_reduce(&l->b, x, with, 4), with, 4, cluster);
   return reduce_masked(l, x, with, cluster);
}

/* ---- 64 bits ----------------------------------------------------------- */

/* A reduction (cluster > 0) or scan of one word. */
static struct agxc_ref gather(struct agxc_subgroup *l, struct agxc_ref x, unsigned with,
                              uint32_t cluster, bool inclusive)
{
   return cluster ? agxc_sg_reduce(l, x, with, cluster) : agxc_sg_scan(l, x, with, inclusive);
}

/* The low word in two halves, whose 32 summands don't overflow. */
static struct agxc_ref sum_long(struct agxc_subgroup *l, struct agxc_ref x, uint32_t cluster,
                                bool inclusive)
{
   const unsigned add = AGX_ISA_SUBOP_IADD;
   struct agxc_ref word[2], half = agxc_u32(16);
   agxc_sg_unpack(l, x, word);
   struct agxc_ref low = agxc_build_iand(&l->b, word[0], agxc_u32(0xffff));
   struct agxc_ref middle = agxc_build_ushr(&l->b, word[0], half);
   low = gather(l, low, add, cluster, inclusive);
   middle = gather(l, middle, add, cluster, inclusive);
   struct agxc_ref high = gather(l, word[1], add, cluster, inclusive);
   struct agxc_ref sum = agxc_build_iadd(&l->b, low, agxc_build_ishl(&l->b, middle, half));
   struct agxc_ref carry = agxc_build_zext(&l->b, 32, agxc_build_ult(&l->b, sum, low));
   high = agxc_build_iadd(&l->b, high, agxc_build_ushr(&l->b, middle, half));
   return agxc_build_pack64(&l->b, sum, agxc_build_iadd(&l->b, high, carry));
}

/* The extreme high word, then the extreme low word among those that have it. */
static struct agxc_ref extreme_long(struct agxc_subgroup *l, struct agxc_ref x, unsigned with,
                                    uint32_t cluster)
{
   bool is_min = with == AGX_ISA_SUBOP_SMIN || with == AGX_ISA_SUBOP_UMIN;
   unsigned low_with = is_min ? AGX_ISA_SUBOP_UMIN : AGX_ISA_SUBOP_UMAX;
   struct agxc_ref word[2];
   agxc_sg_unpack(l, x, word);
   struct agxc_ref high = agxc_sg_reduce(l, word[1], with, cluster);
   struct agxc_ref has_it = agxc_build_ieq(&l->b, word[1], high);
   struct agxc_ref low = agxc_build_select(&l->b, has_it, word[0], identity(low_with, 32));
   return agxc_build_pack64(&l->b, agxc_sg_reduce(l, low, low_with, cluster), high);
}

static bool is_bitwise(unsigned with)
{
   return with == AGX_ISA_SUBOP_AND || with == AGX_ISA_SUBOP_OR || with == AGX_ISA_SUBOP_XOR;
}

static struct agxc_ref bitwise_long(struct agxc_subgroup *l, struct agxc_ref x, unsigned with,
                                    uint32_t cluster, bool inclusive)
{
   struct agxc_ref word[2];
   agxc_sg_unpack(l, x, word);
   for (unsigned i = 0; i < 2; i++)
      word[i] = gather(l, word[i], with, cluster, inclusive);
   return agxc_build_pack64(&l->b, word[0], word[1]);
}

static struct agxc_ref reduce_long(struct agxc_subgroup *l, struct agxc_ref x, unsigned with,
                                   uint32_t cluster)
{
   if (is_bitwise(with))
      return bitwise_long(l, x, with, cluster, false);
   if (with == AGX_ISA_SUBOP_IADD)
      return sum_long(l, x, cluster, false);
   if (is_native(with) && !is_float(with))
      return extreme_long(l, x, with, cluster);
   return l->full ? reduce_full(l, x, with, 1, cluster) : reduce_chain(l, x, with, cluster);
}

static struct agxc_ref scan_long(struct agxc_subgroup *l, struct agxc_ref x, unsigned with,
                                 bool inclusive)
{
   if (is_bitwise(with))
      return bitwise_long(l, x, with, 0, inclusive);
   if (with == AGX_ISA_SUBOP_IADD)
      return sum_long(l, x, 0, inclusive);
   return scan_steps(l, x, with, inclusive);
}

/* ---- all widths -------------------------------------------------------- */

/* Integers that are done in 32 bits: bytes, and where the machine would have to know a sign. */
static bool needs_widening(struct agxc_ref x, unsigned with)
{
   return x.bits < 16 || (x.bits == 16 && (is_signed(with) || with == AGXC_COMBINE_IMUL));
}

static struct agxc_ref widen(struct agxc_subgroup *l, struct agxc_ref x, unsigned with)
{
   return agxc_build1(&l->b, is_signed(with) ? AGXC_OP_SEXT : AGXC_OP_ZEXT, 32, x);
}

struct agxc_ref agxc_sg_reduce(struct agxc_subgroup *l, struct agxc_ref value, unsigned with,
                               uint32_t cluster)
{
   if (cluster == 1)
      return value;
   if (value.bits == 1)
      return combine_votes(l, value, with, cluster, agxc_none());
   if (value.bits == 64)
      return reduce_long(l, value, with, cluster);
   if (!needs_widening(value, with))
      return reduce_word(l, value, with, cluster);
   struct agxc_ref wide = reduce_word(l, widen(l, value, with), with, cluster);
   return agxc_build_trunc(&l->b, value.bits, wide);
}

static struct agxc_ref scan_word(struct agxc_subgroup *l, struct agxc_ref x, unsigned with,
                                 bool inclusive)
{
   if (!is_native(with))
      return scan_steps(l, x, with, inclusive);
   struct agxc_ref before = agxc_build_scan(&l->b, x, with, false);
   return inclusive ? combine(l, with, before, x) : before;
}

struct agxc_ref agxc_sg_scan(struct agxc_subgroup *l, struct agxc_ref value, unsigned with,
                             bool inclusive)
{
   if (value.bits == 1)
      return combine_votes(l, value, with, AGX_SIMD_LANES, lanes_below(l, inclusive));
   if (value.bits == 64)
      return scan_long(l, value, with, inclusive);
   if (!needs_widening(value, with))
      return scan_word(l, value, with, inclusive);
   struct agxc_ref wide = scan_word(l, widen(l, value, with), with, inclusive);
   /* What 32 bits call the lowest or highest number is not that of fewer bits. */
   if (is_signed(with) && !inclusive) {
      uint32_t top = 1u << (value.bits - 1);
      struct agxc_ref limit = agxc_u32(with == AGX_ISA_SUBOP_SMIN ? top - 1 : 0u - top);
      wide = combine(l, with, wide, limit);
   }
   return agxc_build_trunc(&l->b, value.bits, wide);
}

bool agxc_sg_is_native(const struct agxc_instr *instr)
{
   unsigned with = agxc_imm_with(instr);
   struct agxc_ref value = *agxc_src_value(instr);
   if (value.bits > 32 || needs_widening(value, with) || !is_native(with))
      return false;
   if (instr->op == AGXC_OP_SCAN)
      return !agxc_imm_inclusive(instr);
   return agxc_imm_lanes(instr) == 4 || agxc_imm_lanes(instr) == AGX_SIMD_LANES;
}
