/* SPDX-License-Identifier: MIT
 *
 * Rotates loops that test before they do anything, so that they test behind it, where that frees a
 * load:
 *
 *    if (test) { loop { body; if (test) ... else break } }
 *
 * The body of such a loop surely runs when the loop is entered, so that opt_licm may move loads
 * out that never change but whose addresses only this body knows to be valid.
 *
 * The test is computed at two places, and once more where the body reads parts of it; so only
 * small inner loops with short tests change, and only for loads that opt_licm could not move
 * otherwise.
 *
 * Before: generic SSA. After: the same. Stands in front of opt_licm, and behind opt_preamble, which
 * takes loads that are the same for all threads.
 */
#include "agx/compiler/analysis/op_cost.h"
#include "agx/compiler/opt/loads/loads.h"
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/analysis/loop_shape.h"

#define MAX_TEST 4u  /* instructions before the exit */
#define MAX_SIZE 64u /* of the loop: one load is little to larger ones */

struct rotated {
   struct rotated *next;
   struct agxc_loop *loop;
   struct agxc_block *behind; /* where its values leave through phis */
};

struct rotate {
   struct agxc_shader *shader;
   struct rotated *done;
   struct agxc_ref *outside; /* by value id: what others than the loop see of a header's value */
   uint32_t outside_count;
   struct agxc_clone_map around, last;
};

/* ---- choosing ----------------------------------------------------------- */

/* Nothing but phis, a short pure test, and the branch. */
static bool is_plain_test(const struct agxc_loop_shape *shape)
{
   uint32_t size = 0;
   agxc_foreach_instr (instr, shape->header) {
      if (instr->op == AGXC_OP_PHI || instr->op == AGXC_OP_BRANCH)
         continue;
      bool reads = agxc_flags(instr) & AGXC_READS_MEMORY;
      if (!agxc_is_movable(instr) || reads || ++size > MAX_TEST)
         return false;
   }
   return true;
}

static bool is_single(const struct agx_link *list, unsigned instr_count)
{
   const struct agxc_block *block = agxc_first_block(list);
   unsigned count = 0;
   agxc_foreach_instr (instr, block)
      count++;
   return block == agxc_last_block(list) && count == instr_count;
}

static bool may_rotate(const struct agxc_loop_shape *shape)
{
   const struct agxc_block *behind = agxc_block_after(&shape->loop->node);
   if (agxc_as_phi(agxc_first_instr(behind)))
      return false;
   return agxc_block_before(&shape->exit->node) == shape->header && shape->size <= MAX_SIZE &&
          !shape->inner_loops && !shape->barriers && !(shape->flags & AGXC_CROSS_LANE) &&
          is_plain_test(shape) && is_single(shape->break_arm, 1) &&
          is_single(&shape->loop->continuing, 0) && behind->pred_count == 1;
}

static bool has_writes(const struct agxc_loop_shape *shape)
{
   agxc_foreach_loop_block (block, shape->shader, shape->loop)
      agxc_foreach_instr (instr, block)
         if ((agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_TERMINATOR)) == AGXC_SIDE_EFFECT)
            return true;
   return false;
}

/* The first iteration of the rotated loop runs it: it stands in no if but the exit. */
static bool is_on_top(const struct agxc_loop_shape *shape, const struct agxc_block *block)
{
   return block != shape->header &&
          (block->node.list == &shape->loop->body || block->node.list == shape->stay_arm);
}

/* Opt_licm could move it only behind the test. */
static bool is_gain(const struct agxc_loop_shape *shape, const struct agxc_instr *load, bool writes)
{
   if (!is_on_top(shape, load->block))
      return false;
   if (load->op == AGXC_OP_LOAD_GLOBAL)
      return (agxc_reads_constant(load) ||
              (!writes && !(agxc_imm_access(load) & AGXC_ACCESS_COHERENT))) &&
             !agxc_load_is_safe(shape->shader, load);
   return load->op == AGXC_OP_LOAD_SHARED && !writes && !(load->flags & AGXC_INSTR_VOLATILE);
}

/* Some load of the body never changes, nor does what its address is computed from. */
static bool has_gain(const struct agxc_loop_shape *shape)
{
   struct agxc_shader *shader = shape->shader;
   bool writes = has_writes(shape);
   agx_bitset_word *fixed = agxc_bitset_new(shader, shader->value_count);
   agxc_foreach_loop_block (block, shader, shape->loop) {
      agxc_foreach_instr (instr, block) {
         bool is_fixed = agxc_is_movable(instr), is_load = agxc_flags(instr) & AGXC_READS_MEMORY;
         agxc_foreach_src (src, instr)
            is_fixed = is_fixed && (src->kind != AGXC_VALUE ||
                                    src->value->def->block->index < shape->header->index ||
                                    agx_bitset_test(fixed, src->value->id));
         if (is_fixed && is_load && is_gain(shape, instr, writes))
            return true;
         agxc_foreach_dest (dest, instr)
            if (is_fixed && !is_load)
               agx_bitset_set(fixed, dest->value->id);
      }
   }
   return false;
}

/* ---- rotating ----------------------------------------------------------- */

/* Copies the test to the end of `block`: of the iteration that comes from there. */
static struct agxc_clone copy_test(const struct agxc_loop_shape *shape, struct agxc_block *block,
                                   bool comes_around, struct agxc_clone_map *map)
{
   struct agxc_cursor end = {NULL, block};
   struct agxc_clone clone = agxc_clone_begin(shape->shader, end, map);
   agxc_iteration_begin(shape, &clone, comes_around);
   agxc_foreach_instr (instr, shape->header)
      agxc_foreach_dest (dest, instr)
         if (instr->op != AGXC_OP_PHI)
            agxc_clone_renew(&clone, dest->value);
   agxc_foreach_instr (instr, shape->header)
      if (instr->op != AGXC_OP_PHI)
         agxc_clone_instr(&clone, instr);
   return clone;
}

/* The if around the loop; the loop is in the arm that stays. */
static struct agxc_if *wrap(const struct agxc_loop_shape *shape)
{
   struct agxc_shader *shader = shape->shader;
   struct agxc_node *node = &shape->loop->node;
   struct agxc_if *guard = agxc_if_new(shader);
   struct agx_link *in = shape->leaves_if ? &guard->else_list : &guard->then_list;
   agxc_node_insert_before(node, &guard->node);
   agx_list_remove(&node->link);
   agxc_block_append(shader, in, &guard->node);
   agxc_node_append(in, &guard->node, node);
   agxc_block_append(shader, in, &guard->node);
   agxc_block_append(shader, shape->leaves_if ? &guard->then_list : &guard->else_list,
                     &guard->node);
   return guard;
}

/* The test of the next iteration ends the body. The old one always stays: opt_control_flow takes it
 * away.
 */
static struct agxc_clone move_exit(const struct agxc_loop_shape *shape, struct agxc_clone_map *map)
{
   struct agxc_shader *shader = shape->shader;
   struct agxc_loop *loop = shape->loop;
   struct agxc_if *exit = agxc_if_new(shader);
   struct agxc_clone next = copy_test(shape, agxc_last_block(&loop->body), true, map);
   agxc_node_append(&loop->body, &loop->node, &exit->node);
   struct agxc_block *arms[] = {agxc_block_append(shader, &exit->then_list, &exit->node),
                                agxc_block_append(shader, &exit->else_list, &exit->node)};
   struct agxc_builder b = agxc_at_end(shader, arms[shape->leaves_if ? 0 : 1]);
   agxc_insert(&b, agxc_instr_new(shader, AGXC_OP_BREAK));
   agxc_block_append(shader, &loop->body, &loop->node);
   *agxc_src_condition(agxc_terminator(shape->header)) = agxc_imm(shape->leaves_if ? 0 : 1, 1);
   return next;
}

/* What of the header is used behind the loop: from the way around it, or the last test. */
static void build_phis(struct rotate *r, const struct agxc_loop_shape *shape,
                       struct agxc_block *behind, const struct agxc_clone *around,
                       const struct agxc_clone *last)
{
   struct agxc_builder b = agxc_at_start(shape->shader, behind);
   agxc_foreach_instr (instr, shape->header) {
      agxc_foreach_dest (dest, instr) {
         struct agxc_ref ways[2];
         ways[shape->leaves_if ? 0 : 1] = agxc_clone_ref(around, agxc_use(dest->value));
         ways[shape->leaves_if ? 1 : 0] = agxc_clone_ref(last, agxc_use(dest->value));
         r->outside[dest->value->id] =
            agxc_build(&b, AGXC_OP_PHI, dest->value->bits, dest->value->count, 2, ways);
      }
   }
}

static void rotate(struct rotate *r, const struct agxc_loop_shape *shape)
{
   struct rotated *done = AGX_ARENA_NEW(r->shader->arena, struct rotated);
   struct agxc_block *before = agxc_block_before(&shape->loop->node);
   struct agxc_clone around = copy_test(shape, before, false, &r->around);
   struct agxc_clone last = move_exit(shape, &r->last);
   struct agxc_block *behind = agxc_block_after(&wrap(shape)->node);
   *done = (struct rotated){r->done, shape->loop, behind};
   r->done = done;
   build_phis(r, shape, behind, &around, &last);
}

/* ---- pass --------------------------------------------------------------- */

static bool try_loop(void *user, struct agxc_loop *loop)
{
   struct rotate *r = user;
   struct agxc_loop_shape shape;
   if (!agxc_loop_shape_find(&shape, r->shader, loop) || !may_rotate(&shape) || !has_gain(&shape))
      return false;
   rotate(r, &shape);
   return true;
}

/* own: the block behind the rotated loop that this block is part of, or NULL. */
static void rename_block(const struct rotate *r, struct agxc_block *block,
                         const struct agxc_block *own)
{
   agxc_foreach_instr (instr, block) {
      agxc_foreach_src (src, instr) {
         if (src->kind != AGXC_VALUE || src->value->id >= r->outside_count)
            continue;
         const struct agxc_ref *seen = &r->outside[src->value->id];
         if (seen->kind != AGXC_VALUE)
            continue;
         /* A phi behind the same loop takes what its last iteration had. */
         const struct agxc_block *behind = seen->value->def->block;
         if (behind != own && !(behind == block && instr->op == AGXC_OP_PHI))
            *src = *seen;
      }
   }
}

/* All code but the loops themselves sees the phis behind them. */
static void rename_outside(struct rotate *r)
{
   struct agxc_shader *shader = r->shader;
   agxc_index(shader);
   const struct agxc_block **own =
      AGX_ARENA_ARRAY(shader->arena, const struct agxc_block *, shader->block_count);
   for (const struct rotated *at = r->done; at; at = at->next)
      agxc_foreach_loop_block (block, shader, at->loop)
         own[block->index] = at->behind;
   agxc_foreach_block (block, shader)
      rename_block(r, block, own[block->index]);
}

bool agxc_opt_rotate(struct agxc_shader *shader)
{
   struct rotate r = {.shader = shader, .outside_count = shader->value_count};
   agxc_index(shader);
   r.outside = AGX_ARENA_ARRAY(shader->arena, struct agxc_ref, shader->value_count + 1ull);
   if (!agxc_loops_visit(&shader->body, try_loop, &r))
      return false;
   rename_outside(&r);
   agxc_opt_control_flow(shader);
   agxc_opt_copy_prop(shader);
   agxc_opt_dce(shader);
   return true;
}
