/* SPDX-License-Identifier: MIT
 *
 * Delays are times before which a worker doesn't look at a job, so a slow queue holds
 * up no other.
 */
#include "winsys/virtual/schedule.h"

#include <errno.h>

#include "base/util.h"
#include "winsys/virtual/inject.h"

bool agxv_job_is_due(struct agx_virtual_node *node, const struct agxv_queue *queue,
                     struct agxv_job *job, int64_t *until_ns)
{
   if (!node->inject)
      return true;
   int64_t now_ns = agxv_now_ns();
   if (!job->due_ns)
      job->due_ns = now_ns + agxv_inject_delay(node, queue->number) * job->command_count;
   if (job->due_ns <= now_ns)
      return true;
   *until_ns = AGX_MIN(*until_ns, job->due_ns);
   return false;
}

static void set_outcome(struct agxv_job *job, int32_t error, int64_t delay_ns)
{
   job->is_executed = true;
   job->error = error;
   job->due_ns = delay_ns ? agxv_now_ns() + delay_ns : 0;
}

bool agxv_job_may_execute(struct agx_virtual_node *node, struct agxv_job *job)
{
   int64_t delay_ns = 0;
   int32_t error = node->inject ? agxv_inject_end(node, job->number, &delay_ns) : 0;
   if (node->shared->is_lost)
      error = -ENODEV;
   if (error)
      set_outcome(job, error, delay_ns);
   return !error;
}

void agxv_job_executed(struct agx_virtual_node *node, struct agxv_job *job, int32_t error)
{
   set_outcome(job, error, 0);
}
