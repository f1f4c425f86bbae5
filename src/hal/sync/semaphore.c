/* SPDX-License-Identifier: MIT
 *
 * A semaphore's value moves on, or the semaphore fails: each unblocks submissions, fires watches
 * and observers, and wakes threads. Submissions that end call this (schedule.c), the application's
 * signals (semaphore_api.c), and those of other processes and files (shared_poll.c, import.c,
 * file_wait.c).
 */
#include "hal/sync/semaphore.h"

#include "hal/sync/notify.h"
#include "hal/sync/points.h"
#include "hal/sync/watch.h"

agx_status agx_semaphore_check_value(const char *what, uint64_t value)
{
   if (value <= AGX_SEMAPHORE_MAX_VALUE)
      return AGX_OK;
   return AGX_FAIL(AGX_OUT_OF_RANGE,
                   "%s: value %llu, which stands for failure; the highest is one less", what,
                   (unsigned long long)value);
}

void agx_semaphore_advance(struct agx_semaphore *semaphore, uint64_t value)
{
   if (semaphore->failure.status != AGX_OK || value <= semaphore->value)
      return;
   semaphore->value = value;
   agx_semaphore_publish(semaphore);
   agx_waits_resolve(semaphore, value);
   agx_watches_fire(semaphore);
   agx_observers_fire(semaphore);
   agx_semaphore_wake_waiters(semaphore);
}

void agx_semaphore_fail_locked(struct agx_semaphore *semaphore, const struct agx_failure *failure)
{
   if (semaphore->failure.status != AGX_OK)
      return;
   semaphore->failure = *failure;
   agx_semaphore_publish(semaphore);
   agx_waits_resolve(semaphore, UINT64_MAX);
   agx_watches_fire(semaphore);
   agx_observers_fire(semaphore);
   agx_semaphore_wake_waiters(semaphore);
}
