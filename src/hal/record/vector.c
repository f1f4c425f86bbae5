/* SPDX-License-Identifier: MIT
 *
 * Growing of arrays; labels, runs and watched ranges of a recording are kept in them.
 */
#include "hal/record/vector.h"

#include <string.h>

static bool grow(struct agx_vector *vector, const struct agx_host_alloc *alloc, size_t item_B)
{
   uint32_t capacity = vector->capacity ? 2 * vector->capacity : 8;
   void *items = capacity > vector->capacity ? agx_host_zalloc(alloc, capacity * item_B) : NULL;
   if (!items)
      return false;
   if (vector->count)
      memcpy(items, vector->items, vector->count * item_B);
   agx_vector_fini(vector, alloc, item_B);
   vector->items = items;
   vector->capacity = capacity;
   return true;
}

void *agx_vector_add(struct agx_vector *vector, const struct agx_host_alloc *alloc, size_t item_B)
{
   if (vector->count == vector->capacity && !grow(vector, alloc, item_B))
      return NULL;
   return (char *)vector->items + vector->count++ * item_B;
}

void agx_vector_fini(struct agx_vector *vector, const struct agx_host_alloc *alloc, size_t item_B)
{
   if (vector->items)
      agx_host_free(alloc, vector->items, vector->capacity * item_B);
   vector->items = NULL;
   vector->capacity = 0;
}
