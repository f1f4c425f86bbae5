/* SPDX-License-Identifier: MIT
 *
 * How much the passes of this room take: loads that wait at once, iterations, instructions looked
 * at. Registers: analysis/limits.h. Latency: agxc_load_latency() of analysis/op_cost.h.
 */
#pragma once

/* Loads of one scoreboard group: more of them do not wait together. */
#define AGXC_LOADS_OF_GROUP 8u
/* Loads that a pass moves to where their values live long: over a loop, or to another iteration. */
#define AGXC_LOADS_FAR 4u
/* Iterations that an unrolled or batched loop takes at a time. */
#define AGXC_LOADS_MAX_ITERATIONS 4u
/* An induction variable's step, so that four of them are far from wrapping. */
#define AGXC_LOADS_MAX_STEP 0x10000u
/* Instructions that an address or a condition is computed from, where it is needed elsewhere. */
#define AGXC_LOADS_MAX_SLICE 24u
