/* SPDX-License-Identifier: MIT
 *
 * What a recording uses: each object once, kept alive until it is recorded anew, with the last
 * times that it was written and read, from which follows where the stream needs a barrier.
 *
 * Time is a count of launches. A recorded barrier says that uses before a tick come before those
 * that follow; a barrier word in the stream sees to it for everything before its own tick. So a
 * word is needed where a use meets a conflicting one that is not behind the last word, but behind a
 * recorded barrier. Reads don't conflict with reads, and what no barrier stands between may
 * overlap.
 */
#pragma once

#include <stdint.h>

#include "hal/core/object.h"

/* Ticks: 0 is never. */
struct agx_use {
   void *object;
   uint32_t written, read; /* when it was last */
   uint32_t barrier;       /* uses before are behind a barrier of this object; of an event: what
                              its signal stands behind */
};

#define AGX_USES_INSIDE 16

struct agx_resources {
   struct agx_use *uses;
   uint32_t count, capacity;
   uint32_t *slots; /* hash table: index + 1, 0 is free; NULL while few */
   uint32_t slot_count;
   bool is_unretained;
   bool has_allocas; /* buffers whose memory comes with the queue (alloca.h) are among them */
   struct agx_use inside[AGX_USES_INSIDE];
};

void agx_resources_init(struct agx_resources *set);
/* Lets go of all objects; memory stays for the next recording. */
void agx_resources_reset(struct agx_resources *set);
void agx_resources_fini(struct agx_resources *set, const struct agx_host_alloc *alloc);

/* agx_resources_use of an object whose hint is another's; NULL: out of host memory. */
struct agx_use *agx_resources_look_up(struct agx_resources *set, const struct agx_host_alloc *alloc,
                                      struct agx_object *object);

/* The object's place in the set; it is good until the next one is used. Objects remember where
 * they were last, which is where they are in most sets. */
static inline struct agx_use *agx_resources_use(struct agx_resources *set,
                                                const struct agx_host_alloc *alloc, void *handle)
{
   struct agx_object *object = handle;
   uint32_t hint = atomic_load_explicit(&object->hint, memory_order_relaxed);
   if (__builtin_expect(hint < set->count && set->uses[hint].object == object, 1))
      return &set->uses[hint];
   return agx_resources_look_up(set, alloc, object);
}

struct agx_order {
   uint32_t tick;        /* of the last launch */
   uint32_t word;        /* of the first launch behind the last barrier word */
   uint32_t barrier;     /* uses before are behind a recorded barrier of all memory */
   uint32_t any_barrier; /* or of some */
   uint32_t anything;    /* of the last launch that may use any memory */
};

static inline void agx_order_reset(struct agx_order *order)
{
   *order = (struct agx_order){.word = 1};
}

/* Whether a use of a launch to come, as tick order->tick, needs a barrier word before; notes it. */
static inline bool agx_order_use(const struct agx_order *order, struct agx_use *use, bool writes)
{
   uint32_t limit = order->barrier > use->barrier ? order->barrier : use->barrier;
   uint32_t word = order->word;
   bool after_write = (use->written >= word && use->written < limit) ||
                      (order->anything >= word && order->anything < limit);
   if (!writes) {
      use->read = order->tick;
      return after_write;
   }
   bool after_read = use->read >= word && use->read < limit;
   use->written = order->tick;
   return after_write || after_read;
}

/* Whether any use can need one: not when nothing stands between the last word and a barrier. */
static inline bool agx_order_may_conflict(const struct agx_order *order)
{
   return order->any_barrier > order->word;
}

/* agx_order_use where none can. */
static inline void agx_order_stamp(const struct agx_order *order, struct agx_use *use, bool writes)
{
   if (writes)
      use->written = order->tick;
   else
      use->read = order->tick;
}

/* The same for a launch that may use any memory. */
static inline bool agx_order_use_anything(struct agx_order *order)
{
   order->anything = order->tick;
   return agx_order_may_conflict(order);
}

/* Whether anything stands behind the last word. */
static inline bool agx_order_is_open(const struct agx_order *order)
{
   return order->tick >= order->word;
}

/* What was launched before tick comes before what follows. */
static inline void agx_order_barrier(struct agx_order *order, uint32_t tick)
{
   order->barrier = order->barrier > tick ? order->barrier : tick;
   order->any_barrier = order->any_barrier > tick ? order->any_barrier : tick;
}

static inline void agx_order_barrier_of(struct agx_order *order, struct agx_use *use, uint32_t tick)
{
   use->barrier = use->barrier > tick ? use->barrier : tick;
   order->any_barrier = order->any_barrier > tick ? order->any_barrier : tick;
}
