/* SPDX-License-Identifier: MIT
 *
 * Functions of GLSL.std.450 that work on each component alone. Polynomials are minimax ones of the
 * relative error, good to 1 or 2 ULP in their range (some are those of the Cephes library); Vulkan
 * asks for 4096 ULP of atan and for what the defining formulas give elsewhere (Vulkan 1.3,
 * Precision and Operation of SPIR-V Instructions). Where the result is rounded to a half, shorter
 * ones do, whose relative error is below 2^-14: a tenth of an ULP of a half.
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

struct poly {
   unsigned count;
   float c[7];
};

/* c[0] + c[1] z + ... */
static struct agxc_ref poly(struct agxc_spv *s, const struct poly *p, struct agxc_ref z)
{
   struct agxc_ref sum = agxc_spv_f32(p->c[p->count - 1]);
   for (unsigned i = p->count - 1; i-- > 0;)
      sum = agxc_spv_ffma(s, sum, z, agxc_spv_f32(p->c[i]));
   return sum;
}

/* x + x * z * (c[0] + c[1] z + ...), z = x squared or given. */
static struct agxc_ref odd_poly(struct agxc_spv *s, struct agxc_ref x, struct agxc_ref z,
                                const struct poly *p)
{
   return agxc_spv_ffma(s, agxc_spv_fmul(s, poly(s, p, z), z), x, x);
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
   struct agxc_ref one = agxc_spv_glsl_float(1, x[0].bits);
   struct agxc_ref first = agxc_spv_fmul(s, x[0], agxc_spv_fsub(s, one, x[2]));
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
   struct agxc_ref three = agxc_spv_glsl_float(3, t.bits);
   struct agxc_ref slope = agxc_spv_ffma(s, t, agxc_spv_glsl_float(-2, t.bits), three);
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
   if (x[0].bits == 64)
      return agxc_spv_build2(s, AGXC_OP_FLDEXP, x[0], x[1]);
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
   /* Of halves, the product with the half that is nearest. */
   return agxc_spv_fmul(s, x[0], agxc_spv_f32(s->rounds_to_half ? 57.28125f : 180 / PI));
}

struct agxc_ref agxc_spv_glsl_tan(struct agxc_spv *s, const struct agxc_ref *x)
{
   struct agxc_ref sine = agxc_spv_fop(s, AGXC_OP_FSIN, x[0]);
   return agxc_spv_build2(s, AGXC_OP_FDIV, sine, agxc_spv_fop(s, AGXC_OP_FCOS, x[0]));
}

/* Up to 1/2 a polynomial in x; above, asin(|x|) = pi / 2 - 2 asin(sqrt((1 - |x|) / 2)). */
struct agxc_ref agxc_spv_glsl_asin(struct agxc_spv *s, const struct agxc_ref *x)
{
   static const struct poly words = {
      4, {1.666558001e-1f, 7.540531237e-2f, 4.003498095e-2f, 4.995312404e-2f}};
   static const struct poly halves = {2, {1.650577586e-1f, 9.429868124e-2f}};
   struct agxc_ref size = agxc_spv_fop(s, AGXC_OP_FABS, x[0]);
   struct agxc_ref big = less(s, agxc_spv_f32(0.5f), size);
   struct agxc_ref half = agxc_spv_ffma(s, size, agxc_spv_f32(-0.5f), agxc_spv_f32(0.5f));
   struct agxc_ref z = agxc_spv_select(s, big, half, agxc_spv_fmul(s, x[0], x[0]));
   struct agxc_ref y = agxc_spv_select(s, big, agxc_spv_fop(s, AGXC_OP_FSQRT, half), x[0]);
   struct agxc_ref p = odd_poly(s, y, z, s->rounds_to_half ? &halves : &words);
   struct agxc_ref rest = agxc_spv_ffma(s, p, agxc_spv_f32(-2), agxc_spv_f32(HALF_PI));
   return agxc_spv_select(s, big, copy_sign(s, rest, x[0]), p);
}

/* sqrt(1 - |x|) times a polynomial in |x|; of a negative number, pi minus that. */
struct agxc_ref agxc_spv_glsl_acos(struct agxc_spv *s, const struct agxc_ref *x)
{
   static const struct poly words = {7,
                                     {1.570796165f, -2.145847098e-1f, 8.874905469e-2f,
                                      -4.877412003e-2f, 2.684475735e-2f, -1.109688894e-2f,
                                      2.279449611e-3f}};
   static const struct poly halves = {
      4, {1.570725419f, -2.120525452e-1f, 7.409332782e-2f, -1.861647753e-2f}};
   struct agxc_ref size = agxc_spv_fop(s, AGXC_OP_FABS, x[0]);
   struct agxc_ref root = agxc_spv_fop(s, AGXC_OP_FSQRT, agxc_spv_fsub(s, agxc_spv_f32(1), size));
   struct agxc_ref angle =
      agxc_spv_fmul(s, root, poly(s, s->rounds_to_half ? &halves : &words, size));
   struct agxc_ref negative = less(s, x[0], agxc_spv_f32(0));
   return agxc_spv_select(s, negative, agxc_spv_fsub(s, agxc_spv_f32(PI), angle), angle);
}

/* Scales both so that the reciprocal of the larger one is no denormal, which would be zero. */
static void scale(struct agxc_spv *s, struct agxc_ref *least, struct agxc_ref *most)
{
   struct agxc_ref is_large = less(s, agxc_spv_f32(0x1p64f), *most);
   struct agxc_ref factor = agxc_spv_select(s, is_large, agxc_spv_f32(0x1p-32f), agxc_spv_f32(1));
   *least = agxc_spv_fmul(s, *least, factor);
   *most = agxc_spv_fmul(s, *most, factor);
}

/* atan(y / x) for y, x >= 0, in 0 .. pi / 2. are_legs: both may be 0 or large; else x is 1. */
static struct agxc_ref atan_core(struct agxc_spv *s, struct agxc_ref y, struct agxc_ref x,
                                 bool are_legs)
{
   static const struct poly words = {7,
                                     {-3.333239160e-1f, 1.997421408e-1f, -1.404132771e-1f,
                                      9.968472954e-2f, -6.020312834e-2f, 2.473406222e-2f,
                                      -4.822533989e-3f}};
   static const struct poly halves = {
      4, {-3.321307199e-1f, 1.868141767e-1f, -9.409794080e-2f, 2.484028164e-2f}};
   /* Selects pass a NaN on, which minima and maxima drop. */
   struct agxc_ref steep = less(s, x, y);
   struct agxc_ref least = agxc_spv_select(s, steep, x, y);
   struct agxc_ref most = agxc_spv_select(s, steep, y, x);
   if (are_legs)
      scale(s, &least, &most);
   struct agxc_ref ratio = agxc_spv_build2(s, AGXC_OP_FDIV, least, most);
   if (are_legs) {
      struct agxc_ref is_zero = agxc_spv_build2(s, AGXC_OP_FEQ, most, agxc_spv_f32(0));
      ratio = agxc_spv_select(s, is_zero, least, ratio); /* 0, or NaN */
   }
   struct agxc_ref square = agxc_spv_fmul(s, ratio, ratio);
   struct agxc_ref p = odd_poly(s, ratio, square, s->rounds_to_half ? &halves : &words);
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

/* Below this, the functions that begin with x are x, where the result is rounded to a half. */
#define NEAR_HALF 0.01f

/* Chooses the polynomial where |x| is below limit. There the others cancel. */
static struct agxc_ref near_zero(struct agxc_spv *s, struct agxc_ref x, float limit,
                                 const struct poly *p, struct agxc_ref far)
{
   bool is_x = s->rounds_to_half;
   struct agxc_ref near = is_x ? x : odd_poly(s, x, agxc_spv_fmul(s, x, x), p);
   struct agxc_ref is_near =
      less(s, agxc_spv_fop(s, AGXC_OP_FABS, x), agxc_spv_f32(is_x ? NEAR_HALF : limit));
   return agxc_spv_select(s, is_near, near, far);
}

/* exp(x) and exp(-x) */
static void both_exponentials(struct agxc_spv *s, struct agxc_ref x, struct agxc_ref out[2])
{
   struct agxc_ref power = agxc_spv_fmul(s, x, agxc_spv_f32(LOG2_E));
   out[0] = agxc_spv_fop(s, AGXC_OP_FEXP2, power);
   out[1] = agxc_spv_fop(s, AGXC_OP_FEXP2, agxc_spv_fop(s, AGXC_OP_FNEG, power));
}

struct agxc_ref agxc_spv_glsl_sinh(struct agxc_spv *s, const struct agxc_ref *x)
{
   static const struct poly p = {3, {1.66667160211e-1f, 8.33028376239e-3f, 2.03721912945e-4f}};
   struct agxc_ref e[2];
   both_exponentials(s, x[0], e);
   struct agxc_ref far = agxc_spv_fmul(s, agxc_spv_fsub(s, e[0], e[1]), agxc_spv_f32(0.5f));
   return near_zero(s, x[0], 1, &p, far);
}

struct agxc_ref agxc_spv_glsl_cosh(struct agxc_spv *s, const struct agxc_ref *x)
{
   struct agxc_ref e[2];
   both_exponentials(s, x[0], e);
   return agxc_spv_fmul(s, agxc_spv_fadd(s, e[0], e[1]), agxc_spv_f32(0.5f));
}

/* 1 - 2 / (exp(2 x) + 1); an exponential that overflows gives 1. */
struct agxc_ref agxc_spv_glsl_tanh(struct agxc_spv *s, const struct agxc_ref *x)
{
   static const struct poly p = {3, {-3.333266316e-1f, 1.329982538e-1f, -4.914850209e-2f}};
   struct agxc_ref power = agxc_spv_fmul(s, x[0], agxc_spv_f32(2 * LOG2_E));
   struct agxc_ref above = agxc_spv_fadd(s, agxc_spv_fop(s, AGXC_OP_FEXP2, power), agxc_spv_f32(1));
   struct agxc_ref far =
      agxc_spv_ffma(s, agxc_spv_fop(s, AGXC_OP_FRCP, above), agxc_spv_f32(-2), agxc_spv_f32(1));
   return near_zero(s, x[0], 0.35f, &p, far);
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
   static const struct poly p = {
      4, {-1.6666288134e-1f, 7.4847586088e-2f, -4.2699340972e-2f, 2.0122003309e-2f}};
   struct agxc_ref far = log_of_root(s, agxc_spv_fop(s, AGXC_OP_FABS, x[0]), 1);
   return near_zero(s, x[0], 0.5f, &p, copy_sign(s, far, x[0]));
}

struct agxc_ref agxc_spv_glsl_acosh(struct agxc_spv *s, const struct agxc_ref *x)
{
   return log_of_root(s, x[0], -1);
}

struct agxc_ref agxc_spv_glsl_atanh(struct agxc_spv *s, const struct agxc_ref *x)
{
   static const struct poly p = {5,
                                 {3.33337300303e-1f, 1.99782164500e-1f, 1.46691431730e-1f,
                                  8.24370301058e-2f, 1.81740078349e-1f}};
   struct agxc_ref above = agxc_spv_fadd(s, x[0], agxc_spv_f32(1));
   struct agxc_ref below = agxc_spv_fsub(s, agxc_spv_f32(1), x[0]);
   struct agxc_ref ratio = agxc_spv_build2(s, AGXC_OP_FDIV, above, below);
   struct agxc_ref far =
      agxc_spv_fmul(s, agxc_spv_fop(s, AGXC_OP_FLOG2, ratio), agxc_spv_f32(LN_2 / 2));
   return near_zero(s, x[0], 0.5f, &p, far);
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
