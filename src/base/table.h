/* SPDX-License-Identifier: MIT
 *
 * A hash table from two numbers to two numbers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"

struct agx_table_entry {
   uint64_t group, key;
   uint64_t value, more; /* value 0: not there */
};

struct agx_table {
   const struct agx_host_alloc *alloc;
   struct agx_table_entry *entries; /* open addressing, a power of two of places */
   size_t count, capacity;
};

/* Frees all; a table of zeros is an empty one. */
void agx_table_fini(struct agx_table *table);
/* The entry, made where it is new, to be filled in: value and more are what was set last, or 0.
 * Valid until the next call. NULL: no memory. */
struct agx_table_entry *agx_table_get(struct agx_table *table, uint64_t group, uint64_t key);
/* The entry, or NULL. */
const struct agx_table_entry *agx_table_find(const struct agx_table *table, uint64_t group,
                                             uint64_t key);
