/* SPDX-License-Identifier: MIT
 *
 * Includes the tables that gen_isa.py makes, and gives access to a row. Encoder, decoder, printer
 * and parser of the room read the tables; everything else calls agx_isa_info().
 */
#include "agx/isa/isa.h"

#include "agx/isa/table_impl.h"
#include "base/status.h"

#include "agx/isa/isa_table.inc"

const struct agx_isa_info *agx_isa_info(enum agx_isa_op op)
{
   agx_assert(op < AGX_ISA_OP_COUNT);
   return &agx_isa_rows[op].info;
}
