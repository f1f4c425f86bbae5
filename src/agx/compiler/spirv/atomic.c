/* SPDX-License-Identifier: MIT
 *
 * Atomics on buffers and workgroup memory, and barriers.
 *
 * Atomics have 32 bits. Scope and semantics of a barrier become the bits of the IR's BARRIER. One
 * without bits, which selects to nothing, stands around volatile and atomic loads and stores of
 * workgroup memory, so that no pass merges or moves them.
 */
#include "agx/compiler/spirv/handler_impl.h"
#include "agx/compiler/spirv/memory_impl.h"

#define ORDER_MASK                                                                                 \
   (SpvMemorySemanticsAcquireMask | SpvMemorySemanticsReleaseMask |                                \
    SpvMemorySemanticsAcquireReleaseMask | SpvMemorySemanticsSequentiallyConsistentMask)
#define DEVICE_MASK                                                                                \
   (SpvMemorySemanticsUniformMemoryMask | SpvMemorySemanticsAtomicCounterMemoryMask |              \
    SpvMemorySemanticsImageMemoryMask)

/* ---- barriers ---------------------------------------------------------- */

static void emit_memory_barrier(struct agxc_spv *s, uint32_t scope, uint32_t semantics,
                                uint32_t with)
{
   uint32_t bits = with;
   if ((semantics & ORDER_MASK) && scope != SpvScopeInvocation) {
      bool wide =
         scope == SpvScopeDevice || scope == SpvScopeCrossDevice || scope == SpvScopeQueueFamily;
      if (semantics & SpvMemorySemanticsWorkgroupMemoryMask)
         bits |= AGXC_BARRIER_SHARED;
      if (semantics & DEVICE_MASK)
         bits |= wide ? AGXC_BARRIER_DEVICE_WIDE : AGXC_BARRIER_DEVICE;
      if (semantics & SpvMemorySemanticsImageMemoryMask && s->any_storage_image)
         bits |= AGXC_BARRIER_IMAGE;
   }
   if (bits)
      agxc_build_barrier(&s->b, bits);
}

void agxc_spv_op_control_barrier(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   uint32_t execution = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 0));
   uint32_t memory = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 1));
   uint32_t semantics = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 2));
   if (execution != SpvScopeWorkgroup && execution != SpvScopeSubgroup)
      agxc_spv_missing(
         s, "barrier of execution scope %u is not supported: use Workgroup (2) or Subgroup (3)",
         execution);
   /* Lanes of a SIMD-group run in step. */
   emit_memory_barrier(s, memory, semantics,
                       execution == SpvScopeWorkgroup ? AGXC_BARRIER_EXECUTION : 0);
}

void agxc_spv_op_memory_barrier(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   uint32_t scope = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 0));
   emit_memory_barrier(s, scope, agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 1)), 0);
}

/* ---- atomics ----------------------------------------------------------- */

static struct agxc_spv_pointer *atomic_pointer(struct agxc_spv *s, uint32_t id)
{
   struct agxc_spv_pointer *p = agxc_spv_pointer_of(s, id);
   bool has_atomics = p->place == AGXC_SPV_PLACE_BUFFER || p->place == AGXC_SPV_PLACE_SHARED ||
                      p->place == AGXC_SPV_PLACE_GLOBAL;
   if (!has_atomics)
      agxc_spv_missing(
         s,
         "atomic in storage class %s is not supported: use a buffer, an image or workgroup memory",
         agxc_spv_storage_name(p->var->storage));
   if (p->type->kind != AGXC_SPV_INT)
      agxc_spv_missing(s,
                       "atomic on type %u, which is no integer, is not supported: exchange the "
                       "bits of a 32-bit one",
                       p->type->id);
   if (p->type->bits != 32)
      agxc_spv_missing(s, "atomic of %u bits%s is not supported: use 32", p->type->bits,
                       p->type->bits == 64 ? " (capability Int64Atomics)" : "");
   return p;
}

static struct agxc_ref atomic_data(struct agxc_spv *s, uint32_t id)
{
   struct agxc_ref data = agxc_spv_scalar(s, id, AGXC_SPV_INT);
   if (data.bits != 32)
      agxc_spv_invalid(s, "operand %u of %u bits", id, data.bits);
   return data;
}

static struct agxc_ref emit_atomic(struct agxc_spv *s, struct agxc_spv_pointer *p, uint32_t op,
                                   struct agxc_ref data, struct agxc_ref compare)
{
   struct agxc_ref offset = agxc_spv_offset(s, p, 0), base;
   if (p->place == AGXC_SPV_PLACE_SHARED)
      return agxc_build_atomic_shared(&s->b, offset, data, compare, op);
   if (p->place == AGXC_SPV_PLACE_GLOBAL) {
      agxc_spv_check_access(s, p, 4, true, &base, &offset);
      return agxc_build_atomic_global(&s->b, base, offset, data, compare, op);
   }
   uint32_t binding = agxc_spv_use_binding(s, p, AGX_BINDING_READS | AGX_BINDING_WRITES);
   return agxc_build_atomic_buffer(&s->b, offset, data, compare, binding, op);
}

/* Release orders what came before, acquire what comes after. */
static void order_before(struct agxc_spv *s, uint32_t scope, uint32_t semantics)
{
   emit_memory_barrier(s, scope,
                       semantics & SpvMemorySemanticsAcquireMask
                          ? semantics & ~(uint32_t)SpvMemorySemanticsAcquireMask
                          : semantics,
                       0);
}

static void order_after(struct agxc_spv *s, uint32_t scope, uint32_t semantics)
{
   emit_memory_barrier(s, scope, semantics & ~(uint32_t)SpvMemorySemanticsReleaseMask, 0);
}

void agxc_spv_op_atomic(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_pointer *p = atomic_pointer(s, agxc_spv_operand(s, in, 0));
   uint32_t scope = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 1));
   uint32_t semantics = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 2));
   bool by_one = in->opcode == SpvOpAtomicIIncrement || in->opcode == SpvOpAtomicIDecrement;
   struct agxc_ref data = by_one ? agxc_spv_u32(1) : atomic_data(s, agxc_spv_operand(s, in, 3));
   order_before(s, scope, semantics);
   struct agxc_ref old =
      emit_atomic(s, p, agxc_spv_op_find(in->opcode)->variant, data, agxc_none());
   order_after(s, scope, semantics);
   agxc_spv_define_scalar(s, in, AGXC_SPV_INT, old);
}

void agxc_spv_op_atomic_compare(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_pointer *p = atomic_pointer(s, agxc_spv_operand(s, in, 0));
   uint32_t scope = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 1));
   uint32_t semantics = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 2)) |
                        agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 3));
   struct agxc_ref data = atomic_data(s, agxc_spv_operand(s, in, 4));
   struct agxc_ref compare = atomic_data(s, agxc_spv_operand(s, in, 5));
   order_before(s, scope, semantics);
   struct agxc_ref old = emit_atomic(s, p, AGX_ISA_ATOMIC_CMPXCHG, data, compare);
   order_after(s, scope, semantics);
   agxc_spv_define_scalar(s, in, AGXC_SPV_INT, old);
}

void agxc_spv_op_atomic_load(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_pointer *p = atomic_pointer(s, agxc_spv_operand(s, in, 0));
   struct agxc_ref value = agxc_spv_load(s, p, true)[0];
   emit_memory_barrier(s, agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 1)),
                       agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 2)), 0);
   agxc_spv_define_scalar(s, in, AGXC_SPV_INT, value);
}

void agxc_spv_op_atomic_store(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_pointer *p = atomic_pointer(s, agxc_spv_operand(s, in, 0));
   struct agxc_ref value = atomic_data(s, agxc_spv_operand(s, in, 3));
   emit_memory_barrier(s, agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 1)),
                       agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 2)), 0);
   agxc_spv_store(s, p, &value, true);
}
