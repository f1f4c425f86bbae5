/* SPDX-License-Identifier: MIT
 *
 * Copies of pages, found by the host page that they are copies of, so that all GPU
 * addresses of a page share one. A copy that may be written has a original, the page as it
 * was: what differs from it was written here, and only that goes to memory.
 */
#include "agx/sim/memory/memory.h"

#include <stdlib.h>

#include "base/util.h"

#define TABLE_SIZE  2048u /* a power of two */
#define MAX_PAGES   1024u
#define CALM_PAGES  512u /* from which on an eviction forgets all */
#define PAGE_BYTES  ((size_t)AGX_PAGE_BYTES)
#define SPARE_PAGES 64u

struct page {
   uint8_t *host; /* NULL: free */
   uint8_t *copy;
   uint8_t *original; /* NULL: not written */
};

/* Open addressing without removal of single entries: `order` names those in use. */
struct table {
   struct page pages[TABLE_SIZE];
   uint32_t order[MAX_PAGES];
   uint32_t count;
};

struct agxs_cache {
   struct table *data, *texture; /* NULL until there is a page */
   uint8_t *spare[SPARE_PAGES];
   uint32_t spare_count;
   bool is_off; /* no memory: reads and writes go to memory itself from then on */
};

agx_status agxs_cache_attach(struct agxs_tlb *tlb)
{
   tlb->cache = calloc(1, sizeof(*tlb->cache));
   if (!tlb->cache)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "simulator: out of memory for chaos");
   agxs_tlb_forget(tlb);
   return AGX_OK;
}

static uint8_t *take_page(struct agxs_cache *cache)
{
   if (cache->spare_count)
      return cache->spare[--cache->spare_count];
   return aligned_alloc(64, PAGE_BYTES);
}

static void give_page(struct agxs_cache *cache, uint8_t *page)
{
   if (page && cache->spare_count < SPARE_PAGES)
      cache->spare[cache->spare_count++] = page;
   else
      free(page);
}

/* Where the host page stands, or would; an empty one when there is no table. */
static struct page *find(struct table *table, const uint8_t *host)
{
   static struct page none;
   if (!table)
      return &none;
   uint64_t hash = (uintptr_t)host / PAGE_BYTES * 0x9e3779b97f4a7c15ull;
   uint32_t at = (uint32_t)(hash >> 40) % TABLE_SIZE;
   while (table->pages[at].host && table->pages[at].host != host)
      at = (at + 1) % TABLE_SIZE;
   return &table->pages[at];
}

/* Others may write the bytes between at the same time. */
static void write_back(struct page *page)
{
   for (size_t at = 0; page->original && at < PAGE_BYTES; at += 64) {
      if (memcmp(page->copy + at, page->original + at, 64) == 0)
         continue;
      for (size_t byte = at; byte < at + 64; byte++)
         if (page->copy[byte] != page->original[byte])
            page->host[byte] = page->copy[byte];
      memcpy(page->original + at, page->copy + at, 64);
   }
}

static void empty(struct agxs_cache *cache, struct table *table)
{
   for (uint32_t i = 0; table && i < table->count; i++) {
      struct page *page = &table->pages[table->order[i]];
      write_back(page);
      give_page(cache, page->copy);
      give_page(cache, page->original);
      *page = (struct page){0};
   }
   if (table)
      table->count = 0;
}

/* A copy of a page that has none; NULL without memory. */
static struct page *add(struct agxs_cache *cache, struct table **table, uint8_t *host)
{
   if (!*table)
      *table = calloc(1, sizeof(**table));
   uint8_t *copy = *table ? take_page(cache) : NULL;
   if (!copy)
      return NULL;
   struct page *page = find(*table, host);
   memcpy(copy, host, PAGE_BYTES);
   *page = (struct page){.host = host, .copy = copy};
   (*table)->order[(*table)->count++] = (uint32_t)(page - (*table)->pages);
   return page;
}

/* Without memory for copies everything goes straight to memory; the run then fails, since it
 * would find out nothing. */
static void switch_off(struct agxs_tlb *tlb)
{
   agxs_cache_drop(tlb);
   tlb->cache->is_off = true;
}

bool agxs_cache_is_off(const struct agxs_tlb *tlb)
{
   return tlb->cache && tlb->cache->is_off;
}

uint8_t *agxs_cache_page(struct agxs_tlb *tlb, uint8_t *host, enum agxs_access access)
{
   struct agxs_cache *cache = tlb->cache;
   if (cache->is_off)
      return host;
   if (cache->data && cache->data->count == MAX_PAGES)
      agxs_cache_drop(tlb);
   struct page *page = find(cache->data, host);
   if (!page->host)
      page = add(cache, &cache->data, host);
   if (page && access == AGXS_WRITE && !page->original) {
      page->original = take_page(cache);
      if (page->original)
         memcpy(page->original, page->copy, PAGE_BYTES);
      else
         page = NULL;
   }
   if (page)
      return page->copy;
   switch_off(tlb);
   return host;
}

uint8_t *agxs_cache_texture(struct agxs_tlb *tlb, uint64_t va)
{
   struct agxs_cache *cache = tlb->cache;
   uint64_t in_page = va & AGXS_PAGE_MASK;
   uint8_t *host = tlb->memory->translate(tlb->memory->user, va - in_page, AGXS_READ);
   if (!host)
      return NULL;
   if (cache->texture && cache->texture->count == MAX_PAGES)
      empty(cache, cache->texture);
   struct page *page = find(cache->texture, host);
   if (!page->host && !cache->is_off)
      page = add(cache, &cache->texture, host);
   return (page && page->host ? page->copy : host) + in_page;
}

static void sync_byte(struct agxs_tlb *tlb, uint64_t va)
{
   uint64_t at = va & AGXS_PAGE_MASK;
   uint8_t *host = tlb->memory->translate(tlb->memory->user, va - at, AGXS_READ);
   struct page *page = host ? find(tlb->cache->data, host) : NULL;
   if (!page || !page->host)
      return;
   if (page->original && page->copy[at] != page->original[at])
      host[at] = page->copy[at];
   page->copy[at] = host[at];
   if (page->original)
      page->original[at] = page->copy[at];
}

void agxs_cache_sync(struct agxs_tlb *tlb, uint64_t va, uint32_t bytes)
{
   for (uint32_t i = 0; i < bytes; i++)
      sync_byte(tlb, va + i);
}

uint8_t *agxs_cache_atomic_begin(struct agxs_tlb *tlb, uint64_t va)
{
   uint64_t in_page = va & AGXS_PAGE_MASK;
   uint8_t *host = tlb->memory->translate(tlb->memory->user, va - in_page, AGXS_WRITE);
   if (!host)
      return NULL;
   struct page *page = find(tlb->cache->data, host);
   for (unsigned i = 0; i < 4 && page->original; i++)
      if (page->copy[in_page + i] != page->original[in_page + i])
         host[in_page + i] = page->copy[in_page + i];
   return host + in_page;
}

void agxs_cache_atomic_end(struct agxs_tlb *tlb, uint64_t va, const uint8_t *at)
{
   uint64_t in_page = va & AGXS_PAGE_MASK;
   struct page *page = find(tlb->cache->data, at - in_page);
   if (!page->host)
      return;
   memcpy(page->copy + in_page, at, 4);
   if (page->original)
      memcpy(page->original + in_page, at, 4);
}

void agxs_cache_drop(struct agxs_tlb *tlb)
{
   if (!tlb->cache)
      return;
   empty(tlb->cache, tlb->cache->data);
   empty(tlb->cache, tlb->cache->texture);
   agxs_tlb_forget(tlb);
}

static void write_back_all(struct agxs_cache *cache)
{
   for (uint32_t i = 0; cache->data && i < cache->data->count; i++)
      write_back(&cache->data->pages[cache->data->order[i]]);
}

void agxs_cache_barrier(struct agxs_tlb *tlb, enum agxs_membar kind)
{
   struct agxs_cache *cache = tlb->cache;
   if (kind == AGXS_MEMBAR_DEVICE) {
      empty(cache, cache->data);
      agxs_tlb_forget(tlb);
   }
   if (kind == AGXS_MEMBAR_RELEASE || kind == AGXS_MEMBAR_TEXTURE)
      write_back_all(cache);
   if (kind == AGXS_MEMBAR_ACQUIRE || kind == AGXS_MEMBAR_TEXTURE)
      empty(cache, cache->texture);
}

void agxs_cache_evict(struct agxs_tlb *tlb, uint64_t random)
{
   const struct table *textures = tlb->cache->texture;
   struct table *table = tlb->cache->data;
   if ((table && table->count > CALM_PAGES) || (textures && textures->count > CALM_PAGES)) {
      agxs_cache_drop(tlb);
      return;
   }
   if (!table || !table->count)
      return;
   /* The entry stays in the table, as an up-to-date copy: to be there or to be read anew is
    * the same until another core writes. */
   struct page *page = &table->pages[table->order[random % table->count]];
   write_back(page);
   memcpy(page->copy, page->host, PAGE_BYTES);
   if (page->original)
      memcpy(page->original, page->copy, PAGE_BYTES);
}

void agxs_cache_detach(struct agxs_tlb *tlb)
{
   struct agxs_cache *cache = tlb->cache;
   if (!cache)
      return;
   agxs_cache_drop(tlb);
   while (cache->spare_count)
      free(cache->spare[--cache->spare_count]);
   free(cache->data);
   free(cache->texture);
   free(cache);
   tlb->cache = NULL;
}
