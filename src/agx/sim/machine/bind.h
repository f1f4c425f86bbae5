/* SPDX-License-Identifier: MIT
 *
 * From a decoded instruction to a uop: which exec function, which rows, which
 * parameters. A table with one entry per instruction that is modelled.
 */
#pragma once

#include "agx/sim/machine/kernel.h"

/* The pool row of a constant, made when it is new; kernel.c. */
uint16_t agxs_kernel_constant(struct agxs_kernel *kernel, const struct agxs_constant *constant);

/* What one instruction becomes. refusal != NULL: it can't be executed, with that
 * reason and code. */
struct agxs_bound {
   struct agxs_kernel *kernel;
   const struct agx_isa_instr *instr;
   struct agxs_uop uop;
   struct agxs_uop_regs regs;
   agx_status code;
   const char *refusal;
   uint8_t async_group;
   bool ends;         /* nothing falls through to the next instruction */
   bool jumps;        /* target_pc is where it may go */
   bool links;        /* a call through a register */
   int64_t target_pc; /* relative to usc_base, not yet checked */
   uint32_t stack_words;
};

/* pc: the instruction's own. */
void agxs_bind(struct agxs_kernel *kernel, const struct agx_isa_instr *instr, uint32_t pc,
               struct agxs_bound *out);
