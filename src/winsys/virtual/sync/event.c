/* SPDX-License-Identifier: MIT
 *
 * Waiting for changes of fences and syncobjs, and telling of them. Waits of requests (wait.c) come
 * through here; whatever completes a fence or changes a syncobj calls agxv_notify().
 */
#include "winsys/virtual/sync/event.h"

#include <errno.h>

#include "base/util.h"
#include "winsys/virtual/sync/watch.h"

#define LOST_WAKE_NS  1000000000ll
#define PEER_CHECK_NS 200000000ll /* between looks whether other processes still live */

int agxv_wait_event(struct agx_virtual_node *node, int64_t deadline_ns)
{
   struct agxv_shared *shared = node->shared;
   uint32_t seen = atomic_load(&shared->event);
   int64_t until = deadline_ns;
   if (shared->peers > 1)
      until = AGX_MIN(until, agxv_now_ns() + PEER_CHECK_NS);
   else if (node->inject) /* a wake-up may be lost, but not for ever */
      until = AGX_MIN(until, agxv_now_ns() + LOST_WAKE_NS);
   agxv_unlock(node);
   int error = agxv_sleep(&shared->event, &shared->event_sleepers, seen, until);
   agxv_lock(node);
   if (error != -ETIME || until == deadline_ns)
      return error;
   node->calls->reap(node);
   return 0;
}

void agxv_notify(struct agx_virtual_node *node)
{
   struct agxv_shared *shared = node->shared;
   agxv_watch_scan(node);
   if (node->is_mute)
      return;
   agxv_wake(&shared->event, &shared->event_sleepers);
   /* Workers of other processes look after the descriptors that those gave out. */
   if (shared->peers > 1)
      agxv_wake(&shared->work, &shared->work_sleepers);
}
