/* SPDX-License-Identifier: MIT
 *
 * The functions that the hardware approximates, in double with nothing but additions,
 * products and one quotient, in a fixed order: compilers make vectors of them, and every
 * machine and C library gives the same bits. Before rounding to single they are right to
 * some 50 bits; docs/decisions/0006-own-transcendentals.md says how that was checked.
 */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "agx/sim/machine/floats.h"

#define AGXS_LN_2    0.693147180559945309417
#define AGXS_HALF_PI 1.57079632679489661923

/* The double with these bits. */
static inline double agxs_double(uint64_t bits)
{
   double value;
   memcpy(&value, &bits, sizeof(value));
   return value;
}

/* The bits of a double. */
static inline uint64_t agxs_double_bits(double value)
{
   uint64_t bits;
   memcpy(&bits, &value, sizeof(bits));
   return bits;
}

/* 2^x is 2^n times e^(f ln 2), f from -1/2 to 1/2. */
AGXS_INLINE float agxs_exp2(float x)
{
   /* Beyond that the result is 0 or infinite in any case. */
   const float low = x > -200.0f ? x : -200.0f, near = low < 200.0f ? low : 200.0f;
   /* Adding this leaves the nearest integer in the last bits. */
   const double to_integer = 6755399441055744.0, shifted = (double)near + to_integer;
   const double t = ((double)near - (shifted - to_integer)) * AGXS_LN_2;
   double p = 1.0 / 6227020800.0; /* 1 / 13! */
   p = p * t + 1.0 / 479001600.0;
   p = p * t + 1.0 / 39916800.0;
   p = p * t + 1.0 / 3628800.0;
   p = p * t + 1.0 / 362880.0;
   p = p * t + 1.0 / 40320.0;
   p = p * t + 1.0 / 5040.0;
   p = p * t + 1.0 / 720.0;
   p = p * t + 1.0 / 120.0;
   p = p * t + 1.0 / 24.0;
   p = p * t + 1.0 / 6.0;
   p = p * t + 0.5;
   p = p * t * t + t + 1.0;
   const float value = (float)agxs_double(agxs_double_bits(p) + (agxs_double_bits(shifted) << 52));
   return x == x ? value : x;
}

/* Of m 2^e with m around 1: e + 2 / ln 2 * artanh((m - 1) / (m + 1)). Denormals are zero. */
AGXS_INLINE float agxs_log2(float x)
{
   const uint32_t bits = agxs_bits(x);
   const int32_t e = (int32_t)(bits - 0x3f3504f3u) >> 23; /* m from the root of 1/2 on */
   const double m = (double)agxs_float(bits - ((uint32_t)e << 23));
   const double s = (m - 1.0) / (m + 1.0), q = s * s;
   double p = 1.0 / 23.0;
   p = p * q + 1.0 / 21.0;
   p = p * q + 1.0 / 19.0;
   p = p * q + 1.0 / 17.0;
   p = p * q + 1.0 / 15.0;
   p = p * q + 1.0 / 13.0;
   p = p * q + 1.0 / 11.0;
   p = p * q + 1.0 / 9.0;
   p = p * q + 1.0 / 7.0;
   p = p * q + 1.0 / 5.0;
   p = p * q + 1.0 / 3.0;
   p = p * q * s + s;
   const float value = (float)(p * (2.0 / AGXS_LN_2) + (double)e);
   const float positive = bits < 0x7f800000u ? value : x; /* infinity, NaN as they are */
   const float other = bits << 1 < 0x01000000u ? -INFINITY : (float)NAN;
   return bits < 0x00800000u || (bits >> 31 && x == x) ? other : positive;
}

/* sin(r pi/2) / r for r from -1 to 1. */
AGXS_INLINE float agxs_sine_over_turn(float r)
{
   const double y = (double)r * AGXS_HALF_PI, q = y * y;
   double p = -1.0 / 25852016738884976640000.0; /* -1 / 23! */
   p = p * q + 1.0 / 51090942171709440000.0;
   p = p * q - 1.0 / 121645100408832000.0;
   p = p * q + 1.0 / 355687428096000.0;
   p = p * q - 1.0 / 1307674368000.0;
   p = p * q + 1.0 / 6227020800.0;
   p = p * q - 1.0 / 39916800.0;
   p = p * q + 1.0 / 362880.0;
   p = p * q - 1.0 / 5040.0;
   p = p * q + 1.0 / 120.0;
   p = p * q - 1.0 / 6.0;
   return (float)((p * q + 1.0) * AGXS_HALF_PI);
}
