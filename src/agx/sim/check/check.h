/* SPDX-License-Identifier: MIT
 *
 * Check mode around one instruction: what real hardware leaves undefined fails the group.
 */
#pragma once

#include "agx/sim/machine/exec_set.h"
#include "agx/sim/machine/machine.h"

/* What must hold before an instruction. False: the group has failed. */
bool agxs_check_before(struct agxs_group *group, const struct agxs_uop *uop);
/* What the instruction leaves behind for those that follow. */
void agxs_check_after(struct agxs_group *group, const struct agxs_uop *uop);

/* What image accesses call, of a worker with options.check or options.profile. */
extern const struct agxs_image_observer agxs_check_image_observer;

/* Bounds: a run that knows what each launch may access reports every access outside, byte
 * by byte. The functions that do so stand before those that execute, so that nothing of it
 * is there without declared ranges. */

/* As base, with the accesses watched. Dispatches then have base as their inner_set. */
void agxs_bounds_exec_set(const struct agxs_exec_set *base, struct agxs_exec_set *out_set);

/* The launch's own part of what options hold. */
void agxs_bounds_select(const struct agxs_options *options, struct agxs_dispatch *dispatch);
