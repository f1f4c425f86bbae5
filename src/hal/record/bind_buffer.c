/* SPDX-License-Identifier: MIT
 *
 * Checks what a dispatch binds as a buffer against what the kernel does with it. The general path
 * of recording and draws call this, and say what is wrong.
 */
#include "hal/record/bind_buffer.h"

#include "agx/chip.h"
#include "base/util.h"
#include "hal/memory/buffer.h"

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
                      agx_describe_owner(ref->buffer->device, device).text);
   if (ref->offset_B > size)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "offset %llu in buffer %s of %llu bytes",
                      (unsigned long long)ref->offset_B, ref->buffer->label,
                      (unsigned long long)size);
   if (ref->length_B != AGX_WHOLE_LENGTH && ref->length_B > size - ref->offset_B)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "offset %llu, length %llu in buffer %s of %llu bytes",
                      (unsigned long long)ref->offset_B, (unsigned long long)ref->length_B,
                      ref->buffer->label, (unsigned long long)size);
   if (ref->offset_B % 4 && !(wanted->access & AGX_BINDING_BYTES))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "offset %llu in buffer %s is no multiple of 4, which a kernel needs that "
                      "accesses whole words",
                      (unsigned long long)ref->offset_B, ref->buffer->label);
   if (wanted->access & AGX_BINDING_WRITES && ref->buffer->flags & AGX_BUFFER_GPU_READ_ONLY)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "the kernel writes to it, and buffer %s is read-only: it was made with "
                      "AGX_BUFFER_GPU_READ_ONLY",
                      ref->buffer->label);
   return check_usage(wanted, ref->buffer);
}

agx_status agx_bind_range(const struct agx_program_binding *wanted,
                          const struct agx_binding *binding, struct agx_device *device,
                          struct agx_bound *out)
{
   bool is_robust = wanted->robustness != AGX_PROGRAM_ROBUST_OFF;
   if (binding)
      AGX_TRY(agx_ref_check_placed(&binding->ref, "buffer"));
   if (binding && binding->ref.table_slot)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "slot %u, in a command buffer that was made without table_slots",
                      binding->ref.table_slot - 1);
   if (!binding || (!binding->ref.buffer && !is_robust))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "no buffer for element %u; only a robust kernel can do "
                      "without one",
                      wanted->element);
   const struct agx_buffer_ref *ref = &binding->ref;
   if (!ref->buffer) {
      /* A robust kernel works without one: there is nothing inside, and sinks can be reached. */
      agx_bind_nothing_seen(device, out);
      return AGX_OK;
   }
   AGX_TRY(check_range(wanted, ref, device));
   out->objects[0] = ref->buffer;
   out->address = ref->buffer->address + ref->offset_B;
   out->length_B =
      ref->length_B == AGX_WHOLE_LENGTH ? ref->buffer->size_B - ref->offset_B : ref->length_B;
   if (out->length_B < wanted->min_size_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "%llu bytes at %llu of buffer %s; the kernel's block needs %llu",
                      (unsigned long long)out->length_B, (unsigned long long)ref->offset_B,
                      ref->buffer->label, (unsigned long long)wanted->min_size_B);
   if (is_robust) /* out of reach is no error until a kernel wants one */
      (void)agxw_bo_sinks(ref->buffer->bo, ref->buffer->offset_B + ref->offset_B, &out->sinks);
   return AGX_OK;
}

/* The driver's own kernels see an image as memory, from ref.offset_B on; image_transfer.c has
 * checked what they do there. */
static agx_status bind_image_memory(const struct agx_binding *binding,
                                    const struct agx_device *device, struct agx_bound *out)
{
   struct agx_image *image = binding->image;
   if (image->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s is an image %s", image->label,
                      agx_describe_owner(image->device, device).text);
   out->objects[0] = image;
   out->image = image;
   out->address = image->address + binding->ref.offset_B;
   out->length_B = image->layout.size_B - binding->ref.offset_B;
   return AGX_OK;
}

agx_status agx_bind_buffer(const char *name, const struct agx_program_binding *wanted,
                           const struct agx_binding *binding, struct agx_device *device,
                           struct agx_bound *out_bound)
{
   if (binding && binding->image && wanted->access & AGX_BINDING_BYTES)
      return bind_image_memory(binding, device, out_bound);
   agx_status status = agx_bind_range(wanted, binding, device, out_bound);
   if (status == AGX_OK && out_bound->length_B > AGX_MAX_BINDING_B)
      status = AGX_FAIL(AGX_OUT_OF_RANGE,
                        "%llu bytes of buffer %s; a kernel reaches at most %u of a binding: bind a "
                        "part, or give the kernel the address",
                        (unsigned long long)out_bound->length_B, binding->ref.buffer->label,
                        AGX_MAX_BINDING_B);
   if (status != AGX_OK)
      agx_error_prefix("dispatch of %s: set %u binding %u", name, wanted->set, wanted->binding);
   return status;
}
