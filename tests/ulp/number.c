/* SPDX-License-Identifier: MIT
 *
 * Numbers of a format, and spans of numbers with the precision that Vulkan's tables give
 * operations. operation.c puts the inherited formulas together from these; judge.c compares results
 * with them.
 */
#include "ulp.h"

#include <math.h>
#include <string.h>

#include "base/half.h"

const struct ulp_math ulp_libm = {
   .sin = sin,
   .cos = cos,
   .tan = tan,
   .asin = asin,
   .acos = acos,
   .atan = atan,
   .sinh = sinh,
   .cosh = cosh,
   .tanh = tanh,
   .asinh = asinh,
   .acosh = acosh,
   .atanh = atanh,
   .exp = exp,
   .exp2 = exp2,
   .log = log,
   .log2 = log2,
   .atan2 = atan2,
   .pow = pow,
};

struct ulp_format ulp_format_of(unsigned bits, const struct ulp_math *math)
{
   return bits == 16 ? (struct ulp_format){16, 11, -14, 65504, math}
                     : (struct ulp_format){32, 24, -126, 0x1.fffffep127, math};
}

double ulp_decode(unsigned bits, uint32_t word)
{
   float value;
   if (bits == 16)
      return (double)agx_half_to_float((uint16_t)word);
   memcpy(&value, &word, sizeof(value));
   return (double)value;
}

double ulp_of(const struct ulp_format *f, double x)
{
   int e;
   double size = fmin(fabs(x), f->most);
   double m = frexp(size, &e); /* m from 1/2 up to 1 */
   e -= m == 0.5 ? 2 : 1;      /* below a power of two numbers are closer */
   if (size == 0 || e < f->least)
      e = f->least;
   return ldexp(1, e - f->digits + 1);
}

double ulp_flushed(const struct ulp_format *f, double x)
{
   return fabs(x) < ldexp(1, f->least) ? copysign(0, x) : x;
}

/* ---- spans --------------------------------------------------------------- */

struct ulp_span ulp_any(void)
{
   return (struct ulp_span){-INFINITY, INFINITY, true};
}

struct ulp_span ulp_point(double x)
{
   return isnan(x) ? ulp_any() : (struct ulp_span){x, x, false};
}

/* Overflow gives the largest number or infinity, what is below the normal numbers may be zero. */
static struct ulp_span settle(const struct ulp_format *f, double lo, double hi)
{
   const double least = ldexp(1, f->least);
   if (isnan(lo) || isnan(hi))
      return ulp_any();
   if (hi > f->most && lo < INFINITY) {
      lo = fmin(lo, f->most);
      hi = INFINITY;
   }
   if (lo < -f->most && hi > -INFINITY) {
      hi = fmax(hi, -f->most);
      lo = -INFINITY;
   }
   if (lo > 0 && lo < least)
      lo = 0;
   if (hi < 0 && hi > -least)
      hi = 0;
   return (struct ulp_span){lo, hi, false};
}

struct ulp_span ulp_around(const struct ulp_format *f, struct ulp_span a, double n)
{
   if (a.any)
      return a;
   return settle(f, a.lo - n * ulp_of(f, a.lo), a.hi + n * ulp_of(f, a.hi));
}

struct ulp_span ulp_within(const struct ulp_format *f, struct ulp_span a, double error)
{
   return a.any ? a : settle(f, a.lo - error, a.hi + error);
}

static double round_to(const struct ulp_format *f, double x, double (*whole)(double))
{
   if (isinf(x) || x == 0)
      return x;
   int e = ilogb(x);
   double step = ldexp(1, (e < f->least ? f->least : e) - f->digits + 1);
   return whole(x / step) * step;
}

static struct ulp_span round_out(const struct ulp_format *f, double lo, double hi)
{
   if (isnan(lo) || isnan(hi))
      return ulp_any();
   return settle(f, round_to(f, lo, floor), round_to(f, hi, ceil));
}

struct ulp_span ulp_rounded(const struct ulp_format *f, double x)
{
   return round_out(f, x, x);
}

struct ulp_span ulp_add(const struct ulp_format *f, struct ulp_span a, struct ulp_span b)
{
   bool cancels =
      (a.lo == -INFINITY && b.hi == INFINITY) || (a.hi == INFINITY && b.lo == -INFINITY);
   return a.any || b.any || cancels ? ulp_any() : round_out(f, a.lo + b.lo, a.hi + b.hi);
}

struct ulp_span ulp_sub(const struct ulp_format *f, struct ulp_span a, struct ulp_span b)
{
   struct ulp_span negated = {-b.hi, -b.lo, b.any};
   return ulp_add(f, a, negated);
}

/* The least and the largest of four corners; NaN of any counts. */
static struct ulp_span corners(double a, double b, double c, double d)
{
   if (isnan(a + b + c + d) && (isnan(a) || isnan(b) || isnan(c) || isnan(d)))
      return ulp_any();
   return (struct ulp_span){fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)), false};
}

static bool is_zero_by_infinity(struct ulp_span a, struct ulp_span b)
{
   return a.lo <= 0 && a.hi >= 0 && (isinf(b.lo) || isinf(b.hi));
}

struct ulp_span ulp_mul(const struct ulp_format *f, struct ulp_span a, struct ulp_span b)
{
   if (a.any || b.any || is_zero_by_infinity(a, b) || is_zero_by_infinity(b, a))
      return ulp_any();
   struct ulp_span all = corners(a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi);
   return all.any ? all : round_out(f, all.lo, all.hi);
}

/* 2.5 ulp for divisors whose reciprocal is normal, anything for others. */
struct ulp_span ulp_div(const struct ulp_format *f, struct ulp_span a, struct ulp_span b)
{
   if (a.any || b.any || (b.lo <= 0 && b.hi >= 0))
      return ulp_any();
   double least = fmin(fabs(b.lo), fabs(b.hi)), most = fmax(fabs(b.lo), fabs(b.hi));
   if (least < ldexp(1, f->least) || most > ldexp(1, -f->least))
      return ulp_any();
   return ulp_around(f, corners(a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi), 2.5);
}

struct ulp_span ulp_exp(const struct ulp_format *f, struct ulp_span a, double (*exact)(double))
{
   if (a.any)
      return a;
   double base = f->bits == 16 ? 1 : 3, lo = exact(a.lo), hi = exact(a.hi);
   double below = isinf(a.lo) ? 0 : (base + 2 * fabs(a.lo)) * ulp_of(f, lo);
   double above = isinf(a.hi) ? 0 : (base + 2 * fabs(a.hi)) * ulp_of(f, hi);
   return settle(f, lo - below, hi + above);
}

/* The error of a logarithm at x, whose exact value is given. */
static double log_error(const struct ulp_format *f, double x, double exact)
{
   if (x >= 0.5 && x <= 2)
      return ldexp(1, f->bits == 16 ? -7 : -21);
   return isinf(exact) ? 0 : 3 * ulp_of(f, exact);
}

struct ulp_span ulp_log(const struct ulp_format *f, struct ulp_span a, double (*exact)(double))
{
   if (a.any || a.lo < 0)
      return ulp_any();
   double lo = exact(a.lo), hi = exact(a.hi);
   return settle(f, lo - log_error(f, a.lo, lo), hi + log_error(f, a.hi, hi));
}

struct ulp_span ulp_inverse_sqrt(const struct ulp_format *f, struct ulp_span a)
{
   if (a.any || a.lo < 0)
      return ulp_any();
   struct ulp_span all = {1 / sqrt(fabs(a.hi)), 1 / sqrt(fabs(a.lo)), false};
   return ulp_around(f, all, 2);
}

/* As 1 / inversesqrt, but zero gives zero, and rounding below zero counts as zero. */
struct ulp_span ulp_sqrt(const struct ulp_format *f, struct ulp_span a)
{
   if (a.any || a.hi < 0)
      return ulp_any();
   struct ulp_span all = {a.lo > 0 ? sqrt(a.lo) : 0, sqrt(a.hi), false};
   struct ulp_span wide = ulp_around(f, all, 4.5 + 0x1p-8);
   wide.lo = fmax(wide.lo, 0);
   return wide;
}

/* For spans of y or of x that don't change sign. */
struct ulp_span ulp_atan2(const struct ulp_format *f, struct ulp_span y, struct ulp_span x)
{
   if (y.any || x.any)
      return ulp_any();
   double (*at)(double, double) = f->math->atan2;
   return ulp_around(f, corners(at(y.lo, x.lo), at(y.lo, x.hi), at(y.hi, x.lo), at(y.hi, x.hi)),
                     f->bits == 16 ? 5 : 4096);
}

struct ulp_span ulp_whole(struct ulp_span a, double (*whole)(double))
{
   return a.any ? a : (struct ulp_span){whole(a.lo), whole(a.hi), false};
}
