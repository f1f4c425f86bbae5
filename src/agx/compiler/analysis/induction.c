/* SPDX-License-Identifier: MIT
 *
 * Finds induction variables for the passes that unroll loops or move loads between iterations
 * (opt/loads), for bounds of values (range.c) and for proofs about accesses
 * (opt/elide_bounds_checks.c). Nothing here changes code.
 */
#include "agx/compiler/analysis/induction.h"

static bool is_inside(const struct agxc_loop_shape *shape, const struct agxc_block *block)
{
   return block->index >= shape->header->index &&
          block->index <= agxc_last_block(&shape->loop->continuing)->index;
}

bool agxc_loop_is_invariant(const struct agxc_loop_shape *shape, const struct agxc_ref *ref)
{
   return ref->kind != AGXC_VALUE || !is_inside(shape, ref->value->def->block);
}

uint32_t agxc_induction_step(const struct agxc_instr *phi)
{
   if (phi->op != AGXC_OP_PHI || phi->src_count != 2)
      return 0;
   const struct agxc_instr *add = agxc_def_as(agxc_skip_moves(*agxc_phi_back(phi)), AGXC_OP_IADD);
   for (unsigned i = 0; add && i < 2; i++) {
      struct agxc_ref a = agxc_skip_moves(*agxc_side(add, i));
      struct agxc_ref b = agxc_skip_moves(*agxc_side(add, 1 - i));
      if (agxc_def_of(a) == phi && b.kind == AGXC_IMM)
         return (uint64_t)b.imm <= INT32_MAX ? (uint32_t)b.imm : 0;
   }
   return 0;
}

bool agxc_induction_read_test(struct agxc_induction *c, const struct agxc_block *header,
                              const struct agxc_ref *test, bool stays_if)
{
   const struct agxc_instr *compare = agxc_def_of(*test);
   for (; compare && compare->op == AGXC_OP_INOT; stays_if = !stays_if)
      compare = agxc_def_of(*agxc_src_a(compare));
   if (!compare)
      return false;
   bool is_below = compare->op == AGXC_OP_ULT || compare->op == AGXC_OP_SLT;
   bool is_above = compare->op == AGXC_OP_UGE || compare->op == AGXC_OP_SGE;
   if (!is_below && !is_above)
      return false;
   /* i < n or not i >= n; n >= i or not n < i. */
   c->is_inclusive = stays_if != is_below;
   const struct agxc_ref i = *agxc_side(compare, c->is_inclusive);
   c->is_signed = compare->op == AGXC_OP_SLT || compare->op == AGXC_OP_SGE;
   c->limit = *agxc_side(compare, !c->is_inclusive);
   c->phi = i.bits == 32 ? agxc_def_as(i, AGXC_OP_PHI) : NULL;
   return c->phi && c->phi->block == header;
}

bool agxc_induction_find_test(struct agxc_induction *c, struct agxc_shader *shader,
                              struct agxc_loop *loop)
{
   const struct agxc_loop_shape *shape = &c->shape;
   if (!agxc_loop_shape_find(&c->shape, shader, loop) ||
       agxc_block_before(&shape->exit->node) != shape->header ||
       !agxc_induction_read_test(c, shape->header, shape->taken, !shape->leaves_if) ||
       !agxc_loop_is_invariant(shape, &c->limit))
      return false;
   c->step = agxc_induction_step(c->phi);
   return true;
}

bool agxc_induction_find(struct agxc_induction *c, struct agxc_shader *shader,
                         struct agxc_loop *loop)
{
   return agxc_induction_find_test(c, shader, loop) && c->step;
}
