/* SPDX-License-Identifier: MIT
 *
 * Keeps a status with its text, and gives both to another thread. Semaphores, queues and
 * submissions hold such failures.
 */
#include "hal/core/failure.h"

#include <stdio.h>

void agx_failure_keep(struct agx_failure *failure, agx_status status)
{
   if (status == AGX_OK || failure->status != AGX_OK)
      return;
   failure->status = status;
   snprintf(failure->text, sizeof(failure->text), "%.*s", AGX_FAILURE_TEXT_BYTES - 1,
            agx_error_peek());
}

agx_status agx_failure_raise(const struct agx_failure *failure)
{
   if (failure->status == AGX_OK)
      return AGX_OK;
   return AGX_FAIL(failure->status, "%s", failure->text);
}
