/* SPDX-License-Identifier: MIT */
#include "hal/object.h"

void agx_retain(void *handle)
{
   struct agx_object *object = handle;
   if (object)
      atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
}

bool agx_try_retain(void *handle)
{
   struct agx_object *object = handle;
   uint32_t references = atomic_load_explicit(&object->references, memory_order_relaxed);
   while (references &&
          !atomic_compare_exchange_weak_explicit(&object->references, &references, references + 1,
                                                 memory_order_relaxed, memory_order_relaxed))
      ;
   return references;
}

void agx_release(void *handle)
{
   struct agx_object *object = handle;
   if (!object)
      return;
   /* Acquire here and not by a fence when it was the last: ThreadSanitizer knows no fences. */
   uint32_t before = atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel);
   agx_assert(before > 0);
   if (before != 1)
      return;
   object->type->destroy(object);
}

uint32_t agx_version(void)
{
   return AGX_VERSION_MAJOR << 16 | AGX_VERSION_MINOR;
}
