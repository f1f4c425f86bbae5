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

/* The compare that is false where this one is true, for the same sources, or AGXC_OP_ISA where
 * there is none: of floats only equality has one, since a NaN makes the others false both ways. */
enum agxc_op agxc_opposite(enum agxc_op compare);

/* Two compares of the same sources, one of which is false where the other is true. */
bool agxc_are_opposite(const struct agxc_instr *a, const struct agxc_instr *b);
