/* SPDX-License-Identifier: MIT
 *
 * Submission: operations ordered by semaphores.
 */
#pragma once

#include "agx/buffer.h"
#include "agx/command_buffer.h"
#include "agx/file.h"
#include "agx/host_call.h"
#include "agx/semaphore.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AGX_MAX_OP_POINTS 1024 /* waits, and signals, of an operation */

enum agx_op_kind {
   AGX_OP_BARRIER = 0,  /* nothing but its waits and signals */
   AGX_OP_EXECUTE = 1,  /* a command buffer */
   AGX_OP_DISPATCH = 2, /* a single dispatch */
   AGX_OP_FILL = 3,     /* of a buffer, with a pattern */
   AGX_OP_UPDATE = 4,   /* of a buffer, with bytes of the host's */
   AGX_OP_COPY = 5,     /* of a buffer, to another */
   AGX_OP_ALLOCA = 6,   /* of a buffer, whose memory comes with it */
   AGX_OP_DEALLOCA = 7,
   AGX_OP_READ = 8,       /* of a file, into a buffer */
   AGX_OP_WRITE = 9,      /* of a buffer, into a file */
   AGX_OP_HOST_CALL = 10, /* a function of the application */
   AGX_OP_CLEAR_IMAGE = 11,
   AGX_OP_COPY_IMAGE = 12,    /* to another */
   AGX_OP_COPY_TO_IMAGE = 13, /* from a buffer */
   AGX_OP_COPY_FROM_IMAGE = 14,
};

/* table: what the slots of the command buffer's binding table are, at least as many as it has;
 * entries beyond those, and the table of a command buffer without slots, are not looked at.
 * Captured in the call, and kept alive until the end. An entry without a buffer binds nothing. The
 * same command buffer may be in flight with any number of tables. */
struct agx_op_execute {
   struct agx_command_buffer *commands;
   const struct agx_buffer_ref *table;
   uint32_t table_count;
};

/* As agx_cmd_dispatch: all it points to is captured in the call. */
struct agx_op_dispatch {
   const struct agx_dispatch *dispatch;
};

/* As agx_cmd_fill. */
struct agx_op_fill {
   struct agx_buffer_ref target;
   uint8_t pattern[4]; /* the first pattern_B count */
   uint32_t pattern_B;
};

/* As agx_cmd_update, of any length. */
struct agx_op_update {
   const void *data;
   struct agx_buffer_ref target;
};

/* As agx_cmd_copy. */
struct agx_op_copy {
   struct agx_buffer_ref source, target;
};

/* What agx_cmd_clear_image and the others of the same names take; the rest isn't looked at. All it
 * points to is captured in the call. */
struct agx_op_image {
   struct agx_image *source, *target;
   const struct agx_image_region *source_region, *target_region;
   const struct agx_texels *texels;
   const union agx_color *color;
};

enum agx_alloca_flags {
   /* May have memory whose last user is not over yet: its signals then come after that one. */
   AGX_ALLOCA_ALLOW_WAIT = 1,
   /* Its memory goes with its last reference; deallocas do nothing but wait and signal. */
   AGX_ALLOCA_INDETERMINATE_LIFETIME = 2,
};

/* Makes a buffer whose memory comes with the operation: *out_buffer, within agx_submit, with one
 * reference and its address for good (NULL when agx_submit fails). It may be recorded at once; what
 * uses it must wait for the operation's signals. Its contents are undefined. While the pool is at
 * its limit the operation waits for memory that is given back; when the device has no more, its
 * signals fail with AGX_RESOURCE_EXHAUSTED. Out of AGX_POOL_CALLER the source's failure comes by
 * the signals, or here, and the buffer may have no address (0) until its turn has come: see
 * AGX_POOL_SOURCE_PAGES. Operation flags: enum agx_alloca_flags. */
struct agx_op_alloca {
   struct agx_pool *pool; /* NULL: the device's own */
   uint64_t size_B;       /* 0 to 2^37; one of 0 bytes has an address too */
   uint64_t align_B;      /* a power of two up to the device's page; 0: 256 */
   struct agx_buffer **out_buffer;
};

enum agx_dealloca_flags {
   AGX_DEALLOCA_PREFER_ORIGIN = 1, /* on the queue of the allocation, whatever queues say */
   /* Gives nothing back by itself, but releases the caller's reference, also when a wait fails:
    * agx_buffer_release_after. */
   AGX_DEALLOCA_RELEASE = 2,
};

/* Gives a buffer's memory back, once all that used it was waited for; the object stays. When a
 * wait fails, the memory stays too. AGX_FAILED_PRECONDITION (of the signals) when it was given back
 * before, or its allocation has not come to its turn. A barrier, where memory doesn't come with
 * the queue. Operation flags: enum agx_dealloca_flags. */
struct agx_op_dealloca {
   struct agx_buffer *buffer;
};

/* How an operation ended: AGX_OK, or why it failed, with the text as this thread's error. */
typedef void (*agx_op_end_fn)(void *user, uint64_t tag, agx_status status);

/* One operation: runs when all its waits are reached, signals when it is done. A wait may
 * name a value that is not submitted yet. When a wait fails, all signals of the operation
 * fail with the same status and text, and it does not run, unless the GPU had it already:
 * behind work that then failed there (docs/decisions/0002-completion.md). */
struct agx_op {
   uint32_t size;
   uint32_t kind;   /* enum agx_op_kind */
   uint64_t flags;  /* of its kind */
   uint64_t queues; /* a bit for each that may take it, of which the lowest does; 0: any */
   const struct agx_point *waits;
   const struct agx_point *signals; /* values that are not reached yet */
   /* Up to AGX_MAX_OP_POINTS each. More than 32 take barriers of the library's own, before or after
    * the operation, and a semaphore: `end` may then come before the signals from the 32nd on. */
   uint32_t wait_count, signal_count;
   union {
      struct agx_op_execute execute;
      struct agx_op_dispatch dispatch;
      struct agx_op_fill fill;
      struct agx_op_update update;
      struct agx_op_copy copy;
      struct agx_op_image image;
      struct agx_op_file file; /* AGX_OP_READ, AGX_OP_WRITE */
      struct agx_op_host_call host_call;
      struct agx_op_alloca alloca;
      struct agx_op_dealloca dealloca;
      uint64_t reserved[16];
   } u;
   /* end: called once for each operation that agx_submit has queued, however it ended: done, failed
    * by itself or by a wait, lost with its queue or device, cancelled. Its signals are published
    * before, so what waits for them may be further already; its references are released before,
    * and no hardware uses its memory any more, also where the signals of a lost queue failed
    * earlier. It is called from the thread that notices the end, which may be within agx_submit,
    * without any lock of the library; ends of different operations may be called at once, in any
    * order. It may call the whole library, releasing last references and submitting included, but
    * must not block. It costs no heap, and hurries nothing: where no thread, watch or operation
    * waits for the work on the GPU, its end may be noticed some 20 ms after. NULL: none. */
   agx_op_end_fn end;
   void *end_user;
   uint64_t tag; /* the application's: for end, and in the records of a profile */
};

/* Queues the operations in order; they are ordered among each other only by their points.
 * When it fails, *out_queued (may be NULL) tells how many went through; the rest left no
 * trace. AGX_INVALID_ARGUMENT, AGX_OUT_OF_RANGE, AGX_PERMISSION_DENIED: what the operation names
 * can't be; AGX_FAILED_PRECONDITION: not now, such as a command buffer that is not recorded to its
 * end; AGX_RESOURCE_EXHAUSTED: no memory, or no room to wait (max_parked in agx_device_desc); a
 * lost device's or queue's failure comes by the signals, or here. What fails later fails the
 * signals. */
AGX_API AGX_MUST_CHECK agx_status agx_submit(struct agx_device *device, const struct agx_op *ops,
                                             uint32_t count, uint32_t *out_queued);

/* Releases the caller's reference to a buffer of any kind when all points, up to
 * AGX_MAX_OP_POINTS, are reached,
 * or one has failed; at once without points. Costs no thread and no heap. When it fails, the
 * reference is still the caller's. */
AGX_API AGX_MUST_CHECK agx_status agx_buffer_release_after(struct agx_buffer *buffer,
                                                           const struct agx_point *points,
                                                           uint32_t count);

/* Has the queues (a bit for each, 0: all) take what they can now. agx_submit leaves nothing behind
 * that waits for this; only operations that had to be put off, for memory that others hold, are
 * tried again. AGX_INVALID_ARGUMENT: none of them is the device's; a lost device's or queue's
 * failure. */
AGX_API AGX_MUST_CHECK agx_status agx_flush(struct agx_device *device, uint64_t queues);

#ifdef __cplusplus
}
#endif
