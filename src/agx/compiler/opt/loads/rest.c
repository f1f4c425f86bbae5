/* SPDX-License-Identifier: MIT
 *
 * The loops that opt_unroll_partial leaves over, for opt_unroll_predicated, which does all that is
 * left in one iteration: proves how many iterations at most a loop runs, and makes an if of a loop
 * whose first iteration does everything:
 *
 *    loop { i = phi(a, ..)  s = phi(x, s2)         if (a < n) { body(a) }
 *       if (i < n) ... else break            =>    s = phi(s2, x)
 *       body(i) }
 *
 * The proof reads the test of the loop in front: that one goes on while i < max(n, lowest + span) -
 * span, so that behind it n - i is at most span.
 */
#include "agx/compiler/ir/walk.h"
#include "agx/compiler/opt/loads/loads_impl.h"

/* The max of the limit max(n, lowest + span) - span, and span; or NULL. */
static const struct agxc_instr *max_of_limit(const struct agxc_induction *front, uint32_t *out_span)
{
   const struct agxc_instr *less = agxc_def_of(agxc_skip_moves(front->limit));
   bool is_sub = less && less->op == AGXC_OP_ISUB;
   if (!is_sub && !(less && less->op == AGXC_OP_IADD))
      return NULL;
   const struct agxc_ref *by = agxc_src_b(less);
   *out_span = is_sub ? (uint32_t)by->imm : 0u - (uint32_t)by->imm;
   return by->kind == AGXC_IMM ? agxc_def_as(agxc_skip_moves(*agxc_src_a(less)),
                                             front->is_signed ? AGXC_OP_IMAX : AGXC_OP_UMAX)
                               : NULL;
}

uint32_t agxc_rest_iterations(const struct agxc_induction *c)
{
   struct agxc_induction front = {0};
   const struct agxc_instr *phi =
      agxc_def_as(agxc_skip_moves(*agxc_phi_entry(c->phi)), AGXC_OP_PHI);
   const struct agxc_node *parent = phi ? phi->block->node.parent : NULL;
   uint32_t span;
   if (!parent || parent->kind != AGXC_NODE_LOOP ||
       !agxc_induction_find(&front, c->shape.shader, agxc_as_loop(parent)) || front.phi != phi ||
       front.is_signed != c->is_signed || front.is_inclusive || c->is_inclusive)
      return UINT32_MAX;
   const struct agxc_instr *max = max_of_limit(&front, &span);
   uint32_t lowest = c->is_signed ? 0x80000000u : 0;
   if (!max || span > AGXC_LOADS_MAX_ITERATIONS * AGXC_LOADS_MAX_STEP)
      return UINT32_MAX;
   for (unsigned i = 0; i < 2; i++) {
      const struct agxc_ref *n = agxc_side(max, i), *least = agxc_side(max, 1 - i);
      if (least->kind == AGXC_IMM && (uint32_t)least->imm == lowest + span &&
          agxc_same_source(*n, c->limit))
         return (span + c->step - 1) / c->step;
   }
   return UINT32_MAX;
}

/* ---- an if in place of the loop ------------------------------------------ */

struct rename {
   struct agxc_value *from;
   struct agxc_ref to;
};

static void rename_block(void *user, struct agxc_block *block)
{
   const struct rename *rename = user;
   agxc_foreach_instr (instr, block)
      agxc_foreach_src (src, instr)
         if (src->kind == AGXC_VALUE && src->value == rename->from)
            *src = rename->to;
}

/* All that stands in the loop sees what the phi enters with. */
static void forget_phi(const struct agxc_loop_shape *shape, const struct agxc_instr *phi)
{
   struct rename rename = {agxc_dest(phi)->value, *agxc_phi_entry(phi)};
   const struct agxc_visitor visitor = {.block = rename_block};
   agxc_walk(&shape->loop->body, &visitor, &rename);
   agxc_walk(&shape->loop->continuing, &visitor, &rename);
}

/* A phi behind the if takes the name of the header's. */
static void join_behind(struct agxc_builder *b, const struct agxc_loop_shape *shape,
                        struct agxc_instr *phi)
{
   struct agxc_ref ways[2], name = agxc_use(agxc_dest(phi)->value);
   ways[shape->leaves_if ? 0 : 1] = *agxc_phi_entry(phi);
   ways[shape->leaves_if ? 1 : 0] = *agxc_phi_back(phi);
   agxc_define_as(agxc_build(b, AGXC_OP_PHI, name.bits, name.count, 2, ways), name);
   agxc_instr_remove(phi);
}

/* Moves a block of the loop, and what follows it in its list, to the arm that stays. */
static void move_to_arm(const struct agxc_loop_shape *shape, struct agxc_block *first)
{
   struct agxc_cursor cursor = {shape->stay_arm, agxc_last_block(shape->stay_arm)};
   struct agxc_node *next = agxc_node_after(&first->node);
   agxc_melt(&cursor, first);
   while (next) {
      struct agxc_node *node = next;
      next = agxc_node_after(node);
      agx_list_remove(&node->link);
      agxc_node_append(shape->stay_arm, &shape->exit->node, node);
   }
}

void agxc_rest_end(const struct agxc_loop_shape *shape)
{
   struct agxc_shader *shader = shape->shader;
   struct agxc_node *node = &shape->loop->node;
   struct agxc_block *before = agxc_block_before(node), *behind = agxc_block_after(node);
   struct agxc_builder b = agxc_at_start(shader, behind);
   agxc_foreach_phi (phi, behind)
      agxc_become_mov(shader, phi, *agxc_phi_only(phi));
   agxc_foreach_phi (phi, shape->header)
      forget_phi(shape, phi);
   agxc_foreach_phi (phi, shape->header)
      join_behind(&b, shape, phi);
   agxc_instr_remove(agxc_terminator(agxc_first_block(shape->break_arm)));
   move_to_arm(shape, agxc_block_after(&shape->exit->node));
   move_to_arm(shape, agxc_first_block(&shape->loop->continuing));
   struct agxc_cursor cursor = {&node->link, before};
   agxc_melt(&cursor, shape->header);
   agx_list_remove(&shape->exit->node.link);
   agxc_node_insert_before(node, &shape->exit->node);
   agx_list_remove(&node->link);
}
