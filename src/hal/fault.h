/* SPDX-License-Identifier: MIT
 *
 * The failure of a submission in words.
 */
#pragma once

#include "hal/device.h"

struct agx_command_buffer;

/* Says in *out why a submission of these commands, or nothing (NULL), with this stream ended with
 * status, which is what its fence says: what was accessed, of which size, which buffer is there or
 * nearest, which dispatch of which command buffer it was. Where the device tells nothing but the
 * fence's error, as a real kernel does, the text says so and what ran. The thread's error text, if
 * the status is none of a fence, stays what it is and is taken over. Slow; one call for each failed
 * submission, in their order on a queue, because a device tells of each failure once. */
void agx_fault_describe(struct agx_device *device, struct agx_command_buffer *commands,
                        const struct agxw_compute *stream, agx_status status,
                        struct agx_failure *out);

/* Instead of it, for a submission whose end nobody asks about any more. */
void agx_fault_forget(struct agx_device *device, const struct agxw_compute *stream);
