/* SPDX-License-Identifier: MIT
 *
 * Branches that leave a region. Loops are left by BREAK and CONTINUE. Leaving a switch,
 * or a called function, early sets a flag: what follows inside is then skipped by an if
 * on that flag, and a loop in between is left by BREAK.
 */
#include "agx/compiler/spirv/flow_impl.h"

/* ---- jumps ------------------------------------------------------------- */

struct agxc_spv_end agxc_spv_terminate(struct agxc_spv *s, enum agxc_op op)
{
   agxc_insert(&s->b, agxc_instr_new(s->shader, op));
   return (struct agxc_spv_end){0};
}

struct agxc_spv_loop_place agxc_spv_begin_loop(struct agxc_spv *s)
{
   struct agxc_spv_loop_place place = {.loop = agxc_loop_new(s->shader)};
   agxc_spv_count_nesting(s);
   agxc_node_append(s->flow->list, s->flow->parent, &place.loop->node);
   place.saved = agxc_spv_enter(s, &place.loop->body, &place.loop->node);
   return place;
}

void agxc_spv_end_loop(struct agxc_spv *s, struct agxc_spv_loop_place *place, struct agxc_ref done)
{
   struct agxc_spv_arms arms = agxc_spv_begin_then(s, done);
   agxc_spv_terminate(s, AGXC_OP_BREAK);
   agxc_spv_begin_else(s, &arms);
   agxc_spv_end_if(s, &arms);
   agxc_spv_leave_list(s, place->saved);
   agxc_spv_leave_list(s, agxc_spv_enter(s, &place->loop->continuing, &place->loop->node));
   s->flow->nesting--;
   agxc_spv_new_block(s);
}

struct agxc_spv_construct *agxc_spv_border(struct agxc_spv_construct *c)
{
   if (!c || !c->loop || !c->call)
      return c ? c->loop ? c->loop : c->call : NULL;
   return c->loop->depth > c->call->depth ? c->loop : c->call;
}

struct agxc_spv_end agxc_spv_exit_to(struct agxc_spv *s, struct agxc_spv_construct *target)
{
   struct agxc_spv_exits *exit = AGX_ARENA_NEW(s->arena, struct agxc_spv_exits);
   struct agxc_spv_construct *loop = s->flow->top->loop;
   exit->to = target;
   agxc_spv_slot_write(s, target->flag_slot, agxc_imm(1, 1));
   if (!loop || loop->depth < target->depth)
      return (struct agxc_spv_end){.exits = exit};
   loop->exits = agxc_spv_join_exits(s, loop->exits, exit);
   return agxc_spv_terminate(s, AGXC_OP_BREAK);
}

/* Whether c is around, inside of the innermost loop or call. */
static bool is_around(const struct agxc_spv_construct *c, const struct agxc_spv_construct *border)
{
   return c && c->active && (!border || c->depth > border->depth);
}

enum agxc_spv_jump_kind agxc_spv_classify(struct agxc_spv *s, struct agxc_spv_block *to,
                                          struct agxc_spv_block *end,
                                          struct agxc_spv_construct **out_construct)
{
   struct agxc_spv_construct *border = agxc_spv_border(s->flow->top);
   *out_construct = border;
   if (to == end)
      return AGXC_SPV_JUMP_END;
   if (is_around(to->merge_of, border)) {
      *out_construct = to->merge_of;
      return AGXC_SPV_JUMP_LEAVE;
   }
   if (is_around(to->case_of, border)) {
      *out_construct = to->case_of;
      return AGXC_SPV_JUMP_FALL;
   }
   if (!border || border->kind != AGXC_SPV_LOOP)
      return AGXC_SPV_JUMP_ON;
   if (to == border->merge)
      return AGXC_SPV_JUMP_BREAK;
   if (to == border->continues && !border->in_continuing)
      return AGXC_SPV_JUMP_CONTINUE;
   return AGXC_SPV_JUMP_ON;
}

/* Takes the edge and leaves the region; kind is not AGXC_SPV_JUMP_ON. */
struct agxc_spv_end agxc_spv_jump(struct agxc_spv *s, struct agxc_spv_block *from,
                                  struct agxc_spv_block *to, enum agxc_spv_jump_kind kind,
                                  struct agxc_spv_construct *c)
{
   agxc_spv_write_phis(s, from, to);
   switch (kind) {
   case AGXC_SPV_JUMP_BREAK:
      c->broke = true;
      return agxc_spv_terminate(s, AGXC_OP_BREAK);
   case AGXC_SPV_JUMP_CONTINUE:
      c->continued = true;
      return agxc_spv_terminate(s, AGXC_OP_CONTINUE);
   case AGXC_SPV_JUMP_FALL:
      if (c->targets[to->case_index].emitted || !c->targets[to->case_index].from)
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
      agxc_spv_write_phis(s, from, to);
   return agxc_spv_emit_region(s, to, end);
}

/* ---- flagged exits on their way ---------------------------------------- */

static struct agxc_ref any_flag(struct agxc_spv *s, const struct agxc_spv_exits *exits)
{
   struct agxc_ref any = agxc_spv_slot_read(s, exits->to->flag_slot);
   while ((exits = exits->outer)) {
      struct agxc_ref flag = agxc_spv_slot_read(s, exits->to->flag_slot);
      any = agxc_spv_build2(s, AGXC_OP_IOR, any, flag);
   }
   return any;
}

/* The exits of a that are deeper than depth, in front of tail. */
static const struct agxc_spv_exits *inner_exits(struct agxc_spv *s, const struct agxc_spv_exits *a,
                                                uint32_t depth, const struct agxc_spv_exits *tail)
{
   const struct agxc_spv_exits *first = tail, **last = &first;
   for (; a && a->to->depth > depth; a = a->outer) {
      struct agxc_spv_exits *copy = AGX_ARENA_NEW(s->arena, struct agxc_spv_exits);
      *copy = (struct agxc_spv_exits){a->to, tail};
      *last = copy;
      last = &copy->outer;
   }
   return first;
}

const struct agxc_spv_exits *agxc_spv_join_exits(struct agxc_spv *s, const struct agxc_spv_exits *a,
                                                 const struct agxc_spv_exits *b)
{
   for (; b; b = b->outer) {
      const struct agxc_spv_exits *outer = a;
      while (outer && outer->to->depth > b->to->depth)
         outer = outer->outer;
      if (outer && outer->to == b->to)
         continue;
      struct agxc_spv_exits *exit = AGX_ARENA_NEW(s->arena, struct agxc_spv_exits);
      *exit = (struct agxc_spv_exits){b->to, outer};
      a = inner_exits(s, a, b->to->depth, exit);
   }
   return a;
}

const struct agxc_spv_exits *agxc_spv_break_onwards(struct agxc_spv *s,
                                                    const struct agxc_spv_exits *exits, bool always)
{
   struct agxc_spv_construct *loop = s->flow->top ? s->flow->top->loop : NULL;
   const struct agxc_spv_exits *beyond = loop ? exits : NULL;
   while (beyond && beyond->to->depth > loop->depth)
      beyond = beyond->outer;
   if (!beyond)
      return exits;
   loop->exits = agxc_spv_join_exits(s, loop->exits, beyond);
   if (always && beyond == exits) {
      agxc_spv_terminate(s, AGXC_OP_BREAK);
      return NULL;
   }
   struct agxc_spv_arms arms = agxc_spv_begin_then(s, any_flag(s, beyond));
   agxc_spv_terminate(s, AGXC_OP_BREAK);
   agxc_spv_begin_else(s, &arms);
   agxc_spv_end_if(s, &arms);
   return inner_exits(s, exits, loop->depth, NULL);
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
                                          struct agxc_spv_block *end,
                                          const struct agxc_spv_exits *exits)
{
   if (is_empty(s, block, end)) {
      struct agxc_spv_end rest = agxc_spv_emit_region(s, block, end);
      rest.exits = agxc_spv_join_exits(s, rest.exits, exits);
      return rest;
   }
   struct agxc_spv_arms arms = agxc_spv_begin_then(s, any_flag(s, exits));
   agxc_spv_begin_else(s, &arms);
   struct agxc_spv_end rest = agxc_spv_emit_region(s, block, end);
   agxc_spv_end_if(s, &arms);
   rest.exits = agxc_spv_join_exits(s, rest.exits, exits);
   return rest;
}
