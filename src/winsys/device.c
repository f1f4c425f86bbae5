/* SPDX-License-Identifier: MIT
 *
 * A device: parameters checked, address space planned, the VM, and its sinks.
 */
#include "winsys/device_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

/* The host's page size in bytes. */
static uint32_t host_page_bytes(void)
{
   const char *wish = getenv("AGX_HOST_PAGE"); /* tests with another size */
   uint32_t bytes = wish ? (uint32_t)strtoul(wish, NULL, 0) : 0;
   bool usable = bytes >= 4096 && (bytes & (bytes - 1)) == 0;
   return usable ? bytes : (uint32_t)sysconf(_SC_PAGESIZE);
}

static agx_status read_params(struct agxw_device *device, struct agx_uapi_params_global *params)
{
   struct agx_uapi_get_params get = {.pointer = (uintptr_t)params, .size = sizeof(*params)};
   int error = agxw_ioctl(device, AGX_IOCTL_ASAHI_GET_PARAMS, &get);
   if (error)
      return agx_status_fail_errno(error, "%s: GET_PARAMS", device->kmd->name);
   return AGX_OK;
}

static uint32_t count_cores(const struct agx_uapi_params_global *params)
{
   uint32_t cores = 0;
   for (uint32_t i = 0; i < params->num_clusters_total; i++)
      cores += (uint32_t)__builtin_popcountll(params->core_masks[i]);
   return cores;
}

/* Refuses what this driver has no knowledge of. */
static agx_status find_chip(const struct agxw_device *device,
                            const struct agx_uapi_params_global *params,
                            const struct agx_chip **out_chip)
{
   const char *node = device->kmd->name;
   const struct agx_chip *chip = agx_chip_by_id(params->chip_id);
   if (!chip)
      return AGX_FAIL(AGX_INCOMPATIBLE,
                      "%s: chip %#x of generation %u is not known; G13 and G14 are supported", node,
                      params->chip_id, params->gpu_generation);
   if (chip->generation != params->gpu_generation || (uint32_t)chip->variant != params->gpu_variant)
      return AGX_FAIL(AGX_INCOMPATIBLE,
                      "%s: chip %#x reports generation %u variant %#x; %s is G%u%c", node,
                      params->chip_id, params->gpu_generation, params->gpu_variant, chip->soc,
                      chip->generation, chip->variant);
   if (params->num_clusters_total > AGX_UAPI_MAX_CLUSTERS || count_cores(params) == 0)
      return AGX_FAIL(AGX_INCOMPATIBLE, "%s: %u clusters with %u cores", node,
                      params->num_clusters_total,
                      params->num_clusters_total > AGX_UAPI_MAX_CLUSTERS ? 0 : count_cores(params));
   if (params->max_commands_per_submission == 0)
      return AGX_FAIL(AGX_INCOMPATIBLE, "%s: 0 commands per submission", node);
   *out_chip = chip;
   return AGX_OK;
}

/* revision: letter << 4 | digit, letter 0 = A; 0x11 prints as B1. */
static void fill_info(struct agxw_device *device, const struct agx_chip *chip,
                      const struct agx_uapi_params_global *params)
{
   struct agxw_device_info *info = &device->info;
   info->chip = chip;
   snprintf(info->name, sizeof(info->name), "%s (G%u%c %02X)", chip->market, params->gpu_generation,
            (char)params->gpu_variant, (params->gpu_revision & 0xff) + 0xa0);
   snprintf(info->node, sizeof(info->node), "%s", device->kmd->name);
   info->is_virtual = strncmp(device->kmd->name, "virtual", 7) == 0;
   info->core_count = count_cores(params);
   info->cluster_count = params->num_clusters_total;
   info->cores_per_cluster = params->num_cores_per_cluster;
   memcpy(info->core_masks, params->core_masks, sizeof(info->core_masks));
   info->max_khz = params->max_frequency_khz;
   info->soft_faults = params->features & AGX_UAPI_FEATURE_SOFT_FAULTS;
   info->max_commands = params->max_commands_per_submission;
   info->timestamp_hz = params->command_timestamp_frequency_hz;
   info->usc_base = device->address_map.usc_start;
}

static agx_status create_vm(struct agxw_device *device)
{
   struct agx_uapi_vm_create create = {.kernel_start = device->address_map.kernel_start,
                                       .kernel_end = device->address_map.kernel_end};
   int error = agxw_ioctl(device, AGX_IOCTL_ASAHI_VM_CREATE, &create);
   if (error)
      return agx_status_fail_errno(error, "%s: VM_CREATE with kernel range %#llx..%#llx",
                                   device->kmd->name, (unsigned long long)create.kernel_start,
                                   (unsigned long long)create.kernel_end);
   device->vm_id = create.vm_id;
   return AGX_OK;
}

/* The window's first page stays free: offset 0 means "no program" in several places. */
static agx_status init_heaps(struct agxw_device *device)
{
   const struct agxw_address_map *map = &device->address_map;
   AGX_TRY(agxw_va_heap_init(&device->usc, "USC window", map->usc_start + AGX_PAGE_BYTES,
                             map->usc_end, device->alloc));
   AGX_TRY(agxw_va_heap_init(&device->user, "user address space", map->user_start, map->user_end,
                             device->alloc));
   agxw_va_heap_divide(&device->user, AGXW_WINDOW_BYTES, AGXW_SINK_BYTES);
   return AGX_OK;
}

static agx_status open_device(struct agxw_device *device)
{
   struct agx_uapi_params_global params = {0};
   const struct agx_chip *chip = NULL;
   AGX_TRY(read_params(device, &params));
   AGX_TRY(find_chip(device, &params, &chip));
   AGX_TRY(agxw_address_map_make(params.vm_start, params.vm_end, params.vm_kernel_min_size,
                                 &device->address_map));
   fill_info(device, chip, &params);
   AGX_TRY(create_vm(device));
   AGX_TRY(init_heaps(device));
   return agxw_sinks_init(device);
}

/* What needs no GPU. */
static agx_status open_syncs(struct agxw_device *device)
{
   snprintf(device->info.name, sizeof(device->info.name), "%s, timelines only", device->kmd->name);
   snprintf(device->info.node, sizeof(device->info.node), "%s", device->kmd->name);
   return AGX_OK;
}

static agx_status create(struct agx_kmd *kmd, const struct agx_host_alloc *alloc,
                         agx_status (*open)(struct agxw_device *device),
                         struct agxw_device **out_device)
{
   *out_device = NULL;
   struct agxw_device *device = agx_host_zalloc(alloc, sizeof(*device));
   if (!device) {
      kmd->ops->close(kmd);
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "device: no memory for %zu bytes", sizeof(*device));
   }
   device->alloc = alloc;
   device->kmd = kmd;
   device->page_bytes = AGX_MAX(AGX_PAGE_BYTES, host_page_bytes());
   pthread_mutex_init(&device->lock, NULL);
   pthread_mutex_init(&device->share_lock, NULL);
   pthread_mutex_init(&device->split_lock, NULL);
   agx_list_init(&device->shared);
   agx_list_init(&device->bos);
   agx_status status = open(device);
   if (status != AGX_OK) {
      agxw_device_destroy(device);
      return status;
   }
   *out_device = device;
   return AGX_OK;
}

agx_status agxw_device_create(struct agx_kmd *kmd, const struct agx_host_alloc *alloc,
                              struct agxw_device **out_device)
{
   return create(kmd, alloc, open_device, out_device);
}

agx_status agxw_device_create_syncs(struct agx_kmd *kmd, const struct agx_host_alloc *alloc,
                                    struct agxw_device **out_device)
{
   return create(kmd, alloc, open_syncs, out_device);
}

void agxw_device_destroy(struct agxw_device *device)
{
   if (!device)
      return;
   agxw_bo_destroy(device->waste_page);
   agxw_bo_destroy(device->zero_page);
   agxw_va_heap_fini(&device->user);
   agxw_va_heap_fini(&device->usc);
   if (device->vm_id) {
      struct agx_uapi_vm_destroy destroy = {.vm_id = device->vm_id};
      agxw_ioctl(device, AGX_IOCTL_ASAHI_VM_DESTROY, &destroy);
   }
   device->kmd->ops->close(device->kmd);
   pthread_mutex_destroy(&device->split_lock);
   pthread_mutex_destroy(&device->share_lock);
   pthread_mutex_destroy(&device->lock);
   agx_host_free(device->alloc, device, sizeof(*device));
}

uint32_t agxw_device_page(const struct agxw_device *device)
{
   return device->page_bytes;
}

const struct agxw_device_info *agxw_device_info(const struct agxw_device *device)
{
   return &device->info;
}

size_t agxw_device_fault_text(struct agxw_device *device, char *text, size_t capacity)
{
   if (capacity > 0)
      text[0] = 0;
   if (!device->kmd->inspection->last_error)
      return 0;
   return device->kmd->inspection->last_error(device->kmd, text, capacity);
}

bool agxw_device_take_fault(struct agxw_device *device, uint64_t first_va, uint64_t last_va,
                            struct agx_kmd_fault *out_fault)
{
   return device->kmd->inspection->take_fault &&
          device->kmd->inspection->take_fault(device->kmd, first_va, last_va, out_fault);
}

agx_status agxw_device_watch_counters(struct agxw_device *device,
                                      void (*fn)(void *user,
                                                 const struct agx_kmd_counters *counters),
                                      void *user)
{
   const struct agx_kmd_inspection *inspection = device->kmd->inspection;
   int error =
      inspection->watch_counters ? inspection->watch_counters(device->kmd, fn, user) : -EOPNOTSUPP;
   if (error == -EOPNOTSUPP)
      return AGX_FAIL(AGX_UNAVAILABLE,
                      "%s: counts nothing; a virtual device of this process does, unless "
                      "AGX_VIRTUAL_CHAOS is set",
                      device->kmd->name);
   if (error)
      return agx_status_fail_errno(error, "%s: counters", device->kmd->name);
   return AGX_OK;
}

int agxw_device_record(struct agxw_device *device, bool is_recorded, const char *label)
{
   const struct agx_kmd_inspection *inspection = device->kmd->inspection;
   return inspection->record_memory ? inspection->record_memory(device->kmd, is_recorded, label)
                                    : -EOPNOTSUPP;
}

bool agxw_device_watches(const struct agxw_device *device)
{
   return device->kmd->inspection->declare_bounds != NULL;
}

agx_status agxw_device_declare_bounds(struct agxw_device *device, uint64_t stream_va,
                                      const struct agx_kmd_range *ranges, uint32_t count)
{
   if (!device->kmd->inspection->declare_bounds)
      return AGX_FAIL(AGX_UNIMPLEMENTED,
                      "%s: does not watch what kernels access; the virtual "
                      "device does",
                      device->kmd->name);
   int error = device->kmd->inspection->declare_bounds(device->kmd, stream_va, ranges, count);
   if (error)
      return agx_status_fail_errno(error, "%s: bounds of %u ranges", device->kmd->name, count);
   return AGX_OK;
}
