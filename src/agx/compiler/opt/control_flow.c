/* SPDX-License-Identifier: MIT
 *
 * Simplifies control flow: replaces an if on a constant by the arm that it chooses, removes ifs
 * without code in their arms, loops that break in their first turn, and counted loops without
 * effect whose values nothing outside uses, and joins a loop's continuing part with its body where
 * nothing continues; what follows an arm that continues goes into the other one. An arm that ends
 * in a break, continue or return is not chosen where that would cut off code in a loop or an if; at
 * top level an arm that always returns ends the program. Nor does the only way out of a loop go. A
 * loop that is not known to end stays, so that its hang is reported.
 *
 * Before: generic SSA. After: the same, with fewer ifs and loops; what decided over them may be
 * dead. Stands in front of opt_unroll, which reads the tests of loops; behind it, where copies are
 * full of such ifs, and in front of the other passes that ask for a loop's shape; behind opt_dce,
 * which leaves jumps and what they need; and behind opt_if_conversion, for conditions that became
 * constant. opt_rotate calls it for the test that it leaves behind.
 */
#include "agx/compiler/analysis/induction.h"
#include "agx/compiler/ir/clone.h"
#include "agx/compiler/ir/fold.h"
#include "agx/compiler/ir/walk.h"
#include "agx/compiler/opt/opt.h"

/* What follows a continue is moved into the other arm so many times in a loop, in so many loops
 * inside each other: passes recurse over what comes of it. */
#define MOST_MOVED   8u
#define MOVING_DEPTH 4u

/* The block is gone: phis where it led to forget it. */
static void forget_edges(void *user, struct agxc_block *block)
{
   for (unsigned i = 0; i < 2; i++) {
      struct agxc_block *to = block->succs[i];
      uint32_t at = 0;
      if (!to)
         continue;
      while (at < to->pred_count && to->preds[at] != block)
         at++;
      if (at == to->pred_count)
         continue;
      agxc_foreach_phi (phi, to) {
         for (uint32_t k = at; k + 1 < phi->src_count; k++)
            agxc_srcs(phi)[k] = agxc_srcs(phi)[k + 1];
         phi->src_count--;
         phi->operand_count--;
      }
      for (uint32_t k = at; k + 1 < to->pred_count; k++)
         to->preds[k] = to->preds[k + 1];
      to->pred_count--;
   }
}

/* Melts a block into the cursor's, which its successors now have as predecessor. */
static void melt(struct agxc_cursor *cursor, struct agxc_block *block)
{
   for (unsigned i = 0; i < 2; i++) {
      struct agxc_block *to = cursor->block->succs[i] = block->succs[i];
      for (uint32_t k = 0; to && k < to->pred_count; k++)
         if (to->preds[k] == block)
            to->preds[k] = cursor->block;
   }
   agxc_melt(cursor, block);
}

/* One way is left to the block. */
static void forget_phis(struct agxc_shader *shader, const struct agxc_block *block)
{
   agxc_foreach_phi (phi, block)
      agxc_become_mov(shader, phi, *agxc_phi_only(phi));
}

/* Moves the nodes of a list in front of a node, and the cursor to the last block of them. */
static void move_nodes(struct agxc_cursor *cursor, struct agx_link *list, struct agxc_node *at)
{
   melt(cursor, agxc_first_block(list));
   while (!agx_list_empty(list)) {
      struct agxc_node *node = agx_container_of(list->next, struct agxc_node, link);
      agx_list_remove(&node->link);
      agx_list_insert_before(&at->link, &node->link);
      node->parent = at->parent;
      node->list = at->list;
      if (node->kind == AGXC_NODE_BLOCK)
         cursor->block = agxc_as_block(node);
   }
}

/* Puts the nodes of an arm behind `before` and joins blocks that are neighbours now. */
static void inline_arm(struct agxc_shader *shader, struct agxc_block *before, struct agx_link *arm,
                       struct agxc_if *branch)
{
   struct agxc_cursor cursor = {&branch->node.link, before};
   struct agxc_block *behind = agxc_block_after(&branch->node);
   forget_phis(shader, behind);
   move_nodes(&cursor, arm, &branch->node);
   agx_list_remove(&branch->node.link);
   melt(&cursor, behind);
}

/* Blocks of the list that leave it by that jump, and where to; jumps in a loop stay in there. */
static uint32_t count_jumps(const struct agx_link *list, unsigned op, struct agxc_block **out_to)
{
   uint32_t count = 0;
   agxc_foreach_node (node, list) {
      if (node->kind == AGXC_NODE_BLOCK) {
         const struct agxc_block *block = agxc_as_block(node);
         const struct agxc_instr *last = agxc_terminator(block);
         if (last && last->op == op && block->succs[0]) {
            *out_to = block->succs[0];
            count++;
         }
      } else if (node->kind == AGXC_NODE_IF) {
         agxc_foreach_list (arm, node)
            count += count_jumps(arm, op, out_to);
      }
   }
   return count;
}

/* Without the list nothing would reach what stands behind the loop, or its continuing part. */
static bool is_only_way(const struct agx_link *list)
{
   static const unsigned ops[] = {AGXC_OP_BREAK, AGXC_OP_CONTINUE};
   for (size_t i = 0; i < AGX_COUNT(ops); i++) {
      struct agxc_block *to = NULL;
      uint32_t count = count_jumps(list, ops[i], &to);
      if (to && to->pred_count <= count)
         return true;
   }
   return false;
}

/* True when the if is gone. */
static bool try_if(struct agxc_shader *shader, struct agxc_if *branch)
{
   struct agxc_block *before = agxc_block_before(&branch->node);
   struct agxc_instr *last = agxc_terminator(before);
   if (!last || last->op != AGXC_OP_BRANCH || agxc_src_condition(last)->kind != AGXC_IMM)
      return false;
   bool is_then = agxc_src_condition(last)->imm != 0;
   struct agx_link *arm = is_then ? &branch->then_list : &branch->else_list;
   struct agx_link *other = is_then ? &branch->else_list : &branch->then_list;
   if (agxc_terminator(agxc_last_block(arm)) || is_only_way(other))
      return false;
   agxc_instr_remove(last);
   agxc_walk(other, &(struct agxc_visitor){.block = forget_edges}, NULL);
   inline_arm(shader, before, arm, branch);
   return true;
}

/* At top level nothing but the rest of the program follows an arm that always returns; true when
 * that rest is gone. */
static bool try_return(struct agxc_shader *shader, struct agxc_if *branch)
{
   struct agxc_block *before = agxc_block_before(&branch->node);
   struct agxc_instr *last = agxc_terminator(before);
   if (branch->node.parent || !last || last->op != AGXC_OP_BRANCH ||
       agxc_src_condition(last)->kind != AGXC_IMM)
      return false;
   struct agx_link *arm = agxc_src_condition(last)->imm ? &branch->then_list : &branch->else_list;
   const struct agxc_instr *end = agxc_terminator(agxc_last_block(arm));
   if (!end || end->op != AGXC_OP_RETURN)
      return false;
   agxc_instr_remove(last);
   struct agxc_cursor cursor = {&branch->node.link, before};
   move_nodes(&cursor, arm, &branch->node);
   agxc_instr_remove(agxc_terminator(cursor.block));
   while (cursor.block->node.link.next != &shader->body)
      agx_list_remove(cursor.block->node.link.next);
   return true;
}

/* Gives a loop, whose continuing part has gone to the end of its body, an empty one; its block
 * comes between that end and the loop's first block. */
static void add_continuing(struct agxc_shader *shader, struct agxc_loop *loop)
{
   struct agxc_block *end = agxc_last_block(&loop->body), *block = agxc_block_new(shader);
   agxc_node_append(&loop->continuing, &loop->node, &block->node);
   block->index = end->index; /* until agxc_index */
   block->loop_depth = end->loop_depth;
   block->loop = loop;
   if (agxc_terminator(end))
      return;
   struct agxc_block *to = end->succs[0];
   for (uint32_t i = 0; to && i < to->pred_count; i++)
      if (to->preds[i] == end)
         to->preds[i] = block;
   block->preds = AGX_ARENA_NEW(shader->arena, struct agxc_block *);
   block->preds[0] = end;
   block->pred_count = to != NULL;
   block->succs[0] = to;
   end->succs[0] = to ? block : NULL;
}

/* The last if in the loop's body of which one arm continues and the other does not leave; that arm,
 * or NULL. */
static struct agx_link *last_continue(struct agxc_loop *loop, struct agxc_if **out_branch)
{
   for (struct agxc_node *node = &agxc_last_block(&loop->body)->node; node;
        node = agxc_node_before(node))
      for (unsigned i = 0; i < 2 && node->kind == AGXC_NODE_IF; i++) {
         const struct agxc_instr *last = agxc_terminator(agxc_last_block(agxc_list_of(node, i)));
         if (!last || last->op != AGXC_OP_CONTINUE ||
             agxc_terminator(agxc_last_block(agxc_list_of(node, 1 - i))))
            continue;
         *out_branch = agxc_as_if(node);
         return agxc_list_of(node, i);
      }
   return NULL;
}

/* A block at the end of the body, behind an if whose arms end with these blocks. */
static struct agxc_block *add_end(struct agxc_shader *shader, struct agxc_loop *loop,
                                  struct agxc_block *then_end, struct agxc_block *else_end)
{
   struct agxc_block *block = agxc_block_new(shader);
   agxc_node_append(&loop->body, &loop->node, &block->node);
   block->index = else_end->index; /* until agxc_index */
   block->loop_depth = else_end->loop_depth;
   block->loop = loop;
   block->preds = AGX_ARENA_ARRAY(shader->arena, struct agxc_block *, 2);
   block->preds[0] = then_end;
   block->preds[1] = else_end;
   block->pred_count = 2;
   block->succs[0] = agxc_first_block(&loop->continuing);
   then_end->succs[0] = else_end->succs[0] = block;
   return block;
}

/* The continuing part is now reached from `end` instead of by its way number `at` and its last one:
 * its phis take what a phi in `end` makes of both. */
static void merge_ways(struct agxc_shader *shader, struct agxc_block *end, uint32_t at,
                       bool continues_first)
{
   struct agxc_block *continuing = end->succs[0];
   uint32_t last = continuing->pred_count - 1;
   agxc_foreach_phi (phi, continuing) {
      struct agxc_ref *srcs = agxc_srcs(phi), early = srcs[at], late = srcs[last];
      if (!agxc_same_ref(&early, &late)) {
         struct agxc_builder b = agxc_at_end(shader, end);
         struct agxc_instr *joined = agxc_build_phi(&b, late.bits, late.count, 2);
         agxc_srcs(joined)[!continues_first] = early;
         agxc_srcs(joined)[continues_first] = late;
         late = *agxc_dest(joined);
      }
      srcs[last] = late;
      for (uint32_t k = at; k < last; k++)
         srcs[k] = srcs[k + 1];
      phi->src_count--;
      phi->operand_count--;
   }
   continuing->preds[last] = end;
   for (uint32_t k = at; k < last; k++)
      continuing->preds[k] = continuing->preds[k + 1];
   continuing->pred_count--;
}

/* if (c) { a  continue } b becomes if (c) { a } else { b }: the loop needs no mask for lanes that
 * have continued, and passes that copy loops may take it. */
static bool move_rest(struct agxc_shader *shader, struct agxc_loop *loop)
{
   struct agxc_if *branch;
   struct agx_link *arm =
      agxc_terminator(agxc_last_block(&loop->body)) ? NULL : last_continue(loop, &branch);
   if (!arm)
      return false;
   bool is_then = arm == &branch->then_list;
   struct agx_link *other = is_then ? &branch->else_list : &branch->then_list;
   struct agxc_block *from = agxc_last_block(arm), *behind = agxc_block_after(&branch->node);
   uint32_t at = agxc_pred_index(agxc_first_block(&loop->continuing), from);
   struct agxc_cursor cursor = {other, agxc_last_block(other)};
   struct agxc_node *next = agxc_node_after(&behind->node);
   agxc_instr_remove(agxc_terminator(from));
   forget_phis(shader, behind);
   melt(&cursor, behind);
   while (next) {
      struct agxc_node *node = next;
      next = agxc_node_after(node);
      agx_list_remove(&node->link);
      agxc_node_append(other, &branch->node, node);
      if (node->kind == AGXC_NODE_BLOCK)
         cursor.block = agxc_as_block(node);
   }
   struct agxc_block *end =
      add_end(shader, loop, is_then ? from : cursor.block, is_then ? cursor.block : from);
   merge_ways(shader, end, at, is_then);
   return true;
}

/* One block then holds what stood on both sides of the border. */
static bool join_continuing(struct agxc_shader *shader, struct agxc_loop *loop)
{
   struct agxc_block *last = agxc_last_block(&loop->body);
   struct agxc_block *first = agxc_first_block(&loop->continuing);
   struct agxc_cursor cursor = {&loop->body, last};
   if (first->pred_count != 1 || first->preds[0] != last || agxc_terminator(last))
      return false;
   if (first->node.link.next == &loop->continuing && agx_list_empty(&first->instrs))
      return false;
   forget_phis(shader, first);
   melt(&cursor, first);
   agxc_foreach_node (node, &loop->continuing)
      node->list = &loop->body;
   agx_list_splice(&loop->body, &loop->continuing);
   add_continuing(shader, loop);
   return true;
}

/* What the reference is in a loop's first turn. */
static struct agxc_ref at_entry(const struct agxc_ref *ref, const struct agxc_block *header)
{
   const struct agxc_instr *phi = agxc_def_as(*ref, AGXC_OP_PHI);
   return phi && phi->block == header ? *agxc_phi_entry(phi) : *ref;
}

/* What a condition of a loop's first block is in the first turn. */
static struct agxc_ref decide_at_entry(const struct agxc_ref *condition,
                                       const struct agxc_block *header)
{
   if (condition->kind != AGXC_VALUE)
      return *condition;
   const struct agxc_instr *test = condition->value->def;
   if (test->block != header || test->src_count != 2 || !agxc_has_src(test, AGXC_SRC_A) ||
       !agxc_has_src(test, AGXC_SRC_B))
      return agxc_none();
   return agxc_fold((enum agxc_op)test->op, 1, at_entry(agxc_src_a(test), header),
                    at_entry(agxc_src_b(test), header));
}

/* Whether its last block alone jumps out of the list. */
static bool jumps_at_its_end(const struct agx_link *list)
{
   struct agxc_block *to;
   return count_jumps(list, AGXC_OP_BREAK, &to) + count_jumps(list, AGXC_OP_CONTINUE, &to) == 1;
}

/* The arm of the if that a loop starts with, where it breaks in the first turn on every path; or
 * NULL. */
static struct agx_link *first_break(const struct agxc_loop *loop)
{
   struct agxc_block *header = agxc_first_block(&loop->body);
   const struct agxc_instr *last = agxc_terminator(header);
   if (!last || last->op != AGXC_OP_BRANCH)
      return NULL;
   struct agxc_ref taken = decide_at_entry(agxc_src_condition(last), header);
   if (taken.kind != AGXC_IMM)
      return NULL;
   struct agx_link *arm = agxc_list_of(agxc_node_after(&header->node), taken.imm ? 0 : 1);
   const struct agxc_instr *end = agxc_terminator(agxc_last_block(arm));
   return end && end->op == AGXC_OP_BREAK && jumps_at_its_end(arm) ? arm : NULL;
}

/* A loop that breaks in its first turn becomes what stands before that break. */
static bool remove_unrun_loop(struct agxc_shader *shader, struct agxc_loop *loop)
{
   struct agx_link *arm = first_break(loop);
   if (!arm)
      return false;
   struct agxc_block *header = agxc_first_block(&loop->body);
   struct agxc_block *behind = agxc_block_after(&loop->node);
   uint32_t from = agxc_pred_index(behind, agxc_last_block(arm));
   agxc_foreach_phi (phi, header)
      agxc_become_mov(shader, phi, *agxc_phi_entry(phi));
   agxc_foreach_phi (phi, behind)
      agxc_become_mov(shader, phi, agxc_srcs(phi)[from]);
   agxc_instr_remove(agxc_terminator(header));
   struct agxc_cursor cursor = {&loop->node.link, agxc_block_before(&loop->node)};
   melt(&cursor, header);
   move_nodes(&cursor, arm, &loop->node);
   agxc_instr_remove(agxc_terminator(cursor.block));
   agx_list_remove(&loop->node.link);
   melt(&cursor, behind);
   return true;
}

/* ---- what does nothing ---------------------------------------------------- */

struct simplification {
   struct agxc_shader *shader;
   agx_bitset_word *needed; /* loops, by the index of their first block: they have an effect, or a
                               value that leaves */
};

static bool is_in(const struct agxc_block *block, const struct agxc_loop *loop)
{
   return block->index >= agxc_first_block(&loop->body)->index &&
          block->index <= agxc_last_block(&loop->continuing)->index;
}

static void mark_needed(const struct simplification *it, const struct agxc_loop *loop)
{
   if (loop)
      agx_bitset_set(it->needed, agxc_first_block(&loop->body)->index);
}

/* Of loops inside each other only the innermost; remove_loop passes it on. */
static void find_needed(struct simplification *it)
{
   it->needed = agxc_bitset_new(it->shader, it->shader->block_count);
   agxc_foreach_instr_of (instr, it->shader) {
      unsigned effect = agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_TERMINATOR);
      if (effect == AGXC_SIDE_EFFECT || instr->op == AGXC_OP_RETURN)
         mark_needed(it, instr->block->loop);
      agxc_foreach_src (src, instr) {
         const struct agxc_block *from = src->kind == AGXC_VALUE ? src->value->def->block : NULL;
         if (from && from->loop && from->loop != instr->block->loop &&
             !is_in(instr->block, from->loop))
            mark_needed(it, from->loop);
      }
   }
}

static struct agxc_loop *loop_around(const struct agxc_loop *loop)
{
   struct agxc_node *node = loop->node.parent;
   while (node && node->kind != AGXC_NODE_LOOP)
      node = node->parent;
   return node ? agxc_as_loop(node) : NULL;
}

/* Takes the node, all paths through which lead behind it, out of its list. */
static void remove_node(struct agxc_shader *shader, struct agxc_node *node)
{
   struct agxc_block *behind = agxc_block_after(node);
   struct agxc_cursor cursor = {&node->link, agxc_block_before(node)};
   forget_phis(shader, behind);
   agx_list_remove(&node->link);
   melt(&cursor, behind);
}

/* phi(1, 0) behind an if: the condition. */
static bool is_condition(const struct agxc_instr *phi)
{
   return phi->src_count == 2 && agxc_dest(phi)->bits == 1 &&
          agxc_phi_then(phi)->kind == AGXC_IMM && agxc_phi_else(phi)->kind == AGXC_IMM &&
          agxc_phi_then(phi)->imm == 1 && agxc_phi_else(phi)->imm == 0;
}

/* What only hands its condition on goes, too: front ends write tests of loops so. */
static bool remove_empty_if(struct agxc_shader *shader, struct agxc_if *branch)
{
   struct agxc_block *behind = agxc_block_after(&branch->node);
   struct agxc_instr *last = agxc_terminator(agxc_block_before(&branch->node));
   if (!agxc_list_is_empty(&branch->then_list) || !agxc_list_is_empty(&branch->else_list))
      return false;
   agxc_foreach_phi (phi, behind)
      if (!is_condition(phi))
         return false;
   agxc_foreach_phi (phi, behind)
      agxc_become_mov(shader, phi, *agxc_src_condition(last));
   agxc_instr_remove(last);
   remove_node(shader, &branch->node);
   return true;
}

static bool remove_idle_loop(struct simplification *it, struct agxc_loop *loop)
{
   struct agxc_induction counted;
   if (agx_bitset_test(it->needed, agxc_first_block(&loop->body)->index) ||
       !agxc_induction_find(&counted, it->shader, loop))
      return false;
   remove_node(it->shader, &loop->node);
   return true;
}

/* ---- pass ------------------------------------------------------------------ */

/* What stands in its place is its arm, which nothing can be done about, and what followed. */
static enum agxc_visited decide_if(void *shader, struct agxc_if *branch)
{
   return try_if(shader, branch) || try_return(shader, branch) ? AGXC_REPLACED : AGXC_UNCHANGED;
}

static enum agxc_visited join_loop(void *shader, struct agxc_loop *loop)
{
   if (remove_unrun_loop(shader, loop))
      return AGXC_REPLACED;
   unsigned moved = 0;
   if (agxc_first_block(&loop->body)->loop_depth <= MOVING_DEPTH)
      while (moved < MOST_MOVED && move_rest(shader, loop))
         moved++;
   return join_continuing(shader, loop) || moved ? AGXC_CHANGED : AGXC_UNCHANGED;
}

static enum agxc_visited remove_if(void *user, struct agxc_if *branch)
{
   struct simplification *it = user;
   return remove_empty_if(it->shader, branch) ? AGXC_REPLACED : AGXC_UNCHANGED;
}

static enum agxc_visited remove_loop(void *user, struct agxc_loop *loop)
{
   if (remove_idle_loop(user, loop))
      return AGXC_REPLACED;
   mark_needed(user, loop_around(loop));
   return AGXC_UNCHANGED;
}

bool agxc_opt_control_flow(struct agxc_shader *shader)
{
   static const struct agxc_visitor decide = {.leave_if = decide_if, .leave_loop = join_loop};
   static const struct agxc_visitor remove = {.leave_if = remove_if, .leave_loop = remove_loop};
   agxc_index(shader);
   bool progress = agxc_walk(&shader->body, &decide, shader);
   agxc_index(shader);
   struct simplification it = {.shader = shader};
   find_needed(&it);
   progress |= agxc_walk(&shader->body, &remove, &it);
   return progress;
}
