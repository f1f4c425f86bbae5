/* SPDX-License-Identifier: MIT
 *
 * Between the files of the supervisor: one stopped call, the program's memory and descriptors, and
 * calls that take long.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "winsys/virtual/doors/serve/supervisor.h"

/* What the parts share. */
struct agxv_supervisor {
   struct agx_virtual_node *node;
   int fd;
   pthread_mutex_t lock;
   struct agxv_wait *waits;        /* those that threads of their own serve; by lock */
   struct agxv_recorded *recorded; /* open files whose requests are recorded; by lock */
};

/* One stopped call. */
struct agxv_call {
   struct agxv_supervisor *supervisor;
   uint64_t id;
   int32_t pid; /* the thread */
   int number;
   uint64_t arguments[6];
};

#define AGXV_CALL_GOES_ON INT64_MIN /* the kernel shall do it */

/* The call's result: a value, a negative errno, or AGXV_CALL_GOES_ON. */
int64_t agxv_call_on_path(const struct agxv_call *call, bool *out_known);
/* Serves an ioctl; the result as above. */
int64_t agxv_call_ioctl(const struct agxv_call *call);
/* Whether it may take long. */
bool agxv_call_blocks(const struct agxv_call *call);

/* Calls that may take long end when their thread has a signal to take. Between begin and end
 * stands what serves one, in a thread of its own; end gives the call's result. look is called
 * every now and then, and returns whether there are any. */
struct agxv_wait {
   const struct agxv_call *call;
   struct agxv_wait *next;
   pthread_t thread;
   bool restarts;
};
/* Makes the list of waits empty. */
void agxv_waits_init(struct agxv_supervisor *supervisor);
/* Enters a call that may take long; wait belongs to the caller until agxv_wait_end. */
void agxv_wait_begin(struct agxv_wait *wait, const struct agxv_call *call);
/* Takes it out of the list; the call's result, or -EINTR or a restart where a signal ended it. */
int64_t agxv_wait_end(struct agxv_wait *wait, int64_t result);
/* Ends the waits whose threads have a signal to take; whether there are any waits. */
bool agxv_waits_poll_signals(struct agxv_supervisor *supervisor);

/* Whether the thread still waits for its answer. What was learnt by its number before is of that
 * thread then, and of no other that got the number since; ask before anything takes effect. */
bool agxv_call_is_there(const struct agxv_call *call);

/* The program's memory and descriptors. 0 or a negative errno; -ESRCH: it is gone, -EACCES: we
 * are not let in, which was said. */
int agxv_call_read(const struct agxv_call *call, void *to, uint64_t from, uint64_t size);
/* Writes to the program's memory; results as above. */
int agxv_call_write(const struct agxv_call *call, uint64_t to, const void *from, uint64_t size);
/* A copy of the program's descriptor, or a negative errno. */
int agxv_call_take_fd(const struct agxv_call *call, int fd);
/* The number that the program gets for our descriptor (closed), or a negative errno. */
int agxv_call_give_fd(const struct agxv_call *call, int fd, bool close_on_exec);
