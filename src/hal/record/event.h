/* SPDX-License-Identifier: MIT */
#pragma once

#include "hal/core/context.h"

struct agx_event {
   struct agx_object object;
   struct agx_device *device;
};
