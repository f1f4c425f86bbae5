/* SPDX-License-Identifier: MIT */
#pragma once

#include "agx/format.h"
#include "agx/image.h"
#include "agx/hw/packet.h"
#include "agx/isa/isa.h"
#include "agx/layout/layout.h"
#include "hal/core/context.h"
#include "winsys/winsys.h"
#include "program/program.h"

/* All of an image as a kernel sees it that takes it for what it is: what most dispatches bind. */
struct agx_image_whole {
   uint32_t dim;    /* a texture descriptor's code; AGX_IMAGE_NO_DIM: nothing of this is known */
   uint32_t access; /* what may be bound: enum agx_binding_access */
   uint64_t properties[AGX_IMAGE_PROPERTY_COUNT];
   uint8_t texture[AGX_HW_TEXTURE_BYTES]; /* to read */
   uint8_t stored[AGX_HW_PBE_BYTES];      /* to write, where that is allowed */
};

#define AGX_IMAGE_NO_DIM UINT32_MAX

struct agx_image {
   struct agx_object object;
   struct agx_device *device;
   char label[AGX_NAME_BYTES];
   struct agxw_bo *bo; /* its own, or memory's */
   uint64_t bo_offset_B;
   struct agx_buffer *memory; /* that it is in, retained; NULL: the image has its own */
   const struct agx_format *format;
   uint32_t type, flags; /* enum agx_image_type, enum agx_image_flags */
   uint32_t width, height, depth, levels, samples;
   uint64_t address;
   struct agx_layout layout;
   struct agx_image_whole whole;
};

struct agx_sampler {
   struct agx_object object;
   struct agx_device *device;
   _Atomic uint32_t slot; /* in the device's heap (sampler_heap.h), or 0: in none yet */
   uint8_t words[AGX_HW_SAMPLER_BYTES];
};

/* "2D", of an enum agx_image_type; "?" of a number that is none. */
const char *agx_image_type_name(uint32_t type);

/* Whether a dimension, enum agx_isa_dim, is that of cubes. */
static inline bool agx_dim_is_cube(uint32_t dim)
{
   return dim == AGX_ISA_DIM_CUBE || dim == AGX_ISA_DIM_CUBE_ARRAY;
}

/* A side of the image in texels, at a level. */
static inline uint32_t agx_image_side(uint32_t side, uint32_t level)
{
   return side >> level ? side >> level : 1;
}

extern const struct agx_object_type agx_image_type;

/* Fills a zeroed image but for its memory, as an application describes it; *out_read is the
 * description in full. Fails as agx_image_create does. */
AGX_MUST_CHECK agx_status agx_image_resolve(struct agx_image *image,
                                            const struct agx_image_desc *desc,
                                            struct agx_image_desc *out_read);
/* Of its memory, in bytes. */
uint32_t agx_image_alignment(const struct agx_image *image);
/* Fills in image->whole, once all else is known. */
void agx_image_describe(struct agx_image *image);

/* Checks that the region is a part of one level of the image, in texels. what: the object of the
 * sentence that says why not. */
AGX_MUST_CHECK agx_status agx_image_region_check(const struct agx_image *image, const char *what,
                                                 const struct agx_image_region *region);
