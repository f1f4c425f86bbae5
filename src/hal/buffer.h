/* SPDX-License-Identifier: MIT */
#pragma once

#include "hal/device.h"

struct agx_buffer {
   struct agx_object object;
   struct agx_device *device;
   struct agxw_bo *bo;
   uint64_t size_B, address;
   uint32_t flags;
};
