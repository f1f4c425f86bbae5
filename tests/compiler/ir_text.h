/* SPDX-License-Identifier: MIT
 *
 * A shader from IR text, for tests of rooms below the pipeline.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* A shader and the arena that holds it. */
struct ir_text {
   struct agx_arena arena;
   struct agxc_options options;
   jmp_buf failed;
   struct agxc_shader *shader;
};

/* Parses `body` as a shader of that local size ("64x1x1") with 4 bytes of workgroup memory and 8 of
 * push constants; fails the test where it can't. ir_text_end() frees it. */
void ir_text_begin(struct ir_text *text, const char *local, const char *body);
void ir_text_end(struct ir_text *text);

/* The last instruction of that operation; fails the test where there is none. */
struct agxc_instr *ir_text_last(const struct ir_text *text, enum agxc_op op);
