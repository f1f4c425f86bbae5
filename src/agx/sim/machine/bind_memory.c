/* SPDX-License-Identifier: MIT
 *
 * Decoding of what reaches memory: loads and stores, threadgroup memory, atomics,
 * the stack and the uniform file. source: docs/hw/machine.md 7, 8, 10, 16
 */
#include "agx/sim/machine/bind_impl.h"
#include "agx/sim/machine/format.h"
#include "base/util.h"

/* Index operand of memory: a register, or the immediate in imm. */
static void set_index(struct agxs_bound *bound, uint8_t at)
{
   const struct agx_isa_operand *operand = agxs_bound_operand(bound, at);
   if (operand->kind == AGX_ISA_REG) {
      agxs_bound_set(bound, 2, at, false, operand->sx);
      bound->uop.has_index = true;
      return;
   }
   bound->uop.imm = operand->value;
}

/* Format, mask and register vector. Packed formats ignore the mask. */
static void set_vector(struct agxs_bound *bound, uint8_t at, uint8_t format_at, uint8_t mask_at,
                       bool is_write)
{
   const struct agx_isa_operand *operand = agxs_bound_operand(bound, at);
   unsigned number = (unsigned)agxs_bound_number(bound, format_at);
   const struct agxs_format *format = &agxs_formats[number & 15];
   bound->uop.format = number & 15;
   bound->uop.mask = (uint8_t)agxs_bound_number(bound, mask_at) & 15;
   if (number > 15 || !format->known) {
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED, "this memory format is unknown");
      return;
   }
   if (number == AGX_ISA_FORMAT_F16 && operand->bits == 32)
      bound->uop.format = AGXS_FORMAT_F16_WIDE;
   if (number == AGX_ISA_FORMAT_I32 && operand->bits != 32)
      agxs_bound_refuse(bound, AGX_INVALID_ARGUMENT, "format i32 needs 32-bit registers");
   unsigned elements =
      format->channels ? format->channels : (unsigned)__builtin_popcount(bound->uop.mask);
   if (is_write)
      agxs_bound_dest(bound, operand, elements);
   else
      agxs_bound_vector(bound, operand, &bound->uop.src[0], elements);
}

/* fixed: 1 for a store. src: register vector, base, index, shift; flag: the group;
 * mode: format; imm: mask. */
void agxs_bind_memory(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   int64_t shift = agxs_bound_number(bound, binding->src[3]);
   bound->uop.shift = shift > 2 ? 2 : (uint8_t)shift;
   set_vector(bound, binding->src[0], binding->mode, binding->imm, !binding->fixed);
   if (binding->src[1])
      agxs_bound_set(bound, 1, binding->src[1], false, false);
   set_index(bound, binding->src[2]);
   if (binding->coherency)
      bound->uop.is_coherent =
         agxs_bound_number(bound, binding->coherency) != AGX_ISA_COHERENT_INCOHERENT;
   if (binding->flag) {
      bound->uop.group = (uint8_t)agxs_bound_number(bound, binding->flag) & 1;
      bound->async_group = bound->uop.group + 1;
   }
}

void agxs_bind_stack(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   agxs_bind_memory(bound, binding);
   if (bound->uop.format > AGX_ISA_FORMAT_I32)
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED, "this format is not known to work on the stack");
}

static void refuse_workgroup(struct agxs_bound *bound)
{
   const struct agxs_kernel_request *request = &bound->kernel->request;
   if (request->is_preamble && request->check)
      agxs_bound_refuse(bound, AGX_FAILED_PRECONDITION,
                        "check: a preamble has no threadgroup memory");
}

void agxs_bind_local(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   refuse_workgroup(bound);
   agxs_bind_memory(bound, binding);
}

void agxs_bind_atomic(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   const struct agx_isa_operand *data = agxs_bound_operand(bound, binding->src[0]);
   bound->uop.mode = (uint8_t)agxs_bound_number(bound, binding->mode);
   if (bound->uop.mode > AGX_ISA_ATOMIC_XOR)
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED, "this atomic operation is unknown");
   if (!binding->flag) /* latomic has no group */
      refuse_workgroup(bound);
   bool is_pair = bound->uop.mode == AGX_ISA_ATOMIC_CMPXCHG;
   agxs_bound_vector(bound, data, &bound->uop.src[0], is_pair ? 2 : 1);
   agxs_bound_dest(bound, agxs_bound_operand(bound, binding->d), 1);
   agxs_bound_set(bound, 1, binding->src[1], false, false);
   set_index(bound, binding->src[2]);
   if (binding->flag) {
      bound->uop.group = (uint8_t)agxs_bound_number(bound, binding->flag) & 1;
      bound->async_group = bound->uop.group + 1;
   }
}

void agxs_bind_stack_adjust(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   set_index(bound, binding->src[2]);
   if (bound->uop.has_index) /* any amount */
      bound->stack_words = AGXS_MAX_STACK_WORDS;
   else if (bound->uop.imm > 0)
      bound->stack_words = (uint32_t)bound->uop.imm;
}

void agxs_bind_uniform_store(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   const struct agx_isa_operand *to = agxs_bound_operand(bound, binding->d);
   const struct agx_isa_operand *from = agxs_bound_operand(bound, binding->src[0]);
   unsigned halves = AGX_MAX(to->count, 1) * (to->bits / 16u);
   if (!bound->kernel->request.is_preamble)
      agxs_bound_refuse(bound, AGX_INVALID_ARGUMENT, "only a preamble stores uniforms");
   struct agx_isa_operand data = *from;
   data.bits = 16, data.count = (uint8_t)halves;
   bound->uop.imm = to->value;
   bound->uop.mask = (uint8_t)((1u << halves) - 1);
   agxs_bound_vector(bound, &data, &bound->uop.src[0], halves);
}

/* The general form: element i goes to uniform half index + i where bit i of the mask is
 * set. Source: docs/hw/machine.md 10. */
void agxs_bind_uniform_store_raw(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   const struct agx_isa_operand *data = agxs_bound_operand(bound, binding->src[0]);
   if (!bound->kernel->request.is_preamble)
      agxs_bound_refuse(bound, AGX_INVALID_ARGUMENT, "only a preamble stores uniforms");
   if (agxs_bound_number(bound, binding->mode) != AGX_ISA_FORMAT_I16 || data->bits != 16)
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED,
                        "uniforms are stored from 16-bit registers as i16 only");
   if (agxs_bound_number(bound, binding->src[3]))
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED,
                        "what a shift does to a uniform's number is unknown");
   bound->uop.mask = (uint8_t)agxs_bound_number(bound, binding->imm) & 15;
   agxs_bound_vector(bound, data, &bound->uop.src[0],
                     (unsigned)__builtin_popcount(bound->uop.mask));
   set_index(bound, binding->src[2]);
}
