/* SPDX-License-Identifier: MIT
 *
 * GPU memory by itself: runs of pages, and what a running command still sees.
 */
#include "bare.h"
#include "winsys/virtual/mm/memory.h"

static void runs_are_owned_and_zeroed(void **state)
{
   struct agx_virtual_node node;
   bare_open(&node);
   uint64_t first = agxv_memory_take(&node, 3, 11), second = agxv_memory_take(&node, 250, 12);
   assert_int_equal(agxv_memory_owner(&node, first), 11);
   assert_int_equal(agxv_memory_owner(&node, second), 12);
   assert_int_equal(agxv_memory_owner(&node, first + 1), 0);
   assert_true(agxv_memory_take(&node, 4, 13) == UINT64_MAX); /* 253 of 256 are taken */
   uint8_t *memory = agxv_memory_at(&node, first);
   memory[5] = 7;
   agxv_memory_release(&node, first, 3, 0);
   assert_int_equal(agxv_memory_owner(&node, first), 0);
   assert_int_equal(node.shared->pages_used, 250);
   assert_int_equal(agxv_memory_take(&node, 3, 14), first);
   assert_int_equal(memory[5], 0);
   agxv_memory_release(&node, first, 3, 0);
   agxv_memory_release(&node, second, 250, 0);
   assert_int_equal(node.shared->pages_used, 0);
   bare_close(&node);
}

/* A released run isn't given out before the command that may see it has ended. */
static void what_a_command_sees_stays(void **state)
{
   struct agx_virtual_node node;
   bare_open(&node);
   uint64_t run = agxv_memory_take(&node, 256, 1);
   int slot = agxv_memory_run_begin(&node);
   assert_true(slot >= 0);
   agxv_memory_release(&node, run, 256, 0);
   assert_true(agxv_memory_take(&node, 1, 2) == UINT64_MAX);
   agxv_memory_run_end(&node, slot);
   assert_int_equal(agxv_memory_take(&node, 256, 2), run);
   agxv_memory_release(&node, run, 256, 0);
   bare_close(&node);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_are_owned_and_zeroed),
      cmocka_unit_test(what_a_command_sees_stays),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
