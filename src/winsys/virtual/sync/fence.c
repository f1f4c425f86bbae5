/* SPDX-License-Identifier: MIT
 *
 * The graph of fences (fence.h) in the segment: making, joining and signalling them, for syncobj.c,
 * wait.c and the jobs of gpu/. Signalling and releasing walk lists linked through the fences, not
 * the host's stack: a client can chain as many as it likes.
 */
#include "winsys/virtual/sync/fence.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "winsys/virtual/sync/watch.h"

struct dependent {
   uint32_t next;
   uint32_t fence; /* counted */
};

static struct agxv_fence *get(const struct agx_virtual_node *node, uint32_t ref)
{
   return AGXV_AT(node, agxv_fence, ref);
}

uint32_t agxv_fence_create(struct agx_virtual_node *node)
{
   uint32_t ref = agxv_alloc(node, sizeof(struct agxv_fence));
   if (ref) {
      get(node, ref)->refs = 1;
      get(node, ref)->open = 1;
   }
   return ref;
}

uint32_t agxv_fence_create_done(struct agx_virtual_node *node)
{
   uint32_t ref = agxv_fence_create(node);
   if (ref) {
      get(node, ref)->open = 0;
      get(node, ref)->done = true;
      get(node, ref)->done_ns = (uint64_t)agxv_now_ns();
   }
   return ref;
}

void agxv_fence_get(struct agx_virtual_node *node, uint32_t fence)
{
   if (fence)
      get(node, fence)->refs++;
}

void agxv_fence_put(struct agx_virtual_node *node, uint32_t fence)
{
   uint32_t dead = 0;
   if (fence && --get(node, fence)->refs == 0)
      dead = fence;
   while (dead) {
      struct agxv_fence *it = get(node, dead);
      uint32_t held[2] = {it->before, it->inner}, rest = it->next;
      agxv_free(node, dead, sizeof(*it));
      dead = rest;
      for (unsigned i = 0; i < AGX_COUNT(held); i++) {
         if (!held[i] || --get(node, held[i])->refs)
            continue;
         get(node, held[i])->next = dead;
         dead = held[i];
      }
   }
}

bool agxv_fence_done(struct agx_virtual_node *node, uint32_t fence)
{
   return get(node, fence)->done;
}

bool agxv_fence_depend(struct agx_virtual_node *node, uint32_t fence, uint32_t dependency)
{
   if (get(node, dependency)->done)
      return true;
   uint32_t ref = agxv_alloc(node, sizeof(struct dependent));
   if (!ref)
      return false;
   struct dependent *link = AGXV_AT(node, dependent, ref);
   link->next = get(node, dependency)->dependents;
   link->fence = fence;
   agxv_fence_get(node, fence);
   get(node, fence)->open++;
   AGXV_STEP();
   get(node, dependency)->dependents = ref;
   return true;
}

/* A point that is done forgets what it was made of; a merge shows it as long as it lives. */
static void forget(struct agx_virtual_node *node, struct agxv_fence *fence)
{
   uint32_t before = fence->before, inner = fence->inner;
   if (inner && get(node, inner)->error)
      fence->error = get(node, inner)->error;
   if (!fence->is_point && before && get(node, before)->error)
      fence->error = get(node, before)->error;
   if (!fence->is_point)
      return;
   fence->before = fence->inner = 0;
   agxv_fence_put(node, before);
   agxv_fence_put(node, inner);
}

/* Counts down what waits for a fence that is done; those that are done by it are put in
 * front of ready, each with the reference that its link held. */
static uint32_t count_down(struct agx_virtual_node *node, uint32_t link, uint32_t ready)
{
   while (link) {
      struct dependent dependent = *AGXV_AT(node, dependent, link);
      agxv_free(node, link, sizeof(dependent));
      link = dependent.next;
      struct agxv_fence *waiting = get(node, dependent.fence);
      if (--waiting->open) {
         agxv_fence_put(node, dependent.fence);
         continue;
      }
      waiting->next = ready;
      ready = dependent.fence;
   }
   return ready;
}

void agxv_fence_signal(struct agx_virtual_node *node, uint32_t fence, int32_t error)
{
   if (get(node, fence)->done)
      return;
   if (error)
      get(node, fence)->error = error;
   if (get(node, fence)->open &&
       --get(node, fence)->open) /* 0: the process that counted it down died */
      return;
   bool wakes_worker = false;
   uint64_t now_ns = (uint64_t)agxv_now_ns();
   agxv_fence_get(node, fence);
   get(node, fence)->next = 0;
   for (uint32_t ready = fence; ready;) {
      struct agxv_fence *it = get(node, ready);
      uint32_t current = ready, link = it->dependents;
      ready = it->next;
      it->next = it->dependents = 0;
      it->done = true;
      it->done_ns = now_ns;
      wakes_worker |= it->is_job;
      forget(node, it);
      ready = count_down(node, link, ready);
      agxv_fence_put(node, current);
   }
   if (wakes_worker)
      agxv_wake(&node->shared->work, &node->shared->work_sleepers);
   agxv_notify(node);
}

uint32_t agxv_fence_create_point(struct agx_virtual_node *node, uint32_t before, uint32_t inner,
                                 uint64_t value)
{
   uint32_t ref = agxv_fence_create(node);
   if (!ref)
      return 0;
   struct agxv_fence *point = get(node, ref);
   const struct agxv_fence *front = before ? get(node, before) : NULL;
   point->is_point = true;
   point->value = value;
   if (front && front->is_point && value > front->value) {
      point->context = front->context;
      point->value_before = front->value;
   } else {
      point->context = ++node->shared->fence_contexts;
      if (front && front->is_point)
         point->value = AGX_MAX(value, front->value);
   }
   bool fits =
      agxv_fence_depend(node, ref, inner) && (!before || agxv_fence_depend(node, ref, before));
   agxv_fence_get(node, inner);
   point->inner = inner;
   if (before && !front->done) {
      agxv_fence_get(node, before);
      point->before = before;
   }
   if (!fits) {
      agxv_fence_put(node, ref);
      return 0;
   }
   agxv_fence_signal(node, ref, 0); /* the one that create counted */
   return ref;
}

static uint32_t merge_two(struct agx_virtual_node *node, uint32_t a, uint32_t b)
{
   uint32_t ref = agxv_fence_create(node);
   if (!ref)
      return 0;
   struct agxv_fence *both = get(node, ref);
   agxv_fence_get(node, a);
   agxv_fence_get(node, b);
   both->before = a;
   both->inner = b;
   if (!agxv_fence_depend(node, ref, a) || !agxv_fence_depend(node, ref, b)) {
      agxv_fence_put(node, ref);
      return 0;
   }
   agxv_fence_signal(node, ref, 0); /* the one that create counted */
   return ref;
}

/* ---- what a fence is made of ------------------------------------------- */

#define PART_DEPTH  32u
#define PART_VISITS 4096u /* merges of merges lead to one fence on any number of ways */
#define MERGE_PARTS 64u

struct walk {
   struct {
      uint32_t ref;
      bool is_earlier; /* a point before another one: only seen while its own fence is pending */
   } stack[PART_DEPTH];
   uint32_t depth;
   uint32_t *parts, count;
};

static void push(struct walk *walk, uint32_t ref, bool is_earlier)
{
   if (!ref)
      return;
   walk->stack[walk->depth].ref = ref;
   walk->stack[walk->depth++].is_earlier = is_earlier;
}

static void add_part(struct walk *walk, uint32_t ref)
{
   for (uint32_t i = 0; i < walk->count; i++)
      if (walk->parts[i] == ref)
         return;
   walk->parts[walk->count++] = ref;
}

static void visit(struct agx_virtual_node *node, struct walk *walk, uint32_t ref, bool is_earlier)
{
   const struct agxv_fence *it = get(node, ref);
   bool hides = is_earlier && (it->is_point ? !it->inner || get(node, it->inner)->done : it->done);
   bool is_leaf = !it->inner || walk->depth + 2 > PART_DEPTH;
   if (is_leaf && !hides)
      add_part(walk, ref);
   if (is_leaf && it->inner)
      return;
   push(walk, it->before, it->is_point);
   if (!hides)
      push(walk, it->inner, false);
}

uint32_t agxv_fence_parts(struct agx_virtual_node *node, uint32_t fence, uint32_t *parts,
                          uint32_t capacity)
{
   struct walk walk = {.parts = parts};
   push(&walk, fence, false);
   for (uint32_t visits = 0; visits < PART_VISITS && walk.depth && walk.count < capacity;
        visits++) {
      walk.depth--;
      visit(node, &walk, walk.stack[walk.depth].ref, walk.stack[walk.depth].is_earlier);
   }
   return walk.count;
}

/* Adds the parts of fence that are pending. What has ended is left out (rows F41, F42), also when
 * it has failed: dma_fence_unwrap_merge of Linux asks for no more, though no row shows that [U]. */
static uint32_t add_parts(struct agx_virtual_node *node, uint32_t fence, uint32_t *parts,
                          uint32_t count)
{
   uint32_t own[MERGE_PARTS], own_count = agxv_fence_parts(node, fence, own, MERGE_PARTS);
   for (uint32_t i = 0; i < own_count; i++) {
      bool is_new = !get(node, own[i])->done;
      for (uint32_t j = 0; j < count; j++)
         is_new &= parts[j] != own[i];
      if (is_new)
         parts[count++] = own[i];
   }
   return own_count < MERGE_PARTS ? count : 2 * MERGE_PARTS;
}

uint32_t agxv_fence_merge(struct agx_virtual_node *node, uint32_t a, uint32_t b)
{
   uint32_t parts[2 * MERGE_PARTS], count = add_parts(node, a, parts, 0);
   if (count < 2 * MERGE_PARTS)
      count = add_parts(node, b, parts, count);
   if (count >= 2 * MERGE_PARTS)
      return merge_two(node, a, b);
   if (count == 0)
      return agxv_fence_create_done(node);
   uint32_t all = parts[0];
   agxv_fence_get(node, all);
   for (uint32_t i = 1; i < count && all; i++) {
      uint32_t before = all;
      all = merge_two(node, before, parts[i]);
      agxv_fence_put(node, before);
   }
   return all;
}

/* The point ref, or the last one before it, whose own fence is pending; what lies between is
 * forgotten, with its errors. Source: rows F3x, and the names of fences on 6.12. */
static uint32_t still_pending(const struct agx_virtual_node *node, uint32_t ref)
{
   while (ref) {
      const struct agxv_fence *it = get(node, ref);
      uint32_t own = it->is_point ? it->inner : ref;
      if (own && !get(node, own)->done)
         break;
      ref = it->is_point ? it->before : 0;
   }
   return ref;
}

uint32_t agxv_fence_at_value(struct agx_virtual_node *node, uint32_t fence, uint64_t value,
                             bool *out_done)
{
   *out_done = false;
   if (!fence)
      return 0;
   const struct agxv_fence *it = get(node, fence);
   if (value && (!it->is_point || it->value < value))
      return 0;
   if (value) {
      uint64_t context = it->context;
      while (it->value_before >= value) {
         fence = still_pending(node, it->before);
         if (!fence || !get(node, fence)->is_point || get(node, fence)->context != context)
            break;
         it = get(node, fence);
      }
   }
   if (!fence)
      *out_done = true;
   agxv_fence_get(node, fence);
   return fence;
}

uint64_t agxv_fence_value(struct agx_virtual_node *node, uint32_t fence, bool last_submitted)
{
   const struct agxv_fence *it = fence ? get(node, fence) : NULL;
   if (!it || !it->is_point)
      return 0;
   if (last_submitted)
      return it->value;
   uint64_t context = it->context;
   while (it->before) {
      const struct agxv_fence *front = get(node, it->before);
      if (!front->is_point || front->context != context)
         break;
      it = front;
   }
   return it->done ? it->value : it->value_before;
}

/* Waiting for changes of fences and syncobjs, and telling of them. Waits of requests (wait.c) come
 * through here; whatever completes a fence or changes a syncobj calls agxv_notify(). */

#define LOST_WAKE_NS  1000000000ll
#define PEER_CHECK_NS 200000000ll /* between looks whether other processes still live */

int agxv_wait_event(struct agx_virtual_node *node, int64_t deadline_ns)
{
   struct agxv_shared *shared = node->shared;
   uint32_t seen = atomic_load(&shared->event);
   int64_t until = deadline_ns;
   if (shared->peers > 1)
      until = AGX_MIN(until, agxv_now_ns() + PEER_CHECK_NS);
   else if (node->inject) /* a wake-up may be lost, but not for ever */
      until = AGX_MIN(until, agxv_now_ns() + LOST_WAKE_NS);
   agxv_unlock(node);
   int error = agxv_sleep(&shared->event, &shared->event_sleepers, seen, until);
   agxv_lock(node);
   if (error != -ETIME || until == deadline_ns)
      return error;
   node->calls->reap(node);
   return 0;
}

void agxv_notify(struct agx_virtual_node *node)
{
   struct agxv_shared *shared = node->shared;
   agxv_watch_scan(node);
   if (node->is_mute)
      return;
   agxv_wake(&shared->event, &shared->event_sleepers);
   /* Workers of other processes look after the descriptors that those gave out. */
   if (shared->peers > 1)
      agxv_wake(&shared->work, &shared->work_sleepers);
}
