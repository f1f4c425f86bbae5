/* SPDX-License-Identifier: MIT
 *
 * Floats that are only stored and converted: bfloat16 (SPV_KHR_bfloat16) and the 8-bit ones E4M3
 * and E5M2 (SPV_EXT_float8). Every conversion goes through 32 bits, which hold all of their values,
 * as SPV_KHR_bfloat16 asks for, and rounds to nearest even. A 64-bit float on its way to 8 bits is
 * rounded once all the same: its 32 bits keep a last bit that tells of what was cut off. convert.c
 * and alu.c call the functions.
 *
 * E4M3 has no infinity: what is too large becomes NaN, and with E5M2 infinity; or the largest
 * number, where the conversion is decorated so. Source: SPV_EXT_float8, and "FP8 Formats for Deep
 * Learning" (arXiv 2209.05433), table 1.
 */
#include "agx/compiler/spirv/handler_impl.h"

#define BFLOAT16    0 /* FPEncoding; source: the SPIR-V registry */
#define FLOAT8_E4M3 4214
#define FLOAT8_E5M2 4215

#define INFINITY_BITS 0x7f800000u
#define SIGN_BIT      0x80000000u
#define QUIET_BIT     0x00400000u
#define FRACTION_BITS 23u
#define BIAS          127u

static const struct format {
   uint32_t encoding;
   uint8_t bits;
   uint8_t fraction_bits, bias, largest, nan; /* of 8 bits; largest: the code of that number. The
                                                 next one is infinity, or NaN where there is none */
} formats[] = {
   {BFLOAT16, 16, 0, 0, 0, 0},
   {FLOAT8_E4M3, 8, 3, 7, 0x7e, 0x7f},
   {FLOAT8_E5M2, 8, 2, 15, 0x7b, 0x7e},
};

static const struct format *format_of(uint32_t encoding, uint32_t bits)
{
   for (size_t i = 0; i < AGX_COUNT(formats); i++)
      if (formats[i].encoding == encoding && formats[i].bits == bits)
         return &formats[i];
   return NULL;
}

bool agxc_spv_is_small_float(uint32_t encoding, uint32_t bits)
{
   return format_of(encoding, bits) != NULL;
}

/* ---- to 32 bits --------------------------------------------------------- */

/* A half has one bit more of exponent: the same bits are a number 2^8 times too small. */
static struct agxc_ref half_of_e4m3(struct agxc_spv *s, struct agxc_ref x)
{
   struct agxc_ref wide = agxc_spv_build1(s, AGXC_OP_ZEXT, 16, x);
   struct agxc_ref size = agxc_spv_build2(s, AGXC_OP_IAND, wide, agxc_imm(0x7f, 16));
   struct agxc_ref sign = agxc_spv_build2(s, AGXC_OP_IAND, wide, agxc_imm(0x80, 16));
   sign = agxc_spv_build2(s, AGXC_OP_ISHL, sign, agxc_spv_u32(8));
   struct agxc_ref low = agxc_spv_build2(s, AGXC_OP_ISHL, size, agxc_spv_u32(7));
   low = agxc_spv_build2(s, AGXC_OP_IOR, low, sign);
   struct agxc_ref scaled = agxc_spv_build2(s, AGXC_OP_FMUL, low, agxc_imm(0x5c00, 16));
   struct agxc_ref is_nan = agxc_spv_build2(s, AGXC_OP_IEQ, size, agxc_imm(0x7f, 16));
   return agxc_spv_select(s, is_nan, agxc_imm(0x7e00, 16), scaled);
}

/* E5M2 is the upper byte of a half. */
static struct agxc_ref half_of(struct agxc_spv *s, const struct format *f, struct agxc_ref x)
{
   if (f->encoding == FLOAT8_E4M3)
      return half_of_e4m3(s, x);
   struct agxc_ref wide = agxc_spv_build1(s, AGXC_OP_ZEXT, 16, x);
   return agxc_spv_build2(s, AGXC_OP_ISHL, wide, agxc_spv_u32(8));
}

/* bfloat16 is the upper half of a word. */
static struct agxc_ref widened(struct agxc_spv *s, const struct format *f, struct agxc_ref x)
{
   return f->encoding == BFLOAT16 ? agxc_spv_build2(s, AGXC_OP_PACK32, agxc_imm(0, 16), x)
                                  : agxc_spv_build1(s, AGXC_OP_F2F, 32, half_of(s, f, x));
}

/* Toward zero, with the last bit set where something was cut off: rounding the result to fewer bits
 * rounds the number itself. */
static struct agxc_ref of_64_bits(struct agxc_spv *s, struct agxc_ref x)
{
   struct agxc_ref cut = agxc_spv_narrow_toward_zero(s, 32, x);
   struct agxc_ref back = agxc_spv_build1(s, AGXC_OP_F2F, 64, cut);
   struct agxc_ref differs = agxc_spv_build2(s, AGXC_OP_FNE, back, x);
   struct agxc_ref odd = agxc_spv_build2(s, AGXC_OP_IOR, cut, agxc_spv_u32(1));
   return agxc_spv_select(s, differs, odd, cut);
}

/* ---- to fewer bits ------------------------------------------------------ */

/* To nearest even in the upper bits: half of the last of them is added, a bit less where that is
 * even; and an offset, a multiple of the last of them. */
static struct agxc_ref rounded(struct agxc_spv *s, struct agxc_ref x, unsigned cut, uint32_t offset)
{
   struct agxc_ref last = agxc_spv_build2(s, AGXC_OP_USHR, x, agxc_spv_u32(cut));
   last = agxc_spv_build2(s, AGXC_OP_IAND, last, agxc_spv_u32(1));
   x = agxc_spv_build2(s, AGXC_OP_IADD, x, agxc_spv_u32((1u << (cut - 1)) - 1 + offset));
   return agxc_spv_build2(s, AGXC_OP_IADD, x, last);
}

static struct agxc_ref bfloat16_of(struct agxc_spv *s, struct agxc_ref x)
{
   struct agxc_ref is_nan = agxc_spv_build2(s, AGXC_OP_FNE, x, x);
   struct agxc_ref quiet = agxc_spv_build2(s, AGXC_OP_IOR, x, agxc_spv_u32(QUIET_BIT));
   struct agxc_ref low, high;
   agxc_spv_unpack(s, agxc_spv_select(s, is_nan, quiet, rounded(s, x, 16, 0)), &low, &high);
   return high;
}

/* The code of a number below the smallest normal one counts its steps: added to a float whose last
 * bit is one step, the number is rounded to them. */
static struct agxc_ref steps_of(struct agxc_spv *s, const struct format *f, struct agxc_ref size)
{
   struct agxc_ref steps =
      agxc_spv_u32((BIAS + 1 - f->bias - f->fraction_bits + FRACTION_BITS) << FRACTION_BITS);
   bool was_precise = s->is_precise;
   s->is_precise = true;
   struct agxc_ref sum = agxc_spv_build2(s, AGXC_OP_FADD, size, steps);
   s->is_precise = was_precise;
   return agxc_spv_build2(s, AGXC_OP_ISUB, sum, steps);
}

static struct agxc_ref float8_of(struct agxc_spv *s, const struct format *f, struct agxc_ref x,
                                 bool saturates)
{
   struct agxc_ref size = agxc_spv_build2(s, AGXC_OP_IAND, x, agxc_spv_u32(~SIGN_BIT));
   struct agxc_ref sign = agxc_spv_build2(s, AGXC_OP_USHR, x, agxc_spv_u32(24));
   sign = agxc_spv_build2(s, AGXC_OP_IAND, sign, agxc_spv_u32(0x80));
   unsigned cut = FRACTION_BITS - f->fraction_bits;
   struct agxc_ref code = rounded(s, size, cut, 0u - ((BIAS - f->bias) << FRACTION_BITS));
   code = agxc_spv_build2(s, AGXC_OP_USHR, code, agxc_spv_u32(cut));
   struct agxc_ref least = agxc_spv_u32((BIAS + 1 - f->bias) << FRACTION_BITS);
   struct agxc_ref is_small = agxc_spv_build2(s, AGXC_OP_ULT, size, least);
   code = agxc_spv_select(s, is_small, steps_of(s, f, size), code);
   code = agxc_spv_build2(s, AGXC_OP_UMIN, code, agxc_spv_u32(f->largest + !saturates));
   struct agxc_ref is_nan = agxc_spv_build2(s, AGXC_OP_ULT, agxc_spv_u32(INFINITY_BITS), size);
   code = agxc_spv_select(s, is_nan, agxc_spv_u32(f->nan), code);
   return agxc_spv_build1(s, AGXC_OP_TRUNC, 8, agxc_spv_build2(s, AGXC_OP_IOR, code, sign));
}

/* ---- conversions -------------------------------------------------------- */

static const struct agxc_spv_type *operand_component(struct agxc_spv *s,
                                                     const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type;
   agxc_spv_value(s, agxc_spv_operand(s, in, 0), &type);
   return agxc_spv_component(type);
}

bool agxc_spv_converts_small_floats(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_type *to = agxc_spv_component(agxc_spv_type_of(s, in->type_id));
   const struct agxc_spv_type *from = operand_component(s, in);
   return (to && to->kind == AGXC_SPV_SMALL_FLOAT) || (from && from->kind == AGXC_SPV_SMALL_FLOAT);
}

/* `to` is bfloat16, or of 8 bits, or not a small float. */
static struct agxc_ref to_word(struct agxc_spv *s, const struct agxc_spv_instr *in,
                               const struct agxc_spv_type *from, const struct agxc_spv_type *to,
                               struct agxc_ref x)
{
   if (from->kind == AGXC_SPV_SMALL_FLOAT)
      return widened(s, format_of(from->encoding, from->bits), x);
   if (from->kind == AGXC_SPV_INT)
      return agxc_spv_build1(s, in->opcode == SpvOpConvertSToF ? AGXC_OP_S2F : AGXC_OP_U2F, 32, x);
   if (x.bits == 64 && to->bits == 8)
      return of_64_bits(s, x);
   return x.bits == 32 ? x : agxc_spv_build1(s, AGXC_OP_F2F, 32, x);
}

static struct agxc_ref from_word(struct agxc_spv *s, const struct agxc_spv_instr *in,
                                 const struct agxc_spv_type *to, struct agxc_ref x)
{
   const struct format *f = format_of(to->encoding, to->bits);
   if (to->kind == AGXC_SPV_SMALL_FLOAT && f->encoding == BFLOAT16)
      return bfloat16_of(s, x);
   if (to->kind == AGXC_SPV_SMALL_FLOAT)
      return float8_of(
         s, f, x,
         agxc_spv_decoration(agxc_spv_id(s, in->id),
                             SpvDecorationSaturatedToLargestFloat8NormalConversionEXT));
   if (to->kind == AGXC_SPV_INT)
      return agxc_spv_build1(s, in->opcode == SpvOpConvertFToS ? AGXC_OP_F2S : AGXC_OP_F2U,
                             to->bits, x);
   return to->bits == 32 ? x : agxc_spv_build1(s, AGXC_OP_F2F, to->bits, x);
}

static struct agxc_ref converted(struct agxc_spv *s, const struct agxc_spv_instr *in,
                                 const struct agxc_spv_type *from, const struct agxc_spv_type *to,
                                 struct agxc_ref x)
{
   bool is_same =
      from->kind == to->kind && from->bits == to->bits && from->encoding == to->encoding;
   if (is_same)
      return x;
   if (from->bits == 8 && from->kind == AGXC_SPV_SMALL_FLOAT && to->kind == AGXC_SPV_FLOAT &&
       to->bits == 16)
      return half_of(s, format_of(from->encoding, 8), x);
   return from_word(s, in, to, to_word(s, in, from, to, x));
}

/* Whether integers stand where the opcode has them, and floats of any kind elsewhere. */
static bool kinds_fit(uint32_t opcode, const struct agxc_spv_type *to,
                      const struct agxc_spv_type *from)
{
   bool to_int = opcode == SpvOpConvertFToU || opcode == SpvOpConvertFToS;
   bool from_int = opcode == SpvOpConvertUToF || opcode == SpvOpConvertSToF;
   return to->kind != AGXC_SPV_BOOL && from->kind != AGXC_SPV_BOOL &&
          (to->kind == AGXC_SPV_INT) == to_int && (from->kind == AGXC_SPV_INT) == from_int;
}

void agxc_spv_convert_small_floats(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id), *from_type;
   const struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, 0), &from_type);
   const struct agxc_spv_type *to = agxc_spv_component(type), *from = agxc_spv_component(from_type);
   const struct agxc_spv_decoration *rounding =
      agxc_spv_decoration(agxc_spv_id(s, in->id), SpvDecorationFPRoundingMode);
   if (!to || !from || !kinds_fit(in->opcode, to, from) || type->scalars != from_type->scalars)
      agxc_spv_invalid(s, "from type %u to type %u", from_type->id, type->id);
   if (rounding && rounding->value != SpvFPRoundingModeRTE)
      agxc_spv_missing(s,
                       "FPRoundingMode %u of floats of 8 bits, or of bfloat16, is not supported: "
                       "use RTE (0)",
                       rounding->value);
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++)
      out[i] = converted(s, in, from, to, refs[i]);
   agxc_spv_define(s, in, out);
}
