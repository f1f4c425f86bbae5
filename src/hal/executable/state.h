/* SPDX-License-Identifier: MIT
 *
 * The executable room's part of a device: what was compiled, and the driver's own kernels.
 */
#pragma once

#include "hal/core/context.h"
#include "hal/executable/builtin.h"
#include "hal/executable/executable_cache.h"

struct agx_executable_state {
   struct agx_builtins builtins;
   struct agx_executable_cache *cache;
};

/* Fails for what the environment says wrongly of the disk cache. */
AGX_MUST_CHECK agx_status agx_executable_state_init(struct agx_device *device);
/* All executables but the driver's own have gone. */
void agx_executable_state_fini(struct agx_device *device);

/* The executable room's state of a device. */
static inline struct agx_executable_state *agx_executables_of(const struct agx_device *device)
{
   return agx_context_of(device)->executable;
}
