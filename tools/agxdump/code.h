/* SPDX-License-Identifier: MIT
 *
 * A program's code, copied out of GPU memory, and what its listing says beside each instruction.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agx/isa/isa.h"
#include "base/status.h"

#define CODE_NONE UINT32_MAX

struct dump_instr {
   uint32_t offset;
   uint16_t op; /* enum agx_isa_op */
   uint8_t length;
   uint8_t bytes[AGX_ISA_MAX_BYTES];
};

/* A program to the stop behind which no jump leads, or to where it can't be decoded. */
struct dump_code {
   uint64_t va; /* 0: there is none */
   struct dump_instr *instrs;
   size_t count;
   uint32_t bytes;
   bool is_cut; /* not decoded to a stop */
};

/* Copies size bytes at GPU address va; false when they are not there. */
typedef bool code_read_fn(void *user, uint64_t va, void *out, size_t size);

/* *out_code is good for code_free also when this fails, which it does for lack of memory only. */
AGX_MUST_CHECK agx_status code_copy(code_read_fn *read, void *user, uint64_t va,
                                    struct dump_code *out_code);
/* Frees the instructions. */
void code_free(struct dump_code *code);

/* What stands beside an instruction. Operations and waits meet in the order of the code, whatever
 * jumps there are. */
struct code_note {
   uint32_t target; /* of a jump: bytes from the code's begin; or CODE_NONE */
   uint32_t
      wait; /* of an asynchronous operation: the instruction that waits for it, or CODE_NONE */
   uint32_t first_met; /* of what waits: the first operation that it meets, by index */
   uint32_t met_count; /* and how many: operations of its group from there on */
   uint16_t depth;     /* levels of control flow around it */
   int8_t group;       /* where an asynchronous operation counts, or what is waited for; -1: none */
   bool is_target;     /* of a jump */
};

/* *out_notes (free it), one for each instruction. AGX_RESOURCE_EXHAUSTED: no memory. */
AGX_MUST_CHECK agx_status code_annotate(const struct dump_code *code, struct code_note **out_notes);
/* Writes what the note says, such as "waited for at 2c", or an empty text. */
void code_print_note(const struct dump_code *code, const struct code_note *notes, size_t index,
                     char *text, size_t capacity);
