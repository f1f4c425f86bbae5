/* SPDX-License-Identifier: MIT
 *
 * Computes where the levels, layers and texels of an image lie in memory, linear or
 * twiddled. The HAL places images with it, the simulator's texture unit and the tools find
 * texels with it.
 */
#include "agx/layout/layout.h"

#include "agx/chip.h"
#include "base/util.h"

static uint32_t minify(uint32_t value, uint32_t level)
{
   return AGX_MAX(value >> level, 1u);
}

static unsigned log2_ceil(uint32_t value)
{
   return value <= 1 ? 0 : 32u - (unsigned)__builtin_clz(value - 1);
}

/* A level's size in elements, from texels. */
static uint32_t to_elements(uint32_t texels, uint32_t level, uint32_t block)
{
   return (uint32_t)agx_div_up(minify(texels, level), block);
}

static agx_status check_shape(const struct agx_layout_shape *shape)
{
   const uint32_t sides[] = {shape->width, shape->height, shape->depth};
   for (unsigned i = 0; i < AGX_COUNT(sides); i++) {
      if (sides[i] < 1 || sides[i] > AGX_LAYOUT_MAX_SIDE)
         return AGX_FAIL(AGX_OUT_OF_RANGE, "image: %s %u is not 1 to %u",
                         (const char *[]){"width", "height", "depth"}[i], sides[i],
                         AGX_LAYOUT_MAX_SIDE);
   }
   if (shape->levels < 1 || shape->levels > AGX_LAYOUT_MAX_LEVELS)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "image: %u levels", shape->levels);
   if (shape->samples != 1 && shape->samples != 2 && shape->samples != 4)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "image: %u samples", shape->samples);
   if (!shape->block_B || shape->block_B > 16 || shape->block_B & (shape->block_B - 1))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "image: %u bytes a texel", shape->block_B);
   if (!shape->block_w || !shape->block_h || shape->block_w > 16 || shape->block_h > 16)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "image: blocks of %ux%u", shape->block_w,
                      shape->block_h);
   if (shape->levels > 1 && shape->samples > 1)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "image: %u levels of %u samples", shape->levels,
                      shape->samples);
   if (shape->is_compressed &&
       (shape->tiling != AGX_LAYOUT_GPU || shape->block_w * shape->block_h > 1))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "image: compression needs GPU tiling and single texels");
   return AGX_OK;
}

static agx_status init_linear(const struct agx_layout_shape *shape, struct agx_layout *layout)
{
   if (shape->levels > 1 || shape->samples > 1 || shape->block_w * shape->block_h > 1)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "image: linear memory has no levels, samples or compressed blocks");
   uint64_t row_B = (uint64_t)shape->width * shape->block_B;
   layout->stride_B =
      shape->stride_B ? shape->stride_B : (uint32_t)agx_align_up(row_B, AGX_LAYOUT_ALIGN_B);
   if (layout->stride_B & 15)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "image: rows of %u bytes are no multiple of 16",
                      layout->stride_B);
   uint64_t layer_B = agx_align_up((uint64_t)layout->stride_B * shape->height, AGX_LAYOUT_ALIGN_B);
   layout->layer_stride_B = shape->layer_stride_B ? shape->layer_stride_B : layer_B;
   layout->size_B = agx_align_up(layout->layer_stride_B * shape->depth, AGX_LAYOUT_ALIGN_B);
   return AGX_OK;
}

/* The number of base tiles that a level takes: each level quarters the one before, and what
 * sticks out at the right and at the bottom costs tiles of its own. */
static uint64_t count_tiles(uint32_t columns, uint32_t rows, uint32_t level)
{
   uint32_t mask = (1u << level) - 1;
   bool right = columns & mask, bottom = rows & mask;
   uint64_t tiles = (uint64_t)columns * rows >> 2 * level;
   tiles += right ? rows >> level : 0;
   tiles += bottom ? columns >> level : 0;
   return tiles + (right && bottom);
}

/* The sizes in elements that the levels are computed from. */
struct chain {
   uint32_t width, height; /* texels */
   uint32_t columns, rows; /* elements of level 0 */
   uint32_t tiles_x, tiles_y;
   unsigned tile_w_log2, tile_h_log2;
   uint32_t pot_level;              /* from this one on, sides are powers of two */
   unsigned pot_w_log2, pot_h_log2; /* at that level */
   bool is_block, is_gpu;
};

/* 16 KiB, square or twice as wide as high. */
static void find_tile(struct chain *chain, uint32_t element_B)
{
   unsigned elements_log2 = 14 - log2_ceil(element_B);
   chain->tile_h_log2 = elements_log2 / 2;
   chain->tile_w_log2 = elements_log2 - chain->tile_h_log2;
}

static struct chain make_chain(const struct agx_layout_shape *shape, uint32_t element_B)
{
   struct chain chain = {
      .width = shape->width,
      .height = shape->height,
      .columns = to_elements(shape->width, 0, shape->block_w),
      .rows = to_elements(shape->height, 0, shape->block_h),
      .is_block = shape->block_w * shape->block_h > 1,
      .is_gpu = shape->tiling == AGX_LAYOUT_GPU,
   };
   find_tile(&chain, element_B);
   chain.tiles_x = (uint32_t)agx_div_up(chain.columns, 1u << chain.tile_w_log2);
   chain.tiles_y = (uint32_t)agx_div_up(chain.rows, 1u << chain.tile_h_log2);
   if (chain.is_gpu) {
      /* Whole blocks count here, not the texels that the image really has. */
      uint32_t full_w = chain.columns * shape->block_w, full_h = chain.rows * shape->block_h;
      while (to_elements(full_w, chain.pot_level, shape->block_w) >> chain.tile_w_log2 &&
             to_elements(full_h, chain.pot_level, shape->block_h) >> chain.tile_h_log2)
         chain.pot_level++;
   }
   if (chain.is_block) {
      chain.pot_w_log2 = log2_ceil(chain.columns);
      chain.pot_h_log2 = log2_ceil(chain.rows);
      chain.pot_w_log2 -= AGX_MIN(chain.pot_w_log2, chain.pot_level);
      chain.pot_h_log2 -= AGX_MIN(chain.pot_h_log2, chain.pot_level);
   } else {
      chain.pot_w_log2 = log2_ceil(minify(chain.columns, chain.pot_level));
      chain.pot_h_log2 = log2_ceil(minify(chain.rows, chain.pot_level));
   }
   return chain;
}

/* Fills a level's row length and tile; returns its bytes. */
static uint64_t init_level(const struct chain *chain, uint32_t element_B, uint32_t block_w,
                           uint32_t index, struct agx_layout_level *level)
{
   level->stride_el = to_elements(chain->width, index, block_w);
   if (index < chain->pot_level) {
      bool right = chain->tiles_x & ((1u << index) - 1);
      level->stride_el += chain->is_block && right;
      level->tile_w_log2 = (uint8_t)chain->tile_w_log2;
      level->tile_h_log2 = (uint8_t)chain->tile_h_log2;
      return count_tiles(chain->tiles_x, chain->tiles_y, index) * AGX_PAGE_BYTES;
   }
   unsigned down = index - chain->pot_level;
   unsigned w = chain->pot_w_log2 - AGX_MIN(chain->pot_w_log2, down);
   unsigned h = chain->pot_h_log2 - AGX_MIN(chain->pot_h_log2, down);
   unsigned side = AGX_MIN(w, h);
   /* Of the true side, which may be half the padded one; blocks and twiddled levels halve
    * the padded side itself. */
   if (chain->is_gpu && !chain->is_block)
      side = log2_ceil(minify(AGX_MIN(chain->columns, chain->rows), index));
   level->tile_w_log2 = level->tile_h_log2 = (uint8_t)side;
   return ((uint64_t)element_B << w) << h;
}

/* source: docs/hw/layouts.md 3.2. chain_B: one layer's levels. */
static bool wants_pages(const struct agx_layout_shape *shape, uint64_t chain_B)
{
   if (shape->tiling == AGX_LAYOUT_TWIDDLED)
      return true;
   if (shape->pages != AGX_LAYOUT_PAGES_AUTO)
      return shape->pages == AGX_LAYOUT_PAGES_ON;
   if (shape->is_writeable || (shape->is_renderable && shape->depth > 1))
      return true;
   if (shape->depth == 1 && !shape->is_depth_stencil)
      return false;
   return shape->levels > 1 && chain_B > AGX_PAGE_BYTES;
}

static void init_tiled(const struct agx_layout_shape *shape, struct agx_layout *layout)
{
   uint32_t longest = AGX_MAX(shape->width, shape->height);
   uint64_t end_B = 0;
   if (shape->is_3d)
      longest = AGX_MAX(longest, shape->depth);
   if (shape->levels > 1)
      layout->level_count = 32u - (unsigned)__builtin_clz(longest);
   struct chain chain = make_chain(shape, layout->element_B);
   for (uint32_t i = 0; i < layout->level_count; i++) {
      struct agx_layout_level *level = &layout->level[i];
      level->offset_B = end_B;
      end_B += init_level(&chain, layout->element_B, layout->block_w, i, level);
      end_B = agx_align_up(end_B, AGX_LAYOUT_ALIGN_B);
   }
   layout->is_page_aligned = wants_pages(shape, end_B);
   layout->layer_stride_B =
      agx_align_up(end_B, layout->is_page_aligned ? AGX_PAGE_BYTES : AGX_LAYOUT_ALIGN_B);
   layout->size_B = agx_align_up(layout->layer_stride_B * shape->depth, AGX_LAYOUT_ALIGN_B);
}

/* source: docs/hw/layouts.md 6 */
static void init_metadata(struct agx_layout *layout)
{
   uint32_t width = layout->width * (layout->samples == 4 ? 2 : 1);
   uint32_t height = layout->height * (layout->samples >= 2 ? 2 : 1);
   uint64_t end_B = 0;
   width = (uint32_t)agx_align_up(width, AGX_LAYOUT_META_TILE);
   height = (uint32_t)agx_align_up(height, AGX_LAYOUT_META_TILE);
   uint32_t longest = AGX_MAX(width, height);
   for (uint32_t i = 0; i < layout->level_count; i++) {
      struct agx_layout_level *level = &layout->level[i];
      if (minify(longest, i) < AGX_LAYOUT_META_TILE)
         break;
      unsigned w = log2_ceil(width), h = log2_ceil(height);
      level->meta_w_log2 = (uint8_t)(w > 4 ? w - 4 : 0);
      level->meta_h_log2 = (uint8_t)(h > 4 ? h - 4 : 0);
      level->meta_offset_B = end_B;
      end_B += (uint64_t)AGX_LAYOUT_META_TILE_B << level->meta_w_log2 << level->meta_h_log2;
      end_B = agx_align_up(end_B, AGX_LAYOUT_ALIGN_B);
      layout->meta_level_count++;
      width = (width + 1) / 2;
      height = (height + 1) / 2;
   }
   layout->meta_offset_B = layout->size_B;
   layout->meta_layer_stride_B = end_B;
   layout->size_B += end_B * layout->depth;
}

agx_status agx_layout_init(const struct agx_layout_shape *shape, struct agx_layout *out_layout)
{
   AGX_TRY(check_shape(shape));
   *out_layout = (struct agx_layout){
      .tiling = shape->tiling,
      .width = shape->width,
      .height = shape->height,
      .depth = shape->depth,
      .level_count = 1,
      .samples = shape->samples,
      .element_B = shape->block_B * shape->samples,
      .block_w = shape->block_w,
      .block_h = shape->block_h,
   };
   switch (shape->tiling) {
   case AGX_LAYOUT_LINEAR:
      return init_linear(shape, out_layout);
   case AGX_LAYOUT_TWIDDLED:
   case AGX_LAYOUT_GPU:
      init_tiled(shape, out_layout);
      if (shape->is_compressed)
         init_metadata(out_layout);
      return AGX_OK;
   }
   return AGX_FAIL(AGX_UNIMPLEMENTED, "image: layout %d", (int)shape->tiling);
}

/* Bit i of value goes to bit 2i. */
static uint32_t spread(uint32_t value)
{
   value = (value | value << 8) & 0x00ff00ff;
   value = (value | value << 4) & 0x0f0f0f0f;
   value = (value | value << 2) & 0x33333333;
   return (value | value << 1) & 0x55555555;
}

/* Index of element x, y in a tile of 2^w by 2^h: bits interleaved, x first, the rest of the longer
 * side on top. x and y are inside the tile. */
static uint32_t morton(uint32_t x, uint32_t y, unsigned w_log2, unsigned h_log2)
{
   unsigned both = AGX_MIN(w_log2, h_log2);
   uint32_t mask = (uint32_t)agx_bits(both);
   uint32_t rest = (w_log2 > h_log2 ? x : y) >> both;
   return spread(x & mask) | spread(y & mask) << 1 | rest << 2 * both;
}

uint64_t agx_layout_offset(const struct agx_layout *layout, uint32_t level_index, uint32_t layer,
                           uint32_t x, uint32_t y, uint32_t sample)
{
   const struct agx_layout_level *level = &layout->level[level_index];
   uint64_t base = layer * layout->layer_stride_B + level->offset_B;
   if (layout->tiling == AGX_LAYOUT_LINEAR)
      return base + (uint64_t)y * layout->stride_B + (uint64_t)x * layout->element_B;
   unsigned w = level->tile_w_log2, h = level->tile_h_log2;
   uint64_t per_row = (level->stride_el + (1u << w) - 1) >> w;
   uint64_t tile = (y >> h) * per_row + (x >> w);
   uint64_t index = morton(x & ((1u << w) - 1), y & ((1u << h) - 1), w, h);
   return base + ((tile << (w + h)) + index) * layout->element_B +
          sample * (layout->element_B / layout->samples);
}

uint64_t agx_layout_meta_offset(const struct agx_layout *layout, uint32_t level_index,
                                uint32_t layer, uint32_t x, uint32_t y)
{
   const struct agx_layout_level *level = &layout->level[level_index];
   uint32_t tile_x = x * (layout->samples == 4 ? 2 : 1) / AGX_LAYOUT_META_TILE;
   uint32_t tile_y = y * (layout->samples >= 2 ? 2 : 1) / AGX_LAYOUT_META_TILE;
   uint32_t index = morton(tile_x, tile_y, level->meta_w_log2, level->meta_h_log2);
   return layout->meta_offset_B + layer * layout->meta_layer_stride_B + level->meta_offset_B +
          (uint64_t)index * AGX_LAYOUT_META_TILE_B;
}

#define FOLIO_PAGES 256u
#define FOLIO_B     (2 * FOLIO_PAGES * AGX_LAYOUT_SPARSE_ENTRY_B)

/* source: docs/hw/layouts.md 6 */
static uint64_t folios_per_layer(const struct agx_layout *layout)
{
   return agx_align_up(layout->layer_stride_B, FOLIO_PAGES * AGX_PAGE_BYTES) /
          (FOLIO_PAGES * AGX_PAGE_BYTES);
}

uint64_t agx_layout_sparse_offset(const struct agx_layout *layout, uint32_t layer,
                                  uint64_t offset_B)
{
   uint64_t page = offset_B / AGX_PAGE_BYTES;
   uint64_t folio = layer * folios_per_layer(layout) + page / FOLIO_PAGES;
   return folio * FOLIO_B + page % FOLIO_PAGES * AGX_LAYOUT_SPARSE_ENTRY_B;
}

uint64_t agx_layout_sparse_size(const struct agx_layout *layout)
{
   return layout->depth * folios_per_layer(layout) * FOLIO_B;
}
