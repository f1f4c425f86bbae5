/* SPDX-License-Identifier: MIT
 *
 * Selection: rows that do the work of several generic operations. Each pattern looks at the
 * definitions behind one operation; the inner operations have been selected already, and
 * opt_dce removes those that nothing uses any more. Only a pattern that costs no more than
 * what it replaces, should the inner operation stay, asks nothing about other uses.
 */
#include "agx/compiler/select/select_impl.h"

typedef bool (*pattern_fn)(struct agxc_selector *s, const struct agxc_instr *instr);

static bool is_imm(const struct agxc_ref *ref)
{
   return ref->kind == AGXC_IMM;
}

static bool is_imm_below(const struct agxc_ref *ref, int64_t limit)
{
   return is_imm(ref) && ref->imm < limit;
}

static bool same(const struct agxc_ref *a, const struct agxc_ref *b)
{
   if (a->kind == AGXC_UNIFORM && b->kind == AGXC_UNIFORM)
      return a->half == b->half && a->bits == b->bits;
   return a->kind == AGXC_VALUE && b->kind == AGXC_VALUE && a->value == b->value;
}

/* n when value is 2^n - 1 with n in 1..31, else 0. */
static unsigned ones(int64_t value)
{
   uint32_t v = (uint32_t)value;
   return v && v != UINT32_MAX && !(v & (v + 1)) ? (unsigned)__builtin_popcount(v) : 0;
}

/* The definition of a source, if that operation and used here only. */
static const struct agxc_instr *sole(const struct agxc_selector *s, const struct agxc_ref *ref,
                                     enum agxc_op op)
{
   return agxc_select_used_once(s, ref) ? agxc_select_def_is(s, ref, op) : NULL;
}

static struct agxc_instr *emit(struct agxc_selector *s, const struct agxc_instr *instr,
                               enum agx_isa_op row, unsigned count, const struct agxc_ref *srcs)
{
   struct agxc_ref machine[3];
   for (unsigned i = 0; i < count; i++)
      machine[i] = agxc_select_int(s, srcs[i]);
   return agxc_select_row(s, row, agxc_use(instr->operand[0].value), count, machine);
}

static bool emit_field(struct agxc_selector *s, const struct agxc_instr *instr, enum agx_isa_op row,
                       struct agxc_ref a, struct agxc_ref b, struct agxc_ref c, unsigned bits)
{
   struct agxc_instr *field = emit(s, instr, row, 3, (struct agxc_ref[]){a, b, c});
   agxc_set_mod(field, AGX_ISA_BFI_BITMASK, bits);
   return true;
}

/* ---- sums and products -------------------------------------------------- */

#define MAX_FREE_SHIFT 4

/* Long shifts in sums are products: x + (y << c) is y 2^c + x, one row instead of two on the same
 * pipe. Products themselves go first. */
static bool shifted_sum(struct agxc_selector *s, const struct agxc_instr *instr)
{
   bool subtracts = instr->op == AGXC_OP_ISUB;
   for (unsigned i = 2; i >= 1; i--) {
      struct agxc_ref shifted = instr->operand[i], other = instr->operand[3 - i];
      const struct agxc_instr *shl = sole(s, &shifted, AGXC_OP_ISHL);
      if (!shl || !is_imm_below(&shl->operand[2], 32) || shl->operand[2].imm <= MAX_FREE_SHIFT ||
          sole(s, &other, AGXC_OP_IMUL))
         continue;
      uint32_t factor = 1u << shl->operand[2].imm;
      if (subtracts && i == 2)
         factor = 0u - factor;
      enum agx_isa_op row = subtracts && i == 1 ? AGX_ISA_OP_IMSUB : AGX_ISA_OP_IMADD;
      emit(s, instr, row, 3, (struct agxc_ref[]){shl->operand[1], agxc_imm(factor, 32), other});
      return true;
   }
   return false;
}

/* a b - c, and c - a k for a constant k. */
static bool product_difference(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref x = instr->operand[1], y = instr->operand[2];
   const struct agxc_instr *mul = sole(s, &x, AGXC_OP_IMUL);
   if (mul) {
      emit(s, instr, AGX_ISA_OP_IMSUB, 3, (struct agxc_ref[]){mul->operand[1], mul->operand[2], y});
      return true;
   }
   mul = sole(s, &y, AGXC_OP_IMUL);
   if (!mul || !is_imm(&mul->operand[2]))
      return false;
   struct agxc_ref minus = agxc_imm(0u - (uint32_t)mul->operand[2].imm, 32);
   emit(s, instr, AGX_ISA_OP_IMADD, 3, (struct agxc_ref[]){mul->operand[1], minus, x});
   return true;
}

/* x (2^k + 1) is x + (x << k), x (1 - 2^k) is x - (x << k). */
static bool easy_product(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref x = instr->operand[1];
   for (unsigned k = 1; k <= MAX_FREE_SHIFT && is_imm(&instr->operand[2]); k++) {
      uint32_t factor = (uint32_t)instr->operand[2].imm;
      if (factor != (1u << k) + 1 && factor != 1u - (1u << k))
         continue;
      enum agx_isa_op row = factor == (1u << k) + 1 ? AGX_ISA_OP_IADD : AGX_ISA_OP_ISUB;
      agxc_set_mod(emit(s, instr, row, 2, (struct agxc_ref[]){x, x}), AGX_ISA_IADD_SHIFT, k);
      return true;
   }
   return false;
}

/* ---- bit fields --------------------------------------------------------- */

/* (x >> a) & (2^n - 1). */
static bool masked_shift(struct agxc_selector *s, const struct agxc_instr *instr)
{
   const struct agxc_instr *shr = sole(s, &instr->operand[1], AGXC_OP_USHR);
   unsigned n = is_imm(&instr->operand[2]) ? ones(instr->operand[2].imm) : 0;
   if (!shr || !n)
      return false;
   return emit_field(s, instr, AGX_ISA_OP_BFEIL, agxc_imm(0, 16), shr->operand[1], shr->operand[2],
                     n);
}

/* (x & (2^n - 1 << a)) >> a, and (x << a) >> b for b of at least a. */
static bool shifted_mask(struct agxc_selector *s, const struct agxc_instr *instr)
{
   const struct agxc_ref *x = &instr->operand[1], *amount = &instr->operand[2];
   if (!is_imm_below(amount, 32))
      return false;
   unsigned b = (unsigned)amount->imm;
   const struct agxc_instr *and = sole(s, x, AGXC_OP_IAND), *shl = sole(s, x, AGXC_OP_ISHL);
   if (and&&is_imm(&and->operand[2])) {
      unsigned n = ones((uint32_t) and->operand[2].imm >> b);
      return n &&
             emit_field(s, instr, AGX_ISA_OP_BFEIL, agxc_imm(0, 16), and->operand[1], *amount, n);
   }
   if (!shl || !is_imm(&shl->operand[2]) || shl->operand[2].imm > b || b == 0)
      return false;
   return emit_field(s, instr, AGX_ISA_OP_BFEIL, agxc_imm(0, 16), shl->operand[1],
                     agxc_imm(b - (uint64_t)shl->operand[2].imm, 32), 32 - b);
}

/* x >> 16 is a half of x's register, which users that extend with zeros take as it is: no shift, a
 * copy at most. */
static bool high_half(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref x = instr->operand[1];
   uint32_t id = instr->operand[0].value->id;
   if (!is_imm(&instr->operand[2]) || instr->operand[2].imm != 16 || x.kind != AGXC_VALUE ||
       s->low_uses[id] != s->uses[id])
      return false;
   struct agxc_instr *split = agxc_instr_new_n(s->shader, AGXC_OP_SPLIT, 2, 1);
   for (unsigned i = 0; i < 2; i++) {
      split->operand[i] = agxc_use(agxc_value_new(s->shader, 16, 1));
      split->operand[i].value->def = split;
   }
   split->operand[2] = agxc_select_reg(s, x);
   agxc_insert(&s->at, split);
   s->low[id] = split->operand[1].value;
   /* For patterns that want all 32 bits after all. */
   agxc_select_row(s, AGX_ISA_OP_MOV, agxc_use(instr->operand[0].value), 1, &split->operand[1]);
   return true;
}

/* Whether `left` and `right` are amounts that add up to 32; `rotates` allows both to be 0. */
static bool complementary(const struct agxc_selector *s, const struct agxc_ref *left,
                          const struct agxc_ref *right, bool rotates)
{
   if (is_imm(left) && is_imm(right))
      return left->imm + right->imm == 32;
   const struct agxc_instr *sub = agxc_select_def_is(s, right, AGXC_OP_ISUB);
   if (sub && is_imm(&sub->operand[1]) && sub->operand[1].imm == 32 && same(&sub->operand[2], left))
      return true;
   /* -n & 31 and n & 31. */
   const struct agxc_instr *l = agxc_select_def_is(s, left, AGXC_OP_IAND),
                           *r = agxc_select_def_is(s, right, AGXC_OP_IAND);
   if (!rotates || !l || !r || !is_imm(&l->operand[2]) || !is_imm(&r->operand[2]) ||
       l->operand[2].imm != 31 || r->operand[2].imm != 31)
      return false;
   const struct agxc_instr *neg = agxc_select_def_is(s, &r->operand[1], AGXC_OP_INEG);
   const struct agxc_instr *from = agxc_select_def_is(s, &r->operand[1], AGXC_OP_ISUB);
   if (from && is_imm(&from->operand[1]) && from->operand[1].imm % 32 == 0)
      return same(&from->operand[2], &l->operand[1]);
   return neg && same(&neg->operand[1], &l->operand[1]);
}

/* x << n | y >> 32 - n: 32 bits out of the 64 of x:y. With x = y a rotation. */
static bool funnel(struct agxc_selector *s, const struct agxc_instr *instr)
{
   for (unsigned i = 1; i <= 2; i++) {
      const struct agxc_instr *shl = agxc_select_def_is(s, &instr->operand[i], AGXC_OP_ISHL);
      const struct agxc_instr *shr = agxc_select_def_is(s, &instr->operand[3 - i], AGXC_OP_USHR);
      if (!shl || !shr)
         continue;
      bool rotates = same(&shl->operand[1], &shr->operand[1]);
      if (complementary(s, &shl->operand[2], &shr->operand[2], rotates) ||
          complementary(s, &shr->operand[2], &shl->operand[2], rotates))
         return emit_field(s, instr, AGX_ISA_OP_EXTR, shr->operand[1], shl->operand[1],
                           shr->operand[2], 0);
   }
   return false;
}

/* Bits of a value that are 0 for sure, as far as its next definitions say. */
static uint32_t known_zeros(const struct agxc_selector *s, const struct agxc_ref *ref,
                            unsigned depth)
{
   const struct agxc_instr *def = agxc_select_def(s, ref);
   if (is_imm(ref))
      return ~(uint32_t)ref->imm;
   if (!def || depth == 0 || ref->bits != 32)
      return 0;
   const struct agxc_ref *a = &def->operand[1], *b = &def->operand[2];
   switch (def->op) {
   case AGXC_OP_IAND:
      return known_zeros(s, a, depth - 1) | known_zeros(s, b, depth - 1);
   case AGXC_OP_IOR:
   case AGXC_OP_IXOR:
      return known_zeros(s, a, depth - 1) & known_zeros(s, b, depth - 1);
   case AGXC_OP_SELECT:
      return known_zeros(s, b, depth - 1) & known_zeros(s, &def->operand[3], depth - 1);
   case AGXC_OP_ISHL:
      if (!is_imm_below(b, 32))
         return 0;
      return known_zeros(s, a, depth - 1) << b->imm | (uint32_t)agx_bits((unsigned)b->imm);
   case AGXC_OP_USHR:
      if (!is_imm_below(b, 32))
         return 0;
      return known_zeros(s, a, depth - 1) >> b->imm | ~(UINT32_MAX >> b->imm);
   case AGXC_OP_UBFE:
      return is_imm_below(&def->operand[3], 32) ? ~(uint32_t)agx_bits((unsigned)def->operand[3].imm)
                                                : 0;
   case AGXC_OP_ZEXT:
      return a->bits < 32 ? ~(uint32_t)agx_bits(a->bits) : 0;
   default:
      return 0;
   }
}

#define DEPTH 4

/* x | y << k where the bits of x end below k: x stays, y goes above. A short shift is free in a
 * sum. */
static bool stacked(struct agxc_selector *s, const struct agxc_instr *instr)
{
   for (unsigned i = 2; i >= 1; i--) {
      const struct agxc_instr *shl = sole(s, &instr->operand[i], AGXC_OP_ISHL);
      struct agxc_ref low = instr->operand[3 - i];
      if (!shl || !is_imm_below(&shl->operand[2], 32) || shl->operand[2].imm == 0)
         continue;
      unsigned k = (unsigned)shl->operand[2].imm;
      uint32_t room = UINT32_MAX << k & ~known_zeros(s, &instr->operand[i], DEPTH);
      if (room & ~known_zeros(s, &low, DEPTH)) {
         /* A mask may be what makes the room. */
         const struct agxc_instr *and = sole(s, &low, AGXC_OP_IAND);
         if (!and || !is_imm(&and->operand[2]) || ones(and->operand[2].imm) != k)
            continue;
      }
      if (k <= MAX_FREE_SHIFT) {
         struct agxc_instr *row =
            emit(s, instr, AGX_ISA_OP_IADD, 2, (struct agxc_ref[]){low, shl->operand[1]});
         agxc_set_mod(row, AGX_ISA_IADD_SHIFT, k);
         return true;
      }
      const struct agxc_instr *and = sole(s, &low, AGXC_OP_IAND);
      if (and&&is_imm(&and->operand[2]) && ones(and->operand[2].imm) == k)
         return emit_field(s, instr, AGX_ISA_OP_BFI, and->operand[1], shl->operand[1],
                           shl->operand[2], 0);
      emit(s, instr, AGX_ISA_OP_IMADD, 3,
           (struct agxc_ref[]){shl->operand[1], agxc_imm(1u << k, 32), low});
      return true;
   }
   return false;
}

/* (x & ~m) | (y & m) for m of n ones in a row from bit k: y's field is y, or was moved there. */
static bool inserted(struct agxc_selector *s, const struct agxc_instr *instr)
{
   for (unsigned i = 1; i <= 2; i++) {
      const struct agxc_instr *x = sole(s, &instr->operand[i], AGXC_OP_IAND),
                              *y = sole(s, &instr->operand[3 - i], AGXC_OP_IAND);
      if (!x || !y || !is_imm(&x->operand[2]) || !is_imm(&y->operand[2]))
         continue;
      uint32_t m = (uint32_t)y->operand[2].imm;
      if ((uint32_t)x->operand[2].imm != ~m || m == 0)
         continue;
      unsigned k = (unsigned)__builtin_ctz(m), n = ones(m >> k);
      struct agxc_ref source = y->operand[1];
      const struct agxc_instr *shl = agxc_select_def_is(s, &source, AGXC_OP_ISHL);
      if (!n || (k && (!shl || !is_imm(&shl->operand[2]) || shl->operand[2].imm != k)))
         continue;
      return emit_field(s, instr, AGX_ISA_OP_BFI, x->operand[1], k ? shl->operand[1] : source,
                        agxc_imm(k, 32), k + n == 32 ? 0 : n);
   }
   return false;
}

/* ---- logic -------------------------------------------------------------- */

/* One source is an inversion. */
static bool inverted_source(struct agxc_selector *s, const struct agxc_instr *instr)
{
   enum agx_isa_op row = instr->op == AGXC_OP_IAND  ? AGX_ISA_OP_ANDN2
                         : instr->op == AGXC_OP_IOR ? AGX_ISA_OP_ORN2
                                                    : AGX_ISA_OP_XNOR;
   for (unsigned i = 1; i <= 2; i++) {
      const struct agxc_instr *inot = agxc_select_def_is(s, &instr->operand[i], AGXC_OP_INOT);
      if (!inot)
         continue;
      emit(s, instr, row, 2, (struct agxc_ref[]){instr->operand[3 - i], inot->operand[1]});
      return true;
   }
   return false;
}

/* The whole is inverted. */
static bool inverted_result(struct agxc_selector *s, const struct agxc_instr *instr)
{
   static const struct {
      uint16_t op, row;
   } rows[] = {
      {AGXC_OP_IAND, AGX_ISA_OP_NAND},
      {AGXC_OP_IOR, AGX_ISA_OP_NOR},
      {AGXC_OP_IXOR, AGX_ISA_OP_XNOR},
   };
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      const struct agxc_instr *def = sole(s, &instr->operand[1], (enum agxc_op)rows[i].op);
      if (!def)
         continue;
      emit(s, instr, (enum agx_isa_op)rows[i].row, 2, &def->operand[1]);
      return true;
   }
   return false;
}

/* ---- floats ------------------------------------------------------------- */

/* Clamping to 0..1 is a modifier of what made the value. */
static bool saturated(struct agxc_selector *s, const struct agxc_instr *instr)
{
   static const struct {
      uint16_t op, row;
      uint8_t sat;
   } rows[] = {
      {AGXC_OP_FADD, AGX_ISA_OP_FADD, AGX_ISA_FADD_SAT},
      {AGXC_OP_FSUB, AGX_ISA_OP_FADD, AGX_ISA_FADD_SAT},
      {AGXC_OP_FMUL, AGX_ISA_OP_FMUL, AGX_ISA_FMUL_SAT},
      {AGXC_OP_FFMA, AGX_ISA_OP_FFMA, AGX_ISA_FFMA_SAT},
   };
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      const struct agxc_instr *def = sole(s, &instr->operand[1], (enum agxc_op)rows[i].op);
      struct agxc_ref srcs[3];
      if (!def)
         continue;
      for (unsigned j = 0; j < def->src_count; j++)
         srcs[j] = agxc_select_float(s, def->operand[1 + j]);
      if (def->op == AGXC_OP_FSUB && srcs[1].kind == AGXC_FIMM)
         srcs[1].imm ^= 0x80;
      else
         srcs[1].neg ^= def->op == AGXC_OP_FSUB;
      struct agxc_instr *row = agxc_select_row(
         s, (enum agx_isa_op)rows[i].row, agxc_use(instr->operand[0].value), def->src_count, srcs);
      agxc_set_mod(row, rows[i].sat, 1);
      return true;
   }
   return false;
}

/* Whole numbers of 8 and 16 bits out of a wider one's low end; of a narrow number the mask keeps
 * the sign. */
static bool narrow_to_float(struct agxc_selector *s, const struct agxc_instr *instr)
{
   const struct agxc_instr *and = sole(s, &instr->operand[1], AGXC_OP_IAND);
   int64_t mask = and&&is_imm(&and->operand[2]) ? and->operand[2].imm : 0;
   if ((mask != 0xff && mask != 0xffff) ||
       (instr->op == AGXC_OP_S2F && mask >> (instr->operand[1].bits - 1) & 1))
      return false;
   struct agxc_instr *row =
      emit(s, instr, mask == 0xff ? AGX_ISA_OP_U8_TO_F : AGX_ISA_OP_U16_TO_F, 1, &and->operand[1]);
   agxc_set_mod(row, AGX_ISA_U8_TO_F_ROUND, AGX_ISA_ROUND_RTE);
   return true;
}

/* ---- the table ----------------------------------------------------------- */

static const struct {
   uint16_t op;
   pattern_fn match;
} patterns[] = {
   {AGXC_OP_IADD, shifted_sum},     {AGXC_OP_ISUB, product_difference},
   {AGXC_OP_ISUB, shifted_sum},     {AGXC_OP_IMUL, easy_product},
   {AGXC_OP_IADD, funnel},          {AGXC_OP_IAND, masked_shift},
   {AGXC_OP_IAND, inverted_source}, {AGXC_OP_IOR, funnel},
   {AGXC_OP_IOR, inserted},         {AGXC_OP_IOR, stacked},
   {AGXC_OP_IOR, inverted_source},  {AGXC_OP_IXOR, funnel},
   {AGXC_OP_IXOR, inserted},        {AGXC_OP_IXOR, stacked},
   {AGXC_OP_IXOR, inverted_source}, {AGXC_OP_INOT, inverted_result},
   {AGXC_OP_USHR, shifted_mask},    {AGXC_OP_USHR, high_half},
   {AGXC_OP_FSAT, saturated},       {AGXC_OP_U2F, narrow_to_float},
   {AGXC_OP_S2F, narrow_to_float},
};

bool agxc_select_pattern(struct agxc_selector *s, const struct agxc_instr *instr)
{
   if (instr->dest_count != 1)
      return false;
   if (instr->operand[0].bits == 1)
      return agxc_select_logic(s, instr);
   if (instr->operand[0].bits != 32)
      return false;
   for (size_t i = 0; i < AGX_COUNT(patterns); i++)
      if (patterns[i].op == instr->op && patterns[i].match(s, instr))
         return true;
   return false;
}
