/* SPDX-License-Identifier: MIT
 *
 * The memory that a helper program hands out: sizes of blocks, which cores have lists, and the
 * words of the lists. Source of the numbers: docs/hw/cmdstream.md 5.
 */
#include "agx/hw/scratch.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "support.h"

#define VA       0x1200000000ull
#define RECORD_B 88u
#define HEADER_B 11272u
#define LIST_B   2048u

static const uint64_t seven[] = {0x7f};
static const struct agx_hw_cores m1_of_seven = {1, 8, seven};

static void sizes_of_blocks(void **state)
{
   static const struct {
      uint32_t words, code, count;
   } cases[] = {
      {1, 0, 1},     {8, 0, 1},     {9, 0, 2},     {24, 0, 3},    {25, 1, 1},     {32, 1, 1},
      {33, 1, 2},    {64, 1, 2},    {65, 1, 3},    {96, 1, 3},    {97, 2, 1},     {128, 2, 1},
      {129, 2, 2},   {384, 2, 3},   {385, 3, 1},   {2012, 4, 1},  {16384, 5, 2},  {24576, 5, 3},
      {24577, 6, 1}, {32768, 6, 1}, {98304, 6, 3}, {98305, 6, 4}, {131072, 6, 4},
   };
   for (unsigned i = 0; i < AGX_COUNT(cases); i++) {
      struct agx_hw_scratch scratch;
      assert_ok(agx_hw_scratch_plan(cases[i].words, &m1_of_seven, &scratch));
      const uint32_t code = cases[i].code, count = cases[i].count;
      assert_int_equal(scratch.size_code, code);
      assert_int_equal(scratch.block_count, count);
      assert_int_equal(scratch.block_B, 1024ull << 2 * code);
      assert_int_equal(scratch.words, count * 8u << 2 * code);
      assert_true(scratch.words >= cases[i].words);
      assert_int_equal(scratch.core_count, 7);
      assert_int_equal(scratch.lists_at, HEADER_B);
      assert_true(scratch.blocks_at % scratch.block_B == 0);
      assert_int_equal(scratch.total_B, scratch.blocks_at + 7ull * 128 * count * scratch.block_B);
   }
}

static void refuses_what_does_not_fit(void **state)
{
   static const uint64_t many[16] = {[0 ... 15] = 0x3ff};
   const struct agx_hw_cores eight = {8, 10, many}, nine = {9, 10, many};
   struct agx_hw_scratch scratch;
   assert_fails(agx_hw_scratch_plan(0, &m1_of_seven, &scratch), AGX_OUT_OF_RANGE, "0 words");
   assert_fails(agx_hw_scratch_plan(131073, &m1_of_seven, &scratch), AGX_OUT_OF_RANGE,
                "1 to 131072 are possible");
   assert_ok(agx_hw_scratch_plan(8, &eight, &scratch));
   assert_int_equal(scratch.core_count, 80);
   assert_fails(agx_hw_scratch_plan(8, &nine, &scratch), AGX_OUT_OF_RANGE,
                "core 0 of cluster 8 has number 128");
}

static uint64_t get(const uint8_t *memory, uint64_t at, unsigned bytes)
{
   uint64_t value = 0;
   memcpy(&value, memory + at, bytes);
   return value;
}

/* Writes for these cores, checks every list, and that no two blocks overlap. */
static void check_lists(uint32_t words, const struct agx_hw_cores *cores)
{
   struct agx_hw_scratch scratch;
   assert_ok(agx_hw_scratch_plan(words, cores, &scratch));
   uint8_t *memory = malloc(scratch.blocks_at);
   memset(memory, 0xa5, scratch.blocks_at);
   agx_hw_scratch_write(&scratch, cores, VA, memory);
   assert_int_equal(get(memory, 0, 8), 128);
   uint64_t block = VA + scratch.blocks_at, list = VA + HEADER_B;
   uint32_t step = 1;
   while (step < cores->cores_per_cluster)
      step *= 2;
   for (uint32_t number = 0; number < 128; number++) {
      const uint32_t cluster = number / step, core = number % step;
      const uint64_t record = 8 + number * RECORD_B;
      const bool is_there = cluster < cores->cluster_count && core < cores->cores_per_cluster &&
                            cores->masks[cluster] >> core & 1;
      assert_int_equal(get(memory, record, 8), is_there ? list : 0);
      for (uint32_t at = 8; at < RECORD_B; at += 8)
         assert_int_equal(get(memory, record + at, 8), 0);
      for (uint32_t i = 0; i < 128 * 4 && is_there; i++) {
         const uint32_t word = (uint32_t)get(memory, list - VA + 4 * i, 4);
         const uint32_t flags = i % 4 ? 1 : (1u << (scratch.size_code + 1)) - 1;
         assert_int_equal(word, i % 4 < scratch.block_count ? block >> 8 | flags : 0);
         block += i % 4 < scratch.block_count ? scratch.block_B : 0;
      }
      list += is_there ? LIST_B : 0;
   }
   assert_int_equal(block, VA + scratch.total_B);
   free(memory);
}

static void lists_of_enabled_cores(void **state)
{
   static const uint64_t holes[] = {0x3f7, 0x1ff, 0, 0x200};
   const struct agx_hw_cores max = {4, 10, holes};
   static const uint32_t words[] = {8, 20, 32, 70, 512, 2012};
   for (unsigned i = 0; i < AGX_COUNT(words); i++) {
      check_lists(words[i], &m1_of_seven);
      check_lists(words[i], &max);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_of_blocks),
      cmocka_unit_test(refuses_what_does_not_fit),
      cmocka_unit_test(lists_of_enabled_cores),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
