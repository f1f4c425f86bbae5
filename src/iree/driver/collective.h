/* SPDX-License-Identifier: MIT
 *
 * Collectives: channels between processes, and what command buffers record of them. A command
 * buffer with collectives is several of the core's, which submission runs one after the other with
 * host calls between them.
 */
#pragma once

#include "transfer.h"
#include "profile.h"

struct agx_iree_command_buffer;

/* ---- channels (channel.c) ---------------------------------------------------- */

struct agx_iree_channel {
   iree_hal_resource_t resource;
   struct agx_iree_device *device; /* retained */
   struct agx_iree_mpi *mpi;
   /* MPI wants the collectives of a communicator begun in one order everywhere: that in which they
    * were submitted. Whoever has ticket n waits for the value n, and signals n + 1 once it has
    * begun. It fails with the first collective that does: the others' parts are out of step then.
    */
   iree_hal_semaphore_t *order;
   uint64_t next_ticket;
};

/* A channel of all processes. As agx_iree_mpi_create; INVALID_ARGUMENT: an identifier, or a rank or
 * count other than MPI's. */
iree_status_t agx_iree_channel_create(struct agx_iree_device *device,
                                      iree_hal_channel_params_t params,
                                      iree_hal_channel_t **out_channel);

/* This driver's channel, of that device; NULL: it is another's. */
struct agx_iree_channel *agx_iree_channel_of(const struct agx_iree_device *device,
                                             iree_hal_channel_t *base);

/* A place in the order of a channel. */
struct agx_iree_ticket {
   struct agx_iree_channel *channel; /* retained */
   uint64_t value;
};

/* Gives tickets, whose channels are set and differ, their values as if at one moment. */
void agx_iree_tickets_take(struct agx_iree_ticket *tickets, uint32_t count);
/* The next may begin. */
void agx_iree_ticket_pass(const struct agx_iree_ticket *ticket);
/* None will. */
void agx_iree_ticket_fail(const struct agx_iree_ticket *ticket, iree_status_t status);

/* ---- recording (collective.c) ------------------------------------------------ */

struct agx_iree_collective {
   struct agx_iree_channel *channel;
   iree_hal_collective_op_t op;
   uint32_t param;
   iree_hal_buffer_ref_t send, recv;
   uint64_t element_count;
   uint64_t send_B, recv_B; /* what the process sends and receives; 0: it doesn't */
};

/* Work, and the collectives that come behind it, which begin together. */
struct agx_iree_segment {
   struct agx_command_buffer *core;
   uint32_t first_note;   /* of the command buffer's */
   uint32_t first, count; /* of the command buffer's collectives */
};

struct agx_iree_label {
   char text[AGX_NAME_BYTES];
   uint32_t color;
};

struct agx_iree_collectives {
   struct agx_iree_segment *segments; /* the work behind them is the command buffer's own core */
   uint32_t segment_count, segment_capacity;
   uint32_t last_note; /* the first of that work */
   struct agx_iree_collective *at;
   uint32_t count, capacity;
   bool is_open;                  /* no barrier came since the last one */
   struct agx_iree_label *labels; /* groups that are open, which each of the core's needs anew */
   uint32_t label_count, label_capacity;
};

/* Records one. Those without a barrier between them begin together, so that none waits for another.
 * OUT_OF_RANGE: more elements than MPI counts, a rank that there is none of. */
iree_status_t agx_iree_collective_record(struct agx_iree_command_buffer *commands,
                                         iree_hal_channel_t *channel, iree_hal_collective_op_t op,
                                         uint32_t param, iree_hal_buffer_ref_t send,
                                         iree_hal_buffer_ref_t recv, uint64_t element_count);

/* Notes the begin of a group of commands, and its end. */
iree_status_t agx_iree_collectives_push_label(struct agx_iree_collectives *collectives,
                                              const char *text, uint32_t color);
void agx_iree_collectives_pop_label(struct agx_iree_collectives *collectives);

/* Lets go of all. */
void agx_iree_collectives_free(struct agx_iree_collectives *collectives);

/* ---- submission (collective_submit.c) ---------------------------------------- */

/* A submission of a command buffer; as agx_iree_command_buffer_submit. */
struct agx_iree_submission {
   struct agx_iree_device *device;
   iree_hal_queue_affinity_t affinity;
   iree_hal_semaphore_list_t waits, signals;
   struct agx_iree_command_buffer *commands;
   iree_hal_buffer_binding_table_t bindings;
   const struct agx_buffer_ref *table; /* the core's for bindings */
};

/* Submits one of the command buffer's core's, with what it must keep; its notes begin at
 * first_note. */
iree_status_t agx_iree_submit_core(const struct agx_iree_submission *submission,
                                   struct agx_command_buffer *core, uint32_t first_note);

/* Submits a command buffer with collectives. OUT_OF_RANGE: a range is too short for its elements.
 */
iree_status_t agx_iree_collectives_submit(const struct agx_iree_submission *submission);
