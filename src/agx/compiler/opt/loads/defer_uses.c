/* SPDX-License-Identifier: MIT
 *
 * Lets loads of several ifs wait together. `if (inside) sum += x[i]` a few times over would wait in
 * each arm. Here only the load stays in the arm: its address is computed in front of the if, and
 * what is done with the result moves behind it, where a select keeps the old value for lanes that
 * did not load; for these the load's result is anything. Behind an if, what needs a load that is
 * still under way moves on, behind the next if that loads. So the first wait comes when all loads
 * have been issued.
 *
 * No access moves, and none happens that would not have happened: only pure operations do, which
 * lanes that are away compute in vain.
 *
 * Before and after: generic SSA; opt_cse behind it joins the addresses. Stands behind
 * opt_if_conversion, which leaves ifs that load, and behind the passes that unroll loops of them.
 */
#include "agx/compiler/analysis/divergence.h"
#include "agx/compiler/analysis/op_cost.h"
#include "agx/compiler/opt/loads/loads_impl.h"
#include "agx/compiler/opt/loads/loads.h"

#define MAX_PENDING  (2 * AGXC_LOADS_OF_GROUP) /* that many registers wait for them */
#define MAX_ARM_COST 40u                       /* cycles of both arms, without loads */
#define MAX_PHIS     4u

struct splitting {
   struct agxc_shader *shader;
   /* By value, up to `capacity`: the last load that it needs, by number from 1. It is late when
    * that is under way. */
   uint32_t *late, *used;
   uint32_t capacity, now_used;
   uint32_t issued, done; /* loads */
   bool has_uses;         /* the block before has operations that need one under way */
   bool progress;
};

static void forget(struct splitting *s)
{
   s->done = s->issued;
   s->has_uses = false;
}

/* For so many loads: the wait for the older half comes before they are issued. */
static void make_room(struct splitting *s, uint32_t loads)
{
   if (s->issued - s->done + loads > MAX_PENDING)
      s->done = AGX_MAX(s->done, s->issued - AGXC_LOADS_OF_GROUP);
}

static bool is_late(const struct splitting *s, const struct agxc_ref *ref)
{
   return ref->kind == AGXC_VALUE && s->late[ref->value->id] > s->done;
}

static bool needs_late(const struct splitting *s, const struct agxc_instr *instr)
{
   agxc_foreach_src (src, instr)
      if (is_late(s, src))
         return true;
   return false;
}

/* As late as what it needs. */
static void mark_late(struct splitting *s, const struct agxc_instr *instr)
{
   uint32_t last = 0;
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE)
         last = AGX_MAX(last, s->late[src->value->id]);
   agxc_foreach_dest (dest, instr)
      s->late[dest->value->id] = last;
}

static bool is_load(const struct agxc_instr *instr)
{
   return instr->op == AGXC_OP_LOAD_GLOBAL;
}

static void issue_load(struct splitting *s, const struct agxc_instr *load)
{
   make_room(s, 1);
   s->late[agxc_dest(load)->value->id] = ++s->issued;
}

/* ---- surveys ------------------------------------------------------------ */

/* The arm is one block, which control leaves at its end. */
static bool is_plain(const struct agx_link *arm)
{
   return arm->next->next == arm && !agxc_terminator(agxc_first_block(arm));
}

static bool is_plain_if(const struct agxc_node *node)
{
   if (!node || node->kind != AGXC_NODE_IF)
      return false;
   const struct agxc_if *branch = agxc_as_if(node);
   return is_plain(&branch->then_list) && is_plain(&branch->else_list);
}

static bool arm_loads(const struct agx_link *arm)
{
   agxc_foreach_instr (instr, agxc_first_block(arm))
      if (is_load(instr))
         return true;
   return false;
}

static bool loads(const struct agxc_node *node)
{
   const struct agxc_if *branch = agxc_as_if(node);
   return arm_loads(&branch->then_list) || arm_loads(&branch->else_list);
}

static bool next_loads(const struct agxc_block *behind)
{
   const struct agxc_node *node = agxc_node_after(&behind->node);
   return is_plain_if(node) && loads(node);
}

/* Takes what an arm holds into account; false when something in it can neither stay nor move, or
 * when one load needs another. */
static bool arm_splits(struct splitting *s, const struct agx_link *arm, uint32_t *loads,
                       uint32_t *cost)
{
   s->now_used++; /* here: depends on a load, of this arm or under way */
   agxc_foreach_instr (instr, agxc_first_block(arm)) {
      bool depends = false;
      agxc_foreach_src (src, instr)
         depends |=
            is_late(s, src) || (src->kind == AGXC_VALUE && s->used[src->value->id] == s->now_used);
      if (is_load(instr)) {
         if (depends || agxc_dest(instr)->count != 1)
            return false;
         depends = true;
         (*loads)++;
      } else if (!agxc_is_arithmetic(instr)) {
         return false;
      } else {
         *cost += agxc_op_cost(instr);
      }
      agxc_foreach_dest (dest, instr)
         if (depends)
            s->used[dest->value->id] = s->now_used;
   }
   return true;
}

static bool phis_split(const struct agxc_block *behind)
{
   uint32_t count = 0;
   agxc_foreach_phi (phi, behind) {
      unsigned bits = agxc_dest(phi)->bits;
      if (agxc_dest(phi)->count != 1 || (bits != 1 && bits != 16 && bits != 32) ||
          ++count > MAX_PHIS)
         return false;
   }
   return true;
}

static bool splits(struct splitting *s, const struct agxc_if *branch,
                   const struct agxc_ref *condition)
{
   uint32_t loads = 0, cost = 0;
   if (agxc_is_of_dispatch(condition) || is_late(s, condition) ||
       !arm_splits(s, &branch->then_list, &loads, &cost) ||
       !arm_splits(s, &branch->else_list, &loads, &cost) || loads > AGXC_LOADS_OF_GROUP ||
       cost > MAX_ARM_COST || !phis_split(agxc_block_after(&branch->node)))
      return false;
   make_room(s, loads);
   return true;
}

/* ---- splitting ---------------------------------------------------------- */

/* A load of an arm, and what it is behind the if. */
struct result {
   const struct agxc_value *loaded;
   struct agxc_ref behind;
};

struct split {
   struct splitting *s;
   struct agxc_if *branch;
   struct agxc_block *before, *behind;
   struct result results[AGXC_LOADS_OF_GROUP];
   uint32_t count;
};

static struct agxc_instr *first_behind_phis(const struct agxc_block *block)
{
   agxc_foreach_instr (instr, block)
      if (instr->op != AGXC_OP_PHI)
         return instr;
   return NULL;
}

/* True when the reference was a load's result. */
static bool rename_result(const struct split *split, struct agxc_ref *ref)
{
   for (uint32_t i = 0; i < split->count; i++) {
      if (ref->kind != AGXC_VALUE || ref->value != split->results[i].loaded)
         continue;
      *ref = split->results[i].behind;
      return true;
   }
   return false;
}

static void add_result(struct split *split, const struct agxc_instr *load, bool in_then)
{
   struct agxc_shader *shader = split->s->shader;
   const struct agxc_ref *loaded = agxc_dest(load);
   struct agxc_builder b = agxc_at_start(shader, split->behind);
   struct agxc_instr *phi = agxc_build_phi(&b, loaded->bits, 1, 2);
   b = agxc_at_exit(shader, split->before);
   const struct agxc_ref anything = agxc_build_undef(&b, loaded->bits, 1);
   *agxc_phi_then(phi) = in_then ? agxc_use(loaded->value) : anything;
   *agxc_phi_else(phi) = in_then ? anything : agxc_use(loaded->value);
   issue_load(split->s, load);
   mark_late(split->s, phi);
   split->results[split->count++] = (struct result){loaded->value, *agxc_dest(phi)};
}

/* Loads stay; what needs one goes to the end of `to`, the rest in front of the if. */
static void split_arm(struct split *split, const struct agx_link *arm, struct agxc_builder *to)
{
   struct agxc_builder up = agxc_at_end(split->s->shader, split->before);
   up.before = agxc_terminator(split->before);
   bool in_then = arm == &split->branch->then_list;
   agxc_foreach_instr_safe (instr, agxc_first_block(arm)) {
      if (is_load(instr)) {
         add_result(split, instr, in_then);
         continue;
      }
      bool stays_late = needs_late(split->s, instr);
      agxc_instr_remove(instr);
      agxc_insert(stays_late ? to : &up, instr);
      if (!stays_late)
         continue;
      mark_late(split->s, instr);
      agxc_foreach_src (src, instr)
         rename_result(split, src);
   }
}

/* Where lanes that don't load have anything, they have the phi of a load's result; where they have
 * a constant, the phi can be that, once. */
static bool chooses(const struct agxc_ref *result, bool is_then, struct agxc_ref other)
{
   const struct agxc_instr *phi = result->value->def;
   struct agxc_ref *was = is_then ? agxc_phi_else(phi) : agxc_phi_then(phi);
   if (agxc_def_as(other, AGXC_OP_UNDEF))
      return true;
   if (other.kind != AGXC_IMM)
      return false;
   if (agxc_def_as(*was, AGXC_OP_UNDEF))
      *was = other;
   return agxc_same_ref(was, &other);
}

/* The old phi chooses behind what it needs. */
static void become_select(struct split *split, struct agxc_instr *phi, struct agxc_builder *to)
{
   struct agxc_ref yes = *agxc_phi_then(phi), no = *agxc_phi_else(phi);
   bool yes_loads = rename_result(split, &yes), no_loads = rename_result(split, &no);
   struct agxc_ref condition = *agxc_src_condition(agxc_terminator(split->before));
   struct agxc_ref now;
   if (yes_loads && chooses(&yes, true, no))
      now = agxc_build_mov(to, yes);
   else if (no_loads && chooses(&no, false, yes))
      now = agxc_build_mov(to, no);
   else
      now = agxc_build_select(to, condition, yes, no);
   agxc_define_as(now, *agxc_dest(phi));
   agxc_instr_remove(phi);
}

static void split_if(struct splitting *s, struct agxc_if *branch)
{
   struct split split = {.s = s,
                         .branch = branch,
                         .before = agxc_block_before(&branch->node),
                         .behind = agxc_block_after(&branch->node)};
   struct agxc_instr *old = agxc_first_instr(split.behind);
   struct agxc_builder to = {s->shader, split.behind, first_behind_phis(split.behind)};
   split_arm(&split, &branch->then_list, &to);
   split_arm(&split, &branch->else_list, &to);
   while (old && old->op == AGXC_OP_PHI) {
      struct agxc_instr *phi = old;
      old = agxc_next_instr(phi);
      become_select(&split, phi, &to);
   }
   s->progress = true;
}

/* ---- sinking ------------------------------------------------------------ */

static void mark_used(struct splitting *s, const struct agxc_instr *instr)
{
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE)
         s->used[src->value->id] = s->now_used;
}

static bool may_sink(const struct splitting *s, const struct agxc_instr *instr)
{
   if (!agxc_is_arithmetic(instr) || !needs_late(s, instr))
      return false;
   agxc_foreach_dest (dest, instr)
      if (s->used[dest->value->id] == s->now_used)
         return false;
   return true;
}

/* What needs a load and is not needed by the if moves from the block before it to the one
 * behind it. */
static void sink_over(struct splitting *s, const struct agxc_if *branch)
{
   struct agxc_block *behind = agxc_block_after(&branch->node);
   s->now_used++;
   agxc_foreach_instr (instr, agxc_first_block(&branch->then_list))
      mark_used(s, instr);
   agxc_foreach_instr (instr, agxc_first_block(&branch->else_list))
      mark_used(s, instr);
   agxc_foreach_phi (phi, behind)
      mark_used(s, phi);
   struct agxc_builder to = {s->shader, behind, first_behind_phis(behind)};
   s->has_uses = false;
   agxc_foreach_instr_rev (instr, agxc_block_before(&branch->node)) {
      if (!may_sink(s, instr)) {
         mark_used(s, instr);
         continue;
      }
      agxc_instr_remove(instr);
      agxc_insert(&to, instr);
      to.before = instr;
      s->progress = true;
   }
}

/* ---- the walk ----------------------------------------------------------- */

/* Follows what is late. What neither is pure nor loads waits for what it reads, and so for all
 * that is under way. */
static void scan_block(struct splitting *s, const struct agxc_block *block)
{
   agxc_foreach_instr (instr, block) {
      if (instr->op == AGXC_OP_BARRIER) {
         forget(s);
         continue;
      }
      bool waits = needs_late(s, instr);
      if (waits && agxc_is_arithmetic(instr)) {
         mark_late(s, instr);
         s->has_uses = true;
         continue;
      }
      bool is_result = instr->op == AGXC_OP_PHI && is_late(s, agxc_dest(instr));
      if (waits && !is_result)
         forget(s);
      if (is_load(instr))
         issue_load(s, instr);
   }
}

/* Nothing leaves these: what they need they wait for, as does what is left in front of them. */
static void scan_arms(struct splitting *s, const struct agxc_if *branch)
{
   if (s->has_uses)
      forget(s);
   scan_block(s, agxc_first_block(&branch->then_list));
   scan_block(s, agxc_first_block(&branch->else_list));
   if (s->has_uses)
      forget(s);
}

static void visit_if(struct splitting *s, struct agxc_if *branch)
{
   if (!loads(&branch->node)) {
      scan_arms(s, branch);
      return;
   }
   struct agxc_block *behind = agxc_block_after(&branch->node);
   const struct agxc_ref *condition =
      agxc_src_condition(agxc_terminator(agxc_block_before(&branch->node)));
   bool is_split = (s->issued > s->done || next_loads(behind)) && splits(s, branch, condition);
   if (is_split)
      split_if(s, branch);
   if (s->issued > s->done)
      sink_over(s, branch);
   if (!is_split)
      scan_arms(s, branch);
}

/* Of the blocks in arms of plain ifs, visit_if takes care. */
static void visit_block(struct splitting *s, struct agxc_block *block)
{
   const struct agxc_node *before = agxc_node_before(&block->node);
   struct agxc_node *behind = agxc_node_after(&block->node);
   if (is_plain_if(block->node.parent))
      return;
   if (!is_plain_if(before))
      forget(s);
   scan_block(s, block);
   if (is_plain_if(behind))
      visit_if(s, agxc_as_if(behind));
}

bool agxc_opt_defer_uses(struct agxc_shader *shader)
{
   agxc_index(shader);
   if (shader->block_count == 1)
      return false;
   struct splitting s = {
      .shader = shader, .capacity = shader->value_count * 2, /* a phi for each load */
   };
   s.late = AGX_ARENA_ARRAY(shader->arena, uint32_t, s.capacity);
   s.used = AGX_ARENA_ARRAY(shader->arena, uint32_t, s.capacity);
   agxc_foreach_block (block, shader)
      visit_block(&s, block);
   return s.progress;
}
