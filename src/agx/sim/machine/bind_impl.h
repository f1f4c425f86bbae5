/* SPDX-License-Identifier: MIT
 *
 * Between bind.c (how an instruction becomes a uop) and bind_table.c (which does
 * how).
 */
#pragma once

#include "agx/sim/machine/kernel.h"

/* From a decoded instruction to a uop: which exec function, which rows, which
 * parameters. A table with one entry per instruction that is modelled. */

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

/* Where a row keeps what; operand indices plus 1, 0 for none. */
struct agxs_binding {
   void (*bind)(struct agxs_bound *bound, const struct agxs_binding *binding);
   uint8_t exec;
   uint8_t d, src[4];
   uint8_t mode;  /* operand that becomes uop.mode */
   uint8_t flag;  /* sat, prefix, rotate */
   uint8_t imm;   /* bitmask, nest, special register, offset */
   uint8_t fixed; /* a number that the row stands for: truth table, integer size ... */
   bool is_signed;
   uint8_t coherency; /* operand */
};

/* By enum agx_isa_op; rows without a bind function are not modelled. */
extern const struct agxs_binding agxs_bindings[AGX_ISA_OP_COUNT];

/* bind_operand.c. `at` is an operand's index plus 1, 0 for none. The first refusal stays. */
void agxs_bound_refuse(struct agxs_bound *bound, agx_status code, const char *reason);
/* The operand, or NULL for 0. */
const struct agx_isa_operand *agxs_bound_operand(const struct agxs_bound *bound, uint8_t at);
/* The operand's number; 0 without one. */
int64_t agxs_bound_number(const struct agxs_bound *bound, uint8_t at);
/* Checks the registers that a vector of so many elements covers, and notes them. */
bool agxs_bound_registers(struct agxs_bound *bound, const struct agx_isa_operand *operand,
                          unsigned elements, bool is_write);
/* Makes the operand the uop's destination, of so many elements. */
void agxs_bound_dest(struct agxs_bound *bound, const struct agx_isa_operand *operand,
                     unsigned elements);
/* A register vector. */
void agxs_bound_vector(struct agxs_bound *bound, const struct agx_isa_operand *operand,
                       struct agxs_source *source, unsigned elements);
/* Source `index` of the uop, with its modifiers. */
void agxs_bound_set(struct agxs_bound *bound, unsigned index, uint8_t at, bool is_float,
                    bool is_signed);
/* Integer bits of a register vector of so many elements, an immediate or a uniform. */
void agxs_bound_source(struct agxs_bound *bound, const struct agx_isa_operand *operand,
                       unsigned elements, struct agxs_source *out);

#define AGXS_BIND(name)                                                                            \
   void agxs_bind_##name(struct agxs_bound *bound, const struct agxs_binding *binding)
/* How the instructions of bind_table.c become uops. */
AGXS_BIND(add);
AGXS_BIND(asr);
AGXS_BIND(atomic);
AGXS_BIND(ballot);
AGXS_BIND(barrier);
AGXS_BIND(bitop);
AGXS_BIND(block);
AGXS_BIND(call_reg);
AGXS_BIND(doorbell);
AGXS_BIND(doorbell_jump);
AGXS_BIND(end);
AGXS_BIND(float);
AGXS_BIND(image_write);
AGXS_BIND(int);
AGXS_BIND(jump);
AGXS_BIND(local);
AGXS_BIND(mask);
AGXS_BIND(matrix);
AGXS_BIND(memory);
AGXS_BIND(membar);
AGXS_BIND(mfsr);
AGXS_BIND(nothing);
AGXS_BIND(reduce);
AGXS_BIND(render);
AGXS_BIND(ret);
AGXS_BIND(round);
AGXS_BIND(sample);
AGXS_BIND(select);
AGXS_BIND(shuffle);
AGXS_BIND(stack);
AGXS_BIND(stack_adjust);
AGXS_BIND(state);
AGXS_BIND(tile);
AGXS_BIND(uniform_store);
AGXS_BIND(uniform_store_raw);
AGXS_BIND(unknown);
AGXS_BIND(wait);
#undef AGXS_BIND
