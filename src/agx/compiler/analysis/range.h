/* SPDX-License-Identifier: MIT
 *
 * Bounds of integer values, read as unsigned: what sizes of workgroups, masks, shifts, small
 * types and the conditions of counting loops say about them.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* min <= value <= max, as numbers below 2^bits; 64-bit values have no bounds but these. */
struct agxc_range {
   uint64_t min, max;
};

struct agxc_ranges;

/* Computes the bounds of all values there are; in the shader's arena. */
struct agxc_ranges *agxc_ranges_compute(struct agxc_shader *shader);

/* Bounds of an operand. Values made after agxc_ranges_compute are looked through, a few
 * operations deep. */
struct agxc_range agxc_range_of(const struct agxc_ranges *ranges, const struct agxc_ref *ref);

/* The bound alone. */
static inline uint64_t agxc_range_max(const struct agxc_ranges *ranges, const struct agxc_ref *ref)
{
   return agxc_range_of(ranges, ref).max;
}
