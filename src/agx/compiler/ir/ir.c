/* SPDX-License-Identifier: MIT
 *
 * Objects of the IR: values, instructions, nodes, the numbering of the control-flow
 * graph, and uniform slots.
 */
#include "agx/compiler/ir/ir.h"
#include "agx/compiler/ir/machine_operand.h"

#include <stdio.h>

enum {
   S = AGXC_SIDE_EFFECT,
   R = AGXC_READS_MEMORY,
   T = AGXC_TERMINATOR,
   X = AGXC_CROSS_LANE,
};

#include "agx/compiler/ir/op_table.inc"

const struct agxc_op_info *agxc_op_info(enum agxc_op op)
{
   agx_assert(op < AGXC_OP_ISA);
   return &infos[op];
}

const struct agx_isa_info *agxc_isa_info(const struct agxc_instr *instr)
{
   static const struct agx_isa_info nothing;
   return agxc_is_machine(instr) ? agx_isa_info(agxc_opcode(instr)) : &nothing;
}

/* What isa.def says of the opcode. Everything else is a pure function of its operands. */
static unsigned machine_flags(enum agx_isa_op opcode)
{
   const struct agx_isa_info *info = agx_isa_info(opcode);
   unsigned flags = info->reads ? R : 0;
   if (info->writes || info->is_fence || info->has_effect)
      flags = S;
   return flags | (info->ends_block ? T : 0u) | (info->crosses_lanes ? X : 0u);
}

/* Source: docs/hw/machine.md, section 11: 56 to 60 and 63 follow the execution mask. */
static bool depends_on_mask(int64_t sr)
{
   return (sr >= AGX_ISA_SR_ACTIVE_THREAD_INDEX_IN_QUADGROUP && sr <= 60) || sr == 63;
}

unsigned agxc_flags(const struct agxc_instr *instr)
{
   if (!agxc_is_machine(instr))
      return infos[instr->op].flags;
   if (agxc_has_opcode(instr, AGX_ISA_OP_MFSR))
      return depends_on_mask(agxc_machine_sr(instr)->imm) ? X : 0;
   return machine_flags(agxc_opcode(instr));
}

bool agxc_reads_constant(const struct agxc_instr *instr)
{
   bool loads = instr->op == AGXC_OP_LOAD_BUFFER || instr->op == AGXC_OP_LOAD_GLOBAL;
   return loads && agxc_imm_access(instr) & AGXC_ACCESS_CONST;
}

bool agxc_is_pure(const struct agxc_instr *instr)
{
   return instr->dest_count && instr->op != AGXC_OP_PHI &&
          !(agxc_flags(instr) & ~(unsigned)AGXC_COMMUTATIVE);
}

bool agxc_is_arithmetic(const struct agxc_instr *instr)
{
   bool is_image = instr->op >= AGXC_OP_IMAGE_LOAD && instr->op <= AGXC_OP_IMAGE_INFO;
   return agxc_is_pure(instr) && !is_image;
}

void agxc_leave(struct agxc_shader *shader, agx_status status)
{
   shader->status = status;
   if (shader->main)
      shader->main->status = status;
   longjmp(*shader->arena->exhausted, 1);
}

struct agxc_shader *agxc_shader_create(struct agx_arena *arena, const struct agxc_options *options)
{
   struct agxc_shader *shader = AGX_ARENA_NEW(arena, struct agxc_shader);
   shader->arena = arena;
   shader->options = options;
   shader->chip = options->chip;
   shader->most_nesting = AGXC_SHALLOW_NESTING;
   agx_list_init(&shader->body);
   agxc_node_append(&shader->body, NULL, &agxc_block_new(shader)->node);
   return shader;
}

struct agxc_value *agxc_value_new(struct agxc_shader *shader, unsigned bits, unsigned count)
{
   if (shader->value_count == shader->value_capacity) {
      uint32_t capacity = shader->value_capacity ? shader->value_capacity * 2 : 256;
      shader->values = agx_arena_grow(shader->arena, shader->values, shader->value_count, capacity,
                                      sizeof(*shader->values));
      shader->value_capacity = capacity;
   }
   struct agxc_value *value = AGX_ARENA_NEW(shader->arena, struct agxc_value);
   value->id = shader->value_count;
   value->bits = (uint8_t)bits;
   value->count = (uint8_t)count;
   shader->values[shader->value_count++] = value;
   return value;
}

/* ---- control flow ----------------------------------------------------- */

struct agxc_block *agxc_block_new(struct agxc_shader *shader)
{
   struct agxc_block *block = AGX_ARENA_NEW(shader->arena, struct agxc_block);
   block->node.kind = AGXC_NODE_BLOCK;
   agx_list_init(&block->instrs);
   return block;
}

struct agxc_if *agxc_if_new(struct agxc_shader *shader)
{
   struct agxc_if *branch = AGX_ARENA_NEW(shader->arena, struct agxc_if);
   branch->node.kind = AGXC_NODE_IF;
   agx_list_init(&branch->then_list);
   agx_list_init(&branch->else_list);
   return branch;
}

struct agxc_loop *agxc_loop_new(struct agxc_shader *shader)
{
   struct agxc_loop *loop = AGX_ARENA_NEW(shader->arena, struct agxc_loop);
   loop->node.kind = AGXC_NODE_LOOP;
   agx_list_init(&loop->body);
   agx_list_init(&loop->continuing);
   return loop;
}

void agxc_node_append(struct agx_link *list, struct agxc_node *parent, struct agxc_node *node)
{
   agx_list_append(list, &node->link);
   node->parent = parent;
   node->list = list;
}

void agxc_node_insert_before(struct agxc_node *at, struct agxc_node *node)
{
   agx_list_insert_before(&at->link, &node->link);
   node->parent = at->parent;
   node->list = at->list;
}

struct agxc_block *agxc_block_append(struct agxc_shader *shader, struct agx_link *list,
                                     struct agxc_node *parent)
{
   struct agxc_block *block = agxc_block_new(shader);
   agxc_node_append(list, parent, &block->node);
   return block;
}

static struct agxc_block *as_block(struct agx_link *link)
{
   return agxc_as_block(agx_container_of(link, struct agxc_node, link));
}

struct agxc_block *agxc_first_block(const struct agx_link *list)
{
   return as_block(list->next);
}

struct agxc_block *agxc_last_block(const struct agx_link *list)
{
   return as_block(list->prev);
}

/* ---- instructions ----------------------------------------------------- */

struct agxc_instr *agxc_instr_new_n(struct agxc_shader *shader, unsigned op, unsigned dests,
                                    unsigned srcs)
{
   unsigned rest = 0;
   if (op < AGXC_OP_ISA) {
      rest = (unsigned)infos[op].imms;
   } else {
      const struct agx_isa_info *info = agx_isa_info((enum agx_isa_op)(op - AGXC_OP_ISA));
      rest = info->operand_count - dests - srcs;
   }
   struct agxc_instr *instr = AGX_ARENA_NEW(shader->arena, struct agxc_instr);
   instr->op = (uint16_t)op;
   instr->dest_count = (uint16_t)dests;
   instr->src_count = (uint16_t)srcs;
   instr->operand_count = (uint16_t)(dests + srcs + rest);
   instr->operand = AGX_ARENA_ARRAY(shader->arena, struct agxc_ref, instr->operand_count);
   agx_list_init(&instr->link);
   for (unsigned i = dests + srcs; i < instr->operand_count; i++)
      instr->operand[i] = agxc_imm(0, 64);
   return instr;
}

struct agxc_instr *agxc_instr_new(struct agxc_shader *shader, unsigned op)
{
   unsigned dests = 0, srcs = 0;
   if (op < AGXC_OP_ISA) {
      agx_assert(infos[op].dests >= 0 && infos[op].srcs >= 0);
      return agxc_instr_new_n(shader, op, (unsigned)infos[op].dests, (unsigned)infos[op].srcs);
   }
   const struct agx_isa_info *info = agx_isa_info((enum agx_isa_op)(op - AGXC_OP_ISA));
   for (unsigned i = 0; i < info->operand_count; i++) {
      dests += info->operand[i].role == AGX_ISA_ROLE_DST;
      srcs += info->operand[i].role == AGX_ISA_ROLE_SRC;
   }
   return agxc_instr_new_n(shader, op, dests, srcs);
}

void agxc_instr_remove(struct agxc_instr *instr)
{
   agx_list_remove(&instr->link);
   instr->block = NULL;
}

void agxc_become_mov(struct agxc_shader *shader, struct agxc_instr *instr, struct agxc_ref source)
{
   struct agxc_ref dest = instr->operand[0];
   agx_assert(instr->dest_count == 1);
   instr->op = AGXC_OP_MOV;
   instr->flags = 0;
   instr->src_count = 1;
   instr->operand_count = 2;
   instr->operand = AGX_ARENA_ARRAY(shader->arena, struct agxc_ref, 2);
   instr->operand[0] = dest;
   instr->operand[1] = source;
}

struct agxc_instr *agxc_terminator(const struct agxc_block *block)
{
   if (agx_list_empty(&block->instrs))
      return NULL;
   struct agxc_instr *last = agx_container_of(block->instrs.prev, struct agxc_instr, link);
   return agxc_flags(last) & AGXC_TERMINATOR ? last : NULL;
}

/* ---- numbering -------------------------------------------------------- */

static void number_list(struct agxc_shader *shader, struct agx_link *list, uint32_t loop_depth,
                        struct agxc_loop *loop);

static void number_block(struct agxc_shader *shader, struct agxc_block *block, uint32_t loop_depth,
                         struct agxc_loop *loop)
{
   block->index = shader->block_count;
   block->loop_depth = loop_depth;
   block->loop = loop;
   block->pred_count = 0;
   block->succs[0] = block->succs[1] = NULL;
   if (shader->block_count == shader->block_capacity) {
      uint32_t capacity = AGX_MAX(16u, 2 * shader->block_count);
      shader->blocks = agx_arena_grow(shader->arena, shader->blocks, shader->block_count, capacity,
                                      sizeof(struct agxc_block *));
      shader->block_capacity = capacity;
   }
   shader->blocks[shader->block_count++] = block;
   agxc_foreach_instr (instr, block) {
      instr->block = block;
      instr->index = shader->instr_count++;
   }
}

static void number_node(struct agxc_shader *shader, struct agxc_node *node, uint32_t loop_depth,
                        struct agxc_loop *loop)
{
   if (node->kind == AGXC_NODE_BLOCK) {
      number_block(shader, agx_container_of(node, struct agxc_block, node), loop_depth, loop);
   } else if (node->kind == AGXC_NODE_IF) {
      struct agxc_if *branch = agx_container_of(node, struct agxc_if, node);
      number_list(shader, &branch->then_list, loop_depth, loop);
      number_list(shader, &branch->else_list, loop_depth, loop);
   } else {
      struct agxc_loop *inner = agx_container_of(node, struct agxc_loop, node);
      number_list(shader, &inner->body, loop_depth + 1, inner);
      number_list(shader, &inner->continuing, loop_depth + 1, inner);
   }
}

static void number_list(struct agxc_shader *shader, struct agx_link *list, uint32_t loop_depth,
                        struct agxc_loop *loop)
{
   agxc_foreach_node (node, list)
      number_node(shader, node, loop_depth, loop);
}

struct agxc_block *agxc_block_before(const struct agxc_node *node)
{
   return as_block(node->link.prev);
}

struct agxc_block *agxc_block_after(const struct agxc_node *node)
{
   return as_block(node->link.next);
}

/* Where control goes at the end of a list that is not the shader's body. */
static struct agxc_block *after_list(const struct agxc_node *parent, const struct agx_link *list)
{
   if (parent->kind == AGXC_NODE_IF)
      return agxc_block_after(parent);
   struct agxc_loop *loop = agx_container_of(parent, struct agxc_loop, node);
   return agxc_first_block(list == &loop->body ? &loop->continuing : &loop->body);
}

static void link_succs(struct agxc_block *block)
{
   struct agxc_instr *last = agxc_terminator(block);
   struct agxc_loop *loop = block->loop;
   if (last && (last->op == AGXC_OP_RETURN || agxc_has_opcode(last, AGX_ISA_OP_STOP)))
      return;
   if (last && last->op == AGXC_OP_BREAK && loop) {
      block->succs[0] = agxc_block_after(&loop->node);
      return;
   }
   if (last && last->op == AGXC_OP_CONTINUE && loop) {
      block->succs[0] = agxc_first_block(&loop->continuing);
      return;
   }
   if (block->node.link.next == block->node.list) {
      if (block->node.parent)
         block->succs[0] = after_list(block->node.parent, block->node.list);
      return;
   }
   struct agxc_node *next = agx_container_of(block->node.link.next, struct agxc_node, link);
   if (next->kind == AGXC_NODE_IF) {
      struct agxc_if *branch = agx_container_of(next, struct agxc_if, node);
      block->succs[0] = agxc_first_block(&branch->then_list);
      block->succs[1] = agxc_first_block(&branch->else_list);
   } else {
      struct agxc_loop *inner = agx_container_of(next, struct agxc_loop, node);
      block->succs[0] = agxc_first_block(&inner->body);
   }
}

/* In one walk, since control goes back only to loops that it has come through: what none of the
 * blocks in front of it goes to is never reached, and goes nowhere. */
static uint32_t link_reachable(struct agxc_shader *shader)
{
   uint32_t edges = 0;
   agxc_foreach_block (block, shader) {
      if (block->index > 0 && block->pred_count == 0)
         continue;
      link_succs(block);
      for (unsigned i = 0; i < 2; i++) {
         if (!block->succs[i])
            continue;
         block->succs[i]->pred_count++;
         edges++;
      }
   }
   return edges;
}

static void link_preds(struct agxc_shader *shader, uint32_t edges)
{
   struct agxc_block **preds = AGX_ARENA_ARRAY(shader->arena, struct agxc_block *, edges);
   agxc_foreach_block (block, shader) {
      block->preds = preds;
      preds += block->pred_count;
      block->pred_count = 0;
   }
   agxc_foreach_block (block, shader)
      for (unsigned i = 0; i < 2; i++)
         if (block->succs[i])
            block->succs[i]->preds[block->succs[i]->pred_count++] = block;
}

void agxc_index(struct agxc_shader *shader)
{
   /* Passes hold on to the array that they had. */
   shader->block_capacity = shader->block_count;
   shader->blocks = AGX_ARENA_ARRAY(shader->arena, struct agxc_block *, shader->block_capacity);
   shader->block_count = shader->instr_count = 0;
   number_list(shader, &shader->body, 0, NULL);
   link_preds(shader, link_reachable(shader));
}

/* ---- uniforms --------------------------------------------------------- */

/* Source: docs/hw/machine.md, section 3: memory bases reach the first 256 halves only. */
#define BASE_HALVES 256

uint32_t agxc_scratch_alloc(struct agxc_shader *shader, uint64_t bytes)
{
   uint32_t at = (uint32_t)agx_align_up(shader->scratch_B, 4);
   if (bytes > AGX_PROGRAM_MAX_SCRATCH_B - at)
      agxc_fail(shader, AGX_RESOURCE_EXHAUSTED,
                "%s: scratch memory of %llu bytes on top of %u; a thread may have %u", shader->name,
                (unsigned long long)bytes, at, AGX_PROGRAM_MAX_SCRATCH_B);
   shader->scratch_B = at + (uint32_t)bytes;
   return at;
}

static uint32_t take_halves(struct agxc_shader *shader, uint32_t halves)
{
   uint32_t start = (uint32_t)agx_align_up(shader->uniform_halves, AGX_MIN(halves, 2));
   if (start + halves > AGX_UNIFORM_HALVES)
      agxc_fail(shader, AGX_RESOURCE_EXHAUSTED, "%s: uniform registers: more than %u halves",
                shader->name, AGX_UNIFORM_HALVES);
   shader->uniform_halves = start + halves;
   return start;
}

/* Source: docs/hw/machine.md, 15.4: a heap's base is named by a multiple of four halves, of 5 bits.
 */
static uint32_t take_heap(struct agxc_shader *shader)
{
   shader->uniform_halves = (uint32_t)agx_align_up(shader->uniform_halves, 4);
   uint32_t start = take_halves(shader, 4);
   if (start > AGX_HEAP_LAST_HALF)
      agxc_fail(shader, AGX_RESOURCE_EXHAUSTED,
                "%s: uniform registers: more than %u arrays of images", shader->name,
                AGX_HEAP_LAST_HALF / 4 + 1);
   return start;
}

const struct agx_program_uniform *agxc_slot_at(const struct agxc_shader *shader, uint32_t half)
{
   for (uint32_t i = 0; i < shader->uniform_count; i++)
      if (shader->uniforms[i].start == half)
         return &shader->uniforms[i];
   return NULL;
}

struct agxc_ref agxc_uniform_slot(struct agxc_shader *shader, enum agx_uniform_kind kind,
                                  uint32_t index, uint64_t value, unsigned bits)
{
   shader = agxc_uniform_owner(shader);
   uint32_t halves = AGX_MAX(bits / 16, 1);
   for (uint32_t i = 0; i < shader->uniform_count; i++) {
      const struct agx_program_uniform *slot = &shader->uniforms[i];
      if (slot->kind == (uint32_t)kind && slot->index == index && slot->value == value &&
          slot->halves == halves)
         return agxc_uniform(slot->start, bits, 1);
   }
   if (shader->uniform_count == AGX_PROGRAM_MAX_UNIFORMS)
      agxc_fail(shader, AGX_RESOURCE_EXHAUSTED, "%s: uniform registers: more than %u slots",
                shader->name, AGX_PROGRAM_MAX_UNIFORMS);
   uint32_t start = kind == AGX_UNIFORM_HEAP ? take_heap(shader) : take_halves(shader, halves);
   bool is_address = kind == AGX_UNIFORM_BUFFER_ADDRESS || kind == AGX_UNIFORM_BUFFER_GUARD ||
                     (kind == AGX_UNIFORM_IMAGE && bits == 64);
   if (is_address && start + halves > BASE_HALVES)
      agxc_fail(shader, AGX_RESOURCE_EXHAUSTED,
                "%s: uniform registers: the address of binding %u would lie beyond half %u",
                shader->name, index, BASE_HALVES);
   shader->uniforms[shader->uniform_count++] = (struct agx_program_uniform){
      .kind = kind, .start = start, .halves = halves, .index = index, .value = value};
   return agxc_uniform(start, bits, 1);
}

uint32_t agxc_state_slot(struct agxc_shader *shader, enum agx_state_kind kind, uint32_t binding,
                         uint32_t element)
{
   shader = agxc_uniform_owner(shader);
   bool is_texture = agx_state_is_texture(kind);
   uint32_t limit = is_texture ? AGX_PROGRAM_MAX_TEXTURES : AGX_PROGRAM_MAX_SAMPLERS, slot = 0;
   for (uint32_t i = 0; i < shader->state_count; i++) {
      const struct agx_program_state *state = &shader->states[i];
      if (state->kind == (uint32_t)kind && state->index == binding && state->element == element)
         return slot;
      slot += agx_state_is_texture(state->kind) == is_texture;
   }
   if (slot == limit)
      agxc_fail(shader, AGX_RESOURCE_EXHAUSTED, "%s: more than %u %s state registers", shader->name,
                limit, is_texture ? "texture" : "sampler");
   shader->states[shader->state_count++] =
      (struct agx_program_state){.kind = kind, .index = binding, .element = element};
   return slot;
}

struct agxc_ref agxc_uniform_result(struct agxc_shader *shader, unsigned bits)
{
   return agxc_uniform(take_halves(shader, AGX_MAX(bits / 16, 1)), bits, 1);
}

bool agxc_is_of_dispatch(const struct agxc_ref *condition)
{
   if (condition->kind != AGXC_VALUE)
      return true;
   agxc_foreach_src (src, condition->value->def)
      if (src->kind == AGXC_VALUE)
         return false;
   return condition->value->def->src_count > 0;
}
