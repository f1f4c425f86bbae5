/* SPDX-License-Identifier: MIT
 *
 * Functions of GLSL.std.450 that work on each component alone. Polynomials are the
 * single-precision minimax ones of the Cephes library, good to about 2 ULP in their
 * range; Vulkan asks for 4096 ULP of atan and for what the defining formulas give
 * elsewhere (Vulkan 1.3, Precision and Operation of SPIR-V Instructions).
 */
#include "agx/compiler/spirv/glsl_impl.h"

#include <float.h>

#define PI      3.14159265358979f
#define HALF_PI 1.57079632679490f
#define LOG2_E  1.44269504088896f
#define LN_2    0.693147180559945f

static struct agxc_ref less(struct agxc_spv *s, struct agxc_ref a, struct agxc_ref b)
{
   return agxc_spv_build2(s, AGXC_OP_FLT, a, b);
}

static struct agxc_ref copy_sign(struct agxc_spv *s, struct agxc_ref size, struct agxc_ref sign)
{
   struct agxc_ref bit = agxc_spv_build2(s, AGXC_OP_IAND, sign, agxc_spv_u32(0x80000000u));
   struct agxc_ref rest = agxc_spv_build2(s, AGXC_OP_IAND, size, agxc_spv_u32(0x7fffffffu));
   return agxc_spv_build2(s, AGXC_OP_IOR, rest, bit);
}

/* x + x * z * (c[0] + c[1] z + ...), z = x squared or given. */
static struct agxc_ref odd_poly(struct agxc_spv *s, struct agxc_ref x, struct agxc_ref z,
                                const float *c, unsigned count)
{
   struct agxc_ref sum = agxc_spv_f32(c[count - 1]);
   for (unsigned i = count - 1; i-- > 0;)
      sum = agxc_spv_ffma(s, sum, z, agxc_spv_f32(c[i]));
   return agxc_spv_ffma(s, agxc_spv_fmul(s, sum, z), x, x);
}

/* ---- signs, ranges ----------------------------------------------------- */

struct agxc_ref agxc_spv_glsl_sabs(struct agxc_spv *s, const struct agxc_ref *x)
{
   unsigned bits = x[0].bits;
   return agxc_spv_build2(s, AGXC_OP_IMAX, x[0], agxc_spv_build1(s, AGXC_OP_INEG, bits, x[0]));
}

struct agxc_ref agxc_spv_glsl_fsign(struct agxc_spv *s, const struct agxc_ref *x)
{
   unsigned bits = x[0].bits;
   struct agxc_ref zero = agxc_imm(0, bits);
   struct agxc_ref below =
      agxc_spv_select(s, less(s, x[0], zero), agxc_spv_glsl_float(-1, bits), zero);
   return agxc_spv_select(s, less(s, zero, x[0]), agxc_spv_glsl_float(1, bits), below);
}

struct agxc_ref agxc_spv_glsl_ssign(struct agxc_spv *s, const struct agxc_ref *x)
{
   unsigned bits = x[0].bits;
   struct agxc_ref least = agxc_spv_build2(s, AGXC_OP_IMAX, x[0], agxc_imm(~0ull, bits));
   return agxc_spv_build2(s, AGXC_OP_IMIN, least, agxc_imm(1, bits));
}

static struct agxc_ref clamp(struct agxc_spv *s, const struct agxc_ref *x, enum agxc_op max,
                             enum agxc_op min)
{
   return agxc_spv_build2(s, min, agxc_spv_build2(s, max, x[0], x[1]), x[2]);
}

struct agxc_ref agxc_spv_glsl_fclamp(struct agxc_spv *s, const struct agxc_ref *x)
{
   return clamp(s, x, AGXC_OP_FMAX, AGXC_OP_FMIN);
}

struct agxc_ref agxc_spv_glsl_uclamp(struct agxc_spv *s, const struct agxc_ref *x)
{
   return clamp(s, x, AGXC_OP_UMAX, AGXC_OP_UMIN);
}

struct agxc_ref agxc_spv_glsl_sclamp(struct agxc_spv *s, const struct agxc_ref *x)
{
   return clamp(s, x, AGXC_OP_IMAX, AGXC_OP_IMIN);
}

struct agxc_ref agxc_spv_glsl_mix(struct agxc_spv *s, const struct agxc_ref *x)
{
   struct agxc_ref first = agxc_spv_fmul(s, x[0], agxc_spv_fsub(s, agxc_spv_f32(1), x[2]));
   return agxc_spv_ffma(s, x[1], x[2], first);
}

struct agxc_ref agxc_spv_glsl_step(struct agxc_spv *s, const struct agxc_ref *x)
{
   unsigned bits = x[0].bits;
   return agxc_spv_select(s, less(s, x[1], x[0]), agxc_imm(0, bits), agxc_spv_glsl_float(1, bits));
}

struct agxc_ref agxc_spv_glsl_smoothstep(struct agxc_spv *s, const struct agxc_ref *x)
{
   struct agxc_ref above = agxc_spv_fsub(s, x[2], x[0]), range = agxc_spv_fsub(s, x[1], x[0]);
   struct agxc_ref t =
      agxc_spv_fop(s, AGXC_OP_FSAT, agxc_spv_build2(s, AGXC_OP_FDIV, above, range));
   struct agxc_ref slope = agxc_spv_ffma(s, t, agxc_spv_f32(-2), agxc_spv_f32(3));
   return agxc_spv_fmul(s, agxc_spv_fmul(s, t, t), slope);
}

/* ---- exponentials ------------------------------------------------------ */

struct agxc_ref agxc_spv_glsl_exp(struct agxc_spv *s, const struct agxc_ref *x)
{
   return agxc_spv_fop(s, AGXC_OP_FEXP2, agxc_spv_fmul(s, x[0], agxc_spv_f32(LOG2_E)));
}

struct agxc_ref agxc_spv_glsl_log(struct agxc_spv *s, const struct agxc_ref *x)
{
   return agxc_spv_fmul(s, agxc_spv_fop(s, AGXC_OP_FLOG2, x[0]), agxc_spv_f32(LN_2));
}

struct agxc_ref agxc_spv_glsl_pow(struct agxc_spv *s, const struct agxc_ref *x)
{
   return agxc_spv_fop(s, AGXC_OP_FEXP2,
                       agxc_spv_fmul(s, agxc_spv_fop(s, AGXC_OP_FLOG2, x[0]), x[1]));
}

/* Two factors 2^e, since one alone can't reach both ends. A third for exponents below all that may
 * give a normal number: it makes zeros of numbers and leaves infinities. */
struct agxc_ref agxc_spv_glsl_ldexp(struct agxc_spv *s, const struct agxc_ref *x)
{
   struct agxc_ref range[] = {x[1], agxc_spv_u32((uint32_t)-252), agxc_spv_u32(254)};
   struct agxc_ref e = agxc_spv_glsl_sclamp(s, range);
   struct agxc_ref half = agxc_spv_build2(s, AGXC_OP_ASHR, e, agxc_spv_u32(1));
   struct agxc_ref parts[] = {half, agxc_spv_build2(s, AGXC_OP_ISUB, e, half)};
   struct agxc_ref result = x[0];
   for (unsigned i = 0; i < 2; i++) {
      struct agxc_ref biased = agxc_spv_build2(s, AGXC_OP_IADD, parts[i], agxc_spv_u32(127));
      result = agxc_spv_fmul(s, result, agxc_spv_build2(s, AGXC_OP_ISHL, biased, agxc_spv_u32(23)));
   }
   struct agxc_ref below = agxc_spv_build2(s, AGXC_OP_SLT, x[1], agxc_spv_u32((uint32_t)-252));
   struct agxc_ref last = agxc_spv_select(s, below, agxc_spv_f32(0x1p-126f), agxc_spv_f32(1));
   return agxc_spv_fmul(s, result, last);
}

/* ---- trigonometry ------------------------------------------------------ */

struct agxc_ref agxc_spv_glsl_radians(struct agxc_spv *s, const struct agxc_ref *x)
{
   return agxc_spv_fmul(s, x[0], agxc_spv_f32(PI / 180));
}

struct agxc_ref agxc_spv_glsl_degrees(struct agxc_spv *s, const struct agxc_ref *x)
{
   return agxc_spv_fmul(s, x[0], agxc_spv_f32(180 / PI));
}

struct agxc_ref agxc_spv_glsl_tan(struct agxc_spv *s, const struct agxc_ref *x)
{
   struct agxc_ref sine = agxc_spv_fop(s, AGXC_OP_FSIN, x[0]);
   return agxc_spv_build2(s, AGXC_OP_FDIV, sine, agxc_spv_fop(s, AGXC_OP_FCOS, x[0]));
}

/* asin(a) for 0 <= a <= 1/2; above, with big set, asin(sqrt((1 - a) / 2)). */
static struct agxc_ref asin_core(struct agxc_spv *s, struct agxc_ref a, struct agxc_ref *out_big)
{
   static const float c[] = {1.6666752422e-1f, 7.4953002686e-2f, 4.5470025998e-2f, 2.4181311049e-2f,
                             4.2163199048e-2f};
   struct agxc_ref big = less(s, agxc_spv_f32(0.5f), a);
   struct agxc_ref half = agxc_spv_ffma(s, a, agxc_spv_f32(-0.5f), agxc_spv_f32(0.5f));
   struct agxc_ref z = agxc_spv_select(s, big, half, agxc_spv_fmul(s, a, a));
   struct agxc_ref y = agxc_spv_select(s, big, agxc_spv_fop(s, AGXC_OP_FSQRT, half), a);
   *out_big = big;
   return odd_poly(s, y, z, c, AGX_COUNT(c));
}

struct agxc_ref agxc_spv_glsl_asin(struct agxc_spv *s, const struct agxc_ref *x)
{
   struct agxc_ref big, p = asin_core(s, agxc_spv_fop(s, AGXC_OP_FABS, x[0]), &big);
   struct agxc_ref rest = agxc_spv_ffma(s, p, agxc_spv_f32(-2), agxc_spv_f32(HALF_PI));
   return copy_sign(s, agxc_spv_select(s, big, rest, p), x[0]);
}

struct agxc_ref agxc_spv_glsl_acos(struct agxc_spv *s, const struct agxc_ref *x)
{
   struct agxc_ref big, p = asin_core(s, agxc_spv_fop(s, AGXC_OP_FABS, x[0]), &big);
   struct agxc_ref twice = agxc_spv_fadd(s, p, p);
   struct agxc_ref negative = less(s, x[0], agxc_spv_f32(0));
   struct agxc_ref far =
      agxc_spv_select(s, negative, agxc_spv_fsub(s, agxc_spv_f32(PI), twice), twice);
   struct agxc_ref near = agxc_spv_fsub(s, agxc_spv_f32(HALF_PI), copy_sign(s, p, x[0]));
   return agxc_spv_select(s, big, far, near);
}

/* Scales both so that neither their sum overflows, nor the reciprocal of the larger one or their
 * difference is a denormal, which would be zero. */
static void scale(struct agxc_spv *s, struct agxc_ref *least, struct agxc_ref *most)
{
   struct agxc_ref is_large = less(s, agxc_spv_f32(0x1p64f), *most);
   struct agxc_ref factor =
      agxc_spv_select(s, is_large, agxc_spv_f32(0x1p-3f), agxc_spv_f32(0x1p32f));
   *least = agxc_spv_fmul(s, *least, factor);
   *most = agxc_spv_fmul(s, *most, factor);
}

/* atan(y / x) for y, x >= 0, in 0 .. pi / 2. scales: neither is 1. */
static struct agxc_ref atan_core(struct agxc_spv *s, struct agxc_ref y, struct agxc_ref x,
                                 bool scales)
{
   static const float c[] = {-3.33329491539e-1f, 1.99777106478e-1f, -1.38776856032e-1f,
                             8.05374449538e-2f};
   /* Selects pass a NaN on, which minima and maxima drop. */
   struct agxc_ref steep = less(s, x, y);
   struct agxc_ref least = agxc_spv_select(s, steep, x, y);
   struct agxc_ref most = agxc_spv_select(s, steep, y, x);
   if (scales)
      scale(s, &least, &most);
   /* Above tan(pi / 8), atan(t) = pi / 4 + atan((t - 1) / (t + 1)). */
   struct agxc_ref middle = less(s, agxc_spv_fmul(s, most, agxc_spv_f32(0.414213562f)), least);
   struct agxc_ref top = agxc_spv_select(s, middle, agxc_spv_fsub(s, least, most), least);
   struct agxc_ref bottom = agxc_spv_select(s, middle, agxc_spv_fadd(s, least, most), most);
   struct agxc_ref ratio = agxc_spv_build2(s, AGXC_OP_FDIV, top, bottom);
   struct agxc_ref is_zero = agxc_spv_build2(s, AGXC_OP_FEQ, bottom, agxc_spv_f32(0));
   ratio = agxc_spv_select(s, is_zero, top, ratio); /* 0, or NaN */
   struct agxc_ref p = odd_poly(s, ratio, agxc_spv_fmul(s, ratio, ratio), c, AGX_COUNT(c));
   p = agxc_spv_fadd(s, p, agxc_spv_select(s, middle, agxc_spv_f32(PI / 4), agxc_spv_f32(0)));
   return agxc_spv_select(s, steep, agxc_spv_fsub(s, agxc_spv_f32(HALF_PI), p), p);
}

struct agxc_ref agxc_spv_glsl_atan(struct agxc_spv *s, const struct agxc_ref *x)
{
   return copy_sign(s, atan_core(s, agxc_spv_fop(s, AGXC_OP_FABS, x[0]), agxc_spv_f32(1), false),
                    x[0]);
}

/* Two infinities become ones, which have the same angle. */
static void replace_infinities(struct agxc_spv *s, struct agxc_ref leg[2])
{
   struct agxc_ref most = agxc_spv_f32(FLT_MAX), one = agxc_spv_f32(1);
   struct agxc_ref equal = agxc_spv_build2(s, AGXC_OP_FEQ, leg[0], leg[1]);
   struct agxc_ref finite = agxc_spv_select(s, less(s, most, leg[0]), one, leg[0]);
   for (unsigned i = 0; i < 2; i++)
      leg[i] = agxc_spv_select(s, equal, finite, leg[i]);
}

struct agxc_ref agxc_spv_glsl_atan2(struct agxc_spv *s, const struct agxc_ref *x)
{
   struct agxc_ref leg[] = {agxc_spv_fop(s, AGXC_OP_FABS, x[0]),
                            agxc_spv_fop(s, AGXC_OP_FABS, x[1])};
   if (s->precise_words || s->precise_halves || s->is_precise)
      replace_infinities(s, leg);
   struct agxc_ref angle = atan_core(s, leg[0], leg[1], true);
   struct agxc_ref behind = agxc_spv_build2(s, AGXC_OP_SLT, x[1], agxc_spv_u32(0)); /* sign bit */
   angle = agxc_spv_select(s, behind, agxc_spv_fsub(s, agxc_spv_f32(PI), angle), angle);
   return copy_sign(s, angle, x[0]);
}

/* ---- hyperbolic functions ---------------------------------------------- */

/* Chooses the polynomial where |x| is below limit, with the sign of x for the rest. */
static struct agxc_ref near_zero(struct agxc_spv *s, struct agxc_ref x, float limit, const float *c,
                                 unsigned count, struct agxc_ref far)
{
   struct agxc_ref p = odd_poly(s, x, agxc_spv_fmul(s, x, x), c, count);
   struct agxc_ref is_near = less(s, agxc_spv_fop(s, AGXC_OP_FABS, x), agxc_spv_f32(limit));
   return agxc_spv_select(s, is_near, p, copy_sign(s, far, x));
}

struct agxc_ref agxc_spv_glsl_sinh(struct agxc_spv *s, const struct agxc_ref *x)
{
   static const float c[] = {1.66667160211e-1f, 8.33028376239e-3f, 2.03721912945e-4f};
   struct agxc_ref size = agxc_spv_fop(s, AGXC_OP_FABS, x[0]);
   struct agxc_ref e = agxc_spv_glsl_exp(s, &size);
   struct agxc_ref inverse = agxc_spv_fop(s, AGXC_OP_FRCP, e);
   struct agxc_ref far = agxc_spv_fmul(s, agxc_spv_fsub(s, e, inverse), agxc_spv_f32(0.5f));
   return near_zero(s, x[0], 1, c, AGX_COUNT(c), far);
}

struct agxc_ref agxc_spv_glsl_cosh(struct agxc_spv *s, const struct agxc_ref *x)
{
   struct agxc_ref size = agxc_spv_fop(s, AGXC_OP_FABS, x[0]);
   struct agxc_ref e = agxc_spv_glsl_exp(s, &size);
   return agxc_spv_fmul(s, agxc_spv_fadd(s, e, agxc_spv_fop(s, AGXC_OP_FRCP, e)),
                        agxc_spv_f32(0.5f));
}

struct agxc_ref agxc_spv_glsl_tanh(struct agxc_spv *s, const struct agxc_ref *x)
{
   static const float c[] = {-3.33332819422e-1f, 1.33314422036e-1f, -5.37397155531e-2f,
                             2.06390887954e-2f, -5.70498872745e-3f};
   /* Beyond 10 the result is 1; that keeps the exponential finite. */
   struct agxc_ref size = agxc_spv_fop(s, AGXC_OP_FABS, x[0]), ten = agxc_spv_f32(10);
   size = agxc_spv_select(s, less(s, ten, size), ten, size); /* passes a NaN on */
   struct agxc_ref twice = agxc_spv_fadd(s, size, size);
   struct agxc_ref above = agxc_spv_fadd(s, agxc_spv_glsl_exp(s, &twice), agxc_spv_f32(1));
   struct agxc_ref far =
      agxc_spv_ffma(s, agxc_spv_fop(s, AGXC_OP_FRCP, above), agxc_spv_f32(-2), agxc_spv_f32(1));
   return near_zero(s, x[0], 0.625f, c, AGX_COUNT(c), far);
}

/* log(x + sqrt(x * x + one)) */
static struct agxc_ref log_of_root(struct agxc_spv *s, struct agxc_ref x, float one)
{
   struct agxc_ref root = agxc_spv_fop(s, AGXC_OP_FSQRT, agxc_spv_ffma(s, x, x, agxc_spv_f32(one)));
   struct agxc_ref sum = agxc_spv_fadd(s, x, root);
   return agxc_spv_glsl_log(s, &sum);
}

struct agxc_ref agxc_spv_glsl_asinh(struct agxc_spv *s, const struct agxc_ref *x)
{
   static const float c[] = {-1.6666288134e-1f, 7.4847586088e-2f, -4.2699340972e-2f,
                             2.0122003309e-2f};
   struct agxc_ref far = log_of_root(s, agxc_spv_fop(s, AGXC_OP_FABS, x[0]), 1);
   return near_zero(s, x[0], 0.5f, c, AGX_COUNT(c), far);
}

struct agxc_ref agxc_spv_glsl_acosh(struct agxc_spv *s, const struct agxc_ref *x)
{
   return log_of_root(s, x[0], -1);
}

struct agxc_ref agxc_spv_glsl_atanh(struct agxc_spv *s, const struct agxc_ref *x)
{
   static const float c[] = {3.33337300303e-1f, 1.99782164500e-1f, 1.46691431730e-1f,
                             8.24370301058e-2f, 1.81740078349e-1f};
   struct agxc_ref size = agxc_spv_fop(s, AGXC_OP_FABS, x[0]);
   struct agxc_ref above = agxc_spv_fadd(s, agxc_spv_f32(1), size);
   struct agxc_ref below = agxc_spv_fsub(s, agxc_spv_f32(1), size);
   struct agxc_ref ratio = agxc_spv_build2(s, AGXC_OP_FDIV, above, below);
   struct agxc_ref far = agxc_spv_fmul(s, agxc_spv_glsl_log(s, &ratio), agxc_spv_f32(0.5f));
   return near_zero(s, x[0], 0.5f, c, AGX_COUNT(c), far);
}

/* ---- bits -------------------------------------------------------------- */

struct agxc_ref agxc_spv_glsl_find_lsb(struct agxc_spv *s, const struct agxc_ref *x)
{
   unsigned bits = x[0].bits;
   struct agxc_ref negated = agxc_spv_build1(s, AGXC_OP_INEG, bits, x[0]);
   struct agxc_ref lowest = agxc_spv_build2(s, AGXC_OP_IAND, x[0], negated);
   return agxc_spv_build1(s, AGXC_OP_FIND_UMSB, bits, lowest);
}

struct agxc_ref agxc_spv_glsl_find_smsb(struct agxc_spv *s, const struct agxc_ref *x)
{
   unsigned bits = x[0].bits;
   struct agxc_ref sign = agxc_spv_build2(s, AGXC_OP_ASHR, x[0], agxc_spv_u32(bits - 1));
   return agxc_spv_build1(s, AGXC_OP_FIND_UMSB, bits, agxc_spv_build2(s, AGXC_OP_IXOR, x[0], sign));
}
