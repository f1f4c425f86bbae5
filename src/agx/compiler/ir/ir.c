/* SPDX-License-Identifier: MIT
 *
 * Objects of the IR: values, instructions and nodes, and what tables say of an operation. Every
 * room of the compiler calls it.
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

bool agxc_is_movable(const struct agxc_instr *instr)
{
   return instr->dest_count && instr->op != AGXC_OP_PHI &&
          !(agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_TERMINATOR | AGXC_CROSS_LANE));
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

bool agxc_list_is_empty(const struct agx_link *list)
{
   return list->next->next == list && agx_list_empty(&agxc_first_block(list)->instrs);
}

struct agxc_block *agxc_last_block(const struct agx_link *list)
{
   return as_block(list->prev);
}

struct agxc_block *agxc_block_before(const struct agxc_node *node)
{
   return as_block(node->link.prev);
}

struct agxc_block *agxc_block_after(const struct agxc_node *node)
{
   return as_block(node->link.next);
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
   /* At least one, so that those behind the last can be pointed at. */
   instr->operand =
      AGX_ARENA_ARRAY(shader->arena, struct agxc_ref, AGX_MAX(instr->operand_count, 1));
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

const char *agxc_name_of(const struct agxc_instr *instr)
{
   return agxc_is_machine(instr) ? agx_isa_info(agxc_opcode(instr))->name
                                 : agxc_op_info(instr->op)->name;
}

uint32_t agxc_count_phis(const struct agxc_block *block)
{
   uint32_t count = 0;
   agxc_foreach_phi (phi, block)
      count++;
   return count;
}

struct agxc_instr *agxc_terminator(const struct agxc_block *block)
{
   if (agx_list_empty(&block->instrs))
      return NULL;
   struct agxc_instr *last = agx_container_of(block->instrs.prev, struct agxc_instr, link);
   return agxc_flags(last) & AGXC_TERMINATOR ? last : NULL;
}
