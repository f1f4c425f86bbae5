/* SPDX-License-Identifier: MIT
 *
 * Loads, samples and stores of texels. The hardware gives zero for coordinates outside of a
 * level, but clamps the level itself, and layers: one select then moves x to where no image
 * reaches. Where the level is known to be there, nothing is added.
 * Source: docs/hw/access.md 5.1, docs/hw/machine.md 14.
 *
 * An implicit level of detail becomes gradients, which quad.c computes; a bias scales them. Refused
 * by name: levels of gathers.
 */
#include "agx/compiler/spirv/handler_impl.h"
#include "agx/compiler/spirv/memory_impl.h"
#include "robustness/image.h"

struct operands {
   uint32_t none; /* offset 0 in the table of read_operands() */
   uint32_t bias, lod, offset, offsets, gradients[2], sample, least; /* ids, or 0 */
};

/* Operands that say or change the level of detail. */
#define OF_LEVELS                                                                                  \
   (SpvImageOperandsBiasMask | SpvImageOperandsLodMask | SpvImageOperandsGradMask |                \
    SpvImageOperandsMinLodMask)

/* The optional image operands from operand i on, but for those that the instruction can't have. */
static struct operands read_operands(struct agxc_spv *s, const struct agxc_spv_instr *in,
                                     uint32_t i, uint32_t wrong)
{
   static const struct {
      uint32_t bit;
      uint8_t words;
      const char *name; /* of those that may be wrong */
      size_t offset;    /* of the first id in struct operands; 0: without effect here */
   } rows[] = {
      {SpvImageOperandsBiasMask, 1, "Bias", offsetof(struct operands, bias)},
      {SpvImageOperandsLodMask, 1, "Lod", offsetof(struct operands, lod)},
      {SpvImageOperandsGradMask, 2, "Grad", offsetof(struct operands, gradients)},
      {SpvImageOperandsConstOffsetMask, 1, NULL, offsetof(struct operands, offset)},
      {SpvImageOperandsOffsetMask, 1, NULL, offsetof(struct operands, offset)},
      {SpvImageOperandsConstOffsetsMask, 1, NULL, offsetof(struct operands, offsets)},
      {SpvImageOperandsSampleMask, 1, NULL, offsetof(struct operands, sample)},
      {SpvImageOperandsMinLodMask, 1, "MinLod", offsetof(struct operands, least)},
      {SpvImageOperandsMakeTexelAvailableMask, 1, NULL, 0},
      {SpvImageOperandsMakeTexelVisibleMask, 1, NULL, 0},
      {SpvImageOperandsNonPrivateTexelMask, 0, NULL, 0},
      {SpvImageOperandsVolatileTexelMask, 0, NULL, 0},
      {SpvImageOperandsSignExtendMask, 0, NULL, 0},
      {SpvImageOperandsZeroExtendMask, 0, NULL, 0},
      {SpvImageOperandsNontemporalMask, 0, NULL, 0},
   };
   struct operands operands = {0};
   if (i >= agxc_spv_operand_count(in))
      return operands;
   uint32_t mask = agxc_spv_operand(s, in, i++);
   for (size_t row = 0; row < AGX_COUNT(rows); row++) {
      if (!(mask & rows[row].bit))
         continue;
      mask &= ~rows[row].bit;
      if (wrong & rows[row].bit)
         agxc_spv_invalid(s, "image operand %s, which this instruction can't have", rows[row].name);
      uint32_t *ids = (uint32_t *)((char *)&operands + rows[row].offset);
      for (uint32_t word = 0; word < rows[row].words; word++) {
         uint32_t id = agxc_spv_operand(s, in, i++);
         if (rows[row].offset)
            ids[word] = id;
      }
   }
   if (mask)
      agxc_spv_missing(s, "image operands 0x%x are not supported: leave out what is new in them",
                       mask);
   return operands;
}

/* Coordinates by dimension of an image, without the layer. */
static const uint8_t axes_of[] = {
   [SpvDim1D] = 1, [SpvDim2D] = 2, [SpvDim3D] = 3, [SpvDimCube] = 3, [SpvDimBuffer] = 1};

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
      agxc_spv_missing(s, "coordinates of %u bits are not supported: use 32", component->bits);
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
static struct agxc_ref pack_axes(struct agxc_spv *s, const struct agxc_ref *refs, uint32_t count)
{
   struct agxc_ref packed = agxc_spv_u32(0);
   for (uint32_t i = 0; i < count; i++) {
      if (refs[i].kind == AGXC_IMM &&
          (int32_t)refs[i].imm != (int32_t)((refs[i].imm & 7) - (refs[i].imm & 8)))
         agxc_spv_missing(s, "texel offset %d is out of range: -8 to 7", (int)(int32_t)refs[i].imm);
      struct agxc_ref part = agxc_spv_build2(s, AGXC_OP_IAND, refs[i], agxc_spv_u32(15));
      part = agxc_spv_build2(s, AGXC_OP_ISHL, part, agxc_spv_u32(4 * i));
      packed = agxc_spv_build2(s, AGXC_OP_IOR, packed, part);
   }
   return packed;
}

/* 32 bits of which 16 count, or AGXC_NONE. */
static struct agxc_ref pack_offset(struct agxc_spv *s, uint32_t id)
{
   struct agxc_ref *refs;
   uint32_t count;
   if (!id)
      return agxc_none();
   const struct agxc_spv_type *component = component_of(s, id, &refs, &count);
   if (component->kind != AGXC_SPV_INT || component->bits != 32 || count > 3)
      agxc_spv_invalid(s, "offset %u", id);
   return pack_axes(s, refs, count);
}

/* The operand that holds a number to compare with, and an offset; each may be AGXC_NONE. */
static struct agxc_ref extra_of(struct agxc_spv *s, struct agxc_ref reference,
                                struct agxc_ref offset)
{
   struct agxc_ref both[2] = {reference, offset};
   if (reference.kind == AGXC_NONE)
      return offset.kind == AGXC_NONE ? offset : agxc_spv_build1(s, AGXC_OP_TRUNC, 16, offset);
   return offset.kind == AGXC_NONE ? reference : agxc_collect(&s->b, 2, both);
}

static bool is_zero(const struct agxc_ref *ref)
{
   return ref->kind == AGXC_IMM && ref->imm == 0;
}

/* Moves x away unless the number is below the limit. */
static void guard_by(struct agxc_spv *s, struct agxc_ref number, struct agxc_ref limit,
                     struct coordinates *c)
{
   struct agxc_ref is_there = agxc_spv_build2(s, AGXC_OP_ULT, number, limit);
   c->at[0] = agxc_spv_select(s, is_there, c->at[0], agxc_spv_u32(AGXR_FAR_OUTSIDE));
}

/* Moves x away where level or layer are not the view's. One select each: what joins conditions
 * costs as much. */
static void guard(struct agxc_spv *s, const struct agxc_spv_pointer *image, struct agxc_ref level,
                  struct coordinates *c)
{
   if (level.kind != AGXC_NONE && !is_zero(&level)) {
      struct agxc_ref last = agxc_spv_image_info(s, image, AGX_IMAGE_LAST_LEVEL);
      struct agxc_ref bad = agxc_spv_build2(s, AGXC_OP_ULT, last, level);
      c->at[0] = agxc_spv_select(s, bad, agxc_spv_u32(AGXR_FAR_OUTSIDE), c->at[0]);
   }
   if (c->layer)
      guard_by(s, c->at[c->layer], agxc_spv_image_info(s, image, AGX_IMAGE_DEPTH), c);
}

/* Sample, with the layer in its high half: after the layer's check. */
static void add_sample(struct agxc_spv *s, const struct agxc_spv_pointer *image, uint32_t id,
                       struct coordinates *c)
{
   struct agxc_ref sample = agxc_spv_index(s, id), word = sample;
   bool is_known = sample.kind == AGXC_IMM && sample.imm < 2; /* all such images have two */
   if (!is_known)
      guard_by(s, sample, agxc_spv_image_info(s, image, AGX_IMAGE_SAMPLES), c);
   if (c->layer) {
      struct agxc_ref high = agxc_spv_build2(s, AGXC_OP_ISHL, c->at[c->layer], agxc_spv_u32(16));
      word = agxc_spv_build2(
         s, AGXC_OP_IOR, high,
         is_known ? sample : agxc_spv_build2(s, AGXC_OP_IAND, sample, agxc_spv_u32(UINT16_MAX)));
   }
   c->at[c->layer ? c->layer : c->count++] = word;
}

static void need_sample(struct agxc_spv *s, const struct agxc_spv_type *image,
                        const struct operands *operands)
{
   if (image->image.is_multisampled != (operands->sample != 0))
      agxc_spv_invalid(s, "image operand Sample of image type %u", image->id);
}

/* The nearest layer that there is. Source: docs/hw/access.md 5.2. */
static void round_layer(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                        struct coordinates *c)
{
   if (!c->layer)
      return;
   struct agxc_ref *layer = &c->at[c->layer];
   struct agxc_ref last = agxc_spv_build2(
      s, AGXC_OP_ISUB, agxc_spv_image_info(s, image, AGX_IMAGE_DEPTH), agxc_spv_u32(1));
   *layer = agxc_spv_build1(s, AGXC_OP_FRINT, 32, *layer);
   *layer = agxc_spv_build1(s, AGXC_OP_F2U, 32, *layer); /* negative ones become 0 */
   *layer = agxc_spv_build2(s, AGXC_OP_UMIN, *layer, last);
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
   if (!component || component->kind != image->elem->kind || component->bits != 32 ||
       type->kind == AGXC_SPV_COOPERATIVE)
      agxc_spv_invalid(s, "result type %u of image type %u", type->id, image->id);
   struct agxc_ref *out = agxc_spv_refs(s, 4); /* of which the type may take fewer */
   agxc_split(&s->b, texel, out);
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_image_fetch(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_pointer *image = agxc_spv_image(s, agxc_spv_operand(s, in, 0), false);
   const struct agxc_spv_type *type = agxc_spv_image_type(image);
   struct operands operands = read_operands(s, in, 2, OF_LEVELS & ~SpvImageOperandsLodMask);
   if (type->image.is_storage != (in->opcode == SpvOpImageRead))
      agxc_spv_invalid(s, "of image type %u", type->id);
   struct coordinates c =
      read_coordinates(s, type, agxc_spv_operand(s, in, 1), AGXC_SPV_INT, agxc_spv_u32(0));
   struct agxc_ref level = operands.lod ? agxc_spv_index(s, operands.lod) : agxc_none();
   if (type->image.is_storage && operands.lod)
      agxc_spv_missing(
         s, "image operand Lod of a storage image is not supported: bind the level as an image");
   need_sample(s, type, &operands);
   if (type->image.dim == SpvDimBuffer)
      agxc_spv_texel_of_buffer(s, image, c.at[0], c.at);
   else
      guard(s, image, level, &c);
   if (type->image.is_multisampled)
      add_sample(s, image, operands.sample, &c);
   if (is_zero(&level))
      level = agxc_none();
   if (level.kind != AGXC_NONE)
      level = agxc_spv_build1(s, AGXC_OP_TRUNC, 16, level);
   struct agxc_ref at = vector_of(s, &c), heap, place;
   struct agxc_ref extra = extra_of(s, agxc_none(), pack_offset(s, operands.offset));
   agxc_spv_heap_place(s, image, AGX_HEAP_TEXTURES, &heap, &place);
   uint32_t binding = agxc_spv_use_binding(s, image, AGX_BINDING_READS);
   uint32_t dim = agxc_spv_image_dim(type);
   struct agxc_ref texel =
      type->image.is_storage
         ? agxc_build_image_load(&s->b, at, level, extra, heap, place, binding, dim, image->element)
         : agxc_build_image_fetch(&s->b, at, level, extra, heap, place, binding, dim,
                                  image->element);
   define_texel(s, in, type, texel);
}

/* ---- levels of detail --------------------------------------------------- */

static uint32_t gradient_axes(const struct agxc_spv_type *image)
{
   return AGX_MAX(axes_of[image->image.dim], 2u); /* those of one dimension are rows of two */
}

/* The derivatives of x, then of y, then of z, each along columns and rows. */
static void read_gradients(struct agxc_spv *s, const struct agxc_spv_type *image,
                           const struct operands *operands, struct agxc_ref out[6])
{
   struct agxc_ref *d[2];
   uint32_t axes = axes_of[image->image.dim];
   for (uint32_t i = 0; i < 2; i++) {
      uint32_t count;
      const struct agxc_spv_type *component =
         component_of(s, operands->gradients[i], &d[i], &count);
      if (component->kind != AGXC_SPV_FLOAT || component->bits != 32 || count != axes)
         agxc_spv_invalid(s, "derivatives %u", operands->gradients[i]);
      for (uint32_t axis = 0; axis < gradient_axes(image); axis++)
         out[2 * axis + i] = axis < axes ? d[i][axis] : agxc_spv_u32(0);
   }
}

/* A float operand, in so many bits. */
static struct agxc_ref level_operand(struct agxc_spv *s, uint32_t id, uint32_t bits)
{
   struct agxc_ref value = agxc_spv_scalar(s, id, AGXC_SPV_FLOAT);
   return value.bits == bits ? value : agxc_spv_build1(s, AGXC_OP_F2F, bits, value);
}

/* The same, of the quad. No sign is wanted: a level comes from lengths, and what anisotropy looks
 * at is a line. A bias of n makes the footprint 2^n as long. */
static void imply_gradients(struct agxc_spv *s, const struct agxc_spv_type *image,
                            const struct operands *operands, const struct coordinates *c,
                            struct agxc_ref out[6])
{
   uint32_t axes = axes_of[image->image.dim];
   struct agxc_ref scale = agxc_none();
   if (operands->bias)
      scale = agxc_spv_build1(s, AGXC_OP_FEXP2, 32, level_operand(s, operands->bias, 32));
   for (uint32_t i = 0; i < 2 * gradient_axes(image); i++) {
      out[i] = i / 2 < axes ? agxc_spv_quad_step(s, c->at[i / 2], i % 2) : agxc_spv_u32(0);
      if (operands->bias && i / 2 < axes)
         out[i] = agxc_spv_build2(s, AGXC_OP_FMUL, out[i], scale);
   }
}

/* Gradients, and the least level behind them. */
static struct agxc_ref level_by_gradients(struct agxc_spv *s, const struct agxc_spv_type *image,
                                          const struct operands *operands,
                                          const struct coordinates *c)
{
   struct agxc_ref out[7];
   uint32_t count = 2 * gradient_axes(image);
   if (operands->gradients[0])
      read_gradients(s, image, operands, out);
   else
      imply_gradients(s, image, operands, c, out);
   if (operands->least)
      out[count++] = agxc_spv_resize(s, level_operand(s, operands->least, 16), 32, false);
   return agxc_collect(&s->b, count, out);
}

/* A half, or gradients; none of what is gathered, which the first level gives. */
static struct agxc_ref sample_level(struct agxc_spv *s, const struct agxc_spv_type *image,
                                    const struct operands *operands, const struct coordinates *c,
                                    uint32_t variant)
{
   bool is_gather = variant & AGXC_SPV_SAMPLE_GATHERS;
   if (is_gather && (operands->lod || operands->gradients[0]))
      agxc_spv_missing(s,
                       "level of an ImageGather is not supported: gather from level 0, or fetch");
   if (is_gather)
      return agxc_none();
   if (operands->gradients[0] || variant & AGXC_SPV_SAMPLE_IMPLIES)
      return level_by_gradients(s, image, operands, c);
   if (!operands->lod)
      agxc_spv_invalid(s, "without Lod or Grad");
   if (operands->least)
      agxc_spv_invalid(s, "image operand MinLod beside Lod");
   return level_operand(s, operands->lod, 16);
}

/* Which operands about levels a sampling instruction can't have; of gathers some are refused. */
static uint32_t wrong_operands(uint32_t variant)
{
   if (variant & AGXC_SPV_SAMPLE_GATHERS)
      return SpvImageOperandsBiasMask | SpvImageOperandsMinLodMask;
   return variant & AGXC_SPV_SAMPLE_IMPLIES ? SpvImageOperandsLodMask | SpvImageOperandsGradMask
                                            : SpvImageOperandsBiasMask;
}

/* ---- samples ------------------------------------------------------------ */

/* Divides coordinates, and what they are compared with, by the component behind them. */
static void project(struct agxc_spv *s, const struct agxc_spv_type *image, uint32_t id,
                    struct coordinates *c, struct agxc_ref *reference)
{
   struct agxc_ref *refs;
   uint32_t given, axes = axes_of[image->image.dim];
   component_of(s, id, &refs, &given);
   if (image->image.is_array || image->image.dim == SpvDimCube || given <= axes)
      agxc_spv_invalid(s, "projective coordinates %u", id);
   for (uint32_t i = 0; i < axes; i++)
      c->at[i] = agxc_spv_build2(s, AGXC_OP_FDIV, c->at[i], refs[axes]);
   if (reference->kind != AGXC_NONE)
      *reference = agxc_spv_build2(s, AGXC_OP_FDIV, *reference, refs[axes]);
}

/* Adds what image and sampler say: heap, bindings and elements. */
static struct agxc_ref emit_sample(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                                   struct agxc_ref at, struct agxc_ref level, struct agxc_ref extra,
                                   uint32_t gather)
{
   struct agxc_ref heap, place;
   const struct agxc_spv_pointer *sampler = image->sampler;
   agxc_spv_heap_place(s, image, AGX_HEAP_TEXTURES, &heap, &place);
   uint32_t binding = agxc_spv_use_binding(s, image, AGX_BINDING_READS);
   uint32_t dim = agxc_spv_image_dim(agxc_spv_image_type(image));
   uint32_t with = agxc_spv_use_binding(s, sampler, AGX_BINDING_READS);
   return agxc_build_image_sample(&s->b, at, level, extra, heap, place, sampler->dynamic, binding,
                                  dim, with, gather, image->element, sampler->element);
}

/* Four gathers of which the last texel counts, each with an offset of its own. */
static struct agxc_ref gather_by_offsets(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                                         struct agxc_ref at, struct agxc_ref reference,
                                         uint32_t offsets, uint32_t gather)
{
   struct agxc_spv_type *type;
   struct agxc_ref *refs = agxc_spv_value(s, offsets, &type), out[4], four[4];
   if (type->kind != AGXC_SPV_ARRAY || type->count != 4 || type->scalars != 8)
      agxc_spv_invalid(s, "offsets %u", offsets);
   for (uint32_t i = 0; i < 4; i++) {
      struct agxc_ref extra = extra_of(s, reference, pack_axes(s, refs + 2 * (size_t)i, 2));
      agxc_split(&s->b, emit_sample(s, image, at, agxc_none(), extra, gather), four);
      out[i] = four[3];
   }
   return agxc_collect(&s->b, 4, out);
}

static uint32_t gathered_channel(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   if (in->opcode == SpvOpImageDrefGather)
      return 1;
   uint32_t channel = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, 2));
   if (channel > 3)
      agxc_spv_invalid(s, "component %u", channel);
   return 1 + channel;
}

void agxc_spv_op_image_sample(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_pointer *image = agxc_spv_image(s, agxc_spv_operand(s, in, 0), true);
   const struct agxc_spv_type *type = agxc_spv_image_type(image);
   uint32_t variant = agxc_spv_op_find(in->opcode)->variant;
   bool is_gather = variant & AGXC_SPV_SAMPLE_GATHERS;
   bool compares = variant & AGXC_SPV_SAMPLE_COMPARES;
   uint32_t coordinates = agxc_spv_operand(s, in, 1);
   struct operands operands =
      read_operands(s, in, is_gather || compares ? 3 : 2, wrong_operands(variant));
   uint32_t gather = is_gather ? gathered_channel(s, in) : 0;
   struct agxc_ref reference = agxc_none();
   if (type->image.dim == SpvDimBuffer || type->image.is_multisampled)
      agxc_spv_invalid(s, "of image type %u", type->id);
   if (compares)
      reference = agxc_spv_scalar(s, agxc_spv_operand(s, in, 2), AGXC_SPV_FLOAT);
   if (reference.kind != AGXC_NONE && reference.bits != 32)
      agxc_spv_invalid(s, "reference of %u bits", reference.bits);
   struct coordinates c =
      read_coordinates(s, type, coordinates, AGXC_SPV_FLOAT, agxc_spv_f32(0.5f));
   if (variant & AGXC_SPV_SAMPLE_PROJECTS)
      project(s, type, coordinates, &c, &reference);
   round_layer(s, image, &c);
   struct agxc_ref at = vector_of(s, &c), level = sample_level(s, type, &operands, &c, variant),
                   texel;
   if (operands.offsets && !is_gather)
      agxc_spv_invalid(s, "offsets of what is no gather");
   if (operands.offsets)
      texel = gather_by_offsets(s, image, at, reference, operands.offsets, gather);
   else
      texel = emit_sample(s, image, at, level,
                          extra_of(s, reference, pack_offset(s, operands.offset)), gather);
   define_texel(s, in, type, texel);
}

/* The level that a sample would come from, and the same before the view and the sampler clamp it.
 * Coordinates are without a layer, which the machine reads a register for all the same: any will
 * do. */
void agxc_spv_op_image_lod(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_pointer *image = agxc_spv_image(s, agxc_spv_operand(s, in, 0), true);
   const struct agxc_spv_type *type = agxc_spv_result_type(s, in, AGXC_SPV_FLOAT);
   struct agxc_spv_type flat = *agxc_spv_image_type(image);
   const struct operands none = {0};
   if (flat.image.dim == SpvDimBuffer || flat.image.is_multisampled)
      agxc_spv_invalid(s, "of image type %u", flat.id);
   if (type->kind != AGXC_SPV_VECTOR || type->count != 2 || type->elem->bits != 32)
      agxc_spv_invalid(s, "result type %u", type->id);
   flat.image.is_array = false;
   struct coordinates c =
      read_coordinates(s, &flat, agxc_spv_operand(s, in, 1), AGXC_SPV_FLOAT, agxc_spv_f32(0.5f));
   struct agxc_ref level = level_by_gradients(s, &flat, &none, &c), *out = agxc_spv_refs(s, 4);
   if (agxc_spv_image_type(image)->image.is_array)
      c.at[c.count++] = agxc_spv_u32(0);
   agxc_split(&s->b,
              emit_sample(s, image, vector_of(s, &c), level, agxc_none(), AGXC_GATHER_LEVELS), out);
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_image_write(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_pointer *image = agxc_spv_image(s, agxc_spv_operand(s, in, 0), false);
   const struct agxc_spv_type *type = agxc_spv_image_type(image);
   if (!type->image.is_storage)
      agxc_spv_invalid(s, "to image type %u, which is no storage image", type->id);
   struct operands operands = read_operands(s, in, 3, OF_LEVELS & ~SpvImageOperandsLodMask);
   need_sample(s, type, &operands);
   if (operands.lod)
      agxc_spv_missing(
         s, "image operand Lod of a storage image is not supported: bind the level as an image");
   struct coordinates c =
      read_coordinates(s, type, agxc_spv_operand(s, in, 1), AGXC_SPV_INT, agxc_spv_u32(0));
   uint32_t dim = agxc_spv_image_dim(type);
   if (type->image.dim == SpvDimBuffer) {
      agxc_spv_texel_of_buffer(s, image, c.at[0], c.at);
   } else if (type->image.is_multisampled) {
      agxc_spv_texel_of_sample(s, image, c.at, c.layer ? c.at[c.layer] : agxc_none(),
                               agxc_spv_index(s, operands.sample), c.at);
      c.count = 2;
      dim = AGX_ISA_DIM_2D;
   } else if (c.layer) {
      /* Layers have 16 bits, and those outside are dropped. */
      c.at[c.layer] = agxc_spv_build2(s, AGXC_OP_UMIN, c.at[c.layer], agxc_spv_u32(UINT16_MAX));
   }
   struct agxc_ref *refs, texel[4];
   uint32_t count;
   const struct agxc_spv_type *component =
      component_of(s, agxc_spv_operand(s, in, 2), &refs, &count);
   if (component->kind != type->elem->kind || component->bits != 32)
      agxc_spv_invalid(s, "texel of another type than image type %u", type->id);
   for (uint32_t i = 0; i < 4; i++)
      texel[i] = i < count ? refs[i] : agxc_spv_u32(0);
   struct agxc_ref at = vector_of(s, &c), data = agxc_collect(&s->b, 4, texel), heap, place;
   agxc_spv_heap_place(s, image, AGX_HEAP_IMAGES, &heap, &place);
   uint32_t binding = agxc_spv_use_binding(s, image, AGX_BINDING_WRITES);
   agxc_build_image_store(&s->b, at, data, heap, place, binding, dim, image->element);
}
