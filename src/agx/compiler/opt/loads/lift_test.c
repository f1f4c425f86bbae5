/* SPDX-License-Identifier: MIT
 *
 * What a loop's test needs of values that never change stands in front of the loop, where passes
 * that unroll see that its limit is one of them:
 *
 *    before   loop ( n = load  if (i < n) .. )
 *    after    n = load  loop ( if (i < n) .. )
 *
 * The header runs whenever the loop is entered, so its loads are as valid there.
 */
#include "agx/compiler/analysis/induction.h"
#include "agx/compiler/opt/loads/loads_impl.h"

void agxc_lift_test(const struct agxc_loop_shape *shape)
{
   struct agxc_builder b = agxc_at_end(shape->shader, agxc_block_before(&shape->loop->node));
   agxc_foreach_instr_safe (instr, shape->header) {
      if (!agxc_is_pure(instr) && !agxc_reads_constant(instr))
         continue;
      bool is_fixed = true;
      agxc_foreach_src (src, instr)
         is_fixed &= agxc_loop_is_invariant(shape, src);
      if (!is_fixed)
         continue;
      agxc_instr_remove(instr);
      agxc_insert(&b, instr);
   }
}
