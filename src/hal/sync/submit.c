/* SPDX-License-Identifier: MIT
 *
 * agx_submit: an operation is checked, captured in a submission, and started. What is ready for
 * the GPU goes there within the call, with one request. agx_flush, agx_queue_recreate, and the
 * room's part of agx_device_cancel, are here, too.
 */
#include "hal/sync/submission.h"

#include "base/debug.h"
#include "base/util.h"
#include "hal/core/desc.h"
#include "hal/sync/completion.h"
#include "hal/sync/deferred.h"
#include "hal/sync/import.h"
#include "hal/sync/notify.h"
#include "hal/sync/poller.h"
#include "hal/sync/schedule.h"
#include "hal/sync/shared_poll.h"

/* Submissions of a queue in flight after which the kernel is asked how far it is. */
#define POLL_AFTER 256

/* ---- checks --------------------------------------------------------------- */

static agx_status check_points(const struct agx_device *device, const char *what,
                               const struct agx_point *points, uint32_t count)
{
   if (count > AGX_MAX_OP_POINTS)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "submit: %u %ss; the limit is %u", count, what,
                      AGX_MAX_OP_POINTS);
   if (count && !points)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: %u %ss at NULL", count, what);
   for (uint32_t i = 0; i < count; i++) {
      if (!points[i].semaphore)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: semaphore of %s %u is NULL", what, i);
      if (points[i].semaphore->device != device)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: %s %u is %s", what, i,
                         agx_describe_owner(points[i].semaphore->device, device).text);
   }
   return AGX_OK;
}

static agx_status check_queues(const struct agx_device *device, const char *what, uint64_t queues)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   if (!queues || queues & ((1ull << sync->queue_count) - 1))
      return AGX_OK;
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: queues 0x%llx; the device has %u", what,
                   (unsigned long long)queues, sync->queue_count);
}

static agx_status check_op(const struct agx_device *device, const struct agx_op *op,
                           const struct agx_op_type **out_type)
{
   *out_type = agx_op_type(device, op->kind);
   if (!*out_type)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "submit: operation kind %u is none of enum agx_op_kind",
                      op->kind);
   AGX_TRY(check_queues(device, "submit", op->queues));
   AGX_TRY(check_points(device, "wait", op->waits, op->wait_count));
   AGX_TRY(check_points(device, "signal", op->signals, op->signal_count));
   for (uint32_t i = 0; i < op->signal_count; i++)
      AGX_TRY(agx_semaphore_check_value("submit: signal", op->signals[i].value));
   return AGX_OK;
}

/* Each signal must still lie ahead. With the lock held. */
static agx_status check_signals(const struct agx_op *op)
{
   for (uint32_t i = 0; i < op->signal_count; i++) {
      const struct agx_semaphore *semaphore = op->signals[i].semaphore;
      bool repeated = false;
      for (uint32_t j = 0; j < i; j++)
         repeated |= op->signals[j].semaphore == semaphore;
      if (repeated)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: signal %u is of a semaphore named before",
                         i);
      if (op->signals[i].value <= semaphore->value)
         return AGX_FAIL(AGX_INVALID_ARGUMENT,
                         "submit: signal %u (%s) to %llu; it is at %llu already", i,
                         semaphore->label, (unsigned long long)op->signals[i].value,
                         (unsigned long long)semaphore->value);
   }
   return AGX_OK;
}

/* ---- submissions ---------------------------------------------------------- */

/* A submission that is PREPARED, spare or new; NULL: out of host memory. */
AGX_SYNC_UNLOCKED static struct agx_submission *acquire(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   agx_sync_lock(sync);
   struct agx_submission *submission = agx_submissions_first(sync, AGX_LIST_SPARE);
   if (submission)
      agx_submission_move(submission, AGX_SUBMISSION_SPARE, AGX_SUBMISSION_PREPARED);
   agx_sync_unlock(sync);
   if (submission)
      return submission;
   submission = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*submission));
   if (!submission)
      return NULL;
   submission->device = device;
   submission->state = AGX_SUBMISSION_PREPARED;
   return submission;
}

static void move_locking(struct agx_submission *submission, enum agx_submission_state from,
                         enum agx_submission_state to)
{
   agx_sync_lock(agx_sync_of(submission->device));
   agx_submission_move(submission, from, to);
   agx_sync_unlock(agx_sync_of(submission->device));
}

static struct agx_queue *choose_queue(struct agx_device *device, uint64_t queues)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   return &sync->queues[queues ? __builtin_ctzll(queues) : 0];
}

static void init_submission(struct agx_submission *submission, struct agx_device *device,
                            const struct agx_op *op, const struct agx_op_type *type)
{
   submission->type = type;
   submission->queue = choose_queue(device, op->queues);
   submission->commands = NULL;
   submission->stream = (struct agxw_compute){0};
   submission->scratch = NULL;
   submission->wait_count = op->wait_count;
   submission->signal_count = op->signal_count;
   submission->has_imports = false;
   submission->is_open = false;
   submission->failure.status = AGX_OK;
   submission->end = op->end;
   submission->end_user = op->end_user;
   submission->tag = op->tag;
   submission->session = NULL;
   submission->profile = NULL;
}

static void retain_points(struct agx_submission *submission, const struct agx_op *op)
{
   for (uint32_t i = 0; i < op->wait_count; i++) {
      struct agx_wait *wait = &submission->waits[i];
      *wait = (struct agx_wait){.submission = submission,
                                .semaphore = op->waits[i].semaphore,
                                .value = op->waits[i].value};
      agx_list_init(&wait->link);
      agx_retain(wait->semaphore);
   }
   for (uint32_t i = 0; i < op->signal_count; i++) {
      struct agx_signal *signal = &submission->signals[i];
      *signal = (struct agx_signal){.submission = submission,
                                    .semaphore = op->signals[i].semaphore,
                                    .value = op->signals[i].value};
      agx_list_init(&signal->link);
      agx_retain(signal->semaphore);
   }
}

/* ---- AGX_DEBUG=serial ------------------------------------------------------ */

/* Threads by which other submissions end, and what this thread does itself once it is back, are not
 * to be waited for. */
static bool must_not_wait(const struct agx_device *device)
{
   return agx_on_library_thread || agx_sync_of(device)->hooks.is_host_thread() ||
          agx_device_runs_deferred_here(device);
}

/* Whether there is nothing to wait for: the submission of that number is over, and its memory may
 * be another one's by now, or it is parked or left open, maybe until the caller's next step. */
static bool is_over_or_parked(const struct agx_submission *submission, uint64_t number)
{
   return submission->number != number || submission->state < AGX_SUBMISSION_STARTING ||
          submission->state > AGX_SUBMISSION_RUNNING || agx_submission_is_parked(submission) ||
          submission->is_open;
}

/* Until it is over, whatever its kind, and the GPU has nothing to do. */
static void wait_end(struct agx_device *device, const struct agx_submission *submission,
                     uint64_t number)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   agx_sync_lock(sync);
   while (agx_queues_are_busy(sync) || !is_over_or_parked(submission, number)) {
      sync->sleepers++;
      agx_device_wake(device);
      pthread_cond_wait(&sync->changed, &sync->lock);
      sync->sleepers--;
   }
   agx_sync_unlock(sync);
}

/* ---- agx_submit ----------------------------------------------------------- */

/* With both locks held. */
AGX_REQUIRES(agx_queue_lock_class)
AGX_SYNC_LOCKED static agx_status submit_unlocking(struct agx_submission *submission,
                                                   const struct agx_op *op)
{
   struct agx_sync_state *sync = agx_sync_of(submission->device);
   if (sync->shared_count && submission->stream.stream_va)
      agx_points_import_unlocking(op->waits, op->wait_count);
   AGX_TRY(check_signals(op));
   submission->number = ++sync->submissions; /* starting may let go of the lock */
   AGX_TRY(agx_submission_start_unlocking(submission));
   if (submission->state != AGX_SUBMISSION_SENDING)
      return AGX_OK;
   return agx_submission_send_unlocking(submission);
}

/* Gives the submission's number, by which it is known while it may be over. */
static agx_status submit_captured(struct agx_submission *submission, const struct agx_op *op,
                                  uint64_t *out_number)
{
   struct agx_device *device = submission->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_queue *queue = submission->queue;
   if (submission->commands)
      AGX_TRY(agx_command_buffer_begin_flight(submission->commands));
   agx_queue_lock(queue);
   agx_sync_lock(sync);
   agx_status status = submit_unlocking(submission, op);
   *out_number = submission->number;
   agx_queue_unlock(queue);
   /* An application that never waits has no more in flight than this. */
   if (status == AGX_OK && queue->in_flight_count >= POLL_AFTER && queue->epoch % POLL_AFTER == 0)
      (void)!agx_device_poll_unlocking(device); /* which has lost the device when it fails */
   agx_device_unlock_and_run_deferred(device);
   if (status == AGX_OK)
      return AGX_OK;
   if (submission->commands)
      agx_command_buffer_cancel_flight(submission->commands);
   return status;
}

static uint64_t length_of(const struct agx_buffer_ref *ref)
{
   if (ref->length_B != AGX_WHOLE_LENGTH || !ref->buffer)
      return ref->length_B;
   return ref->buffer->size_B - AGX_MIN(ref->buffer->size_B, ref->offset_B);
}

/* The bytes that an operation which was captured moves, or whose memory comes or goes. */
static uint64_t payload_of(const struct agx_op *op)
{
   switch (op->kind) {
   case AGX_OP_FILL:
      return length_of(&op->u.fill.target);
   case AGX_OP_UPDATE:
      return length_of(&op->u.update.target);
   case AGX_OP_COPY:
      return length_of(&op->u.copy.target);
   case AGX_OP_READ:
   case AGX_OP_WRITE:
      return length_of(&op->u.file.ref);
   case AGX_OP_ALLOCA:
      return op->u.alloca.size_B;
   case AGX_OP_DEALLOCA:
      return op->u.dealloca.buffer->size_B;
   default:
      return 0;
   }
}

/* Tells the profiling session of an operation that was captured and not set going yet. The session
 * may not want it. Fails where there is no memory to record it. */
static agx_status create_profile_entry(struct agx_submission *submission, const struct agx_op *op)
{
   struct agx_profile *profile = agx_context_of(submission->device)->profile;
   struct agx_command_buffer *commands = submission->commands;
   const struct agx_profile_operation operation = {
      .queue = submission->queue->index,
      .kind = op->kind,
      .name = submission->type->name,
      .label = commands ? commands->label : "",
      .commands_id = commands && !commands->is_own ? agx_command_buffer_profile_id(commands) : 0,
      .tag = submission->tag,
      .payload_B = payload_of(op),
   };
   AGX_TRY(agx_profile_entry_create(profile, &operation, &submission->profile));
   submission->session = profile;
   return AGX_OK;
}

/* An operation that was read and checked, of up to AGX_MAX_POINTS each. */
static agx_status submit_checked(struct agx_device *device, const struct agx_op *op,
                                 const struct agx_op_type *type)
{
   struct agx_submission *submission = acquire(device);
   if (!submission)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "submit: out of host memory");
   init_submission(submission, device, op, type);
   agx_status status = type->prepare ? type->prepare(device, op, submission) : AGX_OK;
   if (status != AGX_OK) {
      move_locking(submission, AGX_SUBMISSION_PREPARED, AGX_SUBMISSION_SPARE);
      return status;
   }
   if (submission->commands && !submission->stream.stream_va)
      agx_command_buffer_stream(submission->commands, &submission->stream);
   retain_points(submission, op);
   if (agx_context_of(device)->profile)
      status = create_profile_entry(submission, op);
   uint64_t number;
   if (status == AGX_OK)
      status = submit_captured(submission, op, &number);
   if (status != AGX_OK) {
      move_locking(submission, submission->state, AGX_SUBMISSION_REFUSED);
      agx_submission_drop(submission);
      move_locking(submission, AGX_SUBMISSION_REFUSED, AGX_SUBMISSION_SPARE);
   } else if (agx_context_of(device)->debug & AGX_DEBUG_SERIAL && !must_not_wait(device)) {
      wait_end(device, submission, number);
   }
   return status;
}

/* ---- more points than a submission has room for ------------------------------ */

static agx_status submit_barrier(struct agx_device *device, const struct agx_op *of,
                                 const struct agx_point *waits, uint32_t wait_count,
                                 const struct agx_point *signals, uint32_t signal_count)
{
   const struct agx_op barrier = {.kind = AGX_OP_BARRIER,
                                  .queues = of->queues,
                                  .waits = waits,
                                  .wait_count = wait_count,
                                  .signals = signals,
                                  .signal_count = signal_count};
   return submit_checked(device, &barrier, agx_op_type(device, AGX_OP_BARRIER));
}

/* Barriers of some waits each, one behind the other. *out_all: when all of them are reached, on a
 * new semaphore. Barriers that went through before another one is refused end by themselves, and
 * nothing waits for them. */
static agx_status gather_waits(struct agx_device *device, const struct agx_op *op,
                               struct agx_point *out_all)
{
   struct agx_point waits[AGX_MAX_POINTS];
   AGX_TRY(agx_semaphore_create(device, 0, &out_all->semaphore));
   for (uint32_t first = 0, count; first < op->wait_count; first += count) {
      const struct agx_point signal = {out_all->semaphore, out_all->value + 1};
      count = AGX_MIN(op->wait_count - first, AGX_MAX_POINTS - 1);
      for (uint32_t i = 0; i < count; i++)
         waits[i] = op->waits[first + i];
      waits[count] = *out_all; /* value 0 is reached */
      AGX_TRY(submit_barrier(device, op, waits, count + 1, &signal, 1));
      out_all->value++;
   }
   return AGX_OK;
}

/* Barriers that signal what the operation has no room for, behind its last signal. Where one is
 * refused its signals fail, since the operation is under way. */
static void scatter_signals(struct agx_device *device, const struct agx_op *op, uint32_t first,
                            const struct agx_point *last)
{
   for (uint32_t count; first < op->signal_count; first += count) {
      count = AGX_MIN(op->signal_count - first, AGX_MAX_POINTS);
      agx_status status = submit_barrier(device, op, last, 1, &op->signals[first], count);
      for (uint32_t i = 0; i < count && status != AGX_OK; i++)
         agx_semaphore_fail(op->signals[first + i].semaphore, status, agx_error_peek());
   }
}

static agx_status submit_gathered(struct agx_device *device, const struct agx_op *op,
                                  const struct agx_op_type *type, struct agx_point *all,
                                  struct agx_point *last)
{
   const uint32_t kept = AGX_MAX_POINTS - 1; /* signals of its own, where it has too many */
   struct agx_point signals[AGX_MAX_POINTS];
   struct agx_op own = *op;
   agx_sync_lock(agx_sync_of(device));
   agx_status status = check_signals(op);
   agx_sync_unlock(agx_sync_of(device));
   AGX_TRY(status);
   if (op->wait_count > AGX_MAX_POINTS) {
      AGX_TRY(gather_waits(device, op, all));
      own.waits = all;
      own.wait_count = 1;
   }
   if (op->signal_count <= AGX_MAX_POINTS)
      return submit_checked(device, &own, type);
   AGX_TRY(agx_semaphore_create(device, 0, &last->semaphore));
   last->value = 1;
   for (uint32_t i = 0; i < kept; i++)
      signals[i] = op->signals[i];
   signals[kept] = *last;
   own.signals = signals;
   own.signal_count = AGX_MAX_POINTS;
   AGX_TRY(submit_checked(device, &own, type));
   scatter_signals(device, op, kept, last);
   return AGX_OK;
}

static agx_status submit_one(struct agx_device *device, const struct agx_op *given)
{
   struct agx_point all = {0}, last = {0};
   struct agx_op op;
   AGX_TRY(agx_desc_read_tail("agx_op", given, &op, sizeof(op)));
   if (op.size % sizeof(uint64_t))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "agx_op: size %u is no multiple of 8", op.size);
   const struct agx_op_type *type;
   AGX_TRY(check_op(device, &op, &type));
   if (op.wait_count <= AGX_MAX_POINTS && op.signal_count <= AGX_MAX_POINTS)
      return submit_checked(device, &op, type);
   agx_status status = submit_gathered(device, &op, type, &all, &last);
   agx_release(all.semaphore);
   agx_release(last.semaphore);
   return status;
}

agx_status agx_submit(struct agx_device *device, const struct agx_op *ops, uint32_t count,
                      uint32_t *out_queued)
{
   agx_status status = AGX_OK;
   uint32_t queued = 0;
   const char *at = (const char *)ops;
   if (out_queued)
      *out_queued = 0;
   AGX_TRY(agx_fork_check(device));
   if (count && !ops)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: %u operations at NULL", count);
   uint64_t start_ns = agx_profile_host_begin(device);
   while (queued < count && status == AGX_OK) {
      status = submit_one(device, (const struct agx_op *)at);
      at += status == AGX_OK ? ((const struct agx_op *)at)->size : 0;
      queued += status == AGX_OK;
   }
   agx_profile_host_end(device, "submit", NULL, start_ns);
   if (out_queued)
      *out_queued = queued;
   return status;
}

agx_status agx_flush(struct agx_device *device, uint64_t queues)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   AGX_TRY(agx_fork_check(device));
   AGX_TRY(check_queues(device, "flush", queues));
   agx_device_retry(device);
   agx_sync_lock(sync);
   agx_status status = agx_failure_raise(&sync->lost);
   for (unsigned i = 0; i < sync->queue_count && status == AGX_OK; i++)
      if (!queues || queues >> i & 1)
         status = agx_failure_raise(&sync->queues[i].lost);
   agx_sync_unlock(sync);
   return status;
}

/* A queue that was lost gets a new queue of the kernel, when the kernel is done with what the old
 * one had. */
agx_status agx_queue_recreate(struct agx_device *device, uint32_t index)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   AGX_TRY(agx_fork_check(device));
   if (index >= sync->queue_count)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "queue %u of %u", index, sync->queue_count);
   struct agx_queue *queue = &sync->queues[index];
   struct agxw_queue *fresh = NULL, *old = NULL;
   struct agx_scratch *scratch = NULL;
   agx_queue_lock(queue);
   agx_sync_lock(sync);
   agx_status status = agx_failure_raise(&sync->lost);
   if (status == AGX_OK && queue->lost.status == AGX_OK)
      status = AGX_FAIL(AGX_FAILED_PRECONDITION, "queue %u is not lost", index);
   /* The kernel may be at work yet on what was behind the failure. */
   while (status == AGX_OK && queue->retired < queue->epoch) {
      const struct agxw_point last = {queue->timeline, queue->epoch};
      agx_sync_unlock(sync);
      status = agxw_wait(agx_context_of(device)->winsys, &last, 1, false, AGX_DEADLINE_NEVER);
      agx_sync_lock(sync);
      if (status == AGX_OK)
         agx_queue_finish_unlocking(queue, last.value);
   }
   agx_sync_unlock(sync);
   if (status == AGX_OK)
      status = agxw_queue_create(agx_context_of(device)->winsys, queue->priority, &fresh);
   agx_sync_lock(sync);
   if (status == AGX_OK) {
      old = queue->kernel;
      queue->kernel = fresh;
      /* What failed may not have given its stacks back. */
      scratch = queue->scratch;
      queue->scratch = NULL;
      queue->lost = (struct agx_failure){0};
   }
   agx_queue_unlock(queue);
   agx_device_unlock_and_run_deferred(device);
   agx_release(scratch);
   if (old)
      agxw_queue_destroy(old);
   return status;
}

void agx_sync_cancel(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   const struct agx_failure failure = {.status = AGX_CANCELLED,
                                       .text = "operation cancelled while it waited"};
   agx_sync_lock(sync);
   agx_submissions_fail_parked(device, NULL, &failure);
   agx_device_cancel_imports(device, &failure);
   struct agx_poller *poller = sync->poller;
   agx_device_unlock_and_run_deferred(device);
   if (poller)
      agx_poller_cancel(poller);
}
