/* SPDX-License-Identifier: MIT
 *
 * Breadcrumbs: how the host learns, without asking the kernel, that a submission ran to its end. A
 * stream that has anything to run ends, behind a barrier, with a launch of one thread that adds 1
 * to a count which the host can read; a fault ends a stream before. Which of the breadcrumb's
 * counts that is stands in memory: it is count 0, unless the submission came through a *prologue*,
 * a short stream that says so and goes on in the recorded one. So each of several submissions in
 * flight has a count of its own, and a later one's success is not taken for an earlier one's.
 * Source: docs/hw/unknowns.md, "how a driver learns of a fault cheaply".
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "agx/hw/cdm.h"
#include "winsys/winsys.h"

struct agx_device;
struct agx_breadcrumb_page;

/* The device's pages of breadcrumbs, which stay until it goes. */
struct agx_breadcrumbs {
   pthread_mutex_t lock;
   struct agx_breadcrumb_page *pages;
};

#define AGX_BREADCRUMB_END_MAX_BYTES                                                               \
   (2 * AGX_HW_CDM_BARRIER_BYTES + AGX_HW_CDM_LAUNCH_MAX_BYTES + AGX_HW_CDM_STREAM_TERMINATE_BYTES)

/* Submissions of one command buffer with a count of their own: one that found it idle, and as many
 * as there are prologues. */
#define AGX_BREADCRUMB_SLOTS 8u
#define AGX_BREADCRUMB_PROLOGUE_BYTES                                                              \
   128u /* from prologue to prologue, by the counts they name                                      \
         */

/* What the GPU writes and the host reads; all modulo 2^32. */
struct agx_breadcrumb_words {
   _Atomic uint32_t counts[AGX_BREADCRUMB_SLOTS]; /* submissions that ran to their end */
   _Atomic uint32_t current;                      /* which of them the next end adds to */
};

/* What the host knows of it. */
struct agx_breadcrumb_slots {
   uint32_t expected[AGX_BREADCRUMB_SLOTS]; /* what the counts come to while nothing fails */
   uint32_t
      holders[AGX_BREADCRUMB_SLOTS]; /* submissions in flight, by the count that they add to */
   uint32_t in_flight, queue, last;  /* last: the last prologue that was entered */
   bool uses_prologues;              /* since it was idle */
   bool is_mixed;   /* which stream adds to which count is unknown; the sum is known */
   bool has_failed; /* counts may lag for ever */
};

struct agx_breadcrumb {
   struct agx_breadcrumb_page *page; /* NULL: none */
   uint32_t line;
   struct agx_breadcrumb_words *words;
   uint64_t words_va;
   /* The end of a stream: a barrier, the launch that adds 1, another barrier, Terminate. */
   uint32_t end_B;
   uint8_t end[AGX_BREADCRUMB_END_MAX_BYTES];
   _Atomic uint64_t
      prologues_va;         /* where the first prologue's stream would lie; 0: there are none */
   uint32_t prologue_end_B; /* in a prologue's stream: where its Link stands */
   bool lacks_prologues;    /* there was no memory for them; guarded by the breadcrumbs' lock */
   struct agx_breadcrumb_slots slots; /* guarded by the device's lock */
};

/* An unused breadcrumb, at 0. Takes a lock, and memory when all pages are full. */
AGX_MUST_CHECK agx_status agx_breadcrumb_acquire(struct agx_device *device,
                                                 struct agx_breadcrumb *out_breadcrumb);
/* Nothing in flight counts on it any more. */
void agx_breadcrumb_return(struct agx_device *device, struct agx_breadcrumb *breadcrumb);
/* To 0; nothing is in flight. */
void agx_breadcrumb_reset(struct agx_breadcrumb *breadcrumb);

/* Makes prologues into the stream, which is the breadcrumb's only one. Where there is no memory for
 * them there are none; callers needn't know. Any thread, no lock. */
void agx_breadcrumb_make_prologues(struct agx_device *device, struct agx_breadcrumb *breadcrumb,
                                   uint64_t stream_va);

/* ---- breadcrumb_slots.c: with the device's lock held ---- */

/* A submission to the queue begins, whose submit_lock is held until the kernel has it: returns
 * which count it adds to. *stream is the recorded stream, and becomes the prologue's where the
 * submission has to come through one, which is only with takes_prologues. */
uint32_t agx_breadcrumb_begin(struct agx_breadcrumb *breadcrumb, uint32_t queue,
                              bool takes_prologues, struct agxw_compute *stream);
/* The kernel did not take it. */
void agx_breadcrumb_cancel(struct agx_breadcrumb *breadcrumb, uint32_t count);
/* It is over. */
void agx_breadcrumb_end(struct agx_breadcrumb *breadcrumb, uint32_t count, bool has_failed);
/* That it ran to its end, as did all that add to the same count. False says nothing: it or one of
 * them failed or is not over. */
bool agx_breadcrumb_tells_success(const struct agx_breadcrumb *breadcrumb, uint32_t count);
