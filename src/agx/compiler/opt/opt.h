/* SPDX-License-Identifier: MIT
 *
 * Optimizations from generic IR to generic IR, one file each. A pass returns true when it
 * changed something; it takes its options from shader->options and fails through agxc_fail.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* Folds constants and applies identities. */
bool agxc_opt_algebraic(struct agxc_shader *shader);
/* Looks through moves, trivial phis and splits of collects. */
bool agxc_opt_copy_prop(struct agxc_shader *shader);
/* Contracts products and sums to FFMA. */
bool agxc_opt_contraction(struct agxc_shader *shader);
/* Removes ifs on constants. */
bool agxc_opt_control_flow(struct agxc_shader *shader);
/* Unrolls loops with a known number of turns. */
bool agxc_opt_unroll(struct agxc_shader *shader);
/* Merges equal expressions of dominating blocks. */
bool agxc_opt_cse(struct agxc_shader *shader);
/* Removes values that nothing uses; machine instructions, too. */
bool agxc_opt_dce(struct agxc_shader *shader);
/* Brings offsets into the form that accesses want. */
bool agxc_opt_address(struct agxc_shader *shader);
/* Removes loads of what is known and dead stores. */
bool agxc_opt_memory(struct agxc_shader *shader);
/* Joins neighbouring accesses to vectors. */
bool agxc_opt_vectorize(struct agxc_shader *shader);
/* Moves invariant code in front of its loop. */
bool agxc_opt_licm(struct agxc_shader *shader);
/* Makes selects of short ifs. */
bool agxc_opt_if_conversion(struct agxc_shader *shader);
/* Multiplies signed bytes in pairs. */
bool agxc_opt_byte_dot(struct agxc_shader *shader);
/* Moves what a dispatch needs but once to the preamble. */
bool agxc_opt_preamble(struct agxc_shader *shader);
/* Leaves out checks of accesses that the driver can see to stay inside. */
bool agxc_elide_bounds_checks(struct agxc_shader *shader);
