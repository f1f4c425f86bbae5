/* SPDX-License-Identifier: MIT
 *
 * Writing captures (docs/capture.md): a file, and a recorder for each open device whose requests go
 * into it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* ---- the file ---------------------------------------------------------- */

struct agxw_capture_options {
   uint64_t first_submit, last_submit; /* memory only of these, from 1; last 0: no end */
   uint64_t max_bytes;                 /* 0: no limit */
   uint64_t max_seconds;               /* 0: no limit */
   /* Doesn't wait for submissions: contents after them are not recorded, and what the next one
    * finds may be half done. */
   bool is_pipelined;
   bool joins;       /* writes behind what others have written to the file, which must be there */
   bool is_at_nodes; /* what joins it stands before the system's nodes, not in a virtual one */
};

/* Reads words separated by blanks: "submits=3-9", "bytes=1G" (K, M, G), "seconds=60", "pipelined",
 * "join", "nodes". AGX_INVALID_ARGUMENT names what it doesn't know. NULL and "" are fine. */
AGX_MUST_CHECK agx_status agxw_capture_options_parse(const char *text,
                                                     struct agxw_capture_options *out_options);

struct agxw_capture_file;

/* Takes from others what they may do with a file that is made anew over one that was there: 0 or an
 * errno, where it is another user's. File systems without modes keep theirs. */
AGX_MUST_CHECK int agxw_capture_make_private(int fd);
/* Makes the file anew, readable by its owner only, or joins it; node stands in its header. A file
 * that this process writes already is shared. */
AGX_MUST_CHECK agx_status agxw_capture_file_open(const char *path, const char *node,
                                                 const struct agxw_capture_options *options,
                                                 struct agxw_capture_file **out_file);
/* The file that the environment's AGX_CAPTURE names, when AGX_CAPTURE_OPTIONS says "join":
 * recorders of a whole tree of programs write it. NULL: the environment asks for none, or for one
 * in the other place. */
AGX_MUST_CHECK agx_status agxw_capture_file_join(bool is_at_nodes,
                                                 struct agxw_capture_file **out_file);
/* errno of the first write that failed, or 0. */
int agxw_capture_error(const struct agxw_capture_file *file);
/* Gives up the file; the last recorder closes it. */
void agxw_capture_file_release(struct agxw_capture_file *file);
/* The descriptor that it is written by; and giving the number up for a higher one: false when it
 * can't be. */
int agxw_capture_file_fd(struct agxw_capture_file *file);
bool agxw_capture_file_move(struct agxw_capture_file *file);

/* ---- recorders --------------------------------------------------------- */

/* How a recorder reaches the device that it records. */
struct agxw_recorded_ops {
   /* As in winsys/kmd.h. */
   int (*ioctl)(void *user, unsigned long request, void *argument);
   void *(*mmap)(void *user, uint64_t offset, size_t length, int *out_errno);
   void (*munmap)(void *user, void *memory, size_t length);
   int64_t (*dmabuf_bytes)(void *user, int fd);
   /* Copies from the memory of the process that makes requests: 0 or -EFAULT. NULL: every address
    * that comes can be read. */
   int (*read)(void *user, void *out, uint64_t address, size_t bytes);
   /* The first bytes of the object mapped at offset, `from` or later, that have memory: others are
    * zero, and looking at them would give them memory. Both behind its end: there are none. False:
    * can't be told. NULL: objects have all of their memory. */
   bool (*find_memory)(void *user, uint64_t offset, uint64_t from, uint64_t *out_begin,
                       uint64_t *out_end);
   bool is_remote; /* requests are another process's: submissions are not waited for */
};

struct agxw_recorder;

/* A recorder of one open device called name. */
AGX_MUST_CHECK agx_status agxw_recorder_create(struct agxw_capture_file *file,
                                               const struct agxw_recorded_ops *ops, void *user,
                                               const char *name,
                                               struct agxw_recorder **out_recorder);
/* The device is about to be closed. NULL is fine. */
void agxw_recorder_destroy(struct agxw_recorder *recorder);
/* Executes a request and records it: 0 or a negative errno. Any thread. A SUBMIT fails with the
 * errno of the first record that couldn't be written. */
int agxw_recorder_ioctl(struct agxw_recorder *recorder, unsigned long request, void *argument);
/* Names a GEM object. */
void agxw_recorder_label(struct agxw_recorder *recorder, uint32_t handle, const char *text);
/* Whether memory of submissions is recorded from now on, as it is at first; requests are in any
 * case. label stands in the file; NULL: none. 0, or -EALREADY. */
int agxw_recorder_set_memory(struct agxw_recorder *recorder, bool is_recorded, const char *label);
/* Whether the file can't be written any more. */
bool agxw_recorder_is_stuck(struct agxw_recorder *recorder);
