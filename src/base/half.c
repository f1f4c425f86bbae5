/* SPDX-License-Identifier: MIT
 *
 * Conversions between half and single precision in integer arithmetic; constants of kernels, image
 * clears and the simulator need the same bits on every host.
 */
#include "base/half.h"

#include <string.h>

/* Shifts value right by shift (1..31), rounding to nearest, ties to even. */
static uint32_t shift_to_nearest(uint32_t value, uint32_t shift)
{
   uint32_t kept = value >> shift;
   uint32_t lost = value & ((1u << shift) - 1);
   uint32_t tie = 1u << (shift - 1);
   return kept + (lost > tie || (lost == tie && (kept & 1)));
}

uint16_t agx_half_from_float(float value)
{
   uint32_t bits;
   memcpy(&bits, &value, sizeof(bits));
   uint32_t sign = bits >> 16 & 0x8000;
   uint32_t magnitude = bits & 0x7fffffff;
   if (magnitude > 0x7f800000)
      return (uint16_t)(sign | 0x7e00);
   if (magnitude >= 0x47800000) /* 65536 and more, infinity too */
      return (uint16_t)(sign | 0x7c00);
   if (magnitude < 0x33000000) /* below half of the smallest denormal */
      return (uint16_t)sign;
   uint32_t exponent = magnitude >> 23;
   uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
   if (exponent < 113) /* denormal in half precision */
      return (uint16_t)(sign | shift_to_nearest(significand, 126 - exponent));
   /* A carry out of the significand moves into the exponent, up to infinity. */
   return (uint16_t)(sign | (((exponent - 113) << 10) + shift_to_nearest(significand, 13)));
}

float agx_half_to_float(uint16_t half)
{
   uint32_t sign = (half & 0x8000u) << 16;
   uint32_t exponent = half >> 10 & 31;
   uint32_t significand = half & 0x3ff;
   uint32_t bits;
   if (exponent == 31) {
      bits = sign | 0x7f800000 | significand << 13;
   } else if (exponent != 0) {
      bits = sign | (exponent + 112) << 23 | significand << 13;
   } else if (significand == 0) {
      bits = sign;
   } else {
      uint32_t shift = (uint32_t)__builtin_clz(significand) - 21;
      bits = sign | (113 - shift) << 23 | (significand << shift & 0x3ff) << 13;
   }
   float value;
   memcpy(&value, &bits, sizeof(value));
   return value;
}
