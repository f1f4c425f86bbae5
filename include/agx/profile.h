/* SPDX-License-Identifier: MIT
 *
 * Profiling: what queues, dispatches, the host and memory did, and when, as records to a function
 * or as a trace file. docs/profiling.md tells what each family costs and how exact it is.
 */
#pragma once

#include "agx/command_buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum agx_profile_family {
   AGX_PROFILE_QUEUE = 1 << 0,        /* each operation, by the host's clock */
   AGX_PROFILE_DEVICE_QUEUE = 1 << 1, /* each submission that ran on the GPU, by the GPU's clock */
   AGX_PROFILE_DISPATCH = 1 << 2,     /* each dispatch, by the GPU's clock */
   AGX_PROFILE_HOST = 1 << 3,         /* what the library does on the host */
   AGX_PROFILE_MEMORY = 1 << 4,       /* GPU memory as it is made and freed */
   AGX_PROFILE_COUNTERS = 1 << 5,     /* what each dispatch executed; virtual devices only, slow */
   AGX_PROFILE_TRACES = 1 << 6,       /* instruction traces: AGX_UNIMPLEMENTED */
   AGX_PROFILE_METRICS = 1 << 7,      /* clocks, power: AGX_UNIMPLEMENTED */
};

enum agx_profile_flags {
   /* Dispatches that no barrier separates stay in one command and may overlap, as without
    * profiling: their times are those of all of them (AGX_PROFILE_SPAN). Without it each dispatch
    * is a command of its own, which waits for the one before. */
   AGX_PROFILE_KEEP_OVERLAP = 1 << 0,
};

/* What the times of a record are of. */
enum agx_profile_granularity {
   AGX_PROFILE_NO_TIME = 0,      /* nothing: start_ns and end_ns are 0; the GPU wrote none */
   AGX_PROFILE_HOST_TIME = 1,    /* the host's clock around it */
   AGX_PROFILE_SUBMISSION = 2,   /* the GPU's, of a whole submission */
   AGX_PROFILE_SPAN = 3,         /* the GPU's, of span_count dispatches, of which this is one */
   AGX_PROFILE_ONE_DISPATCH = 4, /* the GPU's, of this dispatch alone */
};

enum agx_profile_kind {
   AGX_PROFILE_RECORD_QUEUE = 0,
   AGX_PROFILE_RECORD_DEVICE_QUEUE = 1,
   AGX_PROFILE_RECORD_DISPATCH = 2,
   AGX_PROFILE_RECORD_HOST = 3,
   AGX_PROFILE_RECORD_ALLOCATE = 4,
   AGX_PROFILE_RECORD_FREE = 5,
   AGX_PROFILE_RECORD_COUNTERS = 6,
   AGX_PROFILE_RECORD_DROPPED = 7, /* dropped records of the host, memory and counter families */
};

struct agx_profile_counter {
   const char *name; /* "instructions", "cycles", ... */
   uint64_t value;
};

#define AGX_PROFILE_NONE UINT32_MAX

/* Fields that a kind doesn't have are 0, indices AGX_PROFILE_NONE, names "". Times are nanoseconds
 * of CLOCK_MONOTONIC; the GPU's are converted to it. */
struct agx_profile_record {
   uint32_t size;
   uint32_t kind;           /* enum agx_profile_kind */
   uint32_t granularity;    /* enum agx_profile_granularity */
   uint32_t queue;          /* of operations, submissions and dispatches */
   uint64_t submission;     /* the device's number of the operation, from 1 */
   uint64_t command_buffer; /* agx_command_buffer_profile_id; 0: of the library's own */
   /* Of a dispatch: the number of its command there, from 0. Dispatches, draws, fills, updates and
    * copies count, whatever they take: launches of a long copy have the same number, and what runs
    * nothing has one of its own. Barriers, events and labels don't count. */
   uint32_t command_index;
   uint32_t operation; /* enum agx_op_kind */
   const char *name;   /* operation, kernel, what the host did, buffer */
   const char *label;  /* command buffer; of a host record: what it was done with */
   uint64_t start_ns, end_ns;
   uint64_t submitted_ns; /* of an operation: when agx_submit was called; start_ns: when its turn
                             came on the host */
   agx_status status;     /* of an operation, once it has ended */
   uint32_t span_count, span_index;   /* dispatches that the times are of; which of them it is */
   uint32_t thread;                   /* of a host record: a small number of the thread */
   uint32_t workgroups[3];            /* of a dispatch; 0: the GPU read them from memory */
   uint64_t address, size_B, total_B; /* of memory; total: of all there is, after it */
   const struct agx_profile_counter *counters;
   uint32_t counter_count;
   uint64_t dropped;
   uint64_t tag; /* agx_op.tag; also of what its operation ran on the GPU */
   uint64_t
      payload_B; /* of an operation: what it fills, updates, copies, reads, writes, allocates */
   uint64_t executable_tag;   /* agx_executable_desc.tag, of a dispatch */
   uint32_t executable_entry; /* its entry point there */
};

/* The record and what it points at are borrowed for the call; names stay until agx_profile_end. On
 * threads of the library and of those who wait, never two calls at a time; it may use the library,
 * but not submit and wait, nor profile. */
typedef void (*agx_profile_fn)(void *user, const struct agx_profile_record *record);

/* Zeros: everything. Functions, command buffers and command indices choose dispatches and their
 * counters only. */
struct agx_profile_filter {
   const char *function;    /* the kernel's name, with * and ?; NULL: any */
   uint64_t command_buffer; /* agx_command_buffer_profile_id; 0: any */
   uint64_t queues;         /* a bit for each; 0: all */
   bool has_command_index;
   uint32_t command_index;
};

struct agx_profile_desc {
   uint32_t size;
   const void *next;
   uint64_t families; /* enum agx_profile_family; 0: a session that records nothing */
   uint32_t flags;    /* enum agx_profile_flags */
   agx_profile_fn fn; /* may be NULL where there is a path */
   void *user;
   /* A trace for Perfetto and chrome://tracing, whole at any time; NULL: none. */
   const char *path;
   struct agx_profile_filter filter;
};

/* Begins the device's session. The device must be idle for it, for the end too, and other threads
 * must not use it meanwhile. AGX_FAILED_PRECONDITION: there is a session already (which AGX_PROFILE
 * in the environment may have begun); AGX_UNIMPLEMENTED: a family that no device has;
 * AGX_UNAVAILABLE: one that this device has not. Nothing is begun then. */
AGX_API AGX_MUST_CHECK agx_status agx_profile_begin(struct agx_device *device,
                                                    const struct agx_profile_desc *desc);
/* Delivers the records of what has ended. AGX_FAILED_PRECONDITION: no session, or called from its
 * function. */
AGX_API AGX_MUST_CHECK agx_status agx_profile_flush(struct agx_device *device);
/* Flushes and ends the session, whatever it returns; but without one, AGX_FAILED_PRECONDITION. What
 * is still under way is not recorded. */
AGX_API AGX_MUST_CHECK agx_status agx_profile_end(struct agx_device *device);

/* A number that no other command buffer of the process has or had, from 1. */
AGX_API uint64_t agx_command_buffer_profile_id(struct agx_command_buffer *commands);

#ifdef __cplusplus
}
#endif
