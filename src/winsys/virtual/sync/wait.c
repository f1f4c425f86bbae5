/* SPDX-License-Identifier: MIT
 *
 * Syncobj requests that wait. A wait holds on to the fences that it found when it
 * began; only what was not there yet is looked up again when something changes.
 * Behaviour: docs/hw/kernel.md 6, kernel 7.2.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "winsys/virtual/sync/fence.h"
#include "winsys/virtual/sync/syncobj.h"
#include "winsys/virtual/store/user.h"

#define TRANSFER_WAIT_NS 5000000000ll

struct wait_entry {
   uint32_t fence; /* counted; 0: not there, or done already */
   bool found;
   uint64_t value;
};

struct wait {
   struct agx_virtual_file *file;
   struct agxv_syncobj_array array;
   struct wait_entry few[16], *entries;
   uint32_t flags;
   int64_t deadline_ns;
};

static void check_point(struct wait *wait, uint32_t index)
{
   struct agx_virtual_node *node = wait->file->node;
   struct wait_entry *entry = &wait->entries[index];
   uint32_t fence = AGXV_AT(node, agxv_syncobj, wait->array.refs[index])->fence;
   bool done;
   entry->fence = agxv_fence_at_value(node, fence, entry->value, &done);
   entry->found = entry->fence || done;
}

static bool is_finished(const struct wait *wait, const struct wait_entry *entry)
{
   if (!entry->found)
      return false;
   return wait->flags & AGX_UAPI_SYNCOBJ_WAIT_AVAILABLE || !entry->fence ||
          agxv_fence_done(wait->file->node, entry->fence);
}

/* Counts finished entries; *first is the first of them, untouched when there is none. */
static uint32_t count_finished(struct wait *wait, uint32_t *first)
{
   uint32_t finished = 0;
   for (uint32_t i = 0; i < wait->array.count; i++) {
      if (!wait->entries[i].found)
         check_point(wait, i);
      if (!is_finished(wait, &wait->entries[i]))
         continue;
      if (finished++ == 0)
         *first = i;
   }
   return finished;
}

static bool is_over(const struct wait *wait, uint32_t finished)
{
   if (wait->flags & AGX_UAPI_SYNCOBJ_WAIT_ALL)
      return finished == wait->array.count;
   return finished > 0;
}

/* All entries must be there at the start, unless the wait is also for submission. */
static int begin(struct wait *wait)
{
   bool may_lack =
      wait->flags & (AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT | AGX_UAPI_SYNCOBJ_WAIT_AVAILABLE);
   for (uint32_t i = 0; i < wait->array.count; i++) {
      check_point(wait, i);
      if (!wait->entries[i].found && !may_lack)
         return -EINVAL;
   }
   return 0;
}

/* Sleeps until the wait is over. The lock is held before and after. */
static int run(struct wait *wait, uint32_t *out_first)
{
   struct agx_virtual_node *node = wait->file->node;
   uint32_t first = UINT32_MAX, any = 0;
   int error = begin(wait);
   if (error)
      return error;
   uint32_t finished = count_finished(wait, &first);
   bool all = wait->flags & AGX_UAPI_SYNCOBJ_WAIT_ALL;
   while (!is_over(wait, finished)) {
      if (error)
         return error;
      if (wait->deadline_ns <= 0 || agxv_now_ns() >= wait->deadline_ns)
         return -ETIME;
      error = agxv_wait_event(node, wait->deadline_ns);
      finished = count_finished(wait, all ? &any : &first);
   }
   *out_first = first;
   return 0;
}

static int prepare(struct wait *wait, uint64_t points)
{
   uint32_t count = wait->array.count;
   wait->entries = wait->few;
   if (count > AGX_COUNT(wait->few))
      wait->entries = malloc(count * sizeof(*wait->entries));
   if (!wait->entries)
      return -ENOMEM;
   for (uint32_t i = 0; i < count; i++) {
      wait->entries[i] = (struct wait_entry){0};
      int error = points ? agxv_copy_in(&wait->entries[i].value, points + i * 8ull, 8) : 0;
      if (error)
         return error;
   }
   return 0;
}

static int wait_for(struct agx_virtual_file *file, uint64_t handles, uint64_t points,
                    uint32_t count, uint32_t flags, int64_t deadline_ns, uint32_t *first)
{
   struct wait wait = {.file = file, .flags = flags, .deadline_ns = deadline_ns};
   wait.entries = wait.few;
   if (count == 0)
      return 0;
   int error = agxv_syncobj_array_lock(file, &wait.array, handles, count);
   if (error)
      return error;
   error = prepare(&wait, points);
   bool prepared = error == 0;
   if (!error)
      error = run(&wait, first);
   for (uint32_t i = 0; prepared && i < wait.array.count; i++)
      agxv_fence_put(file->node, wait.entries[i].fence);
   agxv_syncobj_array_unlock(file, &wait.array);
   if (wait.entries != wait.few)
      free(wait.entries);
   return error;
}

AGXV_HANDLER(syncobj_wait)
{
   struct agx_uapi_syncobj_wait *args = argument;
   const uint32_t known =
      AGX_UAPI_SYNCOBJ_WAIT_ALL | AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT | AGX_UAPI_SYNCOBJ_WAIT_DEADLINE;
   if (args->flags & ~known)
      return -EINVAL;
   return wait_for(file, args->handles, 0, args->count_handles, args->flags, args->timeout_nsec,
                   &args->first_signaled);
}

AGXV_HANDLER(syncobj_timeline_wait)
{
   struct agx_uapi_syncobj_timeline_wait *args = argument;
   const uint32_t known = AGX_UAPI_SYNCOBJ_WAIT_ALL | AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT |
                          AGX_UAPI_SYNCOBJ_WAIT_AVAILABLE | AGX_UAPI_SYNCOBJ_WAIT_DEADLINE;
   if (args->flags & ~known)
      return -EINVAL;
   return wait_for(file, args->handles, args->points, args->count_handles, args->flags,
                   args->timeout_nsec, &args->first_signaled);
}

/* The source's fence, waiting for its submission where asked. The lock is held. */
static uint32_t source_fence(struct agx_virtual_file *file,
                             const struct agx_uapi_syncobj_transfer *args, int *out_error)
{
   int64_t deadline_ns = agxv_now_ns() + TRANSFER_WAIT_NS;
   for (int slept = 0;;) {
      uint32_t fence = agxv_syncobj_fence(file, args->src_handle, args->src_point, out_error);
      bool waits = args->flags & AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT && *out_error == -EINVAL;
      if (!waits)
         return fence;
      if (slept) {
         *out_error = slept;
         return 0;
      }
      slept = agxv_wait_event(file->node, deadline_ns);
   }
}

AGXV_HANDLER(syncobj_transfer)
{
   const struct agx_uapi_syncobj_transfer *args = argument;
   struct agx_virtual_node *node = file->node;
   if (args->pad || args->flags & ~(uint32_t)AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT)
      return -EINVAL;
   agxv_lock(node);
   uint32_t target = agxv_object_find(file, AGXV_SYNCOBJ, args->dst_handle);
   if (!target) {
      agxv_unlock(node);
      return -ENOENT;
   }
   AGXV_AT(node, agxv_syncobj, target)->refs++;
   int error;
   uint32_t fence = source_fence(file, args, &error);
   if (fence && !args->dst_point)
      agxv_syncobj_replace(node, target, fence);
   else if (fence && !agxv_syncobj_add_point(node, target, fence, args->dst_point))
      error = -ENOMEM;
   agxv_fence_put(node, fence);
   agxv_notify(node);
   agxv_syncobj_put(node, target);
   agxv_unlock(node);
   return error;
}
