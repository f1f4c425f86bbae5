/* SPDX-License-Identifier: MIT
 *
 * Images: their shapes, twiddled or linear, and copies between them and host memory.
 * image_memory.c gives them theirs.
 */
#include <stdio.h>
#include <string.h>

#include "agx/isa/isa.h"
#include "base/list.h"
#include "base/util.h"
#include "hal/core/desc.h"
#include "hal/memory/descriptor.h"
#include "robustness/image.h"

#define MAX_LAYERS 2048u
/* Atomics compute offsets in 32 bits. */
#define MAX_ATOMICS_B (1ull << 31)

static void image_destroy(struct agx_object *object)
{
   struct agx_image *image = agx_container_of(object, struct agx_image, object);
   struct agx_device *device = image->device;
   if (image->bo && !image->memory)
      agxw_bo_destroy(image->bo);
   agx_release(image->memory);
   agx_host_free(agx_context_of(device)->alloc, image, sizeof(*image));
   agx_release(device);
}

static void image_set_label(struct agx_object *object, const char *label)
{
   struct agx_image *image = agx_container_of(object, struct agx_image, object);
   label = label ? label : "image";
   agx_label_write(image->device, image->label, sizeof(image->label), label);
   if (!image->memory)
      agxw_bo_set_label(image->bo, label);
}

const struct agx_object_type agx_image_type = {"image", image_destroy, image_set_label};

/* ---- the image as a whole --------------------------------------------------------- */

/* The descriptors and numbers of a whole image, made with it, so that recording copies them
 * (command_fast.c). They are what bind_image.c and descriptor.c make of a binding that asks for
 * nothing else. */

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

/* ---- creation ---------------------------------------------------------- */

const char *agx_image_type_name(uint32_t type)
{
   static const char *const names[] = {[AGX_IMAGE_1D] = "1D",
                                       [AGX_IMAGE_2D] = "2D",
                                       [AGX_IMAGE_3D] = "3D",
                                       [AGX_IMAGE_CUBE] = "cube"};
   return type < AGX_COUNT(names) ? names[type] : "?";
}

static agx_status check_shape(const struct agx_image_desc *desc)
{
   const char *type = agx_image_type_name(desc->type);
   if (desc->type == AGX_IMAGE_1D && desc->height != 1)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "image: type 0 (1D) of height %u; it must be 1",
                      desc->height);
   if (desc->type == AGX_IMAGE_CUBE && (desc->depth % 6 || desc->width != desc->height))
      return AGX_FAIL(
         AGX_INVALID_ARGUMENT,
         "image: type 3 (cube) of %u x %u texels, %u layers; a cube has six square layers",
         desc->width, desc->height, desc->depth);
   if (desc->type != AGX_IMAGE_3D && desc->depth > MAX_LAYERS)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "image: %s of %u layers; the limit is %u", type,
                      desc->depth, MAX_LAYERS);
   uint32_t largest = AGX_MAX(desc->width, desc->height);
   if (desc->type == AGX_IMAGE_3D)
      largest = AGX_MAX(largest, desc->depth);
   if (desc->levels > AGX_LAYOUT_MAX_LEVELS || (largest >> (desc->levels - 1)) == 0)
      return AGX_FAIL(AGX_OUT_OF_RANGE,
                      "image: %u levels of %u texels; the last level has at least 1 texel, and the "
                      "limit is %u levels",
                      desc->levels, largest, AGX_LAYOUT_MAX_LEVELS);
   return AGX_OK;
}

static agx_status check_desc(const struct agx_image_desc *desc)
{
   const uint32_t known =
      AGX_IMAGE_LINEAR | AGX_IMAGE_ATOMICS | AGX_IMAGE_HOST_READ | AGX_IMAGE_GPU_READ_ONLY;
   if (desc->type > AGX_IMAGE_CUBE)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "image: type %u is none of enum agx_image_type",
                      desc->type);
   AGX_TRY(agx_bits_check("image", "flags", desc->flags, known));
   if (!desc->format)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "image: format is NULL");
   bool has_samples = desc->samples > 1;
   if (desc->samples > 4 || desc->samples == 3 ||
       (has_samples &&
        (desc->type != AGX_IMAGE_2D || desc->levels > 1 || desc->flags & AGX_IMAGE_LINEAR)))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "image: %u samples, %s, %u levels, flags 0x%x; 2 or 4 samples need a "
                      "tiled 2D image of one level",
                      desc->samples, agx_image_type_name(desc->type), desc->levels, desc->flags);
   return check_shape(desc);
}

/* Atomics clamp coordinates to a column, a row and a layer behind the last ones, those on samples
 * go behind the last layer. */
static agx_status lay_out(struct agx_image *image)
{
   bool has_atomics = image->flags & AGX_IMAGE_ATOMICS;
   bool is_linear = (has_atomics && image->samples == 1) || image->flags & AGX_IMAGE_LINEAR;
   struct agx_layout_shape shape = {
      .tiling = is_linear ? AGX_LAYOUT_LINEAR : AGX_LAYOUT_GPU,
      .width = image->width,
      .height = image->height,
      .depth = image->depth,
      .levels = image->levels,
      .samples = image->samples,
      .block_B = image->format->texel_B,
      .block_w = 1,
      .block_h = 1,
      .is_3d = image->type == AGX_IMAGE_3D,
      .is_writeable = image->format->is_storable && !(image->flags & AGX_IMAGE_GPU_READ_ONLY),
   };
   if (!has_atomics)
      return agx_layout_init(&shape, &image->layout);
   if (image->format->texel_B != 4)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "image: atomics on %s, whose texels have %u bytes; it takes 4",
                      image->format->name, image->format->texel_B);
   if (is_linear) {
      shape.stride_B = (uint32_t)agx_align_up(4 * (uint64_t)(image->width + 1), AGX_LAYOUT_ALIGN_B);
      shape.layer_stride_B =
         agx_align_up((uint64_t)shape.stride_B * (image->height + 1), AGX_LAYOUT_ALIGN_B);
   }
   AGX_TRY(agx_layout_init(&shape, &image->layout));
   image->layout.size_B += is_linear ? shape.layer_stride_B : AGX_LAYOUT_ALIGN_B;
   if (image->layout.size_B > MAX_ATOMICS_B)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "image: atomics on %llu bytes; the limit is 2^31",
                      (unsigned long long)image->layout.size_B);
   return AGX_OK;
}

/* Tiles are pages. */
uint32_t agx_image_alignment(const struct agx_image *image)
{
   return image->layout.tiling == AGX_LAYOUT_LINEAR ? AGX_LAYOUT_ALIGN_B : AGX_PAGE_BYTES;
}

/* Where the host finds the texels. */
static agx_status image_map(struct agx_image *image, void **out_memory)
{
   AGX_TRY(agxw_bo_map(image->bo, out_memory));
   *out_memory = (uint8_t *)*out_memory + image->bo_offset_B;
   return AGX_OK;
}

agx_status agx_image_resolve(struct agx_image *image, const struct agx_image_desc *desc,
                             struct agx_image_desc *read)
{
   AGX_TRY(agx_desc_read("agx_image_desc", desc, read, sizeof(*read)));
   read->levels = AGX_MAX(read->levels, 1u);
   read->samples = AGX_MAX(read->samples, 1u);
   read->depth = AGX_MAX(read->depth, read->type == AGX_IMAGE_CUBE ? 6u : 1u);
   AGX_TRY(check_desc(read));
   image->format = agx_format_find(read->format);
   if (!image->format)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "image: unknown format %.64s", read->format);
   image->type = read->type;
   image->flags = read->flags;
   image->width = read->width;
   image->height = read->height;
   image->depth = read->depth;
   image->levels = read->levels;
   image->samples = read->samples;
   return lay_out(image);
}

/* What agx_image_get_info and agx_image_get_requirements tell. */
static struct agx_image_info info_of(const struct agx_image *image)
{
   const bool is_linear = image->layout.tiling == AGX_LAYOUT_LINEAR;
   return (struct agx_image_info){
      .type = image->type,
      .width = image->width,
      .height = image->height,
      .depth = image->depth,
      .levels = image->levels,
      .texel_B = image->format->texel_B,
      .size_B = image->layout.size_B,
      .is_linear = is_linear,
      .samples = image->samples,
      .align_B = agx_image_alignment(image),
      .row_B = is_linear ? image->layout.stride_B : 0,
      .layer_B = is_linear ? image->layout.layer_stride_B : 0,
   };
}

agx_status agx_image_get_requirements(struct agx_device *device, const struct agx_image_desc *desc,
                                      struct agx_image_info *out_info)
{
   struct agx_image_desc read;
   struct agx_image draft = {0};
   AGX_TRY(agx_image_resolve(&draft, desc, &read));
   const struct agx_image_info info = info_of(&draft);
   return agx_info_write("agx_image_info", out_info, &info, sizeof(info));
}

void agx_image_get_info(struct agx_image *image, struct agx_image_info *out_info)
{
   const struct agx_image_info info = info_of(image);
   agx_info_write_or_log(image->device, "agx_image_info", out_info, &info, sizeof(info));
}

/* ---- copies ------------------------------------------------------------ */

struct copy {
   struct agx_image *image;
   struct agx_image_region region;
   uint8_t *texels;
   uint64_t row_B, slice_B;
   bool to_image;
};

agx_status agx_image_region_check(const struct agx_image *image, const char *what,
                                  const struct agx_image_region *r)
{
   if (r->level >= image->levels)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: %s of level %u; it has %u, from 0 on", image->label,
                      what, r->level, image->levels);
   if (r->sample >= image->samples)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: %s of sample %u; it has %u, from 0 on", image->label,
                      what, r->sample, image->samples);
   if (!r->width || !r->height || !r->depth)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "%s: %s of %u x %u x %u texels; width, height and depth are at least 1",
                      image->label, what, r->width, r->height, r->depth);
   bool is_3d = image->type == AGX_IMAGE_3D;
   uint32_t width = agx_image_side(image->width, r->level);
   uint32_t height = agx_image_side(image->height, r->level);
   uint32_t depth = is_3d ? agx_image_side(image->depth, r->level) : image->depth;
   if (!agx_range_fits(r->x, r->width, width) || !agx_range_fits(r->y, r->height, height) ||
       !agx_range_fits(r->z, r->depth, depth))
      return AGX_FAIL(AGX_OUT_OF_RANGE,
                      "%s: %s of %u x %u x %u texels at %u, %u, %u; level %u has %u x %u x %u",
                      image->label, what, r->width, r->height, r->depth, r->x, r->y, r->z, r->level,
                      width, height, depth);
   return AGX_OK;
}

static agx_status check_copy(struct copy *copy)
{
   const struct agx_image *image = copy->image;
   const struct agx_image_region *r = &copy->region;
   AGX_TRY(agx_image_region_check(image, "image copy", r));
   uint64_t row_B = (uint64_t)r->width * image->format->texel_B;
   copy->row_B = copy->row_B ? copy->row_B : row_B;
   copy->slice_B = copy->slice_B ? copy->slice_B : copy->row_B * r->height;
   if (!copy->texels)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: image copy of texels at NULL", image->label);
   if (copy->row_B < row_B)
      return AGX_FAIL(
         AGX_INVALID_ARGUMENT,
         "%s: image copy with row_B %llu; a row of %u texels has %llu bytes (0: no gap)",
         image->label, (unsigned long long)copy->row_B, r->width, (unsigned long long)row_B);
   if (r->depth > 1 && copy->slice_B < copy->row_B * (r->height - 1) + row_B)
      return AGX_FAIL(
         AGX_INVALID_ARGUMENT,
         "%s: image copy with slice_B %llu; a slice of %u rows, %llu apart, has %llu bytes "
         "(0: no gap)",
         image->label, (unsigned long long)copy->slice_B, r->height,
         (unsigned long long)copy->row_B,
         (unsigned long long)(copy->row_B * (r->height - 1) + row_B));
   return AGX_OK;
}

static void copy_row(const struct copy *copy, uint8_t *memory, uint32_t y, uint32_t z,
                     uint8_t *texels)
{
   const struct agx_image_region *r = &copy->region;
   const struct agx_layout *layout = &copy->image->layout;
   size_t texel_B = copy->image->format->texel_B;
   bool is_linear = layout->tiling == AGX_LAYOUT_LINEAR;
   uint32_t step = is_linear ? r->width : 1;
   for (uint32_t x = 0; x < r->width; x += step) {
      uint8_t *at = memory + agx_layout_offset(layout, r->level, z, r->x + x, y, r->sample);
      uint8_t *host = texels + x * texel_B;
      if (copy->to_image)
         memcpy(at, host, step * texel_B);
      else
         memcpy(host, at, step * texel_B);
   }
}

static agx_status run_copy(struct copy *copy)
{
   void *memory = NULL;
   const struct agx_image_region *r = &copy->region;
   AGX_TRY(agx_fork_check(copy->image));
   AGX_TRY(check_copy(copy));
   AGX_TRY(image_map(copy->image, &memory));
   for (uint32_t z = 0; z < r->depth; z++)
      for (uint32_t y = 0; y < r->height; y++)
         copy_row(copy, memory, r->y + y, r->z + z,
                  copy->texels + z * copy->slice_B + y * copy->row_B);
   return AGX_OK;
}

agx_status agx_image_write(struct agx_image *image, const struct agx_image_region *region,
                           const void *texels, uint64_t row_B, uint64_t slice_B)
{
   struct copy copy = {image, *region, (uint8_t *)texels, row_B, slice_B, true};
   return run_copy(&copy);
}

agx_status agx_image_read(struct agx_image *image, const struct agx_image_region *region,
                          void *texels, uint64_t row_B, uint64_t slice_B)
{
   struct copy copy = {image, *region, texels, row_B, slice_B, false};
   return run_copy(&copy);
}
