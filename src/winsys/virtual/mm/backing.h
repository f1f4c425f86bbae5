/* SPDX-License-Identifier: MIT
 *
 * The memory of buffers that can be shared: each such buffer is a memory file of its
 * own, which is what PRIME gives out. Every process that may touch the buffer maps the
 * file over the buffer's range of GPU memory, so whatever reads GPU memory needs no
 * care, and a file that another node made becomes a buffer of this one in the same way.
 * The lock is held for all of these, where nothing else is said.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "winsys/virtual/store/node.h"

#define AGXV_BUFFER_NAME_BYTES 32

struct agxv_backing { /* in the segment */
   uint32_t next;
   uint32_t gem; /* not counted; 0 when only commands in flight may still see the memory */
   uint64_t serial;
   uint64_t device, inode; /* of the file */
   bool is_range;          /* /dev/udmabuf made it of a part of the file */
   uint64_t offset;        /* of that part */
   uint64_t first_page, pages;
   int32_t pid, fd;    /* a process and its descriptor of the file */
   uint32_t fences[2]; /* DMA_BUF_IOCTL_IMPORT_SYNC_FILE: of writers, of readers; 0 or counted */
   char name[AGXV_BUFFER_NAME_BYTES]; /* DMA_BUF_SET_NAME */
};

/* Gives a buffer that has memory, all zeros, a file of its own; 0 or a negative errno. */
int agxv_backing_make(struct agx_virtual_node *node, uint32_t gem);
/* The same with a file that is there already, of exactly the buffer's size, or that has so much
 * of another's. fd stays the caller's. */
int agxv_backing_adopt(struct agx_virtual_node *node, uint32_t gem, int fd);
/* A file of this process got a handle for the buffer through fd, the buffer's file. */
void agxv_backing_hold(struct agx_virtual_node *node, uint32_t backing, int fd);
/* The range's memory is the segment's own again, and *backing 0. A process that dies in the
 * middle leaves what another one can do again. */
void agxv_backing_drop(struct agx_virtual_node *node, uint32_t *backing);
/* The buffer that has this file for memory, with bytes of it from offset on (bytes 0: whatever it
 * has); or 0. */
uint32_t agxv_backing_find(struct agx_virtual_node *node, uint64_t device, uint64_t inode,
                           uint64_t offset, uint64_t bytes);
/* This process's descriptor of the file, mapped over GPU memory; -1 when it can't be had. */
int agxv_backing_fd(struct agx_virtual_node *node, uint32_t backing);

/* Follows what other processes did; agxv_lock calls it when there is something. */
void agxv_backing_sync(struct agx_virtual_node *node);
/* Closes what this process has open. */
void agxv_backing_fini(struct agx_virtual_node *node);

/* Size of the memory behind a descriptor that PRIME gave out, by this node or another one, or
 * that /dev/udmabuf did; 0 when it is none; and where in the file it begins. Without the lock. */
uint64_t agxv_buffer_bytes(int fd, uint64_t *out_offset);

/* dma-bufs of ranges of memory files, as /dev/udmabuf makes them. */

/* Whether fd, which is a memory file, stands for such a range, and for which. */
bool agxv_udmabuf_range(int fd, uint64_t *out_offset, uint64_t *out_bytes);
/* Makes it stand for one. Both are multiples of the host's pages. */
void agxv_udmabuf_mark(int fd, uint64_t offset, uint64_t bytes);
