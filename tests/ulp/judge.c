/* SPDX-License-Identifier: MIT
 *
 * Inputs, and the judgement of each result. The C library judges all; what is worse than all before
 * it or a miss, and each 64th input, is judged again with MPFR, whose word counts. main.c and
 * ulp_test.c call.
 */
#include <math.h>
#include <string.h>

#include "base/util.h"
#include "ulp.h"

/* ---- inputs -------------------------------------------------------------- */

static const uint32_t special_singles[] = {
   0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x80800000, 0x00800001, 0x3f800000,
   0xbf800000, 0x3f7fffff, 0x3f800001, 0x40000000, 0xc0000000, 0x3f000000, 0xbf000000, 0x3f000001,
   0x40490fda, 0x40490fdb, 0xc0490fda, 0x3fc90fdb, 0x3fc90fda, 0x40c90fdb, 0x41200000, 0x42b17217,
   0x42b17218, 0xc2aeac50, 0x43000000, 0x4b000000, 0x4b800000, 0x4f000000, 0xcf000000, 0x4f7fffff,
   0x7e800000, 0x7e800001, 0x7f000000, 0xff000000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
   0x7fc00000, 0x3eaaaaab, 0x33800000, 0x34000000, 0x00ffffff, 0x5f800000, 0x1f800000, 0x477fe000,
   0x477ff000, 0x38800000, 0x33000000, 0x7e000000,
};
static const uint32_t special_halves[] = {
   0,      0x8000, 1,      0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x0401, 0x3c00, 0xbc00, 0x3bff,
   0x3c01, 0x4000, 0xc000, 0x3800, 0xb800, 0x4248, 0xc248, 0x3e48, 0x4648, 0x498c, 0x7400, 0x7401,
   0x7800, 0xf800, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x3555, 0x1000, 0x6400, 0x6800,
};
static const int32_t special_integers[] = {
   0,    1,    -1,   2,    24,    -24,   25,    126,      127,      128,       129,
   -126, -127, -148, -149, -150,  -252,  -253,  -254,     -255,     -1000,     1000,
   2047, 2048, 2049, 4097, 65504, 65519, 65520, 16777217, 33554431, INT32_MAX, INT32_MIN,
};

/* A number without order: splitmix64 of a counter. */
static uint64_t mixed(uint64_t n)
{
   n = (n + 1) * 0x9e3779b97f4a7c15ull;
   n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
   n = (n ^ n >> 27) * 0x94d049bb133111ebull;
   return n ^ n >> 31;
}

static uint32_t special(char kind, unsigned bits, uint64_t n)
{
   if (kind == 'i' || kind == 'u')
      return (uint32_t)special_integers[n % AGX_COUNT(special_integers)];
   return bits == 16 ? special_halves[n % AGX_COUNT(special_halves)]
                     : special_singles[n % AGX_COUNT(special_singles)];
}

/* An operand of several: bits of any kind, numbers around 1, or special ones. */
static uint32_t any_operand(char kind, unsigned bits, uint64_t r)
{
   uint32_t word = (uint32_t)(r >> 32);
   unsigned choice = r & 7;
   if (choice == 0)
      return special(kind, bits, r >> 3);
   if (kind == 'i' || kind == 'u')
      return choice < 5 ? (uint32_t)((int32_t)(word % 600) - 300) : word >> (r >> 3 & 31);
   if (choice < 3)
      return bits == 16 ? word & 0xffff : word;
   if (bits == 16)
      return (word & 0x83ff) | (0x3800 + (word >> 16) % 6 * 0x400) % 0x7c00;
   return (word & 0x807fffff) | (0x3d800000 + (r >> 3 & 7) * 0x00800000u);
}

uint64_t ulp_total(const struct ulp_operation *operation, unsigned width, uint64_t wanted)
{
   if (ulp_operands(operation) > 1)
      return wanted;
   uint64_t all = 1ull << ulp_bits(ulp_kind(operation, 0), width);
   return wanted < all && all > 65536 ? wanted : all;
}

/* One of each all / total numbers, and special ones in front where not all come. */
static uint32_t only_operand(char kind, unsigned bits, uint64_t total, uint64_t i)
{
   uint64_t step = (1ull << bits) / total;
   if (step > 1 && i < 64)
      return special(kind, bits, i);
   return (uint32_t)(i * step + (step > 1 ? mixed(i) % step : 0));
}

void ulp_inputs(const struct ulp_operation *operation, unsigned width, uint64_t total,
                uint64_t first, uint32_t count, uint32_t *words)
{
   unsigned n = ulp_operands(operation);
   for (uint64_t i = first; i < first + count; i++)
      for (unsigned k = 0; k < n; k++) {
         char kind = ulp_kind(operation, k);
         unsigned bits = ulp_bits(kind, width);
         uint64_t r = mixed(i * ULP_MAX_OPERANDS + k);
         *words++ = n == 1 ? only_operand(kind, bits, total, i) : any_operand(kind, bits, r);
      }
}

/* ---- judgement ----------------------------------------------------------- */

struct verdict {
   bool counts; /* else anything is allowed */
   double ulps, error, share;
};

static double operand_of(char kind, unsigned bits, uint32_t word)
{
   return kind == 'i' ? (double)(int32_t)word : kind == 'u' ? (double)word : ulp_decode(bits, word);
}

/* The share of what is allowed that the error of a result takes. */
static struct verdict judge(const struct ulp_operation *operation, const struct ulp_format *f,
                            const double *x, double got)
{
   struct verdict v = {true, 0, 0, 0};
   struct ulp_span span = operation->allowed(f, x);
   double exact = operation->exact(f->math, x);
   if (span.any || isnan(exact) || isnan(span.lo))
      return (struct verdict){0};
   v.error = got == exact ? 0 : fabs(got - exact);
   struct ulp_format counted = operation->ulp_bits ? ulp_format_of(operation->ulp_bits, NULL) : *f;
   v.ulps = isinf(exact) ? 0 : v.error / ulp_of(&counted, exact);
   double most = fmax(fabs(span.lo - exact), fabs(span.hi - exact));
   if (span.lo == exact && span.hi == exact)
      most = 0;
   v.share = v.error == 0 ? 0 : v.error / most;
   if (isnan(got))
      v.share = v.ulps = v.error = INFINITY;
   else if ((isinf(got) || fabs(got) == f->most) && (got > 0 ? span.hi : -span.lo) == INFINITY)
      v.share = v.ulps = v.error = 0;
   else if (got == 0 && fabs(exact) < ldexp(1, f->least) && span.lo <= 0 && span.hi >= 0)
      v.share = v.ulps = v.error = 0; /* flushed */
   return v;
}

/* Operands below the normal numbers may count as zero, and minima and maxima may still return them.
 */
static struct verdict judge_input(const struct ulp_operation *operation, const struct ulp_format *f,
                                  const double *x, unsigned n, double got)
{
   double flushed[ULP_MAX_OPERANDS];
   bool differs = false;
   struct verdict v = judge(operation, f, x, got);
   for (unsigned k = 0; k < n; k++) {
      char kind = ulp_kind(operation, k);
      struct ulp_format of = ulp_format_of(ulp_bits(kind, f->bits), f->math);
      flushed[k] = kind == 'i' || kind == 'u' ? x[k] : ulp_flushed(&of, x[k]);
      differs |= flushed[k] != x[k] && !isnan(x[k]);
   }
   if (!differs || !v.counts)
      return v;
   struct verdict w = judge(operation, f, flushed, ulp_flushed(f, got));
   return !w.counts || w.share < v.share ? w : v;
}

/* With NaN among the operands: true where that decides. */
static bool judge_nan(const struct ulp_operation *operation, const double *x, unsigned n,
                      bool is_precise, double got, struct verdict *v)
{
   bool has_nan = false;
   for (unsigned k = 0; k < n; k++)
      has_nan |= isnan(x[k]);
   if (!has_nan || (operation->nan == ULP_EXACT && is_precise))
      return false;
   bool keeps = is_precise && operation->nan == ULP_NAN;
   *v = (struct verdict){keeps, 0, 0, keeps && !isnan(got) ? INFINITY : 0};
   return true;
}

static struct verdict judge_words(const struct ulp_operation *operation, unsigned width,
                                  const struct ulp_math *math, bool is_precise, const uint32_t *in,
                                  uint32_t out)
{
   char kind = operation->kinds[0] == 'b' ? 'u' : operation->kinds[0];
   struct ulp_format f = ulp_format_of(ulp_bits(kind, width), math);
   double x[ULP_MAX_OPERANDS], got = operand_of(kind, f.bits, out);
   unsigned n = ulp_operands(operation);
   struct verdict v;
   bool has_infinity = false;
   for (unsigned k = 0; k < n; k++) {
      char of = ulp_kind(operation, k);
      x[k] = operand_of(of, ulp_bits(of, width), in[k]);
      has_infinity |= isinf(x[k]) != 0;
   }
   if (judge_nan(operation, x, n, is_precise, got, &v) || (has_infinity && !is_precise))
      return has_infinity && !is_precise ? (struct verdict){0} : v;
   if (kind == 'i' || kind == 'u')
      f.digits = 53; /* integers are exact */
   return judge_input(operation, &f, x, n, got);
}

static void take(struct ulp_result *result, bool is_absolute, const struct verdict *v, unsigned n,
                 const uint32_t *in, uint32_t out)
{
   if (v->share > 1 + 0x1p-20) {
      if (result->misses++ == 0) {
         memcpy(result->missed, in, n * sizeof(*in));
         result->missed_got = out;
      }
   }
   if (v->share > result->share)
      result->share = v->share;
   double error = is_absolute ? v->error : v->ulps;
   bool is_worst = error > (is_absolute ? result->worst_abs : result->worst);
   result->worst = fmax(result->worst, v->ulps);
   result->worst_abs = fmax(result->worst_abs, v->error);
   if (is_worst) {
      memcpy(result->at, in, n * sizeof(*in));
      result->got = out;
   }
}

agx_status ulp_measure(struct ulp_device *device, const struct ulp_operation *operation,
                       unsigned width, const struct ulp_plan *plan, struct ulp_result *result)
{
   uint32_t *in = ulp_device_in(device), count = (uint32_t)plan->count;
   unsigned n = ulp_operands(operation);
   ulp_inputs(operation, width, plan->total, plan->first, count, in);
   AGX_TRY(ulp_device_run(device, count));
   const uint32_t *out = ulp_device_out(device);
   for (uint32_t i = 0; i < count; i++, in += n) {
      struct verdict v = judge_words(operation, width, &ulp_libm, plan->is_precise, in, out[i]);
      bool is_doubtful =
         v.share > result->share || v.ulps > result->worst || v.share > 0.999 || i % 64 == 0;
      if (plan->judge && is_doubtful)
         v = judge_words(operation, width, plan->judge, plan->is_precise, in, out[i]);
      result->count += v.counts;
      take(result, operation->is_absolute, &v, n, in, out[i]);
   }
   return AGX_OK;
}
