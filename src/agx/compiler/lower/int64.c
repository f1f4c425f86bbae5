/* SPDX-License-Identifier: MIT
 *
 * 64-bit integers become pairs of words.
 *
 * Before: operations on 64 bits. After: of those only sums, differences and products of words
 * (IADD, ISUB, UMUL64, SMUL64), PACK64 and UNPACK64, and addresses of accesses. Values are replaced
 * in program order; phis get their sources at the end. int64_wide.c has the arithmetic on pairs,
 * int64_divide.c division.
 *
 * The pass stands behind lower_subgroup, which takes 64-bit values of other lanes apart, and in
 * front of lower_division and lower_math, since it leaves divisions and conversions of words.
 */
#include "agx/compiler/lower/int64_impl.h"
#include "agx/compiler/lower/lower.h"

struct lowering {
   struct agxc_shader *shader;
   struct agxc_wide *wides; /* by value id: what a 64-bit value has become */
   uint32_t count;
   struct agxc_builder b;
};

static struct agxc_wide wide_of(struct lowering *l, struct agxc_ref ref)
{
   if (ref.kind == AGXC_IMM)
      return agxc_wide_imm((uint64_t)ref.imm);
   if (ref.kind == AGXC_VALUE)
      return l->wides[ref.value->id];
   struct agxc_wide w =
      agxc_wide_make(agxc_uniform(ref.half, 32, 1), agxc_uniform(ref.half + 2, 32, 1));
   w.whole = ref;
   return w;
}

/* ---- conversions --------------------------------------------------------- */

static struct agxc_wide extended(struct lowering *l, const struct agxc_instr *instr)
{
   struct agxc_ref src = *agxc_src_a(instr);
   bool is_signed = instr->op == AGXC_OP_SEXT;
   struct agxc_ref lo = src.bits == 32 ? src : agxc_word1(&l->b, (enum agxc_op)instr->op, src);
   if (!is_signed)
      return agxc_wide_bounded(agxc_wide_make(lo, agxc_u32(0)), agx_bits(src.bits));
   return src.bits == 1 ? agxc_wide_make(lo, lo) : agxc_wide_of_sign(&l->b, lo);
}

/* Floats: x = high 2^32 + low, both rounded down, without error: the high word has no more
 * bits than x, and the difference ends where x does. */
#define MINUS_POWER_32 0xcf800000u

static struct agxc_wide from_float(struct lowering *l, const struct agxc_instr *instr)
{
   struct agxc_builder *b = &l->b;
   struct agxc_ref x = *agxc_src_a(instr);
   bool is_signed = instr->op == AGXC_OP_F2S;
   if (x.bits == 16) { /* at most 65504 */
      struct agxc_ref lo = agxc_build1(b, (enum agxc_op)instr->op, 32, x);
      return is_signed ? agxc_wide_of_sign(b, lo) : agxc_wide_make(lo, agxc_u32(0));
   }
   struct agxc_ref size = is_signed ? agxc_build_fabs(b, x) : x;
   struct agxc_ref scaled = agxc_build_fmul(b, size, agxc_u32(AGXC_POWER_MINUS_32));
   struct agxc_ref hi = agxc_build_f2u(b, 32, scaled);
   struct agxc_ref back = agxc_build_u2f(b, 32, hi);
   struct agxc_ref rest = agxc_build_ffma(b, back, agxc_u32(MINUS_POWER_32), size);
   struct agxc_wide w = agxc_wide_make(agxc_build_f2u(b, 32, rest), hi);
   if (!is_signed)
      return w;
   return agxc_wide_apply_sign(b, w, agxc_word2(b, AGXC_OP_ASHR, x, agxc_u32(31)));
}

/* The number's leading 32 bits, with a one at the end for all that is cut off, round to 24
 * bits as the whole would; the power of two is exact. */
static struct agxc_ref unsigned_to_float(struct lowering *l, struct agxc_wide x)
{
   struct agxc_builder *b = &l->b;
   if (agxc_wide_is_word(&x))
      return agxc_build_u2f(b, 32, x.lo);
   struct agxc_ref top = agxc_word1(b, AGXC_OP_FIND_UMSB, x.hi); /* -1 for 0 */
   struct agxc_ref zeros = agxc_word2(b, AGXC_OP_ISUB, agxc_u32(31), top);
   struct agxc_wide moved = agxc_wide_shift(b, AGXC_OP_ISHL, x, zeros);
   struct agxc_ref rest = agxc_word2(b, AGXC_OP_UMIN, moved.lo, agxc_u32(1));
   struct agxc_ref leading = agxc_build_u2f(b, 32, agxc_word2(b, AGXC_OP_IOR, moved.hi, rest));
   struct agxc_ref exponent = agxc_word2(b, AGXC_OP_IADD, top, agxc_u32(128));
   return agxc_build_fmul(b, leading, agxc_word2(b, AGXC_OP_ISHL, exponent, agxc_u32(23)));
}

static struct agxc_ref to_float(struct lowering *l, const struct agxc_instr *instr)
{
   struct agxc_builder *b = &l->b;
   struct agxc_wide x = wide_of(l, *agxc_src_a(instr));
   struct agxc_ref sign = instr->op == AGXC_OP_S2F ? agxc_wide_sign(b, &x) : agxc_u32(0), result;
   result = unsigned_to_float(l, agxc_wide_apply_sign(b, x, sign));
   sign = agxc_word2(b, AGXC_OP_IAND, sign, agxc_u32(1u << 31));
   result = agxc_word2(b, AGXC_OP_IOR, result, sign);
   /* What a half can hold has no more bits than a float: nothing is rounded twice. */
   return agxc_dest(instr)->bits == 16 ? agxc_build_f2f(b, 16, result) : result;
}

/* ---- bits ---------------------------------------------------------------- */

static struct agxc_wide highest_bit(struct lowering *l, struct agxc_wide x)
{
   struct agxc_builder *b = &l->b;
   struct agxc_ref low = agxc_word1(b, AGXC_OP_FIND_UMSB, x.lo);
   struct agxc_ref high =
      agxc_word2(b, AGXC_OP_IADD, agxc_word1(b, AGXC_OP_FIND_UMSB, x.hi), agxc_u32(32));
   struct agxc_ref is_high = agxc_word_compare(b, AGXC_OP_INE, x.hi, agxc_u32(0));
   return agxc_wide_of_sign(b, agxc_word_select(b, is_high, high, low));
}

static struct agxc_wide ones(struct lowering *l, struct agxc_ref count)
{
   struct agxc_wide all = agxc_wide_imm(UINT64_MAX);
   return agxc_wide_bits(&l->b, AGXC_OP_IXOR, agxc_wide_shift(&l->b, AGXC_OP_ISHL, all, count),
                         all);
}

static struct agxc_wide bit_field(struct lowering *l, const struct agxc_instr *instr)
{
   struct agxc_builder *b = &l->b;
   struct agxc_wide base = wide_of(l, *agxc_src_base(instr));
   struct agxc_ref start = *agxc_src_start(instr), width = *agxc_src_width(instr);
   if (instr->op == AGXC_OP_UBFE) {
      struct agxc_wide mask = ones(l, width);
      return agxc_wide_bits(b, AGXC_OP_IAND, agxc_wide_shift(b, AGXC_OP_USHR, base, start), mask);
   }
   if (instr->op == AGXC_OP_BFI) {
      struct agxc_wide mask = agxc_wide_shift(b, AGXC_OP_ISHL, ones(l, width), start);
      struct agxc_wide insert = wide_of(l, *agxc_src_insert(instr));
      struct agxc_wide put = agxc_wide_shift(b, AGXC_OP_ISHL, insert, start);
      struct agxc_wide differ = agxc_wide_bits(b, AGXC_OP_IXOR, base, put);
      return agxc_wide_bits(b, AGXC_OP_IXOR, base, agxc_wide_bits(b, AGXC_OP_IAND, differ, mask));
   }
   /* Up against the top, then down with the sign; a shift by 64 leaves 0, an empty field all
    * the same. */
   struct agxc_ref down = agxc_word2(b, AGXC_OP_ISUB, agxc_u32(64), width);
   struct agxc_ref up = agxc_word2(b, AGXC_OP_ISUB, down, start);
   struct agxc_wide field =
      agxc_wide_shift(b, AGXC_OP_ASHR, agxc_wide_shift(b, AGXC_OP_ISHL, base, up), down);
   struct agxc_ref empty = agxc_word_compare(b, AGXC_OP_IEQ, width, agxc_u32(0));
   return agxc_wide_select(b, empty, agxc_wide_imm(0), field);
}

/* ---- operations ----------------------------------------------------------- */

static struct agxc_wide min_max(struct lowering *l, enum agxc_op op, struct agxc_wide x,
                                struct agxc_wide y)
{
   bool is_signed = op == AGXC_OP_IMIN || op == AGXC_OP_IMAX;
   bool is_min = op == AGXC_OP_IMIN || op == AGXC_OP_UMIN;
   struct agxc_ref less = agxc_wide_compare(&l->b, is_signed ? AGXC_OP_SLT : AGXC_OP_ULT, x, y);
   struct agxc_wide w =
      is_min ? agxc_wide_select(&l->b, less, x, y) : agxc_wide_select(&l->b, less, y, x);
   return op == AGXC_OP_UMIN ? agxc_wide_bounded(w, AGX_MIN(x.max, y.max)) : w;
}

/* The signed product's high half: each negative factor counts 2^64 too much. */
static struct agxc_wide smulh(struct lowering *l, struct agxc_wide x, struct agxc_wide y)
{
   struct agxc_builder *b = &l->b;
   struct agxc_ref x_sign = agxc_wide_sign(b, &x), y_sign = agxc_wide_sign(b, &y);
   struct agxc_wide w = agxc_wide_umulh(b, x, y);
   w = agxc_wide_sub(b, w, agxc_wide_bits(b, AGXC_OP_IAND, y, agxc_wide_make(x_sign, x_sign)));
   return agxc_wide_sub(b, w, agxc_wide_bits(b, AGXC_OP_IAND, x, agxc_wide_make(y_sign, y_sign)));
}

/* Arguments are built in statements of their own here and elsewhere, since C leaves their order
 * open, and the same module must compile to the same code everywhere. */
static struct agxc_wide each_word(struct agxc_builder *b, enum agxc_op op, struct agxc_wide x)
{
   struct agxc_ref hi = agxc_word1(b, op, x.hi);
   return agxc_wide_make(agxc_word1(b, op, x.lo), hi);
}

/* Operations with two sources of 64 bits; false: the operation is none. */
static bool lower_pair(struct lowering *l, enum agxc_op op, struct agxc_wide x, struct agxc_wide y,
                       struct agxc_wide *out)
{
   struct agxc_builder *b = &l->b;
   if (op == AGXC_OP_IADD)
      *out = agxc_wide_add(b, x, y);
   else if (op == AGXC_OP_ISUB)
      *out = agxc_wide_sub(b, x, y);
   else if (op == AGXC_OP_IMUL)
      *out = agxc_wide_mul(b, x, y);
   else if (op == AGXC_OP_UMULH)
      *out = agxc_wide_umulh(b, x, y);
   else if (op == AGXC_OP_SMULH)
      *out = smulh(l, x, y);
   else if (op == AGXC_OP_IAND || op == AGXC_OP_IOR || op == AGXC_OP_IXOR)
      *out = agxc_wide_bits(b, op, x, y);
   else if (op >= AGXC_OP_IMIN && op <= AGXC_OP_UMAX)
      *out = min_max(l, op, x, y);
   else if (op >= AGXC_OP_UDIV && op <= AGXC_OP_SMOD)
      *out = agxc_wide_divide(b, op, x, y);
   else
      return false;
   return true;
}

/* Operations with one source, x, of 64 bits, and shifts. */
static bool lower_single(struct lowering *l, const struct agxc_instr *instr, struct agxc_wide x,
                         struct agxc_wide *out)
{
   struct agxc_builder *b = &l->b;
   enum agxc_op op = (enum agxc_op)instr->op;
   switch (op) {
   case AGXC_OP_MOV:
      *out = x;
      return true;
   case AGXC_OP_INEG:
      *out = agxc_wide_sub(b, agxc_wide_imm(0), x);
      return true;
   case AGXC_OP_INOT:
      *out = each_word(b, op, x);
      return true;
   case AGXC_OP_BITCOUNT:
      x = each_word(b, op, x);
      *out = agxc_wide_make(agxc_word2(b, AGXC_OP_IADD, x.lo, x.hi), agxc_u32(0));
      return true;
   case AGXC_OP_BITREV:
      *out = each_word(b, op, agxc_wide_make(x.hi, x.lo));
      return true;
   case AGXC_OP_FIND_UMSB:
      *out = highest_bit(l, x);
      return true;
   case AGXC_OP_ISHL:
   case AGXC_OP_USHR:
   case AGXC_OP_ASHR:
      *out = agxc_wide_shift(b, op, x, *agxc_src_b(instr));
      return true;
   default:
      return false;
   }
}

/* 64 bits of the product of two words. */
static struct agxc_wide product(struct lowering *l, const struct agxc_instr *instr)
{
   struct agxc_ref x = *agxc_src_a(instr), y = *agxc_src_b(instr);
   if (instr->op == AGXC_OP_UMUL64)
      return agxc_wide_mul(&l->b, agxc_wide_make(x, agxc_u32(0)), agxc_wide_make(y, agxc_u32(0)));
   struct agxc_wide right = agxc_wide_of_sign(&l->b, y);
   return agxc_wide_mul(&l->b, agxc_wide_of_sign(&l->b, x), right);
}

static struct agxc_wide select(struct lowering *l, const struct agxc_instr *instr)
{
   return agxc_wide_select(&l->b, *agxc_src_condition(instr), wide_of(l, *agxc_src_if_true(instr)),
                           wide_of(l, *agxc_src_if_false(instr)));
}

static struct agxc_wide pack(struct lowering *l, const struct agxc_instr *instr)
{
   return agxc_wide_make(*agxc_src_low(instr), *agxc_src_high(instr));
}

/* Operations whose sources have other shapes. */
static const struct {
   uint16_t op;
   struct agxc_wide (*lower)(struct lowering *l, const struct agxc_instr *instr);
} others[] = {
   {AGXC_OP_SELECT, select},  {AGXC_OP_ZEXT, extended},  {AGXC_OP_SEXT, extended},
   {AGXC_OP_F2U, from_float}, {AGXC_OP_F2S, from_float}, {AGXC_OP_UBFE, bit_field},
   {AGXC_OP_SBFE, bit_field}, {AGXC_OP_BFI, bit_field},  {AGXC_OP_UMUL64, product},
   {AGXC_OP_SMUL64, product}, {AGXC_OP_PACK64, pack},
};

/* What an operation with a result of 64 bits gives. */
static struct agxc_wide arithmetic(struct lowering *l, const struct agxc_instr *instr)
{
   for (size_t i = 0; i < AGX_COUNT(others); i++)
      if (others[i].op == instr->op)
         return others[i].lower(l, instr);
   enum agxc_op op = (enum agxc_op)instr->op;
   struct agxc_wide x, out;
   if (agxc_has_src(instr, AGXC_SRC_A) && agxc_src_a(instr)->bits == 64) {
      x = wide_of(l, *agxc_src_a(instr));
      bool is_pair = agxc_has_src(instr, AGXC_SRC_B) && agxc_src_b(instr)->bits == 64;
      if (is_pair ? lower_pair(l, op, x, wide_of(l, *agxc_src_b(instr)), &out)
                  : lower_single(l, instr, x, &out))
         return out;
   }
   agxc_fail(l->shader, AGX_UNIMPLEMENTED, "%s: operation %s on 64 bits", l->shader->name,
             agxc_op_info(op)->name);
}

/* Operations that take 64 bits and give fewer; AGXC_NONE for others. */
static struct agxc_ref narrowing(struct lowering *l, const struct agxc_instr *instr)
{
   if (!agxc_has_src(instr, AGXC_SRC_A))
      return agxc_none();
   struct agxc_wide x = wide_of(l, *agxc_src_a(instr));
   unsigned bits = agxc_dest(instr)->bits;
   if (instr->op == AGXC_OP_TRUNC)
      return bits == 32 ? x.lo : agxc_build_trunc(&l->b, bits, x.lo);
   if (instr->op == AGXC_OP_U2F || instr->op == AGXC_OP_S2F)
      return to_float(l, instr);
   if (instr->op >= AGXC_OP_IEQ && instr->op <= AGXC_OP_SGE)
      return agxc_wide_compare(&l->b, (enum agxc_op)instr->op, x, wide_of(l, *agxc_src_b(instr)));
   return agxc_none();
}

/* ---- the walk ------------------------------------------------------------- */

static bool is_wide(const struct agxc_ref *ref)
{
   return ref->bits == 64 && ref->kind != AGXC_NONE;
}

static bool has_wide_source(const struct agxc_instr *instr)
{
   agxc_foreach_src (src, instr)
      if (is_wide(src))
         return true;
   return false;
}

static void lower_unpack(struct lowering *l, struct agxc_instr *instr)
{
   struct agxc_wide x = wide_of(l, *agxc_src_a(instr));
   agxc_redefine(&l->b, *agxc_dest_low(instr), &x.lo);
   agxc_redefine(&l->b, *agxc_dest_high(instr), &x.hi);
   agxc_instr_remove(instr);
}

static void lower_instr(struct lowering *l, struct agxc_instr *instr)
{
   l->b = agxc_before(l->shader, instr);
   if (instr->op == AGXC_OP_PHI)
      return;
   if (instr->op == AGXC_OP_UNPACK64) {
      lower_unpack(l, instr);
      return;
   }
   if (instr->dest_count == 1 && is_wide(agxc_dest(instr))) {
      if (agxc_dest(instr)->count != 1)
         agxc_fail(l->shader, AGX_UNIMPLEMENTED, "%s: vector of 64-bit elements", l->shader->name);
      l->wides[agxc_dest(instr)->value->id] = arithmetic(l, instr);
      agxc_instr_remove(instr);
      return;
   }
   if (!has_wide_source(instr))
      return;
   struct agxc_ref result = instr->dest_count == 1 ? narrowing(l, instr) : agxc_none();
   if (result.kind != AGXC_NONE) {
      agxc_become_mov(l->shader, instr, result);
      return;
   }
   /* An address, which stays in one piece. */
   agxc_foreach_src (src, instr) {
      if (!is_wide(src))
         continue;
      struct agxc_wide x = wide_of(l, *src);
      *src = agxc_wide_whole(&l->b, &x);
   }
}

/* ---- phis ------------------------------------------------------------------ */

/* Two phis of words, without sources yet, in front of the wide one. */
static void split_phi(struct lowering *l, struct agxc_instr *phi)
{
   struct agxc_builder b = agxc_before(l->shader, phi);
   struct agxc_ref words[2];
   for (unsigned i = 0; i < 2; i++)
      words[i] = *agxc_dest(agxc_build_phi(&b, 32, 1, phi->src_count));
   l->wides[agxc_dest(phi)->value->id] = agxc_wide_make(words[0], words[1]);
}

static void finish_phi(struct lowering *l, struct agxc_instr *phi)
{
   struct agxc_wide *w = &l->wides[agxc_dest(phi)->value->id];
   for (unsigned i = 0; i < phi->src_count; i++) {
      struct agxc_wide src = wide_of(l, agxc_srcs(phi)[i]);
      agxc_srcs(w->lo.value->def)[i] = src.lo;
      agxc_srcs(w->hi.value->def)[i] = src.hi;
   }
   agxc_instr_remove(phi);
}

static void visit_phis(struct lowering *l, void (*visit)(struct lowering *, struct agxc_instr *))
{
   agxc_foreach_instr_of_safe (instr, l->shader)
      if (instr->op == AGXC_OP_PHI && is_wide(agxc_dest(instr)))
         visit(l, instr);
}

static bool has_wide_values(const struct agxc_shader *shader)
{
   for (uint32_t i = 0; i < shader->value_count; i++)
      if (shader->values[i]->bits == 64)
         return true;
   return false;
}

bool agxc_lower_int64(struct agxc_shader *shader)
{
   if (!has_wide_values(shader))
      return false;
   struct lowering l = {.shader = shader, .count = shader->value_count};
   l.wides = AGX_ARENA_ARRAY(shader->arena, struct agxc_wide, l.count);
   agxc_index(shader);
   visit_phis(&l, split_phi);
   agxc_foreach_instr_of_safe (instr, shader)
      lower_instr(&l, instr);
   visit_phis(&l, finish_phi);
   return true;
}
