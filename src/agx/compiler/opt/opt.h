/* SPDX-License-Identifier: MIT
 *
 * Optimizations from generic IR to generic IR, one file each; pipeline.c runs them, and some call
 * agxc_opt_cse, agxc_opt_copy_prop and agxc_opt_dce to clean up behind themselves. A pass returns
 * true when it changed something, takes its options from shader->options, allocates from the
 * shader's arena, and fails through agxc_fail.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* Folds constants and applies identities. */
bool agxc_opt_algebraic(struct agxc_shader *shader);
/* Replaces uses of moves, of phis of one value, and of elements of a vector just put together. */
bool agxc_opt_copy_prop(struct agxc_shader *shader);
/* Contracts products and sums to FFMA. */
bool agxc_opt_contraction(struct agxc_shader *shader);
/* Removes ifs on constants and without code, and counted loops without effect; joins continuing
 * parts that nothing continues to with bodies. */
bool agxc_opt_control_flow(struct agxc_shader *shader);
/* Copies the bodies of loops that run a known number of times, in place of the loops. */
bool agxc_opt_unroll(struct agxc_shader *shader);
/* Computes equal expressions once where one dominates the other. */
bool agxc_opt_cse(struct agxc_shader *shader);
/* Removes instructions without effect whose values nothing uses. Machine code, too. */
bool agxc_opt_dce(struct agxc_shader *shader);
/* Moves constants out of 64-bit addresses into offsets. */
bool agxc_opt_wide_address(struct agxc_shader *shader);
/* Brings offsets into the form that accesses have for nothing. */
bool agxc_opt_address(struct agxc_shader *shader);
/* Removes loads of what this thread just read or wrote, and stores that a later one covers. */
bool agxc_opt_memory(struct agxc_shader *shader);
/* Writes tables of constants in private variables once. */
bool agxc_opt_private_tables(struct agxc_shader *shader);
/* Removes stores to private variables that later ones cover. */
bool agxc_opt_private_stores(struct agxc_shader *shader);
/* Loads elements of threadgroup memory that only the thread itself writes no more than once. */
bool agxc_opt_own_elements(struct agxc_shader *shader);
/* Joins neighbouring accesses of a block to vectors. */
bool agxc_opt_vectorize(struct agxc_shader *shader);
/* Loads more than four neighbouring bytes as words. */
bool agxc_opt_widen_bytes(struct agxc_shader *shader);
/* Moves invariant code in front of its loop. */
bool agxc_opt_licm(struct agxc_shader *shader);
/* Converts short ifs to selects. */
bool agxc_opt_if_conversion(struct agxc_shader *shader);
/* Multiplies signed bytes in pairs. */
bool agxc_opt_byte_dot(struct agxc_shader *shader);
/* Moves what is the same for the whole dispatch to shader->preamble, where that pays. */
bool agxc_opt_preamble(struct agxc_shader *shader);
/* Makes the unchecked variant of a robust program: leaves out checks that guards, which it adds to
 * shader->guards, make needless. Does nothing unless shader->is_unchecked. */
bool agxc_elide_bounds_checks(struct agxc_shader *shader);
