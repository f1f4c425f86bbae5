/* SPDX-License-Identifier: MIT
 *
 * Delays are times before which a worker doesn't look at a job, so a slow queue holds
 * up no other. Under chaos everything is decided by the seed and the submission's
 * number, jobs execute one at a time, and what nothing orders goes in any order: jobs
 * of different queues, jobs that wait for nothing earlier in their queue, commands
 * without a barrier. Fences complete in the order of the queue, as fences of one context
 * are. Source: docs/hw/kernel.md 5.
 */
#include "winsys/virtual/gpu/schedule.h"

#include <errno.h>

#include "base/util.h"
#include "winsys/asahi_uapi.h"
#include "winsys/virtual/sync/fence.h"
#include "winsys/virtual/store/inject.h"

#define MAX_BEGIN_NS 300000u
#define MAX_END_NS   500000u
#define PATIENCE_NS  50000000

enum decision {
   DECIDE_BEGIN,
   DECIDE_END,
   DECIDE_RANK,
   DECIDE_COMMAND, /* + the command's number */
};

/* A random number that only the seed, the submission and what it is for decide. */
static uint64_t decide(const struct agx_virtual_node *node, uint64_t submission, uint32_t what)
{
   uint64_t value = node->options.chaos_seed * 0x9e3779b97f4a7c15ull + submission;
   for (unsigned round = 0; round < 2; round++) {
      value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull + what;
      value = (value ^ value >> 27) * 0x94d049bb133111ebull;
      value ^= value >> 31;
   }
   return value;
}

/* Nothing, or up to limit_ns. */
static int64_t chaos_delay(const struct agx_virtual_node *node, const struct agxv_job *job,
                           enum decision what, uint32_t limit_ns)
{
   if (!node->options.chaos_seed)
      return 0;
   uint64_t random = decide(node, job->number, what);
   return random & 1 ? (int64_t)((random >> 1) % limit_ns) : 0;
}

uint64_t agxv_chaos_seed(const struct agx_virtual_node *node, uint64_t submission, uint32_t command)
{
   return node->options.chaos_seed ? decide(node, submission, DECIDE_COMMAND + command) | 1 : 0;
}

static bool is_due(struct agx_virtual_node *node, const struct agxv_queue *queue,
                   struct agxv_job *job, int64_t *until_ns)
{
   if (!node->inject && !node->options.chaos_seed)
      return true;
   int64_t now_ns = agxv_now_ns();
   if (!job->due_ns && !job->is_executed)
      job->due_ns = now_ns + agxv_inject_delay(node, queue->number) * job->command_count +
                    chaos_delay(node, job, DECIDE_BEGIN, MAX_BEGIN_NS);
   if (job->due_ns <= now_ns)
      return true;
   *until_ns = AGX_MIN(*until_ns, job->due_ns);
   return false;
}

/* One job at a time, so that a seed gives the same order; but one that takes long, perhaps
 * because it waits for its client, holds up no other queue for ever. */
static bool is_idle(const struct agx_virtual_node *node, int64_t *until_ns)
{
   if (!node->executing)
      return true;
   int64_t patience_ns = node->executing_since_ns + PATIENCE_NS;
   if (patience_ns <= agxv_now_ns())
      return true;
   *until_ns = AGX_MIN(*until_ns, patience_ns);
   return false;
}

/* One of the queue's jobs that may go now, chosen by rank. All whose turn it could be get their
 * time, so that none begins late because another was looked at first. */
static uint32_t next_in_chaos(struct agx_virtual_node *node, const struct agxv_queue *queue,
                              uint64_t *out_rank, int64_t *until_ns)
{
   bool idle = is_idle(node, until_ns);
   bool is_next = true; /* all before it have been executed */
   uint32_t best = 0;
   for (uint32_t ref = queue->first_job; ref;) {
      struct agxv_job *job = AGXV_AT(node, agxv_job, ref);
      if (job->pid != node->pid || !agxv_fence_done(node, job->ready))
         break;
      bool can = job->is_executed ? ref == queue->first_job : idle && (is_next || job->is_free);
      uint64_t rank = decide(node, job->number, DECIDE_RANK);
      if (can && is_due(node, queue, job, until_ns) && (!best || rank > *out_rank)) {
         best = ref;
         *out_rank = rank;
      }
      is_next &= job->is_executed;
      ref = job->next;
   }
   return best;
}

uint32_t agxv_queue_next(struct agx_virtual_node *node, const struct agxv_queue *queue,
                         uint64_t *out_rank, int64_t *until_ns)
{
   if (node->options.chaos_seed)
      return next_in_chaos(node, queue, out_rank, until_ns);
   struct agxv_job *job = AGXV_AT(node, agxv_job, queue->first_job);
   *out_rank = queue->priority;
   bool can = job->pid == node->pid && agxv_fence_done(node, job->ready) &&
              is_due(node, queue, job, until_ns);
   return can ? queue->first_job : 0;
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
   bool is_cancelled = atomic_load(&job->cancel);
   set_outcome(job, error, is_cancelled ? 0 : chaos_delay(node, job, DECIDE_END, MAX_END_NS));
}

/* Whether all commands that it waits for are done: the first N of the submission. */
static bool may_begin(const struct agxv_command *command, uint64_t done)
{
   if (command->barrier == AGX_UAPI_BARRIER_NONE)
      return true;
   uint64_t needed = command->barrier < 64 ? (1ull << command->barrier) - 1 : UINT64_MAX;
   return (done & needed) == needed;
}

uint32_t agxv_job_command(const struct agx_virtual_node *node, const struct agxv_job *job,
                          uint64_t done)
{
   uint32_t best = (uint32_t)__builtin_ctzll(~done);
   uint64_t best_rank = 0;
   for (uint32_t i = best; i < job->command_count && node->options.chaos_seed; i++) {
      uint64_t rank = agxv_chaos_seed(node, job->number, i);
      if (!(done >> i & 1) && may_begin(&job->commands[i], done) && rank > best_rank) {
         best = i;
         best_rank = rank;
      }
   }
   return best;
}
