/* SPDX-License-Identifier: MIT
 *
 * Machine code to uops, once per kernel of a run. Everything that the entry can
 * reach is decoded; what can't be executed (unknown, unmapped, registers beyond
 * the declared count) becomes a uop that fails when it is reached, not before.
 */
#pragma once

#include "agx/sim/machine/exec_set.h"
#include "agx/sim/machine/machine.h"

/* Instructions that one kernel may have; hostile code must not eat the host. */
#define AGXS_MAX_UOPS 262144u

/* Decodes; fails only for want of memory or when the code is too large. */
AGX_MUST_CHECK agx_status agxs_kernel_create(struct agxs_tlb *tlb,
                                             const struct agxs_kernel_request *request,
                                             const struct agxs_exec_set *set,
                                             struct agxs_kernel **out_kernel);
/* NULL is fine. */
void agxs_kernel_destroy(struct agxs_kernel *kernel);

/* True when the kernel answers this request and its code is still what memory holds. */
bool agxs_kernel_matches(const struct agxs_kernel *kernel, struct agxs_tlb *tlb,
                         const struct agxs_kernel_request *request);

/* The uop of the instruction at pc (relative to usc_base), or NULL. */
const struct agxs_uop *agxs_kernel_find(const struct agxs_kernel *kernel, uint32_t pc);

/* Makes the pool rows from the uniform file; pool has constant_count rows. */
void agxs_kernel_fill_pool(const struct agxs_kernel *kernel, const uint16_t *uniforms,
                           struct agxs_row *pool);

/* Text of the instruction that a uop stands for, or "" when there is none. */
void agxs_kernel_text(const struct agxs_kernel *kernel, const struct agxs_uop *uop, char *text,
                      size_t capacity);

/* Code that only a jump through a register leads to. A kernel holds what can be seen
 * from its entry; what a register names besides is decoded as a kernel of its own when a
 * group first goes there, and kept by the worker until the launch ends. Nothing of it
 * is shared between threads. */

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
