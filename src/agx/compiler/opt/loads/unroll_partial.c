/* SPDX-License-Identifier: MIT
 *
 * Unrolls small inner loops over i < n, of which nothing else is known: they take several
 * iterations at a time as long as that many are left:
 *
 *    for (; i < n - 3 * step; i += 4 * step) { body(i) ... body(i + 3 * step) }
 *    for (; i < n; i += step) body(i)
 *
 * Loads of four iterations wait together, neighbours join, and three of four tests are saved. What
 * is the same in all iterations doesn't count: passes behind this one take it out. The limit n - 3
 * * step is computed so that it can't wrap: as max(n, lowest + 3 * step) - 3 * step. An induction
 * variable below it can take the four steps without wrapping either.
 *
 * Where the number of iterations is known and a multiple of four, the copies are put behind each
 * other in the loop as it is, without tests in between.
 *
 * Lanes with different n leave the first loop at different times, so loops with operations
 * between lanes, or with barriers, stay as they are.
 *
 * Before: generic SSA. After: the same. Stands behind opt_unroll, which takes loops of known
 * length, and in front of the passes that join what the copies repeat.
 */
#include "agx/compiler/analysis/induction.h"
#include "agx/compiler/analysis/offset.h"
#include "agx/compiler/analysis/op_cost.h"
#include "agx/compiler/opt/loads/loads_impl.h"
#include "agx/compiler/opt/loads/loads.h"

#define MAX_SIZE 48u /* instructions in all copies ... */
#define MAX_LONG 96u /* ... where none are left over, or loads of four join or wait together */
/* ... where neighbours join, or may join and there is no rest: four words fit into a vector. */
#define MAX_JOIN   128u
#define MAX_COPY   384u /* with what is the same in all iterations, until opt_cse joins it */
#define MAX_OFFSET 4u   /* operations deep that an offset is looked into */
#define MAX_STEP   8    /* longer ones share a loop among lanes: few iterations each */

struct pass {
   struct agxc_shader *shader;
   struct agxc_clone_map map;
   agx_bitset_word *varying; /* values that change from iteration to iteration */
};

/* ---- choosing ---------------------------------------------------------- */

/* The number of iterations is known and a multiple of factor. */
static bool goes_up(const struct agxc_induction *c, unsigned factor)
{
   const struct agxc_ref *first = agxc_phi_entry(c->phi);
   if (first->kind != AGXC_IMM || c->limit.kind != AGXC_IMM)
      return false;
   int64_t from = c->is_signed ? (int32_t)first->imm : (int64_t)(uint32_t)first->imm;
   int64_t to = c->is_signed ? (int32_t)c->limit.imm : (int64_t)(uint32_t)c->limit.imm;
   int64_t iterations = (to - from + c->step - 1) / c->step;
   return to > from && iterations % factor == 0;
}

/* Scratch memory comes in order, and what is loaded behind a store of another iteration waits for
 * it: such loads gain nothing side by side. Loads alone at least wait once. */
static bool has_private_order(const struct agxc_loop_shape *shape)
{
   return shape->private_loads && shape->private_stores;
}

static bool loads_scalars(const struct agxc_loop_shape *shape)
{
   agxc_foreach_loop_block (block, shape->shader, shape->loop)
      agxc_foreach_instr (instr, block)
         if (instr->op == AGXC_OP_LOAD_GLOBAL && agxc_dest(instr)->count == 1)
            return true;
   return false;
}

/* A load of a word at most, of which the next iteration loads the neighbour. */
static bool loads_neighbours(const struct agxc_induction *c)
{
   agxc_foreach_loop_block (block, c->shape.shader, c->shape.loop)
      agxc_foreach_instr (instr, block) {
         if (instr->op != AGXC_OP_LOAD_GLOBAL)
            continue;
         const struct agxc_ref *dest = agxc_dest(instr);
         uint64_t bytes = dest->count * dest->bits / 8u;
         struct agxc_offset offset =
            agxc_offset_split(*agxc_src_offset(instr), AGXC_OFFSET_LINEAR, MAX_OFFSET);
         for (uint32_t i = 0; i < offset.count && bytes <= 4; i++)
            if (agxc_def_of(offset.terms[i].ref) == c->phi &&
                offset.terms[i].factor * c->step == bytes)
               return true;
      }
   return false;
}

/* Two iterations at a time save half of the waits, and need a second loop for that. */
static uint32_t most_instructions(const struct agxc_induction *c, unsigned factor)
{
   bool loads = c->shape.flags & AGXC_READS_MEMORY && factor == AGXC_LOADS_MAX_ITERATIONS;
   if (!loads)
      return goes_up(c, factor) ? MAX_LONG : MAX_SIZE;
   if (goes_up(c, factor) && loads_scalars(&c->shape))
      return MAX_JOIN;
   return loads_neighbours(c) ? MAX_JOIN : MAX_LONG;
}

/* Instructions of an iteration without those that are the same in all. */
static uint32_t varying_size(struct pass *pass, const struct agxc_loop_shape *shape)
{
   uint32_t size = 0;
   agxc_foreach_loop_block (block, shape->shader, shape->loop) {
      agxc_foreach_instr (instr, block) {
         bool varies = instr->op == AGXC_OP_PHI || !agxc_is_movable(instr) ||
                       (agxc_flags(instr) & AGXC_READS_MEMORY && !agxc_reads_constant(instr));
         agxc_foreach_src (src, instr)
            varies |= !agxc_loop_is_invariant(shape, src) &&
                      agx_bitset_test(pass->varying, src->value->id);
         agxc_foreach_dest (dest, instr)
            if (varies)
               agx_bitset_set(pass->varying, dest->value->id);
         if (varies && instr->op != AGXC_OP_PHI && instr->op != AGXC_OP_MOV)
            size += agxc_op_size(instr);
      }
   }
   return size;
}

/* How many iterations at a time; 1: leave it. */
static unsigned choose_factor(struct pass *pass, const struct agxc_induction *c)
{
   unsigned factor = AGXC_LOADS_MAX_ITERATIONS;
   if (c->step > MAX_STEP || c->is_inclusive)
      return 1;
   uint32_t size = varying_size(pass, &c->shape);
   while (factor > 1 &&
          (factor * size > most_instructions(c, factor) || factor * c->shape.size > MAX_COPY))
      factor /= 2;
   return factor;
}

/* ---- the new loop ------------------------------------------------------- */

/* max(n, lowest + span) - span */
static struct agxc_ref build_limit(struct agxc_induction *c, uint32_t span)
{
   struct agxc_builder b = agxc_at_end(c->shape.shader, agxc_block_before(&c->shape.loop->node));
   uint32_t lowest = c->is_signed ? 0x80000000u : 0;
   struct agxc_ref limit = agxc_build2(&b, c->is_signed ? AGXC_OP_IMAX : AGXC_OP_UMAX, 32, c->limit,
                                       agxc_u32(lowest + span));
   return agxc_build_isub(&b, limit, agxc_u32(span));
}

/* The loop and the block behind it, before the old one. */
static struct agxc_loop *insert_loop(struct agxc_induction *c)
{
   struct agxc_shader *shader = c->shape.shader;
   struct agxc_node *old = &c->shape.loop->node;
   struct agxc_loop *loop = agxc_loop_new(shader);
   struct agxc_block *between = agxc_block_new(shader);
   agxc_node_insert_before(old, &loop->node);
   agxc_node_insert_before(old, &between->node);
   return loop;
}

/* Phis for those of the old header; the clone maps these to the new ones. */
static void build_phis(struct agxc_induction *c, struct agxc_clone *clone,
                       struct agxc_block *header, struct agxc_instr **out_phis)
{
   struct agxc_builder b = agxc_at_end(c->shape.shader, header);
   agxc_foreach_phi (old, c->shape.header) {
      const struct agxc_value *value = agxc_dest(old)->value;
      struct agxc_instr *phi = agxc_build_phi(&b, value->bits, value->count, 2);
      *agxc_phi_entry(phi) = *agxc_phi_entry(old);
      agxc_clone_set(clone, value, *agxc_dest(phi));
      *out_phis++ = phi;
   }
}

static struct agxc_block *build_exit(struct agxc_induction *c, struct agxc_block *header,
                                     struct agxc_ref induction, struct agxc_ref limit)
{
   struct agxc_builder b = agxc_at_end(c->shape.shader, header);
   struct agxc_block *behind;
   struct agxc_ref stays =
      agxc_build2(&b, c->is_signed ? AGXC_OP_SLT : AGXC_OP_ULT, 1, induction, limit);
   const struct agxc_if *branch = agxc_build_if(&b, stays, &behind);
   b = agxc_at_end(c->shape.shader, agxc_first_block(&branch->else_list));
   agxc_build_break(&b);
   return behind;
}

static void unroll_partial(struct agxc_induction *c, unsigned factor, struct agxc_clone_map *map)
{
   struct agxc_shader *shader = c->shape.shader;
   struct agxc_instr *phis[AGXC_LOOP_MAX_PHIS];
   struct agxc_ref limit = build_limit(c, (factor - 1) * c->step);
   struct agxc_loop *loop = insert_loop(c);
   struct agxc_clone clone = agxc_clone_begin(shader, (struct agxc_cursor){&loop->body, NULL}, map);
   struct agxc_block *header = agxc_block_append(shader, &loop->body, &loop->node);
   build_phis(c, &clone, header, phis);
   struct agxc_ref induction = agxc_clone_ref(&clone, agxc_use(agxc_dest(c->phi)->value));
   clone.cursor.block = build_exit(c, header, induction, limit);
   for (unsigned iteration = 0; iteration < factor; iteration++) {
      agxc_iteration_copy(&c->shape, &clone, false);
      agxc_iteration_begin(&c->shape, &clone, true);
   }
   agxc_block_append(shader, &loop->continuing, &loop->node);
   unsigned count = 0;
   agxc_foreach_phi (old, c->shape.header) {
      struct agxc_instr *phi = phis[count++];
      *agxc_phi_back(phi) = agxc_clone_ref(&clone, agxc_use(agxc_dest(old)->value));
      *agxc_phi_entry(old) = agxc_use(agxc_dest(phi)->value);
   }
}

/* ---- the same loop, longer ---------------------------------------------- */

static void lengthen(struct agxc_induction *c, unsigned factor, struct agxc_clone_map *map)
{
   struct agxc_loop *loop = c->shape.loop;
   bool is_joined = agx_list_empty(&agxc_first_block(&loop->continuing)->instrs) &&
                    agxc_first_block(&loop->continuing) == agxc_last_block(&loop->continuing);
   struct agx_link *list = is_joined ? &loop->body : &loop->continuing;
   struct agx_link extra;
   struct agxc_block *first = agxc_block_new(c->shape.shader);
   struct agxc_cursor end = {NULL, agxc_last_block(list)};
   agx_list_init(&extra);
   agx_list_append(&extra, &first->node.link);
   first->node.parent = &loop->node;
   first->node.list = list;
   struct agxc_clone clone =
      agxc_clone_begin(c->shape.shader, (struct agxc_cursor){&extra, first}, map);
   for (unsigned iteration = 1; iteration < factor; iteration++) {
      agxc_iteration_begin(&c->shape, &clone, true);
      agxc_iteration_copy(&c->shape, &clone, false);
   }
   agxc_foreach_phi (phi, c->shape.header)
      *agxc_phi_back(phi) = agxc_clone_ref(&clone, *agxc_phi_back(phi));
   agxc_melt(&end, first);
   agx_list_splice(list, &extra);
}

/* ---- pass --------------------------------------------------------------- */

static bool may_unroll(const struct agxc_loop_shape *shape)
{
   return !has_private_order(shape) && !shape->inner_loops && !shape->barriers &&
          !(shape->flags & AGXC_CROSS_LANE);
}

static bool try_loop(void *user, struct agxc_loop *loop)
{
   struct pass *pass = user;
   struct agxc_induction c = {0};
   if (!agxc_loop_shape_find(&c.shape, pass->shader, loop) || !may_unroll(&c.shape))
      return false;
   agxc_lift_test(&c.shape);
   unsigned factor = agxc_induction_find(&c, pass->shader, loop) ? choose_factor(pass, &c) : 1;
   if (factor == 1)
      return false;
   if (goes_up(&c, factor))
      lengthen(&c, factor, &pass->map);
   else
      unroll_partial(&c, factor, &pass->map);
   return true;
}

bool agxc_opt_unroll_partial(struct agxc_shader *shader)
{
   agxc_index(shader);
   struct pass pass = {.shader = shader,
                       .varying = agxc_bitset_new(shader, shader->value_count + 1ull)};
   return agxc_loops_visit(&shader->body, try_loop, &pass);
}
