/* SPDX-License-Identifier: MIT
 *
 * Operands of an instruction as rows of registers and constants, and what they
 * are held to.
 */
#include "agx/sim/machine/bind_impl.h"
#include "base/util.h"

void agxs_bound_refuse(struct agxs_bound *bound, agx_status code, const char *reason)
{
   if (bound->refusal)
      return;
   bound->refusal = reason;
   bound->code = code;
}

const struct agx_isa_operand *agxs_bound_operand(const struct agxs_bound *bound, uint8_t index)
{
   static const struct agx_isa_operand absent;
   return index ? &bound->instr->operand[index - 1] : &absent;
}

int64_t agxs_bound_number(const struct agxs_bound *bound, uint8_t index)
{
   return agxs_bound_operand(bound, index)->value;
}

static void mark_halves(uint64_t *set, unsigned first, unsigned count)
{
   for (unsigned half = first; half < first + count; half++)
      set[half / 64] |= 1ull << half % 64;
}

/* Registers that an operand covers, checked against the declaration and noted. */
bool agxs_bound_registers(struct agxs_bound *bound, const struct agx_isa_operand *operand,
                          unsigned elements, bool is_write)
{
   unsigned halves = elements * (operand->bits / 16u);
   if (operand->bits >= 32 && operand->value & 1)
      agxs_bound_refuse(bound, AGX_INVALID_ARGUMENT, "a 32-bit register starts on an odd half");
   if (!agx_range_fits((uint64_t)operand->value, halves, bound->kernel->request.halves)) {
      agxs_bound_refuse(bound, AGX_INVALID_ARGUMENT,
                        "a register beyond the count that the launch declares");
      return false;
   }
   mark_halves(is_write ? bound->regs.writes : bound->regs.reads, (unsigned)operand->value, halves);
   if (!is_write && operand->hint == AGX_ISA_HINT_DISCARD)
      mark_halves(bound->regs.discards, (unsigned)operand->value, halves);
   return true;
}

void agxs_bound_dest(struct agxs_bound *bound, const struct agx_isa_operand *operand,
                     unsigned elements)
{
   struct agxs_dest *dst = &bound->uop.dst;
   if (operand->kind == AGX_ISA_NONE)
      return;
   if (operand->kind != AGX_ISA_REG) {
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED, "a destination that is no register");
      return;
   }
   if (!agxs_bound_registers(bound, operand, elements, true))
      return;
   dst->row = (uint16_t)(operand->value / 2);
   dst->bits = operand->bits;
   dst->shift = operand->bits == 16 && operand->value & 1 ? 16 : 0;
   dst->mask = operand->bits == 16 ? 0xffffu << dst->shift : ~0u;
}

/* A constant row that holds the operand's final value in every lane. */
static void set_constant(struct agxs_bound *bound, const struct agx_isa_operand *operand,
                         struct agxs_source *source, struct agxs_constant constant)
{
   const struct agxs_kernel_request *request = &bound->kernel->request;
   uint64_t halves = operand->bits / 16u;
   if (constant.is_uniform) {
      uint64_t limit = request->check ? request->uniform_halves : AGX_UNIFORM_HALVES;
      if (!agx_range_fits((uint64_t)operand->value, halves, limit)) {
         agxs_bound_refuse(bound, AGX_INVALID_ARGUMENT,
                           "a uniform beyond the count that the launch declares");
         return;
      }
   }
   constant.value = (uint32_t)operand->value;
   source->bank = AGXS_BANK_POOL;
   source->bits = operand->bits == 64 ? 64 : 32;
   source->row = agxs_kernel_constant(bound->kernel, &constant);
   if (operand->bits == 64) {
      constant.is_high = true; /* made right after the low word: the next row */
      agxs_kernel_constant(bound->kernel, &constant);
   }
}

void agxs_bound_vector(struct agxs_bound *bound, const struct agx_isa_operand *operand,
                       struct agxs_source *source, unsigned elements)
{
   if (!agxs_bound_registers(bound, operand, elements, false))
      return;
   source->bank = AGXS_BANK_REG;
   source->row = (uint16_t)(operand->value / 2);
   source->bits = operand->bits;
   source->right = operand->bits == 16 ? 16 : 0;
   source->left = operand->bits == 16 && !(operand->value & 1) ? 16 : 0;
   source->sign = operand->bits == 16 && source->is_signed ? 0x8000 : 0;
}

void agxs_bound_set(struct agxs_bound *bound, unsigned index, uint8_t at, bool is_float,
                    bool is_signed)
{
   const struct agx_isa_operand *operand = agxs_bound_operand(bound, at);
   struct agxs_source *source = &bound->uop.src[index];
   struct agxs_constant constant = {
      .bits = operand->bits ? operand->bits : 16,
      .is_float = is_float,
      .is_signed = is_signed,
      .keep = operand->abs ? 0x7fffffff : ~0u,
      .flip = operand->neg ? 0x80000000u : 0,
   };
   source->keep = ~0u;
   source->is_signed = is_signed;
   switch (operand->kind) {
   case AGX_ISA_NONE: /* such as threadgroup address 0, or the a of a plain shift */
      set_constant(bound, agxs_bound_operand(bound, 0), source, constant);
      break;
   case AGX_ISA_IMM:
      /* An immediate counts as 16 bits, but one of 32 (ldimm) has its own size. */
      constant.bits = operand->value > 0xffff ? 32 : 16;
      set_constant(bound, operand, source, constant);
      break;
   case AGX_ISA_FIMM:
      constant.bits = 8;
      set_constant(bound, operand, source, constant);
      break;
   case AGX_ISA_UNIFORM:
      constant.is_uniform = true;
      set_constant(bound, operand, source, constant);
      break;
   case AGX_ISA_REG:
      source->keep = constant.keep;
      source->flip = constant.flip;
      agxs_bound_vector(bound, operand, source, AGX_MAX(operand->count, 1));
      break;
   default:
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED, "an operand of this kind is not modelled");
      break;
   }
}

void agxs_bound_source(struct agxs_bound *bound, const struct agx_isa_operand *operand,
                       unsigned elements, struct agxs_source *out)
{
   struct agxs_constant constant = {
      .bits = operand->bits ? operand->bits : 16,
      .keep = ~0u,
      .is_uniform = operand->kind == AGX_ISA_UNIFORM,
   };
   *out = (struct agxs_source){.keep = ~0u};
   if (operand->kind == AGX_ISA_REG)
      agxs_bound_vector(bound, operand, out, elements);
   else
      set_constant(bound, operand, out, constant);
}
