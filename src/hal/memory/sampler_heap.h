/* SPDX-License-Identifier: MIT
 *
 * The device's heap of samplers, which kernels name by number when state registers have no room for
 * all that they take. It comes into being with the first sampler that such a kernel is bound to;
 * equal samplers share a slot, which is free when the last of them goes. Slot 0 is the driver's:
 * for elements of arrays that nothing is bound to.
 */
#pragma once

#include <pthread.h>

#include "winsys/winsys.h"

struct agx_device;
struct agx_sampler;
struct agx_sampler_slot;

/* Embedded in the device. */
struct agx_sampler_heap {
   pthread_mutex_t lock;
   struct agxw_bo *memory;         /* NULL: none yet */
   struct agx_sampler_slot *slots; /* AGX_HW_SAMPLER_HEAP_SLOTS */
   uint64_t va;
   uint64_t *words;        /* of the hardware's: written only */
   _Atomic uint32_t count; /* slots that were ever used: what commands may name */
};

/* Starts without memory. */
void agx_sampler_heap_init(struct agx_sampler_heap *heap);
/* All samplers have gone. */
void agx_sampler_heap_fini(struct agx_device *device);

/* The number that names a sampler of the device in code, from AGX_HW_SAMPLER_HEAP_FIRST on, as long
 * as the sampler lives; NULL: one for texel fetches. AGX_RESOURCE_EXHAUSTED: there is no memory, or
 * the heap is full of others. Any thread. */
AGX_MUST_CHECK agx_status agx_sampler_heap_enter(struct agx_device *device,
                                                 struct agx_sampler *sampler, uint32_t *out_number);
/* A sampler that has this slot goes; 0: it has none. */
void agx_sampler_heap_leave(struct agx_device *device, uint32_t slot);

/* What commands are given of it. */
struct agxw_samplers agx_sampler_heap_of(const struct agx_device *device);
