/* SPDX-License-Identifier: MIT
 *
 * Device memory: load, store and atomic. Addresses are formed for all lanes at
 * once; when all of them lie in one page, one translation serves the instruction.
 * Unmapped memory is a soft fault per element. Source: docs/hw/machine.md 7.
 */
#include "agx/sim/exec/elements_impl.h"
#include "agx/sim/exec/functions_impl.h"
#include "agx/sim/image/image.h"
#include "agx/sim/machine/floats.h"
#include "agx/sim/machine/format.h"
#include "agx/sim/machine/lanes.h"

/* The page that holds all that the active lanes touch, with the lanes' offsets in it,
 * or NULL when there is no such page, or it is not mapped. */
static uint8_t *common_page(struct agxs_group *group, const uint64_t *va, unsigned span_B,
                            enum agxs_access access, struct agxs_row *offset)
{
   uint64_t page = va[__builtin_ctz(group->active)] & ~(uint64_t)AGXS_PAGE_MASK;
   uint64_t last = AGX_PAGE_BYTES - span_B;
   uint32_t outside = 0;
   AGXS_FOR_LANES (i) {
      uint64_t apart = va[i] - page;
      outside |= (apart > last ? ~0u : 0u) & group->exec.lane[i];
      offset->lane[i] = (uint32_t)apart & group->exec.lane[i];
   }
   return outside ? NULL : agxs_tlb_find(&group->worker->tlb, page, access);
}

/* A base that is the same for all lanes with a whole 32-bit register as index, or without: the
 * usual way to address a buffer, for which 32 bits do. */
static bool has_uniform_base(const struct agxs_uop *uop)
{
   return uop->src[1].bank == AGXS_BANK_POOL && uop->src[1].bits == 64 &&
          (!uop->has_index || (uop->src[2].bits == 32 && uop->src[2].right == 0));
}

/* As common_page. Indices that lead into the page lie between two bounds, which are computed
 * once and clamped to what 32 bits can hold. */
static uint8_t *indexed_page(struct agxs_group *group, const struct agxs_uop *uop,
                             unsigned scale_log2, unsigned span_B, enum agxs_access access,
                             struct agxs_row *offset)
{
   const struct agxs_row *base_row = agxs_source_row(group, &uop->src[1]);
   const uint32_t *index = agxs_source_row(group, &uop->src[2])->lane;
   const uint64_t base = base_row[0].lane[0] | (uint64_t)base_row[1].lane[0] << 32;
   const bool is_signed = uop->src[2].is_signed;
   const uint32_t first = index[__builtin_ctz(group->active)];
   const int64_t chosen = is_signed ? (int64_t)(int32_t)first : (int64_t)first;
   const uint64_t place = base + ((uint64_t)chosen << scale_log2);
   const uint64_t page = place & ~(uint64_t)AGXS_PAGE_MASK;
   const uint64_t last = page + AGX_PAGE_BYTES - span_B;
   /* The chosen index is between the bounds, unless its place is beyond last. */
   int64_t low = chosen - (int64_t)((place - page) >> scale_log2);
   int64_t high = low + (int64_t)((last - (base + ((uint64_t)low << scale_log2))) >> scale_log2);
   low = AGX_MAX(low, is_signed ? INT32_MIN : 0);
   high = AGX_MIN(high, is_signed ? INT32_MAX : (int64_t)UINT32_MAX);
   if (chosen > high)
      return NULL;
   const uint32_t least = (uint32_t)low, room = (uint32_t)(high - low);
   const uint32_t start = (uint32_t)(base - page);
   uint32_t outside = 0;
   AGXS_FOR_LANES (i) {
      outside |= (index[i] - least > room ? ~0u : 0u) & group->exec.lane[i];
      offset->lane[i] = (start + (index[i] << scale_log2)) & group->exec.lane[i];
   }
   return outside ? NULL : agxs_tlb_find(&group->worker->tlb, page, access);
}

/* The same without an index. */
static uint8_t *uniform_page(struct agxs_group *group, const struct agxs_uop *uop,
                             unsigned scale_log2, unsigned span_B, enum agxs_access access,
                             struct agxs_row *offset)
{
   const struct agxs_row *base = agxs_source_row(group, &uop->src[1]);
   const uint64_t va =
      (base[0].lane[0] | (uint64_t)base[1].lane[0] << 32) + ((uint64_t)uop->imm << scale_log2);
   const uint32_t apart = (uint32_t)(va & AGXS_PAGE_MASK);
   if (apart > AGX_PAGE_BYTES - span_B)
      return NULL;
   AGXS_FOR_LANES (i)
      offset->lane[i] = apart & group->exec.lane[i];
   return agxs_tlb_find(&group->worker->tlb, va - apart, access);
}

/* The page of a raw access and the lanes' offsets in it, or NULL: then it goes lane by lane. */
static uint8_t *find_page(struct agxs_group *group, const struct agxs_uop *uop,
                          enum agxs_access access, struct agxs_row *offset)
{
   const struct agxs_format *format = &agxs_formats[uop->format];
   if (!format->is_raw || !group->active)
      return NULL;
   unsigned scale = agxs_scale_log2(uop, format->bytes), span_B = agxs_span(uop, format->bytes);
   if (!has_uniform_base(uop)) {
      uint64_t va[AGXS_LANES];
      agxs_get_addresses(group, uop, scale, va);
      return common_page(group, va, span_B, access, offset);
   }
   return uop->has_index ? indexed_page(group, uop, scale, span_B, access, offset)
                         : uniform_page(group, uop, scale, span_B, access, offset);
}

/* One element of one lane the slow way; false when the group stops. */
static bool load_element(struct agxs_group *group, const struct agxs_uop *uop, uint64_t va,
                         unsigned channel, unsigned slot, unsigned lane)
{
   const uint8_t *at = agxs_tlb_find(&group->worker->tlb, va, AGXS_READ);
   uint32_t value = 0;
   if (at)
      value = agxs_format_load(uop->format, channel, at, uop->dst.bits);
   else if (!agxs_group_fault(group, uop, AGXS_FAULT_SOFT_LOAD, va, agxs_formats[uop->format].bytes,
                              lane, "load"))
      return false;
   agxs_put_lane(group, &uop->dst, slot, lane, value);
   return true;
}

static bool load_lane(struct agxs_group *group, const struct agxs_uop *uop, uint64_t va,
                      unsigned lane)
{
   const struct agxs_format *format = &agxs_formats[uop->format];
   unsigned bytes = format->bytes, slot = 0;
   va &= ~(uint64_t)(bytes - 1);
   for (unsigned e = 0; e < format->channels; e++) {
      if (!load_element(group, uop, va, e, e, lane))
         return false;
   }
   for (unsigned e = 0; e < 4 && !format->channels; e++) {
      if ((uop->mask >> e & 1) && !load_element(group, uop, va + e * bytes, e, slot++, lane))
         return false;
   }
   return true;
}

const struct agxs_uop *AGXS_EXEC(load)(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_format *format = &agxs_formats[uop->format];
   uint64_t va[AGXS_LANES];
   struct agxs_row offset;
   const uint8_t *page = find_page(group, uop, AGXS_READ, &offset);
   if (page) {
      agxs_load_elements(group, uop, page, AGX_PAGE_BYTES, &offset);
      return uop + 1;
   }
   agxs_get_addresses(group, uop, agxs_scale_log2(uop, format->bytes), va);
   AGXS_FOR_LANES (i) {
      if (group->exec.lane[i] && !load_lane(group, uop, va[i], i))
         return NULL;
   }
   return uop + 1;
}

static bool store_packed(struct agxs_group *group, const struct agxs_uop *uop, uint64_t va,
                         unsigned lane)
{
   uint8_t *at = agxs_tlb_find(&group->worker->tlb, va & ~3ull, AGXS_WRITE);
   if (!at)
      return agxs_group_fault(group, uop, AGXS_FAULT_SOFT_STORE, va & ~3ull, 4, lane, "store");
   agxs_store_packed(group, uop, at, lane);
   return true;
}

static bool store_lane(struct agxs_group *group, const struct agxs_uop *uop, uint64_t va,
                       unsigned lane)
{
   unsigned bytes = agxs_formats[uop->format].bytes, slot = 0;
   if (agxs_formats[uop->format].channels)
      return store_packed(group, uop, va, lane);
   for (unsigned e = 0; e < 4; e++) {
      if (!(uop->mask >> e & 1))
         continue;
      uint64_t to = (va + e * bytes) & ~(uint64_t)(bytes - 1);
      uint32_t value = agxs_get_lane(group, &uop->src[0], slot++, lane);
      uint8_t *at = agxs_tlb_find(&group->worker->tlb, to, AGXS_WRITE);
      if (at)
         agxs_format_store(uop->format, e, at, value, uop->src[0].bits);
      else if (!agxs_group_fault(group, uop, AGXS_FAULT_SOFT_STORE, to, bytes, lane, "store"))
         return false;
   }
   return true;
}

const struct agxs_uop *AGXS_EXEC(store)(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_format *format = &agxs_formats[uop->format];
   uint64_t va[AGXS_LANES];
   struct agxs_row offset;
   uint8_t *page = find_page(group, uop, AGXS_WRITE, &offset);
   if (page) {
      agxs_store_elements(group, uop, page, AGX_PAGE_BYTES, &offset);
      return uop + 1;
   }
   agxs_get_addresses(group, uop, agxs_scale_log2(uop, format->bytes), va);
   AGXS_FOR_LANES (i) {
      if (group->exec.lane[i] && !store_lane(group, uop, va[i], i))
         return NULL;
   }
   return uop + 1;
}

static bool is_one_place(const struct agxs_group *group, const uint64_t *va)
{
   const uint64_t to = va[__builtin_ctz(group->active)];
   uint64_t apart = 0;
   AGXS_FOR_LANES (i)
      apart |= (va[i] ^ to) & (uint64_t)(int64_t)(int32_t)group->exec.lane[i];
   return !(apart & ~3ull);
}

struct atomic_sources {
   struct agxs_row room[2];
   const uint32_t *value, *compare;
};

/* One atomic for all of these lanes; false when the group stops. */
AGXS_INLINE bool run_atomic(struct agxs_group *group, const struct agxs_uop *uop, uint64_t to,
                            uint32_t lanes, const struct atomic_sources *sources,
                            struct agxs_row *old)
{
   struct agxs_tlb *tlb = &group->worker->tlb;
   uint8_t *at = agxs_tlb_atomic_begin(tlb, to);
   if (at) {
      agxs_atomic_lanes(at, uop->mode, lanes, sources->value, sources->compare, old->lane);
      agxs_tlb_atomic_end(tlb, to, at);
      return true;
   }
   for (uint32_t left = lanes; left; left &= left - 1) {
      unsigned i = (unsigned)__builtin_ctz(left);
      old->lane[i] = 0;
      if (!agxs_group_fault(group, uop, AGXS_FAULT_SOFT_STORE, to, 4, i, "atomic"))
         return false;
   }
   return true;
}

const struct agxs_uop *AGXS_EXEC(atomic)(struct agxs_group *group, const struct agxs_uop *uop)
{
   const bool is_pair = uop->mode == AGX_ISA_ATOMIC_CMPXCHG;
   struct atomic_sources sources;
   struct agxs_row old = {{0}};
   uint64_t va[AGXS_LANES];
   if (!group->active)
      return uop + 1;
   agxs_get_addresses(group, uop, 2, va);
   sources.value = agxs_element_words(group, &uop->src[0], 0, &sources.room[0]);
   sources.compare = agxs_element_words(group, &uop->src[0], is_pair, &sources.room[1]);
   if (is_one_place(group, va)) {
      uint64_t to = va[__builtin_ctz(group->active)] & ~3ull;
      if (!run_atomic(group, uop, to, group->active, &sources, &old))
         return NULL;
   } else {
      for (uint32_t left = group->active; left; left &= left - 1) {
         unsigned i = (unsigned)__builtin_ctz(left);
         if (!run_atomic(group, uop, va[i] & ~3ull, 1u << i, &sources, &old))
            return NULL;
      }
   }
   if (uop->dst.bits)
      agxs_put_u32(group, &uop->dst, &old);
   return uop + 1;
}

/* Exec functions of textures, images and tile memory. */

const struct agxs_uop *AGXS_EXEC(sample)(struct agxs_group *group, const struct agxs_uop *uop)
{
   return agxs_image_sample(group, uop) ? uop + 1 : NULL;
}

const struct agxs_uop *AGXS_EXEC(image_write)(struct agxs_group *group, const struct agxs_uop *uop)
{
   return agxs_image_write(group, uop) ? uop + 1 : NULL;
}

const struct agxs_uop *AGXS_EXEC(image_write_block)(struct agxs_group *group,
                                                    const struct agxs_uop *uop)
{
   /* As long as a thousand others: it ends the group's time slice, so that limits are looked at. */
   if (agxs_image_write_block(group, uop))
      group->next = uop + 1;
   return NULL;
}

const struct agxs_uop *AGXS_EXEC(texture_state)(struct agxs_group *group,
                                                const struct agxs_uop *uop)
{
   return agxs_image_load_state(group, uop, false) ? uop + 1 : NULL;
}

const struct agxs_uop *AGXS_EXEC(sampler_state)(struct agxs_group *group,
                                                const struct agxs_uop *uop)
{
   return agxs_image_load_state(group, uop, true) ? uop + 1 : NULL;
}

const struct agxs_uop *AGXS_EXEC(tile_load)(struct agxs_group *group, const struct agxs_uop *uop)
{
   return agxs_image_tile(group, uop, false) ? uop + 1 : NULL;
}

const struct agxs_uop *AGXS_EXEC(tile_store)(struct agxs_group *group, const struct agxs_uop *uop)
{
   return agxs_image_tile(group, uop, true) ? uop + 1 : NULL;
}
