/* SPDX-License-Identifier: MIT
 *
 * Unpacks texture, PBE and sampler descriptors for lane.c, and has the geometry of cube maps for
 * sample.c.
 */
#include <inttypes.h>
#include <math.h>

#include "agx/sim/image/image.h"
#include "base/util.h"

/* A PBE's linear stride and a texture's are off by these; so is the linear layer stride. */
#define TEXTURE_STRIDE_BIAS 16u
#define PBE_STRIDE_BIAS     4u
#define LAYER_STRIDE_BIAS   128u
/* Bits above belong to other fields that share the word. */
#define STRIDE_MASK 0xfffffu

static bool is_multisampled(unsigned dimension)
{
   return dimension == AGX_HW_TEXTURE_DIMENSION_2D_MULTISAMPLED ||
          dimension == AGX_HW_TEXTURE_DIMENSION_2D_ARRAY_MULTISAMPLED;
}

static bool is_cube(unsigned dimension)
{
   return dimension == AGX_HW_TEXTURE_DIMENSION_CUBE ||
          dimension == AGX_HW_TEXTURE_DIMENSION_CUBE_ARRAY;
}

/* What both kinds of descriptor say, in one form. */
struct fields {
   unsigned dimension, layout, channels, type, samples, mode;
   uint32_t width, height, depth, stride_B;
   bool is_extended, is_mipmapped, is_page_aligned, is_compressed;
   uint32_t linear_layers;
   uint64_t linear_layer_stride_B, metadata;
};

static agx_status check_fields(const struct fields *fields, const char *kind)
{
   if (fields->dimension > AGX_HW_TEXTURE_DIMENSION_2D_ARRAY_MULTISAMPLED)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s descriptor: dimension %u", kind, fields->dimension);
   if (fields->layout == AGX_HW_LAYOUT_INTERCHANGE)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "%s descriptor: the interchange layout is not modelled",
                      kind);
   if (is_multisampled(fields->dimension) && fields->samples > AGX_HW_SAMPLE_COUNT_4)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s descriptor: sample code %u", kind, fields->samples);
   if (is_cube(fields->dimension) && fields->width != fields->height)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s descriptor: a cube's faces of %ux%u", kind,
                      fields->width, fields->height);
   return AGX_OK;
}

static agx_status init_image(struct agxs_texture *texture, const struct fields *fields,
                             const char *kind)
{
   AGX_TRY(check_fields(fields, kind));
   AGX_TRY(agxs_texel_format_init(&texture->format, fields->channels, fields->type));
   bool is_linear = fields->layout == AGX_HW_LAYOUT_LINEAR;
   struct agx_layout_shape shape = {
      .tiling = (enum agx_layout_tiling)fields->layout,
      .width = fields->width,
      .height = fields->height,
      .depth = fields->depth,
      .levels = fields->is_mipmapped ? 2 : 1,
      .samples = is_multisampled(fields->dimension) ? 2u << fields->samples : 1,
      .block_B = texture->format.bytes == AGXS_TEXEL_EMULATED_BYTES ? 4 : texture->format.bytes,
      .block_w = texture->format.block_w,
      .block_h = texture->format.block_h,
      .pages = fields->is_page_aligned ? AGX_LAYOUT_PAGES_ON : AGX_LAYOUT_PAGES_OFF,
      .is_3d = fields->dimension == AGX_HW_TEXTURE_DIMENSION_3D,
      .is_compressed = fields->is_compressed,
   };
   if (is_linear) {
      shape.stride_B = fields->stride_B;
      shape.depth = fields->is_extended ? fields->linear_layers : 1;
      shape.layer_stride_B = fields->is_extended ? fields->linear_layer_stride_B : 0;
   } else if (is_cube(fields->dimension)) {
      shape.depth *= 6; /* cubes are counted */
   }
   AGX_TRY(agx_layout_init(&shape, &texture->layout));
   if (fields->is_compressed)
      texture->layout.meta_offset_B = fields->metadata - texture->address;
   texture->is_sparse = fields->mode == AGX_HW_IMAGE_MODE_SPARSE ||
                        fields->mode == AGX_HW_IMAGE_MODE_SPARSE_BUT_PROBABLY_NO_COUNTERS;
   if (texture->is_sparse && shape.depth > 1 && texture->layout.layer_stride_B % AGX_PAGE_BYTES)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "%s descriptor: a sparse image with %u layers of %" PRIu64
                      " bytes, which are no whole pages",
                      kind, shape.depth, texture->layout.layer_stride_B);
   texture->layers = shape.depth;
   texture->dimension = (uint8_t)fields->dimension;
   return AGX_OK;
}

agx_status agxs_texture_init(struct agxs_texture *texture,
                             const uint8_t descriptor[AGXS_TEXTURE_BYTES])
{
   struct agx_hw_texture packed;
   AGX_TRY(agx_hw_texture_unpack(descriptor, &packed));
   const struct fields fields = {
      .dimension = packed.dimension,
      .layout = packed.layout,
      .channels = packed.channels,
      .type = packed.type,
      .samples = packed.samples,
      .mode = packed.mode,
      .width = packed.width,
      .height = packed.height,
      .depth = packed.depth,
      .stride_B = (packed.stride & STRIDE_MASK) + TEXTURE_STRIDE_BIAS,
      .is_extended = packed.extended,
      .is_mipmapped = packed.unk_mipmapped,
      .is_page_aligned = packed.page_aligned_layers,
      .is_compressed = packed.compressed_1,
      .linear_layers = packed.depth_linear,
      .linear_layer_stride_B = packed.layer_stride_linear + LAYER_STRIDE_BIAS,
      .metadata = packed.acceleration_buffer,
   };
   *texture = (struct agxs_texture){
      .swizzle = {(uint8_t)packed.swizzle_r, (uint8_t)packed.swizzle_g, (uint8_t)packed.swizzle_b,
                  (uint8_t)packed.swizzle_a},
      .is_srgb = packed.srgb,
      .address = packed.address,
      .first_level = packed.first_level,
   };
   memcpy(texture->descriptor, descriptor, AGXS_TEXTURE_BYTES);
   AGX_TRY(init_image(texture, &fields, "texture"));
   texture->format.is_srgb = texture->is_srgb;
   /* Views of images without levels below name more of them; the last that there is counts. */
   uint32_t last = AGX_MIN(packed.last_level, texture->layout.level_count - 1);
   if (packed.first_level > last)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "texture descriptor: levels %u to %u of %u",
                      packed.first_level, packed.last_level, texture->layout.level_count);
   texture->level_count = last - packed.first_level + 1;
   return AGX_OK;
}

agx_status agxs_texture_init_pbe(struct agxs_texture *texture,
                                 const uint8_t descriptor[AGXS_TEXTURE_BYTES])
{
   struct agx_hw_pbe packed;
   AGX_TRY(agx_hw_pbe_unpack(descriptor, &packed));
   bool is_linear = packed.layout == AGX_HW_LAYOUT_LINEAR;
   const struct fields fields = {
      .dimension = packed.dimension,
      .layout = packed.layout,
      .channels = packed.channels,
      .type = packed.type,
      .samples = packed.samples,
      .mode = packed.mode,
      .width = packed.width,
      .height = packed.height,
      .depth = packed.layers,
      .stride_B = (packed.stride & STRIDE_MASK) + PBE_STRIDE_BIAS,
      .is_extended = packed.extended,
      .is_mipmapped = packed.unk_mipmapped,
      .is_page_aligned = packed.page_aligned_layers,
      .is_compressed = packed.compressed_1,
      .linear_layers = packed.depth_linear,
      .linear_layer_stride_B = packed.layer_stride_linear + LAYER_STRIDE_BIAS,
      .metadata = packed.acceleration_buffer,
   };
   *texture = (struct agxs_texture){
      .swizzle = {(uint8_t)packed.swizzle_r, (uint8_t)packed.swizzle_g, (uint8_t)packed.swizzle_b,
                  (uint8_t)packed.swizzle_a},
      .is_srgb = packed.srgb,
      .address = packed.buffer,
      .first_level = is_linear ? 0 : packed.level, /* the stride lies in these bits */
      .level_count = 1,
   };
   if (packed.rotate_90 || packed.flip_vertical)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "PBE descriptor: rotated or flipped images");
   memcpy(texture->descriptor, descriptor, AGXS_TEXTURE_BYTES);
   AGX_TRY(init_image(texture, &fields, "PBE"));
   if (texture->format.decode)
      return AGX_FAIL(
         AGX_UNIMPLEMENTED,
         "PBE descriptor: blocks of channels %u are read only; store them as texels of "
         "%u bytes",
         packed.channels, texture->format.bytes);
   if (texture->first_level >= texture->layout.level_count)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "PBE descriptor: level %u of %u", texture->first_level,
                      texture->layout.level_count);
   return AGX_OK;
}

agx_status agxs_sampler_init(struct agxs_sampler *sampler, const uint8_t *bytes, unsigned size)
{
   *sampler = (struct agxs_sampler){.has_border = size > AGX_HW_SAMPLER_BYTES};
   AGX_TRY(agx_hw_sampler_unpack(bytes, &sampler->state));
   if (sampler->state.magnify == AGX_HW_FILTER_BICUBIC ||
       sampler->state.minify == AGX_HW_FILTER_BICUBIC)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "sampler: bicubic filtering is not modelled");
   if (sampler->state.border_colour == AGX_HW_BORDER_COLOUR_CUSTOM && !sampler->has_border)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "sampler: a custom border colour needs the launch's extended samplers");
   for (unsigned c = 0; c < 4 && sampler->has_border; c++)
      sampler->border[c] = agxs_get_le32(bytes + AGX_HW_SAMPLER_BYTES + 4 * c);
   return AGX_OK;
}

bool agxs_states_declare_samplers(struct agxs_states *states, unsigned code)
{
   static const struct {
      uint8_t count, bytes;
   } codes[] = {
      [AGX_HW_SAMPLER_STATES_0] = {0, 8},
      [AGX_HW_SAMPLER_STATES_4_COMPACT] = {4, 8},
      [AGX_HW_SAMPLER_STATES_8_COMPACT] = {8, 8},
      [AGX_HW_SAMPLER_STATES_12_COMPACT] = {12, 8},
      [AGX_HW_SAMPLER_STATES_16_COMPACT] = {16, 8},
      [AGX_HW_SAMPLER_STATES_8_EXTENDED] = {8, 24},
      [AGX_HW_SAMPLER_STATES_16_EXTENDED] = {16, 24},
   };
   if (code >= AGX_COUNT(codes) || !codes[code].bytes)
      return false;
   states->sampler_count = codes[code].count;
   states->sampler_bytes = codes[code].bytes;
   return true;
}

/* Cube map geometry: which face a direction meets, where on it, and which face lies beyond
 * an edge. sample.c calls it. */

/* Cube faces in the order +x, -x, +y, -y, +z, -z: which coordinates s, t and the major
 * axis are, and their signs. */
static const struct {
   uint8_t s_axis, t_axis, major;
   int8_t s_sign, t_sign, sign;
} faces[6] = {
   {2, 1, 0, -1, -1, 1}, {2, 1, 0, 1, -1, -1}, {0, 2, 1, 1, 1, 1},
   {0, 2, 1, 1, -1, -1}, {0, 1, 2, 1, -1, 1},  {0, 1, 2, -1, -1, -1},
};

unsigned agxs_cube_face(const double at[3])
{
   double x = fabs(at[0]), y = fabs(at[1]), z = fabs(at[2]);
   unsigned axis = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
   return axis * 2 + (at[axis] < 0.0);
}

void agxs_cube_to_face(const double at[3], unsigned face, double out[2])
{
   double major = fabs(at[faces[face].major]);
   double scale = major > 0.0 ? 0.5 / major : 0.0;
   out[0] = at[faces[face].s_axis] * faces[face].s_sign * scale + 0.5;
   out[1] = at[faces[face].t_axis] * faces[face].t_sign * scale + 0.5;
}

void agxs_cube_cross_edge(int64_t size, unsigned *face, int64_t texel[2])
{
   double at[3], on_face[2];
   double s = 2.0 * ((double)texel[0] + 0.5) / (double)size - 1.0;
   double t = 2.0 * ((double)texel[1] + 0.5) / (double)size - 1.0;
   at[faces[*face].s_axis] = s * faces[*face].s_sign;
   at[faces[*face].t_axis] = t * faces[*face].t_sign;
   at[faces[*face].major] = faces[*face].sign;
   *face = agxs_cube_face(at);
   agxs_cube_to_face(at, *face, on_face);
   for (unsigned i = 0; i < 2; i++) {
      int64_t index = (int64_t)floor(on_face[i] * (double)size);
      texel[i] = index < 0 ? 0 : AGX_MIN(index, size - 1);
   }
}

void agxs_cube_derivative(const double at[3], const double derivative[3], double out[2])
{
   unsigned face = agxs_cube_face(at);
   double major = at[faces[face].major] * faces[face].sign;
   double moved = derivative[faces[face].major] * faces[face].sign;
   double s = at[faces[face].s_axis] * faces[face].s_sign;
   double t = at[faces[face].t_axis] * faces[face].t_sign;
   double square = major > 0.0 ? 0.5 / (major * major) : 0.0;
   out[0] = (derivative[faces[face].s_axis] * faces[face].s_sign * major - s * moved) * square;
   out[1] = (derivative[faces[face].t_axis] * faces[face].t_sign * major - t * moved) * square;
}
