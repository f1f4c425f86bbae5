/* SPDX-License-Identifier: MIT
 *
 * Structured control flow to the tree of ifs and loops, with calls inlined. A region
 * is emitted block by block from its entry to a known end (a merge block, a continue
 * target); every other target must belong to a construct around it, each block is
 * emitted once, and anything else is an error: structure is verified by following it.
 *
 * Loops are left by BREAK and CONTINUE. Leaving a switch, or a called function, early
 * sets a flag; what follows inside is then skipped by an if on that flag, and a loop in
 * between is left by BREAK.
 */
#include "agx/compiler/spirv_flow.h"

/* ---- lists ------------------------------------------------------------- */

void agxc_spv_new_block(struct agxc_spv *s)
{
   struct agxc_block *block = agxc_block_new(s->shader);
   agxc_node_append(s->flow->list, s->flow->parent, &block->node);
   s->b = agxc_at_end(s->shader, block);
}

struct agxc_spv_place_saved agxc_spv_enter(struct agxc_spv *s, struct agx_link *list,
                                           struct agxc_node *parent)
{
   struct agxc_spv_flow *flow = s->flow;
   struct agxc_spv_place_saved saved = {flow->list, flow->parent, s->region};
   if (++flow->nesting > AGXC_SPV_MAX_NESTING)
      agxc_spv_missing(s, "control flow nested more than %u deep", AGXC_SPV_MAX_NESTING);
   flow->list = list;
   flow->parent = parent;
   s->region = AGX_ARENA_NEW(s->arena, struct agxc_spv_region);
   s->region->open = true;
   agxc_spv_new_block(s);
   return saved;
}

void agxc_spv_leave_list(struct agxc_spv *s, struct agxc_spv_place_saved saved)
{
   s->flow->nesting--;
   s->flow->list = saved.list;
   s->flow->parent = saved.parent;
   s->region->open = false;
   s->region = saved.region;
}

struct agxc_if *agxc_spv_begin_if(struct agxc_spv *s, struct agxc_ref cond)
{
   struct agxc_if *branch = agxc_if_new(s->shader);
   agxc_spv_emit(s, AGXC_OP_BRANCH, 0, 0, 1, &cond, 0, NULL);
   agxc_node_append(s->flow->list, s->flow->parent, &branch->node);
   return branch;
}

void agxc_spv_push(struct agxc_spv *s, struct agxc_spv_construct *c,
                   enum agxc_spv_construct_kind kind, bool flagged)
{
   c->kind = kind;
   c->outer = s->flow->top;
   s->flow->top = c;
   if (!flagged)
      return;
   if (s->flow->flagged == 64)
      agxc_spv_missing(s, "switches and calls nested more than 64 deep");
   const uint8_t bits = 1;
   c->bit = 1ull << s->flow->flagged++;
   c->flag_slot = agxc_spv_slots_new(s, 1, &bits);
   agxc_spv_slot_write(s, c->flag_slot, agxc_imm(0, 1));
}

void agxc_spv_pop(struct agxc_spv *s, struct agxc_spv_construct *c)
{
   s->flow->top = c->outer;
   s->flow->flagged -= c->bit != 0;
}

/* ---- edges and phis ---------------------------------------------------- */

struct agxc_spv_block *agxc_spv_block_of(struct agxc_spv *s, uint32_t label)
{
   struct agxc_spv_id *id = agxc_spv_id(s, label);
   if (id->kind != AGXC_SPV_ID_LABEL)
      agxc_spv_invalid(s, "id %u is no label", label);
   return id->block;
}

static bool next_phi(struct agxc_spv *s, uint32_t *at, struct agxc_spv_instr *out)
{
   for (;;) {
      *out = agxc_spv_instr_at(s, *at);
      *at += out->length;
      if (out->opcode == SpvOpPhi)
         return true;
      if (!(agxc_spv_op_find(out->opcode)->flags & AGXC_SPV_NO_EFFECT))
         return false;
   }
}

/* The first slot of a block's phis in this instance of its function. */
static uint32_t phi_slots(struct agxc_spv *s, struct agxc_spv_block *block)
{
   struct agxc_spv_instr phi;
   if (block->phi_slots && block->phi_instance == s->instance)
      return block->phi_slots - 1;
   uint32_t first = agxc_spv_slots_new(s, 0, NULL);
   for (uint32_t at = block->first; next_phi(s, &at, &phi);) {
      struct agxc_spv_type *type = agxc_spv_type_of(s, phi.type_id);
      if (type->kind == AGXC_SPV_POINTER)
         agxc_spv_missing(s, "phi of pointers (capability VariablePointers)");
      agxc_spv_slots_new(s, type->scalars, agxc_spv_scalar_bits(s, type));
   }
   block->phi_slots = first + 1;
   block->phi_instance = s->instance;
   return first;
}

static uint32_t phi_source(struct agxc_spv *s, const struct agxc_spv_instr *phi, uint32_t parent)
{
   for (uint32_t i = 0; i + 1 < agxc_spv_operand_count(phi); i += 2)
      if (agxc_spv_operand(s, phi, i + 1) == parent)
         return agxc_spv_operand(s, phi, i);
   agxc_spv_invalid(s, "phi %u has no value for block %u", phi->id, parent);
}

void agxc_spv_take_edge(struct agxc_spv *s, struct agxc_spv_block *from, struct agxc_spv_block *to)
{
   struct agxc_spv_instr phi;
   if (to->function != from->function)
      agxc_spv_invalid(s, "branch into another function");
   uint32_t at = to->first;
   if (!next_phi(s, &at, &phi))
      return;
   uint32_t slot = phi_slots(s, to);
   for (at = to->first; next_phi(s, &at, &phi);) {
      struct agxc_spv_type *type = agxc_spv_type_of(s, phi.type_id);
      const struct agxc_ref *refs = agxc_spv_value_like(s, phi_source(s, &phi, from->label), type);
      for (uint32_t i = 0; i < type->scalars; i++)
         agxc_spv_slot_write(s, slot++, refs[i]);
   }
}

static bool has_phis(struct agxc_spv *s, const struct agxc_spv_block *block)
{
   struct agxc_spv_instr in;
   uint32_t at = block->first;
   return next_phi(s, &at, &in);
}

/* ---- straight code ----------------------------------------------------- */

static void emit_phis(struct agxc_spv *s, struct agxc_spv_block *block)
{
   struct agxc_spv_instr phi;
   uint32_t slot = has_phis(s, block) ? phi_slots(s, block) : 0;
   for (uint32_t at = block->first; next_phi(s, &at, &phi);) {
      struct agxc_spv_type *type = agxc_spv_type_of(s, phi.type_id);
      struct agxc_ref *refs = agxc_spv_refs(s, type->scalars);
      for (uint32_t i = 0; i < type->scalars; i++)
         refs[i] = agxc_spv_slot_read(s, slot++);
      agxc_spv_define(s, &phi, refs);
   }
}

static void emit_block(struct agxc_spv *s, struct agxc_spv_block *block)
{
   if (block->visited == s->instance)
      agxc_spv_invalid(s, "unstructured control flow: block %u is reached in two ways",
                       block->label);
   block->visited = s->instance;
   emit_phis(s, block);
   for (uint32_t at = block->first; at < block->end;) {
      struct agxc_spv_instr in = agxc_spv_instr_at(s, at);
      if (++s->emitted > AGXC_SPV_MAX_EMITTED)
         agxc_spv_leave(s, AGX_RESOURCE_EXHAUSTED, "more than %u instructions after inlining",
                        AGXC_SPV_MAX_EMITTED);
      const struct agxc_spv_op *row = agxc_spv_op_find(in.opcode);
      if (row->handler)
         row->handler(s, &in);
      at += in.length;
   }
}

/* ---- jumps ------------------------------------------------------------- */

static struct agxc_spv_end terminate(struct agxc_spv *s, enum agxc_op op)
{
   agxc_spv_emit(s, op, 0, 0, 0, NULL, 0, NULL);
   return (struct agxc_spv_end){0};
}

static struct agxc_spv_construct *innermost_loop(struct agxc_spv *s)
{
   struct agxc_spv_construct *c = s->flow->top;
   while (c && c->kind != AGXC_SPV_LOOP && c->kind != AGXC_SPV_CALL)
      c = c->outer;
   return c && c->kind == AGXC_SPV_LOOP ? c : NULL;
}

struct agxc_spv_end agxc_spv_exit_to(struct agxc_spv *s, struct agxc_spv_construct *target)
{
   agxc_spv_slot_write(s, target->flag_slot, agxc_imm(1, 1));
   for (struct agxc_spv_construct *c = s->flow->top; c != target; c = c->outer)
      if (c->kind == AGXC_SPV_LOOP) {
         c->exits |= target->bit;
         return terminate(s, AGXC_OP_BREAK);
      }
   return (struct agxc_spv_end){.exits = target->bit};
}

/* What a branch to a block means here. */
enum jump {
   JUMP_ON, /* to a block of this region */
   JUMP_END,
   JUMP_BREAK,
   JUMP_CONTINUE,
   JUMP_LEAVE, /* the innermost switch */
   JUMP_FALL,  /* to another target of the innermost switch */
};

static enum jump classify(struct agxc_spv *s, struct agxc_spv_block *to, struct agxc_spv_block *end,
                          struct agxc_spv_construct **out_construct)
{
   *out_construct = NULL;
   if (to == end)
      return JUMP_END;
   for (struct agxc_spv_construct *c = s->flow->top; c && c->kind != AGXC_SPV_CALL; c = c->outer) {
      *out_construct = c;
      if (c->kind == AGXC_SPV_LOOP) {
         if (to == c->merge)
            return JUMP_BREAK;
         if (to == c->continues && !c->in_continuing)
            return JUMP_CONTINUE;
         return JUMP_ON; /* no branch goes further out than its loop */
      }
      if (c->kind == AGXC_SPV_SWITCH && to == c->merge)
         return JUMP_LEAVE;
      if (c->kind == AGXC_SPV_SWITCH && to->case_of == c)
         return JUMP_FALL;
   }
   return JUMP_ON;
}

/* Takes the edge and leaves the region; kind is not JUMP_ON. */
static struct agxc_spv_end jump(struct agxc_spv *s, struct agxc_spv_block *from,
                                struct agxc_spv_block *to, enum jump kind,
                                struct agxc_spv_construct *c)
{
   agxc_spv_take_edge(s, from, to);
   switch (kind) {
   case JUMP_BREAK:
      c->broke = true;
      return terminate(s, AGXC_OP_BREAK);
   case JUMP_CONTINUE:
      c->continued = true;
      return terminate(s, AGXC_OP_CONTINUE);
   case JUMP_FALL:
      if (c->targets[to->case_index].emitted)
         agxc_spv_invalid(s, "unstructured switch: branch back to block %u", to->label);
      agxc_spv_slot_write(s, c->targets[to->case_index].from_slot, agxc_imm(1, 1));
      return agxc_spv_exit_to(s, c);
   case JUMP_LEAVE:
      return agxc_spv_exit_to(s, c);
   default:
      return (struct agxc_spv_end){.falls = true};
   }
}

struct agxc_spv_end agxc_spv_emit_arm(struct agxc_spv *s, struct agxc_spv_block *from,
                                      struct agxc_spv_block *to, struct agxc_spv_block *end,
                                      bool edge_taken)
{
   struct agxc_spv_construct *c;
   enum jump kind = edge_taken ? JUMP_ON : classify(s, to, end, &c);
   if (kind != JUMP_ON)
      return jump(s, from, to, kind, c);
   if (!edge_taken)
      agxc_spv_take_edge(s, from, to);
   return agxc_spv_emit_region(s, to, end);
}

/* ---- flagged exits on their way ---------------------------------------- */

static struct agxc_ref any_flag(struct agxc_spv *s, uint64_t exits)
{
   struct agxc_ref any = agxc_none();
   for (struct agxc_spv_construct *c = s->flow->top; c; c = c->outer)
      if (c->bit & exits) {
         struct agxc_ref flag = agxc_spv_slot_read(s, c->flag_slot);
         any = any.kind == AGXC_NONE ? flag : agxc_spv_build2(s, AGXC_OP_IOR, 1, any, flag);
      }
   return any;
}

/* Those of exits that lie outside of the innermost loop. */
static uint64_t beyond_loop(struct agxc_spv *s, uint64_t exits,
                            struct agxc_spv_construct **out_loop)
{
   uint64_t inside = 0;
   *out_loop = NULL;
   for (struct agxc_spv_construct *c = s->flow->top; c; c = c->outer) {
      inside |= c->bit;
      if (c->kind == AGXC_SPV_LOOP) {
         *out_loop = c;
         return exits & ~inside;
      }
   }
   return 0;
}

/* Sends on what must leave the loop around; returns the exits that remain. */
static uint64_t break_onwards(struct agxc_spv *s, uint64_t exits, bool always)
{
   struct agxc_spv_construct *loop;
   uint64_t beyond = beyond_loop(s, exits, &loop);
   if (!beyond)
      return exits;
   loop->exits |= beyond;
   if (always && beyond == exits) {
      terminate(s, AGXC_OP_BREAK);
      return 0;
   }
   struct agxc_if *branch = agxc_spv_begin_if(s, any_flag(s, beyond));
   struct agxc_spv_place_saved saved = agxc_spv_enter(s, &branch->then_list, &branch->node);
   terminate(s, AGXC_OP_BREAK);
   agxc_spv_leave_list(s, saved);
   saved = agxc_spv_enter(s, &branch->else_list, &branch->node);
   agxc_spv_leave_list(s, saved);
   agxc_spv_new_block(s);
   return exits & ~beyond;
}

/* True when running on from block to end does nothing. */
static bool is_empty(struct agxc_spv *s, const struct agxc_spv_block *block,
                     const struct agxc_spv_block *end)
{
   struct agxc_spv_instr in = agxc_spv_instr_at(s, block->first);
   return end && in.at == block->end && in.opcode == SpvOpBranch &&
          agxc_spv_block_of(s, in.words[1]) == end && !has_phis(s, end);
}

/* Goes on at block unless a flag is set. */
static struct agxc_spv_end emit_guarded(struct agxc_spv *s, struct agxc_spv_block *block,
                                        struct agxc_spv_block *end, uint64_t exits)
{
   if (is_empty(s, block, end)) {
      struct agxc_spv_end rest = agxc_spv_emit_region(s, block, end);
      rest.exits |= exits;
      return rest;
   }
   struct agxc_if *branch = agxc_spv_begin_if(s, any_flag(s, exits));
   struct agxc_spv_place_saved saved = agxc_spv_enter(s, &branch->then_list, &branch->node);
   agxc_spv_leave_list(s, saved);
   saved = agxc_spv_enter(s, &branch->else_list, &branch->node);
   struct agxc_spv_end rest = agxc_spv_emit_region(s, block, end);
   agxc_spv_leave_list(s, saved);
   agxc_spv_new_block(s);
   rest.exits |= exits;
   return rest;
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
   enum jump kind = classify(s, to, end, &c);
   if (kind != JUMP_ON)
      return (struct step){.end = jump(s, from, to, kind, c)};
   agxc_spv_take_edge(s, from, to);
   return (struct step){.next = to};
}

static struct agxc_spv_end emit_both(struct agxc_spv *s, struct agxc_spv_block *from,
                                     struct agxc_ref cond, struct agxc_spv_block *yes,
                                     struct agxc_spv_block *no, struct agxc_spv_block *end)
{
   struct agxc_if *branch = agxc_spv_begin_if(s, cond);
   struct agxc_spv_place_saved saved = agxc_spv_enter(s, &branch->then_list, &branch->node);
   struct agxc_spv_end a = agxc_spv_emit_arm(s, from, yes, end, false);
   agxc_spv_leave_list(s, saved);
   saved = agxc_spv_enter(s, &branch->else_list, &branch->node);
   struct agxc_spv_end b = agxc_spv_emit_arm(s, from, no, end, false);
   agxc_spv_leave_list(s, saved);
   agxc_spv_new_block(s);
   return (struct agxc_spv_end){.falls = a.falls || b.falls, .exits = a.exits | b.exits};
}

/* if (cond) break or continue, without a merge block: the rest needs no arm. */
static bool emit_jump_if(struct agxc_spv *s, struct agxc_spv_block *from, struct agxc_ref cond,
                         struct agxc_spv_block *to, bool when, struct agxc_spv_block *end)
{
   struct agxc_spv_construct *c, *loop = innermost_loop(s);
   enum jump kind = classify(s, to, end, &c);
   if (kind == JUMP_END && loop && to == loop->continues && !loop->in_continuing) {
      kind = JUMP_CONTINUE;
      c = loop;
   }
   if (kind != JUMP_BREAK && kind != JUMP_CONTINUE)
      return false;
   struct agxc_if *branch = agxc_spv_begin_if(s, cond);
   struct agxc_spv_place_saved saved = agxc_spv_enter(s, &branch->then_list, &branch->node);
   if (when)
      jump(s, from, to, kind, c);
   agxc_spv_leave_list(s, saved);
   saved = agxc_spv_enter(s, &branch->else_list, &branch->node);
   if (!when)
      jump(s, from, to, kind, c);
   agxc_spv_leave_list(s, saved);
   agxc_spv_new_block(s);
   return true;
}

static bool goes_on(struct agxc_spv *s, struct agxc_spv_block *to, struct agxc_spv_block *end)
{
   struct agxc_spv_construct *c;
   return classify(s, to, end, &c) == JUMP_ON;
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
      struct agxc_spv_construct *c = AGX_ARENA_NEW(s->arena, struct agxc_spv_construct);
      c->merge = merge;
      agxc_spv_push(s, c, AGXC_SPV_SELECTION, false);
      struct agxc_spv_end both = decided ? agxc_spv_emit_arm(s, block, taken, merge, false)
                                         : emit_both(s, block, cond, yes, no, merge);
      agxc_spv_pop(s, c);
      return (struct step){.next = both.falls ? merge : NULL, .end = {.exits = both.exits}};
   }
   if (decided)
      return emit_branch(s, block, taken, end);
   if (goes_on(s, no, end) && emit_jump_if(s, block, cond, yes, true, end)) {
      agxc_spv_take_edge(s, block, no);
      return (struct step){.next = no};
   }
   if (goes_on(s, yes, end) && emit_jump_if(s, block, cond, no, false, end)) {
      agxc_spv_take_edge(s, block, yes);
      return (struct step){.next = yes};
   }
   return (struct step){.end = emit_both(s, block, cond, yes, no, end)};
}

static struct agxc_spv_end emit_return(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_construct *c = s->flow->top;
   while (c && c->kind != AGXC_SPV_CALL)
      c = c->outer;
   if (in->opcode == SpvOpUnreachable)
      return (struct agxc_spv_end){0};
   if (!c) {
      if (in->opcode != SpvOpReturn)
         agxc_spv_invalid(s, "value returned from the entry point");
      return s->flow->parent ? terminate(s, AGXC_OP_RETURN) : (struct agxc_spv_end){0};
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

/* inside: block is the header of the loop whose body this is. */
static struct agxc_spv_end emit_from(struct agxc_spv *s, struct agxc_spv_block *block,
                                     struct agxc_spv_block *end, bool inside)
{
   for (;; inside = false) {
      struct step step = emit_step(s, block, end, inside);
      if (step.end.exits)
         step.end.exits = break_onwards(s, step.end.exits, !step.next && !step.end.falls);
      if (!step.next)
         return step.end;
      if (step.end.exits)
         return emit_guarded(s, step.next, end, step.end.exits);
      block = step.next;
   }
}

struct agxc_spv_end agxc_spv_emit_region(struct agxc_spv *s, struct agxc_spv_block *block,
                                         struct agxc_spv_block *end)
{
   return emit_from(s, block, end, false);
}

static struct step emit_loop(struct agxc_spv *s, struct agxc_spv_block *header,
                             const struct agxc_spv_instr *in)
{
   struct agxc_spv_construct *c = AGX_ARENA_NEW(s->arena, struct agxc_spv_construct);
   c->header = header;
   c->merge = agxc_spv_block_of(s, agxc_spv_operand(s, in, 0));
   c->continues = agxc_spv_block_of(s, agxc_spv_operand(s, in, 1));
   struct agxc_loop *loop = agxc_loop_new(s->shader);
   agxc_node_append(s->flow->list, s->flow->parent, &loop->node);
   agxc_spv_push(s, c, AGXC_SPV_LOOP, false);
   struct agxc_spv_place_saved saved = agxc_spv_enter(s, &loop->body, &loop->node);
   bool reached = emit_from(s, header, c->continues, true).falls || c->continued;
   agxc_spv_leave_list(s, saved);
   saved = agxc_spv_enter(s, &loop->continuing, &loop->node);
   c->in_continuing = true;
   if (reached && c->continues != header)
      agxc_spv_emit_region(s, c->continues, header);
   agxc_spv_leave_list(s, saved);
   agxc_spv_pop(s, c);
   agxc_spv_new_block(s);
   return (struct step){.next = c->broke ? c->merge : NULL, .end = {.exits = c->exits}};
}

/* ---- functions --------------------------------------------------------- */

static struct agxc_spv_function *function_of(struct agxc_spv *s, uint32_t id)
{
   struct agxc_spv_id *entry = agxc_spv_id(s, id);
   if (entry->kind != AGXC_SPV_ID_FUNCTION)
      agxc_spv_invalid(s, "id %u is no function", id);
   if (!entry->function->entry)
      agxc_spv_invalid(s, "function %u has no body", id);
   return entry->function;
}

/* Makes parameter i what the caller's argument is; the argument is read as the caller. */
static void pass_argument(struct agxc_spv *s, struct agxc_spv_function *function, uint32_t i,
                          uint32_t argument, uint32_t caller)
{
   uint32_t callee = s->instance;
   const struct agxc_spv_type *type = function->type->params[i];
   struct agxc_spv_instr param = {.id = function->params[i], .type_id = type->id};
   s->instance = caller;
   if (type->kind == AGXC_SPV_POINTER) {
      struct agxc_spv_pointer *p = agxc_spv_pointer_of(s, argument);
      s->instance = callee;
      if (p->type != type->elem)
         agxc_spv_invalid(s, "argument %u points to type %u", i, p->type->id);
      agxc_spv_define_pointer(s, &param, p);
   } else {
      struct agxc_ref *refs = agxc_spv_value_like(s, argument, type);
      s->instance = callee;
      agxc_spv_define(s, &param, refs);
   }
}

void agxc_spv_emit_call(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_function *function = function_of(s, agxc_spv_operand(s, in, 0));
   uint32_t count = agxc_spv_operand_count(in) - 1, caller = s->instance;
   if (function->active)
      agxc_spv_invalid(s, "recursive call of function %u", function->id);
   if (count != function->type->count || agxc_spv_type_of(s, in->type_id) != function->returns)
      agxc_spv_invalid(s, "call does not fit the type of function %u", function->id);
   if (++s->call_depth > AGXC_SPV_MAX_CALL_DEPTH)
      agxc_spv_missing(s, "calls nested more than %u deep", AGXC_SPV_MAX_CALL_DEPTH);
   s->instance = ++s->instance_count;
   for (uint32_t i = 0; i < count; i++)
      pass_argument(s, function, i, agxc_spv_operand(s, in, 1 + i), caller);
   struct agxc_spv_construct *c = AGX_ARENA_NEW(s->arena, struct agxc_spv_construct);
   c->header = function->entry;
   uint32_t scalars = function->returns->scalars;
   if (scalars)
      c->return_slot = agxc_spv_slots_new(s, scalars, agxc_spv_scalar_bits(s, function->returns));
   agxc_spv_push(s, c, AGXC_SPV_CALL, true);
   function->active = true;
   agxc_spv_emit_region(s, function->entry, NULL);
   function->active = false;
   agxc_spv_pop(s, c);
   s->instance = caller;
   s->call_depth--;
   s->now = *in;
   if (function->returns->kind == AGXC_SPV_VOID)
      return;
   struct agxc_ref *refs = agxc_spv_refs(s, scalars);
   for (uint32_t i = 0; i < scalars; i++)
      refs[i] = agxc_spv_slot_read(s, c->return_slot + i);
   agxc_spv_define(s, in, refs);
}

void agxc_spv_emit_entry(struct agxc_spv *s)
{
   struct agxc_spv_function *function = function_of(s, s->entry_function);
   if (function->returns->kind != AGXC_SPV_VOID || function->type->count != 0)
      agxc_spv_invalid(s, "entry point takes or returns something");
   s->flow = AGX_ARENA_NEW(s->arena, struct agxc_spv_flow);
   agxc_spv_ssa_begin(s);
   s->instance = ++s->instance_count;
   s->flow->list = &s->shader->body;
   s->b = agxc_at_end(s->shader, agxc_last_block(&s->shader->body));
   s->region = AGX_ARENA_NEW(s->arena, struct agxc_spv_region);
   s->region->open = true;
   agxc_spv_init_privates(s);
   function->active = true;
   agxc_spv_emit_region(s, function->entry, NULL);
   agxc_spv_ssa_finish(s);
}
