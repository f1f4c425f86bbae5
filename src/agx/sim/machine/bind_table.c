/* SPDX-License-Identifier: MIT
 *
 * One entry for each instruction that is modelled: exec function, operands, and
 * the bind function that knows what to do with them.
 */
#include "agx/sim/machine/bind_impl.h"
#include "agx/sim/memory/memory.h"

#define AT(row, operand) AGX_ISA_##row##_##operand + 1

#define INT1(row, fn) [AGX_ISA_OP_##row] = {agxs_bind_int, AGXS_X_##fn, AT(row, D), {AT(row, A)}}
#define INT2(row, fn)                                                                              \
   [AGX_ISA_OP_##row] = {agxs_bind_int, AGXS_X_##fn, AT(row, D), {AT(row, A), AT(row, B)}}
#define BITS3(row, fn)                                                                             \
   [AGX_ISA_OP_##row] = {                                                                          \
      agxs_bind_int,   AGXS_X_##fn, AT(row, D), {AT(row, A), AT(row, B), AT(row, C)}, 0, 0,        \
      AT(row, BITMASK)}
#define ASR(row, fn)                                                                               \
   [AGX_ISA_OP_##row] = {agxs_bind_asr, AGXS_X_##fn, AT(row, D), {AT(row, A), AT(row, B)}}
#define SHIFT(row, fn)                                                                             \
   [AGX_ISA_OP_##row] = {agxs_bind_int, AGXS_X_##fn, AT(row, D), {0, AT(row, B), AT(row, C)}}
#define BIT1(row)                                                                                  \
   [AGX_ISA_OP_##row] = {                                                                          \
      agxs_bind_bitop, AGXS_X_bitop, AT(row, D), {AT(row, A)}, .fixed = AGX_ISA_TRUTH_##row}
#define BIT2(row)                                                                                  \
   [AGX_ISA_OP_##row] = {agxs_bind_bitop,                                                          \
                         AGXS_X_bitop,                                                             \
                         AT(row, D),                                                               \
                         {AT(row, A), AT(row, B)},                                                 \
                         .fixed = AGX_ISA_TRUTH_##row}
#define ADD(row, minus)                                                                            \
   [AGX_ISA_OP_##row] = {                                                                          \
      agxs_bind_add,        AGXS_X_iadd,           AT(row, D),    {AT(row, A), AT(row, B)},        \
      .flag = AT(row, SAT), .imm = AT(row, SHIFT), .fixed = minus}
#define MADD(row, minus)                                                                           \
   [AGX_ISA_OP_##row] = {agxs_bind_add,        AGXS_X_imadd,                                       \
                         AT(row, D),           {AT(row, A), AT(row, B), AT(row, C)},               \
                         .flag = AT(row, SAT), .imm = AT(row, SHIFT),                              \
                         .fixed = minus}
#define FLOAT1(row, fn)                                                                            \
   [AGX_ISA_OP_##                                                                                  \
      row] = {agxs_bind_float, AGXS_X_##fn, AT(row, D), {AT(row, A)}, .flag = AT(row, SAT)}
#define FLOAT2(row, fn)                                                                            \
   [AGX_ISA_OP_##row] = {                                                                          \
      agxs_bind_float, AGXS_X_##fn, AT(row, D), {AT(row, A), AT(row, B)}, .flag = AT(row, SAT)}
#define FLOAT3(row, fn)                                                                            \
   [AGX_ISA_OP_##row] = {agxs_bind_float,                                                          \
                         AGXS_X_##fn,                                                              \
                         AT(row, D),                                                               \
                         {AT(row, A), AT(row, B), AT(row, C)},                                     \
                         .flag = AT(row, SAT)}
#define CONVERT(row, fn, bits, sign)                                                               \
   [AGX_ISA_OP_##row] = {agxs_bind_round,        AGXS_X_##fn,   AT(row, D),       {AT(row, A)},    \
                         .mode = AT(row, ROUND), .fixed = bits, .is_signed = sign}
#define SELECT(row, fn, is_float)                                                                  \
   [AGX_ISA_OP_##row] = {agxs_bind_select,                                                         \
                         AGXS_X_##fn,                                                              \
                         AT(row, D),                                                               \
                         {AT(row, A), AT(row, B), AT(row, X), AT(row, Y)},                         \
                         .mode = AT(row, COND),                                                    \
                         .fixed = is_float}
#define BALLOT(row, fn, is_float)                                                                  \
   [AGX_ISA_OP_##row] = {agxs_bind_ballot,         AGXS_X_##fn,           AT(row, D),              \
                         {AT(row, A), AT(row, B)}, .mode = AT(row, COND), .flag = AT(row, WINDOW), \
                         .fixed = is_float}
#define MASK(row, fn, is_float)                                                                    \
   [AGX_ISA_OP_##row] = {agxs_bind_mask,           AGXS_X_##fn,           0,                       \
                         {AT(row, A), AT(row, B)}, .mode = AT(row, COND), .imm = AT(row, NEST),    \
                         .fixed = is_float}
#define JUMP(row, fn) [AGX_ISA_OP_##row] = {agxs_bind_jump, AGXS_X_##fn, .imm = AT(row, OFFSET)}
#define MEMBAR(row, kind)                                                                          \
   [AGX_ISA_OP_##row] = {agxs_bind_membar, AGXS_X_membar, .fixed = AGXS_MEMBAR_##kind}
#define REFUSE(row, why) [AGX_ISA_OP_##row] = {agxs_bind_##why, AGXS_X_refuse}
#define REDUCE(row, is_simd)                                                                       \
   [AGX_ISA_OP_##row] = {agxs_bind_reduce, AGXS_X_reduce,       AT(row, D),                        \
                         {AT(row, A)},     .mode = AT(row, OP), .flag = AT(row, PREFIX),           \
                         .fixed = is_simd}
#define MATRIX(row)                                                                                \
   [AGX_ISA_OP_##                                                                                  \
      row] = {agxs_bind_matrix, AGXS_X_matrix, AT(row, D), {AT(row, A), AT(row, B), AT(row, C)}}
#define MEMORY(row, fn, is_store)                                                                  \
   [AGX_ISA_OP_##row] = {agxs_bind_memory,                                                         \
                         AGXS_X_##fn,                                                              \
                         0,                                                                        \
                         {AT(row, R), AT(row, BASE), AT(row, INDEX), AT(row, SHIFT)},              \
                         .mode = AT(row, FORMAT),                                                  \
                         .imm = AT(row, MASK),                                                     \
                         .flag = AT(row, GROUP),                                                   \
                         .coherency = AT(row, COHERENCY),                                          \
                         .fixed = is_store}
#define LOCAL(row, fn, is_store)                                                                   \
   [AGX_ISA_OP_##row] = {agxs_bind_local,                                                          \
                         AGXS_X_##fn,                                                              \
                         0,                                                                        \
                         {AT(row, R), AT(row, BASE), AT(row, INDEX)},                              \
                         .mode = AT(row, FORMAT),                                                  \
                         .imm = AT(row, MASK),                                                     \
                         .fixed = is_store}
#define STACK(row, fn, is_store)                                                                   \
   [AGX_ISA_OP_##row] = {agxs_bind_stack,                                                          \
                         AGXS_X_##fn,                                                              \
                         0,                                                                        \
                         {AT(row, R), 0, AT(row, INDEX), AT(row, SHIFT)},                          \
                         .mode = AT(row, FORMAT),                                                  \
                         .imm = AT(row, MASK),                                                     \
                         .flag = AT(row, GROUP),                                                   \
                         .fixed = is_store}

const struct agxs_binding agxs_bindings[AGX_ISA_OP_COUNT] = {
   [AGX_ISA_OP_LDIMM16] = {agxs_bind_int, AGXS_X_mov, AT(LDIMM16, D), {AT(LDIMM16, IMM)}},
   [AGX_ISA_OP_LDIMM32] = {agxs_bind_int, AGXS_X_mov, AT(LDIMM32, D), {AT(LDIMM32, IMM)}},
   [AGX_ISA_OP_MFSR] = {agxs_bind_mfsr, AGXS_X_mfsr, AT(MFSR, D), .imm = AT(MFSR, SR)},
   ADD(IADD, 0),
   ADD(ISUB, 1),
   [AGX_ISA_OP_IMUL] =
      {agxs_bind_add, AGXS_X_imadd, AT(IMUL, D), {AT(IMUL, A), AT(IMUL, B)}, .flag = AT(IMUL, SAT)},
   MADD(IMADD, 0),
   MADD(IMSUB, 1),
   CONVERT(U8_TO_F, int_to_f, 8, false),
   CONVERT(S8_TO_F, int_to_f, 8, true),
   CONVERT(U16_TO_F, int_to_f, 16, false),
   CONVERT(S16_TO_F, int_to_f, 16, true),
   CONVERT(U32_TO_F, int_to_f, 32, false),
   CONVERT(S32_TO_F, int_to_f, 32, true),
   CONVERT(F_TO_U16, f_to_int, 16, false),
   CONVERT(F_TO_S16, f_to_int, 16, true),
   CONVERT(F_TO_U32, f_to_int, 32, false),
   CONVERT(F_TO_S32, f_to_int, 32, true),
   SHIFT(SHL, bfi),
   SHIFT(SHR, bfeil),
   BITS3(BFI, bfi),
   BITS3(BFEIL, bfeil),
   BITS3(EXTR, extr),
   BITS3(SHLHI, shlhi),
   BITS3(SHRHI, shrhi),
   ASR(ASR, asr),
   ASR(ASRH, asrh),
   MATRIX(SIMD_MATRIX_FMADD32),
   MATRIX(SIMD_MATRIX_FMADD16),
   FLOAT3(FFMA, ffma),
   FLOAT3(HFMA, hfma),
   FLOAT2(FADD, fadd),
   FLOAT2(FMUL, fmul),
   FLOAT2(HADD, hadd),
   FLOAT2(HMUL, hmul),
   BIT1(NOT_A),
   BIT1(MOV),
   BIT1(NOT),
   BIT1(MOV_A),
   BIT2(ZERO),
   BIT2(AND),
   BIT2(ANDN1),
   BIT2(ANDN2),
   BIT2(XOR),
   BIT2(OR),
   BIT2(NOR),
   BIT2(XNOR),
   BIT2(ORN1),
   BIT2(ORN2),
   BIT2(NAND),
   BIT2(ONE),
   [AGX_ISA_OP_BITOP] = {agxs_bind_bitop,
                         AGXS_X_bitop,
                         AT(BITOP, D),
                         {AT(BITOP, A), AT(BITOP, B)},
                         .mode = AT(BITOP, TRUTH)},
   INT1(BITREV, bitrev),
   INT1(POPCNT, popcnt),
   INT1(FFS, ffs),
   INT2(INTL, intl),
   FLOAT1(FLOOR, floor),
   FLOAT1(CEIL, ceil),
   FLOAT1(TRUNC, trunc),
   FLOAT1(RINT, rint),
   FLOAT1(RCP, rcp),
   FLOAT1(RSQRT, rsqrt),
   FLOAT1(RSQRTS, rsqrts),
   FLOAT1(LOG2, log2),
   FLOAT1(EXP2, exp2),
   FLOAT1(SINR, sinr),
   FLOAT1(SINC, sinc),
   FLOAT1(DFDX, dfdx),
   FLOAT1(DFDY, dfdy),
   [AGX_ISA_OP_STOP] = {agxs_bind_end, AGXS_X_stop},
   [AGX_ISA_OP_TRAP] = {agxs_bind_end, AGXS_X_trap},
   JUMP(JMP_ANY, jmp_any),
   JUMP(JMP_NONE, jmp_none),
   JUMP(CALL, call),
   [AGX_ISA_OP_CALL_REG] = {agxs_bind_call_reg, AGXS_X_call_reg, 0, {AT(CALL_REG, TARGET)}},
   [AGX_ISA_OP_RET] = {agxs_bind_ret, AGXS_X_ret, 0, {AT(RET, TARGET)}},
   [AGX_ISA_OP_POP_EXEC] = {agxs_bind_mask, AGXS_X_pop_exec, .imm = AT(POP_EXEC, NEST)},
   [AGX_ISA_OP_UPDATE_EXEC] = {agxs_bind_mask, AGXS_X_pop_exec},
   MASK(IF_ICMP, if_icmp, 0),
   MASK(ELSE_ICMP, else_icmp, 0),
   MASK(WHILE_ICMP, while_icmp, 0),
   MASK(IF_FCMP, if_fcmp, 1),
   MASK(ELSE_FCMP, else_fcmp, 1),
   MASK(WHILE_FCMP, while_fcmp, 1),
   SELECT(ICSEL, icsel, 0),
   SELECT(FCSEL, fcsel, 1),
   [AGX_ISA_OP_BALLOT] = {agxs_bind_ballot, AGXS_X_icmp_ballot, AT(BALLOT, D)},
   BALLOT(ICMP_BALLOT, icmp_ballot, 0),
   BALLOT(FCMP_BALLOT, fcmp_ballot, 1),
   [AGX_ISA_OP_SHUFFLE] = {agxs_bind_shuffle,
                           AGXS_X_shuffle,
                           AT(SHUFFLE, D),
                           {AT(SHUFFLE, A), AT(SHUFFLE, B)},
                           .mode = AT(SHUFFLE, OP),
                           .flag = AT(SHUFFLE, ROTATE)},
   REDUCE(QUAD, 0),
   REDUCE(SIMD, 1),
   [AGX_ISA_OP_WAIT] = {agxs_bind_wait, AGXS_X_wait, .imm = AT(WAIT, GROUP)},
   MEMORY(LOAD, load, 0),
   MEMORY(STORE, store, 1),
   [AGX_ISA_OP_ATOMIC] = {agxs_bind_atomic,
                          AGXS_X_atomic,
                          AT(ATOMIC, R),
                          {AT(ATOMIC, S), AT(ATOMIC, BASE), AT(ATOMIC, INDEX)},
                          .mode = AT(ATOMIC, OP),
                          .flag = AT(ATOMIC, GROUP)},
   LOCAL(LLOAD, lload, 0),
   LOCAL(LSTORE, lstore, 1),
   [AGX_ISA_OP_LATOMIC] = {agxs_bind_atomic,
                           AGXS_X_latomic,
                           AT(LATOMIC, R),
                           {AT(LATOMIC, S), AT(LATOMIC, BASE), AT(LATOMIC, INDEX)},
                           .mode = AT(LATOMIC, OP)},
   STACK(STACK_LOAD, stack_load, 0),
   STACK(STACK_STORE, stack_store, 1),
   [AGX_ISA_OP_STACK_ADJUST] = {agxs_bind_stack_adjust,
                                AGXS_X_stack_adjust,
                                0,
                                {0, 0, AT(STACK_ADJUST, INDEX)}},
   [AGX_ISA_OP_UNIFORM_STORE] = {agxs_bind_uniform_store,
                                 AGXS_X_uniform_store,
                                 AT(UNIFORM_STORE, U),
                                 {AT(UNIFORM_STORE, R)}},
   [AGX_ISA_OP_UNIFORM_STORE_RAW] = {agxs_bind_uniform_store_raw,
                                     AGXS_X_uniform_store,
                                     0,
                                     {AT(UNIFORM_STORE_RAW, R), 0, AT(UNIFORM_STORE_RAW, INDEX),
                                      AT(UNIFORM_STORE_RAW, SHIFT)},
                                     .mode = AT(UNIFORM_STORE_RAW, FORMAT),
                                     .imm = AT(UNIFORM_STORE_RAW, MASK)},
   [AGX_ISA_OP_BARRIER] = {agxs_bind_barrier, AGXS_X_barrier},
   MEMBAR(MEMORY_BARRIER, WORKGROUP),
   MEMBAR(IMAGE_BARRIER_1, RELEASE),
   MEMBAR(IMAGE_BARRIER_2, RELEASE),
   MEMBAR(IMAGE_BARRIER_3, ACQUIRE),
   MEMBAR(IMAGE_BARRIER_4, ACQUIRE),
   MEMBAR(FLUSH_MEMORY_TO_TEXTURE, TEXTURE),
   MEMBAR(MEMORY_BARRIER_2, DEVICE),
   MEMBAR(MEMORY_BARRIER_3, DEVICE),
   MEMBAR(UNKNOWN_BARRIER_1, DEVICE),
   MEMBAR(UNKNOWN_BARRIER_2, DEVICE),
   MEMBAR(DEVICE_BARRIER_1, DEVICE),
   MEMBAR(DEVICE_BARRIER_2, DEVICE),
   MEMBAR(MEMBAR, DEVICE),
   [AGX_ISA_OP_JMP_IF_SKIPPING_DOORBELL] = {agxs_bind_doorbell_jump, AGXS_X_jump,
                                            .imm = AT(JMP_IF_SKIPPING_DOORBELL, OFFSET)},
   [AGX_ISA_OP_DOORBELL] = {agxs_bind_doorbell, AGXS_X_doorbell, .imm = AT(DOORBELL, IMM)},
   [AGX_ISA_OP_MAP] = {agxs_bind_block, AGXS_X_map, 0, {AT(MAP, R)}, .imm = AT(MAP, V)},
   [AGX_ISA_OP_UNMAP] = {agxs_bind_block, AGXS_X_unmap, AT(UNMAP, R), .imm = AT(UNMAP, V)},
   /* A compute thread covers no pixel, so there are no older fragments to wait for. */
   [AGX_ISA_OP_PIXWAIT] = {agxs_bind_nothing, AGXS_X_nop},
   [AGX_ISA_OP_PIXREL] = {agxs_bind_nothing, AGXS_X_nop},
   REFUSE(NO_VAR, render),
   REFUSE(ST_VAR, render),
   REFUSE(SAMPLE_MASK, render),
   REFUSE(ZS_EMIT, render),
   REFUSE(ITER, render),
   REFUSE(ITERPROJ, render),
   REFUSE(LDCF, render),
   REFUSE(MFSR_UNK, unknown),
   REFUSE(IUNOP_UNK, unknown),
   REFUSE(FUNOP_UNK, unknown),
   REFUSE(JMP_INCOMPLETE, unknown),
   REFUSE(UNK_C030, unknown),
   REFUSE(UNK_C040, unknown),
   REFUSE(UNK_C0, unknown),
   REFUSE(UNK_75, unknown),
   REFUSE(UNK_E8, unknown),
   REFUSE(UNK_0C, unknown),
   REFUSE(UNK_101C, unknown),
   REFUSE(UNK_62CC, unknown),
   REFUSE(ASYNC_LOAD, unknown),
   REFUSE(ASYNC_STORE, unknown),
   [AGX_ISA_OP_SMPF] = {agxs_bind_sample, AGXS_X_sample, AT(SMPF, R), .fixed = 1},
   [AGX_ISA_OP_SMPI] = {agxs_bind_sample, AGXS_X_sample, AT(SMPI, R)},
   [AGX_ISA_OP_IMGW] = {agxs_bind_image_write, AGXS_X_image_write},
   [AGX_ISA_OP_IMGWBLK] = {agxs_bind_image_write, AGXS_X_image_write_block, .fixed = 1},
   [AGX_ISA_OP_TEX_STATE_STORE] = {agxs_bind_state, AGXS_X_texture_state},
   [AGX_ISA_OP_SAMPLER_STATE_STORE] = {agxs_bind_state, AGXS_X_sampler_state},
   [AGX_ISA_OP_LD_TILE] = {agxs_bind_tile, AGXS_X_tile_load},
   [AGX_ISA_OP_ST_TILE] = {agxs_bind_tile, AGXS_X_tile_store, .fixed = 1},
};
