/* SPDX-License-Identifier: MIT
 *
 * Semaphores. IREE's base layer waits on the async semaphore at the head of each object and touches
 * its fields directly, so there are two timelines: the core's, which operations of queues wait for
 * and signal, and IREE's, which follows it. A watch on the core's semaphore publishes each value
 * reached, and the failure, to IREE's; IREE's signals and failures go to the core's, and come back
 * by the same watch. Both sides ignore what they have already, so that this ends after one round.
 */
#include <string.h>
#include <time.h>

#include "agx_iree.h"

struct agx_iree_semaphore {
   iree_async_semaphore_t async; /* first */
   iree_allocator_t host_allocator;
   struct agx_device *device; /* for comparing only; core keeps it alive */
   struct agx_semaphore *core;
   struct agx_observer observer;
};

static const iree_hal_semaphore_vtable_t vtable;

static struct agx_iree_semaphore *cast(iree_async_semaphore_t *base)
{
   return (struct agx_iree_semaphore *)base;
}

struct agx_semaphore *agx_iree_semaphore_core(const struct agx_iree_device *device,
                                              iree_hal_semaphore_t *base)
{
   if (!iree_hal_resource_is(base, &vtable))
      return NULL;
   const struct agx_iree_semaphore *semaphore = (const struct agx_iree_semaphore *)base;
   return semaphore->device == device->core ? semaphore->core : NULL;
}

/* Takes a reference, unless the last one has gone: then the destroyer waits for the caller. */
static bool try_retain(struct agx_iree_semaphore *semaphore)
{
   iree_atomic_ref_count_t *count = &semaphore->async.ref_count;
   int32_t old = iree_atomic_load(count, iree_memory_order_relaxed);
   while (old > 0) {
      if (iree_atomic_compare_exchange_weak(count, &old, old + 1, iree_memory_order_acq_rel,
                                            iree_memory_order_relaxed))
         return true;
   }
   return false;
}

static void publish(struct agx_iree_semaphore *semaphore, agx_status status, uint64_t value)
{
   if (status == AGX_OK)
      iree_status_ignore(iree_async_semaphore_publish_untainted(&semaphore->async, value, NULL));
   else
      iree_async_semaphore_fail(&semaphore->async, agx_iree_status(status));
}

static void reached(struct agx_observer *observer, agx_status status, uint64_t value)
{
   struct agx_iree_semaphore *semaphore = observer->user;
   if (!try_retain(semaphore))
      return;
   publish(semaphore, status, value);
   iree_async_semaphore_release(&semaphore->async);
}

iree_status_t agx_iree_semaphore_create(struct agx_iree_device *device, uint64_t initial,
                                        iree_hal_semaphore_t **out_semaphore)
{
   *out_semaphore = NULL;
   if (initial > IREE_HAL_SEMAPHORE_MAX_VALUE)
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "semaphore: initial value %" PRIu64 " is above %" PRIu64, initial,
                              (uint64_t)IREE_HAL_SEMAPHORE_MAX_VALUE);
   iree_host_size_t frontier_offset = 0, size = 0;
   IREE_RETURN_IF_ERROR(iree_async_semaphore_layout(sizeof(struct agx_iree_semaphore),
                                                    AGX_IREE_MAX_QUEUES, &frontier_offset, &size));
   struct agx_iree_semaphore *semaphore = NULL;
   IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->host_allocator, size, (void **)&semaphore));
   memset(semaphore, 0, size);
   semaphore->host_allocator = device->host_allocator;
   semaphore->device = device->core;
   agx_status status = agx_semaphore_create(device->core, initial, &semaphore->core);
   if (status != AGX_OK) {
      iree_allocator_free(device->host_allocator, semaphore);
      return agx_iree_status(status);
   }
   iree_async_semaphore_initialize(&vtable.async, device->proactor, initial, frontier_offset,
                                   AGX_IREE_MAX_QUEUES, &semaphore->async);
   semaphore->observer = (struct agx_observer){.fn = reached, .user = semaphore, .value = initial};
   status = agx_semaphore_observe(semaphore->core, &semaphore->observer);
   if (status != AGX_OK) {
      iree_async_semaphore_release(&semaphore->async);
      return agx_iree_status(status);
   }
   *out_semaphore = iree_hal_semaphore_cast(&semaphore->async);
   return iree_ok_status();
}

static void semaphore_destroy(iree_async_semaphore_t *base)
{
   struct agx_iree_semaphore *semaphore = cast(base);
   agx_semaphore_unobserve(semaphore->core, &semaphore->observer);
   agx_release(semaphore->core);
   iree_async_semaphore_deinitialize(&semaphore->async);
   iree_allocator_free(semaphore->host_allocator, semaphore);
}

static uint64_t semaphore_query(iree_async_semaphore_t *base)
{
   struct agx_iree_semaphore *semaphore = cast(base);
   uint64_t value = 0;
   const agx_status status = agx_semaphore_query(semaphore->core, &value);
   publish(semaphore, status, value);
   const iree_status_t failure =
      (iree_status_t)iree_atomic_load(&base->failure_status, iree_memory_order_acquire);
   return iree_status_is_ok(failure) ? value : iree_hal_status_as_semaphore_failure(failure);
}

/* The core decides whether the value is a new one. What it wakes may release the semaphore. */
static iree_status_t semaphore_signal(iree_async_semaphore_t *base, uint64_t value,
                                      const iree_async_frontier_t *frontier)
{
   struct agx_iree_semaphore *semaphore = cast(base);
   if (value > IREE_HAL_SEMAPHORE_MAX_VALUE)
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "semaphore: value %" PRIu64 " is above %" PRIu64, value,
                              (uint64_t)IREE_HAL_SEMAPHORE_MAX_VALUE);
   iree_async_semaphore_retain(base);
   if (frontier)
      iree_async_semaphore_merge_frontier(base, frontier);
   const agx_status status = agx_semaphore_signal(semaphore->core, value);
   iree_status_t result = agx_iree_status(status);
   if (status == AGX_OK)
      result = iree_async_semaphore_publish_untainted(base, value, frontier);
   iree_async_semaphore_release(base);
   return result;
}

static void semaphore_on_fail(iree_async_semaphore_t *base, iree_status_code_t code)
{
   struct agx_iree_semaphore *semaphore = cast(base);
   const iree_status_t failure =
      (iree_status_t)iree_atomic_load(&base->failure_status, iree_memory_order_acquire);
   char text[512];
   agx_semaphore_fail(semaphore->core, (agx_status)code,
                      agx_iree_status_text(failure, text, sizeof(text)));
}

/* A deadline of IREE's clock in that of agx_semaphore_wait. */
static int64_t deadline_of(iree_timeout_t timeout)
{
   const iree_time_t deadline_ns = iree_timeout_as_deadline_ns(timeout);
   if (deadline_ns == IREE_TIME_INFINITE_FUTURE)
      return AGX_DEADLINE_NEVER;
   if (deadline_ns == IREE_TIME_INFINITE_PAST)
      return 0;
   const iree_duration_t rest_ns = deadline_ns - iree_time_now();
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   const int64_t now_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
   return rest_ns <= 0 ? 0 : now_ns + rest_ns;
}

static iree_status_t semaphore_wait(iree_hal_semaphore_t *base, uint64_t value,
                                    iree_timeout_t timeout, iree_async_wait_flags_t flags)
{
   struct agx_iree_semaphore *semaphore = cast((iree_async_semaphore_t *)base);
   const struct agx_point point = {.semaphore = semaphore->core, .value = value};
   const agx_status status = agx_semaphore_wait(&point, 1, false, deadline_of(timeout));
   if (status == AGX_DEADLINE_EXCEEDED)
      return iree_status_from_code(IREE_STATUS_DEADLINE_EXCEEDED);
   iree_status_t result = agx_iree_status(status);
   if (status == AGX_OK)
      publish(semaphore, AGX_OK, value);
   else
      semaphore_query(&semaphore->async); /* publishes the failure, if it is the semaphore's */
   const iree_status_t failure =
      (iree_status_t)iree_atomic_load(&semaphore->async.failure_status, iree_memory_order_acquire);
   if (iree_status_is_ok(failure))
      return result;
   iree_status_ignore(result);
   return iree_status_clone(failure);
}

/* Files to wait with are imported and exported by IREE's base layer; other kinds are of other
 * vendors. */
static iree_status_t semaphore_import(iree_hal_semaphore_t *base, uint64_t value,
                                      iree_hal_queue_affinity_t affinity,
                                      iree_hal_external_timepoint_t timepoint)
{
   return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                           "semaphore: timepoints of kind %d can't be imported, files can",
                           (int)timepoint.type);
}

static iree_status_t semaphore_export(iree_hal_semaphore_t *base, uint64_t value,
                                      iree_hal_queue_affinity_t affinity,
                                      iree_hal_external_timepoint_type_t type,
                                      iree_hal_external_timepoint_flags_t flags,
                                      iree_hal_external_timepoint_t *IREE_RESTRICT out_timepoint)
{
   return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                           "semaphore: timepoints of kind %d can't be exported, files can",
                           (int)type);
}

static const iree_hal_semaphore_vtable_t vtable = {
   .async =
      {
         .destroy = semaphore_destroy,
         .query = semaphore_query,
         .signal = semaphore_signal,
         .on_fail = semaphore_on_fail,
      },
   .wait = semaphore_wait,
   .import_timepoint = semaphore_import,
   .export_timepoint = semaphore_export,
};
