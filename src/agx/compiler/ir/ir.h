/* SPDX-License-Identifier: MIT
 *
 * The compiler's one intermediate representation, from the front end to the
 * emitter. A shader is a tree of control flow (blocks, ifs, loops) whose blocks
 * hold instructions in SSA form. Before selection instructions are generic
 * (ir_op.def); selection replaces them by machine instructions (isa.def), with
 * exactly the opcode's operands; register allocation replaces values by registers.
 *
 * This header is all of it for passes; each part has one of its own.
 */
#pragma once

#include "agx/compiler/ir/builder.h"
#include "agx/compiler/ir/instr.h"
#include "agx/compiler/ir/node.h"
#include "agx/compiler/ir/operand.h"
#include "agx/compiler/ir/ref.h"
#include "agx/compiler/ir/shader.h"
#include "base/bitset.h"

/* The shader as text, in the arena; stable, and agxc_parse takes it back. */
const char *agxc_print(const struct agxc_shader *shader, struct agx_arena *arena);
AGX_MUST_CHECK agx_status agxc_parse(struct agx_arena *arena, const struct agxc_options *options,
                                     const char *text, struct agxc_shader **out_shader);

/* What the IR promises at a stage. */
enum agxc_stage {
   AGXC_STAGE_GENERIC,   /* generic operations, SSA */
   AGXC_STAGE_MACHINE,   /* machine instructions (and MOV, PHI, COLLECT, SPLIT, control), SSA */
   AGXC_STAGE_REGISTERS, /* machine instructions over registers, BREAK, CONTINUE and RETURN */
   AGXC_STAGE_JUMPS,     /* nothing but machine instructions; each jump names a block's index */
};
/* Checks every rule of the stage; the text says which block and instruction. */
AGX_MUST_CHECK agx_status agxc_validate(const struct agxc_shader *shader, enum agxc_stage stage);

/* Whether passes shall be checked: always with assertions, otherwise when asked to. */
static inline bool agxc_is_validated(const struct agxc_shader *shader)
{
#ifdef AGX_ASSERTIONS
   return true;
#else
   return shader->options->debug & AGXC_DEBUG_VALIDATE;
#endif
}
