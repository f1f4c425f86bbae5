/* SPDX-License-Identifier: MIT
 *
 * A command buffer: GPU memory that holds its stream and what its launches need, and on the host
 * what may be asked of it later.
 */
#pragma once

#include "base/list.h"
#include "hal/core/failure.h"
#include "hal/executable/executable.h"
#include "hal/memory/buffer.h"
#include "hal/memory/chunk.h"
#include "hal/record/breadcrumb.h"
#include "hal/record/deferred_commands.h"
#include "hal/record/hazard.h"
#include "hal/record/vector.h"

enum agx_record_state {
   AGX_RECORD_INITIAL,
   AGX_RECORD_RECORDING,
   AGX_RECORD_DONE,
};

/* Launches from `first` on, to the next run. */
struct agx_run {
   struct agx_executable *executable;
   uint32_t first, label;
};

/* A command that is not one launch: launches from `first` on, or none. */
struct agx_odd_command {
   uint32_t first, launches;
};

/* Labels are numbered from 1; 0: none. */
struct agx_label_node {
   uint32_t parent, color;
   char text[AGX_NAME_BYTES];
};

struct agx_command_buffer {
   struct agx_object object;
   struct agx_device *device;
   char label[AGX_NAME_BYTES];
   uint32_t flags; /* enum agx_command_buffer_flags */
   enum agx_record_state state;
   struct agx_failure failed;             /* first recording error */
   _Atomic uint32_t in_flight;            /* submissions that hold it */
   _Atomic uint32_t submissions;          /* since begin */
   struct agx_command_buffer *next_spare; /* of the device's own */
   bool is_own;                           /* the device's own, which don't keep it */
   _Atomic uint64_t profile_id;           /* 0: not asked for yet */

   /* The open chunk: the next word of the stream, and the lowest byte of blocks. */
   uint8_t *stream, *blocks;
   uint64_t va_bias; /* what makes a GPU address of a pointer into it */
   uint64_t usc_base;
   struct agx_hazards hazards;
   struct agx_resources resources;
   struct agx_use aliased;  /* all buffers that may show memory of others */
   uint32_t dispatch_count; /* launches in the stream */
   uint32_t scratch_B;      /* the most that one of them needs for each thread */
   struct agx_run run;      /* the last of runs */
   uint32_t label_open;
   bool is_watched;  /* AGX_DEBUG=bounds */
   bool is_declared; /* the device knows what it may access */
   bool is_expected; /* agx_chunks_expect */

   struct agx_chunk *first, *last;    /* last: the open one */
   uint64_t stream_va, stream_end_va; /* 0: nothing to run */
   /* Parts of the recording that are commands of their own, since a timestamp stands between them:
    * agxw_compute, and the first launch of each; none where there is one command. */
   struct agx_vector segments, segment_firsts;
   struct agx_chunk *segment_chunk;  /* where the open one begins */
   uint64_t segment_va;              /* the same; 0: at the beginning of the first chunk */
   uint32_t segment_first;           /* the first launch of the open one */
   struct agx_breadcrumb breadcrumb; /* from the first recording on that has anything to run */
   struct agx_vector runs, labels;   /* agx_run, agx_label_node */
   struct agx_vector odd_commands;   /* agx_odd_command, in order */
   struct agx_vector ranges;         /* agx_kmd_range, with AGX_DEBUG=bounds */

   /* With a binding table (binding_table.h) */
   uint32_t table_slots;
   struct agx_deferred_commands deferred;
   pthread_mutex_t instances_lock;
   struct agx_table_instance *instances;
   struct agx_command_buffer *base; /* of an instance: what it is one of */
};

/* The stream to submit; false when there is nothing to run. */
static inline bool agx_command_buffer_stream(const struct agx_command_buffer *commands,
                                             struct agxw_compute *out_command)
{
   *out_command = (struct agxw_compute){commands->stream_va, commands->stream_end_va};
   return commands->stream_va != 0;
}

/* The commands to submit in place of the stream, where there are several; 0: the stream is the only
 * one. */
static inline uint32_t agx_command_buffer_segments(const struct agx_command_buffer *commands,
                                                   const struct agxw_compute **out_segments)
{
   *out_segments = commands->segments.items;
   return commands->segments.count;
}

/* The first launch of a segment. */
static inline uint32_t agx_command_buffer_segment_first(const struct agx_command_buffer *commands,
                                                        uint32_t segment)
{
   return ((const uint32_t *)commands->segment_firsts.items)[segment];
}

/* The breadcrumb of a recorded command buffer. NULL when there is nothing to run, it is not
 * recorded to its end, or the breadcrumb would say nothing: a device that watches fails
 * submissions that have run to their end, and of several commands it would say how the last one
 * ended. */
const struct agx_breadcrumb *
agx_command_buffer_breadcrumb(const struct agx_command_buffer *commands);

/* "outer/inner: kernel" of a launch, as faults number them, or without labels "kernel"; cut to
 * capacity, always terminated. Returns the whole length, 0 where there is no such launch. The
 * executables must live. */
size_t agx_command_buffer_dispatch_label(const struct agx_command_buffer *commands, uint32_t number,
                                         char *text, size_t capacity);

struct agx_profile_entry;
/* Tells a profiling session what the launches are, but for the last, which is the library's own.
 * Fails where the session has no memory. */
AGX_MUST_CHECK agx_status agx_command_buffer_profile(const struct agx_command_buffer *commands,
                                                     struct agx_profile_entry *entry);

/* Counts a submission, which is in flight from now on, until its flight ends or is cancelled. The
 * second submission of a one-shot command buffer is AGX_FAILED_PRECONDITION. */
AGX_MUST_CHECK agx_status agx_command_buffer_begin_flight(struct agx_command_buffer *commands);
/* Takes a begun flight back: there was no submission after all. */
void agx_command_buffer_cancel_flight(struct agx_command_buffer *commands);
/* The submission is over. */
void agx_command_buffer_end_flight(struct agx_command_buffer *commands);

/* Checks that the command buffer may be submitted to the device. */
AGX_MUST_CHECK agx_status agx_command_buffer_check_submit(const struct agx_command_buffer *commands,
                                                          const struct agx_device *device);
