/* SPDX-License-Identifier: MIT
 *
 * Zeros for memory of types that are too large for values: arrays are cleared by loops. variable.c
 * calls it for initializers, memory.c for stores of such a constant.
 */
#include "agx/compiler/spirv/flow_impl.h"
#include "agx/compiler/spirv/memory_impl.h"

#define AT_ONCE 16u /* scalars: what one round of a loop clears, where elements are smaller */
#define MOST    64u /* stores of more become loops */

static void clear_element(struct agxc_spv *s, const struct agxc_spv_pointer *array,
                          struct agxc_ref index)
{
   struct agxc_spv_pointer *p = agxc_spv_pointer_copy(s, array);
   agxc_spv_step_to(s, p, index);
   agxc_spv_clear(s, p);
}

/* The elements from first + 0 to first + count - 1. */
static void clear_run(struct agxc_spv *s, const struct agxc_spv_pointer *array,
                      struct agxc_ref first, uint32_t count)
{
   for (uint32_t i = 0; i < count; i++)
      clear_element(s, array, agxc_spv_build2(s, AGXC_OP_IADD, first, agxc_spv_u32(i)));
}

/* All elements below end, a multiple of step. */
static void clear_by_loop(struct agxc_spv *s, const struct agxc_spv_pointer *array, uint32_t end,
                          uint32_t step)
{
   uint32_t counter = agxc_slots_new(s->ssa, 1, NULL);
   agxc_spv_slot_write(s, counter, agxc_spv_u32(0));
   struct agxc_spv_loop_place place = agxc_spv_begin_loop(s);
   struct agxc_ref i = agxc_spv_slot_read(s, counter);
   clear_run(s, array, i, step);
   struct agxc_ref next = agxc_spv_build2(s, AGXC_OP_IADD, i, agxc_spv_u32(step));
   agxc_spv_slot_write(s, counter, next);
   agxc_spv_end_loop(s, &place, agxc_spv_build2(s, AGXC_OP_UGE, next, agxc_spv_u32(end)));
}

void agxc_spv_clear(struct agxc_spv *s, const struct agxc_spv_pointer *p)
{
   const struct agxc_spv_type *type = p->type;
   if (type->scalars == 0)
      return;
   if (type->kind == AGXC_SPV_STRUCT && type->scalars > MOST) {
      for (uint32_t i = 0; i < type->count; i++) {
         struct agxc_spv_pointer *part = agxc_spv_pointer_copy(s, p);
         agxc_spv_step_into_member(s, part, i);
         agxc_spv_clear(s, part);
      }
      return;
   }
   if (type->kind == AGXC_SPV_ARRAY && type->scalars > MOST) {
      uint32_t step = AGX_MAX(AT_ONCE / type->elem->scalars, 1u), rest = type->count % step;
      clear_by_loop(s, p, type->count - rest, step);
      clear_run(s, p, agxc_spv_u32(type->count - rest), rest);
      return;
   }
   const uint8_t *bits = agxc_spv_scalar_bits(s, type);
   struct agxc_ref *zeros = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++)
      zeros[i] = agxc_imm(0, bits[i]);
   agxc_spv_store(s, p, zeros, false);
}
