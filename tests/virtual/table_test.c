/* SPDX-License-Identifier: MIT
 *
 * The segment's blocks and number tables.
 */
#include <string.h>

#include "bare.h"
#include "base/util.h"
#include "winsys/virtual/store/object.h"

/* Numbers count from 1, and a number that was taken away is given out again first. */
static void the_lowest_free_number_is_given_out(void **state)
{
   struct agx_virtual_node node;
   struct agxv_table table = {0};
   bare_open(&node);
   for (uint32_t i = 1; i <= 100; i++)
      assert_int_equal(agxv_table_add(&node, &table, 1000 + i), i);
   assert_int_equal(agxv_table_find(&node, &table, 100), 1100);
   assert_int_equal(agxv_table_find(&node, &table, 101), 0);
   assert_int_equal(agxv_table_find(&node, &table, 0), 0);
   assert_int_equal(agxv_table_remove(&node, &table, 70), 1070);
   assert_int_equal(agxv_table_remove(&node, &table, 7), 1007);
   assert_int_equal(agxv_table_remove(&node, &table, 7), 0);
   assert_false(agxv_table_has(&node, &table, 1007));
   assert_int_equal(agxv_table_add(&node, &table, 5), 7);
   assert_int_equal(agxv_table_add(&node, &table, 6), 70);
   assert_int_equal(agxv_table_add(&node, &table, 7), 101);
   agxv_table_fini(&node, &table);
   assert_int_equal(agxv_table_find(&node, &table, 1), 0);
   bare_close(&node);
}

/* A freed block is the next one of its size. */
static void blocks_come_back_zeroed(void **state)
{
   struct agx_virtual_node node;
   bare_open(&node);
   uint64_t used = node.shared->blocks_used;
   uint32_t first = agxv_alloc(&node, 100);
   assert_int_not_equal(first, 0);
   uint8_t *bytes = agxv_at(&node, first);
   assert_int_equal(agxv_ref(&node, bytes), first);
   memset(bytes, 0xff, 100);
   agxv_free(&node, first, 100);
   assert_int_equal(node.shared->blocks_used, used);
   assert_int_equal(agxv_alloc(&node, 128), first);
   for (unsigned i = 0; i < 128; i++)
      assert_int_equal(bytes[i], 0);
   agxv_free(&node, first, 128);
   bare_close(&node);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_lowest_free_number_is_given_out),
      cmocka_unit_test(blocks_come_back_zeroed),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
