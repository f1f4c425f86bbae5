/* SPDX-License-Identifier: MIT
 *
 * The floating-point environment: the default one inside, the caller's with each rounding,
 * flushing, traps and flags afterwards; threads of the library start with the default one whatever
 * their maker's is.
 */
#include "support.h"

#include <fenv.h>
#include <string.h>

#include "base/float_env.h"
#include "base/thread.h"

static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

/* Flushing has no name in C: the control register's bits. */
#if defined(__x86_64__)
#define FLUSH 0x8040u /* FTZ, DAZ */

static uint64_t control(void)
{
   return __builtin_ia32_stmxcsr();
}

static void flush(void)
{
   __builtin_ia32_ldmxcsr((unsigned)control() | FLUSH);
}
#elif defined(__aarch64__)
#define FLUSH 0x3000000u /* DN, FZ */

static uint64_t control(void)
{
   uint64_t value;
   __asm__ volatile("mrs %0, fpcr" : "=r"(value));
   return value;
}

static void flush(void)
{
   __asm__ volatile("msr fpcr, %0" ::"r"(control() | FLUSH));
}
#else
#define FLUSH 0u

static uint64_t control(void)
{
   return 0;
}

static void flush(void) {}
#endif

static void is_default(void)
{
   volatile float third = 1.0f, smallest = 0x1p-149f;
   third /= 3.0f;
   smallest *= 1.0f;
   assert_int_equal(fegetround(), FE_TONEAREST);
   assert_true(third == 0x1.555556p-2f);
   assert_true(smallest == 0x1p-149f);
   assert_int_equal(control() & FLUSH, 0);
}

static void entering_gives_the_default_and_leaving_the_callers(void **state)
{
   fenv_t before;
   fegetenv(&before);
   for (unsigned i = 0; i < 4; i++)
      for (unsigned flags = 0; flags <= 1; flags++) {
         feclearexcept(FE_ALL_EXCEPT);
         if (flags)
            feraiseexcept(FE_OVERFLOW | FE_INEXACT);
         fesetround(roundings[i]);
         flush();
         uint64_t callers = control();
         int raised = fetestexcept(FE_ALL_EXCEPT);
         struct agx_float_env env;
         agx_float_env_enter(&env);
         int inside = fetestexcept(FE_ALL_EXCEPT);
         is_default();
         feraiseexcept(FE_INVALID);
         agx_float_env_leave(&env);
         int left = fetestexcept(FE_ALL_EXCEPT), rounding = fegetround();
         uint64_t after = control();
         fesetenv(&before);
         assert_int_equal(inside, 0);
         assert_int_equal(left, raised);
         assert_int_equal(rounding, roundings[i]);
         assert_int_equal(after, callers);
      }
}

static void *see(void *user)
{
   float *seen = user;
   volatile float third = 1.0f, smallest = 0x1p-149f;
   third /= 3.0f;
   smallest *= 1.0f;
   seen[0] = third;
   seen[1] = smallest;
   return NULL;
}

static void threads_start_with_the_default(void **state)
{
   fenv_t before;
   fegetenv(&before);
   fesetround(FE_UPWARD);
   flush();
   float seen[2];
   pthread_t thread;
   int error = agx_thread_start(&thread, NULL, see, seen);
   int rounding = fegetround();
   bool is_kept = (control() & FLUSH) == FLUSH;
   fesetenv(&before);
   assert_int_equal(error, 0);
   pthread_join(thread, NULL);
   assert_int_equal(rounding, FE_UPWARD);
   assert_true(is_kept);
   assert_true(seen[0] == 0x1.555556p-2f);
   assert_true(seen[1] == 0x1p-149f);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(entering_gives_the_default_and_leaving_the_callers),
      cmocka_unit_test(threads_start_with_the_default),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
