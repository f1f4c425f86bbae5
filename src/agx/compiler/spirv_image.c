/* SPDX-License-Identifier: MIT
 *
 * Images and samplers: their types, and handles. A handle is known at compile time: loading
 * one gives the variable, and OpSampledImage joins two. What a query asks for is a uniform that
 * the driver writes. Atomics on an image are atomics on memory, which a linear layout allows.
 */
#include "agx/compiler/spirv_impl.h"

/* ---- types ------------------------------------------------------------- */

static void check_sampled_type(struct agxc_spv *s, const struct agxc_spv_type *type)
{
   if (type->kind != AGXC_SPV_INT && type->kind != AGXC_SPV_FLOAT)
      agxc_spv_missing(s, "image of type %u, which is no number", type->id);
   if (type->bits != 32)
      agxc_spv_missing(s, "image of %u-bit components", type->bits);
}

static void read_image(struct agxc_spv *s, const struct agxc_spv_instr *in,
                       struct agxc_spv_type *type)
{
   static const char *const refused[] = {
      [SpvDimRect] = "Rect", [SpvDimBuffer] = "Buffer", [SpvDimSubpassData] = "SubpassData"};
   uint32_t dim = agxc_spv_operand(s, in, 1), sampled = agxc_spv_operand(s, in, 5);
   type->kind = AGXC_SPV_IMAGE;
   type->elem = agxc_spv_type_of(s, agxc_spv_operand(s, in, 0));
   check_sampled_type(s, type->elem);
   if (dim > SpvDimSubpassData || (sampled != 1 && sampled != 2))
      agxc_spv_missing(s, "image of dimension %u, Sampled %u", dim, sampled);
   if (dim > SpvDimCube)
      agxc_spv_missing(s, "image of dimension %s", refused[dim]);
   if (agxc_spv_operand(s, in, 4))
      agxc_spv_missing(s, "multisampled image");
   type->image.dim = (uint8_t)dim;
   type->image.is_array = agxc_spv_operand(s, in, 3) != 0;
   type->image.is_storage = sampled == 2;
   if (dim == SpvDim3D && type->image.is_array)
      agxc_spv_invalid(s, "array of 3D images");
   s->any_storage_image |= type->image.is_storage;
}

void agxc_spv_read_image_type(struct agxc_spv *s, const struct agxc_spv_instr *in,
                              struct agxc_spv_type *type)
{
   if (in->opcode == SpvOpTypeImage) {
      read_image(s, in, type);
      return;
   }
   type->kind = in->opcode == SpvOpTypeSampler ? AGXC_SPV_SAMPLER : AGXC_SPV_SAMPLED_IMAGE;
   if (in->opcode == SpvOpTypeSampler)
      return;
   type->elem = agxc_spv_type_of(s, agxc_spv_operand(s, in, 0));
   if (type->elem->kind != AGXC_SPV_IMAGE || type->elem->image.is_storage)
      agxc_spv_invalid(s, "type %u can't be sampled", type->elem->id);
}

uint32_t agxc_spv_handle_kind(struct agxc_spv *s, const struct agxc_spv_type *type)
{
   (void)s;
   if (type->kind == AGXC_SPV_SAMPLER)
      return AGX_BINDING_KIND_SAMPLER;
   if (type->kind == AGXC_SPV_SAMPLED_IMAGE)
      return AGX_BINDING_KIND_TEXTURE_SAMPLER;
   return type->image.is_storage ? AGX_BINDING_KIND_STORAGE_IMAGE : AGX_BINDING_KIND_TEXTURE;
}

/* One-dimensional images are those of height 1, and cubes that are stored to layers: the
 * hardware's own are not known well enough. Source: reference/isa, 15. */
uint32_t agxc_spv_image_dim(const struct agxc_spv_type *image)
{
   bool is_array = image->image.is_array;
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
                          struct agxc_spv_variable *var, struct agxc_spv_variable *sampler)
{
   struct agxc_spv_pointer *handle = AGX_ARENA_NEW(s->arena, struct agxc_spv_pointer);
   handle->place = AGXC_SPV_PLACE_HANDLE;
   handle->type = agxc_spv_type_of(s, in->type_id);
   handle->var = var;
   handle->sampler = sampler;
   agxc_spv_define_pointer(s, in, handle);
}

void agxc_spv_load_handle(struct agxc_spv *s, const struct agxc_spv_instr *in,
                          const struct agxc_spv_pointer *p)
{
   bool is_both = p->type->kind == AGXC_SPV_SAMPLED_IMAGE;
   define_handle(s, in, p->var, is_both ? p->var : p->sampler);
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
   define_handle(s, in, image->var, sampler->var);
}

void agxc_spv_op_image(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_pointer *both = agxc_spv_image(s, agxc_spv_operand(s, in, 0), true);
   if (agxc_spv_type_of(s, in->type_id) != both->type->elem)
      agxc_spv_invalid(s, "result type %u", in->type_id);
   define_handle(s, in, both->var, NULL);
}

/* ---- queries ----------------------------------------------------------- */

struct agxc_ref agxc_spv_image_info(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                                    enum agx_image_property property)
{
   uint32_t imms[] = {agxc_spv_use_binding(s, image, 0), property};
   unsigned bits = property == AGX_IMAGE_ADDRESS ? 64 : 32;
   return agxc_spv_emit(s, AGXC_OP_IMAGE_INFO, bits, 1, 0, NULL, 2, imms);
}

/* Sides of a level: those of level 0 by powers of two, never below 1. */
static struct agxc_ref side(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                            enum agx_image_property property, struct agxc_ref level)
{
   struct agxc_ref size = agxc_spv_image_info(s, image, property);
   if (level.kind == AGXC_NONE || (level.kind == AGXC_IMM && level.imm == 0))
      return size;
   size = agxc_spv_build2(s, AGXC_OP_USHR, 32, size, level);
   return agxc_spv_build2(s, AGXC_OP_UMAX, 32, size, agxc_spv_u32(1));
}

static struct agxc_ref layers(struct agxc_spv *s, const struct agxc_spv_pointer *image)
{
   const struct agxc_spv_type *type = agxc_spv_image_type(image);
   struct agxc_ref count = agxc_spv_image_info(s, image, AGX_IMAGE_DEPTH);
   if (type->image.dim == SpvDimCube && type->image.is_storage)
      count = agxc_spv_build2(s, AGXC_OP_UDIV, 32, count, agxc_spv_u32(6));
   return count;
}

static void define_ints(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t count,
                        const struct agxc_ref *refs)
{
   const struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   const struct agxc_spv_type *component = agxc_spv_component(type);
   if (!component || component->kind != AGXC_SPV_INT || component->bits != 32 ||
       type->scalars != count)
      agxc_spv_invalid(s, "result type %u, %u numbers", type->id, count);
   struct agxc_ref *out = agxc_spv_refs(s, count);
   memcpy(out, refs, count * sizeof(*out));
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_image_size(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_pointer *image = agxc_spv_image(s, agxc_spv_operand(s, in, 0), false);
   const struct agxc_spv_type *type = agxc_spv_image_type(image);
   bool has_level = in->opcode == SpvOpImageQuerySizeLod;
   struct agxc_ref level = has_level ? agxc_spv_index(s, agxc_spv_operand(s, in, 1)) : agxc_none();
   struct agxc_ref out[4];
   uint32_t count = 0;
   out[count++] = side(s, image, AGX_IMAGE_WIDTH, level);
   if (type->image.dim != SpvDim1D)
      out[count++] = side(s, image, AGX_IMAGE_HEIGHT, level);
   if (type->image.dim == SpvDim3D)
      out[count++] = side(s, image, AGX_IMAGE_DEPTH, level);
   if (type->image.is_array)
      out[count++] = layers(s, image);
   define_ints(s, in, count, out);
}

void agxc_spv_op_image_levels(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_pointer *image = agxc_spv_image(s, agxc_spv_operand(s, in, 0), false);
   struct agxc_ref levels = agxc_spv_image_info(s, image, AGX_IMAGE_LEVELS);
   define_ints(s, in, 1, &levels);
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
      struct agxc_ref term = agxc_spv_build2(s, AGXC_OP_UMIN, 32, coord[i], limit);
      if (axes[i].step)
         term =
            agxc_spv_build2(s, AGXC_OP_IMUL, 32, term, agxc_spv_image_info(s, image, axes[i].step));
      index = i ? agxc_spv_build2(s, AGXC_OP_IADD, 32, term, index) : term;
   }
   return index;
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
   if (image->type->image.dim == SpvDim3D || image->type->image.dim == SpvDimCube)
      agxc_spv_missing(s, "atomic on a %s image",
                       image->type->image.dim == SpvDim3D ? "3D" : "cube");
   struct agxc_spv_type *type;
   struct agxc_ref *given = agxc_spv_value(s, agxc_spv_operand(s, in, 1), &type), coord[3];
   const struct agxc_spv_type *component = agxc_spv_component(type);
   uint32_t axes = image->type->image.dim == SpvDim1D ? 1 : 2;
   bool is_array = image->type->image.is_array;
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
   p->dynamic =
      agxc_spv_build2(s, AGXC_OP_ISHL, 32, texel_index(s, image, coord, count), agxc_spv_u32(2));
   agxc_spv_use_binding(s, image, AGX_BINDING_READS | AGX_BINDING_WRITES | AGX_BINDING_ATOMICS);
   agxc_spv_define_pointer(s, in, p);
}
