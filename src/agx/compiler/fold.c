/* SPDX-License-Identifier: MIT */
#include "agx/compiler/fold.h"

/* RULE(operation, expression over a, b and their signed readings sa, sb of 64 bits) */
#define RULES                                                                                      \
   RULE(IADD, a + b)                                                                               \
   RULE(ISUB, a - b)                                                                               \
   RULE(IMUL, a *b)                                                                                \
   RULE(UMULH, (uint32_t)((uint64_t)a * b >> 32))                                                  \
   RULE(SMULH, (uint32_t)((uint64_t)(sa * sb) >> 32))                                              \
   RULE(UDIV, b ? a / b : 0)                                                                       \
   RULE(UMOD, b ? a % b : 0)                                                                       \
   RULE(SDIV, b ? (uint32_t)(sa / sb) : 0)                                                         \
   RULE(SREM, b ? (uint32_t)(sa % sb) : 0)                                                         \
   RULE(SMOD, b ? (uint32_t)((sa % sb + sb) % sb) : 0)                                             \
   RULE(INEG, 0u - a)                                                                              \
   RULE(IAND, a &b)                                                                                \
   RULE(IOR, a | b)                                                                                \
   RULE(IXOR, a ^ b)                                                                               \
   RULE(INOT, ~a)                                                                                  \
   RULE(ISHL, b < 32 ? a << b : 0)                                                                 \
   RULE(USHR, b < 32 ? a >> b : 0)                                                                 \
   RULE(ASHR, (uint32_t)((int32_t)a >> AGX_MIN(b, 31u)))                                           \
   RULE(IMIN, sa < sb ? a : b)                                                                     \
   RULE(IMAX, sa > sb ? a : b)                                                                     \
   RULE(UMIN, AGX_MIN(a, b))                                                                       \
   RULE(UMAX, AGX_MAX(a, b))                                                                       \
   RULE(BITCOUNT, (uint32_t)__builtin_popcount(a))                                                 \
   RULE(FIND_UMSB, a ? 31u - (uint32_t)__builtin_clz(a) : ~0u)                                     \
   RULE(IEQ, a == b)                                                                               \
   RULE(INE, a != b)                                                                               \
   RULE(ULT, a < b)                                                                                \
   RULE(UGE, a >= b)                                                                               \
   RULE(SLT, sa < sb)                                                                              \
   RULE(SGE, sa >= sb)                                                                             \
   RULE(FNEG, a ^ 0x80000000u)                                                                     \
   RULE(FABS, a & 0x7fffffffu)

#define RULE(op, value)                                                                            \
   static uint32_t fold_##op(uint32_t a, uint32_t b)                                               \
   {                                                                                               \
      int64_t sa = (int32_t)a, sb = (int32_t)b;                                                    \
      (void)sa;                                                                                    \
      (void)sb;                                                                                    \
      return value;                                                                                \
   }
RULES
#undef RULE

static uint32_t (*const rules[AGXC_OP_ISA])(uint32_t, uint32_t) = {
#define RULE(op, value) [AGXC_OP_##op] = fold_##op,
   RULES
#undef RULE
};

bool agxc_fold(enum agxc_op op, unsigned bits, uint32_t a, uint32_t b, uint32_t *out)
{
   if (op >= AGXC_OP_ISA || !rules[op])
      return false;
   *out = (uint32_t)(rules[op](a, b) & agx_bits(bits));
   return true;
}
