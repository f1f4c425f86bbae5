/* SPDX-License-Identifier: MIT
 *
 * Experiments about textures and images: a program, and the descriptors that it goes by, which the
 * preamble loads.
 */
#include <string.h>

#include "agx/hw/packet.h"
#include "base/util.h"
#include "selftest.h"

#define IMAGE_AT   0u /* in the heap */
#define PBE_AT     24u
#define SAMPLER_AT 64u
#define PIXEL_B    (SELFTEST_DATA_B - SELFTEST_PIXELS)
#define SEEN_WORDS 2048u /* of the pixels, where an experiment stores some */

/* What pixels are made of: small floats, whose bytes serve the other formats too. */
static void fill_pixels(struct selftest_machine *machine, const struct selftest_image *image)
{
   const bool is_float =
      image->type == AGX_HW_TEXTURE_TYPE_FLOAT &&
      (image->channels == AGX_HW_CHANNELS_R32 || image->channels == AGX_HW_CHANNELS_R32G32B32A32);
   for (uint32_t i = 0; i < PIXEL_B / 4; i++) {
      const float number = (float)(i * 7 % 61);
      const uint32_t mixed = i * 2654435761u;
      if (is_float)
         memcpy(machine->data + SELFTEST_PIXELS + 4 * i, &number, 4);
      else
         memcpy(machine->data + SELFTEST_PIXELS + 4 * i, &mixed, 4);
   }
}

static agx_status write_texture(struct selftest_machine *machine,
                                const struct selftest_image *image)
{
   struct agx_hw_texture texture = agx_hw_texture_default();
   texture.dimension = image->dimension;
   texture.layout = image->layout;
   texture.channels = image->channels;
   texture.type = image->type;
   texture.swizzle_r = image->is_reversed ? AGX_HW_CHANNEL_A : AGX_HW_CHANNEL_R;
   texture.swizzle_g = image->is_reversed ? AGX_HW_CHANNEL_B : AGX_HW_CHANNEL_G;
   texture.swizzle_b = image->is_reversed ? AGX_HW_CHANNEL_G : AGX_HW_CHANNEL_B;
   texture.swizzle_a = image->is_reversed ? AGX_HW_CHANNEL_R : AGX_HW_CHANNEL_A;
   texture.width = image->width;
   texture.height = image->height;
   texture.last_level = image->levels - 1;
   texture.unk_mipmapped = image->levels > 1;
   texture.srgb = image->srgb;
   texture.address = machine->data_va + SELFTEST_PIXELS;
   if (image->stride)
      texture.stride = image->stride - 16;
   else
      texture.depth = image->depth;
   return agx_hw_texture_pack(&texture, machine->data + SELFTEST_HEAP + IMAGE_AT);
}

static agx_status write_target(struct selftest_machine *machine, const struct selftest_image *image)
{
   struct agx_hw_pbe target = agx_hw_pbe_default();
   target.dimension = AGX_HW_TEXTURE_DIMENSION_2D;
   target.layout = AGX_HW_LAYOUT_GPU;
   target.channels = image->channels;
   target.type = image->type;
   target.swizzle_g = AGX_HW_CHANNEL_G;
   target.swizzle_b = AGX_HW_CHANNEL_B;
   target.swizzle_a = AGX_HW_CHANNEL_A;
   target.width = image->width;
   target.height = image->height;
   target.buffer = machine->data_va + SELFTEST_PIXELS;
   return agx_hw_pbe_pack(&target, machine->data + SELFTEST_HEAP + PBE_AT);
}

static agx_status write_samplers(struct selftest_machine *machine,
                                 const struct selftest_image *image)
{
   struct agx_hw_sampler sampler = agx_hw_sampler_default();
   uint8_t *at = machine->data + SELFTEST_HEAP + SAMPLER_AT;
   sampler.maximum_lod = 14;
   sampler.magnify = sampler.minify = image->filter;
   sampler.mip_filter = image->mip;
   sampler.wrap_s = sampler.wrap_t = sampler.wrap_r =
      image->has_wrap ? image->wrap : AGX_HW_WRAP_CLAMP_TO_BORDER;
   sampler.border_colour = image->border;
   sampler.compare_enable = image->compare;
   sampler.compare_func = AGX_HW_COMPARE_FUNC_LESS;
   if (image->anisotropy)
      sampler.maximum_anisotropy = image->anisotropy;
   AGX_TRY(agx_hw_sampler_pack(&sampler, at));
   sampler.magnify = sampler.minify = AGX_HW_FILTER_LINEAR;
   return agx_hw_sampler_pack(&sampler, at + 8);
}

agx_status selftest_write_image(struct selftest_machine *machine,
                                const struct selftest_image *image)
{
   struct selftest_image whole = *image;
   whole.width = whole.width ? whole.width : 8;
   whole.height = whole.height ? whole.height : 8;
   whole.depth = whole.depth ? whole.depth : 1;
   whole.levels = whole.levels ? whole.levels : 1;
   whole.dimension = whole.dimension ? whole.dimension : AGX_HW_TEXTURE_DIMENSION_2D;
   if (!whole.stride && whole.layout == 0)
      whole.layout = AGX_HW_LAYOUT_GPU;
   fill_pixels(machine, &whole);
   AGX_TRY(write_texture(machine, &whole));
   AGX_TRY(write_target(machine, &whole));
   return write_samplers(machine, &whole);
}

static agx_status run_image(const struct selftest_experiment *experiment,
                            struct selftest_machine *machine, bool is_altered,
                            struct selftest_seen *seen)
{
   struct selftest_experiment row = *experiment;
   if (experiment->image->has_tile) {
      row.launch.sample_stride = 1;
      row.launch.shared_B = 8192;
   }
   AGX_TRY(selftest_write_image(machine, experiment->image));
   AGX_TRY(selftest_run_row(&row, machine, is_altered, seen));
   if (!(experiment->flags & SELFTEST_PIXELS_SEEN))
      return AGX_OK;
   for (uint32_t i = 0; i < SEEN_WORDS; i++) {
      uint32_t word;
      memcpy(&word, machine->data + SELFTEST_PIXELS + 4 * i, 4);
      selftest_see(seen, word, "word %u of the image", i);
   }
   return AGX_OK;
}

#define IMAGE(row, questions, options, kind, text, before, after, ...)                             \
   {.name = row,                                                                                   \
    .ids = questions,                                                                              \
    .run = run_image,                                                                              \
    .flags = options,                                                                              \
    .inputs = SELFTEST_##kind,                                                                     \
    .image = &(const struct selftest_image){__VA_ARGS__},                                          \
    .launch = {                                                                                    \
       .program = text, .preamble = SELFTEST_IMAGE_PREAMBLE, .from = before, .to = after}},

static const struct selftest_experiment images[] = {
#include "images.def"
};
const struct selftest_group selftest_images = {"images", images, AGX_COUNT(images)};
