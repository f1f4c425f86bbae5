/* SPDX-License-Identifier: MIT
 *
 * Opens a device: makes each room's state, connects the rooms' hooks, and takes all of it apart in
 * reverse. Applications call it; tests open devices over a kmd of their own.
 */
#include "hal/device/device.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/debug.h"
#include "base/thread.h"
#include "base/util.h"
#include "hal/core/desc.h"
#include "hal/executable/digest.h"
#include "hal/host/host_pool.h"
#include "hal/memory/state.h"
#include "hal/profile/profile.h"
#include "hal/sync/state.h"

/* ---- lifetime --------------------------------------------------------- */

/* Everything but the worker. */
static void free_device(struct agx_device *device)
{
   struct agx_instance *instance = device->instance;
   agx_profile_fini(device);
   agx_host_state_fini(device);
   agx_sync_state_fini(device);
   agx_executable_state_fini(device);
   agx_recorder_state_fini(device);
   agx_memory_state_fini(device);
   if (device->context.winsys)
      agxw_device_destroy(device->context.winsys);
   pthread_mutex_destroy(&device->context.labels_lock);
   agx_host_free(device->context.alloc, device, sizeof(*device));
   agx_release(instance);
}

/* Nothing is parked or in flight: each would hold a reference. */
static void *destroy_device(void *argument)
{
   struct agx_device *device = argument;
   agx_sync_stop(device);
   free_device(device);
   return NULL;
}

/* The last reference may go in the very thread that must end first. */
static void device_destroy(struct agx_object *object)
{
   struct agx_device *device = agx_container_of(object, struct agx_device, context.object);
   pthread_t thread;
   if (!agx_on_library_thread)
      destroy_device(device);
   else if (agx_thread_start(&thread, NULL, destroy_device, device) == 0)
      pthread_detach(thread);
   else
      agx_log(device->context.log, AGX_LOG_WARNING,
              "no thread to close a device with; it stays open");
}

static const struct agx_object_type device_type = {"device", device_destroy};

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
   return desc->flags & AGX_DEVICE_COMMON_NODE ? agxw_kmd_open_common(name, capture, out_kmd)
                                               : agxw_kmd_open(name, capture, out_kmd);
}

static agx_status open_winsys(struct agx_device *device, struct agx_kmd *kmd, bool syncs_only)
{
   if (syncs_only)
      AGX_TRY(agxw_device_create_syncs(kmd, device->context.alloc, &device->context.winsys));
   else
      AGX_TRY(agxw_device_create(kmd, device->context.alloc, &device->context.winsys));
   return AGX_OK;
}

static void trim(struct agx_device *device)
{
   agx_one_shots_trim(&device->sync.one_shots);
}

static const struct agx_memory_hooks memory_hooks = {
   .reached = agx_device_reached, .memory_returned = agx_device_retry, .trim = trim};

/* Takes the kmd over, also when it fails. */
static agx_status start(struct agx_device *device, const struct agx_device_desc *desc,
                        struct agx_kmd *kmd, bool syncs_only)
{
   AGX_TRY(open_winsys(device, kmd, syncs_only));
   if (desc->flags & AGX_DEVICE_CAPTURE_RANGES)
      (void)agxw_device_record(device->context.winsys, false, NULL);
   AGX_TRY(agx_memory_state_init(device, desc, &memory_hooks));
   AGX_TRY(agx_host_state_init(device, device->instance));
   AGX_TRY(agx_sync_open_queues(device, desc));
   AGX_TRY(agx_executable_state_init(device));
   if (device->context.debug & AGX_DEBUG_BOUNDS && !agxw_device_watches(device->context.winsys))
      return AGX_FAIL(AGX_UNIMPLEMENTED,
                      "device: AGX_DEBUG=bounds: %s does not watch what kernels "
                      "access; a virtual device of this process does",
                      agxw_device_info(device->context.winsys)->node);
   AGX_TRY(agx_profile_open_environment(device));
   return agx_sync_start_worker(device);
}

static _Atomic uint32_t opened; /* devices, ever */

static const struct agx_sync_hooks sync_hooks = {
   .types = {[AGX_OP_READ] = &agx_file_read_op,
             [AGX_OP_WRITE] = &agx_file_write_op,
             [AGX_OP_HOST_CALL] = &agx_host_call_op},
   .host_transfer = &agx_host_transfer_op,
   .is_host_thread = agx_host_pool_is_here,
};

static struct agx_device *allocate(struct agx_instance *instance, uint32_t debug)
{
   struct agx_device *device = agx_host_zalloc(&instance->alloc, sizeof(*device));
   if (!device)
      return NULL;
   device->context = (struct agx_context){
      .alloc = &instance->alloc,
      .log = &instance->log,
      .number = atomic_fetch_add(&opened, 1) + 1,
      .debug = debug,
      .memory = &device->memory,
      .executable = &device->executable,
      .recorder = &device->recorder,
      .sync = &device->sync,
      .host = &device->host,
   };
   pthread_mutex_init(&device->context.labels_lock, NULL);
   agx_object_init(&device->context.object, &device_type);
   agx_retain(instance);
   device->instance = instance;
   agx_recorder_state_init(device);
   agx_sync_state_init(device, &sync_hooks);
   return device;
}

static agx_status open_over(struct agx_instance *instance, const struct agx_device_desc *desc,
                            struct agx_kmd *kmd, bool syncs_only, struct agx_device **out_device)
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
   status = start(device, desc, kmd, syncs_only);
   if (status != AGX_OK) {
      free_device(device);
      return status;
   }
   *out_device = device;
   return AGX_OK;
}

agx_status agx_device_open_over(struct agx_instance *instance, const struct agx_device_desc *desc,
                                struct agx_kmd *kmd, struct agx_device **out_device)
{
   return open_over(instance, desc, kmd, false, out_device);
}

agx_status agx_device_open_syncs(struct agx_instance *instance, struct agx_kmd *kmd,
                                 struct agx_device **out_device)
{
   const struct agx_device_desc desc = {.size = sizeof(desc)};
   return open_over(instance, &desc, kmd, true, out_device);
}

agx_status agx_device_open(struct agx_instance *instance, const struct agx_device_desc *desc,
                           struct agx_device **out_device)
{
   struct agx_device_desc read;
   struct agx_kmd *kmd = NULL;
   *out_device = NULL;
   AGX_TRY(agx_desc_read("agx_device_desc", desc, &read, sizeof(read)));
   AGX_TRY(open_kmd(&read, &kmd));
   return agx_device_open_over(instance, &read, kmd, out_device);
}

/* ---- queries ---------------------------------------------------------- */

/* Of what the kernel tells that doesn't change from boot to boot. */
static void make_uuid(const struct agxw_device_info *winsys, uint8_t uuid[16])
{
   uint8_t digest_B[AGX_DIGEST_B];
   struct agx_digest digest;
   agx_digest_init(&digest);
   agx_digest_add_text(&digest, winsys->is_virtual ? "agxhal virtual device" : "agxhal device");
   agx_digest_add_text(&digest, winsys->chip ? winsys->chip->name : NULL);
   agx_digest_add_u64(&digest, winsys->cluster_count);
   for (uint32_t i = 0; i < winsys->cluster_count; i++)
      agx_digest_add_u64(&digest, winsys->core_masks[i]);
   agx_digest_end(&digest, digest_B);
   memcpy(uuid, digest_B, 16);
   uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x80);
   uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

static void describe(const struct agxw_device_info *winsys, uint32_t queue_count,
                     struct agx_device_info *out)
{
   *out = (struct agx_device_info){
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
      .queue_count = queue_count,
      .max_binding_B = AGX_MAX_BINDING_B,
      .timestamp_hz = winsys->timestamp_hz ? winsys->timestamp_hz : 1000000000,
   };
   snprintf(out->name, sizeof(out->name), "%s", winsys->name);
   snprintf(out->node, sizeof(out->node), "%s", winsys->node);
   snprintf(out->chip, sizeof(out->chip), "%s", winsys->chip ? winsys->chip->name : "none");
   make_uuid(winsys, out->uuid);
}

void agx_device_get_info(struct agx_device *device, struct agx_device_info *out_info)
{
   struct agx_device_info info;
   describe(agxw_device_info(device->context.winsys), device->sync.queue_count, &info);
   agx_info_write_or_log(device, "agx_device_info", out_info, &info, sizeof(info));
}

agx_status agx_instance_get_device_info(struct agx_instance *instance, const char *name,
                                        struct agx_device_info *out_info)
{
   const struct agx_device_desc desc = {.size = sizeof(desc), .name = name, .capture_path = ""};
   struct agx_kmd *kmd = NULL;
   struct agxw_device *winsys = NULL;
   struct agx_device_info info;
   AGX_TRY(agx_info_check("agx_device_info", out_info));
   AGX_TRY(open_kmd(&desc, &kmd));
   AGX_TRY(agxw_device_create(kmd, &instance->alloc, &winsys));
   describe(agxw_device_info(winsys), 0, &info);
   agxw_device_destroy(winsys);
   return agx_info_write("agx_device_info", out_info, &info, sizeof(info));
}

agx_status agx_device_status(struct agx_device *device)
{
   AGX_TRY(agx_fork_check(device));
   agx_sync_lock(&device->sync);
   agx_status status = agx_failure_raise(&device->sync.lost);
   agx_sync_unlock(&device->sync);
   return status;
}

void agx_device_cancel(struct agx_device *device)
{
   if (agx_is_inherited(device))
      return;
   agx_sync_cancel(device);
   agx_host_pool_cancel(device->host.pool);
}

/* ---- capture ----------------------------------------------------------- */

static agx_status record(struct agx_device *device, bool is_recorded, const char *label)
{
   const int error = agxw_device_record(device->context.winsys, is_recorded, label);
   if (error == -EOPNOTSUPP)
      return AGX_FAIL(AGX_FAILED_PRECONDITION,
                      "capture: the device was opened without one (capture_path, AGX_CAPTURE)");
   if (error)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "capture: it %s",
                      is_recorded ? "was begun already" : "was not begun");
   return AGX_OK;
}

agx_status agx_device_begin_capture(struct agx_device *device, const char *label)
{
   return record(device, true, label);
}

agx_status agx_device_end_capture(struct agx_device *device)
{
   return record(device, false, NULL);
}
