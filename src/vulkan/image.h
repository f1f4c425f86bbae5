/* SPDX-License-Identifier: MIT
 *
 * Images, their views, and samplers.
 */
#pragma once

#include "vulkan/device.h"

/* The HAL's image is made when memory is bound. */
struct agxvk_image {
   struct agxvk_object object;
   struct agx_image *core;
   struct agx_image_desc desc;
   uint32_t layers; /* as Vulkan counts them: 1 of 3D images */
   uint64_t size_B, row_B, layer_B;
   uint32_t align_B;
   const struct agxvk_format *format;
};

/* What a binding of the HAL's says of an image. */
struct agxvk_image_view {
   struct agxvk_object object;
   struct agx_image *image;
   uint32_t first_level, level_count, first_layer, layer_count;
   const char *format; /* NULL: the image's */
   char swizzle[5];    /* "": none */
};

struct agxvk_sampler {
   struct agxvk_object object;
   struct agx_sampler *core;
};

AGXVK_OBJECT(image, VkImage)
AGXVK_OBJECT(image_view, VkImageView)
AGXVK_OBJECT(sampler, VkSampler)

/* The HAL's description of what an application wants; .format NULL where there is no such image. */
struct agx_image_desc agxvk_image_desc(const VkImageCreateInfo *info);
