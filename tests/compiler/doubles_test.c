/* SPDX-License-Identifier: MIT
 *
 * 64-bit floats, which are software: spv/doubles.comp does one operation, which a specialization
 * constant chooses, and its results on the simulator must be those of the host's doubles, bit by
 * bit (all NaNs count as equal, but must be quiet). Operands are special values, random bits, and
 * numbers near each other. AGX_DOUBLES=N tries 32 N operands for each operation, instead of few.
 */
#include "backend_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/compiler/compiler.h"
#include "base/half.h"

#define LANES      32
#define OPERATIONS 92
#define SIGN       (1ull << 63)
#define INFINITE   (0x7ffull << 52)

static uint64_t bits_of(double x)
{
   uint64_t bits;
   memcpy(&bits, &x, sizeof(bits));
   return bits;
}

static double of_bits(uint64_t bits)
{
   double x;
   memcpy(&x, &bits, sizeof(x));
   return x;
}

static uint32_t float_bits(float x)
{
   uint32_t bits;
   memcpy(&bits, &x, sizeof(bits));
   return bits;
}

static float float_of(uint32_t bits)
{
   float x;
   memcpy(&x, &bits, sizeof(x));
   return x;
}

static double flag(bool x)
{
   return of_bits(x);
}

static bool is_nan(uint64_t bits)
{
   return (bits & ~SIGN) > INFINITE;
}

/* ---- operands -------------------------------------------------------------- */

static uint64_t state;

static uint64_t next(void)
{
   state = state * 6364136223846793005ull + 1442695040888963407ull;
   uint64_t x = state ^ state >> 29;
   return x * 0xbf58476d1ce4e5b9ull ^ x >> 32;
}

static uint64_t special(void)
{
   static const uint64_t values[] = {
      0,
      1,
      2,
      0x000fffffffffffff,
      0x0010000000000000,
      0x0010000000000001,
      0x001fffffffffffff,
      0x3ca0000000000000,
      0x3fdfffffffffffff,
      0x3fe0000000000000,
      0x3fe0000000000001,
      0x3fefffffffffffff,
      0x3ff0000000000000,
      0x3ff0000000000001,
      0x3ff8000000000000,
      0x4000000000000000,
      0x4004000000000000,
      0x4330000000000000,
      0x4330000000000001,
      0x432fffffffffffff,
      0x43dfffffffffffff,
      0x43e0000000000000,
      0x43efffffffffffff,
      0x43f0000000000000,
      0x41dfffffffc00000,
      0x41e0000000000000,
      0x41efffffffe00000,
      0x7fe0000000000000,
      0x7fefffffffffffff,
      INFINITE,
      INFINITE | 1,
      INFINITE | 1ull << 51,
      0x36a0000000000000, /* around the least numbers of 32 and 16 bits */
      0x380fffffffffffff,
      0x380fffffe0000000,
      0x380ffffff0000000,
      0x3e60000000000000,
      0x3e70000000000001,
      0x40effc0000000000,
      0x40effe0000000000,
      0x47efffffefffffff,
      0x47effffff0000000,
   };
   return values[next() % AGX_COUNT(values)] ^ (next() % 2 << 63);
}

/* Few ones, or few zeros, at either end of the fraction. */
static uint64_t sparse(void)
{
   uint64_t fraction = (next() % 8) << next() % 52 ^ (next() % 8) ^ (next() % 2 ? ~0ull : 0);
   uint64_t exponent = next() % 3 ? 1023 - 64 + next() % 128 : next() % 2048;
   return (fraction & ((1ull << 52) - 1)) | exponent << 52 | (next() % 2) << 63;
}

/* Near another number: so that sums cancel, and quotients are near 1. */
static uint64_t near(uint64_t other)
{
   switch (next() % 4) {
   case 0:
      return other + (next() % 64) - 32;
   case 1:
      return (other ^ SIGN) + (next() % 8) - 4;
   case 2:
      return (other ^ next() >> (12 + next() % 52)) + ((next() % 128 - 64) << 52);
   default:
      return bits_of((double)(int64_t)(next() % 2048) - 1024.0);
   }
}

static uint64_t number(uint64_t other)
{
   switch (next() % 5) {
   case 0:
      return special();
   case 1:
      return next();
   case 2:
      return sparse();
   case 3:
      return (next() & ~INFINITE) | (1023 - 40 + next() % 80) << 52;
   default:
      return near(other);
   }
}

/* ---- what the host computes -------------------------------------------------- */

/* As for 32 bits: NaN gives 0, what lies outside the nearest integer. */
static double to_int(double x, unsigned bits, bool is_signed)
{
   double most = ldexp(1, (int)bits - is_signed), least = is_signed ? -most : 0;
   uint64_t value = 0;
   x = trunc(x);
   if (x != x)
      value = 0;
   else if (x >= most)
      value = agx_bits(bits - is_signed);
   else if (x <= least)
      value = is_signed ? 0 - (1ull << (bits - 1)) : 0;
   else
      value = x < 0 ? 0 - (uint64_t)-x : (uint64_t)x;
   return of_bits(value);
}

static uint32_t flushed(uint32_t bits)
{
   return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

/* To a half at once: to a single that is rounded to odd first. */
static uint16_t half_of(double x)
{
   float near = (float)x;
   uint32_t bits = float_bits(near);
   if (x == x && (double)near != x)
      bits = (bits - (fabs((double)near) > fabs(x))) | 1;
   return agx_half_from_float(float_of(bits));
}

static double least(double x, double y)
{
   return x != x ? y : y != y ? x : x < y ? x : y;
}

static double most(double x, double y)
{
   return x != x ? y : y != y ? x : x > y ? x : y;
}

static double arithmetic(unsigned operation, double x, double y, double z)
{
   int n = 0;
   switch (operation) {
   case 0:
      return x + y;
   case 1:
      return x - y;
   case 2:
      return x * y;
   case 3:
      return x / y;
   case 4:
      return sqrt(x);
   case 5:
      return fma(x, y, z);
   case 6:
      return of_bits(bits_of(x) ^ SIGN);
   case 7:
      return of_bits(bits_of(x) & ~SIGN);
   case 8:
      return floor(x);
   case 9:
      return ceil(x);
   case 10:
      return trunc(x);
   case 11:
   case 68:
      return nearbyint(x);
   case 12:
      return least(x, y);
   case 13:
      return most(x, y);
   case 14:
      return ldexp(x, (int)((uint32_t)bits_of(y) % 4400) - 2200);
   case 15:
      return frexp(x, &n);
   case 16:
      frexp(x, &n);
      return of_bits(isfinite(x) ? (uint64_t)(int64_t)n : 0);
   case 17:
      return flag(x == y);
   case 18:
      return flag(x != y);
   case 19:
      return flag(x < y);
   case 20:
      return flag(x >= y);
   case 21:
      return flag(!(x < y));
   case 22:
      return flag(!(x >= y));
   case 23:
      return flag(x != x);
   default:
      return flag(isinf(x));
   }
}

static double conversion(unsigned operation, double x)
{
   uint64_t bits = bits_of(x);
   switch (operation) {
   case 25:
      return of_bits(flushed(float_bits((float)x)));
   case 26:
      return of_bits(half_of(x));
   case 27:
      return (double)float_of(flushed((uint32_t)bits));
   case 28:
      return (double)agx_half_to_float((uint16_t)bits);
   case 29:
   case 30:
   case 31:
   case 32:
   case 33:
   case 34:
   case 35:
   case 36:
      return to_int(x, 8u << (operation - 29) / 2, operation % 2);
   case 37:
      return (double)(int8_t)bits;
   case 38:
      return (double)(uint8_t)bits;
   case 39:
      return (double)(int16_t)bits;
   case 40:
      return (double)(uint16_t)bits;
   case 41:
      return (double)(int32_t)bits;
   case 42:
      return (double)(uint32_t)bits;
   case 43:
      return (double)(int64_t)bits;
   default:
      return (double)bits;
   }
}

/* t t (3 - 2 t), t between 0 and 1 */
static double smooth(double low, double high, double x)
{
   double t = least(most((x - low) / (high - low), 0), 1);
   return t * t * (t * -2 + 3);
}

static double refracted(double x, double y, double z, double eta)
{
   double d = y * x + z * y, rest = 1 - d * d, k = 1 - eta * eta * rest;
   return k < 0 ? 0 : eta * x - (eta * d + sqrt(k)) * y;
}

static double composed(unsigned operation, double x, double y, double z)
{
   switch (operation) {
   case 45:
      return x - y * floor(x / y);
   case 46:
      return x - floor(x);
   case 47:
      return x > 0 ? 1 : x < 0 ? -1 : 0;
   case 48:
      return x - trunc(x);
   case 49:
      return trunc(x);
   case 50:
      return least(most(x, y), z);
   case 51:
      return y * z + x * (1 - z);
   case 52:
      return y < x ? 0 : 1;
   case 53:
      return smooth(x, y, z);
   case 54:
      return 1 / sqrt(x);
   case 55:
      return sqrt(y * y + x * x);
   case 56:
      return fabs(x - y);
   case 57:
      return x * y + y * z + z * x;
   case 58:
      return y * (1 / sqrt(y * y + x * x));
   case 59: /* y x - z z of (x, y, z) and (y, z, x) */
      return y * x - z * z;
   case 60:
      return z * y + x * z < 0 ? x : -x;
   case 61:
      return (z * y + y * x) * -2 * y + x;
   case 62:
      return refracted(x, y, z, x);
   case 63:
      return of_bits(bits_of(x) << 32 | bits_of(x) >> 32);
   case 64:
      return x * y + z * z;
   case 65:
      return x * x - z * y;
   case 66:
      return y * z;
   default:
      return x < y ? z : x;
   }
}

/* The least or most of all lanes. */
static double over_lanes(const uint64_t *all, double (*choose)(double, double))
{
   double result = of_bits(all[0]);
   for (unsigned lane = 1; lane < LANES; lane++)
      result = choose(result, of_bits(all[3 * lane]));
   return result;
}

/* What goes through other lanes, memory and loops. */
static double moved(unsigned operation, const uint64_t *all, unsigned lane)
{
   const uint64_t *in = all + 3 * lane;
   double x = of_bits(in[0]), y = of_bits(in[1]), sum = of_bits(in[2]);
   switch (operation) {
   case 69:
      return over_lanes(all, least);
   case 70:
      return over_lanes(all, most);
   case 71:
      return of_bits(all[3 * (lane ^ 5)]);
   case 72:
      return of_bits(all[3 * (31 - lane)]);
   case 73:
      return of_bits(in[(uint32_t)in[1] % 3]);
   case 74:
      return x * (1.0 / 3);
   default:
      for (unsigned k = 0; k < in[1] % 8; k++)
         sum = sum < y ? sum * y + x : sum - x;
      return sum;
   }
}

static double whole(const uint64_t *in)
{
   return (double)(uint32_t)(in[0] % 64) - 32;
}

static double power(const uint64_t *in)
{
   return ldexp(in[0] & 4 ? -1 : 1, (int)(in[0] & 3) - 1);
}

static double not_nan(const uint64_t *in)
{
   return is_nan(in[0]) ? 0 : of_bits(in[0]);
}

static double sum(double x, double y)
{
   return x + y;
}

static double product(double x, double y)
{
   return x * y;
}

/* Of the lanes first to last; only_odd: of those whose second number is odd. */
static double reduced(const uint64_t *all, unsigned first, unsigned last, bool only_odd,
                      double (*take)(const uint64_t *), double (*join)(double, double),
                      double result)
{
   for (unsigned lane = first; lane < last; lane++)
      if (!only_odd || all[3 * lane + 1] & 1)
         result = join(result, take(all + 3 * lane));
   return result;
}

static bool all_equal(const uint64_t *all)
{
   for (unsigned lane = 0; lane < LANES; lane++) {
      const uint64_t *in = all + 3 * lane;
      double first = (uint32_t)all[1] % 16 == 0 ? whole(all) : 33;
      if (((uint32_t)in[1] % 16 == 0 ? whole(in) : 33) != first)
         return false;
   }
   return true;
}

static unsigned first_odd(const uint64_t *all)
{
   unsigned lane = 0;
   while (!(all[3 * lane + 1] & 1))
      lane++;
   return lane;
}

/* What lanes make of all their numbers, and what they get from another. */
static double gathered(unsigned operation, const uint64_t *all, unsigned lane)
{
   const uint64_t *in = all + 3 * lane;
   unsigned eight = lane & ~7u, four = lane & ~3u;
   bool is_odd = in[1] & 1;
   switch (operation) {
   case 76:
      return reduced(all, 0, LANES, false, whole, sum, 0);
   case 77:
      return reduced(all, 0, lane + 1, false, whole, sum, 0);
   case 78:
      return reduced(all, 0, lane, false, whole, sum, 0);
   case 79:
      return reduced(all, eight, eight + 8, false, whole, sum, 0);
   case 80:
      return reduced(all, 0, LANES, false, power, product, 1);
   case 81:
      return reduced(all, 0, lane, false, power, product, 1);
   case 82:
      return reduced(all, 0, lane, false, not_nan, least, HUGE_VAL);
   case 83:
      return reduced(all, 0, lane + 1, false, not_nan, most, -HUGE_VAL);
   case 84:
      return is_odd ? reduced(all, 0, LANES, true, whole, sum, 0) : of_bits(in[2]);
   case 85:
      return is_odd ? reduced(all, four, four + 4, true, power, product, 1) : of_bits(in[2]);
   case 86:
      return flag(all_equal(all));
   case 87:
      return of_bits(all[3 * 5]);
   case 88:
      return of_bits(is_odd ? all[3 * first_odd(all)] : in[2]);
   case 89:
      return of_bits(lane < 3 ? in[2] : all[3 * (lane - 3)]);
   case 90:
      return of_bits(all[3 * (lane ^ 1)]);
   default:
      return of_bits(all[3 * (lane ^ 9) + 1]);
   }
}

static double expected(unsigned operation, const uint64_t *all, unsigned lane)
{
   const uint64_t *in = all + 3 * lane;
   double x = of_bits(in[0]), y = of_bits(in[1]), z = of_bits(in[2]);
   return operation < 25 || operation == 68 ? arithmetic(operation, x, y, z)
          : operation < 45                  ? conversion(operation, x)
          : operation < 69                  ? composed(operation, x, y, z)
          : operation < 76                  ? moved(operation, all, lane)
                                            : gathered(operation, all, lane);
}

/* Whether the result is a number whose NaNs are to be quiet: what only moves bits may leave them,
 * and integers have none. */
static bool gives_quiet(unsigned operation)
{
   bool moves = operation == 6 || operation == 7 || operation == 15 || operation == 63 ||
                operation == 67 || operation == 60 || (operation >= 71 && operation <= 73) ||
                operation == 75 || operation >= 84;
   bool is_integer = operation == 16 || (operation >= 29 && operation <= 36);
   return !moves && !is_integer;
}

/* ---- running ----------------------------------------------------------------- */

static struct agx_program *compile(const char *suffix, uint32_t operation, uint32_t debug)
{
   char name[64];
   size_t size;
   snprintf(name, sizeof(name), "compiler/spv/doubles%s", suffix);
   char *path = agx_test_path(name), *spirv = agx_test_read_file(path, &size);
   const struct agxc_spec spec = {.id = 0, .value = operation, .bytes = 4};
   struct agxc_options options = {.chip = agx_chip_find("g13g"),
                                  .specs = &spec,
                                  .spec_count = 1,
                                  .debug = debug | AGXC_DEBUG_VALIDATE};
   struct agx_program *program;
   assert_ok(agxc_compile(spirv, size, &options, &program));
   free(spirv);
   free(path);
   return program;
}

static void load(struct backend *backend, const struct agx_program *program)
{
   backend_init(backend);
   struct agxc_shader *shader = backend->shader;
   shader->uniform_count = program->uniform_count;
   memcpy(shader->uniforms, program->uniforms, program->uniform_count * sizeof(*program->uniforms));
   shader->gpr_halves = program->gpr_halves;
   shader->shared_B = program->shared_B;
   backend_load(backend, program->code, program->text_B - 2);
}

/* Which zero a minimum is, and which one the sum of no lanes. */
static bool leaves_sign_of_zero(unsigned operation)
{
   static const uint8_t open[] = {12, 13, 50, 69, 70, 78, 82, 83};
   return memchr(open, (int)operation, sizeof(open)) != NULL;
}

static void compare(unsigned operation, const uint64_t *all, unsigned lane, uint64_t got)
{
   const uint64_t *in = all + 3 * lane;
   uint64_t want = bits_of(expected(operation, all, lane));
   bool is_equal = got == want || (is_nan(got) && is_nan(want) && operation != 63);
   if (operation == 25) /* to 32 and to 16 bits */
      is_equal |= (got & 0x7fc00000) == 0x7fc00000 && (want & 0x7fffffff) > 0x7f800000;
   if (operation == 26)
      is_equal |= (got & 0x7e00) == 0x7e00 && (want & 0x7fff) > 0x7c00;
   if (leaves_sign_of_zero(operation))
      is_equal |= !(got << 1 | want << 1);
   if (is_equal && is_nan(got) && gives_quiet(operation))
      is_equal = got >> 51 & 1;
   if (!is_equal)
      fail_msg("operation %u of %#llx, %#llx, %#llx gives %#llx, not %#llx", operation,
               (unsigned long long)in[0], (unsigned long long)in[1], (unsigned long long)in[2],
               (unsigned long long)got, (unsigned long long)want);
}

static void try_operation(unsigned operation, const char *suffix, uint32_t debug, unsigned rounds)
{
   static uint64_t data[2 * BACKEND_BUFFER_B / 8];
   struct agx_program *program = compile(suffix, operation, debug);
   struct backend backend;
   load(&backend, program);
   for (unsigned round = 0; round < rounds; round++) {
      uint64_t in[3 * LANES], *out = data + BACKEND_BUFFER_B / 8;
      for (unsigned i = 0; i < 3 * LANES; i++)
         in[i] = number(i % 3 ? in[i - 1] : next());
      memcpy(data, in, sizeof(in));
      backend_run(&backend, (uint8_t *)data, sizeof(data));
      for (unsigned lane = 0; lane < LANES; lane++)
         compare(operation, in, lane, out[lane]);
   }
   backend_fini(&backend);
   agx_program_free(program);
}

static void operations(void **unused)
{
   const char *wanted = getenv("AGX_DOUBLES");
   unsigned rounds = wanted ? (unsigned)atoi(wanted) : 40;
   for (unsigned operation = 0; operation < OPERATIONS; operation++) {
      state = operation;
      try_operation(operation, ".opt.spv", 0, rounds);
      try_operation(operation, ".spv", AGXC_DEBUG_NO_OPT, 2);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {cmocka_unit_test(operations)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
