/* SPDX-License-Identifier: MIT
 *
 * A binary heap of node numbers, least key first and of equal keys the least number first;
 * only for schedule*.c. Its array is the user's.
 */
#pragma once

#include <stdint.h>

struct agxc_heap {
   uint64_t *keys; /* key << 32 | number */
   uint32_t count;
};

/* Adds an entry; the array must have room for it. */
void agxc_heap_push(struct agxc_heap *heap, uint32_t key, uint32_t number);

/* Takes out the entry at that place of the array (0: the least) and returns its number. */
uint32_t agxc_heap_take(struct agxc_heap *heap, uint32_t at);

/* The number of the entry at that place of the array. */
static inline uint32_t agxc_heap_number(const struct agxc_heap *heap, uint32_t at)
{
   return (uint32_t)heap->keys[at];
}

/* The key of the entry at that place of the array. */
static inline uint32_t agxc_heap_key(const struct agxc_heap *heap, uint32_t at)
{
   return (uint32_t)(heap->keys[at] >> 32);
}
