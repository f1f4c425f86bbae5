/* SPDX-License-Identifier: MIT
 *
 * Fills, updates and copies of buffers that only the host can reach (agx_buffer_import of memory
 * that the kernel gives no GPU): operations in the order of the queues as others are, done by a
 * job of the host's threads, a piece at a turn. sync/op_table.c calls it instead of recording a
 * launch.
 */
#include <string.h>

#include "base/util.h"
#include "hal/core/desc.h"
#include "hal/host/piecewise.h"
#include "hal/host/state.h"
#include "hal/memory/buffer.h"

struct state {
   struct agx_piecewise piecewise;
   struct agx_buffer *source, *target; /* retained; source NULL: data or pattern */
   uint64_t source_B, target_B;        /* where in them */
   uint64_t length_B, done_B;
   uint8_t *data; /* of an update: a copy, owned */
   uint32_t pattern;
};

/* ---- the job -------------------------------------------------------------- */

static void fill(uint8_t *target, uint32_t pattern, uint64_t bytes)
{
   uint64_t done = 0;
   for (; bytes - done >= sizeof(pattern); done += sizeof(pattern))
      memcpy(target + done, &pattern, sizeof(pattern));
   memcpy(target + done, &pattern, bytes - done);
}

static agx_status move_piece(struct agx_piecewise *piecewise, bool *out_is_over)
{
   struct state *state = agx_container_of(piecewise, struct state, piecewise);
   const uint64_t piece_B = AGX_MIN(state->length_B - state->done_B, AGX_PIECE_B);
   void *target, *source = NULL;
   AGX_TRY(agx_buffer_check_live(state->target));
   AGX_TRY(agx_buffer_host_memory(state->target, &target));
   uint8_t *to = (uint8_t *)target + state->target_B + state->done_B;
   if (state->source) {
      AGX_TRY(agx_buffer_check_live(state->source));
      AGX_TRY(agx_buffer_host_memory(state->source, &source));
   }
   if (source)
      memmove(to, (uint8_t *)source + state->source_B + state->done_B, piece_B);
   else if (state->data)
      memcpy(to, state->data + state->done_B, piece_B);
   else
      fill(to, state->pattern, piece_B);
   state->done_B += piece_B;
   *out_is_over = state->done_B == state->length_B;
   return AGX_OK;
}

/* ---- the operation -------------------------------------------------------- */

/* Checks a range, and puts a number in place of AGX_WHOLE_LENGTH. */
static agx_status check(const struct agx_device *device, const char *what,
                        struct agx_buffer_ref *ref, uint32_t usage, const char *name)
{
   AGX_TRY(agx_ref_check(ref, what));
   if (!ref->buffer || ref->table_slot)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: the buffer is NULL", what);
   if (ref->buffer->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %s is a buffer %s", what, ref->buffer->label,
                      agx_describe_owner(ref->buffer->device, device).text);
   if (ref->buffer->is_reservation)
      return AGX_FAIL(AGX_PERMISSION_DENIED,
                      "%s: %s: addresses have no memory that the host could reach", what,
                      ref->buffer->label);
   if (!(ref->buffer->usage & usage))
      return AGX_FAIL(AGX_PERMISSION_DENIED, "%s: %s was made without %s", what, ref->buffer->label,
                      name);
   return agx_buffer_check_range(ref->buffer, ref->offset_B, &ref->length_B);
}

static agx_status check_target(const struct agx_device *device, const char *what,
                               struct agx_buffer_ref *ref)
{
   AGX_TRY(check(device, what, ref, AGX_USAGE_TRANSFER_TARGET, "AGX_USAGE_TRANSFER_TARGET"));
   if (ref->buffer->flags & AGX_BUFFER_GPU_READ_ONLY)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %s is read-only", what, ref->buffer->label);
   return AGX_OK;
}

static agx_status capture_copy(struct agx_device *device, const struct agx_op_copy *copy,
                               struct state *state)
{
   struct agx_buffer_ref source = copy->source, target = copy->target;
   AGX_TRY(check(device, "copy", &source, AGX_USAGE_TRANSFER_SOURCE, "AGX_USAGE_TRANSFER_SOURCE"));
   AGX_TRY(check_target(device, "copy", &target));
   if (source.length_B != target.length_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "copy of %s to %s: %llu bytes to a range of %llu",
                      source.buffer->label, target.buffer->label,
                      (unsigned long long)source.length_B, (unsigned long long)target.length_B);
   if (source.buffer == target.buffer && source.offset_B < target.offset_B + target.length_B &&
       target.offset_B < source.offset_B + source.length_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "copy: %llu bytes of %s at %llu overlap the target",
                      (unsigned long long)source.length_B, source.buffer->label,
                      (unsigned long long)source.offset_B);
   state->source = source.buffer;
   state->source_B = source.offset_B;
   state->target = target.buffer;
   state->target_B = target.offset_B;
   state->length_B = target.length_B;
   return AGX_OK;
}

static agx_status capture_fill(struct agx_device *device, const struct agx_op_fill *given,
                               struct state *state)
{
   struct agx_buffer_ref target = given->target;
   AGX_TRY(check_target(device, "fill", &target));
   AGX_TRY(agx_pattern_check(&target, given->pattern, given->pattern_B, &state->pattern));
   state->target = target.buffer;
   state->target_B = target.offset_B;
   state->length_B = target.length_B;
   return AGX_OK;
}

static agx_status capture_update(struct agx_device *device, const struct agx_op_update *update,
                                 struct state *state)
{
   struct agx_buffer_ref target = update->target;
   AGX_TRY(check_target(device, "update", &target));
   if (!update->data && target.length_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "update: %llu bytes at NULL",
                      (unsigned long long)target.length_B);
   if (target.length_B) {
      state->data = agx_host_zalloc(agx_context_of(device)->alloc, target.length_B);
      if (!state->data)
         return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "update: out of host memory");
      memcpy(state->data, update->data, target.length_B);
   }
   state->target = target.buffer;
   state->target_B = target.offset_B;
   state->length_B = target.length_B;
   return AGX_OK;
}

static agx_status prepare(struct agx_device *device, const struct agx_op *op,
                          struct agx_submission *submission)
{
   struct state *state = AGX_OP_STATE(submission, struct state);
   *state = (struct state){0};
   AGX_TRY(agx_bits_check("submit: transfer of the host", "flags", op->flags, 0));
   if (op->kind == AGX_OP_COPY)
      AGX_TRY(capture_copy(device, &op->u.copy, state));
   else if (op->kind == AGX_OP_FILL)
      AGX_TRY(capture_fill(device, &op->u.fill, state));
   else
      AGX_TRY(capture_update(device, &op->u.update, state));
   if (state->source)
      agx_retain(state->source);
   agx_retain(state->target);
   agx_piecewise_init(&state->piecewise, submission, move_piece, state->target->label);
   return AGX_OK;
}

static void drop(struct agx_submission *submission)
{
   struct state *state = AGX_OP_STATE(submission, struct state);
   if (state->data)
      agx_host_free(agx_context_of(submission->device)->alloc, state->data, state->length_B);
   agx_release(state->source);
   agx_release(state->target);
}

const struct agx_op_type agx_host_transfer_op = {
   .name = "host transfer", .prepare = prepare, .run = agx_piecewise_run, .drop = drop};
