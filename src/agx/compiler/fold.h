/* SPDX-License-Identifier: MIT
 *
 * Constant folding of generic operations: the one place that says what they compute. The
 * front end folds what it builds, opt_algebraic what other passes leave.
 */
#pragma once

#include "agx/compiler/ir.h"

/* The result of op over 32-bit (or 1-bit) constants, cut to bits; b is ignored by operations
 * with one source. False where an operation has no rule. Shifts by 32 and more give 0 or the
 * sign, as the hardware's do; a division by 0, which is undefined, gives 0. */
bool agxc_fold(enum agxc_op op, unsigned bits, uint32_t a, uint32_t b, uint32_t *out);
