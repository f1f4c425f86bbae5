/* SPDX-License-Identifier: MIT
 *
 * What the library says goes where the application wants it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "hal/core/log.h"

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

/* A listener that looks at what it hears of. */
struct asker {
   struct agx_semaphore *_Atomic semaphore;
   _Atomic uint32_t asked;
};

static void ask(void *user, enum agx_log_level level, const char *line)
{
   struct asker *asker = user;
   struct agx_semaphore *semaphore = atomic_load(&asker->semaphore);
   uint64_t value;
   if (semaphore && agx_semaphore_query(semaphore, &value) != AGX_UNKNOWN)
      atomic_fetch_add(&asker->asked, 1);
}

static void a_listener_may_call(void **state)
{
   struct asker asker = {.asked = 0};
   struct agx_instance_desc instance = {.size = sizeof(instance), .log = ask, .log_user = &asker};
   struct agx_device_desc device = {.size = sizeof(device), .name = "virtual"};
   struct fixture f;
   uint32_t *words;
   assert_ok(agx_instance_create(&instance, &f.instance));
   setenv("AGX_DEBUG", "sync", 1);
   assert_ok(agx_device_open(f.instance, &device, &f.device));
   unsetenv("AGX_DEBUG");
   f.info.size = sizeof(f.info);
   agx_device_get_info(f.device, &f.info);
   struct agx_executable *count = fixture_kernel(&f, &agx_test_count);
   struct agx_buffer *buffer = fixture_buffer(&f, 256, &words);
   struct agx_command_buffer *commands = fixture_begin(&f);
   struct agx_semaphore *go = fixture_semaphore(&f), *done = fixture_semaphore(&f);
   fixture_dispatch(commands, count, 1, &buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   atomic_store(&asker.semaphore, done);
   for (uint64_t i = 1; i <= 20; i++) {
      const struct agx_point wait = {go, i}, signal = {done, i};
      assert_ok(fixture_submit(&f, commands, i % 2 ? wait : NO_POINT, signal));
      assert_ok(agx_semaphore_signal(go, i));
      assert_ok(fixture_wait(done, i));
   }
   atomic_store(&asker.semaphore, NULL);
   agx_semaphore_fail(go, AGX_ABORTED, "over");
   agx_release(go);
   agx_release(done);
   agx_release(commands);
   agx_release(buffer);
   agx_release(count);
   fixture_close(&f);
   assert_true(asker.asked >= 20);
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

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(submissions_are_heard_of),
      cmocka_unit_test(a_listener_may_call),
      cmocka_unit_test(warnings_are_heard_of),
      cmocka_unit_test(long_lines_are_cut),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
