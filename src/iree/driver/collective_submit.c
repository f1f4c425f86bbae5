/* SPDX-License-Identifier: MIT
 *
 * Submission of command buffers with collectives. A segment's work, copies of what its collectives
 * send into memory of the host's, a host call that has them begun, copies of what they received,
 * the next segment's work: each is an operation that waits for the one before. The memory is one
 * block for each submission and segment, so that buffers of any kind can be sent, send and receive
 * may be the same range, and submissions don't meet.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "collective.h"
#include "command_buffer.h"

/* ---- operations one after the other -------------------------------------------- */

struct chain {
   const struct agx_iree_submission *submission;
   iree_hal_semaphore_t *timeline; /* reaches n when the n-th operation is over */
   uint64_t queued;
};

/* What the next operation waits for and signals. */
struct chain_lists {
   uint64_t before, after;
   iree_hal_semaphore_list_t waits, signals;
};

static void chain_lists_fill(struct chain *chain, bool is_last, struct chain_lists *lists)
{
   lists->before = chain->queued;
   lists->after = chain->queued + 1;
   lists->waits = chain->submission->waits;
   lists->signals = chain->submission->signals;
   if (lists->before)
      lists->waits = (iree_hal_semaphore_list_t){
         .count = 1, .semaphores = &chain->timeline, .payload_values = &lists->before};
   if (!is_last)
      lists->signals = (iree_hal_semaphore_list_t){
         .count = 1, .semaphores = &chain->timeline, .payload_values = &lists->after};
}

static iree_status_t chain_execute(struct chain *chain, bool is_last,
                                   struct agx_command_buffer *core, uint32_t first_note)
{
   struct chain_lists lists;
   struct agx_iree_submission submission = *chain->submission;
   chain_lists_fill(chain, is_last, &lists);
   submission.waits = lists.waits;
   submission.signals = lists.signals;
   IREE_RETURN_IF_ERROR(agx_iree_submit_core(&submission, core, first_note));
   chain->queued++;
   return iree_ok_status();
}

/* ---- a segment's collectives ---------------------------------------------------- */

struct group {
   atomic_uint users; /* the operation, and its function while it runs */
   struct agx_buffer *block;
   uint8_t *memory; /* of block */
   struct agx_host_call *call;
   uint32_t count, ticket_count;
   bool has_begun;
   struct agx_iree_ticket *tickets;
   struct agx_iree_transfer transfers[];
};

static void group_release(struct group *group)
{
   if (atomic_fetch_sub(&group->users, 1) > 1)
      return;
   for (uint32_t i = 0; i < group->ticket_count; i++)
      iree_hal_channel_release((iree_hal_channel_t *)group->tickets[i].channel);
   agx_release(group->block);
   free(group->tickets);
   free(group);
}

static void group_fail(struct group *group, iree_status_t status)
{
   for (uint32_t i = 0; i < group->ticket_count; i++)
      agx_iree_ticket_fail(&group->tickets[i], status);
}

/* Ends the host call. */
static void transferred(void *user, iree_status_t status)
{
   struct group *group = user;
   char text[512];
   if (iree_status_is_ok(status)) {
      agx_host_call_finish(group->call, AGX_OK, NULL);
      return;
   }
   group_fail(group, status);
   agx_host_call_finish(group->call, (agx_status)iree_status_code(status),
                        agx_iree_status_text(status, text, sizeof(text)));
   iree_status_ignore(status);
}

/* The end of the call may come before this is over, and lets go of the group. */
static agx_status begin(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct group *group = user;
   atomic_fetch_add(&group->users, 1);
   group->call = call;
   group->has_begun = true;
   iree_status_t status = agx_iree_mpi_start(group->transfers, group->count, transferred, group);
   if (iree_status_is_ok(status)) {
      for (uint32_t i = 0; i < group->ticket_count; i++)
         agx_iree_ticket_pass(&group->tickets[i]);
   } else {
      transferred(group, status);
   }
   group_release(group);
   return AGX_DEFERRED;
}

/* Also where it never began, because a wait failed. */
static void ended(void *user, uint64_t tag, agx_status status)
{
   struct group *group = user;
   if (!group->has_begun) {
      iree_status_t failure = agx_iree_status(status == AGX_OK ? AGX_CANCELLED : status);
      group_fail(group, failure);
      iree_status_ignore(failure);
   }
   group_release(group);
}

/* ---- its memory ----------------------------------------------------------------- */

#define PART_ALIGN_B 64

static uint64_t align(uint64_t size_B)
{
   return (size_B + PART_ALIGN_B - 1) / PART_ALIGN_B * PART_ALIGN_B;
}

static iree_status_t block_create(struct agx_iree_device *device, uint64_t size_B,
                                  struct group *group)
{
   const struct agx_buffer_desc desc = {
      .size = sizeof(desc),
      .size_B = size_B,
      .label = "iree collective",
      .memory = AGX_MEMORY_HOST_VISIBLE | AGX_MEMORY_HOST_COHERENT | AGX_MEMORY_HOST_CACHED,
      .usage = AGX_USAGE_TRANSFER | AGX_USAGE_MAPPING | AGX_USAGE_MAPPING_READ,
   };
   void *memory = NULL;
   IREE_RETURN_IF_ERROR(agx_iree_status(agx_buffer_create(device->core, &desc, &group->block)));
   IREE_RETURN_IF_ERROR(agx_iree_status(agx_buffer_map(group->block, &memory)));
   group->memory = memory;
   return iree_ok_status();
}

/* A transfer's memory is in the block in the order of its collectives: sent, received. A process
 * that receives nothing has room for it all the same, where MPI may write. */
static iree_status_t group_create(struct agx_iree_device *device,
                                  const struct agx_iree_collective *collectives, uint32_t count,
                                  struct group **out_group)
{
   struct group *group = calloc(1, sizeof(*group) + count * sizeof(*group->transfers));
   if (!group)
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "collective: no host memory");
   atomic_init(&group->users, 1);
   group->tickets = calloc(count, sizeof(*group->tickets));
   uint64_t size_B = PART_ALIGN_B;
   for (uint32_t i = 0; i < count; i++)
      size_B += align(collectives[i].send_B) + align(collectives[i].recv_B);
   iree_status_t status = group->tickets ? block_create(device, size_B, group)
                                         : iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                                                            "collective: no host memory");
   if (!iree_status_is_ok(status)) {
      group_release(group);
      return status;
   }
   uint8_t *at = group->memory;
   for (uint32_t i = 0; i < count; i++) {
      group->transfers[i] = (struct agx_iree_transfer){
         .mpi = collectives[i].channel->mpi,
         .op = collectives[i].op,
         .param = collectives[i].param,
         .element_count = collectives[i].element_count,
         .send = at,
         .recv = at + align(collectives[i].send_B),
      };
      at += align(collectives[i].send_B) + align(collectives[i].recv_B);
   }
   group->count = count;
   *out_group = group;
   return iree_ok_status();
}

static void take_tickets(const struct agx_iree_collective *collectives, struct group *group)
{
   for (uint32_t i = 0; i < group->count; i++) {
      uint32_t known = 0;
      while (known < group->ticket_count && group->tickets[known].channel != collectives[i].channel)
         known++;
      if (known == group->ticket_count)
         group->tickets[group->ticket_count++].channel = collectives[i].channel;
   }
   agx_iree_tickets_take(group->tickets, group->ticket_count);
}

/* ---- copies ---------------------------------------------------------------------- */

/* The part of a buffer, or of what the submission gives for a slot, that size_B bytes are in. */
static iree_status_t resolve(iree_hal_buffer_binding_table_t bindings, iree_hal_buffer_ref_t ref,
                             uint64_t size_B, struct agx_buffer_ref *out_ref)
{
   iree_hal_buffer_ref_t known;
   if (!ref.buffer &&
       (ref.buffer_slot >= bindings.count || !bindings.bindings[ref.buffer_slot].buffer))
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "collective: slot %u of the binding table has no buffer",
                              ref.buffer_slot);
   IREE_RETURN_IF_ERROR(iree_hal_buffer_binding_table_resolve_ref(bindings, ref, &known));
   const iree_device_size_t whole_B = iree_hal_buffer_byte_length(known.buffer);
   const iree_device_size_t rest_B = known.offset < whole_B ? whole_B - known.offset : 0;
   const iree_device_size_t length_B =
      known.length == IREE_HAL_WHOLE_BUFFER || known.length > rest_B ? rest_B : known.length;
   if (length_B < size_B)
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "collective: %" PRIu64 " bytes, its buffer has %" PRIdsz " there",
                              size_B, length_B);
   known.length = size_B;
   return agx_iree_ref(known, out_ref);
}

/* Between the buffers of collectives and the group's block. */
static iree_status_t record_copies(const struct agx_iree_submission *submission,
                                   const struct agx_iree_collective *collectives,
                                   const struct group *group, bool is_received,
                                   struct agx_command_buffer *core)
{
   for (uint32_t i = 0; i < group->count; i++) {
      const struct agx_iree_collective *collective = &collectives[i];
      const struct agx_iree_transfer *transfer = &group->transfers[i];
      const uint64_t size_B = is_received ? collective->recv_B : collective->send_B;
      const uint8_t *at = is_received ? transfer->recv : transfer->send;
      const struct agx_buffer_ref in_block = {
         .buffer = group->block,
         .offset_B = (uint64_t)(at - group->memory),
         .length_B = size_B,
      };
      struct agx_buffer_ref ref;
      if (!size_B)
         continue;
      IREE_RETURN_IF_ERROR(resolve(
         submission->bindings, is_received ? collective->recv : collective->send, size_B, &ref));
      IREE_RETURN_IF_ERROR(agx_iree_status(is_received ? agx_cmd_copy(core, in_block, ref)
                                                       : agx_cmd_copy(core, ref, in_block)));
   }
   return iree_ok_status();
}

static iree_status_t chain_copy(struct chain *chain, const struct agx_iree_collective *collectives,
                                const struct group *group, bool is_received)
{
   const struct agx_command_buffer_desc desc = {
      .size = sizeof(desc),
      .flags = AGX_COMMAND_BUFFER_ONE_SHOT,
   };
   struct agx_command_buffer *core = NULL;
   IREE_RETURN_IF_ERROR(
      agx_iree_status(agx_command_buffer_create(chain->submission->device->core, &desc, &core)));
   iree_status_t status = agx_iree_status(agx_command_buffer_begin(core));
   if (iree_status_is_ok(status))
      status = record_copies(chain->submission, collectives, group, is_received, core);
   if (iree_status_is_ok(status))
      status = agx_iree_status(agx_command_buffer_end(core));
   if (iree_status_is_ok(status))
      status = chain_execute(chain, false, core, AGX_IREE_NO_NOTES);
   agx_release(core);
   return status;
}

/* ---- submission ------------------------------------------------------------------ */

/* Waits for the operation before, and for the turn of each channel. The group belongs to the
 * operation when this succeeds. */
static iree_status_t chain_call(struct chain *chain, struct group *group)
{
   const struct agx_iree_submission *submission = chain->submission;
   struct chain_lists lists;
   struct agx_op op = {.kind = AGX_OP_HOST_CALL, .u.host_call = {.fn = begin, .user = group}};
   const struct agx_iree_end end = {.fn = ended, .user = group};
   const uint32_t count = 1 + group->ticket_count;
   iree_hal_semaphore_t **semaphores = malloc(count * sizeof(*semaphores));
   uint64_t *values = malloc(count * sizeof(*values));
   iree_status_t status = iree_ok_status();
   chain_lists_fill(chain, false, &lists);
   if (semaphores && values) {
      semaphores[0] = chain->timeline;
      values[0] = lists.before;
      for (uint32_t i = 0; i < group->ticket_count; i++) {
         semaphores[1 + i] = group->tickets[i].channel->order;
         values[1 + i] = group->tickets[i].value;
      }
      lists.waits = (iree_hal_semaphore_list_t){
         .count = count, .semaphores = semaphores, .payload_values = values};
      status = agx_iree_submit(submission->device, submission->affinity, lists.waits, lists.signals,
                               &op, &end);
   } else {
      status = iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "collective: no host memory");
   }
   free(semaphores);
   free(values);
   if (iree_status_is_ok(status))
      chain->queued++;
   return status;
}

/* Whoever has a ticket must use it, or no later collective of the channel begins. */
static iree_status_t chain_group(struct chain *chain, const struct agx_iree_collective *collectives,
                                 uint32_t count)
{
   struct group *group = NULL;
   IREE_RETURN_IF_ERROR(group_create(chain->submission->device, collectives, count, &group));
   iree_status_t status = chain_copy(chain, collectives, group, false);
   if (!iree_status_is_ok(status)) {
      group_release(group);
      return status;
   }
   take_tickets(collectives, group);
   atomic_fetch_add(&group->users, 1);
   status = chain_call(chain, group);
   if (!iree_status_is_ok(status)) {
      group_fail(group, status);
      group_release(group);
   } else {
      status = chain_copy(chain, collectives, group, true);
   }
   group_release(group);
   return status;
}

static iree_status_t submit_segments(struct chain *chain)
{
   const struct agx_iree_command_buffer *commands = chain->submission->commands;
   const struct agx_iree_collectives *collectives = &commands->collectives;
   for (uint32_t i = 0; i < collectives->segment_count; i++) {
      const struct agx_iree_segment *segment = &collectives->segments[i];
      IREE_RETURN_IF_ERROR(chain_execute(chain, false, segment->core, segment->first_note));
      IREE_RETURN_IF_ERROR(chain_group(chain, &collectives->at[segment->first], segment->count));
   }
   return chain_execute(chain, true, commands->core, collectives->last_note);
}

/* Nothing begins where a range is too short: other processes would wait for the rest. */
static iree_status_t check_ranges(const struct agx_iree_submission *submission)
{
   const struct agx_iree_collectives *collectives = &submission->commands->collectives;
   for (uint32_t i = 0; i < collectives->count; i++) {
      const struct agx_iree_collective *one = &collectives->at[i];
      struct agx_buffer_ref ref;
      if (one->send_B) {
         IREE_RETURN_IF_ERROR(resolve(submission->bindings, one->send, one->send_B, &ref));
      }
      if (one->recv_B) {
         IREE_RETURN_IF_ERROR(resolve(submission->bindings, one->recv, one->recv_B, &ref));
      }
   }
   return iree_ok_status();
}

/* Where it fails in the middle, what was queued comes to its end, and nobody waits for it. */
iree_status_t agx_iree_collectives_submit(const struct agx_iree_submission *submission)
{
   struct chain chain = {.submission = submission};
   IREE_RETURN_IF_ERROR(check_ranges(submission));
   IREE_RETURN_IF_ERROR(agx_iree_semaphore_create(submission->device, 0, &chain.timeline));
   iree_status_t status = submit_segments(&chain);
   iree_hal_semaphore_release(chain.timeline);
   return status;
}
