/* SPDX-License-Identifier: MIT
 *
 * Loads, samples and stores of texels. The hardware gives zero for coordinates outside of a
 * level, but clamps the level itself, and layers: one select then moves x to where no image
 * reaches. Where the level is known to be there, nothing is added.
 * Source: reference/cmdstream robustness.md 5.1, reference/isa 14.
 */
#include "agx/compiler/spirv_impl.h"
#include "robustness/image.h"

struct operands {
   uint32_t lod, offset, dx, dy; /* ids, or 0 */
};

/* The optional image operands from operand i on. */
static struct operands read_operands(struct agxc_spv *s, const struct agxc_spv_instr *in,
                                     uint32_t i)
{
   static const struct {
      uint32_t bit;
      uint8_t words;
      const char *refused; /* NULL: taken, or without effect here */
   } rows[] = {
      {SpvImageOperandsBiasMask, 1, "Bias"},
      {SpvImageOperandsLodMask, 1, NULL},
      {SpvImageOperandsGradMask, 2, NULL},
      {SpvImageOperandsConstOffsetMask, 1, NULL},
      {SpvImageOperandsOffsetMask, 1, NULL},
      {SpvImageOperandsConstOffsetsMask, 1, "ConstOffsets"},
      {SpvImageOperandsSampleMask, 1, "Sample"},
      {SpvImageOperandsMinLodMask, 1, "MinLod"},
      {SpvImageOperandsMakeTexelAvailableMask, 1, NULL},
      {SpvImageOperandsMakeTexelVisibleMask, 1, NULL},
      {SpvImageOperandsNonPrivateTexelMask, 0, NULL},
      {SpvImageOperandsVolatileTexelMask, 0, NULL},
      {SpvImageOperandsSignExtendMask, 0, NULL},
      {SpvImageOperandsZeroExtendMask, 0, NULL},
   };
   struct operands operands = {0};
   if (i >= agxc_spv_operand_count(in))
      return operands;
   uint32_t mask = agxc_spv_operand(s, in, i++);
   for (size_t row = 0; row < AGX_COUNT(rows); row++) {
      if (!(mask & rows[row].bit))
         continue;
      mask &= ~rows[row].bit;
      if (rows[row].refused)
         agxc_spv_missing(s, "image operand %s", rows[row].refused);
      uint32_t id = rows[row].words ? agxc_spv_operand(s, in, i) : 0;
      if (rows[row].bit == SpvImageOperandsGradMask) {
         operands.dx = id;
         operands.dy = agxc_spv_operand(s, in, i + 1);
      }
      i += rows[row].words;
      if (rows[row].bit == SpvImageOperandsLodMask)
         operands.lod = id;
      if (rows[row].bit == SpvImageOperandsConstOffsetMask ||
          rows[row].bit == SpvImageOperandsOffsetMask)
         operands.offset = id;
   }
   if (mask)
      agxc_spv_missing(s, "image operands 0x%x", mask);
   return operands;
}

/* ---- coordinates ------------------------------------------------------- */

struct coordinates {
   struct agxc_ref at[4];
   uint32_t count;
   uint32_t layer; /* which of them, or 0 */
};

static const struct agxc_spv_type *component_of(struct agxc_spv *s, uint32_t id,
                                                struct agxc_ref **refs, uint32_t *count)
{
   struct agxc_spv_type *type;
   *refs = agxc_spv_value(s, id, &type);
   const struct agxc_spv_type *component = agxc_spv_component(type);
   if (!component || type->kind == AGXC_SPV_COOPERATIVE)
      agxc_spv_invalid(s, "id %u of type %u is no vector of numbers", id, type->id);
   *count = type->scalars;
   return component;
}

/* x, y, z as many as the image has, then the layer. `row` is the y of one-dimensional images. */
static struct coordinates read_coordinates(struct agxc_spv *s, const struct agxc_spv_type *image,
                                           uint32_t id, enum agxc_spv_kind kind,
                                           struct agxc_ref row)
{
   static const uint8_t axes_of[] = {
      [SpvDim1D] = 1, [SpvDim2D] = 2, [SpvDim3D] = 3, [SpvDimCube] = 3};
   struct coordinates c = {0};
   struct agxc_ref *refs;
   uint32_t given, axes = axes_of[image->image.dim];
   const struct agxc_spv_type *component = component_of(s, id, &refs, &given);
   /* The face of a stored cube is its layer already, of arrays too. */
   bool has_layer = image->image.is_array;
   if (image->image.dim == SpvDimCube && kind == AGXC_SPV_INT) {
      axes = 2;
      has_layer = true;
   }
   if (component->kind != kind || given < axes + has_layer)
      agxc_spv_invalid(s, "coordinates %u", id);
   if (kind == AGXC_SPV_FLOAT && component->bits != 32)
      agxc_spv_missing(s, "coordinates of %u bits", component->bits);
   for (uint32_t i = 0; i < axes + has_layer; i++) {
      if (i == 1 && axes == 1)
         c.at[c.count++] = row;
      if (i == axes)
         c.layer = c.count;
      c.at[c.count++] =
         kind == AGXC_SPV_INT ? agxc_spv_resize(s, refs[i], 32, component->is_signed) : refs[i];
   }
   if (c.count == 1)
      c.at[c.count++] = row;
   return c;
}

/* Four bits for each axis; Vulkan's offsets go from -8 to 7. */
static struct agxc_ref pack_offset(struct agxc_spv *s, uint32_t id)
{
   struct agxc_ref *refs, packed = agxc_spv_u32(0);
   uint32_t count;
   if (!id)
      return agxc_none();
   const struct agxc_spv_type *component = component_of(s, id, &refs, &count);
   if (component->kind != AGXC_SPV_INT || component->bits != 32 || count > 3)
      agxc_spv_invalid(s, "offset %u", id);
   for (uint32_t i = 0; i < count; i++) {
      if (refs[i].kind == AGXC_IMM &&
          (int32_t)refs[i].imm != (int32_t)((refs[i].imm & 7) - (refs[i].imm & 8)))
         agxc_spv_missing(s, "texel offset %d", (int)(int32_t)refs[i].imm);
      struct agxc_ref part = agxc_spv_build2(s, AGXC_OP_IAND, 32, refs[i], agxc_spv_u32(15));
      part = agxc_spv_build2(s, AGXC_OP_ISHL, 32, part, agxc_spv_u32(4 * i));
      packed = agxc_spv_build2(s, AGXC_OP_IOR, 32, packed, part);
   }
   return agxc_spv_build1(s, AGXC_OP_TRUNC, 16, packed);
}

static bool is_zero(const struct agxc_ref *ref)
{
   return ref->kind == AGXC_IMM && ref->imm == 0;
}

/* Moves x away where level or layer are not the view's. */
static void guard(struct agxc_spv *s, const struct agxc_spv_pointer *image, struct agxc_ref level,
                  struct coordinates *c)
{
   struct agxc_ref bad = agxc_none();
   if (level.kind != AGXC_NONE && !is_zero(&level)) {
      struct agxc_ref last = agxc_spv_image_info(s, image, AGX_IMAGE_LAST_LEVEL);
      bad = agxc_spv_build2(s, AGXC_OP_ULT, 1, last, level);
   }
   if (c->layer) {
      struct agxc_ref layers = agxc_spv_image_info(s, image, AGX_IMAGE_DEPTH);
      struct agxc_ref no_layer = agxc_spv_build2(s, AGXC_OP_UGE, 1, c->at[c->layer], layers);
      bad = bad.kind == AGXC_NONE ? no_layer : agxc_spv_build2(s, AGXC_OP_IOR, 1, bad, no_layer);
   }
   if (bad.kind != AGXC_NONE)
      c->at[0] = agxc_spv_select(s, bad, agxc_spv_u32(AGXR_FAR_OUTSIDE), c->at[0]);
}

/* The nearest layer that there is. Source: reference/cmdstream robustness.md 5.2. */
static void round_layer(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                        struct coordinates *c)
{
   if (!c->layer)
      return;
   struct agxc_ref *layer = &c->at[c->layer];
   struct agxc_ref last = agxc_spv_build2(
      s, AGXC_OP_ISUB, 32, agxc_spv_image_info(s, image, AGX_IMAGE_DEPTH), agxc_spv_u32(1));
   *layer = agxc_spv_build1(s, AGXC_OP_FRINT, 32, *layer);
   *layer = agxc_spv_build1(s, AGXC_OP_F2U, 32, *layer); /* negative ones become 0 */
   *layer = agxc_spv_build2(s, AGXC_OP_UMIN, 32, *layer, last);
}

static struct agxc_ref vector_of(struct agxc_spv *s, const struct coordinates *c)
{
   return agxc_collect(&s->b, c->count, c->at);
}

/* ---- results ----------------------------------------------------------- */

static void define_texel(struct agxc_spv *s, const struct agxc_spv_instr *in,
                         const struct agxc_spv_type *image, struct agxc_ref texel)
{
   const struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   const struct agxc_spv_type *component = agxc_spv_component(type);
   struct agxc_ref elements[4];
   if (!component || component->kind != image->elem->kind || component->bits != 32 ||
       type->kind == AGXC_SPV_COOPERATIVE)
      agxc_spv_invalid(s, "result type %u of image type %u", type->id, image->id);
   agxc_split(&s->b, texel, elements);
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   memcpy(out, elements, type->scalars * sizeof(*out));
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_image_fetch(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_pointer *image = agxc_spv_image(s, agxc_spv_operand(s, in, 0), false);
   const struct agxc_spv_type *type = agxc_spv_image_type(image);
   struct operands operands = read_operands(s, in, 2);
   if (type->image.is_storage != (in->opcode == SpvOpImageRead))
      agxc_spv_invalid(s, "of image type %u", type->id);
   struct coordinates c =
      read_coordinates(s, type, agxc_spv_operand(s, in, 1), AGXC_SPV_INT, agxc_spv_u32(0));
   struct agxc_ref level = operands.lod ? agxc_spv_index(s, operands.lod) : agxc_none();
   if (type->image.is_storage && operands.lod)
      agxc_spv_missing(s, "image operand Lod of a storage image");
   guard(s, image, level, &c);
   if (is_zero(&level))
      level = agxc_none();
   if (level.kind != AGXC_NONE)
      level = agxc_spv_build1(s, AGXC_OP_TRUNC, 16, level);
   struct agxc_ref srcs[] = {vector_of(s, &c), level, pack_offset(s, operands.offset)};
   uint32_t imms[] = {agxc_spv_use_binding(s, image, AGX_BINDING_READS), agxc_spv_image_dim(type)};
   enum agxc_op op = type->image.is_storage ? AGXC_OP_IMAGE_LOAD : AGXC_OP_IMAGE_FETCH;
   define_texel(s, in, type, agxc_spv_emit(s, op, 32, 4, 3, srcs, 2, imms));
}

/* The derivatives of x, then of y, each along columns and rows. */
static struct agxc_ref gradients(struct agxc_spv *s, const struct agxc_spv_type *image,
                                 const struct operands *operands)
{
   struct agxc_ref *d[2], out[4];
   uint32_t ids[2] = {operands->dx, operands->dy}, axes = image->image.dim == SpvDim1D ? 1 : 2;
   if (image->image.dim == SpvDim3D || image->image.dim == SpvDimCube)
      agxc_spv_missing(s, "image operand Grad of three coordinates");
   for (uint32_t i = 0; i < 2; i++) {
      uint32_t count;
      const struct agxc_spv_type *component = component_of(s, ids[i], &d[i], &count);
      if (component->kind != AGXC_SPV_FLOAT || component->bits != 32 || count != axes)
         agxc_spv_invalid(s, "derivatives %u", ids[i]);
      out[i] = d[i][0];
      out[2 + i] = axes > 1 ? d[i][1] : agxc_spv_u32(0);
   }
   return agxc_collect(&s->b, 4, out);
}

/* A half, or derivatives; none of what is gathered, which the first level gives. */
static struct agxc_ref sample_level(struct agxc_spv *s, const struct agxc_spv_type *image,
                                    const struct operands *operands, bool is_gather)
{
   if (is_gather && (operands->lod || operands->dx))
      agxc_spv_missing(s, "level of an ImageGather");
   if (is_gather)
      return agxc_none();
   if (operands->dx)
      return gradients(s, image, operands);
   if (!operands->lod)
      agxc_spv_invalid(s, "without Lod or Grad");
   struct agxc_ref level = agxc_spv_scalar(s, operands->lod, AGXC_SPV_FLOAT);
   return level.bits == 16 ? level : agxc_spv_build1(s, AGXC_OP_F2F, 16, level);
}

void agxc_spv_op_image_sample(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_pointer *image = agxc_spv_image(s, agxc_spv_operand(s, in, 0), true);
   const struct agxc_spv_type *type = agxc_spv_image_type(image);
   bool is_gather = in->opcode == SpvOpImageGather;
   struct operands operands = read_operands(s, in, is_gather ? 3 : 2);
   uint32_t gather = 0;
   if (is_gather)
      gather = 1 + agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 2));
   if (gather > 4)
      agxc_spv_invalid(s, "component %u", gather - 1);
   struct coordinates c =
      read_coordinates(s, type, agxc_spv_operand(s, in, 1), AGXC_SPV_FLOAT, agxc_spv_f32(0.5f));
   round_layer(s, image, &c);
   struct agxc_ref level = sample_level(s, type, &operands, is_gather);
   struct agxc_ref srcs[] = {vector_of(s, &c), level, pack_offset(s, operands.offset)};
   struct agxc_spv_pointer sampler = {.var = image->sampler};
   uint32_t imms[] = {agxc_spv_use_binding(s, image, AGX_BINDING_READS), agxc_spv_image_dim(type),
                      agxc_spv_use_binding(s, &sampler, AGX_BINDING_READS), gather};
   define_texel(s, in, type, agxc_spv_emit(s, AGXC_OP_IMAGE_SAMPLE, 32, 4, 3, srcs, 4, imms));
}

/* Derivatives are those of a quad of pixels, which compute programs don't have. */
void agxc_spv_op_image_implicit(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   (void)in;
   agxc_spv_missing(s, "implicit level of detail in a compute shader");
}

void agxc_spv_op_image_write(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_pointer *image = agxc_spv_image(s, agxc_spv_operand(s, in, 0), false);
   const struct agxc_spv_type *type = agxc_spv_image_type(image);
   if (!type->image.is_storage)
      agxc_spv_invalid(s, "to image type %u, which is no storage image", type->id);
   if (read_operands(s, in, 3).lod)
      agxc_spv_missing(s, "image operand Lod of a storage image");
   struct coordinates c =
      read_coordinates(s, type, agxc_spv_operand(s, in, 1), AGXC_SPV_INT, agxc_spv_u32(0));
   /* Layers have 16 bits, and those outside are dropped. */
   if (c.layer)
      c.at[c.layer] = agxc_spv_build2(s, AGXC_OP_UMIN, 32, c.at[c.layer], agxc_spv_u32(UINT16_MAX));
   struct agxc_ref *refs, texel[4];
   uint32_t count;
   const struct agxc_spv_type *component =
      component_of(s, agxc_spv_operand(s, in, 2), &refs, &count);
   if (component->kind != type->elem->kind || component->bits != 32)
      agxc_spv_invalid(s, "texel of another type than image type %u", type->id);
   for (uint32_t i = 0; i < 4; i++)
      texel[i] = i < count ? refs[i] : agxc_spv_u32(0);
   struct agxc_ref srcs[] = {vector_of(s, &c), agxc_collect(&s->b, 4, texel)};
   uint32_t imms[] = {agxc_spv_use_binding(s, image, AGX_BINDING_WRITES), agxc_spv_image_dim(type)};
   agxc_spv_emit(s, AGXC_OP_IMAGE_STORE, 0, 0, 2, srcs, 2, imms);
}
