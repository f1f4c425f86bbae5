/* SPDX-License-Identifier: MIT
 *
 * Notifications that must not be made under the lock (notify.h): other files note them, deferred.c
 * has them made. No thread waits for them: a request that the kernel refuses for want of memory
 * stays on the list, and the completion thread tries again. Waking threads that sleep is here,
 * too.
 */
#include "hal/sync/notify.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/util.h"
#include "hal/core/log.h"
#include "hal/sync/semaphore.h"

/* ---- lines for the log ------------------------------------------------------ */

struct line {
   struct agx_link link;
   enum agx_log_level level;
   char text[AGX_LOG_LINE_B];
};

void agx_device_log(struct agx_device *device, enum agx_log_level level, const char *format, ...)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   struct line *line = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*line));
   va_list arguments;
   if (!line)
      return;
   line->level = level;
   va_start(arguments, format);
   vsnprintf(line->text, sizeof(line->text), format, arguments);
   va_end(arguments);
   agx_list_append(&sync->lines, &line->link);
   sync->has_pending_notifications = true;
}

/* One thread at a time, so that they keep their order; it writes the lines of other threads,
 * too. */
AGX_SYNC_LOCKED static void write_lines_unlocking(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   if (sync->is_logging)
      return;
   sync->is_logging = true;
   while (!agx_list_empty(&sync->lines)) {
      struct line *line = agx_container_of(sync->lines.next, struct line, link);
      agx_list_remove(&line->link);
      agx_sync_unlock(sync);
      agx_log(agx_context_of(device)->log, line->level, "%s", line->text);
      agx_host_free(agx_context_of(device)->alloc, line, sizeof(*line));
      agx_sync_lock(sync);
   }
   sync->is_logging = false;
}

/* In a row, of values that the kernel has no memory for; then one of them is lost. */
#define MAX_REFUSALS 64

/* ---- values ----------------------------------------------------------------- */

static uint64_t value_to_publish(const struct agx_semaphore *semaphore)
{
   return semaphore->failure.status != AGX_OK ? AGX_SHARED_FAILED : semaphore->value;
}

/* On the list it has a reference. */
void agx_semaphore_publish(struct agx_semaphore *semaphore)
{
   struct agx_sync_state *sync = agx_sync_of(semaphore->device);
   if (!semaphore->shared || semaphore->is_adding ||
       semaphore->promised >= value_to_publish(semaphore))
      return;
   sync->has_pending_notifications = true;
   if (!agx_list_empty(&semaphore->publication_link))
      return;
   agx_retain(semaphore);
   agx_list_append(&sync->pending_publications, &semaphore->publication_link);
}

bool agx_semaphore_begin_point(struct agx_semaphore *semaphore, uint64_t value)
{
   if (semaphore->is_adding || !agx_list_empty(&semaphore->publication_link) ||
       value <= semaphore->promised)
      return false;
   semaphore->is_adding = true;
   return true;
}

void agx_semaphore_end_point(struct agx_semaphore *semaphore, uint64_t value)
{
   semaphore->is_adding = false;
   semaphore->promised = AGX_MAX(semaphore->promised, value);
   agx_semaphore_publish(semaphore); /* what has come meanwhile */
}

/* False: the kernel has no memory for it now. The lock is let go of meanwhile. */
AGX_SYNC_LOCKED static bool add_value_unlocking(struct agx_semaphore *semaphore, uint64_t value)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   semaphore->is_adding = true;
   agx_sync_unlock(sync);
   agx_status status = agxw_timeline_signal(semaphore->shared, value);
   agx_sync_lock(sync);
   sync->refusals = status == AGX_RESOURCE_EXHAUSTED ? sync->refusals + 1 : 0;
   if (sync->refusals && sync->refusals < MAX_REFUSALS) {
      semaphore->is_adding = false;
      return false;
   }
   if (status != AGX_OK)
      agx_device_log(device, AGX_LOG_WARNING, "a shared semaphore's value %llu can't be told: %s",
                     (unsigned long long)value, agx_error_peek());
   agx_semaphore_end_point(semaphore, value);
   return true;
}

/* False: it is still on the list. */
AGX_SYNC_LOCKED static bool publish_value_unlocking(struct agx_semaphore *semaphore)
{
   struct agx_sync_state *sync = agx_sync_of(semaphore->device);
   uint64_t value = value_to_publish(semaphore);
   agx_list_remove(&semaphore->publication_link);
   if (value > semaphore->promised && !add_value_unlocking(semaphore, value)) {
      agx_list_append(&sync->pending_publications, &semaphore->publication_link);
      return false;
   }
   agx_sync_unlock(sync);
   agx_release(semaphore);
   agx_sync_lock(sync);
   return true;
}

AGX_SYNC_LOCKED static void publish_values_unlocking(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   while (!agx_list_empty(&sync->pending_publications))
      if (!publish_value_unlocking(agx_container_of(sync->pending_publications.next,
                                                    struct agx_semaphore, publication_link)))
         return;
}

/* ---- threads in the kernel ------------------------------------------------ */

void agx_device_interrupt(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   if (sync->in_kernel == 0)
      return;
   sync->interrupt_value++;
   sync->must_interrupt = sync->has_pending_notifications = true;
}

void agx_device_wake_kernel_waiters_unlocking(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   const uint64_t value = sync->interrupt_value;
   if (!sync->must_interrupt)
      return;
   sync->must_interrupt = false;
   if (sync->in_kernel == 0)
      return;
   agx_sync_unlock(sync);
   agx_status status = agxw_timeline_signal(sync->interrupt, value);
   agx_sync_lock(sync);
   if (status != AGX_OK)
      sync->must_interrupt = true;
}

/* ---- all of it -------------------------------------------------------------- */

void agx_device_notify_unlocking(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   sync->has_pending_notifications = false;
   agx_device_wake_kernel_waiters_unlocking(device);
   publish_values_unlocking(device);
   write_lines_unlocking(device);
   if (agx_device_has_refused_notifications(device) && sync->worker_sleeps)
      pthread_cond_signal(&sync->work);
}

/* ---- threads that sleep --------------------------------------------------------------- */

void agx_semaphore_wake_waiters(struct agx_semaphore *semaphore)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   if (sync->sleepers)
      pthread_cond_broadcast(&sync->changed);
   /* A thread that waits in the kernel for what retires wakes by itself. */
   if (semaphore->kernel_waiters && (!sync->is_retiring || semaphore->failure.status != AGX_OK))
      agx_device_interrupt(device);
}

void agx_device_wake(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   if (sync->worker_sleeps)
      pthread_cond_signal(&sync->work);
}

/* Waiters that no other thread can look after. */
AGX_SYNC_LOCKED static bool has_urgent_waiters(const struct agx_sync_state *sync)
{
   return !agx_list_empty(&sync->imports) || sync->sleepers || sync->parked_count ||
          sync->host_frontier_waiters;
}

bool agx_device_has_waiters(const struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   return sync->watching || has_urgent_waiters(sync);
}

void agx_device_note_flight(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   bool is_needed = has_urgent_waiters(sync) || (sync->watching && !sync->worker_dozes);
   if (sync->worker_has_no_tick || (sync->worker_sleeps && is_needed))
      pthread_cond_signal(&sync->work);
}
