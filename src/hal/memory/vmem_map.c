/* SPDX-License-Identifier: MIT
 *
 * Keeps the sorted list of parts that are bound in a reservation, for vmem.c.
 */
#include "hal/memory/vmem.h"

#include <string.h>

#include "agx/object.h"
#include "base/util.h"

void agx_vmem_map_fini(struct agx_vmem_map *map)
{
   for (size_t i = 0; i < map->count; i++)
      agx_release(map->parts[i].pages);
   agx_host_free(map->alloc, map->parts, map->capacity * sizeof(*map->parts));
   *map = (struct agx_vmem_map){0};
}

agx_status agx_vmem_map_reserve(struct agx_vmem_map *map, size_t more)
{
   if (map->count + more <= map->capacity)
      return AGX_OK;
   size_t capacity = AGX_MAX(2 * map->capacity, map->count + more + 8);
   struct agx_vmem_part *parts = agx_host_zalloc(map->alloc, capacity * sizeof(*parts));
   if (!parts)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for %zu bound ranges", capacity);
   if (map->count > 0)
      memcpy(parts, map->parts, map->count * sizeof(*parts));
   agx_host_free(map->alloc, map->parts, map->capacity * sizeof(*parts));
   map->parts = parts;
   map->capacity = capacity;
   return AGX_OK;
}

size_t agx_vmem_map_find(const struct agx_vmem_map *map, uint64_t offset_B)
{
   size_t low = 0, high = map->count;
   while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (map->parts[middle].offset_B + map->parts[middle].size_B <= offset_B)
         low = middle + 1;
      else
         high = middle;
   }
   return low;
}

static void insert(struct agx_vmem_map *map, size_t index, const struct agx_vmem_part *part)
{
   agx_assert(map->count < map->capacity);
   memmove(&map->parts[index + 1], &map->parts[index], (map->count - index) * sizeof(*map->parts));
   map->parts[index] = *part;
   map->count++;
}

void agx_vmem_map_cut(struct agx_vmem_map *map, uint64_t offset_B)
{
   size_t index = agx_vmem_map_find(map, offset_B);
   if (index == map->count || map->parts[index].offset_B >= offset_B)
      return;
   struct agx_vmem_part tail = map->parts[index];
   uint64_t head_B = offset_B - tail.offset_B;
   tail.offset_B += head_B;
   tail.pages_offset_B += head_B;
   tail.size_B -= head_B;
   map->parts[index].size_B = head_B;
   agx_retain(tail.pages);
   insert(map, index + 1, &tail);
}

void agx_vmem_map_remove(struct agx_vmem_map *map, uint64_t offset_B, uint64_t end_B)
{
   size_t first = agx_vmem_map_find(map, offset_B), last = first;
   while (last < map->count && map->parts[last].offset_B < end_B)
      agx_release(map->parts[last++].pages);
   memmove(&map->parts[first], &map->parts[last], (map->count - last) * sizeof(*map->parts));
   map->count -= last - first;
}

void agx_vmem_map_put(struct agx_vmem_map *map, const struct agx_vmem_part *part)
{
   insert(map, agx_vmem_map_find(map, part->offset_B), part);
}

static bool is_one(const struct agx_vmem_part *left, const struct agx_vmem_part *right)
{
   return left->offset_B + left->size_B == right->offset_B && left->pages == right->pages &&
          left->pages_offset_B + left->size_B == right->pages_offset_B &&
          left->protection == right->protection;
}

void agx_vmem_map_join(struct agx_vmem_map *map, uint64_t offset_B, uint64_t end_B)
{
   size_t at = agx_vmem_map_find(map, offset_B > 0 ? offset_B - 1 : 0);
   while (at + 1 < map->count && map->parts[at].offset_B <= end_B) {
      struct agx_vmem_part *left = &map->parts[at], *right = left + 1;
      if (!is_one(left, right)) {
         at++;
         continue;
      }
      left->size_B += right->size_B;
      agx_release(right->pages);
      memmove(right, right + 1, (map->count - at - 2) * sizeof(*right));
      map->count--;
   }
}
