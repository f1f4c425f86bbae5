/* SPDX-License-Identifier: MIT
 *
 * The way of every operation from IREE to agx_submit: its lists of semaphores become points. All
 * queue functions end here.
 */
#include <stdlib.h>
#include <string.h>

#include "agx_iree.h"

/* ---- semaphores of other drivers ------------------------------------------- */

/* Between a semaphore of another driver and one of the core, in either direction. */
struct bridge {
   struct agx_semaphore *core;
   iree_async_semaphore_t *foreign;
   uint64_t value; /* of the foreign one; the core's goes from 0 to 1 */
   iree_async_semaphore_timepoint_t timepoint;
   struct agx_watch watch;
};

static void bridge_free(struct bridge *bridge)
{
   agx_release(bridge->core);
   iree_async_semaphore_release(bridge->foreign);
   free(bridge);
}

static iree_status_t bridge_create(struct agx_iree_device *device, iree_hal_semaphore_t *foreign,
                                   uint64_t value, struct bridge **out_bridge)
{
   struct bridge *bridge = calloc(1, sizeof(*bridge));
   if (!bridge)
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "queue: no host memory");
   const agx_status status = agx_semaphore_create(device->core, 0, &bridge->core);
   if (status != AGX_OK) {
      free(bridge);
      return agx_iree_status(status);
   }
   bridge->foreign = (iree_async_semaphore_t *)foreign;
   iree_async_semaphore_retain(bridge->foreign);
   bridge->value = value;
   *out_bridge = bridge;
   return iree_ok_status();
}

static void foreign_reached(void *user, iree_async_semaphore_timepoint_t *timepoint,
                            iree_status_t status)
{
   struct bridge *bridge = user;
   char text[512];
   if (iree_status_is_ok(status)) {
      if (agx_semaphore_signal(bridge->core, 1) != AGX_OK)
         agx_semaphore_fail(bridge->core, AGX_INTERNAL, "semaphore of another driver: no signal");
   } else {
      agx_semaphore_fail(bridge->core, (agx_status)iree_status_code(status),
                         agx_iree_status_text(status, text, sizeof(text)));
   }
   iree_status_ignore(status);
   bridge_free(bridge);
}

/* A point that is reached when the foreign semaphore is; the caller releases its semaphore. */
static iree_status_t wait_for_foreign(struct agx_iree_device *device, iree_hal_semaphore_t *foreign,
                                      uint64_t value, struct agx_point *out_point)
{
   struct bridge *bridge = NULL;
   IREE_RETURN_IF_ERROR(bridge_create(device, foreign, value, &bridge));
   bridge->timepoint.callback = foreign_reached;
   bridge->timepoint.user_data = bridge;
   *out_point = (struct agx_point){.semaphore = bridge->core, .value = 1};
   agx_retain(bridge->core);
   iree_status_t status =
      iree_async_semaphore_acquire_timepoint(bridge->foreign, value, &bridge->timepoint);
   if (!iree_status_is_ok(status)) {
      agx_release(bridge->core);
      bridge_free(bridge);
   }
   return status;
}

static void signal_foreign(struct agx_watch *watch, agx_status status, uint64_t value)
{
   struct bridge *bridge = watch->user;
   iree_hal_semaphore_t *foreign = iree_hal_semaphore_cast(bridge->foreign);
   if (status == AGX_OK) {
      iree_status_t signalled = iree_hal_semaphore_signal(foreign, bridge->value, NULL);
      if (!iree_status_is_ok(signalled))
         iree_hal_semaphore_fail(foreign, signalled);
   } else {
      iree_hal_semaphore_fail(foreign, agx_iree_status(status));
   }
   bridge_free(bridge);
}

/* ---- lists ----------------------------------------------------------------- */

/* Points of one operation that need no heap. */
#define FEW_POINTS 64

/* What an operation waits for and signals, and what for that must be let go of again. */
struct lists {
   struct agx_point *waits, *signals;
   uint32_t wait_count, signal_count;
   void **borrowed; /* semaphores, released once agx_submit has retained what it needs */
   uint32_t borrowed_count;
   /* To foreign semaphores; armed after the operation was queued, so that none is signalled when
    * it was not. */
   void **bridges;
   uint32_t bridge_count;
   struct {
      struct agx_point points[FEW_POINTS];
      void *others[FEW_POINTS];
   } few;
   void *heap; /* NULL: few has room */
};

static iree_status_t check_count(iree_host_size_t count, const char *what)
{
   if (count <= AGX_MAX_OP_POINTS)
      return iree_ok_status();
   return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                           "queue: %" PRIhsz " %s, at most %d; join some with a barrier", count,
                           what, AGX_MAX_OP_POINTS);
}

static iree_status_t lists_init(struct lists *lists, iree_host_size_t wait_count,
                                iree_host_size_t signal_count)
{
   lists->wait_count = lists->signal_count = lists->borrowed_count = lists->bridge_count = 0;
   lists->heap = NULL;
   IREE_RETURN_IF_ERROR(check_count(wait_count, "waits"));
   IREE_RETURN_IF_ERROR(check_count(signal_count, "signals"));
   struct agx_point *points = lists->few.points;
   void **others = lists->few.others;
   const size_t count = wait_count + signal_count;
   if (count > FEW_POINTS) {
      points = lists->heap = malloc(count * (sizeof(*points) + sizeof(*others)));
      if (!points)
         return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "queue: no host memory");
      others = (void **)(points + count);
   }
   lists->waits = points;
   lists->signals = points + wait_count;
   lists->borrowed = others;
   lists->bridges = others + wait_count;
   return iree_ok_status();
}

static iree_status_t fill_waits(struct agx_iree_device *device, iree_hal_semaphore_list_t list,
                                struct lists *lists)
{
   for (iree_host_size_t i = 0; i < list.count; i++) {
      struct agx_point *point = &lists->waits[i];
      point->semaphore = agx_iree_semaphore_core(device, list.semaphores[i]);
      point->value = list.payload_values[i];
      if (!point->semaphore) {
         IREE_RETURN_IF_ERROR(
            wait_for_foreign(device, list.semaphores[i], list.payload_values[i], point));
         lists->borrowed[lists->borrowed_count++] = point->semaphore;
      }
      lists->wait_count++;
   }
   return iree_ok_status();
}

static iree_status_t fill_signals(struct agx_iree_device *device, iree_hal_semaphore_list_t list,
                                  struct lists *lists)
{
   for (iree_host_size_t i = 0; i < list.count; i++) {
      struct agx_point *point = &lists->signals[i];
      point->semaphore = agx_iree_semaphore_core(device, list.semaphores[i]);
      point->value = list.payload_values[i];
      if (!point->semaphore) {
         struct bridge *bridge = NULL;
         IREE_RETURN_IF_ERROR(
            bridge_create(device, list.semaphores[i], list.payload_values[i], &bridge));
         lists->bridges[lists->bridge_count++] = bridge;
         *point = (struct agx_point){.semaphore = bridge->core, .value = 1};
      }
      lists->signal_count++;
   }
   return iree_ok_status();
}

/* Watches that can't be armed for want of memory fail what they would have signalled. */
static void arm(struct agx_semaphore *semaphore, struct agx_watch *watch)
{
   const agx_status status = agx_semaphore_watch(semaphore, watch);
   if (status != AGX_OK)
      watch->fn(watch, status, 0);
}

static void lists_fini(struct lists *lists, bool is_queued)
{
   for (uint32_t i = 0; i < lists->bridge_count; i++) {
      struct bridge *bridge = lists->bridges[i];
      if (!is_queued) {
         bridge_free(bridge);
         continue;
      }
      bridge->watch = (struct agx_watch){.value = 1, .fn = signal_foreign, .user = bridge};
      arm(bridge->core, &bridge->watch);
   }
   for (uint32_t i = 0; i < lists->borrowed_count; i++)
      agx_release(lists->borrowed[i]);
   free(lists->heap);
}

static iree_status_t submit(struct agx_iree_device *device, iree_hal_semaphore_list_t waits,
                            iree_hal_semaphore_list_t signals, struct agx_op *op,
                            const struct agx_iree_end *end)
{
   struct lists lists;
   iree_status_t status = lists_init(&lists, waits.count, signals.count);
   if (iree_status_is_ok(status))
      status = fill_waits(device, waits, &lists);
   if (iree_status_is_ok(status))
      status = fill_signals(device, signals, &lists);
   if (iree_status_is_ok(status)) {
      op->size = sizeof(*op);
      op->waits = lists.waits;
      op->wait_count = lists.wait_count;
      op->signals = lists.signals;
      op->signal_count = lists.signal_count;
      if (end) {
         op->end = end->fn;
         op->end_user = end->user;
      }
      status = agx_iree_status(agx_submit(device->core, op, 1, NULL));
   }
   lists_fini(&lists, iree_status_is_ok(status));
   return status;
}

iree_status_t agx_iree_submit(struct agx_iree_device *device, iree_hal_queue_affinity_t affinity,
                              iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals,
                              struct agx_op *op, const struct agx_iree_end *end)
{
   op->queues =
      iree_hal_queue_affinity_is_any(affinity) ? 0 : agx_iree_device_queues(device, affinity);
   if (affinity && !iree_hal_queue_affinity_is_any(affinity) && !op->queues)
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "queue affinity 0x%" PRIx64 ": the device has %u queues", affinity,
                              device->info.queue_count);
   return submit(device, waits, signals, op, end);
}
