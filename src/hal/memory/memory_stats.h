/* SPDX-License-Identifier: MIT
 *
 * How much memory a device has given out: counted where it is taken from the kernel and given
 * back. Views of buffers and what was imported take none.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct agx_memory_counter {
   _Atomic uint64_t allocated_B, freed_B; /* ever */
   _Atomic uint64_t used_B, peak_B;
};

/* Embedded in the device. */
struct agx_memory_counters {
   struct agx_memory_counter device;       /* all of it */
   struct agx_memory_counter host_visible; /* of that, what can be mapped */
};

/* Counts bytes as used. Any thread. */
static inline void agx_memory_counter_add(struct agx_memory_counter *counter, uint64_t bytes)
{
   uint64_t used = bytes + atomic_fetch_add_explicit(&counter->used_B, bytes, memory_order_relaxed);
   uint64_t peak = atomic_load_explicit(&counter->peak_B, memory_order_relaxed);
   atomic_fetch_add_explicit(&counter->allocated_B, bytes, memory_order_relaxed);
   while (peak < used &&
          !atomic_compare_exchange_weak_explicit(&counter->peak_B, &peak, used,
                                                 memory_order_relaxed, memory_order_relaxed))
      ;
}

/* Counts bytes that agx_memory_counter_add() has counted as freed. Any thread. */
static inline void agx_memory_counter_remove(struct agx_memory_counter *counter, uint64_t bytes)
{
   atomic_fetch_sub_explicit(&counter->used_B, bytes, memory_order_relaxed);
   atomic_fetch_add_explicit(&counter->freed_B, bytes, memory_order_relaxed);
}

/* Counts bytes that the device took from the kernel. Any thread. */
static inline void agx_memory_acquired(struct agx_memory_counters *counters, uint64_t bytes,
                                       bool is_host_visible)
{
   agx_memory_counter_add(&counters->device, bytes);
   if (is_host_visible)
      agx_memory_counter_add(&counters->host_visible, bytes);
}

/* Counts bytes that the device gave back to the kernel. Any thread. */
static inline void agx_memory_returned(struct agx_memory_counters *counters, uint64_t bytes,
                                       bool is_host_visible)
{
   agx_memory_counter_remove(&counters->device, bytes);
   if (is_host_visible)
      agx_memory_counter_remove(&counters->host_visible, bytes);
}
