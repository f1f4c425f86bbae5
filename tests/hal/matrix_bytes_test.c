/* SPDX-License-Identifier: MIT
 *
 * Cooperative matrices of integers through all layers: products of bytes of any shape, layout,
 * signedness and with saturating sums against plain loops (tests/kernels/matrix_bytes.comp),
 * what is done to their elements and types (matrix_integers.comp), and how fast a product of 256
 * runs.
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
} kinds[] = {
   {"matrix_int8_t_int8_t_int", true, true, true},
   {"matrix_uint8_t_uint8_t_uint", false, false, false},
   {"matrix_int8_t_uint8_t_int", true, false, true},
   {"matrix_uint8_t_int8_t_int", false, true, true},
   {"matrix_uint8_t_uint8_t_int", false, false, true},
};

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

static int64_t byte_of(const struct product *p, unsigned which, unsigned row, unsigned column)
{
   uint8_t byte = ((const uint8_t *)p->memory[which])[at(p, which, row, column)];
   return (which ? p->kind->b_signed : p->kind->a_signed) ? (int8_t)byte : byte;
}

static int64_t extended(const struct product *p, uint64_t sum)
{
   return p->kind->is_signed ? (int32_t)(uint32_t)sum : (int64_t)(uint32_t)sum;
}

static int64_t limited(const struct product *p, int64_t sum)
{
   int64_t least = p->kind->is_signed ? INT32_MIN : 0;
   int64_t most = p->kind->is_signed ? INT32_MAX : UINT32_MAX;
   return AGX_MAX(least, AGX_MIN(sum, most));
}

static uint32_t expected(const struct product *p, const struct parameters *parameters, unsigned row,
                         unsigned column)
{
   int64_t product = 0, sum = extended(p, p->memory[2][at(p, 2, row, column)]);
   for (unsigned i = 0; i < p->k; i++)
      product += byte_of(p, 0, row, i) * byte_of(p, 1, i, column);
   for (unsigned i = 0; i < (p->loops || p->saturates ? p->turns : 1); i++)
      sum = p->saturates ? limited(p, sum + product) : extended(p, (uint64_t)(sum + product));
   return (uint32_t)(-sum * parameters->scale + parameters->bias);
}

static void check(const struct product *p, const struct parameters *parameters)
{
   uint32_t *d = p->memory[3], untouched, count;
   memset(&untouched, UNTOUCHED, sizeof(untouched));
   for (unsigned row = 0; row < p->m; row++)
      for (unsigned column = 0; column < p->n; column++) {
         uint32_t *got = &d[at(p, 3, row, column)];
         uint32_t want = expected(p, parameters, row, column);
         if (*got != want)
            fail_msg("%s, %ux%ux%u, rows 0x%x, packed %u, line %u, turns %u, saturates %u, inputs "
                     "%u: (%u, %u) is 0x%x, not 0x%x",
                     p->kind->kernel, p->m, p->n, p->k, p->rows, p->packed, p->line, p->turns,
                     p->saturates, p->inputs, row, column, *got, want);
         *got = untouched;
      }
   for (unsigned i = 0; i < MAX_ITEMS; i++)
      if (d[i] != untouched)
         fail_msg("%s, %ux%ux%u: word %u was written", p->kind->kernel, p->m, p->n, p->k, i);
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
   for (unsigned i = 0; i < MAX_ITEMS; i++) {
      ((uint8_t *)p->memory[0])[i] = random_byte(rng, p->inputs, 0);
      ((uint8_t *)p->memory[1])[i] = random_byte(rng, p->inputs, 1);
      p->memory[2][i] = random_start(rng);
   }
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
      recorded.sizes_B[i] = i < 4 ? MAX_ITEMS * (i < 2 ? 1 : 4) : 64;
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
      for (unsigned i = 0; i < (mode ? 25 : 100); i++) {
         struct product p = random_product(&rng, i);
         run_product(&f, &p, &rng, NULL);
      }
      fixture_close(&f);
   }
   unsetenv("AGX_VIRTUAL_CHECK");
   unsetenv("AGX_DEBUG");
}

/* 64 products of 255 by 255, and of -128 by either end: as far from 0 as sums get. */
static void largest_sums_are_exact(void **state)
{
   struct agx_test_rng rng = {0x64};
   struct fixture f;
   fixture_open(&f, "virtual");
   for (unsigned i = 0; i < 4 * AGX_COUNT(kinds); i++) {
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
      cmocka_unit_test(products_of_all_shapes),
      cmocka_unit_test(largest_sums_are_exact),
      cmocka_unit_test(products_as_recorded),
      cmocka_unit_test(elements_and_types),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
