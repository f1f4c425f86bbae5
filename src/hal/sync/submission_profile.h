/* SPDX-License-Identifier: MIT
 *
 * What a profiling session learns of submissions. But for the first, each is called only for a
 * submission that a session records.
 */
#pragma once

#include "hal/profile/profile.h"

struct agx_failure;
struct agx_submission;

/* A new operation, captured and not set going yet: sets submission->profile and ->session, where
 * the device's session wants it. Fails where there is no memory to record it. */
AGX_MUST_CHECK agx_status agx_profile_add_submission(struct agx_submission *submission,
                                                     uint32_t kind);
/* One with submission->profile goes to the kernel: other commands in *submit, with timestamps.
 * Without locks but the queue's submit_lock. */
AGX_MUST_CHECK agx_status agx_profile_prepare(struct agx_submission *submission,
                                              struct agxw_submit *submit);
/* Its turn has come on the host. */
void agx_profile_started(struct agx_submission *submission);
/* It is over; before its semaphores know. failure NULL: it succeeded. */
void agx_profile_ended(struct agx_submission *submission, const struct agx_failure *failure);
/* One with submission->session is let go, ended or not. Delivers records: without locks. */
void agx_profile_drop(struct agx_submission *submission);

/* Where the streams of its commands begin: one of them, unless the session has cut it. And the
 * number of the first dispatch in the one at stream_va. */
void agx_profile_streams(const struct agx_submission *submission, uint64_t *out_first_va,
                         uint64_t *out_last_va);
uint32_t agx_profile_first_dispatch(const struct agx_submission *submission, uint64_t stream_va);
