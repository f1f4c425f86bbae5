/* SPDX-License-Identifier: MIT
 *
 * Counters of launches, handed to the profiler of a file of this process.
 */
#include <errno.h>

#include "winsys/virtual/gpu/faultlog.h"
#include "winsys/virtual/mm/vm.h"

int agx_virtual_watch_counters(struct agx_virtual_file *file, agx_virtual_counters_fn *fn,
                               void *user)
{
   struct agx_virtual_node *node = file->node;
   if (fn && node->options.chaos_seed)
      return -EOPNOTSUPP;
   pthread_mutex_lock(&node->local);
   node->counters_fn = fn;
   node->counters_user = user;
   node->counters_file = file->ref;
   node->counts = fn != NULL;
   pthread_mutex_unlock(&node->local);
   return 0;
}

void agxv_report_counters(const struct agxv_execution *execution,
                          const struct agxs_dispatch_stats *stats)
{
   struct agx_virtual_node *node = execution->node;
   const struct agx_virtual_counters counters = {
      .submission = execution->number,
      .stream_va = execution->stream_va,
      .command = execution->command,
      .stats = stats,
   };
   pthread_mutex_lock(&node->local);
   if (node->counters_fn && execution->vm->file == node->counters_file)
      node->counters_fn(node->counters_user, &counters);
   pthread_mutex_unlock(&node->local);
}
