/* SPDX-License-Identifier: MIT
 *
 * Runs generic IR, thread by thread, as its operations are defined: what a kernel
 * means before the back end has touched it.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

struct ir_eval_buffer {
   uint8_t *data;
   uint64_t size_B;
};

struct ir_eval {
   const struct agxc_shader *shader; /* indexed */
   struct ir_eval_buffer buffers[AGX_PROGRAM_MAX_BINDINGS];
   uint8_t push[AGX_PROGRAM_MAX_PUSH_B];
   uint32_t workgroups[3];
   uint64_t max_steps; /* instructions, all threads together */
   /* Behind lower_buffer: uniform halves, which a preamble stores to. The address of a buffer
    * is its binding's number. */
   uint16_t *uniforms;
};

/* Runs the whole grid. Fails on accesses outside of memory, on operations it does not
 * know, and when max_steps are used up. */
AGX_MUST_CHECK agx_status ir_eval_run(struct ir_eval *eval);
