/* SPDX-License-Identifier: MIT
 *
 * The functions that emit code for the opcodes of op.def, one for each or for a family.
 */
#pragma once

#include "agx/compiler/spirv/value_impl.h"

typedef void (*agxc_spv_handler)(struct agxc_spv *s, const struct agxc_spv_instr *in);

/* Emits code for an instruction of a function body; none for those that mean nothing there. */
void agxc_spv_run_instruction(struct agxc_spv *s, const struct agxc_spv_instr *in);

/* Emits an operation that is one to one, as op.def says. */
void agxc_spv_op_alu(struct agxc_spv *s, const struct agxc_spv_instr *in);
#define OP(name, words, flags, handler)                                                            \
   void handler(struct agxc_spv *, const struct agxc_spv_instr *);
#include "agx/compiler/spirv/op.def"
