/* SPDX-License-Identifier: MIT
 *
 * Slots: scalars that are written and read any number of times while blocks are walked in
 * program order, and become SSA values in the end. The front end makes slots of variables
 * and phis, agxc_lower_private of private arrays.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

struct agxc_ssa;

/* A set of slots, still empty, in the shader's arena. */
struct agxc_ssa *agxc_ssa_begin(struct agxc_shader *shader);
/* count new slots of those bits (NULL: all 32); returns the first. */
uint32_t agxc_slots_new(struct agxc_ssa *ssa, uint32_t count, const uint8_t *bits);
/* A slot of the value's shape, vectors too. */
uint32_t agxc_slot_new_like(struct agxc_ssa *ssa, const struct agxc_value *value);
/* What the slot holds at this place of the walk through block. */
struct agxc_ref agxc_slot_read(struct agxc_ssa *ssa, struct agxc_block *block, uint32_t slot);
void agxc_slot_write(struct agxc_ssa *ssa, struct agxc_block *block, uint32_t slot,
                     struct agxc_ref value);
/* Replaces what was read by values and phis; what nothing wrote is 0. Control flow must
 * stand. */
void agxc_ssa_finish(struct agxc_ssa *ssa);
