/* SPDX-License-Identifier: MIT
 *
 * Fences and points by themselves; fence_test.c has them behind requests.
 */
#include <errno.h>

#include "bare.h"
#include "winsys/virtual/sync/fence.h"

static void a_point_is_done_with_all_before_it(void **state)
{
   struct agx_virtual_node node;
   bare_open(&node);
   uint64_t used = node.shared->blocks_used;
   uint32_t early = agxv_fence_create(&node), late = agxv_fence_create(&node);
   uint32_t one = agxv_fence_create_point(&node, 0, early, 1);
   uint32_t two = agxv_fence_create_point(&node, one, late, 2);
   agxv_fence_put(&node, one);
   agxv_fence_signal(&node, late, 0);
   assert_false(agxv_fence_done(&node, two));
   assert_int_equal(agxv_fence_value(&node, two, false), 0);
   assert_int_equal(agxv_fence_value(&node, two, true), 2);
   agxv_fence_signal(&node, early, -EIO);
   assert_true(agxv_fence_done(&node, two));
   assert_int_equal(agxv_fence_value(&node, two, false), 2);
   agxv_fence_put(&node, early);
   agxv_fence_put(&node, late);
   agxv_fence_put(&node, two);
   assert_int_equal(node.shared->blocks_used, used);
   bare_close(&node);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_point_is_done_with_all_before_it),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
