/* SPDX-License-Identifier: MIT */
#include "hal/chunk.h"

#include "agx/chip.h"
#include "base/util.h"
#include "hal/device.h"

#define MAX_CHUNKS 16u

static const struct {
   uint32_t chunk_B, count;
} shapes[AGX_CHUNK_SIZES] = {
   [AGX_CHUNK_SMALL] = {AGX_PAGE_BYTES, MAX_CHUNKS},
   [AGX_CHUNK_LARGE] = {AGX_CHUNK_LARGE_B, 4},
};

/* A buffer, cut into chunks of one size. */
struct agx_slab {
   struct agx_slab *next;
   struct agxw_bo *bo;
   enum agx_chunk_size size;
   uint32_t taken;
   struct agx_chunk chunks[MAX_CHUNKS];
};

static void cut(struct agx_slab *slab, uint8_t *memory)
{
   const uint32_t chunk_B = shapes[slab->size].chunk_B;
   for (uint32_t i = 0; i < shapes[slab->size].count; i++)
      slab->chunks[i] = (struct agx_chunk){.slab = slab,
                                           .memory = memory + (size_t)i * chunk_B,
                                           .va = agxw_bo_va(slab->bo) + (uint64_t)i * chunk_B,
                                           .usable_B = chunk_B - AGX_CHUNK_PREFETCH_B};
}

static agx_status make(struct agx_device *device, struct agx_slab *slab)
{
   const uint64_t size_B = (uint64_t)shapes[slab->size].chunk_B * shapes[slab->size].count;
   void *memory = NULL;
   AGX_TRY(agxw_bo_create(device->winsys, size_B, 0, AGXW_BO_USC | AGXW_BO_READ_ONLY, "commands",
                          &slab->bo));
   AGX_TRY(agxw_bo_map(slab->bo, &memory));
   cut(slab, memory);
   return AGX_OK;
}

static void destroy(struct agx_device *device, struct agx_slab *slab)
{
   agxw_bo_destroy(slab->bo);
   agx_host_free(device->alloc, slab, sizeof(*slab));
}

/* The lock is held, so that threads that find nothing free don't make a slab each. */
static agx_status add_slab(struct agx_device *device, enum agx_chunk_size size)
{
   struct agx_chunks *chunks = &device->chunks;
   struct agx_slab *slab = agx_host_zalloc(device->alloc, sizeof(*slab));
   if (!slab)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "commands: out of host memory");
   slab->size = size;
   agx_status status = make(device, slab);
   if (status != AGX_OK) {
      destroy(device, slab);
      return status;
   }
   slab->next = chunks->slabs;
   chunks->slabs = slab;
   for (uint32_t i = shapes[size].count; i-- > 0;) {
      slab->chunks[i].next = chunks->free[size];
      chunks->free[size] = &slab->chunks[i];
   }
   return AGX_OK;
}

agx_status agx_chunk_take(struct agx_device *device, enum agx_chunk_size size,
                          struct agx_chunk **out_chunk)
{
   struct agx_chunks *chunks = &device->chunks;
   *out_chunk = NULL;
   pthread_mutex_lock(&chunks->lock);
   agx_status status = chunks->free[size] ? AGX_OK : add_slab(device, size);
   if (status == AGX_OK) {
      struct agx_chunk *chunk = chunks->free[size];
      chunks->free[size] = chunk->next;
      chunk->next = NULL;
      chunk->slab->taken++;
      *out_chunk = chunk;
   }
   pthread_mutex_unlock(&chunks->lock);
   return status;
}

void agx_chunks_give(struct agx_device *device, struct agx_chunk *first)
{
   struct agx_chunks *chunks = &device->chunks;
   if (!first)
      return;
   pthread_mutex_lock(&chunks->lock);
   while (first) {
      struct agx_chunk *chunk = first;
      first = chunk->next;
      chunk->slab->taken--;
      chunk->next = chunks->free[chunk->slab->size];
      chunks->free[chunk->slab->size] = chunk;
   }
   pthread_mutex_unlock(&chunks->lock);
}

static void forget_unused(struct agx_chunks *chunks)
{
   for (unsigned size = 0; size < AGX_CHUNK_SIZES; size++) {
      struct agx_chunk **link = &chunks->free[size];
      while (*link) {
         if ((*link)->slab->taken == 0)
            *link = (*link)->next;
         else
            link = &(*link)->next;
      }
   }
}

uint64_t agx_chunks_trim(struct agx_device *device)
{
   struct agx_chunks *chunks = &device->chunks;
   uint64_t freed_B = 0;
   pthread_mutex_lock(&chunks->lock);
   forget_unused(chunks);
   struct agx_slab **link = &chunks->slabs;
   while (*link) {
      struct agx_slab *slab = *link;
      if (slab->taken) {
         link = &slab->next;
         continue;
      }
      *link = slab->next;
      freed_B += agxw_bo_size(slab->bo);
      destroy(device, slab);
   }
   pthread_mutex_unlock(&chunks->lock);
   return freed_B;
}

void agx_chunks_init(struct agx_chunks *chunks)
{
   *chunks = (struct agx_chunks){0};
   pthread_mutex_init(&chunks->lock, NULL);
}

void agx_chunks_fini(struct agx_device *device)
{
   (void)agx_chunks_trim(device);
   pthread_mutex_destroy(&device->chunks.lock);
}
