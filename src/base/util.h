/* SPDX-License-Identifier: MIT
 *
 * Small pure helpers that every room needs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define AGX_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define AGX_MIN(a, b)    ((a) < (b) ? (a) : (b))
#define AGX_MAX(a, b)    ((a) > (b) ? (a) : (b))

/* Rounds value up to a multiple of align, a power of two. Wraps near the top
 * of the type; check first where value comes from outside. */
static inline uint64_t agx_align_up(uint64_t value, uint64_t align)
{
   return (value + align - 1) & ~(align - 1);
}

/* Returns whether value is a multiple of align, a power of two. */
static inline bool agx_is_aligned(uint64_t value, uint64_t align)
{
   return (value & (align - 1)) == 0;
}

/* value / unit, rounded up, without wrap. */
static inline uint64_t agx_div_up(uint64_t value, uint64_t unit)
{
   return value / unit + (value % unit != 0);
}

/* A mask of the low n bits, n <= 64. */
static inline uint64_t agx_bits(unsigned n)
{
   return n >= 64 ? ~0ull : (1ull << n) - 1;
}

/* True when offset .. offset + length lies inside 0 .. size, without wrap. */
static inline bool agx_range_fits(uint64_t offset, uint64_t length, uint64_t size)
{
   return offset <= size && length <= size - offset;
}

/* A number that may stand at any address. */
static inline uint32_t agx_load_u32(const void *at)
{
   uint32_t value;
   memcpy(&value, at, sizeof(value));
   return value;
}

/* A number that may stand at any address. */
static inline uint64_t agx_load_u64(const void *at)
{
   uint64_t value;
   memcpy(&value, at, sizeof(value));
   return value;
}
