/* SPDX-License-Identifier: MIT
 *
 * Every function that makes something, with each of its allocations and each of its requests
 * failing in turn: it gives NULL (or no descriptor) back, and leaves nothing behind. A function
 * that the version script has and neither table here is a failure.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "create_makers.h"
#include "hal/device/device.h"
#include "winsys/virtual/virtual.h"
#include "failing_alloc.h"

#define MAX_STEPS 200

/* Functions that make nothing that its caller has to give back. What they may run short of is
 * tested where they are. */
static const char *const others[] = {
   "agx_abi_version",
   "agx_buffer_compat",
   "agx_buffer_fill",
   "agx_buffer_flush",
   "agx_buffer_get_info",
   "agx_buffer_invalidate",
   "agx_buffer_read",
   "agx_buffer_release_after",
   "agx_buffer_unmap",
   "agx_buffer_write",
   "agx_cmd_barrier",
   "agx_cmd_begin_label",
   "agx_cmd_clear_image",
   "agx_cmd_copy",
   "agx_cmd_copy_from_image",
   "agx_cmd_copy_image",
   "agx_cmd_copy_to_image",
   "agx_cmd_dispatch",
   "agx_cmd_dispatch_vertices",
   "agx_cmd_end_label",
   "agx_cmd_event",
   "agx_cmd_fill",
   "agx_cmd_timestamp",
   "agx_cmd_update",
   "agx_command_buffer_begin",
   "agx_command_buffer_end",
   "agx_command_buffer_profile_id",
   "agx_descriptor_heap_copy",
   "agx_descriptor_heap_write",
   "agx_device_begin_capture",
   "agx_device_cancel",
   "agx_device_get_cache_stats",
   "agx_device_get_frontier",
   "agx_device_get_heaps",
   "agx_device_end_capture",
   "agx_device_get_info",
   "agx_device_get_memory_stats",
   "agx_device_get_time",
   "agx_device_status",
   "agx_device_trim",
   "agx_error_text",
   "agx_executable_find_entry",
   "agx_executable_format_is_known",
   "agx_executable_get_binding",
   "agx_executable_get_entry",
   "agx_executable_get_entry_binding",
   "agx_executable_get_entry_count",
   "agx_executable_get_entry_name",
   "agx_executable_get_info",
   "agx_executable_get_parameter",
   "agx_executable_get_specialization",
   "agx_executable_get_statistics",
   "agx_executable_get_text",
   "agx_executable_infer_format",
   "agx_file_get_info",
   "agx_flush",
   "agx_format_from_gl",
   "agx_format_get_info",
   "agx_get_proc",
   "agx_host_call_finish",
   "agx_host_call_get_signals",
   "agx_image_get_info",
   "agx_image_get_requirements",
   "agx_image_read",
   "agx_image_write",
   "agx_instance_enumerate",
   "agx_instance_get_device_info",
   "agx_pool_get_stats",
   "agx_pool_notify", /* pool_device_test, caller_pool_test */
   "agx_pool_trim",
   "agx_profile_end",
   "agx_profile_flush",
   "agx_queue_recreate",
   "agx_release",
   "agx_retain",
   "agx_semaphore_fail",
   "agx_semaphore_import_point", /* share_test */
   "agx_semaphore_observe",
   "agx_semaphore_query",
   "agx_semaphore_query_submitted", /* share_points_test */
   "agx_semaphore_signal",
   "agx_semaphore_unobserve",
   "agx_semaphore_unwatch",
   "agx_semaphore_wait",
   "agx_semaphore_watch",
   "agx_set_label",
   "agx_status_name",
   "agx_submit", /* failure_test, transient_test */
   "agx_version",
   "agx_vertex_format_from_gl",
   "agx_vmem_advise",
   "agx_vmem_bind", /* memory_failure_test */
   "agx_vmem_granularity",
   "agx_vmem_protect", /* memory_failure_test */
};

/* ---- the ways to fail --------------------------------------------------------- */

/* Makes and unmakes one: what it says is what is there. */
static agx_status try(struct shortage *s, const struct create_maker *maker)
{
   void *thing = POISON;
   agx_status status = maker->make(s, &thing);
   if (status == AGX_OK && (!thing || thing == POISON))
      fail_msg("%s: nothing was made", maker->function);
   if (status != AGX_OK && thing)
      fail_msg("%s: it failed, but gives %p", maker->function, thing);
   if (status == AGX_OK)
      maker->undo(thing);
   return status;
}

static void every_allocation_may_fail(void **state)
{
   for (size_t i = 0; i < maker_count; i++) {
      struct shortage s;
      shortage_begin(&s);
      make_given(&s);
      assert_ok(try(&s, &makers[i]));
      const struct shortage_state before = shortage_look(&s);
      for (size_t nth = 0;; nth++) {
         assert_true(nth < MAX_STEPS);
         s.alloc.remaining = nth;
         agx_status status = try(&s, &makers[i]);
         bool has_failed = s.alloc.remaining == 0;
         s.alloc.remaining = SIZE_MAX;
         shortage_assert_same(&s, &before);
         assert_true(status == AGX_OK || status == AGX_RESOURCE_EXHAUSTED);
         if (status == AGX_OK && !has_failed)
            break;
      }
      release_given();
      shortage_end(&s);
   }
}

static void every_request_may_fail(void **state)
{
   static const struct {
      int error;
      bool once;
   } ways[] = {{ENOMEM, false}, {ENOMEM, true}, {ENODEV, false}, {EMFILE, true}, {EIO, true}};
   for (size_t i = 0; i < maker_count; i++)
      for (size_t way = 0; way < AGX_COUNT(ways); way++) {
         struct shortage s;
         if (makers[i].special & OWN_NODE ||
             (makers[i].special & WAKES && ways[way].error != ENOMEM))
            continue;
         shortage_begin(&s);
         make_given(&s);
         assert_ok(try(&s, &makers[i]));
         const struct shortage_state before = shortage_look(&s);
         for (int nth = 0;; nth++) {
            assert_true(nth < MAX_STEPS);
            agx_device_trim(s.device);
            failing_kmd_arm(&s.kmd, nth, 0, ways[way].error);
            s.kmd.once = ways[way].once;
            s.kmd.failed = 0;
            (void)!try(&s, &makers[i]);
            uint32_t failed = s.kmd.failed;
            failing_kmd_disarm(&s.kmd);
            shortage_assert_same(&s, &before);
            if (failed == 0)
               break;
         }
         assert_ok(try(&s, &makers[i]));
         release_given();
         shortage_end(&s);
      }
}

/* A device's own requests, through the seam that agx_device_open uses. */
static void every_request_of_opening_may_fail(void **state)
{
   static const int errors[] = {ENOMEM, ENODEV, EINVAL, EMFILE};
   for (size_t i = 0; i < AGX_COUNT(errors); i++)
      for (int nth = 0;; nth++) {
         struct shortage s = {0};
         struct agx_device *device = POISON;
         assert_true(nth < MAX_STEPS);
         failing_alloc_init(&s.alloc, SIZE_MAX);
         failing_kmd_open(&s.kmd);
         assert_ok(shortage_instance(&s, &s.instance));
         failing_kmd_arm(&s.kmd, nth, 0, errors[i]);
         agx_status status = agx_device_open_kmd(s.instance, &s.kmd.forward.base, &device);
         uint32_t failed = s.kmd.failed;
         failing_kmd_disarm(&s.kmd);
         assert_int_equal(status == AGX_OK, device != NULL);
         agx_release(device);
         agx_release(s.instance);
         failing_kmd_await_close(&s.kmd);
         failing_alloc_await_end(&s.alloc);
         if (failed == 0)
            break;
      }
}

/* ---- all functions ------------------------------------------------------------ */

static bool is_known(const char *name)
{
   for (size_t i = 0; i < maker_count; i++)
      if (strcmp(makers[i].function, name) == 0)
         return true;
   for (size_t i = 0; i < AGX_COUNT(others); i++)
      if (strcmp(others[i], name) == 0)
         return true;
   return false;
}

static void every_function_stands_in_a_table(void **state)
{
   char *path = agx_test_path("../src/hal/device/agxhal.map"), name[80];
   char *map = agx_test_read_file(path, NULL);
   unsigned count = 0;
   for (const char *at = map; (at = strstr(at, "\n   agx_")); at += 4, count++) {
      snprintf(name, sizeof(name), "%.*s", (int)strcspn(at + 4, ";"), at + 4);
      if (!is_known(name))
         fail_msg("%s: put it into makers, with what makes one, or into others", name);
   }
   assert_true(count > 80);
   free(map);
   free(path);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(every_request_may_fail),
      cmocka_unit_test(every_request_of_opening_may_fail),
      cmocka_unit_test(every_function_stands_in_a_table),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
