/* SPDX-License-Identifier: MIT
 *
 * Conversions from and to bfloat16, E4M3 and E5M2: spv/small_floats.comp does one, which a
 * specialization constant chooses. Its results on the simulator must be what ml_dtypes makes of
 * some 2000 numbers near ties and limits (spv/small_floats.txt, which small_floats.py writes), of
 * all small floats, and what the definition by a search for the nearest number says of other
 * operands. The definition itself is held against ml_dtypes, too.
 */
#include "backend_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/compiler/compiler.h"
#include "base/half.h"

#define NUMBERS 256 /* of 64 bits, in a run */

enum type {
   SINGLE,
   HALF,
   DOUBLE,
   S32,
   U32,
   S16,
   U16,
   S8,
   U8,
   S64,
   U64,
   BF16,
   E4M3,
   E5M2,
   TYPES
};

static const uint8_t bits_of_type[TYPES] = {32, 16, 64, 32, 32, 16, 16, 8, 8, 64, 64, 16, 8, 8};

/* Operations of the kernel, as first one and the type that varies. */
#define TO_PLAIN(t)     (16u * ((t)-BF16))
#define TO_SATURATED(t) (64u + 16u * ((t)-E4M3))
#define FROM(t)         (96u + 16u * ((t)-BF16))

static uint64_t state;

static uint64_t next(void)
{
   state = state * 6364136223846793005ull + 1442695040888963407ull;
   uint64_t x = state ^ state >> 29;
   return x * 0xbf58476d1ce4e5b9ull ^ x >> 32;
}

/* ---- the definition ---------------------------------------------------------- */

static const struct {
   unsigned fraction_bits, bias;
   uint32_t top; /* the code behind the largest number's */
   uint32_t nan, beyond;
} formats[] = {
   [BF16 - BF16] = {7, 127, 0x7f80, 0x7fc0, 0x7f80},
   [E4M3 - BF16] = {3, 7, 0x7f, 0x7f, 0x7f},
   [E5M2 - BF16] = {2, 15, 0x7c, 0x7e, 0x7c},
};

static uint32_t sign_of(enum type t)
{
   return 1u << (bits_of_type[t] - 1);
}

/* Also of the top code: what would follow the largest number. */
static double number_of(enum type t, uint32_t code)
{
   unsigned fraction_bits = formats[t - BF16].fraction_bits;
   int bias = (int)formats[t - BF16].bias;
   uint32_t size = code & (sign_of(t) - 1), fraction = size & ((1u << fraction_bits) - 1);
   int exponent = (int)(size >> fraction_bits);
   if (exponent)
      fraction |= 1u << fraction_bits;
   double number = ldexp(fraction, (exponent ? exponent : 1) - bias - (int)fraction_bits);
   return code & sign_of(t) ? -number : number;
}

static double decoded(enum type t, uint32_t code)
{
   uint32_t size = code & (sign_of(t) - 1), top = formats[t - BF16].top;
   if (t == E4M3 ? size == top : size > top)
      return NAN;
   return size == top ? copysign(INFINITY, number_of(t, code)) : number_of(t, code);
}

/* The code of the nearest number, the even one of two. */
static uint32_t encoded(enum type t, double x, bool saturates)
{
   uint32_t sign = signbit(x) ? sign_of(t) : 0, top = formats[t - BF16].top, low = 0, high = top;
   double size = fabs(x);
   if (x != x)
      return formats[t - BF16].nan;
   while (high - low > 1) {
      uint32_t middle = (low + high) / 2;
      *(number_of(t, middle) <= size ? &low : &high) = middle;
   }
   double border = (number_of(t, low) + number_of(t, high)) / 2;
   uint32_t code = size > border || (size == border && low % 2) ? high : low;
   if (code == top)
      code = saturates ? top - 1 : formats[t - BF16].beyond;
   return code | sign;
}

static bool is_nan(enum type t, uint64_t bits)
{
   switch (t) {
   case SINGLE:
      return (bits & 0x7fffffff) > 0x7f800000;
   case HALF:
      return (bits & 0x7fff) > 0x7c00;
   case DOUBLE:
      return bits << 1 > 0xffe0000000000000ull;
   default:
      return t >= BF16 && isnan(decoded(t, (uint32_t)bits));
   }
}

/* ---- running ----------------------------------------------------------------- */

static struct agx_program *compile(uint32_t operation, const char *suffix, uint32_t debug)
{
   char name[64];
   size_t size;
   snprintf(name, sizeof(name), "compiler/spv/small_floats%s", suffix);
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

struct kernel {
   struct agx_program *program;
   struct backend backend;
   uint32_t operation;
};

static void kernel_init(struct kernel *k, uint32_t operation, const char *suffix, uint32_t debug)
{
   k->operation = operation;
   struct agx_program *program = k->program = compile(operation, suffix, debug);
   backend_init(&k->backend);
   struct agxc_shader *shader = k->backend.shader;
   shader->uniform_count = program->uniform_count;
   memcpy(shader->uniforms, program->uniforms, program->uniform_count * sizeof(*program->uniforms));
   shader->gpr_halves = program->gpr_halves;
   shader->shared_B = program->shared_B;
   backend_load(&k->backend, program->code, program->text_B - 2);
}

static void kernel_fini(struct kernel *k)
{
   backend_fini(&k->backend);
   agx_program_free(k->program);
}

static void run(struct kernel *k, const uint64_t *in, uint64_t *out)
{
   static uint64_t data[2 * BACKEND_BUFFER_B / 8];
   memcpy(data, in, NUMBERS * sizeof(*in));
   backend_run(&k->backend, (uint8_t *)data, sizeof(data));
   memcpy(out, data + BACKEND_BUFFER_B / 8, NUMBERS * sizeof(*out));
}

static void check(const struct kernel *k, enum type t, uint64_t in, uint64_t got, uint64_t want)
{
   if (got != want && !(is_nan(t, got) && is_nan(t, want)))
      fail_msg("operation %u of %#llx gives %#llx, not %#llx", k->operation, (unsigned long long)in,
               (unsigned long long)got, (unsigned long long)want);
}

/* ---- numbers of ml_dtypes ------------------------------------------------------ */

struct golden {
   uint64_t in;
   unsigned digits;
   uint32_t codes[5]; /* of bfloat16, E4M3, E5M2, and the last two saturated */
};

struct goldens {
   struct golden *rows;
   uint32_t count, values[256][2];
};

static void read_goldens(struct goldens *goldens)
{
   size_t size;
   char *path = agx_test_path("compiler/spv/small_floats.txt");
   char *text = agx_test_read_file(path, &size), *rest = text;
   *goldens = (struct goldens){.rows = calloc(size / 16, sizeof(struct golden))};
   for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
      struct golden *row = &goldens->rows[goldens->count];
      unsigned long long in;
      uint32_t code, e4m3, e5m2, *codes = row->codes;
      if (sscanf(line, "%llx %x %x %x %x %x", &in, &codes[0], &codes[1], &codes[2], &codes[3],
                 &codes[4]) == 6) {
         row->in = in;
         row->digits = (unsigned)strcspn(line, " ");
         goldens->count++;
      } else {
         assert_int_equal(sscanf(line, "%x %x %x", &code, &e4m3, &e5m2), 3);
         goldens->values[code][0] = e4m3;
         goldens->values[code][1] = e5m2;
      }
   }
   assert_true(goldens->count > 1500);
   free(text);
   free(path);
}

static double of_double(uint64_t bits)
{
   double x;
   memcpy(&x, &bits, sizeof(x));
   return x;
}

static double of_single(uint64_t bits)
{
   uint32_t word = (uint32_t)bits;
   float x;
   memcpy(&x, &word, sizeof(x));
   return (double)x;
}

/* One of the codes of all numbers of that many digits. */
static void try_goldens(const struct goldens *goldens, unsigned digits, unsigned code)
{
   enum type from = digits == 8 ? SINGLE : DOUBLE, to = code < 3 ? BF16 + code : E4M3 + code - 3;
   struct kernel kernel;
   kernel_init(&kernel, (code < 3 ? TO_PLAIN(to) : TO_SATURATED(to)) + from, ".opt.spv", 0);
   uint64_t in[NUMBERS] = {0}, out[NUMBERS];
   uint32_t want[NUMBERS], filled = 0;
   for (uint32_t i = 0; i < goldens->count; i++) {
      if (goldens->rows[i].digits == digits) {
         in[filled] = goldens->rows[i].in;
         want[filled++] = goldens->rows[i].codes[code];
      }
      if (filled < NUMBERS && i + 1 < goldens->count)
         continue;
      run(&kernel, in, out);
      for (uint32_t k = 0; k < filled; k++) {
         check(&kernel, to, in[k], out[k], want[k]);
         /* bfloat16 is made of 32 bits. */
         double x = digits == 8 ? of_single(in[k]) : of_double(in[k]);
         x = to == BF16 ? (double)(float)x : x;
         check(&kernel, to, in[k], encoded(to, x, code >= 3), want[k]);
      }
      filled = 0;
   }
   kernel_fini(&kernel);
}

static void numbers_are_those_of_ml_dtypes(void **unused)
{
   struct goldens goldens;
   read_goldens(&goldens);
   for (unsigned code = 0; code < 5; code++) {
      try_goldens(&goldens, 8, code);
      try_goldens(&goldens, 16, code);
   }
   free(goldens.rows);
}

static void all_small_floats_widen(void **unused)
{
   struct goldens goldens;
   read_goldens(&goldens);
   uint64_t in[NUMBERS], out[NUMBERS];
   struct kernel kernel;
   for (unsigned t = 0; t < 2; t++) {
      kernel_init(&kernel, FROM(E4M3 + t) + SINGLE, ".opt.spv", 0);
      for (uint32_t i = 0; i < 256; i++)
         in[i] = i;
      run(&kernel, in, out);
      for (uint32_t i = 0; i < 256; i++)
         check(&kernel, SINGLE, i, out[i], goldens.values[i][t]);
      kernel_fini(&kernel);
   }
   kernel_init(&kernel, FROM(BF16) + SINGLE, ".opt.spv", 0);
   for (uint32_t first = 0; first < 65536; first += NUMBERS) {
      for (uint32_t i = 0; i < NUMBERS; i++)
         in[i] = first + i;
      run(&kernel, in, out);
      for (uint32_t i = 0; i < NUMBERS; i++)
         assert_int_equal(out[i], (first + i) << 16);
   }
   kernel_fini(&kernel);
   free(goldens.rows);
}

/* ---- all types by the definition ------------------------------------------------- */

/* 32-bit denormals count as zero where floats are computed with. */
static double flushed(double x)
{
   return fabs(x) < ldexp(1, -126) ? copysign(0, x) : x;
}

/* A number of the type as a double; what doubles can't hold is rounded to 32 bits, as every
 * conversion does. */
static double operand(enum type t, uint64_t bits)
{
   switch (t) {
   case SINGLE:
      return of_single(bits);
   case HALF:
      return (double)agx_half_to_float((uint16_t)bits);
   case DOUBLE:
      return of_double(bits);
   case S64:
      return (double)(float)(int64_t)bits;
   case U64:
      return (double)(float)bits;
   case S32:
      return (double)(float)(int32_t)bits;
   case S16:
      return (int16_t)bits;
   case S8:
      return (int8_t)bits;
   case U32:
      return (double)(float)(uint32_t)bits;
   case U16:
      return (uint16_t)bits;
   case U8:
      return (uint8_t)bits;
   default:
      return decoded(t, (uint32_t)bits);
   }
}

/* Bits of the type, of all sizes: half of them such as 8-bit floats can hold. */
static uint64_t any_operand(enum type t)
{
   uint64_t bits = next();
   if (t == DOUBLE && bits % 2) {
      double x = ldexp((double)(next() % 1024), (int)(next() % 34) - 26);
      memcpy(&bits, &x, sizeof(bits));
      bits += next() % 3 - 1;
   } else if (t == SINGLE && bits % 2) {
      bits = (uint64_t)(100 + next() % 46) << 23 | (next() % 2) << 31 | (next() & 0x7ff000);
   } else if (t >= S32 && t <= U64) {
      bits = (uint64_t)((int64_t)bits >> next() % 64);
   }
   return bits & agx_bits(bits_of_type[t]);
}

static uint64_t to_bits(enum type t, double x)
{
   float single = (float)x;
   uint32_t word;
   uint64_t bits;
   memcpy(&word, &single, sizeof(word));
   memcpy(&bits, &x, sizeof(bits));
   if (t == SINGLE)
      return word;
   if (t == HALF)
      return agx_half_from_float(single);
   if (t == DOUBLE)
      return bits;
   return (x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x) & agx_bits(bits_of_type[t]);
}

static void try_to(enum type to, enum type from, bool saturates, const char *suffix, uint32_t debug)
{
   struct kernel kernel;
   kernel_init(&kernel, (saturates ? TO_SATURATED(to) : TO_PLAIN(to)) + from, suffix, debug);
   for (unsigned round = 0; round < 8; round++) {
      uint64_t in[NUMBERS], out[NUMBERS];
      for (unsigned i = 0; i < NUMBERS; i++)
         in[i] = bits_of_type[from] == 8 ? i : any_operand(from);
      run(&kernel, in, out);
      for (unsigned i = 0; i < NUMBERS; i++) {
         double x = operand(from, in[i]);
         if (to == BF16 && from == DOUBLE)
            x = flushed((double)(float)x);
         check(&kernel, to, in[i], out[i], from == to ? in[i] : encoded(to, x, saturates));
      }
   }
   kernel_fini(&kernel);
}

/* Integers that hold no such number may be any. */
static bool fits(enum type t, double x)
{
   unsigned bits = bits_of_type[t];
   bool is_signed = t == S32 || t == S16 || t == S8 || t == S64;
   double limit = ldexp(1, (int)bits - is_signed);
   return t < S32 || (x > (is_signed ? -limit - 1 : -1) && x < limit);
}

static void try_from(enum type from, enum type to, const char *suffix, uint32_t debug)
{
   struct kernel kernel;
   kernel_init(&kernel, FROM(from) + to, suffix, debug);
   for (uint32_t first = 0; first < 1u << bits_of_type[from]; first += NUMBERS * 5) {
      uint64_t in[NUMBERS], out[NUMBERS];
      for (unsigned i = 0; i < NUMBERS; i++)
         in[i] = (first + i) & agx_bits(bits_of_type[from]);
      run(&kernel, in, out);
      for (unsigned i = 0; i < NUMBERS; i++) {
         double x = decoded(from, (uint32_t)in[i]);
         if (to != SINGLE)
            x = flushed(x);
         if (fits(to, x))
            check(&kernel, to, in[i], out[i] & agx_bits(bits_of_type[to]), to_bits(to, x));
      }
   }
   kernel_fini(&kernel);
}

static void all_types_convert(void **unused)
{
   for (enum type small = BF16; small <= E5M2; small++) {
      for (enum type other = SINGLE; other <= E5M2; other++) {
         try_to(small, other, false, ".opt.spv", 0);
         if (small != BF16 && other < E4M3)
            try_to(small, other, true, ".opt.spv", 0);
         if (other < BF16)
            try_from(small, other, ".opt.spv", 0);
      }
      try_to(small, SINGLE, false, ".spv", AGXC_DEBUG_NO_OPT);
      try_from(small, HALF, ".spv", AGXC_DEBUG_NO_OPT);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_those_of_ml_dtypes),
      cmocka_unit_test(all_small_floats_widen),
      cmocka_unit_test(all_types_convert),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
