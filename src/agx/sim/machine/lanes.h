/* SPDX-License-Identifier: MIT
 *
 * How exec functions read sources and write destinations, 32 lanes at a time.
 * Plain loops over rows in fixed shapes, which the compiler turns into vector
 * code of whatever width the variant has. Sources are copied before anything is
 * written, so a destination may overlap them.
 */
#pragma once

#include <string.h>

#include "agx/sim/machine/format.h"
#include "agx/sim/machine/machine.h"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#define AGXS_FOR_LANES(i) for (unsigned i = 0; i < AGXS_LANES; i++)

/* A loop whose lanes don't depend on each other although rows may be the same: every
 * lane reads and writes only its own column. */
#ifdef __clang__
#define AGXS_EACH_LANE(i) _Pragma("clang loop vectorize(assume_safety)") AGXS_FOR_LANES (i)
#else
#define AGXS_EACH_LANE(i) _Pragma("GCC ivdep") AGXS_FOR_LANES (i)
#endif

/* The row that a source lies in. */
static inline const struct agxs_row *agxs_source_row(const struct agxs_group *group,
                                                     const struct agxs_source *source)
{
   return &group->bank[source->bank][source->row];
}

/* An operation's loop, compiled three times (LOOP is an always-inlined function whose
 * last two parameters are constants): wide registers with all lanes active, wide ones
 * with some, and anything else. */
#define AGXS_INLINE static inline __attribute__((always_inline))
#define AGXS_RUN_LOOP(loop, group, uop)                                                            \
   do {                                                                                            \
      if (!(uop)->is_plain)                                                                        \
         loop(group, uop, false, false);                                                           \
      else if ((group)->active == ~0u)                                                             \
         loop(group, uop, true, true);                                                             \
      else                                                                                         \
         loop(group, uop, true, false);                                                            \
   } while (0)

/* One bit a lane, of a row of all ones and zeros. */
static inline uint32_t agxs_mask_bits(const struct agxs_row *row)
{
   uint32_t bits = 0;
#if defined(__AVX2__)
   for (unsigned i = 0; i < AGXS_LANES; i += 8)
      bits |= (uint32_t)_mm256_movemask_ps(_mm256_load_ps((const float *)&row->lane[i])) << i;
#elif defined(__SSE2__)
   for (unsigned i = 0; i < AGXS_LANES; i += 4)
      bits |= (uint32_t)_mm_movemask_ps(_mm_load_ps((const float *)&row->lane[i])) << i;
#else
   AGXS_FOR_LANES (i)
      bits |= row->lane[i] & 1u << i;
#endif
   return bits;
}

/* A source made ready for a loop. */
struct agxs_reader {
   const uint32_t *lane;
   uint32_t sign;
   unsigned left, right;
};

/* Makes a source ready for a loop. */
static inline struct agxs_reader agxs_reader(const struct agxs_group *group,
                                             const struct agxs_source *source)
{
   return (struct agxs_reader){.lane = agxs_source_row(group, source)->lane,
                               .sign = source->sign,
                               .left = source->left,
                               .right = source->right};
}

/* The source in lane i; is_plain is a constant of the loop: 32 bits, nothing to extend. */
AGXS_INLINE uint32_t agxs_read(const struct agxs_reader *reader, unsigned i, bool is_plain)
{
   if (is_plain)
      return reader->lane[i];
   return ((reader->lane[i] << reader->left >> reader->right) ^ reader->sign) - reader->sign;
}

/* A destination made ready for a loop. */
struct agxs_writer {
   uint32_t *lane;
   const uint32_t *exec;
   uint32_t mask;
   unsigned shift;
};

/* Makes a destination ready for a loop. */
static inline struct agxs_writer agxs_writer(struct agxs_group *group, const struct agxs_dest *dest)
{
   return (struct agxs_writer){.lane = group->regs[dest->row].lane,
                               .exec = group->exec.lane,
                               .mask = dest->mask,
                               .shift = dest->shift};
}

/* Only where the lane is active; value's low bits where the destination is a half. */
AGXS_INLINE void agxs_write(const struct agxs_writer *writer, unsigned i, uint32_t value,
                            bool is_plain, bool is_all)
{
   uint32_t written = is_plain ? writer->exec[i] : writer->exec[i] & writer->mask;
   if (!is_plain)
      value <<= writer->shift;
   writer->lane[i] = is_all ? value : (writer->lane[i] & ~written) | (value & written);
}

/* The value of up to 32 bits, extended by the source's own rule. */
static inline void agxs_get_u32(const struct agxs_group *group, const struct agxs_source *source,
                                struct agxs_row *out)
{
   const struct agxs_reader reader = agxs_reader(group, source);
   AGXS_FOR_LANES (i)
      out->lane[i] = agxs_read(&reader, i, false);
}

/* Any size, extended to 64 bits by the source's own rule. */
static inline void agxs_get_i64(const struct agxs_group *group, const struct agxs_source *source,
                                uint64_t *out)
{
   const struct agxs_row *row = agxs_source_row(group, source);
   struct agxs_row low;
   if (source->bits == 64) {
      AGXS_FOR_LANES (i)
         out[i] = row[0].lane[i] | (uint64_t)row[1].lane[i] << 32;
      return;
   }
   agxs_get_u32(group, source, &low);
   if (source->is_signed) {
      AGXS_FOR_LANES (i)
         out[i] = (uint64_t)(int64_t)(int32_t)low.lane[i];
   } else {
      AGXS_FOR_LANES (i)
         out[i] = low.lane[i];
   }
}

/* A source of any size as two rows of words, extended by its own rule: its own registers
 * where they will do, else room, filled. */
struct agxs_wide {
   const uint32_t *low, *high;
   bool is_short; /* high is 0 */
};

/* A source of up to 64 bits, ready for a loop. */
static inline struct agxs_wide agxs_get_wide(const struct agxs_group *group,
                                             const struct agxs_source *source,
                                             struct agxs_row room[2])
{
   const struct agxs_row *row = agxs_source_row(group, source);
   if (source->bits == 64)
      return (struct agxs_wide){row[0].lane, row[1].lane, false};
   if (source->right)
      agxs_get_u32(group, source, &room[0]);
   const uint32_t *low = source->right ? room[0].lane : row->lane;
   AGXS_FOR_LANES (i)
      room[1].lane[i] = source->is_signed ? (uint32_t)((int32_t)low[i] >> 31) : 0;
   return (struct agxs_wide){low, room[1].lane, !source->is_signed};
}

/* Writes 32 bits in active lanes. */
static inline void agxs_put_u32(struct agxs_group *group, const struct agxs_dest *dest,
                                const struct agxs_row *value)
{
   const struct agxs_writer writer = agxs_writer(group, dest);
   AGXS_FOR_LANES (i)
      agxs_write(&writer, i, value->lane[i], false, false);
}

/* Writes 64 bits in active lanes. */
static inline void agxs_put_u64(struct agxs_group *group, const struct agxs_dest *dest,
                                const uint64_t *value)
{
   struct agxs_row *row = &group->regs[dest->row];
   AGXS_FOR_LANES (i) {
      uint32_t written = group->exec.lane[i];
      row[0].lane[i] = (row[0].lane[i] & ~written) | ((uint32_t)value[i] & written);
      row[1].lane[i] = (row[1].lane[i] & ~written) | ((uint32_t)(value[i] >> 32) & written);
   }
}

/* One lane's element `index` of a register vector that starts at dest. */
static inline void agxs_put_lane(struct agxs_group *group, const struct agxs_dest *dest,
                                 unsigned index, unsigned lane, uint32_t value)
{
   unsigned half = dest->row * 2u + dest->shift / 16 + index * (dest->bits / 16);
   uint32_t *at = &group->regs[half / 2].lane[lane];
   if (dest->bits == 32)
      *at = value;
   else
      *at = half & 1 ? (*at & 0xffff) | value << 16 : (*at & 0xffff0000u) | (value & 0xffff);
}

/* Element `index` of a register vector, in one lane. */
static inline uint32_t agxs_get_lane(const struct agxs_group *group,
                                     const struct agxs_source *source, unsigned index,
                                     unsigned lane)
{
   unsigned half =
      source->row * 2u + (source->bits == 16 && source->left == 0) + index * (source->bits / 16);
   uint32_t value = group->bank[source->bank][half / 2].lane[lane];
   if (source->bits == 32)
      return value;
   return half & 1 ? value >> 16 : value & 0xffff;
}

/* Which addresses a memory instruction names, for all lanes at once: for what
 * executes it and for what counts the lines that it touches. */

/* src[1] is the base, src[2] the index (imm when there is none); scale_log2 turns
 * an index into bytes. */
static inline void agxs_get_addresses(const struct agxs_group *group, const struct agxs_uop *uop,
                                      unsigned scale_log2, uint64_t *va)
{
   agxs_get_i64(group, &uop->src[1], va);
   if (!uop->has_index) {
      uint64_t offset = (uint64_t)uop->imm << scale_log2;
      AGXS_FOR_LANES (i)
         va[i] += offset;
      return;
   }
   uint64_t index[AGXS_LANES];
   agxs_get_i64(group, &uop->src[2], index);
   AGXS_FOR_LANES (i)
      va[i] += index[i] << scale_log2;
}

/* Log2 of what an index counts in bytes, for elements of so many bytes. */
static inline unsigned agxs_scale_log2(const struct agxs_uop *uop, unsigned bytes)
{
   unsigned size_log2 = (unsigned)__builtin_ctz(bytes);
   return agxs_formats[uop->format].channels ? 2 : size_log2 + uop->shift;
}

/* Byte address in threadgroup memory of element 0; 16 bits wide. */
static inline void agxs_get_local_addresses(const struct agxs_group *group,
                                            const struct agxs_uop *uop, unsigned bytes,
                                            struct agxs_row *out)
{
   struct agxs_row index;
   agxs_get_u32(group, &uop->src[1], out);
   if (uop->has_index) {
      agxs_get_u32(group, &uop->src[2], &index);
   } else {
      AGXS_FOR_LANES (i)
         index.lane[i] = (uint32_t)uop->imm;
   }
   AGXS_FOR_LANES (i)
      out->lane[i] = out->lane[i] + index.lane[i] * bytes;
}

/* All lanes' words number `word` from the stack's low end, where there is memory for it. */
static inline uint32_t *agxs_stack_row(const struct agxs_group *group, uint32_t word)
{
   return group->stack_chunks[word / AGXS_CHUNK_WORDS] + word % AGXS_CHUNK_WORDS * AGXS_LANES;
}

/* The offset that the instruction names, before its elements; read before any write. */
static inline void agxs_get_stack_offsets(const struct agxs_group *group,
                                          const struct agxs_uop *uop, int64_t *out)
{
   uint64_t index[AGXS_LANES];
   if (uop->has_index)
      agxs_get_i64(group, &uop->src[2], index);
   AGXS_FOR_LANES (i)
      out[i] = (int64_t)((uop->has_index ? index[i] : (uint64_t)uop->imm) << uop->shift);
}
