/* SPDX-License-Identifier: MIT
 *
 * The set of objects that a recording uses: a list while there are few, a hash table then.
 */
#include "hal/record/resources.h"

#include <string.h>

#include "base/util.h"

#define LOAD 2u /* slots for each use, at least */

static uint32_t hash_of(const void *object)
{
   uint64_t key = (uint64_t)(uintptr_t)object >> 4;
   return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 32);
}

void agx_resources_init(struct agx_resources *set)
{
   *set = (struct agx_resources){.capacity = AGX_INLINE_USES};
   set->uses = set->inline_uses;
}

void agx_resources_reset(struct agx_resources *set)
{
   if (!set->is_unretained)
      for (uint32_t i = 0; i < set->count; i++)
         agx_release(set->uses[i].object);
   if (set->count && set->slots)
      memset(set->slots, 0, set->slot_count * sizeof(set->slots[0]));
   set->count = 0;
   set->has_allocas = false;
}

static void free_memory(struct agx_resources *set, const struct agx_host_alloc *alloc)
{
   if (set->uses != set->inline_uses)
      agx_host_free(alloc, set->uses, set->capacity * sizeof(set->uses[0]));
   if (set->slots)
      agx_host_free(alloc, set->slots, set->slot_count * sizeof(set->slots[0]));
}

void agx_resources_fini(struct agx_resources *set, const struct agx_host_alloc *alloc)
{
   agx_resources_reset(set);
   free_memory(set, alloc);
   agx_resources_init(set);
}

static void enter(uint32_t *slots, uint32_t slot_count, const void *object, uint32_t index)
{
   uint32_t at = hash_of(object) & (slot_count - 1);
   while (slots[at])
      at = (at + 1) & (slot_count - 1);
   slots[at] = index + 1;
}

/* Twice the room, and a table over it; few objects are looked for one by one. */
static bool grow(struct agx_resources *set, const struct agx_host_alloc *alloc)
{
   uint32_t capacity = set->capacity * 2, slot_count = capacity * LOAD;
   struct agx_use *uses = agx_host_zalloc(alloc, capacity * sizeof(*uses));
   uint32_t *slots = agx_host_zalloc(alloc, slot_count * sizeof(*slots));
   if (!uses || !slots) {
      if (uses)
         agx_host_free(alloc, uses, capacity * sizeof(*uses));
      if (slots)
         agx_host_free(alloc, slots, slot_count * sizeof(*slots));
      return false;
   }
   memcpy(uses, set->uses, set->count * sizeof(*uses));
   for (uint32_t i = 0; i < set->count; i++)
      enter(slots, slot_count, uses[i].object, i);
   free_memory(set, alloc);
   set->uses = uses;
   set->slots = slots;
   set->capacity = capacity;
   set->slot_count = slot_count;
   return true;
}

/* set->count when it is not there. */
static uint32_t find(const struct agx_resources *set, const void *object)
{
   if (!set->slots) {
      uint32_t i = 0;
      while (i < set->count && set->uses[i].object != object)
         i++;
      return i;
   }
   uint32_t at = hash_of(object) & (set->slot_count - 1);
   while (set->slots[at] && set->uses[set->slots[at] - 1].object != object)
      at = (at + 1) & (set->slot_count - 1);
   return set->slots[at] ? set->slots[at] - 1 : set->count;
}

struct agx_use *agx_resources_find(struct agx_resources *set, const struct agx_host_alloc *alloc,
                                   struct agx_object *object)
{
   uint32_t index = find(set, object);
   if (index == set->count) {
      if (set->count == set->capacity && !grow(set, alloc))
         return NULL;
      set->uses[set->count++] = (struct agx_use){.object = object};
      if (set->slots)
         enter(set->slots, set->slot_count, object, index);
      if (!set->is_unretained)
         agx_retain(object);
      set->has_allocas |= object->type->is_transient;
   }
   atomic_store_explicit(&object->last_use_index, index, memory_order_relaxed);
   return &set->uses[index];
}
