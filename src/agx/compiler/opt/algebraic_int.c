/* SPDX-License-Identifier: MIT
 *
 * Rules of opt_algebraic for 32-bit integers. Every one holds for all inputs; constants stand
 * second in what commutes.
 */
#include "agx/compiler/opt/algebraic.h"
#include "agx/compiler/analysis/offset.h"
#include "agx/compiler/ir/fold.h"

#define is_const  agxc_alg_is_const
#define equals    agxc_alg_equals
#define def_const agxc_alg_def_const

static struct agxc_ref op1(struct agxc_algebra *a, enum agxc_op op, struct agxc_ref x)
{
   return agxc_alg1(a, op, 32, x);
}

static struct agxc_ref op2(struct agxc_algebra *a, enum agxc_op op, struct agxc_ref x,
                           struct agxc_ref y)
{
   return agxc_alg2(a, op, 32, x, y);
}

/* A product in place of what the application wrote wraps like that. */
static struct agxc_ref as_written(struct agxc_ref product, const struct agxc_instr *was)
{
   const struct agxc_instr *def = agxc_def_of(product);
   bool is_product = def && (def->op == AGXC_OP_IMUL || def->op == AGXC_OP_ISHL);
   if (is_product && ((was->flags & AGXC_INSTR_WRAPS) || was->op == AGXC_OP_IADD))
      product.value->def->flags |= AGXC_INSTR_WRAPS;
   return product;
}

static uint32_t u32(const struct agxc_ref *ref)
{
   return (uint32_t)ref->imm;
}

/* Bits of a value that are 0 for sure. */
static uint32_t zeros(const struct agxc_ref *ref, unsigned depth)
{
   const struct agxc_instr *def = agxc_def_of(*ref);
   if (is_const(ref))
      return ~u32(ref);
   if (!def || depth == 0 || ref->bits != 32)
      return 0;
   bool is_shift = def->op == AGXC_OP_ISHL || def->op == AGXC_OP_USHR;
   unsigned by = is_shift && is_const(agxc_src_b(def)) ? (unsigned)agxc_src_b(def)->imm : 32;
   if (is_shift && by >= 32)
      return 0;
   switch (def->op) {
   case AGXC_OP_IAND:
      return zeros(agxc_src_a(def), depth - 1) | zeros(agxc_src_b(def), depth - 1);
   case AGXC_OP_IOR:
   case AGXC_OP_IXOR:
      return zeros(agxc_src_a(def), depth - 1) & zeros(agxc_src_b(def), depth - 1);
   case AGXC_OP_SELECT:
      return zeros(agxc_src_if_true(def), depth - 1) & zeros(agxc_src_if_false(def), depth - 1);
   case AGXC_OP_ISHL:
      return zeros(agxc_src_a(def), depth - 1) << by | (uint32_t)agx_bits(by);
   case AGXC_OP_USHR:
      return zeros(agxc_src_a(def), depth - 1) >> by | ~(UINT32_MAX >> by);
   case AGXC_OP_ZEXT:
      return agxc_src_a(def)->bits < 32 ? ~(uint32_t)agx_bits(agxc_src_a(def)->bits) : 0;
   default:
      return 0;
   }
}

#define DEPTH 4

/* ---- sums --------------------------------------------------------------- */

static struct agxc_ref rule_iadd(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def;
   if (agxc_same_ref(&x, &y) && !is_const(&x))
      return as_written(op2(a, AGXC_OP_ISHL, x, agxc_u32(1)), a->instr);
   if ((def = agxc_def_as(y, AGXC_OP_INEG)))
      return op2(a, AGXC_OP_ISUB, x, *agxc_src_a(def));
   if ((def = agxc_def_as(x, AGXC_OP_INEG)))
      return op2(a, AGXC_OP_ISUB, y, *agxc_src_a(def));
   if ((def = agxc_def_as(x, AGXC_OP_ISUB)) && agxc_same_ref(agxc_src_b(def), &y))
      return *agxc_src_a(def);
   if ((def = agxc_def_as(y, AGXC_OP_ISUB)) && agxc_same_ref(agxc_src_b(def), &x))
      return *agxc_src_a(def);
   if (is_const(&y) && (def = agxc_def_as(x, AGXC_OP_ISUB)) && is_const(agxc_src_a(def)))
      return op2(a, AGXC_OP_ISUB, agxc_u32(u32(agxc_src_a(def)) + u32(&y)), *agxc_src_b(def));
   /* ~x + 1 */
   if (equals(&y, 1) && (def = agxc_def_as(x, AGXC_OP_INOT)))
      return op1(a, AGXC_OP_INEG, *agxc_src_a(def));
   return agxc_none();
}

/* x - x / d * d: lower_division knows the remainder from correcting the quotient. */
static struct agxc_ref remainder_of(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *product = agxc_def_as(y, AGXC_OP_IMUL);
   for (unsigned i = 0; product && agxc_alg_used_once(a, &y) && i < 2; i++) {
      const struct agxc_ref *d = agxc_side(product, 1 - i);
      const struct agxc_instr *quotient = agxc_def_as(*agxc_side(product, i), AGXC_OP_UDIV);
      if (quotient && agxc_same_ref(agxc_src_a(quotient), &x) &&
          agxc_same_ref(agxc_src_b(quotient), d) && !equals(d, 0))
         return op2(a, AGXC_OP_UMOD, x, *d);
   }
   return agxc_none();
}

static struct agxc_ref rule_isub(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def;
   struct agxc_ref remainder = remainder_of(a, x, y);
   if (remainder.kind != AGXC_NONE)
      return remainder;
   if (agxc_same_ref(&x, &y))
      return agxc_u32(0);
   if (equals(&x, 0))
      return op1(a, AGXC_OP_INEG, y);
   if ((def = agxc_def_as(y, AGXC_OP_INEG)))
      return op2(a, AGXC_OP_IADD, x, *agxc_src_a(def));
   if ((def = agxc_def_as(x, AGXC_OP_IADD)) && agxc_same_ref(agxc_src_b(def), &y))
      return *agxc_src_a(def);
   if (def && agxc_same_ref(agxc_src_a(def), &y))
      return *agxc_src_b(def);
   if (is_const(&x) && (def = def_const(&y, AGXC_OP_IADD)))
      return op2(a, AGXC_OP_ISUB, agxc_u32(u32(&x) - u32(agxc_src_b(def))), *agxc_src_a(def));
   if (is_const(&x) && (def = agxc_def_as(y, AGXC_OP_ISUB)) && is_const(agxc_src_a(def)))
      return op2(a, AGXC_OP_IADD, *agxc_src_b(def), agxc_u32(u32(&x) - u32(agxc_src_a(def))));
   if ((def = def_const(&x, AGXC_OP_IADD)) && agxc_alg_used_once(a, &x))
      return op2(a, AGXC_OP_IADD, op2(a, AGXC_OP_ISUB, *agxc_src_a(def), y), *agxc_src_b(def));
   if ((def = def_const(&y, AGXC_OP_IADD)) && agxc_alg_used_once(a, &y))
      return op2(a, AGXC_OP_IADD, op2(a, AGXC_OP_ISUB, x, *agxc_src_a(def)),
                 agxc_u32(0u - u32(agxc_src_b(def))));
   return agxc_none();
}

static struct agxc_ref rule_ineg(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def;
   if ((def = agxc_def_as(x, AGXC_OP_INEG)))
      return *agxc_src_a(def);
   if ((def = agxc_def_as(x, AGXC_OP_ISUB)))
      return op2(a, AGXC_OP_ISUB, *agxc_src_b(def), *agxc_src_a(def));
   if ((def = def_const(&x, AGXC_OP_IMUL)))
      return as_written(op2(a, AGXC_OP_IMUL, *agxc_src_a(def), agxc_u32(0u - u32(agxc_src_b(def)))),
                        def);
   return agxc_none();
}

/* ---- products ------------------------------------------------------------ */

/* (x + c) u for a uniform u, where c u is u itself, shifted for free: x u is then what other
 * places next to x need, too. */
static struct agxc_ref distribute(struct agxc_algebra *a, struct agxc_ref sum, struct agxc_ref u)
{
   const struct agxc_instr *def = def_const(&sum, AGXC_OP_IADD);
   if (!def || u.kind != AGXC_UNIFORM)
      return agxc_none();
   uint32_t c = u32(agxc_src_b(def)), size = (int32_t)c < 0 ? 0u - c : c;
   if (!size || (size & (size - 1)) || size > 1u << AGXC_ALG_FREE_SHIFT)
      return agxc_none();
   struct agxc_ref product = op2(a, AGXC_OP_IMUL, *agxc_src_a(def), u);
   struct agxc_ref step =
      size == 1 ? u : op2(a, AGXC_OP_ISHL, u, agxc_u32((uint32_t)__builtin_ctz(size)));
   return op2(a, size == c ? AGXC_OP_IADD : AGXC_OP_ISUB, product, step);
}

/* (x << k) y is x y << k, where more shifts may follow. */
static struct agxc_ref shift_product(struct agxc_algebra *a)
{
   struct agxc_ref x = *agxc_src_a(a->instr), y = *agxc_src_b(a->instr);
   for (unsigned i = 0; i < 2; i++) {
      const struct agxc_instr *def = def_const(i ? &y : &x, AGXC_OP_ISHL);
      if (def && agxc_alg_used_once(a, i ? &y : &x) && agxc_alg_may_join(a->instr, def))
         return op2(a, AGXC_OP_ISHL, op2(a, AGXC_OP_IMUL, *agxc_src_a(def), i ? x : y),
                    *agxc_src_b(def));
   }
   return agxc_none();
}

static struct agxc_ref rule_imul(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def;
   if (!is_const(&y)) {
      struct agxc_ref result = distribute(a, x, y);
      if (result.kind == AGXC_NONE)
         result = distribute(a, y, x);
      return result.kind == AGXC_NONE ? shift_product(a) : result;
   }
   if (equals(&y, UINT32_MAX))
      return op1(a, AGXC_OP_INEG, x);
   if ((def = def_const(&x, AGXC_OP_IADD)) &&
       ((a->instr->flags & AGXC_INSTR_WRAPS) ||
        agxc_may_move((int64_t)(int32_t)u32(agxc_src_b(def)) * (int32_t)u32(&y))))
      return op2(a, AGXC_OP_IADD, op2(a, AGXC_OP_IMUL, *agxc_src_a(def), y),
                 agxc_u32(u32(agxc_src_b(def)) * u32(&y)));
   if ((def = def_const(&x, AGXC_OP_IMUL)) && agxc_alg_may_join(a->instr, def))
      return op2(a, AGXC_OP_IMUL, *agxc_src_a(def), agxc_u32(u32(agxc_src_b(def)) * u32(&y)));
   if ((def = def_const(&x, AGXC_OP_ISHL)) && agxc_src_b(def)->imm < 32 &&
       agxc_alg_may_join(a->instr, def))
      return op2(a, AGXC_OP_IMUL, *agxc_src_a(def), agxc_u32(u32(&y) << agxc_src_b(def)->imm));
   if ((def = agxc_def_as(x, AGXC_OP_INEG)))
      return op2(a, AGXC_OP_IMUL, *agxc_src_a(def), agxc_u32(0u - u32(&y)));
   return agxc_none();
}

/* ---- shifts -------------------------------------------------------------- */

static struct agxc_ref rule_ishl(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def;
   if (!is_const(&y))
      return agxc_none();
   if (y.imm >= 32)
      return agxc_u32(0);
   uint32_t k = u32(&y);
   if ((def = def_const(&x, AGXC_OP_IMUL)) && agxc_alg_may_join(a->instr, def))
      return op2(a, AGXC_OP_IMUL, *agxc_src_a(def), agxc_u32(u32(agxc_src_b(def)) << k));
   if ((def = def_const(&x, AGXC_OP_ISHL)) && agxc_src_b(def)->imm + k >= 32)
      return agxc_u32(0);
   /* Down and up again is a mask, unless the way up is free. Where others need what went down, only
    * that mask alone is no more than the way up. */
   if (k > AGXC_ALG_FREE_SHIFT && (def = def_const(&x, AGXC_OP_USHR)) &&
       agxc_src_b(def)->imm < 32 && (agxc_src_b(def)->imm == k || agxc_alg_used_once(a, &x))) {
      uint32_t down = u32(agxc_src_b(def));
      struct agxc_ref moved = down > k ? op2(a, AGXC_OP_USHR, *agxc_src_a(def), agxc_u32(down - k))
                              : down < k
                                 ? op2(a, AGXC_OP_ISHL, *agxc_src_a(def), agxc_u32(k - down))
                                 : *agxc_src_a(def);
      return op2(a, AGXC_OP_IAND, moved, agxc_u32(UINT32_MAX >> down << k));
   }
   return agxc_none();
}

static struct agxc_ref rule_ushr(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def;
   if (!is_const(&y))
      return agxc_none();
   if (y.imm >= 32 || !(~zeros(&x, DEPTH) >> y.imm))
      return agxc_u32(0);
   if ((def = def_const(&x, AGXC_OP_USHR)))
      return op2(a, AGXC_OP_USHR, *agxc_src_a(def),
                 agxc_u32((uint32_t)AGX_MIN(agxc_src_b(def)->imm + y.imm, 32)));
   if ((def = def_const(&x, AGXC_OP_ISHL)) && agxc_same_ref(agxc_src_b(def), &y))
      return op2(a, AGXC_OP_IAND, *agxc_src_a(def), agxc_u32(UINT32_MAX >> y.imm));
   return agxc_none();
}

static struct agxc_ref rule_ashr(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def;
   if (equals(&x, UINT32_MAX))
      return x;
   if (!is_const(&y))
      return agxc_none();
   if (zeros(&x, DEPTH) >> 31)
      return op2(a, AGXC_OP_USHR, x, agxc_u32((uint32_t)AGX_MIN(y.imm, 31)));
   if ((def = def_const(&x, AGXC_OP_ASHR)))
      return op2(a, AGXC_OP_ASHR, *agxc_src_a(def),
                 agxc_u32((uint32_t)AGX_MIN(agxc_src_b(def)->imm + y.imm, 31)));
   return agxc_none();
}

/* ---- logic --------------------------------------------------------------- */

/* x op x, x op ~x, x & (x | y), (x op c) op d. */
static struct agxc_ref rule_logic(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   enum agxc_op op = (enum agxc_op)a->instr->op;
   const struct agxc_instr *def;
   if (agxc_same_ref(&x, &y))
      return op == AGXC_OP_IXOR ? agxc_u32(0) : x;
   for (unsigned i = 0; i < 2; i++) {
      struct agxc_ref one = *agxc_side(a->instr, i), other = *agxc_side(a->instr, 1 - i);
      def = agxc_def_as(one, AGXC_OP_INOT);
      if (def && agxc_same_ref(agxc_src_a(def), &other))
         return agxc_u32(op == AGXC_OP_IAND ? 0 : UINT32_MAX);
      def = op == AGXC_OP_IAND  ? agxc_def_as(one, AGXC_OP_IOR)
            : op == AGXC_OP_IOR ? agxc_def_as(one, AGXC_OP_IAND)
                                : NULL;
      if (def && (agxc_same_ref(agxc_src_a(def), &other) || agxc_same_ref(agxc_src_b(def), &other)))
         return other;
   }
   if (is_const(&y) && (def = def_const(&x, op))) {
      struct agxc_ref constant = agxc_fold(op, 32, *agxc_src_b(def), y);
      return op2(a, op, *agxc_src_a(def), constant);
   }
   return agxc_none();
}

static struct agxc_ref rule_iand(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def;
   if (is_const(&y)) {
      uint32_t maybe = ~zeros(&x, DEPTH), mask = u32(&y);
      if (!(maybe & mask))
         return agxc_u32(0);
      if (!(maybe & ~mask))
         return x;
      /* What the mask drops need not be put there. */
      if (((def = def_const(&x, AGXC_OP_IOR)) || (def = def_const(&x, AGXC_OP_IXOR))) &&
          !(u32(agxc_src_b(def)) & mask))
         return op2(a, AGXC_OP_IAND, *agxc_src_a(def), y);
   }
   return rule_logic(a, x, y);
}

static struct agxc_ref rule_inot(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def;
   if ((def = agxc_def_as(x, AGXC_OP_INEG)))
      return op2(a, AGXC_OP_IADD, *agxc_src_a(def), agxc_u32(UINT32_MAX));
   if ((def = def_const(&x, AGXC_OP_IXOR)))
      return op2(a, AGXC_OP_IXOR, *agxc_src_a(def), agxc_u32(~u32(agxc_src_b(def))));
   return agxc_none();
}

static struct agxc_ref rule_ixor(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def;
   if (equals(&y, UINT32_MAX))
      return op1(a, AGXC_OP_INOT, x);
   if (is_const(&y) && (def = agxc_def_as(x, AGXC_OP_INOT)))
      return op2(a, AGXC_OP_IXOR, *agxc_src_a(def), agxc_u32(~u32(&y)));
   if ((def = agxc_def_as(x, AGXC_OP_IXOR)) && agxc_same_ref(agxc_src_b(def), &y))
      return *agxc_src_a(def);
   if (def && agxc_same_ref(agxc_src_a(def), &y))
      return *agxc_src_b(def);
   return rule_logic(a, x, y);
}

/* ---- least and greatest --------------------------------------------------- */

static struct agxc_ref rule_minmax(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   static const struct {
      uint16_t op;
      uint32_t neutral, absorbing;
   } limits[] = {
      {AGXC_OP_IMIN, INT32_MAX, 0x80000000u},
      {AGXC_OP_IMAX, 0x80000000u, INT32_MAX},
      {AGXC_OP_UMIN, UINT32_MAX, 0},
      {AGXC_OP_UMAX, 0, UINT32_MAX},
   };
   enum agxc_op op = (enum agxc_op)a->instr->op;
   const struct agxc_instr *def;
   if (agxc_same_ref(&x, &y))
      return x;
   if (!is_const(&y))
      return agxc_none();
   for (size_t i = 0; i < AGX_COUNT(limits); i++) {
      if (limits[i].op == op && equals(&y, limits[i].neutral))
         return x;
      if (limits[i].op == op && equals(&y, limits[i].absorbing))
         return y;
   }
   uint32_t greatest = ~zeros(&x, DEPTH);
   bool fits = greatest <= u32(&y) && (op == AGXC_OP_UMIN || (int32_t)u32(&y) >= 0);
   if (fits && (op == AGXC_OP_UMIN || op == AGXC_OP_IMIN) && (int32_t)greatest >= 0)
      return x;
   if ((def = def_const(&x, op)))
      return op2(a, op, *agxc_src_a(def), agxc_fold(op, 32, *agxc_src_b(def), y));
   return agxc_none();
}

agxc_rule *const agxc_int_rules[AGXC_OP_ISA] = {
   [AGXC_OP_IADD] = rule_iadd,   [AGXC_OP_ISUB] = rule_isub,   [AGXC_OP_INEG] = rule_ineg,
   [AGXC_OP_IMUL] = rule_imul,   [AGXC_OP_ISHL] = rule_ishl,   [AGXC_OP_USHR] = rule_ushr,
   [AGXC_OP_ASHR] = rule_ashr,   [AGXC_OP_IAND] = rule_iand,   [AGXC_OP_IOR] = rule_logic,
   [AGXC_OP_IXOR] = rule_ixor,   [AGXC_OP_INOT] = rule_inot,   [AGXC_OP_IMIN] = rule_minmax,
   [AGXC_OP_IMAX] = rule_minmax, [AGXC_OP_UMIN] = rule_minmax, [AGXC_OP_UMAX] = rule_minmax,
};
