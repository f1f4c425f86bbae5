/* SPDX-License-Identifier: MIT
 *
 * Operands by name.
 * gen_ir.py makes accessors and builders from ir_op.def, which names each operation's operands.
 * One accessor serves every operation that has an operand of that name, and asserts that this one
 * has it, so that a pass may handle loads, stores and atomics alike:
 *
 *    agxc_src_offset(instr)         struct agxc_ref *: to read, or to put another operand there
 *    agxc_src_a(add)->bits          sources of arithmetic are a, b, c
 *    agxc_dest(instr)               the only destination, of machine instructions too
 *    agxc_dest_high(unpack)         one of several
 *    agxc_imm_access(load)          an immediate's number, in its own type
 *    agxc_set_imm_access(load, n)   sets it
 *    agxc_has_src(instr, AGXC_SRC_COMPARE), agxc_has_imm(instr, AGXC_IMM_ACCESS)
 *    agxc_side(instr, i)            a or b, for loops over both sides; 1 - i is the other one
 *    agxc_phi_entry(phi), agxc_phi_back(phi)   at the start of a loop that has two ways in
 *    agxc_phi_then(phi), agxc_phi_else(phi)    behind an if whose arms both get there
 *    agxc_element(instr, i)         of a COLLECT (a source) or a SPLIT (a destination)
 *    agxc_define(instr, ref)        makes instr the definition of ref's value
 *
 * agxc_build_NAME(b, sources, immediates) makes an operation with a new result and returns it; one
 * without a result, or with several, returns the instruction. Where the result's shape does not
 * follow from the operands, bits (and count) stand behind b: agxc_build_umin(b, x, y),
 * agxc_build_trunc(b, 16, x), agxc_build_load_global(b, 32, 4, address, offset, access).
 * Machine instructions have the same accessors in machine_operand.h.
 */
#pragma once

#include "agx/compiler/ir/instr.h"

struct agxc_builder;

/* Places behind the destinations (dest: among them) plus 1, or 0 where the operation has no operand
 * of that name; an immediate's behind the sources. */
extern const uint8_t agxc_dest_places[AGXC_OP_ISA][AGXC_DEST_NAMES];
extern const uint8_t agxc_src_places[AGXC_OP_ISA][AGXC_SRC_NAMES];
extern const uint8_t agxc_imm_places[AGXC_OP_ISA][AGXC_IMM_NAMES];

/* Whether a generic operation has a source of that name. */
static inline bool agxc_has_src(const struct agxc_instr *instr, enum agxc_src_name name)
{
   return !agxc_is_machine(instr) && agxc_src_places[instr->op][name];
}

/* Whether a generic operation has an immediate of that name. */
static inline bool agxc_has_imm(const struct agxc_instr *instr, enum agxc_imm_name name)
{
   return !agxc_is_machine(instr) && agxc_imm_places[instr->op][name];
}

/* The destination of that name, of an operation with several. */
static inline struct agxc_ref *agxc_dest_by_name(const struct agxc_instr *instr,
                                                 enum agxc_dest_name name)
{
   agx_assert(!agxc_is_machine(instr) && agxc_dest_places[instr->op][name]);
   return &instr->operand[agxc_dest_places[instr->op][name] - 1];
}

/* The source of that name; for tables of names, else agxc_src_NAME says it shorter. */
static inline struct agxc_ref *agxc_src_by_name(const struct agxc_instr *instr,
                                                enum agxc_src_name name)
{
   agx_assert(agxc_has_src(instr, name));
   return &agxc_srcs(instr)[agxc_src_places[instr->op][name] - 1];
}

/* The immediate of that name, as an operand. */
static inline struct agxc_ref *agxc_imm_by_name(const struct agxc_instr *instr,
                                                enum agxc_imm_name name)
{
   agx_assert(agxc_has_imm(instr, name));
   return &agxc_srcs(instr)[instr->src_count + agxc_imm_places[instr->op][name] - 1];
}

/* The destination of an instruction that has one. */
static inline struct agxc_ref *agxc_dest(const struct agxc_instr *instr)
{
   agx_assert(instr->dest_count == 1);
   return instr->operand;
}

/* Sources as they are now: one that has become a move counts as what it moves. */
static inline void agxc_resolve_sources(struct agxc_instr *instr)
{
   agxc_foreach_src (src, instr)
      *src = agxc_skip_moves(*src);
}

/* Of machine code with registers: it has a result. */
static inline bool agxc_writes_register(const struct agxc_instr *instr)
{
   return instr->dest_count > 0 && agxc_dests(instr)[0].kind == AGXC_REG;
}

/* Makes instr, which has one destination, the definition of the value that dest names. */
static inline void agxc_define(struct agxc_instr *instr, struct agxc_ref dest)
{
   agx_assert(dest.kind == AGXC_VALUE);
   *agxc_dest(instr) = dest;
   dest.value->def = instr;
}

/* Sides of an operation on a and b: 0 is a, 1 is b. */
static inline struct agxc_ref *agxc_side(const struct agxc_instr *instr, unsigned side)
{
   return agxc_src_by_name(instr, side ? AGXC_SRC_B : AGXC_SRC_A);
}

/* The source of a phi in a block with one way in. */
static inline struct agxc_ref *agxc_phi_only(const struct agxc_instr *phi)
{
   agx_assert(phi->op == AGXC_OP_PHI && phi->src_count == 1);
   return agxc_srcs(phi);
}

/* A source of a phi that has two. */
static inline struct agxc_ref *agxc_phi_of_two(const struct agxc_instr *phi, unsigned source)
{
   agx_assert(phi->op == AGXC_OP_PHI && phi->src_count == 2);
   return &agxc_srcs(phi)[source];
}

/* Sources of a phi at the start of a loop: what enters it, and what comes around. */
static inline struct agxc_ref *agxc_phi_entry(const struct agxc_instr *phi)
{
   return agxc_phi_of_two(phi, 0);
}
static inline struct agxc_ref *agxc_phi_back(const struct agxc_instr *phi)
{
   return agxc_phi_of_two(phi, 1);
}

/* Sources of a phi behind an if: of the arm that the condition chooses, and of the other one. */
static inline struct agxc_ref *agxc_phi_then(const struct agxc_instr *phi)
{
   return agxc_phi_of_two(phi, 0);
}
static inline struct agxc_ref *agxc_phi_else(const struct agxc_instr *phi)
{
   return agxc_phi_of_two(phi, 1);
}

/* Element i of the vector that a COLLECT makes or a SPLIT takes apart. */
static inline struct agxc_ref *agxc_element(const struct agxc_instr *instr, unsigned i)
{
   agx_assert(instr->op == AGXC_OP_COLLECT ? i < instr->src_count
                                           : instr->op == AGXC_OP_SPLIT && i < instr->dest_count);
   return instr->op == AGXC_OP_COLLECT ? &agxc_srcs(instr)[i] : &instr->operand[i];
}

#include "agx/compiler/ir/ops.h"
