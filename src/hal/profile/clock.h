/* SPDX-License-Identifier: MIT
 *
 * The GPU's clock beside the host's.
 */
#pragma once

#include <stdint.h>

#include "base/status.h"

struct agx_device;

/* One moment by both clocks: the GPU's in ticks, CLOCK_MONOTONIC in nanoseconds, and how long the
 * request took that read the GPU's, within which the moment lies. */
struct agx_clocks {
   uint64_t gpu, host_ns, around_ns;
};

/* Asks a few times and keeps the reading with the least time around it. Fails as the system's
 * request does. */
AGX_MUST_CHECK agx_status agx_clocks_read(const struct agx_device *device,
                                          struct agx_clocks *out_clocks);
