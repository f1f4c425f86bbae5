/* SPDX-License-Identifier: MIT
 *
 * 32-bit integer division becomes what the machine has. By a constant: shifts, masks, or one
 * multiply-high by its reciprocal. By a divisor that stays the same while the quotient is computed
 * many times (a uniform, or from outside the loop): a multiply-high by a reciprocal that the
 * preamble or the loop's front computes, and one correction. By anything else: two steps of float
 * division and one correction. Dividends that are known to be short need one product with a
 * constant's reciprocal, or one step.
 *
 * Before: UDIV to SMOD on 32 bits. After: none. The pass stands behind lower_int64, which leaves
 * 32-bit divisions of words, and in front of opt_cse, which finds what the quotient and the
 * remainder of the same operands share, and of the passes that move a reciprocal out of loops.
 */
#include "agx/compiler/analysis/divergence.h"
#include "agx/compiler/lower/lower.h"
#include "agx/compiler/analysis/range.h"

struct lowering {
   struct agxc_shader *shader;
   struct agxc_divergence *divergence; /* NULL when all divisors are constants */
   uint32_t known;                     /* values that it knows */
   struct agxc_ranges *ranges;
   struct agxc_builder b;
};

struct quotient {
   struct agxc_ref q, m; /* n / d and n mod d */
};

/* x op y ? yes : no. */
static struct agxc_ref choose(struct lowering *l, enum agxc_op op, struct agxc_ref x,
                              struct agxc_ref y, struct agxc_ref yes, struct agxc_ref no)
{
   return agxc_build_select(&l->b, agxc_build2(&l->b, op, 1, x, y), yes, no);
}

/* x - y z, in the form that becomes one imadd. */
static struct agxc_ref minus_product(struct lowering *l, struct agxc_ref x, struct agxc_ref y,
                                     struct agxc_ref minus_z)
{
   return agxc_build_iadd(&l->b, x, agxc_build_imul(&l->b, y, minus_z));
}

/* ---- constants --------------------------------------------------------- */

/* The high word of a * b + c. */
static struct agxc_ref multiply_high(struct lowering *l, struct agxc_ref a, bool is_signed,
                                     uint32_t b, uint32_t c)
{
   return agxc_build_imadh(&l->b, a, agxc_u32(b), agxc_u32(c), is_signed);
}

static struct agxc_ref shift_right(struct lowering *l, enum agxc_op op, struct agxc_ref x,
                                   unsigned amount)
{
   return amount ? agxc_build2(&l->b, op, 32, x, agxc_u32(amount)) : x;
}

static bool is_power(uint32_t d)
{
   return d && !(d & (d - 1));
}

/* A dividend of few bits: n * M >> s, where the product has no more than 32. */
static bool short_quotient(struct lowering *l, struct agxc_ref n, uint32_t d, uint64_t max,
                           struct agxc_ref *out)
{
   for (unsigned s = 1; s < 32; s++) {
      uint64_t power = 1ull << s, m = power / d + 1;
      if (max * m > UINT32_MAX)
         return false;
      if ((m * d - power) * max >= power)
         continue;
      *out = agxc_build_ushr(&l->b, agxc_build_imul(&l->b, n, agxc_u32((uint32_t)m)), agxc_u32(s));
      return true;
   }
   return false;
}

/* n * M >> 32 + s for the least s whose M, just above 2^(32+s) / d, is exact for every n. Where
 * none with 32 bits is, M just below and (n + 1) * M >> 32 + s are: the two errors add up to d,
 * and half of that is small enough. */
static struct agxc_ref unsigned_quotient(struct lowering *l, struct agxc_ref n, uint32_t d)
{
   unsigned log2 = 31u - (unsigned)__builtin_clz(d);
   uint64_t max = agxc_range_max(l->ranges, &n);
   struct agxc_ref q;
   if (is_power(d))
      return shift_right(l, AGXC_OP_USHR, n, log2);
   if (max < d)
      return agxc_u32(0);
   if (short_quotient(l, n, d, max, &q))
      return q;
   for (unsigned s = 0; s <= log2; s++) {
      uint64_t power = 1ull << (32 + s), m = power / d + 1;
      if (m <= UINT32_MAX && m * d - power <= 1ull << s)
         return shift_right(l, AGXC_OP_USHR, multiply_high(l, n, false, (uint32_t)m, 0), s);
   }
   uint32_t m = (uint32_t)((1ull << (32 + log2)) / d);
   return shift_right(l, AGXC_OP_USHR, multiply_high(l, n, false, m, m), log2);
}

/* Rounds toward zero: the product rounds down, so negative dividends get one more. M has all
 * 32 bits and counts as positive, n is signed. */
static struct agxc_ref signed_quotient(struct lowering *l, struct agxc_ref n, int32_t divisor)
{
   uint32_t d = divisor < 0 ? 0u - (uint32_t)divisor : (uint32_t)divisor;
   struct agxc_ref q = n;
   if (is_power(d)) {
      unsigned log2 = (unsigned)__builtin_ctz(d);
      struct agxc_ref bias = choose(l, AGXC_OP_SLT, n, agxc_u32(0), agxc_u32(d - 1), agxc_u32(0));
      if (log2)
         q = agxc_build_ashr(&l->b, agxc_build_iadd(&l->b, n, bias), agxc_u32(log2));
   } else {
      unsigned s = 0;
      uint64_t m = 0;
      for (;; s++) {
         m = (1ull << (32 + s)) / d + 1;
         if (m <= UINT32_MAX && m * d - (1ull << (32 + s)) < 2ull << s)
            break;
      }
      q = shift_right(l, AGXC_OP_ASHR, multiply_high(l, n, true, (uint32_t)m, 0), s);
      q = agxc_build_iadd(&l->b, q,
                          choose(l, AGXC_OP_SLT, n, agxc_u32(0), agxc_u32(1), agxc_u32(0)));
   }
   return divisor < 0 ? agxc_build_ineg(&l->b, q) : q;
}

/* The remainder with the dividend's sign. */
static struct agxc_ref signed_remainder(struct lowering *l, struct agxc_ref n, uint32_t d)
{
   if (!is_power(d))
      return minus_product(l, n, signed_quotient(l, n, (int32_t)d), agxc_u32(0u - d));
   struct agxc_ref bias = choose(l, AGXC_OP_SLT, n, agxc_u32(0), agxc_u32(d - 1), agxc_u32(0));
   struct agxc_ref whole =
      agxc_build_iand(&l->b, agxc_build_iadd(&l->b, n, bias), agxc_u32(0u - d));
   return agxc_build_isub(&l->b, n, whole);
}

/* Not below 0 as a signed number: then the unsigned operations do, which are shorter. */
static bool is_positive(const struct lowering *l, const struct agxc_ref *ref)
{
   return agxc_range_max(l->ranges, ref) <= INT32_MAX;
}

static struct agxc_ref by_constant(struct lowering *l, enum agxc_op op, struct agxc_ref n,
                                   uint32_t d)
{
   int32_t divisor = (int32_t)d;
   if (op >= AGXC_OP_SDIV && divisor > 0 && is_positive(l, &n))
      op = op == AGXC_OP_SDIV ? AGXC_OP_UDIV : AGXC_OP_UMOD;
   if (op == AGXC_OP_UDIV)
      return unsigned_quotient(l, n, d);
   if (op == AGXC_OP_UMOD && is_power(d))
      return agxc_build_iand(&l->b, n, agxc_u32(d - 1));
   if (op == AGXC_OP_UMOD)
      return minus_product(l, n, unsigned_quotient(l, n, d), agxc_u32(0u - d));
   if (op == AGXC_OP_SDIV)
      return signed_quotient(l, n, divisor);
   if (op == AGXC_OP_SMOD && divisor > 0 && is_power(d))
      return agxc_build_iand(&l->b, n, agxc_u32(d - 1));
   struct agxc_ref m = signed_remainder(l, n, divisor < 0 ? 0u - d : d);
   if (op == AGXC_OP_SREM)
      return m;
   struct agxc_ref more = divisor < 0
                             ? choose(l, AGXC_OP_SLT, agxc_u32(0), m, agxc_u32(d), agxc_u32(0))
                             : choose(l, AGXC_OP_SLT, m, agxc_u32(0), agxc_u32(d), agxc_u32(0));
   return agxc_build_iadd(&l->b, m, more);
}

/* ---- anything else ------------------------------------------------------ */

/* Factors that keep a float estimate below the truth: converting the divisor and multiplying are
 * off by 2^-24 each, rcp by at most two ulp. */
#define ABOVE_ONE  0x3f800008u /* 1 + 2^-20 */
#define BELOW_ONE  0x3f7ffff0u /* 1 - 2^-20 */
#define BELOW_2_32 0x4f7ffff0u /* 2^32 - 2^12 */

/* What is missing after an estimate that may be one too small. */
static struct quotient correct(struct lowering *l, struct agxc_ref q, struct agxc_ref m,
                               struct agxc_ref d)
{
   return (struct quotient){
      .q = agxc_build_iadd(&l->b, q, choose(l, AGXC_OP_UGE, m, d, agxc_u32(1), agxc_u32(0))),
      /* Where m is below d already, m - d wraps to more than m. */
      .m = agxc_build_umin(&l->b, m, agxc_build_isub(&l->b, m, d)),
   };
}

/* Two digits of about 20 bits: the first leaves less than 2^13 divisors over, the second at most
 * one more than none. */
static struct quotient in_floats(struct lowering *l, struct agxc_ref n, struct agxc_ref d)
{
   struct agxc_ref r = agxc_build_frcp(&l->b, agxc_build_u2f(&l->b, 32, d)), minus_d, q, m, q2;
   r = agxc_build_fmul(&l->b, r, agxc_u32(BELOW_ONE));
   minus_d = agxc_build_ineg(&l->b, d);
   q = agxc_build_f2u(&l->b, 32, agxc_build_fmul(&l->b, agxc_build_u2f(&l->b, 32, n), r));
   m = minus_product(l, n, q, minus_d);
   q2 = agxc_build_f2u(&l->b, 32, agxc_build_fmul(&l->b, agxc_build_u2f(&l->b, 32, m), r));
   m = minus_product(l, m, q2, minus_d);
   return correct(l, agxc_build_iadd(&l->b, q, q2), m, d);
}

/* A dividend below this, times a reciprocal that is too large by up to 2^-19, is too large by less
 * than 1 / d, so that it does not reach the next whole number. */
#define SHORT_LIMIT (1u << 19)

static struct quotient in_one_float(struct lowering *l, struct agxc_ref n, struct agxc_ref d)
{
   struct agxc_ref r = agxc_build_frcp(&l->b, agxc_build_u2f(&l->b, 32, d));
   r = agxc_build_fmul(&l->b, r, agxc_u32(ABOVE_ONE));
   struct agxc_ref q =
      agxc_build_f2u(&l->b, 32, agxc_build_fmul(&l->b, agxc_build_u2f(&l->b, 32, n), r));
   return (struct quotient){q, minus_product(l, n, q, agxc_build_ineg(&l->b, d))};
}

/* (2^32 - 1) / d: a float estimate from below, one step of Newton's, which stays below, and one
 * where more than d is left over. For d above 2^32 - 2^12 it may be 0, which is near enough. */
static struct agxc_ref reciprocal(struct lowering *l, struct agxc_ref d, struct agxc_ref minus_d)
{
   struct agxc_ref r = agxc_build_frcp(&l->b, agxc_build_u2f(&l->b, 32, d));
   r = agxc_build_f2u(&l->b, 32, agxc_build_fmul(&l->b, r, agxc_u32(BELOW_2_32)));
   r = agxc_build_iadd(&l->b, r, agxc_build_umulh(&l->b, r, agxc_build_imul(&l->b, r, minus_d)));
   struct agxc_ref left = agxc_build_imul(&l->b, r, minus_d); /* 2^32 - r d */
   return agxc_build_iadd(&l->b, r, choose(l, AGXC_OP_ULT, d, left, agxc_u32(1), agxc_u32(0)));
}

static struct quotient by_reciprocal(struct lowering *l, struct agxc_ref n, struct agxc_ref d)
{
   struct agxc_ref minus_d = agxc_build_ineg(&l->b, d);
   struct agxc_ref q = agxc_build_umulh(&l->b, n, reciprocal(l, d, minus_d));
   return correct(l, q, minus_product(l, n, q, minus_d), d);
}

/* Whether what depends on the divisor alone is computed much less often than the quotient. */
static bool is_steady(struct lowering *l, const struct agxc_instr *instr, const struct agxc_ref *d)
{
   if (d->kind != AGXC_VALUE || !d->value->def)
      return true;
   if (d->value->def->block->loop_depth < instr->block->loop_depth)
      return true;
   return d->value->id < l->known &&
          agxc_scope_of(l->divergence, d, instr->block) == AGXC_SCOPE_DISPATCH;
}

static struct agxc_ref absolute(struct lowering *l, struct agxc_ref x)
{
   return agxc_build_imax(&l->b, x, agxc_build_ineg(&l->b, x));
}

/* x, negated where sign is below 0. */
static struct agxc_ref with_sign(struct lowering *l, struct agxc_ref x, struct agxc_ref sign)
{
   return choose(l, AGXC_OP_SLT, sign, agxc_u32(0), agxc_build_ineg(&l->b, x), x);
}

static struct agxc_ref by_value(struct lowering *l, const struct agxc_instr *instr)
{
   struct agxc_ref n = *agxc_src_a(instr), d = *agxc_src_b(instr);
   bool is_signed = instr->op >= AGXC_OP_SDIV && !(is_positive(l, &n) && is_positive(l, &d));
   bool is_quotient = instr->op == AGXC_OP_UDIV || instr->op == AGXC_OP_SDIV;
   bool steady = is_steady(l, instr, &d);
   struct agxc_ref un = is_signed ? absolute(l, n) : n, ud = is_signed ? absolute(l, d) : d;
   struct quotient result = agxc_range_max(l->ranges, &un) < SHORT_LIMIT ? in_one_float(l, un, ud)
                            : steady                                     ? by_reciprocal(l, un, ud)
                                                                         : in_floats(l, un, ud);
   if (!is_signed)
      return is_quotient ? result.q : result.m;
   if (is_quotient)
      return with_sign(l, result.q, agxc_build_ixor(&l->b, n, d));
   struct agxc_ref m = with_sign(l, result.m, n);
   if (instr->op == AGXC_OP_SREM)
      return m;
   /* The divisor's sign: one divisor more where the signs differ, unless m is 0. */
   struct agxc_ref more = agxc_build_iadd(&l->b, m, d);
   more = choose(l, AGXC_OP_SLT, agxc_build_ixor(&l->b, m, d), agxc_u32(0), more, m);
   return choose(l, AGXC_OP_IEQ, m, agxc_u32(0), m, more);
}

static struct agxc_ref lower(struct lowering *l, const struct agxc_instr *instr)
{
   const struct agxc_ref *d = agxc_src_b(instr);
   if (d->kind != AGXC_IMM)
      return by_value(l, instr);
   /* Undefined, so anything. */
   if (d->imm == 0)
      return agxc_u32(0);
   return by_constant(l, (enum agxc_op)instr->op, *agxc_src_a(instr), (uint32_t)d->imm);
}

static bool is_division(const struct agxc_instr *instr)
{
   return instr->op >= AGXC_OP_UDIV && instr->op <= AGXC_OP_SMOD;
}

/* Which kinds of divisors there are. */
static void find_divisions(struct agxc_shader *shader, bool *out_any, bool *out_by_values)
{
   *out_any = *out_by_values = false;
   agxc_foreach_instr_of (instr, shader) {
      *out_any |= is_division(instr);
      *out_by_values |= is_division(instr) && agxc_src_b(instr)->kind == AGXC_VALUE;
   }
}

bool agxc_lower_division(struct agxc_shader *shader)
{
   struct lowering l = {.shader = shader, .known = shader->value_count};
   bool progress = false, any, by_values;
   agxc_index(shader);
   find_divisions(shader, &any, &by_values);
   if (!any)
      return false;
   l.ranges = agxc_ranges_compute(shader);
   if (by_values)
      l.divergence = agxc_divergence(shader);
   agxc_foreach_instr_of_safe (instr, shader) {
      if (!is_division(instr))
         continue;
      if (agxc_dest(instr)->bits != 32)
         agxc_fail(shader, AGX_UNIMPLEMENTED, "%s: division of %u-bit integers", shader->name,
                   agxc_dest(instr)->bits);
      l.b = agxc_before(shader, instr);
      agxc_become_mov(shader, instr, lower(&l, instr));
      progress = true;
   }
   return progress;
}
