/* SPDX-License-Identifier: MIT
 *
 * Batches loads of loops with barriers. A barrier waits for all loads, so that one load in each
 * iteration is one wait in each, and such iterations are too long for copies of them. Loads of
 * memory that nothing writes, at addresses that follow from the induction variable, are done for up
 * to four iterations at once:
 *
 *    for (; i < n; i += step) {
 *       if ((i - first) / step % 4 == 0) {
 *          v0 = load(i)
 *          v1 = load(1 * step < n - i ? i + 1 * step : i)    ... v3
 *       } else {
 *          v0 = v1, v1 = v2, v2 = v3
 *       }
 *       body, with v0 for what it loaded
 *    }
 *
 * An iteration that isn't one loads what this one does, so its loads are as valid. Steps are powers
 * of two: an induction variable that wraps before it reaches n then never does, so that only loops
 * that never end differ. Every lane counts for itself, so control need not be uniform.
 *
 * Loops with barriers, and other long ones, as long as the values that wait find registers in the
 * step of occupancy that the loop is at. Where an iteration is an inner loop, one wait is little to
 * it. A load that does not depend on i is left alone: opt_licm takes it out of the loop.
 *
 * Before and after: generic SSA. Stands behind opt_unroll_predicated, which takes the shorter
 * loops, and in front of opt_vectorize.
 */
#include "agx/compiler/analysis/induction.h"
#include "agx/compiler/analysis/limits.h"
#include "agx/compiler/analysis/liveness.h"
#include "agx/compiler/opt/loads/loads_impl.h"
#include "agx/compiler/opt/loads/loads.h"

#define MIN_SIZE 40u /* of an iteration without barriers: shorter ones are copied for less */

struct batch {
   struct agxc_induction induction;
   struct agxc_block *body; /* behind the exit */
   struct agxc_instr *loads[AGXC_LOADS_FAR];
   uint32_t load_count, load_halves;
   uint32_t iterations; /* at a time */
};

struct pass {
   struct agxc_shader *shader;
   struct agxc_liveness *liveness;
   struct agxc_clone_map map;
   /* By value id, of the loop that is looked at: how many instructions after each other compute it
    * there, from nothing but its induction variable and what is outside; 0: it doesn't follow from
    * these. */
   uint8_t *depth;
   /* By value id: it depends on the induction variable; else it is the same in each iteration. */
   bool *varies;
};

/* ---- choosing ------------------------------------------------------------ */

static bool is_slow_load(const struct agxc_instr *instr)
{
   bool is_image = instr->op >= AGXC_OP_IMAGE_LOAD && instr->op <= AGXC_OP_IMAGE_INFO;
   return is_image || instr->op == AGXC_OP_LOAD_GLOBAL || instr->op == AGXC_OP_LOAD_SCRATCH;
}

/* How deep what follows from the sources is, or 0. */
static uint8_t depth_of(const struct pass *pass, const struct batch *a,
                        const struct agxc_instr *instr)
{
   uint8_t depth = 1;
   agxc_foreach_src (src, instr) {
      if (agxc_loop_is_invariant(&a->induction.shape, src))
         continue;
      uint8_t before = pass->depth[src->value->id];
      if (before == 0 || before == AGXC_LOADS_MAX_SLICE)
         return 0;
      depth = AGX_MAX(depth, before + 1);
   }
   return depth;
}

static bool varies(const struct pass *pass, const struct batch *a, const struct agxc_instr *instr)
{
   agxc_foreach_src (src, instr)
      if (!agxc_loop_is_invariant(&a->induction.shape, src) && pass->varies[src->value->id])
         return true;
   return false;
}

/* Notes what follows from the induction variable, and loads at such addresses. False: one that
 * doesn't, or one in front of the exit, which runs once more than there are iterations. */
static bool visit_instr(struct pass *pass, struct batch *a, struct agxc_instr *instr, bool is_top)
{
   const struct agxc_ref *dest = agxc_dests(instr);
   uint8_t depth = is_top ? depth_of(pass, a, instr) : 0;
   if (instr->op == AGXC_OP_RETURN)
      return false;
   if (instr == a->induction.phi) {
      pass->depth[dest->value->id] = 1;
      pass->varies[dest->value->id] = true;
   }
   if (agxc_is_arithmetic(instr))
      agxc_foreach_dest (each, instr) {
         pass->depth[each->value->id] = depth;
         pass->varies[each->value->id] = varies(pass, a, instr);
      }
   bool returns = agxc_flags(instr) & AGXC_SIDE_EFFECT && instr->dest_count;
   if (!is_slow_load(instr))
      return !returns; /* an atomic's wait would stay */
   if (depth == 0 || instr->block == a->induction.shape.header || !agxc_reads_constant(instr) ||
       instr->op != AGXC_OP_LOAD_GLOBAL)
      return false;
   if (!varies(pass, a, instr))
      return true;
   if (a->load_count == AGXC_LOADS_FAR)
      return false;
   a->loads[a->load_count++] = instr;
   a->load_halves += agxc_halves(dest->value);
   return true;
}

/* All waits of the loop must be for such loads: others would stay. Sets the halves that live in
 * the loop. */
static bool visit_loop(struct pass *pass, struct batch *a, uint32_t *out_halves)
{
   const struct agxc_loop *loop = a->induction.shape.loop;
   uint32_t end = agxc_last_block(&loop->continuing)->index;
   bool was_exit = false;
   *out_halves = 0;
   for (uint32_t i = a->induction.shape.header->index; i <= end; i++) {
      struct agxc_block *block = pass->shader->blocks[i];
      was_exit |= block == a->body;
      *out_halves = AGX_MAX(*out_halves, pass->liveness->halves[i]);
      bool is_header = block == a->induction.shape.header;
      bool is_top = block->node.list == &loop->body && (was_exit || is_header);
      agxc_foreach_instr (instr, block)
         if (!visit_instr(pass, a, instr, is_top))
            return false;
   }
   return a->load_count > 0;
}

static uint32_t choose_iterations(struct pass *pass, struct batch *a)
{
   const struct agxc_loop_shape *shape = &a->induction.shape;
   uint32_t halves;
   if (shape->inner_loops || (!shape->barriers && shape->size < MIN_SIZE) ||
       !visit_loop(pass, a, &halves))
      return 1;
   halves += AGXC_SLACK_HALVES;
   /* A value of an iteration ahead is a move in each iteration, for every two halves. */
   uint32_t most = AGX_MIN(agxc_end_of_step(pass->shader, halves), agxc_most_halves(pass->shader));
   for (uint32_t iterations = AGXC_LOADS_MAX_ITERATIONS; iterations > 1; iterations /= 2)
      if (halves + (iterations - 1) * a->load_halves <= most &&
          (iterations - 1) * a->load_halves <= shape->size / 2)
         return iterations;
   return 1;
}

/* ---- rewriting ----------------------------------------------------------- */

/* The test at the body's start, and the if; what was the body goes on behind it. */
static struct agxc_if *insert_if(struct batch *a)
{
   struct agxc_induction *c = &a->induction;
   struct agxc_builder b = agxc_at_start(c->shape.shader, a->body);
   struct agxc_ref place = agxc_use(agxc_dest(c->phi)->value), first = *agxc_phi_entry(c->phi);
   if (first.kind != AGXC_IMM || first.imm & (a->iterations * c->step - 1))
      place = agxc_build_isub(&b, place, first);
   place = agxc_build_iand(&b, place, agxc_u32((a->iterations - 1) * c->step));
   return agxc_build_if(&b, agxc_build_ieq(&b, place, agxc_u32(0)), &a->body);
}

/* i of an iteration ahead, or of this one when there is none. */
static struct agxc_ref build_place(struct batch *a, struct agxc_builder *b, struct agxc_ref left,
                                   uint32_t distance)
{
   struct agxc_induction *c = &a->induction;
   struct agxc_ref here = agxc_use(agxc_dest(c->phi)->value), far = agxc_u32(distance);
   struct agxc_ref is_iteration =
      c->is_inclusive ? agxc_build_uge(b, left, far) : agxc_build_ult(b, far, left);
   struct agxc_ref there = agxc_build_iadd(b, here, far);
   return agxc_build_select(b, is_iteration, there, here);
}

/* Copies what computes a value in the loop, unless that is done. */
static void copy_value(const struct batch *a, struct agxc_clone *clone, const struct agxc_ref *ref)
{
   if (agxc_loop_is_invariant(&a->induction.shape, ref) ||
       agxc_clone_ref(clone, *ref).value != ref->value)
      return;
   const struct agxc_instr *def = ref->value->def;
   agxc_foreach_src (src, def)
      copy_value(a, clone, src);
   agxc_foreach_dest (dest, def)
      agxc_clone_renew(clone, dest->value);
   agxc_clone_instr(clone, def);
}

/* The loads of all iterations, into `block`. */
static void build_loads(struct pass *pass, struct batch *a, struct agxc_block *block,
                        struct agxc_ref out[AGXC_LOADS_MAX_ITERATIONS][AGXC_LOADS_FAR])
{
   struct agxc_induction *c = &a->induction;
   struct agxc_builder b = agxc_at_end(pass->shader, block);
   struct agxc_ref here = agxc_use(agxc_dest(c->phi)->value);
   struct agxc_ref left = agxc_build_isub(&b, c->limit, here);
   for (uint32_t iteration = 0; iteration < a->iterations; iteration++) {
      struct agxc_ref place =
         iteration ? build_place(a, &b, left, iteration * c->step) : agxc_build_mov(&b, here);
      struct agxc_clone clone =
         agxc_clone_begin(pass->shader, (struct agxc_cursor){NULL, block}, &pass->map);
      agxc_clone_set(&clone, here.value, place);
      for (uint32_t i = 0; i < a->load_count; i++) {
         agxc_foreach_src (src, a->loads[i])
            copy_value(a, &clone, src);
         agxc_clone_renew(&clone, agxc_dest(a->loads[i])->value);
         agxc_clone_instr(&clone, a->loads[i]);
         out[iteration][i] = agxc_clone_ref(&clone, agxc_use(agxc_dest(a->loads[i])->value));
      }
   }
}

/* The ring of one load; values[] are those of its iterations. */
static void build_rotation(struct batch *a, struct agxc_instr *load,
                           struct agxc_ref values[AGXC_LOADS_MAX_ITERATIONS][AGXC_LOADS_FAR],
                           uint32_t which)
{
   struct agxc_shader *shader = a->induction.shape.shader;
   struct agxc_builder header = agxc_before(shader, a->induction.phi);
   struct agxc_builder body = agxc_at_start(shader, a->body);
   struct agxc_builder before =
      agxc_at_end(shader, agxc_block_before(&a->induction.shape.loop->node));
   const struct agxc_ref shape = *agxc_dest(load);
   /* At first; and behind the last one, where any register will do. */
   const struct agxc_ref unread = agxc_build_undef(&before, shape.bits, shape.count);
   struct agxc_instr *held[AGXC_LOADS_MAX_ITERATIONS], *now[AGXC_LOADS_MAX_ITERATIONS];
   for (uint32_t iteration = 1; iteration < a->iterations; iteration++)
      held[iteration] = agxc_build_phi(&header, shape.bits, shape.count, 2);
   for (uint32_t iteration = 0; iteration < a->iterations; iteration++) {
      now[iteration] = agxc_build_phi(&body, shape.bits, shape.count, 2);
      *agxc_phi_then(now[iteration]) = values[iteration][which];
      bool is_last = iteration + 1 == a->iterations;
      *agxc_phi_else(now[iteration]) = is_last ? unread : *agxc_dest(held[iteration + 1]);
   }
   for (uint32_t iteration = 1; iteration < a->iterations; iteration++) {
      *agxc_phi_entry(held[iteration]) = unread;
      *agxc_phi_back(held[iteration]) = *agxc_dest(now[iteration]);
   }
   agxc_become_mov(shader, load, *agxc_dest(now[0]));
}

static void batch_loads(struct pass *pass, struct batch *a)
{
   struct agxc_ref values[AGXC_LOADS_MAX_ITERATIONS][AGXC_LOADS_FAR];
   const struct agxc_if *branch = insert_if(a);
   build_loads(pass, a, agxc_first_block(&branch->then_list), values);
   for (uint32_t i = 0; i < a->load_count; i++)
      build_rotation(a, a->loads[i], values, i);
}

/* ---- pass ---------------------------------------------------------------- */

static bool try_loop(void *user, struct agxc_loop *loop)
{
   struct pass *pass = user;
   struct batch a = {0};
   struct agxc_induction *c = &a.induction;
   if (!agxc_induction_find(c, pass->shader, loop) || c->step > AGXC_LOADS_MAX_STEP ||
       c->step & (c->step - 1))
      return false;
   a.body = agxc_block_after(&c->shape.exit->node);
   if (agxc_as_phi(agxc_first_instr(a.body)))
      return false;
   if (!pass->liveness)
      pass->liveness = agxc_liveness_compute(pass->shader);
   a.iterations = choose_iterations(pass, &a);
   if (a.iterations > 1)
      batch_loads(pass, &a);
   return a.iterations > 1;
}

bool agxc_opt_batch_loads(struct agxc_shader *shader)
{
   agxc_index(shader);
   struct pass pass = {
      .shader = shader,
      .depth = AGX_ARENA_ARRAY(shader->arena, uint8_t, shader->value_count + 1ull),
      .varies = AGX_ARENA_ARRAY(shader->arena, bool, shader->value_count + 1ull),
   };
   return agxc_loops_visit(&shader->body, try_loop, &pass);
}
