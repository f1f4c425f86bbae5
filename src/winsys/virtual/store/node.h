/* SPDX-License-Identifier: MIT
 *
 * What one process knows of a virtual node: where the segment is mapped, its worker
 * threads, the mappings and descriptors that it gave out. Private to this folder.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "agx/sim/sim.h"
#include "winsys/asahi_uapi.h"
#include "winsys/virtual/store/segment.h"
#include "winsys/virtual/virtual.h"

#define AGXV_WORKERS 2

/* Where statistics go; see gpu/faultlog.h. */
enum agxv_stats_form {
   AGXV_STATS_NONE,
   AGXV_STATS_TABLE,
   AGXV_STATS_JSON,
};

struct agxv_stats {
   enum agxv_stats_form form;
   char path[1024]; /* empty: standard error */
};

struct agxv_options {
   bool strict;           /* AGX_VIRTUAL_STRICT */
   bool check;            /* AGX_VIRTUAL_CHECK */
   bool execute;          /* AGX_VIRTUAL_EXECUTE */
   bool shares;           /* buffers may get files of their own */
   bool trace;            /* AGX_DEBUG=virtual */
   uint32_t threads;      /* AGX_VIRTUAL_THREADS, 0: one per processor */
   uint64_t instructions; /* AGX_VIRTUAL_TIMEOUT, per SIMD-group, 0: no limit */
   uint64_t timeout_ms;   /* AGX_VIRTUAL_TIMEOUT_MS, per command, 0: no limit */
   uint64_t workgroups;   /* AGX_VIRTUAL_WORKGROUPS, per command, 0: no limit */
   uint64_t chaos_seed;   /* AGX_VIRTUAL_CHAOS, 0: off */
   uint64_t memory_bytes; /* AGX_VIRTUAL_MEMORY */

   struct agxv_stats stats; /* AGX_VIRTUAL_STATS */
};

/* A mapping of a buffer that this process holds. */
struct agxv_mapping {
   uintptr_t start, end;
   uint32_t hold; /* struct agxv_hold */
};

/* A buffer's own file, mapped over GPU memory; see mm/backing.h. */
struct agxv_overlay {
   uint64_t serial;
   uint64_t first_page, pages;
   int fd;
};

/* A descriptor that something is to be written to; see sync/watch.h. */
struct agxv_watch {
   int kind;
   int fd;           /* ours: an eventfd, or the write end of a pipe */
   uint32_t syncobj; /* eventfds that wait for a fence */
   uint32_t fence;
   uint32_t record; /* fd record of a pipe */
   uint32_t flags;
   uint64_t point;
   bool done;
};

/* What the lower rooms of the node call of higher ones; node/node.c fills it in. The lock is held
 * for all of them. */
struct agxv_node_calls {
   /* Another process shared buffers or dropped some (mm/backing.h). */
   void (*sync_backings)(struct agx_virtual_node *node);
   /* After a wait: looks for processes that died, and cleans up after them (node/node_impl.h). */
   void (*reap)(struct agx_virtual_node *node);
   /* Starts the worker threads; false when the host refuses (gpu/job.h). */
   bool (*start_workers)(struct agx_virtual_node *node);
};

struct agx_virtual_node {
   struct agxv_shared *shared;
   uint8_t *memory; /* GPU memory */
   int fd;
   uint64_t segment_device, segment_inode;
   bool is_private;
   int32_t pid;
   struct agx_chip chip;
   struct agxv_options options;
   agx_virtual_run_compute_fn *run_compute;
   struct agxv_inject *inject; /* the fault script, or NULL */

   const struct agxv_node_calls *calls;

   /* Guards what follows; taken after the shared lock, where both are. */
   pthread_mutex_t local;
   pthread_t workers[AGXV_WORKERS];
   uint32_t worker_count;
   bool stopping;
   struct agxv_mapping *mappings;
   size_t mapping_count, mapping_capacity;

   struct agxv_declared_bounds *declared_bounds; /* gpu/faultlog.h */
   /* gpu/stats.c: gets what launches of a file execute; fn NULL: none. */
   agx_virtual_counters_fn *counters_fn;
   void *counters_user;
   uint32_t counters_file;
   _Atomic bool counts;

   /* Under the shared lock. */
   bool is_mute;               /* agxv_notify wakes no sleeper */
   uint32_t executing;         /* jobs of this process */
   int64_t executing_since_ns; /* when the last of them began */
   struct agxv_watch *watches;
   size_t watch_count, watch_capacity;
   size_t sweep_at; /* count at which the next look for closed ones is due */

   struct agx_virtual_file *files;

   /* Under the shared lock too: the shared buffers that this process has mapped. */
   struct agxv_overlay *overlays;
   size_t overlay_count, overlay_capacity;
   uint64_t backings_seen; /* of the segment's backing_changes */

   struct agx_virtual_node *next; /* all nodes of this process, for fork */
};

struct agx_virtual_file {
   struct agx_virtual_node *node;
   uint32_t ref; /* struct agxv_file */
   struct agx_virtual_file *next;
};

/* Whether a process that attached to the node still runs. */
bool agxv_process_lives(const struct agx_virtual_node *node, int32_t pid);

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t agxv_now_ns(void);
/* The GPU's clock: 24 MHz steps in nanoseconds, which count on over suspend. */
uint64_t agxv_gpu_time(void);

/* Keeps a sentence as the node's last error and shows it when tracing. The lock is not
 * held. */
void agxv_report(struct agx_virtual_node *node, const char *format, ...)
   __attribute__((format(printf, 2, 3)));
/* Shows a sentence when tracing. */
void agxv_trace(const struct agx_virtual_node *node, const char *format, ...)
   __attribute__((format(printf, 2, 3)));

/* In check mode, counts and reports a padding that isn't 0, of a request whose padding kernels
 * don't look at. The lock is not held. */
void agxv_tell_pad(struct agx_virtual_node *node, const char *request, uint32_t pad);

/* How rooms declare the handlers of requests (the header of its topic). A handler gets the argument
 * as a copy in the kernel's own size, takes the lock itself, and returns 0 or a negative errno;
 * what it leaves in the argument is copied out in either case. node/dispatch.c calls them. */

#define AGXV_HANDLER(name) int agxv_##name(struct agx_virtual_file *file, void *argument)
