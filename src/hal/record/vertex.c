/* SPDX-License-Identifier: MIT
 *
 * Binds what a draw names: vertex, index and feedback buffers, and the uniforms of a draw. Both
 * ways of recording call it.
 */
#include "hal/record/vertex.h"

#include "agx/format.h"
#include "base/util.h"
#include "hal/memory/buffer.h"
#include "robustness/vertex.h"

/* Source: docs/hw/cmdstream.md 1.1. */
#define MAX_VERTICES  0x7fffffffu
#define MAX_INSTANCES 65535u

static bool has_indices(const struct agx_program *program)
{
   for (uint32_t i = 0; i < program->binding_count; i++)
      if (program->bindings[i].kind == AGX_BINDING_INDEX_BUFFER)
         return true;
   return false;
}

agx_status agx_vertex_check(const struct agx_program *program,
                            const struct agx_vertex_dispatch *draw)
{
   if (!draw != !program->is_vertex)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch of %s: it is a %s", program->name,
                      draw ? "compute kernel" : "vertex stage: agx_cmd_dispatch_vertices");
   if (!draw)
      return AGX_OK;
   if (draw->vertex_count > MAX_VERTICES || draw->instance_count > MAX_INSTANCES)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "dispatch of %s: %u vertices, %u instances; at most %u, %u",
                      program->name, draw->vertex_count, draw->instance_count, MAX_VERTICES,
                      MAX_INSTANCES);
   if (draw->first > UINT32_MAX - draw->vertex_count ||
       draw->base_instance > UINT32_MAX - draw->instance_count)
      return AGX_FAIL(AGX_OUT_OF_RANGE,
                      "dispatch of %s: vertices from %u, instances from %u on end beyond 2^32",
                      program->name, draw->first, draw->base_instance);
   if ((draw->vertex_buffer_count && !draw->vertex_buffers) ||
       (draw->feedback_count && !draw->feedback))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "dispatch of %s: %u vertex, %u feedback buffers at NULL", program->name,
                      draw->vertex_buffer_count, draw->feedback_count);
   if ((draw->indices.buffer || draw->base_vertex) && !has_indices(program))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "dispatch of %s: %s, but it was compiled to take vertices in order",
                      program->name, draw->indices.buffer ? "indices" : "a base vertex");
   return AGX_OK;
}

uint32_t agx_vertex_value(const struct agx_program *program, const struct agx_vertex_dispatch *draw,
                          enum agx_draw_value which)
{
   switch (which) {
   case AGX_DRAW_FIRST:
      return draw->first;
   case AGX_DRAW_VERTEX_COUNT:
      return draw->vertex_count;
   case AGX_DRAW_BASE_VERTEX:
      return has_indices(program) ? (uint32_t)draw->base_vertex : draw->first;
   case AGX_DRAW_BASE_INSTANCE:
      return draw->base_instance;
   default: /* AGX_DRAW_INDEX */
      return draw->draw_index;
   }
}

/* ---- buffers ------------------------------------------------------------- */

/* Nothing inside, and an address from which sinks can be reached. */
static void bind_nothing(const struct agx_device *device, struct agx_bound *out)
{
   out->address = agxw_device_null(agx_context_of(device)->winsys, &out->sinks);
   out->length_B = 0;
}

/* The bytes of ref from offset_B on, `bytes` of which must be there for any to count. */
static agx_status bind_range(const struct agx_program_binding *wanted,
                             const struct agx_buffer_ref *ref, uint64_t offset_B, uint32_t bytes,
                             struct agx_device *device, struct agx_bound *out)
{
   AGX_TRY(agx_ref_check_placed(ref, "buffer"));
   if (!ref->buffer) {
      bind_nothing(device, out);
      return AGX_OK;
   }
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
   if (wanted->access & AGX_BINDING_WRITES && ref->buffer->flags & AGX_BUFFER_GPU_READ_ONLY)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "the kernel writes to buffer %s, which is read-only",
                      ref->buffer->label);
   uint64_t length = ref->length_B == AGX_WHOLE_LENGTH ? size - ref->offset_B : ref->length_B;
   out->objects[0] = ref->buffer;
   if (!agxr_vertex_fits(length, offset_B, bytes)) {
      bind_nothing(device, out);
      return AGX_OK;
   }
   uint64_t at = ref->offset_B + offset_B;
   if (at % (1u << wanted->dim))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "offset %llu in buffer %s is no multiple of %u",
                      (unsigned long long)at, ref->buffer->label, 1u << wanted->dim);
   out->address = ref->buffer->address + at;
   out->length_B = agxr_vertex_size(length) - offset_B;
   if (wanted->robustness != AGX_PROGRAM_ROBUST_OFF)
      (void)agxw_bo_sinks(ref->buffer->bo, ref->buffer->offset_B + at, &out->sinks);
   return AGX_OK;
}

static agx_status bind_attribute(const struct agx_program_binding *wanted,
                                 const struct agx_vertex_dispatch *draw, struct agx_device *device,
                                 struct agx_bound *out)
{
   const struct agx_vertex_buffer *buffer = NULL;
   for (uint32_t i = 0; i < draw->vertex_buffer_count && !buffer; i++)
      if (draw->vertex_buffers[i].location == wanted->binding)
         buffer = &draw->vertex_buffers[i];
   if (!buffer)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "is not given");
   AGX_TRY(bind_range(wanted, &buffer->ref, buffer->offset_B, wanted->element_B, device, out));
   if (wanted->robustness == AGX_PROGRAM_ROBUST_OFF && out->length_B == 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "no buffer that holds an element of %u bytes",
                      wanted->element_B);
   return AGX_OK;
}

static agx_status bind_feedback(const struct agx_program_binding *wanted,
                                const struct agx_vertex_dispatch *draw, struct agx_device *device,
                                struct agx_bound *out)
{
   uint32_t which = wanted->binding - AGX_PROGRAM_FEEDBACK_BINDING;
   uint64_t records = (uint64_t)draw->vertex_count * draw->instance_count;
   if (which >= draw->feedback_count || !draw->feedback[which].buffer)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "no feedback buffer");
   AGX_TRY(bind_range(wanted, &draw->feedback[which], 0, 0, device, out));
   if (records > out->length_B / wanted->stride_B)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%llu bytes for %llu records of %u bytes",
                      (unsigned long long)out->length_B, (unsigned long long)records,
                      wanted->stride_B);
   return AGX_OK;
}

agx_status agx_bind_vertex(const char *name, const struct agx_program_binding *wanted,
                           const struct agx_vertex_dispatch *draw, struct agx_device *device,
                           struct agx_bound *out_bound)
{
   agx_status status;
   switch (wanted->kind) {
   case AGX_BINDING_VERTEX_BUFFER:
      status = bind_attribute(wanted, draw, device, out_bound);
      if (status != AGX_OK)
         agx_error_prefix("dispatch of %s: input location %u", name, wanted->binding);
      return status;
   case AGX_BINDING_INDEX_BUFFER:
      status = bind_range(wanted, &draw->indices, 0, wanted->element_B, device, out_bound);
      if (status != AGX_OK)
         agx_error_prefix("dispatch of %s: indices", name);
      return status;
   default: /* AGX_BINDING_FEEDBACK_BUFFER */
      status = bind_feedback(wanted, draw, device, out_bound);
      if (status != AGX_OK)
         agx_error_prefix("dispatch of %s: feedback %u", name,
                          wanted->binding - AGX_PROGRAM_FEEDBACK_BINDING);
      return status;
   }
}

/* ---- names --------------------------------------------------------------- */

const char *agx_format_from_gl(uint32_t internal)
{
   const struct agx_format *format = agx_format_by_gl(internal);
   return format ? format->name : NULL;
}

const char *agx_vertex_format_from_gl(uint32_t size, uint32_t type, bool normalized, bool integer)
{
   const struct agx_vertex_format *format =
      agx_vertex_format_by_gl(size, type, normalized, integer);
   return format ? format->name : NULL;
}
