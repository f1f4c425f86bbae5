/* SPDX-License-Identifier: MIT
 *
 * The node's log of faults: counts of all, and the last ones in full, kept in the
 * segment so that any process that shares the node can read them.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "agx/sim/check/statistics.h"
#include "agx/sim/sim.h"
#include "winsys/virtual/store/node.h"

struct agxv_vm;

#define AGXV_FAULT_TEXT_BYTES 240

/* One command that executes, as the simulator's callbacks see it. */
struct agxv_execution {
   struct agx_virtual_node *node;
   struct agxv_vm *vm;
   const atomic_bool *cancel;
   uint32_t queue;   /* in the order of creation on the node */
   uint64_t number;  /* of the submission */
   uint32_t command; /* in it */
   uint64_t stream_va;
   _Atomic uint64_t soft_loads, soft_stores, outside;
   char first_outside[AGXV_FAULT_TEXT_BYTES]; /* the first of them in words */
   /* Under the lock: what the command will have failed of, the first hard one before others. */
   bool has_fault;
   struct agx_virtual_fault fault;
};

/* Keeps how a command failed, for agx_virtual_take_failure. dispatch: the last one that was
 * executed, or UINT32_MAX. The lock is not held. */
void agxv_note_failure(const struct agxv_execution *execution, int32_t error, uint32_t dispatch,
                       const char *text);

/* agxs_options.on_fault; user is the execution. */
void agxv_note_fault(void *user, const struct agxs_fault *fault);
/* Hands what a launch of this command executed to the profiler of its file (stats.c). */
void agxv_report_counters(const struct agxv_execution *execution,
                          const struct agxs_dispatch_stats *stats);
/* Adds what an execution counted to the node's counts. The lock is held. */
void agxv_note_soft_faults(struct agxv_execution *execution);
/* Shows the counts when tracing. */
void agxv_show_statistics(struct agx_virtual_node *node);

/* The bounds of dispatches that this process declared (agx_virtual_declare_bounds), by the address
 * of their stream. A list: bounds are declared to find mistakes, not for speed. */

struct agxv_declared_bounds {
   struct agxv_declared_bounds *next;
   uint64_t stream_va;
   uint32_t refs; /* under node->local: of the list, and of executions */
   uint32_t count;
   struct agxs_range ranges[];
};

/* What was declared for the stream, to be put back; NULL when nothing was. */
struct agxv_declared_bounds *agxv_bounds_get(struct agx_virtual_node *node, uint64_t stream_va);
/* Gives back what agxv_bounds_get gave; NULL is fine. */
void agxv_bounds_put(struct agx_virtual_node *node, struct agxv_declared_bounds *bounds);
/* Forgets everything; nothing executes. */
void agxv_bounds_fini(struct agx_virtual_node *node);

/* Statistics of what submissions executed, written where AGX_VIRTUAL_STATS says:
 * "table" or "json" (a line for each dispatch), to standard error, or with ":FILE"
 * appended to a file. Each dispatch is written in one piece before its submission is
 * done, so several threads and processes may share a file. */

/* What a value of AGX_VIRTUAL_STATS asks for; AGX_INVALID_ARGUMENT when it makes no sense. text may
 * be NULL. */
AGX_MUST_CHECK agx_status agxv_stats_parse(const char *text, struct agxv_stats *out_stats);

/* A file that can't be written is said on standard error. */
void agxv_stats_write(const struct agxv_stats *stats, uint64_t submission, uint32_t command,
                      const struct agxs_dispatch_stats *dispatch);
