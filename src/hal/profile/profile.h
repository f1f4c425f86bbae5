/* SPDX-License-Identifier: MIT
 *
 * Where the rest of the library tells a profiling session what happens. Without a session each
 * call is one test of a pointer.
 */
#pragma once

#include "hal/device/device.h"

struct agx_profile;
struct agx_profile_entry;
struct agx_submission;

/* ---- operations ----------------------------------------------------------- */

/* A new operation, captured and not set going yet. Fails where there is no memory to record it. */
AGX_MUST_CHECK agx_status agx_profile_take_submission(struct agx_submission *submission,
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

/* ---- the host ------------------------------------------------------------- */

uint64_t agx_profile_now(const struct agx_profile *profile);
void agx_profile_note(struct agx_profile *profile, const char *name, const char *detail,
                      uint64_t start_ns);

/* `uint64_t t = agx_profile_host_begin(device); ... agx_profile_host_end(device, "compile",
 * name, t);` records what lies between; names are copied. Any thread, also with locks held. */
static inline uint64_t agx_profile_host_begin(const struct agx_device *device)
{
   return __builtin_expect(device->profile != NULL, 0) ? agx_profile_now(device->profile) : 0;
}

static inline void agx_profile_host_end(struct agx_device *device, const char *name,
                                        const char *detail, uint64_t start_ns)
{
   if (__builtin_expect(start_ns != 0 && device->profile, 0))
      agx_profile_note(device->profile, name, detail, start_ns);
}

/* ---- sessions ------------------------------------------------------------- */

/* What AGX_PROFILE in the environment asks for; a file that can't be had is said, no failure. */
AGX_MUST_CHECK agx_status agx_profile_open_environment(struct agx_device *device);
/* Ends the session, if there is one. */
void agx_profile_fini(struct agx_device *device);
