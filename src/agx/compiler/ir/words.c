/* SPDX-License-Identifier: MIT
 *
 * Words for values of immediates, for print.c and parse.c. Enumerations of isa.def bring their own
 * (words.inc); those of ir.h have their tables here.
 */
#include "agx/compiler/ir/words.h"

#include <assert.h>

#include "program/program.h"

const char *const agxc_instr_flag_words[] = {"precise", "volatile", "wraps", "unchecked"};

static const struct agx_isa_name access_words[] = {
   {AGXC_ACCESS_COHERENT, "coherent"},     {AGXC_ACCESS_CONST, "const"},
   {AGXC_ACCESS_RESTRICT, "restrict"},     {AGXC_ACCESS_PAIRS, "pairs"},
   {AGXC_ACCESS_UNCHECKED, "unchecked"},   {3 << AGXC_ACCESS_SKIP_SHIFT, "skip3"},
   {2 << AGXC_ACCESS_SKIP_SHIFT, "skip2"}, {1 << AGXC_ACCESS_SKIP_SHIFT, "skip1"},
};

static const struct agx_isa_name limit_words[] = {
   {AGX_UNIFORM_BUFFER_COUNT, "count"},
   {AGX_UNIFORM_BUFFER_LAST, "last"},
   {AGX_UNIFORM_BUFFER_SINK, "sink"},
   {AGX_UNIFORM_BUFFER_GUARD, "guard"},
};

static const struct agx_isa_name part_words[] = {
   {AGX_HEAP_TEXTURES, "textures"}, {AGX_HEAP_IMAGES, "images"},   {AGX_HEAP_NUMBERS, "numbers"},
   {AGX_HEAP_SAMPLERS, "samplers"}, {AGX_HEAP_BUFFERS, "buffers"},
};

static const struct agx_isa_name sysval_words[] = {
   {AGXC_SYSVAL_WORKGROUP_ID + 0, "workgroup_id_x"},
   {AGXC_SYSVAL_WORKGROUP_ID + 1, "workgroup_id_y"},
   {AGXC_SYSVAL_WORKGROUP_ID + 2, "workgroup_id_z"},
   {AGXC_SYSVAL_LOCAL_ID + 0, "local_id_x"},
   {AGXC_SYSVAL_LOCAL_ID + 1, "local_id_y"},
   {AGXC_SYSVAL_LOCAL_ID + 2, "local_id_z"},
   {AGXC_SYSVAL_GLOBAL_ID + 0, "global_id_x"},
   {AGXC_SYSVAL_GLOBAL_ID + 1, "global_id_y"},
   {AGXC_SYSVAL_GLOBAL_ID + 2, "global_id_z"},
   {AGXC_SYSVAL_WORKGROUP_COUNT + 0, "workgroup_count_x"},
   {AGXC_SYSVAL_WORKGROUP_COUNT + 1, "workgroup_count_y"},
   {AGXC_SYSVAL_WORKGROUP_COUNT + 2, "workgroup_count_z"},
   {AGXC_SYSVAL_LOCAL_INDEX, "local_index"},
   {AGXC_SYSVAL_SUBGROUP_LANE, "subgroup_lane"},
   {AGXC_SYSVAL_SUBGROUP_ID, "subgroup_id"},
   {AGXC_SYSVAL_DRAW + AGX_DRAW_FIRST, "draw_first"},
   {AGXC_SYSVAL_DRAW + AGX_DRAW_VERTEX_COUNT, "draw_vertex_count"},
   {AGXC_SYSVAL_DRAW + AGX_DRAW_BASE_VERTEX, "draw_base_vertex"},
   {AGXC_SYSVAL_DRAW + AGX_DRAW_BASE_INSTANCE, "draw_base_instance"},
   {AGXC_SYSVAL_DRAW + AGX_DRAW_INDEX, "draw_index"},
   {AGXC_SYSVAL_LOCAL_SIZE + 0, "local_size_x"},
   {AGXC_SYSVAL_LOCAL_SIZE + 1, "local_size_y"},
   {AGXC_SYSVAL_LOCAL_SIZE + 2, "local_size_z"},
   {AGXC_SYSVAL_SHARED_END, "shared_end"},
};
static_assert(AGX_COUNT(sysval_words) == AGXC_SYSVAL_COUNT, "a system value without a word");

static const struct agx_isa_name barrier_words[] = {
   {AGXC_BARRIER_EXECUTION, "execution"}, {AGXC_BARRIER_SHARED, "shared"},
   {AGXC_BARRIER_DEVICE, "device"},       {AGXC_BARRIER_DEVICE_WIDE, "device_wide"},
   {AGXC_BARRIER_IMAGE, "image"},
};

static const struct agx_isa_name shuffle_words[] = {
   {AGXC_SHUFFLE_INDEX, "index"}, {AGXC_SHUFFLE_XOR, "xor"},       {AGXC_SHUFFLE_UP, "up"},
   {AGXC_SHUFFLE_DOWN, "down"},   {AGXC_SHUFFLE_ROTATE, "rotate"}, {AGXC_SHUFFLE_QUAD, "quad"},
};

static const struct agx_isa_name with_words[] = {
   {AGX_ISA_SUBOP_AND, "and"},   {AGX_ISA_SUBOP_FADD, "fadd"}, {AGX_ISA_SUBOP_OR, "or"},
   {AGX_ISA_SUBOP_FMUL, "fmul"}, {AGX_ISA_SUBOP_XOR, "xor"},   {AGX_ISA_SUBOP_FMIN, "fmin"},
   {AGX_ISA_SUBOP_FMAX, "fmax"}, {AGX_ISA_SUBOP_IADD, "iadd"}, {AGX_ISA_SUBOP_SMIN, "smin"},
   {AGX_ISA_SUBOP_SMAX, "smax"}, {AGX_ISA_SUBOP_UMIN, "umin"}, {AGX_ISA_SUBOP_UMAX, "umax"},
   {AGXC_COMBINE_IMUL, "imul"},
};

#include "agx/compiler/ir/words.inc"

static struct agxc_imm_words machine_words(enum agx_isa_op opcode, unsigned i)
{
   const struct agx_isa_info *info = agx_isa_info(opcode);
   if (i >= info->operand_count || info->operand[i].role != AGX_ISA_ROLE_MOD)
      return (struct agxc_imm_words){0};
   return (struct agxc_imm_words){.name = info->operand[i].name,
                                  .words = info->operand[i].names,
                                  .count = info->operand[i].name_count};
}

struct agxc_imm_words agxc_imm_words(unsigned op, unsigned dests, unsigned i)
{
   if (op >= AGXC_OP_ISA)
      return machine_words((enum agx_isa_op)(op - AGXC_OP_ISA), i);
   const struct agxc_op_info *info = agxc_op_info((enum agxc_op)op);
   for (unsigned name = 0; info->srcs >= 0 && name < AGX_COUNT(imm_words); name++)
      if (agxc_imm_places[op][name] &&
          dests + (unsigned)info->srcs + agxc_imm_places[op][name] == i + 1)
         return imm_words[name];
   return (struct agxc_imm_words){0};
}
