/* SPDX-License-Identifier: MIT */
#pragma once

#include "agx/format.h"
#include "agx/hw/packet.h"
#include "agx/layout/layout.h"
#include "hal/device.h"

struct agx_image {
   struct agx_object object;
   struct agx_device *device;
   struct agxw_bo *bo;
   const struct agx_format *format;
   uint32_t type, flags; /* enum agx_image_type, enum agx_image_flags */
   uint32_t width, height, depth, levels, samples;
   uint64_t address;
   struct agx_layout layout;
};

struct agx_sampler {
   struct agx_object object;
   struct agx_device *device;
   uint8_t words[AGX_HW_SAMPLER_BYTES];
};

static inline uint32_t agx_image_side(uint32_t side, uint32_t level)
{
   return side >> level ? side >> level : 1;
}
