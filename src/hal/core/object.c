/* SPDX-License-Identifier: MIT
 *
 * References, and what a fork means for them.
 */
#include "hal/core/object.h"

#include <pthread.h>

#include "hal/host/host_pool.h"
#include "hal/sync/submission.h"

uint32_t agx_forks;

static void after_fork_in_child(void)
{
   agx_forks++;
   /* Where a function that the library calls has forked, its thread is no more than the child's. */
   agx_on_library_thread = false;
   agx_host_pool_leave();
   agx_deferred_work_forget();
}

static void watch_forks(void)
{
   pthread_atfork(NULL, NULL, after_fork_in_child);
}

void agx_forks_count(void)
{
   static pthread_once_t once = PTHREAD_ONCE_INIT;
   pthread_once(&once, watch_forks);
}

agx_status agx_fork_refuse(const void *handle)
{
   const struct agx_object *object = handle;
   return AGX_FAIL(AGX_FAILED_PRECONDITION,
                   "%s: made before fork(2), so it is the parent process's; a child opens a device "
                   "of its own (agx_device_open)",
                   object->type->name);
}

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
