/* SPDX-License-Identifier: MIT
 *
 * A failure that outlives the thread that saw it: semaphores, queues and devices keep one.
 */
#pragma once

#include "base/status.h"

#define AGX_FAILURE_TEXT_BYTES AGX_ERROR_TEXT_BYTES

struct agx_failure {
   agx_status status; /* AGX_OK: none */
   char text[AGX_FAILURE_TEXT_BYTES];
};

/* Keeps the failure with the thread's error text; the first one stays. */
void agx_failure_keep(struct agx_failure *failure, agx_status status);

/* The failure as this thread's: sets the error text, returns the status. */
agx_status agx_failure_raise(const struct agx_failure *failure);
