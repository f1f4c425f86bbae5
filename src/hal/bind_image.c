/* SPDX-License-Identifier: MIT
 *
 * Images and samplers of a dispatch: checks, the numbers that kernels ask for, and the
 * descriptors. They are packed while recording, since the view depends on the kernel.
 * Source: reference/cmdstream, cdm.md 4.
 */
#include "hal/bind_image.h"

#include <string.h>

#include "agx/isa/isa.h"
#include "base/util.h"

#define TEXTURE_STRIDE_BIAS 16u
#define PBE_STRIDE_BIAS     4u
#define LAYER_STRIDE_BIAS   128u

/* ---- checks ------------------------------------------------------------ */

static bool dim_fits(uint32_t dim, uint32_t type)
{
   switch (dim) {
   case AGX_ISA_DIM_2D:
   case AGX_ISA_DIM_2D_ARRAY:
      return type != AGX_IMAGE_3D;
   case AGX_ISA_DIM_3D:
      return type == AGX_IMAGE_3D;
   case AGX_ISA_DIM_CUBE:
   case AGX_ISA_DIM_CUBE_ARRAY:
      return type == AGX_IMAGE_CUBE;
   default:
      return false;
   }
}

static agx_status check_image(const struct agx_program_binding *wanted,
                              const struct agx_binding *binding, const struct agx_device *device)
{
   const struct agx_image *image = binding->image;
   if (!image)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "no image");
   if (image->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "an image of another device");
   if (!dim_fits(wanted->dim, image->type))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "an image of type %u for dimension %u", image->type,
                      wanted->dim);
   if (binding->first_level >= image->levels ||
       binding->level_count > image->levels - binding->first_level)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%u levels from %u of %u", binding->level_count,
                      binding->first_level, image->levels);
   if (wanted->access & AGX_BINDING_WRITES &&
       (image->flags & AGX_IMAGE_GPU_READ_ONLY || !image->format->is_storable))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "an image that can't be written, of format %s",
                      image->format->name);
   if (wanted->access & AGX_BINDING_ATOMICS && !(image->flags & AGX_IMAGE_ATOMICS))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "atomics on an image without AGX_IMAGE_ATOMICS");
   return AGX_OK;
}

static agx_status bind(const struct agx_program_binding *wanted, const struct agx_binding *binding,
                       struct agx_device *device, struct agx_bound *out)
{
   if (agx_binding_has_image(wanted->kind)) {
      AGX_TRY(check_image(wanted, binding, device));
      out->objects[0] = binding->image;
      out->image = binding->image;
      out->first_level = binding->first_level;
      out->level_count = binding->level_count ? binding->level_count
                                              : binding->image->levels - binding->first_level;
      out->dim = wanted->dim;
   }
   if (!agx_binding_has_sampler(wanted->kind))
      return AGX_OK;
   if (!binding->sampler || binding->sampler->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "no sampler, or one of another device");
   out->objects[1] = binding->sampler;
   out->sampler = binding->sampler;
   return AGX_OK;
}

agx_status agx_bind_image(const char *name, const struct agx_program_binding *wanted,
                          const struct agx_binding *binding, struct agx_device *device,
                          struct agx_bound *out_bound)
{
   agx_status status = bind(wanted, binding, device, out_bound);
   if (status != AGX_OK)
      agx_error_prefix("dispatch of %s: set %u binding %u", name, wanted->set, wanted->binding);
   return status;
}

/* ---- properties -------------------------------------------------------- */

static bool is_cube(uint32_t dim)
{
   return dim == AGX_ISA_DIM_CUBE || dim == AGX_ISA_DIM_CUBE_ARRAY;
}

static uint32_t depth_of(const struct agx_bound *bound)
{
   const struct agx_image *image = bound->image;
   if (image->type == AGX_IMAGE_3D)
      return agx_image_side(image->depth, bound->first_level);
   return is_cube(bound->dim) ? image->depth / 6 : image->depth;
}

uint64_t agx_bound_property(const struct agx_bound *bound, enum agx_image_property property)
{
   const struct agx_image *image = bound->image;
   switch (property) {
   case AGX_IMAGE_ADDRESS:
      return image->address;
   case AGX_IMAGE_WIDTH:
      return agx_image_side(image->width, bound->first_level);
   case AGX_IMAGE_HEIGHT:
      return agx_image_side(image->height, bound->first_level);
   case AGX_IMAGE_DEPTH:
      return depth_of(bound);
   case AGX_IMAGE_LEVELS:
      return bound->level_count;
   case AGX_IMAGE_LAST_LEVEL:
      return bound->level_count - 1;
   case AGX_IMAGE_ROW_TEXELS:
      return image->layout.stride_B / image->format->texel_B;
   case AGX_IMAGE_LAYER_TEXELS:
      return image->layout.layer_stride_B / image->format->texel_B;
   default:
      return 0;
   }
}

/* ---- descriptors ------------------------------------------------------- */

static uint32_t channel_code(char channel)
{
   return channel == 'o'   ? AGX_HW_CHANNEL_1
          : channel == 'z' ? AGX_HW_CHANNEL_0
                           : AGX_HW_CHANNEL_R + (uint32_t)(channel - '0');
}

/* The shader's channel that memory channel i holds: the texture's swizzle turned round. */
static uint32_t source_of(const struct agx_format *format, unsigned i)
{
   for (unsigned c = 0; c < 4; c++)
      if (format->swizzle[c] == (char)('0' + i))
         return AGX_HW_CHANNEL_R + c;
   return AGX_HW_CHANNEL_R + i;
}

static agx_status pack_texture(const struct agx_bound *bound, uint8_t *out)
{
   const struct agx_image *image = bound->image;
   const struct agx_format *format = image->format;
   const struct agx_layout *layout = &image->layout;
   struct agx_hw_texture texture = agx_hw_texture_default();
   texture.dimension = bound->dim; /* the same numbers */
   texture.layout = (uint32_t)layout->tiling;
   texture.channels = format->channels;
   texture.type = format->type;
   texture.swizzle_r = channel_code(format->swizzle[0]);
   texture.swizzle_g = channel_code(format->swizzle[1]);
   texture.swizzle_b = channel_code(format->swizzle[2]);
   texture.swizzle_a = channel_code(format->swizzle[3]);
   texture.width = image->width;
   texture.height = image->height;
   texture.first_level = bound->first_level;
   texture.last_level = bound->first_level + bound->level_count - 1;
   texture.address = image->address;
   texture.unk_mipmapped = image->levels > 1;
   texture.srgb = format->is_srgb;
   texture.srgb_2_channel = format->is_srgb && format->texel_B == 2;
   if (layout->tiling != AGX_LAYOUT_LINEAR) {
      texture.depth = is_cube(bound->dim) ? image->depth / 6 : image->depth;
      texture.page_aligned_layers = layout->is_page_aligned;
      return agx_hw_texture_pack(&texture, out);
   }
   texture.stride = layout->stride_B - TEXTURE_STRIDE_BIAS;
   if (image->depth > 1) {
      texture.extended = true;
      texture.depth_linear = image->depth;
      texture.layer_stride_linear = layout->layer_stride_B - LAYER_STRIDE_BIAS;
   }
   return agx_hw_texture_pack(&texture, out);
}

static agx_status pack_image(const struct agx_bound *bound, uint8_t *out)
{
   const struct agx_image *image = bound->image;
   const struct agx_format *format = image->format;
   const struct agx_layout *layout = &image->layout;
   struct agx_hw_pbe pbe = agx_hw_pbe_default();
   pbe.dimension = bound->dim;
   pbe.layout = (uint32_t)layout->tiling;
   pbe.channels = format->channels;
   pbe.type = format->type;
   pbe.swizzle_r = source_of(format, 0);
   pbe.swizzle_g = source_of(format, 1);
   pbe.swizzle_b = source_of(format, 2);
   pbe.swizzle_a = source_of(format, 3);
   pbe.width = image->width;
   pbe.height = image->height;
   pbe.unk_mipmapped = image->levels > 1;
   pbe.buffer = image->address;
   pbe.srgb = format->is_srgb;
   if (layout->tiling != AGX_LAYOUT_LINEAR) {
      pbe.level = bound->first_level;
      pbe.levels = image->levels;
      pbe.layers = image->depth;
      pbe.page_aligned_layers = layout->is_page_aligned;
      return agx_hw_pbe_pack(&pbe, out);
   }
   pbe.stride = layout->stride_B - PBE_STRIDE_BIAS;
   if (image->depth > 1) {
      pbe.extended = true;
      pbe.depth_linear = image->depth;
      pbe.layer_stride_linear = layout->layer_stride_B - LAYER_STRIDE_BIAS;
   }
   return agx_hw_pbe_pack(&pbe, out);
}

/* Zeros outside of a level, whatever level it is. Source: reference/cmdstream, cdm.md 4.2. */
static agx_status pack_fetch_sampler(uint8_t *out)
{
   struct agx_hw_sampler sampler = agx_hw_sampler_default();
   sampler.maximum_lod = 14.0f;
   sampler.mip_filter = AGX_HW_MIP_FILTER_NEAREST;
   sampler.wrap_s = sampler.wrap_t = sampler.wrap_r = AGX_HW_WRAP_CLAMP_TO_BORDER;
   sampler.pixel_coordinates = true;
   sampler.border_colour = AGX_HW_BORDER_COLOUR_TRANSPARENT_BLACK;
   return agx_hw_sampler_pack(&sampler, out);
}

static agx_status write_state(const struct agx_program_state *state, const struct agx_bound *bound,
                              uint8_t *out)
{
   switch (state->kind) {
   case AGX_STATE_TEXTURE:
      return pack_texture(&bound[state->index], out);
   case AGX_STATE_IMAGE:
      return pack_image(&bound[state->index], out);
   case AGX_STATE_SAMPLER:
      memcpy(out, bound[state->index].sampler->words, AGX_HW_SAMPLER_BYTES);
      return AGX_OK;
   default: /* AGX_STATE_FETCH_SAMPLER */
      return pack_fetch_sampler(out);
   }
}

agx_status agx_bound_write_states(const struct agx_program *program, const struct agx_bound *bound,
                                  uint8_t *out)
{
   for (unsigned textures = 1; textures < 2; textures--) {
      for (uint32_t i = 0; i < program->state_count; i++) {
         const struct agx_program_state *state = &program->states[i];
         if (agx_state_is_texture(state->kind) != (textures == 1))
            continue;
         AGX_TRY(write_state(state, bound, out));
         out += textures ? AGX_HW_TEXTURE_BYTES : AGX_HW_SAMPLER_BYTES;
      }
   }
   return AGX_OK;
}
