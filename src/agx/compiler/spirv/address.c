/* SPDX-License-Identifier: MIT
 *
 * Addresses of what pointers lead to: the binding, the byte offset, and the check of an access
 * through a pointer whose buffer is known only at run time. Loads, stores, atomics, images and
 * access chains call it.
 */
#include "agx/compiler/analysis/offset.h"
#include "agx/compiler/ir/launch_slots.h"
#include "agx/compiler/spirv/memory_impl.h"

uint32_t agxc_spv_use_binding(struct agxc_spv *s, const struct agxc_spv_pointer *p, uint32_t access)
{
   bool is_handle = p->var->place == AGXC_SPV_PLACE_HANDLE;
   uint32_t index = p->var->index + (is_handle ? 0 : p->element);
   if (p->is_array && !is_handle)
      agxc_spv_invalid(s, "array of buffers %u as one", p->var->id);
   if ((access & AGX_BINDING_WRITES) && (p->var->is_uniform || p->not_writable))
      agxc_spv_invalid(s, "write to read-only variable %u", p->var->id);
   s->binding_used[index] = true;
   s->bindings[index].access |= access;
   return index;
}

struct agxc_ref agxc_spv_offset(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                                uint32_t plus_B)
{
   if (p->place == AGXC_SPV_PLACE_SHARED && p->var && p->var == s->dynamic_shared)
      return agxc_spv_dynamic_shared_offset(s, p, plus_B);
   if (p->place == AGXC_SPV_PLACE_SHARED && p->var && !p->var->allocated)
      agxc_spv_allocate_shared(s, p->var);
   /* Modulo 2^32 is right for all that a binding shows. */
   bool may_wrap = !p->is_address && !agxc_spv_robustness(s, p);
   if (!may_wrap && (uint64_t)p->const_B + plus_B > UINT32_MAX)
      agxc_spv_missing(
         s, "access of byte %llu of type %u, at most %u: use the address of what lies behind",
         (unsigned long long)p->const_B + plus_B, p->type->id, UINT32_MAX);
   uint32_t constant_B = p->const_B + plus_B + (p->var ? p->var->offset_B : 0);
   struct agxc_ref constant = agxc_spv_u32(constant_B);
   if (p->dynamic.kind == AGXC_NONE)
      return constant;
   /* In a register of its own: so that no pass takes it for less than 0. */
   if (constant_B > AGXC_MAX_CONSTANT_B && !agxc_spv_robustness(s, p))
      constant = agxc_uniform_slot(s->shader, AGX_UNIFORM_CONSTANT, 0, constant_B, 32);
   struct agxc_ref dynamic = p->dynamic;
   /* What add_saturated left beyond the end stays there. */
   if (constant_B && p->place == AGXC_SPV_PLACE_GLOBAL &&
       agxc_spv_robustness(s, p) == AGXC_ROBUST_ZERO)
      dynamic = agxc_spv_build2(s, AGXC_OP_UMIN, dynamic, agxc_spv_u32(UINT32_MAX - constant_B));
   return agxc_spv_build2(s, AGXC_OP_IADD, dynamic, constant);
}

enum agxc_robustness agxc_spv_robustness(const struct agxc_spv *s, const struct agxc_spv_pointer *p)
{
   if (p->place == AGXC_SPV_PLACE_BUFFER)
      return (enum agxc_robustness)s->bindings[p->var->index].robustness;
   return p->place == AGXC_SPV_PLACE_GLOBAL && p->size.kind != AGXC_NONE ? s->pointer_robustness
                                                                         : AGXC_ROBUST_NONE;
}

void agxc_spv_add_constant(struct agxc_spv *s, struct agxc_spv_pointer *p, int64_t by_B)
{
   int64_t sum_B = p->const_B + by_B;
   if (!p->is_address || (sum_B >= 0 && sum_B <= AGXC_MAX_CONSTANT_B))
      p->const_B = (uint32_t)sum_B;
   else
      p->base = agxc_spv_build2(s, AGXC_OP_IADD, p->base, agxc_imm((uint64_t)by_B, 64));
}

void agxc_spv_add_bytes(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref by_B)
{
   if (p->is_address) {
      p->base = agxc_spv_build2(s, AGXC_OP_IADD, p->base, agxc_spv_resize(s, by_B, 64, false));
      return;
   }
   p->dynamic =
      p->dynamic.kind == AGXC_NONE ? by_B : agxc_spv_build2(s, AGXC_OP_IADD, p->dynamic, by_B);
}

void agxc_spv_add_dynamic(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref index,
                          uint32_t stride_B)
{
   bool is_shift = (stride_B & (stride_B - 1)) == 0, is_checked = agxc_spv_robustness(s, p);
   struct agxc_ref by =
      agxc_spv_u32(is_shift && !is_checked ? (uint32_t)__builtin_ctz(stride_B) : stride_B);
   struct agxc_ref term = agxc_spv_build2(s,
                                          is_checked ? AGXC_OP_ELEMENT
                                          : is_shift ? AGXC_OP_ISHL
                                                     : AGXC_OP_IMUL,
                                          index, by);
   agxc_spv_add_bytes(s, p, term);
}

void agxc_spv_move_address(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref index,
                           bool is_signed, uint32_t stride_B)
{
   struct agxc_ref wide = agxc_spv_resize(s, index, 64, is_signed);
   agxc_spv_add_bytes(s, p, agxc_spv_build2(s, AGXC_OP_IMUL, wide, agxc_imm(stride_B, 64)));
}

/* The same where the buffer is known only at run time: what would wrap stays beyond its end. */
void agxc_spv_add_saturated(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref index,
                            uint32_t stride_B)
{
   struct agxc_ref most = agxc_spv_u32(UINT32_MAX / stride_B), old = p->dynamic;
   index = agxc_spv_build2(s, AGXC_OP_UMIN, index, most);
   struct agxc_ref by_B = agxc_spv_build2(s, AGXC_OP_IMUL, index, agxc_spv_u32(stride_B));
   agxc_spv_add_bytes(s, p, by_B);
   if (old.kind == AGXC_NONE)
      return;
   struct agxc_ref wrapped = agxc_spv_build2(s, AGXC_OP_ULT, p->dynamic, old);
   p->dynamic = agxc_spv_select(s, wrapped, agxc_spv_u32(UINT32_MAX), p->dynamic);
}

/* The sink of some buffer that pointers lead to: all buffers have the same. */
static struct agxc_ref sink_of(struct agxc_spv *s, bool writes)
{
   uint32_t i = 0;
   while (i < s->binding_count && !s->binding_pointed[i])
      i++;
   if (i == s->binding_count)
      agxc_spv_invalid(s, "pointer to no buffer");
   return agxc_build_buffer_sink(&s->b, i, writes);
}

/* size - (bytes - 1): how many offsets are inside; 0 for smaller buffers. */
void agxc_spv_check_access(struct agxc_spv *s, const struct agxc_spv_pointer *p, uint32_t bytes,
                           bool writes, struct agxc_ref *base, struct agxc_ref *offset)
{
   enum agxc_robustness robustness = agxc_spv_robustness(s, p);
   *base = p->base;
   if (!robustness)
      return;
   struct agxc_ref zero = agxc_spv_u32(0), less = agxc_spv_u32(bytes - 1);
   struct agxc_ref most = agxc_spv_build2(s, AGXC_OP_UMAX, p->size, less);
   struct agxc_ref count = agxc_spv_build2(s, AGXC_OP_ISUB, most, less), inside;
   if (robustness == AGXC_ROBUST_CLAMP) {
      struct agxc_ref most_of = agxc_spv_build2(s, AGXC_OP_UMAX, count, agxc_spv_u32(1));
      struct agxc_ref last = agxc_spv_build2(s, AGXC_OP_ISUB, most_of, agxc_spv_u32(1));
      *offset = agxc_spv_build2(s, AGXC_OP_UMIN, *offset, last);
      inside = agxc_spv_build2(s, AGXC_OP_INE, count, zero);
   } else {
      inside = agxc_spv_build2(s, AGXC_OP_ULT, *offset, count);
      *offset = agxc_spv_select(s, inside, *offset, zero);
   }
   *base = agxc_spv_select(s, inside, p->base, sink_of(s, writes));
}
