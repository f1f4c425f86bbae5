/* SPDX-License-Identifier: MIT
 *
 * Constant folding and identities; the rules for integers, booleans and floats are in
 * algebraic_*.c. Constants move to the second source, multiplications by powers
 * of two become shifts, and constant parts of offsets gather at the outside, where the
 * addresses of selection look for them.
 * Before and after: generic SSA; what a rule replaces becomes a move, which opt_copy_prop looks
 * through. Runs whenever constants have appeared: first of all, behind opt_unroll, behind the
 * lower_* passes and behind opt_if_conversion.
 */
#include "agx/compiler/opt/algebraic.h"
#include "agx/compiler/ir/fold.h"
#include "agx/compiler/opt/opt.h"

static bool is_const(const struct agxc_ref *ref)
{
   return ref->kind == AGXC_IMM;
}

static bool equals(const struct agxc_ref *ref, uint64_t value)
{
   return ref->kind == AGXC_IMM && (uint64_t)ref->imm == value;
}

/* ---- folding ---------------------------------------------------------- */

/* The constant that an instruction is, or AGXC_NONE. */
static struct agxc_ref fold(const struct agxc_instr *instr)
{
   const struct agxc_ref *srcs = agxc_srcs(instr);
   if (instr->src_count > 2)
      return agxc_none();
   return agxc_fold((enum agxc_op)instr->op, instr->operand[0].bits, srcs[0],
                    instr->src_count == 2 ? srcs[1] : agxc_none());
}

/* ---- identities ------------------------------------------------------- */

/* x op constant (or x op x) that is x, or a constant. */
static struct agxc_ref simplify(const struct agxc_instr *instr)
{
   const struct agxc_ref *a = &instr->operand[1], *b = &instr->operand[2];
   uint64_t ones = agx_bits(instr->operand[0].bits);
   switch (instr->op) {
   case AGXC_OP_IADD:
   case AGXC_OP_ISUB:
   case AGXC_OP_IXOR:
   case AGXC_OP_ISHL:
   case AGXC_OP_USHR:
   case AGXC_OP_ASHR:
      return equals(b, 0) ? *a : agxc_none();
   case AGXC_OP_IOR:
      return equals(b, 0) ? *a : equals(b, ones) ? *b : agxc_none();
   case AGXC_OP_IAND:
      return equals(b, ones) ? *a : equals(b, 0) ? *b : agxc_none();
   case AGXC_OP_IMUL:
      return equals(b, 1) ? *a : equals(b, 0) ? *b : agxc_none();
   case AGXC_OP_UDIV:
      return equals(b, 1) ? *a : agxc_none();
   case AGXC_OP_SELECT:
      if (is_const(a))
         return a->imm ? *b : instr->operand[3];
      return agxc_none();
   case AGXC_OP_ELEMENT: /* what wraps is outside, and must remain so */
      return is_const(a) && a->imm * b->imm <= INT32_MAX ? agxc_imm((uint64_t)(a->imm * b->imm), 32)
                                                         : agxc_none();
   default:
      return agxc_none();
   }
}

/* ---- better forms ----------------------------------------------------- */

static const struct agxc_instr *def_is(const struct agxc_ref *ref, enum agxc_op op)
{
   const struct agxc_instr *def = ref->kind == AGXC_VALUE ? ref->value->def : NULL;
   return def && def->op == op ? def : NULL;
}

static bool swap_constant(struct agxc_instr *instr)
{
   struct agxc_ref *srcs = agxc_srcs(instr);
   if (!(agxc_flags(instr) & AGXC_COMMUTATIVE) || !is_const(&srcs[0]) || is_const(&srcs[1]))
      return false;
   struct agxc_ref constant = srcs[0];
   srcs[0] = srcs[1];
   srcs[1] = constant;
   return true;
}

/* x 2^k is x << k; x - c is x + -c. */
static bool canonicalise(struct agxc_instr *instr)
{
   struct agxc_ref *b = &instr->operand[2];
   if (instr->src_count != 2 || instr->operand[0].bits != 32 || !is_const(b))
      return false;
   uint32_t value = (uint32_t)b->imm;
   if (instr->op == AGXC_OP_IMUL && value && !(value & (value - 1))) {
      instr->op = AGXC_OP_ISHL;
      *b = agxc_imm((uint32_t)__builtin_ctz(value), 32);
      return true;
   }
   if (instr->op == AGXC_OP_ISUB) {
      instr->op = AGXC_OP_IADD;
      *b = agxc_imm(0u - value, 32);
      return true;
   }
   return false;
}

/* Shifts up to here cost no more than an addition, and often nothing: additions and
 * addresses shift on the way. Source: docs/hw/idioms.md 2. */
#define FREE_SHIFT 4

/* (x + c) + d, (x + c) << k and (x << j) << k take the constant outside. */
static bool reassociate(struct agxc_algebra *algebra, struct agxc_instr *instr)
{
   struct agxc_ref *a = &instr->operand[1], *b = &instr->operand[2];
   if (instr->src_count != 2 || instr->operand[0].bits != 32 || !is_const(b))
      return false;
   const struct agxc_instr *sum = def_is(a, AGXC_OP_IADD), *shl = def_is(a, AGXC_OP_ISHL);
   bool sum_const = sum && is_const(&sum->operand[2]);
   if (instr->op == AGXC_OP_IADD && sum_const) {
      *b = agxc_imm((uint32_t)b->imm + (uint32_t)sum->operand[2].imm, 32);
      *a = sum->operand[1];
      return true;
   }
   /* Only where the shift can be undone: addresses count in elements. */
   uint32_t added = sum_const && b->imm < 32 ? (uint32_t)sum->operand[2].imm << b->imm : 0;
   if (instr->op == AGXC_OP_ISHL && b->imm < 32 && sum_const &&
       (int32_t)added >> b->imm == (int32_t)sum->operand[2].imm) {
      struct agxc_ref shifted = agxc_alg2(algebra, AGXC_OP_ISHL, 32, sum->operand[1], *b);
      instr->op = AGXC_OP_IADD;
      instr->exact = false;
      *a = shifted;
      *b = agxc_imm(added, 32);
      return true;
   }
   if (instr->op == AGXC_OP_ISHL && shl && is_const(&shl->operand[2]) &&
       agxc_alg_may_join(instr, shl) && b->imm + shl->operand[2].imm < 32 &&
       (b->imm > FREE_SHIFT || b->imm + shl->operand[2].imm <= FREE_SHIFT)) {
      *b = agxc_imm((uint32_t)(b->imm + shl->operand[2].imm), 32);
      *a = shl->operand[1];
      return true;
   }
   return false;
}

/* The bits at the bottom that are 0 whatever the rest is. */
static unsigned zero_bits(const struct agxc_ref *ref)
{
   const struct agxc_instr *shl = def_is(ref, AGXC_OP_ISHL), *mul = def_is(ref, AGXC_OP_IMUL);
   if (shl && is_const(&shl->operand[2]) && shl->operand[2].imm < 32)
      return (unsigned)shl->operand[2].imm;
   return mul && is_const(&mul->operand[2]) && mul->operand[2].imm
             ? (unsigned)__builtin_ctzll((uint64_t)mul->operand[2].imm)
             : 0;
}

/* Element (x << k) + c is c elements behind x << k, if c < 2^k: that does not wrap, so both are
 * inside or outside by what the index x << k says. */
static bool element_constant(struct agxc_algebra *algebra, struct agxc_instr *instr)
{
   const struct agxc_instr *sum =
      instr->op == AGXC_OP_ELEMENT ? def_is(&instr->operand[1], AGXC_OP_IADD) : NULL;
   if (!sum || !is_const(&sum->operand[2]) ||
       (uint64_t)sum->operand[2].imm >> zero_bits(&sum->operand[1]))
      return false;
   uint64_t bytes = (uint64_t)sum->operand[2].imm * (uint64_t)instr->operand[2].imm;
   if (bytes > INT16_MAX)
      return false;
   struct agxc_ref first =
      agxc_alg2(algebra, AGXC_OP_ELEMENT, 32, sum->operand[1], instr->operand[2]);
   instr->op = AGXC_OP_IADD;
   instr->operand[1] = first;
   instr->operand[2] = agxc_imm(bytes, 32);
   return true;
}

/* x + (y + c) and (y + c) + x are (x + y) + c, when both sides vary and y + c is needed nowhere
 * else. */
static bool float_constant(struct agxc_algebra *algebra, struct agxc_instr *instr)
{
   if (instr->op != AGXC_OP_IADD || instr->operand[0].bits != 32)
      return false;
   for (unsigned i = 1; i <= 2; i++) {
      const struct agxc_instr *sum = def_is(&instr->operand[i], AGXC_OP_IADD);
      struct agxc_ref other = instr->operand[3 - i];
      if (!sum || !is_const(&sum->operand[2]) || is_const(&other) ||
          !agxc_alg_used_once(algebra, &instr->operand[i]))
         continue;
      struct agxc_ref constant = sum->operand[2];
      struct agxc_ref varying = agxc_alg2(algebra, AGXC_OP_IADD, 32, sum->operand[1], other);
      instr->operand[1] = varying;
      instr->operand[2] = constant;
      return true;
   }
   return false;
}

/* not (not x) is x. */
static struct agxc_ref double_negation(const struct agxc_instr *instr)
{
   const struct agxc_instr *inner = def_is(&instr->operand[1], (enum agxc_op)instr->op);
   bool inverts = instr->op == AGXC_OP_INOT || instr->op == AGXC_OP_FNEG;
   return inverts && inner ? inner->operand[1] : agxc_none();
}

static bool is_scalar(const struct agxc_instr *instr)
{
   return instr->dest_count == 1 && instr->src_count && instr->operand[0].count == 1;
}

/* Only words and booleans: most rules count in them. */
static bool has_words(const struct agxc_instr *instr)
{
   agxc_foreach_src (src, instr)
      if (src->kind != AGXC_NONE && src->bits != 32 && src->bits != 1)
         return false;
   return instr->operand[0].bits == 32 || instr->operand[0].bits == 1;
}

static void resolve_sources(struct agxc_instr *instr)
{
   agxc_foreach_src (src, instr)
      while (src->kind == AGXC_VALUE && src->value->def && src->value->def->op == AGXC_OP_MOV)
         *src = src->value->def->operand[1];
}

/* Rules that need more than this of each other are left to the next run. */
#define MAX_DEPTH 6

static struct agxc_ref apply_rules(struct agxc_algebra *algebra, const struct agxc_instr *instr)
{
   static struct agxc_ref (*const sets[])(struct agxc_algebra *, const struct agxc_instr *) = {
      agxc_algebra_bool,
      agxc_algebra_int,
      agxc_algebra_float,
   };
   bool is_bool = instr->operand[0].bits == 1 || instr->op == AGXC_OP_SELECT ||
                  instr->op == AGXC_OP_ZEXT || instr->op == AGXC_OP_SEXT;
   bool is_float = instr->op >= AGXC_OP_FEQ || (instr->op >= AGXC_OP_F2F && !is_bool);
   bool is_int = !is_bool && !is_float;
   const bool takes[] = {is_bool, is_int, is_float && instr->op != AGXC_OP_SELECT};
   struct agxc_ref result = agxc_none();
   for (size_t i = 0; i < AGX_COUNT(sets) && result.kind == AGXC_NONE; i++)
      if (takes[i])
         result = sets[i](algebra, instr);
   return result;
}

static bool visit(struct agxc_algebra *algebra, struct agxc_instr *instr)
{
   resolve_sources(instr);
   if (instr->op == AGXC_OP_PHI || instr->op == AGXC_OP_MOV || !is_scalar(instr) ||
       agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_READS_MEMORY | AGXC_CROSS_LANE))
      return false;
   bool progress = instr->src_count >= 2 && swap_constant(instr);
   struct agxc_ref result = fold(instr);
   if (result.kind == AGXC_NONE)
      result = simplify(instr);
   if (result.kind == AGXC_NONE)
      result = double_negation(instr);
   if (result.kind == AGXC_NONE) {
      bool words = has_words(instr);
      progress |= words && canonicalise(instr);
      struct agxc_builder outer = algebra->at;
      algebra->at = agxc_before(algebra->shader, instr);
      result = agxc_algebra_width(algebra, instr);
      if (result.kind == AGXC_NONE && words)
         result = apply_rules(algebra, instr);
      if (result.kind == AGXC_NONE && words)
         progress |= reassociate(algebra, instr) || element_constant(algebra, instr) ||
                     float_constant(algebra, instr);
      algebra->at = outer;
   }
   if (result.kind == AGXC_NONE)
      return progress;
   agxc_become_mov(algebra->shader, instr, result);
   return true;
}

struct agxc_ref agxc_algebra_build(struct agxc_algebra *algebra, enum agxc_op op, unsigned bits,
                                   unsigned count, const struct agxc_ref *srcs)
{
   bool exact = algebra->at.before->exact;
   struct agxc_ref result = agxc_build(&algebra->at, op, bits, 1, count, srcs);
   struct agxc_instr *instr = result.value->def;
   instr->exact = exact;
   if (algebra->depth == MAX_DEPTH)
      return result;
   algebra->depth++;
   visit(algebra, instr);
   algebra->depth--;
   return instr->op == AGXC_OP_MOV ? instr->operand[1] : result;
}

static void count_uses(struct agxc_algebra *algebra)
{
   struct agxc_shader *shader = algebra->shader;
   algebra->use_count = shader->value_count;
   algebra->uses = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->value_count);
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block)
         agxc_foreach_src (src, instr)
            if (src->kind == AGXC_VALUE)
               algebra->uses[src->value->id]++;
}

bool agxc_opt_algebraic(struct agxc_shader *shader)
{
   struct agxc_algebra algebra = {.shader = shader};
   bool progress = false;
   agxc_index(shader);
   count_uses(&algebra);
   agxc_foreach_block (block, shader)
      agxc_foreach_instr_safe (instr, block)
         progress |= visit(&algebra, instr);
   return progress;
}
