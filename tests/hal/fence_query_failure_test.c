/* SPDX-License-Identifier: MIT
 *
 * When the kernel can't be asked how work came out, for want of memory or descriptors: the library
 * signals no success that it hasn't seen, and goes on when the want passes.
 */
#include "share_world.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "hal/device/device.h"

/* ---- what others did ---------------------------------------------------------- */

/* The GPU waited for another process's work, which failed; at the limit of descriptors the library
 * can't learn of it. */
static void how_others_came_out(void **state)
{
   struct world w;
   world_open(&w, NULL, NULL);
   struct agxw_timeline *failing = bed_timeline(&w.bed, 0), *held = bed_timeline(&w.bed, 0);
   struct agx_semaphore *theirs = world_import(&w, failing), *done = fixture_semaphore(&w.f);
   bed_pend(&w.bed, 0, &(struct agxw_point){held, 1});
   assert_true(bed_fail(&w.bed, &(struct agxw_point){failing, 1})); /* behind it */
   world_submit(&w, 0, (struct agx_point){theirs, 1}, (struct agx_point){done, 1});
   failing_kmd_arm(&w.kmd, 0, NR_SYNCOBJ_TO_FD, EMFILE);
   bed_fire(&w.bed, 0);
   assert_fails(fixture_wait(done, 1), AGX_RESOURCE_EXHAUSTED, "");
   failing_kmd_disarm(&w.kmd);
   assert_int_not_equal(fixture_wait(theirs, 1), AGX_OK);
   assert_ok(agx_device_status(w.f.device));
   agx_release(theirs);
   agx_release(done);
   agxw_timeline_destroy(failing);
   agxw_timeline_destroy(held);
   world_close(&w);
}

/* ---- what this device did ------------------------------------------------------- */

/* It waited for another queue, which can't be asked how far it is, and has failed. */
static void how_far_the_other_queue_is(void **state)
{
   struct world w;
   world_open(&w, "fault 1", NULL);
   struct agx_semaphore *first = fixture_semaphore(&w.f), *done = fixture_semaphore(&w.f);
   world_submit(&w, 0, NO_POINT, (struct agx_point){first, 1});
   world_submit(&w, 1, (struct agx_point){first, 1}, (struct agx_point){done, 1});
   failing_kmd_arm(&w.kmd, 0, NR_TIMELINE_QUERY, ENOMEM);
   assert_int_not_equal(fixture_wait(done, 1), AGX_OK);
   failing_kmd_disarm(&w.kmd);
   assert_fails(fixture_wait(first, 1), AGX_DATA_LOSS, "fault");
   assert_int_not_equal(fixture_wait(done, 1), AGX_OK);
   assert_ok(agx_device_status(w.f.device));
   agx_release(first);
   agx_release(done);
   world_close(&w);
}

/* The shared timeline is asked, the queues can't be: 6 is reached there, 5 has failed. */
static void what_came_before_a_shared_value(void **state)
{
   struct world w;
   uint64_t value;
   int shared;
   world_open(&w, "fault 1", NULL);
   struct agx_semaphore *a = fixture_semaphore(&w.f);
   assert_ok(agx_semaphore_export(a, 0, AGX_FD_SYNCOBJ, &shared));
   world_submit(&w, 0, NO_POINT, (struct agx_point){a, 5});
   world_submit(&w, 1, NO_POINT, (struct agx_point){a, 6});
   world_let_run(&w, 0, 1);
   world_let_run(&w, 1, 1);
   failing_kmd_arm(&w.kmd, 1, NR_TIMELINE_QUERY, ENOMEM);
   assert_int_not_equal(agx_semaphore_query(a, &value), AGX_OK);
   assert_int_not_equal(value, 6);
   failing_kmd_disarm(&w.kmd);
   assert_fails(agx_semaphore_query(a, &value), AGX_DATA_LOSS, "fault");
   close(shared);
   agx_release(a);
   world_close(&w);
}

/* A want of memory is given time, however often the test asks meanwhile. */
static void a_want_that_passes(void **state)
{
   struct world w;
   uint64_t value;
   world_open(&w, NULL, NULL);
   struct agx_semaphore *a = fixture_semaphore(&w.f);
   failing_kmd_arm(&w.kmd, 0, NR_TIMELINE_QUERY, ENOMEM);
   world_submit(&w, 0, NO_POINT, (struct agx_point){a, 1});
   world_let_run(&w, 0, 1);
   for (uint32_t i = 0; i < 200; i++)
      assert_fails(agx_semaphore_query(a, &value), AGX_RESOURCE_EXHAUSTED, "");
   failing_kmd_disarm(&w.kmd);
   assert_ok(fixture_wait(a, 1));
   assert_ok(agx_device_status(w.f.device));
   agx_release(a);
   world_close(&w);
}

/* ---- texts ----------------------------------------------------------------------- */

/* Makes a mistake of its own. */
static void listen(void *user, enum agx_log_level level, const char *line)
{
   struct agx_semaphore *semaphore = *(struct agx_semaphore **)user;
   if (semaphore)
      assert_fails(agx_semaphore_signal(semaphore, 1), AGX_INVALID_ARGUMENT, "already");
}

/* A call that fails keeps its text, whatever is called on its way out. */
static void a_text_is_of_the_call(void **state)
{
   struct world w;
   struct agx_semaphore *reached = NULL;
   const struct agx_instance_desc desc = {
      .size = sizeof(desc), .log = listen, .log_user = &reached};
   uint64_t value;
   agx_status status;
   setenv("AGX_DEBUG", "sync", 1);
   world_open(&w, "fault 1", &desc);
   unsetenv("AGX_DEBUG");
   reached = fixture_semaphore(&w.f);
   assert_ok(agx_semaphore_signal(reached, 1));
   struct agx_semaphore *a = fixture_semaphore(&w.f);
   world_submit(&w, 0, NO_POINT, (struct agx_point){a, 1});
   world_let_run(&w, 0, 1);
   do
      status = agx_semaphore_query(a, &value);
   while (status == AGX_OK);
   assert_fails(status, AGX_DATA_LOSS, "fault");
   agx_release(a);
   agx_release(reached);
   reached = NULL;
   world_close(&w);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(how_others_came_out),
      cmocka_unit_test(how_far_the_other_queue_is),
      cmocka_unit_test(what_came_before_a_shared_value),
      cmocka_unit_test(a_want_that_passes),
      cmocka_unit_test(a_text_is_of_the_call),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
