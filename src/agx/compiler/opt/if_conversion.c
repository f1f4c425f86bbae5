/* SPDX-License-Identifier: MIT
 *
 * Converts short ifs without effects to selects. An if costs two instructions, three with an else,
 * and lanes that go different ways run both arms anyway; so arms of a few cheap operations move
 * in front of the branch, and what was a phi behind the if chooses by its condition. Arms in
 * arms go first, so that nested ifs flatten as long as they stay cheap. An if whose phis are
 * unused and whose arms are empty goes, whatever it tests.
 *
 * Not so where an arm has an effect, reads memory that might not be there, depends on the lanes
 * that run it, or leaves a loop: `if (c) break` stays as it is.
 *
 * Before: generic SSA. After: the same, with fewer ifs. Stands behind opt_hoist_common,
 * opt_hoist_loads and opt_dce, which make arms shorter, and in front of the passes that want loops
 * of one block.
 */
#include "agx/compiler/ir/clone.h"
#include "agx/compiler/analysis/divergence.h"
#include "agx/compiler/analysis/op_cost.h"
#include "agx/compiler/ir/fold.h"
#include "agx/compiler/ir/walk.h"
#include "agx/compiler/opt/opt.h"

/* Cycles of both arms. A jump would skip an arm beyond 20 cycles (emit/control.c), and never
 * does where lanes differ. */
#define MAX_ARM_COST 14u
/* When the condition is the same for the whole dispatch, one arm would have been skipped. */
#define MAX_UNIFORM_COST 4u
/* if and pop_exec; one for what a copy at an arm's end would cost. */
#define MAX_SELECTS 3u

static bool may_run_always(const struct agxc_instr *instr)
{
   return instr->op != AGXC_OP_PHI && !(agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_TERMINATOR |
                                                             AGXC_CROSS_LANE | AGXC_READS_MEMORY));
}

/* The cost of an arm of one block, or UINT32_MAX when it can't move. */
static uint32_t cost_of_arm(const struct agx_link *arm)
{
   uint32_t cost = 0;
   if (arm->next->next != arm)
      return UINT32_MAX;
   agxc_foreach_instr (instr, agxc_first_block(arm)) {
      if (!may_run_always(instr) || cost > MAX_ARM_COST)
         return UINT32_MAX;
      cost += agxc_op_cost(instr);
   }
   return cost;
}

/* The number of selects behind the if, or UINT32_MAX when there is something else. */
static uint32_t count_selects(const struct agxc_block *behind)
{
   uint32_t count = 0;
   agxc_foreach_phi (phi, behind) {
      unsigned bits = agxc_dest(phi)->bits;
      if (phi->src_count != 2 || agxc_dest(phi)->count != 1 ||
          (bits != 1 && bits != 16 && bits != 32))
         return UINT32_MAX;
      count++;
   }
   return count;
}

static bool pays(const struct agxc_if *branch, const struct agxc_ref *condition)
{
   uint32_t then_cost = cost_of_arm(&branch->then_list);
   uint32_t else_cost = cost_of_arm(&branch->else_list);
   uint32_t selects = count_selects(agxc_block_after(&branch->node));
   if (then_cost == UINT32_MAX || else_cost == UINT32_MAX || selects == UINT32_MAX)
      return false;
   bool has_else = then_cost && else_cost;
   return then_cost + else_cost <=
             (agxc_is_of_dispatch(condition) ? MAX_UNIFORM_COST : MAX_ARM_COST) &&
          selects <= MAX_SELECTS + has_else;
}

/* ---- the change --------------------------------------------------------- */

/* One is false where the other is true. */
static bool is_negation(const struct agxc_ref *a, const struct agxc_ref *b)
{
   const struct agxc_instr *x = agxc_def_of(*a), *y = agxc_def_of(*b);
   return x && y && agxc_are_opposite(x, y);
}

/* phi -> condition ? yes : no, in the instruction's place; its source line is the branch's. What is
 * the condition itself is a constant in its arm; a negated condition swaps the arms. */
static void become_select(struct agxc_shader *shader, struct agxc_instr *phi,
                          const struct agxc_instr *branch)
{
   struct agxc_ref condition = *agxc_src_condition(branch);
   struct agxc_ref dest = *agxc_dest(phi), yes = *agxc_phi_then(phi), no = *agxc_phi_else(phi);
   for (const struct agxc_instr *def; (def = agxc_def_as(condition, AGXC_OP_INOT));) {
      struct agxc_ref swap = yes;
      yes = no;
      no = swap;
      condition = *agxc_src_a(def);
   }
   if (agxc_same_ref(&yes, &condition) || is_negation(&yes, &condition))
      yes = agxc_imm(agxc_same_ref(&yes, &condition), 1);
   if (agxc_same_ref(&no, &condition) || is_negation(&no, &condition))
      no = agxc_imm(!agxc_same_ref(&no, &condition), 1);
   phi->op = AGXC_OP_SELECT;
   phi->line = branch->line;
   phi->src_count = 3;
   phi->operand_count = 4;
   phi->operand = AGX_ARENA_ARRAY(shader->arena, struct agxc_ref, 4);
   agxc_define(phi, dest);
   *agxc_src_condition(phi) = condition;
   *agxc_src_if_true(phi) = yes;
   *agxc_src_if_false(phi) = no;
}

static void flatten(struct agxc_shader *shader, struct agxc_if *branch)
{
   struct agxc_block *before = agxc_block_before(&branch->node);
   struct agxc_block *behind = agxc_block_after(&branch->node);
   struct agxc_instr *last = agxc_terminator(before);
   struct agxc_cursor cursor = {&branch->node.link, before};
   agxc_instr_remove(last);
   agxc_foreach_phi (phi, behind)
      become_select(shader, phi, last);
   agxc_melt(&cursor, agxc_first_block(&branch->then_list));
   agxc_melt(&cursor, agxc_first_block(&branch->else_list));
   agx_list_remove(&branch->node.link);
   agxc_melt(&cursor, behind);
}

static enum agxc_visited leave_if(void *user, struct agxc_if *branch)
{
   struct agxc_shader *shader = user;
   const struct agxc_instr *end = agxc_terminator(agxc_block_before(&branch->node));
   if (!pays(branch, agxc_src_condition(end)))
      return AGXC_UNCHANGED;
   flatten(shader, branch);
   return AGXC_REPLACED;
}

bool agxc_opt_if_conversion(struct agxc_shader *shader)
{
   agxc_index(shader);
   const struct agxc_visitor visitor = {.leave_if = leave_if};
   return shader->block_count > 1 && agxc_walk(&shader->body, &visitor, shader);
}
