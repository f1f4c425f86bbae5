/* SPDX-License-Identifier: MIT
 *
 * Copies of control flow, for passes that take loops apart, and of whole shaders. Each value that a
 * copied instruction defines becomes a new one; what comes from outside stays.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* Where copies go: instructions to the end of `block`, nodes behind it and before `at`, which
 * is a link in the list of block (or that list itself). A copied list melts into the block. */
struct agxc_cursor {
   struct agx_link *at;
   struct agxc_block *block;
};

/* Puts a new node behind the cursor's block; the caller moves the cursor. */
void agxc_cursor_put(const struct agxc_cursor *cursor, struct agxc_node *node);

/* What stands for which value: of a pass, for one copy after the other, since its size is that
 * of the shader. Zero in the beginning. */
struct agxc_clone_map {
   struct agxc_ref *refs; /* by value id; kind AGXC_NONE: itself */
   uint32_t capacity;
   uint32_t *set; /* the ids of those that are something else */
   uint32_t set_count, set_capacity;
};

struct agxc_clone {
   struct agxc_shader *shader;
   struct agxc_clone_map *map;
   struct agxc_cursor cursor;
};

/* A copier whose map is empty: what was in it is forgotten. */
struct agxc_clone agxc_clone_begin(struct agxc_shader *shader, struct agxc_cursor cursor,
                                   struct agxc_clone_map *map);

/* From now on ref stands for the value, which was there before the copying. */
void agxc_clone_set(struct agxc_clone *clone, const struct agxc_value *value, struct agxc_ref ref);
/* A new value of its shape does. */
void agxc_clone_renew(struct agxc_clone *clone, const struct agxc_value *value);

/* What stands for a reference in the copy. */
struct agxc_ref agxc_clone_ref(const struct agxc_clone *clone, struct agxc_ref ref);

/* New values for everything that a node and what is in it define. Before any use is copied. */
void agxc_clone_values(struct agxc_clone *clone, const struct agxc_node *node);

/* Copies an instruction, or an if or loop with all that is in it; the cursor then stands in a
 * new block behind that. */
void agxc_clone_instr(struct agxc_clone *clone, const struct agxc_instr *instr);
void agxc_clone_node(struct agxc_clone *clone, const struct agxc_node *node);

/* A copy of a shader as the front end leaves it, in the same arena: the values have the same ids,
 * so that passes do to both the same. It shares what no pass changes (names, parameters,
 * constants). */
struct agxc_shader *agxc_clone_shader(const struct agxc_shader *shader);

/* Moves what is in `block` to the end of the cursor's block, and takes it out of its list. */
void agxc_melt(struct agxc_cursor *cursor, struct agxc_block *block);
