/* SPDX-License-Identifier: MIT
 *
 * Cooperative matrices through all layers: shapes, layouts, strides and types at random
 * against plain loops (tests/kernels/matrix.comp), and a matrix product of 256 (matmul.comp)
 * that must stay near the rate of the matrix instruction.
 */
#include "fixture.h"
#include "recorded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "base/util.h"

#define MAX_LINE  72u
#define MAX_ITEMS (64u * MAX_LINE)
#define UNTOUCHED 0x7b /* every byte */

/* ---- halves, singles, and bytes for large products ---------------------- */

static float half_to_single(uint16_t raw)
{
   int exponent = raw >> 10 & 31;
   float value = exponent ? ldexpf((float)(1024 + (raw & 1023)), exponent - 25)
                          : ldexpf((float)(raw & 1023), -24);
   return raw & 0x8000 ? -value : value;
}

/* Of multiples of 2^-10 up to 2^11, which halves hold exactly. */
static uint16_t single_to_half(float value)
{
   if (value == 0)
      return 0;
   int exponent;
   float fraction = frexpf(fabsf(value), &exponent);
   return (uint16_t)((value < 0 ? 0x8000 : 0) | (exponent + 14) << 10 |
                     ((int)ldexpf(fraction, 11) & 1023));
}

static float get(const void *data, unsigned bits, unsigned i)
{
   uint16_t half;
   float single;
   if (bits == 8)
      return ((const int8_t *)data)[i];
   if (bits == 16) {
      memcpy(&half, (const uint8_t *)data + 2 * i, 2);
      return half_to_single(half);
   }
   memcpy(&single, (const uint8_t *)data + 4 * i, 4);
   return single;
}

static void put(void *data, unsigned bits, unsigned i, float value)
{
   uint16_t half = single_to_half(value);
   if (bits == 8)
      ((int8_t *)data)[i] = (int8_t)(value * 128);
   else if (bits == 16)
      memcpy((uint8_t *)data + 2 * i, &half, 2);
   else
      memcpy((uint8_t *)data + 4 * i, &value, 4);
}

/* ---- one product of any shape ------------------------------------------ */

static const struct kind {
   const char *kernel;
   unsigned bits, sum_bits;
} kinds[] = {
   {"matrix_float_float", 32, 32},
   {"matrix_float16_t_float", 16, 32},
   {"matrix_float16_t_float16_t", 16, 16},
};

struct product {
   const struct kind *kind;
   unsigned m, n, k, rows, shared, line, turns;
   bool fixed_line, loops;
   uint32_t *memory[5];
};

struct parameters {
   uint32_t stride, turns, count;
   float scale;
};

/* Where element (row, column) lies in matrix number `which`. */
static unsigned at(const struct product *p, unsigned which, unsigned row, unsigned column)
{
   return p->rows >> which & 1 ? row * p->line + column : column * p->line + row;
}

static float expected(const struct product *p, unsigned row, unsigned column)
{
   float sum = 0;
   for (unsigned i = 0; i < p->k; i++)
      sum += get(p->memory[0], p->kind->bits, at(p, 0, row, i)) *
             get(p->memory[1], p->kind->bits, at(p, 1, i, column));
   float value = get(p->memory[2], p->kind->sum_bits, at(p, 2, row, column)) +
                 sum * (float)(p->loops ? p->turns : 1);
   value = -value * 0.5f + 1 + 2;
   return p->turns > 1 ? value * value : value;
}

static void check(const struct product *p)
{
   unsigned bytes = p->kind->sum_bits / 8;
   uint8_t *d = (uint8_t *)p->memory[3];
   struct parameters parameters;
   for (unsigned row = 0; row < p->m; row++)
      for (unsigned column = 0; column < p->n; column++) {
         unsigned i = at(p, 3, row, column);
         float got = get(d, p->kind->sum_bits, i), want = expected(p, row, column);
         float slack = p->kind->sum_bits == 16 ? fabsf(want) / 1024 : 0;
         if (!(fabsf(got - want) <= slack))
            fail_msg("%s, %ux%ux%u, rows 0x%x, shared %u, line %u, turns %u: (%u, %u) is %g, not "
                     "%g",
                     p->kind->kernel, p->m, p->n, p->k, p->rows, p->shared, p->line, p->turns, row,
                     column, (double)got, (double)want);
         memset(d + i * bytes, UNTOUCHED, bytes);
      }
   for (unsigned i = 0; i < MAX_ITEMS * bytes; i++)
      if (d[i] != UNTOUCHED)
         fail_msg("%s, %ux%ux%u: byte %u was written", p->kind->kernel, p->m, p->n, p->k, i);
   memcpy(&parameters, p->memory[4], sizeof(parameters));
   assert_int_equal(parameters.count, p->m * p->n / 32);
}

static void fill(const struct product *p, struct agx_test_rng *rng)
{
   struct parameters parameters = {.stride = p->line, .turns = p->turns, .scale = 0.5f};
   for (unsigned which = 0; which < 3; which++)
      for (unsigned i = 0; i < MAX_ITEMS; i++)
         put(p->memory[which], which == 2 ? p->kind->sum_bits : p->kind->bits, i,
             (float)agx_test_random_below(rng, 3) - 1);
   memset(p->memory[3], UNTOUCHED, MAX_ITEMS * 4);
   memcpy(p->memory[4], &parameters, sizeof(parameters));
}

static struct agx_executable *compile(struct fixture *f, const char *kernel,
                                      const struct agx_specialization *specializations,
                                      uint32_t count)
{
   char name[64];
   struct agx_executable_desc desc = {
      .size = sizeof(desc), .specializations = specializations, .specialization_count = count};
   struct agx_executable *executable;
   snprintf(name, sizeof(name), "kernels/%s.spv", kernel);
   char *path = agx_test_path(name), *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(f->device, &desc, &executable));
   free(spirv);
   free(path);
   return executable;
}

static void dispatch(struct fixture *f, struct agx_executable *executable, uint32_t x, uint32_t y,
                     struct agx_buffer **buffers, uint32_t count)
{
   struct agx_binding bindings[5];
   for (uint32_t i = 0; i < count; i++)
      bindings[i] = (struct agx_binding){.binding = i, .ref = {buffers[i], 0, AGX_WHOLE_LENGTH}};
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = executable,
                                   .workgroups = {x, y, 1},
                                   .bindings = bindings,
                                   .binding_count = count};
   struct agx_command_buffer *commands = fixture_begin(f);
   struct agx_semaphore *done = fixture_semaphore(f);
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   agx_release(commands);
   agx_release(done);
}

/* name: of a recording, or NULL. */
static void run_chosen(struct fixture *f, struct product *p, struct agx_test_rng *rng,
                       const char *name)
{
   struct agx_specialization specializations[] = {
      {.id = 0, .bytes = 4, .value = p->m},
      {.id = 1, .bytes = 4, .value = p->n},
      {.id = 2, .bytes = 4, .value = p->k},
      {.id = 3, .bytes = 4, .value = p->rows},
      {.id = 4, .bytes = 4, .value = p->shared},
      {.id = 5, .bytes = 4, .value = p->fixed_line ? p->line : 0},
      {.id = 6, .bytes = 4, .value = p->loops ? 2 : 1},
   };
   struct agx_executable *executable =
      compile(f, p->kind->kernel, specializations, AGX_COUNT(specializations));
   struct agx_buffer *buffers[5];
   struct recorded_dispatch recorded = {.name = name,
                                        .kernel = p->kind->kernel,
                                        .specializations = specializations,
                                        .specialization_count = AGX_COUNT(specializations),
                                        .buffer_count = 5,
                                        .output = 3};
   for (unsigned i = 0; i < 5; i++) {
      recorded.sizes_B[i] = i < 4 ? MAX_ITEMS * 4 : 64;
      buffers[i] = fixture_buffer(f, recorded.sizes_B[i], &p->memory[i]);
      recorded.buffers[i] = p->memory[i];
   }
   fill(p, rng);
   if (name)
      recorded_write(&recorded);
   dispatch(f, executable, 1, 1, buffers, 5);
   if (name)
      recorded_check(&recorded, "matrix", p->memory[3]);
   check(p);
   for (unsigned i = 0; i < 5; i++)
      agx_release(buffers[i]);
   agx_release(executable);
}

static void run_product(struct fixture *f, const struct kind *kind, struct agx_test_rng *rng)
{
   struct product p = {.kind = kind,
                       .m = 8 * (1 + (unsigned)agx_test_random_below(rng, 4)),
                       .n = 8 * (1 + (unsigned)agx_test_random_below(rng, 4)),
                       .k = 8 * (1 + (unsigned)agx_test_random_below(rng, 6)),
                       .rows = (unsigned)agx_test_random_below(rng, 16),
                       .shared = (unsigned)agx_test_random_below(rng, 2),
                       .turns = 1 + (unsigned)agx_test_random_below(rng, 3),
                       .fixed_line = agx_test_random_below(rng, 2),
                       .loops = agx_test_random_below(rng, 2)};
   p.line = AGX_MAX(p.m, AGX_MAX(p.n, p.k)) + (unsigned)agx_test_random_below(rng, 9);
   run_chosen(f, &p, rng, NULL);
}

/* What another GPU has, too: halves, and sizes that its matrix instruction has. */
static void products_as_recorded(void **state)
{
   static const unsigned sizes[][3] = {{16, 16, 16}, {16, 8, 16}, {16, 8, 8}};
   struct agx_test_rng rng = {0x0dd};
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   struct fixture f;
   fixture_open(&f, "virtual");
   for (unsigned i = 0; i < 2 * 16 * 2 * 2 * AGX_COUNT(sizes); i++) {
      const unsigned *size = sizes[i / 128];
      struct product p = {.kind = &kinds[1 + (i >> 6 & 1)],
                          .m = size[0],
                          .n = size[1],
                          .k = size[2],
                          .rows = i & 15,
                          .shared = i >> 4 & 1,
                          .loops = i >> 5 & 1,
                          .turns = 1 + (i >> 5 & 1),
                          .line = 16 + 8 * (i & 1)};
      char name[96];
      snprintf(name, sizeof(name), "%s.%ux%ux%u.%u.%u.%u", p.kind->kernel, p.m, p.n, p.k, p.rows,
               p.shared, p.loops);
      run_chosen(&f, &p, &rng, name);
   }
   fixture_close(&f);
   unsetenv("AGX_VIRTUAL_CHECK");
}

static void products_of_all_shapes(void **state)
{
   const char *seed = getenv("AGX_TEST_SEED");
   struct agx_test_rng rng = {seed ? strtoull(seed, NULL, 0) | 1 : 0x3a7};
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   setenv("AGX_DEBUG", "validate", 1);
   struct fixture f;
   fixture_open(&f, "virtual");
   for (unsigned i = 0; i < 120; i++)
      run_product(&f, &kinds[i % AGX_COUNT(kinds)], &rng);
   fixture_close(&f);
   unsetenv("AGX_VIRTUAL_CHECK");
   unsetenv("AGX_DEBUG");
}

/* ---- control flow ------------------------------------------------------ */

#define FLOW 16u /* rows and columns */

/* push: turns, turn to leave out, subgroups that stay, turn to end with. */
static float expected_flow(const float *a, const float *b, const uint32_t *push, unsigned w,
                           unsigned row, unsigned column)
{
   float sum = 0;
   for (uint32_t i = 0; w < push[2] && i < push[0]; i++) {
      if (i == push[1])
         continue;
      bool ends = i + 1 == push[3];
      for (unsigned k = 0; k < FLOW; k++)
         sum += a[(i * FLOW + row) * FLOW + k] * b[(i * FLOW + k) * FLOW + column] *
                (w & 1 && !ends ? 2 : 1);
      if (ends)
         break;
   }
   return sum;
}

static void run_flow(struct fixture *f, struct agx_executable *executable, const uint32_t *push)
{
   struct agx_buffer *buffers[3];
   uint32_t *memory[3];
   struct agx_test_rng rng = {5};
   for (unsigned i = 0; i < 3; i++)
      buffers[i] = fixture_buffer(f, 8 * FLOW * FLOW * 4, &memory[i]);
   float *a = (float *)memory[0], *b = (float *)memory[1];
   for (unsigned i = 0; i < 8 * FLOW * FLOW; i++) {
      a[i] = (float)agx_test_random_below(&rng, 5) - 2;
      b[i] = (float)agx_test_random_below(&rng, 5) - 2;
      memory[2][i] = 0;
   }
   struct agx_command_buffer *commands = fixture_begin(f);
   struct agx_semaphore *done = fixture_semaphore(f);
   fixture_dispatch(commands, executable, 4, buffers, 3, push, 16);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   for (unsigned i = 0; i < 8 * FLOW * FLOW; i++) {
      float got, want = expected_flow(a, b, push, i / FLOW / FLOW, i / FLOW % FLOW, i % FLOW);
      memcpy(&got, &memory[2][i], 4);
      if (got != want)
         fail_msg("push %u %u %u %u: element %u is %g, not %g", push[0], push[1], push[2], push[3],
                  i, (double)got, (double)want);
   }
   agx_release(commands);
   agx_release(done);
   for (unsigned i = 0; i < 3; i++)
      agx_release(buffers[i]);
}

static void products_wait_for_their_lanes(void **state)
{
   static const uint32_t pushes[][4] = {
      {6, 2, 5, 5}, {3, 9, 8, 9}, {0, 0, 8, 0}, {4, 0, 3, 1}, {8, 7, 8, 8}, {2, 0, 0, 2},
   };
   static const char *const modes[] = {"validate", "noopt,validate"};
   for (unsigned mode = 0; mode < AGX_COUNT(modes); mode++) {
      struct fixture f;
      setenv("AGX_DEBUG", modes[mode], 1);
      setenv("AGX_VIRTUAL_CHECK", "1", 1);
      fixture_open(&f, "virtual");
      struct agx_executable *executable = compile(&f, "matrix_flow", NULL, 0);
      for (unsigned i = 0; i < AGX_COUNT(pushes); i++)
         run_flow(&f, executable, pushes[i]);
      agx_release(executable);
      fixture_close(&f);
   }
   unsetenv("AGX_VIRTUAL_CHECK");
   unsetenv("AGX_DEBUG");
}

/* ---- addresses --------------------------------------------------------- */

static void matrices_at_addresses(void **state)
{
   struct fixture f;
   struct agx_test_rng rng = {11};
   struct agx_buffer *buffers[3];
   uint32_t *memory[3];
   uint64_t push[3];
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   fixture_open(&f, "virtual");
   struct agx_executable *executable = compile(&f, "matrix_address", NULL, 0);
   for (unsigned i = 0; i < 3; i++) {
      struct agx_buffer_info info = {.size = sizeof(info)};
      buffers[i] = fixture_buffer(&f, FLOW * FLOW * 4, &memory[i]);
      agx_buffer_get_info(buffers[i], &info);
      push[i] = info.address;
      for (unsigned j = 0; j < FLOW * FLOW; j++)
         put(memory[i], 32, j, (float)agx_test_random_below(&rng, 9) - 4);
   }
   struct agx_command_buffer *commands = fixture_begin(&f);
   struct agx_semaphore *done = fixture_semaphore(&f);
   fixture_dispatch(commands, executable, 1, NULL, 0, push, sizeof(push));
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   for (unsigned row = 0; row < FLOW; row++)
      for (unsigned column = 0; column < FLOW; column++) {
         float want = 1;
         for (unsigned k = 0; k < FLOW; k++)
            want += get(memory[0], 32, row * FLOW + k) * get(memory[1], 32, column * FLOW + k);
         assert_true(get(memory[2], 32, row * FLOW + column) == want);
      }
   agx_release(commands);
   agx_release(done);
   for (unsigned i = 0; i < 3; i++)
      agx_release(buffers[i]);
   agx_release(executable);
   fixture_close(&f);
   unsetenv("AGX_VIRTUAL_CHECK");
}

/* ---- 256 x 256 x 256 --------------------------------------------------- */

#define SIZE 256u
/* 1.25 times 18 cycles for each 512 of 256^3 products, on 8 cores of 4 schedulers. */
#define MOST_CYCLES 23040.0

/* The number behind "main" of the dispatch's own grid. */
static double cycles_in(const char *path)
{
   size_t size;
   char *text = agx_test_read_file(path, &size), *own = strstr(text, "\"own\": {");
   assert_non_null(own);
   char *at_main = strstr(own, "\"main\": ");
   assert_non_null(at_main);
   double cycles = strtod(at_main + strlen("\"main\": "), NULL);
   free(text);
   return cycles;
}

static void check_large(const void *a, const void *b, const uint32_t *c, unsigned bits)
{
   for (unsigned row = 0; row < SIZE; row++)
      for (unsigned column = 0; column < SIZE; column++) {
         double sum = 0;
         for (unsigned i = 0; i < SIZE; i++)
            sum += (double)get(a, bits, row * SIZE + i) * (double)get(b, bits, i * SIZE + column);
         unsigned at = row * SIZE + column;
         double got = bits == 8 ? (int32_t)c[at] : (double)get(c, 32, at);
         if (!(fabs(got - sum) <= (bits == 8 ? 0 : 1e-4)))
            fail_msg("(%u, %u) is %g, not %g", row, column, got, sum);
      }
}

static void run_large(const char *kernel, unsigned bits)
{
   char path[] = "/tmp/agx-matrix-XXXXXX", value[64];
   int file = mkstemp(path);
   struct fixture f;
   struct agx_test_rng rng = {7};
   assert_true(file >= 0);
   snprintf(value, sizeof(value), "json:%s", path);
   setenv("AGX_VIRTUAL_STATS", value, 1);
   fixture_open(&f, "virtual:g13g");
   struct agx_executable *executable = compile(&f, kernel, NULL, 0);
   struct agx_buffer *buffers[3];
   uint32_t *memory[3];
   for (unsigned i = 0; i < 3; i++)
      buffers[i] = fixture_buffer(&f, SIZE * SIZE * 4, &memory[i]);
   for (unsigned i = 0; i < SIZE * SIZE; i++) {
      put(memory[0], bits, i, ((float)agx_test_random_below(&rng, 2048) - 1024) / 1024);
      put(memory[1], bits, i, ((float)agx_test_random_below(&rng, 2048) - 1024) / 1024);
   }
   dispatch(&f, executable, SIZE / 64, SIZE / 64, buffers, 3);
   check_large(memory[0], memory[1], memory[2], bits);
   for (unsigned i = 0; i < 3; i++)
      agx_release(buffers[i]);
   agx_release(executable);
   fixture_close(&f);
   unsetenv("AGX_VIRTUAL_STATS");
   double cycles = cycles_in(path);
   print_message("%s: %.0f modelled cycles, at most %.0f\n", kernel, cycles, MOST_CYCLES);
   assert_true(cycles > 0 && cycles <= MOST_CYCLES);
   close(file);
   unlink(path);
}

static void a_large_product_runs_at_the_rate_of_the_instruction(void **state)
{
   run_large("matmul_float", 32);
   run_large("matmul_float16_t", 16);
   run_large("matmul_int8_t", 8);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_of_all_shapes),
      cmocka_unit_test(products_as_recorded),
      cmocka_unit_test(products_wait_for_their_lanes),
      cmocka_unit_test(matrices_at_addresses),
      cmocka_unit_test(a_large_product_runs_at_the_rate_of_the_instruction),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
