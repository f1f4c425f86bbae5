/* SPDX-License-Identifier: MIT
 *
 * Scheduling of machine instructions at five moments; all but the first two keep them in their
 * blocks. The passes return true when an order changed.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* First, SSA: computations go down to the blocks that use them, where registers cost resident
 * threads. */
bool agxc_schedule_sink(struct agxc_shader *shader);
/* Then, SSA: cheap values are computed again where they are used, where that makes room for more
 * workgroups. */
bool agxc_schedule_recompute(struct agxc_shader *shader);
/* Before agxc_schedule, SSA: fewer values alive at once, where they cost resident threads. */
bool agxc_schedule_pressure(struct agxc_shader *shader);
/* Before allocation, SSA: loads together and early, as far as registers allow. */
bool agxc_schedule(struct agxc_shader *shader);
/* Behind allocation, registers: dependent instructions apart, where that makes a block stall
 * less. */
bool agxc_schedule_post(struct agxc_shader *shader);
