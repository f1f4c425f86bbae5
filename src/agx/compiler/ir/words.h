/* SPDX-License-Identifier: MIT
 *
 * The words that IR text has for values of immediates: what print.c writes and parse.c reads.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

struct agxc_word {
   uint64_t value;
   const char *word;
};

struct agxc_imm_words {
   const char *name; /* of the immediate */
   bool are_flags;   /* a value is several words, joined by | */
   const struct agxc_word *words;
   size_t count;
};

/* Of immediate i of a generic operation. */
const struct agxc_imm_words *agxc_imm_words(enum agxc_op op, unsigned i);

/* By bit of enum agxc_instr_flags. */
extern const char *const agxc_instr_flag_words[4];
