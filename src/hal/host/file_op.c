/* SPDX-License-Identifier: MIT
 *
 * Reading and writing files as operations, on the host's threads.
 */
#include <inttypes.h>

#include "base/util.h"
#include "hal/memory/buffer.h"
#include "hal/core/desc.h"
#include "hal/host/file.h"
#include "hal/host/piecewise.h"
#include "hal/host/state.h"

struct state {
   struct agx_piecewise piecewise;
   struct agx_file *file;     /* retained */
   struct agx_buffer *buffer; /* retained */
   uint64_t buffer_offset_B;
   struct agx_transfer transfer;
};

/* ---- the job -------------------------------------------------------------- */

static agx_status move_piece(struct agx_piecewise *piecewise, bool *out_is_over)
{
   struct state *state = agx_container_of(piecewise, struct state, piecewise);
   struct agx_transfer *transfer = &state->transfer;
   void *memory;
   if (transfer->done_B == 0)
      AGX_TRY(agx_transfer_check(transfer));
   AGX_TRY(agx_buffer_check_live(state->buffer));
   AGX_TRY(agx_buffer_host_memory(state->buffer, &memory));
   uint64_t before_B = transfer->done_B;
   agx_status status =
      agx_transfer_move(transfer, (char *)memory + state->buffer_offset_B, AGX_PIECE_B);
   atomic_fetch_add(&state->file->moved_B[transfer->is_write], transfer->done_B - before_B);
   *out_is_over = transfer->done_B >= transfer->length_B;
   return status;
}

/* ---- the operations ------------------------------------------------------- */

static agx_status check_objects(const struct agx_device *device, const struct agx_op_file *op,
                                const char *verb, uint32_t access)
{
   AGX_TRY(agx_ref_check(&op->ref, verb));
   if (!op->file || !op->ref.buffer)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %s is NULL", verb, op->file ? "buffer" : "file");
   if (op->file->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %s is %s", verb, op->file->label,
                      agx_describe_owner(op->file->device, device).text);
   if (op->ref.buffer->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %s is a buffer %s", verb, op->ref.buffer->label,
                      agx_describe_owner(op->ref.buffer->device, device).text);
   if (!(op->file->access & access))
      return AGX_FAIL(AGX_PERMISSION_DENIED, "%s: %s was imported for %s only", verb,
                      op->file->label, access == AGX_FILE_READ ? "writing" : "reading");
   return AGX_OK;
}

/* What is moved through the host's view of the buffer, which also memory has that applications
 * can't map. */
static agx_status check_buffer(const struct agx_buffer *buffer, const char *verb, bool is_write)
{
   uint32_t access = is_write ? AGX_ACCESS_READ : AGX_ACCESS_WRITE;
   uint32_t usage = is_write ? AGX_USAGE_TRANSFER_SOURCE : AGX_USAGE_TRANSFER_TARGET;
   if (buffer->is_reservation)
      return AGX_FAIL(AGX_PERMISSION_DENIED,
                      "%s: %s: addresses have no memory of their own: name a buffer, and copy",
                      verb, buffer->label);
   if (!(buffer->access & access) || !(buffer->usage & usage))
      return AGX_FAIL(AGX_PERMISSION_DENIED,
                      "%s: %s: access %#x, usage %#x; it takes access %#x and usage %#x", verb,
                      buffer->label, buffer->access, buffer->usage, access, usage);
   return AGX_OK;
}

static agx_status prepare(struct agx_device *device, const struct agx_op *op,
                          struct agx_submission *submission)
{
   const bool is_write = submission->type == &agx_file_write_op;
   const struct agx_op_file *given = &op->u.file;
   const char *verb = is_write ? "write" : "read";
   struct agx_transfer transfer = {.offset_B = given->offset_B, .is_write = is_write};
   AGX_TRY(agx_bits_check(submission->type->name, "flags", op->flags, 0));
   AGX_TRY(check_objects(device, given, verb, is_write ? AGX_FILE_WRITE : AGX_FILE_READ));
   AGX_TRY(check_buffer(given->ref.buffer, verb, is_write));
   transfer.length_B = given->ref.length_B;
   AGX_TRY(agx_buffer_check_range(given->ref.buffer, given->ref.offset_B, &transfer.length_B));
   transfer.store = &given->file->store;
   if (!agx_range_fits(transfer.offset_B, transfer.length_B, AGX_FILE_MAX_B))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: %" PRIu64 " bytes at %" PRIu64 " of %s", verb,
                      transfer.length_B, transfer.offset_B, given->file->label);
   if (!transfer.store->calls) /* its length is fixed */
      AGX_TRY(agx_transfer_check(&transfer));
   struct state *state = AGX_OP_STATE(submission, struct state);
   *state = (struct state){
      .file = given->file,
      .buffer = given->ref.buffer,
      .buffer_offset_B = given->ref.offset_B,
      .transfer = transfer,
   };
   agx_retain(given->file);
   agx_retain(given->ref.buffer);
   agx_piecewise_init(&state->piecewise, submission, move_piece, given->file->label);
   return AGX_OK;
}

static void drop(struct agx_submission *submission)
{
   struct state *state = AGX_OP_STATE(submission, struct state);
   agx_release(state->file);
   agx_release(state->buffer);
}

const struct agx_op_type agx_file_read_op = {
   .name = "read", .prepare = prepare, .run = agx_piecewise_run, .drop = drop};
const struct agx_op_type agx_file_write_op = {
   .name = "write", .prepare = prepare, .run = agx_piecewise_run, .drop = drop};
