/* SPDX-License-Identifier: MIT
 *
 * The threads that do a device's work on the host: calls of the application's functions and
 * transfers of files. Few, started when there is something to do, kept until the device goes.
 * Jobs are part of what they work for, so handing one over takes no heap.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/status.h"
#include "hal/core/object.h"

/* Threads of a device. A function that blocks keeps one from the rest; transfers, which wait for
 * disks, leave at least one to the calls. */
#define AGX_HOST_THREADS 4

struct agx_host_job;

struct agx_host_job_type {
   /* On a thread of the pool, without a lock. True: there is more to do, give it another turn
    * when the jobs that came before have had theirs. False: it is over, and may be gone. */
   bool (*run)(struct agx_host_job *job);
   /* Instead of run, of a job that never ran. */
   void (*cancel)(struct agx_host_job *job);
   bool is_transfer; /* of files: at most all threads but one run these */
};

struct agx_host_job {
   struct agx_link link;
   const struct agx_host_job_type *type;
   uint64_t ticket; /* the pool's: jobs are taken in the order in which they came */
   bool has_run;    /* the pool's */
};

/* What kinds of jobs a pool keeps apart. */
enum agx_host_lane {
   AGX_HOST_CALLS,
   AGX_HOST_TRANSFERS,
   AGX_HOST_LANES,
};

struct agx_host_pool {
   void *owner; /* of alloc, retained */
   const struct agx_host_alloc *alloc;
   _Atomic uint32_t references; /* the device's, and one of each thread */
   pthread_mutex_t lock;
   pthread_cond_t work;
   struct agx_link lanes[AGX_HOST_LANES]; /* agx_host_job, by ticket */
   uint64_t ticket;                       /* of the last job */
   uint32_t waiting;                      /* jobs in the lanes */
   uint32_t running[AGX_HOST_LANES];
   uint32_t thread_count, thread_limit, idle;
   bool stop;
   pthread_t threads[AGX_HOST_THREADS];
};

/* Starts no thread. owner is the object that alloc belongs to, retained until the pool's last
 * thread has gone; thread_limit is 1 to AGX_HOST_THREADS. */
AGX_MUST_CHECK agx_status agx_host_pool_create(void *owner, const struct agx_host_alloc *alloc,
                                               uint32_t thread_limit,
                                               struct agx_host_pool **out_pool);

/* Ends the threads. No job is left, but the one that called this may be on its way out: then its
 * thread ends later, by itself. NULL is ignored. */
void agx_host_pool_destroy(struct agx_host_pool *pool);

/* Hands a job over; it may be over before this returns. Fails when there is no thread and none
 * can be started; the job then stays the caller's. */
AGX_MUST_CHECK agx_status agx_host_pool_post(struct agx_host_pool *pool, struct agx_host_job *job);

/* Cancels all jobs that have not run yet, on this thread; those that have run go on. */
void agx_host_pool_cancel(struct agx_host_pool *pool);

/* This thread is one of a pool's. */
bool agx_host_pool_is_here(void);
/* Makes this thread one of no pool: in a child of fork(2), which has only this one. */
void agx_host_pool_leave(void);
