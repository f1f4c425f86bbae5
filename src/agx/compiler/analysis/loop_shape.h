/* SPDX-License-Identifier: MIT
 *
 * Loops that passes can make copies of: those with one way out, a break on the top level of
 * the body or of the continuing part, in which nothing continues. Call agxc_index before.
 */
#pragma once

#include "agx/compiler/ir/clone.h"

#define AGXC_LOOP_MAX_PHIS 64u

struct agxc_loop_shape {
   struct agxc_shader *shader;
   struct agxc_loop *loop;
   struct agxc_block *header;    /* the first block of the body */
   struct agxc_if *exit;         /* the if with the break */
   struct agx_link *break_arm;   /* its list that ends in the break ... */
   struct agx_link *stay_arm;    /* ... and the other */
   const struct agxc_ref *taken; /* condition of the exit */
   bool leaves_if;               /* leaves when the condition has this value */
   uint32_t size;                /* instructions of an iteration */
   uint32_t flags;               /* enum agxc_op_flags of them, put together */
   uint32_t breaks, continues, barriers, inner_loops;
   uint32_t side_exits;                    /* more ifs with a break, behind the exit */
   uint32_t private_loads, private_stores; /* of scratch memory */
};

/* Describes a loop of that shape; false: the loop has another one. */
bool agxc_loop_shape_find(struct agxc_loop_shape *shape, struct agxc_shader *shader,
                          struct agxc_loop *loop);

/* The same of a loop with side exits: ifs on the top level, behind the exit, of which one arm ends
 * in a break. */
bool agxc_loop_shape_find_sides(struct agxc_loop_shape *shape, struct agxc_shader *shader,
                                struct agxc_loop *loop);

/* Makes the header's phis stand for what they hold in the next iteration to copy: what enters the
 * loop, or what comes around. */
void agxc_iteration_begin(const struct agxc_loop_shape *shape, struct agxc_clone *clone,
                          bool comes_around);

/* Copies one iteration to the cursor; with `leaves` only up to the exit and the break's arm. */
void agxc_iteration_copy(const struct agxc_loop_shape *shape, struct agxc_clone *clone,
                         bool leaves);

/* Copies so many iterations and the exit of a loop with side exits to the cursor, each side exit as
 * an if around what follows it. Returns what stands for the phis behind the loop, and then, of so
 * many, for the values `names`, which are defined before the first exit. */
struct agxc_ref *agxc_iterations_nest(const struct agxc_loop_shape *shape, struct agxc_clone *clone,
                                      uint32_t iterations, struct agxc_value *const *names,
                                      uint32_t name_count);

/* Whether any block stands in a loop. After agxc_index. */
bool agxc_has_loop(const struct agxc_shader *shader);

/* Calls visit for each loop of a list, inner ones first, unless a call for a loop inside of it
 * returned true. Visit may put nodes in front of the loop, or move it into one of them. Returns
 * whether any call returned true. */
bool agxc_loops_visit(struct agx_link *list, bool (*visit)(void *user, struct agxc_loop *loop),
                      void *user);
