/* SPDX-License-Identifier: MIT
 *
 * What only the first SIMD-group of a workgroup does, the last steps of a sum over the workgroup:
 *
 *    before   if (t < 32) A   barrier   if (t < 16) B   barrier   if (t == 0) C
 *    after    if (t < 32) { A   if (t < 16) { B   if (t == 0) C } }
 *
 * where t counts the threads. Threadgroup memory is synchronous for a SIMD-group
 * (docs/hw/machine.md, 8), and 32 consecutive threads form one [U-run-01], so that a barrier
 * between accesses which only the first one does orders nothing. An if that follows another one
 * then stands inside of that if its threads are among the other's: the other SIMD-groups leave all
 * of them with one test. The first thread is among those of each such if, so that none inside needs
 * a jump.
 *
 * A barrier is needed where anything since the one before, or until the next, may be an access by
 * other SIMD-groups. Only what stands outside of all loops and ifs is looked at.
 *
 * Before and after: machine instructions over registers, branches still as if_icmp. Behind
 * schedule_post, which may not move what barriers order, and in front of lower_control.
 */
#include "agx/compiler/analysis/register_set.h"
#include "agx/compiler/emit/emit.h"
#include "agx/compiler/ir/clone.h"
#include "agx/compiler/ir/machine_operand.h"

#include <string.h>

#define LANES 32

struct finding {
   struct agxc_shader *shader;
   /* By register half: the first two instructions that write it, or UINT32_MAX. */
   uint32_t first[AGX_GPR_HALVES], second[AGX_GPR_HALVES];
   agx_bitset_word counts[AGX_GPR_HALVES / 64]; /* the first one puts the thread's number there */
};

/* ---- conditions ------------------------------------------------------------ */

static bool reads_thread(const struct agxc_shader *shader, const struct agxc_instr *instr)
{
   if (!agxc_has_opcode(instr, AGX_ISA_OP_MFSR) || instr->block->node.parent)
      return false;
   int64_t from = agxc_machine_sr(instr)->imm;
   bool is_row =
      !shader->has_dynamic_local_size && shader->local_size[1] * shader->local_size[2] == 1;
   return from == AGX_ISA_SR_THREAD_INDEX_IN_THREADGROUP ||
          (from == AGX_ISA_SR_THREAD_IN_THREADGROUP_X && is_row);
}

static void note_writes(struct finding *f)
{
   memset(f->first, 0xff, sizeof(f->first));
   memset(f->second, 0xff, sizeof(f->second));
   agxc_foreach_instr_of (instr, f->shader)
      agxc_foreach_dest (dest, instr) {
         uint32_t end = dest->half + dest->bits / 16u * AGX_MAX(dest->count, 1);
         for (uint32_t half = dest->half; dest->kind == AGXC_REG && half < end; half++) {
            uint32_t *at = f->first[half] == UINT32_MAX ? &f->first[half] : &f->second[half];
            *at = AGX_MIN(*at, instr->index);
            if (at == &f->first[half] && reads_thread(f->shader, instr))
               agx_bitset_set(f->counts, half);
         }
      }
}

/* How many threads, from the first one on, take the if behind the block; 0: that is not known.
 * Outside of loops the register holds what was written first until somebody writes it again. */
static uint32_t threads_of(const struct finding *f, const struct agxc_block *block)
{
   const struct agxc_instr *compare = agxc_terminator(block);
   if (!compare || !agxc_has_opcode(compare, AGX_ISA_OP_IF_ICMP) || block->loop_depth > 0)
      return 0;
   const struct agxc_ref *a = agxc_machine_a(compare), *b = agxc_machine_b(compare);
   if (a->kind != AGXC_REG || a->bits != 32 || b->kind != AGXC_IMM || b->imm < 0)
      return 0;
   for (uint32_t half = a->half; half < a->half + 2u; half++)
      if (!agx_bitset_test(f->counts, half) || f->first[half] > compare->index ||
          f->second[half] < compare->index)
         return 0;
   int64_t cond = agxc_machine_cond(compare)->imm;
   if (cond == AGX_ISA_ICOND_ULT && b->imm <= UINT32_MAX)
      return (uint32_t)b->imm;
   return cond == AGX_ISA_ICOND_IEQ && b->imm == 0;
}

static bool has_no_else(const struct agxc_if *branch)
{
   return agxc_list_is_empty(&branch->else_list);
}

/* ---- barriers ------------------------------------------------------------- */

enum users {
   NOBODY,
   FIRST_GROUP,
   ANYBODY
};

static bool is_local(const struct agxc_instr *instr)
{
   return agxc_has_opcode(instr, AGX_ISA_OP_LLOAD) || agxc_has_opcode(instr, AGX_ISA_OP_LSTORE) ||
          agxc_has_opcode(instr, AGX_ISA_OP_LATOMIC);
}

static bool list_any(const struct agx_link *list, bool (*test)(const struct agxc_instr *instr))
{
   agxc_foreach_node (node, list) {
      agxc_foreach_list (inside, node)
         if (list_any(inside, test))
            return true;
      if (node->kind == AGXC_NODE_BLOCK)
         agxc_foreach_instr (instr, agxc_as_block(node))
            if (test(instr))
               return true;
   }
   return false;
}

static bool is_fence(const struct agxc_instr *instr)
{
   return agxc_isa_info(instr)->is_fence;
}

/* Of an if or a loop; barriers inside leave nothing known. */
static enum users users_of(const struct finding *f, const struct agxc_node *node)
{
   bool by_some = false, by_first = false;
   agxc_foreach_list (list, node) {
      if (list_any(list, is_fence))
         return ANYBODY;
      bool is_first = node->kind == AGXC_NODE_IF && list == agxc_list_of(node, 0) &&
                      threads_of(f, agxc_block_before(node)) - 1u < LANES;
      if (list_any(list, is_local))
         *(is_first ? &by_first : &by_some) = true;
   }
   return by_some ? ANYBODY : by_first ? FIRST_GROUP : NOBODY;
}

/* A barrier that may go, who accesses threadgroup memory since the one before that stays, and
 * whether a fence stands since the last one. */
struct walk {
   struct agxc_instr *barrier;
   enum users before, since;
   bool has_fence;
};

/* The next barrier, or the program's end. */
static bool end_region(struct walk *walk, struct agxc_instr *next)
{
   bool goes = walk->barrier && walk->before <= FIRST_GROUP && walk->since <= FIRST_GROUP;
   if (goes)
      agxc_instr_remove(walk->barrier);
   walk->before = goes ? AGX_MAX(walk->before, walk->since) : walk->since;
   walk->since = NOBODY;
   walk->has_fence = false;
   walk->barrier = next;
   return goes;
}

/* A barrier behind other fences orders more than threadgroup memory: it stays, in whichever block
 * in front of it they are. */
static bool visit_block(struct walk *walk, struct agxc_block *block)
{
   bool progress = false;
   agxc_foreach_instr_safe (instr, block) {
      if (is_local(instr))
         walk->since = ANYBODY;
      if (agxc_has_opcode(instr, AGX_ISA_OP_BARRIER))
         progress |= end_region(walk, walk->has_fence ? NULL : instr);
      else
         walk->has_fence |= is_fence(instr);
   }
   return progress;
}

static bool drop_barriers(const struct finding *f)
{
   struct walk walk = {.before = NOBODY};
   bool progress = false;
   agxc_foreach_node (node, &f->shader->body) {
      if (node->kind == AGXC_NODE_BLOCK)
         progress |= visit_block(&walk, agxc_as_block(node));
      else
         walk.since = AGX_MAX(walk.since, users_of(f, node));
   }
   return end_region(&walk, NULL) || progress;
}

/* ---- ifs ------------------------------------------------------------------ */

/* The if after this one in the list when nothing stands between, and only threads take it that
 * take this one. */
static struct agxc_if *inner_of(const struct finding *f, const struct agxc_if *branch)
{
   struct agxc_block *between = agxc_block_after(&branch->node);
   struct agxc_node *next = agxc_node_after(&between->node);
   struct agxc_instr *compare = agxc_terminator(between);
   uint32_t threads = threads_of(f, agxc_block_before(&branch->node));
   if (!next || next->kind != AGXC_NODE_IF || agxc_first_instr(between) != compare ||
       !has_no_else(branch) || !has_no_else(agxc_as_if(next)) || threads - 1u >= LANES ||
       agxc_terminator(agxc_last_block(&branch->then_list)))
      return NULL;
   return threads_of(f, between) - 1u < threads ? agxc_as_if(next) : NULL;
}

static void put_inside(struct finding *f, struct agxc_if *branch, struct agxc_if *inner)
{
   struct agxc_block *between = agxc_block_after(&branch->node);
   struct agxc_cursor end = {.block = agxc_last_block(&branch->then_list)};
   agxc_terminator(between)->flags |= AGXC_INSTR_SOME_LANE;
   agxc_melt(&end, between);
   agx_list_remove(&inner->node.link);
   agxc_node_append(&branch->then_list, &branch->node, &inner->node);
   agxc_block_append(f->shader, &branch->then_list, &branch->node);
}

/* The last ones first, so that each goes inside with those that follow. */
static void nest_ifs(struct finding *f)
{
   struct agx_link *body = &f->shader->body;
   for (struct agx_link *at = body->prev; at != body; at = at->prev) {
      struct agxc_node *node = agx_container_of(at, struct agxc_node, link);
      struct agxc_if *inner = node->kind == AGXC_NODE_IF ? inner_of(f, agxc_as_if(node)) : NULL;
      if (inner)
         put_inside(f, agxc_as_if(node), inner);
   }
}

bool agxc_first_group(struct agxc_shader *shader)
{
   if (shader->shared_B == 0 || !list_any(&shader->body, is_fence))
      return false;
   agxc_index(shader);
   struct finding f = {.shader = shader};
   note_writes(&f);
   if (!drop_barriers(&f))
      return false;
   nest_ifs(&f);
   agxc_index(shader);
   return true;
}
