/* SPDX-License-Identifier: MIT
 *
 * The list of what a uop can do, and a table of functions that do it. Decoding chooses by
 * number (enum agxs_exec_index); exec/ has the functions, in several variants, and check/
 * tables that stand before those.
 */
#pragma once

#include "agx/sim/machine/machine.h"

/* clang-format off */
#define AGXS_EXEC_LIST(X) \
   /* exec/alu.c */ \
   X(mov) X(iadd) X(iadd64) X(iadd_sat) X(imadd) X(imadd64) X(imadd_sat) X(bitop) X(bfi) \
   X(bfeil) X(extr) X(shlhi) X(shrhi) X(asr) X(asrh) X(bitrev) X(popcnt) X(ffs) X(intl) \
   X(icsel) X(fcsel) \
   /* exec/float.c */ \
   X(fadd) X(fmul) X(ffma) X(hadd) X(hmul) X(hfma) \
   /* exec/convert.c */ \
   X(floor) X(ceil) X(trunc) X(rint) X(rcp) X(rsqrt) X(rsqrts) X(log2) X(exp2) X(sinr) X(sinc) \
   X(dfdx) X(dfdy) X(int_to_f) X(f_to_int) \
   /* exec/control.c */ \
   X(stop) X(trap) X(jmp_any) X(jmp_none) X(call) X(call_reg) X(ret) X(link) X(refuse) X(nop) X(jump) \
   X(pop_exec) X(if_icmp) X(else_icmp) X(while_icmp) X(if_fcmp) X(else_fcmp) X(while_fcmp) \
   X(wait) X(membar) X(barrier) X(mfsr) \
   /* exec/helper.c */ \
   X(doorbell) X(map) X(unmap) \
   /* exec/memory.c */ \
   X(load) X(store) X(atomic) \
   /* exec/local.c */ \
   X(lload) X(lstore) X(latomic) X(stack_adjust) X(stack_load) X(stack_store) X(uniform_store) \
   /* exec/simd.c */ \
   X(icmp_ballot) X(fcmp_ballot) X(shuffle) X(reduce) X(matrix) \
   /* exec/memory.c: images */ \
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
