/* SPDX-License-Identifier: MIT
 *
 * The holes of an address range. Between two holes lies at least one live range,
 * so there are at most live + 1 of them: alloc keeps the list that large, and
 * free never needs memory.
 */
#include "winsys/va_heap_impl.h"

#include <string.h>

#include "agx/chip.h"
#include "base/util.h"

#define PAGE_BYTES ((uint64_t)AGX_PAGE_BYTES)

/* What a range of bytes occupies, its guard page included; 0 when that is too much. */
static uint64_t occupied_bytes(uint64_t bytes)
{
   if (bytes == 0 || bytes > UINT64_MAX - 2 * PAGE_BYTES)
      return 0;
   return agx_align_up(bytes, PAGE_BYTES) + PAGE_BYTES;
}

static agx_status reserve_holes(struct agxw_va_heap *heap, size_t count)
{
   if (count <= heap->capacity)
      return AGX_OK;
   size_t capacity = AGX_MAX(count, 2 * heap->capacity);
   struct agxw_va_hole *holes = agx_host_zalloc(heap->alloc, capacity * sizeof(*holes));
   if (!holes)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: no memory for %zu holes", heap->name, capacity);
   if (heap->hole_count > 0)
      memcpy(holes, heap->holes, heap->hole_count * sizeof(*holes));
   agx_host_free(heap->alloc, heap->holes, heap->capacity * sizeof(*holes));
   heap->holes = holes;
   heap->capacity = capacity;
   return AGX_OK;
}

static void insert_hole(struct agxw_va_heap *heap, size_t index, uint64_t start, uint64_t end)
{
   agx_assert(heap->hole_count < heap->capacity);
   memmove(&heap->holes[index + 1], &heap->holes[index],
           (heap->hole_count - index) * sizeof(*heap->holes));
   heap->holes[index] = (struct agxw_va_hole){start, end};
   heap->hole_count++;
}

static void remove_hole(struct agxw_va_heap *heap, size_t index)
{
   heap->hole_count--;
   memmove(&heap->holes[index], &heap->holes[index + 1],
           (heap->hole_count - index) * sizeof(*heap->holes));
}

/* Cuts start .. end out of the hole that holds it. */
static void cut(struct agxw_va_heap *heap, size_t index, uint64_t start, uint64_t end)
{
   struct agxw_va_hole *hole = &heap->holes[index];
   bool left = hole->start < start, right = end < hole->end;
   if (left && right) {
      uint64_t hole_end = hole->end;
      hole->end = start;
      insert_hole(heap, index + 1, end, hole_end);
   } else if (left) {
      hole->end = start;
   } else if (right) {
      hole->start = end;
   } else {
      remove_hole(heap, index);
   }
}

agx_status agxw_va_heap_init(struct agxw_va_heap *heap, const char *name, uint64_t start,
                             uint64_t end, const struct agx_host_alloc *alloc)
{
   agx_assert(start < end && agx_is_aligned(start | end, PAGE_BYTES));
   *heap = (struct agxw_va_heap){.alloc = alloc, .name = name, .start = start, .end = end};
   AGX_TRY(reserve_holes(heap, 16));
   insert_hole(heap, 0, start, end);
   return AGX_OK;
}

void agxw_va_heap_fini(struct agxw_va_heap *heap)
{
   agx_host_free(heap->alloc, heap->holes, heap->capacity * sizeof(*heap->holes));
   *heap = (struct agxw_va_heap){0};
}

void agxw_va_heap_divide(struct agxw_va_heap *heap, uint64_t window_B, uint64_t kept_B)
{
   agx_assert(heap->live == 0 && (window_B & (window_B - 1)) == 0 && kept_B < window_B);
   heap->window_B = window_B;
   heap->kept_B = kept_B;
}

static uint64_t window_end(const struct agxw_va_heap *heap, uint64_t va)
{
   uint64_t end = (va & ~(heap->window_B - 1)) + heap->window_B;
   return AGX_MIN(end, heap->end);
}

uint64_t agxw_va_heap_kept(const struct agxw_va_heap *heap, uint64_t va)
{
   return window_end(heap, va) - heap->kept_B;
}

/* Where in the hole so many bytes go; UINT64_MAX when they don't. */
static uint64_t find_place(const struct agxw_va_heap *heap, const struct agxw_va_hole *hole,
                           uint64_t occupied, uint64_t align)
{
   bool is_long = heap->window_B && occupied > heap->window_B - heap->kept_B;
   uint64_t start = agx_align_up(hole->start, is_long ? AGX_MAX(align, heap->window_B) : align);
   while (start >= hole->start && start < hole->end && hole->end - start >= occupied) {
      if (!heap->window_B || is_long || start + occupied <= agxw_va_heap_kept(heap, start))
         return start;
      start = agx_align_up(window_end(heap, start), AGX_MAX(align, heap->window_B));
   }
   return UINT64_MAX;
}

agx_status agxw_va_heap_alloc(struct agxw_va_heap *heap, uint64_t bytes, uint64_t align,
                              uint64_t *out_va)
{
   *out_va = 0;
   if ((align & (align - 1)) != 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: align %#llx is no power of two", heap->name,
                      (unsigned long long)align);
   align = AGX_MAX(align, PAGE_BYTES);
   uint64_t occupied = occupied_bytes(bytes);
   AGX_TRY(reserve_holes(heap, heap->live + 2));
   for (size_t i = 0; occupied > 0 && i < heap->hole_count; i++) {
      uint64_t start = find_place(heap, &heap->holes[i], occupied, align);
      if (start == UINT64_MAX)
         continue;
      cut(heap, i, start, start + occupied);
      heap->live++;
      *out_va = start;
      return AGX_OK;
   }
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: no hole of %#llx bytes aligned to %#llx in %zu",
                   heap->name, (unsigned long long)bytes, (unsigned long long)align,
                   heap->hole_count);
}

void agxw_va_heap_free(struct agxw_va_heap *heap, uint64_t va, uint64_t bytes)
{
   uint64_t end = va + occupied_bytes(bytes);
   size_t low = 0, high = heap->hole_count; /* the first hole above va */
   while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (heap->holes[middle].start < va)
         low = middle + 1;
      else
         high = middle;
   }
   bool joins_left = low > 0 && heap->holes[low - 1].end == va;
   bool joins_right = low < heap->hole_count && heap->holes[low].start == end;
   agx_assert(heap->live > 0 && va >= heap->start && end > va && end <= heap->end);
   agx_assert(low == 0 || heap->holes[low - 1].end <= va);
   agx_assert(low == heap->hole_count || heap->holes[low].start >= end);
   if (joins_left && joins_right) {
      heap->holes[low - 1].end = heap->holes[low].end;
      remove_hole(heap, low);
   } else if (joins_left) {
      heap->holes[low - 1].end = end;
   } else if (joins_right) {
      heap->holes[low].start = va;
   } else {
      insert_hole(heap, low, va, end);
   }
   heap->live--;
}

/* The address map, bottom up:
 *    [0, 2^36)        nothing but the zero page at 2^32: a null base plus any scaled
 *                     32-bit index stays in it
 *    4 GiB window     nothing but sinks at its end: the address of buffers that are null. The
 *                     next one starts where recorded programs have it
 *    4 GiB window     code and launch words, which the hardware addresses by 32 bits
 *    user             buffers; the end of each 4 GiB window holds sinks
 *    top              the kernel's own
 * Source: docs/hw/kernel.md 3 and 8. */

agx_status agxw_address_map_make(uint64_t vm_start, uint64_t vm_end, uint64_t kernel_min,
                                 struct agxw_address_map *out_map)
{
   *out_map = (struct agxw_address_map){0};
   const uint64_t page = AGX_PAGE_BYTES;
   if (vm_start >= vm_end || vm_end > AGXW_ADDRESS_BYTES || vm_start > AGXW_ZERO_PAGE ||
       kernel_min > vm_end)
      return AGX_FAIL(AGX_INCOMPATIBLE,
                      "device: address space %#llx..%#llx with %#llx for the kernel is not one "
                      "that this driver knows",
                      (unsigned long long)vm_start, (unsigned long long)vm_end,
                      (unsigned long long)kernel_min);
   struct agxw_address_map map = {
      .zero_page = AGXW_ZERO_PAGE,
      .null_start = AGXW_LOW_END,
      .null_end = AGXW_LOW_END + AGXW_WINDOW_BYTES,
      .usc_start = AGXW_LOW_END + AGXW_WINDOW_BYTES,
      .kernel_end = vm_end & ~(page - 1),
   };
   map.usc_end = map.usc_start + AGXW_WINDOW_BYTES;
   map.user_start = agx_align_up(map.usc_end, AGXW_LOW_END);
   uint64_t kernel_bytes = agx_align_up(AGX_MAX(kernel_min, AGXW_KERNEL_BYTES), page);
   if (kernel_bytes > map.kernel_end || map.kernel_end - kernel_bytes <= map.user_start)
      return AGX_FAIL(AGX_INCOMPATIBLE,
                      "device: address space ends at %#llx: no room for buffers above %#llx and "
                      "%#llx bytes for the kernel",
                      (unsigned long long)vm_end, (unsigned long long)map.user_start,
                      (unsigned long long)kernel_bytes);
   map.kernel_start = map.kernel_end - kernel_bytes;
   map.user_end = map.kernel_start;
   *out_map = map;
   return AGX_OK;
}
