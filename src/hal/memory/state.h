/* SPDX-License-Identifier: MIT
 *
 * The memory room's part of a device: how much memory there is of what, and what is kept to be
 * used again.
 */
#pragma once

#include "hal/core/context.h"
#include "hal/core/frontier.h"
#include "hal/memory/buffer_cache.h"
#include "hal/memory/chunk.h"
#include "hal/memory/memory_stats.h"
#include "hal/memory/sampler_heap.h"

struct agx_pool;

/* What memory asks of the rooms above it. Any thread; the functions may take the device's lock. */
struct agx_memory_hooks {
   /* The epochs of the queues that are over. */
   struct agx_frontier (*reached)(struct agx_device *device);
   /* A pool that operations wait for has memory again. */
   void (*memory_returned)(struct agx_device *device);
   /* Lets go of what is kept for later and holds memory, before memory itself does. */
   void (*trim)(struct agx_device *device);
};

struct agx_memory_state {
   const struct agx_memory_hooks *hooks;
   _Atomic uint64_t buffers; /* ever made; serial numbers */
   struct agx_memory_counters counters;
   uint64_t limit_B; /* of what the device may take; 0: none */
   struct agx_buffer_cache cache;
   struct agx_chunks chunks;
   struct agx_sampler_heap samplers;
   pthread_mutex_t pools_lock;
   struct agx_link pools; /* agx_pool; guarded by pools_lock */
   struct agx_pool *pool; /* the device's own, for allocations that name none */
};

/* The memory room's state of a device. */
static inline struct agx_memory_state *agx_memory_of(const struct agx_device *device)
{
   return agx_context_of(device)->memory;
}

/* A number for a new buffer of the device, from 1 on. */
static inline uint64_t agx_buffer_next_serial(const struct agx_device *device)
{
   return 1 + atomic_fetch_add_explicit(&agx_memory_of(device)->buffers, 1, memory_order_relaxed);
}

/* Needs the winsys device. hooks stay valid. */
AGX_MUST_CHECK agx_status agx_memory_state_init(struct agx_device *device,
                                                const struct agx_device_desc *desc,
                                                const struct agx_memory_hooks *hooks);
/* All buffers, pools and chunks have gone. */
void agx_memory_state_fini(struct agx_device *device);

/* agx_device_trim; whether there was anything. Takes locks of the pools and of the rooms above. */
bool agx_memory_trim(struct agx_device *device);
