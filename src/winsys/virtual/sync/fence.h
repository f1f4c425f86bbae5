/* SPDX-License-Identifier: MIT
 *
 * Fences. One is done when it is signalled and, for a point of a timeline, when all
 * points before it are. Who waits for whom is a graph: a fence with open
 * dependencies counts them, and completing one counts down. So being done is
 * one flag, however the points were put together. The lock is held throughout.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "winsys/virtual/store/node.h"

struct agxv_fence {
   uint32_t refs;
   uint32_t open;       /* dependencies not done; a submission counts as one */
   uint32_t dependents; /* struct dependent: fences that count this one */
   int32_t error;       /* negative errno, once done */
   bool done;
   bool is_job;     /* done means that a worker has something to do */
   bool is_point;   /* the rest is valid */
   uint32_t before; /* the fence in front, 0 when there is none or it is done */
   uint32_t inner;  /* what was added at this point; 0 once done */
                    /* without is_point both may be the two halves of a merge, to its end */
   uint64_t value, value_before;
   uint64_t context; /* points of one context have ascending values */
   uint64_t done_ns;
   uint32_t next; /* used while releasing and signalling */
};

/* A fence that waits for one signal; refs 1. 0 when the segment is full. */
uint32_t agxv_fence_create(struct agx_virtual_node *node);
/* A fence that is done. */
uint32_t agxv_fence_create_done(struct agx_virtual_node *node);
/* The point value with fence inner (borrowed), put behind before (borrowed, may be 0). */
uint32_t agxv_fence_create_point(struct agx_virtual_node *node, uint32_t before, uint32_t inner,
                                 uint64_t value);
/* What is done when both are; it may be one of them. What is done is left out, unless it has
 * failed: whether a kernel keeps that is not known [U]. 0 when the segment is full. */
uint32_t agxv_fence_merge(struct agx_virtual_node *node, uint32_t a, uint32_t b);
/* The fences that this one is made of, done or not; of points before it only those that are not.
 * Borrowed. Gives their number: capacity where there are as many or more. Source: rows F2x, F4x. */
uint32_t agxv_fence_parts(struct agx_virtual_node *node, uint32_t fence, uint32_t *parts,
                          uint32_t capacity);
/* Makes fence wait for dependency too; false when the segment is full. */
bool agxv_fence_depend(struct agx_virtual_node *node, uint32_t fence, uint32_t dependency);
/* Counts one dependency of fence as completed; error 0 or negative. Wakes sleepers. */
void agxv_fence_signal(struct agx_virtual_node *node, uint32_t fence, int32_t error);

/* Takes a reference; 0 is fine. */
void agxv_fence_get(struct agx_virtual_node *node, uint32_t fence);
/* Gives up a reference; 0 is fine. */
void agxv_fence_put(struct agx_virtual_node *node, uint32_t fence);
/* Whether the fence, and for a point all before it, is done; without error or with one. */
bool agxv_fence_done(struct agx_virtual_node *node, uint32_t fence);

/* What a wait for value on a syncobj that holds fence means: a counted reference to the
 * fence to wait for, or 0 when the value was not submitted. *out_done with 0: it was,
 * and is done. Only the last point keeps its fence's error once it is done. */
uint32_t agxv_fence_at_value(struct agx_virtual_node *node, uint32_t fence, uint64_t value,
                             bool *out_done);
/* The largest value that is done with all before it, or the last submitted one. */
uint64_t agxv_fence_value(struct agx_virtual_node *node, uint32_t fence, bool last_submitted);

/* Changes of fences and syncobjs, which every process that shares the node waits for. */

/* Gives up the lock until an event or the deadline: 0, -ETIME or -EINTR. Looks after
 * processes that died meanwhile. */
int agxv_wait_event(struct agx_virtual_node *node, int64_t deadline_ns);
/* Tells everybody that fences or syncobjs changed. The lock is held. */
void agxv_notify(struct agx_virtual_node *node);
