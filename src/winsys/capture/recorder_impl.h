/* SPDX-License-Identifier: MIT
 *
 * What the parts of a recorder share: requests (recorder.c) and memory (memory.c).
 */
#pragma once

#include "winsys/capture/file.h"
#include "base/table.h"

/* A GEM object. */
struct agxw_recorded_object {
   uint32_t handle;
   uint64_t size;
   bool is_bound;
   bool is_written;      /* the GPU may write it: it was bound so once */
   uint64_t mmap_offset; /* that memory was mapped by */
   uint8_t *memory;      /* our own mapping; NULL until first looked at */
   uint64_t *hashes;     /* per page, of what was last written; 0: zero page. With copies, a bit for
                            each quarter that isn't zero. OLD: not known */
   uint8_t *copies;      /* of what was last written; NULL: there are too many */
};

struct agxw_recorder {
   struct agxw_capture_file *file;
   const struct agxw_recorded_ops *ops;
   void *user;
   struct agxw_capture_origin origin;
   uint32_t forks;           /* of the file, when the device was opened */
   _Atomic uint32_t *writer; /* in memory that forked processes share: which wrote contents last */
   uint32_t done;            /* a syncobj of our own that submissions signal; 0: none yet */
   uint32_t done_process;    /* that made it */
   struct agxw_recorded_object *objects;
   size_t object_count, object_capacity;
   uint64_t copied_bytes;    /* of objects that have copies */
   struct agx_table handles; /* 1 + index of the object */
   uint8_t *run;             /* AGXW_CAPTURE_RUN_PAGES pages that are about to be written */
   bool is_without_memory;   /* agxw_recorder_set_memory says so */
   bool is_short;            /* of memory: what is missing is not recorded */
};

/* Follows what a request that succeeded did to objects. `argument` is as it came out. */
void agxw_recorder_follow(struct agxw_recorder *recorder, uint32_t request, const void *argument);
/* Writes the pages of bound objects that have changed since they were last written. */
void agxw_recorder_put_memory(struct agxw_recorder *recorder, enum agxw_capture_moment moment);
/* Lets all objects go. */
void agxw_recorder_release_memory(struct agxw_recorder *recorder);
/* Copies from the memory of the process that makes requests; false when it can't be read. */
bool agxw_recorder_read(const struct agxw_recorder *recorder, void *out, uint64_t address,
                        size_t bytes);
