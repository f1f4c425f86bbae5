/* SPDX-License-Identifier: MIT
 *
 * Selection: images. Descriptors are in state registers, which the launch words fill, or, of
 * arrays, in a heap; texel fetches use a sampler of their own, whose border is zero. Source:
 * docs/hw/machine.md, 14.
 *
 *    before   %3 = image_load (coordinates, level), image
 *    after    %3 = agx.smpi, with the descriptor's number
 *
 * Descriptors are numbered as kernels come to need them (agxc_state_slot). `rw` is set where the
 * kernel stores to the image; other fetches move past any store.
 */
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/select/select_impl.h"
#include "agx/compiler/ir/launch_slots.h"

#define MAX_LEVEL_HALF 256 /* uniforms that a level can name */

/* Instructions that read share their operands. */
_Static_assert((int)AGX_ISA_SMPF_TEXTURE == (int)AGX_ISA_SMPI_TEXTURE &&
                  (int)AGX_ISA_SMPF_LOD_MODE == (int)AGX_ISA_SMPI_LOD_MODE &&
                  (int)AGX_ISA_SMPF_MASK == (int)AGX_ISA_SMPI_MASK,
               "smpf and smpi have the same operands");

/* A level in a uniform where that can be named, else in a register. */
static struct agxc_ref select_level(struct agxc_selector *s, struct agxc_ref level)
{
   if (level.kind == AGXC_NONE)
      return level;
   if (level.count > 1) /* derivatives, and perhaps the least level */
      return agxc_select_reg(s, level);
   const struct agxc_instr *cut = agxc_select_def_is(s, &level, AGXC_OP_TRUNC);
   if (cut && agxc_src_a(cut)->kind == AGXC_UNIFORM)
      level = agxc_uniform(agxc_src_a(cut)->half, 16, 1); /* the low half */
   if (level.kind == AGXC_IMM)
      level = agxc_select_constant(s, (uint64_t)level.imm, 16);
   bool is_uniform = level.kind == AGXC_UNIFORM && level.half < MAX_LEVEL_HALF;
   return is_uniform ? level : agxc_select_half(s, level);
}

static unsigned level_mode(const struct agxc_ref *level)
{
   if (level->kind == AGXC_NONE)
      return AGX_ISA_LOD_MODE_AUTO_LOD;
   if (level->count > 1)
      return level->count % 2 ? AGX_ISA_LOD_MODE_LOD_GRAD_MIN : AGX_ISA_LOD_MODE_LOD_GRAD;
   return level->kind == AGXC_UNIFORM ? AGX_ISA_LOD_MODE_LOD_MIN_U : AGX_ISA_LOD_MODE_LOD_MIN;
}

/* The two operands that name a descriptor: a heap, and a state register's number or an offset. */
static void select_descriptor(struct agxc_selector *s, const struct agxc_instr *instr,
                              enum agx_state_kind kind, struct agxc_ref out[2])
{
   out[0] = *agxc_src_heap(instr);
   if (out[0].kind == AGXC_NONE)
      out[1] = agxc_imm(
         agxc_state_slot(s->shader, kind, agxc_imm_binding(instr), agxc_imm_element(instr)), 32);
   else
      out[1] = agxc_select_reg(s, *agxc_src_place(instr));
}

/* A sampler of the device's heap, which a register names, or of an array that only running tells,
 * with all of its samplers in state registers, one behind the other: agxc_lower_sampler saw to it
 * that no element has been asked for by itself. */
static struct agxc_ref select_sampler(struct agxc_selector *s, const struct agxc_instr *instr)
{
   uint32_t binding = agxc_imm_sampler(instr), element = agxc_imm_which_sampler(instr);
   struct agxc_ref index = *agxc_src_number(instr);
   if (index.kind == AGXC_NONE)
      return agxc_imm(agxc_state_slot(s->shader, AGX_STATE_SAMPLER, binding, element), 32);
   if (index.bits == 16)
      return agxc_select_half(s, index);
   uint32_t count = s->shader->bindings[binding].elements;
   uint32_t first = agxc_state_slot(s->shader, AGX_STATE_SAMPLER, binding, 0);
   for (uint32_t i = 1; i < count; i++)
      (void)agxc_state_slot(s->shader, AGX_STATE_SAMPLER, binding, i);
   if (index.kind == AGXC_IMM)
      return agxc_imm(first + AGX_MIN((uint32_t)index.imm, count - 1), 32);
   struct agxc_ref half = agxc_select_half(s, index), srcs[2] = {half, agxc_imm(first, 16)};
   return first ? agxc_select_new(s, AGX_ISA_OP_IADD, 16, 2, srcs) : half;
}

static void select_read(struct agxc_selector *s, const struct agxc_instr *instr)
{
   bool is_sample = instr->op == AGXC_OP_IMAGE_SAMPLE;
   struct agxc_ref texture[2], extra = *agxc_src_extra(instr);
   select_descriptor(s, instr, AGX_STATE_TEXTURE, texture);
   bool compares = extra.kind != AGXC_NONE && extra.bits == 32;
   if (extra.kind != AGXC_NONE)
      extra = compares ? agxc_select_reg(s, extra) : agxc_select_half(s, extra);
   struct agxc_ref srcs[6] = {
      texture[0],
      texture[1],
      is_sample ? select_sampler(s, instr)
                : agxc_imm(agxc_state_slot(s->shader, AGX_STATE_FETCH_SAMPLER, 0, 0), 32),
      agxc_select_reg(s, *agxc_src_coordinates(instr)),
      select_level(s, *agxc_src_level(instr)),
      extra,
   };
   struct agxc_instr *machine = agxc_select_instr(s, is_sample ? AGX_ISA_OP_SMPF : AGX_ISA_OP_SMPI,
                                                  agxc_select_dest(instr), 6, srcs);
   agxc_set_machine_dim(machine, agxc_imm_dim(instr));
   bool queries = is_sample && agxc_imm_gather(instr) == AGXC_GATHER_LEVELS;
   agxc_set_machine_mask(machine, queries ? 3 : 15);
   agxc_set_machine_query_lod(machine, queries);
   agxc_set_machine_lod_mode(machine, level_mode(&srcs[4]));
   if (is_sample && agxc_imm_gather(instr) && !queries)
      agxc_set_machine_gather(machine, 2 * agxc_imm_gather(instr) - 1);
   agxc_set_machine_shadow(machine, compares);
   agxc_set_machine_rw(machine, instr->op == AGXC_OP_IMAGE_LOAD);
}

static void select_write(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref texture[2];
   select_descriptor(s, instr, AGX_STATE_IMAGE, texture);
   struct agxc_instr *machine = agxc_select_op(
      s, AGX_ISA_OP_IMGW, agxc_none(), agxc_select_reg(s, *agxc_src_data(instr)), texture[0],
      texture[1], agxc_select_reg(s, *agxc_src_coordinates(instr)), agxc_imm(0, 16));
   agxc_set_machine_dim(machine, agxc_imm_dim(instr));
}

void agxc_select_image(struct agxc_selector *s, const struct agxc_instr *instr)
{
   if (instr->op == AGXC_OP_IMAGE_STORE)
      select_write(s, instr);
   else
      select_read(s, instr);
}
