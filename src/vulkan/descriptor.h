/* SPDX-License-Identifier: MIT
 *
 * Descriptor sets. A descriptor is kept as the HAL takes it at a dispatch, in host memory.
 */
#pragma once

#include "vulkan/device.h"

#define AGXVK_MAX_SETS    8
#define AGXVK_MAX_DYNAMIC 32 /* of a set */
#define AGXVK_NO_DYNAMIC  UINT32_MAX

/* Its set, binding and element are not used: who binds it fills them in. */
struct agxvk_descriptor {
   struct agx_binding value;
};

struct agxvk_set_binding {
   uint32_t binding;
   VkDescriptorType type;
   uint32_t count;    /* of an inline uniform block: 1, whatever its bytes */
   uint32_t first;    /* of the set's descriptors */
   uint32_t dynamic;  /* the first one's number among the dynamic ones, or AGXVK_NO_DYNAMIC */
   uint32_t inline_B; /* of an inline uniform block: its bytes, */
   uint32_t inline_offset_B;            /* and where they are in the set's */
   struct agx_sampler *const *samplers; /* immutable ones, or NULL */
};

/* Counted, since pipeline layouts and sets outlive their application's handle. */
struct agxvk_set_layout {
   struct agxvk_object object;
   uint32_t references;
   uint32_t binding_count, descriptor_count, dynamic_count, inline_B;
   struct agxvk_set_binding bindings[]; /* sorted by number; immutable samplers lie behind */
};

struct agxvk_pipeline_layout {
   struct agxvk_object object;
   uint32_t references;
   uint32_t set_count;
   struct agxvk_set_layout *sets[AGXVK_MAX_SETS]; /* NULL: none */
};

struct agxvk_descriptor_pool {
   struct agxvk_object object;
   VkDescriptorPoolCreateFlags flags;
   uint32_t sets_left;
   uint32_t descriptors_left;
   struct agxvk_descriptor_set *first;
};

struct agxvk_descriptor_set {
   struct agxvk_object object;
   struct agxvk_descriptor_pool *pool;
   struct agxvk_descriptor_set *next, **link; /* in the pool */
   struct agxvk_set_layout *layout;
   struct agx_buffer *inline_buffer; /* of inline uniform blocks, or NULL */
   uint8_t *inline_bytes;
   struct agxvk_descriptor descriptors[];
};

AGXVK_OBJECT(set_layout, VkDescriptorSetLayout)
AGXVK_OBJECT(pipeline_layout, VkPipelineLayout)
AGXVK_OBJECT(descriptor_pool, VkDescriptorPool)
AGXVK_OBJECT(descriptor_set, VkDescriptorSet)

/* Take a reference back; NULL is ignored. */
void agxvk_set_layout_release(struct agxvk_device *device, struct agxvk_set_layout *layout);
/* The same. */
void agxvk_pipeline_layout_release(struct agxvk_device *device,
                                   struct agxvk_pipeline_layout *layout);

/* NULL: it has none of that number. */
const struct agxvk_set_binding *agxvk_set_layout_find(const struct agxvk_set_layout *layout,
                                                      uint32_t binding);

/* Nothing but immutable samplers. */
void agxvk_descriptors_init(const struct agxvk_set_layout *layout,
                            struct agxvk_descriptor *descriptors);

/* Writes descriptors of a set's array; inline uniform blocks go to inline_bytes. */
void agxvk_descriptors_write(const struct agxvk_set_layout *layout,
                             struct agxvk_descriptor *descriptors, uint8_t *inline_bytes,
                             const VkWriteDescriptorSet *write);

/* What vkUpdateDescriptorSetWithTemplate does, to such an array. */
void agxvk_template_write(VkDescriptorUpdateTemplate handle, const struct agxvk_set_layout *layout,
                          struct agxvk_descriptor *descriptors, uint8_t *inline_bytes,
                          const void *data);
