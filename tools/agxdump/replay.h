/* SPDX-License-Identifier: MIT
 *
 * A capture run again (agxdump replay): recorded requests go to a device of our own, with its ids
 * in place of theirs, and memory is compared behind each submission.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/table.h"
#include "winsys/asahi_uapi.h"
#include "winsys/capture/capture.h"
#include "winsys/kmd.h"
#include "winsys/virtual/virtual.h"

struct replay_options {
   const char *device; /* a name of agxw_kmd_open; NULL: the recorded one's chip, virtual */
   struct agx_virtual_node *node; /* a virtual AGX of the caller's; NULL: a new one per device */
   bool is_checked, is_strict, is_timed;
   bool is_impatient; /* what isn't signaled is not waited for */
   uint64_t chaos;    /* seed; 0: off */
   uint64_t limit;    /* instructions of a SIMD-group; 0: what AGX_VIRTUAL_TIMEOUT says, or 2^28 */
   uint64_t last_submit; /* 0: all */
   uint64_t repeat;      /* how often each submission is made */
};

/* What ids are of. */
enum replay_kind {
   REPLAY_NONE,
   REPLAY_BUFFER, /* GEM handle: 1 + index of the buffer */
   REPLAY_VM,     /* the others: the new id */
   REPLAY_QUEUE,
   REPLAY_SYNCOBJ,
   REPLAY_OBJECT,     /* of GEM_BIND_OBJECT */
   REPLAY_FD,         /* new descriptor + 1 */
   REPLAY_TIMES,      /* index of the buffer << 40 | page: 1 + index of the page's last time */
   REPLAY_PAGES = 16, /* + index of the buffer: page: its place in the file */
};

struct replay_buffer {
   uint32_t handle;   /* the device's; 0: closed */
   uint32_t recorded; /* its handle in the capture */
   uint64_t bytes;
   uint8_t *memory;
   uint64_t *hashes; /* of each page's recorded contents */
   bool is_bound;
   char label[64];
};

/* A slot that holds a time, of a page or of two. */
struct replay_time {
   uint64_t offset;  /* in the buffer */
   uint32_t earlier; /* 1 + index of another in the page; 0: none */
};

/* One recorded open file and the device in its place. */
struct replay_device {
   uint32_t process, file;
   struct replay *replay;
   struct agx_kmd *kmd;
   struct agx_table ids; /* (kind, recorded id) */
   struct replay_buffer *buffers;
   struct replay_time *times;
   size_t buffer_count, buffer_capacity, time_count, time_capacity;
   uint32_t done;       /* a syncobj of ours that submissions signal */
   bool awaits_results; /* a submission was made, whose AFTER contents may follow */
   struct replay_device *next;
};

/* The first difference. */
struct replay_difference {
   bool is_there;
   uint64_t submission, offset, va; /* va 0: not mapped */
   char buffer[64];
   uint32_t handle;
   uint8_t recorded[16], replayed[16]; /* from offset on */
   uint32_t bytes;
   uint32_t process, file; /* the device's */
   /* Of the replay's dispatches, the last that changed these bytes; none where writers is 0. */
   bool is_watched;
   uint32_t command, dispatch, grid[3], writers;
   uint64_t kernel;
};

/* Who looks at memory while a submission is replayed; dispatch and end may be NULL. */
struct replay_watcher {
   uint64_t submission; /* from 1 */
   void *user;
   /* Before the submission is made, with memory as it finds it. */
   agx_status (*begin)(void *user, struct replay_device *device,
                       const struct agxw_capture_record *record);
   /* Behind each dispatch that has run to its end, before the next one begins; on a thread of the
    * node, which must not be called from there. */
   void (*dispatch)(void *user, uint32_t command, const struct agxs_dispatch_stats *stats);
   /* When the submission is done. */
   agx_status (*end)(void *user, struct replay_device *device);
};

struct replay {
   struct replay_options options;
   struct agxw_capture_reader *reader;
   struct agxw_capture_state *state; /* what was recorded, for addresses */
   const char *file;
   struct replay_device *devices;
   uint64_t submissions, requests, pages_compared, faults, skipped;
   uint64_t awaited; /* submissions that have contents behind them */
   struct replay_difference difference;
   struct agx_kmd_fault first_fault;     /* where faults is not 0 */
   uint64_t fault_submission;            /* its own */
   agx_virtual_counters_fn *on_counters; /* of each dispatch; NULL: nothing is counted */
   void *counters_user;
   struct replay_watcher *watcher;       /* may be NULL */
   uint64_t begin;                       /* the first record's place in the file */
   const struct agx_chip *recorded_chip; /* of the next device to be opened; NULL: not known */
   bool is_quiet;                        /* says nothing of notes, chips and faults */
};

/* replay_request.c: executes a request in the device's own ids. */
AGX_MUST_CHECK agx_status replay_request(struct replay_device *device,
                                         const struct agxw_capture_record *record);
/* replay_memory.c */
AGX_MUST_CHECK agx_status replay_add_buffer(struct replay_device *device, uint32_t recorded,
                                            uint32_t handle, uint64_t bytes);
/* The open buffer of a recorded handle, or NULL. */
struct replay_buffer *replay_find_buffer(struct replay_device *device, uint32_t recorded);
/* Maps a buffer to buffer->memory, if it isn't. */
AGX_MUST_CHECK agx_status replay_map_buffer(struct replay_device *device,
                                            struct replay_buffer *buffer);
/* Gives the host's side of a buffer back. */
void replay_unmap_buffer(struct replay_device *device, struct replay_buffer *buffer);
/* A slot that need not be what was recorded. */
AGX_MUST_CHECK agx_status replay_add_time(struct replay_device *device, uint32_t buffer,
                                          uint64_t offset);
/* Takes a PAGES record: writes what the next submission finds, compares what the last one left. */
AGX_MUST_CHECK agx_status replay_pages(struct replay_device *device,
                                       const struct agxw_capture_record *record);
/* Makes all memory what was recorded last. */
AGX_MUST_CHECK agx_status replay_restore(struct replay_device *device);
/* Compares all memory with what was recorded last. */
AGX_MUST_CHECK agx_status replay_compare(struct replay_device *device,
                                         const struct agxw_capture_record *record);

/* replay.c: replays the file to its end or first difference. */
AGX_MUST_CHECK agx_status replay_run(struct replay *replay);
/* The same records again, for a look by `watcher`, with options of its own. */
AGX_MUST_CHECK agx_status replay_again(struct replay *replay, const struct replay_options *options,
                                       struct replay_watcher *watcher);
/* replay_writer.c: finds which dispatch of the replay left the bytes of its first difference. */
AGX_MUST_CHECK agx_status replay_find_writer(struct replay *replay);
/* Gives all back, whatever became of the replay. */
void replay_end(struct replay *replay);
/* Takes the option at argv[*at], or the file; *at is then the last that was taken. */
AGX_MUST_CHECK agx_status replay_option(struct replay *replay, int argc, char **argv, int *at);
