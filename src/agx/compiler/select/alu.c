/* SPDX-License-Identifier: MIT
 *
 * Selection: arithmetic, logic and conversions. Most operations are one instruction with integer or
 * float sources (simple_ops); the rest have a function each.
 *
 *    before   %2 = ishl %1, #3     %3 = iadd %0, %2
 *    after    %3 = agx.iadd %0, %1, shift 3
 *
 * Shifts by 1 to 4 go into additions, products into imadd, signs into float sources.
 */
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/select/select_impl.h"

typedef void (*select_fn)(struct agxc_selector *s, const struct agxc_instr *instr);

/* ---- one instruction each --------------------------------------------- */

enum source_class {
   INT,
   FLOAT,
};

static const struct {
   uint16_t op, opcode;
   uint8_t sources; /* enum source_class */
} simple_ops[] = {
   {AGXC_OP_BITCOUNT, AGX_ISA_OP_POPCNT, INT}, {AGXC_OP_BITREV, AGX_ISA_OP_BITREV, INT},
   {AGXC_OP_FIND_UMSB, AGX_ISA_OP_FFS, INT},   {AGXC_OP_IAND, AGX_ISA_OP_AND, INT},
   {AGXC_OP_IOR, AGX_ISA_OP_OR, INT},          {AGXC_OP_IXOR, AGX_ISA_OP_XOR, INT},
   {AGXC_OP_USHR, AGX_ISA_OP_SHR, INT},        {AGXC_OP_IMUL, AGX_ISA_OP_IMUL, INT},
   {AGXC_OP_FADD, AGX_ISA_OP_FADD, FLOAT},     {AGXC_OP_FMUL, AGX_ISA_OP_FMUL, FLOAT},
   {AGXC_OP_FFMA, AGX_ISA_OP_FFMA, FLOAT},     {AGXC_OP_FFLOOR, AGX_ISA_OP_FLOOR, FLOAT},
   {AGXC_OP_FCEIL, AGX_ISA_OP_CEIL, FLOAT},    {AGXC_OP_FTRUNC, AGX_ISA_OP_TRUNC, FLOAT},
   {AGXC_OP_FRINT, AGX_ISA_OP_RINT, FLOAT},    {AGXC_OP_FRCP, AGX_ISA_OP_RCP, FLOAT},
   {AGXC_OP_FRSQRT, AGX_ISA_OP_RSQRT, FLOAT},  {AGXC_OP_FEXP2, AGX_ISA_OP_EXP2, FLOAT},
   {AGXC_OP_FLOG2, AGX_ISA_OP_LOG2, FLOAT},
};

/* Instructions that round once to 16 bits, where the operation has no other widths. */
static enum agx_isa_op half_opcode(const struct agxc_instr *instr, enum agx_isa_op opcode)
{
   for (unsigned i = 0; i <= instr->src_count; i++)
      if (instr->operand[i].bits != 16)
         return opcode;
   return opcode == AGX_ISA_OP_FADD   ? AGX_ISA_OP_HADD
          : opcode == AGX_ISA_OP_FMUL ? AGX_ISA_OP_HMUL
          : opcode == AGX_ISA_OP_FFMA ? AGX_ISA_OP_HFMA
                                      : opcode;
}

/* Of AND, OR, XOR and products only the destination's bits matter. */
static bool is_low(uint16_t op)
{
   return op == AGXC_OP_IAND || op == AGXC_OP_IOR || op == AGXC_OP_IXOR || op == AGXC_OP_IMUL;
}

static struct agxc_ref simple_source(struct agxc_selector *s, const struct agxc_instr *instr,
                                     struct agxc_ref ref, uint8_t class)
{
   if (class == FLOAT)
      return agxc_select_float(s, ref);
   if (instr->op == AGXC_OP_IMUL)
      return agxc_select_addend(s, ref);
   return is_low(instr->op) ? agxc_select_low(s, ref) : agxc_select_int(s, ref);
}

static bool select_simple(struct agxc_selector *s, const struct agxc_instr *instr)
{
   for (size_t i = 0; i < AGX_COUNT(simple_ops); i++) {
      if (simple_ops[i].op != instr->op)
         continue;
      struct agxc_ref srcs[3];
      for (unsigned j = 0; j < instr->src_count; j++)
         srcs[j] = simple_source(s, instr, agxc_srcs(instr)[j], simple_ops[i].sources);
      agxc_select_instr(s, half_opcode(instr, (enum agx_isa_op)simple_ops[i].opcode),
                        agxc_select_dest(instr), instr->src_count, srcs);
      return true;
   }
   return false;
}

/* ---- integers --------------------------------------------------------- */

/* Source: docs/hw/semantics.md 5: iadd and imadd shift their last source by 0 to 4. */
#define MAX_FREE_SHIFT 4

/* Takes a left shift by a small constant off ref; returns the amount. */
static unsigned strip_shift(const struct agxc_selector *s, struct agxc_ref *ref)
{
   const struct agxc_instr *def = agxc_select_def_is(s, ref, AGXC_OP_ISHL);
   if (!def || agxc_src_b(def)->kind != AGXC_IMM || (uint64_t)agxc_src_b(def)->imm > MAX_FREE_SHIFT)
      return 0;
   unsigned amount = (unsigned)agxc_src_b(def)->imm;
   *ref = *agxc_src_a(def);
   return amount;
}

static bool is_small_negative(const struct agxc_ref *ref)
{
   return ref->kind == AGXC_IMM && ref->imm && (-(uint64_t)ref->imm & agx_bits(ref->bits)) <= 255;
}

static void emit_add(struct agxc_selector *s, const struct agxc_instr *instr, struct agxc_ref a,
                     struct agxc_ref b, bool subtracts)
{
   if (is_small_negative(&b)) {
      b = agxc_imm(-(uint64_t)b.imm, b.bits);
      subtracts = !subtracts;
   }
   unsigned shift = strip_shift(s, &b);
   struct agxc_instr *machine =
      agxc_select_op(s, subtracts ? AGX_ISA_OP_ISUB : AGX_ISA_OP_IADD, agxc_select_dest(instr),
                     agxc_select_addend(s, a), agxc_select_addend(s, b));
   agxc_set_machine_shift(machine, shift);
}

/* a * b + c for a product that nothing else uses. */
static bool emit_mad(struct agxc_selector *s, const struct agxc_instr *instr, struct agxc_ref mul,
                     struct agxc_ref c)
{
   const struct agxc_instr *def = agxc_select_def(s, &mul);
   bool wide = def && (def->op == AGXC_OP_UMUL64 || def->op == AGXC_OP_SMUL64);
   if (!def || (def->op != AGXC_OP_IMUL && !wide) || !agxc_select_used_once(s, &mul))
      return false;
   unsigned shift = strip_shift(s, &c);
   struct agxc_ref srcs[3];
   for (unsigned i = 0; i < 2; i++)
      srcs[i] = wide ? agxc_select_extended(s, *agxc_side(def, i), def->op == AGXC_OP_SMUL64)
                     : agxc_select_addend(s, *agxc_side(def, i));
   srcs[2] = agxc_select_addend(s, c);
   struct agxc_instr *machine =
      agxc_select_instr(s, AGX_ISA_OP_IMADD, agxc_select_dest(instr), 3, srcs);
   agxc_set_machine_shift(machine, shift);
   return true;
}

static void select_iadd(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref a = *agxc_src_a(instr), b = *agxc_src_b(instr), stripped = a;
   if (emit_mad(s, instr, a, b) || emit_mad(s, instr, b, a))
      return;
   if (is_small_negative(&a) || a.kind == AGXC_IMM || strip_shift(s, &stripped))
      emit_add(s, instr, b, a, false);
   else
      emit_add(s, instr, a, b, false);
}

static void select_isub(struct agxc_selector *s, const struct agxc_instr *instr)
{
   emit_add(s, instr, *agxc_src_a(instr), *agxc_src_b(instr), true);
}

static void select_ineg(struct agxc_selector *s, const struct agxc_instr *instr)
{
   emit_add(s, instr, agxc_imm(0, agxc_dest(instr)->bits), *agxc_src_a(instr), true);
}

/* A short left shift is free in an add of 0, which the shared pipe does not see. */
static void select_ishl(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref amount = *agxc_src_b(instr);
   struct agxc_ref srcs[2] = {agxc_select_low(s, *agxc_src_a(instr)), agxc_select_int(s, amount)};
   if (amount.kind != AGXC_IMM || amount.imm > MAX_FREE_SHIFT) {
      agxc_select_instr(s, AGX_ISA_OP_SHL, agxc_select_dest(instr), 2, srcs);
      return;
   }
   struct agxc_instr *machine =
      agxc_select_op(s, AGX_ISA_OP_IADD, agxc_select_dest(instr), agxc_imm(0, 16), srcs[0]);
   agxc_set_machine_shift(machine, amount.imm);
}

static void select_ashr(struct agxc_selector *s, const struct agxc_instr *instr)
{
   agxc_select_op(s, AGX_ISA_OP_ASR, agxc_select_dest(instr),
                  agxc_select_signed(s, *agxc_src_a(instr)), agxc_select_int(s, *agxc_src_b(instr)),
                  agxc_imm(0, 16));
}

/* Instructions that carry bits from one word of a 64-bit shift to the other. Source:
 * docs/hw/machine.md, docs/hw/semantics.md 6. */
static void select_crossing(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref srcs[3] = {agxc_imm(0, 16)};
   enum agx_isa_op opcode = instr->op == AGXC_OP_SHLHI   ? AGX_ISA_OP_SHLHI
                            : instr->op == AGXC_OP_SHRHI ? AGX_ISA_OP_SHRHI
                                                         : AGX_ISA_OP_ASRH;
   unsigned first = instr->op == AGXC_OP_SHLHI;
   for (unsigned i = 0; i < instr->src_count; i++)
      srcs[first + i] = agxc_select_int(s, agxc_srcs(instr)[i]);
   if (instr->op == AGXC_OP_ASRH) {
      srcs[0] = agxc_select_choice(s, *agxc_src_a(instr));
      srcs[2] = agxc_imm(0, 16);
   }
   agxc_select_instr(s, opcode, agxc_select_dest(instr), 3, srcs);
}

static void select_inot(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref srcs[2] = {agxc_select_low(s, *agxc_src_a(instr)), agxc_imm(1, 16)};
   if (agxc_dest(instr)->bits == 1)
      agxc_select_instr(s, AGX_ISA_OP_XOR, agxc_select_dest(instr), 2, srcs);
   else
      agxc_select_instr(s, AGX_ISA_OP_NOT, agxc_select_dest(instr), 1, srcs);
}

/* The high word of the 64-bit product, or of product and sum. */
static void select_mulh(struct agxc_selector *s, const struct agxc_instr *instr)
{
   bool adds = instr->op == AGXC_OP_IMADH, both = instr->op == AGXC_OP_SMULH;
   struct agxc_ref srcs[3];
   srcs[0] =
      agxc_select_extended(s, *agxc_src_a(instr), both || (adds && agxc_imm_is_signed(instr)));
   srcs[1] = agxc_select_extended(s, *agxc_src_b(instr), both);
   if (adds)
      srcs[2] = agxc_select_int(s, *agxc_src_c(instr));
   if (adds && srcs[2].kind == AGXC_IMM && srcs[2].imm == 0)
      adds = false;
   enum agx_isa_op opcode = adds ? AGX_ISA_OP_IMADD : AGX_ISA_OP_IMUL;
   struct agxc_ref product = agxc_select_new(s, opcode, 64, adds ? 3 : 2, srcs);
   struct agxc_ref low = agxc_use(agxc_value_new(s->shader, 32, 1));
   agxc_select_split(s, product, low, agxc_select_dest(instr));
}

static void select_mul64(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref srcs[2];
   for (unsigned i = 0; i < 2; i++)
      srcs[i] = agxc_select_extended(s, *agxc_side(instr, i), instr->op == AGXC_OP_SMUL64);
   agxc_select_instr(s, AGX_ISA_OP_IMUL, agxc_select_dest(instr), 2, srcs);
}

/* Bit fields of constant length 1 to 31; lower_math leaves no others. */
static void select_field(struct agxc_selector *s, const struct agxc_instr *instr)
{
   bool inserts = instr->op == AGXC_OP_BFI;
   struct agxc_ref machine_srcs[3] = {
      inserts ? agxc_select_int(s, *agxc_src_base(instr)) : agxc_imm(0, 16),
      agxc_select_int(s, inserts ? *agxc_src_insert(instr) : *agxc_src_base(instr)),
      agxc_select_int(s, *agxc_src_start(instr)),
   };
   enum agx_isa_op op = inserts ? AGX_ISA_OP_BFI : AGX_ISA_OP_BFEIL;
   struct agxc_instr *machine = agxc_select_instr(s, op, agxc_select_dest(instr), 3, machine_srcs);
   agxc_set_machine_bitmask(machine, agxc_src_width(instr)->imm);
}

/* ---- conversions ------------------------------------------------------ */

struct conversion {
   uint16_t op;
   uint8_t bits; /* of the integer */
   uint16_t opcode;
   uint8_t round;
};

static const struct conversion conversions[] = {
   {AGXC_OP_F2U, 8, AGX_ISA_OP_F_TO_U16, AGX_ISA_ROUND_RTZ},
   {AGXC_OP_F2S, 8, AGX_ISA_OP_F_TO_S16, AGX_ISA_ROUND_RTZ},
   {AGXC_OP_F2U, 16, AGX_ISA_OP_F_TO_U16, AGX_ISA_ROUND_RTZ},
   {AGXC_OP_F2S, 16, AGX_ISA_OP_F_TO_S16, AGX_ISA_ROUND_RTZ},
   {AGXC_OP_F2U, 32, AGX_ISA_OP_F_TO_U32, AGX_ISA_ROUND_RTZ},
   {AGXC_OP_F2S, 32, AGX_ISA_OP_F_TO_S32, AGX_ISA_ROUND_RTZ},
   {AGXC_OP_U2F, 8, AGX_ISA_OP_U8_TO_F, AGX_ISA_ROUND_RTE},
   {AGXC_OP_S2F, 8, AGX_ISA_OP_S8_TO_F, AGX_ISA_ROUND_RTE},
   {AGXC_OP_U2F, 16, AGX_ISA_OP_U16_TO_F, AGX_ISA_ROUND_RTE},
   {AGXC_OP_S2F, 16, AGX_ISA_OP_S16_TO_F, AGX_ISA_ROUND_RTE},
   {AGXC_OP_U2F, 32, AGX_ISA_OP_U32_TO_F, AGX_ISA_ROUND_RTE},
   {AGXC_OP_S2F, 32, AGX_ISA_OP_S32_TO_F, AGX_ISA_ROUND_RTE},
};

static const struct conversion *find_conversion(uint16_t op, unsigned bits)
{
   unsigned i = 0;
   while (conversions[i].op != op || conversions[i].bits != bits)
      i++;
   return &conversions[i];
}

/* An extension before the conversion is left out: instructions exist for the narrow integer. What
 * was extended by zeros is positive, so either sign will do. */
static struct agxc_ref narrow_integer(struct agxc_selector *s, uint16_t *op, struct agxc_ref ref)
{
   const struct agxc_instr *def = agxc_select_def(s, &ref);
   bool zero = def && def->op == AGXC_OP_ZEXT;
   bool same_sign = def && def->op == AGXC_OP_SEXT && *op == AGXC_OP_S2F;
   if ((!zero && !same_sign) || agxc_src_a(def)->kind != AGXC_VALUE || agxc_src_a(def)->bits < 8)
      return ref;
   *op = zero ? AGXC_OP_U2F : *op;
   return *agxc_src_a(def);
}

static void select_convert(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref ref = *agxc_src_a(instr);
   uint16_t op = instr->op;
   bool to_int = op == AGXC_OP_F2U || op == AGXC_OP_F2S;
   const struct agxc_instr *f2f = to_int ? agxc_select_def_is(s, &ref, AGXC_OP_F2F) : NULL;
   if (f2f && ref.bits == 32)
      ref = *agxc_src_a(f2f);
   if (!to_int)
      ref = narrow_integer(s, &op, ref);
   const struct conversion *conversion =
      find_conversion(op, to_int ? agxc_dest(instr)->bits : ref.bits);
   /* The source has no float immediates or modifiers: raw bits. */
   struct agxc_ref src = agxc_select_choice(s, ref);
   if (src.kind == AGXC_IMM && src.imm != 0)
      src = agxc_select_reg(s, ref);
   struct agxc_instr *machine =
      agxc_select_op(s, (enum agx_isa_op)conversion->opcode, agxc_select_dest(instr), src);
   agxc_set_machine_round(machine, conversion->round);
}

/* The upper half of the register of an 8-bit value is undefined. */
static void extend_byte(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref dest = agxc_select_dest(instr);
   struct agxc_ref src = agxc_select_low(s, *agxc_src_a(instr));
   if (instr->op == AGXC_OP_ZEXT) {
      agxc_select_op(s, AGX_ISA_OP_AND, dest, src, agxc_imm(0xff, 16));
      return;
   }
   if (agxc_select_is_clean(
          s, agxc_src_a(instr))) { /* two simple instructions instead of two shifts */
      struct agxc_ref flip[2] = {src, agxc_imm(0x80, 16)};
      struct agxc_ref biased = agxc_select_new(s, AGX_ISA_OP_XOR, 16, 2, flip);
      agxc_select_op(s, AGX_ISA_OP_ISUB, dest, biased, agxc_imm(0x80, 16));
      return;
   }
   struct agxc_ref top = agxc_use(agxc_value_new(s->shader, dest.bits, 1));
   struct agxc_ref amount = agxc_imm(dest.bits - 8u, 16);
   agxc_select_op(s, AGX_ISA_OP_SHL, top, src, amount);
   agxc_select_op(s, AGX_ISA_OP_ASR, dest, top, amount, agxc_imm(0, 16));
}

static void select_extend(struct agxc_selector *s, const struct agxc_instr *instr)
{
   if (agxc_src_a(instr)->bits == 8 && agxc_src_a(instr)->kind != AGXC_IMM) {
      extend_byte(s, instr);
      return;
   }
   struct agxc_ref src = *agxc_src_a(instr);
   bool is_signed = instr->op == AGXC_OP_SEXT;
   if (is_signed && src.bits == 8) /* no operand extends a byte */
      src = agxc_imm((uint16_t)(int8_t)src.imm, 16);
   src = agxc_select_choice(s, src);
   if (is_signed && agxc_src_a(instr)->bits == 1) {
      agxc_select_op(s, AGX_ISA_OP_ISUB, agxc_select_dest(instr), agxc_imm(0, 16), src);
      return;
   }
   if (is_signed) {
      src.sx = src.kind != AGXC_IMM;
      agxc_select_op(s, AGX_ISA_OP_IADD, agxc_select_dest(instr), src, agxc_imm(0, 16));
      return;
   }
   agxc_select_op(s, AGX_ISA_OP_MOV, agxc_select_dest(instr), src);
}

static void select_trunc(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref src = agxc_select_low(s, *agxc_src_a(instr));
   agxc_select_op(s, AGX_ISA_OP_MOV, agxc_select_dest(instr), src);
}

/* ---- floats ----------------------------------------------------------- */

#define MINUS_ZERO 0x80000000u
#define QUARTER    0x3e800000u
#define FOUR       0x40800000u
#define INV_TWO_PI 0x3e22f983u /* 1 / (2 pi) */

static struct agxc_ref float_new(struct agxc_selector *s, enum agx_isa_op opcode, struct agxc_ref a,
                                 struct agxc_ref b)
{
   struct agxc_ref srcs[2] = {agxc_select_float(s, a), agxc_select_float(s, b)};
   unsigned count = b.kind == AGXC_NONE ? 1 : 2;
   return agxc_select_new(s, opcode, 32, count, srcs);
}

static void emit_fadd(struct agxc_selector *s, const struct agxc_instr *instr, struct agxc_ref a,
                      struct agxc_ref b, bool negates_b, bool saturates)
{
   struct agxc_ref srcs[2] = {agxc_select_float(s, a), agxc_select_float(s, b)};
   if (negates_b && srcs[1].kind == AGXC_FIMM)
      srcs[1].imm ^= 0x80;
   else
      srcs[1].neg ^= negates_b;
   struct agxc_instr *machine =
      agxc_select_instr(s, half_opcode(instr, AGX_ISA_OP_FADD), agxc_select_dest(instr), 2, srcs);
   agxc_set_machine_sat(machine, saturates);
}

static void select_fsub(struct agxc_selector *s, const struct agxc_instr *instr)
{
   emit_fadd(s, instr, *agxc_src_a(instr), *agxc_src_b(instr), true, false);
}

static void select_fsat(struct agxc_selector *s, const struct agxc_instr *instr)
{
   emit_fadd(s, instr, *agxc_src_a(instr), agxc_imm(MINUS_ZERO, 32), false, true);
}

/* Adding -0 changes nothing but the size (and flushes 32-bit denormals). */
static void select_f2f(struct agxc_selector *s, const struct agxc_instr *instr)
{
   emit_fadd(s, instr, *agxc_src_a(instr), agxc_imm(MINUS_ZERO, 32), false, false);
}

/* What is not folded into a source: clear or flip the sign bit. */
static void select_sign(struct agxc_selector *s, const struct agxc_instr *instr)
{
   bool is_abs = instr->op == AGXC_OP_FABS;
   unsigned bits = agxc_dest(instr)->bits;
   uint64_t sign = 1ull << (bits - 1);
   agxc_select_op(s, is_abs ? AGX_ISA_OP_AND : AGX_ISA_OP_XOR, agxc_select_dest(instr),
                  agxc_select_choice(s, *agxc_src_a(instr)),
                  agxc_select_int(s, agxc_imm(is_abs ? ~sign : sign, bits)));
}

/* Source: docs/hw/idioms.md 3: sqrt = x rsqrts(x), right at 0 and infinity too. */
static void select_fsqrt(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref x = *agxc_src_a(instr);
   agxc_select_op(s, AGX_ISA_OP_FMUL, agxc_select_dest(instr), agxc_select_float(s, x),
                  float_new(s, AGX_ISA_OP_RSQRTS, x, agxc_none()));
}

static void select_ffract(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref x = *agxc_src_a(instr), src = agxc_select_float(s, x);
   struct agxc_ref floor = agxc_select_new(s, AGX_ISA_OP_FLOOR, x.bits, 1, &src);
   emit_fadd(s, instr, x, floor, true, false);
}

/* Source: docs/hw/idioms.md 3: quarter turns q in 0..4, then sinr and sinc. */
static void select_sine(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref none = agxc_none();
   struct agxc_ref scaled[3] = {agxc_select_float(s, *agxc_src_a(instr)),
                                agxc_select_float(s, agxc_imm(INV_TWO_PI, 32)),
                                agxc_select_float(s, agxc_imm(QUARTER, 32))};
   struct agxc_ref turns = instr->op == AGXC_OP_FCOS
                              ? agxc_select_new(s, AGX_ISA_OP_FFMA, 32, 3, scaled)
                              : agxc_select_new(s, AGX_ISA_OP_FMUL, 32, 2, scaled);
   struct agxc_ref floor = float_new(s, AGX_ISA_OP_FLOOR, turns, none);
   floor.neg = true;
   struct agxc_ref fract =
      agxc_select_new(s, AGX_ISA_OP_FADD, 32, 2, (struct agxc_ref[]){turns, floor});
   struct agxc_ref quarters = float_new(s, AGX_ISA_OP_FMUL, fract, agxc_imm(FOUR, 32));
   struct agxc_ref signed_offset = float_new(s, AGX_ISA_OP_SINR, quarters, none);
   agxc_select_op(s, AGX_ISA_OP_FMUL, agxc_select_dest(instr),
                  float_new(s, AGX_ISA_OP_SINC, signed_offset, none), signed_offset);
}

/* ---- the table -------------------------------------------------------- */

static const struct {
   uint16_t op;
   select_fn select;
} functions[] = {
   {AGXC_OP_IADD, select_iadd},      {AGXC_OP_ISUB, select_isub},
   {AGXC_OP_INEG, select_ineg},      {AGXC_OP_ISHL, select_ishl},
   {AGXC_OP_ASHR, select_ashr},      {AGXC_OP_INOT, select_inot},
   {AGXC_OP_UMULH, select_mulh},     {AGXC_OP_IMADH, select_mulh},
   {AGXC_OP_SMULH, select_mulh},     {AGXC_OP_UBFE, select_field},
   {AGXC_OP_SHLHI, select_crossing}, {AGXC_OP_SHRHI, select_crossing},
   {AGXC_OP_ASRH, select_crossing},  {AGXC_OP_UMUL64, select_mul64},
   {AGXC_OP_SMUL64, select_mul64},   {AGXC_OP_F2F, select_f2f},
   {AGXC_OP_BFI, select_field},      {AGXC_OP_F2U, select_convert},
   {AGXC_OP_F2S, select_convert},    {AGXC_OP_U2F, select_convert},
   {AGXC_OP_S2F, select_convert},    {AGXC_OP_ZEXT, select_extend},
   {AGXC_OP_SEXT, select_extend},    {AGXC_OP_TRUNC, select_trunc},
   {AGXC_OP_FSUB, select_fsub},      {AGXC_OP_FSAT, select_fsat},
   {AGXC_OP_FNEG, select_sign},      {AGXC_OP_FABS, select_sign},
   {AGXC_OP_FSQRT, select_fsqrt},    {AGXC_OP_FFRACT, select_ffract},
   {AGXC_OP_FSIN, select_sine},      {AGXC_OP_FCOS, select_sine},
};

void agxc_select_alu(struct agxc_selector *s, const struct agxc_instr *instr)
{
   if (select_simple(s, instr))
      return;
   for (size_t i = 0; i < AGX_COUNT(functions); i++) {
      if (functions[i].op == instr->op) {
         functions[i].select(s, instr);
         return;
      }
   }
   agxc_fail(s->shader, AGX_UNIMPLEMENTED, "%s: operation %s on %u bits can't be selected yet",
             s->shader->name, agxc_op_info(instr->op)->name, agxc_dest(instr)->bits);
}
