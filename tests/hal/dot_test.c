/* SPDX-License-Identifier: MIT
 *
 * Dot products of integers and of halves through all layers against plain C
 * (tests/kernels/dot.spvasm, dot_floats.spvasm).
 */
#include "fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"

#define THREADS 512u
#define RESULTS 10u

static int32_t byte_of(uint32_t word, unsigned i, bool is_signed)
{
   uint8_t byte = (uint8_t)(word >> 8 * i);
   return is_signed ? (int8_t)byte : byte;
}

static int64_t dot(uint32_t x, uint32_t y, bool x_signed, bool y_signed)
{
   int64_t sum = 0;
   for (unsigned i = 0; i < 4; i++)
      sum += (int64_t)byte_of(x, i, x_signed) * byte_of(y, i, y_signed);
   return sum;
}

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
   return x < low ? low : x > high ? high : x;
}

static void expect(const uint32_t in[3], uint32_t out[RESULTS])
{
   uint32_t x = in[0], y = in[1], z = in[2];
   out[0] = (uint32_t)dot(x, y, true, true);
   out[1] = (uint32_t)dot(x, y, false, false);
   out[2] = (uint32_t)dot(x, y, true, false);
   out[3] = (uint32_t)clamp(dot(x, y, true, true) + (int32_t)z, INT32_MIN, INT32_MAX);
   out[4] = (uint32_t)clamp(dot(x, y, false, false) + z, 0, UINT32_MAX);
   out[5] = (uint32_t)clamp(dot(x, y, true, false) + (int32_t)z, INT32_MIN, INT32_MAX);
   out[6] = (uint32_t)dot(x, 0x80ff017f, true, true);
   out[7] = out[1];
   out[8] = (uint32_t)clamp(dot(x, y, true, true) + (int8_t)z, INT8_MIN, INT8_MAX);
   out[9] =
      (uint32_t)((int16_t)x * (int16_t)y) + (uint32_t)((int16_t)(x >> 16) * (int16_t)(y >> 16));
}

static uint32_t random_word(struct agx_test_rng *rng, bool is_start)
{
   static const uint32_t starts[] = {0, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fff0000, 0x8000ffff};
   uint64_t kind = agx_test_random_below(rng, 4);
   if (is_start && kind)
      return starts[agx_test_random_below(rng, 6)] + (uint32_t)agx_test_random_below(rng, 9);
   uint32_t word = (uint32_t)agx_test_random(rng);
   return kind == 1 ? word & 0x80808080 : kind == 2 ? word | 0x7f7f7f7f : word;
}

/* Runs THREADS threads over `in`, which has 3 words for each. */
static void run(const char *kernel, const uint32_t *in, uint32_t *out, uint32_t results)
{
   struct fixture f;
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   struct agx_executable *executable;
   struct agx_buffer *buffers[2];
   uint32_t *memory[2];
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   setenv("AGX_DEBUG", "validate", 1);
   fixture_open(&f, "virtual");
   char *path = agx_test_path(kernel), *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(f.device, &desc, &executable));
   buffers[0] = fixture_buffer(&f, THREADS * 12, &memory[0]);
   buffers[1] = fixture_buffer(&f, THREADS * 4 * results, &memory[1]);
   memcpy(memory[0], in, THREADS * 12);
   struct agx_command_buffer *commands = fixture_begin(&f);
   struct agx_semaphore *done = fixture_semaphore(&f);
   fixture_dispatch(commands, executable, THREADS / 64, buffers, 2, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   memcpy(out, memory[1], THREADS * 4 * results);
   agx_release(commands);
   agx_release(done);
   agx_release(buffers[0]);
   agx_release(buffers[1]);
   agx_release(executable);
   fixture_close(&f);
   free(spirv);
   free(path);
}

static void dot_products_match(void **state)
{
   static uint32_t in[3 * THREADS], out[RESULTS * THREADS];
   struct agx_test_rng rng = {0xd07};
   for (unsigned i = 0; i < 3 * THREADS; i++)
      in[i] = random_word(&rng, i % 3 == 2);
   run("kernels/dot.spv", in, out, RESULTS);
   for (unsigned i = 0; i < THREADS; i++) {
      uint32_t want[RESULTS];
      expect(&in[3 * i], want);
      for (unsigned j = 0; j < RESULTS; j++)
         if (out[RESULTS * i + j] != want[j])
            fail_msg("0x%08x, 0x%08x, 0x%08x: result %u is 0x%08x, not 0x%08x", in[3 * i],
                     in[3 * i + 1], in[3 * i + 2], j, out[RESULTS * i + j], want[j]);
   }
}

/* ---- halves ------------------------------------------------------------- */

static float dot_of_halves(uint32_t x, uint32_t y, float sum)
{
   for (unsigned i = 0; i < 32; i += 16)
      sum = fmaf(agx_half_to_float((uint16_t)(x >> i)), agx_half_to_float((uint16_t)(y >> i)), sum);
   return sum;
}

static float float_of(uint32_t bits)
{
   float f;
   memcpy(&f, &bits, sizeof(f));
   return f;
}

/* Small starts make sums that cancel; words are any halves, with NaNs and infinities. */
static void dot_products_of_halves_match(void **state)
{
   static uint32_t in[3 * THREADS], out[2 * THREADS];
   struct agx_test_rng rng = {0xd0f};
   for (unsigned i = 0; i < 3 * THREADS; i++) {
      in[i] = (uint32_t)agx_test_random(&rng);
      if (i % 3 == 2 && agx_test_random_below(&rng, 2)) /* exponents near those of products */
         in[i] = (in[i] & 0x8fffffff) | 0x30000000;
   }
   run("kernels/dot_floats.spv", in, out, 2);
   unsigned numbers = 0;
   for (unsigned i = 0; i < THREADS; i++) {
      uint32_t x = in[3 * i], y = in[3 * i + 1], z = in[3 * i + 2];
      float wide = dot_of_halves(x, y, float_of(z)), got = float_of(out[2 * i]);
      float sum = dot_of_halves(x, y, agx_half_to_float((uint16_t)z));
      uint16_t narrow = agx_half_from_float(sum), half = (uint16_t)out[2 * i + 1];
      if (isnan(wide) ? !isnan(got) : got != wide && fabsf(wide) >= 0x1p-126f)
         fail_msg("0x%08x, 0x%08x, 0x%08x: %a, not %a", x, y, z, (double)got, (double)wide);
      if (isnan(sum) ? !isnan(agx_half_to_float(half)) : half != narrow)
         fail_msg("0x%08x, 0x%08x, 0x%08x: half 0x%04x, not 0x%04x", x, y, z, half, narrow);
      numbers += isfinite(wide) && isfinite(sum);
   }
   assert_true(numbers > THREADS / 2);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(dot_products_match),
      cmocka_unit_test(dot_products_of_halves_match),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
