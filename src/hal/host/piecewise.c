/* SPDX-License-Identifier: MIT
 *
 * The turns of operations that move bytes on the host.
 */
#include "hal/host/piecewise.h"

#include "base/util.h"
#include "hal/host/state.h"

static bool run_piece(struct agx_host_job *job)
{
   struct agx_piecewise *it = agx_container_of(job, struct agx_piecewise, job);
   const struct agx_device *device = it->submission->device;
   uint64_t start_ns = agx_profile_host_begin(device);
   bool is_over = false;
   agx_status status = it->move(it, &is_over);
   /* Before the signals: then the application may end the session. */
   agx_profile_host_end(device, "run", it->submission->type->name, start_ns);
   if (status == AGX_OK && !is_over)
      return true;
   agx_submission_finish(it->submission, status);
   return false;
}

static void cancel_job(struct agx_host_job *job)
{
   struct agx_piecewise *it = agx_container_of(job, struct agx_piecewise, job);
   agx_submission_finish(
      it->submission, AGX_FAIL(AGX_CANCELLED, "%s: cancelled before a byte was moved", it->label));
}

void agx_piecewise_init(struct agx_piecewise *it, struct agx_submission *submission,
                        agx_status (*move)(struct agx_piecewise *it, bool *out_is_over),
                        const char *label)
{
   static const struct agx_host_job_type type = {
      .run = run_piece, .cancel = cancel_job, .is_transfer = true};
   *it = (struct agx_piecewise){
      .job.type = &type, .submission = submission, .move = move, .label = label};
}

agx_status agx_piecewise_run(struct agx_submission *submission)
{
   struct agx_piecewise *it = AGX_OP_STATE(submission, struct agx_piecewise);
   AGX_TRY(agx_host_pool_post(agx_host_of(submission->device)->pool, &it->job));
   return AGX_DEFERRED;
}
