/* SPDX-License-Identifier: MIT
 *
 * GPU memory as one worker sees it: a small direct-mapped cache of translations
 * in front of the address space's own function. Entries live until the address
 * space's generation changes, which is looked at between workgroups.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "agx/chip.h"
#include "agx/sim/memory/space.h"
#include "base/status.h"

#define AGXS_TLB_ENTRIES 64u
#define AGXS_PAGE_MASK   (AGX_PAGE_BYTES - 1)

struct agxs_tlb_entry {
   uint64_t page; /* va of the page's first byte; 1: empty */
   uint8_t *host;
};

struct agxs_cache;

struct agxs_tlb {
   const struct agxs_memory *memory;
   struct agxs_cache *cache; /* chaos: what this core sees instead; NULL: memory itself */
   uint64_t generation;
   struct agxs_tlb_entry read[AGXS_TLB_ENTRIES], write[AGXS_TLB_ENTRIES];
};

/* An empty tlb in front of memory. */
void agxs_tlb_init(struct agxs_tlb *tlb, const struct agxs_memory *memory);
/* Forgets everything when the address space has changed since the last call. */
void agxs_tlb_refresh(struct agxs_tlb *tlb);
/* The slow way: asks the address space. NULL when not mapped with that access. */
uint8_t *agxs_tlb_miss(struct agxs_tlb *tlb, uint64_t va, enum agxs_access access);

/* The host address of va, good to the end of its page; NULL when not mapped. */
static inline uint8_t *agxs_tlb_find(struct agxs_tlb *tlb, uint64_t va, enum agxs_access access)
{
   struct agxs_tlb_entry *entry =
      &(access == AGXS_READ ? tlb->read : tlb->write)[va / AGX_PAGE_BYTES % AGXS_TLB_ENTRIES];
   if (__builtin_expect(entry->page != (va & ~(uint64_t)AGXS_PAGE_MASK), 0))
      return agxs_tlb_miss(tlb, va, access);
   return entry->host + (va & AGXS_PAGE_MASK);
}

/* Empties the tlb. */
void agxs_tlb_forget(struct agxs_tlb *tlb);

/* Chaos (cache.c): what the core sees of a page of memory. */
uint8_t *agxs_cache_page(struct agxs_tlb *tlb, uint8_t *host, enum agxs_access access);
/* Chaos: agxs_tlb_find_texture with caches. */
uint8_t *agxs_cache_texture(struct agxs_tlb *tlb, uint64_t va);
/* Chaos: agxs_tlb_atomic_begin with caches. */
uint8_t *agxs_cache_atomic_begin(struct agxs_tlb *tlb, uint64_t va);
/* Chaos: agxs_tlb_atomic_end with caches. */
void agxs_cache_atomic_end(struct agxs_tlb *tlb, uint64_t va, const uint8_t *at);

/* As agxs_tlb_find for what the texture unit reads. It doesn't see what a core stored before a
 * barrier for textures (membar) or of the stream, which chaos shows. Read at once: the bytes
 * may be others after the next access. */
static inline uint8_t *agxs_tlb_find_texture(struct agxs_tlb *tlb, uint64_t va)
{
   if (__builtin_expect(tlb->cache != NULL, 0))
      return agxs_cache_texture(tlb, va);
   return agxs_tlb_find(tlb, va, AGXS_READ);
}

/* The word that an atomic works on, in memory that all cores share; after it, agxs_tlb_atomic_end
 * with the same va and what this gave. NULL when it is not mapped for writing. */
static inline uint8_t *agxs_tlb_atomic_begin(struct agxs_tlb *tlb, uint64_t va)
{
   if (__builtin_expect(tlb->cache != NULL, 0))
      return agxs_cache_atomic_begin(tlb, va);
   return agxs_tlb_find(tlb, va, AGXS_WRITE);
}

/* After an atomic; at is what agxs_tlb_atomic_begin gave. */
static inline void agxs_tlb_atomic_end(struct agxs_tlb *tlb, uint64_t va, const uint8_t *at)
{
   if (__builtin_expect(tlb->cache != NULL, 0))
      agxs_cache_atomic_end(tlb, va, at);
}

/* Copies length bytes out of GPU memory; false, with *out_bad_va, when a page of
 * them can't be read. */
bool agxs_tlb_copy_out(struct agxs_tlb *tlb, uint64_t va, void *bytes, uint64_t length,
                       uint64_t *out_bad_va);

/* GPU memory is little-endian whatever the host is. */
static inline uint16_t agxs_get_le16(const uint8_t *at)
{
   uint16_t value;
   memcpy(&value, at, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
   value = __builtin_bswap16(value);
#endif
   return value;
}

/* The same of 32 bits. */
static inline uint32_t agxs_get_le32(const uint8_t *at)
{
   uint32_t value;
   memcpy(&value, at, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
   value = __builtin_bswap32(value);
#endif
   return value;
}

/* Writes 16 bits to GPU memory. */
static inline void agxs_put_le16(uint8_t *at, uint16_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
   value = __builtin_bswap16(value);
#endif
   memcpy(at, &value, sizeof(value));
}

/* Writes 32 bits to GPU memory. */
static inline void agxs_put_le32(uint8_t *at, uint32_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
   value = __builtin_bswap32(value);
#endif
   memcpy(at, &value, sizeof(value));
}

/* Chaos: the caches of one simulated core, which nothing but a barrier makes agree
 * with memory. What a core reads or writes it does in copies of its own; what it wrote
 * reaches memory byte by byte, when the copies are written back. The texture unit has
 * copies of another kind, of memory as it was. Atomics work on memory itself.
 * See docs/decisions/0005-chaos-caches.md. */

struct agxs_cache;

/* What a memory barrier instruction means to the caches; uop.mode of a membar. */
enum agxs_membar {
   AGXS_MEMBAR_WORKGROUP, /* one core runs a workgroup: nothing */
   AGXS_MEMBAR_DEVICE,    /* write back, forget */
   AGXS_MEMBAR_RELEASE,   /* image barriers 1 and 2: write back */
   AGXS_MEMBAR_ACQUIRE,   /* image barriers 3 and 4: the texture unit forgets */
   AGXS_MEMBAR_TEXTURE,   /* flush memory to texture: both */
};

/* Gives the tlb caches of its own; AGX_RESOURCE_EXHAUSTED. */
AGX_MUST_CHECK agx_status agxs_cache_attach(struct agxs_tlb *tlb);
/* True once there was no memory for a copy: what ran since then saw memory itself. */
bool agxs_cache_is_off(const struct agxs_tlb *tlb);
/* Writes back and frees them; a tlb without any is left alone. */
void agxs_cache_detach(struct agxs_tlb *tlb);

/* Does what a barrier instruction asks of the caches. */
void agxs_cache_barrier(struct agxs_tlb *tlb, enum agxs_membar kind);
/* Makes bytes of this core's copy and memory agree: what was written here goes there, the rest
 * comes from there. */
void agxs_cache_sync(struct agxs_tlb *tlb, uint64_t va, uint32_t bytes);
/* Writes back and forgets everything, textures too: a barrier of the stream. */
void agxs_cache_drop(struct agxs_tlb *tlb);
/* Writes back and forgets one page, by a random number: an eviction. Also keeps the number
 * of pages within bounds. */
void agxs_cache_evict(struct agxs_tlb *tlb, uint64_t random);
