/* SPDX-License-Identifier: MIT
 *
 * Atomics on buffers and workgroup memory, and barriers.
 *
 * Atomics have 32 bits. Those on floats are made of the ones on integers: a sum by comparing and
 * exchanging in a loop, a minimum or maximum by the order of the bits. Scope and semantics of a
 * barrier become the bits of the IR's BARRIER. One without bits, which selects to nothing, stands
 * around volatile and atomic loads and stores of workgroup memory, so that no pass merges or moves
 * them.
 */
#include "agx/compiler/spirv/flow_impl.h"
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

/* Orders memory where a thread arrives; where it waits it meets the others in a whole barrier. */
void agxc_spv_op_barrier_arrive(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   uint32_t execution = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 0));
   uint32_t memory = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 1));
   if (execution != SpvScopeWorkgroup && execution != SpvScopeSubgroup)
      agxc_spv_missing(
         s, "barrier of execution scope %u is not supported: use Workgroup (2) or Subgroup (3)",
         execution);
   emit_memory_barrier(s, memory, agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 2)), 0);
}

void agxc_spv_op_memory_barrier(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   uint32_t scope = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 0));
   emit_memory_barrier(s, scope, agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 1)), 0);
}

/* ---- atomics ----------------------------------------------------------- */

/* kind: AGXC_SPV_INT, AGXC_SPV_FLOAT, or AGXC_SPV_VOID for both. */
static struct agxc_spv_pointer *atomic_pointer(struct agxc_spv *s, uint32_t id,
                                               enum agxc_spv_kind kind)
{
   struct agxc_spv_pointer *p = agxc_spv_pointer_of(s, id);
   bool has_atomics = p->place == AGXC_SPV_PLACE_BUFFER || p->place == AGXC_SPV_PLACE_SHARED ||
                      p->place == AGXC_SPV_PLACE_GLOBAL;
   if (!has_atomics)
      agxc_spv_missing(
         s,
         "atomic in storage class %s is not supported: use a buffer, an image or workgroup memory",
         agxc_spv_storage_name(p->var->storage));
   bool is_number = p->type->kind == AGXC_SPV_INT || p->type->kind == AGXC_SPV_FLOAT;
   if (!is_number || (kind != AGXC_SPV_VOID && p->type->kind != kind))
      agxc_spv_invalid(s, "of type %u, which is no %s", p->type->id,
                       kind == AGXC_SPV_VOID    ? "number"
                       : kind == AGXC_SPV_FLOAT ? "float"
                                                : "integer");
   if (p->type->bits != 32)
      agxc_spv_missing(s,
                       "atomic of %u bits is not supported, since the hardware's have 32: use 32",
                       p->type->bits);
   return p;
}

static struct agxc_ref atomic_data(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                                   uint32_t id)
{
   struct agxc_ref data = agxc_spv_scalar(s, id, p->type->kind);
   if (data.bits != 32)
      agxc_spv_invalid(s, "operand %u of %u bits", id, data.bits);
   return data;
}

/* Where an atomic works: found once, also for several in a loop. */
struct target {
   struct agxc_spv_pointer *p;
   struct agxc_ref base, offset; /* base: of GLOBAL */
   uint32_t binding;             /* of BUFFER */
};

static struct target target_of(struct agxc_spv *s, struct agxc_spv_pointer *p)
{
   struct target t = {.p = p, .offset = agxc_spv_offset(s, p, 0)};
   if (p->place == AGXC_SPV_PLACE_GLOBAL)
      agxc_spv_check_access(s, p, 4, true, &t.base, &t.offset);
   else if (p->place == AGXC_SPV_PLACE_BUFFER)
      t.binding = agxc_spv_use_binding(s, p, AGX_BINDING_READS | AGX_BINDING_WRITES);
   return t;
}

static struct agxc_ref emit_atomic(struct agxc_spv *s, const struct target *t, uint32_t op,
                                   struct agxc_ref data, struct agxc_ref compare)
{
   if (t->p->place == AGXC_SPV_PLACE_SHARED)
      return agxc_build_atomic_shared(&s->b, t->offset, data, compare, op);
   if (t->p->place == AGXC_SPV_PLACE_GLOBAL)
      return agxc_build_atomic_global(&s->b, t->base, t->offset, data, compare, op);
   return agxc_build_atomic_buffer(&s->b, t->offset, data, compare, t->binding, op);
}

/* ---- atomics on floats -------------------------------------------------- */

/* Bits are compared, so that NaNs and both zeros end the loop. Of the lanes that contend for a word
 * one succeeds in each round. */
static struct agxc_ref emit_float_add(struct agxc_spv *s, const struct target *t,
                                      struct agxc_ref data)
{
   uint32_t expected = agxc_slots_new(s->ssa, 1, NULL);
   bool was_precise = s->is_precise;
   agxc_spv_slot_write(s, expected, agxc_spv_load(s, t->p, true)[0]);
   struct agxc_spv_loop_place place = agxc_spv_begin_loop(s);
   struct agxc_ref old = agxc_spv_slot_read(s, expected);
   s->is_precise = true; /* a product that is added was rounded before */
   struct agxc_ref sum = agxc_spv_build2(s, AGXC_OP_FADD, old, data);
   s->is_precise = was_precise;
   struct agxc_ref found = emit_atomic(s, t, AGX_ISA_ATOMIC_CMPXCHG, sum, old);
   agxc_spv_slot_write(s, expected, found);
   agxc_spv_end_loop(s, &place, agxc_spv_build2(s, AGXC_OP_IEQ, found, old));
   return agxc_spv_slot_read(s, expected);
}

/* Positive floats are ordered as integers with a sign, and come after negative ones; those are
 * ordered the other way round without it. A NaN goes where it changes nothing. */
static struct agxc_ref emit_float_limit(struct agxc_spv *s, const struct target *t, bool is_max,
                                        struct agxc_ref data)
{
   uint32_t result = agxc_slots_new(s->ssa, 1, NULL);
   struct agxc_ref is_nan = agxc_spv_build2(s, AGXC_OP_FNE, data, data);
   struct agxc_ref is_negative = agxc_spv_build2(s, AGXC_OP_SLT, data, agxc_spv_u32(0));
   struct agxc_ref bits = agxc_spv_select(s, is_nan, agxc_spv_u32(is_max ? UINT32_MAX : 0), data);
   struct agxc_spv_arms arms =
      agxc_spv_begin_then(s, agxc_spv_build2(s, AGXC_OP_IOR, is_nan, is_negative));
   uint32_t op = is_max ? AGX_ISA_ATOMIC_UMIN : AGX_ISA_ATOMIC_UMAX;
   agxc_spv_slot_write(s, result, emit_atomic(s, t, op, bits, agxc_none()));
   agxc_spv_begin_else(s, &arms);
   op = is_max ? AGX_ISA_ATOMIC_IMAX : AGX_ISA_ATOMIC_IMIN;
   agxc_spv_slot_write(s, result, emit_atomic(s, t, op, data, agxc_none()));
   agxc_spv_end_if(s, &arms);
   return agxc_spv_slot_read(s, result);
}

static struct agxc_ref emit_any_atomic(struct agxc_spv *s, const struct target *t, uint32_t variant,
                                       struct agxc_ref data)
{
   if (variant == AGXC_SPV_ATOMIC_FADD)
      return emit_float_add(s, t, data);
   if (variant == AGXC_SPV_ATOMIC_FMIN || variant == AGXC_SPV_ATOMIC_FMAX)
      return emit_float_limit(s, t, variant == AGXC_SPV_ATOMIC_FMAX, data);
   return emit_atomic(s, t, variant, data, agxc_none());
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

static enum agxc_spv_kind kind_of(const struct agxc_spv_instr *in)
{
   if (in->opcode == SpvOpAtomicExchange)
      return AGXC_SPV_VOID;
   return agxc_spv_op_find(in->opcode)->variant >= AGXC_SPV_ATOMIC_FADD ? AGXC_SPV_FLOAT
                                                                        : AGXC_SPV_INT;
}

void agxc_spv_op_atomic(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_pointer *p = atomic_pointer(s, agxc_spv_operand(s, in, 0), kind_of(in));
   uint32_t scope = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 1));
   uint32_t semantics = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 2));
   bool by_one = in->opcode == SpvOpAtomicIIncrement || in->opcode == SpvOpAtomicIDecrement;
   struct agxc_ref data = by_one ? agxc_spv_u32(1) : atomic_data(s, p, agxc_spv_operand(s, in, 3));
   order_before(s, scope, semantics);
   struct target target = target_of(s, p);
   struct agxc_ref old = emit_any_atomic(s, &target, agxc_spv_op_find(in->opcode)->variant, data);
   order_after(s, scope, semantics);
   agxc_spv_define_scalar(s, in, p->type->kind, old);
}

void agxc_spv_op_atomic_compare(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_pointer *p = atomic_pointer(s, agxc_spv_operand(s, in, 0), AGXC_SPV_INT);
   uint32_t scope = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 1));
   uint32_t semantics = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 2)) |
                        agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 3));
   struct agxc_ref data = atomic_data(s, p, agxc_spv_operand(s, in, 4));
   struct agxc_ref compare = atomic_data(s, p, agxc_spv_operand(s, in, 5));
   order_before(s, scope, semantics);
   struct target target = target_of(s, p);
   struct agxc_ref old = emit_atomic(s, &target, AGX_ISA_ATOMIC_CMPXCHG, data, compare);
   order_after(s, scope, semantics);
   agxc_spv_define_scalar(s, in, AGXC_SPV_INT, old);
}

void agxc_spv_op_atomic_load(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_pointer *p = atomic_pointer(s, agxc_spv_operand(s, in, 0), AGXC_SPV_VOID);
   struct agxc_ref value = agxc_spv_load(s, p, true)[0];
   emit_memory_barrier(s, agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 1)),
                       agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 2)), 0);
   agxc_spv_define_scalar(s, in, p->type->kind, value);
}

void agxc_spv_op_atomic_store(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_pointer *p = atomic_pointer(s, agxc_spv_operand(s, in, 0), AGXC_SPV_VOID);
   struct agxc_ref value = atomic_data(s, p, agxc_spv_operand(s, in, 3));
   emit_memory_barrier(s, agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 1)),
                       agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 2)), 0);
   agxc_spv_store(s, p, &value, true);
}
