/* SPDX-License-Identifier: MIT
 *
 * Indirect dispatches: the hardware itself reads workgroup counts, and Uniform words load push
 * constants, from the application's buffers when it comes to the launch.
 */
#pragma once

#include "hal/executable/executable.h"

/* Returns whether the application gives this buffer, or a slot in place of it. */
static inline bool agx_ref_is_set(const struct agx_buffer_ref *ref)
{
   return ref->buffer || ref->table_slot;
}

/* Returns whether the hardware reads something of the dispatch from memory. */
static inline bool agx_dispatch_is_indirect(const struct agx_dispatch *dispatch)
{
   return agx_ref_is_set(&dispatch->counts) || agx_ref_is_set(&dispatch->arguments);
}

/* Ranges, usage and alignment of what is given. */
AGX_MUST_CHECK agx_status agx_indirect_check(const struct agx_device *device,
                                             const struct agx_program *program,
                                             const struct agx_dispatch *dispatch);

/* Changes the plan of a settled dispatch, a copy of the executable's. */
AGX_MUST_CHECK agx_status agx_indirect_plan(const struct agx_chip *chip,
                                            const struct agx_program *program,
                                            const struct agx_dispatch *dispatch,
                                            struct agx_plan *plan);
