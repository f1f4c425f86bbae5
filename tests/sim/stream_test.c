/* SPDX-License-Identifier: MIT
 *
 * Streams through agxs_run_compute: the worked example, grids, preambles, and
 * streams that are wrong.
 */
#include "sim_support.h"

#include <string.h>

/* Source: reference/cmdstream cdm.md, worked example (ran on M1). */
static const uint8_t example_usc[] = {
   0x1d, 0x00, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x20, 0x4d, 0x90, 0x00, 0x00,
   0x0d, 0x0c, 0x00, 0x40, 0x00, 0x00, 0x8d, 0x01, 0x00, 0x00, 0x88, 0x00,
};
static const uint8_t example_code[] = {
   0x72, 0x01, 0x10, 0x04, 0x05, 0x09, 0x08, 0x0e, 0x00, 0xc0, 0x12, 0x00, 0x05, 0x11,
   0x04, 0x4e, 0x00, 0xc0, 0x12, 0x00, 0x38, 0x00, 0x38, 0x01, 0x2a, 0x85, 0xc2, 0x42,
   0x2c, 0x00, 0x45, 0x09, 0x00, 0x0e, 0x00, 0xc0, 0x12, 0x00, 0x88, 0x00,
};
static const uint32_t example_stream[] = {
   0x00000002, 0x00008000, 4, 1, 1, 4, 1, 1, 0x600fffff, 0x40000000, 0,
};

static void put_words(uint8_t *to, const uint32_t *words, size_t count)
{
   for (size_t i = 0; i < count; i++)
      agxs_put_le32(to + 4 * i, words[i]);
}

static void put_address(uint8_t *to, uint64_t va)
{
   agxs_put_le32(to, (uint32_t)va);
   agxs_put_le32(to + 4, (uint32_t)(va >> 32));
}

static void runs_the_worked_example(void **state)
{
   static const struct agx_chip chip = {.name = "g13g"};
   struct sim_memory memory;
   sim_memory_init(&memory);
   memcpy(sim_map(&memory, 0x1100004000, 0x4000, false), example_code, sizeof(example_code));
   memcpy(sim_map(&memory, 0x1100008000, 0x4000, false), example_usc, sizeof(example_usc));
   uint8_t *uniforms = sim_map(&memory, 0x2000000000, 0x4000, false);
   put_words(sim_map(&memory, 0x2000004000, 0x4000, false), example_stream, 11);
   uint8_t *a = sim_map(&memory, 0x2000008000, 0x4000, false);
   uint8_t *b = sim_map(&memory, 0x200000c000, 0x4000, false);
   uint8_t *out = sim_map(&memory, 0x2000010000, 0x4000, true);
   put_address(uniforms, 0x2000010000);
   put_address(uniforms + 8, 0x200000c000);
   put_address(uniforms + 16, 0x2000008000);
   for (unsigned i = 0; i < 4; i++) {
      float x = (float)(i + 1), y = (float)(10 * (i + 1));
      uint32_t bits[2];
      memcpy(&bits[0], &x, 4);
      memcpy(&bits[1], &y, 4);
      agxs_put_le32(a + 4 * i, bits[0]);
      agxs_put_le32(b + 4 * i, bits[1]);
   }
   struct agxs_options options = {.strict = true, .check = true};
   struct agxs_stats stats;
   assert_ok(
      agxs_run_compute(&chip, &memory.interface, &options, 0x1100000000, 0x2000004000, &stats));
   const uint32_t expected[5] = {0x41300000, 0x41b00000, 0x42040000, 0x42300000, 0};
   for (unsigned i = 0; i < 5; i++)
      assert_int_equal(agxs_get_le32(out + 4 * i), expected[i]); /* 11, 22, 33, 44, untouched */
   assert_int_equal(stats.dispatches, 1);
   assert_int_equal(stats.workgroups, 1);
   assert_int_equal(stats.simd_groups, 1);
   assert_int_equal(stats.threads, 4);
   assert_int_equal(stats.instructions, 8);
   sim_memory_fini(&memory);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_the_worked_example),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
