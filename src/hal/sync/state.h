/* SPDX-License-Identifier: MIT
 *
 * The part of a device's state that belongs to this room: queues, submissions that have not ended,
 * and what threads wait for. One lock guards it, semaphores included; no thread holds the lock over
 * a request to the kernel, and nothing in recording takes it. The last part is what hal/device
 * calls.
 */
#pragma once

#include <pthread.h>

#include "base/list.h"
#include "base/thread.h"
#include "hal/core/context.h"
#include "hal/core/failure.h"
#include "hal/sync/op.h"
#include "hal/sync/queue.h"
#include "hal/sync/submission_state.h"
#include "winsys/winsys.h"

struct agx_alloca;
struct agx_command_buffer;
struct agx_poller;

/* Objects of allocations, without memory, kept to be used again (alloca.c). */
struct agx_alloca_spares {
   pthread_mutex_t lock;
   struct agx_alloca *first;
   uint32_t count;
};

/* Command buffers of operations that are one command each, kept to be used again (op_table.c). */
struct agx_one_shots {
   pthread_mutex_t lock;
   struct agx_command_buffer *spare; /* begun; by next_spare */
   uint32_t count;
};

/* Requests in a row that may fail for want of memory, which may pass, before that counts as a
 * failure: of the device, a shared semaphore or an import. So what is in flight ends, some day. */
#define AGX_MAX_SHORTAGES 64

struct agx_sync_state {
   struct agx_device *device;
   pthread_mutex_t lock;
   pthread_cond_t changed; /* a semaphore advanced or failed, or a watch was called */

   /* Set before the device is used, and left alone. */
   uint32_t queue_count;
   uint32_t max_parked; /* operations */
   bool failure_wins;   /* AGX_DEVICE_FAILURE_WINS */
   struct agx_queue queues[AGX_MAX_QUEUES];
   struct agx_sync_hooks hooks;

   /* Everything below is guarded by the lock. */
   struct agx_link submission_lists[AGX_DEVICE_LISTS]; /* by enum agx_submission_list */
   uint64_t submissions;                               /* ever */
   uint32_t parked_count;      /* submissions that count against max_parked */
   bool is_starting_unblocked; /* a thread starts those of AGX_LIST_UNBLOCKED */
   bool must_start_again;      /* that thread is to start the deferred ones, too, before it ends */
   uint64_t retries;           /* how often deferred ones were unblocked */
   struct agx_failure lost;    /* why the device is gone */
   bool is_gone;               /* `lost` was set, the rest of losing the device comes next */
   bool is_retiring;           /* threads that wait in the kernel wake without an interrupt */

   struct agx_link fired;                         /* watches to be called */
   struct agx_link watch_calls;                   /* agx_watch_call */
   struct agx_link due_observers, observer_calls; /* agx_observer_node, agx_observer_call */
   /* Watches of all semaphores, signals that observers wait for, observers of shared semaphores. */
   uint32_t watching;

   struct agx_link shared;   /* agx_semaphore with a timeline in the kernel */
   struct agx_link imports;  /* agx_import: what semaphores wait for */
   struct agx_link imported; /* imports that have ended */
   uint32_t shared_count, import_count;
   struct agx_poller *poller; /* of other files; NULL until there is one */

   uint32_t sleepers;              /* threads that wait for `changed` */
   uint32_t host_frontier_waiters; /* operations with something to do when the GPU is done */

   /* Signalled to have threads look again that wait in the kernel; in_kernel counts them. */
   struct agxw_timeline *interrupt;
   uint64_t interrupt_value;
   uint32_t in_kernel;

   /* What notify.c is to do as soon as the lock is let go of. */
   struct agx_link lines;                /* for the log */
   struct agx_link pending_publications; /* agx_semaphore whose value the kernel does not know */
   bool has_pending_notifications;       /* new ones since a thread looked last */
   bool must_interrupt, is_logging;
   uint32_t refusals; /* values in a row that the kernel had no memory for */

   /* The completion thread. */
   pthread_t worker;
   pthread_cond_t work;
   bool has_worker, stop;
   uint32_t shortages;      /* polls in a row that failed for want of memory */
   bool lacks_memory;       /* to wait in the kernel, or to ask it: time may help */
   bool worker_sleeps;      /* on `work` */
   bool worker_has_no_tick; /* it sleeps without a time limit */
   bool worker_dozes;       /* it sleeps for a short time: what is watched can wait for that */

   struct agx_one_shots one_shots;   /* has a lock of its own */
   struct agx_alloca_spares allocas; /* the same */
};

/* The room's part of a device's state. */
static inline struct agx_sync_state *agx_sync_of(const struct agx_device *device)
{
   return agx_context_of(device)->sync;
}

/* The lock as attributes name it, and the two of them that the room's functions carry: the caller
 * holds the lock, or must not, because the function takes it or waits. A function that lets the
 * lock go in between ends in _unlocking. */
extern struct agx_lock_class agx_sync_lock_class;
#define AGX_SYNC_LOCKED   AGX_REQUIRES(agx_sync_lock_class)
#define AGX_SYNC_UNLOCKED AGX_EXCLUDES(agx_sync_lock_class)

/* Takes the lock. */
AGX_ACQUIRES(agx_sync_lock_class)
AGX_TRUSTED static inline void agx_sync_lock(struct agx_sync_state *sync)
{
   pthread_mutex_lock(&sync->lock);
}

/* The other half of agx_sync_lock. Work that a change has made possible stays undone: see
 * agx_device_unlock_and_run_deferred. */
AGX_RELEASES(agx_sync_lock_class)
AGX_TRUSTED static inline void agx_sync_unlock(struct agx_sync_state *sync)
{
   pthread_mutex_unlock(&sync->lock);
}

/* ---- what hal/device calls ------------------------------------------------- */

/* Starts the room for a device: locks, lists, no queue yet. Takes no other resource. */
void agx_sync_state_init(struct agx_device *device, const struct agx_sync_hooks *hooks);

/* Makes the queues that the descriptor asks for, and starts the completion thread.
 * AGX_OUT_OF_RANGE, AGX_INVALID_ARGUMENT: the descriptor; AGX_RESOURCE_EXHAUSTED. */
AGX_MUST_CHECK agx_status agx_sync_open_queues(struct agx_device *device,
                                               const struct agx_device_desc *desc);
AGX_MUST_CHECK agx_status agx_sync_start_worker(struct agx_device *device);

/* Ends the room's threads, with nothing parked or in flight. */
void agx_sync_stop(struct agx_device *device);

/* Ends what init has started; nothing calls into the room any more. */
void agx_sync_state_fini(struct agx_device *device);

/* agx_device_cancel: ends what is parked, and what waits for files, as cancelled. */
AGX_SYNC_UNLOCKED void agx_sync_cancel(struct agx_device *device);

/* Starts again the operations whose launch returned AGX_DEFERRED. */
AGX_SYNC_UNLOCKED void agx_device_retry(struct agx_device *device);

/* In a child of fork(2): this thread does no device's deferred work any more, whatever its stack
 * says. */
void agx_deferred_work_forget(void);

/* Starts an empty set. */
void agx_one_shots_init(struct agx_one_shots *one_shots);
/* Releases the command buffers and ends the lock. */
void agx_one_shots_fini(struct agx_one_shots *one_shots);
/* Releases the command buffers that wait, for agx_device_trim. Takes their lock. */
void agx_one_shots_trim(struct agx_one_shots *one_shots);
