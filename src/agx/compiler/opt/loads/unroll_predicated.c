/* SPDX-License-Identifier: MIT
 *
 * Unrolls loops over i < n of few iterations, such as those that share rows among lanes: they take
 * up to four iterations at a time without a loop for what is left over, so that loads of these
 * iterations wait together:
 *
 *    for (; i < n; i = 3 step < n - i ? i + 4 step : n) {
 *       body(i)
 *       i1 = step < n - i ? i + step : i;       body(i1), for what it loads
 *       sum = step < n - i ? sum1 : sum;        counts only if the iteration is one
 *       ...
 *       if (step < n - i) the stores of body(i1)
 *    }
 *
 * An iteration that isn't one does again what iteration 0 has done, so its loads are as valid.
 * Orders of sums stay as they are. Steps are powers of two: an induction variable that wraps before
 * it reaches n then never does, so that only loops that never end differ.
 *
 * Where lanes share a loop, the last iterations are those of a few, and of what is left over behind
 * another loop each may be missing: there the loads of all iterations but the first stand in ifs
 * (masked.c), and lanes load nothing in vain.
 *
 * What opt_unroll_partial has left over is one such iteration, of three: no loop remains (rest.c).
 *
 * The measure is code for waits: see SECOND_INSTRS.
 *
 * Before and after: generic SSA. Stands behind opt_if_conversion, since it takes bodies of one
 * block, and opt_byte_dot, since it counts what the body will be.
 */
#include "agx/compiler/analysis/induction.h"
#include "agx/compiler/analysis/op_cost.h"
#include "agx/compiler/opt/loads/loads_impl.h"
#include "agx/compiler/opt/loads/loads.h"

/* Machine instructions that one wait less in each iteration, some 200 cycles (source:
 * docs/hw/performance.md), is worth: of a second iteration, which halves them, and of all further
 * ones, which save less. Longer bodies are mostly computation, and there are other lanes to run
 * meanwhile. */
#define SECOND_INSTRS  19u
#define FURTHER_INSTRS 13u
#define LOOP_INSTRS    2u  /* n - i, and a select for the last induction variable */
#define LOAD_HALVES    64u /* registers for loads that wait together */
#define MAX_HELD       8u  /* phis besides the induction variable */

struct fact {
   bool varies;    /* from iteration to iteration */
   bool is_held;   /* needs what an iteration before left, besides the induction variable */
   bool is_effect; /* result of an atomic */
   uint8_t depth;  /* waits for loads on the way to it */
};

/* A loop that runs at most once now. */
struct once {
   struct once *next;
   struct agxc_loop_shape shape;
};

struct pass {
   struct agxc_shader *shader;
   struct agxc_clone_map map;
   struct once *once;
   struct agxc_masked_notes notes;
   struct fact *facts;       /* by value id; of a loop's values, while that is looked at */
   agx_bitset_word *escapes; /* header's values that others than the loop use */
};

struct predicated {
   struct agxc_induction induction;
   struct agxc_block *body;        /* behind the exit ... */
   struct agxc_block *last;        /* ... the same, or the continuing part */
   const struct agxc_instr *place; /* i + base, the only thing that iterations do with i; or NULL */
   struct agxc_instr *held[MAX_HELD];
   uint32_t held_count;
   uint32_t size, waits, load_halves; /* of an iteration */
   uint32_t rest; /* iterations at most, where opt_unroll_partial left them over */
   bool stores, has_changing_loads;
   bool is_masked; /* loads of all iterations but the first stand in ifs */
};

/* ---- shape --------------------------------------------------------------- */

/* Header, exit, one block; the continuing part is another or empty. */
static bool is_straight(struct predicated *m, const struct agxc_loop_shape *shape)
{
   struct agx_link *continuing = &shape->loop->continuing;
   const struct agxc_block *way_out = agxc_first_block(shape->break_arm);
   m->body = agxc_last_block(&shape->loop->body);
   m->last = agxc_list_is_empty(continuing) ? m->body : agxc_first_block(continuing);
   return agxc_block_before(&shape->exit->node) == shape->header &&
          agxc_block_after(&shape->exit->node) == m->body && agxc_list_is_empty(shape->stay_arm) &&
          shape->break_arm->next->next == shape->break_arm &&
          way_out->instrs.next->next == &way_out->instrs && continuing->next->next == continuing;
}

/* What opt_unroll_partial left over begins where another loop ended. */
static bool is_remainder(const struct agxc_induction *c)
{
   const struct agxc_ref *first = agxc_phi_entry(c->phi);
   if (first->kind != AGXC_VALUE || first->value->def->op != AGXC_OP_PHI)
      return false;
   const struct agxc_block *block = first->value->def->block;
   return block->node.parent && block->node.parent->kind == AGXC_NODE_LOOP;
}

/* Phis that iterations which are none leave alone. */
static bool find_held(struct pass *pass, struct predicated *m)
{
   agxc_foreach_instr (instr, m->induction.shape.header) {
      const struct agxc_ref *dest = agxc_dests(instr);
      if (instr->dest_count == 0)
         continue;
      bool is_held = instr->op == AGXC_OP_PHI && instr != m->induction.phi;
      bool escapes = agx_bitset_test(pass->escapes, dest->value->id);
      if (!is_held && (escapes || instr->dest_count > 1))
         return false;
      if (instr->op != AGXC_OP_PHI)
         continue;
      pass->facts[dest->value->id] = (struct fact){.varies = true, .is_held = is_held};
      if (!is_held)
         continue;
      if (m->held_count == MAX_HELD || dest->count > 1 || (dest->bits != 16 && dest->bits != 32))
         return false;
      m->held[m->held_count++] = instr;
   }
   return true;
}

/* ---- measure ------------------------------------------------------------- */

/* Machine instructions that it becomes, where others don't take it in. */
static uint32_t instrs_of(const struct agxc_instr *instr)
{
   bool is_short_shift = instr->op == AGXC_OP_ISHL && agxc_src_b(instr)->kind == AGXC_IMM &&
                         agxc_src_b(instr)->imm <= 4;
   bool is_compare = instr->op >= AGXC_OP_IEQ && instr->op <= AGXC_OP_FGE;
   bool is_half = instr->op == AGXC_OP_PACK32 || instr->op == AGXC_OP_UNPACK32 ||
                  instr->op == AGXC_OP_ZEXT ||
                  (instr->op == AGXC_OP_SEXT && agxc_src_a(instr)->bits == 16);
   if (agxc_op_cost(instr) == 0 || is_short_shift || is_compare || is_half)
      return 0;
   unsigned product = instr->op == AGXC_OP_FADD   ? AGXC_OP_FMUL
                      : instr->op == AGXC_OP_IADD ? AGXC_OP_IMUL
                                                  : AGXC_OP_ISA;
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE && src->value->def->op == product)
         return 0;
   return 1;
}

/* Of whose order among threads nothing is known; results of atomics are not used. */
static bool is_effect(const struct agxc_instr *instr)
{
   return instr->op == AGXC_OP_STORE_GLOBAL || instr->op == AGXC_OP_STORE_SHARED ||
          instr->op == AGXC_OP_ATOMIC_GLOBAL || instr->op == AGXC_OP_ATOMIC_SHARED;
}

static bool is_coherent(const struct agxc_instr *instr)
{
   return agxc_has_imm(instr, AGXC_IMM_ACCESS) ? agxc_imm_access(instr) & AGXC_ACCESS_COHERENT
                                               : instr->flags & AGXC_INSTR_VOLATILE;
}

static bool measure_instr(struct pass *pass, struct predicated *m, const struct agxc_instr *instr)
{
   unsigned flags = agxc_flags(instr);
   struct fact fact = {0};
   bool uses_effect = false;
   agxc_foreach_src (src, instr) {
      if (src->kind != AGXC_VALUE || agxc_loop_is_invariant(&m->induction.shape, src))
         continue;
      const struct fact *of = &pass->facts[src->value->id];
      fact.varies |= of->varies;
      fact.is_held |= of->is_held;
      uses_effect |= of->is_effect;
      fact.depth = (uint8_t)AGX_MAX(fact.depth, of->depth);
   }
   /* In front of the exit i may be n, which is not what the loop would have ended with. */
   bool sees_end = fact.varies && instr->block == m->induction.shape.header;
   if (uses_effect)
      return false;
   if (is_effect(instr)) {
      if (instr->block == m->induction.shape.header)
         return false;
      m->stores = true;
      m->size++;
      agxc_foreach_dest (dest, instr)
         pass->facts[dest->value->id] = (struct fact){.varies = true, .is_effect = true};
      return !is_coherent(instr);
   }
   if (flags & (AGXC_SIDE_EFFECT | AGXC_CROSS_LANE))
      return flags & AGXC_TERMINATOR;
   if (flags & AGXC_READS_MEMORY || agxc_waits_for(instr)) {
      if (fact.is_held || sees_end ||
          (instr->op == AGXC_OP_LOAD_GLOBAL && agxc_imm_access(instr) & AGXC_ACCESS_COHERENT))
         return false;
      m->has_changing_loads |= flags & AGXC_READS_MEMORY && !agxc_reads_constant(instr);
   }
   if (fact.varies) {
      m->size += instrs_of(instr);
      if (agxc_waits_for(instr)) {
         m->load_halves += agxc_dests(instr)->count * AGX_MAX(agxc_dests(instr)->bits, 16u) / 16;
         fact.depth += fact.depth < UINT8_MAX;
         m->waits = AGX_MAX(m->waits, fact.depth);
      }
   }
   agxc_foreach_dest (dest, instr)
      pass->facts[dest->value->id] = fact;
   return true;
}

/* What is known of a phi's value in the next iteration. */
static const struct fact *comes_from(const struct pass *pass, const struct predicated *m,
                                     const struct agxc_instr *phi)
{
   static const struct fact fixed;
   const struct agxc_ref *back = agxc_phi_back(phi);
   return agxc_loop_is_invariant(&m->induction.shape, back) ? &fixed
                                                            : &pass->facts[back->value->id];
}

static bool measure(struct pass *pass, struct predicated *m)
{
   const struct agxc_loop_shape *shape = &m->induction.shape;
   agxc_foreach_loop_block (block, shape->shader, shape->loop)
      agxc_foreach_instr (instr, block)
         if (instr->op != AGXC_OP_PHI && !measure_instr(pass, m, instr))
            return false;
   for (uint32_t i = 0; i < m->held_count; i++)
      if (comes_from(pass, m, m->held[i])->is_effect)
         return false;
   const struct fact *next = comes_from(pass, m, m->induction.phi);
   return m->induction.step || (!next->is_held && !next->is_effect && next->depth == 0);
}

/* The compare of i with n: true in each iteration that is one. */
static const struct agxc_instr *loop_test(const struct agxc_loop_shape *shape)
{
   const struct agxc_instr *test = agxc_def_of(*shape->taken);
   while (test->op == AGXC_OP_INOT)
      test = agxc_def_of(*agxc_src_a(test));
   return test;
}

/* How often an instruction of the loop uses i, or i + step, for anything but counting: what a copy
 * of it would need of its own. */
static uint32_t uses_of_counter(const struct agxc_induction *c, const struct agxc_instr *instr)
{
   const struct agxc_value *i = agxc_dest(c->phi)->value;
   const struct agxc_value *stepped = agxc_phi_back(c->phi)->value;
   uint32_t count = 0;
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE && ((src->value == i && instr != stepped->def) ||
                                      (src->value == stepped && instr != c->phi)))
         count++;
   return count;
}

/* Where iterations do nothing with i but i + base, that is what they have instead. */
static void find_place(struct predicated *m)
{
   const struct agxc_induction *c = &m->induction;
   const struct agxc_instr *test = loop_test(&c->shape);
   uint32_t count = 0;
   agxc_foreach_loop_block (block, c->shape.shader, c->shape.loop)
      agxc_foreach_instr (instr, block) {
         uint32_t uses = instr == test ? 0 : uses_of_counter(c, instr);
         m->place = uses > 0 ? instr : m->place;
         count += uses;
      }
   if (count != 1 || m->place->op != AGXC_OP_IADD)
      m->place = NULL;
}

/* How many iterations at a time; 1: leave it. */
static uint32_t choose_factor(struct pass *pass, struct predicated *m)
{
   if (m->rest == 1)
      return 1;
   if (!measure(pass, m) || (m->stores && m->has_changing_loads) || m->waits == 0)
      return 1;
   m->is_masked = m->rest || m->induction.step != 1;
   if (!m->is_masked)
      find_place(m);
   /* The induction variable and what is loaded instead; a mask around stores. */
   uint32_t instrs =
      m->size + (m->place || m->is_masked ? 1 : 2) + m->held_count + (m->stores ? 2 : 0);
   if (m->rest)
      return m->rest <= AGXC_LOADS_MAX_ITERATIONS &&
                   (m->rest - 1) * instrs <= m->waits * SECOND_INSTRS &&
                   m->rest * m->load_halves <= LOAD_HALVES
                ? m->rest
                : 1;
   uint32_t factor = 1 + (m->waits * FURTHER_INSTRS - LOOP_INSTRS) / instrs;
   if (factor == 1 && instrs + LOOP_INSTRS <= m->waits * SECOND_INSTRS)
      factor = 2;
   return AGX_MIN(factor,
                  AGX_MIN(AGXC_LOADS_MAX_ITERATIONS, AGX_MAX(LOAD_HALVES / m->load_halves, 1u)));
}

/* ---- iterations --------------------------------------------------------------- */

/* Moves the stores behind a link of the block to the list. */
static void take_stores(struct agxc_block *block, struct agx_link *behind, struct agx_link *list)
{
   for (struct agx_link *at = behind->next, *next; at != &block->instrs; at = next) {
      struct agxc_instr *instr = agx_container_of(at, struct agxc_instr, link);
      next = at->next;
      if (!is_effect(instr))
         continue;
      agx_list_remove(at);
      agx_list_append(list, at);
   }
}

static void put_stores(struct agx_link *list, struct agxc_block *block)
{
   agx_list_for_each (struct agxc_instr, instr, list, link)
      instr->block = block;
   agx_list_splice(&block->instrs, list);
}

/* if (condition) { stores } at the loop's end. */
static void append_if(struct predicated *m, struct agxc_ref condition, struct agx_link *stores)
{
   struct agxc_shader *shader = m->induction.shape.shader;
   struct agxc_builder b = agxc_at_end(shader, agxc_last_block(m->last->node.list));
   struct agxc_block *behind;
   const struct agxc_if *branch = agxc_build_if(&b, condition, &behind);
   put_stores(stores, agxc_first_block(&branch->then_list));
}

/* The place of another iteration, if it is one: i + base of the copy becomes that. */
static void set_place(struct predicated *m, struct agxc_clone *clone, uint32_t distance,
                      struct agxc_ref is_iteration)
{
   struct agxc_shader *shader = m->induction.shape.shader;
   struct agxc_ref first = *agxc_dest(m->place);
   struct agxc_instr *add = agxc_clone_ref(clone, first).value->def;
   struct agxc_builder b = agxc_before(shader, add);
   struct agxc_ref own = agxc_build_iadd(&b, first, agxc_u32(distance));
   agxc_define_as(agxc_build_select(&b, is_iteration, own, first), *agxc_dest(add));
   agxc_instr_remove(add);
}

/* One more iteration: its induction variable, its code, and what it leaves where it is one. */
static void copy_iteration(struct predicated *m, struct agxc_clone *clone, uint32_t distance,
                           struct agxc_ref is_iteration, struct agxc_ref *held)
{
   struct agxc_induction *c = &m->induction;
   struct agxc_builder b = agxc_at_end(c->shape.shader, clone->cursor.block);
   struct agxc_ref first = agxc_use(agxc_dest(c->phi)->value);
   struct agxc_ref own = first;
   if (!m->place) {
      own = agxc_build_iadd(&b, first, agxc_u32(distance));
      own = agxc_build_select(&b, is_iteration, own, first);
   }
   agxc_clone_set(clone, first.value, own);
   for (uint32_t i = 0; i < m->held_count; i++)
      agxc_clone_set(clone, agxc_dest(m->held[i])->value, held[i]);
   agxc_iteration_copy(&c->shape, clone, false);
   if (m->place)
      set_place(m, clone, distance, is_iteration);
   for (uint32_t i = 0; i < m->held_count; i++) {
      struct agxc_ref next = agxc_clone_ref(clone, *agxc_phi_back(m->held[i]));
      held[i] = agxc_build_select(&b, is_iteration, next, held[i]);
   }
}

/* What the phis are in the next iteration, behind the last block. */
static void close_phis(struct predicated *m, struct agxc_builder *b, struct agxc_ref next,
                       struct agxc_ref is_last, const struct agxc_ref *held)
{
   struct agxc_induction *c = &m->induction;
   *agxc_phi_back(c->phi) = agxc_build_select(b, is_last, next, c->limit);
   for (uint32_t i = 0; i < m->held_count; i++)
      *agxc_phi_back(m->held[i]) = held[i];
}

static void unroll(struct predicated *m, uint32_t factor, struct agxc_clone_map *map)
{
   struct agxc_induction *c = &m->induction;
   struct agxc_shader *shader = c->shape.shader;
   struct agxc_block *copies = agxc_block_new(shader);
   struct agxc_builder b = agxc_at_end(shader, copies);
   struct agxc_clone clone = agxc_clone_begin(shader, (struct agxc_cursor){NULL, copies}, map);
   struct agxc_cursor end = {NULL, m->last};
   struct agxc_ref induction = agxc_use(agxc_dest(c->phi)->value);
   struct agxc_ref left = agxc_build_isub(&b, c->limit, induction);
   struct agxc_ref is_iteration[AGXC_LOADS_MAX_ITERATIONS], held[MAX_HELD];
   struct agx_link list, stores[AGXC_LOADS_MAX_ITERATIONS];
   agx_list_init(&list);
   agx_list_append(&list, &copies->node.link);
   for (uint32_t i = 0; i < m->held_count; i++)
      held[i] = *agxc_phi_back(m->held[i]);
   for (uint32_t iteration = 1; iteration < factor; iteration++) {
      struct agx_link *behind = copies->instrs.prev;
      uint32_t distance = iteration * c->step;
      is_iteration[iteration] = agxc_build_ult(&b, agxc_u32(distance), left);
      copy_iteration(m, &clone, distance, is_iteration[iteration], held);
      agx_list_init(&stores[iteration]);
      take_stores(copies, behind, &stores[iteration]);
   }
   struct agxc_ref next = agxc_build_iadd(&b, induction, agxc_u32(factor * c->step));
   close_phis(m, &b, next, is_iteration[factor - 1], held);
   agx_list_init(&stores[0]);
   take_stores(m->body, &m->body->instrs, &stores[0]);
   if (m->last != m->body)
      take_stores(m->last, &m->last->instrs, &stores[0]);
   agxc_melt(&end, copies);
   put_stores(&stores[0], m->last);
   for (uint32_t iteration = 1; m->stores && iteration < factor; iteration++)
      append_if(m, is_iteration[iteration], &stores[iteration]);
}

/* ---- loads in ifs ------------------------------------------------------------- */

/* A block for an iteration's code, in no list that is part of the shader. */
static struct agxc_block *new_iteration(struct predicated *m, struct agx_link *list)
{
   struct agxc_block *block = agxc_block_new(m->induction.shape.shader);
   agx_list_init(list);
   agx_list_append(list, &block->node.link);
   return block;
}

/* The code of the loop's own iteration goes to the block. */
static void take_body(struct predicated *m, struct agxc_block *block)
{
   struct agxc_block *from[] = {m->body, m->last};
   for (unsigned i = 0; i < (m->last == m->body ? 1u : 2u); i++)
      agxc_foreach_instr_safe (instr, from[i]) {
         agx_list_remove(&instr->link);
         agx_list_append(&block->instrs, &instr->link);
         instr->block = block;
      }
   m->last = m->body;
}

/* Where iteration k begins: at i + k * step, or where the one before says. */
static struct agxc_ref masked_place(struct predicated *m, struct agxc_builder *b, uint32_t k,
                                    struct agxc_ref next)
{
   const struct agxc_induction *c = &m->induction;
   struct agxc_ref first = agxc_use(agxc_dest(c->phi)->value);
   return c->step ? agxc_build_iadd(b, first, agxc_u32(k * c->step)) : next;
}

/* Whether iteration k is one, if it begins there. Where the step is not known, i may wrap: the test
 * itself tells, unless the iteration before is none. */
static struct agxc_ref masked_condition(struct predicated *m, struct agxc_builder *b, uint32_t k,
                                        struct agxc_ref place, struct agxc_ref before)
{
   const struct agxc_induction *c = &m->induction;
   if (c->step) {
      struct agxc_ref left = agxc_build_isub(b, c->limit, agxc_use(agxc_dest(c->phi)->value));
      return agxc_build_ult(b, agxc_u32(k * c->step), left);
   }
   if (k > 1)
      place = agxc_build_select(b, before, place, c->limit);
   return agxc_build2(b, c->is_signed ? AGXC_OP_SLT : AGXC_OP_ULT, 1, place, c->limit);
}

/* Another iteration, whether it is one or not; it leaves something where it is. Returns where the
 * next one begins. */
static struct agxc_ref copy_masked(struct predicated *m, struct agxc_clone *clone,
                                   struct agxc_ref place, struct agxc_ref is_iteration,
                                   struct agxc_ref *held)
{
   struct agxc_induction *c = &m->induction;
   struct agxc_builder b = agxc_at_end(c->shape.shader, clone->cursor.block);
   agxc_clone_set(clone, agxc_dest(c->phi)->value, place);
   for (uint32_t i = 0; i < m->held_count; i++)
      agxc_clone_set(clone, agxc_dest(m->held[i])->value, held[i]);
   agxc_iteration_copy(&c->shape, clone, false);
   for (uint32_t i = 0; i < m->held_count; i++) {
      struct agxc_ref next = agxc_clone_ref(clone, *agxc_phi_back(m->held[i]));
      held[i] = agxc_build_select(&b, is_iteration, next, held[i]);
   }
   return agxc_clone_ref(clone, *agxc_phi_back(c->phi));
}

static void unroll_masked(struct pass *pass, struct predicated *m, uint32_t factor)
{
   struct agxc_induction *c = &m->induction;
   struct agxc_shader *shader = c->shape.shader;
   struct agxc_masked masked = {
      .shader = shader, .count = factor, .notes = &pass->notes, .to = m->body};
   struct agx_link lists[AGXC_LOADS_MAX_ITERATIONS], stores[AGXC_LOADS_MAX_ITERATIONS];
   struct agxc_ref held[MAX_HELD], next = *agxc_phi_back(c->phi);
   struct agxc_builder b;
   for (uint32_t i = 0; i < m->held_count; i++)
      held[i] = *agxc_phi_back(m->held[i]);
   masked.iteration[0] = new_iteration(m, &lists[0]);
   for (uint32_t k = 1; k < factor; k++) {
      masked.iteration[k] = new_iteration(m, &lists[k]);
      b = agxc_at_end(shader, masked.iteration[k]);
      struct agxc_cursor at = {NULL, masked.iteration[k]};
      struct agxc_clone clone = agxc_clone_begin(shader, at, &pass->map);
      struct agxc_ref place = masked_place(m, &b, k, next);
      masked.condition[k] = masked_condition(m, &b, k, place, masked.condition[k - 1]);
      next = copy_masked(m, &clone, place, masked.condition[k], held);
   }
   take_body(m, masked.iteration[0]);
   for (uint32_t k = 0; k < factor; k++) {
      agx_list_init(&stores[k]);
      take_stores(masked.iteration[k], &masked.iteration[k]->instrs, &stores[k]);
   }
   m->last = agxc_put_masked(&masked, c->shape.header, m->held, m->held_count);
   b = agxc_at_end(shader, m->last);
   if (c->step)
      next = masked_place(m, &b, factor, next);
   close_phis(m, &b, next, masked.condition[factor - 1], held);
   put_stores(&stores[0], m->last);
   for (uint32_t k = 1; m->stores && k < factor; k++)
      append_if(m, masked.condition[k], &stores[k]);
}

/* ---- pass ---------------------------------------------------------------- */

/* The loop becomes an if when no loop is looked at any more. */
static void end_later(struct pass *pass, const struct agxc_loop_shape *shape)
{
   struct once *once = AGX_ARENA_NEW(pass->shader->arena, struct once);
   *once = (struct once){pass->once, *shape};
   pass->once = once;
}

static bool may_unroll(const struct predicated *m)
{
   const struct agxc_induction *c = &m->induction;
   return c->step <= AGXC_LOADS_MAX_STEP && !(c->step & (c->step - 1)) && !c->is_inclusive &&
          m->rest != UINT32_MAX;
}

static bool try_loop(void *user, struct agxc_loop *loop)
{
   struct pass *pass = user;
   struct predicated m = {0};
   struct agxc_induction *c = &m.induction;
   struct agxc_loop_shape *shape = &c->shape;
   if (!agxc_loop_shape_find(shape, pass->shader, loop) || shape->inner_loops || shape->barriers ||
       shape->private_loads || shape->private_stores || shape->flags & AGXC_CROSS_LANE ||
       !is_straight(&m, shape))
      return false;
   agxc_lift_test(shape);
   if (!agxc_induction_find_test(c, pass->shader, loop))
      return false;
   m.rest = c->step && is_remainder(c) ? agxc_rest_iterations(c) : 0;
   if (!may_unroll(&m) || !find_held(pass, &m))
      return false;
   uint32_t factor = choose_factor(pass, &m);
   if (factor > 1 && m.is_masked)
      unroll_masked(pass, &m, factor);
   else if (factor > 1)
      unroll(&m, factor, &pass->map);
   if (factor == m.rest)
      end_later(pass, shape);
   return factor > 1 || m.rest == 1;
}

static void find_escapes(struct pass *pass)
{
   agxc_foreach_block (block, pass->shader) {
      agxc_foreach_instr (instr, block) {
         agxc_foreach_src (src, instr) {
            const struct agxc_block *from = src->kind == AGXC_VALUE ? src->value->def->block : NULL;
            const struct agxc_loop *loop = from && agxc_starts_loop(from) ? from->loop : NULL;
            if (loop && (block->index < agxc_first_block(&loop->body)->index ||
                         block->index > agxc_last_block(&loop->continuing)->index))
               agx_bitset_set(pass->escapes, src->value->id);
         }
      }
   }
}

bool agxc_opt_unroll_predicated(struct agxc_shader *shader)
{
   agxc_index(shader);
   struct pass pass = {
      .shader = shader,
      .facts = AGX_ARENA_ARRAY(shader->arena, struct fact, shader->value_count + 1ull),
      .escapes = agxc_bitset_new(shader, shader->value_count + 1ull),
   };
   find_escapes(&pass);
   bool progress = agxc_loops_visit(&shader->body, try_loop, &pass);
   for (const struct once *once = pass.once; once; once = once->next)
      agxc_rest_end(&once->shape);
   return progress;
}
