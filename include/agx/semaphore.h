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
/* The value reached; a failed semaphore returns its failure, with its text. */
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
 * semaphore, with its text, when one that decides the wait has failed. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_wait(const struct agx_point *points, uint32_t count,
                                                     bool any, int64_t deadline_ns);

#ifdef __cplusplus
}
#endif
