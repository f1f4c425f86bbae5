/* SPDX-License-Identifier: MIT
 *
 * References to objects, which applications hold as handles, and the refusals for objects that
 * the calling process or device does not own. All rooms and applications call these.
 */
#include "hal/core/object.h"

#include <stdio.h>

#include "hal/core/context.h"
#include "winsys/winsys.h"

/* ---- objects of another process or device --------------------------------- */

agx_status agx_fork_refuse(const void *handle)
{
   const struct agx_object *object = handle;
   return AGX_FAIL(AGX_FAILED_PRECONDITION,
                   "%s: made before fork(2), so it is the parent process's; a child opens a device "
                   "of its own (agx_device_open)",
                   object->type->name);
}

struct agx_owner_text agx_describe_owner(const struct agx_device *theirs,
                                         const struct agx_device *ours)
{
   const struct agx_context *their = agx_context_of(theirs), *our = agx_context_of(ours);
   struct agx_owner_text it;
   snprintf(it.text, sizeof(it.text), "of another device: number %u (%.24s), not number %u (%.24s)",
            their->number, agxw_device_info(their->winsys)->node, our->number,
            agxw_device_info(our->winsys)->node);
   return it;
}

/* ---- labels ---------------------------------------------------------------- */

void agx_label_write(struct agx_device *device, char *label, size_t capacity, const char *text)
{
   struct agx_context *context = agx_context_of(device);
   pthread_mutex_lock(&context->labels_lock);
   snprintf(label, capacity, "%s", text);
   pthread_mutex_unlock(&context->labels_lock);
}

agx_status agx_set_label(void *handle, const char *label)
{
   struct agx_object *object = handle;
   if (!object)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "agx_set_label: the object is NULL");
   AGX_TRY(agx_fork_check(object));
   if (!object->type->set_label)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "agx_set_label: %s has no label", object->type->name);
   object->type->set_label(object, label);
   return AGX_OK;
}

/* ---- references ------------------------------------------------------------ */

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
   /* The parent's: its threads are not here to be joined, and its handles are not ours to close. */
   if (before != 1 || agx_is_inherited(object))
      return;
   object->type->destroy(object);
}

uint32_t agx_version(void)
{
   return AGX_VERSION_MAJOR << 16 | AGX_VERSION_MINOR;
}
