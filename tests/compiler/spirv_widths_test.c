/* SPDX-License-Identifier: MIT
 *
 * Kernels of 8, 16 and 64 bits and of half floats (spv/NAME.comp), compiled and run on the
 * simulator over random inputs, against the same computation in C; and the execution modes of
 * float controls.
 */
#include "backend_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spirv/unified1/spirv.h>

#include "agx/compiler/compiler.h"
#include "base/half.h"

#define LANES 32

static char *read_kernel(const char *kernel, const char *suffix, size_t *size)
{
   char name[96];
   snprintf(name, sizeof(name), "compiler/spv/%s%s", kernel, suffix);
   char *path = agx_test_path(name), *spirv = agx_test_read_file(path, size);
   free(path);
   return spirv;
}

/* Compiles and runs one SIMD-group over data: binding 0, then binding 1. */
static void run(const char *kernel, const char *suffix, uint32_t debug, uint8_t *data)
{
   size_t size;
   char *spirv = read_kernel(kernel, suffix, &size);
   struct agxc_options options = {.chip = agx_chip_find("g13g"),
                                  .debug = debug | AGXC_DEBUG_VALIDATE};
   struct agx_program *program;
   assert_ok(agxc_compile(spirv, size, &options, &program));
   assert_int_equal(program->preamble_B, 0);
   struct backend backend;
   backend_init(&backend);
   struct agxc_shader *shader = backend.shader;
   shader->uniform_count = program->uniform_count;
   memcpy(shader->uniforms, program->uniforms, program->uniform_count * sizeof(*program->uniforms));
   shader->gpr_halves = program->gpr_halves;
   shader->shared_B = program->shared_B;
   backend_load(&backend, program->code, program->text_B - 2);
   backend_run(&backend, data, 2 * BACKEND_BUFFER_B);
   backend_fini(&backend);
   agx_program_free(program);
   free(spirv);
}

typedef void (*twin)(const uint8_t *in, uint8_t *out, unsigned lane);
typedef bool (*agree)(unsigned result, const uint8_t *got, const uint8_t *want);

static uint64_t state = 11;

static uint32_t next(uint32_t below)
{
   state = state * 6364136223846793005ull + 1442695040888963407ull;
   return (uint32_t)((state >> 33) % below);
}

static void check(const char *kernel, unsigned width_B, unsigned results, twin expected,
                  agree agrees, void (*fill)(uint8_t *in, unsigned lane))
{
   static const char *const variants[] = {".spv", ".opt.spv"};
   for (unsigned round = 0; round < 12; round++) {
      uint8_t *data = calloc(1, 2 * BACKEND_BUFFER_B), want[BACKEND_BUFFER_B / LANES] = {0};
      for (unsigned lane = 0; lane < LANES; lane++)
         fill(data, lane);
      run(kernel, variants[round % 2], round % 4 < 2 ? 0 : AGXC_DEBUG_NO_OPT, data);
      for (unsigned lane = 0; lane < LANES; lane++) {
         expected(data, want, lane);
         for (unsigned k = 0; k < results; k++) {
            const uint8_t *got = data + BACKEND_BUFFER_B + (lane * results + k) * width_B;
            uint64_t a = 0, b = 0;
            memcpy(&a, got, width_B);
            memcpy(&b, want + k * width_B, width_B);
            if (agrees ? !agrees(k, got, want + k * width_B) : a != b)
               fail_msg("%s, round %u, lane %u: result %u is %#llx, not %#llx", kernel, round, lane,
                        k, (unsigned long long)a, (unsigned long long)b);
         }
      }
      free(data);
   }
}

/* ---- integers ----------------------------------------------------------- */

static uint64_t interesting(unsigned bits)
{
   uint64_t value =
      (uint64_t)next(0x7fffffff) << 33 ^ (uint64_t)next(0x7fffffff) << 11 ^ next(4096);
   value = next(4) ? value >> next(64) : 1ull << next(bits);
   return next(4) ? value : 0 - value;
}

/* Two numbers; the second is no divisor of which the result is undefined. */
#define FILL(name, type)                                                                           \
   static void name(uint8_t *in, unsigned lane)                                                    \
   {                                                                                               \
      type pair[2] = {(type)interesting(8 * sizeof(type)), (type)interesting(8 * sizeof(type))};   \
      if (pair[1] == 0 || pair[1] == -1)                                                           \
         pair[1] = 3;                                                                              \
      memcpy(in + 2 * lane * sizeof(type), pair, sizeof(pair));                                    \
   }

FILL(fill8, int8_t)
FILL(fill16, int16_t)
FILL(fill64, int64_t)

static float real(int64_t x)
{
   return (float)x;
}

static uint32_t bits_of(float x)
{
   uint32_t bits;
   memcpy(&bits, &x, sizeof(bits));
   return bits;
}

static void ints64_twin(const uint8_t *in, uint8_t *out, unsigned lane)
{
   int64_t pair[2], sum = 0;
   memcpy(pair, in + 16 * lane, 16);
   int64_t x = pair[0], y = pair[1];
   uint64_t u = (uint64_t)x, v = (uint64_t)y;
   unsigned n = v & 63;
   for (int k = 0; k < 5; k++) {
      sum = (int64_t)((uint64_t)sum * 31 + u);
      if (sum < y)
         sum += 7;
   }
   int64_t r[16] = {
      (int64_t)(u + v),
      (int64_t)(u - v),
      (int64_t)(u * v),
      x / y,
      x % 1000 + (x % 1000 < 0 ? 1000 : 0), /* glslang makes OpSMod of % */
      (int64_t)(u / v),
      (int64_t)(u % v),
      (int64_t)(u << n),
      x >> n,
      (int64_t)(u >> n),
      AGX_MIN(x, y) ^ (int64_t)AGX_MAX(u, v),
      (int64_t)((x < 0 ? 0 - u : u) + (uint64_t)(y < 0 ? -1 : y > 0)),
      (int64_t)((uint64_t)bits_of(real(x)) << 32 | bits_of((float)u)),
      x < y || u >= v ? ~x : x & (y | 0xff00),
      sum,
      (int64_t)((uint64_t)(int64_t)(float)(int32_t)x + (uint64_t)(float)(uint32_t)y),
   };
   memcpy(out, r, sizeof(r));
}

/* C promotes to int, as GLSL does not; so every result is cut. */
#define TWIN(name, type, utype, w)                                                                 \
   static void name(const uint8_t *in, uint8_t *out, unsigned lane)                                \
   {                                                                                               \
      type pair[2], r[32];                                                                         \
      memcpy(pair, in + 2 * lane * sizeof(type), sizeof(pair));                                    \
      type x = pair[0], y = pair[1], sum = 0, other[2];                                            \
      memcpy(other, in + 2 * (lane ^ 5) * sizeof(type), sizeof(other));                            \
      utype u = (utype)x, v = (utype)y;                                                            \
      int n = v & (w - 1);                                                                         \
      for (int k = 0; k < 5; k++) {                                                                \
         sum = (type)(sum * 31 + x);                                                               \
         if (sum < y)                                                                              \
            sum = (type)(sum + 7);                                                                 \
      }                                                                                            \
      r[0] = (type)(x + y);                                                                        \
      r[1] = (type)(x - y);                                                                        \
      r[2] = (type)(x * y);                                                                        \
      r[3] = (type)(x / y);                                                                        \
      r[4] = (type)(x % 10 < 0 ? x % 10 + 10 : x % 10);                                            \
      r[5] = (type)(u / v);                                                                        \
      r[6] = (type)(u % v);                                                                        \
      r[7] = (type)((unsigned)u << n);                                                             \
      r[8] = (type)(x >> n);                                                                       \
      r[9] = (type)(u >> n);                                                                       \
      r[10] = (type)(AGX_MIN(x, y) ^ (type)AGX_MAX(u, v));                                         \
      r[11] = (type)(abs(x) + (y < 0 ? -1 : y > 0));                                               \
      r[12] = (type)((float)x * 0.5f);                                                             \
      r[13] = (type)(x < y || u >= v ? ~x : x & (y | 0x70));                                       \
      r[14] = sum;                                                                                 \
      r[15] = (type)((int)((unsigned)(int)x * (unsigned)(int)y) >> w);                             \
      r[16] = (type)(((unsigned)u * (unsigned)v) >> w);                                            \
      r[17] = (type)-x;                                                                            \
      r[18] = (type)((unsigned)(int)other[0] * (unsigned)(int)other[1]);                           \
      r[19] = (type)((int64_t)x * (int64_t)u >> w / 2);                                            \
      r[20] = (type)((v & 127) * 2);                                                               \
      r[21] = (type)(x == y || u != v ? 1 : x);                                                    \
      for (int k = 22; k < 32; k++)                                                                \
         r[k] = u > 100 ? (type)k : x;                                                             \
      memcpy(out, r, sizeof(r));                                                                   \
   }

TWIN(ints8_twin, int8_t, uint8_t, 8)
TWIN(ints16_twin, int16_t, uint16_t, 16)

static void bytes(void **unused)
{
   check("ints8", 1, 32, ints8_twin, NULL, fill8);
}

static void shorts(void **unused)
{
   check("ints16", 2, 32, ints16_twin, NULL, fill16);
}

static void longs(void **unused)
{
   check("ints64", 8, 16, ints64_twin, NULL, fill64);
}

/* ---- halves -------------------------------------------------------------- */

/* Numbers of moderate size; the second away from 0. */
static void fill_halves(uint8_t *in, unsigned lane)
{
   for (unsigned i = 0; i < 2; i++) {
      float x = (float)next(16000) / 2000.0f - 4.0f;
      x = fabsf(x) < 0.01f ? 0.3f : x;
      uint16_t half = agx_half_from_float(x);
      memcpy(in + 4 * lane + 2 * i, &half, 2);
   }
}

static void halves_twin(const uint8_t *in, uint8_t *out, unsigned lane)
{
   uint16_t pair[2], r[56];
   int e;
   memcpy(pair, in + 4 * lane, 4);
   double x = (double)agx_half_to_float(pair[0]), y = (double)agx_half_to_float(pair[1]);
   double p = fabs(x), q = p - floor(p), t = (q + 1) / 2, length = sqrt(x * x + y * y + 1);
   double mantissa = frexp(x, &e);
   const double values[56] = {
      x + y,
      x - y,
      x * y,
      x / y,
      x * y + 1,
      x - y * floor(x / y),
      floor(x),
      ceil(x),
      trunc(x),
      rint(x),
      sqrt(p),
      1 / sqrt(p),
      exp2(x),
      log2(p),
      exp(x),
      log(p),
      sqrt(p),
      sin(x),
      cos(x),
      tan(q),
      asin(q),
      acos(q),
      atan(x),
      atan2(x, y),
      sinh(q),
      cosh(q),
      tanh(x),
      asinh(x),
      acosh((double)agx_half_to_float(agx_half_from_float((float)(1 + p)))),
      atanh(q / 2),
      fmin(x, y),
      fmax(x, y),
      fmin(fmax(x, -1), 1),
      x * (1 - q) + y * q,
      y < x ? 0 : 1,
      t * t * (3 - 2 * t),
      x < 0 ? -1 : x > 0,
      x - trunc(x),
      trunc(x),
      mantissa,
      e,
      4 * x,
      length,
      hypot(x - 1, y - 0.5),
      x * y + y / 2,
      y / length,
      x - y * y,
      x - 2 * x,
      x / 2 - y,
      x * 3.14159265358979 / 180,
      q * 180 / 3.14159265358979,
      0.5,
      x < y ? x : y,
      x * y,
      trunc(x) + trunc(p),
      y,
   };
   for (unsigned i = 0; i < 56; i++)
      r[i] = agx_half_from_float((float)values[i]);
   memcpy(out, r, sizeof(r));
}

/* Exact for what rounds once; else a few units of what went in (Vulkan, precision of halves). */
static bool halves_agree(unsigned result, const uint8_t *got, const uint8_t *want)
{
   uint16_t a, b;
   memcpy(&a, got, 2);
   memcpy(&b, want, 2);
   float x = agx_half_to_float(a), y = agx_half_to_float(b);
   bool is_exact = result <= 2 || (result >= 6 && result <= 9) || (result >= 30 && result <= 32) ||
                   result == 34 || (result >= 36 && result <= 41) || result >= 51;
   if (is_exact)
      return x == y;
   /* Floor of a quotient near an integer may go either way. */
   if (result == 5)
      return true;
   return fabsf(x - y) <= 0.004f * fmaxf(1, fabsf(y)) * (result == 46 || result == 44 ? 8 : 1);
}

static void halves(void **unused)
{
   check("halves", 2, 56, halves_twin, halves_agree, fill_halves);
}

/* ---- float controls ------------------------------------------------------- */

static void float_modes(void **unused)
{
   static const struct {
      uint32_t capability, mode, bits;
      const char *refusal;
   } cases[] = {
      {SpvCapabilityDenormPreserve, SpvExecutionModeDenormPreserve, 16, NULL},
      {SpvCapabilityDenormPreserve, SpvExecutionModeDenormPreserve, 32, "DenormPreserve of 32"},
      {SpvCapabilityDenormFlushToZero, SpvExecutionModeDenormFlushToZero, 32, NULL},
      {SpvCapabilityDenormFlushToZero, SpvExecutionModeDenormFlushToZero, 16,
       "DenormFlushToZero of 16"},
      {SpvCapabilitySignedZeroInfNanPreserve, SpvExecutionModeSignedZeroInfNanPreserve, 32, NULL},
      {SpvCapabilitySignedZeroInfNanPreserve, SpvExecutionModeSignedZeroInfNanPreserve, 64, NULL},
      {SpvCapabilityDenormPreserve, SpvExecutionModeDenormPreserve, 64, NULL},
      {SpvCapabilityDenormFlushToZero, SpvExecutionModeDenormFlushToZero, 64,
       "DenormFlushToZero of 64"},
      {SpvCapabilityRoundingModeRTE, SpvExecutionModeRoundingModeRTE, 16, NULL},
      {SpvCapabilityRoundingModeRTE, SpvExecutionModeRoundingModeRTE, 64, NULL},
      {SpvCapabilityRoundingModeRTZ, SpvExecutionModeRoundingModeRTZ, 16, "RoundingModeRTZ"},
   };
   size_t size;
   uint32_t *words = (uint32_t *)read_kernel("axpy", ".spv", &size);
   size_t count = size / 4, at = 5;
   while ((words[at] & 0xffff) != SpvOpExecutionMode)
      at += words[at] >> 16;
   uint32_t *module = malloc(size + 4 * 6);
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      memcpy(module, words, 20);
      module[5] = 2 << 16 | SpvOpCapability;
      module[6] = cases[i].capability;
      memcpy(module + 7, words + 5, (at - 5) * 4);
      uint32_t *mode = module + at + 2;
      mode[0] = 4 << 16 | SpvOpExecutionMode;
      mode[1] = words[at + 1];
      mode[2] = cases[i].mode;
      mode[3] = cases[i].bits;
      memcpy(mode + 4, words + at, (count - at) * 4);
      struct agxc_options options = {.chip = agx_chip_find("g13g")};
      struct agx_program *program;
      agx_status status = agxc_compile(module, size + 24, &options, &program);
      if (cases[i].refusal) {
         assert_fails(status, AGX_UNIMPLEMENTED, cases[i].refusal);
         continue;
      }
      assert_ok(status);
      agx_program_free(program);
   }
   free(module);
   free(words);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes),  cmocka_unit_test(shorts),      cmocka_unit_test(longs),
      cmocka_unit_test(halves), cmocka_unit_test(float_modes),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
