/* SPDX-License-Identifier: MIT
 *
 * Starting a thread of the library's own. Signals are the program's affair: a handler that ran
 * on a thread the program knows nothing of would find none of its thread-local state, and a
 * thread that takes a signal keeps it from the one in sigwait. So these threads take none.
 */
#pragma once

#include <pthread.h>

/* As pthread_create, with the default floating-point environment (base/float_env.h) and every
 * signal blocked in the new thread except those that an instruction of the thread itself raises
 * (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS). attributes NULL: the default ones. Returns 0
 * or the error number. */
int agx_thread_start(pthread_t *out_thread, const pthread_attr_t *attributes,
                     void *(*body)(void *user), void *user);

/* What a function does with a lock, for clang's -Wthread-safety (make check-threads); other
 * compilers see nothing. The attributes name a class of locks rather than one: `struct
 * agx_lock_class agx_sync_lock_class` stands for the sync lock of whichever device, since C
 * compilers of Debian 12 can't tie members to a lock, and clang can't tell that two expressions
 * name one device.
 *
 *    AGX_REQUIRES(class)   the caller holds the lock, before and after; where the function lets it
 *                          go in between, its name ends in _unlocking
 *    AGX_ACQUIRES(class)   the function takes the lock, and returns with it
 *    AGX_RELEASES(class)   the caller holds the lock; the function returns without it
 *    AGX_EXCLUDES(class)   the caller must not hold the lock: the function takes it, or waits
 *    AGX_TRUSTED           the function's body is not checked: it calls the C library's functions
 */
#ifdef __clang__
#define AGX_CAPABILITY(name) __attribute__((capability(name)))
#define AGX_REQUIRES(...)    __attribute__((requires_capability(__VA_ARGS__)))
#define AGX_ACQUIRES(...)    __attribute__((acquire_capability(__VA_ARGS__)))
#define AGX_RELEASES(...)    __attribute__((release_capability(__VA_ARGS__)))
#define AGX_EXCLUDES(...)    __attribute__((locks_excluded(__VA_ARGS__)))
#define AGX_TRUSTED          __attribute__((no_thread_safety_analysis))
#else
#define AGX_CAPABILITY(name)
#define AGX_REQUIRES(...)
#define AGX_ACQUIRES(...)
#define AGX_RELEASES(...)
#define AGX_EXCLUDES(...)
#define AGX_TRUSTED
#endif

/* Only declared, never defined: attributes name it, code does not. */
struct AGX_CAPABILITY("mutex") agx_lock_class {
   char unused;
};
