/* SPDX-License-Identifier: MIT
 *
 * Branches that leave a region. Loops are left by BREAK and CONTINUE. Leaving a switch,
 * or a called function, early sets a flag: what follows inside is then skipped by an if
 * on that flag, and a loop in between is left by BREAK.
 */
#include "agx/compiler/spirv_flow.h"

/* ---- jumps ------------------------------------------------------------- */

struct agxc_spv_end agxc_spv_terminate(struct agxc_spv *s, enum agxc_op op)
{
   agxc_spv_emit(s, op, 0, 0, 0, NULL, 0, NULL);
   return (struct agxc_spv_end){0};
}

struct agxc_spv_construct *agxc_spv_innermost_loop(struct agxc_spv *s)
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
         return agxc_spv_terminate(s, AGXC_OP_BREAK);
      }
   return (struct agxc_spv_end){.exits = target->bit};
}

enum agxc_spv_jump_kind agxc_spv_classify(struct agxc_spv *s, struct agxc_spv_block *to,
                                          struct agxc_spv_block *end,
                                          struct agxc_spv_construct **out_construct)
{
   *out_construct = NULL;
   if (to == end)
      return AGXC_SPV_JUMP_END;
   for (struct agxc_spv_construct *c = s->flow->top; c && c->kind != AGXC_SPV_CALL; c = c->outer) {
      *out_construct = c;
      if (c->kind == AGXC_SPV_LOOP) {
         if (to == c->merge)
            return AGXC_SPV_JUMP_BREAK;
         if (to == c->continues && !c->in_continuing)
            return AGXC_SPV_JUMP_CONTINUE;
         return AGXC_SPV_JUMP_ON; /* no branch goes further out than its loop */
      }
      if (c->kind == AGXC_SPV_SWITCH && to == c->merge)
         return AGXC_SPV_JUMP_LEAVE;
      if (c->kind == AGXC_SPV_SWITCH && to->case_of == c)
         return AGXC_SPV_JUMP_FALL;
   }
   return AGXC_SPV_JUMP_ON;
}

/* Takes the edge and leaves the region; kind is not AGXC_SPV_JUMP_ON. */
struct agxc_spv_end agxc_spv_jump(struct agxc_spv *s, struct agxc_spv_block *from,
                                  struct agxc_spv_block *to, enum agxc_spv_jump_kind kind,
                                  struct agxc_spv_construct *c)
{
   agxc_spv_take_edge(s, from, to);
   switch (kind) {
   case AGXC_SPV_JUMP_BREAK:
      c->broke = true;
      return agxc_spv_terminate(s, AGXC_OP_BREAK);
   case AGXC_SPV_JUMP_CONTINUE:
      c->continued = true;
      return agxc_spv_terminate(s, AGXC_OP_CONTINUE);
   case AGXC_SPV_JUMP_FALL:
      if (c->targets[to->case_index].emitted)
         agxc_spv_invalid(s, "unstructured switch: branch back to block %u", to->label);
      agxc_spv_slot_write(s, c->targets[to->case_index].from_slot, agxc_imm(1, 1));
      return agxc_spv_exit_to(s, c);
   case AGXC_SPV_JUMP_LEAVE:
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
   enum agxc_spv_jump_kind kind = edge_taken ? AGXC_SPV_JUMP_ON : agxc_spv_classify(s, to, end, &c);
   if (kind != AGXC_SPV_JUMP_ON)
      return agxc_spv_jump(s, from, to, kind, c);
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
uint64_t agxc_spv_break_onwards(struct agxc_spv *s, uint64_t exits, bool always)
{
   struct agxc_spv_construct *loop;
   uint64_t beyond = beyond_loop(s, exits, &loop);
   if (!beyond)
      return exits;
   loop->exits |= beyond;
   if (always && beyond == exits) {
      agxc_spv_terminate(s, AGXC_OP_BREAK);
      return 0;
   }
   struct agxc_if *branch = agxc_spv_begin_if(s, any_flag(s, beyond));
   struct agxc_spv_place_saved saved = agxc_spv_enter(s, &branch->then_list, &branch->node);
   agxc_spv_terminate(s, AGXC_OP_BREAK);
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
          agxc_spv_block_of(s, in.words[1]) == end && !agxc_spv_has_phis(s, end);
}

/* Goes on at block unless a flag is set. */
struct agxc_spv_end agxc_spv_emit_guarded(struct agxc_spv *s, struct agxc_spv_block *block,
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
