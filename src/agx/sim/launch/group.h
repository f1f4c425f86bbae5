/* SPDX-License-Identifier: MIT
 *
 * Runs one SIMD-group for a turn.
 */
#pragma once

#include "agx/sim/machine/machine.h"

/* Uops that a SIMD-group runs before the next one of its workgroup has a turn, so that
 * one may wait for what another stores. */
#define AGXS_TURN 1000000u

/* Runs the group until it is done, at a barrier or failed, or has had its turn (ready). */
void agxs_group_run(struct agxs_group *group);
