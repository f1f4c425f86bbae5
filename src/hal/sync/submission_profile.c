/* SPDX-License-Identifier: MIT
 *
 * Tells the device's profiling session of submissions: what they are when agx_submit has captured
 * them, when they start, what their launches are, and how they end.
 */
#include "hal/sync/submission_profile.h"

#include "hal/sync/submission.h"

agx_status agx_profile_add_submission(struct agx_submission *submission, uint32_t kind)
{
   struct agx_profile *profile = agx_context_of(submission->device)->profile;
   struct agx_command_buffer *commands = submission->commands;
   const struct agx_profile_operation operation = {
      .queue = submission->queue->index,
      .kind = kind,
      .name = submission->type->name,
      .label = commands ? commands->label : "",
      .commands_id = commands && !commands->is_own ? agx_command_buffer_profile_id(commands) : 0,
   };
   AGX_TRY(agx_profile_entry_create(profile, &operation, &submission->profile));
   submission->session = submission->profile ? profile : NULL;
   return AGX_OK;
}

agx_status agx_profile_prepare(struct agx_submission *submission, struct agxw_submit *submit)
{
   struct agx_profile_entry *entry = submission->profile;
   agx_profile_entry_start(entry);
   if (agx_profile_entry_wants_dispatches(entry))
      AGX_TRY(agx_command_buffer_profile(submission->commands, entry));
   return agx_profile_entry_send(entry, &submission->stream, submit);
}

void agx_profile_started(struct agx_submission *submission)
{
   if (submission->profile)
      agx_profile_entry_start(submission->profile);
}

void agx_profile_ended(struct agx_submission *submission, const struct agx_failure *failure)
{
   if (!submission->profile)
      return;
   agx_profile_entry_end(submission->profile, submission->number,
                         failure ? failure->status : AGX_OK);
   submission->profile = NULL;
}

void agx_profile_drop(struct agx_submission *submission)
{
   struct agx_profile *session = submission->session;
   struct agx_profile_entry *entry = submission->profile;
   submission->profile = NULL;
   submission->session = NULL;
   agx_profile_release_operation(session, entry);
}

void agx_profile_streams(const struct agx_submission *submission, uint64_t *out_first_va,
                         uint64_t *out_last_va)
{
   *out_first_va = *out_last_va = submission->stream.stream_va;
   if (submission->profile)
      (void)agx_profile_entry_streams(submission->profile, out_first_va, out_last_va);
}

uint32_t agx_profile_first_dispatch(const struct agx_submission *submission, uint64_t stream_va)
{
   return submission->profile ? agx_profile_entry_first_dispatch(submission->profile, stream_va)
                              : 0;
}
