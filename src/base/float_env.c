/* SPDX-License-Identifier: MIT
 *
 * Switching a thread to the default floating-point environment and back, for the entries of the
 * library that compute with floats. C's fenv.h does nearly all of it.
 */
#include "base/float_env.h"

#ifdef __aarch64__
/* C libraries leave bits of FPCR alone that they take for reserved, such as DN (one NaN for all)
 * and FZ16 (flushing of halves). */
static void clear_control(void)
{
   __asm__ volatile("msr fpcr, xzr" ::: "memory");
}
#else
static void clear_control(void) {}
#endif

void agx_float_env_enter(struct agx_float_env *env)
{
   fegetenv(&env->callers);
   fesetenv(FE_DFL_ENV);
   clear_control();
}

void agx_float_env_leave(const struct agx_float_env *env)
{
   fesetenv(&env->callers);
}
