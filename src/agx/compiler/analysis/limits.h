/* SPDX-License-Identifier: MIT
 *
 * How many register halves a shader may use, and how many uniform halves bases may take: decided
 * here, for all passes.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* Halves at the bottom that no value gets: r0l counts the levels of inactive lanes.
 * Source: docs/hw/machine.md, 5. */
uint32_t agxc_reserved_halves(const struct agxc_shader *shader);

/* The most that the workgroup's size leaves, since it must be resident as a whole; the
 * options may say less. */
uint32_t agxc_most_halves(const struct agxc_shader *shader);

/* Bytes of workgroup memory per core. Source: docs/hw/performance.md, "The core". */
#define AGXC_CORE_SHARED_B 61440u

/* The last half that costs no more resident workgroups than so many halves do. */
uint32_t agxc_end_of_step(const struct agxc_shader *shader, uint32_t halves);

/* The halves that scheduling and spilling have for a shader that needs so many: the end of their
 * step, or of the one before where a few values spilled keep twice the workgroups. */
uint32_t agxc_budget(const struct agxc_shader *shader, uint32_t needed);

/* What allocation needs for values that take `pressure` halves at once: packing may lose
 * r0h, and one half before an even one where there are odd ones. */
uint32_t agxc_needed_halves(const struct agxc_shader *shader, uint32_t pressure);

/* Halves that passes keep free below a step for what the liveness of generic code does not show. */
#define AGXC_SLACK_HALVES 12u

/* Whether one more uniform may hold the address of a binding plus a constant. Some room stays for
 * uniforms that later passes need: bases end at half 256. */
bool agxc_has_room_for_base(const struct agxc_shader *shader);
