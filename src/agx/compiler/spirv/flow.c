/* SPDX-License-Identifier: MIT
 *
 * Structured control flow to the tree of ifs and loops. A region is emitted block by block from its
 * entry to a known end (a merge block, a continue target); every other target must belong to a
 * construct around it, each block is emitted once, and anything else is an error: structure is
 * verified by following it. call.c has the bodies of functions emitted. Control flow may nest as
 * deep as the hardware counts; the compiler gives modules of many levels a thread with a larger
 * stack (compile.c).
 */
#include "agx/compiler/spirv/flow_impl.h"

/* ---- blocks ------------------------------------------------------------ */

static void emit_block(struct agxc_spv *s, struct agxc_spv_block *block)
{
   if (block->visited == s->instance)
      agxc_spv_invalid(s, "unstructured control flow: block %u is reached in two ways",
                       block->label);
   block->visited = s->instance;
   s->shader->line = block->line;
   agxc_spv_emit_phis(s, block);
   for (uint32_t at = block->first; at < block->end;) {
      struct agxc_spv_instr in = agxc_spv_instr_at(s, at);
      if (++s->emitted > AGXC_SPV_MAX_EMITTED)
         agxc_spv_leave(s, AGX_RESOURCE_EXHAUSTED, "more than %u instructions after inlining",
                        AGXC_SPV_MAX_EMITTED);
      s->is_precise = in.id && agxc_spv_is_precise(s, in.id);
      if (s->line_count)
         agxc_spv_follow_line(s, &in);
      s->run_instruction(s, &in);
      at += in.length;
   }
}

/* ---- terminators ------------------------------------------------------- */

/* A terminator's outcome: the region goes on at next, or ends. */
struct step {
   struct agxc_spv_block *next;
   struct agxc_spv_end end;
};

static struct step emit_branch(struct agxc_spv *s, struct agxc_spv_block *from,
                               struct agxc_spv_block *to, struct agxc_spv_block *end)
{
   struct agxc_spv_construct *c;
   enum agxc_spv_jump_kind kind = agxc_spv_classify(s, to, end, &c);
   if (kind != AGXC_SPV_JUMP_ON)
      return (struct step){.end = agxc_spv_jump(s, from, to, kind, c)};
   agxc_spv_write_phis(s, from, to);
   return (struct step){.next = to};
}

static struct agxc_spv_end emit_both(struct agxc_spv *s, struct agxc_spv_block *from,
                                     struct agxc_ref cond, struct agxc_spv_block *yes,
                                     struct agxc_spv_block *no, struct agxc_spv_block *end)
{
   struct agxc_spv_arms arms = agxc_spv_begin_then(s, cond);
   struct agxc_spv_end a = agxc_spv_emit_arm(s, from, yes, end, false);
   agxc_spv_begin_else(s, &arms);
   struct agxc_spv_end b = agxc_spv_emit_arm(s, from, no, end, false);
   agxc_spv_end_if(s, &arms);
   return (struct agxc_spv_end){.falls = a.falls || b.falls,
                                .exits = agxc_spv_join_exits(s, a.exits, b.exits)};
}

/* if (cond) break or continue, without a merge block: the rest needs no arm. */
static bool emit_jump_if(struct agxc_spv *s, struct agxc_spv_block *from, struct agxc_ref cond,
                         struct agxc_spv_block *to, bool when, struct agxc_spv_block *end)
{
   struct agxc_spv_construct *c, *loop = agxc_spv_border(s->flow->top);
   enum agxc_spv_jump_kind kind = agxc_spv_classify(s, to, end, &c);
   if (kind == AGXC_SPV_JUMP_END && loop && loop->kind == AGXC_SPV_LOOP && to == loop->continues &&
       !loop->in_continuing) {
      kind = AGXC_SPV_JUMP_CONTINUE;
      c = loop;
   }
   if (kind != AGXC_SPV_JUMP_BREAK && kind != AGXC_SPV_JUMP_CONTINUE)
      return false;
   struct agxc_spv_arms arms = agxc_spv_begin_then(s, cond);
   if (when)
      agxc_spv_jump(s, from, to, kind, c);
   agxc_spv_begin_else(s, &arms);
   if (!when)
      agxc_spv_jump(s, from, to, kind, c);
   agxc_spv_end_if(s, &arms);
   return true;
}

static bool goes_on(struct agxc_spv *s, struct agxc_spv_block *to, struct agxc_spv_block *end)
{
   struct agxc_spv_construct *c;
   return agxc_spv_classify(s, to, end, &c) == AGXC_SPV_JUMP_ON;
}

/* ---- joins inside of selections ---------------------------------------- */

/* The block behind `block` of those that one after the other run in an arm: behind a whole
 * construct, or the only target that is none of an exit; else NULL. */
static struct agxc_spv_block *next_in_arm(struct agxc_spv *s, struct agxc_spv_block *block,
                                          struct agxc_spv_block *end)
{
   struct agxc_spv_instr in = agxc_spv_instr_at(s, block->merge ? block->merge : block->end);
   struct agxc_spv_block *next = NULL;
   uint32_t first = in.opcode == SpvOpBranchConditional ? 1 : 0, last = first;
   if (!block->merge && in.opcode != SpvOpBranch && in.opcode != SpvOpBranchConditional)
      return NULL;
   if (in.opcode == SpvOpBranchConditional)
      last = 2;
   for (uint32_t i = first; i <= last; i++) {
      struct agxc_spv_block *to = agxc_spv_block_of(s, agxc_spv_operand(s, &in, i));
      if (goes_on(s, to, end))
         next = next && next != to ? NULL : to;
   }
   return next;
}

/* The first block that both arms of a branch lead to before `end`, or NULL. */
static struct agxc_spv_block *find_join(struct agxc_spv *s, struct agxc_spv_block *yes,
                                        struct agxc_spv_block *no, struct agxc_spv_block *end)
{
   const struct agxc_spv_instr now = s->now;
   uint32_t mark = ++s->scan_mark;
   if (!goes_on(s, yes, end) || !goes_on(s, no, end))
      return NULL;
   for (; yes && yes->scanned != mark; yes = next_in_arm(s, yes, end))
      yes->scanned = mark;
   uint32_t seen = ++s->scan_mark;
   while (no && no->scanned != mark && no->scanned != seen) {
      no->scanned = seen;
      no = next_in_arm(s, no, end);
   }
   s->now = now;
   return no && no->scanned == mark ? no : NULL;
}

/* Both arms up to where they join, and from there on. */
static struct agxc_spv_end emit_joined(struct agxc_spv *s, struct agxc_spv_block *from,
                                       struct agxc_ref cond, struct agxc_spv_block *yes,
                                       struct agxc_spv_block *no, struct agxc_spv_block *join,
                                       struct agxc_spv_block *end)
{
   struct agxc_spv_end both = emit_both(s, from, cond, yes, no, join);
   if (!both.falls)
      return both;
   return both.exits ? agxc_spv_emit_guarded(s, join, end, both.exits)
                     : agxc_spv_emit_region(s, join, end);
}

/* A selection whose arms join inside of it: an arm that leaves it past the join sets a flag. */
static struct agxc_spv_end emit_selection(struct agxc_spv *s, struct agxc_spv_block *block,
                                          struct agxc_ref cond, struct agxc_spv_block *yes,
                                          struct agxc_spv_block *no, struct agxc_spv_block *merge)
{
   struct agxc_spv_block *join = find_join(s, yes, no, merge);
   struct agxc_spv_construct *c = agxc_spv_push(s, AGXC_SPV_SELECTION, join != NULL);
   struct agxc_spv_construct *around = merge->merge_of;
   struct agxc_spv_end all;
   c->merge = merge;
   if (join) {
      merge->merge_of = c;
      all = emit_joined(s, block, cond, yes, no, join, merge);
      merge->merge_of = around;
   } else {
      all = emit_both(s, block, cond, yes, no, merge);
   }
   agxc_spv_pop(s);
   if (all.exits && all.exits->to == c)
      all = (struct agxc_spv_end){.falls = true, .exits = all.exits->outer};
   return all;
}

static struct step emit_conditional(struct agxc_spv *s, struct agxc_spv_block *block,
                                    const struct agxc_spv_instr *in, struct agxc_spv_block *merge,
                                    struct agxc_spv_block *end)
{
   struct agxc_ref cond = agxc_spv_scalar(s, agxc_spv_operand(s, in, 0), AGXC_SPV_BOOL);
   struct agxc_spv_block *yes = agxc_spv_block_of(s, agxc_spv_operand(s, in, 1));
   struct agxc_spv_block *no = agxc_spv_block_of(s, agxc_spv_operand(s, in, 2));
   bool decided = cond.kind == AGXC_IMM || yes == no;
   struct agxc_spv_block *taken = cond.kind == AGXC_IMM && !cond.imm ? no : yes;
   if (merge) {
      struct agxc_spv_end both;
      if (decided) {
         agxc_spv_push(s, AGXC_SPV_SELECTION, false)->merge = merge;
         both = agxc_spv_emit_arm(s, block, taken, merge, false);
         agxc_spv_pop(s);
      } else {
         both = emit_selection(s, block, cond, yes, no, merge);
      }
      return (struct step){.next = both.falls ? merge : NULL, .end = {.exits = both.exits}};
   }
   if (decided)
      return emit_branch(s, block, taken, end);
   if (goes_on(s, no, end) && emit_jump_if(s, block, cond, yes, true, end)) {
      agxc_spv_write_phis(s, block, no);
      return (struct step){.next = no};
   }
   if (goes_on(s, yes, end) && emit_jump_if(s, block, cond, no, false, end)) {
      agxc_spv_write_phis(s, block, yes);
      return (struct step){.next = yes};
   }
   /* Without a merge instruction of its own only a loop's header may have two ways on. */
   struct agxc_spv_block *join = block->merge ? find_join(s, yes, no, end) : NULL;
   return (struct step){.end = join ? emit_joined(s, block, cond, yes, no, join, end)
                                    : emit_both(s, block, cond, yes, no, end)};
}

static struct agxc_spv_end emit_return(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_construct *c = s->flow->top ? s->flow->top->call : NULL;
   if (in->opcode == SpvOpUnreachable)
      return (struct agxc_spv_end){0};
   if (!c) {
      if (in->opcode != SpvOpReturn)
         agxc_spv_invalid(s, "value returned from the entry point");
      return s->flow->parent ? agxc_spv_terminate(s, AGXC_OP_RETURN) : (struct agxc_spv_end){0};
   }
   const struct agxc_spv_type *returns = c->header->function->returns;
   if ((in->opcode == SpvOpReturn) != (returns->kind == AGXC_SPV_VOID))
      agxc_spv_invalid(s, "return with or without a value");
   if (in->opcode == SpvOpReturnValue) {
      const struct agxc_ref *refs = agxc_spv_value_like(s, agxc_spv_operand(s, in, 0), returns);
      for (uint32_t i = 0; i < returns->scalars; i++)
         agxc_spv_slot_write(s, c->return_slot + i, refs[i]);
   }
   return agxc_spv_exit_to(s, c);
}

static struct step emit_terminator(struct agxc_spv *s, struct agxc_spv_block *block,
                                   struct agxc_spv_block *merge, struct agxc_spv_block *end)
{
   struct agxc_spv_instr in = agxc_spv_instr_at(s, block->end);
   switch (in.opcode) {
   case SpvOpBranch:
      return emit_branch(s, block, agxc_spv_block_of(s, agxc_spv_operand(s, &in, 0)), end);
   case SpvOpBranchConditional:
      return emit_conditional(s, block, &in, merge, end);
   case SpvOpSwitch: {
      if (!merge)
         agxc_spv_invalid(s, "switch without a merge block");
      struct agxc_spv_end all = agxc_spv_emit_switch(s, block, &in, merge);
      return (struct step){.next = all.falls ? merge : NULL, .end = {.exits = all.exits}};
   }
   default:
      return (struct step){.end = emit_return(s, &in)};
   }
}

/* ---- regions and loops ------------------------------------------------- */

static struct step emit_loop(struct agxc_spv *s, struct agxc_spv_block *header,
                             const struct agxc_spv_instr *in);

/* One block, or a whole loop, and what its end leads to. */
static struct step emit_step(struct agxc_spv *s, struct agxc_spv_block *block,
                             struct agxc_spv_block *end, bool inside)
{
   struct agxc_spv_block *merge = NULL;
   if (block->merge) {
      struct agxc_spv_instr in = agxc_spv_instr_at(s, block->merge);
      if (in.opcode == SpvOpLoopMerge && !inside)
         return emit_loop(s, block, &in);
      if (in.opcode == SpvOpSelectionMerge)
         merge = agxc_spv_block_of(s, agxc_spv_operand(s, &in, 0));
   }
   emit_block(s, block);
   return emit_terminator(s, block, merge, end);
}

static struct agxc_spv_end emit_steps(struct agxc_spv *s, struct agxc_spv_block *block,
                                      struct agxc_spv_block *end, bool inside)
{
   for (;; inside = false) {
      struct step step = emit_step(s, block, end, inside);
      if (step.end.exits)
         step.end.exits = agxc_spv_break_onwards(s, step.end.exits, !step.next && !step.end.falls);
      if (!step.next)
         return step.end;
      if (step.end.exits)
         return agxc_spv_emit_guarded(s, step.next, end, step.end.exits);
      block = step.next;
   }
}

/* inside: block is the header of the loop whose body this is. All recursion comes by here. */
static struct agxc_spv_end emit_from(struct agxc_spv *s, struct agxc_spv_block *block,
                                     struct agxc_spv_block *end, bool inside)
{
   agxc_spv_count_nesting(s);
   struct agxc_spv_end last = emit_steps(s, block, end, inside);
   s->flow->nesting--;
   return last;
}

struct agxc_spv_end agxc_spv_emit_region(struct agxc_spv *s, struct agxc_spv_block *block,
                                         struct agxc_spv_block *end)
{
   return emit_from(s, block, end, false);
}

static struct step emit_loop(struct agxc_spv *s, struct agxc_spv_block *header,
                             const struct agxc_spv_instr *in)
{
   struct agxc_spv_construct *c = agxc_spv_push(s, AGXC_SPV_LOOP, false);
   c->header = header;
   c->merge = agxc_spv_block_of(s, agxc_spv_operand(s, in, 0));
   c->continues = agxc_spv_block_of(s, agxc_spv_operand(s, in, 1));
   struct agxc_loop *loop = agxc_loop_new(s->shader);
   agxc_node_append(s->flow->list, s->flow->parent, &loop->node);
   struct agxc_spv_place_saved saved = agxc_spv_enter(s, &loop->body, &loop->node);
   bool reached = emit_from(s, header, c->continues, true).falls || c->continued;
   agxc_spv_leave_list(s, saved);
   saved = agxc_spv_enter(s, &loop->continuing, &loop->node);
   c->in_continuing = true;
   if (reached && c->continues != header)
      agxc_spv_emit_region(s, c->continues, header);
   agxc_spv_leave_list(s, saved);
   agxc_spv_pop(s);
   agxc_spv_new_block(s);
   return (struct step){.next = c->broke ? c->merge : NULL, .end = {.exits = c->exits}};
}
