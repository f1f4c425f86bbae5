/* SPDX-License-Identifier: MIT
 *
 * Timeline semaphores.
 */
#pragma once

#include "agx/object.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The highest value of a semaphore, and the highest that may be signalled: UINT64_MAX is what a
 * shared one shows of its failure (AGX_FD_SYNCOBJ). Waits may name any value. */
#define AGX_SEMAPHORE_MAX_VALUE (UINT64_MAX - 1)

/* What a semaphore fails with, which its text says in words:
 *
 *   AGX_DATA_LOSS            The work itself: "GPU fault" (what it accessed, where known) or "GPU
 *                            hang" (it ran longer than the kernel allows); a file's medium.
 *   AGX_ABORTED              The kernel stopped the work for the fault of another submission, or
 *                            its process ended; a shared semaphore failed on its other side.
 *   AGX_UNAVAILABLE          The device is lost, or a file's server does not answer.
 *   AGX_UNKNOWN              The kernel tells no reason; a host function returned no failure.
 *   AGX_RESOURCE_EXHAUSTED   There was no memory, for transient buffers too, nor space for a file.
 *   AGX_FAILED_PRECONDITION  The work uses a buffer without memory.
 *   AGX_CANCELLED            agx_device_cancel.
 *
 * Other failures of files are agx_op_file's (agx/file.h); host functions and agx_semaphore_fail
 * fail it with what they give. What waits for a value that it had not reached fails the same; a
 * value that it had stays reached, unless the device has AGX_DEVICE_FAILURE_WINS
 * (agx_semaphore_query tells the failure in either case). The library itself
 * fails none with AGX_DEADLINE_EXCEEDED: where the application doesn't either, that status of a
 * wait always means "not yet". */

/* A timeline: a 64-bit value that only grows, or fails once and for all. AGX_OUT_OF_RANGE: initial
 * is above AGX_SEMAPHORE_MAX_VALUE. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_create(struct agx_device *device, uint64_t initial,
                                                       struct agx_semaphore **out_semaphore);
/* The value reached; a failed semaphore returns its failure, with its text. The end of work
 * on the GPU may not be published yet. Waits for no value, but while another thread queries the
 * outcome of work on the GPU, it sleeps for the few requests that this takes. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_query(struct agx_semaphore *semaphore,
                                                      uint64_t *out_value);
/* The highest value that it has, or that work will reach which the kernel has: of a shared
 * semaphore, work of other processes, too. An operation that waits for what nobody has submitted
 * yet doesn't count; of work on its way to the kernel it is open. Fails as agx_semaphore_query. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_query_submitted(struct agx_semaphore *semaphore,
                                                                uint64_t *out_value);
/* From the host. AGX_INVALID_ARGUMENT when value is not greater than the current one,
 * AGX_OUT_OF_RANGE when it is above AGX_SEMAPHORE_MAX_VALUE; a failed semaphore returns its
 * failure.
 */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_signal(struct agx_semaphore *semaphore,
                                                       uint64_t value);
/* Fails it, and with it whatever waits for it; the first failure wins. status must not be
 * AGX_OK, which counts as AGX_UNKNOWN, as do numbers that are no code; text may be NULL. */
AGX_API void agx_semaphore_fail(struct agx_semaphore *semaphore, agx_status status,
                                const char *text);

struct agx_point {
   struct agx_semaphore *semaphore;
   uint64_t value;
};

/* Waits for all points, or for any. deadline_ns is absolute on CLOCK_MONOTONIC; 0 and less polls,
 * AGX_DEADLINE_NEVER waits forever. AGX_DEADLINE_EXCEEDED when it passes; the failure of a
 * semaphore, with its text, when one of those that are not reached has failed. The points may be of
 * several devices. Nothing is waited for without points. AGX_RESOURCE_EXHAUSTED: there was no
 * memory to wait with; nothing has changed by it, and another try may succeed. What makes the
 * device lost while it is asked is returned, too, also for points that the host may yet signal. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_wait(const struct agx_point *points, uint32_t count,
                                                     bool any, int64_t deadline_ns);

/* ---- watches ---------------------------------------------------------- */

struct agx_watch;

/* status AGX_OK and the value reached, or the failure, with its text as this thread's error. */
typedef void (*agx_watch_fn)(struct agx_watch *watch, agx_status status, uint64_t value);

/* The application's memory, which stays in place until the watch has fired or is gone. */
struct agx_watch {
   uint64_t value;
   agx_watch_fn fn;
   void *user;
   void *reserved[8]; /* the library's */
};

/* Calls watch->fn once, as soon as the value is reached or the semaphore has failed, which may be
 * within this call; from the thread that notices, without any lock of the library. One thread calls
 * one after the other, but several threads may call different watches at once. It may call whatever
 * it likes, itself included, but must not block. The semaphore is retained until then. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_watch(struct agx_semaphore *semaphore,
                                                      struct agx_watch *watch);
/* True: it will never be called. False: it was; and it is over, unless this is called from it. */
AGX_API bool agx_semaphore_unwatch(struct agx_semaphore *semaphore, struct agx_watch *watch);

/* ---- observers -------------------------------------------------------- */

struct agx_observer;

/* status AGX_OK and the value reached, or the failure, with its text as this thread's error, and
 * the value reached before it. */
typedef void (*agx_observer_fn)(struct agx_observer *observer, agx_status status, uint64_t value);

/* The application's memory, which stays in place while it observes. */
struct agx_observer {
   agx_observer_fn fn;
   void *user;
   uint64_t value;    /* known already; afterwards what fn was called with last */
   void *reserved[8]; /* the library's */
};

/* From now on calls observer->fn whenever the semaphore's value has grown above observer->value,
 * and a last time when it has failed, until agx_semaphore_unobserve. What happened before counts,
 * too, and is told within this call. The values of calls grow, and the last one is told; of several
 * changes in short succession one call may tell. The calls of an observer come one after the other,
 * those of different ones at any time, each from the thread that notices the change, without any
 * lock of the library. fn may call whatever it likes, but must not block. Work on the GPU that will
 * signal the semaphore is looked after as for a thread that waits. The semaphore is retained until
 * agx_semaphore_unobserve. Costs no heap; any number of observers of a semaphore. An observer that
 * observes already must not be given again. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_observe(struct agx_semaphore *semaphore,
                                                        struct agx_observer *observer);
/* Ends it. Afterwards fn is not called any more, and no other thread is in it: a call that goes on
 * is waited for, unless this is called from it. The memory is the caller's again then, in fn as
 * well, and may observe anew. Of threads that call this at once each waits; an observer that
 * observes nothing is no mistake, if it has observed the semaphore, or is zeros. Two functions that
 * end each other's observers would wait forever. */
AGX_API void agx_semaphore_unobserve(struct agx_semaphore *semaphore,
                                     struct agx_observer *observer);

/* ---- beyond this device ----------------------------------------------- */

enum agx_fd_kind {
   /* The whole timeline, a DRM syncobj: what either side signals the other one sees, unless work is
    * submitted already that will signal a higher value: then that one is seen next. A semaphore
    * that fails on the host shows as value UINT64_MAX there, since a syncobj has no failures. */
   AGX_FD_SYNCOBJ = 1,
   /* A sync_file: readable once the value is reached. It carries failures of this device's work on
    * the GPU that the value depends on, directly or not, as far as that is under way when it is
    * exported, and of others' work that the operation which reaches the value waits for itself.
    * What had failed by then is what agx_semaphore_export returns. Not carried are:
    *  - failures of the host;
    *  - of several pieces of work on one queue any but the last one's, where the kernel keeps only
    *    that;
    *  - of what others have submitted and only earlier operations have waited for;
    *  - of work on a queue that was made anew since, that only earlier operations have waited for.
    */
   AGX_FD_SYNC_FILE = 2,
   /* An eventfd, readable once the value is reached, or the semaphore has failed or is gone, which
    * the file does not keep alive. */
   AGX_FD_EVENTFD = 3,
};

/* A file to wait with, for poll(2), or for another process, API or driver; it is the caller's, and
 * closed on exec. value means nothing for AGX_FD_SYNCOBJ. AGX_FAILED_PRECONDITION: a sync_file
 * for a value that is not submitted yet; the semaphore's failure where it has failed, or is bound
 * to as something that it waits for has (but an eventfd, which is readable when it has). */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_export(struct agx_semaphore *semaphore,
                                                       uint64_t value, uint32_t kind, int *out_fd);

/* A semaphore over the syncobj that fd stands for, which stays the caller's. Its value is the
 * syncobj's. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_import(struct agx_device *device, int fd,
                                                       struct agx_semaphore **out_semaphore);

/* Has the semaphore reach the value when the file is ready: a sync_file (whose failure it takes
 * over), or as AGX_FD_EVENTFD any file that becomes readable, which is not read. Takes fd over when
 * it succeeds. Until the file is ready semaphore and device are kept; agx_device_cancel fails the
 * semaphore instead. */
AGX_API AGX_MUST_CHECK agx_status agx_semaphore_import_point(struct agx_semaphore *semaphore,
                                                             uint64_t value, uint32_t kind, int fd);

#ifdef __cplusplus
}
#endif
