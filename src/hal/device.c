/* SPDX-License-Identifier: MIT
 *
 * Opening a device, its worker, and the pool of recording blocks.
 */
#include "hal/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/debug.h"
#include "base/util.h"
#include "hal/desc.h"
#include "hal/record.h"
#include "hal/submission.h"

/* ---- failures --------------------------------------------------------- */

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

/* ---- recording blocks ------------------------------------------------- */

struct agx_record_block *agx_device_take_block(struct agx_device *device)
{
   pthread_mutex_lock(&device->blocks_lock);
   struct agx_record_block *block = device->blocks;
   if (block)
      device->blocks = block->next;
   pthread_mutex_unlock(&device->blocks_lock);
   if (!block)
      block = device->alloc->alloc(device->alloc->user, sizeof(*block));
   if (!block)
      return NULL;
   block->next = NULL;
   block->used = 0;
   return block;
}

void agx_device_return_blocks(struct agx_device *device, struct agx_record_block *first)
{
   if (!first)
      return;
   struct agx_record_block *last = first;
   while (last->next)
      last = last->next;
   pthread_mutex_lock(&device->blocks_lock);
   last->next = device->blocks;
   device->blocks = first;
   pthread_mutex_unlock(&device->blocks_lock);
}

/* ---- lifetime --------------------------------------------------------- */

/* Everything but the worker. */
static void free_device(struct agx_device *device)
{
   struct agx_instance *instance = device->instance;
   agx_submissions_fini(device);
   while (device->blocks) {
      struct agx_record_block *block = device->blocks;
      device->blocks = block->next;
      agx_host_free(device->alloc, block, sizeof(*block));
   }
   agx_tags_fini(device);
   if (device->timeline)
      agxw_timeline_destroy(device->timeline);
   if (device->queue)
      agxw_queue_destroy(device->queue);
   if (device->winsys)
      agxw_device_destroy(device->winsys);
   pthread_mutex_destroy(&device->blocks_lock);
   pthread_cond_destroy(&device->work);
   pthread_cond_destroy(&device->changed);
   pthread_mutex_destroy(&device->lock);
   agx_host_free(device->alloc, device, sizeof(*device));
   agx_release(instance);
}

/* Nothing is parked or in flight: each would hold a reference. */
static void device_destroy(struct agx_object *object)
{
   struct agx_device *device = agx_container_of(object, struct agx_device, object);
   pthread_mutex_lock(&device->lock);
   device->stop = true;
   pthread_cond_signal(&device->work);
   bool in_worker = pthread_equal(pthread_self(), device->worker);
   device->is_orphan = in_worker;
   pthread_mutex_unlock(&device->lock);
   if (in_worker)
      return;
   pthread_join(device->worker, NULL);
   free_device(device);
}

void agx_device_worker_ends(struct agx_device *device)
{
   if (!device->is_orphan)
      return;
   pthread_detach(pthread_self());
   free_device(device);
}

static const struct agx_object_type device_type = {"device", device_destroy};

static void init_locks(struct agx_device *device)
{
   pthread_condattr_t monotonic;
   pthread_condattr_init(&monotonic);
   pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
   pthread_mutex_init(&device->lock, NULL);
   pthread_mutex_init(&device->blocks_lock, NULL);
   agx_tags_init(&device->tags);
   pthread_cond_init(&device->changed, &monotonic);
   pthread_cond_init(&device->work, NULL);
   pthread_condattr_destroy(&monotonic);
   agx_list_init(&device->in_flight);
   agx_list_init(&device->parked);
   agx_list_init(&device->spare);
}

static agx_status open_kmd(const struct agx_device_desc *desc, struct agx_kmd **out_kmd)
{
   const char *name = desc->name ? desc->name : "auto";
   const char *preferred = getenv("AGX_DEVICE"), *capture = desc->capture_path;
   if (strcmp(name, "auto") == 0 && preferred && *preferred)
      name = preferred;
   if (!capture)
      capture = getenv("AGX_CAPTURE");
   if (capture && !*capture)
      capture = NULL;
   return agxw_kmd_open(name, capture, out_kmd);
}

static agx_status open_winsys(struct agx_device *device, struct agx_kmd *kmd)
{
   AGX_TRY(agxw_device_create(kmd, device->alloc, &device->winsys));
   AGX_TRY(agxw_queue_create(device->winsys, 0, &device->queue));
   return agxw_timeline_create(device->winsys, 0, &device->timeline);
}

/* Takes the kmd over, also when it fails. */
static agx_status start(struct agx_device *device, struct agx_kmd *kmd)
{
   AGX_TRY(open_winsys(device, kmd));
   if (device->debug & AGX_DEBUG_BOUNDS && !agxw_device_watches(device->winsys))
      return AGX_FAIL(AGX_UNIMPLEMENTED,
                      "device: AGX_DEBUG=bounds: %s does not watch what kernels "
                      "access; a virtual device of this process does",
                      agxw_device_info(device->winsys)->node);
   int error = pthread_create(&device->worker, NULL, agx_device_work, device);
   if (error)
      return agx_status_fail_errno(error, "device: worker thread");
   return AGX_OK;
}

static struct agx_device *allocate(struct agx_instance *instance, uint32_t debug)
{
   struct agx_device *device = agx_host_zalloc(&instance->alloc, sizeof(*device));
   if (!device)
      return NULL;
   agx_object_init(&device->object, &device_type);
   agx_retain(instance);
   device->instance = instance;
   device->alloc = &instance->alloc;
   device->debug = debug;
   init_locks(device);
   return device;
}

agx_status agx_device_open_kmd(struct agx_instance *instance, struct agx_kmd *kmd,
                               struct agx_device **out_device)
{
   uint32_t debug = 0;
   *out_device = NULL;
   agx_status status = agx_debug_parse(getenv("AGX_DEBUG"), &debug);
   struct agx_device *device = status == AGX_OK ? allocate(instance, debug) : NULL;
   if (!device) {
      kmd->ops->close(kmd);
      return status != AGX_OK ? status
                              : AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "device: out of host memory");
   }
   status = start(device, kmd);
   if (status != AGX_OK) {
      free_device(device);
      return status;
   }
   *out_device = device;
   return AGX_OK;
}

agx_status agx_device_open(struct agx_instance *instance, const struct agx_device_desc *desc,
                           struct agx_device **out_device)
{
   struct agx_device_desc read;
   struct agx_kmd *kmd = NULL;
   *out_device = NULL;
   AGX_TRY(agx_desc_read("agx_device_desc", desc, &read, sizeof(read)));
   AGX_TRY(open_kmd(&read, &kmd));
   return agx_device_open_kmd(instance, kmd, out_device);
}

/* ---- queries ---------------------------------------------------------- */

void agx_device_get_info(struct agx_device *device, struct agx_device_info *out_info)
{
   const struct agxw_device_info *winsys = agxw_device_info(device->winsys);
   struct agx_device_info info = {
      .is_virtual = winsys->is_virtual,
      .core_count = winsys->core_count,
      .max_khz = winsys->max_khz,
      .max_workgroup_threads = AGX_MAX_WORKGROUP_THREADS,
      .max_shared_B = AGX_MAX_SHARED_BYTES,
      .simd_lanes = AGX_SIMD_LANES,
      .page_B = AGX_PAGE_BYTES,
      .max_push_B = AGX_MAX_PUSH_B,
      .max_bindings = AGX_MAX_BINDINGS,
      .max_workgroups = {0x7fffffff, 65535, 65535},
   };
   snprintf(info.name, sizeof(info.name), "%s", winsys->name);
   snprintf(info.node, sizeof(info.node), "%s", winsys->node);
   snprintf(info.chip, sizeof(info.chip), "%s", winsys->chip->name);
   agx_info_write(out_info, &info, sizeof(info));
}

agx_status agx_device_status(struct agx_device *device)
{
   pthread_mutex_lock(&device->lock);
   agx_status status = agx_failure_raise(&device->lost);
   pthread_mutex_unlock(&device->lock);
   return status;
}
