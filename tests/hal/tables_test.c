/* SPDX-License-Identifier: MIT
 *
 * Constant tables that a kernel looks things up in, through all layers against plain C
 * (tests/kernels/tables.comp): as the compiler gives them, from a file, with checks of accesses,
 * and where the device watches what the dispatch may access.
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#define THREADS 512u
#define RESULTS 8u

static uint32_t quad(uint32_t i, uint32_t element)
{
   const uint32_t elements[] = {i, 3 * i + 1, i * i, 1000 - i};
   return elements[element];
}

static uint32_t in_loop(uint32_t v)
{
   uint32_t sum = 0;
   for (uint32_t k = 0; k < (v & 7); k++)
      sum += 81 * k * k + quad(k, k & 3);
   return sum;
}

static void expect(uint32_t v, uint32_t out[RESULTS])
{
   const uint32_t rest = v % 64, top = v >> 26, low = v >> 3 & 63, word = v >> 5 & 31;
   const uint32_t pair = (v >> 7) % 24, place = v >> 1 & 63;
   out[0] = rest * rest;
   out[1] = (v & 256 ? top * top : 0) + low * low + 1;
   out[2] = quad(word, 0) + 3 * quad(word, 1) + 5 * quad(word, 2) + 7 * quad(word, 3);
   out[3] = v % 96 * 5 + 25;
   out[4] = (pair + 2) ^ (7 * pair) ^ (9 * pair + 4) << 8;
   out[5] = in_loop(v);
   out[6] = v & 1 && (v >> 8 & 63) == place ? 7 : place * place;
   out[7] = quad(v & 15, v >> 4 & 3);
}

static void run(struct fixture *f, struct agx_executable *executable)
{
   struct agx_test_rng rng = {0x7ab1e};
   struct agx_buffer *buffers[2];
   uint32_t *memory[2];
   buffers[0] = fixture_buffer(f, THREADS * 4, &memory[0]);
   buffers[1] = fixture_buffer(f, THREADS * 4 * RESULTS, &memory[1]);
   for (unsigned i = 0; i < THREADS; i++)
      memory[0][i] = (uint32_t)agx_test_random(&rng);
   struct agx_command_buffer *commands = fixture_begin(f);
   struct agx_semaphore *done = fixture_semaphore(f);
   fixture_dispatch(commands, executable, THREADS / 64, buffers, 2, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   for (unsigned i = 0; i < THREADS; i++) {
      uint32_t want[RESULTS];
      expect(memory[0][i], want);
      for (unsigned j = 0; j < RESULTS; j++)
         if (memory[1][RESULTS * i + j] != want[j])
            fail_msg("0x%08x: result %u is %u, not %u", memory[0][i], j, memory[1][RESULTS * i + j],
                     want[j]);
   }
   agx_release(commands);
   agx_release(done);
   agx_release(buffers[0]);
   agx_release(buffers[1]);
}

/* Compiled twice: the second time it comes out of the cache on disk. */
static void check(const char *debug, enum agx_robustness robustness)
{
   struct fixture f;
   struct agx_executable_desc desc = {.size = sizeof(desc), .robustness = robustness};
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   setenv("AGX_DEBUG", debug, 1);
   fixture_open(&f, "virtual");
   char *path = agx_test_path("kernels/tables.spv"),
        *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   for (unsigned i = 0; i < 2; i++) {
      struct agx_executable *executable;
      assert_ok(agx_executable_create(f.device, &desc, &executable));
      run(&f, executable);
      agx_release(executable);
   }
   fixture_close(&f);
   free(spirv);
   free(path);
}

static void tables_are_read(void **state)
{
   check("validate", AGX_ROBUST_OFF);
}

static void robust_kernels_read_tables(void **state)
{
   check("validate", AGX_ROBUST_ZERO);
}

static void unoptimised_kernels_read_tables(void **state)
{
   check("validate,noopt", AGX_ROBUST_OFF);
}

static void tables_are_in_bounds(void **state)
{
   check("validate,bounds", AGX_ROBUST_OFF);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_are_read),
      cmocka_unit_test(robust_kernels_read_tables),
      cmocka_unit_test(unoptimised_kernels_read_tables),
      cmocka_unit_test(tables_are_in_bounds),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
