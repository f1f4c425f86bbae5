/* SPDX-License-Identifier: MIT
 *
 * Watches of the library's own; the application's are in agx/semaphore.h.
 */
#pragma once

#include "hal/sync/semaphore.h"

/* A watch of the library's that does not retain the semaphore: when that goes before the value is
 * reached, which nothing can reach any more, the watch is called with AGX_CANCELLED. */
AGX_SYNC_UNLOCKED void agx_semaphore_watch_weakly(struct agx_semaphore *semaphore,
                                                  struct agx_watch *watch);
