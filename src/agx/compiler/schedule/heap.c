/* SPDX-License-Identifier: MIT
 *
 * A binary heap in the user's array. schedule.c, pressure.c and post.c keep the instructions that
 * are ready in it.
 */
#include "agx/compiler/schedule/schedule_impl.h"

static void rise(struct agxc_heap *heap, uint32_t at, uint64_t entry)
{
   for (; at > 0 && heap->keys[(at - 1) / 2] > entry; at = (at - 1) / 2)
      heap->keys[at] = heap->keys[(at - 1) / 2];
   heap->keys[at] = entry;
}

static uint32_t sink(struct agxc_heap *heap, uint32_t at, uint64_t entry)
{
   for (uint32_t child; (child = 2 * at + 1) < heap->count; at = child) {
      if (child + 1 < heap->count && heap->keys[child + 1] < heap->keys[child])
         child++;
      if (heap->keys[child] >= entry)
         break;
      heap->keys[at] = heap->keys[child];
   }
   heap->keys[at] = entry;
   return at;
}

void agxc_heap_push(struct agxc_heap *heap, uint32_t key, uint32_t number)
{
   rise(heap, heap->count++, (uint64_t)key << 32 | number);
}

uint32_t agxc_heap_take(struct agxc_heap *heap, uint32_t at)
{
   uint32_t number = (uint32_t)heap->keys[at];
   uint64_t last = heap->keys[--heap->count];
   if (at < heap->count)
      rise(heap, sink(heap, at, last), last);
   return number;
}
