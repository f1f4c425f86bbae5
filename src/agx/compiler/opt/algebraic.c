/* SPDX-License-Identifier: MIT
 *
 * Constant folding, identities and changes of width; the rules for integers, booleans and floats
 * are in algebraic_*.c. Constants move to the second source, multiplications by powers of two
 * become shifts, and constant parts of offsets gather at the outside, where the addresses of
 * selection look for them. In the arms of an if its condition is a constant. Before and after:
 * generic SSA; what a rule replaces becomes a move, which opt_copy_prop looks through. Runs
 * whenever constants have appeared: first of all, behind opt_unroll, behind the lower_* passes and
 * behind opt_if_conversion.
 */
#include "agx/compiler/opt/algebraic.h"
#include "agx/compiler/analysis/offset.h"
#include "agx/compiler/ir/fold.h"
#include "agx/compiler/opt/opt.h"

#define is_const agxc_alg_is_const

#define MAX_IFS 8u /* around an instruction, whose conditions it looks at */

static struct agxc_ref source_or_none(const struct agxc_instr *instr, enum agxc_src_name name)
{
   return agxc_has_src(instr, name) ? *agxc_src_by_name(instr, name) : agxc_none();
}

/* ---- folding ---------------------------------------------------------- */

/* The constant that an instruction is, or AGXC_NONE. */
static struct agxc_ref fold(const struct agxc_instr *instr)
{
   if (instr->op == AGXC_OP_PACK32 || instr->op == AGXC_OP_PACK64)
      return agxc_fold((enum agxc_op)instr->op, agxc_dest(instr)->bits, *agxc_src_low(instr),
                       *agxc_src_high(instr));
   if (!agxc_has_src(instr, AGXC_SRC_A) || agxc_has_src(instr, AGXC_SRC_C))
      return agxc_none();
   return agxc_fold((enum agxc_op)instr->op, agxc_dest(instr)->bits, *agxc_src_a(instr),
                    source_or_none(instr, AGXC_SRC_B));
}

/* ---- identities ------------------------------------------------------- */

/* An operation that does nothing, a choice that is settled or none, an element of a constant place,
 * what every lane has. */
static struct agxc_ref simplify(const struct agxc_instr *instr)
{
   if (agxc_has_src(instr, AGXC_SRC_B))
      return agxc_fold_identity((enum agxc_op)instr->op, *agxc_src_a(instr), *agxc_src_b(instr));
   if (instr->op == AGXC_OP_SELECT && is_const(agxc_src_condition(instr)))
      return agxc_src_condition(instr)->imm ? *agxc_src_if_true(instr) : *agxc_src_if_false(instr);
   if (instr->op == AGXC_OP_SELECT &&
       agxc_same_ref(agxc_src_if_true(instr), agxc_src_if_false(instr)))
      return *agxc_src_if_true(instr);
   if (instr->op == AGXC_OP_SHUFFLE && is_const(agxc_src_value(instr)))
      return *agxc_src_value(instr);
   if (instr->op != AGXC_OP_ELEMENT || !is_const(agxc_src_index(instr)))
      return agxc_none();
   int64_t bytes = agxc_src_index(instr)->imm * agxc_src_stride(instr)->imm;
   /* What wraps is outside, and must remain so. */
   return bytes <= INT32_MAX ? agxc_u32((uint64_t)bytes) : agxc_none();
}

/* ---- better forms ----------------------------------------------------- */

static bool swap_constant(struct agxc_instr *instr)
{
   if (!(agxc_flags(instr) & AGXC_COMMUTATIVE) || !is_const(agxc_src_a(instr)) ||
       is_const(agxc_src_b(instr)))
      return false;
   struct agxc_ref constant = *agxc_src_a(instr);
   *agxc_src_a(instr) = *agxc_src_b(instr);
   *agxc_src_b(instr) = constant;
   return true;
}

/* x 2^k is x << k; x - c is x + -c. */
static bool canonicalise(struct agxc_instr *instr)
{
   if (instr->op != AGXC_OP_IMUL && instr->op != AGXC_OP_ISUB)
      return false;
   struct agxc_ref *b = agxc_src_b(instr);
   if (agxc_dest(instr)->bits != 32 || !is_const(b))
      return false;
   uint32_t value = (uint32_t)b->imm;
   if (instr->op == AGXC_OP_IMUL && value && !(value & (value - 1))) {
      instr->op = AGXC_OP_ISHL;
      *b = agxc_u32((uint32_t)__builtin_ctz(value));
      return true;
   }
   if (instr->op == AGXC_OP_ISUB) {
      instr->op = AGXC_OP_IADD;
      *b = agxc_u32(0u - value);
      return true;
   }
   return false;
}

/* (x + c) + d, (x + c) << k and (x << j) << k take the constant outside. */
static bool reassociate(struct agxc_algebra *algebra, struct agxc_instr *instr)
{
   if (instr->op != AGXC_OP_IADD && instr->op != AGXC_OP_ISHL)
      return false;
   struct agxc_ref *a = agxc_src_a(instr), *b = agxc_src_b(instr);
   if (agxc_dest(instr)->bits != 32 || !is_const(b))
      return false;
   const struct agxc_instr *sum = agxc_def_as(*a, AGXC_OP_IADD),
                           *shl = agxc_def_as(*a, AGXC_OP_ISHL);
   bool sum_const = sum && is_const(agxc_src_b(sum));
   if (instr->op == AGXC_OP_IADD && sum_const) {
      *b = agxc_u32((uint32_t)b->imm + (uint32_t)agxc_src_b(sum)->imm);
      *a = *agxc_src_a(sum);
      return true;
   }
   /* Only where the shift can be undone: addresses count in elements. */
   uint32_t added = sum_const && b->imm < 32 ? (uint32_t)agxc_src_b(sum)->imm << b->imm : 0;
   if (instr->op == AGXC_OP_ISHL && b->imm < 32 && sum_const &&
       (int32_t)added >> b->imm == (int32_t)agxc_src_b(sum)->imm && agxc_may_move((int32_t)added)) {
      struct agxc_ref shifted = agxc_alg2(algebra, AGXC_OP_ISHL, 32, *agxc_src_a(sum), *b);
      instr->op = AGXC_OP_IADD;
      instr->flags = 0;
      *a = shifted;
      *b = agxc_u32(added);
      return true;
   }
   if (instr->op == AGXC_OP_ISHL && shl && is_const(agxc_src_b(shl)) &&
       agxc_alg_may_join(instr, shl) && b->imm + agxc_src_b(shl)->imm < 32 &&
       (b->imm > AGXC_ALG_FREE_SHIFT || b->imm + agxc_src_b(shl)->imm <= AGXC_ALG_FREE_SHIFT)) {
      *b = agxc_u32((uint32_t)(b->imm + agxc_src_b(shl)->imm));
      *a = *agxc_src_a(shl);
      return true;
   }
   return false;
}

/* The bits at the bottom that are 0 whatever the rest is. */
static unsigned zero_bits(const struct agxc_ref *ref)
{
   const struct agxc_instr *shl = agxc_def_as(*ref, AGXC_OP_ISHL),
                           *mul = agxc_def_as(*ref, AGXC_OP_IMUL);
   if (shl && is_const(agxc_src_b(shl)) && agxc_src_b(shl)->imm < 32)
      return (unsigned)agxc_src_b(shl)->imm;
   return mul && is_const(agxc_src_b(mul)) && agxc_src_b(mul)->imm
             ? (unsigned)__builtin_ctzll((uint64_t)agxc_src_b(mul)->imm)
             : 0;
}

/* Element (x << k) + c is c elements behind x << k, if c < 2^k: that does not wrap, so both are
 * inside or outside by what the index x << k says. */
static bool element_constant(struct agxc_algebra *algebra, struct agxc_instr *instr)
{
   const struct agxc_instr *sum =
      instr->op == AGXC_OP_ELEMENT ? agxc_def_as(*agxc_src_index(instr), AGXC_OP_IADD) : NULL;
   if (!sum || !is_const(agxc_src_b(sum)) ||
       (uint64_t)agxc_src_b(sum)->imm >> zero_bits(agxc_src_a(sum)))
      return false;
   uint64_t bytes = (uint64_t)agxc_src_b(sum)->imm * (uint64_t)agxc_src_stride(instr)->imm;
   if (bytes > INT16_MAX)
      return false;
   struct agxc_ref first =
      agxc_alg2(algebra, AGXC_OP_ELEMENT, 32, *agxc_src_a(sum), *agxc_src_stride(instr));
   instr->op = AGXC_OP_IADD;
   *agxc_src_a(instr) = first;
   *agxc_src_b(instr) = agxc_u32(bytes);
   return true;
}

/* x + (y + c) and (y + c) + x are (x + y) + c, when both sides vary and y + c is needed nowhere
 * else. */
static bool float_constant(struct agxc_algebra *algebra, struct agxc_instr *instr)
{
   if (instr->op != AGXC_OP_IADD || agxc_dest(instr)->bits != 32)
      return false;
   for (unsigned i = 0; i < 2; i++) {
      const struct agxc_instr *sum = agxc_def_as(*agxc_side(instr, i), AGXC_OP_IADD);
      struct agxc_ref other = *agxc_side(instr, 1 - i);
      if (!sum || !is_const(agxc_src_b(sum)) || is_const(&other) ||
          !agxc_alg_used_once(algebra, agxc_side(instr, i)))
         continue;
      struct agxc_ref constant = *agxc_src_b(sum);
      struct agxc_ref varying = agxc_alg2(algebra, AGXC_OP_IADD, 32, *agxc_src_a(sum), other);
      *agxc_src_a(instr) = varying;
      *agxc_src_b(instr) = constant;
      return true;
   }
   return false;
}

/* not (not x) is x. */
static struct agxc_ref double_negation(const struct agxc_instr *instr)
{
   if (instr->op != AGXC_OP_INOT && instr->op != AGXC_OP_FNEG)
      return agxc_none();
   const struct agxc_instr *inner = agxc_def_as(*agxc_src_a(instr), (enum agxc_op)instr->op);
   return inner ? *agxc_src_a(inner) : agxc_none();
}

/* ---- widths ------------------------------------------------------------- */

/* Changes of width, which front ends put around everything narrow: one change of another is one
 * change, and what goes there and back is nothing. */
static const struct agxc_instr *change_of(const struct agxc_ref *ref)
{
   const struct agxc_instr *def = agxc_def_of(*ref);
   bool changes = def && (def->op == AGXC_OP_ZEXT || def->op == AGXC_OP_SEXT ||
                          def->op == AGXC_OP_TRUNC || def->op == AGXC_OP_F2F);
   return changes && agxc_src_a(def)->bits != 1 ? def : NULL;
}

static struct agxc_ref cut(struct agxc_algebra *algebra, unsigned bits,
                           const struct agxc_instr *inner)
{
   struct agxc_ref src = *agxc_src_a(inner);
   if (inner->op == AGXC_OP_F2F)
      return agxc_none();
   if (src.bits == bits)
      return src;
   return agxc_alg1(algebra, src.bits > bits ? AGXC_OP_TRUNC : (enum agxc_op)inner->op, bits, src);
}

/* A byte of a word, extended to 32 bits. */
static struct agxc_ref extend_byte(struct agxc_algebra *algebra, const struct agxc_instr *outer,
                                   const struct agxc_instr *inner)
{
   struct agxc_ref word = *agxc_src_a(inner);
   const struct agxc_instr *shift = agxc_def_as(word, AGXC_OP_USHR);
   uint32_t left = 24;
   if (agxc_dest(inner)->bits != 8 || word.bits != 32 || agxc_dest(outer)->bits != 32)
      return agxc_none();
   if (outer->op == AGXC_OP_ZEXT)
      return agxc_alg2(algebra, AGXC_OP_IAND, 32, word, agxc_u32(0xff));
   if (shift && agxc_src_b(shift)->kind == AGXC_IMM && agxc_src_b(shift)->imm <= 24) {
      word = *agxc_src_a(shift);
      left -= (uint32_t)agxc_src_b(shift)->imm;
   }
   if (left)
      word = agxc_alg2(algebra, AGXC_OP_ISHL, 32, word, agxc_u32(left));
   return agxc_alg2(algebra, AGXC_OP_ASHR, 32, word, agxc_u32(24));
}

static struct agxc_ref extend(struct agxc_algebra *algebra, const struct agxc_instr *outer,
                              const struct agxc_instr *inner)
{
   if (inner->op == AGXC_OP_TRUNC)
      return extend_byte(algebra, outer, inner);
   bool same = inner->op == outer->op || inner->op == AGXC_OP_ZEXT;
   if (!same || inner->op == AGXC_OP_TRUNC || inner->op == AGXC_OP_F2F)
      return agxc_none();
   return agxc_alg1(algebra, (enum agxc_op)inner->op, agxc_dest(outer)->bits, *agxc_src_a(inner));
}

static struct agxc_ref change_width(struct agxc_algebra *algebra, const struct agxc_instr *instr)
{
   const struct agxc_instr *inner =
      agxc_has_src(instr, AGXC_SRC_A) ? change_of(agxc_src_a(instr)) : NULL;
   unsigned bits = agxc_dest(instr)->bits;
   if (!inner)
      return agxc_none();
   const struct agxc_ref *src = agxc_src_a(inner);
   switch (instr->op) {
   case AGXC_OP_TRUNC:
      return cut(algebra, bits, inner);
   case AGXC_OP_ZEXT:
   case AGXC_OP_SEXT:
      return extend(algebra, instr, inner);
   case AGXC_OP_F2F: /* through more bits and back */
      return inner->op == AGXC_OP_F2F && src->bits == bits && src->bits < agxc_dest(inner)->bits
                ? *src
                : agxc_none();
   case AGXC_OP_IAND: { /* a mask of bits that the extension left 0 anyway */
      const struct agxc_ref *mask = agxc_src_b(instr);
      bool is_all = inner->op == AGXC_OP_ZEXT && mask->kind == AGXC_IMM &&
                    ((uint64_t)mask->imm & agx_bits(src->bits)) == agx_bits(src->bits);
      return is_all ? *agxc_src_a(instr) : agxc_none();
   }
   default:
      return agxc_none();
   }
}

/* ---- pass --------------------------------------------------------------- */

static bool is_scalar(const struct agxc_instr *instr)
{
   return instr->dest_count == 1 && instr->src_count && agxc_dest(instr)->count == 1;
}

/* Only values of that width and booleans. */
static bool has_width(const struct agxc_instr *instr, unsigned bits)
{
   agxc_foreach_src (src, instr)
      if (src->kind != AGXC_NONE && src->bits != bits && src->bits != 1)
         return false;
   return agxc_dest(instr)->bits == bits || agxc_dest(instr)->bits == 1;
}

static bool is_half_rule(unsigned op)
{
   bool is_division = op == AGXC_OP_FDIV;
   return (op >= AGXC_OP_FEQ && op <= AGXC_OP_FGE) ||
          (op >= AGXC_OP_FADD && op <= AGXC_OP_FSAT && !is_division);
}

/* Most rules count in words; those for sums, products, signs and limits of floats hold for halves,
 * too, and those for the order of integers for all widths. */
static bool has_rules(const struct agxc_instr *instr)
{
   bool is_order = instr->op == AGXC_OP_ULT || instr->op == AGXC_OP_UGE ||
                   instr->op == AGXC_OP_SLT || instr->op == AGXC_OP_SGE;
   return has_width(instr, 32) || (is_half_rule(instr->op) && has_width(instr, 16)) ||
          (is_order && has_width(instr, agxc_src_a(instr)->bits));
}

/* Rules that need more than this of each other are left to the next run. */
#define MAX_DEPTH 6

static struct agxc_ref apply_rules(struct agxc_algebra *algebra, const struct agxc_instr *instr)
{
   bool is_select = instr->op == AGXC_OP_SELECT;
   bool is_bool = agxc_dest(instr)->bits == 1 || is_select || instr->op == AGXC_OP_ZEXT ||
                  instr->op == AGXC_OP_SEXT;
   bool is_float = instr->op >= AGXC_OP_FEQ || (instr->op >= AGXC_OP_F2F && !is_bool);
   agxc_rule *const rules[] = {
      is_bool    ? agxc_bool_rules[instr->op]
      : is_float ? NULL
                 : agxc_int_rules[instr->op],
      is_float ? agxc_float_rules[instr->op] : NULL,
   };
   struct agxc_ref x = is_select ? *agxc_src_if_true(instr) : source_or_none(instr, AGXC_SRC_A);
   struct agxc_ref y = is_select ? *agxc_src_if_false(instr) : source_or_none(instr, AGXC_SRC_B);
   struct agxc_ref result =
      is_float && instr->src_count <= 2
         ? agxc_fold_float((enum agxc_op)instr->op, agxc_dest(instr)->bits, x, y)
         : agxc_none();
   for (size_t i = 0; i < AGX_COUNT(rules) && result.kind == AGXC_NONE; i++)
      if (rules[i])
         result = rules[i](algebra, x, y);
   return result;
}

static bool visit(struct agxc_algebra *algebra, struct agxc_instr *instr)
{
   agxc_resolve_sources(instr);
   if (instr->op == AGXC_OP_PHI || instr->op == AGXC_OP_MOV || !is_scalar(instr) ||
       agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_READS_MEMORY))
      return false;
   if (agxc_flags(instr) & AGXC_CROSS_LANE && instr->op != AGXC_OP_SHUFFLE)
      return false;
   bool progress = instr->src_count >= 2 && swap_constant(instr);
   struct agxc_ref result = fold(instr);
   if (result.kind == AGXC_NONE)
      result = simplify(instr);
   if (result.kind == AGXC_NONE)
      result = double_negation(instr);
   if (result.kind == AGXC_NONE) {
      bool words = has_width(instr, 32);
      progress |= words && canonicalise(instr);
      struct agxc_builder outer = algebra->at;
      algebra->at = agxc_before(algebra->shader, instr);
      algebra->instr = instr;
      result = change_width(algebra, instr);
      if (result.kind == AGXC_NONE && has_rules(instr))
         result = apply_rules(algebra, instr);
      if (result.kind == AGXC_NONE && words)
         progress |= reassociate(algebra, instr) || element_constant(algebra, instr) ||
                     float_constant(algebra, instr);
      algebra->at = outer;
      algebra->instr = outer.before;
   }
   if (result.kind == AGXC_NONE)
      return progress;
   agxc_become_mov(algebra->shader, instr, result);
   return true;
}

struct agxc_ref agxc_algebra_build(struct agxc_algebra *algebra, enum agxc_op op, unsigned bits,
                                   unsigned count, const struct agxc_ref *srcs)
{
   uint8_t flags = algebra->at.before->flags;
   struct agxc_ref result = agxc_build(&algebra->at, op, bits, 1, count, srcs);
   struct agxc_instr *instr = result.value->def;
   instr->flags = flags;
   if (algebra->depth == MAX_DEPTH)
      return result;
   algebra->depth++;
   visit(algebra, instr);
   algebra->depth--;
   return instr->op == AGXC_OP_MOV ? *agxc_src_a(instr) : result;
}

/* ---- what an if around decides ----------------------------------------- */

/* In an arm, the condition of its if is known: whether it is this boolean, and then its value. */
static bool is_decided(const struct agxc_block *block, const struct agxc_ref *boolean, bool *value)
{
   const struct agxc_node *node = &block->node;
   const struct agxc_ref wanted = agxc_skip_moves(*boolean);
   for (unsigned i = 0; node->parent && i < MAX_IFS; i++, node = node->parent) {
      const struct agxc_node *parent = node->parent;
      if (parent->kind != AGXC_NODE_IF)
         continue;
      const struct agxc_instr *branch = agxc_terminator(agxc_block_before(parent));
      *value = node->list == &agxc_as_if(parent)->then_list;
      const struct agxc_ref condition = agxc_skip_moves(*agxc_src_condition(branch));
      if (agxc_same_ref(&condition, &wanted))
         return true;
   }
   return false;
}

static bool settle(struct agxc_algebra *algebra, struct agxc_instr *instr)
{
   bool progress = false, value;
   if (instr->op == AGXC_OP_PHI) /* reads at the end of other blocks */
      return false;
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE && src->bits == 1 && src->count == 1 &&
          is_decided(instr->block, src, &value)) {
         if (src->value->id < algebra->use_count)
            algebra->uses[src->value->id]--;
         *src = agxc_imm(value, 1);
         progress = true;
      }
   return progress;
}

/* Copies, which visit() looks through, are no uses: what they name may have none but one. */
static uint32_t *count_uses(struct agxc_shader *shader)
{
   uint32_t *uses = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->value_count + 1ull);
   agxc_foreach_instr_of (instr, shader) {
      if (instr->op == AGXC_OP_MOV)
         continue;
      agxc_foreach_src (src, instr) {
         const struct agxc_ref named = agxc_skip_moves(*src);
         if (named.kind == AGXC_VALUE)
            uses[named.value->id]++;
      }
   }
   return uses;
}

bool agxc_opt_algebraic(struct agxc_shader *shader)
{
   struct agxc_algebra algebra = {.shader = shader, .use_count = shader->value_count};
   bool progress = false;
   agxc_index(shader);
   algebra.uses = count_uses(shader);
   agxc_foreach_instr_of_safe (instr, shader) {
      progress |= settle(&algebra, instr);
      progress |= visit(&algebra, instr);
   }
   return progress;
}
