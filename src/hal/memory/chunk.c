/* SPDX-License-Identifier: MIT
 *
 * Cuts slabs of GPU memory into chunks and keeps the free ones. hal/record acquires chunks while it
 * records and returns them when a command buffer is reset or destroyed; agx_device_trim() frees
 * unused slabs.
 */
#include "hal/memory/chunk.h"

#include "agx/chip.h"
#include "base/util.h"
#include "hal/memory/state.h"
#include "winsys/winsys.h"

#define MAX_EXPECTED 8u /* command buffers that there is a reserve for */

/* Chunks of a slab: as many as there are already, between the bounds; and the free ones to have
 * ready for any command buffer, and for each that is expected. 870 dispatches with two buffers and
 * a barrier take a large chunk. */
static const struct {
   uint32_t chunk_B, min_count, max_count, ready, ready_each;
} size_rules[AGX_CHUNK_SIZES] = {
   [AGX_CHUNK_SMALL] = {AGX_PAGE_BYTES, 16, 16, 0, 1},
   [AGX_CHUNK_LARGE] = {AGX_CHUNK_LARGE_B, 4, 64, 2, 2},
};

/* A buffer, cut into chunks of one size. */
struct agx_slab {
   struct agx_slab *next;
   struct agxw_bo *bo;
   enum agx_chunk_size size;
   uint32_t taken, count;
   struct agx_chunk chunks[];
};

static size_t slab_bytes(uint32_t count)
{
   return sizeof(struct agx_slab) + count * sizeof(struct agx_chunk);
}

static void cut(struct agx_slab *slab, uint8_t *memory)
{
   const uint32_t chunk_B = size_rules[slab->size].chunk_B;
   for (uint32_t i = 0; i < slab->count; i++)
      slab->chunks[i] = (struct agx_chunk){.slab = slab,
                                           .memory = memory + (size_t)i * chunk_B,
                                           .va = agxw_bo_va(slab->bo) + (uint64_t)i * chunk_B,
                                           .usable_B = chunk_B - AGX_CHUNK_PREFETCH_B};
}

static agx_status fill(struct agx_device *device, struct agx_slab *slab)
{
   const uint64_t size_B = (uint64_t)size_rules[slab->size].chunk_B * slab->count;
   void *memory = NULL;
   AGX_TRY(agxw_bo_create(agx_context_of(device)->winsys, size_B, 0,
                          AGXW_BO_USC | AGXW_BO_READ_ONLY, "commands", &slab->bo));
   AGX_TRY(agxw_bo_map(slab->bo, &memory));
   cut(slab, memory);
   return AGX_OK;
}

static void destroy(struct agx_device *device, struct agx_slab *slab)
{
   agxw_bo_destroy(slab->bo);
   agx_host_free(agx_context_of(device)->alloc, slab, slab_bytes(slab->count));
}

static agx_status make(struct agx_device *device, enum agx_chunk_size size, uint32_t count,
                       struct agx_slab **out_slab)
{
   struct agx_slab *slab = agx_host_zalloc(agx_context_of(device)->alloc, slab_bytes(count));
   *out_slab = NULL;
   if (!slab)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "commands: out of host memory");
   slab->size = size;
   slab->count = count;
   agx_status status = fill(device, slab);
   if (status != AGX_OK)
      destroy(device, slab);
   else
      *out_slab = slab;
   return status;
}

/* How many chunks the next slab has, at most. */
static uint32_t next_count(const struct agx_chunks *chunks, enum agx_chunk_size size)
{
   const uint32_t total = chunks->lists[size].total;
   return AGX_MIN(AGX_MAX(total, size_rules[size].min_count), size_rules[size].max_count);
}

/* Fewer than `most` where the system has no more. */
static agx_status make_some(struct agx_device *device, enum agx_chunk_size size, uint32_t most,
                            struct agx_slab **out_slab)
{
   const uint32_t least = size_rules[size].min_count;
   agx_status status = make(device, size, most, out_slab);
   if (status == AGX_RESOURCE_EXHAUSTED && most > least)
      status = make(device, size, least, out_slab);
   return status;
}

/* The lock is held. */
static void add_slab(struct agx_chunks *chunks, struct agx_slab *slab)
{
   struct agx_chunk_list *list = &chunks->lists[slab->size];
   slab->next = chunks->slabs;
   chunks->slabs = slab;
   for (uint32_t i = slab->count; i-- > 0;) {
      slab->chunks[i].next = list->first;
      list->first = &slab->chunks[i];
   }
   list->free += slab->count;
   list->total += slab->count;
}

/* ---- the reserve --------------------------------------------------------- */

/* The lock is held, but not while memory is asked for: others go on recording. */
static void have_ready(struct agx_device *device, enum agx_chunk_size size)
{
   struct agx_chunks *chunks = &agx_memory_of(device)->chunks;
   struct agx_slab *slab;
   agx_status status = AGX_OK;
   while (status == AGX_OK) {
      const uint32_t expected = AGX_MIN(chunks->expected, MAX_EXPECTED);
      const uint32_t count = next_count(chunks, size);
      if (chunks->lists[size].free >=
          size_rules[size].ready + expected * size_rules[size].ready_each)
         return;
      pthread_mutex_unlock(&chunks->lock);
      status = make_some(device, size, count, &slab);
      pthread_mutex_lock(&chunks->lock);
      if (status == AGX_OK)
         add_slab(chunks, slab);
   }
}

void agx_chunks_expect(struct agx_device *device)
{
   pthread_mutex_lock(&agx_memory_of(device)->chunks.lock);
   agx_memory_of(device)->chunks.expected++;
   for (unsigned size = 0; size < AGX_CHUNK_SIZES; size++)
      have_ready(device, (enum agx_chunk_size)size);
   pthread_mutex_unlock(&agx_memory_of(device)->chunks.lock);
}

void agx_chunks_expect_no_more(struct agx_device *device)
{
   pthread_mutex_lock(&agx_memory_of(device)->chunks.lock);
   agx_memory_of(device)->chunks.expected--;
   pthread_mutex_unlock(&agx_memory_of(device)->chunks.lock);
}

/* ---- taking and giving --------------------------------------------------- */

/* The lock is held, so that threads that find nothing free don't make a slab each. */
static agx_status refill(struct agx_device *device, enum agx_chunk_size size)
{
   struct agx_slab *slab;
   AGX_TRY(make_some(device, size, next_count(&agx_memory_of(device)->chunks, size), &slab));
   add_slab(&agx_memory_of(device)->chunks, slab);
   return AGX_OK;
}

agx_status agx_chunk_acquire(struct agx_device *device, enum agx_chunk_size size,
                             struct agx_chunk **out_chunk)
{
   struct agx_chunks *chunks = &agx_memory_of(device)->chunks;
   struct agx_chunk_list *list = &chunks->lists[size];
   *out_chunk = NULL;
   pthread_mutex_lock(&chunks->lock);
   agx_status status = list->first ? AGX_OK : refill(device, size);
   if (status == AGX_OK) {
      struct agx_chunk *chunk = list->first;
      list->first = chunk->next;
      list->free--;
      chunk->next = NULL;
      chunk->slab->taken++;
      *out_chunk = chunk;
   }
   pthread_mutex_unlock(&chunks->lock);
   return status;
}

void agx_chunks_return(struct agx_device *device, struct agx_chunk *first)
{
   struct agx_chunks *chunks = &agx_memory_of(device)->chunks;
   if (!first)
      return;
   pthread_mutex_lock(&chunks->lock);
   while (first) {
      struct agx_chunk *chunk = first;
      first = chunk->next;
      struct agx_chunk_list *list = &chunks->lists[chunk->slab->size];
      chunk->slab->taken--;
      chunk->next = list->first;
      list->first = chunk;
      list->free++;
   }
   pthread_mutex_unlock(&chunks->lock);
}

static void forget_unused(struct agx_chunks *chunks)
{
   for (unsigned size = 0; size < AGX_CHUNK_SIZES; size++) {
      struct agx_chunk **link = &chunks->lists[size].first;
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
   struct agx_chunks *chunks = &agx_memory_of(device)->chunks;
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
      chunks->lists[slab->size].free -= slab->count;
      chunks->lists[slab->size].total -= slab->count;
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
   pthread_mutex_destroy(&agx_memory_of(device)->chunks.lock);
}
