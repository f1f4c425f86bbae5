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
#include "hal/executable/builtin.h"
#include "hal/host/host_call.h"
#include "hal/device/instance.h"
#include "hal/memory/state.h"
#include "hal/core/object.h"
#include "hal/sync/queue.h"
#include "hal/sync/submission_state.h"
#include "hal/record/breadcrumb.h"
#include "hal/record/transfer.h"
#include "winsys/winsys.h"

struct agx_executable_cache;
struct agx_host_pool;
struct agx_poller;
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
      };
   };
   struct agx_instance *instance;
   uint32_t queue_count;
   uint32_t max_parked; /* operations */
   struct agx_queue queues[AGX_MAX_QUEUES];

   pthread_mutex_t lock;
   pthread_cond_t changed; /* a semaphore advanced or failed, or a watch was called */
   struct agx_link submission_lists[AGX_DEVICE_LISTS]; /* by enum agx_submission_list */
   uint32_t parked_count;       /* submissions that count against max_parked */
   bool is_starting_unblocked;  /* a thread starts those of AGX_LIST_UNBLOCKED */
   bool must_start_again;       /* that thread is to start the deferred ones, too, before it ends */
   uint64_t retries;            /* how often deferred ones were unblocked */
   struct agx_link fired;       /* watches to be called */
   struct agx_link watch_calls; /* agx_watch_call */
   struct agx_link shared;      /* agx_semaphore with a timeline in the kernel */
   uint32_t shared_count, import_count;
   struct agx_link imports;   /* agx_import: others' work that semaphores wait for */
   struct agx_link imported;  /* which have ended */
   struct agx_poller *poller; /* of other files; NULL until there is one */
   uint64_t submissions;      /* ever */
   struct agx_failure lost;   /* why the device is gone */
   bool is_gone, is_retiring;

   uint32_t watching;              /* watches of all semaphores */
   uint32_t sleepers;              /* threads that wait for `changed` */
   uint32_t host_frontier_waiters; /* operations with something to do when the GPU is done */

   /* Signalled to have threads look again that wait in the kernel; in_kernel counts them. */
   struct agxw_timeline *interrupt;
   uint64_t interrupt_value;
   uint32_t in_kernel;

   struct agx_link lines; /* for the log */
   struct agx_link
      pending_publications;        /* agx_semaphore whose value the kernel does not know yet */
   bool has_pending_notifications; /* since somebody told last */
   bool must_interrupt, is_logging;
   uint32_t refusals; /* in a row, of such values */

   pthread_t worker; /* the completion thread */
   pthread_cond_t work;
   bool has_worker, stop;
   uint32_t shortages;                     /* looks in a row that failed for want of memory */
   bool lacks_memory;                      /* to wait in the kernel, or to ask it: time may help */
   bool worker_sleeps, worker_has_no_tick; /* rests: not even a tick will wake it */

   struct agx_builtins builtins;
   struct agx_one_shots one_shots;
   struct agx_tags tags;
   struct agx_memory_state memory;

   struct agx_host_pool *host_pool; /* functions and files */
   struct agx_host_calls host_calls;
   struct agx_executable_cache *kernels; /* compiled ones */
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
