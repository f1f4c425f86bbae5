/* SPDX-License-Identifier: MIT
 *
 * The functions to judge with, by MPFR: right to the last bit of a double. main.c has them.
 */
#include <mpfr.h>

#include "ulp.h"

typedef int unary(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
typedef int binary(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

/* A double holds each operand exactly, and 53 bits of the result are rounded once. */
static double by_unary(unary *function, double x)
{
   MPFR_DECL_INIT(a, 53);
   MPFR_DECL_INIT(d, 53);
   mpfr_set_d(a, x, MPFR_RNDN);
   function(d, a, MPFR_RNDN);
   return mpfr_get_d(d, MPFR_RNDN);
}

static double by_binary(binary *function, double x, double y)
{
   MPFR_DECL_INIT(a, 53);
   MPFR_DECL_INIT(b, 53);
   MPFR_DECL_INIT(d, 53);
   mpfr_set_d(a, x, MPFR_RNDN);
   mpfr_set_d(b, y, MPFR_RNDN);
   function(d, a, b, MPFR_RNDN);
   return mpfr_get_d(d, MPFR_RNDN);
}

#define UNARY(name)                                                                                \
   static double exact_##name(double x)                                                            \
   {                                                                                               \
      return by_unary(mpfr_##name, x);                                                             \
   }
#define BINARY(name)                                                                               \
   static double exact_##name(double x, double y)                                                  \
   {                                                                                               \
      return by_binary(mpfr_##name, x, y);                                                         \
   }
UNARY(sin)
UNARY(cos)
UNARY(tan)
UNARY(asin)
UNARY(acos)
UNARY(atan)
UNARY(sinh)
UNARY(cosh)
UNARY(tanh)
UNARY(asinh)
UNARY(acosh)
UNARY(atanh)
UNARY(exp)
UNARY(exp2)
UNARY(log)
UNARY(log2)
BINARY(atan2)
BINARY(pow)

const struct ulp_math ulp_mpfr = {
   .sin = exact_sin,
   .cos = exact_cos,
   .tan = exact_tan,
   .asin = exact_asin,
   .acos = exact_acos,
   .atan = exact_atan,
   .sinh = exact_sinh,
   .cosh = exact_cosh,
   .tanh = exact_tanh,
   .asinh = exact_asinh,
   .acosh = exact_acosh,
   .atanh = exact_atanh,
   .exp = exact_exp,
   .exp2 = exact_exp2,
   .log = exact_log,
   .log2 = exact_log2,
   .atan2 = exact_atan2,
   .pow = exact_pow,
};
