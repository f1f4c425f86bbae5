/* SPDX-License-Identifier: MIT
 *
 * Buffers: a GEM object, a range of address space that it is bound to for all its
 * life, and one CPU mapping made when it is first asked for.
 */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "winsys/device_impl.h"

agx_status agxw_vm_bind(struct agxw_device *device, const struct agxw_bo *bo, uint64_t va,
                        uint64_t bytes, uint32_t bind_flags)
{
   struct agx_uapi_gem_bind_op op = {
      .flags = bind_flags, .handle = bo ? bo->handle : 0, .range = bytes, .addr = va};
   struct agx_uapi_vm_bind bind = {
      .vm_id = device->vm_id, .num_binds = 1, .stride = sizeof(op), .userptr = (uintptr_t)&op};
   int error = agxw_ioctl(device, AGX_IOCTL_ASAHI_VM_BIND, &bind);
   if (error)
      return agx_status_fail_errno(error, "%s: VM_BIND of %#llx bytes at %#llx",
                                   bo ? bo->label : "buffer", (unsigned long long)bytes,
                                   (unsigned long long)va);
   return AGX_OK;
}

static agx_status create_object(struct agxw_bo *bo)
{
   struct agxw_device *device = bo->device;
   bool shareable = bo->flags & AGXW_BO_SHAREABLE;
   struct agx_uapi_gem_create create = {
      .size = bo->size,
      .flags = (shareable ? 0 : AGX_UAPI_GEM_VM_PRIVATE) |
               (bo->flags & AGXW_BO_CACHED ? AGX_UAPI_GEM_WRITEBACK : 0),
      .vm_id = shareable ? 0 : device->vm_id,
   };
   int error = agxw_ioctl(device, AGX_IOCTL_ASAHI_GEM_CREATE, &create);
   if (error)
      return agx_status_fail_errno(error, "%s: GEM_CREATE of %#llx bytes", bo->label,
                                   (unsigned long long)bo->size);
   bo->handle = create.handle;
   if (shareable)
      agxw_share_enter(bo);
   if (device->kmd->inspection->label)
      device->kmd->inspection->label(device->kmd, bo->handle, bo->label);
   return AGX_OK;
}

/* False when the kernel kept the object, and with it maybe the binding. */
static bool close_object(struct agxw_bo *bo)
{
   if (bo->is_listed)
      return agxw_share_leave(bo);
   struct agx_uapi_gem_close close = {.handle = bo->handle};
   bool gone = agxw_ioctl(bo->device, AGX_IOCTL_GEM_CLOSE, &close) == 0;
   bo->handle = 0;
   return gone;
}

agx_status agxw_bo_bind_whole(struct agxw_bo *bo)
{
   uint32_t write = bo->flags & AGXW_BO_READ_ONLY ? 0 : AGX_UAPI_BIND_WRITE;
   return agxw_vm_bind(bo->device, bo, bo->va, bo->size, AGX_UAPI_BIND_READ | write);
}

static struct agxw_va_heap *heap_of(const struct agxw_bo *bo)
{
   return bo->flags & AGXW_BO_USC ? &bo->device->usc : &bo->device->user;
}

agx_status agxw_bo_take_address(struct agxw_bo *bo, uint64_t align)
{
   struct agxw_device *device = bo->device;
   pthread_mutex_lock(&device->lock);
   agx_status status = agxw_va_heap_alloc(heap_of(bo), bo->size, align, &bo->va);
   if (status == AGX_OK) {
      bo->heap_B = bo->size;
      if (!(bo->flags & AGXW_BO_USC))
         status = agxw_sinks_place(device, bo->va, bo->size);
   }
   pthread_mutex_unlock(&device->lock);
   if (status != AGX_OK)
      agx_error_prefix("%s", bo->label);
   return status;
}

static void give_address_back(struct agxw_bo *bo)
{
   pthread_mutex_lock(&bo->device->lock);
   agxw_va_heap_free(heap_of(bo), bo->va, bo->heap_B);
   pthread_mutex_unlock(&bo->device->lock);
}

agx_status agxw_bo_new(struct agxw_device *device, uint64_t size, uint32_t flags, const char *label,
                       struct agxw_bo **out_bo)
{
   const uint32_t known = AGXW_BO_USC | AGXW_BO_READ_ONLY | AGXW_BO_CACHED | AGXW_BO_SHAREABLE;
   label = label ? label : "buffer";
   if (flags & ~known)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%.32s: unknown flags %#x", label, flags & ~known);
   if (size == 0 || size > AGXW_MAX_BO_BYTES)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%.32s: size %llu; 1 to 2^37 bytes are possible", label,
                      (unsigned long long)size);
   struct agxw_bo *bo = agx_host_zalloc(device->alloc, sizeof(*bo));
   if (!bo)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%.32s: no memory for the object", label);
   bo->device = device;
   bo->size = agx_align_up(size, device->page_bytes);
   bo->bytes = size;
   bo->flags = flags;
   snprintf(bo->label, sizeof(bo->label), "%s", label);
   *out_bo = bo;
   return AGX_OK;
}

/* Makes and binds the object of a buffer that has its address; undone on failure. */
static agx_status populate(struct agxw_bo *bo, struct agxw_bo **out_bo)
{
   agx_status status = create_object(bo);
   if (status == AGX_OK)
      status = agxw_bo_bind_whole(bo);
   if (status != AGX_OK) {
      agxw_bo_destroy(bo);
      return status;
   }
   agxw_places_add(bo);
   *out_bo = bo;
   return AGX_OK;
}

agx_status agxw_bo_create(struct agxw_device *device, uint64_t size, uint64_t align, uint32_t flags,
                          const char *label, struct agxw_bo **out_bo)
{
   struct agxw_bo *bo = NULL;
   *out_bo = NULL;
   AGX_TRY(agxw_bo_new(device, size, flags, label, &bo));
   agx_status status = agxw_bo_take_address(bo, align);
   if (status != AGX_OK) {
      agxw_bo_destroy(bo);
      return status;
   }
   return populate(bo, out_bo);
}

agx_status agxw_bo_create_fixed(struct agxw_device *device, uint64_t size, uint64_t va,
                                uint32_t flags, const char *label, struct agxw_bo **out_bo)
{
   struct agxw_bo *bo = NULL;
   *out_bo = NULL;
   AGX_TRY(agxw_bo_new(device, size, flags, label, &bo));
   bo->va = va;
   return populate(bo, out_bo);
}

agx_status agxw_bo_create_unbound(struct agxw_device *device, uint64_t size, uint32_t flags,
                                  const char *label, struct agxw_bo **out_bo)
{
   struct agxw_bo *bo = NULL;
   *out_bo = NULL;
   AGX_TRY(agxw_bo_new(device, size, flags, label, &bo));
   agx_status status = create_object(bo);
   if (status != AGX_OK)
      agxw_bo_destroy(bo);
   else
      *out_bo = bo;
   return status;
}

/* The kernel drops bindings with the handle, but a shared object may live on under
 * another one. A range whose binding may still stand is never used again. */
void agxw_bo_destroy(struct agxw_bo *bo)
{
   if (!bo)
      return;
   struct agxw_device *device = bo->device;
   bool unbound = true, outlives = bo->is_listed || bo->is_range;
   agxw_bo_drop_stamps(bo);
   agxw_places_remove(bo);
   if (bo->map) {
      device->kmd->ops->munmap(device->kmd, bo->map, bo->size);
      atomic_fetch_sub_explicit(&device->mapped_B, bo->size, memory_order_relaxed);
   }
   if (outlives && bo->heap_B)
      unbound = agxw_vm_bind(device, NULL, bo->va, bo->size, AGX_UAPI_BIND_UNBIND) == AGX_OK;
   if (bo->handle && !close_object(bo))
      unbound = false;
   if (bo->heap_B && unbound)
      give_address_back(bo);
   agx_host_free(device->alloc, bo, sizeof(*bo));
}

uint64_t agxw_bo_va(const struct agxw_bo *bo)
{
   return bo->va;
}

uint64_t agxw_bo_size(const struct agxw_bo *bo)
{
   return bo->size;
}

uint32_t agxw_bo_flags(const struct agxw_bo *bo)
{
   return bo->flags;
}

void agxw_bo_set_label(struct agxw_bo *bo, const char *label)
{
   struct agx_kmd *kmd = bo->device->kmd;
   pthread_mutex_lock(&bo->device->lock);
   snprintf(bo->label, sizeof(bo->label), "%s", label);
   pthread_mutex_unlock(&bo->device->lock);
   if (kmd->inspection->label && bo->handle)
      kmd->inspection->label(kmd, bo->handle, bo->label);
}

bool agxw_bo_is_mapped(const struct agxw_bo *bo)
{
   return bo->map;
}

uint64_t agxw_device_mapped(const struct agxw_device *device)
{
   return atomic_load_explicit(&device->mapped_B, memory_order_relaxed);
}

static agx_status make_mapping(struct agxw_bo *bo)
{
   struct agxw_device *device = bo->device;
   struct agx_uapi_gem_mmap_offset get = {.handle = bo->handle};
   int error = agxw_ioctl(device, AGX_IOCTL_ASAHI_GEM_MMAP_OFFSET, &get);
   if (error)
      return agx_status_fail_errno(error, "%s: GEM_MMAP_OFFSET", bo->label);
   bo->map = device->kmd->ops->mmap(device->kmd, get.offset, bo->size, &error);
   if (!bo->map)
      return agx_status_fail_errno(error, "%s: mmap of %#llx bytes", bo->label,
                                   (unsigned long long)bo->size);
   atomic_fetch_add_explicit(&device->mapped_B, bo->size, memory_order_relaxed);
   return AGX_OK;
}

agx_status agxw_bo_map(struct agxw_bo *bo, void **out_memory)
{
   *out_memory = NULL;
   if (bo->is_range)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: reserved addresses have no memory to map",
                      bo->label);
   if (bo->size > SIZE_MAX)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: %#llx bytes can't be mapped here", bo->label,
                      (unsigned long long)bo->size);
   pthread_mutex_lock(&bo->device->lock);
   agx_status status = bo->map ? AGX_OK : make_mapping(bo);
   *out_memory = bo->map;
   pthread_mutex_unlock(&bo->device->lock);
   return status;
}

/* What lies at an address, for the messages of faults: the buffers of a device in a list, and
 * the last ones that went, because kernels like to use what was just freed. Only a fault walks
 * them. */

static struct agxw_place place_of(const struct agxw_bo *bo, enum agxw_place_kind kind)
{
   struct agxw_place place = {.kind = kind, .va = bo->va, .bytes = bo->bytes};
   memcpy(place.label, bo->label, sizeof(place.label));
   return place;
}

/* Addresses alone are no memory. The lock is held. */
static void observe(const struct agxw_device *device, const struct agxw_bo *bo, bool is_new)
{
   const struct agxw_place place = place_of(bo, AGXW_PLACE_INSIDE);
   if (device->observe && !bo->is_range)
      device->observe(device->observer, &place, is_new);
}

void agxw_places_add(struct agxw_bo *bo)
{
   struct agxw_device *device = bo->device;
   pthread_mutex_lock(&device->lock);
   agx_list_append(&device->bos, &bo->place);
   observe(device, bo, true);
   pthread_mutex_unlock(&device->lock);
}

void agxw_device_observe(struct agxw_device *device, agxw_observe_fn *fn, void *user)
{
   pthread_mutex_lock(&device->lock);
   device->observe = fn;
   device->observer = user;
   if (fn)
      agx_list_for_each (struct agxw_bo, bo, &device->bos, place)
         observe(device, bo, true);
   pthread_mutex_unlock(&device->lock);
}

void agxw_places_remove(struct agxw_bo *bo)
{
   struct agxw_device *device = bo->device;
   pthread_mutex_lock(&device->lock);
   if (bo->place.next) { /* which its neighbours write to, too */
      agx_list_remove(&bo->place);
      device->gone[device->gone_count++ % AGX_COUNT(device->gone)] = place_of(bo, AGXW_PLACE_FREED);
      observe(device, bo, false);
   }
   pthread_mutex_unlock(&device->lock);
}

/* A place for the buffer in *place when it is nearer to va than what stands there. */
static void consider(const struct agxw_bo *bo, uint64_t va, struct agxw_place *place)
{
   uint64_t end = bo->va + bo->bytes;
   bool is_inside = va >= bo->va && va < end, is_behind = va >= end;
   uint64_t distance = is_behind ? va - end : is_inside ? va - bo->va : bo->va - va;
   if (bo->bytes == 0 || place->kind == AGXW_PLACE_INSIDE ||
       (!is_inside && place->kind != AGXW_PLACE_NOWHERE && distance > place->distance))
      return;
   *place = place_of(bo, is_inside   ? AGXW_PLACE_INSIDE
                         : is_behind ? AGXW_PLACE_BEHIND
                                     : AGXW_PLACE_BEFORE);
   place->distance = distance;
}

static bool find_gone(const struct agxw_device *device, uint64_t va, struct agxw_place *out_place)
{
   uint64_t kept = AGX_MIN(device->gone_count, AGX_COUNT(device->gone));
   for (uint64_t i = 1; i <= kept; i++) {
      const struct agxw_place *gone =
         &device->gone[(device->gone_count - i) % AGX_COUNT(device->gone)];
      if (va < gone->va || va - gone->va >= gone->bytes)
         continue;
      *out_place = *gone;
      out_place->distance = va - gone->va;
      return true;
   }
   return false;
}

void agxw_device_find_place(struct agxw_device *device, uint64_t va, struct agxw_place *out_place)
{
   *out_place = (struct agxw_place){.kind = AGXW_PLACE_NOWHERE};
   pthread_mutex_lock(&device->lock);
   bool is_mapped = false; /* the rest of a last page is a live buffer's, too */
   agx_list_for_each (struct agxw_bo, bo, &device->bos, place) {
      consider(bo, va, out_place);
      is_mapped |= va >= bo->va && va - bo->va < bo->size;
   }
   struct agxw_place gone;
   if (!is_mapped && find_gone(device, va, &gone))
      *out_place = gone;
   pthread_mutex_unlock(&device->lock);
}

static struct agxw_bo *find_bo(struct agxw_device *device, uint64_t va)
{
   struct agxw_bo *found = NULL;
   pthread_mutex_lock(&device->lock);
   agx_list_for_each (struct agxw_bo, bo, &device->bos, place)
      if (!bo->is_range && va >= bo->va && va - bo->va < bo->size)
         found = bo;
   pthread_mutex_unlock(&device->lock);
   return found;
}

bool agxw_device_read(struct agxw_device *device, uint64_t va, void *out, size_t bytes)
{
   struct agxw_bo *bo = find_bo(device, va);
   void *memory = NULL;
   if (!bo || !agx_range_fits(va - bo->va, bytes, bo->size) || agxw_bo_map(bo, &memory) != AGX_OK)
      return false;
   memcpy(out, (const uint8_t *)memory + (va - bo->va), bytes);
   return true;
}
