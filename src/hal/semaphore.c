/* SPDX-License-Identifier: MIT
 *
 * Timeline semaphores: host objects. What the GPU signals arrives through the device's
 * worker, which watches the queue's epochs.
 */
#include "hal/semaphore.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/util.h"
#include "hal/submission.h"

static void semaphore_destroy(struct agx_object *object)
{
   struct agx_semaphore *semaphore = agx_container_of(object, struct agx_semaphore, object);
   struct agx_device *device = semaphore->device;
   agx_host_free(device->alloc, semaphore, sizeof(*semaphore));
   agx_release(device);
}

static const struct agx_object_type semaphore_type = {"semaphore", semaphore_destroy};

agx_status agx_semaphore_create(struct agx_device *device, uint64_t initial,
                                struct agx_semaphore **out_semaphore)
{
   *out_semaphore = NULL;
   struct agx_semaphore *semaphore = agx_host_zalloc(device->alloc, sizeof(*semaphore));
   if (!semaphore)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "semaphore: out of host memory");
   agx_object_init(&semaphore->object, &semaphore_type);
   agx_retain(device);
   semaphore->device = device;
   semaphore->value = semaphore->promised = initial;
   agx_list_init(&semaphore->pending);
   *out_semaphore = semaphore;
   return AGX_OK;
}

void agx_semaphore_advance(struct agx_semaphore *semaphore, uint64_t value)
{
   if (semaphore->failure.status != AGX_OK || value <= semaphore->value)
      return;
   semaphore->value = value;
   semaphore->promised = AGX_MAX(semaphore->promised, value);
   pthread_cond_broadcast(&semaphore->device->changed);
}

void agx_semaphore_fail_locked(struct agx_semaphore *semaphore, const struct agx_failure *failure)
{
   if (semaphore->failure.status != AGX_OK)
      return;
   semaphore->failure = *failure;
   pthread_cond_broadcast(&semaphore->device->changed);
}

agx_status agx_semaphore_query(struct agx_semaphore *semaphore, uint64_t *out_value)
{
   pthread_mutex_lock(&semaphore->device->lock);
   *out_value = semaphore->value;
   agx_status status = agx_failure_raise(&semaphore->failure);
   pthread_mutex_unlock(&semaphore->device->lock);
   return status;
}

agx_status agx_semaphore_signal(struct agx_semaphore *semaphore, uint64_t value)
{
   struct agx_device *device = semaphore->device;
   pthread_mutex_lock(&device->lock);
   agx_status status = agx_failure_raise(&semaphore->failure);
   if (status == AGX_OK && value <= semaphore->value)
      status = AGX_FAIL(AGX_INVALID_ARGUMENT, "semaphore: signal of %llu; it is at %llu already",
                        (unsigned long long)value, (unsigned long long)semaphore->value);
   if (status == AGX_OK)
      agx_semaphore_advance(semaphore, value);
   if (status == AGX_OK)
      agx_device_pump(device);
   pthread_mutex_unlock(&device->lock);
   return status;
}

void agx_semaphore_fail(struct agx_semaphore *semaphore, agx_status status, const char *text)
{
   struct agx_device *device = semaphore->device;
   struct agx_failure failure = {.status = status == AGX_OK ? AGX_UNKNOWN : status};
   snprintf(failure.text, sizeof(failure.text), "%s", text ? text : "failed by the application");
   pthread_mutex_lock(&device->lock);
   agx_semaphore_fail_locked(semaphore, &failure);
   agx_device_pump(device);
   pthread_mutex_unlock(&device->lock);
}

/* 1: the wait is over; 0: not yet; a failure decides through *out_failed. */
static bool wait_is_over(const struct agx_point *points, uint32_t count, bool any,
                         struct agx_semaphore **out_failed)
{
   uint32_t reached = 0;
   struct agx_semaphore *failed = NULL;
   for (uint32_t i = 0; i < count; i++) {
      struct agx_semaphore *semaphore = points[i].semaphore;
      if (semaphore->value >= points[i].value)
         reached++;
      else if (semaphore->failure.status != AGX_OK && !failed)
         failed = semaphore;
   }
   *out_failed = any && reached ? NULL : failed;
   return *out_failed || (any ? reached > 0 : reached == count);
}

static agx_status check_points(const struct agx_point *points, uint32_t count)
{
   for (uint32_t i = 0; i < count; i++) {
      if (!points[i].semaphore)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "wait: semaphore of point %u is NULL", i);
      if (points[i].semaphore->device != points[0].semaphore->device)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "wait: point %u is of another device", i);
   }
   return AGX_OK;
}

agx_status agx_semaphore_wait(const struct agx_point *points, uint32_t count, bool any,
                              int64_t deadline_ns)
{
   if (count == 0)
      return AGX_OK;
   AGX_TRY(check_points(points, count));
   struct agx_device *device = points[0].semaphore->device;
   struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / 1000000000),
                               .tv_nsec = (long)(deadline_ns % 1000000000)};
   struct agx_semaphore *failed = NULL;
   agx_status status = AGX_OK;
   pthread_mutex_lock(&device->lock);
   while (!wait_is_over(points, count, any, &failed)) {
      int error = ETIMEDOUT;
      if (deadline_ns == AGX_DEADLINE_NEVER)
         error = pthread_cond_wait(&device->changed, &device->lock);
      else if (deadline_ns > 0)
         error = pthread_cond_timedwait(&device->changed, &device->lock, &deadline);
      if (error == ETIMEDOUT && !wait_is_over(points, count, any, &failed)) {
         status = AGX_FAIL(AGX_DEADLINE_EXCEEDED, "semaphore at %llu, waited for %llu",
                           (unsigned long long)points[0].semaphore->value,
                           (unsigned long long)points[0].value);
         break;
      }
   }
   if (failed)
      status = agx_failure_raise(&failed->failure);
   pthread_mutex_unlock(&device->lock);
   return status;
}
