/* SPDX-License-Identifier: MIT
 *
 * Programs of the toy language as SSA machine code. Variables become values; where
 * control joins, phis.
 */
#include "toy.h"

#include <stdlib.h>
#include <string.h>

#include "agx/compiler/ir/machine_operand.h"
#include "base/util.h"

/* Values of all variables where a block ends that control leaves from. */
struct snapshot {
   struct agxc_ref vars[MAX_VARS];
};

struct target {
   struct snapshot *from;
   unsigned count;
};

struct generator {
   const struct toy_program *program;
   struct agxc_shader *shader;
   struct agxc_builder b;
   struct agxc_ref vars[MAX_VARS], slot_base;
   struct target *on_break, *on_continue; /* of the innermost loop */
   struct agx_link *list;
   struct agxc_node *parent;
};

static void remember(struct target *target, const struct generator *gen)
{
   target->from = realloc(target->from, (target->count + 1) * sizeof(*target->from));
   assert_non_null(target->from);
   memcpy(target->from[target->count++].vars, gen->vars, sizeof(gen->vars));
}

/* Phis for all variables; control comes from target's blocks in program order. */
static void merge(struct generator *gen, struct target *target)
{
   for (unsigned v = 0; v < gen->program->var_count; v++) {
      bool same = true;
      for (unsigned i = 1; i < target->count; i++)
         same &= target->from[i].vars[v].value == target->from[0].vars[v].value;
      gen->vars[v] = target->from[0].vars[v];
      if (same)
         continue;
      struct agxc_ref *srcs = calloc(target->count, sizeof(*srcs));
      assert_non_null(srcs);
      for (unsigned i = 0; i < target->count; i++)
         srcs[i] = target->from[i].vars[v];
      gen->vars[v] =
         agxc_build(&gen->b, AGXC_OP_PHI, gen->program->bits[v], 1, target->count, srcs);
      free(srcs);
   }
   free(target->from);
   *target = (struct target){0};
}

static struct agxc_block *open_block(struct generator *gen)
{
   struct agxc_block *block = agxc_block_new(gen->shader);
   agxc_node_append(gen->list, gen->parent, &block->node);
   gen->b = agxc_at_end(gen->shader, block);
   return block;
}

static bool gen_list(struct generator *gen, const struct stmt *list);

/* Fills a list inside node; false when its end is not reached. */
static bool gen_inside(struct generator *gen, struct agx_link *list, struct agxc_node *node,
                       const struct stmt *stmts)
{
   struct agx_link *outer_list = gen->list;
   struct agxc_node *outer_parent = gen->parent;
   gen->list = list;
   gen->parent = node;
   open_block(gen);
   bool falls = gen_list(gen, stmts);
   gen->list = outer_list;
   gen->parent = outer_parent;
   return falls;
}

static void leave(struct generator *gen, enum agxc_op op)
{
   agxc_insert(&gen->b, agxc_instr_new(gen->shader, op));
}

static void gen_compare(struct generator *gen, uint8_t cond, struct agxc_ref a, struct agxc_ref b)
{
   struct agxc_instr *instr =
      backend_instr(&gen->b, AGX_ISA_OP_IF_ICMP, 2, (struct agxc_ref[]){a, b});
   agxc_set_machine_cond(instr, cond);
}

static bool gen_if(struct generator *gen, const struct stmt *stmt)
{
   struct target join = {0};
   struct snapshot before;
   gen_compare(gen, stmt->cond, gen->vars[stmt->a], gen->vars[stmt->b]);
   struct agxc_if *branch = agxc_if_new(gen->shader);
   agxc_node_append(gen->list, gen->parent, &branch->node);
   memcpy(before.vars, gen->vars, sizeof(before.vars));
   if (gen_inside(gen, &branch->then_list, &branch->node, stmt->then))
      remember(&join, gen);
   memcpy(gen->vars, before.vars, sizeof(before.vars));
   if (gen_inside(gen, &branch->else_list, &branch->node, stmt->orelse))
      remember(&join, gen);
   open_block(gen);
   if (join.count == 0)
      return false;
   merge(gen, &join);
   return true;
}

/* The trip counter is a value of its own: body starts with `if (trip == n) break`. */
static bool gen_loop(struct generator *gen, const struct stmt *stmt)
{
   unsigned count = gen->program->var_count;
   struct agxc_instr *phis[MAX_VARS + 1];
   struct target breaks = {0}, continues = {0};
   struct target *outer_break = gen->on_break, *outer_continue = gen->on_continue;
   struct agxc_loop *loop = agxc_loop_new(gen->shader);
   struct agxc_ref zero =
      backend_value(&gen->b, AGX_ISA_OP_LDIMM16, 16, 1, 1, (struct agxc_ref[]){agxc_imm(0, 64)});
   agxc_node_append(gen->list, gen->parent, &loop->node);
   struct agx_link *outer_list = gen->list;
   struct agxc_node *outer_parent = gen->parent;
   gen->list = &loop->body;
   gen->parent = &loop->node;
   gen->on_break = &breaks;
   gen->on_continue = &continues;

   struct agxc_block *header = open_block(gen);
   for (unsigned v = 0; v <= count; v++) {
      unsigned bits = v < count ? gen->program->bits[v] : 16;
      struct agxc_ref srcs[2] = {v < count ? gen->vars[v] : zero, agxc_none()};
      struct agxc_ref phi = agxc_build(&gen->b, AGXC_OP_PHI, bits, 1, 2, srcs);
      phis[v] = phi.value->def;
      if (v < count)
         gen->vars[v] = phi;
   }
   struct agxc_ref trip = agxc_dests(phis[count])[0];
   gen_compare(gen, AGX_ISA_ICOND_IEQ, trip, agxc_imm(stmt->number, 64));
   struct agxc_if *guard = agxc_if_new(gen->shader);
   agxc_node_append(gen->list, gen->parent, &guard->node);
   static const struct stmt stop = {.kind = BREAK};
   gen_inside(gen, &guard->then_list, &guard->node, &stop);
   gen_inside(gen, &guard->else_list, &guard->node, NULL);
   open_block(gen);

   if (gen_list(gen, stmt->then))
      remember(&continues, gen);
   gen->list = &loop->continuing;
   gen->on_continue = NULL;
   open_block(gen);
   bool repeats = continues.count > 0;
   if (repeats) {
      merge(gen, &continues);
      repeats = gen_list(gen, stmt->orelse);
   }
   struct agxc_ref next = zero;
   if (repeats)
      next = backend_value(&gen->b, AGX_ISA_OP_IADD, 16, 1, 2,
                           (struct agxc_ref[]){trip, agxc_imm(1, 64)});
   for (unsigned v = 0; v <= count; v++) {
      agxc_srcs(phis[v])[1] = v < count ? gen->vars[v] : next;
      if (!repeats)
         phis[v]->operand_count = (uint16_t)(phis[v]->dest_count + (phis[v]->src_count = 1));
   }
   assert_ptr_equal(phis[0]->block, header);
   gen->list = outer_list;
   gen->parent = outer_parent;
   gen->on_break = outer_break;
   gen->on_continue = outer_continue;
   open_block(gen);
   merge(gen, &breaks);
   return true;
}

static struct agxc_ref memory_index(struct generator *gen, struct agxc_ref ref)
{
   return backend_value(&gen->b, AGX_ISA_OP_AND, 32, 1, 2,
                        (struct agxc_ref[]){ref, agxc_imm(31, 64)});
}

static struct agxc_ref gen_load(struct generator *gen, struct agxc_ref index, unsigned count)
{
   struct agxc_ref base = agxc_uniform(0, 64, 1);
   return backend_value(&gen->b, AGX_ISA_OP_LOAD, 32, count, 5,
                        (struct agxc_ref[]){base, memory_index(gen, index), agxc_imm(0, 64),
                                            agxc_imm(AGX_ISA_FORMAT_I32, 64),
                                            agxc_imm(agx_bits(count), 64)});
}

/* Stores count words of data at the lane's slot + word. */
static void gen_store(struct generator *gen, struct agxc_ref data, unsigned word, unsigned count)
{
   struct agxc_ref index =
      backend_value(&gen->b, AGX_ISA_OP_LDIMM32, 32, 1, 1, (struct agxc_ref[]){agxc_imm(word, 64)});
   struct agxc_ref sum =
      backend_value(&gen->b, AGX_ISA_OP_IADD, 32, 1, 2, (struct agxc_ref[]){index, gen->slot_base});
   backend_instr(
      &gen->b, AGX_ISA_OP_STORE, 6,
      (struct agxc_ref[]){data, agxc_uniform(0, 64, 1), sum, agxc_imm(0, 64),
                          agxc_imm(data.bits == 16 ? AGX_ISA_FORMAT_I16 : AGX_ISA_FORMAT_I32, 64),
                          agxc_imm(agx_bits(count), 64)});
}

static void gen_store_all(struct generator *gen)
{
   for (unsigned v = 0; v < gen->program->var_count; v++) {
      struct agxc_ref data = gen->vars[v], words[2];
      if (gen->program->bits[v] == 16)
         data = backend_value(&gen->b, AGX_ISA_OP_MOV, 32, 1, 1, &data);
      if (gen->program->bits[v] != 64) {
         gen_store(gen, data, 4 + 2 * v, 1);
         continue;
      }
      const struct agxc_instr *unpack = agxc_build_unpack64(&gen->b, data);
      words[0] = *agxc_dest_low(unpack);
      words[1] = *agxc_dest_high(unpack);
      gen_store(gen, agxc_collect(&gen->b, 2, words), 4 + 2 * v, 2);
   }
}

static void gen_simple(struct generator *gen, const struct stmt *stmt)
{
   unsigned bits = gen->program->bits[stmt->dst];
   struct agxc_ref a = gen->vars[stmt->a], b = gen->vars[stmt->b], *dst = &gen->vars[stmt->dst];
   struct agxc_ref elements[4];
   switch (stmt->kind) {
   case ADD:
      *dst = backend_value(&gen->b, AGX_ISA_OP_IADD, bits, 1, 2, (struct agxc_ref[]){a, b});
      break;
   case XOR:
      *dst = backend_value(&gen->b, AGX_ISA_OP_XOR, bits, 1, 2, (struct agxc_ref[]){a, b});
      break;
   case SELECT:
      *dst =
         backend_value(&gen->b, AGX_ISA_OP_ICSEL, bits, 1, 5,
                       (struct agxc_ref[]){a, b, gen->vars[stmt->c], b, agxc_imm(stmt->cond, 64)});
      break;
   case COPY:
      *dst = a.bits == bits ? agxc_build1(&gen->b, AGXC_OP_MOV, bits, a)
                            : backend_value(&gen->b, AGX_ISA_OP_MOV, bits, 1, 1, &a);
      break;
   case CONST:
      *dst = agxc_build1(&gen->b, AGXC_OP_MOV, bits, agxc_imm(stmt->number, bits));
      break;
   case LOAD:
      *dst = gen_load(gen, a, 1);
      break;
   case LOAD4:
      agxc_split(&gen->b, gen_load(gen, a, 4), elements);
      for (unsigned i = 0; i < 4; i++)
         gen->vars[stmt->vars[i]] = elements[i];
      break;
   default:
      for (unsigned i = 0; i < 4; i++)
         elements[i] = gen->vars[stmt->vars[i]];
      gen_store(gen, agxc_collect(&gen->b, 4, elements), 0, 4);
   }
}

static bool gen_list(struct generator *gen, const struct stmt *list)
{
   for (; list; list = list->next) {
      switch (list->kind) {
      case IF:
         if (!gen_if(gen, list))
            return false;
         break;
      case LOOP:
         gen_loop(gen, list);
         break;
      case BREAK:
         remember(gen->on_break, gen);
         leave(gen, AGXC_OP_BREAK);
         return false;
      case CONTINUE:
         remember(gen->on_continue, gen);
         leave(gen, AGXC_OP_CONTINUE);
         return false;
      case RETURN:
         gen_store_all(gen);
         leave(gen, AGXC_OP_RETURN);
         return false;
      default:
         gen_simple(gen, list);
      }
   }
   return true;
}

void generate_program(const struct toy_program *program, struct agxc_shader *shader)
{
   struct generator gen = {.program = program, .shader = shader, .list = &shader->body};
   gen.b = agxc_at_end(shader, agxc_first_block(&shader->body));
   struct agxc_ref lane =
      backend_value(&gen.b, AGX_ISA_OP_MFSR, 32, 1, 1,
                    (struct agxc_ref[]){agxc_imm(AGX_ISA_SR_THREAD_INDEX_IN_SIMDGROUP, 64)});
   struct agxc_ref slot = backend_value(&gen.b, AGX_ISA_OP_IMUL, 32, 1, 2,
                                        (struct agxc_ref[]){lane, agxc_imm(SLOT_B / 4, 64)});
   gen.slot_base = backend_value(&gen.b, AGX_ISA_OP_IADD, 32, 1, 2,
                                 (struct agxc_ref[]){slot, agxc_imm(TABLE_WORDS, 64)});
   for (unsigned v = 0; v < program->var_count; v++) {
      if (program->bits[v] == 64)
         gen.vars[v] = agxc_build2(&gen.b, AGXC_OP_PACK64, 64, lane, lane);
      else
         gen.vars[v] = backend_value(&gen.b, AGX_ISA_OP_IADD, program->bits[v], 1, 2,
                                     (struct agxc_ref[]){lane, agxc_imm(v, 64)});
   }
   if (gen_list(&gen, program->body))
      gen_store_all(&gen);
}
