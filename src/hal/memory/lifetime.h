/* SPDX-License-Identifier: MIT
 *
 * Starting and ending the memory room for a device, and giving back what it keeps.
 */
#pragma once

#include "hal/memory/state.h"

/* Needs the winsys device. hooks stay valid. */
AGX_MUST_CHECK agx_status agx_memory_state_init(struct agx_device *device,
                                                const struct agx_device_desc *desc,
                                                const struct agx_memory_hooks *hooks);
/* All buffers, pools and chunks have gone. */
void agx_memory_state_fini(struct agx_device *device);

/* agx_device_trim; whether there was anything. Takes locks of the pools and of the rooms above. */
bool agx_memory_trim(struct agx_device *device);
