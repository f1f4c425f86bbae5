/* SPDX-License-Identifier: MIT
 *
 * What happens behind register allocation, in this order, and at last the machine code.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* Puts the instruction in front that takes the thread's scratch memory, when there is any. */
bool agxc_insert_stack(struct agxc_shader *shader);
/* Removes barriers between accesses of the first SIMD-group alone, and nests its ifs. */
bool agxc_first_group(struct agxc_shader *shader);
/* Structured control flow to mask instructions and jumps at block ends. */
bool agxc_lower_control(struct agxc_shader *shader);
/* Moves tests that loops begin with to their ends. */
bool agxc_test_at_end(struct agxc_shader *shader);
/* Removes barriers that order nothing; behind everything that moves instructions. */
bool agxc_drop_barriers(struct agxc_shader *shader);
/* Chooses scoreboard groups and waits before results of asynchronous operations are used. */
bool agxc_insert_waits(struct agxc_shader *shader);
/* Sets discard and cache hints on last uses. */
bool agxc_hints(struct agxc_shader *shader);

/* Gives the program, whose code has been emitted, the table of source lines (program/lines.h) and
 * the texts of its files, both in the shader's arena. None: no line is known, or there would be
 * more of them than a program may have. */
void agxc_emit_lines(struct agxc_shader *shader, struct agx_program *program);

/* Writes machine code with stop and trap padding, jumps resolved, and fills shader->stats.
 * out_code lies in the shader's arena; out_text_B are the bytes without padding. Fails through
 * agxc_fail when code is too long for a jump. */
void agxc_emit(struct agxc_shader *shader, uint8_t **out_code, uint32_t *out_text_B,
               uint32_t *out_code_B);
