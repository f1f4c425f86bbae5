/* SPDX-License-Identifier: MIT
 *
 * Decoding of what reaches memory: loads and stores, threadgroup memory, atomics,
 * the stack and the uniform file. source: docs/hw/machine.md 7, 8, 10, 16
 */
#include "agx/sim/machine/bind_impl.h"
#include "agx/sim/machine/format.h"
#include "agx/sim/machine/machine.h"
#include "base/util.h"

/* Index operand of memory: a register, or the immediate in imm. */
static void set_index(struct agxs_bound *bound, uint8_t at)
{
   const struct agx_isa_operand *operand = agxs_bound_operand(bound, at);
   if (operand->kind == AGX_ISA_REG) {
      agxs_bound_set(bound, 2, at, false, operand->sx);
      bound->uop.has_index = true;
      return;
   }
   bound->uop.imm = operand->value;
}

/* Format, mask and register vector. Packed formats ignore the mask. */
static void set_vector(struct agxs_bound *bound, uint8_t at, uint8_t format_at, uint8_t mask_at,
                       bool is_write)
{
   const struct agx_isa_operand *operand = agxs_bound_operand(bound, at);
   unsigned number = (unsigned)agxs_bound_number(bound, format_at);
   const struct agxs_format *format = &agxs_formats[number & 15];
   bound->uop.format = number & 15;
   bound->uop.mask = (uint8_t)agxs_bound_number(bound, mask_at) & 15;
   if (number > 15 || !format->known) {
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED, "this memory format is unknown");
      return;
   }
   if (number == AGX_ISA_FORMAT_F16 && operand->bits == 32)
      bound->uop.format = AGXS_FORMAT_F16_WIDE;
   if (number == AGX_ISA_FORMAT_I32 && operand->bits != 32)
      agxs_bound_refuse(bound, AGX_INVALID_ARGUMENT, "format i32 needs 32-bit registers");
   unsigned elements =
      format->channels ? format->channels : (unsigned)__builtin_popcount(bound->uop.mask);
   if (is_write)
      agxs_bound_dest(bound, operand, elements);
   else
      agxs_bound_vector(bound, operand, &bound->uop.src[0], elements);
}

/* fixed: 1 for a store. src: register vector, base, index, shift; flag: the group;
 * mode: format; imm: mask. */
void agxs_bind_memory(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   int64_t shift = agxs_bound_number(bound, binding->src[3]);
   bound->uop.shift = shift > 2 ? 2 : (uint8_t)shift;
   set_vector(bound, binding->src[0], binding->mode, binding->imm, !binding->fixed);
   if (binding->src[1])
      agxs_bound_set(bound, 1, binding->src[1], false, false);
   set_index(bound, binding->src[2]);
   if (binding->coherency)
      bound->uop.is_coherent =
         agxs_bound_number(bound, binding->coherency) != AGX_ISA_COHERENT_INCOHERENT;
   if (binding->flag) {
      bound->uop.group = (uint8_t)agxs_bound_number(bound, binding->flag) & 1;
      bound->async_group = bound->uop.group + 1;
   }
}

void agxs_bind_stack(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   agxs_bind_memory(bound, binding);
   if (bound->uop.format > AGX_ISA_FORMAT_I32)
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED, "this format is not known to work on the stack");
}

static void refuse_workgroup(struct agxs_bound *bound)
{
   const struct agxs_kernel_request *request = &bound->kernel->request;
   if (request->is_preamble && request->check)
      agxs_bound_refuse(bound, AGX_FAILED_PRECONDITION,
                        "check: a preamble has no threadgroup memory");
}

void agxs_bind_local(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   refuse_workgroup(bound);
   agxs_bind_memory(bound, binding);
}

void agxs_bind_atomic(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   const struct agx_isa_operand *data = agxs_bound_operand(bound, binding->src[0]);
   bound->uop.mode = (uint8_t)agxs_bound_number(bound, binding->mode);
   if (bound->uop.mode > AGX_ISA_ATOMIC_XOR)
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED, "this atomic operation is unknown");
   if (!binding->flag) /* latomic has no group */
      refuse_workgroup(bound);
   bool is_pair = bound->uop.mode == AGX_ISA_ATOMIC_CMPXCHG;
   agxs_bound_vector(bound, data, &bound->uop.src[0], is_pair ? 2 : 1);
   agxs_bound_dest(bound, agxs_bound_operand(bound, binding->d), 1);
   agxs_bound_set(bound, 1, binding->src[1], false, false);
   set_index(bound, binding->src[2]);
   if (binding->flag) {
      bound->uop.group = (uint8_t)agxs_bound_number(bound, binding->flag) & 1;
      bound->async_group = bound->uop.group + 1;
   }
}

void agxs_bind_stack_adjust(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   set_index(bound, binding->src[2]);
   if (bound->uop.has_index) /* any amount */
      bound->stack_words = AGXS_MAX_STACK_WORDS;
   else if (bound->uop.imm > 0)
      bound->stack_words = (uint32_t)bound->uop.imm;
}

void agxs_bind_uniform_store(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   const struct agx_isa_operand *to = agxs_bound_operand(bound, binding->d);
   const struct agx_isa_operand *from = agxs_bound_operand(bound, binding->src[0]);
   unsigned halves = AGX_MAX(to->count, 1) * (to->bits / 16u);
   if (!bound->kernel->request.is_preamble)
      agxs_bound_refuse(bound, AGX_INVALID_ARGUMENT, "only a preamble stores uniforms");
   struct agx_isa_operand data = *from;
   data.bits = 16, data.count = (uint8_t)halves;
   bound->uop.imm = to->value;
   bound->uop.mask = (uint8_t)((1u << halves) - 1);
   agxs_bound_vector(bound, &data, &bound->uop.src[0], halves);
}

/* The general form: element i goes to uniform half index + i where bit i of the mask is
 * set. Source: docs/hw/machine.md 10. */
void agxs_bind_uniform_store_raw(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   const struct agx_isa_operand *data = agxs_bound_operand(bound, binding->src[0]);
   if (!bound->kernel->request.is_preamble)
      agxs_bound_refuse(bound, AGX_INVALID_ARGUMENT, "only a preamble stores uniforms");
   if (agxs_bound_number(bound, binding->mode) != AGX_ISA_FORMAT_I16 || data->bits != 16)
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED,
                        "uniforms are stored from 16-bit registers as i16 only");
   if (agxs_bound_number(bound, binding->src[3]))
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED,
                        "what a shift does to a uniform's number is unknown");
   bound->uop.mask = (uint8_t)agxs_bound_number(bound, binding->imm) & 15;
   agxs_bound_vector(bound, data, &bound->uop.src[0],
                     (unsigned)__builtin_popcount(bound->uop.mask));
   set_index(bound, binding->src[2]);
}

/* Decoding of texture, image and tile instructions: which registers their vectors
 * cover follows from dimension and modes. source: docs/hw/machine.md 14 */

static const struct agx_isa_operand *at(const struct agxs_bound *bound, unsigned index)
{
   return &bound->instr->operand[index];
}

static int64_t number(const struct agxs_bound *bound, unsigned index)
{
   return at(bound, index)->value;
}

static void refuse(struct agxs_bound *bound, const char *reason)
{
   agxs_bound_refuse(bound, AGX_UNIMPLEMENTED, reason);
}

/* Coordinates of x, y, z; and elements of the vector with registers of 32 or 16 bits. */
static const struct {
   uint8_t axes, wide, narrow;
} dims[] = {
   [AGX_ISA_DIM_1D] = {1, 1, 1},          [AGX_ISA_DIM_1D_ARRAY] = {1, 2, 2},
   [AGX_ISA_DIM_2D] = {2, 2, 2},          [AGX_ISA_DIM_2D_ARRAY] = {2, 3, 3},
   [AGX_ISA_DIM_2D_MS] = {2, 3, 3},       [AGX_ISA_DIM_3D] = {3, 3, 3},
   [AGX_ISA_DIM_CUBE] = {3, 3, 3},        [AGX_ISA_DIM_CUBE_ARRAY] = {3, 4, 4},
   [AGX_ISA_DIM_2D_MS_ARRAY] = {2, 3, 4},
};

static struct agxs_image_op *new_op(struct agxs_bound *bound, unsigned dim)
{
   struct agxs_image_op *op = AGX_ARENA_ARRAY(&bound->kernel->arena, struct agxs_image_op, 1);
   *op = (struct agxs_image_op){.dim = (uint8_t)dim};
   bound->uop.image = op;
   if (dim >= AGX_COUNT(dims))
      refuse(bound, "this dimension is unknown");
   return op;
}

static void bind_coord(struct agxs_bound *bound, struct agxs_image_op *op, unsigned index,
                       bool has_layer)
{
   const struct agx_isa_operand *operand = at(bound, index);
   unsigned elements = operand->bits == 16 ? dims[op->dim].narrow : dims[op->dim].wide;
   if (!has_layer)
      elements = dims[op->dim].axes;
   op->coord_axes = dims[op->dim].axes;
   op->coord_elements = (uint8_t)elements;
   agxs_bound_source(bound, operand, elements, &op->coord);
}

/* State register by number or register, or heap and offset. */
static void bind_texture(struct agxs_bound *bound, struct agxs_image_op *op, unsigned heap,
                         unsigned texture)
{
   const struct agx_isa_operand *operand = at(bound, texture);
   if (operand->kind == AGX_ISA_TS) {
      op->texture_state = (uint16_t)operand->value;
      return;
   }
   if (operand->kind != AGX_ISA_REG) {
      refuse(bound, "this form of a texture operand is unknown");
      return;
   }
   op->handle = operand->bits == 16 ? AGXS_HANDLE_STATE_REGISTER : AGXS_HANDLE_HEAP;
   agxs_bound_source(bound, operand, 1, &op->texture);
   if (op->handle != AGXS_HANDLE_HEAP)
      return;
   if (at(bound, heap)->kind != AGX_ISA_UNIFORM)
      agxs_bound_refuse(bound, AGX_INVALID_ARGUMENT, "a texture by offset needs a heap");
   else
      agxs_bound_source(bound, at(bound, heap), 1, &op->heap);
}

/* source: docs/hw/machine.md 14; the numbers are the encoding's. */
static void bind_lod(struct agxs_bound *bound, struct agxs_image_op *op)
{
   struct agx_isa_operand operand = *at(bound, AGX_ISA_SMPF_LOD), minimum = operand;
   unsigned axes = dims[op->dim].axes;
   op->lod_mode = (uint8_t)number(bound, AGX_ISA_SMPF_LOD_MODE);
   switch (op->lod_mode) {
   case AGX_ISA_LOD_MODE_AUTO_LOD:
      return;
   case AGX_ISA_LOD_MODE_LOD_GRAD:
   case AGX_ISA_LOD_MODE_LOD_GRAD_MIN:
      operand.bits = 32;
      agxs_bound_source(bound, &operand, 2 * axes, &op->lod);
      minimum.bits = 16;
      minimum.value += 4 * axes;
      if (op->lod_mode == AGX_ISA_LOD_MODE_LOD_GRAD_MIN)
         agxs_bound_source(bound, &minimum, 1, &op->minimum);
      return;
   case AGX_ISA_LOD_MODE_AUTO_LOD_BIAS_MIN:
   case AGX_ISA_LOD_MODE_AUTO_LOD_BIAS_MIN_U:
      minimum.value += 1;
      agxs_bound_source(bound, &minimum, 1, &op->minimum);
      agxs_bound_source(bound, &operand, 1, &op->lod);
      return;
   case AGX_ISA_LOD_MODE_AUTO_LOD_BIAS:
   case AGX_ISA_LOD_MODE_AUTO_LOD_BIAS_U:
   case AGX_ISA_LOD_MODE_LOD_MIN:
   case AGX_ISA_LOD_MODE_LOD_MIN_U:
      agxs_bound_source(bound, &operand, 1, &op->lod);
      return;
   default:
      refuse(bound, "this level-of-detail mode is unknown");
   }
}

/* Depth reference, then offset, in one vector. */
static void bind_extra(struct agxs_bound *bound, struct agxs_image_op *op)
{
   struct agx_isa_operand operand = *at(bound, AGX_ISA_SMPF_EXTRA);
   op->has_shadow = number(bound, AGX_ISA_SMPF_SHADOW);
   op->has_offset = operand.kind == AGX_ISA_REG && operand.bits == 16;
   if (operand.kind != AGX_ISA_REG)
      return;
   struct agx_isa_operand offset = operand;
   offset.value += op->has_shadow ? 2 : 0;
   operand.bits = 32;
   if (op->has_shadow)
      agxs_bound_source(bound, &operand, 1, &op->reference);
   if (op->has_offset)
      agxs_bound_source(bound, &offset, 1, &op->offset);
}

/* The modes that a texel fetch has. */
static bool is_fetch_mode(unsigned lod_mode)
{
   return lod_mode == AGX_ISA_LOD_MODE_AUTO_LOD || lod_mode == AGX_ISA_LOD_MODE_LOD_MIN ||
          lod_mode == AGX_ISA_LOD_MODE_LOD_MIN_U;
}

/* fixed: float coordinates. */
void agxs_bind_sample(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   struct agxs_image_op *op = new_op(bound, (unsigned)number(bound, AGX_ISA_SMPF_DIM));
   const struct agx_isa_operand *sampler = at(bound, AGX_ISA_SMPF_SAMPLER);
   unsigned gather = (unsigned)number(bound, AGX_ISA_SMPF_GATHER);
   if (bound->refusal)
      return;
   op->is_float = binding->fixed;
   op->mask = (uint8_t)number(bound, AGX_ISA_SMPF_MASK) & 15;
   op->query_lod = number(bound, AGX_ISA_SMPF_QUERY_LOD);
   op->is_sparse = number(bound, AGX_ISA_SMPF_SPARSE);
   op->gather = (uint8_t)(gather ? (gather + 1) / 2 : 0);
   if (gather && (!(gather & 1) || gather > AGX_ISA_GATHER_GATHER_A))
      refuse(bound, "this gather mode is unknown");
   if (!op->is_float && (op->gather || op->query_lod || number(bound, AGX_ISA_SMPF_SHADOW)))
      refuse(bound, "gather, comparing and level queries are not known of texel fetches");
   bool is_ms = op->dim == AGX_ISA_DIM_2D_MS || op->dim == AGX_ISA_DIM_2D_MS_ARRAY;
   if (op->is_float && is_ms)
      refuse(bound, "filtering of multisampled textures is not known");
   agxs_bound_dest(bound, at(bound, AGX_ISA_SMPF_R), op->is_sparse ? 8 : 4);
   bind_texture(bound, op, AGX_ISA_SMPF_HEAP, AGX_ISA_SMPF_TEXTURE);
   op->sampler_state = (uint16_t)sampler->value;
   if (sampler->kind == AGX_ISA_REG) {
      op->has_sampler_register = true;
      agxs_bound_source(bound, sampler, 1, &op->sampler);
   }
   bind_coord(bound, op, AGX_ISA_SMPF_COORD, !op->query_lod);
   bind_lod(bound, op);
   bind_extra(bound, op);
   if (!op->is_float && !is_fetch_mode(op->lod_mode))
      refuse(bound, "a texel fetch takes a level only");
   bound->uop.group = (uint8_t)number(bound, AGX_ISA_SMPF_GROUP) & 1;
   bound->async_group = bound->uop.group + 1;
}

/* fixed: a block out of tile memory. */
void agxs_bind_image_write(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   bool is_block = binding->fixed;
   unsigned dim = is_block ? AGX_ISA_IMGWBLK_DIM : AGX_ISA_IMGW_DIM;
   struct agxs_image_op *op = new_op(bound, (unsigned)number(bound, dim));
   if (bound->refusal)
      return;
   if (op->dim == AGX_ISA_DIM_2D_MS || op->dim == AGX_ISA_DIM_2D_MS_ARRAY)
      refuse(bound, "single samples of an image can't be stored");
   bind_texture(bound, op, is_block ? AGX_ISA_IMGWBLK_HEAP : AGX_ISA_IMGW_HEAP,
                is_block ? AGX_ISA_IMGWBLK_TEXTURE : AGX_ISA_IMGW_TEXTURE);
   bind_coord(bound, op, is_block ? AGX_ISA_IMGWBLK_COORD : AGX_ISA_IMGW_COORD, true);
   agxs_bound_source(bound, at(bound, is_block ? AGX_ISA_IMGWBLK_LOD : AGX_ISA_IMGW_LOD), 1,
                     &op->lod);
   op->toward_zero = number(bound, is_block ? AGX_ISA_IMGWBLK_RTZ : AGX_ISA_IMGW_RTZ);
   agxs_bound_source(bound, at(bound, 0), is_block ? 1 : 4, &op->data);
   if (!is_block)
      return;
   op->format = (uint8_t)number(bound, AGX_ISA_IMGWBLK_FORMAT) & 15;
   if (!agxs_formats[op->format].known)
      refuse(bound, "this memory format is unknown");
   if (!number(bound, AGX_ISA_IMGWBLK_EXPLICIT_COORDS))
      refuse(bound, "a compute program has no tile of its own");
}

/* Descriptors into state registers; the operands of both rows have the same order. */
void agxs_bind_state(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   struct agxs_image_op *op = new_op(bound, AGX_ISA_DIM_1D);
   const struct agx_isa_operand *offset = at(bound, AGX_ISA_TEX_STATE_STORE_OFFSET);
   if (!bound->kernel->request.is_preamble)
      agxs_bound_refuse(bound, AGX_INVALID_ARGUMENT, "only a preamble loads descriptor state");
   op->texture_state = (uint16_t)number(bound, AGX_ISA_TEX_STATE_STORE_TS);
   agxs_bound_source(bound, at(bound, AGX_ISA_TEX_STATE_STORE_HEAP), 1, &op->heap);
   op->heap_offset = (uint32_t)offset->value;
   if (offset->kind == AGX_ISA_REG) {
      op->has_texture_register = true;
      agxs_bound_source(bound, offset, 1, &op->texture);
   }
   bound->uop.group = (uint8_t)number(bound, AGX_ISA_TEX_STATE_STORE_GROUP) & 1;
   bound->async_group = bound->uop.group + 1;
}

/* fixed: a store. Both rows begin alike. */
void agxs_bind_tile(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   bool is_store = binding->fixed;
   struct agxs_image_op *op = new_op(bound, AGX_ISA_DIM_2D);
   const struct agx_isa_operand *coord = at(bound, AGX_ISA_ST_TILE_COORD);
   const struct agx_isa_operand *samples = at(bound, AGX_ISA_ST_TILE_SAMPLES);
   op->format =
      (uint8_t)number(bound, is_store ? AGX_ISA_ST_TILE_FORMAT : AGX_ISA_LD_TILE_FORMAT) & 15;
   op->mask = (uint8_t)number(bound, is_store ? AGX_ISA_ST_TILE_MASK : AGX_ISA_LD_TILE_MASK) & 15;
   op->heap_offset = (uint32_t)number(bound, AGX_ISA_ST_TILE_OFFSET);
   /* 32-bit registers hold singles, which Mesa's copies of packed formats count on. [U] */
   unsigned bits = at(bound, is_store ? AGX_ISA_ST_TILE_R : AGX_ISA_LD_TILE_R)->bits;
   if (op->format == AGX_ISA_FORMAT_F16 && bits == 32)
      op->format = AGXS_FORMAT_F16_WIDE;
   const struct agxs_format *format = &agxs_formats[op->format];
   unsigned elements = format->channels ? format->channels : (unsigned)__builtin_popcount(op->mask);
   if (!format->known)
      refuse(bound, "this memory format is unknown");
   if (coord->kind != AGX_ISA_REG)
      refuse(bound, "a compute program has no pixel of its own");
   if (samples->kind == AGX_ISA_REG || !(samples->value & 1))
      refuse(bound, "samples of tile memory are not modelled");
   if (bound->refusal)
      return;
   agxs_bound_source(bound, coord, 2, &op->coord);
   if (is_store)
      agxs_bound_source(bound, at(bound, AGX_ISA_ST_TILE_R), elements, &op->data);
   else
      agxs_bound_dest(bound, at(bound, AGX_ISA_LD_TILE_R), elements);
}
