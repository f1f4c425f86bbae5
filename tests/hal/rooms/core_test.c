/* SPDX-License-Identifier: MIT
 *
 * The core room by itself: frontiers, references, descriptors of other versions, failures.
 */
#include "hal/core/context.h"
#include "hal/core/desc.h"
#include "hal/core/failure.h"
#include "hal/core/frontier.h"
#include "support.h"

static void frontiers_compare_queue_by_queue(void **state)
{
   struct agx_frontier a = {{3, 0, 7}}, none = {{0}};
   const struct agx_frontier b = {{2, 1, 7}};
   assert_true(agx_frontier_covers(&a, &none) && agx_frontier_covers(&a, &a));
   assert_false(agx_frontier_covers(&a, &b) || agx_frontier_covers(&b, &a));
   agx_frontier_merge(&a, &b);
   assert_true(agx_frontier_covers(&a, &b));
   assert_int_equal(a.epochs[0], 3);
   assert_int_equal(a.epochs[1], 1);
   agx_frontier_merge(&none, &a);
   assert_true(agx_frontier_covers(&none, &a) && agx_frontier_covers(&a, &none));
}

struct thing {
   struct agx_object object;
   bool is_gone;
};

static void thing_destroy(struct agx_object *object)
{
   agx_container_of(object, struct thing, object)->is_gone = true;
}

static const struct agx_object_type thing_type = {.name = "thing", .destroy = thing_destroy};

static void the_last_reference_destroys(void **state)
{
   struct thing thing = {0};
   agx_object_init(&thing.object, &thing_type);
   agx_retain(&thing);
   assert_true(agx_try_retain(&thing));
   agx_release(&thing);
   agx_release(&thing);
   assert_false(thing.is_gone);
   agx_release(&thing);
   assert_true(thing.is_gone);
   assert_false(agx_try_retain(&thing));
   agx_release(NULL);
}

static void inherited_objects_are_refused_and_kept(void **state)
{
   struct thing thing = {0};
   agx_object_init(&thing.object, &thing_type);
   assert_ok(agx_fork_check(&thing));
   thing.object.forks = agx_forks + 1; /* as after a fork */
   assert_fails(agx_fork_check(&thing), AGX_FAILED_PRECONDITION, "thing: made before fork(2)");
   agx_release(&thing);
   assert_false(thing.is_gone);
}

struct desc {
   uint32_t size;
   const void *next;
   uint64_t first, second;
};

static void descriptors_of_other_versions(void **state)
{
   struct {
      struct desc known;
      uint64_t newer;
   } given = {.known = {.size = sizeof(given), .first = 5, .second = 6}};
   struct desc read;
   assert_ok(agx_desc_read("desc", &given, &read, sizeof(read)));
   assert_true(read.first == 5 && read.second == 6);
   given.newer = 1;
   assert_fails(agx_desc_read("desc", &given, &read, sizeof(read)), AGX_UNIMPLEMENTED, "offset 32");
   given.known.size = offsetof(struct desc, second); /* an older program */
   assert_ok(agx_desc_read("desc", &given, &read, sizeof(read)));
   assert_true(read.first == 5 && read.second == 0);
   given.known.next = &given;
   assert_fails(agx_desc_read("desc", &given, &read, sizeof(read)), AGX_UNIMPLEMENTED, "next");
   given.known.size = 3;
   assert_fails(agx_desc_read("desc", &given, &read, sizeof(read)), AGX_INVALID_ARGUMENT, "size");
   assert_ok(agx_desc_read("desc", NULL, &read, sizeof(read)));
   assert_true(read.size == 0 && read.first == 0);
}

static void infos_are_cut_and_padded(void **state)
{
   const struct desc info = {.first = 7, .second = 8};
   struct {
      struct desc known;
      uint64_t newer;
   } out = {.known = {.size = sizeof(out)}, .newer = 9};
   assert_ok(agx_info_write("info", &out, &info, sizeof(info)));
   assert_true(out.known.second == 8 && out.newer == 0 && out.known.size == sizeof(out));
   out.known.size = offsetof(struct desc, second);
   out.known.second = 1;
   assert_ok(agx_info_write("info", &out, &info, sizeof(info)));
   assert_true(out.known.first == 7 && out.known.second == 1);
   out.known.size = 0;
   assert_fails(agx_info_write("info", &out, &info, sizeof(info)), AGX_INVALID_ARGUMENT, "size");
}

static void the_first_failure_stays(void **state)
{
   struct agx_failure failure = {0};
   assert_ok(agx_failure_raise(&failure));
   agx_failure_keep(&failure, AGX_OK);
   agx_failure_keep(&failure, AGX_FAIL(AGX_ABORTED, "one"));
   agx_failure_keep(&failure, AGX_FAIL(AGX_INTERNAL, "two"));
   assert_fails(agx_failure_raise(&failure), AGX_ABORTED, "one");
   assert_fails(agx_bits_check("file", "flags", 5, 1), AGX_INVALID_ARGUMENT, "0x4 is unknown");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(frontiers_compare_queue_by_queue),
      cmocka_unit_test(the_last_reference_destroys),
      cmocka_unit_test(inherited_objects_are_refused_and_kept),
      cmocka_unit_test(descriptors_of_other_versions),
      cmocka_unit_test(infos_are_cut_and_padded),
      cmocka_unit_test(the_first_failure_stays),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
