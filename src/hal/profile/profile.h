/* SPDX-License-Identifier: MIT
 *
 * Where the rooms above tell a profiling session what happens. They call it only where there is a
 * session: without one each place costs one test of a pointer.
 */
#pragma once

#include "hal/core/host_span.h"

struct agx_profile;
struct agx_profile_entry;
struct agxw_compute;
struct agxw_submit;

/* ---- operations ------------------------------------------------------------
 *
 * An entry is what the session keeps of one operation, from agx_submit until its records are
 * delivered. sync/submit.c, send.c and schedule.c make and move them. */

struct agx_profile_operation {
   uint32_t queue, kind; /* kind: enum agx_op_kind */
   const char *name;     /* valid as long as the library */
   const char *label;    /* of its command buffer; copied */
   uint64_t commands_id; /* agx_command_buffer_profile_id; 0: none */
   uint64_t tag, payload_B;
};

/* Launches of one kernel under one label, which follow each other in the stream. */
struct agx_profile_launches {
   const char *kernel, *label; /* copied */
   uint64_t executable_tag;
   uint32_t executable_entry;
   uint32_t count;
   uint32_t command;    /* the number of the first one's command */
   bool is_one_command; /* of all of them; else each has the next number */
};

/* A new operation, not set going yet, which holds a reference to the session. *out_entry is NULL
 * where the session's families and filter leave it out. Fails where there is no memory, without a
 * reference. */
AGX_MUST_CHECK agx_status agx_profile_entry_create(struct agx_profile *profile,
                                                   const struct agx_profile_operation *operation,
                                                   struct agx_profile_entry **out_entry);
/* Its turn has come on the host, or on the GPU. */
void agx_profile_entry_start(struct agx_profile_entry *entry);
/* It is over, before its semaphores know: number is the submission's, status how it ended. The
 * session has the entry from now on. */
void agx_profile_entry_end(struct agx_profile_entry *entry, uint64_t number, agx_status status);
/* Lets go of an operation of the session, and of the reference. entry: one that has not ended;
 * NULL: it has. Delivers records: without locks. */
void agx_profile_release_operation(struct agx_profile *profile, struct agx_profile_entry *entry);

/* Whether the session wants to know what the operation does on the GPU and does not know yet: then
 * its dispatches are to be added, and agx_profile_entry_send called. */
bool agx_profile_entry_wants_dispatches(const struct agx_profile_entry *entry);
/* Makes room for count dispatches. */
AGX_MUST_CHECK agx_status agx_profile_entry_reserve(struct agx_profile_entry *entry,
                                                    uint32_t count);
/* Adds the stream's next dispatches. There is room. */
void agx_profile_entry_add(struct agx_profile_entry *entry,
                           const struct agx_profile_launches *launches);
/* It goes to the kernel with this stream: other commands in *submit, with timestamps. Its
 * dispatches were added, however often the kernel is asked. */
AGX_MUST_CHECK agx_status agx_profile_entry_send(struct agx_profile_entry *entry,
                                                 const struct agxw_compute *stream,
                                                 struct agxw_submit *submit);

/* Where the streams of the entry's commands begin: false unless the session has cut its stream. */
bool agx_profile_entry_streams(const struct agx_profile_entry *entry, uint64_t *out_first_va,
                               uint64_t *out_last_va);
/* The number of the first dispatch in the stream at stream_va; 0 where it was not cut. */
uint32_t agx_profile_entry_first_dispatch(const struct agx_profile_entry *entry,
                                          uint64_t stream_va);

/* ---- sessions ------------------------------------------------------------- */

/* The device's session, if it takes spans of the host, with a reference; else NULL. For spans that
 * may end after the session, since what they are of keeps no operation waiting; the device is not
 * idle yet. */
struct agx_profile *agx_profile_retain_for_spans(const struct agx_device *device);
/* A span from start_ns (agx_profile_clock) until now; left out once the session has ended. NULL is
 * ignored. */
void agx_profile_add_span(struct agx_profile *profile, const char *name, const char *detail,
                          uint64_t start_ns);
/* Lets go of the reference; NULL is ignored. The device is still there. */
void agx_profile_release(struct agx_profile *profile);
/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t agx_profile_clock(void);

/* What AGX_PROFILE in the environment asks for; a file that can't be had is said, no failure. */
AGX_MUST_CHECK agx_status agx_profile_open_environment(struct agx_device *device);
/* Ends the session, if there is one. */
void agx_profile_fini(struct agx_device *device);
