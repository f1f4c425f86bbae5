/* SPDX-License-Identifier: MIT
 *
 * Memory formats of images and vertex attributes (format.def): their names, and the hardware's
 * codes.
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

/* By the number that GL's headers give an internal format: GL_RGBA8. NULL when there is none. */
const struct agx_format *agx_format_by_gl(uint32_t internal);

/* ---- vertex attributes ------------------------------------------------- */

/* What a component's bits stand for. */
enum agx_vertex_type {
   AGX_VERTEX_UNORM,   /* v / (2^n - 1) */
   AGX_VERTEX_SNORM,   /* max(v / (2^(n-1) - 1), -1) */
   AGX_VERTEX_USCALED, /* float(v) */
   AGX_VERTEX_SSCALED,
   AGX_VERTEX_UINT,
   AGX_VERTEX_SINT,
   AGX_VERTEX_FLOAT,
   AGX_VERTEX_FIXED, /* v / 65536 */
};

enum agx_vertex_order {
   AGX_VERTEX_RGBA = 0,
   AGX_VERTEX_BGRA = 1,
};

struct agx_vertex_format {
   const char *name; /* "R16G16_SNORM" */
   uint8_t channels; /* in memory; the others are 0, 0, 1 */
   uint8_t bits;     /* of a channel: 8, 16, 32; 10 and 11: see format.def */
   uint8_t type;     /* enum agx_vertex_type */
   bool is_bgra;     /* the first channel is blue */
   uint8_t size_B;   /* of all channels */
};

/* The unit of strides and offsets. */
static inline uint32_t agx_vertex_format_unit_B(const struct agx_vertex_format *format)
{
   return format->bits == 10 || format->bits == 11 ? 4 : format->bits / 8u;
}

/* Whether a shader reads the format as integers. */
static inline bool agx_vertex_format_is_integer(const struct agx_vertex_format *format)
{
   return format->type == AGX_VERTEX_UINT || format->type == AGX_VERTEX_SINT;
}

/* Rows in the table's order; NULL past the end. */
const struct agx_vertex_format *agx_vertex_format_at(size_t index);

/* By our name or Vulkan's, in any case. NULL when there is none. */
const struct agx_vertex_format *agx_vertex_format_find(const char *name);

/* By what glVertexAttribPointer takes: size 1 to 4 or GL_BGRA, type GL_SHORT and so on; integer
 * for glVertexAttribIPointer. NULL for what is no attribute (GL_DOUBLE, or sizes that a type does
 * not have). */
const struct agx_vertex_format *agx_vertex_format_by_gl(uint32_t size, uint32_t type,
                                                        bool normalized, bool integer);
