/* SPDX-License-Identifier: MIT
 *
 * Virtual memory: reserved addresses, pages, and what is bound where.
 */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "hal/memory/buffer.h"
#include "hal/memory/buffer_cache.h"
#include "hal/core/desc.h"
#include "hal/memory/state.h"

struct agx_pages {
   struct agx_object object;
   struct agx_device *device;
   struct agxw_bo *bo;
   uint64_t size_B;
   uint32_t memory, usage;
   char label[AGX_BUFFER_LABEL_BYTES];
};

/* ---- the list of parts --------------------------------------------------------- */

/* What is bound in a reserved range of addresses: a sorted list of parts that don't overlap. Only
 * the list; who changes it asks the kernel first. */
struct part {
   uint64_t offset_B, size_B;
   struct agx_pages *pages; /* retained */
   uint64_t pages_offset_B;
   uint32_t protection; /* enum agx_access, READ and WRITE; 0: not bound in the kernel */
};

/* Embedded. */
struct part_map {
   const struct agx_host_alloc *alloc;
   struct part *parts;
   size_t count, capacity;
};

/* Releases the pages of all parts and frees the list. */
static void parts_fini(struct part_map *map)
{
   for (size_t i = 0; i < map->count; i++)
      agx_release(map->parts[i].pages);
   agx_host_free(map->alloc, map->parts, map->capacity * sizeof(*map->parts));
   *map = (struct part_map){0};
}

/* Room for that many more parts: what parts_cut and _put then need. */
static agx_status parts_reserve(struct part_map *map, size_t more)
{
   if (map->count + more <= map->capacity)
      return AGX_OK;
   size_t capacity = AGX_MAX(2 * map->capacity, map->count + more + 8);
   struct part *parts = agx_host_zalloc(map->alloc, capacity * sizeof(*parts));
   if (!parts)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for %zu bound ranges", capacity);
   if (map->count > 0)
      memcpy(parts, map->parts, map->count * sizeof(*parts));
   agx_host_free(map->alloc, map->parts, map->capacity * sizeof(*parts));
   map->parts = parts;
   map->capacity = capacity;
   return AGX_OK;
}

/* The first part that ends after offset_B; count where there is none. */
static size_t parts_find(const struct part_map *map, uint64_t offset_B)
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

static void insert(struct part_map *map, size_t index, const struct part *part)
{
   agx_assert(map->count < map->capacity);
   memmove(&map->parts[index + 1], &map->parts[index], (map->count - index) * sizeof(*map->parts));
   map->parts[index] = *part;
   map->count++;
}

/* Divides the part that offset_B lies inside of, so that a part begins there; takes room for one.
 */
static void parts_cut(struct part_map *map, uint64_t offset_B)
{
   size_t index = parts_find(map, offset_B);
   if (index == map->count || map->parts[index].offset_B >= offset_B)
      return;
   struct part tail = map->parts[index];
   uint64_t head_B = offset_B - tail.offset_B;
   tail.offset_B += head_B;
   tail.pages_offset_B += head_B;
   tail.size_B -= head_B;
   map->parts[index].size_B = head_B;
   agx_retain(tail.pages);
   insert(map, index + 1, &tail);
}

/* Takes all away between two offsets at which parts were cut. */
static void parts_remove(struct part_map *map, uint64_t offset_B, uint64_t end_B)
{
   size_t first = parts_find(map, offset_B), last = first;
   while (last < map->count && map->parts[last].offset_B < end_B)
      agx_release(map->parts[last++].pages);
   memmove(&map->parts[first], &map->parts[last], (map->count - last) * sizeof(*map->parts));
   map->count -= last - first;
}

/* Puts a part where nothing is, and takes pages over; takes room for one. */
static void parts_put(struct part_map *map, const struct part *part)
{
   insert(map, parts_find(map, part->offset_B), part);
}

static bool is_one(const struct part *left, const struct part *right)
{
   return left->offset_B + left->size_B == right->offset_B && left->pages == right->pages &&
          left->pages_offset_B + left->size_B == right->pages_offset_B &&
          left->protection == right->protection;
}

/* Makes one of neighbours that are one, in the range and at its ends. */
static void parts_join(struct part_map *map, uint64_t offset_B, uint64_t end_B)
{
   size_t at = parts_find(map, offset_B > 0 ? offset_B - 1 : 0);
   while (at + 1 < map->count && map->parts[at].offset_B <= end_B) {
      struct part *left = &map->parts[at], *right = left + 1;
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

/* ---- reservations -------------------------------------------------------------- */

struct reservation {
   struct agx_buffer buffer; /* at offset 0 */
   pthread_mutex_t lock;     /* of map, and of what is asked of the kernel */
   struct part_map map;
};

void agx_vmem_granularity(struct agx_device *device, uint64_t *out_min_B, uint64_t *out_best_B)
{
   *out_min_B = *out_best_B = agxw_device_page(agx_context_of(device)->winsys);
}

/* ---- pages ----------------------------------------------------------------- */

static bool is_mapped(const struct agx_pages *pages)
{
   return pages->memory & AGX_MEMORY_HOST_VISIBLE;
}

static void pages_destroy(struct agx_object *object)
{
   struct agx_pages *pages = agx_container_of(object, struct agx_pages, object);
   struct agx_device *device = pages->device;
   agx_memory_returned(&agx_memory_of(device)->counters, pages->size_B, is_mapped(pages));
   agxw_bo_destroy(pages->bo);
   agx_host_free(agx_context_of(device)->alloc, pages, sizeof(*pages));
   agx_release(device);
}

static const struct agx_object_type pages_type = {"pages", pages_destroy};

/* A description that must say how much. */
static agx_status read_desc(const struct agx_buffer_desc *desc, const char *what,
                            struct agx_buffer_desc *out)
{
   AGX_TRY(agx_desc_read("agx_buffer_desc", desc, out, sizeof(*out)));
   if (out->size_B == 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: size 0", what);
   if (out->usage & AGX_USAGE_SHARING_EXPORT)
      return AGX_FAIL(AGX_UNAVAILABLE, "%s: can't be shared; a buffer can", what);
   AGX_TRY(agx_refuse_timestamps(out->usage, what));
   return agx_buffer_resolve(out, what);
}

agx_status agx_pages_create(struct agx_device *device, const struct agx_buffer_desc *desc,
                            struct agx_pages **out_pages)
{
   struct agx_buffer_desc read;
   *out_pages = NULL;
   AGX_TRY(agx_fork_check(device));
   AGX_TRY(read_desc(desc, "pages", &read));
   struct agx_pages *pages = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*pages));
   if (!pages)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "pages: out of host memory");
   snprintf(pages->label, sizeof(pages->label), "%s", read.label ? read.label : "pages");
   pages->memory = read.memory;
   agx_status status = agx_storage_acquire_unbound(
      device, read.size_B, agx_buffer_bo_flags(read.flags & AGX_BUFFER_HOST_READ, 0),
      is_mapped(pages) ? AGX_STORAGE_HOST_VISIBLE : 0, pages->label, &pages->bo);
   if (status != AGX_OK) {
      agx_host_free(agx_context_of(device)->alloc, pages, sizeof(*pages));
      return status;
   }
   agx_object_init(&pages->object, &pages_type);
   agx_retain(device);
   pages->device = device;
   pages->size_B = agxw_bo_size(pages->bo);
   pages->usage = read.usage;
   *out_pages = pages;
   return AGX_OK;
}

agx_status agx_pages_map(struct agx_pages *pages, void **out_memory)
{
   *out_memory = NULL;
   AGX_TRY(agx_fork_check(pages));
   if (!is_mapped(pages) || !(pages->usage & AGX_USAGE_MAPPING))
      return AGX_FAIL(AGX_PERMISSION_DENIED,
                      "%s: the host can't map them; ask for AGX_USAGE_MAPPING and "
                      "AGX_MEMORY_HOST_VISIBLE",
                      pages->label);
   return agxw_bo_map(pages->bo, out_memory);
}

/* ---- addresses -------------------------------------------------------------- */

/* First the addresses, then the pages: the kernel unbinds what is closed. */
static void reservation_destroy(struct agx_object *object)
{
   struct reservation *it = agx_container_of(object, struct reservation, buffer.object);
   struct agx_device *device = it->buffer.device;
   agx_retain(device);
   agx_buffer_fini(&it->buffer);
   parts_fini(&it->map);
   pthread_mutex_destroy(&it->lock);
   agx_host_free(agx_context_of(device)->alloc, it, sizeof(*it));
   agx_release(device);
}

static const struct agx_object_type reservation_type = {"buffer", reservation_destroy,
                                                        agx_buffer_set_label};

agx_status agx_vmem_reserve(struct agx_device *device, const struct agx_buffer_desc *desc,
                            struct agx_buffer **out_buffer)
{
   struct agx_buffer_desc read;
   struct agxw_bo *bo;
   *out_buffer = NULL;
   AGX_TRY(agx_fork_check(device));
   AGX_TRY(read_desc(desc, "reservation", &read));
   struct reservation *it = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*it));
   if (!it)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "reservation: out of host memory");
   agx_status status = agxw_bo_reserve(agx_context_of(device)->winsys, read.size_B, read.align_B,
                                       read.label ? read.label : "reservation", &bo);
   if (status != AGX_OK) {
      agx_host_free(agx_context_of(device)->alloc, it, sizeof(*it));
      return status;
   }
   read.memory = AGX_MEMORY_DEVICE_LOCAL;
   read.usage &= ~(uint32_t)(AGX_USAGE_MAPPING | AGX_USAGE_MAPPING_READ);
   agx_buffer_init(&it->buffer, &reservation_type, device, bo, &read, "reservation");
   it->buffer.is_reservation = true;
   it->map.alloc = agx_context_of(device)->alloc;
   pthread_mutex_init(&it->lock, NULL);
   *out_buffer = &it->buffer;
   return AGX_OK;
}

static struct reservation *reservation_of(struct agx_buffer *buffer)
{
   while (buffer->parent)
      buffer = buffer->parent;
   return agx_container_of(buffer, struct reservation, buffer);
}

bool agx_vmem_is_empty(struct agx_buffer *buffer)
{
   struct reservation *it = reservation_of(buffer);
   pthread_mutex_lock(&it->lock);
   bool is_empty = it->map.count == 0;
   pthread_mutex_unlock(&it->lock);
   return is_empty;
}

/* ---- binding ------------------------------------------------------------------ */

static agx_status check(const struct agx_buffer *buffer, uint64_t offset_B, uint64_t size_B,
                        uint32_t protection)
{
   uint64_t page = agxw_device_page(agx_context_of(buffer->device)->winsys);
   AGX_TRY(agx_fork_check(buffer));
   if (!buffer->is_reservation || buffer->parent)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: not of agx_vmem_reserve", buffer->label);
   if ((offset_B | size_B) % page || size_B == 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %llu bytes at %llu; whole pages of %llu bytes",
                      buffer->label, (unsigned long long)size_B, (unsigned long long)offset_B,
                      (unsigned long long)page);
   if (!agx_range_fits(offset_B, size_B, agxw_bo_size(buffer->bo)))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: %llu bytes at %llu; it has %llu", buffer->label,
                      (unsigned long long)size_B, (unsigned long long)offset_B,
                      (unsigned long long)agxw_bo_size(buffer->bo));
   if (protection & ~(uint32_t)(AGX_ACCESS_READ | AGX_ACCESS_WRITE))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: protection %#x; AGX_ACCESS_READ and _WRITE",
                      buffer->label, protection);
   return AGX_OK;
}

static agx_status check_pages(const struct agx_buffer *buffer, const struct agx_pages *pages,
                              uint64_t offset_B, uint64_t size_B)
{
   if (!pages)
      return AGX_OK;
   if (pages->device != buffer->device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %s are %s", buffer->label, pages->label,
                      agx_describe_owner(pages->device, buffer->device).text);
   if (offset_B % agxw_device_page(agx_context_of(buffer->device)->winsys) ||
       !agx_range_fits(offset_B, size_B, pages->size_B))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: %llu bytes at %llu of %s, which have %llu",
                      buffer->label, (unsigned long long)size_B, (unsigned long long)offset_B,
                      pages->label, (unsigned long long)pages->size_B);
   return AGX_OK;
}

/* What the kernel is to be asked for, for a part. */
static struct agxw_bind bind_of(const struct part *part, uint32_t protection)
{
   return (struct agxw_bind){.offset = part->offset_B,
                             .bytes = part->size_B,
                             .memory = part->pages && protection ? part->pages->bo : NULL,
                             .memory_offset = part->pages_offset_B,
                             .is_readable = protection & AGX_ACCESS_READ,
                             .is_writable = protection & AGX_ACCESS_WRITE};
}

/* A part at each end may have to be divided, and one comes in. */
static agx_status bind(struct reservation *it, const struct part *part)
{
   uint64_t end_B = part->offset_B + part->size_B;
   struct agxw_bind range = bind_of(part, part->protection);
   AGX_TRY(parts_reserve(&it->map, 3));
   AGX_TRY(agxw_bo_bind(it->buffer.bo, &range, 1));
   parts_cut(&it->map, part->offset_B);
   parts_cut(&it->map, end_B);
   agx_retain(part->pages); /* before the last reference may go with the old part */
   parts_remove(&it->map, part->offset_B, end_B);
   if (part->pages)
      parts_put(&it->map, part);
   parts_join(&it->map, part->offset_B, end_B);
   return AGX_OK;
}

agx_status agx_vmem_bind(struct agx_buffer *buffer, uint64_t offset_B, struct agx_pages *pages,
                         uint64_t pages_offset_B, uint64_t size_B, uint32_t protection)
{
   AGX_TRY(check(buffer, offset_B, size_B, protection));
   AGX_TRY(check_pages(buffer, pages, pages_offset_B, size_B));
   struct reservation *it = reservation_of(buffer);
   const struct part part = {offset_B, size_B, pages, pages ? pages_offset_B : 0,
                             pages ? protection : 0};
   pthread_mutex_lock(&it->lock);
   agx_status status = bind(it, &part);
   pthread_mutex_unlock(&it->lock);
   return status;
}

/* ---- protection ---------------------------------------------------------------- */

static agx_status check_bound(const struct reservation *it, uint64_t offset_B, uint64_t end_B)
{
   const struct part_map *map = &it->map;
   uint64_t at = offset_B;
   for (size_t i = parts_find(map, at); at < end_B; i++) {
      if (i == map->count || map->parts[i].offset_B > at)
         return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: nothing is bound at %llu", it->buffer.label,
                         (unsigned long long)at);
      at = map->parts[i].offset_B + map->parts[i].size_B;
   }
   return AGX_OK;
}

/* Asks the kernel for the parts from `first` on that lie before end_B: as protection says, or with
 * NULL as they are. out_asked: the first part that was not asked for with success. */
static agx_status bind_in_kernel(const struct reservation *it, size_t first, uint64_t end_B,
                                 const uint32_t *protection)
{
   struct agxw_bind binds[AGXW_MAX_BINDS];
   const struct part_map *map = &it->map;
   for (size_t i = first; i < map->count && map->parts[i].offset_B < end_B;) {
      uint32_t count = 0;
      for (; count < AGXW_MAX_BINDS && i < map->count && map->parts[i].offset_B < end_B; i++)
         binds[count++] =
            bind_of(&map->parts[i], protection ? *protection : map->parts[i].protection);
      AGX_TRY(agxw_bo_bind(it->buffer.bo, binds, count));
   }
   return AGX_OK;
}

static agx_status protect(struct reservation *it, uint64_t offset_B, uint64_t end_B,
                          uint32_t protection)
{
   AGX_TRY(check_bound(it, offset_B, end_B));
   AGX_TRY(parts_reserve(&it->map, 2));
   parts_cut(&it->map, offset_B);
   parts_cut(&it->map, end_B);
   size_t first = parts_find(&it->map, offset_B);
   agx_status status = bind_in_kernel(it, first, end_B, &protection);
   if (status != AGX_OK) {
      /* The text is the first failure's: what fails now too stays as the new protection has it. */
      char text[256];
      agx_error_text(text, sizeof(text));
      (void)!bind_in_kernel(it, first, end_B, NULL);
      status = AGX_FAIL(status, "%s", text);
   } else {
      for (size_t i = first; i < it->map.count && it->map.parts[i].offset_B < end_B; i++)
         it->map.parts[i].protection = protection;
   }
   parts_join(&it->map, offset_B, end_B);
   return status;
}

agx_status agx_vmem_protect(struct agx_buffer *buffer, uint64_t offset_B, uint64_t size_B,
                            uint32_t protection)
{
   AGX_TRY(check(buffer, offset_B, size_B, protection));
   struct reservation *it = reservation_of(buffer);
   pthread_mutex_lock(&it->lock);
   agx_status status = protect(it, offset_B, offset_B + size_B, protection);
   pthread_mutex_unlock(&it->lock);
   return status;
}

agx_status agx_vmem_advise(struct agx_buffer *buffer, uint64_t offset_B, uint64_t size_B,
                           uint32_t advice)
{
   AGX_TRY(check(buffer, offset_B, size_B, 0));
   if (advice != AGX_ADVICE_WILL_NEED && advice != AGX_ADVICE_DONT_NEED)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: unknown advice %u", buffer->label, advice);
   return AGX_OK;
}
