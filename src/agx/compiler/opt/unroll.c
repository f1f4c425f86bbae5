/* SPDX-License-Identifier: MIT
 *
 * Replaces loops that run a known number of times by that many copies of their body, where these
 * are few instructions. How often a loop runs is found by running it: the values that its exit
 * depends on are computed, iteration by iteration, as long as they are constants. So any induction
 * variable will do. Where lanes share a loop and begin at different places, as in
 *
 *    for (i = local_id_x; i < 256; i += 64)
 *
 * the bounds of the first place tell how often it runs, if that is equally often for both.
 *
 * loop_shape.h says which loops qualify. Loops with side exits that run a few times become ifs
 * around ifs: each iteration stands in the arm of the one before that does not break.
 *
 * Before: generic SSA. After: the same; what copies repeat is left to opt_cse and opt_dce. Stands
 * in front of lower_private, since offsets into private arrays often become constant here.
 */
#include "agx/compiler/ir/fold.h"
#include "agx/compiler/ir/walk.h"
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/analysis/induction.h"
#include "agx/compiler/analysis/range.h"

#define MAX_ITERATIONS 64u
/* Instructions in all copies together, without those that counted_size leaves out. More
 * go when offsets and selects become constant, so this is well above what remains;
 * 12 KiB of instruction cache are some 1500 instructions (source: docs/hw/performance.md). */
#define MAX_COPIES 640u
/* The same where the loop chooses among the elements of private arrays. */
#define MAX_ARRAY_COPIES (2 * MAX_COPIES)
/* The same where lanes begin at different places: nothing becomes constant. */
#define MAX_SHARED_COPIES 128u
/* And with them: what passes have to look at. */
#define MAX_WORK 8192u
/* Levels of ifs that side exits make. */
#define MAX_NESTED 8u
#define MAX_NAMES  64u
#define MAX_DEPTH  48u /* of expressions that the exit depends on */
#define MAX_START  4u  /* of expressions that say where a lane begins */

struct unroll {
   struct agxc_loop_shape shape;
   uint32_t iterations;         /* whole ones */
   uint32_t gone, private_gone; /* instructions of a copy */
   struct evaluation *evaluation;
};

/* What is known of values in one iteration, of one loop after the other. */
struct evaluation {
   struct agxc_shader *shader;
   uint32_t
      *iteration_of; /* by value id: the iteration in which `known` was found, + first_iteration */
   struct known {
      bool is_known;
      uint32_t bits;
   } * known;
   uint32_t capacity;
   uint32_t first_iteration; /* above all iterations of the loops before */
   struct agxc_clone_map map;
};

/* ---- how often --------------------------------------------------------- */

static struct known evaluate(struct unroll *u, const struct agxc_ref *ref, unsigned depth);

static struct known compute(struct unroll *u, const struct agxc_instr *def, unsigned depth)
{
   struct known a, b = {true, 0}, result = {false, 0};
   if (def->op == AGXC_OP_MOV)
      return evaluate(u, agxc_src_a(def), depth);
   if (def->op == AGXC_OP_PHI && def->src_count == 1)
      return evaluate(u, agxc_phi_only(def), depth);
   if (def->op == AGXC_OP_SELECT) {
      a = evaluate(u, agxc_src_condition(def), depth);
      if (!a.is_known)
         return result;
      return evaluate(u, a.bits ? agxc_src_if_true(def) : agxc_src_if_false(def), depth);
   }
   /* Rules are for 32 bits, and for booleans where no sign matters. */
   bool has_two = agxc_has_src(def, AGXC_SRC_B);
   if (def->dest_count != 1 || def->src_count > 2 || !agxc_has_src(def, AGXC_SRC_A) ||
       (agxc_src_a(def)->bits != 32 && agxc_src_a(def)->bits != 1))
      return result;
   a = evaluate(u, agxc_src_a(def), depth);
   if (a.is_known && has_two)
      b = evaluate(u, agxc_src_b(def), depth);
   if (!a.is_known || !b.is_known)
      return result;
   struct agxc_ref folded = agxc_fold(
      (enum agxc_op)def->op, agxc_dest(def)->bits, agxc_imm(a.bits, agxc_src_a(def)->bits),
      has_two ? agxc_imm(b.bits, agxc_src_b(def)->bits) : agxc_none());
   if (folded.kind == AGXC_IMM)
      result = (struct known){true, (uint32_t)folded.imm};
   return result;
}

static struct known evaluate(struct unroll *u, const struct agxc_ref *ref, unsigned depth)
{
   struct evaluation *e = u->evaluation;
   if (ref->kind == AGXC_IMM)
      return (struct known){ref->bits <= 32, (uint32_t)ref->imm};
   if (ref->kind != AGXC_VALUE || depth == 0 || !ref->value->def)
      return (struct known){false, 0};
   uint32_t id = ref->value->id;
   if (e->iteration_of[id] != u->iterations + e->first_iteration) {
      struct known known = compute(u, ref->value->def, depth - 1);
      e->known[id] = known;
      e->iteration_of[id] = u->iterations + e->first_iteration;
   }
   return e->known[id];
}

/* What the header's phis hold in the next iteration, from source `from` of each: 0 the way in, 1
 * the way back. Two steps, since they change at once. */
static void enter_iteration(struct unroll *u, const struct agxc_block *header, unsigned from,
                            struct known *next)
{
   uint32_t count = 0;
   agxc_foreach_phi (phi, header)
      next[count++] = evaluate(u, from ? agxc_phi_back(phi) : agxc_phi_entry(phi), MAX_DEPTH);
   u->iterations += from;
   count = 0;
   agxc_foreach_phi (phi, header) {
      u->evaluation->known[agxc_dest(phi)->value->id] = next[count++];
      u->evaluation->iteration_of[agxc_dest(phi)->value->id] =
         u->iterations + u->evaluation->first_iteration;
   }
}

static bool is_known(struct unroll *u, const struct agxc_ref *ref)
{
   return evaluate(u, ref, MAX_DEPTH).is_known;
}

/* Whether nothing is left of an instruction where induction variables are constants. */
static bool is_gone(struct unroll *u, const struct agxc_instr *instr)
{
   switch (instr->op) {
   case AGXC_OP_BRANCH:
   case AGXC_OP_SELECT:
      return is_known(u, agxc_src_condition(instr));
   case AGXC_OP_LOAD_PRIVATE:
   case AGXC_OP_STORE_PRIVATE: /* a value */
      return is_known(u, agxc_src_offset(instr));
   default:
      return instr->dest_count == 1 && is_known(u, agxc_dest(instr));
   }
}

/* Counts what is gone of a copy; is_dead: nothing reaches the list. Phis and moves are in no size.
 */
static void count_gone(struct unroll *u, const struct agx_link *list, bool is_dead)
{
   agxc_foreach_node (node, list) {
      if (node->kind == AGXC_NODE_IF) {
         const struct agxc_ref *condition =
            agxc_src_condition(agxc_terminator(agxc_block_before(node)));
         struct known taken = evaluate(u, condition, MAX_DEPTH);
         count_gone(u, &agxc_as_if(node)->then_list, is_dead || (taken.is_known && !taken.bits));
         count_gone(u, &agxc_as_if(node)->else_list, is_dead || (taken.is_known && taken.bits));
      } else if (node->kind == AGXC_NODE_BLOCK) {
         agxc_foreach_instr (instr, agxc_as_block(node)) {
            if (instr->op == AGXC_OP_PHI || instr->op == AGXC_OP_MOV ||
                !(is_dead || is_gone(u, instr)))
               continue;
            u->gone++;
            u->private_gone +=
               instr->op == AGXC_OP_LOAD_PRIVATE || instr->op == AGXC_OP_STORE_PRIVATE;
         }
      }
   }
}

/* Instructions of an iteration that count. In the loop an access to a private variable at an offset
 * that varies chooses among all elements; to be rid of that is worth more copies. So it is where
 * half of the code goes. */
static uint32_t counted_size(struct unroll *u)
{
   u->gone = u->private_gone = 0;
   count_gone(u, &u->shape.loop->body, false);
   count_gone(u, &u->shape.loop->continuing, false);
   bool counts = u->private_gone || 2 * u->gone >= u->shape.size;
   return u->shape.size - (counts ? AGX_MIN(u->gone, u->shape.size) : 0);
}

/* Whole iterations before the loop is left, in u->iterations; false when that isn't known. */
static bool count_iterations(struct unroll *u)
{
   const struct agxc_block *header = u->shape.header;
   struct known next[AGXC_LOOP_MAX_PHIS];
   uint32_t size = u->shape.size;
   u->iterations = 0;
   enter_iteration(u, header, 0, next);
   for (;;) {
      struct known taken = evaluate(u, u->shape.taken, MAX_DEPTH);
      if (!taken.is_known)
         return false;
      if ((taken.bits != 0) == u->shape.leaves_if)
         return true;
      if (u->iterations == 1) /* in the first one more is known than in the others */
         size = counted_size(u);
      if (u->iterations == MAX_ITERATIONS ||
          (u->iterations + 1) * size > (u->private_gone ? MAX_ARRAY_COPIES : MAX_COPIES) ||
          (u->iterations + 1) * u->shape.size > MAX_WORK)
         return false;
      enter_iteration(u, header, 1, next);
   }
}

static struct agxc_range bounds(const struct agxc_shader *shader, struct agxc_ref ref,
                                unsigned depth)
{
   ref = agxc_skip_moves(ref);
   if (ref.kind == AGXC_IMM)
      return (struct agxc_range){(uint64_t)ref.imm, (uint64_t)ref.imm};
   const struct agxc_instr *def = depth ? agxc_def_of(ref) : NULL;
   if (!def || def->dest_count != 1)
      return agxc_range_full(32);
   if (!agxc_has_src(def, AGXC_SRC_A) || !agxc_has_src(def, AGXC_SRC_B) || def->src_count != 2)
      return agxc_range_of_op(shader, def);
   return agxc_range_combine((enum agxc_op)def->op, ref.bits,
                             bounds(shader, *agxc_src_a(def), depth - 1),
                             bounds(shader, *agxc_src_b(def), depth - 1));
}

/* Iterations of a lane that begins there, below the limit. */
static uint64_t iterations_from(const struct agxc_induction *c, uint64_t first)
{
   uint64_t limit = (uint64_t)c->limit.imm;
   return first < limit ? (limit - first + c->step - 1) / c->step : 0;
}

/* The same number of iterations for all lanes, in u->iterations. */
static bool count_shared(struct unroll *u, struct agxc_loop *loop)
{
   struct agxc_induction c = {0};
   if (u->shape.side_exits || !agxc_induction_find(&c, u->shape.shader, loop) || c.is_inclusive ||
       c.limit.kind != AGXC_IMM || (uint64_t)c.limit.imm > INT32_MAX - (uint64_t)c.step)
      return false;
   struct agxc_range first = bounds(u->shape.shader, *agxc_phi_entry(c.phi), MAX_START);
   uint64_t count = iterations_from(&c, first.min);
   if (first.max > INT32_MAX || count != iterations_from(&c, first.max) ||
       count * u->shape.size > MAX_SHARED_COPIES)
      return false;
   u->iterations = (uint32_t)count;
   return true;
}

static void keep_block(struct agxc_clone *clone, const struct agxc_block *block)
{
   struct agxc_builder b = agxc_at_end(clone->shader, clone->cursor.block);
   agxc_foreach_instr (instr, block)
      agxc_foreach_dest (dest, instr)
         agxc_define_as(agxc_build_mov(&b, agxc_clone_ref(clone, *dest)), *dest);
}

/* What the code behind the loop knows by its old names. Only blocks on the top level, up to the
 * exit, come before it on every way. True at the exit. */
static bool keep_names(struct unroll *u, struct agxc_clone *clone, const struct agx_link *list)
{
   agxc_foreach_node (node, list) {
      if (node->kind == AGXC_NODE_BLOCK)
         keep_block(clone, agxc_as_block(node));
      if (node == &u->shape.exit->node)
         return keep_names(u, clone, u->shape.break_arm) || true;
   }
   return false;
}

static void unroll(struct unroll *u)
{
   struct agxc_block *entry = agxc_block_before(&u->shape.loop->node);
   struct agxc_block *behind = agxc_block_after(&u->shape.loop->node);
   struct agxc_clone clone = agxc_clone_begin(
      u->shape.shader, (struct agxc_cursor){&u->shape.loop->node.link, entry}, &u->evaluation->map);
   for (uint32_t iteration = 0; iteration <= u->iterations; iteration++) {
      bool leaves = iteration == u->iterations;
      agxc_iteration_begin(&u->shape, &clone, iteration > 0);
      agxc_iteration_copy(&u->shape, &clone, leaves);
   }
   agxc_foreach_phi (phi, behind) /* one way leads there: the break */
      agxc_become_mov(u->shape.shader, phi, agxc_clone_ref(&clone, *agxc_phi_only(phi)));
   if (!keep_names(u, &clone, &u->shape.loop->body))
      keep_names(u, &clone, &u->shape.loop->continuing);
   agx_list_remove(&u->shape.loop->node.link);
   agxc_melt(&clone.cursor, behind);
}

/* Values of the top level before the first exit, which the code behind the loop may use; false: too
 * many. */
static bool find_names(const struct unroll *u, struct agxc_value **names, uint32_t *count)
{
   *count = 0;
   agxc_foreach_list (list, &u->shape.loop->node)
      agxc_foreach_node (node, list) {
         if (node == &u->shape.exit->node)
            return true;
         if (node->kind != AGXC_NODE_BLOCK)
            continue;
         agxc_foreach_instr (instr, agxc_as_block(node))
            agxc_foreach_dest (dest, instr) {
               if (*count == MAX_NAMES)
                  return false;
               names[(*count)++] = dest->value;
            }
      }
   return true;
}

static bool unroll_nested(struct unroll *u)
{
   struct agxc_value *names[MAX_NAMES];
   uint32_t name_count, count = 0;
   if (u->shape.side_exits * (u->iterations + 1) > MAX_NESTED || !find_names(u, names, &name_count))
      return false;
   struct agxc_node *loop = &u->shape.loop->node;
   struct agxc_block *behind = agxc_block_after(loop);
   struct agxc_clone clone =
      agxc_clone_begin(u->shape.shader, (struct agxc_cursor){&loop->link, agxc_block_before(loop)},
                       &u->evaluation->map);
   const struct agxc_ref *refs =
      agxc_iterations_nest(&u->shape, &clone, u->iterations, names, name_count);
   agxc_foreach_phi (phi, behind)
      agxc_become_mov(u->shape.shader, phi, refs[count++]);
   struct agxc_builder b = agxc_at_end(u->shape.shader, clone.cursor.block);
   for (uint32_t i = 0; i < name_count; i++)
      agxc_define_as(agxc_build_mov(&b, refs[count + i]), agxc_use(names[i]));
   agx_list_remove(&loop->link);
   agxc_melt(&clone.cursor, behind);
   return true;
}

/* ---- pass --------------------------------------------------------------- */

/* Copies are new values, too. */
static void make_room(struct evaluation *e, struct agxc_shader *shader)
{
   if (e->capacity >= shader->value_count)
      return;
   e->capacity = 2 * shader->value_count;
   e->iteration_of = AGX_ARENA_ARRAY(shader->arena, uint32_t, e->capacity);
   e->known = AGX_ARENA_ARRAY(shader->arena, struct known, e->capacity);
}

static bool try_loop(struct evaluation *e, struct agxc_loop *loop)
{
   struct unroll u = {.evaluation = e};
   /* What a loop inside computes may be used behind both, under names that are not kept here. */
   if (!(agxc_loop_shape_find(&u.shape, e->shader, loop) ||
         agxc_loop_shape_find_sides(&u.shape, e->shader, loop)) ||
       u.shape.inner_loops)
      return false;
   make_room(e, e->shader);
   e->first_iteration += MAX_ITERATIONS + 2;
   if (!count_iterations(&u) && !count_shared(&u, loop))
      return false;
   if (u.shape.side_exits)
      return unroll_nested(&u);
   unroll(&u);
   return true;
}

/* What came of the loop has no loop that was not tried. */
static enum agxc_visited leave_loop(void *user, struct agxc_loop *loop)
{
   return try_loop(user, loop) ? AGXC_REPLACED : AGXC_UNCHANGED;
}

bool agxc_opt_unroll(struct agxc_shader *shader)
{
   struct evaluation evaluation = {.shader = shader};
   const struct agxc_visitor visitor = {.leave_loop = leave_loop};
   agxc_index(shader);
   return agxc_walk(&shader->body, &visitor, &evaluation);
}
