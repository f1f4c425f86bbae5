/* SPDX-License-Identifier: MIT
 *
 * An event, whose state is all in the recordings that use it.
 */
#pragma once

#include "base/list.h"
#include "hal/core/context.h"

struct agx_event {
   struct agx_object object;
   struct agx_device *device;
};
