/* SPDX-License-Identifier: MIT */
#include "hal/object.h"

void agx_retain(void *handle)
{
   struct agx_object *object = handle;
   if (object)
      atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
}

void agx_release(void *handle)
{
   struct agx_object *object = handle;
   if (!object)
      return;
   uint32_t before = atomic_fetch_sub_explicit(&object->references, 1, memory_order_release);
   agx_assert(before > 0);
   if (before != 1)
      return;
   atomic_thread_fence(memory_order_acquire);
   object->type->destroy(object);
}

uint32_t agx_version(void)
{
   return AGX_VERSION_MAJOR << 16 | AGX_VERSION_MINOR;
}
