/* SPDX-License-Identifier: MIT
 *
 * Runs calls of the application's functions on the host pool: hal/sync starts and cancels them
 * through agx_host_call_op, and a call finishes its submission when its function returns or says
 * so. A call is an object of its own, because it may outlive its submission: its function still
 * runs after agx_host_call_finish, or after the signals went ahead (AGX_HOST_CALL_NON_BLOCKING).
 */
#include "base/debug.h"
#include "base/util.h"
#include "hal/core/desc.h"
#include "hal/host/state.h"
#include "hal/sync/submission.h"

#define ALL_FLAGS                                                                                  \
   ((uint64_t)(AGX_HOST_CALL_NON_BLOCKING | AGX_HOST_CALL_WAIT_ACTIVE | AGX_HOST_CALL_RELAXED))

_Static_assert(AGX_HOST_THREADS == AGX_HOST_CALL_THREADS, "what the public header promises");

struct agx_host_call {
   struct agx_host_job job;
   struct agx_device *device;         /* retained until the call is over */
   struct agx_submission *submission; /* NULL: it doesn't wait for the call */
   uint64_t number;                   /* of the submission */
   struct agx_op_host_call op;
   struct agx_profile *session; /* retained until the function has returned; NULL: none */
   _Atomic uint32_t references; /* held by the thread that runs the function, and by the one that is
                                   to finish the call */
   _Atomic bool is_finished;
};

/* ---- memory ------------------------------------------------------------- */

void agx_host_calls_init(struct agx_host_calls *calls)
{
   pthread_mutex_init(&calls->lock, NULL);
   agx_list_init(&calls->spare);
}

void agx_host_calls_fini(struct agx_host_calls *calls, const struct agx_host_alloc *alloc)
{
   agx_list_for_each_safe (struct agx_host_call, call, &calls->spare, job.link)
      agx_host_free(alloc, call, sizeof(*call));
   pthread_mutex_destroy(&calls->lock);
}

static struct agx_host_call *acquire_call(struct agx_device *device)
{
   struct agx_host_calls *calls = &agx_host_of(device)->calls;
   struct agx_host_call *call = NULL;
   pthread_mutex_lock(&calls->lock);
   if (!agx_list_empty(&calls->spare)) {
      call = agx_container_of(calls->spare.next, struct agx_host_call, job.link);
      agx_list_remove(&call->job.link);
   }
   pthread_mutex_unlock(&calls->lock);
   return call ? call : agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*call));
}

static void drop_reference(struct agx_host_call *call)
{
   if (atomic_fetch_sub_explicit(&call->references, 1, memory_order_acq_rel) != 1)
      return;
   struct agx_device *device = call->device;
   struct agx_host_calls *calls = &agx_host_of(device)->calls;
   pthread_mutex_lock(&calls->lock);
   agx_list_insert_after(&calls->spare, &call->job.link);
   pthread_mutex_unlock(&calls->lock);
   agx_release(device);
}

/* ---- the call ----------------------------------------------------------- */

/* The thread's error text tells why. The first to come decides. */
static void finish(struct agx_host_call *call, agx_status status)
{
   if (atomic_exchange(&call->is_finished, true))
      return;
   if (call->submission)
      agx_submission_finish(call->submission, status);
   drop_reference(call);
}

/* A status that may fail semaphores, with a text. */
static agx_status failure_of(agx_status status, const char *text)
{
   bool is_failure = status > AGX_OK && status <= AGX_INCOMPATIBLE && status != AGX_DEFERRED;
   if (!is_failure)
      return AGX_FAIL(AGX_UNKNOWN, "host call: status %d, which is no failure", status);
   return AGX_FAIL(status, "%s%s",
                   *text ? text : "host call: ", *text ? "" : agx_status_name(status));
}

static bool run_call(struct agx_host_job *job)
{
   struct agx_host_call *call = agx_container_of(job, struct agx_host_call, job);
   atomic_store(&call->references, 2);
   (void)!AGX_FAIL(AGX_OK, "%s", ""); /* no text of earlier calls */
   uint64_t start_ns = call->session ? agx_profile_clock() : 0;
   agx_status status = call->op.fn(call->op.user, call->op.args, call);
   /* Before the signals: then the application may end the session. */
   agx_profile_add_span(call->session, "run", agx_host_call_op.name, start_ns);
   agx_profile_release(call->session);
   if (status != AGX_DEFERRED)
      finish(call, status == AGX_OK ? AGX_OK : failure_of(status, agx_error_peek()));
   else if (call->submission && agx_context_of(call->device)->debug & AGX_DEBUG_SERIAL)
      agx_submission_leave_open(call->submission, call->number);
   drop_reference(call);
   return false;
}

static void cancel_call(struct agx_host_job *job)
{
   struct agx_host_call *call = agx_container_of(job, struct agx_host_call, job);
   agx_profile_release(call->session);
   finish(call, AGX_FAIL(AGX_CANCELLED, "host call: cancelled before its turn came"));
}

static const struct agx_host_job_type call_job = {.run = run_call, .cancel = cancel_call};

void agx_host_call_finish(struct agx_host_call *call, agx_status status, const char *text)
{
   if (agx_is_inherited(call->device))
      return;
   finish(call, status == AGX_OK ? AGX_OK : failure_of(status, text ? text : ""));
}

uint32_t agx_host_call_get_signals(const struct agx_host_call *call, uint32_t capacity,
                                   struct agx_point *points)
{
   const struct agx_submission *submission = call->submission;
   if (!submission)
      return 0;
   for (uint32_t i = 0; i < AGX_MIN(capacity, submission->signal_count); i++)
      points[i] =
         (struct agx_point){submission->signals[i].semaphore, submission->signals[i].value};
   return submission->signal_count;
}

/* ---- the operation ------------------------------------------------------ */

struct state {
   struct agx_host_call *call; /* NULL once a thread has it */
};

static agx_status prepare(struct agx_device *device, const struct agx_op *op,
                          struct agx_submission *submission)
{
   const struct agx_op_host_call *given = &op->u.host_call;
   if (!given->fn)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "host call: fn is NULL");
   AGX_TRY(agx_bits_check("submit: host call", "flags", op->flags, 0));
   AGX_TRY(agx_bits_check("host call", "flags", given->flags, ALL_FLAGS));
   struct agx_host_call *call = acquire_call(device);
   if (!call)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "host call: out of host memory");
   call->op = *given;
   call->job.type = &call_job;
   call->device = device;
   agx_retain(device);
   call->submission = NULL;
   atomic_store(&call->references, 1);
   atomic_store(&call->is_finished, false);
   AGX_OP_STATE(submission, struct state)->call = call;
   return AGX_OK;
}

static agx_status run(struct agx_submission *submission)
{
   struct state *state = AGX_OP_STATE(submission, struct state);
   struct agx_host_call *call = state->call;
   bool is_apart = call->op.flags & AGX_HOST_CALL_NON_BLOCKING;
   call->submission = is_apart ? NULL : submission;
   call->number = submission->number;
   call->session = agx_profile_retain_for_spans(call->device);
   state->call = NULL; /* before the call is over and drop looks */
   agx_status status = agx_host_pool_post(agx_host_of(call->device)->pool, &call->job);
   if (status != AGX_OK) {
      agx_profile_release(call->session);
      state->call = call;
      return status;
   }
   return is_apart ? AGX_OK : AGX_DEFERRED;
}

static void drop(struct agx_submission *submission)
{
   struct agx_host_call *call = AGX_OP_STATE(submission, struct state)->call;
   if (call)
      drop_reference(call);
}

const struct agx_op_type agx_host_call_op = {
   .name = "host call",
   .prepare = prepare,
   .run = run,
   .drop = drop,
};
