/* SPDX-License-Identifier: MIT
 *
 * The default host allocator. All memory of the library that an application may count comes through
 * here.
 */
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static void *default_alloc(void *user, size_t size)
{
   (void)user;
   return malloc(size);
}

static void default_free(void *user, void *memory, size_t size)
{
   (void)user;
   (void)size;
   free(memory);
}

const struct agx_host_alloc *agx_host_alloc_default(void)
{
   static const struct agx_host_alloc alloc = {.alloc = default_alloc, .free = default_free};
   return &alloc;
}

void *agx_host_zalloc(const struct agx_host_alloc *alloc, size_t size)
{
   if (!alloc)
      alloc = agx_host_alloc_default();
   void *memory = alloc->alloc(alloc->user, size);
   if (memory)
      memset(memory, 0, size);
   return memory;
}

void agx_host_free(const struct agx_host_alloc *alloc, void *memory, size_t size)
{
   if (!memory)
      return;
   if (!alloc)
      alloc = agx_host_alloc_default();
   alloc->free(alloc->user, memory, size);
}
