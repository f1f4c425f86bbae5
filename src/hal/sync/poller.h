/* SPDX-License-Identifier: MIT
 *
 * A thread that waits for files.
 */
#pragma once

#include "base/alloc.h"
#include "base/status.h"
#include "hal/core/log.h"

struct agx_poller;

/* Called once, on the poller's thread, without a lock. error: 0: the file is readable; else an
 * errno that says what became of it, or ECANCELED. */
typedef void (*agx_poll_fn)(void *user, int error);

/* Starts a poller and its thread. log outlives it, for a poller that can't go on.
 * AGX_RESOURCE_EXHAUSTED, or what an errno means. */
AGX_MUST_CHECK agx_status agx_poller_create(const struct agx_host_alloc *alloc,
                                            const struct agx_log *log,
                                            struct agx_poller **out_poller);

/* Ends the thread; there is nothing left to wait for. NULL is fine. */
void agx_poller_destroy(struct agx_poller *poller);

/* Calls ready once the file is readable, or never will be. Takes fd over when it succeeds.
 * AGX_UNAVAILABLE: the poller has failed; AGX_INVALID_ARGUMENT: no file that becomes readable. */
AGX_MUST_CHECK agx_status agx_poller_add(struct agx_poller *poller, int fd, agx_poll_fn ready,
                                         void *user);

/* Ends all that is waited for, soon, with ECANCELED. */
void agx_poller_cancel(struct agx_poller *poller);
