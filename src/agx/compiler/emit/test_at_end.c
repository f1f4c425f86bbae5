/* SPDX-License-Identifier: MIT
 *
 * Loops that test before their body test behind it: each iteration runs one jump less, and the last
 * one doesn't run the body without lanes.
 *
 *    before   loop ( x   while c   jmp_none behind   y   jmp_any x )
 *    after    jmp_any x   loop ( y   x   while c   jmp_any y )
 *
 * Where the test is a compare and the body short, a second compare in front takes the jump's place;
 * where constants say that the first one holds, nothing does, or what is computed with it alone.
 * opt/loads/rotate.c does this to SSA, with an if around the loop, where it frees a load.
 *
 * Stands behind lower_control, since it needs jumps into the middle of a loop, and in front of
 * insert_waits, which follows them.
 */
#include <string.h>

#include "agx/compiler/analysis/register_set.h"
#include "agx/compiler/emit/emit.h"
#include "agx/compiler/emit/jump_impl.h"

#define MIN_BODY   4u  /* cycles behind the test, for which a jump in front pays */
#define MAX_SEARCH 64u /* instructions in front of a loop, for constants */
#define INVERTED   8   /* of a condition of integers */

struct placing {
   struct agxc_shader *shader;
   /* By block: how many in front of it lanes return in, or leave anything in; and the first block
    * of the outermost loop around it. */
   uint32_t *returns, *leaves, *outermost;
};

static struct agxc_instr *last_instr(const struct agxc_block *block)
{
   return agx_list_empty(&block->instrs)
             ? NULL
             : agx_container_of(block->instrs.prev, struct agxc_instr, link);
}

/* The jump back that ends a loop, or NULL. */
static struct agxc_instr *jump_back(const struct agxc_shader *shader,
                                    const struct agxc_block *block)
{
   struct agxc_instr *last = last_instr(block);
   if (!last || !agxc_has_opcode(last, AGX_ISA_OP_JMP_ANY))
      return NULL;
   return agxc_jump_target(shader, last)->index <= block->index ? last : NULL;
}

/* Whether a loop begins with a test with which lanes break, and nothing else does. */
static bool is_test(const struct agxc_block *header)
{
   const struct agxc_instr *last = last_instr(header);
   return last && (agxc_has_opcode(last, AGX_ISA_OP_WHILE_ICMP) ||
                   agxc_has_opcode(last, AGX_ISA_OP_WHILE_FCMP));
}

/* Cycles of the blocks first to last without jumps; counted no further than until there are more
 * than `most`. */
static uint32_t cycles_of(const struct agxc_shader *shader, uint32_t first, uint32_t last,
                          uint32_t most)
{
   uint32_t cycles = 0;
   for (uint32_t i = first; i <= last; i++)
      agxc_foreach_instr (instr, shader->blocks[i]) {
         if (!agxc_jump_target(shader, instr))
            cycles += agxc_skipped_cycles(instr);
         if (cycles > most)
            return cycles;
      }
   return cycles;
}

/* ---- the first test ----------------------------------------------------- */

/* What an operand of the test is when the loop is entered. */
static bool find_constant(const struct agxc_block *header, const struct agxc_ref *ref,
                          uint32_t *out_value)
{
   *out_value = (uint32_t)ref->imm;
   if (ref->kind == AGXC_IMM)
      return true;
   if (ref->kind != AGXC_REG || ref->bits != 32 || ref->sx)
      return false;
   struct agxc_halves wanted = {0};
   agxc_halves_add(&wanted, ref);
   uint32_t searched = 0;
   for (const struct agxc_block *block = header; block;
        block = block == header ? agxc_block_before(&header->loop->node) : NULL)
      agxc_foreach_instr_rev (instr, block) {
         struct agxc_halves written = agxc_halves_written(instr);
         if (++searched > MAX_SEARCH)
            return false;
         if (!agxc_halves_meet(&written, &wanted))
            continue;
         if (!agxc_has_opcode(instr, AGX_ISA_OP_LDIMM32) ||
             agxc_machine_d(instr)->half != ref->half)
            return false;
         *out_value = (uint32_t)agxc_machine_imm(instr)->imm;
         return true;
      }
   return false;
}

static bool holds(int64_t cond, uint32_t a, uint32_t b)
{
   bool result = a == b;
   switch (cond & ~INVERTED) {
   case AGX_ISA_ICOND_ULT:
      result = a < b;
      break;
   case AGX_ISA_ICOND_UGT:
      result = a > b;
      break;
   case AGX_ISA_ICOND_SLT:
      result = (int32_t)a < (int32_t)b;
      break;
   case AGX_ISA_ICOND_SGT:
      result = (int32_t)a > (int32_t)b;
      break;
   default:
      break;
   }
   return result != !!(cond & INVERTED);
}

/* Whether all lanes that enter the loop run its body. */
static bool is_sure(const struct agxc_block *header)
{
   struct agxc_instr *test = last_instr(header);
   uint32_t a, b;
   return agxc_has_opcode(test, AGX_ISA_OP_WHILE_ICMP) &&
          find_constant(header, agxc_machine_a(test), &a) &&
          find_constant(header, agxc_machine_b(test), &b) &&
          holds(agxc_machine_cond(test)->imm, a, b);
}

/* ---- SIMD-groups without lanes ------------------------------------------- */

/* An if at top level of which only the mask is left, with no jump for who has no lanes. */
static bool is_bare_return(const struct agxc_node *node)
{
   if (!node || node->parent || node->kind != AGXC_NODE_IF ||
       !agxc_list_is_empty(&agxc_as_if(node)->then_list) ||
       !agxc_list_is_empty(&agxc_as_if(node)->else_list))
      return false;
   const struct agxc_instr *next = agxc_first_instr(agxc_block_after(node));
   return !next || !agxc_has_opcode(next, AGX_ISA_OP_JMP_NONE);
}

/* The level at which lanes wait that leave with the block, or 0. */
static int64_t level_of_leaving(const struct agxc_block *block)
{
   agxc_foreach_instr_rev (instr, block)
      if (agxc_has_opcode(instr, AGX_ISA_OP_LDIMM16) && agxc_machine_d(instr)->half == 0)
         return agxc_machine_imm(instr)->imm;
   return 0;
}

static void find_leaves(struct placing *p)
{
   struct agxc_shader *shader = p->shader;
   p->returns = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->block_count + 1ull);
   p->leaves = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->block_count + 1ull);
   p->outermost = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->block_count + 1ull);
   agxc_foreach_block (block, shader) {
      uint32_t i = block->index;
      int64_t level = level_of_leaving(block);
      bool returns = level == AGXC_RETURNED || is_bare_return(agxc_node_after(&block->node));
      p->returns[i + 1] = p->returns[i] + returns;
      p->leaves[i + 1] = p->leaves[i] + (level > 0);
      p->outermost[i + 1] = block->loop_depth ? p->outermost[i] : i + 1;
   }
}

/* Whether a SIMD-group may come to the loop without lanes: in front of it, or of it in a loop
 * around it, all may leave from inside ifs. */
static bool may_be_empty(const struct placing *p, const struct agxc_block *header)
{
   uint32_t i = header->index;
   return p->returns[i] > 0 || p->leaves[i] > p->leaves[p->outermost[i]];
}

/* ---- moving it ---------------------------------------------------------- */

static void copy_to_end(struct agxc_shader *shader, const struct agxc_block *from,
                        struct agxc_instr *before)
{
   struct agxc_builder b = agxc_before(shader, before);
   agxc_foreach_instr (instr, from) {
      struct agxc_instr *copy = agxc_instr_new(shader, instr->op);
      copy->flags = instr->flags;
      memcpy(copy->operand, instr->operand, instr->operand_count * sizeof(*copy->operand));
      agxc_insert(&b, copy);
   }
}

static void move_all(struct agxc_block *from, struct agxc_builder b)
{
   agxc_foreach_instr_safe (instr, from) {
      agxc_instr_remove(instr);
      agxc_insert(&b, instr);
   }
}

static void insert_jump(struct agxc_builder b, enum agx_isa_op opcode, uint32_t target)
{
   struct agxc_instr *jump = agxc_instr_new(b.shader, AGXC_OP_ISA + opcode);
   agxc_set_machine_offset(jump, target);
   agxc_insert(&b, jump);
}

/* Behind the body, and what must be there in front of it. is_long: no SIMD-group shall run the body
 * without lanes. */
static void move_test(const struct placing *p, struct agxc_block *header,
                      struct agxc_instr *jump_back, bool is_long)
{
   struct agxc_shader *shader = p->shader;
   uint32_t behind = agxc_block_after(&header->loop->node)->index;
   uint32_t size = 0;
   agxc_foreach_instr (instr, header)
      size++;
   bool guards = is_long && may_be_empty(p, header);
   bool sure = !guards && is_sure(header);
   if (sure ? size <= 2 : size == 1 && (!is_long || guards)) {
      copy_to_end(shader, header, jump_back);
      if (sure)
         agxc_instr_remove(last_instr(header));
      else if (guards)
         insert_jump(agxc_at_end(shader, header), AGX_ISA_OP_JMP_NONE, behind);
      return;
   }
   struct agxc_builder entry = agxc_at_end(shader, agxc_block_before(&header->loop->node));
   if (guards)
      insert_jump(entry, AGX_ISA_OP_JMP_NONE, behind);
   insert_jump(agxc_at_end(shader, entry.block), AGX_ISA_OP_JMP_ANY, jump_back->block->index);
   move_all(header, agxc_before(shader, jump_back));
}

static bool try_loop(const struct placing *p, struct agxc_block *last)
{
   struct agxc_shader *shader = p->shader;
   struct agxc_instr *jump = jump_back(shader, last);
   struct agxc_block *header = jump ? agxc_jump_target(shader, jump) : NULL;
   if (!header || !is_test(header) || agxc_first_block(&last->loop->continuing) != last)
      return false;
   struct agxc_block *body = agxc_block_after(agxc_node_after(&header->node));
   uint32_t cycles = cycles_of(shader, body->index, last->index, AGXC_JUMP_CYCLES);
   if (cycles < MIN_BODY)
      return false; /* it tests in the end already, or nearly so */
   struct agxc_instr *first = agxc_first_instr(body);
   bool skips = first && agxc_has_opcode(first, AGX_ISA_OP_JMP_NONE) &&
                agxc_jump_target(shader, first) == agxc_block_after(&last->loop->node);
   if (skips)
      agxc_instr_remove(first); /* the jump back does as much */
   agxc_instr_remove(jump);
   move_all(last, agxc_at_end(shader, agxc_last_block(&last->loop->body)));
   struct agxc_builder b = agxc_at_end(shader, last);
   agxc_insert(&b, jump);
   move_test(p, header, jump, skips || cycles > AGXC_JUMP_CYCLES);
   agxc_set_machine_offset(jump, body->index);
   return true;
}

bool agxc_test_at_end(struct agxc_shader *shader)
{
   agxc_index(shader);
   struct placing p = {.shader = shader};
   bool progress = false;
   find_leaves(&p);
   for (uint32_t i = 0; i < shader->block_count; i++)
      progress |= try_loop(&p, shader->blocks[i]);
   return progress;
}
