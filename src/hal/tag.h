/* SPDX-License-Identifier: MIT
 *
 * Tags: how the host learns, without asking the kernel, that a submission ran to its end. A
 * stream that has anything to run ends, behind a barrier, with a launch of one thread that adds 1
 * to a word which the host can read: the tag of the command buffer. A fault ends a stream before.
 * Source: reference/unknowns.md, "how a driver learns of a fault cheaply".
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "agx/hw/cdm.h"

struct agx_device;
struct agx_tag_page;

/* The device's pages of tags, which stay until it goes. */
struct agx_tags {
   pthread_mutex_t lock;
   struct agx_tag_page *pages;
};

void agx_tags_init(struct agx_tags *tags);
void agx_tags_fini(struct agx_device *device);

#define AGX_TAG_END_MAX_BYTES                                                                      \
   (2 * AGX_HW_CDM_BARRIER_BYTES + AGX_HW_CDM_LAUNCH_MAX_BYTES + AGX_HW_CDM_STREAM_TERMINATE_BYTES)

struct agx_tag {
   struct agx_tag_page *page; /* NULL: none */
   uint32_t slot;
   _Atomic uint32_t *count; /* how many submissions ran to their end */
   uint64_t count_va;       /* what the launch reads and writes, 4 bytes */
   /* The end of a stream: a barrier, the launch that adds 1, another barrier, Terminate. */
   uint32_t end_B;
   uint8_t end[AGX_TAG_END_MAX_BYTES];
};

/* A tag that nobody else has, at 0. Takes a lock, and memory when all pages are full. */
AGX_MUST_CHECK agx_status agx_tag_take(struct agx_device *device, struct agx_tag *out_tag);
/* Nothing in flight counts on it any more. */
void agx_tag_give(struct agx_device *device, struct agx_tag *tag);
