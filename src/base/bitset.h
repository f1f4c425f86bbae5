/* SPDX-License-Identifier: MIT
 *
 * Bit sets as arrays of 64-bit words; the caller owns the words and knows
 * their count (agx_bitset_words).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t agx_bitset_word;

/* How many words hold so many bits. */
static inline size_t agx_bitset_words(size_t bits)
{
   return (bits + 63) / 64;
}

/* Returns whether the set has the bit. */
static inline bool agx_bitset_test(const agx_bitset_word *set, size_t bit)
{
   return set[bit / 64] >> (bit % 64) & 1;
}

/* Adds a bit to the set. */
static inline void agx_bitset_set(agx_bitset_word *set, size_t bit)
{
   set[bit / 64] |= 1ull << (bit % 64);
}

/* Takes a bit out of the set. */
static inline void agx_bitset_clear(agx_bitset_word *set, size_t bit)
{
   set[bit / 64] &= ~(1ull << (bit % 64));
}

/* Adds from to set; true when set grew. */
static inline bool agx_bitset_union(agx_bitset_word *set, const agx_bitset_word *from, size_t words)
{
   agx_bitset_word grown = 0;
   for (size_t i = 0; i < words; i++) {
      grown |= from[i] & ~set[i];
      set[i] |= from[i];
   }
   return grown != 0;
}

/* The first set bit at or after start, or bits when there is none. */
static inline size_t agx_bitset_next(const agx_bitset_word *set, size_t bits, size_t start)
{
   for (size_t i = start / 64; i < agx_bitset_words(bits); i++) {
      agx_bitset_word word = set[i];
      if (i == start / 64)
         word &= ~0ull << (start % 64);
      if (word) {
         size_t bit = i * 64 + (size_t)__builtin_ctzll(word);
         return bit < bits ? bit : bits;
      }
   }
   return bits;
}

#define agx_bitset_for_each(bit, set, bits)                                                        \
   for (size_t bit = agx_bitset_next(set, bits, 0); bit < (size_t)(bits);                          \
        bit = agx_bitset_next(set, bits, bit + 1))
