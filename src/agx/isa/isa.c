/* SPDX-License-Identifier: MIT
 *
 * Includes the tables that gen_isa.py makes, and gives access to a row. Encoder, decoder, printer
 * and parser of the room read the tables; everything else calls agx_isa_info().
 */
#include "agx/isa/isa.h"

#include "agx/isa/table_impl.h"
#include "base/status.h"

#include "agx/isa/isa_table.inc"

_Static_assert((int)AGX_ISA_SMPF_LOD_MODE == (int)AGX_ISA_SMPI_LOD_MODE &&
                  (int)AGX_ISA_SMPF_DIM == (int)AGX_ISA_SMPI_DIM &&
                  (int)AGX_ISA_SMPF_LOD == (int)AGX_ISA_SMPI_LOD,
               "smpf and smpi have the same operands");

unsigned agx_isa_gradient_count(const struct agx_isa_instr *instr)
{
   static const uint8_t axes[] = {
      [AGX_ISA_DIM_1D] = 1,       [AGX_ISA_DIM_1D_ARRAY] = 1,   [AGX_ISA_DIM_2D] = 2,
      [AGX_ISA_DIM_2D_ARRAY] = 2, [AGX_ISA_DIM_2D_MS] = 2,      [AGX_ISA_DIM_3D] = 3,
      [AGX_ISA_DIM_CUBE] = 3,     [AGX_ISA_DIM_CUBE_ARRAY] = 3, [AGX_ISA_DIM_2D_MS_ARRAY] = 2,
   };
   if (instr->op != AGX_ISA_OP_SMPF && instr->op != AGX_ISA_OP_SMPI)
      return 0;
   int64_t mode = instr->operand[AGX_ISA_SMPF_LOD_MODE].value;
   int64_t dim = instr->operand[AGX_ISA_SMPF_DIM].value;
   if (dim < 0 || dim >= (int64_t)(sizeof(axes) / sizeof(axes[0])))
      return 0;
   /* Two derivatives an axis: words, or halves of which one more follows, the least level. */
   return mode == AGX_ISA_LOD_MODE_LOD_GRAD       ? 2u * axes[dim]
          : mode == AGX_ISA_LOD_MODE_LOD_GRAD_MIN ? 4u * axes[dim] + 1
                                                  : 0;
}

const struct agx_isa_info *agx_isa_info(enum agx_isa_op op)
{
   agx_assert(op < AGX_ISA_OP_COUNT);
   return &agx_isa_rows[op].info;
}
