/* SPDX-License-Identifier: MIT
 *
 * The descriptors of what a dispatch binds. They are packed while recording, since the view
 * depends on the kernel. Source: docs/hw/cmdstream.md 4.
 */
#include "hal/memory/descriptor.h"

#include "base/util.h"
#include "robustness/image.h"

#define TEXTURE_STRIDE_BIAS 16u
#define PBE_STRIDE_BIAS     4u
#define LAYER_STRIDE_BIAS   128u

static uint32_t channel_code(char channel)
{
   return channel == 'o'   ? AGX_HW_CHANNEL_1
          : channel == 'z' ? AGX_HW_CHANNEL_0
                           : AGX_HW_CHANNEL_R + (uint32_t)(channel - '0');
}

/* The memory channel, one or zero that the kernel's channel c shows. */
static uint32_t swizzled(const struct agx_bound *bound, unsigned c)
{
   switch (bound->swizzle[c]) {
   case 'r':
      return channel_code(bound->format->swizzle[0]);
   case 'g':
      return channel_code(bound->format->swizzle[1]);
   case 'b':
      return channel_code(bound->format->swizzle[2]);
   case 'a':
      return channel_code(bound->format->swizzle[3]);
   case '0':
      return AGX_HW_CHANNEL_0;
   case '1':
      return AGX_HW_CHANNEL_1;
   default:
      return channel_code(bound->format->swizzle[c]);
   }
}

/* The shader's channel that memory channel i holds: the texture's swizzle turned round. */
static uint32_t source_of(const struct agx_format *format, unsigned i)
{
   for (unsigned c = 0; c < 4; c++)
      if (format->swizzle[c] == (char)('0' + i))
         return AGX_HW_CHANNEL_R + c;
   return AGX_HW_CHANNEL_R + i;
}

/* Memory of all samples as one linear image, which code addresses. */
static bool is_flat(const struct agx_bound *bound)
{
   return bound->is_texels || bound->image->samples > 1;
}

static uint32_t flat_texels(const struct agx_bound *bound)
{
   return bound->is_texels ? bound->texels
                           : agxr_texel_count(bound->image->layout.size_B, bound->format->texel_B);
}

static uint64_t layer_address(const struct agx_bound *bound)
{
   return bound->image->address + bound->first_layer * bound->image->layout.layer_stride_B;
}

/* ---- textures ---------------------------------------------------------- */

/* Zeros in all channels, over memory that is there. */
static agx_status pack_null_texture(const struct agx_bound *bound, uint8_t *out)
{
   struct agx_hw_texture texture = agx_hw_texture_default();
   texture.dimension = bound->dim;
   /* Cubes are read whatever the coordinates: their faces have to be on one page. */
   texture.layout = agx_dim_is_cube(bound->dim) ? AGX_HW_LAYOUT_GPU : AGX_HW_LAYOUT_TWIDDLED;
   texture.page_aligned_layers = !agx_dim_is_cube(bound->dim);
   texture.channels = 0; /* R8 Unorm */
   texture.type = AGX_HW_TEXTURE_TYPE_UNORM;
   texture.swizzle_r = texture.swizzle_g = texture.swizzle_b = AGX_HW_CHANNEL_0;
   texture.swizzle_a = AGX_HW_CHANNEL_0;
   texture.width = texture.height = texture.depth = 1;
   texture.address = bound->sinks.zero_va;
   return agx_hw_texture_pack(&texture, out);
}

static void describe_texels(const struct agx_bound *bound, struct agx_hw_texture *texture)
{
   texture->layout = AGX_HW_LAYOUT_LINEAR;
   texture->width = AGXR_TEXEL_COLUMNS;
   texture->height = agxr_texel_rows(bound->texels);
   texture->address = bound->address;
   texture->stride = AGXR_TEXEL_COLUMNS * bound->format->texel_B - TEXTURE_STRIDE_BIAS;
}

static void describe_image(const struct agx_bound *bound, struct agx_hw_texture *texture)
{
   const struct agx_image *image = bound->image;
   const struct agx_layout *layout = &image->layout;
   texture->layout = (uint32_t)layout->tiling;
   texture->width = image->width;
   texture->height = image->height;
   texture->first_level = bound->first_level;
   texture->last_level = bound->first_level + bound->level_count - 1;
   texture->address = layer_address(bound);
   texture->unk_mipmapped = image->levels > 1;
   if (image->samples > 1)
      texture->samples = image->samples == 4 ? AGX_HW_SAMPLE_COUNT_4 : AGX_HW_SAMPLE_COUNT_2;
   if (layout->tiling != AGX_LAYOUT_LINEAR) {
      texture->depth = agx_dim_is_cube(bound->dim) ? bound->layer_count / 6 : bound->layer_count;
      texture->page_aligned_layers = layout->is_page_aligned;
      return;
   }
   texture->stride = layout->stride_B - TEXTURE_STRIDE_BIAS;
   if (bound->layer_count > 1) {
      texture->extended = true;
      texture->depth_linear = bound->layer_count;
      texture->layer_stride_linear = layout->layer_stride_B - LAYER_STRIDE_BIAS;
   }
}

agx_status agx_bound_pack_texture(const struct agx_bound *bound, uint8_t *out)
{
   const struct agx_format *format = bound->format;
   struct agx_hw_texture texture = agx_hw_texture_default();
   if (bound->is_null)
      return pack_null_texture(bound, out);
   texture.dimension = bound->dim; /* the same numbers */
   texture.channels = format->channels;
   texture.type = format->type;
   texture.swizzle_r = swizzled(bound, 0);
   texture.swizzle_g = swizzled(bound, 1);
   texture.swizzle_b = swizzled(bound, 2);
   texture.swizzle_a = swizzled(bound, 3);
   texture.srgb = format->is_srgb;
   texture.srgb_2_channel = format->is_srgb && format->texel_B == 2;
   if (bound->is_texels)
      describe_texels(bound, &texture);
   else
      describe_image(bound, &texture);
   return agx_hw_texture_pack(&texture, out);
}

/* ---- images to store to ------------------------------------------------ */

/* One texel of waste. */
static agx_status pack_null_image(const struct agx_bound *bound, uint8_t *out)
{
   struct agx_hw_pbe pbe = agx_hw_pbe_default();
   pbe.dimension = bound->dim;
   pbe.layout = AGX_HW_LAYOUT_TWIDDLED;
   pbe.channels = 0; /* R8 Unorm */
   pbe.type = AGX_HW_TEXTURE_TYPE_UNORM;
   pbe.width = pbe.height = pbe.layers = pbe.levels = 1;
   pbe.buffer = bound->sinks.waste_va;
   pbe.page_aligned_layers = true;
   return agx_hw_pbe_pack(&pbe, out);
}

static void describe_flat(const struct agx_bound *bound, struct agx_hw_pbe *pbe)
{
   pbe->dimension = AGX_HW_TEXTURE_DIMENSION_2D;
   pbe->layout = AGX_HW_LAYOUT_LINEAR;
   pbe->width = AGXR_TEXEL_COLUMNS;
   pbe->height = agxr_texel_rows(flat_texels(bound));
   pbe->buffer = bound->is_texels ? bound->address : layer_address(bound);
   pbe->stride = AGXR_TEXEL_COLUMNS * bound->format->texel_B - PBE_STRIDE_BIAS;
}

static void describe_stored(const struct agx_bound *bound, struct agx_hw_pbe *pbe)
{
   const struct agx_image *image = bound->image;
   const struct agx_layout *layout = &image->layout;
   pbe->layout = (uint32_t)layout->tiling;
   pbe->width = image->width;
   pbe->height = image->height;
   pbe->unk_mipmapped = image->levels > 1;
   pbe->buffer = layer_address(bound);
   if (layout->tiling != AGX_LAYOUT_LINEAR) {
      pbe->level = bound->first_level;
      pbe->levels = image->levels;
      pbe->layers = bound->layer_count;
      pbe->page_aligned_layers = layout->is_page_aligned;
      return;
   }
   pbe->stride = layout->stride_B - PBE_STRIDE_BIAS;
   if (bound->layer_count > 1) {
      pbe->extended = true;
      pbe->depth_linear = bound->layer_count;
      pbe->layer_stride_linear = layout->layer_stride_B - LAYER_STRIDE_BIAS;
   }
}

agx_status agx_bound_pack_image(const struct agx_bound *bound, uint8_t *out)
{
   const struct agx_format *format = bound->format;
   struct agx_hw_pbe pbe = agx_hw_pbe_default();
   if (bound->is_null)
      return pack_null_image(bound, out);
   pbe.dimension = bound->dim;
   pbe.channels = format->channels;
   pbe.type = format->type;
   pbe.swizzle_r = source_of(format, 0);
   pbe.swizzle_g = source_of(format, 1);
   pbe.swizzle_b = source_of(format, 2);
   pbe.swizzle_a = source_of(format, 3);
   pbe.srgb = format->is_srgb;
   if (is_flat(bound))
      describe_flat(bound, &pbe);
   else
      describe_stored(bound, &pbe);
   return agx_hw_pbe_pack(&pbe, out);
}

/* ---- samplers ---------------------------------------------------------- */

/* Zeros outside of a level, whatever level it is. Source: docs/hw/cmdstream.md 4.2. */
agx_status agx_pack_fetch_sampler(uint8_t *out)
{
   struct agx_hw_sampler sampler = agx_hw_sampler_default();
   sampler.maximum_lod = 14.0f;
   sampler.mip_filter = AGX_HW_MIP_FILTER_NEAREST;
   sampler.wrap_s = sampler.wrap_t = sampler.wrap_r = AGX_HW_WRAP_CLAMP_TO_BORDER;
   sampler.pixel_coordinates = true;
   sampler.border_colour = AGX_HW_BORDER_COLOUR_TRANSPARENT_BLACK;
   return agx_hw_sampler_pack(&sampler, out);
}

/* ---- properties -------------------------------------------------------- */

static uint32_t depth_of(const struct agx_bound *bound)
{
   const struct agx_image *image = bound->image;
   if (image->type == AGX_IMAGE_3D)
      return agx_image_side(image->depth, bound->first_level);
   return agx_dim_is_cube(bound->dim) ? bound->layer_count / 6 : bound->layer_count;
}

static uint64_t property_of_nothing(const struct agx_bound *bound, enum agx_image_property property)
{
   switch (property) {
   case AGX_IMAGE_ADDRESS:
      return bound->sinks.waste_va;
   case AGX_IMAGE_ELEMENTS:
      return bound->elements;
   case AGX_IMAGE_WIDTH:
      return bound->texels;
   default:
      return 0;
   }
}

uint64_t agx_bound_property(const struct agx_bound *bound, enum agx_image_property property)
{
   const struct agx_image *image = bound->image;
   if (!image)
      return property_of_nothing(bound, property);
   const struct agx_layout *layout = &image->layout;
   uint32_t width_log2 = layout->level[0].tile_w_log2;
   switch (property) {
   case AGX_IMAGE_ADDRESS:
      return image->address + bound->first_layer * layout->layer_stride_B;
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
      return layout->stride_B / image->format->texel_B;
   case AGX_IMAGE_LAYER_TEXELS:
      return layout->layer_stride_B / image->format->texel_B;
   case AGX_IMAGE_SAMPLES:
      return image->samples;
   case AGX_IMAGE_ELEMENTS:
      return bound->elements;
   case AGX_IMAGE_TILE_WIDTH:
      return width_log2;
   case AGX_IMAGE_TILE_HEIGHT:
      return layout->level[0].tile_h_log2;
   case AGX_IMAGE_ROW_TILES:
      return agx_div_up(layout->level[0].stride_el, 1u << width_log2);
   default:
      return 0;
   }
}
