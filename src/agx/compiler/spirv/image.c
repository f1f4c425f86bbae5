/* SPDX-License-Identifier: MIT
 *
 * Images and samplers: their kinds, and handles. A handle is known at compile time: loading one
 * gives the variable, and OpSampledImage joins two. What a query asks for is a uniform that the
 * driver writes; for an element of an array with a dynamic index, the query loads the number from
 * memory. texture.c and texel.c use the handles.
 */
#include "agx/compiler/spirv/handler_impl.h"
#include "agx/compiler/spirv/memory_impl.h"

/* ---- kinds ------------------------------------------------------------- */

uint32_t agxc_spv_handle_kind(const struct agxc_spv_type *type)
{
   if (type->kind == AGXC_SPV_SAMPLER)
      return AGX_BINDING_KIND_SAMPLER;
   if (type->kind == AGXC_SPV_SAMPLED_IMAGE)
      return AGX_BINDING_KIND_TEXTURE_SAMPLER;
   if (type->image.dim == SpvDimBuffer)
      return type->image.is_storage ? AGX_BINDING_KIND_STORAGE_TEXEL_BUFFER
                                    : AGX_BINDING_KIND_TEXEL_BUFFER;
   return type->image.is_storage ? AGX_BINDING_KIND_STORAGE_IMAGE : AGX_BINDING_KIND_TEXTURE;
}

/* One-dimensional images are those of height 1, buffers of texels rows of 16384, and cubes that are
 * stored to layers: the hardware's own are not known well enough. Source: docs/hw/machine.md, 15.
 */
uint32_t agxc_spv_image_dim(const struct agxc_spv_type *image)
{
   bool is_array = image->image.is_array;
   if (image->image.is_multisampled)
      return is_array ? AGX_ISA_DIM_2D_MS_ARRAY : AGX_ISA_DIM_2D_MS;
   switch (image->image.dim) {
   case SpvDim3D:
      return AGX_ISA_DIM_3D;
   case SpvDimCube:
      if (!image->image.is_storage)
         return is_array ? AGX_ISA_DIM_CUBE_ARRAY : AGX_ISA_DIM_CUBE;
      return AGX_ISA_DIM_2D_ARRAY;
   default:
      return is_array ? AGX_ISA_DIM_2D_ARRAY : AGX_ISA_DIM_2D;
   }
}

/* ---- handles ----------------------------------------------------------- */

static void define_handle(struct agxc_spv *s, const struct agxc_spv_instr *in,
                          const struct agxc_spv_pointer *image,
                          const struct agxc_spv_pointer *sampler)
{
   struct agxc_spv_pointer *handle = agxc_spv_pointer_copy(s, image);
   handle->type = agxc_spv_type_of(s, in->type_id);
   handle->sampler = sampler;
   agxc_spv_define_pointer(s, in, handle);
}

void agxc_spv_load_handle(struct agxc_spv *s, const struct agxc_spv_instr *in,
                          const struct agxc_spv_pointer *p)
{
   bool is_both = p->type->kind == AGXC_SPV_SAMPLED_IMAGE;
   if (p->is_array)
      agxc_spv_invalid(s, "array of images or samplers %u as one", p->var->id);
   define_handle(s, in, p, is_both ? p : p->sampler);
}

static const struct agxc_spv_pointer *handle_of(struct agxc_spv *s, uint32_t id,
                                                enum agxc_spv_kind kind)
{
   const struct agxc_spv_pointer *handle = agxc_spv_pointer_of(s, id);
   const struct agxc_spv_type *type = agxc_spv_id(s, id)->type;
   if (handle->place != AGXC_SPV_PLACE_HANDLE || type->kind != kind)
      agxc_spv_invalid(s, "id %u of type %u is no %s", id, type->id,
                       kind == AGXC_SPV_SAMPLER ? "sampler"
                       : kind == AGXC_SPV_IMAGE ? "image"
                                                : "sampled image");
   return handle;
}

const struct agxc_spv_pointer *agxc_spv_image(struct agxc_spv *s, uint32_t id, bool sampled)
{
   return handle_of(s, id, sampled ? AGXC_SPV_SAMPLED_IMAGE : AGXC_SPV_IMAGE);
}

const struct agxc_spv_type *agxc_spv_image_type(const struct agxc_spv_pointer *image)
{
   return image->type->kind == AGXC_SPV_SAMPLED_IMAGE ? image->type->elem : image->type;
}

void agxc_spv_op_sampled_image(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_pointer *image = agxc_spv_image(s, agxc_spv_operand(s, in, 0), false);
   const struct agxc_spv_pointer *sampler =
      handle_of(s, agxc_spv_operand(s, in, 1), AGXC_SPV_SAMPLER);
   const struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   if (type->kind != AGXC_SPV_SAMPLED_IMAGE || type->elem != image->type)
      agxc_spv_invalid(s, "result type %u", type->id);
   define_handle(s, in, image, sampler);
}

void agxc_spv_op_image(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_pointer *both = agxc_spv_image(s, agxc_spv_operand(s, in, 0), true);
   if (agxc_spv_type_of(s, in->type_id) != both->type->elem)
      agxc_spv_invalid(s, "result type %u", in->type_id);
   define_handle(s, in, both, NULL);
}

/* ---- queries ----------------------------------------------------------- */

void agxc_spv_heap_place(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                         enum agx_heap_part part, struct agxc_ref *out_heap,
                         struct agxc_ref *out_place)
{
   uint32_t binding = agxc_spv_use_binding(s, image, 0);
   uint32_t stride_B = part == AGX_HEAP_NUMBERS ? AGX_HEAP_NUMBERS_B : AGX_HEAP_DESCRIPTOR_B;
   *out_heap = *out_place = agxc_none();
   if (image->dynamic.kind == AGXC_NONE)
      return;
   *out_heap = agxc_build_heap_address(&s->b, binding, part);
   *out_place = agxc_spv_build2(s, AGXC_OP_IMUL, image->dynamic, agxc_spv_u32(stride_B));
}

/* Of an element of an array with a dynamic index. */
static struct agxc_ref load_info(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                                 enum agx_image_property property)
{
   struct agxc_ref heap, place, words[2];
   bool is_address = property == AGX_IMAGE_ADDRESS;
   agxc_spv_heap_place(s, image, AGX_HEAP_NUMBERS, &heap, &place);
   place = agxc_spv_build2(s, AGXC_OP_IADD, place,
                           agxc_spv_u32(is_address ? AGX_HEAP_ADDRESS_B : 4 * (uint32_t)property));
   struct agxc_ref number = agxc_build_load_global(&s->b, 32, is_address ? 2 : 1, heap, place,
                                                   AGXC_ACCESS_CONST | AGXC_ACCESS_RESTRICT);
   if (!is_address)
      return number;
   agxc_split(&s->b, number, words);
   return agxc_spv_build2(s, AGXC_OP_PACK64, words[0], words[1]);
}

struct agxc_ref agxc_spv_image_info(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                                    enum agx_image_property property)
{
   if (image->dynamic.kind != AGXC_NONE && property != AGX_IMAGE_ELEMENTS)
      return load_info(s, image, property);
   uint32_t binding = agxc_spv_use_binding(s, image, 0);
   uint32_t which = property | image->element << AGX_IMAGE_ELEMENT_SHIFT;
   return agxc_build_image_info(&s->b, property == AGX_IMAGE_ADDRESS ? 64 : 32, binding, which);
}

/* Sides of a level: those of level 0 by powers of two, never below 1, but 0 where no image is. */
static struct agxc_ref side(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                            enum agx_image_property property, struct agxc_ref level)
{
   struct agxc_ref size = agxc_spv_image_info(s, image, property);
   if (level.kind == AGXC_NONE || (level.kind == AGXC_IMM && level.imm == 0))
      return size;
   struct agxc_ref least = agxc_spv_build2(s, AGXC_OP_UMIN, size, agxc_spv_u32(1));
   size = agxc_spv_build2(s, AGXC_OP_USHR, size, level);
   return agxc_spv_build2(s, AGXC_OP_UMAX, size, least);
}

static struct agxc_ref layers(struct agxc_spv *s, const struct agxc_spv_pointer *image)
{
   const struct agxc_spv_type *type = agxc_spv_image_type(image);
   struct agxc_ref count = agxc_spv_image_info(s, image, AGX_IMAGE_DEPTH);
   if (type->image.dim == SpvDimCube && type->image.is_storage)
      count = agxc_spv_build2(s, AGXC_OP_UDIV, count, agxc_spv_u32(6));
   return count;
}

/* refs are kept. */
static void define_ints(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t count,
                        struct agxc_ref *refs)
{
   const struct agxc_spv_type *type = agxc_spv_result_type(s, in, AGXC_SPV_INT);
   if (agxc_spv_component(type)->bits != 32 || type->scalars != count)
      agxc_spv_invalid(s, "result type %u, %u numbers", type->id, count);
   agxc_spv_define(s, in, refs);
}

void agxc_spv_op_image_size(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_pointer *image = agxc_spv_image(s, agxc_spv_operand(s, in, 0), false);
   const struct agxc_spv_type *type = agxc_spv_image_type(image);
   bool has_level = in->opcode == SpvOpImageQuerySizeLod;
   struct agxc_ref level = has_level ? agxc_spv_index(s, agxc_spv_operand(s, in, 1)) : agxc_none();
   struct agxc_ref *out = agxc_spv_refs(s, 4);
   uint32_t count = 0;
   out[count++] = side(s, image, AGX_IMAGE_WIDTH, level);
   if (type->image.dim != SpvDim1D && type->image.dim != SpvDimBuffer)
      out[count++] = side(s, image, AGX_IMAGE_HEIGHT, level);
   if (type->image.dim == SpvDim3D)
      out[count++] = side(s, image, AGX_IMAGE_DEPTH, level);
   if (type->image.is_array)
      out[count++] = layers(s, image);
   define_ints(s, in, count, out);
}

/* Samples, too. */
void agxc_spv_op_image_levels(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_pointer *image = agxc_spv_image(s, agxc_spv_operand(s, in, 0), false);
   bool is_samples = in->opcode == SpvOpImageQuerySamples;
   if (is_samples != agxc_spv_image_type(image)->image.is_multisampled)
      agxc_spv_invalid(s, "of image type %u", image->type->id);
   agxc_spv_define_scalar(
      s, in, AGXC_SPV_INT,
      agxc_spv_image_info(s, image, is_samples ? AGX_IMAGE_SAMPLES : AGX_IMAGE_LEVELS));
}
