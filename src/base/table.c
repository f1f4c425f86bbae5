/* SPDX-License-Identifier: MIT
 *
 * Open addressing with linear probing, at most three quarters full.
 */
#include "base/table.h"

#include "base/util.h"

void agx_table_fini(struct agx_table *table)
{
   agx_host_free(table->alloc, table->entries, table->capacity * sizeof(*table->entries));
   table->entries = NULL;
   table->count = table->capacity = 0;
}

static struct agx_table_entry *place_of(const struct agx_table *table, uint64_t group, uint64_t key)
{
   uint64_t hash = (key * 0x9e3779b97f4a7c15u) ^ (group * 0xc2b2ae3d27d4eb4fu);
   hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
   size_t mask = table->capacity - 1, place = (size_t)(hash >> 32) & mask;
   struct agx_table_entry *entry = &table->entries[place];
   while ((entry->value | entry->group | entry->key) != 0 &&
          (entry->group != group || entry->key != key)) {
      place = (place + 1) & mask;
      entry = &table->entries[place];
   }
   return entry;
}

static bool grow(struct agx_table *table)
{
   struct agx_table larger = {.alloc = table->alloc, .capacity = AGX_MAX(2 * table->capacity, 256)};
   larger.entries = agx_host_zalloc(table->alloc, larger.capacity * sizeof(*larger.entries));
   if (!larger.entries)
      return false;
   for (size_t i = 0; i < table->capacity; i++) {
      const struct agx_table_entry *old = &table->entries[i];
      if (old->value | old->group | old->key)
         *place_of(&larger, old->group, old->key) = *old;
   }
   larger.count = table->count;
   agx_table_fini(table);
   *table = larger;
   return true;
}

struct agx_table_entry *agx_table_get(struct agx_table *table, uint64_t group, uint64_t key)
{
   if (4 * (table->count + 1) > 3 * table->capacity && !grow(table))
      return NULL;
   struct agx_table_entry *entry = place_of(table, group, key);
   if ((entry->value | entry->group | entry->key) == 0)
      table->count++;
   entry->group = group;
   entry->key = key;
   return entry;
}

const struct agx_table_entry *agx_table_find(const struct agx_table *table, uint64_t group,
                                             uint64_t key)
{
   if (table->capacity == 0)
      return NULL;
   const struct agx_table_entry *entry = place_of(table, group, key);
   return entry->value ? entry : NULL;
}
