/* SPDX-License-Identifier: MIT
 *
 * Switches become a sequence of ifs, one per target, since at most one of them matches.
 * Falling through from one target to the next sets a flag that the next one's
 * condition takes into account; targets are put in the order in which they fall.
 */
#include "agx/compiler/spirv/flow_impl.h"

struct switch_state {
   struct agxc_spv *s;
   struct agxc_spv_block *block, *merge;
   struct agxc_spv_construct *construct;
   const struct agxc_spv_instr *in;
   struct agxc_ref selector;
   uint32_t literals, count; /* pairs, different targets but for merge */
   uint32_t literal_words;   /* of each */
   struct agxc_spv_target *targets;
   uint32_t *next_literal; /* of the same target: index + 1, or 0 */
   bool dead;              /* a target that always runs has left for good */
};

static uint64_t literal_value(struct switch_state *w, uint32_t i)
{
   uint32_t at = 2 + i * (w->literal_words + 1);
   uint64_t high = w->literal_words == 2 ? agxc_spv_operand(w->s, w->in, at + 1) : 0;
   return high << 32 | agxc_spv_operand(w->s, w->in, at);
}

static struct agxc_spv_block *literal_block(struct switch_state *w, uint32_t i)
{
   uint32_t at = 2 + i * (w->literal_words + 1) + w->literal_words;
   return agxc_spv_block_of(w->s, agxc_spv_operand(w->s, w->in, at));
}

static struct agxc_spv_block *default_block(struct switch_state *w)
{
   return agxc_spv_block_of(w->s, agxc_spv_operand(w->s, w->in, 1));
}

static void add_target(struct switch_state *w, struct agxc_spv_block *to)
{
   if (to == w->merge || to->case_of == w->construct)
      return;
   to->case_of = w->construct;
   to->case_index = w->count;
   w->targets[w->count++].block = to;
}

static void add_literal(struct switch_state *w, uint32_t i)
{
   struct agxc_spv_block *to = literal_block(w, i);
   if (to == w->merge)
      return;
   struct agxc_spv_target *target = &w->targets[to->case_index];
   w->next_literal[i] = target->literals;
   target->literals = i + 1;
}

/* ---- the order --------------------------------------------------------- */

static bool is_boundary(struct switch_state *w, const struct agxc_spv_block *block)
{
   const struct agxc_spv_construct *c = agxc_spv_border(w->construct);
   if (block == w->merge || block == w->block)
      return true;
   return c && c->kind == AGXC_SPV_LOOP &&
          (block == c->merge || block == c->continues || block == c->header);
}

static void visit(struct switch_state *w, uint32_t from, struct agxc_spv_block *block,
                  struct agxc_spv_block **stack)
{
   if (is_boundary(w, block))
      return;
   if (block->case_of == w->construct) {
      struct agxc_spv_target *target = &w->targets[from];
      uint32_t to = block->case_index + 1;
      if (to == from + 1 || target->to == to)
         return;
      if (target->to || w->targets[to - 1].from)
         agxc_spv_invalid(w->s, "unstructured switch: block %u is reached in two ways",
                          block->label);
      target->to = to;
      w->targets[to - 1].from = from + 1;
      return;
   }
   if (block->scanned == w->s->scan_mark)
      return;
   block->scanned = w->s->scan_mark;
   block->scan_next = *stack;
   *stack = block;
}

/* A switch or loop: nothing in it falls through to a target of a switch around it. */
static bool is_own_construct(struct agxc_spv *s, const struct agxc_spv_block *block)
{
   return block->merge && (agxc_spv_instr_at(s, block->merge).opcode == SpvOpLoopMerge ||
                           agxc_spv_instr_at(s, block->end).opcode == SpvOpSwitch);
}

static void visit_successors(struct switch_state *w, uint32_t from, struct agxc_spv_block *block,
                             struct agxc_spv_block **stack)
{
   struct agxc_spv *s = w->s;
   struct agxc_spv_instr in = agxc_spv_instr_at(s, block->end);
   if (is_own_construct(s, block)) {
      struct agxc_spv_instr merge = agxc_spv_instr_at(s, block->merge);
      visit(w, from, agxc_spv_block_of(s, agxc_spv_operand(s, &merge, 0)), stack);
   } else if (in.opcode == SpvOpBranch) {
      visit(w, from, agxc_spv_block_of(s, agxc_spv_operand(s, &in, 0)), stack);
   } else if (in.opcode == SpvOpBranchConditional) {
      visit(w, from, agxc_spv_block_of(s, agxc_spv_operand(s, &in, 1)), stack);
      visit(w, from, agxc_spv_block_of(s, agxc_spv_operand(s, &in, 2)), stack);
   }
}

/* Finds which target falls through to which. */
static void find_falls(struct switch_state *w)
{
   w->s->scan_mark++;
   for (uint32_t i = 0; i < w->count; i++) {
      struct agxc_spv_block *stack = NULL;
      visit_successors(w, i, w->targets[i].block, &stack);
      while (stack) {
         struct agxc_spv_block *block = stack;
         stack = block->scan_next;
         visit_successors(w, i, block, &stack);
      }
   }
   w->s->now = *w->in;
}

/* ---- emission ---------------------------------------------------------- */

static struct agxc_ref or_else(struct agxc_spv *s, struct agxc_ref a, struct agxc_ref b)
{
   if (a.kind == AGXC_IMM)
      return a.imm ? a : b;
   if (b.kind == AGXC_IMM)
      return b.imm ? b : a;
   return agxc_spv_build2(s, AGXC_OP_IOR, a, b);
}

static struct agxc_ref is_literal(struct switch_state *w, uint32_t i)
{
   struct agxc_ref literal = agxc_imm(literal_value(w, i), w->selector.bits);
   return agxc_spv_build2(w->s, AGXC_OP_IEQ, w->selector, literal);
}

/* Whether one of the target's literals matches. */
static struct agxc_ref matches(struct switch_state *w, const struct agxc_spv_target *target)
{
   struct agxc_ref any = agxc_imm(0, 1);
   for (uint32_t i = target->literals; i; i = w->next_literal[i - 1])
      any = or_else(w->s, any, is_literal(w, i - 1));
   return any;
}

/* Whether no literal matches that leads elsewhere. */
static struct agxc_ref matches_default(struct switch_state *w, const struct agxc_spv_target *target)
{
   struct agxc_ref any = agxc_imm(0, 1);
   for (uint32_t i = 0; i < w->literals; i++)
      if (literal_block(w, i) != target->block)
         any = or_else(w->s, any, is_literal(w, i));
   return agxc_spv_build1(w->s, AGXC_OP_INOT, 1, any);
}

static struct agxc_ref condition(struct switch_state *w, const struct agxc_spv_target *target)
{
   struct agxc_ref cond =
      target->block == default_block(w) ? matches_default(w, target) : matches(w, target);
   if (target->from && w->targets[target->from - 1].emitted)
      cond = or_else(w->s, cond, agxc_spv_slot_read(w->s, target->from_slot));
   return cond;
}

static struct agxc_spv_end emit_target(struct switch_state *w, struct agxc_spv_target *target)
{
   struct agxc_spv *s = w->s;
   struct agxc_ref cond = w->dead ? agxc_imm(0, 1) : condition(w, target);
   if (cond.kind == AGXC_IMM && !cond.imm)
      return (struct agxc_spv_end){0};
   target->emitted = true;
   if (cond.kind == AGXC_IMM) {
      struct agxc_spv_end always = agxc_spv_emit_arm(s, w->block, target->block, w->merge, true);
      w->dead = !always.falls && !always.exits;
      return always;
   }
   struct agxc_spv_arms arms = agxc_spv_begin_then(s, cond);
   if (target->from) /* falling in has set it */
      agxc_spv_slot_write(s, w->construct->flag_slot, agxc_imm(0, 1));
   struct agxc_spv_end end = agxc_spv_emit_arm(s, w->block, target->block, w->merge, true);
   agxc_spv_begin_else(s, &arms);
   agxc_spv_end_if(s, &arms);
   return end;
}

/* Every edge is taken before the first branch: a target's phis are its own. */
static bool take_edges(struct switch_state *w)
{
   bool to_merge = default_block(w) == w->merge;
   for (uint32_t i = 0; i < w->literals; i++)
      to_merge |= literal_block(w, i) == w->merge;
   if (to_merge)
      agxc_spv_write_phis(w->s, w->block, w->merge);
   for (uint32_t i = 0; i < w->count; i++) {
      agxc_spv_write_phis(w->s, w->block, w->targets[i].block);
      w->targets[i].from_slot = agxc_spv_flag_new(w->s);
   }
   return to_merge;
}

static struct agxc_spv_end emit_targets(struct switch_state *w)
{
   struct agxc_spv_end all = {.falls = take_edges(w)};
   uint32_t done = 0;
   for (uint32_t i = 0; i < w->count; i++) {
      if (w->targets[i].from)
         continue;
      for (uint32_t next = i + 1; next; next = w->targets[next - 1].to) {
         struct agxc_spv_end end = emit_target(w, &w->targets[next - 1]);
         all.falls |= end.falls;
         all.exits = agxc_spv_join_exits(w->s, all.exits, end.exits);
         done++;
      }
   }
   if (done != w->count)
      agxc_spv_invalid(w->s, "unstructured switch: targets fall through in a circle");
   return all;
}

struct agxc_spv_end agxc_spv_emit_switch(struct agxc_spv *s, struct agxc_spv_block *block,
                                         const struct agxc_spv_instr *in,
                                         struct agxc_spv_block *merge)
{
   struct switch_state w = {.s = s, .block = block, .merge = merge, .in = in};
   w.selector = agxc_spv_scalar(s, agxc_spv_operand(s, in, 0), AGXC_SPV_INT);
   w.literal_words = w.selector.bits == 64 ? 2 : 1;
   if ((agxc_spv_operand_count(in) - 2) % (w.literal_words + 1))
      agxc_spv_invalid(s, "literal without a target");
   w.literals = (agxc_spv_operand_count(in) - 2) / (w.literal_words + 1);
   struct agxc_spv_construct *around = merge->merge_of;
   struct agxc_spv_construct *c = agxc_spv_push(s, AGXC_SPV_SWITCH, true);
   w.construct = c;
   w.targets = c->targets = AGX_ARENA_ARRAY(s->arena, struct agxc_spv_target, w.literals + 1);
   c->merge = merge;
   merge->merge_of = c;
   w.next_literal = AGX_ARENA_ARRAY(s->arena, uint32_t, w.literals + 1);
   for (uint32_t i = 0; i < w.literals; i++)
      add_target(&w, literal_block(&w, i));
   /* Last, so that the selector need not live through what is often the longest target. */
   add_target(&w, default_block(&w));
   for (uint32_t i = w.literals; i-- > 0;)
      add_literal(&w, i);
   find_falls(&w);
   struct agxc_spv_end all = emit_targets(&w);
   agxc_spv_pop(s);
   merge->merge_of = around;
   if (!all.exits || all.exits->to != c)
      return all;
   return (struct agxc_spv_end){.falls = true, .exits = all.exits->outer};
}
