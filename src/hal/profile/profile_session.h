/* SPDX-License-Identifier: MIT
 *
 * The inside of a profiling session, for its own files.
 *
 * Whatever happens becomes an event or an entry in a list under the session's lock, which is held
 * shortly and never over a call of the winsys. Records are made and delivered later, where no lock
 * is held: when a submission is let go, and at a flush.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "agx/profile.h"
#include "base/list.h"
#include "hal/profile/profile.h"
#include "winsys/winsys.h"

#define AGX_PROFILE_MAX_COMMANDS 64
#define AGX_PROFILE_MAX_EVENTS   65536 /* of the families that may drop some */

struct agx_trace;

/* A string of the session, kept to its end. */
struct agx_profile_name {
   struct agx_profile_name *next;
   size_t bytes; /* of the whole */
   char text[];
};

#define AGX_PROFILE_NAME_BUCKETS 256

/* Something of the host or of memory. */
struct agx_profile_event {
   struct agx_link link;
   struct agx_profile_record record;
};

/* One dispatch of an entry. */
struct agx_profile_dispatch {
   const char *name, *label;
   uint64_t executable_tag;
   uint32_t executable_entry;
   uint32_t command_index;
   uint32_t workgroups[3];
   bool is_selected; /* by the filter */
   bool has_counters;
   struct agx_kmd_counters counters;
};

/* Consecutive launches that are one command. */
struct agx_profile_span {
   uint64_t stream_va;
   uint32_t first, count; /* dispatches */
};

/* An operation. Kept from use to use with its memory. */
struct agx_profile_entry {
   struct agx_link link;
   struct agx_profile *profile; /* a reference */
   uint64_t number, commands_id, tag, payload_B;
   uint32_t queue, operation;
   const char *name, *label;
   uint64_t submitted_ns, started_ns, ended_ns;
   agx_status status;
   bool is_in_flight; /* listed */

   /* Of what went to the GPU: */
   struct agxw_compute commands[AGX_PROFILE_MAX_COMMANDS];
   uint32_t command_count;
   struct agx_profile_span spans[AGX_PROFILE_MAX_COMMANDS];
   uint32_t span_count; /* 0: its stream was left whole */
   bool is_timed;
   struct agxw_stamps *stamps; /* two for each command */
   struct agxw_bo *stream;     /* the spans', when it was cut */
   struct agx_profile_dispatch *dispatches;
   uint32_t dispatch_count, dispatch_capacity;
};

struct agx_profile {
   struct agx_host_spans spans; /* at offset 0 */
   _Atomic uint32_t references;
   struct agx_device *device;
   uint64_t families;
   uint32_t flags;
   struct agx_profile_filter filter;
   char *function; /* of the filter */
   agx_profile_fn fn;
   void *user;
   struct agx_trace *trace; /* or NULL */

   pthread_mutex_t lock;
   pthread_cond_t idle;       /* no thread notifies */
   struct agx_link in_flight; /* agx_profile_entry, sent and not ended */
   struct agx_link ended;     /* agx_profile_entry, whose records are pending */
   struct agx_link spare;     /* agx_profile_entry */
   struct agx_link events;    /* agx_profile_event */
   uint32_t event_count;
   uint64_t dropped, memory_B;
   bool is_closed, is_notifying;
   pthread_t notifier;
   struct agx_profile_name *names[AGX_PROFILE_NAME_BUCKETS];

   /* Of the thread that notifies: GPU time = gpu_base when CLOCK_MONOTONIC was host_base. */
   uint64_t gpu_base, host_base;
};

/* The function note of struct agx_host_spans. */
void agx_profile_note(struct agx_host_spans *spans, const char *name, const char *detail,
                      uint64_t start_ns);
/* The session's own copy of a string; "" where there is no memory. The lock is held. */
const char *agx_profile_intern(struct agx_profile *profile, const char *text);
void agx_profile_free_names(struct agx_profile *profile);
/* agxw_device_observe */
void agx_profile_note_memory(void *user, const struct agxw_place *place, bool is_new);
/* Hands out the records of what has ended, unless another thread is doing so already. */
void agx_profile_notify(struct agx_profile *profile);
void agx_profile_put(struct agx_profile *profile, const struct agx_profile_record *record);
/* Makes the records of an entry that ended. */
void agx_profile_notify_entry(struct agx_profile *profile, const struct agx_profile_entry *entry);
void agx_profile_free_entry(struct agx_profile_entry *entry);

/* Counters of a launch; agxw_device_watch_counters. */
void agx_profile_count(void *user, const struct agx_kmd_counters *counters);

/* Writes the launches of a stream anew, as commands that each end by themselves: what stands
 * between two barriers, or each launch alone; fewer where the kernel takes no more commands. The
 * last launch, which is the library's own, becomes a command without times. */
AGX_MUST_CHECK agx_status agx_profile_split(struct agx_profile_entry *entry,
                                            const struct agxw_compute *stream);
