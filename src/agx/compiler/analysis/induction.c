/* SPDX-License-Identifier: MIT */
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

/* i + step on the way back, with a constant step upwards. */
static bool find_step(struct agxc_induction *c)
{
   const struct agxc_ref *back = &agxc_srcs(c->phi)[1];
   const struct agxc_instr *add = agxc_def_of(*back);
   if (!add || add->op != AGXC_OP_IADD)
      return false;
   const struct agxc_ref *srcs = agxc_srcs(add);
   for (unsigned i = 0; i < 2; i++) {
      if (srcs[i].kind != AGXC_VALUE || srcs[i].value != c->phi->operand[0].value ||
          srcs[1 - i].kind != AGXC_IMM)
         continue;
      c->step = (uint32_t)srcs[1 - i].imm;
      return (int32_t)c->step > 0;
   }
   return false;
}

/* The loop goes on while i < n, or while n >= i. */
static bool find_test(struct agxc_induction *c)
{
   bool stays_if = !c->shape.leaves_if;
   const struct agxc_ref *taken = c->shape.taken;
   const struct agxc_instr *test = agxc_def_of(*taken);
   for (; test && test->op == AGXC_OP_INOT; stays_if = !stays_if)
      test = agxc_def_of(test->operand[1]);
   if (!test)
      return false;
   bool is_below = test->op == AGXC_OP_ULT || test->op == AGXC_OP_SLT;
   bool is_above = test->op == AGXC_OP_UGE || test->op == AGXC_OP_SGE;
   if (!is_below && !is_above)
      return false;
   /* i < n or not i >= n; n >= i or not n < i. */
   c->is_inclusive = stays_if != is_below;
   const struct agxc_ref *srcs = agxc_srcs(test), *place = &srcs[c->is_inclusive];
   c->is_signed = test->op == AGXC_OP_SLT || test->op == AGXC_OP_SGE;
   c->limit = srcs[!c->is_inclusive];
   c->phi = place->kind == AGXC_VALUE && place->bits == 32 ? place->value->def : NULL;
   return c->phi && c->phi->op == AGXC_OP_PHI && c->phi->block == c->shape.header;
}

bool agxc_induction_find(struct agxc_induction *c, struct agxc_shader *shader,
                         struct agxc_loop *loop)
{
   return agxc_loop_shape_find(&c->shape, shader, loop) &&
          agxc_block_before(&c->shape.exit->node) == c->shape.header && find_test(c) &&
          agxc_loop_is_invariant(&c->shape, &c->limit) && find_step(c);
}
