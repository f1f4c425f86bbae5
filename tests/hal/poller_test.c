/* SPDX-License-Identifier: MIT
 *
 * Files that can't be waited for: the semaphore fails with the status that the system's error
 * means, and no wait stays blocked.
 */
#include "fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hal/core/log.h"
#include "hal/sync/poller.h"

static _Atomic int add_error; /* an errno, or 0 */

/* In the place of the C library's. */
int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
   if (operation == EPOLL_CTL_ADD && add_error) {
      errno = add_error;
      return -1;
   }
   return (int)syscall(SYS_epoll_ctl, epoll, operation, fd, event);
}

static void never(void *user, int error)
{
   fail_msg("called for a file that was refused");
}

static void errors_say_what_they_mean(void **state)
{
   static const struct {
      int error;
      agx_status code;
      const char *text;
   } rows[] = {
      {ENOMEM, AGX_RESOURCE_EXHAUSTED, "memory"},
      {ENOSPC, AGX_RESOURCE_EXHAUSTED, "can't be waited for"},
      {EPERM, AGX_INVALID_ARGUMENT, "becomes readable"},
      {EBADF, AGX_INVALID_ARGUMENT, "can't be waited for"},
      {EEXIST, AGX_ALREADY_EXISTS, "can't be waited for"},
   };
   static const struct agx_log log;
   struct agx_poller *poller = NULL;
   int fd = eventfd(0, EFD_CLOEXEC);
   assert_ok(agx_poller_create(NULL, &log, &poller));
   for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
      add_error = rows[i].error;
      assert_fails(agx_poller_add(poller, fd, never, NULL), rows[i].code, rows[i].text);
   }
   add_error = 0;
   agx_poller_destroy(poller);
   assert_int_equal(close(fd), 0); /* what is refused stays the caller's */
}

/* A regular file always is ready, which the system says by a code that reads as if it were secret.
 */
static void regular_files_are_refused(void **state)
{
   struct fixture f;
   fixture_open(&f, "virtual");
   struct agx_semaphore *semaphore = fixture_semaphore(&f);
   FILE *file = tmpfile();
   assert_non_null(file);
   assert_fails(agx_semaphore_import_point(semaphore, 1, AGX_FD_EVENTFD, fileno(file)),
                AGX_INVALID_ARGUMENT, "becomes readable");
   fclose(file);
   agx_release(semaphore);
   fixture_close(&f);
}

/* The library's, which has no other. */
static int find_epoll(void)
{
   for (int fd = 3; fd < 256; fd++) {
      char path[32], name[64] = {0};
      snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
      if (readlink(path, name, sizeof(name) - 1) > 0 && strstr(name, "eventpoll"))
         return fd;
   }
   return -1;
}

/* When the poller can't watch files any more, it fails the semaphores of those that it watches. */
static void a_broken_poller_fails_what_it_watches(void **state)
{
   struct fixture f;
   const uint64_t one = 1;
   fixture_open(&f, "virtual");
   struct agx_semaphore *first = fixture_semaphore(&f), *second = fixture_semaphore(&f);
   struct agx_semaphore *third = fixture_semaphore(&f);
   int bell = eventfd(0, EFD_CLOEXEC), never = eventfd(0, EFD_CLOEXEC), kept = dup(bell);
   int later = eventfd(0, EFD_CLOEXEC);
   assert_ok(agx_semaphore_import_point(first, 1, AGX_FD_EVENTFD, bell));
   assert_ok(agx_semaphore_import_point(second, 1, AGX_FD_EVENTFD, never));
   int epoll = find_epoll();
   assert_true(epoll >= 0);
   assert_int_equal(dup2(later, epoll), epoll); /* which is none */
   assert_int_equal(write(kept, &one, sizeof(one)), sizeof(one));
   assert_fails(fixture_wait(second, 1), AGX_UNAVAILABLE, "can't be waited for");
   assert_fails(agx_semaphore_import_point(third, 1, AGX_FD_EVENTFD, later), AGX_UNAVAILABLE,
                "epoll_wait");
   close(later);
   close(kept);
   agx_release(first);
   agx_release(second);
   agx_release(third);
   fixture_close(&f);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_say_what_they_mean),
      cmocka_unit_test(regular_files_are_refused),
      cmocka_unit_test(a_broken_poller_fails_what_it_watches),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
