/* SPDX-License-Identifier: MIT
 *
 * Memory formats of images (format.def): their names and the hardware's codes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agx_format {
   const char *name;       /* "R8G8B8A8_UNORM" */
   const char *gl_name;    /* "GL_RGBA8" */
   const char *vk_name;    /* "R8G8B8A8_UNORM", without VK_FORMAT_ */
   uint32_t gl_internal;   /* GL's number of gl_name */
   uint8_t channels, type; /* codes of texture and PBE descriptors */
   bool is_srgb;
   uint8_t texel_B;
   char swizzle[5];         /* memory channel that R, G, B, A read: '0'..'3', 'o' one, 'z' zero */
   bool is_storable;        /* as a storage image or a colour attachment */
   const char *tile_format; /* how a shader sees it in tile memory: "f16", "u8norm", "i32" */
};

/* Rows in the table's order; NULL past the end. */
const struct agx_format *agx_format_at(size_t index);

/* By any of its names, in any case: ours, Vulkan's with or without VK_FORMAT_, GL's with or
 * without GL_, or GLSL's image layout qualifier ("rgba32f"). NULL when there is none. */
const struct agx_format *agx_format_find(const char *name);
