/* SPDX-License-Identifier: MIT
 *
 * Optimizations about the latency of loads, from generic IR to generic IR, one file each. They
 * return true when they changed something.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* Runs several turns of a loop at a time. */
bool agxc_opt_unroll_partial(struct agxc_shader *shader);
/* As agxc_opt_unroll_partial, for loops whose turns are predicated. */
bool agxc_opt_unroll_predicated(struct agxc_shader *shader);
/* Makes loops test behind their body. */
bool agxc_opt_rotate(struct agxc_shader *shader);
/* Moves loads over ifs. */
bool agxc_opt_hoist_loads(struct agxc_shader *shader);
/* Moves what both arms of an if begin with in front of it. */
bool agxc_opt_hoist_common(struct agxc_shader *shader);
/* Moves loads of ifs behind loops in front of them. */
bool agxc_opt_preload_loads(struct agxc_shader *shader);
/* Lets the loads of several ifs wait together. */
bool agxc_opt_defer_uses(struct agxc_shader *shader);
/* Brings loads of several turns that barriers part together. */
bool agxc_opt_batch_loads(struct agxc_shader *shader);
/* Loads what a loop's next turn needs. */
bool agxc_opt_prefetch(struct agxc_shader *shader);
