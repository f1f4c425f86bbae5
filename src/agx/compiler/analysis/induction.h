/* SPDX-License-Identifier: MIT
 *
 * Induction variables: values that grow by a constant in each iteration of a loop, and the loops
 * that test one against a limit.
 */
#pragma once

#include "agx/compiler/analysis/loop_shape.h"

struct agxc_induction {
   struct agxc_loop_shape shape;
   struct agxc_instr *phi; /* of i */
   struct agxc_ref limit;  /* n */
   uint32_t step;          /* upwards; 0: not by a constant */
   bool is_signed;
   bool is_inclusive; /* goes on while i <= n */
};

/* The c of a loop's phi(start, phi + c), 1 to INT32_MAX; 0 where the phi is anything else. */
uint32_t agxc_induction_step(const struct agxc_instr *phi);

/* Reads a loop's test: the loop whose first block is `header` goes on where `test` is `stays_if`.
 * True where that means i < n or i <= n for a phi i of 32 bits in the header; sets phi, limit,
 * is_signed and is_inclusive. */
bool agxc_induction_read_test(struct agxc_induction *induction, const struct agxc_block *header,
                              const struct agxc_ref *test, bool stays_if);

/* Whether the value is made outside of the loop. After agxc_index. */
bool agxc_loop_is_invariant(const struct agxc_loop_shape *shape, const struct agxc_ref *ref);

/* Describes a loop that tests i < n or i <= n before it does anything else, n being invariant and i
 * growing by a constant. False: the loop is another one. After agxc_index. */
bool agxc_induction_find(struct agxc_induction *induction, struct agxc_shader *shader,
                         struct agxc_loop *loop);

/* The same where i may change in any way: step is 0 where it is not by a constant. */
bool agxc_induction_find_test(struct agxc_induction *induction, struct agxc_shader *shader,
                              struct agxc_loop *loop);
