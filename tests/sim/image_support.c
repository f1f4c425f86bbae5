/* SPDX-License-Identifier: MIT
 *
 * See image_support.h.
 */
#include "image_support.h"

#include <string.h>

void image_begin(struct image_case *c, const char *program)
{
   sim_launch_init(&c->launch, program);
   c->launch.preamble = PREAMBLE;
   c->launch.halves = 64;
   c->launch.grid[0] = c->launch.local[0] = THREADS;
   c->heap = sim_map(&c->launch.memory, HEAP, 0x4000, false);
   c->input = (void *)sim_map(&c->launch.memory, INPUT, 0x4000, false);
   c->output = (void *)sim_map(&c->launch.memory, OUTPUT, 0x4000, true);
   c->pixels = sim_map(&c->launch.memory, PIXELS, 0x40000, true);
   c->launch.uniform[0] = HEAP;
   c->launch.uniform[1] = INPUT;
   c->launch.uniform[2] = OUTPUT;
   c->texture = agx_hw_texture_default();
   c->texture.dimension = AGX_HW_TEXTURE_DIMENSION_2D;
   c->texture.layout = AGX_HW_LAYOUT_GPU;
   c->texture.channels = AGX_HW_CHANNELS_R32;
   c->texture.type = AGX_HW_TEXTURE_TYPE_FLOAT;
   c->texture.swizzle_r = AGX_HW_CHANNEL_R;
   c->texture.swizzle_g = AGX_HW_CHANNEL_0;
   c->texture.swizzle_b = AGX_HW_CHANNEL_0;
   c->texture.swizzle_a = AGX_HW_CHANNEL_1;
   c->texture.width = c->texture.height = 8;
   c->texture.address = PIXELS;
   c->pbe = agx_hw_pbe_default();
   c->pbe.dimension = AGX_HW_TEXTURE_DIMENSION_2D;
   c->pbe.layout = AGX_HW_LAYOUT_GPU;
   c->pbe.channels = AGX_HW_CHANNELS_R32;
   c->pbe.type = AGX_HW_TEXTURE_TYPE_FLOAT;
   c->pbe.swizzle_g = AGX_HW_CHANNEL_G;
   c->pbe.swizzle_b = AGX_HW_CHANNEL_B;
   c->pbe.swizzle_a = AGX_HW_CHANNEL_A;
   c->pbe.width = c->pbe.height = 8;
   c->pbe.buffer = PIXELS;
   c->sampler = agx_hw_sampler_default();
   c->sampler.maximum_lod = 14;
   c->sampler.wrap_s = c->sampler.wrap_t = c->sampler.wrap_r = AGX_HW_WRAP_CLAMP_TO_BORDER;
}

agx_status image_run(struct image_case *c)
{
   assert_ok(agx_hw_texture_pack(&c->texture, c->heap));
   assert_ok(agx_hw_pbe_pack(&c->pbe, c->heap + 24));
   assert_ok(agx_hw_sampler_pack(&c->sampler, c->heap + 64));
   return sim_launch_run(&c->launch);
}

void image_end(struct image_case *c)
{
   sim_launch_fini(&c->launch);
}

uint32_t image_bits(float value)
{
   uint32_t bits;
   memcpy(&bits, &value, sizeof(bits));
   return bits;
}

float image_float(uint32_t bits)
{
   float value;
   memcpy(&value, &bits, sizeof(value));
   return value;
}

void image_fill_level(struct image_case *c, const struct agx_layout *layout, uint32_t level,
                      uint32_t layer, uint32_t width, uint32_t height)
{
   for (uint32_t y = 0; y < height; y++) {
      for (uint32_t x = 0; x < width; x++) {
         float value = (float)(x + 10 * y + 100 * level + 1000 * layer);
         uint64_t at = agx_layout_offset(layout, level, layer, x, y, 0);
         agxs_put_le32(c->pixels + at, image_bits(value));
      }
   }
}

struct agx_layout image_layout(struct agx_layout_shape shape)
{
   struct agx_layout layout;
   shape.tiling = AGX_LAYOUT_GPU;
   shape.pages = AGX_LAYOUT_PAGES_OFF;
   shape.depth = shape.depth ? shape.depth : 1;
   shape.levels = shape.levels ? shape.levels : 1;
   shape.block_B = shape.block_B ? shape.block_B : 4;
   shape.block_w = shape.block_w ? shape.block_w : 1;
   shape.block_h = shape.block_h ? shape.block_h : 1;
   shape.samples = 1;
   assert_ok(agx_layout_init(&shape, &layout));
   return layout;
}

void image_fill_plain(struct image_case *c)
{
   struct agx_layout layout = image_layout((struct agx_layout_shape){
      .width = 8, .height = 8, .levels = c->texture.unk_mipmapped ? 4 : 1});
   for (uint32_t level = 0; level < layout.level_count; level++)
      image_fill_level(c, &layout, level, 0, 8 >> level, 8 >> level);
}
