/* SPDX-License-Identifier: MIT
 *
 * What generate.py makes of the registry: commands, extensions, features, properties, formats.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "vulkan/vk_tables.h"

enum agxvk_level {
   AGXVK_GLOBAL,
   AGXVK_INSTANCE,
   AGXVK_PHYSICAL_DEVICE,
   AGXVK_DEVICE,
};

/* A command, under one of its names. */
struct agxvk_entry_point {
   const char *name;
   PFN_vkVoidFunction function;
   enum agxvk_level level;
   uint32_t version;      /* of Vulkan that has it; 0: none */
   uint8_t extensions[4]; /* enum agxvk_extension: those that have it, too; 0: no more */
};

/* Sorted by name. */
extern const struct agxvk_entry_point agxvk_entry_points[];
extern const uint32_t agxvk_entry_point_count;

struct agxvk_extension_info {
   const char *name;
   uint32_t version;
   bool is_instance;
};
extern const struct agxvk_extension_info agxvk_extensions[AGXVK_EXTENSION_COUNT];

extern const struct agxvk_features agxvk_announced_features;

/* What is announced, in Vulkan 1.0's struct. */
void agxvk_core_features_write(VkPhysicalDeviceFeatures *out);
/* Fills the structs of the chain that are about features. */
void agxvk_features_write(VkBaseOutStructure *chain);
/* Adds what an application asks for to enabled; gives the name of the first feature that is not
 * announced, or NULL. */
const char *agxvk_core_features_enable(const VkPhysicalDeviceFeatures *in,
                                       struct agxvk_features *enabled);
const char *agxvk_features_enable(const VkBaseInStructure *chain, struct agxvk_features *enabled);

/* Fills the structs of the chain that are about properties. */
void agxvk_properties_write(const struct agxvk_properties *from, VkBaseOutStructure *chain);

struct agxvk_format {
   VkFormat format;
   const char *name; /* which agx_image_desc.format takes */
   uint8_t block_B, block_width, block_height;
};
extern const struct agxvk_format agxvk_formats[];
extern const uint32_t agxvk_format_count;

/* What the commands of graphics do: they tell once that this device has no queue for them. */
void agxvk_no_graphics(const char *command);
