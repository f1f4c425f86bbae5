/* SPDX-License-Identifier: MIT
 *
 * The table of chips: names, quirks, and how many threads fit for a number of registers.
 */
#include "support.h"

#include "agx/chip.h"

static void every_chip_is_found_by_each_name(void **state)
{
   size_t count = 0;
   for (const struct agx_chip *chip; (chip = agx_chip_at(count)); count++) {
      assert_ptr_equal(agx_chip_find(chip->name), chip);
      assert_ptr_equal(agx_chip_find(chip->soc), chip);
      assert_ptr_equal(agx_chip_by_id(chip->chip_id), chip);
   }
   assert_int_equal(count, 8);
   assert_ptr_equal(agx_chip_find("G13G"), agx_chip_by_id(0x8103));
   assert_ptr_equal(agx_chip_find("T6022"), agx_chip_at(7));
   assert_null(agx_chip_find("g15g"));
   assert_null(agx_chip_find(""));
   assert_null(agx_chip_by_id(0));
   assert_null(agx_chip_at(SIZE_MAX));
}

static void quirks_are_those_of_several_clusters(void **state)
{
   static const struct {
      const char *name;
      bool unk_words, coherency_3;
   } rows[] = {
      {"g13g", false, false}, {"g13s", false, true}, {"g13c", false, true}, {"g13d", false, true},
      {"g14g", false, false}, {"g14s", true, false}, {"g14c", true, false}, {"g14d", true, false},
   };
   for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
      const struct agx_chip *chip = agx_chip_find(rows[i].name);
      assert_int_equal(chip->cdm_has_unk_words, rows[i].unk_words);
      assert_int_equal(chip->atomic_coherency_3, rows[i].coherency_3);
   }
}

static void occupancy_falls_with_registers(void **state)
{
   assert_int_equal(agx_occupancy_threads(0), 1024);
   assert_int_equal(agx_occupancy_threads(104), 1024);
   assert_int_equal(agx_occupancy_threads(105), 896);
   assert_int_equal(agx_occupancy_threads(160), 640);
   assert_int_equal(agx_occupancy_threads(256), 384);
   assert_int_equal(agx_occupancy_threads(257), 0);
   for (uint32_t halves = 1; halves <= 256; halves++)
      assert_true(agx_occupancy_threads(halves) <= agx_occupancy_threads(halves - 1));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_chip_is_found_by_each_name),
      cmocka_unit_test(quirks_are_those_of_several_clusters),
      cmocka_unit_test(occupancy_falls_with_registers),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
