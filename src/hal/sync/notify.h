/* SPDX-License-Identifier: MIT
 *
 * Notifications: lines for the log, values for shared timelines, and interrupts of threads that
 * wait in the kernel. They are noted under the lock, and made when the lock is let go of
 * (deferred.c).
 */
#pragma once

#include "hal/core/log.h"
#include "hal/sync/semaphore.h"

/* What a syncobj shows of a semaphore that failed on the host. */
#define AGX_SHARED_FAILED UINT64_MAX

/* A line for the log. Where there is no memory for it, it is lost. */
AGX_SYNC_LOCKED void agx_device_log(struct agx_device *device, enum agx_log_level level,
                                    const char *format, ...)
   __attribute__((format(printf, 3, 4), cold));

/* The semaphore's timeline in the kernel, if there is one, is to get its value, or its failure. */
AGX_SYNC_LOCKED void agx_semaphore_publish(struct agx_semaphore *semaphore);

/* Points of a shared timeline must grow: a kernel that is given a lower or equal one behind a point
 * that is pending forgets what was reached. So one thread at a time adds to it, between these two.
 * begin returns false if a thread does already, or is about to, or the value would not grow; the
 * thread that adds publishes the host's value afterwards. end: value 0 where nothing was added. */
AGX_MUST_CHECK AGX_SYNC_LOCKED bool agx_semaphore_begin_point(struct agx_semaphore *semaphore,
                                                              uint64_t value);
AGX_SYNC_LOCKED void agx_semaphore_end_point(struct agx_semaphore *semaphore, uint64_t value);

/* Threads that wait in the kernel are to look again. */
AGX_SYNC_LOCKED void agx_device_interrupt(struct agx_device *device);

/* All of it; the second one interrupts only, where the log must not be called yet. What the kernel
 * refuses, the completion thread tries again. */
AGX_SYNC_LOCKED void agx_device_notify_unlocking(struct agx_device *device);
AGX_SYNC_LOCKED void agx_device_wake_kernel_waiters_unlocking(struct agx_device *device);

/* Whether the kernel has refused something that is to be tried again. */
AGX_SYNC_LOCKED static inline bool
agx_device_has_refused_notifications(const struct agx_device *device)
{
   const struct agx_sync_state *sync = agx_sync_of(device);
   return sync->must_interrupt || !agx_list_empty(&sync->pending_publications);
}

/* Wakes threads that sleep until something changes, and has those look again that wait in the
 * kernel for the semaphore: it has advanced or failed. */
AGX_SYNC_LOCKED void agx_semaphore_wake_waiters(struct agx_semaphore *semaphore);

/* Wakes the completion thread: something waits without being in the kernel. */
AGX_SYNC_LOCKED void agx_device_wake(struct agx_device *device);

/* Whether the completion thread is to look after the GPU: something waits that no thread in the
 * kernel will notice. */
AGX_SYNC_LOCKED bool agx_device_has_waiters(const struct agx_device *device);

/* A submission has gone to the kernel, or is watched there: wakes the completion thread if it
 * sleeps without a time limit, or something waits that may not wait while it dozes. */
AGX_SYNC_LOCKED void agx_device_note_flight(struct agx_device *device);
