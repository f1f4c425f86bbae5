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

/* All values of so many bits. */
static inline struct agxc_range agxc_range_full(unsigned bits)
{
   return (struct agxc_range){0, agx_bits(bits)};
}

/* What a generic operation with two sources gives for sources within a and b, in `bits` bits; all
 * values where it has no rule or may wrap. */
struct agxc_range agxc_range_combine(enum agxc_op op, unsigned bits, struct agxc_range a,
                                     struct agxc_range b);

/* The bounds that the operation gives its (only) result whatever the sources are: of system values,
 * counts of bits, fields and extensions. */
struct agxc_range agxc_range_of_op(const struct agxc_shader *shader,
                                   const struct agxc_instr *instr);

/* Computes the bounds of all values there are, and numbers the shader (agxc_index); the result is
 * in the shader's arena. */
struct agxc_ranges *agxc_ranges_compute(struct agxc_shader *shader);

/* Bounds of an operand. Values made after agxc_ranges_compute are looked through, a few
 * operations deep. */
struct agxc_range agxc_range_of(const struct agxc_ranges *ranges, const struct agxc_ref *ref);

/* The upper bound alone. */
static inline uint64_t agxc_range_max(const struct agxc_ranges *ranges, const struct agxc_ref *ref)
{
   return agxc_range_of(ranges, ref).max;
}
