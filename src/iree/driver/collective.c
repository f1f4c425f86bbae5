/* SPDX-License-Identifier: MIT
 *
 * Recording of collectives: what stands before one becomes a segment.
 */
#include "collective.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "command_buffer.h"

/* Room for one more element. */
static iree_status_t grow(void **array, uint32_t count, uint32_t *capacity, size_t size_B)
{
   if (count < *capacity)
      return iree_ok_status();
   const uint32_t wanted = *capacity ? 2 * *capacity : 8;
   void *memory = realloc(*array, wanted * size_B);
   if (!memory)
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "command buffer: no host memory");
   *array = memory;
   *capacity = wanted;
   return iree_ok_status();
}

/* ---- what one is --------------------------------------------------------------- */

enum {
   SENDS = 1,
   RECEIVES = 2,
   SENDS_ALL = 4,    /* element_count for each rank */
   RECEIVES_ALL = 8, /* likewise */
   REDUCES = 16,
   HAS_PARTS = 32, /* element_count is in as many parts as there are ranks */
   HAS_ROOT = 64,  /* param is a rank */
};

static const uint8_t kinds[] = {
   [IREE_HAL_COLLECTIVE_KIND_ALL_GATHER] = SENDS | RECEIVES | RECEIVES_ALL,
   [IREE_HAL_COLLECTIVE_KIND_ALL_REDUCE] = SENDS | RECEIVES | REDUCES,
   [IREE_HAL_COLLECTIVE_KIND_ALL_TO_ALL] = SENDS | RECEIVES | HAS_PARTS,
   [IREE_HAL_COLLECTIVE_KIND_BROADCAST] = SENDS | RECEIVES | HAS_ROOT,
   [IREE_HAL_COLLECTIVE_KIND_REDUCE] = SENDS | RECEIVES | REDUCES | HAS_ROOT,
   [IREE_HAL_COLLECTIVE_KIND_REDUCE_SCATTER] = SENDS | SENDS_ALL | RECEIVES | REDUCES,
   [IREE_HAL_COLLECTIVE_KIND_SEND] = SENDS | HAS_ROOT,
   [IREE_HAL_COLLECTIVE_KIND_RECV] = RECEIVES | HAS_ROOT,
   [IREE_HAL_COLLECTIVE_KIND_SEND_RECV] = SENDS | RECEIVES,
};

static iree_status_t check_rank(int32_t rank, int32_t ranks, const char *what)
{
   if (rank < ranks)
      return iree_ok_status();
   return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                           "collective: %s rank %d, the channel has %d ranks", what, rank, ranks);
}

static iree_status_t check(const struct agx_iree_collective *collective, int32_t ranks)
{
   const iree_hal_collective_op_t op = collective->op;
   if (op.kind > IREE_HAL_COLLECTIVE_KIND_MAX_VALUE ||
       op.reduction > IREE_HAL_COLLECTIVE_REDUCTION_MAX_VALUE ||
       op.element_type > IREE_HAL_COLLECTIVE_ELEMENT_TYPE_MAX_VALUE)
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                              "collective: kind %u, reduction %u, element type %u", op.kind,
                              op.reduction, op.element_type);
   const bool reduces = (kinds[op.kind] & REDUCES) != 0;
   if (reduces != (op.reduction != IREE_HAL_COLLECTIVE_REDUCTION_NONE))
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "collective: kind %u with reduction %u",
                              op.kind, op.reduction);
   if (collective->element_count > INT_MAX / (uint64_t)ranks)
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "collective: %" PRIu64 " elements of %d ranks, at most %d in all",
                              collective->element_count, ranks, INT_MAX);
   if ((kinds[op.kind] & HAS_PARTS) && collective->element_count % (uint64_t)ranks)
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "collective: %" PRIu64 " elements in %d equal parts",
                              collective->element_count, ranks);
   if ((kinds[op.kind] & HAS_ROOT) && collective->param >= (uint32_t)ranks)
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "collective: rank %u, the channel has %d ranks", collective->param,
                              ranks);
   if (op.kind != IREE_HAL_COLLECTIVE_KIND_SEND_RECV)
      return iree_ok_status();
   IREE_RETURN_IF_ERROR(check_rank((int16_t)collective->param, ranks, "target"));
   return check_rank((int16_t)(collective->param >> 16), ranks, "source");
}

/* What this process sends and receives: less than all do where only a root has to. */
static void set_sizes(struct agx_iree_collective *collective)
{
   const uint32_t kind = collective->op.kind, traits = kinds[kind];
   const int32_t rank = agx_iree_mpi_rank(collective->channel->mpi);
   const uint64_t ranks = (uint64_t)agx_iree_mpi_count(collective->channel->mpi);
   const uint64_t size_B = collective->element_count *
                           iree_hal_collective_element_byte_count(collective->op.element_type);
   const bool is_root = collective->param == (uint32_t)rank;
   bool sends = (traits & SENDS) != 0, receives = (traits & RECEIVES) != 0;
   if (kind == IREE_HAL_COLLECTIVE_KIND_BROADCAST)
      sends = is_root;
   if (kind == IREE_HAL_COLLECTIVE_KIND_REDUCE)
      receives = is_root;
   if (kind == IREE_HAL_COLLECTIVE_KIND_SEND_RECV)
      sends = (int16_t)collective->param >= 0;
   collective->send_B = sends ? size_B * (traits & SENDS_ALL ? ranks : 1) : 0;
   collective->recv_B = receives ? size_B * (traits & RECEIVES_ALL ? ranks : 1) : 0;
}

/* For IREE's header an all-gather counts what one rank sends; IREE's compiler (3.13) counts what
 * all of them do. Its ranges, which are exact then, would be too short for the former. */
static void correct_count(struct agx_iree_collective *collective)
{
   const uint64_t ranks = (uint64_t)agx_iree_mpi_count(collective->channel->mpi);
   const uint64_t size_B = iree_hal_collective_element_byte_count(collective->op.element_type);
   if (collective->op.kind == IREE_HAL_COLLECTIVE_KIND_ALL_GATHER &&
       collective->recv.length == collective->element_count * size_B &&
       collective->send.length == collective->recv.length / ranks)
      collective->element_count /= ranks;
}

/* ---- segments ------------------------------------------------------------------ */

static iree_status_t create_core(struct agx_iree_command_buffer *commands,
                                 struct agx_command_buffer **out_core)
{
   const struct agx_iree_collectives *collectives = &commands->collectives;
   agx_status status =
      agx_command_buffer_create(commands->device->core, &commands->core_desc, out_core);
   if (status == AGX_OK)
      status = agx_command_buffer_begin(*out_core);
   for (uint32_t i = 0; i < collectives->label_count && status == AGX_OK; i++)
      status =
         agx_cmd_begin_label(*out_core, collectives->labels[i].text, collectives->labels[i].color);
   return agx_iree_status(status);
}

static iree_status_t end_core(struct agx_iree_command_buffer *commands)
{
   for (uint32_t i = 0; i < commands->collectives.label_count; i++) {
      IREE_RETURN_IF_ERROR(agx_iree_status(agx_cmd_end_label(commands->core)));
   }
   return agx_iree_status(agx_command_buffer_end(commands->core));
}

/* What was recorded up to here comes before the next collectives. */
static iree_status_t split(struct agx_iree_command_buffer *commands)
{
   struct agx_iree_collectives *collectives = &commands->collectives;
   struct agx_command_buffer *next = NULL;
   IREE_RETURN_IF_ERROR(grow((void **)&collectives->segments, collectives->segment_count,
                             &collectives->segment_capacity, sizeof(*collectives->segments)));
   iree_status_t status = create_core(commands, &next);
   if (iree_status_is_ok(status))
      status = end_core(commands);
   if (!iree_status_is_ok(status)) {
      agx_release(next);
      return status;
   }
   collectives->segments[collectives->segment_count++] = (struct agx_iree_segment){
      .core = commands->core,
      .first_note = collectives->last_note,
      .first = collectives->count,
   };
   commands->core = next;
   collectives->last_note = commands->notes.count;
   return iree_ok_status();
}

static iree_status_t keep(struct agx_iree_command_buffer *commands, iree_hal_channel_t *channel,
                          const iree_hal_buffer_ref_t refs[2])
{
   const iree_hal_buffer_ref_list_t list = {.count = 2, .values = refs};
   for (uint32_t i = 0; i < 2; i++) {
      IREE_RETURN_IF_ERROR(agx_iree_kept_add_buffer(&commands->kept, refs[i].buffer));
   }
   IREE_RETURN_IF_ERROR(agx_iree_kept_add_refs(&commands->kept, list));
   return agx_iree_kept_add_resource(&commands->kept, channel);
}

iree_status_t agx_iree_collective_record(struct agx_iree_command_buffer *commands,
                                         iree_hal_channel_t *base, iree_hal_collective_op_t op,
                                         uint32_t param, iree_hal_buffer_ref_t send,
                                         iree_hal_buffer_ref_t recv, uint64_t element_count)
{
   struct agx_iree_collectives *collectives = &commands->collectives;
   struct agx_iree_collective collective = {
      .channel = agx_iree_channel_of(commands->device, base),
      .op = op,
      .param = param,
      .send = send,
      .recv = recv,
      .element_count = element_count,
   };
   const iree_hal_buffer_ref_t refs[] = {send, recv};
   if (!collective.channel)
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "collective: the channel is another device's");
   IREE_RETURN_IF_ERROR(check(&collective, agx_iree_mpi_count(collective.channel->mpi)));
   correct_count(&collective);
   set_sizes(&collective);
   IREE_RETURN_IF_ERROR(keep(commands, base, refs));
   IREE_RETURN_IF_ERROR(grow((void **)&collectives->at, collectives->count, &collectives->capacity,
                             sizeof(*collectives->at)));
   if (!collectives->is_open) {
      IREE_RETURN_IF_ERROR(split(commands));
   }
   collectives->is_open = true;
   collectives->at[collectives->count++] = collective;
   collectives->segments[collectives->segment_count - 1].count++;
   return iree_ok_status();
}

iree_status_t agx_iree_collectives_push_label(struct agx_iree_collectives *collectives,
                                              const char *text, uint32_t color)
{
   IREE_RETURN_IF_ERROR(grow((void **)&collectives->labels, collectives->label_count,
                             &collectives->label_capacity, sizeof(*collectives->labels)));
   struct agx_iree_label *label = &collectives->labels[collectives->label_count++];
   label->color = color;
   memcpy(label->text, text, strlen(text) + 1);
   return iree_ok_status();
}

void agx_iree_collectives_pop_label(struct agx_iree_collectives *collectives)
{
   if (collectives->label_count)
      collectives->label_count--;
}

void agx_iree_collectives_free(struct agx_iree_collectives *collectives)
{
   for (uint32_t i = 0; i < collectives->segment_count; i++)
      agx_release(collectives->segments[i].core);
   free(collectives->segments);
   free(collectives->at);
   free(collectives->labels);
}
