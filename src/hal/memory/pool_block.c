/* SPDX-License-Identifier: MIT
 *
 * Allocates the nodes that describe blocks of pools, 64 at a time, for both strategies.
 */
#include "hal/memory/pool_block.h"

#define CHUNK_NODES 64

struct agx_pool_chunk {
   struct agx_pool_chunk *next;
   struct agx_pool_block blocks[CHUNK_NODES];
};

void agx_pool_nodes_init(struct agx_pool_nodes *nodes, const struct agx_host_alloc *alloc)
{
   *nodes = (struct agx_pool_nodes){.alloc = alloc};
   agx_list_init(&nodes->spare);
}

void agx_pool_nodes_fini(struct agx_pool_nodes *nodes)
{
   while (nodes->chunks) {
      struct agx_pool_chunk *chunk = nodes->chunks;
      nodes->chunks = chunk->next;
      agx_host_free(nodes->alloc, chunk, sizeof(*chunk));
   }
   agx_pool_nodes_init(nodes, nodes->alloc);
}

agx_status agx_pool_nodes_reserve(struct agx_pool_nodes *nodes, uint32_t count)
{
   agx_assert(count <= CHUNK_NODES);
   if (nodes->spare_count >= count)
      return AGX_OK;
   struct agx_pool_chunk *chunk = agx_host_zalloc(nodes->alloc, sizeof(*chunk));
   if (!chunk)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "pool: out of host memory for blocks");
   chunk->next = nodes->chunks;
   nodes->chunks = chunk;
   for (uint32_t i = 0; i < CHUNK_NODES; i++)
      agx_pool_nodes_return(nodes, &chunk->blocks[i]);
   return AGX_OK;
}

struct agx_pool_block *agx_pool_nodes_acquire(struct agx_pool_nodes *nodes)
{
   agx_assert(nodes->spare_count > 0);
   struct agx_link *link = nodes->spare.next;
   agx_list_remove(link);
   nodes->spare_count--;
   return agx_container_of(link, struct agx_pool_block, bin);
}

void agx_pool_nodes_return(struct agx_pool_nodes *nodes, struct agx_pool_block *block)
{
   *block = (struct agx_pool_block){.state = AGX_BLOCK_SPARE};
   agx_list_init(&block->busy);
   agx_list_insert_after(&nodes->spare, &block->bin);
   nodes->spare_count++;
}
