/* SPDX-License-Identifier: MIT */
#pragma once

#include "hal/semaphore.h"

/* With the device's lock held: readies what the semaphore's state calls for. */
void agx_watches_fire(struct agx_semaphore *semaphore);

/* Calls one watch that is ready; false when there is none. With the lock held, which is let go of
 * meanwhile. */
bool agx_watch_call_one(struct agx_device *device);
