/* SPDX-License-Identifier: MIT
 *
 * Queues of jobs, as lists in the segment.
 */
#include "winsys/virtual/mm/gem.h"
#include "winsys/virtual/gpu/job.h"

#include <errno.h>
#include <string.h>

#include "winsys/virtual/sync/fence.h"
#include "winsys/virtual/store/inject.h"
#include "winsys/virtual/gpu/handlers.h"
#include "winsys/virtual/mm/vm.h"

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
   if (args->pad)
      return -EINVAL;
   agxv_lock(file->node);
   uint32_t ref = agxv_table_remove(file->node, agxv_table_of(file, AGXV_QUEUE), args->queue_id);
   if (ref)
      agxv_queue_put(file->node, ref);
   agxv_unlock(file->node);
   return ref ? 0 : -ENOENT;
}
