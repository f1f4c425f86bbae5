/* SPDX-License-Identifier: MIT
 *
 * The operations, their exact values, and what Vulkan allows: the tables of "Precision and
 * Operation of SPIR-V Instructions" (Vulkan 1.3), put together from number.c. judge.c asks.
 */
#include <math.h>
#include <string.h>

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

#include "base/util.h"
#include "ulp.h"

#define PI 3.14159265358979323846
#define P  ulp_point

/* An exact value, which is also what correct rounding starts from. */
#define EXACT(name, expression)                                                                    \
   static double exact_##name(const struct ulp_math *m, const double *x)                           \
   {                                                                                               \
      return (expression);                                                                         \
   }
#define ALLOW(name, expression)                                                                    \
   static struct ulp_span allow_##name(const struct ulp_format *f, const double *x)                \
   {                                                                                               \
      return (expression);                                                                         \
   }
#define CORRECT(name, expression)                                                                  \
   EXACT(name, expression)                                                                         \
   ALLOW(name, ulp_rounded(f, exact_##name(f->math, x)))

/* ---- core ---------------------------------------------------------------- */

CORRECT(add, x[0] + x[1])
CORRECT(sub, x[0] - x[1])
CORRECT(mul, x[0] * x[1])
CORRECT(negate, -x[0])
CORRECT(same, x[0])
CORRECT(equal, x[0] == x[1])
CORRECT(less, x[0] < x[1])
CORRECT(less_or_not, !(x[0] >= x[1]))
CORRECT(at_least, x[0] >= x[1])
EXACT(div, x[0] / x[1])
ALLOW(div, ulp_div(f, P(x[0]), P(x[1])))
EXACT(dot, x[0] * x[2] + x[1] * x[3])

static double floored_remainder(double a, double b)
{
   double r = fmod(a, b);
   return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static struct ulp_span remainder_span(const struct ulp_format *f, const double *x,
                                      double (*whole)(double))
{
   struct ulp_span quotient = ulp_whole(ulp_div(f, P(x[0]), P(x[1])), whole);
   return ulp_sub(f, P(x[0]), ulp_mul(f, P(x[1]), quotient));
}
EXACT(rem, fmod(x[0], x[1]))
ALLOW(rem, remainder_span(f, x, trunc))
EXACT(mod, floored_remainder(x[0], x[1]))
ALLOW(mod, remainder_span(f, x, floor))

static struct ulp_span dot_span(const struct ulp_format *f, unsigned n, const struct ulp_span *a,
                                const struct ulp_span *b)
{
   struct ulp_span sum = ulp_mul(f, a[0], b[0]);
   for (unsigned i = 1; i < n; i++)
      sum = ulp_add(f, sum, ulp_mul(f, a[i], b[i]));
   return sum;
}

/* The dot product of two scalars each from a and from b on. */
static struct ulp_span dot2(const struct ulp_format *f, const double *a, const double *b)
{
   struct ulp_span s[] = {P(a[0]), P(a[1])}, t[] = {P(b[0]), P(b[1])};
   return dot_span(f, 2, s, t);
}
ALLOW(dot, dot2(f, x, x + 2))

/* Integers that no result can hold are undefined. */
#define WITHIN(value, low, high) ((value) >= (low) && (value) <= (high) ? (value) : NAN)
CORRECT(to_s, WITHIN(trunc(x[0]), -2147483648.0, 2147483647.0))
CORRECT(to_u, WITHIN(trunc(x[0]), 0, 4294967295.0))

/* Rounded to a half, whose denormals are zero. */
static struct ulp_span quantize_span(double x)
{
   struct ulp_format half = ulp_format_of(16, NULL);
   return ulp_rounded(&half, x);
}
EXACT(quantize, x[0])
ALLOW(quantize, quantize_span(x[0]))

/* ---- numbers ------------------------------------------------------------- */

CORRECT(round, nearbyint(x[0]))
CORRECT(trunc, trunc(x[0]))
CORRECT(abs, fabs(x[0]))
CORRECT(sign, (x[0] > 0) - (x[0] < 0))
CORRECT(floor, floor(x[0]))
CORRECT(ceil, ceil(x[0]))
CORRECT(fract, x[0] - floor(x[0]))
CORRECT(modf_part, x[0] - trunc(x[0]))
CORRECT(min, fmin(x[0], x[1]))
CORRECT(max, fmax(x[0], x[1]))
CORRECT(clamp, x[1] <= x[2] ? fmin(fmax(x[0], x[1]), x[2]) : NAN)
CORRECT(step, x[1] < x[0] ? 0 : 1)
EXACT(ldexp, ldexp(x[0], (int)fmax(fmin(x[1], 10000), -10000)))

static double mantissa(double x)
{
   int e;
   return isfinite(x) ? frexp(x, &e) : (double)NAN;
}

static double exponent(double x)
{
   int e;
   frexp(x, &e);
   return isfinite(x) ? e : (double)NAN;
}
CORRECT(frexp_mantissa, mantissa(x[0]))
CORRECT(frexp_exponent, exponent(x[0]))

/* Beyond what the format has, the exponent is undefined or may give zero. */
static struct ulp_span ldexp_span(const struct ulp_format *f, const double *x)
{
   double value = exact_ldexp(f->math, x);
   if (x[1] > 2 - f->least)
      return ulp_any();
   return x[1] >= f->least ? ulp_rounded(f, value)
                           : (struct ulp_span){fmin(value, 0), fmax(value, 0), isnan(value)};
}
ALLOW(ldexp, ldexp_span(f, x))

EXACT(fma, fma(x[0], x[1], x[2]))
ALLOW(fma, ulp_add(f, ulp_mul(f, P(x[0]), P(x[1])), P(x[2])))
EXACT(mix, x[0] * (1 - x[2]) + x[1] * x[2])
ALLOW(mix, ulp_add(f, ulp_mul(f, P(x[0]), ulp_sub(f, P(1), P(x[2]))), ulp_mul(f, P(x[1]), P(x[2]))))

static double smooth(const double *x)
{
   double t = fmin(fmax((x[2] - x[0]) / (x[1] - x[0]), 0), 1);
   return x[0] < x[1] ? t * t * (3 - 2 * t) : (double)NAN;
}

static struct ulp_span smooth_span(const struct ulp_format *f, const double *x)
{
   struct ulp_span t = ulp_div(f, ulp_sub(f, P(x[2]), P(x[0])), ulp_sub(f, P(x[1]), P(x[0])));
   if (t.any)
      return t;
   t.lo = fmin(fmax(t.lo, 0), 1);
   t.hi = fmin(fmax(t.hi, 0), 1);
   return ulp_mul(f, ulp_mul(f, t, t), ulp_sub(f, P(3), ulp_mul(f, P(2), t)));
}
EXACT(smooth, smooth(x))
ALLOW(smooth, smooth_span(f, x))

/* ---- exponentials -------------------------------------------------------- */

EXACT(exp, m->exp(x[0]))
ALLOW(exp, ulp_exp(f, P(x[0]), f->math->exp))
EXACT(exp2, m->exp2(x[0]))
ALLOW(exp2, ulp_exp(f, P(x[0]), f->math->exp2))
EXACT(log, m->log(x[0]))
ALLOW(log, ulp_log(f, P(x[0]), f->math->log))
EXACT(log2, m->log2(x[0]))
ALLOW(log2, ulp_log(f, P(x[0]), f->math->log2))
EXACT(pow, x[0] > 0 ? m->pow(x[0], x[1]) : x[0] == 0 && x[1] > 0 ? 0 : (double)NAN)
ALLOW(pow, ulp_exp(f, ulp_mul(f, P(x[1]), ulp_log(f, P(x[0]), f->math->log2)), f->math->exp2))
EXACT(sqrt, sqrt(x[0]))
ALLOW(sqrt, ulp_sqrt(f, P(x[0])))
EXACT(inverse_sqrt, 1 / sqrt(x[0]))
ALLOW(inverse_sqrt, ulp_inverse_sqrt(f, P(x[0])))

/* ---- trigonometry -------------------------------------------------------- */

/* x * C, the constant being a correctly rounded one. */
static struct ulp_span scaled(const struct ulp_format *f, double x, double factor)
{
   struct ulp_span c = ulp_rounded(f, factor);
   return ulp_mul(f, P(x), c);
}
EXACT(radians, x[0] * (PI / 180))
ALLOW(radians, scaled(f, x[0], PI / 180))
EXACT(degrees, x[0] * (180 / PI))
ALLOW(degrees, scaled(f, x[0], 180 / PI))

static struct ulp_span wave(const struct ulp_format *f, double x, double (*exact)(double))
{
   return fabs(x) <= PI ? ulp_within(f, P(exact(x)), ldexp(1, f->bits == 16 ? -7 : -11))
                        : ulp_any();
}
EXACT(sin, m->sin(x[0]))
ALLOW(sin, wave(f, x[0], f->math->sin))
EXACT(cos, m->cos(x[0]))
ALLOW(cos, wave(f, x[0], f->math->cos))
EXACT(tan, m->tan(x[0]))
ALLOW(tan, ulp_div(f, allow_sin(f, x), allow_cos(f, x)))

static struct ulp_span leg(const struct ulp_format *f, double x)
{
   return ulp_sqrt(f, ulp_sub(f, P(1), ulp_mul(f, P(x), P(x))));
}
EXACT(asin, m->asin(x[0]))
ALLOW(asin, ulp_atan2(f, P(x[0]), leg(f, x[0])))
EXACT(acos, m->acos(x[0]))
ALLOW(acos, ulp_atan2(f, leg(f, x[0]), P(x[0])))
EXACT(atan, m->atan(x[0]))
ALLOW(atan, ulp_around(f, P(f->math->atan(x[0])), f->bits == 16 ? 5 : 4096))
EXACT(atan2, x[0] == 0 && x[1] == 0 ? (double)NAN : m->atan2(x[0], x[1]))
ALLOW(atan2, ulp_atan2(f, P(x[0]), P(x[1])))

/* ---- hyperbolic functions ------------------------------------------------ */

static struct ulp_span exp_of(const struct ulp_format *f, double x)
{
   return ulp_exp(f, P(x), f->math->exp);
}
EXACT(sinh, m->sinh(x[0]))
ALLOW(sinh, ulp_mul(f, ulp_sub(f, exp_of(f, x[0]), exp_of(f, -x[0])), P(0.5)))
EXACT(cosh, m->cosh(x[0]))
ALLOW(cosh, ulp_mul(f, ulp_add(f, exp_of(f, x[0]), exp_of(f, -x[0])), P(0.5)))
EXACT(tanh, m->tanh(x[0]))
ALLOW(tanh, ulp_div(f, allow_sinh(f, x), allow_cosh(f, x)))

/* log(x + sqrt(x * x + one)) */
static struct ulp_span log_of_root(const struct ulp_format *f, double x, double one)
{
   struct ulp_span root = ulp_sqrt(f, ulp_add(f, ulp_mul(f, P(x), P(x)), P(one)));
   return ulp_log(f, ulp_add(f, P(x), root), f->math->log);
}
EXACT(asinh, m->asinh(x[0]))
ALLOW(asinh, log_of_root(f, x[0], 1))
EXACT(acosh, m->acosh(x[0]))
ALLOW(acosh, log_of_root(f, x[0], -1))
EXACT(atanh, m->atanh(x[0]))
ALLOW(atanh, ulp_mul(f,
                     ulp_log(f, ulp_div(f, ulp_add(f, P(1), P(x[0])), ulp_sub(f, P(1), P(x[0]))),
                             f->math->log),
                     P(0.5)))

/* ---- vectors ------------------------------------------------------------- */

static struct ulp_span length_span(const struct ulp_format *f, struct ulp_span a, struct ulp_span b)
{
   struct ulp_span v[] = {a, b};
   return ulp_sqrt(f, dot_span(f, 2, v, v));
}
EXACT(length, hypot(x[0], x[1]))
ALLOW(length, length_span(f, P(x[0]), P(x[1])))
EXACT(distance, hypot(x[0] - x[2], x[1] - x[3]))
ALLOW(distance, length_span(f, ulp_sub(f, P(x[0]), P(x[2])), ulp_sub(f, P(x[1]), P(x[3]))))
EXACT(cross, x[1] * x[5] - x[4] * x[2])
ALLOW(cross, ulp_sub(f, ulp_mul(f, P(x[1]), P(x[5])), ulp_mul(f, P(x[4]), P(x[2]))))
EXACT(normalize, x[0] / hypot(x[0], x[1]))
ALLOW(normalize, ulp_mul(f, P(x[0]), ulp_inverse_sqrt(f, dot2(f, x, x))))
EXACT(reflect, x[0] - 2 * (x[2] * x[0] + x[3] * x[1]) * x[2])
ALLOW(reflect, ulp_sub(f, P(x[0]), ulp_mul(f, ulp_mul(f, P(2), dot2(f, x + 2, x)), P(x[2]))))

static double refracted(const double *x)
{
   double d = x[2] * x[0] + x[3] * x[1], k = 1 - x[4] * x[4] * (1 - d * d);
   return k < 0 ? 0 : x[4] * x[0] - (x[4] * d + sqrt(k)) * x[2];
}

static struct ulp_span refract_span(const struct ulp_format *f, const double *x)
{
   struct ulp_span d = dot2(f, x + 2, x), eta = P(x[4]);
   struct ulp_span rest = ulp_sub(f, P(1), ulp_mul(f, d, d));
   struct ulp_span k = ulp_sub(f, P(1), ulp_mul(f, ulp_mul(f, eta, eta), rest));
   if (k.any || k.hi < 0)
      return k.any ? k : P(0);
   struct ulp_span scale = ulp_add(f, ulp_mul(f, eta, d), ulp_sqrt(f, k));
   struct ulp_span bent = ulp_sub(f, ulp_mul(f, eta, P(x[0])), ulp_mul(f, scale, P(x[2])));
   if (k.lo < 0 && !bent.any) {
      bent.lo = fmin(bent.lo, 0);
      bent.hi = fmax(bent.hi, 0);
   }
   return bent;
}
EXACT(refract, refracted(x))
ALLOW(refract, refract_span(f, x))

/* ---- the table ----------------------------------------------------------- */

#define GLSL_OP(label, number, of_kinds, function, of_rule, ...)                                   \
   {                                                                                               \
      .name = (label), .kinds = (of_kinds), .glsl = GLSLstd450##number, .exact = exact_##function, \
      .allowed = allow_##function, .rule = (of_rule), __VA_ARGS__                                  \
   }
#define CORE_OP(number, of_kinds, function, of_rule, ...)                                          \
   {                                                                                               \
      .name = #number, .kinds = (of_kinds), .opcode = SpvOp##number, .exact = exact_##function,    \
      .allowed = allow_##function, .rule = (of_rule), __VA_ARGS__                                  \
   }
#define ROUNDED "correctly rounded"

const struct ulp_operation ulp_operations[] = {
   // clang-format off
   CORE_OP(FAdd, "fff", add, ROUNDED),
   CORE_OP(FSub, "fff", sub, ROUNDED),
   CORE_OP(FMul, "fff", mul, ROUNDED),
   CORE_OP(FNegate, "ff", negate, ROUNDED),
   CORE_OP(FDiv, "fff", div, "2.5 ulp where 1/y is normal"),
   CORE_OP(FRem, "fff", rem, "x - y trunc(x/y)"),
   CORE_OP(FMod, "fff", mod, "x - y floor(x/y)"),
   CORE_OP(Dot, "f22", dot, "x0 y0 + x1 y1"),
   CORE_OP(FOrdEqual, "bff", equal, "correct", .nan = ULP_EXACT),
   CORE_OP(FOrdLessThan, "bff", less, "correct", .nan = ULP_EXACT),
   CORE_OP(FUnordLessThan, "bff", less_or_not, "correct", .nan = ULP_EXACT),
   CORE_OP(FOrdGreaterThanEqual, "bff", at_least, "correct", .nan = ULP_EXACT),
   CORE_OP(ConvertFToS, "if", to_s, ROUNDED, .nan = ULP_FREE),
   CORE_OP(ConvertFToU, "uf", to_u, ROUNDED, .nan = ULP_FREE),
   CORE_OP(ConvertSToF, "fi", same, ROUNDED),
   CORE_OP(ConvertUToF, "fu", same, ROUNDED),
   {.name = "FConvert to 16", .kinds = "hs", .opcode = SpvOpFConvert, .exact = exact_same, .allowed = allow_same, .rule = ROUNDED},
   {.name = "FConvert to 32", .kinds = "sh", .opcode = SpvOpFConvert, .exact = exact_same, .allowed = allow_same, .rule = ROUNDED},
   CORE_OP(QuantizeToF16, "ss", quantize, ROUNDED " to 16 bits", .ulp_bits = 16),
   GLSL_OP("Fma", Fma, "ffff", fma, "x y + z"),
   GLSL_OP("Round", Round, "ff", round, ROUNDED),
   GLSL_OP("RoundEven", RoundEven, "ff", round, ROUNDED),
   GLSL_OP("Trunc", Trunc, "ff", trunc, ROUNDED),
   GLSL_OP("FAbs", FAbs, "ff", abs, ROUNDED),
   GLSL_OP("FSign", FSign, "ff", sign, ROUNDED, .nan = ULP_FREE),
   GLSL_OP("Floor", Floor, "ff", floor, ROUNDED),
   GLSL_OP("Ceil", Ceil, "ff", ceil, ROUNDED),
   GLSL_OP("Fract", Fract, "ff", fract, ROUNDED),
   GLSL_OP("Modf, fraction", ModfStruct, "ff", modf_part, ROUNDED, .member = 1),
   GLSL_OP("Modf, whole", ModfStruct, "ff", trunc, ROUNDED, .member = 2),
   GLSL_OP("Frexp, significand", FrexpStruct, "ff", frexp_mantissa, ROUNDED, .member = 1, .nan = ULP_FREE),
   GLSL_OP("Frexp, exponent", FrexpStruct, "if", frexp_exponent, ROUNDED, .member = 2, .nan = ULP_FREE),
   GLSL_OP("Ldexp", Ldexp, "ffi", ldexp, ROUNDED),
   GLSL_OP("FMin", FMin, "fff", min, ROUNDED, .nan = ULP_FREE),
   GLSL_OP("FMax", FMax, "fff", max, ROUNDED, .nan = ULP_FREE),
   GLSL_OP("FClamp", FClamp, "ffff", clamp, ROUNDED, .nan = ULP_FREE),
   GLSL_OP("NMin", NMin, "fff", min, ROUNDED, .nan = ULP_EXACT),
   GLSL_OP("NMax", NMax, "fff", max, ROUNDED, .nan = ULP_EXACT),
   GLSL_OP("NClamp", NClamp, "ffff", clamp, ROUNDED, .nan = ULP_FREE),
   GLSL_OP("Step", Step, "fff", step, ROUNDED, .nan = ULP_FREE),
   GLSL_OP("FMix", FMix, "ffff", mix, "x (1 - a) + y a"),
   GLSL_OP("SmoothStep", SmoothStep, "ffff", smooth, "t t (3 - 2 t)", .nan = ULP_FREE),
   GLSL_OP("Exp", Exp, "ff", exp, "3 + 2|x| ulp (half: 1 + 2|x|)"),
   GLSL_OP("Exp2", Exp2, "ff", exp2, "3 + 2|x| ulp (half: 1 + 2|x|)"),
   GLSL_OP("Log", Log, "ff", log, "3 ulp; 2^-21 in 0.5..2 (half: 2^-7)"),
   GLSL_OP("Log2", Log2, "ff", log2, "3 ulp; 2^-21 in 0.5..2 (half: 2^-7)"),
   GLSL_OP("Pow", Pow, "fff", pow, "exp2(y log2(x))"),
   GLSL_OP("Sqrt", Sqrt, "ff", sqrt, "1 / inversesqrt(x)"),
   GLSL_OP("InverseSqrt", InverseSqrt, "ff", inverse_sqrt, "2 ulp"),
   GLSL_OP("Radians", Radians, "ff", radians, "x C"),
   GLSL_OP("Degrees", Degrees, "ff", degrees, "x C"),
   GLSL_OP("Sin", Sin, "ff", sin, "2^-11 (half: 2^-7) in -pi..pi", .is_absolute = true),
   GLSL_OP("Cos", Cos, "ff", cos, "2^-11 (half: 2^-7) in -pi..pi", .is_absolute = true),
   GLSL_OP("Tan", Tan, "ff", tan, "sin(x) / cos(x)"),
   GLSL_OP("Asin", Asin, "ff", asin, "atan2(x, sqrt(1 - x x))"),
   GLSL_OP("Acos", Acos, "ff", acos, "atan2(sqrt(1 - x x), x)"),
   GLSL_OP("Atan", Atan, "ff", atan, "4096 ulp (half: 5)"),
   GLSL_OP("Atan2", Atan2, "fff", atan2, "4096 ulp (half: 5)"),
   GLSL_OP("Sinh", Sinh, "ff", sinh, "(exp(x) - exp(-x)) / 2"),
   GLSL_OP("Cosh", Cosh, "ff", cosh, "(exp(x) + exp(-x)) / 2"),
   GLSL_OP("Tanh", Tanh, "ff", tanh, "sinh(x) / cosh(x)"),
   GLSL_OP("Asinh", Asinh, "ff", asinh, "log(x + sqrt(x x + 1))"),
   GLSL_OP("Acosh", Acosh, "ff", acosh, "log(x + sqrt(x x - 1))"),
   GLSL_OP("Atanh", Atanh, "ff", atanh, "log((1 + x) / (1 - x)) / 2"),
   GLSL_OP("Length", Length, "f2", length, "sqrt(dot(x, x))"),
   GLSL_OP("Distance", Distance, "f22", distance, "length(x - y)"),
   GLSL_OP("Cross", Cross, "333", cross, "x1 y2 - y1 x2", .nan = ULP_FREE),
   GLSL_OP("Normalize", Normalize, "22", normalize, "x inversesqrt(dot(x, x))"),
   GLSL_OP("Reflect", Reflect, "222", reflect, "x - 2 dot(y, x) y"),
   GLSL_OP("Refract", Refract, "222f", refract, "eta I - (eta d + sqrt(k)) N"),
   // clang-format on
};
const size_t ulp_operation_count = AGX_COUNT(ulp_operations);

unsigned ulp_operands(const struct ulp_operation *operation)
{
   unsigned count = 0;
   for (const char *kind = operation->kinds + 1; *kind; kind++)
      count += *kind == '2' ? 2 : *kind == '3' ? 3 : 1;
   return count;
}

char ulp_kind(const struct ulp_operation *operation, unsigned operand)
{
   for (const char *kind = operation->kinds + 1; *kind; kind++) {
      unsigned parts = *kind == '2' ? 2 : *kind == '3' ? 3 : 1;
      if (operand < parts)
         return parts > 1 ? 'f' : *kind;
      operand -= parts;
   }
   return 'f';
}

unsigned ulp_bits(char kind, unsigned width)
{
   return kind == 'h' ? 16 : kind == 'f' || kind == '2' || kind == '3' ? width : 32;
}

bool ulp_exists(const struct ulp_operation *operation, unsigned width)
{
   return width == 32 || strpbrk(operation->kinds, "f23");
}
