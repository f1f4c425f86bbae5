/* SPDX-License-Identifier: MIT
 *
 * Number tables: an array that doubles, and a hint below which no number is free.
 */
#include "winsys/virtual/store/object.h"

#include <string.h>

#define FIRST_CAPACITY 16u
#define MAX_CAPACITY   (1u << 22)

uint32_t agxv_table_find(struct agx_virtual_node *node, const struct agxv_table *table,
                         uint32_t number)
{
   if (number == 0 || number > table->capacity)
      return 0;
   const uint32_t *slots = agxv_at(node, table->slots);
   return slots[number - 1];
}

static bool grow(struct agx_virtual_node *node, struct agxv_table *table)
{
   uint32_t capacity = table->capacity ? table->capacity * 2 : FIRST_CAPACITY;
   uint32_t slots = capacity <= MAX_CAPACITY ? agxv_alloc(node, capacity * sizeof(uint32_t)) : 0;
   if (!slots)
      return false;
   if (table->capacity)
      memcpy(agxv_at(node, slots), agxv_at(node, table->slots), table->capacity * sizeof(uint32_t));
   const struct agxv_table old = *table;
   table->slots = slots;
   table->capacity = capacity;
   AGXV_STEP();
   agxv_free(node, old.slots, old.capacity * sizeof(uint32_t));
   return true;
}

uint32_t agxv_table_add(struct agx_virtual_node *node, struct agxv_table *table, uint32_t ref)
{
   uint32_t *slots = agxv_at(node, table->slots);
   while (table->hint < table->capacity && slots[table->hint])
      table->hint++;
   if (table->hint == table->capacity) {
      if (!grow(node, table))
         return 0;
      slots = agxv_at(node, table->slots);
   }
   slots[table->hint] = ref;
   return ++table->hint;
}

uint32_t agxv_table_remove(struct agx_virtual_node *node, struct agxv_table *table, uint32_t number)
{
   uint32_t ref = agxv_table_find(node, table, number);
   if (!ref)
      return 0;
   uint32_t *slots = agxv_at(node, table->slots);
   slots[number - 1] = 0;
   if (number - 1 < table->hint)
      table->hint = number - 1;
   return ref;
}

bool agxv_table_has(struct agx_virtual_node *node, const struct agxv_table *table, uint32_t ref)
{
   const uint32_t *slots = agxv_at(node, table->slots);
   for (uint32_t i = 0; i < table->capacity; i++)
      if (slots[i] == ref)
         return true;
   return false;
}

void agxv_table_fini(struct agx_virtual_node *node, struct agxv_table *table)
{
   const struct agxv_table old = *table;
   *table = (struct agxv_table){0};
   AGXV_STEP();
   agxv_free(node, old.slots, old.capacity * sizeof(uint32_t));
}
