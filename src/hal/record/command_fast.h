/* SPDX-License-Identifier: MIT
 *
 * The fast path of a dispatch.
 */
#pragma once

#include "hal/record/command_buffer.h"

/* Records a dispatch as the executable's launch template says (executable/launch_template.h), or
 * with draw a draw. Returns false and changes nothing where anything is out of the ordinary, for
 * the general path to look at. */
bool agx_record_fast(struct agx_command_buffer *commands, const struct agx_dispatch *dispatch,
                     const struct agx_vertex_dispatch *draw, agx_status *out_status);
