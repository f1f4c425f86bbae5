/* SPDX-License-Identifier: MIT
 *
 * Ifs and loops become mask instructions. A lane's r0l says how many levels must be left
 * until it runs again; every instruction here acts on all lanes, so the levels of lanes
 * that are away must add up on each path:
 *
 *   if     one level. Lanes that fail wait at 1; else turns 0 and 1 round.
 *   loop   one level, where broken lanes wait, and a second one inside it where continued
 *          lanes wait, if there are any.
 *
 * So leaving k ifs and then a loop means k + 1 or k + 2. A returned lane gets a number
 * that no pops use up, or at top level one that nothing pops. Lanes that were away before a nested
 * loop must not come back at its end: push_exec raises them. Source: docs/hw/machine.md, 5;
 * docs/hw/idioms.md, 6.
 *
 * Before: if_icmp/if_fcmp ends each block in front of an if; BREAK, CONTINUE, RETURN.
 * After: nothing of that is left; the offset of a jump is the index of its block until
 * agxc_emit resolves it. The tree of nodes stays.
 *
 *    before   agx.if_icmp a, b       if ( x ) else ( y )
 *    after    agx.if_icmp a, b   jmp_none   x   else_fcmp   jmp_none   y   pop_exec
 *
 * `if (c) break;` directly in a loop without continue is a single while. So is an if without else
 * at the end of another one's last arm: lanes that fail wait where that one's do, and its pop
 * brings all of them back. An arm is jumped over
 * when no lane takes it and the jump is cheaper than its instructions; code with matrix
 * instructions is always jumped over then. A loop's end jumps back while any lane is left. Where
 * loads or loops stand behind a loop's test or behind a continue, they are jumped over as soon as
 * no lane stays, so that no load is waited for in vain; so is what is long behind a return. At top
 * level `if (c) return;` is one if that nothing pops, and an if or loop that ends the program pops
 * nothing. Jumps know the mask only, so ifs and loops whose condition all lanes share need the mask
 * instructions as well.
 *
 * Stands behind schedule_post, which may not move anything across mask instructions, and in front
 * of insert_waits, which must see the jumps.
 */
#include "agx/compiler/analysis/register_set.h"
#include "agx/compiler/emit/emit.h"
#include "agx/compiler/emit/jump_impl.h"

/* Cycles that the rest of the program must take for one to pay behind a return, or around an if
 * that the program ends with: most SIMD-groups have lanes there. */
#define END_CYCLES 45

/* Around the node that is being lowered. */
struct scope {
   uint32_t levels; /* of all ifs and loops */
   uint32_t ifs;    /* inside the innermost loop */
   bool is_nested;  /* inside any if or loop */
   bool in_loop;
   bool loop_continues; /* that loop has a level for continued lanes */
};

struct lowering {
   struct agxc_shader *shader;
   bool has_returns;              /* nested ones: lanes may be away at top level, too */
   bool needs_lanes;              /* there are matrix instructions */
   uint32_t *returning, *needing; /* counted blocks: that return, that need their lanes */
   /* Where code at top level is left when all lanes have returned, for what needs its lanes or
    * takes long: an empty block at the very end, with an if before it that is only there for the
    * tree's shape. */
   struct agxc_node *end_if;
   struct agxc_block *end;
};

static struct agxc_instr *add_instr(struct agxc_builder b, enum agx_isa_op opcode)
{
   struct agxc_instr *instr = agxc_instr_new(b.shader, AGXC_OP_ISA + opcode);
   agxc_insert(&b, instr);
   return instr;
}

static void set_level(struct agxc_builder b, uint32_t level)
{
   struct agxc_instr *instr = add_instr(b, AGX_ISA_OP_LDIMM16);
   *agxc_machine_d(instr) = agxc_reg(0, 16, 1);
   agxc_set_machine_imm(instr, level);
}

static void pop(struct agxc_builder b, uint32_t nest)
{
   agxc_set_machine_nest(add_instr(b, AGX_ISA_OP_POP_EXEC), nest);
}

static void jump(struct agxc_builder b, enum agx_isa_op opcode, const struct agxc_block *target)
{
   agxc_set_machine_offset(add_instr(b, opcode), target->index);
}

/* An if_fcmp or else_fcmp whose condition always holds. */
static void compare_always(struct agxc_builder b, enum agx_isa_op opcode, uint32_t nest)
{
   struct agxc_instr *instr = add_instr(b, opcode);
   *agxc_machine_a(instr) = (struct agxc_ref){.kind = AGXC_FIMM, .bits = 16};
   *agxc_machine_b(instr) = (struct agxc_ref){.kind = AGXC_FIMM, .bits = 16};
   agxc_set_machine_cond(instr, AGX_ISA_FCOND_FEQ);
   agxc_set_machine_nest(instr, nest);
}

/* Brings lanes that wait at levels below nest back. */
static void while_always(struct agxc_builder b, uint32_t nest)
{
   struct agxc_instr *instr = add_instr(b, AGX_ISA_OP_WHILE_ICMP);
   *agxc_machine_a(instr) = agxc_imm(0, 64);
   *agxc_machine_b(instr) = agxc_imm(0, 64);
   agxc_set_machine_cond(instr, AGX_ISA_ICOND_IEQ);
   agxc_set_machine_nest(instr, nest);
}

/* ---- looking at the tree ------------------------------------------------ */

/* The list is nothing but a BREAK, or a RETURN. */
static bool list_is_only(const struct agx_link *list, unsigned op)
{
   const struct agxc_block *block = agxc_first_block(list);
   const struct agxc_instr *last = agxc_terminator(block);
   return list->next->next == list && last && last->op == op && block->instrs.next == &last->link;
}

/* The arm that is nothing but such a leave, beside an empty one; or NULL. */
static struct agx_link *leaving_arm(struct agxc_if *branch, unsigned op)
{
   if (list_is_only(&branch->then_list, op) && agxc_list_is_empty(&branch->else_list))
      return &branch->then_list;
   if (list_is_only(&branch->else_list, op) && agxc_list_is_empty(&branch->then_list))
      return &branch->else_list;
   return NULL;
}

typedef bool block_test(const struct agxc_block *block);

static bool list_any(const struct agx_link *list, block_test *test, bool in_loops);

/* Whether the test holds for a block in the node; blocks of loops count, or don't. */
static bool node_any(const struct agxc_node *node, block_test *test, bool in_loops)
{
   if (node->kind == AGXC_NODE_BLOCK)
      return test(agxc_as_block(node));
   if (node->kind == AGXC_NODE_LOOP && !in_loops)
      return false;
   agxc_foreach_list (list, node)
      if (list_any(list, test, in_loops))
         return true;
   return false;
}

static bool list_any(const struct agx_link *list, block_test *test, bool in_loops)
{
   agxc_foreach_node (node, list)
      if (node_any(node, test, in_loops))
         return true;
   return false;
}

/* By block: in how many of those in front of it the test holds. */
static uint32_t *count_blocks(struct agxc_shader *shader, block_test *test)
{
   uint32_t *before = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->block_count + 1);
   agxc_foreach_block (block, shader)
      before[block->index + 1] = before[block->index] + test(block);
   return before;
}

/* Whether the test that was counted holds for a block from first to last. */
static bool any_between(const uint32_t *before, const struct agxc_block *first,
                        const struct agxc_block *last)
{
   return before[first->index] < before[last->index + 1];
}

static bool ends_with(const struct agxc_block *block, unsigned op)
{
   const struct agxc_instr *last = agxc_terminator(block);
   return last && last->op == op;
}

static bool breaks(const struct agxc_block *block)
{
   return ends_with(block, AGXC_OP_BREAK);
}

static bool continues(const struct agxc_block *block)
{
   return ends_with(block, AGXC_OP_CONTINUE);
}

static bool returns(const struct agxc_block *block)
{
   return ends_with(block, AGXC_OP_RETURN);
}

/* Source: docs/hw/machine.md, 12: matrix instructions must not run without their lanes, so code
 * that has some is jumped over when there are none. */
static bool needs_all_lanes(const struct agxc_instr *instr)
{
   return agxc_isa_info(instr)->needs_all_lanes;
}

static uint32_t add_cycles(uint32_t cycles, const struct agx_link *list, uint32_t most);

/* cycles, and what the block's instructions take; a wait for what a load of the block gives counts
 * as another access. */
static uint32_t add_block_cycles(uint32_t cycles, const struct agxc_block *block, uint32_t most)
{
   struct agxc_halves loaded = {0};
   bool has_loaded = false;
   agxc_foreach_instr (instr, block) {
      if (needs_all_lanes(instr))
         return most + 1;
      struct agxc_halves read = has_loaded ? agxc_halves_read(instr) : loaded;
      if (has_loaded && agxc_halves_meet(&loaded, &read)) {
         cycles += AGXC_ACCESS_CYCLES;
         loaded = (struct agxc_halves){0};
         has_loaded = false;
      }
      if (agxc_is_machine(instr) && agxc_isa_info(instr)->is_async && instr->dest_count) {
         agxc_halves_add(&loaded, agxc_dests(instr));
         has_loaded = true;
      }
      cycles += agxc_skipped_cycles(instr);
      if (cycles > most)
         return cycles;
   }
   return cycles;
}

/* cycles, and what the node takes; counted no further than until there are more than `most`. */
static uint32_t add_cycles_of(uint32_t cycles, const struct agxc_node *node, uint32_t most)
{
   if (node->kind == AGXC_NODE_LOOP)
      return most + 1;
   agxc_foreach_list (arm, node)
      cycles = add_cycles(cycles, arm, most);
   return node->kind == AGXC_NODE_BLOCK ? add_block_cycles(cycles, agxc_as_block(node), most)
                                        : cycles;
}

static uint32_t add_cycles(uint32_t cycles, const struct agx_link *list, uint32_t most)
{
   agxc_foreach_node (node, list)
      if ((cycles = add_cycles_of(cycles, node, most)) > most)
         return cycles;
   return cycles;
}

static bool pays_to_skip(const struct agx_link *list, uint32_t limit)
{
   return add_cycles(0, list, limit) > limit;
}

static bool block_needs_lanes(const struct agxc_block *block)
{
   agxc_foreach_instr (instr, block)
      if (needs_all_lanes(instr))
         return true;
   return false;
}

static bool block_loads(const struct agxc_block *block)
{
   agxc_foreach_instr (instr, block)
      if (agxc_has_opcode(instr, AGX_ISA_OP_LOAD) || agxc_has_opcode(instr, AGX_ISA_OP_BARRIER))
         return true;
   return false;
}

/* ---- lowering ----------------------------------------------------------- */

static void lower_list(struct lowering *lowering, struct agx_link *list, struct scope scope);

/* BREAK, CONTINUE and RETURN: the lane is away for so many levels. At the end of an if's
 * arm its own else or pop makes the mask follow; elsewhere a pop of nothing does. */
static void lower_leave(struct lowering *lowering, struct agxc_block *block, struct scope scope)
{
   struct agxc_instr *last = agxc_terminator(block);
   if (!last || agxc_is_machine(last))
      return;
   agx_assert(last->op != AGXC_OP_BRANCH);
   uint32_t level = AGXC_RETURNED;
   if (last->op == AGXC_OP_BREAK)
      level = scope.ifs + (scope.loop_continues ? 2 : 1);
   else if (last->op == AGXC_OP_CONTINUE)
      level = scope.ifs + 1;
   agxc_instr_remove(last);
   if (last->op == AGXC_OP_RETURN && !scope.is_nested)
      return; /* the program's end */
   set_level(agxc_at_end(lowering->shader, block), level);
   if (scope.ifs == 0)
      pop(agxc_at_end(lowering->shader, block), 0);
}

static void set_compare(struct agxc_instr *compare, enum agx_isa_op icmp, enum agx_isa_op fcmp,
                        bool invert)
{
   /* The instructions of one kind of compare share their operands. */
   _Static_assert((int)AGX_ISA_IF_ICMP_COND == (int)AGX_ISA_WHILE_ICMP_COND &&
                     (int)AGX_ISA_IF_FCMP_COND == (int)AGX_ISA_WHILE_FCMP_COND &&
                     (int)AGX_ISA_IF_ICMP_NEST == (int)AGX_ISA_IF_FCMP_NEST &&
                     (int)AGX_ISA_IF_ICMP_COND == (int)AGX_ISA_IF_FCMP_COND,
                  "one index for all");
   bool is_float = agxc_has_opcode(compare, AGX_ISA_OP_IF_FCMP);
   agx_assert(is_float || agxc_has_opcode(compare, AGX_ISA_OP_IF_ICMP));
   compare->op = (uint16_t)(AGXC_OP_ISA + (is_float ? fcmp : icmp));
   agxc_set_machine_nest(compare, 1);
   if (invert) /* bit 3 of either condition */
      agxc_machine_cond(compare)->imm ^= 8;
}

/* `if (c) break;` directly in a loop without continue: a while. */
static bool lower_break_if(struct agxc_if *branch, struct agxc_instr *compare, struct scope scope)
{
   if (!scope.in_loop || scope.ifs > 0 || scope.loop_continues)
      return false;
   struct agx_link *arm = leaving_arm(branch, AGXC_OP_BREAK);
   if (!arm)
      return false;
   set_compare(compare, AGX_ISA_OP_WHILE_ICMP, AGX_ISA_OP_WHILE_FCMP, arm == &branch->then_list);
   agxc_instr_remove(agxc_terminator(agxc_first_block(arm)));
   return true;
}

/* `if (c) return;` at top level: lanes that fail the opposite wait at 1, and nothing there pops
 * what it has not pushed, so they wait until the end. */
static bool lower_return_if(struct agxc_if *branch, struct agxc_instr *compare, struct scope scope)
{
   struct agx_link *arm = scope.is_nested ? NULL : leaving_arm(branch, AGXC_OP_RETURN);
   if (!arm)
      return false;
   set_compare(compare, AGX_ISA_OP_IF_ICMP, AGX_ISA_OP_IF_FCMP, arm == &branch->then_list);
   agxc_instr_remove(agxc_terminator(agxc_first_block(arm)));
   return true;
}

/* Nothing is left to run. As after a return, lanes may be away when the program stops [U]. */
static bool is_program_end(const struct lowering *lowering, const struct agxc_block *block)
{
   const struct agxc_node *after = agxc_node_after(&block->node);
   return agx_list_empty(&block->instrs) && !block->node.parent &&
          (!after || after == lowering->end_if);
}

/* The scope inside of a node that has so many levels. */
static void enter_levels(const struct lowering *lowering, struct scope *scope, uint32_t levels)
{
   scope->levels += levels;
   if (scope->levels > AGXC_MOST_NESTING)
      agxc_fail(lowering->shader, AGX_RESOURCE_EXHAUSTED,
                "%s: control flow nested more than %u levels deep (a loop with continue has two)",
                lowering->shader->name, AGXC_MOST_NESTING);
}

/* The last thing in the last arm of another if. */
static bool is_tail(const struct agxc_node *node)
{
   if (!node->parent || node->parent->kind != AGXC_NODE_IF)
      return false;
   const struct agx_link *else_list = &agxc_as_if(node->parent)->else_list;
   const struct agxc_block *behind = agxc_block_after(node);
   return (node->list == else_list || agxc_list_is_empty(else_list)) &&
          agxc_last_block(node->list) == behind && agx_list_empty(&behind->instrs);
}

static void lower_if(struct lowering *lowering, struct agxc_if *branch, struct scope scope)
{
   struct agxc_shader *shader = lowering->shader;
   struct agxc_block *before = agxc_block_before(&branch->node);
   struct agxc_block *behind = agxc_block_after(&branch->node);
   struct agxc_instr *compare = agxc_terminator(before);
   agx_assert(compare);
   if (lower_return_if(branch, compare, scope))
      return;
   if (lower_break_if(branch, compare, scope))
      return;

   bool then_is_empty = agxc_list_is_empty(&branch->then_list);
   bool has_else = !agxc_list_is_empty(&branch->else_list);
   bool is_swapped = then_is_empty && has_else; /* one arm: it comes first */
   struct agx_link *first = is_swapped ? &branch->else_list : &branch->then_list;
   has_else = has_else && !is_swapped;
   struct agxc_block *else_block = agxc_first_block(&branch->else_list);
   bool ends = !scope.is_nested && !has_else && is_program_end(lowering, behind);
   bool is_sure = compare->flags & AGXC_INSTR_SOME_LANE && first == &branch->then_list;
   bool skips_first = !is_sure && pays_to_skip(first, ends ? END_CYCLES : AGXC_JUMP_CYCLES);
   bool skips_else = has_else && pays_to_skip(&branch->else_list, AGXC_JUMP_CYCLES);

   bool has_level = has_else || !is_tail(&branch->node);
   if (has_level) {
      enter_levels(lowering, &scope, 1);
      scope.ifs++;
   }
   scope.is_nested = true;
   lower_list(lowering, &branch->then_list, scope);
   lower_list(lowering, &branch->else_list, scope);

   set_compare(compare, has_level ? AGX_ISA_OP_IF_ICMP : AGX_ISA_OP_WHILE_ICMP,
               has_level ? AGX_ISA_OP_IF_FCMP : AGX_ISA_OP_WHILE_FCMP, is_swapped);
   if (skips_first)
      jump(agxc_at_end(shader, before), AGX_ISA_OP_JMP_NONE, has_else ? else_block : behind);
   if (skips_else)
      jump(agxc_at_start(shader, else_block), AGX_ISA_OP_JMP_NONE, behind);
   if (has_else)
      compare_always(agxc_at_start(shader, else_block), AGX_ISA_OP_ELSE_FCMP, 1);
   if (has_level && !is_program_end(lowering, behind))
      pop(agxc_at_start(shader, behind), 1);
}

static void lower_loop(struct lowering *lowering, struct agxc_loop *loop, struct scope scope)
{
   struct agxc_shader *shader = lowering->shader;
   struct agxc_block *before = agxc_block_before(&loop->node);
   struct agxc_block *behind = agxc_block_after(&loop->node);
   bool has_continue = list_any(&loop->body, continues, false);
   uint32_t levels = has_continue ? 2 : 1;
   bool pushes = scope.is_nested || lowering->has_returns;

   struct scope inside = {
      .levels = scope.levels, .is_nested = true, .in_loop = true, .loop_continues = has_continue};
   enter_levels(lowering, &inside, levels);
   lower_list(lowering, &loop->body, inside);
   lower_list(lowering, &loop->continuing, inside);

   struct agxc_block *continuing = agxc_first_block(&loop->continuing);
   if (pushes) /* raises lanes that are away */
      compare_always(agxc_at_end(shader, before), AGX_ISA_OP_IF_FCMP, levels);
   if (has_continue)
      while_always(agxc_at_start(shader, continuing), 2);
   jump(agxc_at_end(shader, agxc_last_block(&loop->continuing)), AGX_ISA_OP_JMP_ANY,
        agxc_first_block(&loop->body));
   if (!is_program_end(lowering, behind))
      pop(agxc_at_start(shader, behind), levels);
}

/* Whether lanes that enter the node may be away behind it, for the rest of its list. */
static bool loses_lanes(const struct lowering *lowering, const struct agxc_node *node)
{
   return node->kind != AGXC_NODE_BLOCK &&
          (node_any(node, breaks, false) || node_any(node, continues, false) ||
           any_between(lowering->returning, agxc_first_block(agxc_list_of(node, 0)),
                       agxc_last_block(agxc_list_of(node, 1))));
}

/* What stands behind the if or loop in its list, or in the loop's continuing part. */
static bool rest_needs_lanes(const struct lowering *lowering, const struct agxc_node *node,
                             const struct scope *scope)
{
   if (any_between(lowering->needing, agxc_block_after(node), agxc_last_block(node->list)))
      return true;
   if (!node->parent || node->parent->kind != AGXC_NODE_LOOP || scope->loop_continues)
      return false;
   const struct agx_link *continuing = &agxc_as_loop(node->parent)->continuing;
   return any_between(lowering->needing, agxc_first_block(continuing), agxc_last_block(continuing));
}

/* An if of a loop's body after which no lane may be left. Where loads, barriers or another loop
 * stand behind it, without lanes these would run, and a wait take some 200 cycles, for nothing
 * (source: docs/hw/performance.md); a jump that never happens but then takes one in each
 * iteration. */
static bool may_end_iteration(const struct agxc_node *node, const struct scope *scope)
{
   return scope->in_loop && scope->ifs == 0 && node->kind == AGXC_NODE_IF &&
          (node_any(node, breaks, false) || node_any(node, continues, false));
}

/* The last node of a loop's list that it is worth to jump over; ifs too: opt/loads/prefetch.c
 * makes some. Or NULL. */
static const struct agxc_node *last_costly(const struct agx_link *list, const struct scope *scope)
{
   if (!scope->in_loop || scope->ifs > 0)
      return NULL;
   const struct agxc_node *last = NULL;
   agxc_foreach_node (node, list)
      if (node->kind == AGXC_NODE_LOOP || node_any(node, block_loads, false))
         last = node;
   return last;
}

/* An if at top level whose lanes may all return, with much behind it. SIMD-groups that a grid has
 * in excess come here, one of many, so that the jump must save more than one around an arm. */
static bool ends_program(const struct agxc_node *node)
{
   if (node->parent || node->kind != AGXC_NODE_IF || !node_any(node, returns, false))
      return false;
   uint32_t cycles = 0;
   while ((node = agxc_node_after(node)) && cycles <= END_CYCLES)
      cycles = add_cycles_of(cycles, node, END_CYCLES);
   return cycles > END_CYCLES;
}

/* Where code goes on that must not run the rest of this list without lanes. */
static struct agxc_block *way_out(const struct lowering *lowering, const struct agx_link *list,
                                  const struct agxc_node *parent, const struct scope *scope)
{
   if (!parent)
      return lowering->end;
   struct agx_link *second = agxc_list_of(parent, 1);
   bool is_run = parent->kind == AGXC_NODE_IF ? !agxc_list_is_empty(second) : scope->loop_continues;
   return list != second && is_run ? agxc_first_block(second) : agxc_block_after(parent);
}

/* Behind the pop that starts the block after the node. */
static void skip_rest(struct lowering *lowering, struct agx_link *list,
                      const struct agxc_node *node, const struct scope *scope)
{
   struct agxc_builder b = agxc_at_start(lowering->shader, agxc_block_after(node));
   if (b.before && agxc_has_opcode(b.before, AGX_ISA_OP_POP_EXEC))
      b.before = agxc_next_instr(b.before);
   jump(b, AGX_ISA_OP_JMP_NONE, way_out(lowering, list, node->parent, scope));
}

static void lower_list(struct lowering *lowering, struct agx_link *list, struct scope scope)
{
   const struct agxc_node *costly = last_costly(list, &scope);
   agxc_foreach_node (node, list) {
      if (node == lowering->end_if)
         return;
      if (node == costly)
         costly = NULL; /* none is left behind this one */
      bool skips = (lowering->needs_lanes && loses_lanes(lowering, node) &&
                    rest_needs_lanes(lowering, node, &scope)) ||
                   (costly && may_end_iteration(node, &scope)) ||
                   (lowering->end && ends_program(node));
      if (node->kind == AGXC_NODE_BLOCK)
         lower_leave(lowering, agxc_as_block(node), scope);
      else if (node->kind == AGXC_NODE_IF)
         lower_if(lowering, agxc_as_if(node), scope);
      else
         lower_loop(lowering, agxc_as_loop(node), scope);
      if (skips)
         skip_rest(lowering, list, node, &scope);
   }
}

static void make_end(struct lowering *lowering)
{
   struct agxc_shader *shader = lowering->shader;
   struct agxc_if *branch = agxc_if_new(shader);
   agxc_node_append(&shader->body, NULL, &branch->node);
   agxc_block_append(shader, &branch->then_list, &branch->node);
   agxc_block_append(shader, &branch->else_list, &branch->node);
   lowering->end_if = &branch->node;
   lowering->end = agxc_block_append(shader, &shader->body, NULL);
   agxc_index(shader);
}

static bool block_meets(const struct agxc_block *block)
{
   agxc_foreach_instr (instr, block)
      if (agxc_has_opcode(instr, AGX_ISA_OP_BARRIER))
         return true;
   return false;
}

/* Whether code at top level may be left for the end of the program. Never where SIMD-groups meet:
 * the others might wait for one that has ended. */
static bool needs_end(const struct lowering *lowering)
{
   if (!lowering->has_returns || lowering->needs_lanes)
      return lowering->has_returns;
   if (list_any(&lowering->shader->body, block_meets, true))
      return false;
   agxc_foreach_node (node, &lowering->shader->body)
      if (ends_program(node))
         return true;
   return false;
}

static bool has_nested_return(const struct agxc_shader *shader)
{
   agxc_foreach_node (node, &shader->body)
      if (node->kind != AGXC_NODE_BLOCK && node_any(node, returns, true))
         return true;
   return false;
}

bool agxc_lower_control(struct agxc_shader *shader)
{
   agxc_index(shader);
   struct lowering lowering = {.shader = shader,
                               .has_returns = has_nested_return(shader),
                               .needs_lanes = list_any(&shader->body, block_needs_lanes, true)};
   if (needs_end(&lowering))
      make_end(&lowering);
   if (shader->block_count > 1) {
      set_level(agxc_at_exit(shader, agxc_first_block(&shader->body)), 0);
   }
   lowering.returning = count_blocks(shader, returns);
   lowering.needing = count_blocks(shader, block_needs_lanes);
   lower_list(&lowering, &shader->body, (struct scope){0});
   return true;
}
