/* SPDX-License-Identifier: MIT
 *
 * Worker threads: pick the next job whose in-syncs are done, run its commands on the
 * simulator, complete its fence with 0 or the error that a kernel would give.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/thread.h"
#include "base/util.h"
#include "winsys/virtual/gpu/faultlog.h"
#include "winsys/virtual/gpu/job.h"
#include "winsys/virtual/mm/memory.h"
#include "winsys/virtual/mm/vm.h"
#include "winsys/virtual/sync/fence.h"
#include "winsys/virtual/sync/watch.h"
#include "winsys/virtual/virtual.h"

#define PLACE_POLL_NS 1000000

static void *translate(void *user, uint64_t va, enum agxs_access access)
{
   struct agxv_execution *execution = user;
   return agxv_vm_translate(execution->node, execution->vm, va, access);
}

static void on_dispatch(void *user, const struct agxs_dispatch_stats *stats)
{
   const struct agxv_execution *execution = user;
   const struct agxv_stats *options = &execution->node->options.stats;
   if (options->form != AGXV_STATS_NONE)
      agxv_stats_write(options, execution->number, execution->command, stats);
   if (execution->node->counts)
      agxv_report_counters(execution, stats);
}

/* The error of a fence, as kernels give it. */
static int32_t fence_error(agx_status status)
{
   switch (status) {
   case AGX_OK:
      return 0;
   case AGX_DEADLINE_EXCEEDED:
      return -ETIMEDOUT;
   case AGX_UNIMPLEMENTED:
      return -ENODATA;
   case AGX_CANCELLED:
      return -ECANCELED;
   default:
      return -EIO;
   }
}

/* Which limits a command has, for one that is over one of them. */
static void add_limits(const struct agxv_options *options, char text[AGXV_ERROR_BYTES])
{
   size_t used = strlen(text);
   snprintf(text + used, AGXV_ERROR_BYTES - used,
            "; limits (0: none): AGX_VIRTUAL_TIMEOUT=%" PRIu64
            " instructions of a SIMD-group, AGX_VIRTUAL_TIMEOUT_MS=%" PRIu64
            " ms, AGX_VIRTUAL_WORKGROUPS=%" PRIu64,
            options->instructions, options->timeout_ms, options->workgroups);
}

/* The error that the command's fence gets; when there is one, why, in words. */
static int32_t judge(struct agxv_execution *execution, agx_status status,
                     const struct agxs_stats *stats, char text[AGXV_ERROR_BYTES])
{
   struct agx_virtual_node *node = execution->node;
   bool is_cancelled = execution->cancel && atomic_load(execution->cancel);
   if (status != AGX_OK) {
      snprintf(text, AGXV_ERROR_BYTES, "%s", agx_error_peek());
      if (status == AGX_DEADLINE_EXCEEDED)
         add_limits(&node->options, text);
      agxv_report(node, "submission %" PRIu64 ", command %u: %s: %s", execution->number,
                  execution->command, agx_status_name(status), text);
      return fence_error(is_cancelled ? AGX_CANCELLED : status);
   }
   if (!stats->outside)
      return 0;
   snprintf(text, AGXV_ERROR_BYTES, "%" PRIu64 " accesses out of bounds; %s", stats->outside,
            execution->first_outside);
   agxv_report(node, "submission %" PRIu64 ", command %u: %s", execution->number,
               execution->command, text);
   return -EIO;
}

static int32_t run_watched(struct agxv_execution *execution, uint64_t usc_base,
                           const struct agxv_command *command,
                           const struct agxv_declared_bounds *bounds)
{
   struct agx_virtual_node *node = execution->node;
   execution->stream_va = command->stream_va;
   const struct agxs_memory memory = {execution, translate, &execution->vm->generation};
   const int64_t limit_ns = (int64_t)node->options.timeout_ms * 1000000;
   const struct agxs_options options = {
      .strict = node->options.strict,
      .check = node->options.check,
      .thread_count = node->options.threads,
      .max_instructions_per_group = node->options.instructions,
      .max_workgroups = node->options.workgroups,
      .deadline_ns = limit_ns ? agxv_now_ns() + limit_ns : 0,
      .cancel = execution->cancel,
      .sampler_heap = command->sampler_heap,
      .sampler_count = command->sampler_count,
      .helper = command->helper,
      .needs_helper = node->options.strict,
      .chaos_seed = agxv_chaos_seed(node, execution->number, execution->command),
      .user = execution,
      .on_fault = agxv_note_fault,
      .ranges = bounds ? bounds->ranges : NULL,
      .range_count = bounds ? bounds->count : 0,
      .profile = node->options.stats.form != AGXV_STATS_NONE || node->counts,
      .on_dispatch = on_dispatch,
   };
   if (!node->run_compute) {
      agxv_report(node, "submission %" PRIu64 ": no simulator is built in", execution->number);
      return -ENODATA;
   }
   struct agxs_stats stats = {0};
   agx_status status =
      node->run_compute(&node->chip, &memory, &options, usc_base, command->stream_va, &stats);
   char text[AGXV_ERROR_BYTES] = "";
   int32_t error = judge(execution, status, &stats, text);
   agxv_trace(node,
              "submission %" PRIu64 ", command %u: %" PRIu64 " dispatches, %" PRIu64
              " threads, %" PRIu64 " instructions, %" PRIu64 " soft faults",
              execution->number, execution->command, stats.dispatches, stats.threads,
              stats.instructions, stats.soft_faults);
   /* Launches that chaos reordered have no last one. */
   if (error && error != -ECANCELED)
      agxv_note_failure(execution, error,
                        options.chaos_seed ? UINT32_MAX : (uint32_t)stats.dispatches, text);
   return error;
}

static int32_t run_command(struct agxv_execution *execution, uint64_t usc_base,
                           const struct agxv_command *command)
{
   struct agxv_declared_bounds *bounds = agxv_bounds_get(execution->node, command->stream_va);
   int32_t error = run_watched(execution, usc_base, command, bounds);
   agxv_bounds_put(execution->node, bounds);
   return error;
}

/* The memory stays as long as the job, which holds the binding. */
static void write_stamp(struct agx_virtual_node *node, const struct agxv_stamp *stamp)
{
   if (!stamp->bound)
      return;
   const struct agxv_bound *bound = AGXV_AT(node, agxv_bound, stamp->bound);
   uint8_t *memory = agxv_memory_at(node, AGXV_AT(node, agxv_gem, bound->gem)->first_page);
   uint64_t time = agxv_gpu_time();
   void *at = memory + bound->offset + stamp->offset;
   if (agx_is_aligned((uintptr_t)at, sizeof(time))) /* whole, when others write or read it too */
      __atomic_store_n((uint64_t *)at, time, __ATOMIC_RELAXED);
   else
      memcpy(at, &time, sizeof(time));
}

/* What would execute behind the job's compute commands is not modelled. */
static int32_t fail_render(struct agxv_execution *execution, const struct agxv_job *job)
{
   static const char text[] = "render commands are not executed yet";
   struct agx_virtual_node *node = execution->node;
   execution->command = job->command_count;
   execution->has_fault = false;
   execution->stream_va = job->render_va;
   agxv_report(node, "submission %" PRIu64 ", command %u: %s; the fence fails with ENODATA",
               execution->number, execution->command, text);
   agxv_note_failure(execution, -ENODATA, UINT32_MAX, text);
   agxv_lock(node);
   node->shared->renders += job->render_count;
   agxv_unlock(node);
   return -ENODATA;
}

static int32_t execute(struct agxv_execution *execution, const struct agxv_job *job)
{
   struct agx_virtual_node *node = execution->node;
   const struct agxv_queue *queue = AGXV_AT(node, agxv_queue, job->queue);
   uint64_t done = 0;
   int32_t error = 0;
   for (uint32_t i = 0; i < job->command_count && !error; i++) {
      uint32_t command = agxv_job_command(node, job, done);
      done |= 1ull << command;
      execution->command = command;
      execution->has_fault = false;
      write_stamp(node, &job->commands[command].start);
      if (node->options.execute)
         error = run_command(execution, queue->usc_exec_base, &job->commands[command]);
      write_stamp(node, &job->commands[command].end);
   }
   if (!error && job->render_count && node->options.execute)
      error = fail_render(execution, job);
   return error;
}

/* Takes the link's queue out of the list of active ones. */
static void deactivate(struct agx_virtual_node *node, uint32_t *link)
{
   uint32_t ref = *link;
   *link = AGXV_AT(node, agxv_queue, ref)->next_active;
   AGXV_STEP();
   agxv_queue_put(node, ref);
}

void agxv_drop_orphans(struct agx_virtual_node *node)
{
   for (uint32_t ref = node->shared->active_queues; ref;) {
      struct agxv_queue *queue = AGXV_AT(node, agxv_queue, ref);
      const struct agxv_job *job = AGXV_AT(node, agxv_job, queue->first_job);
      const struct agxv_job *running = AGXV_AT(node, agxv_job, queue->running);
      if (running && !agxv_process_lives(node, running->pid))
         queue->running = 0;
      if (job && !agxv_process_lives(node, job->pid))
         agxv_queue_cancel(node, ref, -ECANCELED);
      ref = queue->next_active; /* an empty queue stays listed until a worker looks */
   }
}

/* The job that goes next, of equal ones that of the queue whose turn is longest ago; 0 when none
 * can before *out_until_ns. */
static uint32_t pick(struct agx_virtual_node *node, int64_t *out_until_ns)
{
   *out_until_ns = INT64_MAX;
   struct agxv_queue *best = NULL;
   uint32_t best_job = 0;
   uint64_t best_rank = 0;
   if (node->shared->peers > 1)
      agxv_drop_orphans(node);
   for (uint32_t *link = &node->shared->active_queues; *link;) {
      struct agxv_queue *queue = AGXV_AT(node, agxv_queue, *link);
      if (!queue->first_job) {
         deactivate(node, link);
         continue;
      }
      uint64_t rank = 0;
      uint32_t job = queue->running ? 0 : agxv_queue_next(node, queue, &rank, out_until_ns);
      bool is_later =
         best && (rank < best_rank || (rank == best_rank && queue->last_pick > best->last_pick));
      if (job && !is_later) {
         best = queue;
         best_job = job;
         best_rank = rank;
      }
      link = &queue->next_active;
   }
   if (best)
      best->last_pick = ++node->shared->picks;
   return best_job;
}

/* A place among the commands that execute, without which memory would be reused under this one.
 * Only many programs at once have to wait for it. The lock is held before and after. */
static int await_place(struct agx_virtual_node *node)
{
   int slot;
   while ((slot = agxv_memory_run_begin(node)) < 0) {
      agxv_unlock(node);
      nanosleep(&(struct timespec){.tv_nsec = PLACE_POLL_NS}, NULL);
      agxv_lock(node);
   }
   return slot;
}

/* Its memory is kept for as long as it executes. The lock is held before and after. */
static int32_t execute_unlocked(struct agx_virtual_node *node, const struct agxv_job *job)
{
   struct agxv_execution execution = {
      .node = node,
      .vm = AGXV_AT(node, agxv_vm, AGXV_AT(node, agxv_queue, job->queue)->vm),
      .cancel = &job->cancel,
      .queue = AGXV_AT(node, agxv_queue, job->queue)->number,
      .number = job->number,
   };
   int slot = await_place(node);
   agxv_unlock(node);
   int32_t error = execute(&execution, job);
   agxv_lock(node);
   agxv_note_soft_faults(&execution);
   agxv_memory_run_end(node, slot);
   return error;
}

/* Executes a job, or completes one that was executed: in the order of the queue. The
 * lock is held before and after. */
static void run(struct agx_virtual_node *node, uint32_t ref)
{
   struct agxv_job *job = AGXV_AT(node, agxv_job, ref);
   struct agxv_queue *queue = AGXV_AT(node, agxv_queue, job->queue);
   if (job->is_executed) {
      job->due_ns = 0;
   } else if (agxv_job_may_execute(node, job)) {
      queue->running = ref;
      node->executing++;
      node->executing_since_ns = agxv_now_ns();
      agxv_job_executed(node, job, execute_unlocked(node, job));
      node->executing--;
      queue->running = 0;
   }
   if (job->due_ns || queue->first_job != ref)
      return;
   agxv_job_complete(node, ref, job->error);
   agxv_queue_remove(node, queue, ref);
}

static void (*thread_start)(void);

void agx_virtual_set_thread_start(void (*start)(void))
{
   thread_start = start;
}

static void *work(void *argument)
{
   struct agx_virtual_node *node = argument;
   struct agxv_shared *shared = node->shared;
   if (thread_start)
      thread_start();
   agxv_lock(node);
   for (;;) {
      pthread_mutex_lock(&node->local);
      bool stopping = node->stopping;
      pthread_mutex_unlock(&node->local);
      if (stopping)
         break;
      uint32_t seen = atomic_load(&shared->work);
      agxv_watch_scan(node);
      int64_t until_ns;
      uint32_t job = pick(node, &until_ns);
      if (job) {
         run(node, job);
         continue;
      }
      agxv_unlock(node);
      agxv_sleep(&shared->work, &shared->work_sleepers, seen, until_ns);
      agxv_lock(node);
   }
   agxv_unlock(node);
   return NULL;
}

bool agxv_workers_start(struct agx_virtual_node *node)
{
   pthread_mutex_lock(&node->local);
   while (node->worker_count < AGXV_WORKERS &&
          agx_thread_start(&node->workers[node->worker_count], NULL, work, node) == 0)
      node->worker_count++;
   bool runs = node->worker_count > 0;
   pthread_mutex_unlock(&node->local);
   return runs;
}

/* Tells what this process executes to end. */
static void cut_short(struct agx_virtual_node *node)
{
   agxv_lock(node);
   for (uint32_t ref = node->shared->active_queues; ref;) {
      const struct agxv_queue *queue = AGXV_AT(node, agxv_queue, ref);
      struct agxv_job *job = AGXV_AT(node, agxv_job, queue->running);
      if (job && job->pid == node->pid)
         atomic_store(&job->cancel, true);
      ref = queue->next_active;
   }
   agxv_unlock(node);
}

void agxv_workers_stop(struct agx_virtual_node *node)
{
   cut_short(node);
   pthread_mutex_lock(&node->local);
   node->stopping = true;
   uint32_t count = node->worker_count;
   node->worker_count = 0;
   pthread_mutex_unlock(&node->local);
   agxv_wake(&node->shared->work, &node->shared->work_sleepers);
   for (uint32_t i = 0; i < count; i++)
      pthread_join(node->workers[i], NULL);
   node->stopping = false;
}

/* The simulator that nodes execute with unless a test sets another one. */

agx_virtual_run_compute_fn *agx_virtual_default_run_compute(void)
{
   return agxs_run_compute;
}
