/* SPDX-License-Identifier: MIT
 *
 * What `agx compile --stats` shows, counted while the code is emitted.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

struct agxc_stats {
   struct agx_program_stats counts;
   uint32_t pipe_cycles[2]; /* of the own pipe, of the shared one */
   uint32_t spills_from;    /* first byte of the stack that holds spilled values */
};
/* Starts counting. Accesses of the stack behind the shader's own scratch memory are spills. */
void agxc_stats_begin(struct agxc_stats *stats, const struct agxc_shader *shader);

/* Counts one emitted instruction, its cycles and its memory accesses: isa for the encoder; instr is
 * NULL for the stop at the end. */
void agxc_stats_count(struct agxc_stats *stats, const struct agxc_instr *instr,
                      const struct agx_isa_instr *isa);
/* After the last instruction: fills shader->stats. */
void agxc_stats_finish(struct agxc_stats *stats, struct agxc_shader *shader);
