/* SPDX-License-Identifier: MIT
 *
 * Pools whose blocks the application gives: asks the source, checks what it gave, and gives it back
 * once. What is wrong with a block is said with the pool's name, and the block returned at once.
 */
#include "hal/memory/pool_caller.h"

#include "base/util.h"
#include "hal/core/desc.h"
#include "hal/memory/pool.h"

#define MAX_SPARE 64u /* nodes of a pool */

struct agx_pool_caller_block {
   struct agx_pool_block block; /* at offset 0; of slab, whose memory is retained */
   struct agx_pool_slab slab;
   struct agx_pool_grant grant;
   struct agx_pool_caller_block *next; /* spare */
};

/* ---- life ---------------------------------------------------------------------- */

agx_status agx_pool_caller_init(struct agx_pool_caller *caller, const struct agx_pool_desc *desc)
{
   struct agx_pool_source source;
   if ((desc->source != NULL) != (desc->strategy == AGX_POOL_CALLER))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "pool: source %p with strategy %u; AGX_POOL_CALLER, 3, takes one, and others "
                      "NULL",
                      (const void *)desc->source, desc->strategy);
   if (!desc->source)
      return AGX_OK;
   AGX_TRY(agx_desc_read_tail("agx_pool_source", desc->source, &source, sizeof(source)));
   AGX_TRY(agx_bits_check("pool", "source flags", source.flags, AGX_POOL_SOURCE_PAGES));
   if (!source.acquire || !source.release)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "pool: the source lacks %s; it needs both functions",
                      source.acquire ? "release" : "acquire");
   caller->source = source;
   return AGX_OK;
}

void agx_pool_caller_fini(struct agx_pool *pool)
{
   struct agx_pool_caller *caller = &pool->caller;
   while (caller->spare) {
      struct agx_pool_caller_block *it = caller->spare;
      caller->spare = it->next;
      agx_host_free(agx_context_of(pool->device)->alloc, it, sizeof(*it));
   }
   if (caller->source.destroy)
      caller->source.destroy(caller->source.user);
}

static struct agx_pool_caller_block *new_node(struct agx_pool *pool)
{
   struct agx_pool_caller *caller = &pool->caller;
   pthread_mutex_lock(&pool->lock);
   struct agx_pool_caller_block *it = caller->spare;
   if (it) {
      caller->spare = it->next;
      caller->spare_count--;
   }
   pthread_mutex_unlock(&pool->lock);
   if (!it)
      return agx_host_zalloc(agx_context_of(pool->device)->alloc, sizeof(*it));
   *it = (struct agx_pool_caller_block){0};
   return it;
}

static void free_node(struct agx_pool *pool, struct agx_pool_caller_block *it)
{
   struct agx_pool_caller *caller = &pool->caller;
   pthread_mutex_lock(&pool->lock);
   const bool is_kept = caller->spare_count < MAX_SPARE;
   if (is_kept) {
      it->next = caller->spare;
      caller->spare = it;
      caller->spare_count++;
   }
   pthread_mutex_unlock(&pool->lock);
   if (!is_kept)
      agx_host_free(agx_context_of(pool->device)->alloc, it, sizeof(*it));
}

/* ---- what a source gives --------------------------------------------------------- */

/* Memory that is shown elsewhere, or comes and goes, can't be told from others' by its buffer. */
static bool is_plain(const struct agx_buffer *buffer)
{
   return !buffer->storage && !buffer->is_host_only && !agx_buffer_may_alias(buffer);
}

static agx_status check_memory(const struct agx_pool *pool, const struct agx_buffer *buffer)
{
   const struct agx_buffer_desc *wanted = &pool->buffers;
   if (!buffer)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: its source gave no buffer", pool->label);
   if (buffer->device != pool->device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: its source gave %s, which is %s", pool->label,
                      buffer->label, agx_describe_owner(buffer->device, pool->device).text);
   if (!is_plain(buffer))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "%s: its source gave %s, which is imported, to be exported, reserved or of "
                      "AGX_OP_ALLOCA; give plain memory",
                      pool->label, buffer->label);
   if (wanted->memory & ~buffer->memory || wanted->usage & ~buffer->usage ||
       wanted->access & ~buffer->access)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "%s: its source gave %s, with memory %#x, usage %#x, access %#x; the pool "
                      "says %#x, %#x, %#x",
                      pool->label, buffer->label, buffer->memory, buffer->usage, buffer->access,
                      wanted->memory, wanted->usage, wanted->access);
   return AGX_OK;
}

static agx_status check_grant(const struct agx_pool *pool, const struct agx_pool_want *want,
                              const struct agx_pool_grant *grant)
{
   const struct agx_buffer *buffer = grant->buffer;
   AGX_TRY(check_memory(pool, buffer));
   if (!agx_range_fits(grant->offset_B, want->size_B, buffer->size_B))
      return AGX_FAIL(AGX_OUT_OF_RANGE,
                      "%s: its source gave %llu bytes at %llu of %s, which has %llu", pool->label,
                      (unsigned long long)want->size_B, (unsigned long long)grant->offset_B,
                      buffer->label, (unsigned long long)buffer->size_B);
   if ((buffer->address + grant->offset_B) & (want->align_B - 1))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "%s: its source gave %s at %llu, address %#llx; a multiple of %llu is wanted",
                      pool->label, buffer->label, (unsigned long long)grant->offset_B,
                      (unsigned long long)(buffer->address + grant->offset_B),
                      (unsigned long long)want->align_B);
   if (!want->may_wait && !agx_frontier_covers(want->covered, &grant->death))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "%s: its source gave a block of %s that is in use on the GPU, to one who may "
                      "not wait for that",
                      pool->label, buffer->label);
   return AGX_OK;
}

/* ---- blocks ---------------------------------------------------------------------- */

/* AGX_DEFERRED: it has none now. */
static agx_status ask(struct agx_pool *pool, const struct agx_pool_want *want,
                      struct agx_pool_grant *grant)
{
   const struct agx_pool_source *source = &pool->caller.source;
   char reason[256] = "";
   const struct agx_pool_request request = {
      .size = sizeof(request),
      .queue = want->queue,
      .size_B = want->size_B,
      .align_B = want->align_B,
      .covered = want->covered,
      .may_wait = want->may_wait,
      .reason = reason,
      .reason_B = sizeof(reason),
   };
   agx_status status = source->acquire(source->user, &request, grant);
   if (status == AGX_OK || status == AGX_DEFERRED)
      return status;
   if (status < 0 || status > AGX_INCOMPATIBLE)
      status = AGX_INTERNAL; /* it is no code */
   reason[sizeof(reason) - 1] = '\0';
   return AGX_FAIL(status, "%s: its source has no block of %llu bytes: %s", pool->label,
                   (unsigned long long)want->size_B, reason[0] ? reason : agx_status_name(status));
}

/* Whose failure this may follow keeps its text. */
static void give_back(const struct agx_pool_source *source, const struct agx_pool_grant *grant,
                      uint32_t queue, const struct agx_frontier *death)
{
   char text[AGX_ERROR_TEXT_BYTES];
   agx_error_save(text);
   source->release(source->user, grant, queue, death);
   agx_error_restore(text);
}

static void fill_block(struct agx_pool_caller_block *it, const struct agx_pool_want *want)
{
   it->slab.memory = it->grant.buffer;
   it->slab.size_B = it->grant.buffer->size_B;
   it->block.slab = &it->slab;
   it->block.offset_B = it->grant.offset_B;
   it->block.size_B = want->size_B;
   it->block.death = it->grant.death;
   it->block.state = AGX_BLOCK_USED;
   agx_retain(it->slab.memory);
}

agx_status agx_pool_caller_acquire(struct agx_pool *pool, const struct agx_pool_want *want,
                                   struct agx_pool_block **out_block)
{
   const struct agx_pool_source *source = &pool->caller.source;
   struct agx_pool_caller_block *it = new_node(pool);
   *out_block = NULL;
   if (!it)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: out of host memory for a block", pool->label);
   agx_status status = ask(pool, want, &it->grant);
   if (status == AGX_OK) {
      status = check_grant(pool, want, &it->grant);
      if (status != AGX_OK)
         give_back(source, &it->grant, AGX_NO_QUEUE, &it->grant.death);
   }
   if (status != AGX_OK) {
      free_node(pool, it);
      return status == AGX_DEFERRED ? AGX_OK : status;
   }
   fill_block(it, want);
   *out_block = &it->block;
   return AGX_OK;
}

void agx_pool_caller_return(struct agx_pool *pool, struct agx_pool_block *block, uint32_t queue,
                            const struct agx_frontier *death)
{
   static const struct agx_frontier over;
   struct agx_pool_caller_block *it = agx_container_of(block, struct agx_pool_caller_block, block);
   struct agx_buffer *memory = it->slab.memory;
   give_back(&pool->caller.source, &it->grant, queue, death ? death : &over);
   free_node(pool, it);
   agx_release(memory);
}
