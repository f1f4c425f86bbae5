/* SPDX-License-Identifier: MIT
 *
 * Ordering. The queue runs its submissions in order, each after the ones before; so a wait
 * for what is in flight needs nothing from the kernel, and a wait for what nobody has
 * submitted keeps the operation here.
 */
#include "hal/submission.h"

#include <stdio.h>

#include "base/debug.h"
#include "base/util.h"
#include "hal/desc.h"

enum readiness {
   READY,
   NOT_YET,
   FAILED,
};

/* ---- states ----------------------------------------------------------- */

/* The epoch after which a point is reached: 0 when it is now. */
static enum readiness point_epoch(const struct agx_device *device, const struct agx_point *point,
                                  uint64_t *out_epoch)
{
   const struct agx_semaphore *semaphore = point->semaphore;
   *out_epoch = 0;
   if (semaphore->value >= point->value)
      return READY;
   if (semaphore->failure.status != AGX_OK)
      return FAILED;
   agx_list_for_each (struct agx_signal, signal, &semaphore->pending, link) {
      if (signal->value < point->value)
         continue;
      /* Signals are filed when their submission gets an epoch. */
      *out_epoch = device->epoch;
      return READY;
   }
   return NOT_YET;
}

static enum readiness readiness_of(const struct agx_device *device,
                                   const struct agx_submission *submission, uint64_t *out_epoch)
{
   enum readiness readiness = READY;
   *out_epoch = 0;
   for (uint32_t i = 0; i < submission->wait_count; i++) {
      uint64_t epoch;
      enum readiness point = point_epoch(device, &submission->waits[i], &epoch);
      *out_epoch = AGX_MAX(*out_epoch, epoch);
      if (point == FAILED)
         return FAILED;
      if (point == NOT_YET)
         readiness = NOT_YET;
   }
   return readiness;
}

static void file_signals(struct agx_submission *submission)
{
   for (uint32_t i = 0; i < submission->signal_count; i++)
      agx_list_append(&submission->signals[i].semaphore->pending, &submission->signals[i].link);
}

static void leave_flight(struct agx_submission *submission)
{
   if (submission->commands)
      atomic_fetch_sub(&submission->commands->in_flight, 1);
}

/* Tells a submission's semaphores that it is done, or how it failed. Whoever they wake may
 * record the command buffer anew, so it leaves flight before. */
static void deliver(struct agx_device *device, struct agx_submission *submission,
                    const struct agx_failure *failure)
{
   leave_flight(submission);
   for (uint32_t i = 0; i < submission->signal_count; i++) {
      struct agx_signal *signal = &submission->signals[i];
      agx_list_remove(&signal->link);
      if (failure)
         agx_semaphore_fail_locked(signal->semaphore, failure);
      else
         agx_semaphore_advance(signal->semaphore, signal->value);
   }
   submission->is_delivered = true;
   if (device->debug & AGX_DEBUG_SYNC)
      fprintf(stderr, "agx: epoch %llu %s%s\n", (unsigned long long)submission->epoch,
              failure ? "failed: " : "done", failure ? failure->text : "");
}

/* The failure of a wait that came to nothing, or NULL. */
static const struct agx_failure *failed_wait(const struct agx_submission *submission)
{
   for (uint32_t i = 0; i < submission->wait_count; i++) {
      const struct agx_semaphore *semaphore = submission->waits[i].semaphore;
      if (semaphore->value < submission->waits[i].value && semaphore->failure.status != AGX_OK)
         return &semaphore->failure;
   }
   return NULL;
}

/* ---- to the kernel ---------------------------------------------------- */

/* in_flight stays sorted by epoch. */
static void file_in_flight(struct agx_device *device, struct agx_submission *submission)
{
   if (submission->epoch == 0)
      agx_list_insert_after(&device->in_flight, &submission->link);
   else
      agx_list_append(&device->in_flight, &submission->link);
   pthread_cond_signal(&device->work);
}

static agx_status submit_stream(struct agx_device *device, struct agx_submission *submission,
                                const struct agxw_compute *command)
{
   if (!submission->fence)
      AGX_TRY(agxw_timeline_create(device->winsys, 0, &submission->fence));
   const struct agxw_point signals[] = {
      {device->timeline, device->epoch + 1},
      {submission->fence, submission->fence_value + 1},
   };
   const struct agxw_submit submit = {
      .commands = command,
      .command_count = 1,
      .signals = signals,
      .signal_count = AGX_COUNT(signals),
   };
   AGX_TRY(agxw_submit(device->queue, &submit));
   submission->epoch = ++device->epoch;
   submission->fence_value++;
   submission->has_fence = true;
   return AGX_OK;
}

/* Gives the submission to the kernel, or lets it follow what the kernel has. */
static agx_status launch(struct agx_device *device, struct agx_submission *submission,
                         uint64_t wait_epoch)
{
   struct agxw_compute command;
   submission->epoch = wait_epoch;
   if (device->lost.status != AGX_OK)
      return agx_failure_raise(&device->lost);
   if (submission->commands && agx_command_buffer_stream(submission->commands, &command))
      AGX_TRY(submit_stream(device, submission, &command));
   if (device->debug & AGX_DEBUG_SYNC)
      fprintf(stderr, "agx: epoch %llu: submitted %s\n", (unsigned long long)submission->epoch,
              submission->commands ? "a command buffer" : "a barrier");
   if (submission->epoch == 0)
      deliver(device, submission, NULL);
   else
      file_signals(submission);
   file_in_flight(device, submission);
   return AGX_OK;
}

/* Tries one parked submission; true when it left the list. */
static bool pump_one(struct agx_device *device, struct agx_submission *submission)
{
   uint64_t epoch = 0;
   enum readiness readiness = readiness_of(device, submission, &epoch);
   if (readiness == NOT_YET)
      return false;
   agx_list_remove(&submission->link);
   struct agx_failure failure = {0};
   if (readiness == FAILED) {
      failure = *failed_wait(submission);
   } else {
      agx_status status = launch(device, submission, epoch);
      if (status == AGX_OK)
         return true;
      agx_failure_keep(&failure, status);
   }
   submission->epoch = 0;
   deliver(device, submission, &failure);
   file_in_flight(device, submission); /* the worker drops its references */
   return true;
}

void agx_device_pump(struct agx_device *device)
{
   bool moved;
   do {
      moved = false;
      agx_list_for_each_safe (struct agx_submission, submission, &device->parked, link)
         moved |= pump_one(device, submission);
   } while (moved);
}

/* ---- the end of a submission ------------------------------------------ */

/* Drops what a submission holds. Without the lock: a release may destroy. */
static void drop_references(struct agx_submission *submission)
{
   agx_release(submission->commands);
   for (uint32_t i = 0; i < submission->wait_count; i++)
      agx_release(submission->waits[i].semaphore);
   for (uint32_t i = 0; i < submission->signal_count; i++)
      agx_release(submission->signals[i].semaphore);
}

/* Waits for the epoch. Without the lock. A failure of the waiting itself takes the device
 * away; a failed fence is the submission's own affair. */
static void wait_for_end(struct agx_device *device, const struct agx_submission *submission,
                         struct agx_failure *failure, struct agx_failure *lost)
{
   if (submission->is_delivered || submission->epoch == 0)
      return;
   struct agxw_point point = {device->timeline, submission->epoch};
   if (submission->has_fence)
      point = (struct agxw_point){submission->fence, submission->fence_value};
   agx_status status = agxw_wait(device->winsys, &point, 1, false, AGX_DEADLINE_NEVER);
   if (status != AGX_OK) {
      agx_failure_keep(lost, status);
      *failure = *lost;
      return;
   }
   if (!submission->has_fence)
      return;
   agx_failure_keep(failure, agxw_point_status(&point));
   if (failure->status == AGX_UNAVAILABLE)
      *lost = *failure;
}

static void retire(struct agx_device *device, struct agx_submission *submission)
{
   struct agx_failure failure = {0}, lost = {0};
   pthread_mutex_unlock(&device->lock);
   wait_for_end(device, submission, &failure, &lost);
   pthread_mutex_lock(&device->lock);
   if (lost.status != AGX_OK && device->lost.status == AGX_OK)
      device->lost = lost;
   if (!submission->is_delivered) {
      const struct agx_failure *waited = failed_wait(submission);
      deliver(device, submission, waited ? waited : failure.status != AGX_OK ? &failure : NULL);
   }
   agx_list_remove(&submission->link);
   agx_device_pump(device);
   pthread_cond_broadcast(&device->changed);
   pthread_mutex_unlock(&device->lock);
   drop_references(submission);
   pthread_mutex_lock(&device->lock);
   agx_list_append(&device->spare, &submission->link);
}

void *agx_device_work(void *argument)
{
   struct agx_device *device = argument;
   pthread_mutex_lock(&device->lock);
   for (;;) {
      while (agx_list_empty(&device->in_flight) && !device->stop)
         pthread_cond_wait(&device->work, &device->lock);
      if (agx_list_empty(&device->in_flight))
         break;
      retire(device, agx_container_of(device->in_flight.next, struct agx_submission, link));
   }
   pthread_mutex_unlock(&device->lock);
   agx_device_worker_ends(device);
   return NULL;
}

/* ---- agx_submit ------------------------------------------------------- */

static agx_status check_points(const struct agx_device *device, const char *what,
                               const struct agx_point *points, uint32_t count)
{
   if (count > AGX_MAX_POINTS)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "submit: %u %ss; the limit is %u", count, what,
                      AGX_MAX_POINTS);
   if (count && !points)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: %u %ss at NULL", count, what);
   for (uint32_t i = 0; i < count; i++) {
      if (!points[i].semaphore)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: semaphore of %s %u is NULL", what, i);
      if (points[i].semaphore->device != device)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: %s %u is of another device", what, i);
   }
   return AGX_OK;
}

static agx_status check_op(const struct agx_device *device, const struct agx_op *op)
{
   if (op->kind != AGX_OP_BARRIER && op->kind != AGX_OP_EXECUTE)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "submit: operation kind %u", op->kind);
   if (op->flags)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "submit: flags 0x%llx", (unsigned long long)op->flags);
   AGX_TRY(check_points(device, "wait", op->waits, op->wait_count));
   AGX_TRY(check_points(device, "signal", op->signals, op->signal_count));
   if (op->kind == AGX_OP_BARRIER)
      return AGX_OK;
   return agx_command_buffer_check_submit(op->u.execute.commands, device);
}

static struct agx_submission *take_spare(struct agx_device *device)
{
   if (agx_list_empty(&device->spare))
      return agx_host_zalloc(device->alloc, sizeof(struct agx_submission));
   struct agx_link *link = device->spare.next;
   agx_list_remove(link);
   return agx_container_of(link, struct agx_submission, link);
}

/* Signals must grow, counting what is parked and in flight. */
static agx_status promise_signals(const struct agx_op *op)
{
   for (uint32_t i = 0; i < op->signal_count; i++) {
      struct agx_semaphore *semaphore = op->signals[i].semaphore;
      bool repeated = false;
      for (uint32_t j = 0; j < i; j++)
         repeated |= op->signals[j].semaphore == semaphore;
      if (repeated || op->signals[i].value <= semaphore->promised)
         return AGX_FAIL(
            AGX_INVALID_ARGUMENT, "submit: signal %u to %llu; %llu was submitted already", i,
            (unsigned long long)op->signals[i].value, (unsigned long long)semaphore->promised);
   }
   for (uint32_t i = 0; i < op->signal_count; i++)
      op->signals[i].semaphore->promised = op->signals[i].value;
   return AGX_OK;
}

static void fill_submission(struct agx_submission *submission, const struct agx_op *op)
{
   submission->commands = op->kind == AGX_OP_EXECUTE ? op->u.execute.commands : NULL;
   submission->wait_count = op->wait_count;
   submission->signal_count = op->signal_count;
   submission->epoch = 0;
   submission->has_fence = submission->is_delivered = false;
   if (submission->commands) {
      agx_retain(submission->commands);
      atomic_fetch_add(&submission->commands->in_flight, 1);
   }
   for (uint32_t i = 0; i < op->wait_count; i++) {
      submission->waits[i] = op->waits[i];
      agx_retain(op->waits[i].semaphore);
   }
   for (uint32_t i = 0; i < op->signal_count; i++) {
      submission->signals[i].semaphore = op->signals[i].semaphore;
      submission->signals[i].value = op->signals[i].value;
      agx_list_init(&submission->signals[i].link);
      agx_retain(op->signals[i].semaphore);
   }
}

/* With the lock held. On failure nothing is left behind; *out_undo is what to drop. */
static agx_status submit_locked(struct agx_device *device, const struct agx_op *op,
                                struct agx_submission **out_undo)
{
   uint64_t promised[AGX_MAX_POINTS];
   for (uint32_t i = 0; i < op->signal_count; i++)
      promised[i] = op->signals[i].semaphore->promised;
   AGX_TRY(promise_signals(op));
   struct agx_submission *submission = take_spare(device);
   agx_status status = AGX_OK;
   if (submission) {
      uint64_t epoch = 0;
      fill_submission(submission, op);
      enum readiness readiness = readiness_of(device, submission, &epoch);
      if (readiness == READY)
         status = launch(device, submission, epoch);
      else
         agx_list_append(&device->parked, &submission->link);
   } else {
      status = AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "submit: out of host memory");
   }
   if (status == AGX_OK) {
      agx_device_pump(device);
      return AGX_OK;
   }
   for (uint32_t i = 0; i < op->signal_count; i++)
      op->signals[i].semaphore->promised = promised[i];
   *out_undo = submission;
   return status;
}

static agx_status submit_one(struct agx_device *device, const struct agx_op *given)
{
   struct agx_op op;
   AGX_TRY(agx_desc_read_tail("agx_op", given, &op, sizeof(op)));
   if (op.size % sizeof(uint64_t))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "agx_op: size %u is no multiple of 8", op.size);
   AGX_TRY(check_op(device, &op));
   struct agx_submission *undo = NULL;
   pthread_mutex_lock(&device->lock);
   agx_status status = submit_locked(device, &op, &undo);
   pthread_mutex_unlock(&device->lock);
   if (undo) {
      leave_flight(undo);
      drop_references(undo);
      pthread_mutex_lock(&device->lock);
      agx_list_append(&device->spare, &undo->link);
      pthread_mutex_unlock(&device->lock);
   }
   return status;
}

/* AGX_DEBUG=serial: until nothing is in flight. */
static void wait_idle(struct agx_device *device)
{
   pthread_mutex_lock(&device->lock);
   while (!agx_list_empty(&device->in_flight))
      pthread_cond_wait(&device->changed, &device->lock);
   pthread_mutex_unlock(&device->lock);
}

void agx_device_cancel(struct agx_device *device)
{
   struct agx_failure failure = {.status = AGX_CANCELLED,
                                 .text = "operation cancelled while it waited"};
   pthread_mutex_lock(&device->lock);
   agx_list_for_each_safe (struct agx_submission, submission, &device->parked, link) {
      agx_list_remove(&submission->link);
      deliver(device, submission, &failure);
      file_in_flight(device, submission);
   }
   pthread_mutex_unlock(&device->lock);
}

agx_status agx_submit(struct agx_device *device, const struct agx_op *ops, uint32_t count,
                      uint32_t *out_queued)
{
   agx_status status = AGX_OK;
   uint32_t queued = 0;
   const char *at = (const char *)ops;
   while (queued < count && status == AGX_OK) {
      status = submit_one(device, (const struct agx_op *)at);
      at += status == AGX_OK ? ((const struct agx_op *)at)->size : 0;
      queued += status == AGX_OK;
      if (status == AGX_OK && device->debug & AGX_DEBUG_SERIAL)
         wait_idle(device);
   }
   if (out_queued)
      *out_queued = queued;
   return status;
}

void agx_submissions_fini(struct agx_device *device)
{
   while (!agx_list_empty(&device->spare)) {
      struct agx_submission *submission =
         agx_container_of(device->spare.next, struct agx_submission, link);
      agx_list_remove(&submission->link);
      if (submission->fence)
         agxw_timeline_destroy(submission->fence);
      agx_host_free(device->alloc, submission, sizeof(*submission));
   }
}
