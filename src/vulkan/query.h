/* SPDX-License-Identifier: MIT
 *
 * Query pools, of timestamps.
 */
#pragma once

#include "vulkan/device.h"

/* In memory: the time, and behind it 1 when it is there. */
struct agxvk_query {
   uint64_t time, is_available;
};

struct agxvk_query_pool {
   struct agxvk_object object;
   struct agx_buffer *core;
   struct agxvk_query *queries;
   uint32_t count;
};

AGXVK_OBJECT(query_pool, VkQueryPool)
