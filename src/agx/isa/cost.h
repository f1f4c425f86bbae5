/* SPDX-License-Identifier: MIT
 *
 * What an instruction costs, for the scheduler, the statistics of the compiler
 * and the simulator's modelled cycles alike. The numbers stand in cost.def.
 */
#pragma once

#include "agx/isa/isa.h"

struct agx_isa_cost {
   uint16_t throughput; /* cycles that it keeps its pipe busy */
   uint16_t latency;    /* cycles from issue until the result can be used */
   bool shared_pipe;    /* counts for the pipe that all four slots share */
};

/* The cost of an instruction with these operands; op must be a row's. Where it
 * depends on the size, the widest register operand decides. */
struct agx_isa_cost agx_isa_cost(const struct agx_isa_instr *instr);
