/* SPDX-License-Identifier: MIT
 *
 * Timeline semaphores.
 */
#pragma once

#include "agx/object.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A timeline: a 64-bit value that only grows, or fails once and for all. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_create(struct agx_device *device, uint64_t initial,
                                                       struct agx_semaphore **out_semaphore);
/* The value reached; a failed semaphore returns its failure, with its text. Never waits; what has
 * just ended on the GPU may not be told yet. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_query(struct agx_semaphore *semaphore,
                                                      uint64_t *out_value);
/* From the host. AGX_INVALID_ARGUMENT when value is not greater than the current one. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_signal(struct agx_semaphore *semaphore,
                                                       uint64_t value);
/* Fails it, and with it whatever waits for it; the first failure wins. status must not be
 * AGX_OK; text may be NULL. */
AGX_API void agx_semaphore_fail(struct agx_semaphore *semaphore, agx_status status,
                                const char *text);

struct agx_point {
   struct agx_semaphore *semaphore;
   uint64_t value;
};

/* Waits for all points, or for any. deadline_ns is absolute on CLOCK_MONOTONIC; 0 polls,
 * AGX_DEADLINE_NEVER waits forever. AGX_DEADLINE_EXCEEDED when it passes; the failure of a
 * semaphore, with its text, when one of those that are not reached has failed. The points may be of
 * several devices. Nothing is waited for without points. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_wait(const struct agx_point *points, uint32_t count,
                                                     bool any, int64_t deadline_ns);

/* ---- watches ---------------------------------------------------------- */

struct agx_watch;

/* status AGX_OK and the value reached, or the failure, with its text as this thread's error. */
typedef void (*agx_watch_fn)(struct agx_watch *watch, agx_status status, uint64_t value);

/* The application's memory, which stays in place until the watch has fired or is gone. */
struct agx_watch {
   uint64_t value;
   agx_watch_fn fn;
   void *user;
   void *reserved[8]; /* the library's */
};

/* Calls watch->fn once, as soon as the value is reached or the semaphore has failed, which may be
 * within this call; from the thread that notices, one call after the other, without any lock of the
 * library. It may call whatever it likes, itself included, but must not block. The semaphore is
 * retained until then. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_watch(struct agx_semaphore *semaphore,
                                                      struct agx_watch *watch);
/* True: it will never be called. False: it was; and it is over, unless this is called from it. */
AGX_API bool agx_semaphore_unwatch(struct agx_semaphore *semaphore, struct agx_watch *watch);

#ifdef __cplusplus
}
#endif
