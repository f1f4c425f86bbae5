/* SPDX-License-Identifier: MIT
 *
 * The record room's part of a device.
 */
#pragma once

#include "hal/core/context.h"
#include "hal/record/breadcrumb.h"

struct agx_recorder_state {
   struct agx_breadcrumbs breadcrumbs;
};

/* The record room's state of a device. */
static inline struct agx_recorder_state *agx_recorder_of(const struct agx_device *device)
{
   return agx_context_of(device)->recorder;
}
