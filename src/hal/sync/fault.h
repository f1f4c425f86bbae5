/* SPDX-License-Identifier: MIT
 *
 * The failure of a submission in words.
 */
#pragma once

#include "hal/core/failure.h"

struct agx_submission;

/* Says in *out why a submission ended with status, by the error of its fence (agxw_point_error):
 * whether it was a fault or a hang, what was accessed, of which size, which buffer is there or
 * nearest, which dispatch of which command buffer it was. Where the device tells nothing but the
 * fence's error, as a real kernel does, the text says so and what ran. Without an error of a fence
 * (0) *out takes the thread's error text along. Slow; one call for each failed submission, in their
 * order on a queue, because a device tells of each failure once. */
void agx_fault_describe(const struct agx_submission *submission, agx_status status, int fence_error,
                        struct agx_failure *out);

/* Instead of it, for a submission whose failure is known already. */
void agx_fault_forget(const struct agx_submission *submission);
