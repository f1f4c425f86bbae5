/* SPDX-License-Identifier: MIT
 *
 * Operations on 64-bit floats, which the machine lacks, become operations on 64-bit integers.
 *
 *    before   %2 = fneg %0                    (64 bits)
 *    after    %3, %4 = unpack64 %0            %5 = ixor %4, 0x80000000       %2 = pack64 %3, %5
 *
 * Results are those of IEEE 754, rounded to nearest even, with denormals; NaNs are quiet. Each
 * operation is expanded where it stands (docs/decisions/0040). The pass stands behind
 * lower_subgroup, which leaves sums, products and limits of 64-bit floats, and in front of
 * lower_narrow and lower_int64, which lower what it makes. float64_sum.c has sums and products,
 * float64_fma.c products with a summand, float64_divide.c quotients and roots, float64_convert.c
 * conversions and whole numbers.
 */
#include "agx/compiler/analysis/op_cost.h"
#include "agx/compiler/lower/float64_impl.h"
#include "agx/compiler/lower/lower.h"

static struct agxc_ref long_one(void)
{
   return agxc_long_imm(0x3ff0000000000000u);
}

/* Signs: x with its high word changed. */
static struct agxc_ref change_sign(struct agxc_builder *b, enum agxc_op op, struct agxc_ref x,
                                   uint32_t with)
{
   struct agxc_ref lo, hi;
   agxc_f64_words(b, x, &lo, &hi);
   return agxc_f64_join(b, lo, agxc_word2(b, op, hi, agxc_u32(with)));
}

static struct agxc_ref negated(struct agxc_builder *b, struct agxc_ref x)
{
   return change_sign(b, AGXC_OP_IXOR, x, AGXC_F64_SIGN);
}

/* ---- comparisons ------------------------------------------------------------ */

/* A signed integer that has the order of the numbers, 0 for both zeros. */
static struct agxc_ref key(struct agxc_builder *b, struct agxc_ref x)
{
   struct agxc_ref sign = agxc_long2(b, AGXC_OP_ASHR, x, agxc_u32(63));
   struct agxc_ref size = agxc_long2(b, AGXC_OP_IAND, x, agxc_long_imm(INT64_MAX));
   return agxc_long2(b, AGXC_OP_ISUB, agxc_long2(b, AGXC_OP_IXOR, size, sign), sign);
}

static struct agxc_ref compare(struct agxc_builder *b, enum agxc_op op, struct agxc_ref x,
                               struct agxc_ref y)
{
   static const uint16_t of_keys[] = {
      [AGXC_OP_FEQ - AGXC_OP_FEQ] = AGXC_OP_IEQ,
      [AGXC_OP_FNE - AGXC_OP_FEQ] = AGXC_OP_IEQ,
      [AGXC_OP_FLT - AGXC_OP_FEQ] = AGXC_OP_SLT,
      [AGXC_OP_FGE - AGXC_OP_FEQ] = AGXC_OP_SGE,
   };
   struct agxc_f64 f = agxc_f64_open(b, x), g = agxc_f64_open(b, y);
   struct agxc_ref nan = agxc_f64_is_nan(b, &f);
   if (!agxc_same_ref(&x, &y))
      nan = agxc_bit2(b, AGXC_OP_IOR, nan, agxc_f64_is_nan(b, &g));
   struct agxc_ref left = key(b, x), right = key(b, y);
   struct agxc_ref holds = agxc_f64_test(b, (enum agxc_op)of_keys[op - AGXC_OP_FEQ], left, right);
   struct agxc_ref ordered = agxc_build1_folded(b, AGXC_OP_INOT, 1, nan);
   holds = agxc_bit2(b, AGXC_OP_IAND, holds, ordered);
   return op == AGXC_OP_FNE ? agxc_build1_folded(b, AGXC_OP_INOT, 1, holds) : holds;
}

/* The number where the other one is a NaN. */
static struct agxc_ref limit(struct agxc_builder *b, enum agxc_op op, struct agxc_ref x,
                             struct agxc_ref y)
{
   struct agxc_f64 f = agxc_f64_open(b, x), g = agxc_f64_open(b, y);
   bool is_min = op == AGXC_OP_FMIN;
   struct agxc_ref left = key(b, is_min ? x : y), right = key(b, is_min ? y : x);
   struct agxc_ref takes_x = agxc_f64_test(b, AGXC_OP_SLT, left, right);
   takes_x = agxc_bit2(b, AGXC_OP_IOR, takes_x, agxc_f64_is_nan(b, &g));
   struct agxc_ref takes_y = agxc_f64_is_nan(b, &f);
   struct agxc_ref result = agxc_word_select(b, takes_x, agxc_f64_quieted(b, &f), y);
   struct agxc_ref other = agxc_f64_quieted(b, &g);
   return agxc_word_select(b, takes_y, other, result);
}

/* ---- made of others ----------------------------------------------------------- */

/* x - y whole(x / y) */
static struct agxc_ref division_rest(struct agxc_builder *b, enum agxc_op op, struct agxc_ref x,
                                     struct agxc_ref y)
{
   enum agxc_op round = op == AGXC_OP_FMOD ? AGXC_OP_FFLOOR : AGXC_OP_FTRUNC;
   struct agxc_ref whole = agxc_f64_whole(b, round, agxc_f64_div(b, x, y));
   return agxc_f64_add(b, x, negated(b, agxc_f64_mul(b, y, whole)));
}

static struct agxc_ref fraction(struct agxc_builder *b, struct agxc_ref x)
{
   return agxc_f64_add(b, x, negated(b, agxc_f64_whole(b, AGXC_OP_FFLOOR, x)));
}

static struct agxc_ref saturated(struct agxc_builder *b, struct agxc_ref x)
{
   x = limit(b, AGXC_OP_FMAX, x, agxc_long_imm(0));
   return limit(b, AGXC_OP_FMIN, x, long_one());
}

/* ---- the walk ------------------------------------------------------------------ */

static struct agxc_ref single(struct agxc_builder *b, const struct agxc_instr *instr,
                              struct agxc_ref x)
{
   unsigned bits = agxc_dest(instr)->bits;
   enum agxc_op op = (enum agxc_op)instr->op;
   switch (op) {
   case AGXC_OP_FNEG:
      return negated(b, x);
   case AGXC_OP_FABS:
      return change_sign(b, AGXC_OP_IAND, x, ~AGXC_F64_SIGN);
   case AGXC_OP_FSAT:
      return saturated(b, x);
   case AGXC_OP_FFLOOR:
   case AGXC_OP_FCEIL:
   case AGXC_OP_FTRUNC:
   case AGXC_OP_FRINT:
      return agxc_f64_whole(b, op, x);
   case AGXC_OP_FFRACT:
      return fraction(b, x);
   case AGXC_OP_FRCP:
      return agxc_f64_div(b, long_one(), x);
   case AGXC_OP_FSQRT:
      return agxc_f64_sqrt(b, x);
   case AGXC_OP_FRSQRT:
      return agxc_f64_div(b, long_one(), agxc_f64_sqrt(b, x));
   case AGXC_OP_F2F:
      return bits == 64 ? agxc_f64_from_float(b, x) : agxc_f64_to_float(b, x, bits);
   case AGXC_OP_F2U:
   case AGXC_OP_F2S:
      return agxc_f64_to_int(b, x, bits, op == AGXC_OP_F2S);
   case AGXC_OP_U2F:
   case AGXC_OP_S2F:
      return agxc_f64_from_int(b, x, op == AGXC_OP_S2F);
   default:
      return agxc_none();
   }
}

static struct agxc_ref lower(struct agxc_builder *b, const struct agxc_instr *instr)
{
   struct agxc_ref x = *agxc_src_a(instr);
   enum agxc_op op = (enum agxc_op)instr->op;
   if (!agxc_has_src(instr, AGXC_SRC_B))
      return single(b, instr, x);
   struct agxc_ref y = *agxc_src_b(instr);
   if (op >= AGXC_OP_FEQ && op <= AGXC_OP_FGE)
      return compare(b, op, x, y);
   switch (op) {
   case AGXC_OP_FADD:
      return agxc_f64_add(b, x, y);
   case AGXC_OP_FSUB:
      return agxc_f64_add(b, x, negated(b, y));
   case AGXC_OP_FMUL:
      return agxc_f64_mul(b, x, y);
   case AGXC_OP_FFMA:
      return agxc_f64_fma(b, x, y, *agxc_src_c(instr));
   case AGXC_OP_FDIV:
      return agxc_f64_div(b, x, y);
   case AGXC_OP_FREM:
   case AGXC_OP_FMOD:
      return division_rest(b, op, x, y);
   case AGXC_OP_FMIN:
   case AGXC_OP_FMAX:
      return limit(b, op, x, y);
   case AGXC_OP_FLDEXP:
      return agxc_f64_ldexp(b, x, y);
   default:
      return agxc_none();
   }
}

bool agxc_lower_float64(struct agxc_shader *shader)
{
   bool progress = false;
   agxc_foreach_instr_of_safe (instr, shader) {
      if (!agxc_is_long_float(instr))
         continue;
      agxc_resolve_sources(instr);
      struct agxc_builder b = agxc_before(shader, instr);
      struct agxc_ref result = lower(&b, instr);
      if (result.kind == AGXC_NONE)
         agxc_fail(shader, AGX_UNIMPLEMENTED, "%s: operation %s on 64-bit floats", shader->name,
                   agxc_op_info((enum agxc_op)instr->op)->name);
      agxc_become_mov(shader, instr, result);
      progress = true;
   }
   return progress;
}
