/* SPDX-License-Identifier: MIT
 *
 * Selection: instructions that do the work of several generic operations. Each pattern looks at the
 * definitions behind one operation; the inner operations have been selected already, and
 * opt_dce removes those that nothing uses any more. Only a pattern that costs no more than
 * what it replaces, should the inner operation stay, asks nothing about other uses.
 *
 *    before   %2 = iand %0, %1     %3 = inot %2
 *    after    %3 = agx.nand %0, %1
 *
 * Long shifts in sums, bit fields and rotations, joined words, inverted logic, saturation,
 * conversion of bytes.
 */
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/select/select_impl.h"

typedef bool (*pattern_fn)(struct agxc_selector *s, const struct agxc_instr *instr);

static bool is_imm(const struct agxc_ref *ref)
{
   return ref->kind == AGXC_IMM;
}

static bool is_imm_below(const struct agxc_ref *ref, uint64_t limit)
{
   return is_imm(ref) && (uint64_t)ref->imm < limit;
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
                               enum agx_isa_op opcode, unsigned count, const struct agxc_ref *srcs)
{
   struct agxc_ref machine[3];
   for (unsigned i = 0; i < count; i++)
      machine[i] = agxc_select_int(s, srcs[i]);
   return agxc_select_instr(s, opcode, agxc_select_dest(instr), count, machine);
}

static bool emit_field(struct agxc_selector *s, const struct agxc_instr *instr,
                       enum agx_isa_op opcode, struct agxc_ref a, struct agxc_ref b,
                       struct agxc_ref c, unsigned bits)
{
   struct agxc_instr *field = emit(s, instr, opcode, 3, (struct agxc_ref[]){a, b, c});
   agxc_set_machine_bitmask(field, bits);
   return true;
}

/* ---- sums and products -------------------------------------------------- */

#define MAX_FREE_SHIFT 4

/* Long shifts in sums are products: x + (y << c) is y 2^c + x, one instruction instead of two on
 * the same pipe. Products themselves go first. */
static bool shifted_sum(struct agxc_selector *s, const struct agxc_instr *instr)
{
   bool subtracts = instr->op == AGXC_OP_ISUB;
   for (unsigned i = 2; i-- > 0;) {
      struct agxc_ref shifted = *agxc_side(instr, i), other = *agxc_side(instr, 1 - i);
      const struct agxc_instr *shl = sole(s, &shifted, AGXC_OP_ISHL);
      if (!shl || !is_imm_below(agxc_src_b(shl), 32) || agxc_src_b(shl)->imm <= MAX_FREE_SHIFT ||
          sole(s, &other, AGXC_OP_IMUL))
         continue;
      uint32_t factor = 1u << agxc_src_b(shl)->imm;
      if (subtracts && i == 1)
         factor = 0u - factor;
      enum agx_isa_op opcode = subtracts && i == 0 ? AGX_ISA_OP_IMSUB : AGX_ISA_OP_IMADD;
      emit(s, instr, opcode, 3, (struct agxc_ref[]){*agxc_src_a(shl), agxc_imm(factor, 32), other});
      return true;
   }
   return false;
}

/* a b - c, and c - a k for a constant k. */
static bool product_difference(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref x = *agxc_src_a(instr), y = *agxc_src_b(instr);
   const struct agxc_instr *mul = sole(s, &x, AGXC_OP_IMUL);
   if (mul) {
      emit(s, instr, AGX_ISA_OP_IMSUB, 3,
           (struct agxc_ref[]){*agxc_src_a(mul), *agxc_src_b(mul), y});
      return true;
   }
   mul = sole(s, &y, AGXC_OP_IMUL);
   if (!mul || !is_imm(agxc_src_b(mul)))
      return false;
   struct agxc_ref minus = agxc_imm(0u - (uint32_t)agxc_src_b(mul)->imm, 32);
   emit(s, instr, AGX_ISA_OP_IMADD, 3, (struct agxc_ref[]){*agxc_src_a(mul), minus, x});
   return true;
}

/* x (2^k + 1) is x + (x << k), x (1 - 2^k) is x - (x << k). */
static bool easy_product(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref x = *agxc_src_a(instr);
   for (unsigned k = 1; k <= MAX_FREE_SHIFT && is_imm(agxc_src_b(instr)); k++) {
      uint32_t factor = (uint32_t)agxc_src_b(instr)->imm;
      if (factor != (1u << k) + 1 && factor != 1u - (1u << k))
         continue;
      enum agx_isa_op opcode = factor == (1u << k) + 1 ? AGX_ISA_OP_IADD : AGX_ISA_OP_ISUB;
      agxc_set_machine_shift(emit(s, instr, opcode, 2, (struct agxc_ref[]){x, x}), k);
      return true;
   }
   return false;
}

/* ---- bit fields --------------------------------------------------------- */

/* (x >> a) & (2^n - 1). */
static bool masked_shift(struct agxc_selector *s, const struct agxc_instr *instr)
{
   const struct agxc_instr *shr = sole(s, agxc_src_a(instr), AGXC_OP_USHR);
   unsigned n = is_imm(agxc_src_b(instr)) ? ones(agxc_src_b(instr)->imm) : 0;
   if (!shr || !n)
      return false;
   return emit_field(s, instr, AGX_ISA_OP_BFEIL, agxc_imm(0, 16), *agxc_src_a(shr),
                     *agxc_src_b(shr), n);
}

/* (x & (2^n - 1 << a)) >> a, and (x << a) >> b for b of at least a. */
static bool shifted_mask(struct agxc_selector *s, const struct agxc_instr *instr)
{
   const struct agxc_ref *x = agxc_src_a(instr), *amount = agxc_src_b(instr);
   if (!is_imm_below(amount, 32))
      return false;
   unsigned b = (unsigned)amount->imm;
   const struct agxc_instr *and = sole(s, x, AGXC_OP_IAND), *shl = sole(s, x, AGXC_OP_ISHL);
   if (and&&is_imm(agxc_src_b(and))) {
      unsigned n = ones((uint32_t)agxc_src_b(and)->imm >> b);
      return n &&
             emit_field(s, instr, AGX_ISA_OP_BFEIL, agxc_imm(0, 16), *agxc_src_a(and), *amount, n);
   }
   if (!shl || !is_imm(agxc_src_b(shl)) || agxc_src_b(shl)->imm > b || b == 0)
      return false;
   return emit_field(s, instr, AGX_ISA_OP_BFEIL, agxc_imm(0, 16), *agxc_src_a(shl),
                     agxc_imm(b - (uint64_t)agxc_src_b(shl)->imm, 32), 32 - b);
}

/* x >> 16 is a half of x's register, which users that extend with zeros take as it is: no shift, a
 * copy at most. */
static bool high_half(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref x = *agxc_src_a(instr);
   uint32_t id = agxc_dest(instr)->value->id;
   if (!is_imm(agxc_src_b(instr)) || agxc_src_b(instr)->imm != 16 || x.kind != AGXC_VALUE ||
       s->low_uses[id] != s->uses[id])
      return false;
   struct agxc_ref low = agxc_use(agxc_value_new(s->shader, 16, 1));
   struct agxc_ref high = agxc_use(agxc_value_new(s->shader, 16, 1));
   agxc_select_split(s, agxc_select_reg(s, x), low, high);
   s->low[id] = high.value;
   /* For patterns that want all 32 bits after all. */
   agxc_select_op(s, AGX_ISA_OP_MOV, agxc_select_dest(instr), high);
   return true;
}

/* Whether `left` and `right` are amounts that add up to 32; `rotates` allows both to be 0. */
static bool complementary(const struct agxc_selector *s, const struct agxc_ref *left,
                          const struct agxc_ref *right, bool rotates)
{
   if (is_imm(left) && is_imm(right))
      return left->imm + right->imm == 32;
   const struct agxc_instr *sub = agxc_select_def_is(s, right, AGXC_OP_ISUB);
   if (sub && is_imm(agxc_src_a(sub)) && agxc_src_a(sub)->imm == 32 &&
       agxc_same_ref(agxc_src_b(sub), left))
      return true;
   /* -n & 31 and n & 31. */
   const struct agxc_instr *l = agxc_select_def_is(s, left, AGXC_OP_IAND),
                           *r = agxc_select_def_is(s, right, AGXC_OP_IAND);
   if (!rotates || !l || !r || !is_imm(agxc_src_b(l)) || !is_imm(agxc_src_b(r)) ||
       agxc_src_b(l)->imm != 31 || agxc_src_b(r)->imm != 31)
      return false;
   const struct agxc_instr *neg = agxc_select_def_is(s, agxc_src_a(r), AGXC_OP_INEG);
   const struct agxc_instr *from = agxc_select_def_is(s, agxc_src_a(r), AGXC_OP_ISUB);
   if (from && is_imm(agxc_src_a(from)) && agxc_src_a(from)->imm % 32 == 0)
      return agxc_same_ref(agxc_src_b(from), agxc_src_a(l));
   return neg && agxc_same_ref(agxc_src_a(neg), agxc_src_a(l));
}

/* x << n | y >> 32 - n: 32 bits out of the 64 of x:y. With x = y a rotation. */
static bool funnel(struct agxc_selector *s, const struct agxc_instr *instr)
{
   for (unsigned i = 0; i < 2; i++) {
      const struct agxc_instr *shl = agxc_select_def_is(s, agxc_side(instr, i), AGXC_OP_ISHL);
      const struct agxc_instr *shr = agxc_select_def_is(s, agxc_side(instr, 1 - i), AGXC_OP_USHR);
      if (!shl || !shr)
         continue;
      bool rotates = agxc_same_ref(agxc_src_a(shl), agxc_src_a(shr));
      if (complementary(s, agxc_src_b(shl), agxc_src_b(shr), rotates) ||
          complementary(s, agxc_src_b(shr), agxc_src_b(shl), rotates))
         return emit_field(s, instr, AGX_ISA_OP_EXTR, *agxc_src_a(shr), *agxc_src_a(shl),
                           *agxc_src_b(shr), 0);
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
   switch (def->op) {
   case AGXC_OP_IAND:
      return known_zeros(s, agxc_src_a(def), depth - 1) |
             known_zeros(s, agxc_src_b(def), depth - 1);
   case AGXC_OP_IOR:
   case AGXC_OP_IXOR:
      return known_zeros(s, agxc_src_a(def), depth - 1) &
             known_zeros(s, agxc_src_b(def), depth - 1);
   case AGXC_OP_SELECT:
      return known_zeros(s, agxc_src_if_true(def), depth - 1) &
             known_zeros(s, agxc_src_if_false(def), depth - 1);
   case AGXC_OP_ISHL:
      if (!is_imm_below(agxc_src_b(def), 32))
         return 0;
      return known_zeros(s, agxc_src_a(def), depth - 1) << agxc_src_b(def)->imm |
             (uint32_t)agx_bits((unsigned)agxc_src_b(def)->imm);
   case AGXC_OP_USHR:
      if (!is_imm_below(agxc_src_b(def), 32))
         return 0;
      return known_zeros(s, agxc_src_a(def), depth - 1) >> agxc_src_b(def)->imm |
             ~(UINT32_MAX >> agxc_src_b(def)->imm);
   case AGXC_OP_UBFE:
      return is_imm_below(agxc_src_width(def), 32)
                ? ~(uint32_t)agx_bits((unsigned)agxc_src_width(def)->imm)
                : 0;
   case AGXC_OP_ZEXT:
      return agxc_src_a(def)->bits < 32 ? ~(uint32_t)agx_bits(agxc_src_a(def)->bits) : 0;
   default:
      return 0;
   }
}

#define DEPTH 4

/* x | y << k where the bits of x end below k: x stays, y goes above. A short shift is free in a
 * sum. */
static bool stacked(struct agxc_selector *s, const struct agxc_instr *instr)
{
   for (unsigned i = 2; i-- > 0;) {
      const struct agxc_instr *shl = sole(s, agxc_side(instr, i), AGXC_OP_ISHL);
      struct agxc_ref low = *agxc_side(instr, 1 - i);
      if (!shl || !is_imm_below(agxc_src_b(shl), 32) || agxc_src_b(shl)->imm == 0)
         continue;
      unsigned k = (unsigned)agxc_src_b(shl)->imm;
      uint32_t room = UINT32_MAX << k & ~known_zeros(s, agxc_side(instr, i), DEPTH);
      if (room & ~known_zeros(s, &low, DEPTH)) {
         /* A mask may be what makes the room. */
         const struct agxc_instr *and = sole(s, &low, AGXC_OP_IAND);
         if (!and || !is_imm(agxc_src_b(and)) || ones(agxc_src_b(and)->imm) != k)
            continue;
      }
      if (k <= MAX_FREE_SHIFT) {
         struct agxc_instr *machine =
            emit(s, instr, AGX_ISA_OP_IADD, 2, (struct agxc_ref[]){low, *agxc_src_a(shl)});
         agxc_set_machine_shift(machine, k);
         return true;
      }
      const struct agxc_instr *and = sole(s, &low, AGXC_OP_IAND);
      if (and&&is_imm(agxc_src_b(and)) && ones(agxc_src_b(and)->imm) == k)
         return emit_field(s, instr, AGX_ISA_OP_BFI, *agxc_src_a(and), *agxc_src_a(shl),
                           *agxc_src_b(shl), 0);
      emit(s, instr, AGX_ISA_OP_IMADD, 3,
           (struct agxc_ref[]){*agxc_src_a(shl), agxc_imm(1u << k, 32), low});
      return true;
   }
   return false;
}

/* (x & ~m) | (y & m) for m of n ones in a row from bit k: y's field is y, or was moved there. */
static bool inserted(struct agxc_selector *s, const struct agxc_instr *instr)
{
   for (unsigned i = 0; i < 2; i++) {
      const struct agxc_instr *x = sole(s, agxc_side(instr, i), AGXC_OP_IAND),
                              *y = sole(s, agxc_side(instr, 1 - i), AGXC_OP_IAND);
      if (!x || !y || !is_imm(agxc_src_b(x)) || !is_imm(agxc_src_b(y)))
         continue;
      uint32_t m = (uint32_t)agxc_src_b(y)->imm;
      if ((uint32_t)agxc_src_b(x)->imm != ~m || m == 0)
         continue;
      unsigned k = (unsigned)__builtin_ctz(m), n = ones(m >> k);
      struct agxc_ref source = *agxc_src_a(y);
      const struct agxc_instr *shl = agxc_select_def_is(s, &source, AGXC_OP_ISHL);
      if (!n || (k && (!shl || !is_imm(agxc_src_b(shl)) || agxc_src_b(shl)->imm != k)))
         continue;
      return emit_field(s, instr, AGX_ISA_OP_BFI, *agxc_src_a(x), k ? *agxc_src_a(shl) : source,
                        agxc_imm(k, 32), k + n == 32 ? 0 : n);
   }
   return false;
}

/* ---- logic -------------------------------------------------------------- */

/* One source is an inversion. */
static bool inverted_source(struct agxc_selector *s, const struct agxc_instr *instr)
{
   enum agx_isa_op opcode = instr->op == AGXC_OP_IAND  ? AGX_ISA_OP_ANDN2
                            : instr->op == AGXC_OP_IOR ? AGX_ISA_OP_ORN2
                                                       : AGX_ISA_OP_XNOR;
   for (unsigned i = 0; i < 2; i++) {
      const struct agxc_instr *inot = agxc_select_def_is(s, agxc_side(instr, i), AGXC_OP_INOT);
      if (!inot)
         continue;
      emit(s, instr, opcode, 2, (struct agxc_ref[]){*agxc_side(instr, 1 - i), *agxc_src_a(inot)});
      return true;
   }
   return false;
}

/* The whole is inverted. */
static bool inverted_result(struct agxc_selector *s, const struct agxc_instr *instr)
{
   static const struct {
      uint16_t op, opcode;
   } rows[] = {
      {AGXC_OP_IAND, AGX_ISA_OP_NAND},
      {AGXC_OP_IOR, AGX_ISA_OP_NOR},
      {AGXC_OP_IXOR, AGX_ISA_OP_XNOR},
   };
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      const struct agxc_instr *def = sole(s, agxc_src_a(instr), (enum agxc_op)rows[i].op);
      if (!def)
         continue;
      emit(s, instr, (enum agx_isa_op)rows[i].opcode, 2, agxc_src_a(def));
      return true;
   }
   return false;
}

/* ---- sums that don't wrap ----------------------------------------------- */

static bool is_imm_of(const struct agxc_ref *ref, uint32_t value)
{
   return is_imm(ref) && (uint32_t)ref->imm == value;
}

/* sum ^ other, in either order; NULL when the instruction is something else. */
static const struct agxc_ref *other_than(const struct agxc_instr *ixor, const struct agxc_ref *sum)
{
   for (unsigned i = 0; ixor && i < 2; i++)
      if (agxc_same_ref(&agxc_srcs(ixor)[i], sum))
         return &agxc_srcs(ixor)[1 - i];
   return NULL;
}

/* Whether the two are, in either order, what the instruction adds. */
static bool are_addends(const struct agxc_instr *add, const struct agxc_ref *x,
                        const struct agxc_ref *y)
{
   const struct agxc_ref *a = agxc_src_a(add), *b = agxc_src_b(add);
   return x && y &&
          ((agxc_same_ref(a, x) && agxc_same_ref(b, y)) ||
           (agxc_same_ref(a, y) && agxc_same_ref(b, x)));
}

/* Saturating products of bytes end so: where both addends have one sign and the sum has another,
 * the end of the range on their side (spirv/dot.c). Source of the modifier:
 * docs/hw/semantics.md 5. */
static bool limited_sum(struct agxc_selector *s, const struct agxc_instr *instr)
{
   const struct agxc_ref *sum = agxc_src_if_false(instr);
   const struct agxc_instr *add = agxc_select_def_is(s, sum, AGXC_OP_IADD);
   const struct agxc_instr *wraps = agxc_select_def_is(s, agxc_src_condition(instr), AGXC_OP_SLT);
   const struct agxc_instr *end = agxc_select_def_is(s, agxc_src_if_true(instr), AGXC_OP_IXOR);
   if (!add || !wraps || !end || !is_imm_of(agxc_src_b(wraps), 0) ||
       !is_imm_of(agxc_src_b(end), INT32_MAX))
      return false;
   const struct agxc_instr *both = agxc_select_def_is(s, agxc_src_a(wraps), AGXC_OP_IAND);
   const struct agxc_instr *sign = agxc_select_def_is(s, agxc_src_a(end), AGXC_OP_ASHR);
   if (!both || !sign || !is_imm_of(agxc_src_b(sign), 31))
      return false;
   const struct agxc_ref *x, *y;
   x = other_than(agxc_select_def_is(s, agxc_src_a(both), AGXC_OP_IXOR), sum);
   y = other_than(agxc_select_def_is(s, agxc_src_b(both), AGXC_OP_IXOR), sum);
   if (!are_addends(add, x, y) ||
       (!agxc_same_ref(agxc_src_a(sign), x) && !agxc_same_ref(agxc_src_a(sign), y)))
      return false;
   struct agxc_ref srcs[] = {agxc_select_extended(s, *x, true), agxc_select_extended(s, *y, true)};
   struct agxc_instr *machine =
      agxc_select_instr(s, AGX_ISA_OP_IADD, agxc_select_dest(instr), 2, srcs);
   agxc_set_machine_sat(machine, 1);
   return true;
}

/* ---- floats ------------------------------------------------------------- */

/* Clamping to 0..1 is a modifier of what made the value. */
static bool saturated(struct agxc_selector *s, const struct agxc_instr *instr)
{
   static const struct {
      uint16_t op, opcode;
   } rows[] = {
      {AGXC_OP_FADD, AGX_ISA_OP_FADD},
      {AGXC_OP_FSUB, AGX_ISA_OP_FADD},
      {AGXC_OP_FMUL, AGX_ISA_OP_FMUL},
      {AGXC_OP_FFMA, AGX_ISA_OP_FFMA},
   };
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      const struct agxc_instr *def = sole(s, agxc_src_a(instr), (enum agxc_op)rows[i].op);
      struct agxc_ref srcs[3];
      if (!def)
         continue;
      for (unsigned j = 0; j < def->src_count; j++)
         srcs[j] = agxc_select_float(s, agxc_srcs(def)[j]);
      if (def->op == AGXC_OP_FSUB && srcs[1].kind == AGXC_FIMM)
         srcs[1].imm ^= 0x80;
      else
         srcs[1].neg ^= def->op == AGXC_OP_FSUB;
      struct agxc_instr *machine = agxc_select_instr(s, (enum agx_isa_op)rows[i].opcode,
                                                     agxc_select_dest(instr), def->src_count, srcs);
      agxc_set_machine_sat(machine, 1);
      return true;
   }
   return false;
}

/* Whole numbers of 8 and 16 bits out of a wider one's low end; of a narrow number the mask keeps
 * the sign. */
static bool narrow_to_float(struct agxc_selector *s, const struct agxc_instr *instr)
{
   const struct agxc_instr *and = sole(s, agxc_src_a(instr), AGXC_OP_IAND);
   int64_t mask = and&&is_imm(agxc_src_b(and)) ? agxc_src_b(and)->imm : 0;
   if ((mask != 0xff && mask != 0xffff) ||
       (instr->op == AGXC_OP_S2F && mask >> (agxc_src_a(instr)->bits - 1) & 1))
      return false;
   struct agxc_instr *machine =
      emit(s, instr, mask == 0xff ? AGX_ISA_OP_U8_TO_F : AGX_ISA_OP_U16_TO_F, 1, agxc_src_a(and));
   agxc_set_machine_round(machine, AGX_ISA_ROUND_RTE);
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
   {AGXC_OP_S2F, narrow_to_float},  {AGXC_OP_SELECT, limited_sum},
};

bool agxc_select_pattern(struct agxc_selector *s, const struct agxc_instr *instr)
{
   if (instr->dest_count != 1)
      return false;
   if (agxc_dest(instr)->bits == 1)
      return agxc_select_logic(s, instr);
   if (agxc_dest(instr)->bits != 32)
      return false;
   for (size_t i = 0; i < AGX_COUNT(patterns); i++)
      if (patterns[i].op == instr->op && patterns[i].match(s, instr))
         return true;
   return false;
}
