/* SPDX-License-Identifier: MIT
 *
 * Cooperative matrices of integers through all layers: products of bytes of any shape, layout,
 * signedness and with saturating sums, and of longer integers, against plain loops
 * (tests/kernels/matrix_bytes.comp), what is done to their elements and types
 * (matrix_integers.comp), and how fast a product of 256 runs.
 */
#include "fixture.h"
#include "recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define MAX_LINE  72u
#define MAX_ITEMS (64u * MAX_LINE)
#define UNTOUCHED 0x7b /* every byte */
#define BUFFERS   5

static struct agx_executable *compile(struct fixture *f, const char *kernel,
                                      const struct agx_specialization *specializations,
                                      uint32_t count, enum agx_robustness robustness)
{
   char name[64];
   struct agx_executable_desc desc = {.size = sizeof(desc),
                                      .specializations = specializations,
                                      .specialization_count = count,
                                      .robustness = robustness};
   struct agx_executable *executable;
   snprintf(name, sizeof(name), "kernels/%s.spv", kernel);
   char *path = agx_test_path(name), *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(f->device, &desc, &executable));
   free(spirv);
   free(path);
   return executable;
}

static void run(struct fixture *f, struct agx_executable *executable, struct agx_buffer **buffers,
                uint32_t count, const void *push, uint32_t push_B)
{
   struct agx_command_buffer *commands = fixture_begin(f);
   struct agx_semaphore *done = fixture_semaphore(f);
   fixture_dispatch(commands, executable, 1, buffers, count, push, push_B);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   agx_release(commands);
   agx_release(done);
}

/* ---- products ---------------------------------------------------------- */

static const struct kind {
   const char *kernel;
   bool a_signed, b_signed, is_signed;
   uint8_t a_bits, b_bits, bits; /* bits: of C and D */
} kinds[] = {
   {"matrix_int8_t_int8_t_int", true, true, true, 8, 8, 32},
   {"matrix_uint8_t_uint8_t_uint", false, false, false, 8, 8, 32},
   {"matrix_int8_t_uint8_t_int", true, false, true, 8, 8, 32},
   {"matrix_uint8_t_int8_t_int", false, true, true, 8, 8, 32},
   {"matrix_uint8_t_uint8_t_int", false, false, true, 8, 8, 32},
   {"matrix_int8_t_int8_t_int8_t", true, true, true, 8, 8, 8},
   {"matrix_uint8_t_int8_t_int16_t", false, true, true, 8, 8, 16},
   {"matrix_int16_t_uint16_t_int", true, false, true, 16, 16, 32},
   {"matrix_uint16_t_uint16_t_uint16_t", false, false, false, 16, 16, 16},
   {"matrix_int_uint8_t_int", true, false, true, 32, 8, 32},
   {"matrix_uint_int_uint", false, true, false, 32, 32, 32},
};
#define BYTE_KINDS 5 /* the first of them, whose sums fit */

struct product {
   const struct kind *kind;
   unsigned m, n, k, rows, packed, line, turns, inputs;
   bool fixed_line, loops, saturates;
   enum agx_robustness robustness;
   uint32_t *memory[BUFFERS];
};

struct parameters {
   uint32_t stride, turns, count;
   int32_t scale, bias;
};

/* Where element (row, column) lies in matrix number `which`. */
static unsigned at(const struct product *p, unsigned which, unsigned row, unsigned column)
{
   return p->rows >> which & 1 ? row * p->line + column : column * p->line + row;
}

static int64_t extended(uint64_t value, unsigned bits, bool is_signed)
{
   unsigned unused = 64 - bits;
   return is_signed ? (int64_t)(value << unused) >> unused : (int64_t)(value << unused >> unused);
}

/* Number i of a matrix. */
static int64_t get(const struct product *p, unsigned which, unsigned i)
{
   const struct kind *k = p->kind;
   unsigned bits = which == 0 ? k->a_bits : which == 1 ? k->b_bits : k->bits;
   bool is_signed = which == 0 ? k->a_signed : which == 1 ? k->b_signed : k->is_signed;
   uint64_t value = 0;
   memcpy(&value, (const uint8_t *)p->memory[which] + i * bits / 8, bits / 8);
   return extended(value, bits, is_signed);
}

static int64_t limited(const struct product *p, int64_t sum)
{
   int64_t least = p->kind->is_signed ? INT32_MIN : 0;
   int64_t most = p->kind->is_signed ? INT32_MAX : UINT32_MAX;
   return AGX_MAX(least, AGX_MIN(sum, most));
}

/* Modulo 2^64 where sums don't saturate. */
static int64_t expected(const struct product *p, const struct parameters *parameters, unsigned row,
                        unsigned column)
{
   uint64_t product = 0, sum = (uint64_t)get(p, 2, at(p, 2, row, column));
   for (unsigned i = 0; i < p->k; i++)
      product += (uint64_t)get(p, 0, at(p, 0, row, i)) * (uint64_t)get(p, 1, at(p, 1, i, column));
   for (unsigned i = 0; i < (p->loops || p->saturates ? p->turns : 1); i++)
      sum = p->saturates ? (uint64_t)limited(p, (int64_t)(sum + product)) : sum + product;
   sum = 0 - sum * (uint64_t)(int64_t)parameters->scale + (uint64_t)(int64_t)parameters->bias;
   return extended(sum, p->kind->bits, p->kind->is_signed);
}

static void check(const struct product *p, const struct parameters *parameters)
{
   uint32_t bytes = p->kind->bits / 8, count;
   uint8_t *d = (uint8_t *)p->memory[3];
   for (unsigned row = 0; row < p->m; row++)
      for (unsigned column = 0; column < p->n; column++) {
         unsigned i = at(p, 3, row, column);
         int64_t got = get(p, 3, i), want = expected(p, parameters, row, column);
         if (got != want)
            fail_msg("%s, %ux%ux%u, rows 0x%x, packed %u, line %u, turns %u, saturates %u, inputs "
                     "%u: (%u, %u) is %lld, not %lld",
                     p->kind->kernel, p->m, p->n, p->k, p->rows, p->packed, p->line, p->turns,
                     p->saturates, p->inputs, row, column, (long long)got, (long long)want);
         memset(d + i * bytes, UNTOUCHED, bytes);
      }
   for (unsigned i = 0; i < MAX_ITEMS * 4; i++)
      if (d[i] != UNTOUCHED)
         fail_msg("%s, %ux%ux%u: byte %u was written", p->kind->kernel, p->m, p->n, p->k, i);
   memcpy(&count, &p->memory[4][2], sizeof(count));
   assert_int_equal(count, p->m * p->n / 32);
}

/* Any bytes; the largest and least of both kinds; one of these everywhere. */
static uint8_t random_byte(struct agx_test_rng *rng, unsigned inputs, unsigned which)
{
   static const uint8_t ends[] = {0x80, 0x7f, 0xff, 0, 1, 0x81};
   if (inputs == 0)
      return (uint8_t)agx_test_random(rng);
   return ends[inputs == 1 ? agx_test_random_below(rng, 6) : (inputs - 2) >> which & 1 ? 2 : 0];
}

static uint32_t random_start(struct agx_test_rng *rng)
{
   static const uint32_t starts[] = {0, 0x7fffffff, 0x80000000, 0xffffffff};
   if (agx_test_random_below(rng, 3) == 0)
      return (uint32_t)agx_test_random(rng);
   return starts[agx_test_random_below(rng, 4)] + (uint32_t)agx_test_random_below(rng, 1 << 22) -
          (1 << 21);
}

static void fill(const struct product *p, const struct parameters *parameters,
                 struct agx_test_rng *rng)
{
   for (unsigned i = 0; i < MAX_ITEMS * p->kind->a_bits / 8; i++)
      ((uint8_t *)p->memory[0])[i] = random_byte(rng, p->inputs, 0);
   for (unsigned i = 0; i < MAX_ITEMS * p->kind->b_bits / 8; i++)
      ((uint8_t *)p->memory[1])[i] = random_byte(rng, p->inputs, 1);
   for (unsigned i = 0; i < MAX_ITEMS; i++)
      p->memory[2][i] = random_start(rng);
   memset(p->memory[3], UNTOUCHED, MAX_ITEMS * 4);
   memcpy(p->memory[4], parameters, sizeof(*parameters));
}

/* name: of a recording, or NULL. */
static void run_product(struct fixture *f, struct product *p, struct agx_test_rng *rng,
                        const char *name)
{
   struct agx_specialization specializations[] = {
      {.id = 0, .bytes = 4, .value = p->m},
      {.id = 1, .bytes = 4, .value = p->n},
      {.id = 2, .bytes = 4, .value = p->k},
      {.id = 3, .bytes = 4, .value = p->rows},
      {.id = 4, .bytes = 4, .value = p->packed},
      {.id = 5, .bytes = 4, .value = p->fixed_line ? p->line : 0},
      {.id = 6, .bytes = 4, .value = p->loops ? 2 : 1},
      {.id = 7, .bytes = 4, .value = p->saturates},
   };
   const struct parameters parameters = {.stride = p->line,
                                         .turns = p->turns,
                                         .scale = 1 - (int)agx_test_random_below(rng, 3),
                                         .bias = (int)agx_test_random_below(rng, 2000) - 1000};
   struct recorded_dispatch recorded = {.name = name,
                                        .kernel = p->kind->kernel,
                                        .specializations = specializations,
                                        .specialization_count = AGX_COUNT(specializations),
                                        .buffer_count = BUFFERS,
                                        .output = 3};

   struct agx_executable *executable =
      compile(f, p->kind->kernel, specializations, AGX_COUNT(specializations), p->robustness);
   struct agx_buffer *buffers[BUFFERS];
   for (unsigned i = 0; i < BUFFERS; i++) {
      unsigned bits = i == 0 ? p->kind->a_bits : i == 1 ? p->kind->b_bits : 32;
      recorded.sizes_B[i] = i < 4 ? MAX_ITEMS * bits / 8 : 64;
      buffers[i] = fixture_buffer(f, recorded.sizes_B[i], &p->memory[i]);
      recorded.buffers[i] = p->memory[i];
   }
   fill(p, &parameters, rng);
   if (name)
      recorded_write(&recorded);
   run(f, executable, buffers, BUFFERS, NULL, 0);
   if (name)
      recorded_check(&recorded, "matrix_bytes", p->memory[3]);
   check(p, &parameters);
   for (unsigned i = 0; i < BUFFERS; i++)
      agx_release(buffers[i]);
   agx_release(executable);
}

/* What Mesa's lavapipe has, too, whose matrices are of other code than ours and lie in SIMD-groups
 * of eight lanes. */
static void products_as_recorded(void **state)
{
   static const unsigned sizes[][3] = {{8, 8, 8}};
   struct fixture f;
   fixture_open(&f, "virtual");
   for (unsigned i = 0; i < 2 * 16 * 2 * 2 * AGX_COUNT(sizes); i++) {
      const unsigned *size = sizes[i / 128];
      struct product p = {.kind = &kinds[i >> 6 & 1],
                          .m = size[0],
                          .n = size[1],
                          .k = size[2],
                          .rows = i & 15,
                          .packed = i >> 4 & 1,
                          .loops = i >> 5 & 1,
                          .turns = 1 + (i >> 5 & 1),
                          .inputs = i % 3,
                          .line = 32 + 8 * (i & 1)};
      struct agx_test_rng rng = {0x0dd + 2 * (i % 128)}; /* the same with other sizes in front */
      char name[96];
      snprintf(name, sizeof(name), "%s.%ux%ux%u.%u.%u.%u", p.kind->kernel, p.m, p.n, p.k, p.rows,
               p.packed, p.loops);
      run_product(&f, &p, &rng, name);
   }
   fixture_close(&f);
}

static struct product random_product(struct agx_test_rng *rng, unsigned i)
{
   static const enum agx_robustness robust[] = {AGX_ROBUST_OFF, AGX_ROBUST_CLAMP, AGX_ROBUST_ZERO};
   struct product p = {.kind = &kinds[i % AGX_COUNT(kinds)],
                       .m = 8 * (1 + (unsigned)agx_test_random_below(rng, 8)),
                       .n = 8 * (1 + (unsigned)agx_test_random_below(rng, 4)),
                       .k = 8 * (1 + (unsigned)agx_test_random_below(rng, 8)),
                       .rows = (unsigned)agx_test_random_below(rng, 16),
                       .packed = (unsigned)agx_test_random_below(rng, 2),
                       .turns = 1 + (unsigned)agx_test_random_below(rng, 3),
                       .inputs = (unsigned)agx_test_random_below(rng, 6),
                       .fixed_line = agx_test_random_below(rng, 2),
                       .loops = agx_test_random_below(rng, 2),
                       .saturates = agx_test_random_below(rng, 2),
                       .robustness = robust[agx_test_random_below(rng, 3)]};
   unsigned least = AGX_MAX(p.m, AGX_MAX(p.n, p.k));
   p.line = least + 4 * (unsigned)agx_test_random_below(rng, 3);
   if (i % AGX_COUNT(kinds) >= BYTE_KINDS) /* sums of whose products need not fit */
      p.packed = p.saturates = 0;
   return p;
}

static void products_of_all_shapes(void **state)
{
   static const char *const modes[] = {"validate", "noopt,validate"};
   const char *seed = getenv("AGX_TEST_SEED");
   struct agx_test_rng rng = {seed ? strtoull(seed, NULL, 0) | 1 : 0x1b8};
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   for (unsigned mode = 0; mode < AGX_COUNT(modes); mode++) {
      struct fixture f;
      setenv("AGX_DEBUG", modes[mode], 1);
      fixture_open(&f, "virtual");
      for (unsigned i = 0; i < (mode ? 33 : 110); i++) {
         struct product p = random_product(&rng, i);
         run_product(&f, &p, &rng, NULL);
      }
      fixture_close(&f);
   }
   unsetenv("AGX_VIRTUAL_CHECK");
   unsetenv("AGX_DEBUG");
}

/* What compilers of models use most: 16 by 16 by 16, bytes with signs into words, each matrix by
 * rows and by columns. */
static void bytes_of_models_multiply(void **state)
{
   struct agx_test_rng rng = {0x16};
   struct fixture f;
   fixture_open(&f, "virtual");
   for (unsigned rows = 0; rows < 16; rows++) {
      struct product p = {.kind = &kinds[0],
                          .m = 16,
                          .n = 16,
                          .k = 16,
                          .line = 64,
                          .rows = rows,
                          .turns = 1 + rows % 3};
      run_product(&f, &p, &rng, NULL);
   }
   fixture_close(&f);
}

/* 64 products of 255 by 255, and of -128 by either end: as far from 0 as sums get. */
static void largest_sums_are_exact(void **state)
{
   struct agx_test_rng rng = {0x64};
   struct fixture f;
   fixture_open(&f, "virtual");
   for (unsigned i = 0; i < 4 * BYTE_KINDS; i++) {
      struct product p = {.kind = &kinds[i / 4],
                          .m = 16,
                          .n = 16,
                          .k = 64,
                          .line = 64,
                          .rows = 15,
                          .turns = 1,
                          .inputs = 2 + i % 4};
      run_product(&f, &p, &rng, NULL);
   }
   fixture_close(&f);
}

/* What filled all registers, and once more than there are. */
static void large_shapes_find_registers(void **state)
{
   static const struct {
      const char *kernel;
      uint32_t values[7]; /* of the constants, from 0 on */
   } cases[] = {
      {"matrix_uint8_t_uint8_t_int", {64, 8, 64, 4, 1, 0, 1}},
      {"matrix_int_uint8_t_int", {48, 16, 56, 12, 0, 56, 2}},
   };
   struct fixture f;
   fixture_open(&f, "virtual");
   for (unsigned i = 0; i < AGX_COUNT(cases); i++) {
      struct agx_specialization specializations[AGX_COUNT(cases[0].values)];
      for (unsigned k = 0; k < AGX_COUNT(specializations); k++)
         specializations[k] =
            (struct agx_specialization){.id = k, .bytes = 4, .value = cases[i].values[k]};
      agx_release(
         compile(&f, cases[i].kernel, specializations, AGX_COUNT(specializations), AGX_ROBUST_OFF));
   }
   fixture_close(&f);
}

/* ---- elements and types ------------------------------------------------- */

#define SIZE    16u
#define RESULTS 15u

struct addresses {
   uint64_t x, y, d;
   int32_t factor;
};

static void expect(int8_t a, int8_t b, int8_t transposed_a, int8_t factor, uint32_t out[RESULTS])
{
   uint32_t results[] = {
      (uint32_t)a,
      (uint8_t)a,
      (uint32_t)(int8_t)(a + b),
      (uint32_t)(int8_t)(a - b),
      (uint32_t)(int8_t)(a * factor),
      (uint32_t)(int8_t)-a,
      (uint32_t)(a / b),
      (uint32_t)a / (uint32_t)b,
      (uint32_t)(int32_t)((float)a * 0.5f),
      (uint32_t)(int32_t)((float)a * -0.75f),
      (uint32_t)(int16_t)((int16_t)(a * 300) + b),
      (uint16_t)(a * 300),
      0,
      (uint32_t)(int16_t)(transposed_a * factor),
      (uint32_t)(int8_t)((factor > 0 ? a : -3) + 100),
   };
   memcpy(out, results, sizeof(results));
}

static void run_elements(struct fixture *f, struct agx_executable *executable, int8_t factor,
                         struct agx_test_rng *rng)
{
   struct agx_buffer *buffers[4];
   uint32_t *memory[4], want[RESULTS];
   uint64_t addresses[4];
   for (unsigned i = 0; i < 4; i++) {
      struct agx_buffer_info info = {.size = sizeof(info)};
      buffers[i] =
         fixture_buffer(f, i == 2 ? RESULTS * SIZE * SIZE * 4 : SIZE * SIZE * 4, &memory[i]);
      agx_buffer_get_info(buffers[i], &info);
      addresses[i] = info.address;
   }
   const struct addresses push = {addresses[0], addresses[1], addresses[2], factor};
   int8_t *x = (int8_t *)memory[0], *y = (int8_t *)memory[1];
   for (unsigned i = 0; i < SIZE * SIZE; i++) {
      x[i] = (int8_t)random_byte(rng, 0, 0);
      y[i] = (int8_t)random_byte(rng, i & 1, 0);
      y[i] = y[i] ? y[i] : 3; /* a divisor */
   }
   run(f, executable, &buffers[3], 1, &push, sizeof(push));
   for (unsigned i = 0; i < SIZE * SIZE; i++) {
      expect(x[i], y[i], x[i % SIZE * SIZE + i / SIZE], factor, want);
      for (unsigned k = 0; k < RESULTS; k++)
         if (memory[2][k * SIZE * SIZE + i] != want[k])
            fail_msg("%d and %d, factor %d: result %u is %d, not %d", x[i], y[i], factor, k,
                     (int)memory[2][k * SIZE * SIZE + i], (int)want[k]);
   }
   for (unsigned i = 0; i < 4; i++)
      agx_release(buffers[i]);
}

static void elements_and_types(void **state)
{
   static const char *const modes[] = {"validate", "noopt,validate"};
   struct agx_test_rng rng = {0xe1};
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   for (unsigned mode = 0; mode < AGX_COUNT(modes); mode++) {
      struct fixture f;
      setenv("AGX_DEBUG", modes[mode], 1);
      fixture_open(&f, "virtual");
      struct agx_executable *executable = compile(&f, "matrix_integers", NULL, 0, AGX_ROBUST_OFF);
      for (int factor = -128; factor < 128; factor += 51)
         run_elements(&f, executable, (int8_t)factor, &rng);
      agx_release(executable);
      fixture_close(&f);
   }
   unsetenv("AGX_VIRTUAL_CHECK");
   unsetenv("AGX_DEBUG");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_of_models_multiply),    cmocka_unit_test(products_of_all_shapes),
      cmocka_unit_test(largest_sums_are_exact),      cmocka_unit_test(products_as_recorded),
      cmocka_unit_test(large_shapes_find_registers), cmocka_unit_test(elements_and_types),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
