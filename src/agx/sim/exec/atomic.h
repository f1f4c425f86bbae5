/* SPDX-License-Identifier: MIT
 *
 * The 32-bit atomic operations of device and threadgroup memory.
 */
#pragma once

#include <stdint.h>

#include "agx/isa/isa.h"

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
