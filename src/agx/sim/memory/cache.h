/* SPDX-License-Identifier: MIT
 *
 * Chaos: the caches of one simulated core, which nothing but a barrier makes agree
 * with memory. What a core reads or writes it does in copies of its own; what it wrote
 * reaches memory byte by byte, when the copies are written back. The texture unit has
 * copies of another kind, of memory as it was. Atomics work on memory itself.
 * See docs/decisions/0005-chaos-caches.md.
 */
#pragma once

#include "agx/sim/memory/memory.h"

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
