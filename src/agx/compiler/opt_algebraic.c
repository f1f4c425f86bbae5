/* SPDX-License-Identifier: MIT
 *
 * Constant folding of integers and booleans, identities, and cheaper forms of products
 * and quotients by powers of two. Floats are left alone: their arithmetic is the
 * machine's to do.
 */
#include "agx/compiler/passes.h"

struct rule_input {
   struct agxc_builder b;
   struct agxc_instr *instr;
   unsigned op, bits;       /* of the result */
   struct agxc_ref a, c, d; /* sources that exist */
};

static bool is_const(struct agxc_ref ref)
{
   return ref.kind == AGXC_IMM;
}

static bool is_value(struct agxc_ref ref, uint64_t value)
{
   return ref.kind == AGXC_IMM && (uint64_t)ref.imm == (value & agx_bits(ref.bits));
}

static bool is_same(struct agxc_ref a, struct agxc_ref b)
{
   return a.kind == AGXC_VALUE && b.kind == AGXC_VALUE && a.value == b.value;
}

static struct agxc_instr *def_of(struct agxc_ref ref, enum agxc_op op)
{
   if (ref.kind != AGXC_VALUE || !ref.value->def || ref.value->def->op != op)
      return NULL;
   return ref.value->def;
}

static int64_t sign_extended(struct agxc_ref ref)
{
   unsigned unused = 64u - ref.bits;
   return (int64_t)((uint64_t)ref.imm << unused) >> unused;
}

/* ---- folding ------------------------------------------------------------ */

static uint64_t fold_shift(unsigned op, struct agxc_ref a, uint64_t amount)
{
   if (amount >= a.bits)
      return op == AGXC_OP_ASHR && sign_extended(a) < 0 ? ~0ull : 0;
   if (op == AGXC_OP_ISHL)
      return (uint64_t)a.imm << amount;
   return op == AGXC_OP_USHR ? (uint64_t)a.imm >> amount : (uint64_t)(sign_extended(a) >> amount);
}

static bool fold2(unsigned op, struct agxc_ref a, struct agxc_ref c, uint64_t *out)
{
   uint64_t x = (uint64_t)a.imm, y = (uint64_t)c.imm;
   switch (op) {
   case AGXC_OP_IADD:
      *out = x + y;
      return true;
   case AGXC_OP_ISUB:
      *out = x - y;
      return true;
   case AGXC_OP_IMUL:
      *out = x * y;
      return true;
   case AGXC_OP_IAND:
      *out = x & y;
      return true;
   case AGXC_OP_IOR:
      *out = x | y;
      return true;
   case AGXC_OP_IXOR:
      *out = x ^ y;
      return true;
   case AGXC_OP_IEQ:
      *out = x == y;
      return true;
   case AGXC_OP_INE:
      *out = x != y;
      return true;
   case AGXC_OP_ULT:
      *out = x < y;
      return true;
   case AGXC_OP_UGE:
      *out = x >= y;
      return true;
   case AGXC_OP_SLT:
      *out = sign_extended(a) < sign_extended(c);
      return true;
   case AGXC_OP_SGE:
      *out = sign_extended(a) >= sign_extended(c);
      return true;
   case AGXC_OP_UDIV:
      *out = y ? x / y : 0;
      return y != 0;
   case AGXC_OP_UMOD:
      *out = y ? x % y : 0;
      return y != 0;
   case AGXC_OP_ISHL:
   case AGXC_OP_USHR:
   case AGXC_OP_ASHR:
      *out = fold_shift(op, a, y);
      return true;
   default:
      return false;
   }
}

static bool fold1(unsigned op, struct agxc_ref a, uint64_t *out)
{
   switch (op) {
   case AGXC_OP_INOT:
      *out = ~(uint64_t)a.imm;
      return true;
   case AGXC_OP_INEG:
      *out = -(uint64_t)a.imm;
      return true;
   case AGXC_OP_ZEXT:
   case AGXC_OP_TRUNC:
      *out = (uint64_t)a.imm;
      return true;
   case AGXC_OP_SEXT:
      *out = (uint64_t)sign_extended(a);
      return true;
   default:
      return false;
   }
}

static struct agxc_ref fold(const struct rule_input *in)
{
   uint64_t result = 0;
   if (in->instr->src_count == 1 && is_const(in->a) && fold1(in->op, in->a, &result))
      return agxc_imm(result, in->bits);
   if (in->instr->src_count == 2 && is_const(in->a) && is_const(in->c) &&
       fold2(in->op, in->a, in->c, &result))
      return agxc_imm(result, in->bits);
   return agxc_none();
}

/* ---- identities --------------------------------------------------------- */

static unsigned log2_of(struct agxc_ref ref)
{
   return (unsigned)__builtin_ctzll((uint64_t)ref.imm);
}

static bool is_power_of_two(struct agxc_ref ref)
{
   return is_const(ref) && ref.imm > 0 && (ref.imm & (ref.imm - 1)) == 0;
}

static struct agxc_ref simplify_sum(struct rule_input *in)
{
   if (is_value(in->c, 0))
      return in->a;
   if (in->op == AGXC_OP_ISUB)
      return is_same(in->a, in->c) ? agxc_imm(0, in->bits) : agxc_none();
   struct agxc_instr *inner = def_of(in->a, AGXC_OP_IADD);
   if (!inner || !is_const(in->c) || !is_const(inner->operand[2]) ||
       inner->operand[1].kind != AGXC_VALUE)
      return agxc_none();
   uint64_t sum = (uint64_t)in->c.imm + (uint64_t)inner->operand[2].imm;
   return agxc_build2(&in->b, AGXC_OP_IADD, in->bits, inner->operand[1], agxc_imm(sum, in->bits));
}

static struct agxc_ref simplify_product(struct rule_input *in)
{
   if (is_value(in->c, 0))
      return agxc_imm(0, in->bits);
   if (is_value(in->c, 1))
      return in->a;
   if (is_power_of_two(in->c))
      return agxc_build2(&in->b, AGXC_OP_ISHL, in->bits, in->a, agxc_imm(log2_of(in->c), 32));
   return agxc_none();
}

static struct agxc_ref simplify_quotient(struct rule_input *in)
{
   if (!is_power_of_two(in->c))
      return agxc_none();
   if (in->op == AGXC_OP_UDIV)
      return agxc_build2(&in->b, AGXC_OP_USHR, in->bits, in->a, agxc_imm(log2_of(in->c), 32));
   return agxc_build2(&in->b, AGXC_OP_IAND, in->bits, in->a,
                      agxc_imm((uint64_t)in->c.imm - 1, in->bits));
}

static struct agxc_ref simplify_logic(struct rule_input *in)
{
   uint64_t ones = agx_bits(in->bits);
   if (is_same(in->a, in->c))
      return in->op == AGXC_OP_IXOR ? agxc_imm(0, in->bits) : in->a;
   if (is_value(in->c, 0))
      return in->op == AGXC_OP_IAND ? in->c : in->a;
   if (!is_value(in->c, ones))
      return agxc_none();
   if (in->op == AGXC_OP_IXOR)
      return agxc_build1(&in->b, AGXC_OP_INOT, in->bits, in->a);
   return in->op == AGXC_OP_IAND ? in->a : in->c;
}

static struct agxc_ref simplify_shift(struct rule_input *in)
{
   if (is_value(in->c, 0) || is_value(in->a, 0))
      return in->a;
   struct agxc_instr *inner = def_of(in->a, (enum agxc_op)in->op);
   if (in->op != AGXC_OP_ISHL || !inner || !is_const(in->c) || !is_const(inner->operand[2]) ||
       inner->operand[1].kind != AGXC_VALUE || in->c.imm + inner->operand[2].imm >= in->bits)
      return agxc_none();
   uint64_t amount = (uint64_t)in->c.imm + (uint64_t)inner->operand[2].imm;
   return agxc_build2(&in->b, AGXC_OP_ISHL, in->bits, inner->operand[1], agxc_imm(amount, 32));
}

static struct agxc_ref simplify_select(struct rule_input *in)
{
   if (is_const(in->a))
      return in->a.imm ? in->c : in->d;
   if (is_same(in->c, in->d))
      return in->c;
   if (in->bits == 1 && is_value(in->c, 1) && is_value(in->d, 0))
      return in->a;
   if (in->bits == 1 && is_value(in->c, 0) && is_value(in->d, 1))
      return agxc_build1(&in->b, AGXC_OP_INOT, 1, in->a);
   return agxc_none();
}

/* Booleans that went through an integer: select(b, 1, 0) != 0, zext(b) == 0. */
static struct agxc_ref simplify_equality(struct rule_input *in)
{
   if (!is_value(in->c, 0))
      return agxc_none();
   struct agxc_ref truth = agxc_none();
   struct agxc_instr *def = def_of(in->a, AGXC_OP_ZEXT);
   if (def && def->operand[1].bits == 1)
      truth = def->operand[1];
   def = def_of(in->a, AGXC_OP_SELECT);
   if (def && is_const(def->operand[2]) && def->operand[2].imm != 0 && is_value(def->operand[3], 0))
      truth = def->operand[1];
   if (in->a.bits == 1)
      truth = in->a;
   if (truth.kind == AGXC_NONE || in->op == AGXC_OP_INE)
      return truth;
   return agxc_build1(&in->b, AGXC_OP_INOT, 1, truth);
}

static struct agxc_ref simplify_not(struct rule_input *in)
{
   struct agxc_instr *inner = def_of(in->a, AGXC_OP_INOT);
   return inner ? inner->operand[1] : agxc_none();
}

static struct agxc_ref simplify(struct rule_input *in)
{
   switch (in->op) {
   case AGXC_OP_IADD:
   case AGXC_OP_ISUB:
      return simplify_sum(in);
   case AGXC_OP_IMUL:
      return simplify_product(in);
   case AGXC_OP_UDIV:
   case AGXC_OP_UMOD:
      return simplify_quotient(in);
   case AGXC_OP_IAND:
   case AGXC_OP_IOR:
   case AGXC_OP_IXOR:
      return simplify_logic(in);
   case AGXC_OP_ISHL:
   case AGXC_OP_USHR:
   case AGXC_OP_ASHR:
      return simplify_shift(in);
   case AGXC_OP_SELECT:
      return simplify_select(in);
   case AGXC_OP_IEQ:
   case AGXC_OP_INE:
      return simplify_equality(in);
   case AGXC_OP_INOT:
      return simplify_not(in);
   default:
      return agxc_none();
   }
}

/* ---- driver ------------------------------------------------------------- */

/* Constants stand on the right, so that rules look there only. */
static bool order_sources(struct agxc_instr *instr)
{
   struct agxc_ref *src = agxc_srcs(instr);
   if (!(agxc_flags(instr) & AGXC_COMMUTATIVE) || !is_const(src[0]) || is_const(src[1]))
      return false;
   struct agxc_ref swap = src[0];
   src[0] = src[1];
   src[1] = swap;
   return true;
}

static bool visit(struct agxc_shader *shader, struct agxc_instr *instr)
{
   if (agxc_is_machine(instr) || instr->dest_count != 1 || instr->src_count < 1 ||
       instr->src_count > 3 || instr->op == AGXC_OP_PHI || instr->op == AGXC_OP_MOV)
      return false;
   bool changed = order_sources(instr);
   const struct agxc_ref *src = agxc_srcs(instr);
   struct rule_input in = {.b = agxc_before(shader, instr), .instr = instr, .op = instr->op};
   in.bits = instr->operand[0].bits;
   in.a = src[0];
   in.c = instr->src_count > 1 ? src[1] : agxc_none();
   in.d = instr->src_count > 2 ? src[2] : agxc_none();
   struct agxc_ref result = fold(&in);
   if (result.kind == AGXC_NONE)
      result = simplify(&in);
   if (result.kind == AGXC_NONE || result.bits != in.bits)
      return changed;
   struct agxc_instr *move = agxc_instr_new(shader, AGXC_OP_MOV);
   move->operand[0] = instr->operand[0];
   move->operand[0].value->def = move;
   move->operand[1] = result;
   agxc_insert(&in.b, move);
   agxc_instr_remove(instr);
   return true;
}

bool agxc_opt_algebraic(struct agxc_shader *shader)
{
   bool changed = false;
   agxc_index(shader);
   agxc_foreach_block (block, shader)
      agxc_foreach_instr_safe (instr, block)
         changed |= visit(shader, instr);
   return changed;
}
