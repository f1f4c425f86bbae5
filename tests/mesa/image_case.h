/* SPDX-License-Identifier: MIT
 *
 * One comparison of image accesses: an image, a sampler, an expression of GLSL and a
 * thousand queries for it. Everything in it follows from the case's number, so that two
 * drivers in two processes get the same.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#include "base/status.h"

#define IMAGE_QUERIES 1024u
#define IMAGE_INDEXED 4u /* textures of an array */

/* What numbers a format has, which decides samplers' types and random texels. */
enum image_numbers {
   IMAGE_UNORM,
   IMAGE_SNORM,
   IMAGE_UINT,
   IMAGE_SINT,
   IMAGE_FLOAT,
   IMAGE_DEPTH,
};

struct image_format {
   VkFormat format;
   const char *name;
   uint8_t texel_B, channel_B; /* channel_B: of whole-byte channels; 0: packed */
   enum image_numbers numbers;
   const char *qualifier; /* of storage images in GLSL, or NULL */
};

extern const struct image_format image_formats[];
extern const unsigned image_format_count;
const struct image_format *image_format_find(VkFormat format);

/* What the random coordinates of a query avoid. */
enum image_queries {
   IMAGE_FETCH,   /* texels inside of random levels */
   IMAGE_BEYOND,  /* texels, levels and layers out of bounds as well */
   IMAGE_NEAREST, /* away from texel edges, at whole levels */
   IMAGE_LINEAR,  /* anywhere, at any level */
   IMAGE_GATHER,  /* away from texel centres, level 0 */
   IMAGE_GRADIENT /* like IMAGE_NEAREST, with derivatives along one axis for whole levels */
};

struct image_case {
   char name[120];
   const struct image_format *format, *view_format; /* view_format may be NULL */
   VkImageViewType view;
   VkImageTiling tiling;
   uint32_t width, height, depth, layers, levels;
   uint32_t first_level, level_count, first_layer, layer_count; /* of the view; 0: all */
   VkComponentMapping swizzle;
   VkSamplerCreateInfo sampler;
   bool has_custom_border, is_seamful, is_shadow, is_storage, is_buffer;
   bool is_indexed;   /* t is an array: view n shows level n, sampler n wraps in mode n */
   bool is_host_copy; /* the driver's processor code puts the texels in place */
   bool is_wild;      /* floats of all bits: denormals, infinities, what is not a number */
   bool is_smooth;    /* a slow ramp in place of noise: for filters that may differ */
   VkClearColorValue border;
   const char *declaration; /* of the image t in binding 0 */
   const char *store;       /* a statement with the storage image s, before; or NULL */
   char expression[200];    /* of p, a, b, i, j and t */
   enum image_queries queries;
   double tolerance; /* of the format's range; 0: the same bits */
   double relative;  /* of the value: how the format rounds what is stored */
};

/* Five words of four: p, a, b of floats, i, j of integers. p: coordinates and layer;
 * a: level or gradient, reference in w; b: the other gradient; i: texel, layer last; j.x: level. */
struct image_query {
   float p[4], a[4], b[4];
   int32_t i[4], j[4];
};

/* How many numbers of p are coordinates: without the layer. */
unsigned image_axes(const struct image_case *c);
bool image_is_array(VkImageViewType view);
bool image_is_cube(VkImageViewType view);
uint32_t image_level_size(uint32_t size, uint32_t level);

/* Bytes of all levels, each with all layers or slices. */
uint64_t image_bytes(const struct image_case *c);
void image_fill(const struct image_case *c, uint64_t seed, uint8_t *texels);
void image_ask(const struct image_case *c, uint64_t seed, struct image_query *queries);

/* Calls found for every case, in the same order each time. */
typedef void image_found(void *user, const struct image_case *c);
void image_cases_visit(image_found *found, void *user);

enum image_state {
   IMAGE_DONE,
   IMAGE_UNSUPPORTED, /* by the driver, which says so */
   IMAGE_FAILED,
};

struct image_runner;
AGX_MUST_CHECK agx_status image_runner_open(const char *device, const char *cache,
                                            struct image_runner **out);
const char *image_runner_name(const struct image_runner *runner);
/* Four words a query. AGX_UNIMPLEMENTED: the driver does not support the case. */
AGX_MUST_CHECK agx_status image_runner_run(struct image_runner *runner, const struct image_case *c,
                                           uint64_t seed, uint32_t out[IMAGE_QUERIES][4]);
