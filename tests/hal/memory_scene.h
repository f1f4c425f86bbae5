/* SPDX-License-Identifier: MIT
 *
 * Devices of little memory, and buffers on them.
 */
#pragma once

#include "hal/memory/buffer_cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "failing_kmd.h"
#include "fixture.h"
#include "hal/device/device.h"

#define KIB 1024ull
#define MIB (1024ull * KIB)

/* ---- helpers -------------------------------------------------------------- */

static inline void open_limited(struct fixture *f, uint64_t memory_B, uint64_t cache_B)
{
   const struct agx_device_desc desc = {.size = sizeof(desc),
                                        .name = "virtual",
                                        .memory_limit_B = memory_B,
                                        .cache_limit_B = cache_B};
   assert_ok(agx_instance_create(NULL, &f->instance));
   assert_ok(agx_device_open(f->instance, &desc, &f->device));
}

static inline agx_status create(struct fixture *f, uint64_t size_B, uint32_t flags,
                                struct agx_buffer **out_buffer)
{
   const struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = size_B, .flags = flags, .label = "thing"};
   return agx_buffer_create(f->device, &desc, out_buffer);
}

static inline struct agx_buffer *must_create(struct fixture *f, uint64_t size_B, uint32_t flags)
{
   struct agx_buffer *buffer = NULL;
   assert_ok(create(f, size_B, flags, &buffer));
   return buffer;
}

static inline uint8_t *bytes_of(struct agx_buffer *buffer)
{
   void *memory = NULL;
   assert_ok(agx_buffer_map(buffer, &memory));
   return memory;
}

static inline uint64_t address_of(struct agx_buffer *buffer)
{
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(buffer, &info);
   return info.address;
}

static inline struct agx_memory_stats stats_of(struct fixture *f)
{
   struct agx_memory_stats stats = {.size = sizeof(stats)};
   agx_device_get_memory_stats(f->device, &stats);
   return stats;
}
