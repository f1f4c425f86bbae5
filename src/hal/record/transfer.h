/* SPDX-License-Identifier: MIT
 *
 * Recording fills, updates and copies.
 */
#pragma once

#include "agx/queue.h"
#include "base/status.h"

/* agx_cmd_update without its limit. */
AGX_MUST_CHECK agx_status agx_record_update(struct agx_command_buffer *commands, const void *data,
                                            struct agx_buffer_ref target);
