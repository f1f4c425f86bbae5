/* SPDX-License-Identifier: MIT
 *
 * What lies at an address, for the messages of faults: the buffers of a device in a list, and
 * the last ones that went, because kernels like to use what was just freed. Only a fault walks
 * them.
 */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "winsys/device.h"

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
