/* SPDX-License-Identifier: MIT
 *
 * Runs the front end alone, with an arena of its own.
 */
#pragma once

#include "agx/compiler/ir/ir.h"
#include "support.h"

struct spirv_front {
   struct agx_arena arena;
   jmp_buf exhausted;
   struct agxc_shader *shader;
};

/* Translates words; end with spirv_front_fini in any case. NULL options: g13g, no
 * specialization. */
agx_status spirv_front_run(struct spirv_front *front, const void *words, size_t word_count,
                           const struct agxc_options *options);
void spirv_front_fini(struct spirv_front *front);

/* Fails the test unless every value has one definition that dominates its uses, phis fit
 * their blocks' predecessors, and only last instructions end blocks. */
void spirv_front_check(const struct spirv_front *front);
