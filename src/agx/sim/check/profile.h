/* SPDX-License-Identifier: MIT
 *
 * Counts what a dispatch executes, for statistics and modelled cycles (statistics.h). A
 * run loop of its own (launch/workgroup.c) calls in here; the plain one knows nothing of it.
 * Each worker counts for itself, workgroup by workgroup, so that sums do not depend
 * on the number of threads.
 */
#pragma once

#include "agx/sim/machine/machine.h"
#include "agx/sim/check/statistics.h"

struct agxs_profile;

/* A texture or image instruction says what it touches, active lanes only; inside exec
 * functions. Does nothing while nothing is counted. */
void agxs_profile_touch(struct agxs_group *group, uint64_t va, uint32_t bytes);

/* Takes up a launch (options.profile is set) or gives all memory back. */
AGX_MUST_CHECK agx_status agxs_profile_begin(struct agxs_worker *worker);
void agxs_profile_free(struct agxs_worker *worker);

/* Around a workgroup. */
void agxs_profile_enter(struct agxs_worker *worker);
/* At the workgroup's end: adds its clocks to the sums. */
void agxs_profile_leave(struct agxs_worker *worker);

/* Before and after an instruction. False: no memory to count with (the group has failed). */
void agxs_profile_before(struct agxs_group *group, const struct agxs_uop *uop);
/* After the instruction. False: no memory to count with (the group has failed). */
bool agxs_profile_after(struct agxs_group *group, const struct agxs_uop *uop);

/* Adds what another worker counted of the same launch, and empties that. */
void agxs_profile_merge(struct agxs_worker *into, struct agxs_worker *from);

/* Cycles of what was counted since begin: a preamble. */
uint64_t agxs_profile_cycles(const struct agxs_worker *worker);

/* Hands the sums to options.on_dispatch. */
AGX_MUST_CHECK agx_status agxs_profile_report(const struct agxs_worker *worker, uint64_t preamble);
