/* SPDX-License-Identifier: MIT
 *
 * A device whose requests and host allocations can be made to fail, and what must be there again
 * afterwards: all GPU memory, all descriptors, all host memory.
 */
#pragma once

#include "failing_alloc.h"
#include "failing_kmd.h"
#include "fixture.h"

#define SHORTAGE_PAGE 65536u /* a multiple of any host's and device's */

struct shortage {
   struct failing_kmd kmd;
   struct failing_alloc alloc;
   struct agx_instance *instance;
   struct agx_device *device;
   int file; /* a memory file of four pages that can be imported */
};

void shortage_begin(struct shortage *s);
/* Nothing may be left. */
void shortage_end(struct shortage *s);

/* An instance whose host memory is s->alloc's. */
agx_status shortage_instance(struct shortage *s, struct agx_instance **out_instance);

struct shortage_state {
   uint64_t gpu_B, counted_B, host;
   uint32_t descriptors;
};

/* What is in use, but for what the device keeps for later. */
struct shortage_state shortage_look(struct shortage *s);
void shortage_assert_same(struct shortage *s, const struct shortage_state *before);
