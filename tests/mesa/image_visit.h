/* SPDX-License-Identifier: MIT
 *
 * What the tables of image cases share: image_cases.c has fetches and samples, image_stores.c
 * stores, atomics, buffers, layouts and what samplers of arrays and cubes add.
 */
#pragma once

#include "image_case.h"

#define TOLERANCE (1.0 / 128) /* of the range: lavapipe's filters have 8 bits of weight */

struct visit {
   image_found *found;
   void *user;
};

struct shape {
   VkImageViewType view;
   const char *name, *texture;  /* GLSL: the place, and what textureLod takes */
   const char *texel, *storage; /* texel of fetches ("" where there is none) and of stores */
   uint32_t width, height, depth, layers, levels;
   const char *gradients, *offset;
};

#define IMAGE_SHAPES      8
#define IMAGE_FEW_FORMATS 5
extern const struct shape image_shapes[IMAGE_SHAPES];
extern const VkFormat image_few_formats[IMAGE_FEW_FORMATS];

/* The first of this view. */
const struct shape *image_find_shape(VkImageViewType view);
/* The letter before sampler and image types. */
const char *image_prefix(const struct image_format *format);
struct image_case image_make_case(const struct shape *shape, VkFormat format);
void image_set_filter(struct image_case *c, VkFilter filter, VkSamplerMipmapMode mip);
void image_set_wrap(struct image_case *c, VkSamplerAddressMode mode);
/* Names the case by its image and the words, calls found, and clears its declaration. */
void image_emit(const struct visit *visit, struct image_case *c, const char *expression,
                const char *about, ...);
/* The format can be filtered. */
bool image_is_filtered(const struct image_case *c);
void image_visit_stores(const struct visit *visit);
