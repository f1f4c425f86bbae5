/* SPDX-License-Identifier: MIT
 *
 * The words that IR text has for values of immediates: what print.c writes and parse.c reads.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

struct agxc_imm_words {
   const char *name; /* of the immediate */
   bool are_flags;   /* a value is several words, joined by | */
   const struct agx_isa_name *words;
   size_t count;
};

/* Of operand i of an operation (struct agxc_instr), an immediate of a generic one or a modifier of
 * a machine instruction; without a name for every other operand. */
struct agxc_imm_words agxc_imm_words(unsigned op, unsigned dests, unsigned i);

/* By bit of enum agxc_instr_flags. */
extern const char *const agxc_instr_flag_words[4];
