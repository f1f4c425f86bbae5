/* SPDX-License-Identifier: MIT
 *
 * Descriptors that a process gave out or was given, and that must be written to when
 * a fence completes: eventfds (SYNCOBJ_EVENTFD) and the pipes that stand for sync
 * files. A pipe's read end is what the client holds: it can be polled, it survives
 * fork and SCM_RIGHTS, its inode number names it in every process, and when its last
 * copy is closed the write end says so. The lock is held.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "winsys/virtual/store/node.h"

enum agxv_record_kind {
   AGXV_RECORD_SYNCOBJ,
   AGXV_RECORD_SYNC_FILE
};

#define AGXV_MAX_KEEPERS 8

/* What a descriptor stands for; lies in the segment. */
struct agxv_record {
   uint32_t next;
   uint32_t kind;
   uint32_t target; /* counted reference to a syncobj or fence */
   uint64_t device, inode;
   int32_t keepers[AGXV_MAX_KEEPERS]; /* processes with an end to write to; the last one frees */
};

/* Writes to all descriptors whose fence is done by now. */
void agxv_watch_scan(struct agx_virtual_node *node);

/* Adds 1 to the eventfd when the point of the syncobj is done, or with AVAILABLE
 * submitted. fd is the client's and stays his. 0 or a negative errno. */
int agxv_watch_eventfd(struct agx_virtual_node *node, int fd, uint32_t syncobj, uint64_t point,
                       uint32_t flags);
/* A syncobj went: its eventfds never fire. */
void agxv_watch_forget_syncobj(struct agx_virtual_node *node, uint32_t syncobj);

/* A new descriptor that stands for target (reference taken over, also on failure):
 * a pipe, readable when the fence is done, for syncobjs at once. Or a negative errno. */
int agxv_record_create(struct agx_virtual_node *node, enum agxv_record_kind kind, uint32_t target);
/* Writes arguments that name a new descriptor back to the client; closes it where that fails, since
 * the client would not know of it. 0 or -EFAULT. */
int agxv_record_hand_out(int fd, uint64_t to, const void *arguments, size_t size);
/* What a client's descriptor stands for, or NULL. From now on this process keeps it too, since the
 * process that made it may die. */
struct agxv_record *agxv_record_find(struct agx_virtual_node *node, int fd);
/* Frees what no descriptor stands for any more. */
void agxv_record_sweep(struct agx_virtual_node *node);
/* Closes and forgets everything of this process. */
void agxv_watch_fini(struct agx_virtual_node *node);
/* In a forked child: what is open belongs to the parent. */
void agxv_watch_disown(struct agx_virtual_node *node);

/* Requests on the descriptors of sync files. */

/* The sync file of this fence; the lock is held. 0 or a negative errno. */
int agxv_sync_file_ioctl(struct agx_virtual_node *node, uint32_t fence, unsigned long request,
                         uint64_t argument);
