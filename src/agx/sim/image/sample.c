/* SPDX-License-Identifier: MIT
 *
 * Filtering: levels, coordinates, addressing modes, filters, gathers and comparisons of one
 * sample, and the store of one texel. load.c and store.c call it lane by lane.
 */
#include "agx/sim/image/image.h"

#include <math.h>

#include "agx/sim/machine/floats.h"
#include "agx/sim/machine/format.h"
#include "base/util.h"

#define BORDER (-1)

struct size {
   uint32_t side[3]; /* width, height, depth; layers are apart */
};

static unsigned minify(uint32_t value, uint32_t level)
{
   return AGX_MAX(value >> level, 1u);
}

static bool is_3d(const struct agxs_texture *texture)
{
   return texture->dimension == AGX_HW_TEXTURE_DIMENSION_3D;
}

static bool is_cube(const struct agxs_texture *texture)
{
   return texture->dimension == AGX_HW_TEXTURE_DIMENSION_CUBE ||
          texture->dimension == AGX_HW_TEXTURE_DIMENSION_CUBE_ARRAY;
}

static bool is_multisampled(const struct agxs_texture *texture)
{
   return texture->layout.samples > 1;
}

static bool has_layers(const struct agxs_texture *texture)
{
   return is_cube(texture) || texture->dimension == AGX_HW_TEXTURE_DIMENSION_1D_ARRAY ||
          texture->dimension == AGX_HW_TEXTURE_DIMENSION_2D_ARRAY ||
          texture->dimension == AGX_HW_TEXTURE_DIMENSION_2D_ARRAY_MULTISAMPLED;
}

static bool is_1d(const struct agxs_texture *texture)
{
   return texture->dimension == AGX_HW_TEXTURE_DIMENSION_1D ||
          texture->dimension == AGX_HW_TEXTURE_DIMENSION_1D_ARRAY;
}

/* How many of x, y, z a filter works on. */
static unsigned axes_of(const struct agxs_texture *texture)
{
   return is_1d(texture) ? 1 : is_3d(texture) ? 3 : 2;
}

/* level counts from the view's first. */
static struct size size_of(const struct agxs_texture *texture, uint32_t level)
{
   uint32_t absolute = texture->first_level + level;
   return (struct size){{minify(texture->layout.width, absolute),
                         minify(texture->layout.height, absolute),
                         is_3d(texture) ? minify(texture->layout.depth, absolute) : 1}};
}

static enum agx_hw_wrap wrap_of(const struct agxs_lookup *lookup, unsigned axis)
{
   const struct agx_hw_sampler *state = &lookup->sampler->state;
   return axis == 0 ? state->wrap_s : axis == 1 ? state->wrap_t : state->wrap_r;
}

/* A texel index inside, or BORDER. */
static int64_t wrap(int64_t index, int64_t size, enum agx_hw_wrap mode)
{
   int64_t period;
   switch (mode) {
   case AGX_HW_WRAP_REPEAT:
      index %= size;
      return index < 0 ? index + size : index;
   case AGX_HW_WRAP_MIRRORED_REPEAT:
      period = index % (2 * size);
      period = period < 0 ? period + 2 * size : period;
      return period < size ? period : 2 * size - 1 - period;
   case AGX_HW_WRAP_CLAMP_TO_BORDER:
   case AGX_HW_WRAP_CLAMP_GL: /* its coordinate was clamped before */
      return index < 0 || index >= size ? BORDER : index;
   case AGX_HW_WRAP_MIRRORED_CLAMP_TO_EDGE:
      index = index < 0 ? -1 - index : index;
      return AGX_MIN(index, size - 1);
   default:
      return index < 0 ? 0 : AGX_MIN(index, size - 1);
   }
}

static bool compare(enum agx_hw_compare_func function, double reference, double value)
{
   switch (function) {
   case AGX_HW_COMPARE_FUNC_LEQUAL:
      return reference <= value;
   case AGX_HW_COMPARE_FUNC_GEQUAL:
      return reference >= value;
   case AGX_HW_COMPARE_FUNC_LESS:
      return reference < value;
   case AGX_HW_COMPARE_FUNC_GREATER:
      return reference > value;
   case AGX_HW_COMPARE_FUNC_EQUAL:
      return reference == value;
   case AGX_HW_COMPARE_FUNC_NOT_EQUAL:
      return reference != value;
   case AGX_HW_COMPARE_FUNC_ALWAYS:
      return true;
   default:
      return false;
   }
}

/* The memory channel becomes 0 or 1 where a reference is compared with it. */
static void apply_compare(const struct agxs_lookup *lookup, struct agxs_texel *memory)
{
   bool is_unorm = lookup->texture->format.type == AGX_HW_TEXTURE_TYPE_UNORM;
   double reference = lookup->reference;
   if (!lookup->has_reference)
      return;
   if (is_unorm)
      reference = reference > 0.0 ? AGX_MIN(reference, 1.0) : 0.0;
   bool passes = compare(lookup->sampler->state.compare_func, reference, memory->real[0]);
   memory->real[0] = passes;
   memory->bits[0] = passes ? 0x3f800000 : 0;
}

/* Memory channels to R, G, B, A. The sRGB curve belongs to the first three in memory: a view
 * may show alpha as a colour, which stays straight. */
static void swizzle(const struct agxs_texture *texture, const struct agxs_texel *memory,
                    struct agxs_texel *out)
{
   for (unsigned c = 0; c < 4; c++) {
      unsigned from = texture->swizzle[c];
      if (from < 4) {
         out->real[c] = memory->real[from];
         out->bits[c] = memory->bits[from];
         if (texture->is_srgb && from < 3)
            out->real[c] = agxs_srgb_to_linear(out->real[c]);
         continue;
      }
      bool one = from == AGX_HW_CHANNEL_1;
      out->real[c] = one;
      out->bits[c] = !one ? 0 : texture->format.is_int ? 1 : 0x3f800000;
   }
}

/* The fixed colours are R, G, B, A already; a custom one is in memory order. */
static void get_border(const struct agxs_lookup *lookup, struct agxs_texel *out)
{
   const struct agxs_texture *texture = lookup->texture;
   const struct agxs_sampler *sampler = lookup->sampler;
   enum agx_hw_border_colour kind = sampler->state.border_colour;
   struct agxs_texel memory = {0};
   if (kind == AGX_HW_BORDER_COLOUR_CUSTOM) {
      for (unsigned c = 0; c < 4; c++)
         agxs_texel_border(&texture->format, c, sampler->border[c], texture->is_srgb && c < 3,
                           &memory);
      apply_compare(lookup, &memory);
      /* Its colour is linear already. */
      struct agxs_texture linear = *texture;
      linear.is_srgb = false;
      swizzle(&linear, &memory, out);
      return;
   }
   bool color = kind == AGX_HW_BORDER_COLOUR_OPAQUE_WHITE;
   bool alpha = kind != AGX_HW_BORDER_COLOUR_TRANSPARENT_BLACK;
   uint32_t one = texture->format.is_int ? 1 : 0x3f800000;
   memory.real[0] = color;
   memory.bits[0] = color ? one : 0;
   apply_compare(lookup, &memory);
   for (unsigned c = 0; c < 4; c++) {
      unsigned from = texture->swizzle[c];
      bool is_set = from == AGX_HW_CHANNEL_1 || (from < 4 && (c == 3 ? alpha : color));
      out->real[c] = is_set;
      out->bits[c] = is_set ? one : 0;
      if (lookup->has_reference && from == AGX_HW_CHANNEL_R) {
         out->real[c] = memory.real[0];
         out->bits[c] = memory.bits[0];
      }
   }
}

/* A texel inside the view's level. z: the slice of a 3D image, else 0. */
static bool get_texel(struct agxs_lookup *lookup, uint32_t level, uint32_t layer, uint32_t x,
                      uint32_t y, uint32_t z, uint32_t sample, struct agxs_texel *out)
{
   const struct agxs_texture *texture = lookup->texture;
   const struct agxs_texel_format *format = &texture->format;
   struct agxs_texel_notes notes = {0};
   struct agxs_texel memory = {0};
   const struct agxs_texel_place place = {
      .level = texture->first_level + level,
      .layer = is_3d(texture) ? z : layer,
      .x = x / format->block_w,
      .y = y / format->block_h,
      .sample = sample,
   };
   const uint8_t *bytes = agxs_texture_read(texture, lookup->tlb, &place, &notes, &lookup->error);
   if (!bytes)
      return false;
   lookup->notes.is_absent |= notes.is_absent;
   if (notes.unknown_va)
      lookup->notes.unknown_va = notes.unknown_va;
   if (lookup->touch)
      lookup->touch(lookup->user, lookup->error.va, format->bytes);
   /* A block of zeros is a colour; a block without memory has none. [U] */
   if (!format->decode || !notes.is_absent)
      agxs_texel_load(format, bytes, x % format->block_w, y % format->block_h, &memory);
   apply_compare(lookup, &memory);
   swizzle(texture, &memory, out);
   return true;
}

/* A texel of a cube's face or of the one across the edge. */
static bool get_cube_texel(struct agxs_lookup *lookup, uint32_t level, uint32_t layer, int64_t x,
                           int64_t y, struct agxs_texel *out)
{
   int64_t size = size_of(lookup->texture, level).side[0], at[2] = {x, y};
   unsigned face = layer % 6;
   if (x < 0 || y < 0 || x >= size || y >= size)
      agxs_cube_cross_edge(size, &face, at);
   return get_texel(lookup, level, layer / 6 * 6 + face, (uint32_t)at[0], (uint32_t)at[1], 0, 0,
                    out);
}

/* Where three faces meet the fourth texel is the average of theirs. source: Vulkan, as the
 * preferred way; hardware's is [U] */
static bool get_cube_tap(struct agxs_lookup *lookup, uint32_t level, uint32_t layer, int64_t x,
                         int64_t y, struct agxs_texel *out)
{
   int64_t last = size_of(lookup->texture, level).side[0] - 1;
   int64_t inner_x = x < 0 ? 0 : AGX_MIN(x, last), inner_y = y < 0 ? 0 : AGX_MIN(y, last);
   struct agxs_texel beside, below;
   if (x == inner_x || y == inner_y)
      return get_cube_texel(lookup, level, layer, x, y, out);
   if (!get_cube_texel(lookup, level, layer, inner_x, inner_y, out) ||
       !get_cube_texel(lookup, level, layer, x, inner_y, &beside) ||
       !get_cube_texel(lookup, level, layer, inner_x, y, &below))
      return false;
   for (unsigned c = 0; c < 4 && !lookup->texture->format.is_int; c++) {
      out->real[c] = (out->real[c] + beside.real[c] + below.real[c]) / 3.0;
      out->bits[c] = agxs_bits((float)out->real[c]);
   }
   return true;
}

/* One tap of a filter: any index. */
static bool get_tap(struct agxs_lookup *lookup, uint32_t level, uint32_t layer,
                    const int64_t tap[3], struct agxs_texel *out)
{
   const struct agxs_texture *texture = lookup->texture;
   struct size size = size_of(texture, level);
   int64_t at[3] = {0};
   if (is_cube(texture) && !lookup->sampler->state.seamful_cube_maps)
      return get_cube_tap(lookup, level, layer, tap[0], tap[1], out);
   for (unsigned axis = 0; axis < axes_of(texture); axis++) {
      at[axis] = wrap(tap[axis], size.side[axis], wrap_of(lookup, axis));
      if (at[axis] != BORDER)
         continue;
      get_border(lookup, out);
      return true;
   }
   return get_texel(lookup, level, layer, (uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2], 0,
                    out);
}

/* Where a coordinate falls in a level, in texels. */
static double to_texels(const struct agxs_lookup *lookup, double at, uint32_t side, unsigned axis)
{
   bool is_pixels = lookup->sampler->state.pixel_coordinates;
   double texels = is_pixels ? at : at * side;
   if (!(texels == texels))
      return 0.0;
   if (!is_cube(lookup->texture) && wrap_of(lookup, axis) == AGX_HW_WRAP_CLAMP_GL)
      texels = texels < 0.0 ? 0.0 : AGX_MIN(texels, (double)side);
   /* Beyond this nothing but the wrap mode matters, and integers hold it. */
   return texels < -1e9 ? -1e9 : AGX_MIN(texels, 1e9);
}

/* The lower tap of a linear filter and the weights of the upper one. */
static void find_taps(const struct agxs_lookup *lookup, const double *at, uint32_t level,
                      int64_t tap[3], double weight[3], bool is_linear)
{
   struct size size = size_of(lookup->texture, level);
   for (unsigned axis = 0; axis < 3; axis++)
      tap[axis] = 0, weight[axis] = 0.0;
   for (unsigned axis = 0; axis < axes_of(lookup->texture); axis++) {
      double texels = to_texels(lookup, at[axis], size.side[axis], axis) - (is_linear ? 0.5 : 0.0);
      double low = floor(texels);
      tap[axis] = (int64_t)low + lookup->offset[axis];
      weight[axis] = texels - low;
   }
}

static void add_weighted(struct agxs_texel *sum, const struct agxs_texel *texel, double weight)
{
   for (unsigned c = 0; c < 4; c++)
      sum->real[c] += texel->real[c] * weight;
}

static bool sample_level(struct agxs_lookup *lookup, const double *at, uint32_t layer,
                         uint32_t level, bool is_linear, struct agxs_texel *out)
{
   int64_t low[3];
   double weight[3];
   find_taps(lookup, at, level, low, weight, is_linear);
   if (!is_linear)
      return get_tap(lookup, level, layer, low, out);
   *out = (struct agxs_texel){0};
   for (unsigned corner = 0; corner < 1u << axes_of(lookup->texture); corner++) {
      struct agxs_texel texel;
      int64_t tap[3];
      double share = 1.0;
      for (unsigned axis = 0; axis < 3; axis++) {
         unsigned upper = corner >> axis & 1;
         tap[axis] = low[axis] + upper;
         if (axis < axes_of(lookup->texture))
            share *= upper ? weight[axis] : 1.0 - weight[axis];
      }
      if (share == 0.0)
         continue;
      if (!get_tap(lookup, level, layer, tap, &texel))
         return false;
      add_weighted(out, &texel, share);
   }
   return true;
}

double agxs_sample_clamp(const struct agxs_lookup *lookup, double lod)
{
   const struct agx_hw_sampler *state = &lookup->sampler->state;
   double low = (double)state->minimum_lod, high = (double)state->maximum_lod;
   if (!(lod > low))
      return low;
   return lod > high ? high : lod;
}

/* Cubes: the face's coordinates and layer in place of the direction. */
static void resolve_cube(const struct agxs_texture *texture, struct agxs_position *position)
{
   if (!is_cube(texture))
      return;
   unsigned face = agxs_cube_face(position->at);
   double on_face[2];
   agxs_cube_to_face(position->at, face, on_face);
   position->at[0] = on_face[0];
   position->at[1] = on_face[1];
   position->at[2] = 0.0;
   position->layer = position->layer * 6 + face;
}

static uint32_t clamp_layer(const struct agxs_texture *texture, uint32_t layer)
{
   return AGX_MIN(layer, texture->layers - 1);
}

bool agxs_sample(struct agxs_lookup *lookup, const struct agxs_position *position, double lod,
                 struct agxs_result *out)
{
   const struct agxs_texture *texture = lookup->texture;
   const struct agx_hw_sampler *state = &lookup->sampler->state;
   struct agxs_position at = *position;
   bool is_linear = (lod <= 0.0 ? state->magnify : state->minify) == AGX_HW_FILTER_LINEAR &&
                    !texture->format.is_int;
   double last = texture->level_count - 1, level = 0.0;
   resolve_cube(texture, &at);
   uint32_t layer = clamp_layer(texture, at.layer);
   if (state->mip_filter == AGX_HW_MIP_FILTER_NEAREST)
      level = ceil(lod + 0.5) - 1.0;
   else if (state->mip_filter == AGX_HW_MIP_FILTER_LINEAR)
      level = lod;
   level = level > 0.0 ? AGX_MIN(level, last) : 0.0;
   double low = floor(level), share = level - low;
   if (texture->format.is_int)
      share = 0.0;
   out->is_exact = !is_linear && share == 0.0;
   if (!sample_level(lookup, at.at, layer, (uint32_t)low, is_linear, &out->texel))
      return false;
   if (share == 0.0)
      return true;
   struct agxs_texel upper, mixed = {0};
   if (!sample_level(lookup, at.at, layer, (uint32_t)low + 1, is_linear, &upper))
      return false;
   add_weighted(&mixed, &out->texel, 1.0 - share);
   add_weighted(&mixed, &upper, share);
   out->texel = mixed;
   return true;
}

/* source: the order of Vulkan and GL; docs/hw/machine.md names none [U] */
bool agxs_sample_gather(struct agxs_lookup *lookup, const struct agxs_position *position,
                        unsigned channel, struct agxs_result *out)
{
   static const uint8_t corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
   struct agxs_position at = *position;
   int64_t low[3];
   double weight[3];
   resolve_cube(lookup->texture, &at);
   find_taps(lookup, at.at, 0, low, weight, true);
   out->is_exact = true;
   for (unsigned i = 0; i < 4; i++) {
      const int64_t tap[3] = {low[0] + corners[i][0], low[1] + corners[i][1], low[2]};
      struct agxs_texel texel;
      if (!get_tap(lookup, 0, clamp_layer(lookup->texture, at.layer), tap, &texel))
         return false;
      out->texel.real[i] = texel.real[channel];
      out->texel.bits[i] = texel.bits[channel];
   }
   return true;
}

/* Derivatives of the coordinates that the filter works on, in texels of level 0. */
static void scale_derivative(const struct agxs_lookup *lookup, const double at[3],
                             const double derivative[3], double out[3])
{
   const struct agxs_texture *texture = lookup->texture;
   struct size size = size_of(texture, 0);
   double plain[3] = {derivative[0], derivative[1], derivative[2]};
   if (is_cube(texture))
      agxs_cube_derivative(at, derivative, plain);
   for (unsigned axis = 0; axis < 3; axis++) {
      bool counts = axis < axes_of(texture);
      bool is_pixels = lookup->sampler->state.pixel_coordinates;
      out[axis] = counts ? plain[axis] * (is_pixels ? 1.0 : size.side[axis]) : 0.0;
   }
}

static double length_of(const double vector[3])
{
   return sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
}

double agxs_sample_lod(const struct agxs_lookup *lookup, const struct agxs_position *position,
                       unsigned *out_probes, double out_step[3])
{
   double dx[3], dy[3];
   scale_derivative(lookup, position->at, position->dx, dx);
   scale_derivative(lookup, position->at, position->dy, dy);
   double length_x = length_of(dx), length_y = length_of(dy);
   double longest = AGX_MAX(length_x, length_y), shortest = AGX_MIN(length_x, length_y);
   double limit = AGX_MAX(lookup->sampler->state.maximum_anisotropy, 1u);
   double probes = 1.0;
   /* A cube's probes would leave their face: it gets one. */
   if (limit > 1.0 && longest > 0.0 && !is_cube(lookup->texture))
      probes = shortest > 0.0 ? AGX_MIN(ceil(longest / shortest), limit) : limit;
   *out_probes = (unsigned)probes;
   for (unsigned axis = 0; axis < 3; axis++)
      out_step[axis] = (length_x >= length_y ? position->dx : position->dy)[axis] / probes;
   return longest > 0.0 ? log2(longest / probes) : -HUGE_VAL;
}

static uint32_t clamp_level(const struct agxs_texture *texture, int64_t level)
{
   return level < 0 ? 0 : (uint32_t)AGX_MIN(level, (int64_t)texture->level_count - 1);
}

bool agxs_sample_fetch(struct agxs_lookup *lookup, const struct agxs_texel_position *position,
                       struct agxs_result *out, bool *out_clamped)
{
   const struct agxs_texture *texture = lookup->texture;
   uint32_t level = clamp_level(texture, position->level);
   uint32_t layer = clamp_layer(texture, position->layer);
   struct size size = size_of(texture, level);
   int64_t at[3] = {0};
   *out_clamped = false;
   out->is_exact = true;
   for (unsigned axis = 0; axis < axes_of(texture); axis++) {
      at[axis] =
         wrap(position->at[axis] + lookup->offset[axis], size.side[axis], wrap_of(lookup, axis));
      if (at[axis] != BORDER)
         continue;
      get_border(lookup, &out->texel);
      return true;
   }
   if (is_multisampled(texture) && position->sample >= texture->layout.samples) {
      swizzle(texture, &(struct agxs_texel){0}, &out->texel);
      return true;
   }
   *out_clamped = level != position->level || (has_layers(texture) && layer != position->layer);
   return get_texel(lookup, level, layer, (uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2],
                    is_multisampled(texture) ? position->sample : 0, &out->texel);
}

/* R, G, B, A to memory channels. */
static void unswizzle(const struct agxs_texture *texture, const struct agxs_texel *texel,
                      struct agxs_texel *memory)
{
   for (unsigned c = 0; c < 4; c++) {
      unsigned from = texture->swizzle[c];
      memory->real[c] = texel->real[from];
      memory->bits[c] = texel->bits[from];
      if (texture->is_srgb && c < 3 && memory->real[c] > 0.0 && memory->real[c] < 1.0)
         memory->real[c] = agxs_linear_to_srgb(memory->real[c]);
   }
}

/* The view's level is there and the texel in it. */
static bool is_inside(const struct agxs_texture *texture,
                      const struct agxs_texel_position *position)
{
   uint32_t levels = texture->layout.level_count - texture->first_level;
   if (position->level < 0 || position->level >= levels)
      return false;
   struct size size = size_of(texture, (uint32_t)position->level);
   bool is_outside = !is_3d(texture) && position->layer >= texture->layers;
   is_outside |= is_multisampled(texture) && position->sample >= texture->layout.samples;
   for (unsigned axis = 0; axis < axes_of(texture); axis++)
      is_outside |= position->at[axis] < 0 || position->at[axis] >= size.side[axis];
   return !is_outside;
}

/* Where a texel to store lies in the image. Programs give as many coordinates as they think the
 * image has; a null descriptor has one, and the others don't count. */
static struct agxs_texel_place place_of(const struct agxs_texture *texture,
                                        const struct agxs_texel_position *position)
{
   return (struct agxs_texel_place){
      .level = texture->first_level + (uint32_t)position->level,
      .layer = is_3d(texture) ? (uint32_t)position->at[2] : position->layer,
      .x = (uint32_t)position->at[0],
      .y = axes_of(texture) > 1 ? (uint32_t)position->at[1] : 0,
      .sample = is_multisampled(texture) ? position->sample : 0,
   };
}

bool agxs_sample_set_plain(struct agxs_lookup *lookup, const struct agxs_texel_position *position)
{
   const struct agxs_texture *texture = lookup->texture;
   if (!is_inside(texture, position))
      return true;
   struct agxs_texel_place place = place_of(texture, position);
   return agxs_texture_set_plain(texture, lookup->tlb, &place, &lookup->error);
}

/* Which of R, G, B, A the image's memory takes. */
static uint32_t stored_channels(const struct agxs_texture *texture)
{
   uint32_t channels = 0;
   for (unsigned c = 0; c < texture->format.count; c++)
      channels |= 1u << texture->swizzle[c];
   return channels & 15;
}

bool agxs_sample_store(struct agxs_lookup *lookup, const struct agxs_texel_position *position,
                       const struct agxs_texel *texel, bool toward_zero)
{
   const struct agxs_texture *texture = lookup->texture;
   if (!is_inside(texture, position))
      return true;
   struct agxs_texel memory;
   struct agxs_texel_place place = place_of(texture, position);
   uint8_t *bytes =
      agxs_texture_write(texture, lookup->tlb, &place, &lookup->notes, &lookup->error);
   if (!bytes)
      return lookup->error.status == AGX_OK;
   if (lookup->touch)
      lookup->touch(lookup->user, lookup->error.va, texture->format.bytes);
   if (lookup->undefined & stored_channels(texture)) {
      lookup->undefined &= stored_channels(texture);
      lookup->error =
         (struct agxs_image_error){AGX_FAILED_PRECONDITION, lookup->error.va,
                                   "check: bytes of tile memory that nothing stored, to be stored"};
      return false;
   }
   unswizzle(texture, texel, &memory);
   agxs_texel_store(&texture->format, &memory, toward_zero, bytes);
   return true;
}
