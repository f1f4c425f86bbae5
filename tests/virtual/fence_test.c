/* SPDX-License-Identifier: MIT
 *
 * Fences by themselves, where a client of the node would only see that it takes long.
 */
#include "winsys/virtual/fence.h"

#include "device.h"
#include "winsys/virtual/node.h"

#define CHAIN 200
#define PARTS 16

static struct agx_virtual_node *make_node(void)
{
   struct agx_virtual_node *node;
   assert_ok(agx_virtual_node_create(agx_chip_find("g13g"), -1, &node));
   return node;
}

static void parts_are_those_that_are_not_done(void **state)
{
   (void)state;
   struct agx_virtual_node *node = make_node();
   uint32_t parts[PARTS];
   agxv_lock(node);
   uint32_t a = agxv_fence_create(node), b = agxv_fence_create(node);
   uint32_t both = agxv_fence_merge(node, a, b);
   assert_int_equal(agxv_fence_parts(node, both, parts, PARTS), 2);
   assert_int_equal(agxv_fence_parts(node, both, parts, 1), 1);
   agxv_fence_signal(node, a, 0);
   assert_int_equal(agxv_fence_parts(node, both, parts, PARTS), 1);
   assert_int_equal(parts[0], b);
   agxv_fence_signal(node, b, 0);
   assert_int_equal(agxv_fence_parts(node, both, parts, PARTS), 1);
   assert_int_equal(parts[0], both);
   agxv_fence_put(node, both);
   agxv_fence_put(node, a);
   agxv_fence_put(node, b);
   agxv_unlock(node);
   agx_virtual_node_destroy(node);
}

/* Each merge holds the one before twice, directly and in another merge: 2^CHAIN ways. */
static void merges_of_merges_are_listed_in_bounds(void **state)
{
   (void)state;
   struct agx_virtual_node *node = make_node();
   uint32_t parts[PARTS];
   agxv_lock(node);
   uint32_t first = agxv_fence_create(node), last = first;
   agxv_fence_get(node, first);
   for (unsigned i = 0; i < CHAIN; i++) {
      uint32_t other = agxv_fence_create(node);
      uint32_t beside = agxv_fence_merge(node, last, other);
      uint32_t next = agxv_fence_merge(node, last, beside);
      assert_int_not_equal(next, 0);
      agxv_fence_signal(node, other, 0);
      agxv_fence_put(node, other);
      agxv_fence_put(node, beside);
      agxv_fence_put(node, last);
      last = next;
   }
   assert_int_equal(agxv_fence_parts(node, last, parts, PARTS), PARTS);
   agxv_fence_signal(node, first, 0);
   assert_true(agxv_fence_done(node, last));
   agxv_fence_put(node, last);
   agxv_fence_put(node, first);
   agxv_unlock(node);
   agx_virtual_node_destroy(node);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_are_those_that_are_not_done),
      cmocka_unit_test(merges_of_merges_are_listed_in_bounds),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
