/* SPDX-License-Identifier: MIT
 *
 * Selection: images. Descriptors are in state registers, which the launch words fill; texel
 * fetches use a sampler of their own, whose border is zero.
 * Source: reference/isa, 14.
 */
#include "agx/compiler/select_impl.h"

#define MAX_LEVEL_HALF 256 /* uniforms that a level can name */

/* Rows that read share their operands. */
_Static_assert((int)AGX_ISA_SMPF_TEXTURE == (int)AGX_ISA_SMPI_TEXTURE &&
                  (int)AGX_ISA_SMPF_LOD_MODE == (int)AGX_ISA_SMPI_LOD_MODE &&
                  (int)AGX_ISA_SMPF_MASK == (int)AGX_ISA_SMPI_MASK,
               "smpf and smpi have the same operands");

/* A level in a uniform where that can be named, else in a register. */
static struct agxc_ref select_level(struct agxc_selector *s, struct agxc_ref level)
{
   if (level.kind == AGXC_NONE)
      return level;
   if (level.count > 1) /* derivatives */
      return agxc_select_reg(s, level);
   const struct agxc_instr *cut = agxc_select_def_is(s, &level, AGXC_OP_TRUNC);
   if (cut && cut->operand[1].kind == AGXC_UNIFORM)
      level = agxc_uniform(cut->operand[1].half, 16, 1); /* the low half */
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
      return AGX_ISA_LOD_MODE_LOD_GRAD;
   return level->kind == AGXC_UNIFORM ? AGX_ISA_LOD_MODE_LOD_MIN_U : AGX_ISA_LOD_MODE_LOD_MIN;
}

static void select_read(struct agxc_selector *s, const struct agxc_instr *instr)
{
   const struct agxc_ref *from = agxc_srcs(instr);
   uint32_t binding = (uint32_t)agxc_imm_of(instr, 0), sampler;
   bool is_sample = instr->op == AGXC_OP_IMAGE_SAMPLE;
   uint32_t texture = agxc_state_slot(s->shader, AGX_STATE_TEXTURE, binding);
   if (is_sample)
      sampler = agxc_state_slot(s->shader, AGX_STATE_SAMPLER, (uint32_t)agxc_imm_of(instr, 2));
   else
      sampler = agxc_state_slot(s->shader, AGX_STATE_FETCH_SAMPLER, 0);
   struct agxc_ref srcs[6] = {
      agxc_none(),
      agxc_imm(texture, 32),
      agxc_imm(sampler, 32),
      agxc_select_reg(s, from[0]),
      select_level(s, from[1]),
      from[2].kind == AGXC_NONE ? agxc_none() : agxc_select_half(s, from[2]),
   };
   struct agxc_instr *row = agxc_select_row(s, is_sample ? AGX_ISA_OP_SMPF : AGX_ISA_OP_SMPI,
                                            agxc_use(instr->operand[0].value), 6, srcs);
   agxc_set_mod(row, AGX_ISA_SMPI_DIM, agxc_imm_of(instr, 1));
   agxc_set_mod(row, AGX_ISA_SMPI_MASK, 15);
   agxc_set_mod(row, AGX_ISA_SMPI_LOD_MODE, level_mode(&srcs[4]));
   if (is_sample && agxc_imm_of(instr, 3))
      agxc_set_mod(row, AGX_ISA_SMPI_GATHER, 2 * agxc_imm_of(instr, 3) - 1);
   agxc_set_mod(row, AGX_ISA_SMPI_RW, instr->op == AGXC_OP_IMAGE_LOAD);
}

static void select_write(struct agxc_selector *s, const struct agxc_instr *instr)
{
   uint32_t texture = agxc_state_slot(s->shader, AGX_STATE_IMAGE, (uint32_t)agxc_imm_of(instr, 0));
   struct agxc_ref srcs[5] = {
      agxc_select_reg(s, instr->operand[1]), agxc_none(),     agxc_imm(texture, 32),
      agxc_select_reg(s, instr->operand[0]), agxc_imm(0, 16),
   };
   struct agxc_instr *row = agxc_select_row(s, AGX_ISA_OP_IMGW, agxc_none(), 5, srcs);
   agxc_set_mod(row, AGX_ISA_IMGW_DIM, agxc_imm_of(instr, 1));
}

void agxc_select_image(struct agxc_selector *s, const struct agxc_instr *instr)
{
   if (instr->op == AGXC_OP_IMAGE_STORE)
      select_write(s, instr);
   else
      select_read(s, instr);
}
