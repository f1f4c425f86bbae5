/* SPDX-License-Identifier: MIT
 *
 * The recording room's part of a device: the breadcrumbs of its command buffers.
 */
#pragma once

#include "hal/core/context.h"
#include "hal/record/breadcrumb.h"

struct agx_recorder_state {
   struct agx_breadcrumbs breadcrumbs;
};

/* Needs no winsys device. */
void agx_recorder_state_init(struct agx_device *device);
/* All command buffers have gone; the winsys device is still there. */
void agx_recorder_state_fini(struct agx_device *device);

/* The recording room's state of a device. */
static inline struct agx_recorder_state *agx_recorder_of(const struct agx_device *device)
{
   return agx_context_of(device)->recorder;
}
