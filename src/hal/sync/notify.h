/* SPDX-License-Identifier: MIT
 *
 * What is to be told outside of the device's lock, as soon as it is let go of: lines for the log,
 * values of shared semaphores, and that threads which wait in the kernel shall look again. All of
 * this is with the lock held.
 */
#pragma once

#include "hal/core/log.h"
#include "hal/sync/state.h"

struct agx_semaphore;

/* A line for the log. Where there is no memory for it, it is lost. */
void agx_device_log(struct agx_device *device, enum agx_log_level level, const char *format, ...)
   __attribute__((format(printf, 3, 4), cold));
/* The kernel's timeline, if there is one, shall know the value, or that it failed. */
void agx_semaphore_publish(struct agx_semaphore *semaphore);
/* Points of a shared timeline must grow: a kernel that is given a lower or equal one behind a point
 * that is pending forgets what was reached. So one thread at a time adds to it, between these two.
 * False: one does already, or is about to, or the value would not grow; whoever adds tells the
 * host's value afterwards. end_point: value 0 where nothing was added. */
AGX_MUST_CHECK bool agx_semaphore_begin_point(struct agx_semaphore *semaphore, uint64_t value);
void agx_semaphore_end_point(struct agx_semaphore *semaphore, uint64_t value);
/* Has threads that wait in the kernel look again. */
void agx_device_interrupt(struct agx_device *device);

/* All of it, and the interrupt alone, where the log must not be called yet. Both let go of the lock
 * meanwhile. What the kernel refuses is tried again by the completion thread. */
void agx_device_notify_unlocking(struct agx_device *device);
void agx_device_wake_kernel_waiters_unlocking(struct agx_device *device);

/* Something was refused. */
static inline bool agx_device_has_refused_notifications(const struct agx_device *device)
{
   const struct agx_sync_state *sync = agx_sync_of(device);
   return sync->must_interrupt || !agx_list_empty(&sync->pending_publications);
}
