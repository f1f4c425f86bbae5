/* SPDX-License-Identifier: MIT
 *
 * What the library says goes where the application wants it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "hal/log.h"

#define MAX_LINES 64

/* Lines come from several threads. */
struct heard {
   pthread_mutex_t lock;
   char lines[MAX_LINES][128];
   enum agx_log_level levels[MAX_LINES];
   uint32_t count;
};

static void hear(void *user, enum agx_log_level level, const char *line)
{
   struct heard *heard = user;
   pthread_mutex_lock(&heard->lock);
   if (heard->count < MAX_LINES) {
      snprintf(heard->lines[heard->count], sizeof(heard->lines[0]), "%s", line);
      heard->levels[heard->count] = level;
   }
   heard->count++;
   pthread_mutex_unlock(&heard->lock);
}

static bool was_heard(struct heard *heard, enum agx_log_level level, const char *part)
{
   bool found = false;
   pthread_mutex_lock(&heard->lock);
   for (uint32_t i = 0; i < heard->count && i < MAX_LINES; i++) {
      assert_null(strchr(heard->lines[i], '\n'));
      found |= heard->levels[i] == level && strstr(heard->lines[i], part);
   }
   pthread_mutex_unlock(&heard->lock);
   return found;
}

static void open_world(struct fixture *f, struct heard *heard)
{
   struct agx_instance_desc instance = {.size = sizeof(instance), .log = hear, .log_user = heard};
   struct agx_device_desc device = {.size = sizeof(device), .name = "virtual"};
   *heard = (struct heard){.lock = PTHREAD_MUTEX_INITIALIZER};
   assert_ok(agx_instance_create(&instance, &f->instance));
   assert_ok(agx_device_open(f->instance, &device, &f->device));
}

static void submissions_are_heard_of(void **state)
{
   struct fixture f;
   struct heard heard;
   setenv("AGX_DEBUG", "sync", 1);
   open_world(&f, &heard);
   unsetenv("AGX_DEBUG");
   struct agx_semaphore *go = fixture_semaphore(&f), *done = fixture_semaphore(&f);
   assert_ok(fixture_submit(&f, NULL, (struct agx_point){go, 1}, (struct agx_point){done, 1}));
   agx_semaphore_fail(go, AGX_ABORTED, "pulled the plug");
   assert_fails(fixture_wait(done, 1), AGX_ABORTED, "plug");
   agx_release(go);
   agx_release(done);
   fixture_close(&f);
   assert_true(was_heard(&heard, AGX_LOG_DEBUG, "barrier 1 failed: pulled the plug"));
}

static void warnings_are_heard_of(void **state)
{
   struct fixture f;
   struct heard heard;
   setenv("AGX_PROFILE", "/nowhere/at/all", 1);
   open_world(&f, &heard);
   unsetenv("AGX_PROFILE");
   fixture_close(&f);
   assert_int_equal(heard.count, 1);
   assert_true(was_heard(&heard, AGX_LOG_WARNING, "AGX_PROFILE: trace /nowhere/at/all"));
}

static void long_lines_are_cut(void **state)
{
   struct heard heard = {.lock = PTHREAD_MUTEX_INITIALIZER};
   const struct agx_log log = {hear, &heard};
   char text[2000];
   memset(text, 'x', sizeof(text) - 1);
   text[sizeof(text) - 1] = 0;
   agx_log(&log, AGX_LOG_DEBUG, "%s", text);
   assert_int_equal(heard.count, 1);
   assert_true(was_heard(&heard, AGX_LOG_DEBUG, "xxxx"));
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(submissions_are_heard_of),
      cmocka_unit_test(warnings_are_heard_of),
      cmocka_unit_test(long_lines_are_cut),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
