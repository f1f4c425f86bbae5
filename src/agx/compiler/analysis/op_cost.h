/* SPDX-License-Identifier: MIT
 *
 * What generic operations cost once they are machine instructions, for passes that weigh where to
 * compute something before selection has decided how; and what machine instructions cost.
 */
#pragma once

#include "agx/compiler/ir/ir.h"
#include "agx/isa/cost.h"

/* Cycles a SIMD-group spends on a load that it need not wait for alone. [A] */
#define AGXC_COST_LOAD 10

/* Cycles in the pipe that it takes, roughly. Source: docs/hw/performance.md. */
unsigned agxc_op_cost(const struct agxc_instr *instr);
/* Whether it takes or gives 64-bit floats, so that lower_float64 expands it: what F2U gives and U2F
 * takes are integers. */
bool agxc_is_long_float(const struct agxc_instr *instr);
/* About how many instructions it becomes, for passes that copy code. */
unsigned agxc_op_size(const struct agxc_instr *instr);

/* What the machine instruction costs by its operands, in SSA form or over registers. */
struct agx_isa_cost agxc_machine_cost(const struct agxc_instr *instr);

/* Cycles from a load of device memory to its result. */
unsigned agxc_load_latency(void);

/* Whether selection makes the operation part of the instruction that `user` becomes, where it is
 * that user's `operand`. */
bool agxc_op_folds(const struct agxc_instr *instr, const struct agxc_instr *user,
                   const struct agxc_ref *operand);

/* Whether every thread of any dispatch may do the load: the program declares that so much is
 * bound. Binding sizes that the robust code clamps to count, too. */
bool agxc_load_is_safe(const struct agxc_shader *shader, const struct agxc_instr *load);
