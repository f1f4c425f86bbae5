/* SPDX-License-Identifier: MIT
 *
 * What the library's own threads do with signals.
 */
#include "support.h"

#include <signal.h>

#include "base/thread.h"

static void *note_mask(void *user)
{
   pthread_sigmask(SIG_SETMASK, NULL, user);
   return user;
}

static void start(pthread_t *thread, const pthread_attr_t *attributes, sigset_t *mask)
{
   void *returned = NULL;
   assert_int_equal(agx_thread_start(thread, attributes, note_mask, mask), 0);
   assert_int_equal(pthread_join(*thread, &returned), 0);
   assert_ptr_equal(returned, mask);
}

static void threads_take_no_signals(void **state)
{
   static const int taken[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
   static const int left[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGALRM, SIGPROF, SIGUSR1, SIGPIPE};
   pthread_t thread;
   sigset_t mask;
   start(&thread, NULL, &mask);
   for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
      assert_int_equal(sigismember(&mask, taken[i]), 0);
   for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
      assert_int_equal(sigismember(&mask, left[i]), 1);
   for (int real_time = SIGRTMIN; real_time <= SIGRTMAX; real_time++)
      assert_int_equal(sigismember(&mask, real_time), 1);
}

/* Also when the thread can't be made. */
static void callers_keep_their_mask(void **state)
{
   pthread_t thread;
   sigset_t given, mask;
   sigemptyset(&given);
   sigaddset(&given, SIGUSR2);
   pthread_sigmask(SIG_SETMASK, &given, NULL);
   start(&thread, NULL, &mask);
   pthread_sigmask(SIG_SETMASK, NULL, &mask);
   for (int signal = 1; signal < 32; signal++)
      assert_int_equal(sigismember(&mask, signal), signal == SIGUSR2);
   sigemptyset(&given);
   pthread_sigmask(SIG_SETMASK, &given, NULL);
}

static void attributes_are_passed_on(void **state)
{
   pthread_attr_t attributes;
   pthread_t thread;
   sigset_t mask;
   assert_int_equal(pthread_attr_init(&attributes), 0);
   start(&thread, &attributes, &mask);
   assert_int_equal(pthread_attr_setstacksize(&attributes, (size_t)1 << 60), 0);
   assert_int_not_equal(agx_thread_start(&thread, &attributes, note_mask, &mask), 0);
   pthread_sigmask(SIG_SETMASK, NULL, &mask);
   assert_int_equal(sigismember(&mask, SIGTERM), 0);
   pthread_attr_destroy(&attributes);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_take_no_signals),
      cmocka_unit_test(callers_keep_their_mask),
      cmocka_unit_test(attributes_are_passed_on),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
