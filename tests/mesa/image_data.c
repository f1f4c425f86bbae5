/* SPDX-License-Identifier: MIT
 *
 * Formats, random texels and random queries.
 */
#include <math.h>
#include <string.h>

#include "base/util.h"
#include "image_case.h"

#define F(name, texel, channel, numbers, qualifier)                                                \
   {                                                                                               \
      VK_FORMAT_##name, #name, texel, channel, IMAGE_##numbers, qualifier                          \
   }
const struct image_format image_formats[] = {
   F(R8_UNORM, 1, 1, UNORM, "r8"),
   F(R8_SNORM, 1, 1, SNORM, "r8_snorm"),
   F(R8_UINT, 1, 1, UINT, "r8ui"),
   F(R8_SINT, 1, 1, SINT, "r8i"),
   F(R8_SRGB, 1, 1, UNORM, NULL),
   F(R8G8_UNORM, 2, 1, UNORM, "rg8"),
   F(R8G8_SNORM, 2, 1, SNORM, "rg8_snorm"),
   F(R8G8_UINT, 2, 1, UINT, "rg8ui"),
   F(R8G8_SINT, 2, 1, SINT, "rg8i"),
   F(R8G8_SRGB, 2, 1, UNORM, NULL),
   F(R8G8B8A8_UNORM, 4, 1, UNORM, "rgba8"),
   F(R8G8B8A8_SNORM, 4, 1, SNORM, "rgba8_snorm"),
   F(R8G8B8A8_UINT, 4, 1, UINT, "rgba8ui"),
   F(R8G8B8A8_SINT, 4, 1, SINT, "rgba8i"),
   F(R8G8B8A8_SRGB, 4, 1, UNORM, NULL),
   F(B8G8R8A8_UNORM, 4, 1, UNORM, ""),
   F(B8G8R8A8_SRGB, 4, 1, UNORM, NULL),
   F(A8B8G8R8_UNORM_PACK32, 4, 1, UNORM, ""),
   F(R16_UNORM, 2, 2, UNORM, "r16"),
   F(R16_SNORM, 2, 2, SNORM, "r16_snorm"),
   F(R16_UINT, 2, 2, UINT, "r16ui"),
   F(R16_SINT, 2, 2, SINT, "r16i"),
   F(R16_SFLOAT, 2, 2, FLOAT, "r16f"),
   F(R16G16_UNORM, 4, 2, UNORM, "rg16"),
   F(R16G16_SNORM, 4, 2, SNORM, "rg16_snorm"),
   F(R16G16_UINT, 4, 2, UINT, "rg16ui"),
   F(R16G16_SINT, 4, 2, SINT, "rg16i"),
   F(R16G16_SFLOAT, 4, 2, FLOAT, "rg16f"),
   F(R16G16B16A16_UNORM, 8, 2, UNORM, "rgba16"),
   F(R16G16B16A16_SNORM, 8, 2, SNORM, "rgba16_snorm"),
   F(R16G16B16A16_UINT, 8, 2, UINT, "rgba16ui"),
   F(R16G16B16A16_SINT, 8, 2, SINT, "rgba16i"),
   F(R16G16B16A16_SFLOAT, 8, 2, FLOAT, "rgba16f"),
   F(R32_UINT, 4, 4, UINT, "r32ui"),
   F(R32_SINT, 4, 4, SINT, "r32i"),
   F(R32_SFLOAT, 4, 4, FLOAT, "r32f"),
   F(R32G32_UINT, 8, 4, UINT, "rg32ui"),
   F(R32G32_SINT, 8, 4, SINT, "rg32i"),
   F(R32G32_SFLOAT, 8, 4, FLOAT, "rg32f"),
   F(R32G32B32A32_UINT, 16, 4, UINT, "rgba32ui"),
   F(R32G32B32A32_SINT, 16, 4, SINT, "rgba32i"),
   F(R32G32B32A32_SFLOAT, 16, 4, FLOAT, "rgba32f"),
   F(R32G32B32_UINT, 12, 4, UINT, NULL),
   F(R32G32B32_SINT, 12, 4, SINT, NULL),
   F(R32G32B32_SFLOAT, 12, 4, FLOAT, NULL),
   F(R5G6B5_UNORM_PACK16, 2, 0, UNORM, ""),
   F(B5G6R5_UNORM_PACK16, 2, 0, UNORM, ""),
   F(R5G5B5A1_UNORM_PACK16, 2, 0, UNORM, ""),
   F(B5G5R5A1_UNORM_PACK16, 2, 0, UNORM, ""),
   F(A1R5G5B5_UNORM_PACK16, 2, 0, UNORM, ""),
   F(R4G4B4A4_UNORM_PACK16, 2, 0, UNORM, ""),
   F(B4G4R4A4_UNORM_PACK16, 2, 0, UNORM, ""),
   F(A4R4G4B4_UNORM_PACK16, 2, 0, UNORM, ""),
   F(A4B4G4R4_UNORM_PACK16, 2, 0, UNORM, ""),
   F(A2B10G10R10_UNORM_PACK32, 4, 0, UNORM, "rgb10_a2"),
   F(A2R10G10B10_UNORM_PACK32, 4, 0, UNORM, ""),
   F(A2B10G10R10_UINT_PACK32, 4, 0, UINT, "rgb10_a2ui"),
   F(A2R10G10B10_UINT_PACK32, 4, 0, UINT, ""),
   F(B10G11R11_UFLOAT_PACK32, 4, 0, FLOAT, "r11f_g11f_b10f"),
   F(E5B9G9R9_UFLOAT_PACK32, 4, 0, FLOAT, ""),
   F(D16_UNORM, 2, 2, DEPTH, NULL),
   F(D32_SFLOAT, 4, 4, DEPTH, NULL),
};
#undef F
const unsigned image_format_count = AGX_COUNT(image_formats);

const struct image_format *image_format_find(VkFormat format)
{
   for (unsigned i = 0; i < image_format_count; i++)
      if (image_formats[i].format == format)
         return &image_formats[i];
   return NULL;
}

bool image_is_array(VkImageViewType view)
{
   return view == VK_IMAGE_VIEW_TYPE_1D_ARRAY || view == VK_IMAGE_VIEW_TYPE_2D_ARRAY ||
          view == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY;
}

bool image_is_cube(VkImageViewType view)
{
   return view == VK_IMAGE_VIEW_TYPE_CUBE || view == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY;
}

unsigned image_axes(const struct image_case *c)
{
   switch (c->view) {
   case VK_IMAGE_VIEW_TYPE_1D:
   case VK_IMAGE_VIEW_TYPE_1D_ARRAY:
      return 1;
   case VK_IMAGE_VIEW_TYPE_2D:
   case VK_IMAGE_VIEW_TYPE_2D_ARRAY:
      return 2;
   default:
      return 3;
   }
}

uint32_t image_level_size(uint32_t size, uint32_t level)
{
   return AGX_MAX(size >> level, 1u);
}

uint64_t image_bytes(const struct image_case *c)
{
   uint64_t bytes = 0;
   for (uint32_t level = 0; level < c->levels; level++)
      bytes += agx_align_up((uint64_t)image_level_size(c->width, level) *
                               image_level_size(c->height, level) *
                               image_level_size(c->depth, level) * c->layers * c->format->texel_B,
                            16);
   return bytes;
}

static uint64_t next(uint64_t *state)
{
   uint64_t x = *state += 0x9e3779b97f4a7c15ull;
   x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
   x = (x ^ x >> 27) * 0x94d049bb133111ebull;
   return x ^ x >> 31;
}

/* low <= result <= high */
static int64_t between(uint64_t *state, int64_t low, int64_t high)
{
   return low + (int64_t)(next(state) % (uint64_t)(high - low + 1));
}

static double real_between(uint64_t *state, double low, double high)
{
   return low + (high - low) * ((double)(next(state) >> 11) * 0x1p-53);
}

/* Floats of -4 .. 4 without what is not a number. */
static uint32_t random_channel(const struct image_case *c, uint64_t *state)
{
   uint32_t word = (uint32_t)next(state);
   bool is_float = c->format->numbers == IMAGE_FLOAT ||
                   (c->format->numbers == IMAGE_DEPTH && c->format->channel_B == 4);
   if (!is_float || c->is_wild)
      return word;
   if (c->format->channel_B == 2)
      return (word & 0x83ff) | (uint32_t)between(state, 5, 16) << 10;
   float value = (float)real_between(state, c->format->numbers == IMAGE_DEPTH ? 0.0 : -4.0,
                                     c->format->numbers == IMAGE_DEPTH ? 1.0 : 4.0);
   memcpy(&word, &value, sizeof(word));
   return word;
}

static uint32_t random_packed(const struct image_case *c, uint64_t *state)
{
   uint32_t word = (uint32_t)next(state);
   if (c->is_wild)
      return word;
   if (c->format->format == VK_FORMAT_B10G11R11_UFLOAT_PACK32)
      return (word & 0x07c1f83f) | (uint32_t)between(state, 5, 16) << 6 |
             (uint32_t)between(state, 5, 16) << 17 | (uint32_t)between(state, 0, 16) << 27;
   if (c->format->format == VK_FORMAT_E5B9G9R9_UFLOAT_PACK32)
      return (word & 0x07ffffff) | (uint32_t)between(state, 0, 17) << 27;
   return word;
}

/* R8G8B8A8: red goes from 0 to 255 across, green down. */
static void fill_smooth(const struct image_case *c, uint8_t *texels)
{
   for (uint32_t level = 0; level < c->levels; level++) {
      uint32_t width = image_level_size(c->width, level);
      uint32_t height = image_level_size(c->height, level);
      uint32_t count = width * height * image_level_size(c->depth, level) * c->layers;
      for (uint32_t i = 0; i < count; i++) {
         texels[4 * i] = (uint8_t)((2 * (i % width) + 1) * 255 / (2 * width));
         texels[4 * i + 1] = (uint8_t)((2 * (i / width % height) + 1) * 255 / (2 * height));
         texels[4 * i + 2] = (uint8_t)(level * 20);
         texels[4 * i + 3] = 255;
      }
      texels += agx_align_up((uint64_t)count * 4, 16);
   }
}

void image_fill(const struct image_case *c, uint64_t seed, uint8_t *texels)
{
   if (c->is_smooth) {
      fill_smooth(c, texels);
      return;
   }
   uint64_t size_B = image_bytes(c);
   unsigned step = c->format->channel_B ? c->format->channel_B : c->format->texel_B;
   for (uint64_t at = 0; at < size_B; at += step) {
      uint32_t word = c->format->channel_B ? random_channel(c, &seed) : random_packed(c, &seed);
      uint8_t bytes[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
                          (uint8_t)(word >> 24)};
      memcpy(texels + at, bytes, step);
   }
}

/* A direction to texel x, y of a face, at fractions of the side. */
static void set_direction(unsigned face, double s, double t, double scale, float out[3])
{
   s = 2 * s - 1, t = 2 * t - 1;
   const double directions[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t},
                                    {s, -1, -t}, {s, -t, 1},  {-s, -t, -1}};
   for (unsigned axis = 0; axis < 3; axis++)
      out[axis] = (float)(directions[face][axis] * scale);
}

struct ask {
   const struct image_case *c;
   uint64_t state;
   uint32_t level, side[3], layers, levels;
};

static void begin_ask(struct ask *ask)
{
   const struct image_case *c = ask->c;
   ask->levels = c->level_count ? c->level_count : c->levels - c->first_level;
   ask->layers = c->layer_count ? c->layer_count : c->layers - c->first_layer;
   bool is_first = c->queries == IMAGE_GATHER || c->is_storage;
   ask->level = is_first ? 0 : (uint32_t)between(&ask->state, 0, ask->levels - 1);
   ask->side[0] = image_level_size(c->width, c->first_level + ask->level);
   ask->side[1] = image_level_size(c->height, c->first_level + ask->level);
   ask->side[2] = image_level_size(c->depth, c->first_level + ask->level);
}

/* Storage images have cubes' faces as layers. */
static void ask_texel(struct ask *ask, struct image_query *query)
{
   const struct image_case *c = ask->c;
   bool beyond = c->queries == IMAGE_BEYOND;
   unsigned axes = image_is_cube(c->view) ? 2 : image_axes(c);
   for (unsigned axis = 0; axis < axes; axis++) {
      int64_t side = ask->side[axis];
      query->i[axis] = (int32_t)between(&ask->state, 0, side - 1);
      if (beyond && next(&ask->state) % 6 == 0) {
         const int32_t odd[] = {-1,     (int32_t)side, (int32_t)side + 1, -100000, 65535,
                                65536,  0x7fffffff,    -0x7fffffff - 1,   16384,   32768,
                                0x10000};
         query->i[axis] = odd[next(&ask->state) % AGX_COUNT(odd)];
      }
   }
   query->j[0] = (int32_t)ask->level;
   if (beyond && !c->is_storage && next(&ask->state) % 6 == 0) {
      const int32_t odd[] = {-1, (int32_t)ask->levels, 15, 16, 65535, 0x7fffffff, -2};
      query->j[0] = odd[next(&ask->state) % AGX_COUNT(odd)];
   }
   if (!image_is_array(c->view) && !image_is_cube(c->view))
      return;
   query->i[axes] = (int32_t)between(&ask->state, 0, ask->layers - 1);
   if (beyond && next(&ask->state) % 6 == 0) {
      const int32_t odd[] = {-1, (int32_t)ask->layers, 2047, 2048, 65535, 0x7fffffff, 40000};
      query->i[axes] = odd[next(&ask->state) % AGX_COUNT(odd)];
   }
}

/* Texels of a coordinate. */
static double random_place(struct ask *ask, unsigned axis)
{
   double side = ask->side[axis];
   enum image_queries queries = ask->c->queries;
   if (queries == IMAGE_LINEAR)
      return real_between(&ask->state, -1.5, 2.5) * side;
   double whole = (double)between(&ask->state, -2 * (int64_t)side, 3 * (int64_t)side);
   double part = real_between(&ask->state, 0.2, 0.8);
   return whole + part + (queries == IMAGE_GATHER ? 0.5 : 0.0);
}

static void ask_cube(struct ask *ask, struct image_query *query)
{
   double side = ask->side[0], scale = real_between(&ask->state, 0.25, 4.0);
   unsigned face = (unsigned)between(&ask->state, 0, 5);
   double at[2];
   for (unsigned axis = 0; axis < 2; axis++) {
      at[axis] = real_between(&ask->state, 0.001, 0.999);
      if (ask->c->queries == IMAGE_NEAREST || ask->c->queries == IMAGE_GRADIENT)
         at[axis] = ((double)between(&ask->state, 0, (int64_t)side - 1) +
                     real_between(&ask->state, 0.2, 0.8)) /
                    side;
      else if (ask->c->queries == IMAGE_GATHER)
         at[axis] = ((double)between(&ask->state, 0, (int64_t)side - 2) + 0.5 +
                     real_between(&ask->state, 0.2, 0.8)) /
                    side;
   }
   set_direction(face, at[0], at[1], scale, query->p);
}

static void ask_layer(struct ask *ask, struct image_query *query)
{
   double layers = ask->layers / (image_is_cube(ask->c->view) ? 6 : 1);
   double layer =
      (double)between(&ask->state, -1, (int64_t)layers) + real_between(&ask->state, -0.45, 0.45);
   if (image_is_array(ask->c->view))
      query->p[image_axes(ask->c)] = (float)layer;
}

/* Derivatives along one axis whose length is a whole level's, or a bit more. */
static void ask_gradient(struct ask *ask, struct image_query *query)
{
   unsigned axes = image_axes(ask->c);
   unsigned axis = (unsigned)between(&ask->state, 0, axes - 1);
   double lod = ask->level + real_between(&ask->state, -0.3, 0.3);
   const uint32_t sides[3] = {ask->c->width, ask->c->height, ask->c->depth};
   double length = exp2(lod) / image_level_size(sides[axis], ask->c->first_level);
   if (next(&ask->state) & 1)
      length = -length;
   query->a[axis] = (float)length;
   query->b[axis] = (float)(length * real_between(&ask->state, 0.9, 1.0));
}

void image_ask(const struct image_case *c, uint64_t seed, struct image_query *queries)
{
   memset(queries, 0, IMAGE_QUERIES * sizeof(*queries));
   for (unsigned n = 0; n < IMAGE_QUERIES; n++) {
      struct ask ask = {.c = c, .state = seed ^ (uint64_t)n << 32};
      begin_ask(&ask);
      ask_texel(&ask, &queries[n]);
      if (image_is_cube(c->view)) {
         ask_cube(&ask, &queries[n]);
      } else {
         for (unsigned axis = 0; axis < image_axes(c); axis++)
            queries[n].p[axis] = (float)(random_place(&ask, axis) /
                                         (c->sampler.unnormalizedCoordinates ? 1 : ask.side[axis]));
      }
      ask_layer(&ask, &queries[n]);
      if (c->queries == IMAGE_GRADIENT) {
         ask_gradient(&ask, &queries[n]);
      } else {
         double lod = c->queries == IMAGE_LINEAR ? real_between(&ask.state, -1.0, ask.levels + 1.0)
                                                 : ask.level + real_between(&ask.state, -0.4, 0.4);
         queries[n].a[0] = (float)(c->queries == IMAGE_GATHER ? 0.0 : lod);
         queries[n].b[0] = (float)real_between(&ask.state, 0.5, 2.0);
      }
      queries[n].a[3] = (float)real_between(&ask.state, -0.1, 1.1);
      queries[n].j[1] = (int32_t)between(&ask.state, -8, 7);
      queries[n].j[2] = (int32_t)between(&ask.state, -8, 7);
   }
}
