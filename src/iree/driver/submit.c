/* SPDX-License-Identifier: MIT
 *
 * The way of every operation from IREE to agx_submit: its lists of semaphores become points. All
 * queue functions end here.
 */
#include <stdlib.h>
#include <string.h>

#include "agx_iree.h"

/* Points of one operation, and the references to semaphores of its own that it needs until it is
 * submitted. */
struct points {
   struct agx_point at[AGX_IREE_MAX_POINTS];
   uint32_t count;
};

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

/* What must be let go of after agx_submit has retained what it needs. */
struct borrowed {
   struct agx_semaphore *semaphores[2 * AGX_IREE_MAX_POINTS];
   uint32_t count;
};

static void release_borrowed(struct borrowed *borrowed)
{
   for (uint32_t i = 0; i < borrowed->count; i++)
      agx_release(borrowed->semaphores[i]);
}

static iree_status_t check_count(iree_host_size_t count, const char *what)
{
   if (count <= AGX_IREE_MAX_POINTS)
      return iree_ok_status();
   return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                           "queue: %" PRIhsz " %s, at most %d; join some with a barrier", count,
                           what, AGX_IREE_MAX_POINTS);
}

static iree_status_t fill_waits(struct agx_iree_device *device, iree_hal_semaphore_list_t list,
                                struct points *out_points, struct borrowed *borrowed)
{
   IREE_RETURN_IF_ERROR(check_count(list.count, "waits"));
   for (iree_host_size_t i = 0; i < list.count; i++) {
      struct agx_point *point = &out_points->at[out_points->count];
      point->semaphore = agx_iree_semaphore_core(device, list.semaphores[i]);
      point->value = list.payload_values[i];
      if (!point->semaphore) {
         IREE_RETURN_IF_ERROR(
            wait_for_foreign(device, list.semaphores[i], list.payload_values[i], point));
         borrowed->semaphores[borrowed->count++] = point->semaphore;
      }
      out_points->count++;
   }
   return iree_ok_status();
}

/* Bridges to foreign semaphores are armed after the operation was queued: so that none is signalled
 * when it was not. */
struct outgoing {
   struct bridge *bridges[AGX_IREE_MAX_POINTS];
   uint32_t count;
};

static iree_status_t fill_signals(struct agx_iree_device *device, iree_hal_semaphore_list_t list,
                                  struct points *out_points, struct outgoing *outgoing)
{
   IREE_RETURN_IF_ERROR(check_count(list.count, "signals"));
   for (iree_host_size_t i = 0; i < list.count; i++) {
      struct agx_point *point = &out_points->at[out_points->count];
      point->semaphore = agx_iree_semaphore_core(device, list.semaphores[i]);
      point->value = list.payload_values[i];
      if (!point->semaphore) {
         struct bridge *bridge = NULL;
         IREE_RETURN_IF_ERROR(
            bridge_create(device, list.semaphores[i], list.payload_values[i], &bridge));
         outgoing->bridges[outgoing->count++] = bridge;
         *point = (struct agx_point){.semaphore = bridge->core, .value = 1};
      }
      out_points->count++;
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

static void finish(struct outgoing *outgoing, bool is_queued)
{
   for (uint32_t i = 0; i < outgoing->count; i++) {
      struct bridge *bridge = outgoing->bridges[i];
      if (!is_queued) {
         bridge_free(bridge);
         continue;
      }
      bridge->watch = (struct agx_watch){.value = 1, .fn = signal_foreign, .user = bridge};
      arm(bridge->core, &bridge->watch);
   }
}

static iree_status_t submit(struct agx_iree_device *device, iree_hal_semaphore_list_t waits,
                            iree_hal_semaphore_list_t signals, struct agx_op *op,
                            const struct agx_iree_end *end)
{
   struct points wait_points, signal_points;
   struct borrowed borrowed;
   struct outgoing outgoing;
   wait_points.count = signal_points.count = borrowed.count = outgoing.count = 0;
   iree_status_t status = fill_waits(device, waits, &wait_points, &borrowed);
   if (iree_status_is_ok(status))
      status = fill_signals(device, signals, &signal_points, &outgoing);
   if (iree_status_is_ok(status)) {
      op->size = sizeof(*op);
      op->waits = wait_points.at;
      op->wait_count = wait_points.count;
      op->signals = signal_points.at;
      op->signal_count = signal_points.count;
      if (end) {
         op->end = end->fn;
         op->end_user = end->user;
      }
      status = agx_iree_status(agx_submit(device->core, op, 1, NULL));
   }
   finish(&outgoing, iree_status_is_ok(status));
   release_borrowed(&borrowed);
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
