/* SPDX-License-Identifier: MIT
 *
 * Work that a change under the lock has made possible, and that must not be done under it.
 */
#pragma once

#include "hal/sync/submission.h"

/* Lets the lock go and does the work that there is: notifications, unblocked submissions, requests
 * to the kernel, host operations, watches, references. An inner call on the same thread leaves all
 * but notifications to the outer one. Keeps the thread's error text. May end the device's life if
 * the caller has no reference. */
AGX_RELEASES(agx_sync_lock_class)
void agx_device_unlock_and_run_deferred(struct agx_device *device);

/* Whether there is any such work. */
AGX_SYNC_LOCKED bool agx_device_has_deferred_work(const struct agx_device *device);

/* Whether this thread is inside agx_device_unlock_and_run_deferred for the device. */
bool agx_device_runs_deferred_here(const struct agx_device *device);
