/* SPDX-License-Identifier: MIT */
#pragma once

#include "hal/bind_array.h"
#include "hal/bind_buffer.h"
#include "hal/buffer.h"
#include "hal/record.h"

enum agx_record_state {
   AGX_RECORD_INITIAL,
   AGX_RECORD_RECORDING,
   AGX_RECORD_DONE,
};

struct agx_command_buffer {
   struct agx_object object;
   struct agx_device *device;
   char label[AGX_NAME_BYTES];
   enum agx_record_state state;
   agx_status failed;                     /* first recording error */
   struct agx_command_buffer *next_spare; /* of the device's own */
   bool is_own;                           /* the device's own, which don't keep it */
   struct agx_record_block *first, *last;
   _Atomic uint32_t in_flight; /* submissions that hold it */

   /* What end() encodes; the buffers are kept for the next recording. */
   struct agxw_bo *words;             /* launch words, in the USC window */
   struct agxw_bo *data;              /* stream, then uniform contents */
   uint64_t stream_va, stream_end_va; /* 0: nothing to run */
   bool is_told;                      /* the device was told what it may access */
   struct agx_tag tag;                /* from the first recording on that has anything to run */

   /* Submissions since it was recorded, under the device's lock: what its tag counts to. */
   uint32_t launches, tag_queue;
   bool is_tag_ambiguous; /* it ran on several queues, or failed: the tag tells no more */
};

/* Segments to launch words, uniform contents and stream (command_encode.c). */
AGX_MUST_CHECK agx_status agx_command_buffer_encode(struct agx_command_buffer *commands);

/* AGX_DEBUG=bounds (bounds.c): how many ranges say what an executable's dispatches may access, at
 * most; those of one; and all of an encoded command buffer to the device, or none any more. */
#define AGX_BOUNDS_HEAP 1 /* which of a dispatch's ranges is its heap, set while encoding */
/* With so many elements of arrays. */
uint32_t agx_bounds_capacity(const struct agx_executable *executable, uint32_t elements);
AGX_MUST_CHECK agx_status agx_bounds_collect(const struct agx_binder *binder,
                                             struct agx_kmd_range *out_ranges, uint32_t *out_count);
AGX_MUST_CHECK agx_status agx_bounds_tell(struct agx_command_buffer *commands);
void agx_bounds_forget(struct agx_command_buffer *commands);

/* The stream to submit; false when there is nothing to run. */
static inline bool agx_command_buffer_stream(const struct agx_command_buffer *commands,
                                             struct agxw_compute *out_command)
{
   *out_command = (struct agxw_compute){commands->stream_va, commands->stream_end_va};
   return commands->stream_va != 0;
}

/* Its tag: how many submissions have run to their end since begin. NULL when there is nothing to
 * run, or it is not recorded to its end. */
_Atomic uint32_t *agx_command_buffer_tag(const struct agx_command_buffer *commands);

/* That it may be submitted to the device. */
AGX_MUST_CHECK agx_status agx_command_buffer_check_submit(const struct agx_command_buffer *commands,
                                                          const struct agx_device *device);
