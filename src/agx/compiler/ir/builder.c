/* SPDX-License-Identifier: MIT
 *
 * Makes instructions and puts them where a builder stands. The front end and each pass that
 * replaces operations call these functions; builders of one operation each (ops.c) are made from
 * ir_op.def.
 */
#include "agx/compiler/ir/ir.h"

/* The line of the instruction behind the builder, or at the end of a block of the one before. */
static uint32_t neighbouring_line(const struct agxc_builder *b)
{
   if (b->before || agx_list_empty(&b->block->instrs))
      return b->before ? b->before->line : 0;
   return agx_container_of(b->block->instrs.prev, struct agxc_instr, link)->line;
}

static uint32_t choose_line(const struct agxc_builder *b)
{
   if (b->line || b->shader->line)
      return b->line ? b->line : b->shader->line;
   return neighbouring_line(b);
}

void agxc_insert(struct agxc_builder *b, struct agxc_instr *instr)
{
   if (b->shader->line_count && !instr->line)
      instr->line = choose_line(b);
   instr->block = b->block;
   if (b->before)
      agx_list_insert_before(&b->before->link, &instr->link);
   else
      agx_list_append(&b->block->instrs, &instr->link);
}

struct agxc_ref agxc_build(struct agxc_builder *b, enum agxc_op op, unsigned bits, unsigned count,
                           unsigned src_count, const struct agxc_ref *srcs)
{
   struct agxc_instr *instr = agxc_instr_new_n(b->shader, op, 1, src_count);
   struct agxc_value *value = agxc_value_new(b->shader, bits, count);
   value->def = instr;
   instr->operand[0] = agxc_use(value);
   for (unsigned i = 0; i < src_count; i++)
      instr->operand[1 + i] = srcs[i];
   agxc_insert(b, instr);
   return agxc_use(value);
}

struct agxc_ref agxc_build1(struct agxc_builder *b, enum agxc_op op, unsigned bits,
                            struct agxc_ref a)
{
   return agxc_build(b, op, bits, 1, 1, &a);
}

struct agxc_ref agxc_build2(struct agxc_builder *b, enum agxc_op op, unsigned bits,
                            struct agxc_ref a, struct agxc_ref c)
{
   return agxc_build(b, op, bits, 1, 2, (struct agxc_ref[]){a, c});
}

struct agxc_ref agxc_build3(struct agxc_builder *b, enum agxc_op op, unsigned bits,
                            struct agxc_ref a, struct agxc_ref c, struct agxc_ref d)
{
   return agxc_build(b, op, bits, 1, 3, (struct agxc_ref[]){a, c, d});
}

struct agxc_ref agxc_collect(struct agxc_builder *b, unsigned count, const struct agxc_ref *srcs)
{
   return count == 1 ? *srcs : agxc_build(b, AGXC_OP_COLLECT, srcs[0].bits, count, count, srcs);
}

void agxc_split(struct agxc_builder *b, struct agxc_ref vector, struct agxc_ref *out_elements)
{
   if (vector.count == 1) {
      *out_elements = vector;
      return;
   }
   struct agxc_instr *instr = agxc_instr_new_n(b->shader, AGXC_OP_SPLIT, vector.count, 1);
   for (unsigned i = 0; i < vector.count; i++) {
      struct agxc_value *value = agxc_value_new(b->shader, vector.bits, 1);
      value->def = instr;
      instr->operand[i] = out_elements[i] = agxc_use(value);
   }
   instr->operand[vector.count] = vector;
   agxc_insert(b, instr);
}

struct agxc_ref agxc_build_times(struct agxc_builder *b, struct agxc_ref index, uint32_t by)
{
   if (by & (by - 1))
      return agxc_build_imul(b, index, agxc_u32(by));
   return agxc_build_ishl(b, index, agxc_u32((uint32_t)__builtin_ctz(by)));
}

struct agxc_instr *agxc_redefine(struct agxc_builder *b, struct agxc_ref dest,
                                 const struct agxc_ref *elements)
{
   enum agxc_op op = dest.count > 1 ? AGXC_OP_COLLECT : AGXC_OP_MOV;
   struct agxc_instr *instr = agxc_instr_new_n(b->shader, op, 1, dest.count);
   agxc_define(instr, dest);
   memcpy(agxc_srcs(instr), elements, dest.count * sizeof(*elements));
   agxc_insert(b, instr);
   return instr;
}

void agxc_define_as(struct agxc_ref made, struct agxc_ref dest)
{
   agxc_define(made.value->def, dest);
   made.value->def = NULL;
}

struct agxc_instr *agxc_build_phi(struct agxc_builder *b, unsigned bits, unsigned count,
                                  unsigned src_count)
{
   struct agxc_instr *phi = agxc_instr_new_n(b->shader, AGXC_OP_PHI, 1, src_count);
   agxc_define(phi, agxc_use(agxc_value_new(b->shader, bits, count)));
   agxc_insert(b, phi);
   return phi;
}

struct agxc_if *agxc_build_if(struct agxc_builder *b, struct agxc_ref condition,
                              struct agxc_block **out_behind)
{
   struct agxc_if *branch = agxc_if_new(b->shader);
   struct agxc_block *behind = agxc_block_new(b->shader);
   struct agxc_node *at = &b->block->node;
   struct agxc_instr *jump = agxc_instr_new(b->shader, AGXC_OP_BRANCH);
   agxc_srcs(jump)[0] = condition;
   agxc_insert(b, jump);
   agx_list_insert_before(at->link.next, &behind->node.link);
   behind->node.parent = at->parent;
   behind->node.list = at->list;
   agxc_node_insert_before(&behind->node, &branch->node);
   agxc_block_append(b->shader, &branch->then_list, &branch->node);
   agxc_block_append(b->shader, &branch->else_list, &branch->node);
   behind->index = b->block->index;
   while (b->before) {
      struct agxc_instr *moved = b->before;
      b->before = agxc_next_instr(moved);
      agx_list_remove(&moved->link);
      agx_list_append(&behind->instrs, &moved->link);
      moved->block = behind;
   }
   *out_behind = behind;
   return branch;
}
