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
   uint64_t number; /* of the submission, from 1 */
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
