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

void agxw_places_add(struct agxw_bo *bo)
{
   struct agxw_device *device = bo->device;
   pthread_mutex_lock(&device->lock);
   agx_list_append(&device->bos, &bo->place);
   pthread_mutex_unlock(&device->lock);
}

void agxw_places_remove(struct agxw_bo *bo)
{
   struct agxw_device *device = bo->device;
   if (!bo->place.next)
      return;
   pthread_mutex_lock(&device->lock);
   agx_list_remove(&bo->place);
   struct agxw_place *gone = &device->gone[device->gone_count++ % AGX_COUNT(device->gone)];
   *gone = (struct agxw_place){.kind = AGXW_PLACE_FREED, .va = bo->va, .bytes = bo->bytes};
   memcpy(gone->label, bo->label, sizeof(gone->label));
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
   *place = (struct agxw_place){
      .kind = is_inside   ? AGXW_PLACE_INSIDE
              : is_behind ? AGXW_PLACE_BEHIND
                          : AGXW_PLACE_BEFORE,
      .va = bo->va,
      .bytes = bo->bytes,
      .distance = distance,
   };
   memcpy(place->label, bo->label, sizeof(place->label));
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
