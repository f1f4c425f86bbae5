/* SPDX-License-Identifier: MIT
 *
 * Recognises and copies loops with one exit, for the passes that unroll (opt/unroll.c, opt/loads/),
 * rotate or prefetch, and for induction variables (induction.c); and loops with side exits, for
 * opt/unroll.c:
 *
 *    loop  a  if (n times) break  b  if (c) { x  break }  d
 *    a  b  if (c) { x }  else { d  a  b  if (c) { x }  else { d  a } }
 */
#include "agx/compiler/analysis/loop_shape.h"
#include "agx/compiler/analysis/op_cost.h"

/* Larger ones, or with more loops inside each other, are of no use to any pass; so nests of loops
 * are not measured anew at each level. */
#define MAX_SIZE   1024u
#define MAX_LEVELS 4u
#define MAX_SIDES  2u

/* ---- shape ------------------------------------------------------------- */

static void measure_block(struct agxc_loop_shape *u, const struct agxc_block *block,
                          unsigned inner_loops)
{
   agxc_foreach_instr (instr, block) {
      u->flags |= agxc_flags(instr);
      u->barriers += instr->op == AGXC_OP_BARRIER;
      u->private_loads += instr->op == AGXC_OP_LOAD_SCRATCH;
      u->private_stores += instr->op == AGXC_OP_STORE_SCRATCH;
      if (instr->op != AGXC_OP_PHI && instr->op != AGXC_OP_MOV)
         u->size += agxc_op_size(instr);
      u->breaks += !inner_loops && instr->op == AGXC_OP_BREAK;
      u->continues += !inner_loops && instr->op == AGXC_OP_CONTINUE;
   }
}

static void measure_list(struct agxc_loop_shape *u, const struct agx_link *list,
                         unsigned inner_loops)
{
   if (inner_loops > MAX_LEVELS)
      u->size = MAX_SIZE + 1;
   agxc_foreach_node (node, list) {
      bool is_loop = node->kind == AGXC_NODE_LOOP;
      if (u->size > MAX_SIZE || u->breaks > 1 + MAX_SIDES || u->continues)
         return;
      u->inner_loops += is_loop;
      if (node->kind == AGXC_NODE_BLOCK)
         measure_block(u, agxc_as_block(node), inner_loops);
      agxc_foreach_list (inner, node)
         measure_list(u, inner, inner_loops + is_loop);
   }
}

static bool ends_in_break(const struct agx_link *list)
{
   const struct agxc_instr *last = agxc_terminator(agxc_last_block(list));
   return last && last->op == AGXC_OP_BREAK;
}

/* The top-level if of the list that holds the break. */
static bool find_exit(struct agxc_loop_shape *u, struct agx_link *list)
{
   agxc_foreach_node (node, list) {
      if (node->kind != AGXC_NODE_IF)
         continue;
      struct agxc_if *branch = agxc_as_if(node);
      bool in_then = ends_in_break(&branch->then_list);
      if (!in_then && !ends_in_break(&branch->else_list))
         continue;
      u->exit = branch;
      u->break_arm = in_then ? &branch->then_list : &branch->else_list;
      u->stay_arm = in_then ? &branch->else_list : &branch->then_list;
      u->taken = agxc_src_condition(agxc_terminator(agxc_block_before(node)));
      u->leaves_if = in_then;
      return agxc_terminator(agxc_last_block(u->stay_arm)) == NULL;
   }
   return false;
}

/* Control must reach the end of the part. */
static bool falls_through(const struct agx_link *list)
{
   return agxc_terminator(agxc_last_block(list)) == NULL;
}

static bool describe(struct agxc_loop_shape *u, struct agxc_shader *shader, struct agxc_loop *loop)
{
   *u = (struct agxc_loop_shape){
      .shader = shader, .loop = loop, .header = agxc_first_block(&loop->body)};
   measure_list(u, &u->loop->body, 0);
   measure_list(u, &u->loop->continuing, 0);
   if (u->size > MAX_SIZE || u->header->pred_count != 2 ||
       agxc_count_phis(u->header) > AGXC_LOOP_MAX_PHIS)
      return false;
   return u->breaks && u->continues == 0 && falls_through(&u->loop->body) &&
          falls_through(&u->loop->continuing) &&
          (find_exit(u, &u->loop->body) || find_exit(u, &u->loop->continuing));
}

bool agxc_loop_shape_find(struct agxc_loop_shape *u, struct agxc_shader *shader,
                          struct agxc_loop *loop)
{
   return describe(u, shader, loop) && u->breaks == 1;
}

/* The arm of an if that ends in a break, where the other one goes on. */
static const struct agx_link *side_arm(const struct agxc_node *node)
{
   if (node->kind != AGXC_NODE_IF)
      return NULL;
   const struct agxc_if *branch = agxc_as_if(node);
   bool in_then = ends_in_break(&branch->then_list);
   if (!falls_through(in_then ? &branch->else_list : &branch->then_list))
      return NULL;
   return in_then                             ? &branch->then_list
          : ends_in_break(&branch->else_list) ? &branch->else_list
                                              : NULL;
}

bool agxc_loop_shape_find_sides(struct agxc_loop_shape *u, struct agxc_shader *shader,
                                struct agxc_loop *loop)
{
   if (!describe(u, shader, loop) || u->breaks > 1 + MAX_SIDES)
      return false;
   agxc_foreach_list (list, &loop->node)
      agxc_foreach_node (node, list)
         u->side_exits += node != &u->exit->node && side_arm(node);
   return u->side_exits && u->breaks == 1 + u->side_exits;
}

/* ---- copying ------------------------------------------------------------ */

/* The way in is known: of a phi with one source it is that source. The exit is decided. */
static void copy_block(const struct agxc_loop_shape *u, struct agxc_clone *clone,
                       const struct agxc_block *block)
{
   bool is_header = block == u->header;
   bool is_exit = block->node.link.next == &u->exit->node.link;
   agxc_foreach_instr (instr, block) {
      if (instr->op == AGXC_OP_BREAK || (instr->op == AGXC_OP_BRANCH && is_exit))
         continue;
      if (instr->op != AGXC_OP_PHI)
         agxc_clone_instr(clone, instr);
      else if (!is_header && instr->src_count == 1)
         agxc_clone_set(clone, agxc_dest(instr)->value,
                        agxc_clone_ref(clone, *agxc_phi_only(instr)));
      else if (!is_header)
         agxc_clone_instr(clone, instr);
   }
}

/* Top-level blocks melt into one where nothing stands between. True when the exit was taken. */
static bool copy_list(const struct agxc_loop_shape *u, struct agxc_clone *clone,
                      const struct agx_link *list, bool leaves)
{
   agxc_foreach_node (node, list) {
      if (node->kind == AGXC_NODE_BLOCK)
         copy_block(u, clone, agxc_as_block(node));
      else if (node != &u->exit->node)
         agxc_clone_node(clone, node);
      else if (copy_list(u, clone, leaves ? u->break_arm : u->stay_arm, leaves) || leaves)
         return true;
   }
   return false;
}

static void values_of_list(struct agxc_clone *clone, const struct agx_link *list,
                           const struct agxc_block *header)
{
   agxc_foreach_node (node, list) {
      if (node->kind != AGXC_NODE_BLOCK || agxc_as_block(node) != header) {
         agxc_clone_values(clone, node);
         continue;
      }
      agxc_foreach_instr (instr, header) /* its phis stand for what the iteration before left */
         agxc_foreach_dest (dest, instr)
            if (instr->op != AGXC_OP_PHI)
               agxc_clone_renew(clone, dest->value);
   }
}

void agxc_iteration_begin(const struct agxc_loop_shape *u, struct agxc_clone *clone,
                          bool comes_around)
{
   struct agxc_ref next[AGXC_LOOP_MAX_PHIS];
   uint32_t count = 0;
   agxc_foreach_phi (phi, u->header)
      next[count++] =
         agxc_clone_ref(clone, comes_around ? *agxc_phi_back(phi) : *agxc_phi_entry(phi));
   count = 0;
   agxc_foreach_phi (phi, u->header)
      agxc_clone_set(clone, agxc_dest(phi)->value, next[count++]);
}

void agxc_iteration_copy(const struct agxc_loop_shape *u, struct agxc_clone *clone, bool leaves)
{
   values_of_list(clone, &u->loop->body, u->header);
   values_of_list(clone, &u->loop->continuing, u->header);
   if (!copy_list(u, clone, &u->loop->body, leaves))
      copy_list(u, clone, &u->loop->continuing, leaves);
}

/* ---- copying, with side exits -------------------------------------------- */

struct nest {
   const struct agxc_loop_shape *u;
   struct agxc_clone *clone;
   struct agxc_value *const *names;
   uint32_t iterations, phi_count, name_count;
};

/* What stands for the results where the loop is left by exit number `from`, in program order. */
static struct agxc_ref *results(const struct nest *n, uint32_t from)
{
   const struct agxc_block *behind = agxc_block_after(&n->u->loop->node);
   struct agxc_ref *refs =
      AGX_ARENA_ARRAY(n->u->shader->arena, struct agxc_ref, n->phi_count + n->name_count + 1ull);
   uint32_t count = 0;
   agxc_foreach_phi (phi, behind)
      refs[count++] = agxc_clone_ref(n->clone, agxc_srcs(phi)[from]);
   for (uint32_t i = 0; i < n->name_count; i++)
      refs[count++] = agxc_clone_ref(n->clone, agxc_use(n->names[i]));
   return refs;
}

/* Joins the results of both arms in the cursor's block. */
static void join(const struct nest *n, struct agxc_ref *first, const struct agxc_ref *second)
{
   struct agxc_builder b = agxc_at_end(n->u->shader, n->clone->cursor.block);
   for (uint32_t i = 0; i < n->phi_count + n->name_count; i++) {
      if (agxc_same_ref(&first[i], &second[i]))
         continue;
      struct agxc_value *value = agxc_value_new(n->u->shader, first[i].bits, first[i].count);
      struct agxc_instr *phi = agxc_instr_new_n(n->u->shader, AGXC_OP_PHI, 1, 2);
      phi->operand[0] = agxc_use(value);
      value->def = phi;
      agxc_srcs(phi)[0] = first[i];
      agxc_srcs(phi)[1] = second[i];
      agxc_insert(&b, phi);
      first[i] = agxc_use(value);
   }
}

static struct agxc_ref *copy_from(struct nest *n, const struct agxc_node *node, bool in_body,
                                  uint32_t iteration);

/* A side exit, and in its other arm all that follows. The break's arm is copied first, as long as
 * values stand for those of this iteration. */
static struct agxc_ref *copy_side(struct nest *n, const struct agxc_node *node, bool in_body,
                                  uint32_t iteration, uint32_t number)
{
   struct agxc_shader *shader = n->u->shader;
   struct agxc_if *copy = agxc_if_new(shader);
   agxc_cursor_put(&n->clone->cursor, &copy->node);
   struct agxc_cursor outside = n->clone->cursor;
   const struct agx_link *side = side_arm(node);
   struct agxc_ref *refs[2];
   for (unsigned turn = 0; turn < 2; turn++) {
      unsigned arm = (side == agxc_list_of(node, 0)) == (turn == 0) ? 0 : 1;
      struct agx_link *to = agxc_list_of(&copy->node, arm);
      n->clone->cursor = (struct agxc_cursor){to, agxc_block_append(shader, to, &copy->node)};
      copy_list(n->u, n->clone, agxc_list_of(node, arm), false);
      refs[arm] =
         turn == 0 ? results(n, number) : copy_from(n, agxc_node_after(node), in_body, iteration);
   }
   n->clone->cursor = outside;
   struct agxc_block *behind = agxc_block_new(shader);
   agxc_cursor_put(&outside, &behind->node);
   n->clone->cursor.block = behind;
   join(n, refs[0], refs[1]);
   return refs[0];
}

/* How many exits come before the node in the loop. */
static uint32_t exits_before(const struct agxc_loop_shape *u, const struct agxc_node *at)
{
   uint32_t count = 0;
   agxc_foreach_list (list, &u->loop->node)
      agxc_foreach_node (node, list) {
         if (node == at)
            return count;
         count += node == &u->exit->node || side_arm(node);
      }
   return count;
}

static void begin_iteration(struct nest *n, uint32_t iteration)
{
   agxc_iteration_begin(n->u, n->clone, iteration > 0);
   values_of_list(n->clone, &n->u->loop->body, n->u->header);
   values_of_list(n->clone, &n->u->loop->continuing, n->u->header);
}

/* Copies from the node, or with NULL the end of the body or continuing part, to the exit. */
static struct agxc_ref *copy_from(struct nest *n, const struct agxc_node *node, bool in_body,
                                  uint32_t iteration)
{
   const struct agxc_loop_shape *u = n->u;
   for (;; node = agxc_node_after(node)) {
      while (!node) {
         in_body = !in_body;
         if (in_body)
            begin_iteration(n, ++iteration);
         node = &agxc_first_block(in_body ? &u->loop->body : &u->loop->continuing)->node;
      }
      bool leaves = iteration == n->iterations;
      if (node->kind == AGXC_NODE_BLOCK)
         copy_block(u, n->clone, agxc_as_block(node));
      else if (node == &u->exit->node)
         copy_list(u, n->clone, leaves ? u->break_arm : u->stay_arm, leaves);
      else if (side_arm(node))
         return copy_side(n, node, in_body, iteration, exits_before(u, node));
      else
         agxc_clone_node(n->clone, node);
      if (leaves && node == &u->exit->node)
         return results(n, exits_before(u, node));
   }
}

struct agxc_ref *agxc_iterations_nest(const struct agxc_loop_shape *u, struct agxc_clone *clone,
                                      uint32_t iterations, struct agxc_value *const *names,
                                      uint32_t name_count)
{
   struct nest n = {.u = u,
                    .clone = clone,
                    .names = names,
                    .iterations = iterations,
                    .phi_count = agxc_count_phis(agxc_block_after(&u->loop->node)),
                    .name_count = name_count};
   begin_iteration(&n, 0);
   return copy_from(&n, &u->header->node, true, 0);
}

bool agxc_has_loop(const struct agxc_shader *shader)
{
   agxc_foreach_block (block, shader)
      if (block->loop_depth)
         return true;
   return false;
}

bool agxc_loops_visit(struct agx_link *list, bool (*visit)(void *user, struct agxc_loop *loop),
                      void *user)
{
   bool progress = false;
   agxc_foreach_node_safe (node, list) {
      bool inside = false;
      agxc_foreach_list (inner, node)
         inside |= agxc_loops_visit(inner, visit, user);
      progress |= inside;
      if (node->kind == AGXC_NODE_LOOP && !inside)
         progress |= visit(user, agxc_as_loop(node));
   }
   return progress;
}
