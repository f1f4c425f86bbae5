/* SPDX-License-Identifier: MIT
 *
 * Queues of jobs, as lists in the segment, and which of them goes next.
 */
#include "winsys/virtual/gpu/job.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "winsys/asahi_uapi.h"
#include "winsys/virtual/mm/gem.h"
#include "winsys/virtual/mm/vm.h"
#include "winsys/virtual/store/inject.h"
#include "winsys/virtual/sync/fence.h"

static uint64_t job_bytes(uint32_t count)
{
   return sizeof(struct agxv_job) + count * sizeof(struct agxv_command);
}

uint32_t agxv_job_create(struct agx_virtual_node *node, const struct agxv_command *commands,
                         uint32_t count)
{
   uint32_t ref = agxv_alloc(node, job_bytes(count));
   if (!ref)
      return 0;
   struct agxv_job *job = AGXV_AT(node, agxv_job, ref);
   job->pid = node->pid;
   job->command_count = count;
   memcpy(job->commands, commands, count * sizeof(*commands));
   for (uint32_t i = 0; i < count; i++) {
      if (commands[i].start.bound)
         AGXV_AT(node, agxv_bound, commands[i].start.bound)->refs++;
      if (commands[i].end.bound)
         AGXV_AT(node, agxv_bound, commands[i].end.bound)->refs++;
   }
   return ref;
}

/* Frees a job that is in no queue, with its references. */
static void free_job(struct agx_virtual_node *node, uint32_t ref)
{
   struct agxv_job *job = AGXV_AT(node, agxv_job, ref);
   for (uint32_t i = 0; i < job->command_count; i++) {
      if (job->commands[i].start.bound)
         agxv_bound_put(node, job->commands[i].start.bound);
      if (job->commands[i].end.bound)
         agxv_bound_put(node, job->commands[i].end.bound);
   }
   agxv_fence_put(node, job->ready);
   agxv_fence_put(node, job->fence);
   if (job->queue)
      agxv_queue_put(node, job->queue);
   agxv_free(node, ref, job_bytes(job->command_count));
}

void agxv_job_complete(struct agx_virtual_node *node, uint32_t ref, int32_t error)
{
   struct agxv_shared *shared = node->shared;
   const struct agxv_job *job = AGXV_AT(node, agxv_job, ref);
   if (agxv_fence_done(node, job->fence)) /* a process signalled it and died then */
      return;
   shared->failures += error != 0;
   shared->timeouts += error == -ETIMEDOUT;
   shared->cancelled += error == -ECANCELED;
   node->is_mute = agxv_inject_unwoken(node, job->number);
   agxv_fence_signal(node, job->fence, error);
   node->is_mute = false;
}

void agxv_queue_remove(struct agx_virtual_node *node, struct agxv_queue *queue, uint32_t ref)
{
   uint32_t *link = &queue->first_job, before = 0;
   while (*link && *link != ref) {
      before = *link;
      link = &AGXV_AT(node, agxv_job, *link)->next;
   }
   if (!*link)
      return;
   if (queue->last_job == ref)
      queue->last_job = before;
   AGXV_STEP();
   *link = AGXV_AT(node, agxv_job, ref)->next;
   AGXV_STEP();
   free_job(node, ref);
}

/* Queues with jobs stand in a list. */
static void activate(struct agx_virtual_node *node, uint32_t ref)
{
   struct agxv_queue *queue = AGXV_AT(node, agxv_queue, ref);
   uint32_t *link = &node->shared->active_queues;
   while (*link && *link != ref)
      link = &AGXV_AT(node, agxv_queue, *link)->next_active;
   if (*link)
      return;
   queue->next_active = 0;
   queue->last_pick = ++node->shared->picks;
   queue->refs++;
   AGXV_STEP();
   *link = ref;
}

void agxv_job_push(struct agx_virtual_node *node, uint32_t ref)
{
   struct agxv_job *job = AGXV_AT(node, agxv_job, ref);
   struct agxv_queue *queue = AGXV_AT(node, agxv_queue, job->queue);
   if (queue->last_job)
      AGXV_AT(node, agxv_job, queue->last_job)->next = ref;
   else
      queue->first_job = ref;
   queue->last_job = ref;
   activate(node, job->queue);
   if (agxv_fence_done(node, job->ready))
      agxv_wake(&node->shared->work, &node->shared->work_sleepers);
}

void agxv_queue_cancel(struct agx_virtual_node *node, uint32_t ref, int32_t error)
{
   struct agxv_queue *queue = AGXV_AT(node, agxv_queue, ref);
   for (uint32_t next = queue->first_job; next;) {
      struct agxv_job *job = AGXV_AT(node, agxv_job, next);
      uint32_t doomed = next;
      next = job->next;
      if (doomed == queue->running) {
         atomic_store(&job->cancel, true);
         continue;
      }
      agxv_job_complete(node, doomed, error);
      agxv_queue_remove(node, queue, doomed);
   }
}

void agxv_file_cancel(struct agx_virtual_node *node, uint32_t file)
{
   for (uint32_t ref = node->shared->active_queues; ref;) {
      const struct agxv_queue *queue = AGXV_AT(node, agxv_queue, ref);
      if (AGXV_AT(node, agxv_vm, queue->vm)->file == file)
         agxv_queue_cancel(node, ref, -ECANCELED);
      ref = queue->next_active;
   }
}

void agxv_queue_put(struct agx_virtual_node *node, uint32_t ref)
{
   struct agxv_queue *queue = AGXV_AT(node, agxv_queue, ref);
   if (--queue->refs)
      return;
   agxv_vm_put(node, queue->vm);
   agxv_free(node, ref, sizeof(*queue));
}

AGXV_HANDLER(queue_create)
{
   struct agx_uapi_queue_create *args = argument;
   struct agx_virtual_node *node = file->node;
   if (args->flags || args->priority >= AGX_UAPI_PRIORITY_HIGH)
      return -EINVAL;
   agxv_lock(node);
   uint32_t vm = agxv_object_find(file, AGXV_VM, args->vm_id);
   uint32_t ref = vm ? agxv_alloc(node, sizeof(struct agxv_queue)) : 0;
   uint32_t id = 0;
   if (ref) {
      agxv_vm_get(node, vm);
      *AGXV_AT(node, agxv_queue, ref) = (struct agxv_queue){.refs = 1,
                                                            .number = ++node->shared->queues_made,
                                                            .vm = vm,
                                                            .priority = args->priority,
                                                            .usc_exec_base = args->usc_exec_base};
      id = agxv_table_add(node, agxv_table_of(file, AGXV_QUEUE), ref);
      if (!id)
         agxv_queue_put(node, ref);
   }
   agxv_unlock(node);
   if (!vm)
      return -ENOENT;
   if (!id)
      return -ENOMEM;
   args->queue_id = id;
   return 0;
}

AGXV_HANDLER(queue_destroy)
{
   const struct agx_uapi_queue_destroy *args = argument;
   agxv_tell_pad(file->node, "QUEUE_DESTROY", args->pad);
   agxv_lock(file->node);
   uint32_t ref = agxv_table_remove(file->node, agxv_table_of(file, AGXV_QUEUE), args->queue_id);
   if (ref)
      agxv_queue_put(file->node, ref);
   agxv_unlock(file->node);
   return ref ? 0 : -ENOENT;
}

/* Delays are times before which a worker doesn't look at a job, so a slow queue holds
 * up no other. Under chaos everything is decided by the seed and the submission's
 * number, jobs execute one at a time, and what nothing orders goes in any order: jobs
 * of different queues, jobs that wait for nothing earlier in their queue, commands
 * without a barrier. Fences complete in the order of the queue, as fences of one context
 * are. Source: docs/hw/kernel.md 5. */

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
