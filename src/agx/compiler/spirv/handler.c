/* SPDX-License-Identifier: MIT
 *
 * The function that emits code for each opcode of op.def. frontend.c puts agxc_spv_run_instruction
 * into the state, so that constant.c and flow.c, which lie below the handlers, run them.
 */
#include "agx/compiler/spirv/handler_impl.h"

static const agxc_spv_handler handlers[AGXC_SPV_OP_COUNT] = {
#define OP(name, words, flags, handler) [AGXC_SPV_OP_INDEX(SpvOp##name)] = handler,
#define ALU(name, op, sources, takes, gives, swap, negate)                                         \
   [AGXC_SPV_OP_INDEX(SpvOp##name)] = agxc_spv_op_alu,
#include "agx/compiler/spirv/op.def"
};

void agxc_spv_run_instruction(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   agx_assert(agxc_spv_op_find(in->opcode));
   agxc_spv_handler run = handlers[AGXC_SPV_OP_INDEX(in->opcode)];
   if (run)
      run(s, in);
}
