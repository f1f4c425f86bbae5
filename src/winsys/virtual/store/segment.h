/* SPDX-License-Identifier: MIT
 *
 * The shared segment: one memory file that holds all state of a virtual node,
 * followed by the GPU memory. Every process maps it at an address of its own, so
 * what lies in it refers to other things by reference (a count of 16-byte units
 * from the start, 0 = none), never by pointer. One robust lock guards it; two
 * futex words count changes.
 *
 *   0                  header (struct agxv_shared)
 *   header             objects, in blocks of power-of-two sizes
 *   AGXV_STATE_BYTES   nothing
 *   AGXV_MEMORY_OFFSET GPU memory in 16 KiB pages, at the offsets that GEM_MMAP_OFFSET gives
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "winsys/asahi_uapi.h"
#include "winsys/virtual/virtual.h"

#define AGXV_STATE_BYTES   (512ull << 20)
#define AGXV_UNIT_BYTES    16u
#define AGXV_SIZE_CLASSES  24 /* 16 bytes << class */
#define AGXV_ERROR_BYTES   512
#define AGXV_MAX_RUNNING   32
#define AGXV_KEPT_FAULTS   64
#define AGXV_KEPT_FAILURES 64
#define AGXV_PAGE_LOG2     14
#define AGXV_MEMORY_OFFSET (1ull << 32)

struct agx_virtual_node;

enum agxv_fork_step {
   AGXV_FORK_DONE,
   AGXV_FORK_BEGUN,
   AGXV_FORK_CHILD
};

/* A command that executes now; see mm/memory.h. */
struct agxv_running {
   uint64_t since; /* 0: free */
   int32_t pid;
};

/* A command that failed, until its file takes it; see gpu/faultlog.h. */
struct agxv_failed {
   struct agx_virtual_failure failure;
   uint64_t file; /* its serial; 0: taken */
};

struct agxv_shared {
   _Atomic uint32_t state; /* 0 new, 1 being made, 2 ready */
   uint32_t version;
   uint64_t memory_bytes;
   uint32_t chip_id;
   pthread_mutex_t lock;

   /* Block allocator. */
   uint64_t blocks_used;
   uint64_t top_B;
   uint32_t free_blocks[AGXV_SIZE_CLASSES];

   /* Changes of fences and syncobjs, and of what a worker could run. The counts say
    * whether a thread sleeps on them. */
   _Atomic uint32_t event, event_sleepers;
   _Atomic uint32_t work, work_sleepers;

   /* GPU memory: a bit per page in use, the owner by first page, released pages that a
    * running command may still write. */
   uint32_t page_bits, page_owners; /* references */
   uint64_t page_hint, pages_used;
   uint32_t zombies;
   uint64_t run_count;
   struct agxv_running running[AGXV_MAX_RUNNING];

   /* Between a parent and its forked child, which share the lock meanwhile; see node/node.c. */
   _Atomic uint32_t fork_step;

   /* Buffers with a file of their own: struct agxv_backing, and how often the list changed. */
   uint32_t backings;
   uint32_t holds; /* struct agxv_hold: mappings of buffers by processes */
   uint64_t backing_serials, backing_changes;

   uint64_t fence_contexts;
   uint32_t queues_made;
   bool is_lost;           /* the device: see store/inject.h */
   uint32_t active_queues; /* those with jobs */
   uint64_t picks;         /* of queues by workers, so far */
   uint32_t files;         /* struct agxv_file */
   uint64_t file_serial;
   uint32_t peers;      /* nodes attached, of this and other processes */
   uint32_t fd_records; /* descriptors given out, see sync/watch.h */
   /* See struct agx_virtual_statistics. */
   uint64_t submissions, failures, timeouts, cancelled;
   uint64_t soft_loads, soft_stores, hard_faults, injected, outside, pads, renders;
   uint64_t fault_count; /* kept ones; the last of them are there */
   struct agx_virtual_fault faults[AGXV_KEPT_FAULTS];
   uint64_t failed_count; /* kept ones; the last of them are there */
   struct agxv_failed failed[AGXV_KEPT_FAILURES];
   char last_error[AGXV_ERROR_BYTES];
};

/* The address of a reference in this process; NULL for 0. */
void *agxv_at(const struct agx_virtual_node *node, uint32_t ref);
/* And back. */
uint32_t agxv_ref(const struct agx_virtual_node *node, const void *address);
#define AGXV_AT(node, type, ref) ((struct type *)agxv_at((node), (ref)))

/* A process may die anywhere, with its other threads in the middle of a change. What stands
 * before a step is in the segment before what stands behind it. */
#define AGXV_STEP() atomic_signal_fence(memory_order_seq_cst)

/* Zeroed memory, or 0 when the segment is full. The lock is held. */
uint32_t agxv_alloc(struct agx_virtual_node *node, uint64_t size);
/* Frees a block of that size; ref 0 is fine. The lock is held. */
void agxv_free(struct agx_virtual_node *node, uint32_t ref, uint64_t size);

/* Maps the segment of fd (taken over; < 0 makes a private one) and, as the first to come,
 * fills its header. 0 or a negative errno. */
int agxv_segment_attach(struct agx_virtual_node *node, int fd, uint64_t memory_bytes);
/* Unmaps the segment and closes its descriptor. */
void agxv_segment_detach(struct agx_virtual_node *node);

/* Takes the segment's lock, over from a process that died with it too, and follows what others did
 * to shared buffers. */
void agxv_lock(struct agx_virtual_node *node);
/* Gives the segment's lock up. */
void agxv_unlock(struct agx_virtual_node *node);

/* Sleeps until word is no longer seen, or until the absolute CLOCK_MONOTONIC time
 * (INT64_MAX: forever): 0, -ETIME or -EINTR. Without the lock. */
int agxv_sleep(_Atomic uint32_t *word, _Atomic uint32_t *sleepers, uint32_t seen,
               int64_t deadline_ns);
/* Counts word up and wakes its sleepers. */
void agxv_wake(_Atomic uint32_t *word, _Atomic uint32_t *sleepers);
