/* SPDX-License-Identifier: MIT
 *
 * Workgroup memory: where variables lie in it, and the zeros that some begin with. address.c asks
 * for a place at a variable's first use; call.c has the zeros stored at the start of the entry
 * point.
 */
#include "agx/compiler/spirv/memory_impl.h"

#define ZEROS_B    16  /* that one store writes */
#define MOST_ZEROS 256 /* stores of a thread, where it may be alone */
#define ZERO_WORDS (ZEROS_B / 4)

/* Unlike an empty array, whose length is a specialization constant. */
static bool is_unsized(const struct agxc_spv_type *type)
{
   if (type->kind == AGXC_SPV_STRUCT && type->count > 0)
      type = type->members[type->count - 1].type;
   return type->kind == AGXC_SPV_RUNTIME_ARRAY;
}

void agxc_spv_allocate_shared(struct agxc_spv *s, struct agxc_spv_variable *var)
{
   bool is_block = var->type->is_block;
   uint64_t bytes = agx_align_up(is_block ? var->type->size_B : var->type->packed_B, 4);
   /* All sizes are whole words; 64-bit scalars are accessed as words too. */
   uint64_t at = is_block ? 0 : s->shader->shared_B;
   if (var->type->scalars == 0 && is_unsized(var->type))
      agxc_spv_invalid(s, "workgroup variable %u has no size", var->id);
   if (bytes > AGX_MAX_SHARED_BYTES || at + bytes > AGX_MAX_SHARED_BYTES)
      agxc_spv_leave(s, AGX_RESOURCE_EXHAUSTED, "workgroup memory of %llu bytes, at most %u",
                     (unsigned long long)(at + bytes), AGX_MAX_SHARED_BYTES);
   var->offset_B = (uint32_t)at;
   var->allocated = true;
   s->shader->shared_B = AGX_MAX(s->shader->shared_B, (uint32_t)(at + bytes));
}

struct agxc_ref agxc_spv_dynamic_shared_offset(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                                               uint32_t plus_B)
{
   struct agxc_ref at = agxc_build_sysval(&s->b, AGXC_SYSVAL_SHARED_END);
   s->shader->has_dynamic_shared = true;
   at = agxc_spv_build2(s, AGXC_OP_IADD, at, agxc_spv_u32(p->const_B + plus_B));
   return p->dynamic.kind == AGXC_NONE ? at : agxc_spv_build2(s, AGXC_OP_IADD, p->dynamic, at);
}

/* Threads share the work. What lies between the variables is undefined at the start, too; the
 * last stores may meet, since all write the same. */
static void store_zeros(struct agxc_spv *s, uint32_t from_B, uint32_t to_B)
{
   const uint32_t *size = s->shader->local_size;
   uint32_t threads = size[0] * size[1] * size[2], count = (to_B - from_B) / ZEROS_B;
   struct agxc_ref thread = agxc_build_sysval(&s->b, AGXC_SYSVAL_LOCAL_INDEX);
   if (s->shader->has_dynamic_local_size) { /* there may be one thread; all do the whole work */
      thread = agxc_spv_u32(0);
      threads = 1;
      if (count > MOST_ZEROS)
         agxc_spv_missing(s,
                          "%u bytes that begin with 0 in workgroups of dynamic size, at most %u: "
                          "clear them in the kernel",
                          to_B - from_B, MOST_ZEROS * ZEROS_B);
   }
   struct agxc_ref zeros[ZERO_WORDS], zero = agxc_spv_u32(0);
   for (uint32_t i = 0; i < ZERO_WORDS; i++)
      zeros[i] = zero;
   zero = agxc_collect(&s->b, ZERO_WORDS, zeros);
   for (uint32_t i = 0; i < count; i += threads) {
      struct agxc_ref at = agxc_spv_build2(s, AGXC_OP_IADD, thread, agxc_spv_u32(i));
      if (count - i < threads)
         at = agxc_spv_build2(s, AGXC_OP_UMIN, at, agxc_spv_u32(count - 1));
      at = agxc_spv_build2(s, AGXC_OP_ISHL, at, agxc_spv_u32(4));
      at = agxc_spv_build2(s, AGXC_OP_IADD, at, agxc_spv_u32(from_B));
      agxc_build_store_shared(&s->b, at, zero);
   }
   agxc_build_barrier(&s->b, AGXC_BARRIER_EXECUTION | AGXC_BARRIER_SHARED);
}

void agxc_spv_init_shared(struct agxc_spv *s)
{
   uint32_t from_B = UINT32_MAX, to_B = 0;
   for (struct agxc_spv_variable *var = s->variables; var; var = var->next) {
      if (var->place != AGXC_SPV_PLACE_SHARED || !var->initializer)
         continue;
      agxc_spv_allocate_shared(s, var);
      from_B = AGX_MIN(from_B, var->offset_B / ZEROS_B * ZEROS_B);
      to_B = s->shader->shared_B = (uint32_t)agx_align_up(s->shader->shared_B, ZEROS_B);
   }
   if (from_B < to_B)
      store_zeros(s, from_B, to_B);
}
