/* SPDX-License-Identifier: MIT
 *
 * Does once, before an if, what both of its arms begin with: pure operations and loads. Every
 * lane takes one of the arms, so nothing runs that would not have run. Fetches from one image, at
 * other coordinates in either arm, become one whose coordinates the if's condition selects: a
 * SIMD-group waits once instead of once in each arm, and often nothing is left of the if, so that
 * fetches of several iterations wait together.
 *
 *    before   if (c) x = fetch(a, k) else x = fetch(k, b)
 *    after    x = fetch(c ? a : k, c ? k : b)
 *
 * Before: generic SSA. After: the same; opt_copy_prop takes away the moves that are left. Stands
 * behind opt_cse, so that equal operands are one value.
 */
#include "agx/compiler/ir/walk.h"
#include "agx/compiler/opt/loads/loads.h"

#define MAX_SEARCH   24u /* instructions of each arm: work per if is this squared */
#define MAX_ELEMENTS 4u  /* of coordinates */
#define MAX_SELECTS  3u  /* for a fetch; one costs some 200 cycles where nothing else runs */

static bool same_instr(const struct agxc_instr *a, const struct agxc_instr *b)
{
   if (a->op != b->op || a->dest_count != b->dest_count || a->operand_count != b->operand_count ||
       a->flags != b->flags)
      return false;
   for (unsigned i = 0; i < a->dest_count; i++)
      if (a->operand[i].bits != b->operand[i].bits || a->operand[i].count != b->operand[i].count)
         return false;
   for (unsigned i = a->dest_count; i < a->operand_count; i++)
      if (!agxc_same_source(a->operand[i], b->operand[i]))
         return false;
   return true;
}

/* Nothing that it reads is made in its block. */
static bool reads_outside(const struct agxc_instr *instr)
{
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE && src->value->def->block == instr->block)
         return false;
   return true;
}

/* An equal instruction of the other arm before anything there has an effect, or NULL. */
static struct agxc_instr *find_equal(const struct agxc_instr *instr, struct agxc_block *block)
{
   unsigned count = 0;
   agxc_foreach_instr (other, block) {
      if (agxc_flags(other) & AGXC_SIDE_EFFECT || ++count > MAX_SEARCH)
         return NULL;
      if (same_instr(instr, other))
         return other;
   }
   return NULL;
}

/* ---- fetches at other coordinates -------------------------------------- */

/* An element of a vector that is put together from scalars, or the scalar itself; or NULL. */
static const struct agxc_ref *element_of(const struct agxc_ref *ref, unsigned element)
{
   const struct agxc_instr *collect = agxc_def_as(*ref, AGXC_OP_COLLECT);
   if (collect)
      return &agxc_srcs(collect)[element];
   return (ref->kind == AGXC_VALUE || ref->kind == AGXC_IMM) && ref->count == 1 ? ref : NULL;
}

static bool is_before(const struct agxc_ref *ref, const struct agxc_block *arm)
{
   return ref->kind != AGXC_VALUE || ref->value->def->block != arm;
}

/* Whether each element of two sources is known in front of the arms; counts selects. */
static bool can_choose(const struct agxc_instr *x, const struct agxc_ref *a,
                       const struct agxc_instr *y, const struct agxc_ref *b, unsigned *selects)
{
   if (a->count != b->count || a->count > MAX_ELEMENTS || a->bits != b->bits ||
       (a->bits != 16 && a->bits != 32))
      return false;
   for (unsigned i = 0; i < a->count; i++) {
      const struct agxc_ref *m = element_of(a, i), *n = element_of(b, i);
      if (!m || !n || !is_before(m, x->block) || !is_before(n, y->block))
         return false;
      *selects += !agxc_same_source(*m, *n);
   }
   return *selects <= MAX_SELECTS;
}

/* Fetches from the same image that differ in what can be selected. */
static bool are_alike(const struct agxc_instr *x, const struct agxc_instr *y)
{
   unsigned selects = 0;
   if (y->op != x->op || y->operand_count != x->operand_count || y->flags != x->flags)
      return false;
   for (unsigned i = x->dest_count + x->src_count; i < x->operand_count; i++)
      if (!agxc_same_source(x->operand[i], y->operand[i]))
         return false;
   for (unsigned i = 0; i < x->src_count; i++) {
      const struct agxc_ref *a = &agxc_srcs(x)[i], *b = &agxc_srcs(y)[i];
      bool is_same = agxc_same_source(*a, *b) && is_before(a, x->block);
      bool may_differ = a == agxc_src_coordinates(x) || a == agxc_src_level(x);
      if (!is_same && !(may_differ && can_choose(x, a, y, b, &selects)))
         return false;
   }
   return true;
}

static struct agxc_instr *find_alike(const struct agxc_instr *instr, struct agxc_block *block)
{
   unsigned count = 0;
   agxc_foreach_instr (other, block) {
      if (agxc_flags(other) & AGXC_SIDE_EFFECT || ++count > MAX_SEARCH)
         return NULL;
      if (are_alike(instr, other))
         return other;
   }
   return NULL;
}

static struct agxc_ref choose(struct agxc_builder *b, struct agxc_ref condition,
                              const struct agxc_ref *yes, const struct agxc_ref *no)
{
   struct agxc_ref elements[MAX_ELEMENTS];
   if (agxc_same_source(*yes, *no))
      return *yes;
   for (unsigned i = 0; i < yes->count; i++) {
      const struct agxc_ref *m = element_of(yes, i), *n = element_of(no, i);
      elements[i] = agxc_same_source(*m, *n) ? *m : agxc_build_select(b, condition, *m, *n);
   }
   return yes->count == 1 ? elements[0] : agxc_collect(b, yes->count, elements);
}

/* The instruction goes in front of the if and stands for the other arm's, too. */
static void join(struct agxc_builder *b, struct agxc_instr *instr, struct agxc_instr *other)
{
   agxc_instr_remove(instr);
   agxc_insert(b, instr);
   for (unsigned i = 0; i < instr->dest_count; i++) {
      struct agxc_builder at = agxc_before(b->shader, other);
      agxc_define_as(agxc_build_mov(&at, agxc_dests(instr)[i]), agxc_dests(other)[i]);
   }
   agxc_instr_remove(other);
}

/* Where the arm takes apart what a fetch gives that was joined: what does so in the other arm. */
static struct agxc_instr *find_split(const struct agxc_instr *split, struct agxc_block *block)
{
   unsigned count = 0;
   agxc_foreach_instr (other, block) {
      if (++count > MAX_SEARCH)
         return NULL;
      const struct agxc_instr *mov =
         other->op == AGXC_OP_SPLIT ? agxc_def_as(*agxc_src_vector(other), AGXC_OP_MOV) : NULL;
      if (mov && agxc_same_source(*agxc_src_a(mov), *agxc_src_vector(split)))
         return other;
   }
   return NULL;
}

static bool join_fetches(struct agxc_shader *shader, struct agxc_if *branch)
{
   struct agxc_block *before = agxc_block_before(&branch->node);
   struct agxc_builder b = {shader, before, agxc_terminator(before)};
   struct agxc_ref condition = *agxc_src_condition(agxc_terminator(before));
   struct agxc_block *else_block = agxc_first_block(&branch->else_list);
   unsigned count = 0;
   bool progress = false;
   agxc_foreach_instr_safe (instr, agxc_first_block(&branch->then_list)) {
      if (agxc_flags(instr) & AGXC_SIDE_EFFECT || ++count > MAX_SEARCH)
         break;
      struct agxc_instr *other = NULL;
      if (instr->op == AGXC_OP_IMAGE_FETCH)
         other = find_alike(instr, else_block);
      else if (instr->op == AGXC_OP_SPLIT && is_before(agxc_src_vector(instr), instr->block))
         other = find_split(instr, else_block);
      if (!other)
         continue;
      for (unsigned i = 0; instr->op == AGXC_OP_IMAGE_FETCH && i < instr->src_count; i++)
         agxc_srcs(instr)[i] = choose(&b, condition, &agxc_srcs(instr)[i], &agxc_srcs(other)[i]);
      join(&b, instr, other);
      progress = true;
   }
   return progress;
}

/* ---- pass --------------------------------------------------------------- */

static bool join_arms(struct agxc_shader *shader, struct agxc_if *branch)
{
   struct agxc_block *before = agxc_block_before(&branch->node);
   struct agxc_block *then_block = agxc_first_block(&branch->then_list);
   struct agxc_block *else_block = agxc_first_block(&branch->else_list);
   struct agxc_builder b = {shader, before, agxc_terminator(before)};
   unsigned count = 0;
   bool progress = false;
   agxc_foreach_instr_safe (instr, then_block) {
      if (agxc_flags(instr) & AGXC_SIDE_EFFECT || ++count > MAX_SEARCH)
         break;
      if (!agxc_is_movable(instr) || !reads_outside(instr))
         continue;
      struct agxc_instr *other = find_equal(instr, else_block);
      if (!other)
         continue;
      join(&b, instr, other);
      progress = true;
   }
   return progress;
}

/* Outer ifs after inner ones: what rises out of these can rise further. */
static enum agxc_visited leave_if(void *shader, struct agxc_if *branch)
{
   bool progress = join_arms(shader, branch);
   return join_fetches(shader, branch) || progress ? AGXC_CHANGED : AGXC_UNCHANGED;
}

bool agxc_opt_hoist_common(struct agxc_shader *shader)
{
   agxc_index(shader);
   const struct agxc_visitor visitor = {.leave_if = leave_if};
   return agxc_walk(&shader->body, &visitor, shader);
}
