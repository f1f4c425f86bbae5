/* SPDX-License-Identifier: MIT
 *
 * Dynamic local size: dispatches that choose the size of their workgroups and their threadgroup
 * memory themselves (AGX_EXECUTABLE_DYNAMIC_LOCAL_SIZE, AGX_EXECUTABLE_DYNAMIC_SHARED).
 */
#pragma once

#include "hal/executable/executable.h"

/* Returns whether the dispatch chooses something itself. */
static inline bool agx_dispatch_has_dynamic_size(const struct agx_dispatch *dispatch)
{
   return dispatch->local_size[0] || dispatch->local_size[1] || dispatch->local_size[2] ||
          dispatch->shared_B;
}

/* Checks what the dispatch chooses against what the program and hardware allow, and replaces each
 * local size of 0 by the program's. */
AGX_MUST_CHECK agx_status agx_dynamic_size_resolve(const struct agx_program *program,
                                                   struct agx_dispatch *dispatch);

/* The plan for a settled dispatch: the executable's, or a changed copy in *room. */
AGX_MUST_CHECK agx_status agx_dynamic_size_plan(const struct agx_executable *executable,
                                                const struct agx_dispatch *dispatch,
                                                struct agx_plan *room,
                                                const struct agx_plan **out_plan);
