/* SPDX-License-Identifier: MIT
 *
 * Texels by their place in memory: atomics on an image are atomics on memory, which a linear layout
 * allows; buffers of texels are images of 16384 columns; and so are, for stores, multisampled
 * images, whose twiddled addresses code computes, for atomics too. Source: docs/hw/access.md 5.3
 * and 5.4, docs/hw/layouts.md 3.
 */
#include "agx/compiler/spirv/handler_impl.h"
#include "agx/compiler/spirv/memory_impl.h"
#include "robustness/image.h"

/* Column and row of a texel, where it is there. */
static void split_index(struct agxc_spv *s, struct agxc_ref index, struct agxc_ref is_there,
                        struct agxc_ref out_at[2])
{
   struct agxc_ref row =
      agxc_spv_build2(s, AGXC_OP_USHR, index, agxc_spv_u32(AGXR_TEXEL_COLUMNS_LOG2));
   out_at[0] = agxc_spv_build2(s, AGXC_OP_IAND, index, agxc_spv_u32(AGXR_TEXEL_COLUMNS - 1));
   out_at[1] = agxc_spv_select(s, is_there, row, agxc_spv_u32(AGXR_FAR_OUTSIDE));
}

void agxc_spv_texel_of_buffer(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                              struct agxc_ref index, struct agxc_ref out_at[2])
{
   struct agxc_ref count = agxc_spv_image_info(s, image, AGX_IMAGE_WIDTH);
   split_index(s, index, agxc_spv_build2(s, AGXC_OP_ULT, index, count), out_at);
}

/* ---- samples ----------------------------------------------------------- */

/* Bit i goes to bit 2i, of 8 bits: tiles are no wider. */
static struct agxc_ref spread(struct agxc_spv *s, struct agxc_ref value)
{
   static const struct {
      uint8_t shift;
      uint16_t mask;
   } steps[] = {{4, 0x0f0f}, {2, 0x3333}, {1, 0x5555}};
   for (size_t i = 0; i < AGX_COUNT(steps); i++) {
      struct agxc_ref high = agxc_spv_build2(s, AGXC_OP_ISHL, value, agxc_spv_u32(steps[i].shift));
      value = agxc_spv_build2(s, AGXC_OP_IOR, value, high);
      value = agxc_spv_build2(s, AGXC_OP_IAND, value, agxc_spv_u32(steps[i].mask));
   }
   return value;
}

/* A coordinate's tile, and its place in the tile, spread. */
static struct agxc_ref tile_of(struct agxc_spv *s, struct agxc_ref at, struct agxc_ref log2,
                               struct agxc_ref *out_inside)
{
   struct agxc_ref tile = agxc_spv_build2(s, AGXC_OP_USHR, at, log2);
   struct agxc_ref before = agxc_spv_build2(s, AGXC_OP_ISHL, tile, log2);
   *out_inside = spread(s, agxc_spv_build2(s, AGXC_OP_ISUB, at, before));
   return tile;
}

/* How many samples lie in front of one, and whether the view has it. */
static struct agxc_ref index_of_sample(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                                       const struct agxc_ref at[2], struct agxc_ref layer,
                                       struct agxc_ref sample, struct agxc_ref *out_is_there)
{
   struct agxc_ref width = agxc_spv_image_info(s, image, AGX_IMAGE_TILE_WIDTH);
   struct agxc_ref height = agxc_spv_image_info(s, image, AGX_IMAGE_TILE_HEIGHT);
   struct agxc_ref samples = agxc_spv_image_info(s, image, AGX_IMAGE_SAMPLES), x, y;
   struct agxc_ref column = tile_of(s, at[0], width, &x), row = tile_of(s, at[1], height, &y);
   row = agxc_spv_build2(s, AGXC_OP_IMUL, row, agxc_spv_image_info(s, image, AGX_IMAGE_ROW_TILES));
   struct agxc_ref index = agxc_spv_build2(s, AGXC_OP_IADD, row, column);
   index = agxc_spv_build2(s, AGXC_OP_ISHL, index, agxc_spv_build2(s, AGXC_OP_IADD, width, height));
   /* Tiles are square or twice as wide as high: x's last bit lies above all others. */
   index = agxc_spv_build2(s, AGXC_OP_IADD, index, x);
   index =
      agxc_spv_build2(s, AGXC_OP_IADD, index, agxc_spv_build2(s, AGXC_OP_ISHL, y, agxc_spv_u32(1)));
   index = agxc_spv_build2(s, AGXC_OP_IMUL, index, samples);
   index = agxc_spv_build2(s, AGXC_OP_IADD, index, sample);
   const struct {
      struct agxc_ref at;
      enum agx_image_property limit;
   } checks[] = {{at[0], AGX_IMAGE_WIDTH},
                 {at[1], AGX_IMAGE_HEIGHT},
                 {sample, AGX_IMAGE_SAMPLES},
                 {layer, AGX_IMAGE_DEPTH}};
   struct agxc_ref is_there = agxc_imm(1, 1);
   for (size_t i = 0; i < AGX_COUNT(checks); i++) {
      if (checks[i].at.kind == AGXC_NONE)
         continue;
      struct agxc_ref limit = agxc_spv_image_info(s, image, checks[i].limit);
      is_there = agxc_spv_build2(s, AGXC_OP_IAND, is_there,
                                 agxc_spv_build2(s, AGXC_OP_ULT, checks[i].at, limit));
   }
   if (layer.kind != AGXC_NONE) {
      struct agxc_ref texels = agxc_spv_image_info(s, image, AGX_IMAGE_LAYER_TEXELS);
      index =
         agxc_spv_build2(s, AGXC_OP_IADD, index, agxc_spv_build2(s, AGXC_OP_IMUL, layer, texels));
   }
   *out_is_there = is_there;
   return index;
}

void agxc_spv_texel_of_sample(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                              const struct agxc_ref at[2], struct agxc_ref layer,
                              struct agxc_ref sample, struct agxc_ref out_at[2])
{
   struct agxc_ref is_there;
   struct agxc_ref index = index_of_sample(s, image, at, layer, sample, &is_there);
   split_index(s, index, is_there, out_at);
}

/* ---- atomics ----------------------------------------------------------- */

/* Index of a texel in memory. Coordinates outside go to a column, a row or a layer that the
 * driver puts behind each, so atomics there hit nothing that is read. */
static struct agxc_ref texel_index(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                                   const struct agxc_ref *coord, uint32_t count)
{
   static const struct {
      uint8_t limit, step;
   } axes[] = {
      {AGX_IMAGE_WIDTH, 0},
      {AGX_IMAGE_HEIGHT, AGX_IMAGE_ROW_TEXELS},
      {AGX_IMAGE_DEPTH, AGX_IMAGE_LAYER_TEXELS},
   };
   struct agxc_ref index = agxc_none();
   for (uint32_t i = 0; i < count; i++) {
      struct agxc_ref limit = agxc_spv_image_info(s, image, axes[i].limit);
      struct agxc_ref term = agxc_spv_build2(s, AGXC_OP_UMIN, coord[i], limit);
      if (axes[i].step)
         term = agxc_spv_build2(s, AGXC_OP_IMUL, term, agxc_spv_image_info(s, image, axes[i].step));
      index = i ? agxc_spv_build2(s, AGXC_OP_IADD, term, index) : term;
   }
   return index;
}

/* Likewise of a sample. What is outside goes behind the last layer, where the driver has room: a
 * view for atomics contains that layer, whether the code sees more than the first or not. */
static struct agxc_ref sample_index(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                                    const struct agxc_ref *coord, uint32_t count, uint32_t sample)
{
   struct agxc_ref layer = count > 2 ? coord[2] : agxc_none(), is_there;
   struct agxc_ref index =
      index_of_sample(s, image, coord, layer, agxc_spv_index(s, sample), &is_there);
   struct agxc_ref behind = agxc_spv_image_info(s, image, AGX_IMAGE_LAYER_TEXELS);
   behind =
      agxc_spv_build2(s, AGXC_OP_IMUL, behind, agxc_spv_image_info(s, image, AGX_IMAGE_DEPTH));
   return agxc_spv_select(s, is_there, index, behind);
}

/* Memory of a robust binding, whatever the code around is. */
static void point_into_buffer(struct agxc_spv *s, const struct agxc_spv_instr *in,
                              const struct agxc_spv_pointer *image)
{
   struct agxc_ref index = agxc_spv_index(s, agxc_spv_operand(s, in, 1));
   struct agxc_spv_pointer *p = agxc_spv_pointer_copy(s, image);
   p->place = AGXC_SPV_PLACE_BUFFER;
   p->type = image->type->elem;
   agxc_spv_add_dynamic(s, p, index, 4);
   agxc_spv_define_pointer(s, in, p);
}

void agxc_spv_op_texel_pointer(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_pointer *image = agxc_spv_pointer_of(s, agxc_spv_operand(s, in, 0));
   const struct agxc_spv_type *result = agxc_spv_type_of(s, in->type_id);
   if (image->place != AGXC_SPV_PLACE_HANDLE || image->type->kind != AGXC_SPV_IMAGE ||
       !image->type->image.is_storage)
      agxc_spv_invalid(s, "texel of what is no storage image");
   if (result->kind != AGXC_SPV_POINTER || result->elem != image->type->elem)
      agxc_spv_invalid(s, "result type %u", result->id);
   if (image->is_array)
      agxc_spv_invalid(s, "texel of an array of images as a whole");
   if (image->type->image.dim == SpvDimBuffer) {
      if (image->var->elements)
         agxc_spv_missing(s, "atomic on one of an array of texel buffers is not supported: use a "
                             "texel buffer of its own, or an array of storage buffers");
      point_into_buffer(s, in, image);
      return;
   }
   struct agxc_spv_type *type;
   struct agxc_ref *given = agxc_spv_value(s, agxc_spv_operand(s, in, 1), &type), coord[3];
   const struct agxc_spv_type *component = agxc_spv_component(type);
   uint32_t axes = image->type->image.dim == SpvDim1D   ? 1
                   : image->type->image.dim == SpvDim3D ? 3
                                                        : 2;
   /* The face of a stored cube is its layer already, of arrays too. */
   bool is_array = image->type->image.is_array || image->type->image.dim == SpvDimCube;
   if (!component || component->kind != AGXC_SPV_INT || type->scalars != axes + is_array)
      agxc_spv_invalid(s, "coordinates of type %u", type->id);
   uint32_t count = 0;
   for (uint32_t i = 0; i < type->scalars; i++) {
      if (i == 1 && axes == 1)
         coord[count++] = agxc_spv_u32(0); /* a row before the layer */
      coord[count++] = agxc_spv_resize(s, given[i], 32, component->is_signed);
   }
   struct agxc_spv_pointer *p = AGX_ARENA_NEW(s->arena, struct agxc_spv_pointer);
   p->place = AGXC_SPV_PLACE_GLOBAL;
   p->type = image->type->elem;
   p->base = agxc_spv_image_info(s, image, AGX_IMAGE_ADDRESS);
   struct agxc_ref texel = image->type->image.is_multisampled
                              ? sample_index(s, image, coord, count, agxc_spv_operand(s, in, 2))
                              : texel_index(s, image, coord, count);
   p->dynamic = agxc_spv_build2(s, AGXC_OP_ISHL, texel, agxc_spv_u32(2));
   agxc_spv_use_binding(s, image, AGX_BINDING_READS | AGX_BINDING_WRITES | AGX_BINDING_ATOMICS);
   agxc_spv_define_pointer(s, in, p);
}
