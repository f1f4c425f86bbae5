/* SPDX-License-Identifier: MIT
 *
 * Vectors of raw elements between registers and memory that is known to be there:
 * a page of device memory or threadgroup memory. One offset per lane; those of
 * inactive lanes are 0 on loads and unused on stores.
 */
#pragma once

#include <stdint.h>

#include "agx/isa/isa.h"
#include "agx/sim/machine/floats.h"
#include "agx/sim/machine/format.h"
#include "agx/sim/machine/lanes.h"
#include "agx/sim/memory/memory.h"
#include "base/util.h"

/* 1, 2 or 4 bytes of GPU memory as a number. */
AGXS_INLINE uint32_t agxs_load_raw(const uint8_t *at, unsigned bytes)
{
   return bytes == 4 ? agxs_get_le32(at) : bytes == 2 ? agxs_get_le16(at) : *at;
}

/* The low 1, 2 or 4 bytes of a number to GPU memory. */
AGXS_INLINE void agxs_store_raw(uint8_t *at, uint32_t value, unsigned bytes)
{
   if (bytes == 4)
      agxs_put_le32(at, value);
   else if (bytes == 2)
      agxs_put_le16(at, (uint16_t)value);
   else
      *at = (uint8_t)value;
}

/* The vector's element number slot as a destination of its own. */
static inline struct agxs_dest agxs_element_dest(const struct agxs_dest *dst, unsigned slot)
{
   unsigned half = dst->row * 2u + dst->shift / 16 + slot * (dst->bits / 16);
   struct agxs_dest element = {.row = (uint16_t)(half / 2), .bits = dst->bits};
   element.shift = (half & 1) * 16;
   element.mask = dst->bits == 32 ? ~0u : 0xffffu << element.shift;
   return element;
}

/* How the active lanes' places lie to each other. */
enum agxs_pattern {
   AGXS_SCATTERED,
   AGXS_IN_A_ROW, /* lane i's at start + i * stride; all 32 lie below limit */
   AGXS_AT_ONE_PLACE,
};

/* *out_start: that start, else the place of an active lane. */
AGXS_INLINE enum agxs_pattern agxs_find_pattern(const struct agxs_group *group,
                                                const struct agxs_row *offset, uint32_t stride,
                                                uint32_t limit, uint32_t *out_start)
{
   const unsigned first = (unsigned)__builtin_ctz(group->active);
   const uint32_t at = offset->lane[first], start = at - first * stride;
   uint32_t off_row = 0, off_place = 0;
   AGXS_FOR_LANES (i) {
      off_row |= (offset->lane[i] - start - i * stride) & group->exec.lane[i];
      off_place |= (offset->lane[i] - at) & group->exec.lane[i];
   }
   *out_start = at;
   if (!off_place)
      return AGXS_AT_ONE_PLACE;
   if (off_row || !agx_range_fits(start, (uint64_t)AGXS_LANES * stride, limit))
      return AGXS_SCATTERED;
   *out_start = start;
   return AGXS_IN_A_ROW;
}

/* Bytes from a lane's offset to the end of what it may touch. */
AGXS_INLINE uint32_t agxs_span(const struct agxs_uop *uop, unsigned bytes)
{
   return bytes * (uop->mask ? 32u - (unsigned)__builtin_clz(uop->mask) : 1u);
}

/* `count` elements of every lane, lane after lane. */
AGXS_INLINE void agxs_fetch_row(const uint8_t *from, struct agxs_row *out, const unsigned bytes,
                                const unsigned count)
{
   AGXS_FOR_LANES (i) {
      for (unsigned e = 0; e < count; e++)
         out[e].lane[i] = agxs_load_raw(from + (i * count + e) * bytes, bytes);
   }
}

/* Writes loaded elements to the destination in active lanes. */
static inline void agxs_put_elements(struct agxs_group *group, const struct agxs_uop *uop,
                                     const struct agxs_row *values, unsigned count)
{
   for (unsigned slot = 0; slot < count; slot++) {
      struct agxs_dest dst = agxs_element_dest(&uop->dst, slot);
      const struct agxs_writer writer = agxs_writer(group, &dst);
      const struct agxs_row *value = &values[slot];
      if (dst.bits != 32) {
         agxs_put_u32(group, &dst, value);
      } else if (group->active == ~0u) {
         AGXS_EACH_LANE (i)
            agxs_write(&writer, i, value->lane[i], true, true);
      } else {
         AGXS_EACH_LANE (i)
            agxs_write(&writer, i, value->lane[i], true, false);
      }
   }
}

/* Dense vectors of `count` elements wherever they lie. */
AGXS_INLINE void agxs_gather(const uint8_t *base, const struct agxs_row *offset,
                             struct agxs_row *out, const unsigned bytes, const unsigned count)
{
   uint8_t together[AGXS_LANES * 16];
   AGXS_FOR_LANES (i) {
      uint32_t at = offset->lane[i] & ~(bytes - 1);
      __asm__("" : "+r"(at)); /* one by one: making vectors of addresses only costs time */
      memcpy(together + i * count * bytes, base + at, count * bytes);
   }
   agxs_fetch_row(together, out, bytes, count);
}

/* call(count) for the counts of dense vectors, each a constant to the compiler. */
#define AGXS_DENSE(count, call)                                                                    \
   do {                                                                                            \
      if ((count) == 1)                                                                            \
         call(1);                                                                                  \
      else if ((count) == 2)                                                                       \
         call(2);                                                                                  \
      else                                                                                         \
         call(4);                                                                                  \
   } while (0)

/* The loads of lanes that lie in one page, for one element size. */
AGXS_INLINE void agxs_load_elements_of(struct agxs_group *group, const struct agxs_uop *uop,
                                       const uint8_t *base, uint32_t limit,
                                       const struct agxs_row *offset, const unsigned bytes)
{
   const unsigned count = (unsigned)__builtin_popcount(uop->mask);
   const bool is_dense = (uop->mask & 15) == 1 || (uop->mask & 15) == 3 || (uop->mask & 15) == 15;
   struct agxs_row value[4];
   uint32_t start;
   enum agxs_pattern pattern = agxs_find_pattern(group, offset, count * bytes, limit, &start);
   if (is_dense && pattern == AGXS_IN_A_ROW && !(start & (bytes - 1))) {
#define FETCH(n) agxs_fetch_row(base + start, value, bytes, n)
      AGXS_DENSE(count, FETCH);
#undef FETCH
   } else if (is_dense && pattern != AGXS_AT_ONE_PLACE) {
#define GATHER(n) agxs_gather(base, offset, value, bytes, n)
      AGXS_DENSE(count, GATHER);
#undef GATHER
   } else {
      for (unsigned e = 0, slot = 0; e < 4; e++) {
         if (!(uop->mask >> e & 1))
            continue;
         const uint32_t one = agxs_load_raw(base + ((start + e * bytes) & ~(bytes - 1)), bytes);
         AGXS_FOR_LANES (i)
            value[slot].lane[i] = one;
         for (unsigned i = 0; i < AGXS_LANES && pattern != AGXS_AT_ONE_PLACE; i++) {
            const uint32_t at = (offset->lane[i] + e * bytes) & ~(bytes - 1);
            value[slot].lane[i] = agxs_load_raw(base + at, bytes);
         }
         slot++;
      }
   }
   agxs_put_elements(group, uop, value, count);
}

/* Some lane is active; base has `limit` bytes, and every active lane's four elements lie in
 * them. */
static inline void agxs_load_elements(struct agxs_group *group, const struct agxs_uop *uop,
                                      const uint8_t *base, uint32_t limit,
                                      const struct agxs_row *offset)
{
   unsigned bytes = agxs_formats[uop->format].bytes;
   if (bytes == 4)
      agxs_load_elements_of(group, uop, base, limit, offset, 4);
   else if (bytes == 2)
      agxs_load_elements_of(group, uop, base, limit, offset, 2);
   else
      agxs_load_elements_of(group, uop, base, limit, offset, 1);
}

/* The register vector that a store reads, from its element number slot on. */
struct agxs_element {
   const uint32_t *lane;
   unsigned shift;
};

/* What a store reads for one element of its data. */
AGXS_INLINE struct agxs_element agxs_element(const struct agxs_group *group,
                                             const struct agxs_source *data, unsigned slot)
{
   unsigned half =
      data->row * 2u + (data->bits == 16 && data->left == 0) + slot * (data->bits / 16);
   return (struct agxs_element){group->regs[half / 2].lane, (half & 1) * 16};
}

/* Its words, in the register itself where that has 32 bits, else in room. */
static inline const uint32_t *agxs_element_words(const struct agxs_group *group,
                                                 const struct agxs_source *data, unsigned slot,
                                                 struct agxs_row *room)
{
   const struct agxs_element element = agxs_element(group, data, slot);
   if (data->bits == 32)
      return element.lane;
   AGXS_FOR_LANES (i)
      room->lane[i] = element.lane[i] >> element.shift & 0xffff;
   return room->lane;
}

/* The counterpart of agxs_fetch_row, for all lanes. */
AGXS_INLINE void agxs_put_row(uint8_t *to, const struct agxs_element *from, const unsigned bytes,
                              const unsigned count)
{
   struct agxs_row value[4];
   for (unsigned e = 0; e < count; e++) {
      AGXS_FOR_LANES (i)
         value[e].lane[i] = from[e].lane[i] >> from[e].shift;
   }
   AGXS_FOR_LANES (i) {
      for (unsigned e = 0; e < count; e++)
         agxs_store_raw(to + (i * count + e) * bytes, value[e].lane[i], bytes);
   }
}

/* Stores the elements of one lane. */
AGXS_INLINE void agxs_store_lane(const struct agxs_element *from, unsigned mask, uint8_t *base,
                                 uint32_t offset, unsigned lane, const unsigned bytes)
{
   for (unsigned e = 0, slot = 0; e < 4; e++) {
      if (!(mask >> e & 1))
         continue;
      uint32_t value = from[slot].lane[lane] >> from[slot].shift;
      agxs_store_raw(base + ((offset + e * bytes) & ~(bytes - 1)), value, bytes);
      slot++;
   }
}

/* Lane by lane where they are scattered: the last lane wins where two write the same place. */
AGXS_INLINE void agxs_store_elements_of(const struct agxs_group *group, const struct agxs_uop *uop,
                                        uint8_t *base, uint32_t limit,
                                        const struct agxs_row *offset, const unsigned bytes)
{
   const unsigned count = (unsigned)__builtin_popcount(uop->mask), mask = uop->mask;
   const bool is_dense = mask == 1 || mask == 3 || mask == 15;
   struct agxs_element from[4] = {0};
   uint32_t start;
   enum agxs_pattern pattern = agxs_find_pattern(group, offset, count * bytes, limit, &start);
   for (unsigned slot = 0; slot < count; slot++)
      from[slot] = agxs_element(group, &uop->src[0], slot);
   if (pattern == AGXS_AT_ONE_PLACE) {
      unsigned last = 31 - (unsigned)__builtin_clz(group->active);
      agxs_store_lane(from, mask, base, start, last, bytes);
      return;
   }
   bool is_row =
      pattern == AGXS_IN_A_ROW && group->active == ~0u && is_dense && !(start & (bytes - 1));
   if (is_row) {
#define PUT(n) agxs_put_row(base + start, from, bytes, n)
      AGXS_DENSE(count, PUT);
#undef PUT
   } else if (mask == 1) {
      for (uint32_t left = group->active; left; left &= left - 1) {
         unsigned i = (unsigned)__builtin_ctz(left);
         agxs_store_lane(from, 1, base, offset->lane[i], i, bytes);
      }
   } else {
      for (uint32_t left = group->active; left; left &= left - 1) {
         unsigned i = (unsigned)__builtin_ctz(left);
         agxs_store_lane(from, mask, base, offset->lane[i], i, bytes);
      }
   }
}

/* As for agxs_load_elements. */
static inline void agxs_store_elements(const struct agxs_group *group, const struct agxs_uop *uop,
                                       uint8_t *base, uint32_t limit, const struct agxs_row *offset)
{
   unsigned bytes = agxs_formats[uop->format].bytes;
   if (bytes == 4)
      agxs_store_elements_of(group, uop, base, limit, offset, 4);
   else if (bytes == 2)
      agxs_store_elements_of(group, uop, base, limit, offset, 2);
   else
      agxs_store_elements_of(group, uop, base, limit, offset, 1);
}

/* One lane's channels as a packed word. */
static inline void agxs_store_packed(const struct agxs_group *group, const struct agxs_uop *uop,
                                     uint8_t *at, unsigned lane)
{
   uint32_t channel[4] = {0};
   for (unsigned e = 0; e < agxs_formats[uop->format].channels; e++) {
      uint32_t value = agxs_get_lane(group, &uop->src[0], e, lane);
      channel[e] = uop->src[0].bits == 16 ? agxs_half_to_single(value) : agxs_flush(value);
   }
   agxs_format_store_packed(uop->format, at, channel);
}

/* The 32-bit atomic operations of device and threadgroup memory. */

/* The new value. Decoding lets only known operations through. */
static inline uint32_t agxs_atomic_apply(unsigned op, uint32_t old, uint32_t value,
                                         uint32_t compare)
{
   switch (op) {
   case AGX_ISA_ATOMIC_ADD:
      return old + value;
   case AGX_ISA_ATOMIC_SUB:
      return old - value;
   case AGX_ISA_ATOMIC_XCHG:
      return value;
   case AGX_ISA_ATOMIC_CMPXCHG:
      return old == compare ? value : old;
   case AGX_ISA_ATOMIC_UMIN:
      return old < value ? old : value;
   case AGX_ISA_ATOMIC_IMIN:
      return (int32_t)old < (int32_t)value ? old : value;
   case AGX_ISA_ATOMIC_UMAX:
      return old > value ? old : value;
   case AGX_ISA_ATOMIC_IMAX:
      return (int32_t)old > (int32_t)value ? old : value;
   case AGX_ISA_ATOMIC_AND:
      return old & value;
   case AGX_ISA_ATOMIC_OR:
      return old | value;
   default:
      return old ^ value;
   }
}

/* Between the host's byte order and GPU memory's, either way. */
static inline uint32_t agxs_little_endian(uint32_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
   return __builtin_bswap32(value);
#else
   return value;
#endif
}

/* On GPU memory that other threads use too; at is 4-aligned. What the lanes of `lanes` ask for,
 * in their order and at one go. Each finds in old what it met. */
static inline void agxs_atomic_lanes(uint8_t *at, unsigned op, uint32_t lanes,
                                     const uint32_t *value, const uint32_t *compare, uint32_t *old)
{
   uint32_t *word = (uint32_t *)(void *)at;
   uint32_t raw = __atomic_load_n(word, __ATOMIC_RELAXED), now;
   do {
      now = agxs_little_endian(raw);
      for (uint32_t left = lanes; left; left &= left - 1) {
         unsigned i = (unsigned)__builtin_ctz(left);
         old[i] = now;
         now = agxs_atomic_apply(op, now, value[i], compare[i]);
      }
   } while (!__atomic_compare_exchange_n(word, &raw, agxs_little_endian(now), true,
                                         __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}
