/* SPDX-License-Identifier: MIT
 *
 * Loops over i < n or i <= n, in steps that are known: for passes that take several turns at a
 * time.
 */
#pragma once

#include "agx/compiler/analysis/loop_shape.h"

struct agxc_counter {
   struct agxc_turn turn;
   struct agxc_instr *phi; /* of i */
   struct agxc_ref limit;  /* n, which is computed before the loop */
   uint32_t step;          /* upwards */
   bool is_signed;
   bool is_inclusive; /* goes on while i <= n */
};

/* The value is made outside of the loop. After agxc_index. */
bool agxc_turn_is_invariant(const struct agxc_turn *turn, const struct agxc_ref *ref);

/* The loop tests i < n, or i <= n, before it does anything else. False: it has another shape. */
bool agxc_counter_find(struct agxc_counter *counter, struct agxc_shader *shader,
                       struct agxc_loop *loop);
