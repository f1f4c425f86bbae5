/* SPDX-License-Identifier: MIT
 *
 * Where emission stands in the tree of nodes, and edges between SPIR-V blocks. Each phi
 * has slots; taking an edge writes them, and the block that holds the phi reads them.
 */
#include "agx/compiler/spirv/flow_impl.h"

/* ---- lists ------------------------------------------------------------- */

void agxc_spv_count_nesting(struct agxc_spv *s)
{
   if (++s->flow->nesting <= s->shader->most_nesting)
      return;
   s->shader->is_too_deep = true;
   agxc_spv_leave(s, AGX_RESOURCE_EXHAUSTED, "control flow nested more than %u deep",
                  s->shader->most_nesting);
}

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
   flow->list = list;
   flow->parent = parent;
   s->region = AGX_ARENA_NEW(s->arena, struct agxc_spv_region);
   s->region->open = true;
   agxc_spv_new_block(s);
   return saved;
}

void agxc_spv_leave_list(struct agxc_spv *s, struct agxc_spv_place_saved saved)
{
   s->flow->list = saved.list;
   s->flow->parent = saved.parent;
   s->region->open = false;
   s->region = saved.region;
}

struct agxc_spv_arms agxc_spv_begin_then(struct agxc_spv *s, struct agxc_ref cond)
{
   struct agxc_if *branch = agxc_if_new(s->shader);
   agxc_build_branch(&s->b, cond);
   agxc_node_append(s->flow->list, s->flow->parent, &branch->node);
   return (struct agxc_spv_arms){branch, agxc_spv_enter(s, &branch->then_list, &branch->node)};
}

void agxc_spv_begin_else(struct agxc_spv *s, struct agxc_spv_arms *arms)
{
   agxc_spv_leave_list(s, arms->saved);
   arms->saved = agxc_spv_enter(s, &arms->branch->else_list, &arms->branch->node);
}

void agxc_spv_end_if(struct agxc_spv *s, struct agxc_spv_arms *arms)
{
   agxc_spv_leave_list(s, arms->saved);
   agxc_spv_new_block(s);
}

uint32_t agxc_spv_flag_new(struct agxc_spv *s)
{
   const uint8_t bits = 1;
   uint32_t slot = agxc_slots_new(s->ssa, 1, &bits);
   agxc_spv_slot_write(s, slot, agxc_imm(0, 1));
   return slot;
}

struct agxc_spv_construct *agxc_spv_push(struct agxc_spv *s, enum agxc_spv_construct_kind kind,
                                         bool flagged)
{
   struct agxc_spv_construct *c = AGX_ARENA_NEW(s->arena, struct agxc_spv_construct);
   struct agxc_spv_construct *outer = s->flow->top;
   c->kind = kind;
   c->outer = outer;
   c->depth = outer ? outer->depth + 1 : 1;
   c->loop = kind == AGXC_SPV_LOOP ? c : outer ? outer->loop : NULL;
   c->call = kind == AGXC_SPV_CALL ? c : outer ? outer->call : NULL;
   c->active = true;
   s->flow->top = c;
   if (flagged)
      c->flag_slot = agxc_spv_flag_new(s);
   return c;
}

void agxc_spv_pop(struct agxc_spv *s)
{
   s->flow->top->active = false;
   s->flow->top = s->flow->top->outer;
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
   uint32_t first = agxc_slots_new(s->ssa, 0, NULL);
   for (uint32_t at = block->first; next_phi(s, &at, &phi);) {
      struct agxc_spv_type *type = agxc_spv_type_of(s, phi.type_id);
      agxc_slots_new(s->ssa, type->scalars, agxc_spv_scalar_bits(s, type));
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

void agxc_spv_write_phis(struct agxc_spv *s, struct agxc_spv_block *from, struct agxc_spv_block *to)
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

bool agxc_spv_has_phis(struct agxc_spv *s, const struct agxc_spv_block *block)
{
   struct agxc_spv_instr in;
   uint32_t at = block->first;
   return next_phi(s, &at, &in);
}

void agxc_spv_emit_phis(struct agxc_spv *s, struct agxc_spv_block *block)
{
   struct agxc_spv_instr phi;
   uint32_t slot = agxc_spv_has_phis(s, block) ? phi_slots(s, block) : 0;
   for (uint32_t at = block->first; next_phi(s, &at, &phi);) {
      struct agxc_spv_type *type = agxc_spv_type_of(s, phi.type_id);
      struct agxc_ref *refs = agxc_spv_refs(s, type->scalars);
      for (uint32_t i = 0; i < type->scalars; i++)
         refs[i] = agxc_spv_slot_read(s, slot++);
      agxc_spv_define(s, &phi, refs);
   }
}
