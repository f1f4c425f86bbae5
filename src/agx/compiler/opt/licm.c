/* SPDX-License-Identifier: MIT
 *
 * Moves what a loop computes anew in each iteration, though nothing that it needs changes, in front
 * of the loop, and on out of the loops around it. Stands behind opt_preamble, which takes what is
 * the same for the whole dispatch, and behind opt_rotate, which makes first iterations certain.
 *
 * Before: generic SSA. After: the same. A pure operation moves from anywhere in the loop. A
 * load moves when no access of the loop may write what it reads, and when the loop's first
 * iteration surely runs it or its address is surely valid: so a loop that tests before its body
 * keeps its loads, unless it has been rotated before.
 *
 * What moves lives across the whole loop. Cheap operations move while registers are far from
 * the next step of occupancy, others as long as there is room below it; operations that become
 * part of their users (op_cost.h) cost no register, nor do those of which all users have moved.
 */
#include "agx/compiler/analysis/memory_ref.h"
#include "agx/compiler/analysis/limits.h"
#include "agx/compiler/analysis/liveness.h"
#include "agx/compiler/analysis/loop_shape.h"
#include "agx/compiler/analysis/op_cost.h"
#include "agx/compiler/opt/opt.h"

#define MAX_WRITES         8u
#define CHEAP_SLACK_HALVES 24u /* kept free below a step where cheap operations move */

struct loop_info {
   struct loop_info *parent, *older;
   struct agxc_block *before;
   uint32_t first;  /* its first block, by index */
   uint32_t halves; /* that live at the borders of its blocks, at the most */
   int32_t room, cheap_room;
   struct agxc_memory_ref writes[MAX_WRITES];
   uint32_t write_count; /* above MAX_WRITES: anything may be written */
   bool has_barrier;
   bool surely_entered; /* by the first iteration of the loop around it */
   bool surely_runs;    /* the block being looked at is run by the first iteration */
};

struct licm {
   struct agxc_shader *shader;
   const struct agxc_liveness *liveness;
   struct loop_info **loop_at; /* by index of a loop's first block */
   struct loop_info *youngest;
   agx_bitset_word *folded; /* by value id: its users take the operation in */
   /* By value id: how many operands of what has not moved name it; the innermost loop that it has
    * left, or NULL. */
   uint32_t *uses;
   struct loop_info **left;
   bool progress;
};

/* ---- survey ------------------------------------------------------------- */

static void note_effects(struct loop_info *loop, const struct agxc_shader *shader,
                         const struct agxc_instr *instr)
{
   struct agxc_memory_ref memory;
   if (!(agxc_flags(instr) & AGXC_SIDE_EFFECT) || agxc_flags(instr) & AGXC_TERMINATOR)
      return;
   bool is_known = agxc_memory_ref_find(shader, instr, &memory);
   for (; loop; loop = loop->parent) {
      if (!is_known)
         loop->has_barrier = true;
      else if (loop->write_count < MAX_WRITES)
         loop->writes[loop->write_count++] = memory;
      else
         loop->write_count = MAX_WRITES + 1;
   }
}

/* What is known of the innermost loop around a node or block, or NULL. */
static struct loop_info *info_of(const struct licm *l, const struct agxc_loop *loop)
{
   return loop ? l->loop_at[agxc_first_block(&loop->body)->index] : NULL;
}

/* Effects of each loop, and how many halves it leaves free. */
static void survey(struct licm *l)
{
   agxc_foreach_block (block, l->shader) {
      if (agxc_starts_loop(block)) {
         struct loop_info *loop = AGX_ARENA_NEW(l->shader->arena, struct loop_info);
         loop->before = agxc_block_before(&block->loop->node);
         loop->parent = info_of(l, loop->before->loop);
         loop->first = block->index;
         loop->older = l->youngest;
         l->youngest = l->loop_at[block->index] = loop;
      }
      struct loop_info *loop = info_of(l, block->loop);
      if (!loop)
         continue;
      loop->halves = AGX_MAX(loop->halves, agxc_live_in_halves(l->shader, l->liveness, block));
      agxc_foreach_instr (instr, block)
         note_effects(loop, l->shader, instr);
   }
   for (struct loop_info *loop = l->youngest; loop; loop = loop->older) { /* from the inside out */
      uint32_t end = agxc_end_of_step(l->shader, loop->halves + AGXC_SLACK_HALVES);
      loop->room = (int32_t)end - (int32_t)(loop->halves + AGXC_SLACK_HALVES);
      loop->cheap_room = (int32_t)end - (int32_t)(loop->halves + CHEAP_SLACK_HALVES);
      if (loop->parent)
         loop->parent->halves = AGX_MAX(loop->parent->halves, loop->halves);
   }
}

/* Values whose operation becomes part of every user. */
static void find_folded(struct licm *l)
{
   agx_bitset_word *used = agxc_bitset_new(l->shader, l->shader->value_count);
   l->folded = agxc_bitset_new(l->shader, l->shader->value_count);
   agxc_foreach_instr_of (instr, l->shader) {
      agxc_foreach_src (src, instr) {
         if (src->kind != AGXC_VALUE)
            continue;
         uint32_t id = src->value->id;
         bool folds = agxc_op_folds(src->value->def, instr, src);
         if (!agx_bitset_test(used, id) && folds)
            agx_bitset_set(l->folded, id);
         else if (!folds)
            agx_bitset_clear(l->folded, id);
         agx_bitset_set(used, id);
      }
   }
}

/* ---- moving ------------------------------------------------------------- */

static bool may_move(const struct agxc_instr *instr)
{
   return !agxc_is_machine(instr) && instr->op != AGXC_OP_PHI && instr->dest_count &&
          !(agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_TERMINATOR | AGXC_CROSS_LANE));
}

/* Nothing that it needs is defined in the loop: program order is an order of dominance. */
static bool is_invariant(const struct agxc_instr *instr, const struct loop_info *loop)
{
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE && src->value->def->block->index >= loop->first)
         return false;
   return true;
}

static bool may_change(const struct licm *l, const struct agxc_instr *load,
                       const struct loop_info *loop)
{
   struct agxc_memory_ref memory;
   if (agxc_reads_constant(load))
      return false;
   if (loop->has_barrier || loop->write_count > MAX_WRITES ||
       !agxc_memory_ref_find(l->shader, load, &memory) || memory.access & AGXC_ACCESS_COHERENT)
      return true;
   for (uint32_t i = 0; i < loop->write_count; i++)
      if (agxc_memory_ref_may_overlap(&memory, &loop->writes[i]))
         return true;
   return false;
}

/* Threadgroup and scratch memory are there whatever the offset is, since offsets that stray
 * read nothing of others' and never fault [U]; yet only first iterations are relied on. */
static bool load_may_move(const struct licm *l, const struct agxc_instr *load,
                          const struct loop_info *loop, bool surely_runs)
{
   if (may_change(l, load, loop))
      return false;
   return surely_runs || (load->op == AGXC_OP_LOAD_GLOBAL && agxc_load_is_safe(l->shader, load));
}

static int32_t halves_of_value(const struct licm *l, const struct agxc_value *value)
{
   return agx_bitset_test(l->folded, value->id) ? 0 : (int32_t)agxc_halves(value);
}

static int32_t halves_of(const struct licm *l, const struct agxc_instr *instr)
{
   int32_t halves = 0;
   agxc_foreach_dest (dest, instr)
      halves += halves_of_value(l, dest->value);
   return halves;
}

/* The outermost loop that the instruction can leave, or NULL. */
static struct loop_info *target_of(const struct licm *l, const struct agxc_instr *instr,
                                   struct loop_info *loop, bool in_if)
{
   bool is_load = agxc_flags(instr) & AGXC_READS_MEMORY, surely_runs = !in_if;
   bool is_cheap = agxc_op_cost(instr) < 4;
   int32_t halves = halves_of(l, instr);
   struct loop_info *target = NULL;
   for (; loop; loop = loop->parent) {
      surely_runs = surely_runs && loop->surely_runs;
      if (!is_invariant(instr, loop) ||
          (halves && halves > (is_cheap ? loop->cheap_room : loop->room)) ||
          (is_load && !load_may_move(l, instr, loop, surely_runs)))
         break;
      target = loop;
      surely_runs = surely_runs && loop->surely_entered;
   }
   return target;
}

/* From the loop to the target, which is a loop around it or itself. */
static void take_room(struct loop_info *loop, const struct loop_info *target, int32_t halves)
{
   for (;; loop = loop->parent) {
      loop->room -= halves;
      loop->cheap_room -= halves;
      if (loop == target)
         break;
   }
}

/* What only instructions read that have left the loop lives in it no longer. */
static void visit_instr(struct licm *l, struct agxc_instr *instr, struct loop_info *loop,
                        bool in_if)
{
   struct loop_info *target = may_move(instr) ? target_of(l, instr, loop, in_if) : NULL;
   if (!target)
      return;
   take_room(loop, target, halves_of(l, instr));
   agxc_foreach_dest (dest, instr)
      l->left[dest->value->id] = loop;
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE && --l->uses[src->value->id] == 0 &&
          l->left[src->value->id] == loop)
         take_room(loop, target, -halves_of_value(l, src->value));
   struct agxc_builder b = agxc_at_end(l->shader, target->before);
   agx_list_remove(&instr->link);
   agxc_insert(&b, instr);
   l->progress = true;
}

/* ---- the walk ----------------------------------------------------------- */

static bool in_if(const struct agxc_node *node)
{
   return node->parent && node->parent->kind == AGXC_NODE_IF;
}

static void visit_block(struct licm *l, struct agxc_block *block)
{
   struct loop_info *loop = info_of(l, block->loop);
   if (!loop)
      return;
   if (agxc_starts_loop(block)) {
      loop->surely_entered =
         !in_if(&block->loop->node) && (!loop->parent || loop->parent->surely_runs);
      loop->surely_runs = true;
   }
   agxc_foreach_instr_safe (instr, block)
      visit_instr(l, instr, loop, in_if(&block->node));
   const struct agxc_instr *last = agxc_terminator(block);
   if (!last || agxc_is_machine(last) || last->op == AGXC_OP_BRANCH)
      return;
   loop->surely_runs = false; /* some thread has left */
   for (; last->op == AGXC_OP_RETURN && loop; loop = loop->parent)
      loop->surely_runs = false;
}

bool agxc_opt_licm(struct agxc_shader *shader)
{
   struct licm l = {.shader = shader};
   agxc_index(shader);
   if (!agxc_has_loop(shader))
      return false;
   l.liveness = agxc_liveness_compute(shader);
   l.uses = agxc_count_uses(shader);
   l.left = AGX_ARENA_ARRAY(shader->arena, struct loop_info *, shader->value_count);
   l.loop_at = AGX_ARENA_ARRAY(shader->arena, struct loop_info *, shader->block_count);
   find_folded(&l);
   survey(&l);
   agxc_foreach_block (block, shader)
      visit_block(&l, block);
   if (!l.progress)
      return false;
   agxc_opt_cse(shader); /* what came out of several arms */
   agxc_opt_copy_prop(shader);
   agxc_opt_dce(shader);
   return true;
}
