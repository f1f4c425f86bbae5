/* SPDX-License-Identifier: MIT
 *
 * What a dispatch binds, checked and resolved; and the descriptors of images and samplers
 * that its state registers hold.
 */
#pragma once

#include "hal/memory/image.h"
#include "program/program.h"

/* One of the executable's bindings in one dispatch. */
struct agx_bound {
   void *objects[2];           /* to retain; NULL where there is none */
   uint64_t address, length_B; /* buffers */
   struct agxw_sinks sinks;    /* of robust ones; zeros where they are out of reach */
   const struct agx_image *image;
   const struct agx_sampler *sampler;
   const struct agx_format *format; /* of images and texel buffers, as they are seen */
   uint32_t first_level, level_count, first_layer, layer_count, dim;
   uint32_t texels;   /* of a texel buffer */
   uint32_t elements; /* of an array, as many as are bound, at least 1 */
   char swizzle[4];   /* "rgba01", or '\0': as it is */
   bool is_texels;    /* a buffer of texels */
   bool is_null;      /* an image or texel buffer that is not there; sinks are its memory */
};

/* Of an image, a sampler, or both, or a texel buffer; name is the executable's. binding NULL: an
 * element of an array that the application leaves out. */
AGX_MUST_CHECK agx_status agx_bind_image(const char *name, const struct agx_program_binding *wanted,
                                         const struct agx_binding *binding,
                                         struct agx_device *device, struct agx_bound *out_bound);

/* What a uniform says of a bound image. */
uint64_t agx_bound_property(const struct agx_bound *bound, enum agx_image_property property);

/* Descriptors, of AGX_HW_TEXTURE_BYTES: to read, and to write. */
AGX_MUST_CHECK agx_status agx_bound_pack_texture(const struct agx_bound *bound, uint8_t *out);
AGX_MUST_CHECK agx_status agx_bound_pack_image(const struct agx_bound *bound, uint8_t *out);
/* The driver's own sampler for texel fetches. */
AGX_MUST_CHECK agx_status agx_pack_fetch_sampler(uint8_t *out);
