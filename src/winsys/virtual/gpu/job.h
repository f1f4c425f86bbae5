/* SPDX-License-Identifier: MIT
 *
 * Jobs: what SUBMIT queues and a worker thread of the same process executes. A queue
 * runs its jobs one after the other in the order of submission, which is one of the
 * orders that the interface allows; different queues run at the same time.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "winsys/virtual/store/node.h"
#include "winsys/virtual/store/object.h"

#define AGXV_MAX_COMMANDS    64u
#define AGXV_MAX_ATTACHMENTS 16u

struct agxv_stamp {
   uint32_t bound; /* counted reference, 0 = none */
   uint32_t offset;
};

struct agxv_command {
   uint64_t stream_va, sampler_heap;
   uint32_t sampler_count;
   struct agxs_helper_program helper;
   uint16_t barrier; /* of the compute subqueue, as in the header */
   struct agxv_stamp start, end;
};

struct agxv_job {
   uint32_t next;
   uint32_t queue;     /* counted */
   uint32_t ready;     /* fence: the in-syncs are done */
   uint32_t fence;     /* fence: this job is done */
   int32_t pid;        /* of the process that executes it */
   atomic_bool cancel; /* the simulator looks at it while it executes */
   bool is_free;       /* no command of it waits for earlier submissions: for chaos */
   bool is_executed;   /* only its fence is still to be completed */
   int32_t error;      /* then: its outcome */
   int64_t due_ns;     /* when it begins, or its fence completes; 0: not decided */
   uint32_t command_count;
   uint32_t render_count; /* behind the commands; 0: none. They fail the job. */
   uint64_t render_va;    /* the stream of the first of them */
   uint64_t number;       /* of the submission, from 1 */
   struct agxv_command commands[];
};

/* The lock is held for all of these. */

/* A job without fences, or 0; put it when it is not pushed. */
uint32_t agxv_job_create(struct agx_virtual_node *node, const struct agxv_command *commands,
                         uint32_t count);
/* Completes the job's fence with 0 or a negative errno, where it isn't complete. The job is removed
 * from its queue then, not before: should this process die here, another one cancels it. */
void agxv_job_complete(struct agx_virtual_node *node, uint32_t job, int32_t error);
/* Takes the job out of its queue and frees it. */
void agxv_queue_remove(struct agx_virtual_node *node, struct agxv_queue *queue, uint32_t job);
/* Appends the job (taken over) to its queue. */
void agxv_job_push(struct agx_virtual_node *node, uint32_t job);
/* Gives up a reference to a queue; the last one frees it. */
void agxv_queue_put(struct agx_virtual_node *node, uint32_t queue);
/* Drops the queue's jobs that don't execute yet; their fences fail with error. The one that
 * executes is asked to end. */
void agxv_queue_cancel(struct agx_virtual_node *node, uint32_t queue, int32_t error);
/* The same for all queues of a file, those without a number too. */
void agxv_file_cancel(struct agx_virtual_node *node, uint32_t file);

/* Cancels the jobs of processes that died. */
void agxv_drop_orphans(struct agx_virtual_node *node);

/* Starts the worker threads, where they don't run; false when the host refuses. */
bool agxv_workers_start(struct agx_virtual_node *node);
/* Ends them, cutting short what they execute. The lock is not held. */
void agxv_workers_stop(struct agx_virtual_node *node);

/* Which job goes next, when jobs begin and when their fences complete: in order and at
 * once, unless a fault script or chaos says otherwise. */

/* The job of a queue, of which none executes, that this process can begin, or complete,
 * now; *out_rank says how much it deserves to be first. 0 when there is none; then *until_ns is
 * lowered to when there may be one. The lock is held. */
uint32_t agxv_queue_next(struct agx_virtual_node *node, const struct agxv_queue *queue,
                         uint64_t *out_rank, int64_t *until_ns);
/* Whether it is to be executed; if not, its outcome is set. The lock is held. */
bool agxv_job_may_execute(struct agx_virtual_node *node, struct agxv_job *job);
/* Sets the outcome of one that was executed. Afterwards due_ns is 0 when it is to be
 * completed now. The lock is held. */
void agxv_job_executed(struct agx_virtual_node *node, struct agxv_job *job, int32_t error);
/* The command that goes next, `done` being those that did, one bit each. */
uint32_t agxv_job_command(const struct agx_virtual_node *node, const struct agxv_job *job,
                          uint64_t done);
/* The seed of a command's run on the simulator; 0 without chaos. */
uint64_t agxv_chaos_seed(const struct agx_virtual_node *node, uint64_t submission,
                         uint32_t command);

/* The handlers of requests about queues. */

AGXV_HANDLER(queue_create);
AGXV_HANDLER(queue_destroy);
