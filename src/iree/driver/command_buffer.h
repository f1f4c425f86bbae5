/* SPDX-License-Identifier: MIT
 *
 * Command buffers of the driver, between recording and submission.
 */
#pragma once

#include "collective.h"

/* A dispatch by addresses that are known only when the command buffer is submitted. */
struct agx_iree_late {
   iree_hal_executable_t *executable; /* retained; entry is its */
   const struct agx_iree_entry *entry;
   uint32_t first_ref, ref_count; /* of late_refs; buffers among them are kept */
   uint32_t at_B; /* in the block of each submission: push constants, and in late_push */
   uint32_t table_at_B;
};

struct agx_iree_command_buffer {
   iree_hal_command_buffer_t base;
   iree_allocator_t host_allocator;
   struct agx_iree_device *device; /* retained */
   struct agx_command_buffer *core;
   struct agx_command_buffer_desc core_desc;
   struct agx_iree_collectives collectives; /* with those of the core's that come before core */
   bool has_begun;
   uint32_t table_slots;        /* of core: IREE's and one more, or none */
   struct agx_iree_notes notes; /* of each command */
   struct agx_iree_kept kept;
   struct agx_iree_late *late;
   uint32_t late_count, late_capacity;
   iree_hal_buffer_ref_t *late_refs;
   uint32_t late_ref_count, late_ref_capacity;
   uint8_t *late_push; /* one AGX_MAX_PUSH_B for each of late */
   uint32_t block_B;
   /* IREE's validation state follows. */
};

/* The driver's command buffer; NULL: it is another driver's. */
struct agx_iree_command_buffer *agx_iree_command_buffer_of(iree_hal_command_buffer_t *base);

/* Gives a dispatch that is being recorded its table: now, or with each submission. */
iree_status_t agx_iree_command_buffer_table(struct agx_iree_command_buffer *commands,
                                            iree_hal_executable_t *executable,
                                            const struct agx_iree_entry *entry,
                                            iree_hal_buffer_ref_list_t bindings,
                                            struct agx_iree_dispatch *dispatch);
