/* SPDX-License-Identifier: MIT
 *
 * For tests of the back end: an empty shader to build machine code in, and the whole way
 * from there to a SIMD-group of the simulator.
 */
#pragma once

#include "support.h"

#include "agx/compiler/ir/ir.h"

/* Where memory lies; its address is in u0..u1 (a 64-bit base). */
#define BACKEND_DATA   0x2000100000ull
#define BACKEND_DATA_B 0x40000u
/* Where binding i lies in it, in units of i. */
#define BACKEND_BUFFER_B 0x1000u

struct backend {
   struct agx_arena arena;
   jmp_buf exhausted;
   struct agxc_options options;
   struct agxc_shader *shader;
   char *text;      /* the code as text, after backend_compile */
   uint32_t pieces; /* binding i lies where i % pieces would, unless 0 */
};

void backend_init(struct backend *backend);
void backend_fini(struct backend *backend);

/* Register allocation to emission; the status of a pass that failed. */
agx_status backend_compile(struct backend *backend);
/* Takes code from elsewhere, without its stop; the shader says what it needs. */
void backend_load(struct backend *backend, const uint8_t *code, uint32_t size);
/* Runs the compiled code on 32 lanes in check mode, over data (in and out). */
void backend_run(struct backend *backend, uint8_t *data, uint32_t data_B);

/* A row with operands in order; the rest are 0. Returns its first destination. */
struct agxc_instr *backend_instr(struct agxc_builder *b, enum agx_isa_op opcode, unsigned count,
                                 const struct agxc_ref *operands);
/* The same with a new value as first operand. */
struct agxc_ref backend_value(struct agxc_builder *b, enum agx_isa_op opcode, unsigned bits,
                              unsigned elements, unsigned count, const struct agxc_ref *operands);
