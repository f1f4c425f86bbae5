/* SPDX-License-Identifier: MIT
 *
 * Runs one SIMD-group for a time slice.
 */
#pragma once

#include "agx/sim/machine/machine.h"

/* Uops that a SIMD-group runs before the next one of its workgroup has a time slice, so that
 * one may wait for what another stores. */
#define AGXS_SLICE 1000000u

/* Runs the group until it is done, at a barrier or failed, or its time slice is over (ready). */
void agxs_group_run(struct agxs_group *group);
