/* SPDX-License-Identifier: MIT
 *
 * A device: the winsys device with its one queue, the epoch timeline of that queue, and the
 * submissions that have not retired. One lock guards semaphores and lists; nothing in
 * recording takes it.
 */
#pragma once

#include <pthread.h>

#include "base/list.h"
#include "hal/instance.h"
#include "hal/object.h"
#include "hal/tag.h"
#include "winsys/winsys.h"

#define AGX_FAILURE_TEXT_BYTES 256

/* A failure that outlives the thread that saw it. */
struct agx_failure {
   agx_status status; /* AGX_OK: none */
   char text[AGX_FAILURE_TEXT_BYTES];
};

struct agx_record_block;

struct agx_device {
   struct agx_object object;
   struct agx_instance *instance;
   const struct agx_host_alloc *alloc;
   struct agxw_device *winsys;
   struct agxw_queue *queue;
   struct agxw_timeline *timeline; /* point n: the nth kernel submission is done */
   uint32_t debug;                 /* enum agx_debug */

   pthread_mutex_t lock;
   pthread_cond_t changed;    /* a semaphore advanced or failed */
   pthread_cond_t work;       /* in_flight is no longer empty, or stop */
   uint64_t epoch;            /* of the last kernel submission */
   struct agx_link in_flight; /* agx_submission, by epoch */
   struct agx_link parked;    /* agx_submission whose waits nobody has submitted yet */
   struct agx_link spare;     /* agx_submission, to be used again */
   struct agx_failure lost;   /* why the device is gone */
   bool stop;

   pthread_t worker;
   bool is_orphan; /* the last reference went in the worker, which then frees the device */

   pthread_mutex_t blocks_lock;
   struct agx_record_block *blocks; /* free ones */
   struct agx_tags tags;
};

/* Opens a device over a kmd, which it takes over, also on failure. */
AGX_MUST_CHECK agx_status agx_device_open_kmd(struct agx_instance *instance, struct agx_kmd *kmd,
                                              struct agx_device **out_device);

/* Keeps the failure with the thread's error text; the first one stays. */
void agx_failure_keep(struct agx_failure *failure, agx_status status);

/* The failure as this thread's: sets the error text, returns the status. */
agx_status agx_failure_raise(const struct agx_failure *failure);

/* A block for recording, or NULL; takes the pool's lock, and the heap when the pool is
 * empty. */
struct agx_record_block *agx_device_take_block(struct agx_device *device);
void agx_device_return_blocks(struct agx_device *device, struct agx_record_block *first);

/* The worker's last act. */
void agx_device_worker_ends(struct agx_device *device);
