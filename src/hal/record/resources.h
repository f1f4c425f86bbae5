/* SPDX-License-Identifier: MIT
 *
 * What a recording uses: each object once, kept alive until it is recorded anew, with the launches
 * that wrote and read it last, from which hazard.h finds where the stream needs a barrier.
 */
#pragma once

#include <stdint.h>

#include "hal/core/object.h"

/* Launches are counted from 1; 0 is never. */
struct agx_use {
   void *object;
   uint32_t written, read; /* when it was last */
   uint32_t barrier;       /* uses before are behind a barrier of this object; of an event: what
                              its signal stands behind */
};

#define AGX_INLINE_USES 16

struct agx_resources {
   struct agx_use *uses;
   uint32_t count, capacity;
   uint32_t *slots; /* hash table: index + 1, 0 is free; NULL while few */
   uint32_t slot_count;
   bool is_unretained;
   bool has_allocas; /* buffers whose memory comes with the queue (alloca.h) are among them */
   struct agx_use inline_uses[AGX_INLINE_USES];
};

/* An empty set, which takes no memory until it holds more than AGX_INLINE_USES objects. */
void agx_resources_init(struct agx_resources *set);
/* Lets go of all objects; memory stays for the next recording. */
void agx_resources_reset(struct agx_resources *set);
/* Lets go of all objects, and frees the memory. */
void agx_resources_fini(struct agx_resources *set, const struct agx_host_alloc *alloc);

/* agx_resources_use of an object whose last_use_index names another one; NULL: out of host memory.
 */
struct agx_use *agx_resources_find(struct agx_resources *set, const struct agx_host_alloc *alloc,
                                   struct agx_object *object);

/* The object's place in the set; it is good until the next one is used. Objects remember where
 * they were last, which is where they are in most sets. */
static inline struct agx_use *agx_resources_use(struct agx_resources *set,
                                                const struct agx_host_alloc *alloc, void *handle)
{
   struct agx_object *object = handle;
   uint32_t index = atomic_load_explicit(&object->last_use_index, memory_order_relaxed);
   if (__builtin_expect(index < set->count && set->uses[index].object == object, 1))
      return &set->uses[index];
   return agx_resources_find(set, alloc, object);
}
