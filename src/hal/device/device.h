/* SPDX-License-Identifier: MIT
 *
 * A device: the winsys device, its queues, and the submissions that have not ended. One lock
 * guards semaphores and lists; it is never held over a submission's ioctl, and nothing in
 * recording takes it.
 */
#pragma once

#include <pthread.h>

#include "base/list.h"
#include "hal/core/context.h"
#include "hal/executable/state.h"
#include "hal/host/host_call.h"
#include "hal/device/instance.h"
#include "hal/memory/state.h"
#include "hal/core/object.h"
#include "hal/sync/state.h"
#include "hal/record/breadcrumb.h"
#include "winsys/winsys.h"

struct agx_host_pool;
struct agx_profile;

struct agx_device {
   union {
      struct agx_context context;
      struct { /* the same, for rooms that don't use agx_context_of() yet */
         struct agx_object object;
         const struct agx_host_alloc *alloc;
         const struct agx_log *log;
         struct agxw_device *winsys;
         uint32_t number, debug;
         struct agx_profile *profile;
         struct agx_host_spans *spans;
      };
   };
   struct agx_instance *instance;
   struct agx_sync_state sync;

   struct agx_executable_state executable;
   struct agx_breadcrumbs breadcrumbs;
   struct agx_memory_state memory;

   struct agx_host_pool *host_pool; /* functions and files */
   struct agx_host_calls host_calls;
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
