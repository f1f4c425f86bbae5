/* SPDX-License-Identifier: MIT
 *
 * Copies instructions, trees of control flow and whole shaders, and keeps a map from each value to
 * its copy. Passes that unroll or split loops call it, and agxc_compile() for the unchecked
 * variant.
 */
#include "agx/compiler/ir/clone.h"

struct agxc_clone agxc_clone_begin(struct agxc_shader *shader, struct agxc_cursor cursor,
                                   struct agxc_clone_map *map)
{
   for (uint32_t i = 0; i < map->set_count; i++)
      map->refs[map->set[i]] = agxc_none();
   map->set_count = 0;
   if (map->capacity < shader->value_count) {
      map->capacity = 2 * shader->value_count;
      map->refs = AGX_ARENA_ARRAY(shader->arena, struct agxc_ref, map->capacity);
   }
   return (struct agxc_clone){.shader = shader, .map = map, .cursor = cursor};
}

void agxc_clone_set(struct agxc_clone *clone, const struct agxc_value *value, struct agxc_ref ref)
{
   struct agxc_clone_map *map = clone->map;
   agx_assert(value->id < map->capacity);
   struct agxc_ref *at = &map->refs[value->id];
   if (at->kind == AGXC_NONE && map->set_count == map->set_capacity) {
      map->set_capacity = AGX_MAX(2 * map->set_capacity, 64u);
      map->set = agx_arena_grow(clone->shader->arena, map->set, map->set_count, map->set_capacity,
                                sizeof(*map->set));
   }
   if (at->kind == AGXC_NONE)
      map->set[map->set_count++] = value->id;
   *at = ref;
}

void agxc_clone_renew(struct agxc_clone *clone, const struct agxc_value *value)
{
   agxc_clone_set(clone, value, agxc_use(agxc_value_new(clone->shader, value->bits, value->count)));
}

struct agxc_ref agxc_clone_ref(const struct agxc_clone *clone, struct agxc_ref ref)
{
   if (ref.kind != AGXC_VALUE || ref.value->id >= clone->map->capacity)
      return ref;
   struct agxc_ref mapped = clone->map->refs[ref.value->id];
   return mapped.kind == AGXC_NONE ? ref : mapped;
}

void agxc_clone_values(struct agxc_clone *clone, const struct agxc_node *node)
{
   if (node->kind == AGXC_NODE_BLOCK)
      agxc_foreach_instr (instr, agxc_as_block(node))
         agxc_foreach_dest (dest, instr)
            agxc_clone_renew(clone, dest->value);
   agxc_foreach_list (list, node)
      agxc_foreach_node (inner, list)
         agxc_clone_values(clone, inner);
}

void agxc_clone_instr(struct agxc_clone *clone, const struct agxc_instr *instr)
{
   struct agxc_builder b = agxc_at_end(clone->shader, clone->cursor.block);
   struct agxc_instr *copy =
      agxc_instr_new_n(clone->shader, instr->op, instr->dest_count, instr->src_count);
   copy->flags = instr->flags;
   copy->line = instr->line;
   for (unsigned i = 0; i < instr->operand_count; i++)
      copy->operand[i] = agxc_clone_ref(clone, instr->operand[i]);
   agxc_foreach_dest (dest, copy)
      dest->value->def = copy;
   agxc_insert(&b, copy);
}

/* A copy of a list, as a list. */
static void clone_list(struct agxc_clone *clone, const struct agx_link *list,
                       struct agxc_node *parent, struct agx_link *to)
{
   struct agxc_cursor outside = clone->cursor;
   agxc_foreach_node (node, list) {
      if (node->kind == AGXC_NODE_BLOCK) {
         clone->cursor.block = agxc_block_append(clone->shader, to, parent);
         agxc_foreach_instr (instr, agxc_as_block(node))
            agxc_clone_instr(clone, instr);
      } else {
         clone->cursor.at = to;
         agxc_clone_node(clone, node);
         /* The block that agxc_clone_node leaves behind it: the list brings its own. */
         agx_list_remove(&clone->cursor.block->node.link);
      }
   }
   clone->cursor = outside;
}

void agxc_cursor_put(const struct agxc_cursor *cursor, struct agxc_node *node)
{
   agx_list_insert_before(cursor->at, &node->link);
   node->parent = cursor->block->node.parent;
   node->list = cursor->block->node.list;
}

void agxc_clone_node(struct agxc_clone *clone, const struct agxc_node *node)
{
   struct agxc_shader *shader = clone->shader;
   agx_assert(node->kind != AGXC_NODE_BLOCK);
   bool is_if = node->kind == AGXC_NODE_IF;
   struct agxc_node *copy = is_if ? &agxc_if_new(shader)->node : &agxc_loop_new(shader)->node;
   agxc_cursor_put(&clone->cursor, copy);
   for (unsigned i = 0; i < 2; i++)
      clone_list(clone, agxc_list_of(node, i), copy, agxc_list_of(copy, i));
   struct agxc_block *behind = agxc_block_new(shader);
   agxc_cursor_put(&clone->cursor, &behind->node);
   clone->cursor.block = behind;
}

struct agxc_shader *agxc_clone_shader(const struct agxc_shader *shader)
{
   struct agxc_shader *copy = AGX_ARENA_NEW(shader->arena, struct agxc_shader);
   struct agxc_clone_map map = {0};
   *copy = *shader;
   agx_list_init(&copy->body);
   copy->values = NULL;
   copy->blocks = NULL;
   copy->value_count = copy->value_capacity = copy->block_count = copy->block_capacity = 0;
   for (uint32_t i = 0; i < shader->value_count; i++)
      agxc_value_new(copy, shader->values[i]->bits, shader->values[i]->count);
   struct agxc_clone clone = agxc_clone_begin(copy, (struct agxc_cursor){.at = &copy->body}, &map);
   for (uint32_t i = 0; i < shader->value_count; i++)
      agxc_clone_set(&clone, shader->values[i], agxc_use(copy->values[i]));
   clone_list(&clone, &shader->body, NULL, &copy->body);
   return copy;
}

void agxc_melt(struct agxc_cursor *cursor, struct agxc_block *block)
{
   agxc_foreach_instr_safe (instr, block) {
      agx_list_remove(&instr->link);
      agx_list_append(&cursor->block->instrs, &instr->link);
      instr->block = cursor->block;
   }
   agx_list_remove(&block->node.link);
}
