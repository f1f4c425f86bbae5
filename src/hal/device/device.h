/* SPDX-License-Identifier: MIT
 *
 * A device as a whole: its context and the states of all rooms. Only hal/device and tests of
 * devices include this; applications and the other rooms know a device as a handle.
 */
#pragma once

#include "hal/core/context.h"
#include "hal/device/instance.h"
#include "hal/executable/state.h"
#include "hal/host/state.h"
#include "hal/memory/state.h"
#include "hal/record/state.h"
#include "hal/sync/state.h"

struct agx_device {
   struct agx_context context; /* at offset 0 */
   struct agx_instance *instance;
   struct agx_memory_state memory;
   struct agx_executable_state executable;
   struct agx_recorder_state recorder;
   struct agx_sync_state sync;
   struct agx_host_state host;
};

/* Opens a device over a kmd, which it takes over, also on failure. */
AGX_MUST_CHECK agx_status agx_device_open_over(struct agx_instance *instance,
                                               const struct agx_device_desc *desc,
                                               struct agx_kmd *kmd, struct agx_device **out_device);

/* A device without a GPU over a node of any driver that has timeline syncobjs: semaphores, and
 * operations that the host does. For tests on a kernel that has no other driver. */
AGX_MUST_CHECK agx_status agx_device_open_syncs(struct agx_instance *instance, struct agx_kmd *kmd,
                                                struct agx_device **out_device);

/* The same as agx_device_open_over with a descriptor of zeros. */
static inline AGX_MUST_CHECK agx_status agx_device_open_kmd(struct agx_instance *instance,
                                                            struct agx_kmd *kmd,
                                                            struct agx_device **out_device)
{
   const struct agx_device_desc desc = {.size = sizeof(desc)};
   return agx_device_open_over(instance, &desc, kmd, out_device);
}
