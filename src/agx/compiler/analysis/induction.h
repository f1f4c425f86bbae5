/* SPDX-License-Identifier: MIT
 *
 * Loops over i < n or i <= n, in steps that are known: for passes that take several iterations at a
 * time.
 */
#pragma once

#include "agx/compiler/analysis/loop_shape.h"

struct agxc_induction {
   struct agxc_loop_shape shape;
   struct agxc_instr *phi; /* of i */
   struct agxc_ref limit;  /* n, which is computed before the loop */
   uint32_t step;          /* upwards */
   bool is_signed;
   bool is_inclusive; /* goes on while i <= n */
};

/* The value is made outside of the loop. After agxc_index. */
bool agxc_loop_is_invariant(const struct agxc_loop_shape *shape, const struct agxc_ref *ref);

/* The loop tests i < n, or i <= n, before it does anything else. False: it has another shape. */
bool agxc_induction_find(struct agxc_induction *induction, struct agxc_shader *shader,
                         struct agxc_loop *loop);
