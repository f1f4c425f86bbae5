/* SPDX-License-Identifier: MIT
 *
 * How far the results of floating-point operations are from the exact ones, against Vulkan's
 * table (Precision and Operation of SPIR-V Instructions): what the parts of `make ulp` share.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define ULP_MAX_OPERANDS 6 /* scalars */

/* Functions that doubles alone can't give; each right to nearly 53 bits. */
struct ulp_math {
   double (*sin)(double), (*cos)(double), (*tan)(double);
   double (*asin)(double), (*acos)(double), (*atan)(double);
   double (*sinh)(double), (*cosh)(double), (*tanh)(double);
   double (*asinh)(double), (*acosh)(double), (*atanh)(double);
   double (*exp)(double), (*exp2)(double), (*log)(double), (*log2)(double);
   double (*atan2)(double, double), (*pow)(double, double);
};

/* The C library's, as fast as it goes; and MPFR's (of mpfr.c, in `make ulp` only). */
extern const struct ulp_math ulp_libm, ulp_mpfr;

/* A floating-point format, and the functions to judge with. */
struct ulp_format {
   unsigned bits;
   int digits, least; /* of the significand; the exponent of the least normal number */
   double most;       /* the largest finite number */
   const struct ulp_math *math;
};

/* The format of 16 or 32 bits. */
struct ulp_format ulp_format_of(unsigned bits, const struct ulp_math *math);
/* The number that the bits stand for. */
double ulp_decode(unsigned bits, uint32_t word);
/* The distance of numbers around x, as Vulkan defines ulp(x). */
double ulp_of(const struct ulp_format *f, double x);
/* x flushed to zero where it is below the normal numbers. */
double ulp_flushed(const struct ulp_format *f, double x);

/* What a formula may give: all from lo to hi; or anything. */
struct ulp_span {
   double lo, hi;
   bool any;
};

/* Anything, NaN too. */
struct ulp_span ulp_any(void);
/* One number; NaN is anything. */
struct ulp_span ulp_point(double x);
/* n ulp or an absolute error around each number of a span. */
struct ulp_span ulp_around(const struct ulp_format *f, struct ulp_span a, double n);
struct ulp_span ulp_within(const struct ulp_format *f, struct ulp_span a, double error);
/* Correctly rounded: x where it is a number of the format, else its two neighbours. */
struct ulp_span ulp_rounded(const struct ulp_format *f, double x);
/* Operations on spans, with the precision that Vulkan's tables give them. */
struct ulp_span ulp_add(const struct ulp_format *f, struct ulp_span a, struct ulp_span b);
struct ulp_span ulp_sub(const struct ulp_format *f, struct ulp_span a, struct ulp_span b);
struct ulp_span ulp_mul(const struct ulp_format *f, struct ulp_span a, struct ulp_span b);
struct ulp_span ulp_div(const struct ulp_format *f, struct ulp_span a, struct ulp_span b);
struct ulp_span ulp_exp(const struct ulp_format *f, struct ulp_span a, double (*exact)(double));
struct ulp_span ulp_log(const struct ulp_format *f, struct ulp_span a, double (*exact)(double));
struct ulp_span ulp_inverse_sqrt(const struct ulp_format *f, struct ulp_span a);
struct ulp_span ulp_sqrt(const struct ulp_format *f, struct ulp_span a);
struct ulp_span ulp_atan2(const struct ulp_format *f, struct ulp_span y, struct ulp_span x);
/* floor or trunc of each number. */
struct ulp_span ulp_whole(struct ulp_span a, double (*whole)(double));

/* What NaN operands give. */
enum ulp_nan {
   ULP_NAN,   /* NaN, where the module asks that NaNs are kept */
   ULP_FREE,  /* anything */
   ULP_EXACT, /* what exact() says */
};

/* An operation. kinds are those of the result and the scalar operands: f float of the width, h
 * half, s single, i and u integers, b boolean; 2 and 3 stand for vectors of floats (of the result,
 * component 0 counts). */
struct ulp_operation {
   const char *name, *kinds;
   uint16_t opcode;  /* SPIR-V's, or 0 and */
   uint16_t glsl;    /* GLSL.std.450's */
   uint8_t member;   /* of a result of two: 1, 2 */
   uint8_t ulp_bits; /* whose ulp errors are counted in; 0: the result's */
   enum ulp_nan nan;
   double (*exact)(const struct ulp_math *m, const double *x);
   struct ulp_span (*allowed)(const struct ulp_format *f, const double *x);
   bool is_absolute; /* Vulkan bounds the absolute error */
   const char *rule; /* what Vulkan says, for the table */
};
extern const struct ulp_operation ulp_operations[];
extern const size_t ulp_operation_count;

/* How many scalar operands there are. */
unsigned ulp_operands(const struct ulp_operation *operation);
/* The kind of a scalar operand. */
char ulp_kind(const struct ulp_operation *operation, unsigned operand);
/* Bits of a kind at a width. */
unsigned ulp_bits(char kind, unsigned width);
/* Does the operation exist in this width? Those of fixed kinds only at 32. */
bool ulp_exists(const struct ulp_operation *operation, unsigned width);

/* The SPIR-V of a kernel of 64 threads in a workgroup: thread i takes its operands from the words
 * of binding 0 behind i * operands, and writes word i of binding 1. is_precise: asks for
 * signed zeros, infinities and NaNs. Returns the count of words. */
#define ULP_MODULE_WORDS 1024
#define ULP_GROUP        64u
uint32_t ulp_module(const struct ulp_operation *operation, unsigned width, bool is_precise,
                    uint32_t *words);

/* A virtual device with room for count threads. */
struct ulp_device;
AGX_MUST_CHECK agx_status ulp_device_open(uint32_t count, struct ulp_device **out_device);
/* Releases all of it. */
void ulp_device_close(struct ulp_device *device);
/* The kernel that later runs execute. */
AGX_MUST_CHECK agx_status ulp_device_load(struct ulp_device *device,
                                          const struct ulp_operation *operation, unsigned width,
                                          bool is_precise);
/* Tells compiled kernels apart. */
AGX_MUST_CHECK agx_status ulp_code_hash(const struct ulp_operation *operation, unsigned width,
                                        bool is_precise, uint64_t *out_hash);
/* The words of the operands, and of the results. */
uint32_t *ulp_device_in(struct ulp_device *device);
const uint32_t *ulp_device_out(struct ulp_device *device);
/* count threads, a multiple of ULP_GROUP. */
AGX_MUST_CHECK agx_status ulp_device_run(struct ulp_device *device, uint32_t count);

/* What a row of the table says. */
struct ulp_result {
   uint64_t count, misses;
   double worst;     /* in ulp, among results within the formula's range */
   double worst_abs; /* the absolute error of the worst where Vulkan's bound is absolute */
   double share;     /* of what is allowed; above 1 is a miss */
   uint32_t at[ULP_MAX_OPERANDS], got;
   uint32_t missed[ULP_MAX_OPERANDS], missed_got;
};

struct ulp_plan {
   uint64_t first, count;        /* of the inputs, see ulp_inputs */
   uint64_t total;               /* how many there are in all */
   const struct ulp_math *judge; /* of doubtful cases; NULL: libm alone */
   bool is_precise;
};

/* Fills the operands of inputs first.. of total in all: specials first, then all or a dense sample
 * of one operand, or random ones. */
void ulp_inputs(const struct ulp_operation *operation, unsigned width, uint64_t total,
                uint64_t first, uint32_t count, uint32_t *words);
/* How many inputs there are in all: of one half operand no more than all. */
uint64_t ulp_total(const struct ulp_operation *operation, unsigned width, uint64_t wanted);
/* Runs inputs first .. first + count, and adds to result. */
AGX_MUST_CHECK agx_status ulp_measure(struct ulp_device *device,
                                      const struct ulp_operation *operation, unsigned width,
                                      const struct ulp_plan *plan, struct ulp_result *result);
