/* SPDX-License-Identifier: MIT
 *
 * Constant folding of generic operations: the one place that says what they compute. The
 * front end folds what it builds, opt_algebraic what other passes leave.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* The constant that op over constants gives, of that many bits; b is AGXC_NONE for operations
 * with one source. AGXC_NONE where a source varies or an operation has no rule. Shifts by the
 * width and more give 0 or the sign, as the hardware's do; a division by 0, which is undefined,
 * gives 0. */
struct agxc_ref agxc_fold(enum agxc_op op, unsigned bits, struct agxc_ref a, struct agxc_ref b);

/* The same of operations on floats of 16 and 32 bits as the hardware computes them: rounded to
 * nearest even, denormals of 32 bits as zero; and sums, products and compares of 64. Not part of
 * agxc_fold, whose callers build code out of what doesn't fold. */
struct agxc_ref agxc_fold_float(enum agxc_op op, unsigned bits, struct agxc_ref a,
                                struct agxc_ref b);
/* The number that a constant of 16 or 32 bits is, and the constant that a number rounds to. */
float agxc_float_of(const struct agxc_ref *ref);
struct agxc_ref agxc_float_constant(unsigned bits, float value);

/* What an operation with two sources gives where one of them is constant and says it: a + 0 is a,
 * a & 0 is 0. AGXC_NONE where nothing does. */
struct agxc_ref agxc_fold_identity(enum agxc_op op, struct agxc_ref a, struct agxc_ref b);

/* agxc_build1 and agxc_build2 for what neither agxc_fold nor agxc_fold_identity knows. */
struct agxc_ref agxc_build1_folded(struct agxc_builder *b, enum agxc_op op, unsigned bits,
                                   struct agxc_ref a);
struct agxc_ref agxc_build2_folded(struct agxc_builder *b, enum agxc_op op, unsigned bits,
                                   struct agxc_ref a, struct agxc_ref c);

/* The compare that is false where this one is true, for the same sources, or AGXC_OP_ISA where
 * there is none: of floats only equality has one, since a NaN makes the others false both ways. */
enum agxc_op agxc_opposite(enum agxc_op compare);

/* Two compares of the same sources, one of which is false where the other is true. */
bool agxc_are_opposite(const struct agxc_instr *a, const struct agxc_instr *b);
