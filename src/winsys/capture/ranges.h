/* SPDX-License-Identifier: MIT
 *
 * Disjoint ranges of addresses, each with a value; a new one covers what it meets of the others.
 * Finding and covering take logarithmic time, whatever order they come in: a balanced tree whose
 * balance no input can spoil.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"

struct agxw_range {
   uint64_t start, bytes; /* start + bytes does not wrap; bytes > 0 */
   uint32_t object;
   bool single_page;
   uint64_t offset; /* of start in the object */
};

struct agxw_ranges {
   const struct agx_host_alloc *alloc;
   struct agxw_range_node *root;
   uint64_t random; /* state of the numbers that balance the tree */
};

/* An empty set; alloc may be NULL. */
void agxw_ranges_init(struct agxw_ranges *ranges, const struct agx_host_alloc *alloc);
/* Frees all. */
void agxw_ranges_fini(struct agxw_ranges *ranges);
/* Puts a range in. Where range->object is 0, only takes out what it covers.
 * AGX_RESOURCE_EXHAUSTED leaves what was there. */
AGX_MUST_CHECK agx_status agxw_ranges_set(struct agxw_ranges *ranges,
                                          const struct agxw_range *range);
/* The range around address, or the next one behind it, or NULL; valid until the next change. */
const struct agxw_range *agxw_ranges_find(const struct agxw_ranges *ranges, uint64_t address);
