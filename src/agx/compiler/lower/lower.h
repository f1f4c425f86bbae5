/* SPDX-License-Identifier: MIT
 *
 * The passes that replace generic operations which the machine has no instruction for. Each takes
 * generic SSA and leaves generic SSA, and returns whether it changed anything; it takes its
 * options from shader->options and fails through agxc_fail. In the order of the pipeline
 * (pipeline.c).
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* Samplers that state registers have no room for get numbers in the device's heap of samplers. */
bool agxc_lower_sampler(struct agxc_shader *shader);
/* Accesses by binding become accesses by address; what the driver or the local size settles becomes
 * a uniform or a constant. */
bool agxc_lower_buffer(struct agxc_shader *shader);
/* Private variables become SSA values, workgroup memory or scratch memory. */
bool agxc_lower_private(struct agxc_shader *shader);
/* Values of other lanes, reductions and scans become what the machine has. */
bool agxc_lower_subgroup(struct agxc_shader *shader);
/* Operations on 64-bit floats become operations on 64-bit integers. */
bool agxc_lower_float64(struct agxc_shader *shader);
/* Operations on 8 and 16 bits become 32-bit ones where the machine lacks that width. */
bool agxc_lower_narrow(struct agxc_shader *shader);
/* 64-bit integers become pairs of 32-bit words. */
bool agxc_lower_int64(struct agxc_shader *shader);
/* 32-bit integer division becomes multiplications and corrections. */
bool agxc_lower_division(struct agxc_shader *shader);
/* FDIV, FMOD, FREM and bit fields of variable length become simpler operations. */
bool agxc_lower_math(struct agxc_shader *shader);
/* Accesses to robust bindings get their clamps or redirections. */
bool agxc_lower_robust(struct agxc_shader *shader);
