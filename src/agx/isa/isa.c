/* SPDX-License-Identifier: MIT
 *
 * The generated tables and access to a row.
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
