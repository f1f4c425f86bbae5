/* SPDX-License-Identifier: MIT
 *
 * A hash table from two numbers to two numbers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"

struct agxw_table_entry {
   uint64_t group, key;
   uint64_t value, more; /* value 0: not there */
};

struct agxw_table {
   const struct agx_host_alloc *alloc;
   struct agxw_table_entry *entries; /* open addressing, a power of two of places */
   size_t count, capacity;
};

/* Frees all; a table of zeros is an empty one. */
void agxw_table_fini(struct agxw_table *table);
/* The entry, made where it is new, to be filled in: value and more are what was set last, or 0.
 * Valid until the next call. NULL: no memory. */
struct agxw_table_entry *agxw_table_get(struct agxw_table *table, uint64_t group, uint64_t key);
/* The entry, or NULL. */
const struct agxw_table_entry *agxw_table_find(const struct agxw_table *table, uint64_t group,
                                               uint64_t key);
