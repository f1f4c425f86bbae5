/* SPDX-License-Identifier: MIT
 *
 * The heap of samplers: slots of 8 bytes in memory that the GPU reads. Recording enters samplers
 * into it (bind_array.c), destroying them frees their slots, and each submission names it to the
 * kernel. The objects that a recording holds keep a slot's state while code may use it.
 */
#include "hal/memory/sampler_heap.h"

#include <string.h>

#include "agx/hw/usc.h"
#include "hal/memory/descriptor.h"
#include "hal/memory/state.h"

struct agx_sampler_slot {
   uint64_t words; /* of the sampler */
   uint32_t users; /* 0: free */
};

void agx_sampler_heap_init(struct agx_sampler_heap *heap)
{
   pthread_mutex_init(&heap->lock, NULL);
}

void agx_sampler_heap_fini(struct agx_device *device)
{
   struct agx_sampler_heap *heap = &agx_memory_of(device)->samplers;
   agxw_bo_destroy(heap->memory);
   agx_host_free(agx_context_of(device)->alloc, heap->slots,
                 AGX_HW_SAMPLER_HEAP_SLOTS * sizeof(*heap->slots));
   pthread_mutex_destroy(&heap->lock);
}

static void write_slot(struct agx_sampler_heap *heap, uint32_t slot, uint64_t words)
{
   heap->slots[slot] = (struct agx_sampler_slot){words, 1};
   heap->words[slot] = words;
   if (slot >= atomic_load_explicit(&heap->count, memory_order_relaxed))
      atomic_store_explicit(&heap->count, slot + 1, memory_order_release);
}

/* Makes the heap, with the driver's slot in it. */
static agx_status make(struct agx_device *device, struct agx_sampler_heap *heap)
{
   const struct agx_context *context = agx_context_of(device);
   uint64_t words;
   void *memory;
   _Static_assert(AGX_MAX_HEAP_SAMPLERS == AGX_HW_SAMPLER_HEAP_SLOTS - 1, "slot 0 is the driver's");
   _Static_assert(sizeof(words) == AGX_HW_SAMPLER_BYTES, "a slot is a number");
   if (!heap->slots)
      heap->slots =
         agx_host_zalloc(context->alloc, AGX_HW_SAMPLER_HEAP_SLOTS * sizeof(*heap->slots));
   if (!heap->slots)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "heap of samplers: out of host memory");
   AGX_TRY(agx_pack_fetch_sampler((uint8_t *)&words));
   if (!heap->memory)
      AGX_TRY(agxw_bo_create(context->winsys, AGX_HW_SAMPLER_HEAP_SLOTS * AGX_HW_SAMPLER_BYTES, 0,
                             AGXW_BO_READ_ONLY, "heap of samplers", &heap->memory));
   AGX_TRY(agxw_bo_map(heap->memory, &memory));
   heap->va = agxw_bo_va(heap->memory);
   heap->words = memory;
   write_slot(heap, 0, words);
   return AGX_OK;
}

/* The slot that holds these words, or one that is free. */
static agx_status find_slot(struct agx_sampler_heap *heap, uint64_t words, uint32_t *out_slot)
{
   const uint32_t count = atomic_load_explicit(&heap->count, memory_order_relaxed);
   uint32_t free = count;
   for (uint32_t i = count - 1; i > 0; i--) {
      if (!heap->slots[i].users) {
         free = i;
      } else if (heap->slots[i].words == words) {
         heap->slots[i].users++;
         *out_slot = i;
         return AGX_OK;
      }
   }
   if (free == AGX_HW_SAMPLER_HEAP_SLOTS)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED,
                      "heap of samplers: %u different ones are in use by kernels with more than "
                      "%u samplers, which is the limit: release some",
                      AGX_MAX_HEAP_SAMPLERS, AGX_PROGRAM_MAX_SAMPLERS);
   write_slot(heap, free, words);
   *out_slot = free;
   return AGX_OK;
}

static agx_status enter_locked(struct agx_device *device, struct agx_sampler_heap *heap,
                               struct agx_sampler *sampler, uint32_t *out_slot)
{
   if (!atomic_load_explicit(&heap->count, memory_order_relaxed))
      AGX_TRY(make(device, heap));
   *out_slot = sampler ? atomic_load_explicit(&sampler->slot, memory_order_relaxed) : 0;
   if (!sampler || *out_slot)
      return AGX_OK;
   uint64_t words;
   memcpy(&words, sampler->words, sizeof(words));
   AGX_TRY(find_slot(heap, words, out_slot));
   atomic_store_explicit(&sampler->slot, *out_slot, memory_order_relaxed);
   return AGX_OK;
}

agx_status agx_sampler_heap_enter(struct agx_device *device, struct agx_sampler *sampler,
                                  uint32_t *out_number)
{
   struct agx_sampler_heap *heap = &agx_memory_of(device)->samplers;
   uint32_t slot = sampler ? atomic_load_explicit(&sampler->slot, memory_order_relaxed) : 0;
   agx_status status = AGX_OK;
   if (!slot) {
      pthread_mutex_lock(&heap->lock);
      status = enter_locked(device, heap, sampler, &slot);
      pthread_mutex_unlock(&heap->lock);
   }
   *out_number = AGX_HW_SAMPLER_HEAP_FIRST + slot;
   return status;
}

void agx_sampler_heap_leave(struct agx_device *device, uint32_t slot)
{
   struct agx_sampler_heap *heap = &agx_memory_of(device)->samplers;
   if (!slot)
      return;
   pthread_mutex_lock(&heap->lock);
   heap->slots[slot].users--;
   pthread_mutex_unlock(&heap->lock);
}

struct agxw_samplers agx_sampler_heap_of(const struct agx_device *device)
{
   const struct agx_sampler_heap *heap = &agx_memory_of(device)->samplers;
   const uint32_t count = atomic_load_explicit(&heap->count, memory_order_acquire);
   return (struct agxw_samplers){count ? heap->va : 0, count};
}
