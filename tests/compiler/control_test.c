/* SPDX-License-Identifier: MIT
 *
 * Random structured programs, twice: compiled from SSA machine code and run on 32 lanes
 * of the simulator in check mode, and interpreted statement by statement for each lane.
 * Whatever the back end gets wrong - registers, copies, masks, jumps, waits, hints -
 * shows as a different number in memory.
 */
#include "toy.h"

#include <string.h>

#include "base/util.h"

#define DATA_WORDS (TABLE_WORDS + 32 * SLOT_B / 4)

static void check_program(const struct toy_program *program, uint64_t seed, unsigned threads,
                          unsigned most_halves)
{
   static uint32_t got[DATA_WORDS], want[DATA_WORDS];
   struct agx_test_rng rng = {seed * 77 + 5};
   memset(got, 0, sizeof(got));
   for (unsigned i = 0; i < TABLE_WORDS; i++)
      got[i] = agx_test_random_below(&rng, 3) ? (uint32_t)agx_test_random_below(&rng, 40)
                                              : (uint32_t)agx_test_random(&rng);
   memcpy(want, got, sizeof(want));
   for (unsigned l = 0; l < 32; l++) {
      struct lane lane = {
         .program = program, .table = want, .slot = want + TABLE_WORDS + l * SLOT_B / 4};
      for (unsigned v = 0; v < program->var_count; v++)
         lane.vars[v] = program->bits[v] == 64 ? l | (uint64_t)l << 32 : l + v;
      run_lane(&lane);
   }

   struct backend backend;
   backend_init(&backend);
   backend.shader->local_size[0] = threads;
   backend.options.most_halves = most_halves;
   generate_program(program, backend.shader);
   assert_ok(backend_compile(&backend));
   backend_run(&backend, (uint8_t *)got, sizeof(got));
   for (unsigned i = TABLE_WORDS; i < DATA_WORDS; i++)
      if (got[i] != want[i])
         fail_msg("seed %llu, lane %u, word %u: 0x%x, not 0x%x in\n%s", (unsigned long long)seed,
                  (i - TABLE_WORDS) / (SLOT_B / 4), (i - TABLE_WORDS) % (SLOT_B / 4), got[i],
                  want[i], backend.text);
   backend_fini(&backend);
}

static void check_seeds(uint64_t first, unsigned count, unsigned vars, unsigned threads,
                        unsigned most_halves)
{
   static struct toy_program program;
   for (uint64_t seed = first; seed < first + count; seed++) {
      make_program(&program, seed * 0x9e3779b97f4a7c15ull, vars);
      check_program(&program, seed, threads, most_halves);
   }
}

static void test_few_variables(void **state)
{
   check_seeds(1, 300, 6, 32, 0);
}

static void test_many_variables(void **state)
{
   check_seeds(1000, 100, 20, 32, 0);
}

/* Room for 104 halves only, and nearly all of them live. */
static void test_tight_registers(void **state)
{
   check_seeds(2000, 100, 36, 1024, 0);
}

/* Registers for a part of the variables only: the others go to memory and come back. */
static void test_spilling(void **state)
{
   check_seeds(3000, 150, 20, 32, 44);
   check_seeds(4000, 100, 40, 32, 64);
   check_seeds(5000, 50, 46, 1024, 0);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_few_variables),
      cmocka_unit_test(test_many_variables),
      cmocka_unit_test(test_tight_registers),
      cmocka_unit_test(test_spilling),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
