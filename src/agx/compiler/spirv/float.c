/* SPDX-License-Identifier: MIT
 *
 * SPV_KHR_float_controls and float_controls2: what the hardware does is taken, what it can't do is
 * refused. It rounds to nearest even, keeps 16-bit denormals, makes zeros of 32-bit ones, and keeps
 * signed zeros, infinities and NaNs as long as operations stay as written (AGXC_INSTR_PRECISE).
 * Floats of 64 bits, which are software, always have all of it.
 * Source: docs/hw/semantics.md 1 and 2. module.c reads modes here, build.c applies them to each
 * result.
 */
#include "agx/compiler/spirv/module_impl.h"
#include "agx/compiler/spirv/value_impl.h"

static const struct {
   uint32_t mode;
   uint8_t bits;
} taken[] = {
   {SpvExecutionModeDenormPreserve, 16},           {SpvExecutionModeDenormFlushToZero, 32},
   {SpvExecutionModeSignedZeroInfNanPreserve, 16}, {SpvExecutionModeSignedZeroInfNanPreserve, 32},
   {SpvExecutionModeRoundingModeRTE, 16},          {SpvExecutionModeRoundingModeRTE, 32},
   {SpvExecutionModeDenormPreserve, 64},           {SpvExecutionModeSignedZeroInfNanPreserve, 64},
   {SpvExecutionModeRoundingModeRTE, 64},
};

bool agxc_spv_is_float_mode(uint32_t mode)
{
   return mode >= SpvExecutionModeDenormPreserve && mode <= SpvExecutionModeRoundingModeRTZ;
}

void agxc_spv_read_float_mode(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   uint32_t mode = agxc_spv_operand(s, in, 1), bits = agxc_spv_operand(s, in, 2);
   size_t i = 0;
   while (i < AGX_COUNT(taken) && (taken[i].mode != mode || taken[i].bits != bits))
      i++;
   if (i == AGX_COUNT(taken))
      agxc_spv_missing(s, "execution mode %s of %u-bit floats is not supported: leave it out",
                       agxc_spv_name(AGXC_SPV_NAME_MODE, mode), bits);
   /* The zeros that denormals become have signs of their own: 0 - x is no change of sign. */
   if (mode == SpvExecutionModeDenormFlushToZero)
      s->flushes = s->precise_words = true;
   if (mode == SpvExecutionModeSignedZeroInfNanPreserve && bits < 64)
      *(bits == 16 ? &s->precise_halves : &s->precise_words) = true;
}

/* FPFastMathMode bits that together allow everything optimisations do. */
#define MAY_CONTRACT    0x10000u
#define MAY_REASSOCIATE 0x20000u
#define MAY_ANYTHING                                                                               \
   (SpvFPFastMathModeNotNaNMask | SpvFPFastMathModeNotInfMask | SpvFPFastMathModeNSZMask |         \
    SpvFPFastMathModeAllowRecipMask | MAY_CONTRACT | MAY_REASSOCIATE)

bool agxc_spv_is_precise(struct agxc_spv *s, uint32_t id)
{
   const struct agxc_spv_id *entry = agxc_spv_id(s, id);
   if (agxc_spv_decoration(entry, SpvDecorationNoContraction))
      return true;
   if (!s->has_fast_math)
      return false;
   const struct agxc_spv_decoration *d = agxc_spv_decoration(entry, SpvDecorationFPFastMathMode);
   return !d || (d->value & MAY_ANYTHING) != MAY_ANYTHING;
}

struct agxc_ref agxc_spv_apply_float_modes(struct agxc_spv *s, struct agxc_ref result)
{
   struct agxc_instr *def = result.value->def;
   bool is_precise = s->is_precise;
   for (unsigned i = 0; i < 1u + def->src_count; i++)
      is_precise |= (def->operand[i].bits == 16 && s->precise_halves) ||
                    (def->operand[i].bits == 32 && s->precise_words);
   def->flags = is_precise ? AGXC_INSTR_PRECISE : 0;
   /* These copy bits; a change of size to the same one makes them floats. */
   bool copies = def->op == AGXC_OP_FMIN || def->op == AGXC_OP_FMAX || def->op == AGXC_OP_FNEG ||
                 def->op == AGXC_OP_FABS;
   return s->flushes && copies && result.bits == 32 ? agxc_build1(&s->b, AGXC_OP_F2F, 32, result)
                                                    : result;
}
