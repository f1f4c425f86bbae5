/* SPDX-License-Identifier: MIT
 *
 * What the files of selection share. Selection walks the shader in program order; the
 * original definition of each value stays available, so that patterns over several
 * operations match whatever has been selected before.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

struct agxc_selector {
   struct agxc_shader *shader;
   struct agxc_builder at;   /* before the operation that is being selected */
   struct agxc_instr **defs; /* by value id: the generic definition */
   uint32_t *uses;           /* by value id: how many operands name it */
   uint32_t *low_uses;       /* by value id: and would take 16 bits, extended with zeros, for it */
   struct agxc_value **low;  /* by value id: those 16 bits, where that is all there is to it */
   uint32_t value_count;     /* values that existed before */
   /* The constant that a store or an atomic of this block took last, and its register. */
   const struct agxc_block *stored_in;
   struct agxc_ref stored, stored_reg;
};

/* ---- looking at operands (operand.c) --------------------------- */

/* The generic operation that defines ref, or NULL. */
const struct agxc_instr *agxc_select_def(const struct agxc_selector *s, const struct agxc_ref *ref);
/* As agxc_select_def when it is that operation, else NULL. */
const struct agxc_instr *agxc_select_def_is(const struct agxc_selector *s,
                                            const struct agxc_ref *ref, enum agxc_op op);
/* An 8-bit value whose register has zeros above it. */
bool agxc_select_is_clean(const struct agxc_selector *s, const struct agxc_ref *ref);
/* By this operation only, which runs no more often than the definition. */
bool agxc_select_used_once(const struct agxc_selector *s, const struct agxc_ref *ref);

/* Operands as a kind of source wants them; instructions are made where needed.
 * An integer of 16 or 32 bits, in a source that extends with zeros: */
struct agxc_ref agxc_select_int(struct agxc_selector *s, struct agxc_ref ref);
/* An integer of which only the low ref.bits matter: it may come from a wider register. */
struct agxc_ref agxc_select_low(struct agxc_selector *s, struct agxc_ref ref);
/* An integer in a source that extends by the sign, from the register's size. */
struct agxc_ref agxc_select_signed(struct agxc_selector *s, struct agxc_ref ref);
/* A source of imadd that is extended to more bits than its own. */
struct agxc_ref agxc_select_extended(struct agxc_selector *s, struct agxc_ref ref, bool is_signed);
/* A source of iadd and imadd, which say themselves how they extend; of 16 bits or fewer only
 * those matter. */
struct agxc_ref agxc_select_addend(struct agxc_selector *s, struct agxc_ref ref);
/* A float of 16 or 32 bits; a float source widens by itself, so halves stay halves. */
struct agxc_ref agxc_select_float(struct agxc_selector *s, struct agxc_ref ref);
/* Raw bits of that size, in a register, a uniform or 0..255: a value of a select. */
struct agxc_ref agxc_select_choice(struct agxc_selector *s, struct agxc_ref ref);
/* A constant that no immediate holds: a uniform, or a register when uniforms run short. */
struct agxc_ref agxc_select_constant(struct agxc_selector *s, uint64_t value, unsigned bits);
/* In a register. */
struct agxc_ref agxc_select_reg(struct agxc_selector *s, struct agxc_ref ref);
/* The low 16 bits, in a register. */
struct agxc_ref agxc_select_half(struct agxc_selector *s, struct agxc_ref ref);

/* The value that a generic operation with one result defines. */
static inline struct agxc_ref agxc_select_dest(const struct agxc_instr *instr)
{
   return agxc_use(agxc_dest(instr)->value);
}

/* ---- making instructions ---------------------------------------------- */

/* Emits a machine instruction with its destination (if it has one) and sources; modifiers are 0. */
struct agxc_instr *agxc_select_instr(struct agxc_selector *s, enum agx_isa_op opcode,
                                     struct agxc_ref dest, unsigned src_count,
                                     const struct agxc_ref *srcs);
/* The same with sources that are not in an array. */
#define agxc_select_op(s, opcode, dest, ...)                                                       \
   agxc_select_instr((s), (opcode), (dest), AGX_COUNT(((struct agxc_ref[]){__VA_ARGS__})),         \
                     (struct agxc_ref[]){__VA_ARGS__})
/* As agxc_select_instr with a new value for the destination, which it returns. */
struct agxc_ref agxc_select_new(struct agxc_selector *s, enum agx_isa_op opcode, unsigned bits,
                                unsigned src_count, const struct agxc_ref *srcs);

/* Takes a register apart: into values that are its low and its high half. */
void agxc_select_split(struct agxc_selector *s, struct agxc_ref whole, struct agxc_ref low,
                       struct agxc_ref high);

/* ---- classes of operations; each selects one generic operation -------- */

/* Selects one instruction for several operations; false when nothing matches. */
bool agxc_select_pattern(struct agxc_selector *s, const struct agxc_instr *instr);
void agxc_select_alu(struct agxc_selector *s, const struct agxc_instr *instr);
void agxc_select_compare(struct agxc_selector *s, const struct agxc_instr *instr);
/* AND and OR of booleans, where one of them is a compare that only they want. */
bool agxc_select_logic(struct agxc_selector *s, const struct agxc_instr *instr);
void agxc_select_choose(struct agxc_selector *s, const struct agxc_instr *instr);
void agxc_select_branch(struct agxc_selector *s, const struct agxc_instr *instr);
/* Operations between lanes; a ballot takes the compare that makes its condition. */
void agxc_select_subgroup(struct agxc_selector *s, const struct agxc_instr *instr);
void agxc_select_ballot(struct agxc_selector *s, const struct agxc_instr *instr);
void agxc_select_minmax(struct agxc_selector *s, const struct agxc_instr *instr);
void agxc_select_memory(struct agxc_selector *s, const struct agxc_instr *instr);
/* Scratch memory; images; barriers. */
void agxc_select_scratch(struct agxc_selector *s, const struct agxc_instr *instr);
void agxc_select_image(struct agxc_selector *s, const struct agxc_instr *instr);
void agxc_select_barrier(struct agxc_selector *s, const struct agxc_instr *instr);
