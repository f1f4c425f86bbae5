/* SPDX-License-Identifier: MIT
 *
 * Implements agx_pool_allocate(): a buffer that is a view of a slab, and returns its block when it
 * is destroyed.
 */
#include "base/util.h"
#include "base/list.h"
#include "hal/memory/pool.h"
#include "hal/memory/state.h"

struct agx_pool_buffer {
   struct agx_buffer buffer; /* at offset 0 */
   struct agx_pool *pool;    /* retained */
   struct agx_pool_block *block;
};

/* Submissions held references until the GPU was done, so the block is idle now. */
static void pool_buffer_destroy(struct agx_object *object)
{
   struct agx_pool_buffer *it = agx_container_of(object, struct agx_pool_buffer, buffer.object);
   struct agx_pool *pool = it->pool;
   agx_buffer_fini_view(&it->buffer);
   if (agx_pool_return(pool, it->block, AGX_NO_QUEUE, NULL))
      agx_memory_of(pool->device)->hooks->memory_returned(pool->device);
   agx_host_free(agx_context_of(pool->device)->alloc, it, sizeof(*it));
   agx_release(pool);
}

static const struct agx_object_type pool_buffer_type = {"buffer", pool_buffer_destroy,
                                                        agx_buffer_set_label};

static agx_status show(struct agx_pool_buffer *it, uint64_t size_B)
{
   struct agx_pool_block *block = it->block;
   return agx_buffer_init_view(&it->buffer, &pool_buffer_type, block->slab->memory, block->offset_B,
                               size_B, 0, NULL);
}

agx_status agx_pool_allocate(struct agx_pool *pool, uint64_t size_B, uint64_t align_B,
                             struct agx_buffer **out_buffer)
{
   *out_buffer = NULL;
   AGX_TRY(agx_fork_check(pool));
   const struct agx_frontier reached = agx_memory_of(pool->device)->hooks->reached(pool->device);
   const struct agx_pool_want want = {
      .size_B = AGX_MAX(size_B, 1u),
      .align_B = AGX_MAX(align_B, 1),
      .covered = &reached,
      .queue = AGX_NO_QUEUE,
   };
   AGX_TRY(agx_pool_check(pool, size_B, align_B));
   struct agx_pool_buffer *it = agx_host_zalloc(agx_context_of(pool->device)->alloc, sizeof(*it));
   if (!it)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: out of host memory", pool->label);
   agx_status status = agx_pool_acquire(pool, &want, &reached, &it->block);
   if (status == AGX_OK && !it->block)
      status = agx_pool_full(pool, size_B);
   if (status == AGX_OK)
      status = show(it, size_B);
   if (status != AGX_OK) {
      if (it->block)
         (void)agx_pool_return(pool, it->block, AGX_NO_QUEUE, NULL);
      agx_host_free(agx_context_of(pool->device)->alloc, it, sizeof(*it));
      return status;
   }
   agx_retain(pool);
   it->pool = pool;
   *out_buffer = &it->buffer;
   return AGX_OK;
}
