/* SPDX-License-Identifier: MIT
 *
 * Tags: how the host learns, without asking the kernel, that a submission ran to its end. A
 * stream that has anything to run ends, behind a barrier, with a launch of one thread that adds 1
 * to a count which the host can read; a fault ends a stream before. Which of the tag's counts that
 * is stands in memory: it is count 0, unless the submission came through a *head*, a short stream
 * that says so and goes on in the recorded one. So each of several submissions in flight has a
 * count of its own, and a later one's success is not taken for an earlier one's.
 * Source: docs/hw/unknowns.md, "how a driver learns of a fault cheaply".
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "agx/hw/cdm.h"
#include "winsys/winsys.h"

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

/* Submissions of one command buffer that can be told apart: one that found it idle, and as many as
 * there are heads. */
#define AGX_TAG_COUNTS     8u
#define AGX_TAG_HEAD_BYTES 128u /* from head to head, by the counts they name */

/* What the GPU writes and the host reads; all modulo 2^32. */
struct agx_tag_words {
   _Atomic uint32_t counts[AGX_TAG_COUNTS]; /* submissions that ran to their end */
   _Atomic uint32_t current;                /* which of them the next end adds to */
};

/* What the host knows of it. */
struct agx_tag_flight {
   uint32_t expected[AGX_TAG_COUNTS]; /* what the counts come to while nothing fails */
   uint32_t holders[AGX_TAG_COUNTS];  /* submissions in flight, by the count that they add to */
   uint32_t in_flight, queue, last;   /* last: the last head that was entered */
   bool uses_heads;                   /* since it was idle */
   bool is_mixed;                     /* nobody knows who adds to which count, only the sum */
   bool has_failed;                   /* counts may lag for ever */
};

struct agx_tag {
   struct agx_tag_page *page; /* NULL: none */
   uint32_t slot;
   struct agx_tag_words *words;
   uint64_t words_va;
   /* The end of a stream: a barrier, the launch that adds 1, another barrier, Terminate. */
   uint32_t end_B;
   uint8_t end[AGX_TAG_END_MAX_BYTES];
   _Atomic uint64_t heads_va;    /* where the first head's stream would lie; 0: there are none */
   uint32_t head_end_B;          /* in a head's stream: where its Link stands */
   bool lacks_heads;             /* there was no memory for them; guarded by the tags' lock */
   struct agx_tag_flight flight; /* guarded by the device's lock */
};

/* A tag that nobody else has, at 0. Takes a lock, and memory when all pages are full. */
AGX_MUST_CHECK agx_status agx_tag_take(struct agx_device *device, struct agx_tag *out_tag);
/* Nothing in flight counts on it any more. */
void agx_tag_give(struct agx_device *device, struct agx_tag *tag);
/* To 0; nothing is in flight. */
void agx_tag_reset(struct agx_tag *tag);

/* Makes heads into the stream, which is the tag's only one. Where there is no memory for them there
 * are none, which nobody has to know. Any thread, no lock. */
void agx_tag_make_heads(struct agx_device *device, struct agx_tag *tag, uint64_t stream_va);

/* ---- tag_flight.c: with the device's lock held ---- */

/* A submission to the queue begins, whose submit_lock is held until the kernel has it: returns
 * which count it adds to. *stream is the recorded stream, and becomes the head's where the
 * submission has to come through one, which is only with takes_heads. */
uint32_t agx_tag_enter(struct agx_tag *tag, uint32_t queue, bool takes_heads,
                       struct agxw_compute *stream);
/* The kernel did not take it. */
void agx_tag_withdraw(struct agx_tag *tag, uint32_t count);
/* It is over. */
void agx_tag_leave(struct agx_tag *tag, uint32_t count, bool has_failed);
/* That it ran to its end, as did all that add to the same count. False says nothing: it or one of
 * them failed or is not over. */
bool agx_tag_tells_success(const struct agx_tag *tag, uint32_t count);
