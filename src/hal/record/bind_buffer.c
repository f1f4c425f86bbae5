/* SPDX-License-Identifier: MIT */
#include "hal/record/bind_buffer.h"

#include "agx/chip.h"
#include "base/util.h"
#include "hal/memory/buffer.h"
#include "robustness/buffer.h"

/* A robust kernel works without a buffer: there is nothing inside, and an address from which
 * sinks can be reached. */
static void bind_nothing(const struct agx_device *device, struct agx_bound *out_bound)
{
   out_bound->address = agxw_device_null(agx_context_of(device)->winsys, &out_bound->sinks);
   out_bound->length_B = 0;
}

static agx_status check_usage(const struct agx_program_binding *wanted,
                              const struct agx_buffer *buffer)
{
   const struct agx_binding_usage usage = agx_binding_usage(wanted);
   if (agx_binding_usage_fits(&usage, buffer->usage))
      return AGX_OK;
   return AGX_FAIL(AGX_PERMISSION_DENIED,
                   "buffer %s was not made for this: its usage is 0x%x, and the kernel %s it",
                   buffer->label, buffer->usage,
                   wanted->access & AGX_BINDING_WRITES ? "writes to" : "reads");
}

static agx_status check_range(const struct agx_program_binding *wanted,
                              const struct agx_buffer_ref *ref, const struct agx_device *device)
{
   uint64_t size = ref->buffer->size_B;
   if (ref->buffer->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s is a buffer %s", ref->buffer->label,
                      agx_foreign(ref->buffer->device, device).text);
   bool is_aligned = ref->offset_B % 4 == 0 || wanted->access & AGX_BINDING_BYTES;
   if (ref->offset_B > size || !is_aligned ||
       (ref->length_B != AGX_WHOLE_LENGTH && ref->length_B > size - ref->offset_B))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "offset %llu, length %llu in a buffer of %llu bytes",
                      (unsigned long long)ref->offset_B, (unsigned long long)ref->length_B,
                      (unsigned long long)size);
   if (wanted->access & AGX_BINDING_WRITES && ref->buffer->flags & AGX_BUFFER_GPU_READ_ONLY)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "the kernel writes to a read-only buffer");
   return check_usage(wanted, ref->buffer);
}

agx_status agx_bind_range(const struct agx_program_binding *wanted,
                          const struct agx_binding *binding, struct agx_device *device,
                          struct agx_bound *out)
{
   bool is_robust = wanted->robustness != AGX_PROGRAM_ROBUST_OFF;
   if (binding)
      AGX_TRY(agx_ref_check(&binding->ref, "buffer"));
   if (binding && binding->ref.table_slot)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "slot %u, in a command buffer that was made without table_slots",
                      binding->ref.table_slot - 1);
   if (!binding || (!binding->ref.buffer && !is_robust))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "no buffer for element %u", wanted->element);
   const struct agx_buffer_ref *ref = &binding->ref;
   if (!ref->buffer) {
      bind_nothing(device, out);
      return AGX_OK;
   }
   AGX_TRY(check_range(wanted, ref, device));
   out->objects[0] = ref->buffer;
   out->address = ref->buffer->address + ref->offset_B;
   out->length_B =
      ref->length_B == AGX_WHOLE_LENGTH ? ref->buffer->size_B - ref->offset_B : ref->length_B;
   if (out->length_B < wanted->min_size_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%llu bytes; the kernel's block needs %llu",
                      (unsigned long long)out->length_B, (unsigned long long)wanted->min_size_B);
   if (is_robust) /* out of reach is no error until a kernel wants one */
      (void)agxw_bo_sinks(ref->buffer->bo, ref->buffer->offset_B + ref->offset_B, &out->sinks);
   return AGX_OK;
}

agx_status agx_bind_buffer(const char *name, const struct agx_program_binding *wanted,
                           const struct agx_binding *binding, struct agx_device *device,
                           struct agx_bound *out_bound)
{
   agx_status status = agx_bind_range(wanted, binding, device, out_bound);
   if (status != AGX_OK)
      agx_error_prefix("dispatch of %s: set %u binding %u", name, wanted->set, wanted->binding);
   return status;
}

/* ---- limits -------------------------------------------------------------- */

static agx_status out_of_reach(const struct agx_program *program,
                               const struct agx_program_binding *wanted,
                               const struct agx_bound *bound)
{
   return AGX_FAIL(AGX_OUT_OF_RANGE,
                   "dispatch of %s: set %u binding %u: %llu bytes at 0x%llx, in a buffer of more "
                   "than 4 GiB: robust accesses need a place for stray ones within 4 GiB",
                   program->name, wanted->set, wanted->binding, (unsigned long long)bound->length_B,
                   (unsigned long long)bound->address);
}

agx_status agx_bound_limit(const struct agx_program *program,
                           const struct agx_program_uniform *slot, const struct agx_bound *bound,
                           uint64_t *out_value)
{
   const struct agx_program_access it = agx_program_access_unpack(slot->value);
   const uint64_t sink = it.writes ? bound->sinks.waste_va : bound->sinks.zero_va;
   uint32_t index = 0;
   bool has_sink = sink != 0;
   switch (slot->kind) {
   case AGX_UNIFORM_BUFFER_COUNT:
      *out_value = agxr_buffer_count(bound->length_B, it.constant, it.stride, it.bytes);
      return AGX_OK;
   case AGX_UNIFORM_BUFFER_LAST:
      *out_value = agxr_buffer_last(bound->length_B, it.constant, it.stride, it.bytes);
      return AGX_OK;
   case AGX_UNIFORM_BUFFER_GUARD:
      /* What ends beyond 4 GiB is never inside: so the compiler asks for the sink itself. */
      *out_value = agxr_buffer_guard(bound->address, AGX_MIN(bound->length_B, (uint64_t)UINT32_MAX),
                                     it.constant, it.bytes, sink);
      has_sink |= *out_value != sink;
      break;
   default: /* AGX_UNIFORM_BUFFER_SINK */
      has_sink = has_sink && agxr_buffer_sink(bound->address, it.constant, it.stride, it.bytes,
                                              sink, AGX_PAGE_BYTES, &index);
      *out_value = index;
      break;
   }
   return has_sink ? AGX_OK : out_of_reach(program, &program->bindings[slot->index], bound);
}
