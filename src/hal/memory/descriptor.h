/* SPDX-License-Identifier: MIT
 *
 * What a dispatch binds, resolved, and what kernels are given of it: the descriptors of images and
 * samplers that state registers hold, and the numbers that uniforms hold.
 */
#pragma once

#include "agx/status.h"
#include "hal/memory/image.h"
#include "program/program.h"

struct agx_descriptor_heap;

/* One of the executable's bindings in one dispatch; record/ fills it in and checks it. */
struct agx_bound {
   void *objects[2];           /* to retain; NULL where there is none */
   uint64_t address, length_B; /* buffers */
   struct agxw_sinks sinks;    /* of robust ones; zeros where they are out of reach */
   const struct agx_image *image;
   struct agx_sampler *sampler;
   const struct agx_format *format; /* of images and texel buffers, as they are seen */
   uint32_t first_level, level_count, first_layer, layer_count, dim;
   uint32_t texels;   /* of a texel buffer */
   uint32_t elements; /* of an array, as many as are bound, at least 1 */
   /* Elements are in a heap of the application's, from this slot on; NULL: the launch has them. */
   struct agx_descriptor_heap *heap;
   uint32_t first_slot;
   char swizzle[4]; /* "rgba01", or '\0': as it is */
   bool is_texels;  /* a buffer of texels */
   bool is_null;    /* an image or texel buffer that is not there; sinks are its memory */
   bool is_given;   /* the dispatch's list of bindings has it */
};

/* What a uniform says of a bound image or texel buffer; 0 for a property that it lacks. */
uint64_t agx_bound_property(const struct agx_bound *bound, enum agx_image_property property);

/* Packs a descriptor, of AGX_HW_TEXTURE_BYTES to read and of AGX_HW_PBE_BYTES to write. They fail
 * where the view's fields don't fit the descriptor. */
AGX_MUST_CHECK agx_status agx_bound_pack_texture(const struct agx_bound *bound, uint8_t *out);
AGX_MUST_CHECK agx_status agx_bound_pack_image(const struct agx_bound *bound, uint8_t *out);
/* Packs the driver's own sampler for texel fetches, of AGX_HW_SAMPLER_BYTES. */
AGX_MUST_CHECK agx_status agx_pack_fetch_sampler(uint8_t *out);
