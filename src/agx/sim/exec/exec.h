/* SPDX-License-Identifier: MIT
 *
 * The list of exec functions. The exec_*.c files are compiled once or more, each
 * time with another AGXS_VARIANT and other instruction-set flags; all variants
 * give the same bits. exec.c gathers one variant's functions into a table.
 */
#pragma once

#include "agx/sim/machine/machine.h"

#ifndef AGXS_VARIANT
#define AGXS_VARIANT plain
#endif
#define AGXS_PASTE_(a, b) a##_##b
#define AGXS_PASTE(a, b)  AGXS_PASTE_(a, b)
#define AGXS_EXEC(name)   AGXS_PASTE(agxs_exec_##name, AGXS_VARIANT)

/* clang-format off */
#define AGXS_EXEC_LIST(X) \
   /* exec_alu.c */ \
   X(mov) X(iadd) X(iadd64) X(iadd_sat) X(imadd) X(imadd64) X(imadd_sat) X(bitop) X(bfi) \
   X(bfeil) X(extr) X(shlhi) X(shrhi) X(asr) X(asrh) X(bitrev) X(popcnt) X(ffs) X(intl) \
   X(icsel) X(fcsel) \
   /* exec_float.c */ \
   X(fadd) X(fmul) X(ffma) X(hadd) X(hmul) X(hfma) \
   /* exec_convert.c */ \
   X(floor) X(ceil) X(trunc) X(rint) X(rcp) X(rsqrt) X(rsqrts) X(log2) X(exp2) X(sinr) X(sinc) \
   X(dfdx) X(dfdy) X(int_to_f) X(f_to_int) \
   /* exec_control.c */ \
   X(stop) X(trap) X(jmp_any) X(jmp_none) X(call) X(call_reg) X(ret) X(link) X(refuse) X(nop) X(jump) \
   X(pop_exec) X(if_icmp) X(else_icmp) X(while_icmp) X(if_fcmp) X(else_fcmp) X(while_fcmp) \
   X(wait) X(membar) X(barrier) X(mfsr) \
   /* exec_memory.c */ \
   X(load) X(store) X(atomic) \
   /* exec_local.c */ \
   X(lload) X(lstore) X(latomic) X(stack_adjust) X(stack_load) X(stack_store) X(uniform_store) \
   /* exec_simd.c */ \
   X(icmp_ballot) X(fcmp_ballot) X(shuffle) X(reduce) X(matrix) \
   /* exec_image.c */ \
   X(sample) X(image_write) X(image_write_block) X(texture_state) X(sampler_state) \
   X(tile_load) X(tile_store)
/* clang-format on */

enum agxs_exec_index {
#define X(name) AGXS_X_##name,
   AGXS_EXEC_LIST(X)
#undef X
   AGXS_X_COUNT
};

struct agxs_exec_set {
   const char *name;
   agxs_exec *exec[AGXS_X_COUNT];
};

#define X(name) agxs_exec AGXS_EXEC(name);
AGXS_EXEC_LIST(X)
#undef X

extern const struct agxs_exec_set agxs_exec_set_plain, agxs_exec_set_avx2;

/* The quickest variant that this machine can run. */
const struct agxs_exec_set *agxs_exec_best(void);
