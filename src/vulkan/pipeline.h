/* SPDX-License-Identifier: MIT
 *
 * Compute pipelines.
 */
#pragma once

#include "vulkan/descriptor.h"

/* A binding that a dispatch gives the kernel, and where it comes from. */
struct agxvk_need {
   uint32_t set, binding, element;
   uint32_t index;   /* of the set's descriptors */
   uint32_t dynamic; /* which offset of the set's, or AGXVK_NO_DYNAMIC */
   bool is_buffer;   /* with bytes of its own */
   bool is_array;    /* an element that may be left out */
   bool needs_bytes; /* the kernel isn't robust: something must be bound */
};

struct agxvk_pipeline {
   struct agxvk_object object;
   struct agx_executable *executable;
   uint32_t push_B;
   uint32_t need_count;
   struct agxvk_need *needs;
};

struct agxvk_shader_module {
   struct agxvk_object object;
   size_t size_B;
   uint32_t words[];
};

AGXVK_OBJECT(pipeline, VkPipeline)
AGXVK_OBJECT(shader_module, VkShaderModule)
