/* SPDX-License-Identifier: MIT
 *
 * Offsets of accesses as sums: for passes that compare, check or rewrite addresses.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

#define AGXC_OFFSET_MAX_TERMS 16u

/* Offsets are counted modulo 2^32, and a constant in one is read with its sign. What a module's
 * types add to an index has no sign: beyond AGXC_MAX_CONSTANT_B it is no constant for passes. What
 * they take out of an index that is multiplied is at most AGXC_MAX_MOVED_B, so that sums of both
 * stay below 2^31. */
#define AGXC_MAX_CONSTANT_B (1 << 30)
#define AGXC_MAX_MOVED_B    (1 << 28)

/* Whether a pass may take that constant out of an index that is multiplied. */
static inline bool agxc_may_move(int64_t constant_B)
{
   return constant_B <= AGXC_MAX_MOVED_B && constant_B >= -AGXC_MAX_MOVED_B;
}

/* factor * ref. ref is what an ELEMENT gives, an operand that is no sum, or one that lies too deep;
 * neither a constant nor a MOV's result. */
struct agxc_offset_term {
   struct agxc_ref ref;
   uint64_t factor;
};

/* The sum of the terms and the constant. Factors and constant are not reduced modulo 2^32: offsets
 * of 32 bits are what these 64 bits give modulo 2^32. */
struct agxc_offset {
   struct agxc_offset_term terms[AGXC_OFFSET_MAX_TERMS]; /* as they stand, left to right */
   uint32_t count;
   uint64_t constant;
};

/* What counts as a sum. */
enum agxc_offset_mode {
   AGXC_OFFSET_SUMS,   /* IADD: all factors are 1 */
   AGXC_OFFSET_LINEAR, /* ISUB, and products by constants, too */
};

/* Takes an offset apart, through `depth` operations at the most, additions of constants not
 * counted. */
struct agxc_offset agxc_offset_split(struct agxc_ref offset, enum agxc_offset_mode mode,
                                     unsigned depth);

/* The x of x + c, where c is constant; c is added to *constant. Of an offset that is constant
 * AGXC_NONE, of any other the offset itself. */
struct agxc_ref agxc_offset_root(struct agxc_ref offset, uint32_t *constant);

/* What an operation multiplies its first source by: 2^c of x << c, c of x * c; 0 for other
 * operations. */
uint64_t agxc_offset_factor(const struct agxc_instr *instr);
