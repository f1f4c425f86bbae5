/* SPDX-License-Identifier: MIT
 *
 * What the driver notes for profiles, and the session of a device.
 */
#pragma once

#include "agx_iree.h"

/* A recorded command, as IREE counts them: one for each that the core counts. */
struct agx_iree_note {
   const struct agx_iree_executable *executable; /* of dispatches; retained by who keeps the note */
   uint32_t function;
   uint32_t type;  /* of iree_hal_profile_command_operation_type_t */
   uint32_t flags; /* of iree_hal_profile_command_operation_flags_t */
   uint32_t binding_count;
   uint32_t workgroups[3], local_size[3];
   uint64_t length_B; /* of transfers */
};

struct agx_iree_notes {
   struct agx_iree_note *at;
   uint32_t count, capacity;
};

#define AGX_IREE_NO_NOTES UINT32_MAX /* as first_note: of what IREE has not recorded */

/* What there is to note of a dispatch. */
struct agx_iree_note agx_iree_note_of_dispatch(const struct agx_iree_entry *entry,
                                               const iree_hal_dispatch_config_t *config,
                                               iree_hal_dispatch_flags_t flags,
                                               uint32_t binding_count);

/* Adds a note, and retains its executable. */
iree_status_t agx_iree_notes_add(struct agx_iree_notes *notes, const struct agx_iree_note *note);
/* Lets go of all. */
void agx_iree_notes_free(struct agx_iree_notes *notes);

/* Enters a dispatch outside of command buffers, and gives the tag that its records shall have. */
iree_status_t agx_iree_profile_dispatch(struct agx_iree_device *device,
                                        const struct agx_iree_note *note, uint64_t *out_tag);

/* Enters a command buffer that is submitted, or one of several of the core's that it consists of,
 * whose notes begin at first_note: what its records refer to is written once. */
iree_status_t agx_iree_profile_execute(struct agx_iree_device *device,
                                       iree_hal_command_buffer_t *command_buffer, uint64_t core_id,
                                       const struct agx_iree_notes *notes, uint32_t first_note);

/* ---- counters (counters.c) ------------------------------------------------- */

#define AGX_IREE_MAX_COUNTER_SETS 4
#define AGX_IREE_MAX_SET_COUNTERS 8

struct agx_iree_counter_set {
   uint8_t counters[AGX_IREE_MAX_SET_COUNTERS];
   uint32_t count;
};

struct agx_iree_counters {
   struct agx_iree_counter_set sets[AGX_IREE_MAX_COUNTER_SETS];
   uint32_t set_count;
};

/* Takes a chunk of that type for the sink. */
typedef void (*agx_iree_put_fn)(void *user, iree_string_view_t type, const void *data,
                                size_t data_B);

/* The sets that options select. INVALID_ARGUMENT names a counter that there is none of. */
iree_status_t agx_iree_counters_select(const iree_hal_device_profiling_options_t *options,
                                       struct agx_iree_counters *out_counters);

/* Puts what sets there are, and what is in them. */
void agx_iree_counters_describe(const struct agx_iree_counters *counters, agx_iree_put_fn put,
                                void *user);

/* Puts a sample of each set out of a record; sample has what it is of. */
void agx_iree_counters_sample(const struct agx_iree_counters *counters,
                              const struct agx_profile_record *record,
                              iree_hal_profile_counter_sample_record_t sample, agx_iree_put_fn put,
                              void *user);
