/* SPDX-License-Identifier: MIT
 *
 * What every room of the HAL may know of a device: where memory of the host comes from, the winsys
 * device, the log, debug flags, and a pointer to each room's own part of the device's state.
 *
 * struct agx_device begins with its context, and only hal/device sees the rest. So all rooms pass
 * `struct agx_device *` along, as applications do, and reach what they may see of it by
 * agx_context_of() and by the accessor of the room that owns a state, such as agx_memory_of().
 */
#pragma once

#include <pthread.h>

#include "hal/core/log.h"
#include "hal/core/object.h"

struct agx_device;
struct agx_host_spans;
struct agx_profile;
struct agxw_device;

struct agx_context {
   struct agx_object object; /* at offset 0: the device's handle */
   const struct agx_host_alloc *alloc;
   const struct agx_log *log;
   struct agxw_device *winsys;
   uint32_t number;             /* of all devices that the process opened, from 1 on */
   uint32_t debug;              /* enum agx_debug */
   pthread_mutex_t labels_lock; /* of objects' labels: agx_label_write, and failures' texts */

   /* The profiling session, and where it takes spans of the host (core/host_span.h); both NULL
    * without a session. They change only while the device is idle. */
   struct agx_profile *profile;
   struct agx_host_spans *spans;

   /* The rooms' states, each defined in state.h of the room; hal/device embeds them and sets these
    * pointers before it starts any room. */
   struct agx_memory_state *memory;
   struct agx_executable_state *executable;
   struct agx_recorder_state *recorder;
   struct agx_sync_state *sync;
   struct agx_host_state *host;
};

/* The context of a device. */
static inline struct agx_context *agx_context_of(const struct agx_device *device)
{
   return (struct agx_context *)device;
}
