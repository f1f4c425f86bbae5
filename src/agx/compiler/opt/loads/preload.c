/* SPDX-License-Identifier: MIT
 *
 * Preloads what is needed behind loops. A loop that loads makes its SIMD-group wait. Code behind it
 * that loads would wait once more, for addresses that were known all the time: its loads move in
 * front of the loop, and arrive while the loop waits for its own. Those of an if get an if of their
 * own there, with the same condition.
 *
 * Only at top level, past nodes that no thread ends in; so what is loaded would have been loaded
 * later, if the loop ends. Only what nothing in between may write; loads of an if, only of memory
 * that nothing writes at all. Registers of the loop stay below the step of occupancy that it is at.
 *
 * Before and after: generic SSA. Stands behind opt_batch_loads, since that changes what the loops
 * in front wait for, and in front of opt_vectorize.
 */
#include "agx/compiler/analysis/limits.h"
#include "agx/compiler/analysis/liveness.h"
#include "agx/compiler/opt/loads/loads_impl.h"
#include "agx/compiler/opt/loads/loads.h"

struct preload {
   struct agxc_shader *shader;
   struct agxc_liveness *liveness;
   struct agxc_block *to; /* loads may go to its end */
   uint32_t halves;       /* that live inside the loops behind it; 0: none of them loads */
   bool writes;           /* what stands behind it may, to device memory, or lets others' be seen */
};

/* ---- what is crossed ----------------------------------------------------- */

static bool writes_device(const struct agxc_instr *instr)
{
   if (instr->op == AGXC_OP_BARRIER)
      return agxc_imm_barrier(instr) & ~(AGXC_BARRIER_EXECUTION | AGXC_BARRIER_SHARED);
   return agxc_flags(instr) & AGXC_SIDE_EFFECT && !(agxc_flags(instr) & AGXC_TERMINATOR) &&
          instr->op != AGXC_OP_STORE_SHARED && instr->op != AGXC_OP_ATOMIC_SHARED;
}

/* False: a thread may end in the node. */
static bool cross(struct preload *e, const struct agxc_node *node)
{
   bool is_block = node->kind == AGXC_NODE_BLOCK;
   uint32_t first = is_block ? agxc_as_block(node)->index : agxc_block_before(node)->index + 1;
   uint32_t end = is_block ? first + 1 : agxc_block_after(node)->index;
   for (; first < end; first++) {
      const struct agxc_instr *last = agxc_terminator(e->shader->blocks[first]);
      if (last && last->op == AGXC_OP_RETURN)
         return false;
      agxc_foreach_instr (instr, e->shader->blocks[first])
         e->writes |= writes_device(instr);
   }
   return true;
}

/* A loop between where loads may go and where they are. */
static void note_loop(struct preload *e, const struct agxc_loop *loop)
{
   uint32_t halves = 1;
   bool loads = false;
   agxc_foreach_loop_block (block, e->shader, loop) {
      halves = AGX_MAX(halves, agxc_live_in_halves(e->shader, e->liveness, block));
      agxc_foreach_instr (instr, block)
         loads |= instr->op == AGXC_OP_LOAD_GLOBAL;
   }
   if (loads || e->halves)
      e->halves = AGX_MAX(e->halves, halves);
}

/* ---- moving -------------------------------------------------------------- */

static bool is_there(const void *user, const struct agxc_value *value)
{
   const struct preload *e = user;
   return value->def->block->index <= e->to->index;
}

static bool may_move(const void *user, const struct agxc_instr *instr)
{
   return agxc_is_arithmetic(instr);
}

/* How many loads of the arm would move; 0 when one of them can't, since then it waits anyway. */
static uint32_t count_loads(const struct agxc_slice *slice, const struct agx_link *arm)
{
   uint32_t count = 0;
   if (arm->next->next != arm)
      return 0;
   agxc_foreach_instr (instr, agxc_first_block(arm)) {
      if (instr->op != AGXC_OP_LOAD_GLOBAL)
         continue;
      if (!agxc_is_constant_load(instr) || agxc_dest(instr)->count != 1 ||
          !agxc_slice_reaches_sources(slice, instr))
         return 0;
      count++;
   }
   return count;
}

static void move_loads(struct preload *e, const struct agxc_slice *slice, struct agxc_block *arm,
                       struct agxc_ref condition)
{
   struct agxc_builder end = agxc_at_end(e->shader, e->to);
   agxc_slice_move(slice, &end, &condition);
   agxc_foreach_instr (instr, arm)
      if (instr->op == AGXC_OP_LOAD_GLOBAL)
         agxc_slice_move_sources(slice, &end, instr);
   struct agxc_block *behind;
   const struct agxc_if *branch = agxc_build_if(&end, condition, &behind);
   struct agxc_builder in = agxc_at_end(e->shader, agxc_first_block(&branch->then_list));
   struct agxc_builder out = agxc_at_end(e->shader, behind);
   agxc_foreach_instr_safe (load, arm) {
      if (load->op != AGXC_OP_LOAD_GLOBAL)
         continue;
      struct agxc_ref result = *agxc_dest(load);
      agxc_define(load, agxc_use(agxc_value_new(e->shader, result.bits, result.count)));
      agxc_instr_remove(load);
      agxc_insert(&in, load);
      struct agxc_builder top = agxc_at_exit(e->shader, e->to);
      struct agxc_ref ways[] = {*agxc_dest(load),
                                agxc_build_undef(&top, result.bits, result.count)};
      agxc_define_as(agxc_build(&out, AGXC_OP_PHI, result.bits, result.count, 2, ways), result);
   }
}

/* ---- blocks -------------------------------------------------------------- */

static bool may_preload(const struct preload *e, const struct agxc_instr *load)
{
   const struct agxc_slice slice = {is_there, may_move, e};
   return (agxc_reads_constant(load) ||
           (!e->writes && !(agxc_imm_access(load) & AGXC_ACCESS_COHERENT))) &&
          agxc_slice_reaches_sources(&slice, load);
}

/* All loads of the block, or it would wait anyway. */
static bool visit_block(struct preload *e, struct agxc_block *block)
{
   const struct agxc_slice slice = {is_there, may_move, e};
   struct agxc_instr *loads[AGXC_LOADS_FAR];
   uint32_t count = 0, halves = 0, needed = e->halves + AGXC_SLACK_HALVES;
   agxc_foreach_instr (instr, block) {
      e->writes |= writes_device(instr);
      if (!agxc_waits_for(instr))
         continue;
      if (instr->op != AGXC_OP_LOAD_GLOBAL || count == AGXC_LOADS_FAR || !may_preload(e, instr))
         return false;
      loads[count++] = instr;
      halves += agxc_dest(instr)->count * AGX_MAX(agxc_dest(instr)->bits, 16u) / 16;
   }
   if (count == 0 || agxc_end_of_step(e->shader, needed) < needed + halves)
      return false;
   struct agxc_builder end = agxc_at_end(e->shader, e->to);
   for (uint32_t i = 0; i < count; i++) {
      agxc_slice_move_sources(&slice, &end, loads[i]);
      agxc_instr_remove(loads[i]);
      agxc_insert(&end, loads[i]);
   }
   return true;
}

/* ---- the walk ------------------------------------------------------------ */

static bool visit_if(struct preload *e, struct agxc_if *branch)
{
   const struct agxc_slice slice = {is_there, may_move, e};
   struct agxc_ref condition =
      *agxc_src_condition(agxc_terminator(agxc_block_before(&branch->node)));
   uint32_t loads = count_loads(&slice, &branch->then_list), left = AGXC_LOADS_MAX_SLICE;
   uint32_t needed = e->halves + AGXC_SLACK_HALVES;
   if (loads == 0 || loads > AGXC_LOADS_FAR || condition.kind != AGXC_VALUE ||
       !agxc_slice_reaches(&slice, &condition, &left) ||
       agxc_end_of_step(e->shader, needed) < needed + loads * 2)
      return false;
   move_loads(e, &slice, agxc_first_block(&branch->then_list), condition);
   return true;
}

/* Nodes behind a place in front of a loop, in program order; true: something moved there. */
static bool visit(struct preload *e, struct agxc_node *node)
{
   if (node->kind == AGXC_NODE_LOOP) {
      if (!e->liveness)
         e->liveness = agxc_liveness_compute(e->shader);
      note_loop(e, agxc_as_loop(node));
      return false;
   }
   if (e->halves == 0)
      return false;
   return node->kind == AGXC_NODE_IF ? visit_if(e, agxc_as_if(node))
                                     : visit_block(e, agxc_as_block(node));
}

/* One is enough: what is behind it waits for other things. */
bool agxc_opt_preload_loads(struct agxc_shader *shader)
{
   struct preload e = {.shader = shader};
   agxc_index(shader);
   if (shader->block_count == 1)
      return false;
   agxc_foreach_node (node, &shader->body) {
      bool is_block = node->kind == AGXC_NODE_BLOCK;
      if (is_block && !e.to && !agxc_terminator(agxc_as_block(node))) {
         e.to = agxc_as_block(node); /* in front of a loop */
         continue;
      }
      if (e.to && visit(&e, node))
         return true;
      if (!cross(&e, node))
         e = (struct preload){.shader = shader, .liveness = e.liveness};
   }
   return false;
}
