/* SPDX-License-Identifier: MIT
 *
 * Bounds: a run that knows what each launch may access reports every access outside, byte
 * by byte. The functions that do so stand before those that execute, so that nothing of it
 * is there without declared ranges.
 */
#pragma once

#include "agx/sim/machine/exec_set.h"

/* As base, with the accesses watched. Dispatches then have base as their inner_set. */
void agxs_bounds_exec_set(const struct agxs_exec_set *base, struct agxs_exec_set *out_set);

/* The launch's own part of what options hold. */
void agxs_bounds_select(const struct agxs_options *options, struct agxs_dispatch *dispatch);
