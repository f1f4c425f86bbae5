/* SPDX-License-Identifier: MIT
 *
 * The shape of a dispatch's workgroups, where it is not the executable's.
 */
#pragma once

#include "hal/executable/executable.h"

/* The dispatch chooses something itself. */
static inline bool agx_dispatch_has_shape(const struct agx_dispatch *dispatch)
{
   return dispatch->local_size[0] || dispatch->local_size[1] || dispatch->local_size[2] ||
          dispatch->shared_B;
}

/* Checks what the dispatch chooses against what the program and hardware allow, and replaces each
 * local size of 0 by the program's. */
AGX_MUST_CHECK agx_status agx_shape_settle(const struct agx_program *program,
                                           struct agx_dispatch *dispatch);

/* The plan for a settled dispatch: the executable's, or a changed copy in *room. */
AGX_MUST_CHECK agx_status agx_shape_plan(const struct agx_executable *executable,
                                         const struct agx_dispatch *dispatch, struct agx_plan *room,
                                         const struct agx_plan **out_plan);
