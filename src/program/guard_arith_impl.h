/* SPDX-License-Identifier: MIT
 *
 * The arithmetic of bounds, step by step: agx_program_step says what each means.
 */
#pragma once

#include "base/util.h"
#include "program/program.h"

#define AGX_STEP_ANY UINT32_MAX

/* How many it takes from the stack. */
static inline unsigned agx_step_operands(uint32_t op)
{
   return op <= AGX_STEP_LAST_THREAD ? 0 : 2;
}

/* A bound that 32 bits can say: what is larger becomes AGX_STEP_ANY. */
static inline uint64_t agx_step_clamped(uint64_t value)
{
   return AGX_MIN(value, (uint64_t)AGX_STEP_ANY);
}

/* The smaller of two signed numbers, or with least false the larger one. */
static inline uint64_t agx_step_least_signed(uint64_t a, uint64_t b, bool least)
{
   return ((int32_t)a < (int32_t)b) == least ? a : b;
}

/* What a step of the kind AGX_STEP_EXACT_* leaves: the kernel's own arithmetic, modulo 2^32. */
static inline uint64_t agx_step_exact(uint32_t op, uint32_t a, uint32_t b)
{
   switch (op) {
   case AGX_STEP_EXACT_ADD:
      return a + b;
   case AGX_STEP_EXACT_SUB:
      return a - b;
   case AGX_STEP_EXACT_MUL:
      return a * b;
   case AGX_STEP_EXACT_SHL:
      return b < 32 ? a << b : 0;
   case AGX_STEP_EXACT_SHR:
      return b < 32 ? a >> b : 0;
   case AGX_STEP_EXACT_AND:
      return a & b;
   case AGX_STEP_EXACT_UDIV:
      return b ? a / b : 0;
   case AGX_STEP_EXACT_UMIN:
      return AGX_MIN(a, b);
   case AGX_STEP_EXACT_UMAX:
      return AGX_MAX(a, b);
   default:
      return agx_step_least_signed(a, b, op == AGX_STEP_EXACT_IMIN);
   }
}

/* Signed numbers are known only where no value is negative. */
static inline uint64_t agx_step_bound(uint32_t op, uint32_t value, uint64_t a, uint64_t b)
{
   uint64_t product;
   bool signs = a > INT32_MAX || b > INT32_MAX; /* there may be negative ones */
   switch (op) {
   case AGX_STEP_ADD:
      return agx_step_clamped(a + b);
   case AGX_STEP_MUL:
      return agx_step_clamped(a * b);
   case AGX_STEP_SHR:
      return b < 32 ? a >> b : AGX_STEP_ANY;
   case AGX_STEP_UDIV:
      return b ? a / b : AGX_STEP_ANY;
   case AGX_STEP_UMOD:
      return b ? AGX_MIN(a, b - 1) : AGX_STEP_ANY;
   case AGX_STEP_MIN:
      return AGX_MIN(a, b);
   case AGX_STEP_MAX:
      return AGX_MAX(a, b);
   case AGX_STEP_BELOW:
      return AGX_MIN(a, b ? b - 1 : 0);
   case AGX_STEP_BELOW_SIGNED:
      return signs ? a : AGX_MIN(a, b ? b - 1 : 0);
   case AGX_STEP_COUNT_SIGNED:
      return signs || b + value > INT32_MAX ? AGX_STEP_ANY : b ? b - 1 : 0;
   case AGX_STEP_IMIN:
      return signs ? AGX_STEP_ANY : AGX_MIN(a, b);
   case AGX_STEP_IMAX: /* one that is not negative is enough */
      return !signs ? AGX_MAX(a, b) : AGX_MIN(a, b) <= INT32_MAX ? INT32_MAX : AGX_STEP_ANY;
   case AGX_STEP_WIDE_ADD:
      return a > UINT64_MAX - b ? UINT64_MAX : a + b;
   default: /* AGX_STEP_WIDE_MUL */
      return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
   }
}

/* What a step with operands leaves. */
static inline uint64_t agx_step_value(uint32_t op, uint32_t value, uint64_t a, uint64_t b)
{
   const bool is_exact = op >= AGX_STEP_EXACT_ADD && op <= AGX_STEP_EXACT_IMAX;
   return is_exact ? agx_step_exact(op, (uint32_t)a, (uint32_t)b) : agx_step_bound(op, value, a, b);
}
