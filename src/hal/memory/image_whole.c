/* SPDX-License-Identifier: MIT
 *
 * The descriptors and numbers of a whole image, made with it, so that recording copies them
 * (command_fast.c). They are what bind_image.c and descriptor.c make of a binding that asks for
 * nothing else.
 */
#include "agx/isa/isa.h"
#include "hal/memory/descriptor.h"
#include "robustness/image.h"

/* What a kernel takes an image of that shape for. */
static uint32_t dim_of(const struct agx_image *image)
{
   const bool is_array = image->depth > 1;
   switch (image->type) {
   case AGX_IMAGE_1D:
      return is_array ? AGX_ISA_DIM_1D_ARRAY : AGX_ISA_DIM_1D;
   case AGX_IMAGE_3D:
      return AGX_ISA_DIM_3D;
   case AGX_IMAGE_CUBE:
      return image->depth > 6 ? AGX_ISA_DIM_CUBE_ARRAY : AGX_ISA_DIM_CUBE;
   default:
      if (image->samples > 1)
         return is_array ? AGX_ISA_DIM_2D_MS_ARRAY : AGX_ISA_DIM_2D_MS;
      return is_array ? AGX_ISA_DIM_2D_ARRAY : AGX_ISA_DIM_2D;
   }
}

static uint32_t access_of(const struct agx_image *image)
{
   const uint64_t samples = image->layout.size_B / image->format->texel_B;
   uint32_t access = AGX_BINDING_READS;
   if (image->format->is_storable && !(image->flags & AGX_IMAGE_GPU_READ_ONLY) &&
       (image->samples == 1 || samples <= AGXR_MAX_TEXELS))
      access |= AGX_BINDING_WRITES;
   return access | (image->flags & AGX_IMAGE_ATOMICS ? AGX_BINDING_ATOMICS : 0u);
}

static agx_status pack(const struct agx_bound *bound, struct agx_image_whole *whole)
{
   if (whole->access & AGX_BINDING_WRITES)
      AGX_TRY(agx_bound_pack_image(bound, whole->stored));
   return agx_bound_pack_texture(bound, whole->texture);
}

void agx_image_describe(struct agx_image *image)
{
   struct agx_image_whole *whole = &image->whole;
   *whole = (struct agx_image_whole){.dim = dim_of(image), .access = access_of(image)};
   const struct agx_bound bound = {
      .image = image,
      .format = image->format,
      .level_count = image->levels,
      .layer_count = image->depth,
      .dim = whole->dim,
      .elements = 1,
   };
   for (uint32_t i = 0; i < AGX_IMAGE_PROPERTY_COUNT; i++)
      whole->properties[i] = agx_bound_property(&bound, (enum agx_image_property)i);
   if (pack(&bound, whole) != AGX_OK)
      whole->dim = AGX_IMAGE_NO_DIM; /* binding it says why */
}
