/* SPDX-License-Identifier: MIT
 *
 * Integer dot products through all layers against plain C (tests/kernels/dot.spvasm).
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

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

static void dot_products_match(void **state)
{
   struct fixture f;
   struct agx_test_rng rng = {0xd07};
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   struct agx_executable *executable;
   struct agx_buffer *buffers[2];
   uint32_t *memory[2];
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   setenv("AGX_DEBUG", "validate", 1);
   fixture_open(&f, "virtual");
   char *path = agx_test_path("kernels/dot.spv"), *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(f.device, &desc, &executable));
   buffers[0] = fixture_buffer(&f, THREADS * 12, &memory[0]);
   buffers[1] = fixture_buffer(&f, THREADS * 4 * RESULTS, &memory[1]);
   for (unsigned i = 0; i < 3 * THREADS; i++)
      memory[0][i] = random_word(&rng, i % 3 == 2);
   struct agx_command_buffer *commands = fixture_begin(&f);
   struct agx_semaphore *done = fixture_semaphore(&f);
   fixture_dispatch(commands, executable, THREADS / 64, buffers, 2, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   for (unsigned i = 0; i < THREADS; i++) {
      uint32_t want[RESULTS];
      expect(&memory[0][3 * i], want);
      for (unsigned j = 0; j < RESULTS; j++)
         if (memory[1][RESULTS * i + j] != want[j])
            fail_msg("0x%08x, 0x%08x, 0x%08x: result %u is 0x%08x, not 0x%08x", memory[0][3 * i],
                     memory[0][3 * i + 1], memory[0][3 * i + 2], j, memory[1][RESULTS * i + j],
                     want[j]);
   }
   agx_release(commands);
   agx_release(done);
   agx_release(buffers[0]);
   agx_release(buffers[1]);
   agx_release(executable);
   fixture_close(&f);
   free(spirv);
   free(path);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(dot_products_match),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
