/* SPDX-License-Identifier: MIT
 *
 * Code that only a jump through a register leads to. A kernel holds what can be seen
 * from its entry; what a register names besides is decoded as a kernel of its own when a
 * group first goes there, and kept by the worker until the launch ends. Nothing of it
 * is shared between threads.
 */
#pragma once

#include "agx/sim/machine/machine.h"

/* Places outside of the kernel that one worker follows in a launch. */
#define AGXS_MAX_EXTENSIONS 64u

struct agxs_extension {
   struct agxs_kernel *kernel;
   struct agxs_row *pool;
};

/* The uop at pc, to be returned by an exec function. NULL: the group has failed, or goes on
 * in other code once the function has returned. */
const struct agxs_uop *agxs_group_reach(struct agxs_group *group, const struct agxs_uop *uop,
                                        uint32_t pc);
/* Moves the group to where the last call of the above leads, if that is elsewhere. */
void agxs_group_move(struct agxs_group *group);

/* After a uniform changed: the constant pools of all code. */
void agxs_worker_refill(struct agxs_worker *worker);
/* Forgets all extensions. */
void agxs_worker_drop_extensions(struct agxs_worker *worker);
