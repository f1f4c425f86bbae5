/* SPDX-License-Identifier: MIT */
#pragma once

#include "hal/sync/semaphore.h"

/* With the device's lock held: readies what the semaphore's state calls for. */
void agx_watches_fire(struct agx_semaphore *semaphore);

/* A watch of the library's that does not keep the semaphore: without others nobody can reach the
 * value any more, and it is called with AGX_CANCELLED when the semaphore goes. */
void agx_semaphore_watch_weakly(struct agx_semaphore *semaphore, struct agx_watch *watch);
/* The semaphore goes: calls those. */
void agx_watches_end(struct agx_semaphore *semaphore);

/* Calls one watch that is ready; false when there is none. With the lock held, which is let go of
 * meanwhile. */
bool agx_watch_call_one_unlocking(struct agx_device *device);
