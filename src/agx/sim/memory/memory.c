/* SPDX-License-Identifier: MIT
 *
 * The slow half of the tlb: asks the address space for a page, forgets pages when the
 * generation changes, and copies across pages. All rooms above read GPU memory through it.
 */
#include "agx/sim/memory/memory.h"

#include "base/util.h"

void agxs_tlb_forget(struct agxs_tlb *tlb)
{
   for (unsigned i = 0; i < AGXS_TLB_ENTRIES; i++) {
      tlb->read[i] = (struct agxs_tlb_entry){.page = 1};
      tlb->write[i] = (struct agxs_tlb_entry){.page = 1};
   }
}

static uint64_t read_generation(const struct agxs_memory *memory)
{
   return memory->generation ? atomic_load_explicit(memory->generation, memory_order_acquire) : 0;
}

void agxs_tlb_init(struct agxs_tlb *tlb, const struct agxs_memory *memory)
{
   tlb->memory = memory;
   tlb->generation = read_generation(memory);
   agxs_tlb_forget(tlb);
}

void agxs_tlb_refresh(struct agxs_tlb *tlb)
{
   uint64_t generation = read_generation(tlb->memory);
   if (generation == tlb->generation)
      return;
   tlb->generation = generation;
   agxs_cache_drop(tlb);
   agxs_tlb_forget(tlb);
}

uint8_t *agxs_tlb_miss(struct agxs_tlb *tlb, uint64_t va, enum agxs_access access)
{
   uint64_t page = va & ~(uint64_t)AGXS_PAGE_MASK;
   uint8_t *host = tlb->memory->translate(tlb->memory->user, page, access);
   if (!host)
      return NULL;
   if (tlb->cache)
      host = agxs_cache_page(tlb, host, access);
   struct agxs_tlb_entry *table = access == AGXS_READ ? tlb->read : tlb->write;
   table[page / AGX_PAGE_BYTES % AGXS_TLB_ENTRIES] =
      (struct agxs_tlb_entry){.page = page, .host = host};
   return host + (va - page);
}

bool agxs_tlb_copy_out(struct agxs_tlb *tlb, uint64_t va, void *bytes, uint64_t length,
                       uint64_t *out_bad_va)
{
   uint8_t *to = bytes;
   while (length) {
      const uint8_t *from = agxs_tlb_find(tlb, va, AGXS_READ);
      if (!from) {
         *out_bad_va = va;
         return false;
      }
      uint64_t step = AGX_MIN(length, AGX_PAGE_BYTES - (va & AGXS_PAGE_MASK));
      memcpy(to, from, step);
      to += step, va += step, length -= step;
   }
   return true;
}
