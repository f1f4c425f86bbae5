/* SPDX-License-Identifier: MIT
 *
 * Optimizations about the latency of loads, from generic IR to generic IR, one file each: they let
 * loads wait together, or earlier than their results are needed. The rules for passes of opt.h
 * hold.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* Unrolls small loops over i < n by up to four iterations; the old loop does what is left over. */
bool agxc_opt_unroll_partial(struct agxc_shader *shader);
/* Unrolls loops over i < n that wait for loads by up to four iterations, without such a rest: an
 * iteration that isn't one loads what another has loaded. */
bool agxc_opt_unroll_predicated(struct agxc_shader *shader);
/* Makes loops test behind their body, where that lets opt_licm move a load. */
bool agxc_opt_rotate(struct agxc_shader *shader);
/* Moves loads of constant memory up over ifs. */
bool agxc_opt_hoist_loads(struct agxc_shader *shader);
/* Does once, before an if, what both of its arms begin with. */
bool agxc_opt_hoist_common(struct agxc_shader *shader);
/* Moves constant loads of an if behind a loop in front of the loop. */
bool agxc_opt_preload_loads(struct agxc_shader *shader);
/* Defers uses of loads past later ifs, so that loads of several ifs wait together. */
bool agxc_opt_defer_uses(struct agxc_shader *shader);
/* Does the loads of up to four iterations at once, in loops with barriers. */
bool agxc_opt_batch_loads(struct agxc_shader *shader);
/* Issues loads that a loop's next iteration needs in this one. */
bool agxc_opt_prefetch(struct agxc_shader *shader);
