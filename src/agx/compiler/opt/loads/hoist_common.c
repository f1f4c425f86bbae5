/* SPDX-License-Identifier: MIT
 *
 * Does once, before an if, what both of its arms begin with: pure operations and loads. Every
 * lane takes one of the arms, so nothing runs that would not have run.
 *
 * Before: generic SSA. After: the same; opt_copy_prop takes away the moves that are left. Stands
 * behind opt_cse, so that equal operands are one value.
 */
#include "agx/compiler/ir/walk.h"
#include "agx/compiler/opt/loads/loads.h"

#define MAX_SEARCH 24u /* instructions of each arm: work per if is this squared */

static bool same_instr(const struct agxc_instr *a, const struct agxc_instr *b)
{
   if (a->op != b->op || a->dest_count != b->dest_count || a->operand_count != b->operand_count ||
       a->flags != b->flags)
      return false;
   for (unsigned i = 0; i < a->dest_count; i++)
      if (a->operand[i].bits != b->operand[i].bits || a->operand[i].count != b->operand[i].count)
         return false;
   for (unsigned i = a->dest_count; i < a->operand_count; i++)
      if (!agxc_same_source(a->operand[i], b->operand[i]))
         return false;
   return true;
}

/* Nothing that it reads is made in its block. */
static bool reads_outside(const struct agxc_instr *instr)
{
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE && src->value->def->block == instr->block)
         return false;
   return true;
}

/* An equal instruction of the other arm before anything there has an effect, or NULL. */
static struct agxc_instr *find_equal(const struct agxc_instr *instr, struct agxc_block *block)
{
   unsigned count = 0;
   agxc_foreach_instr (other, block) {
      if (agxc_flags(other) & AGXC_SIDE_EFFECT || ++count > MAX_SEARCH)
         return NULL;
      if (same_instr(instr, other))
         return other;
   }
   return NULL;
}

static bool join_arms(struct agxc_shader *shader, struct agxc_if *branch)
{
   struct agxc_block *before = agxc_block_before(&branch->node);
   struct agxc_block *then_block = agxc_first_block(&branch->then_list);
   struct agxc_block *else_block = agxc_first_block(&branch->else_list);
   struct agxc_builder b = {shader, before, agxc_terminator(before)};
   unsigned count = 0;
   bool progress = false;
   agxc_foreach_instr_safe (instr, then_block) {
      if (agxc_flags(instr) & AGXC_SIDE_EFFECT || ++count > MAX_SEARCH)
         break;
      if (!agxc_is_movable(instr) || !reads_outside(instr))
         continue;
      struct agxc_instr *other = find_equal(instr, else_block);
      if (!other)
         continue;
      agxc_instr_remove(instr);
      agxc_insert(&b, instr);
      for (unsigned i = 0; i < instr->dest_count; i++) {
         struct agxc_builder at = agxc_before(shader, other);
         agxc_define_as(agxc_build_mov(&at, agxc_dests(instr)[i]), agxc_dests(other)[i]);
      }
      agxc_instr_remove(other);
      progress = true;
   }
   return progress;
}

/* Outer ifs after inner ones: what rises out of these can rise further. */
static enum agxc_visited leave_if(void *shader, struct agxc_if *branch)
{
   return join_arms(shader, branch) ? AGXC_CHANGED : AGXC_UNCHANGED;
}

bool agxc_opt_hoist_common(struct agxc_shader *shader)
{
   agxc_index(shader);
   const struct agxc_visitor visitor = {.leave_if = leave_if};
   return agxc_walk(&shader->body, &visitor, shader);
}
