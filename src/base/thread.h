/* SPDX-License-Identifier: MIT
 *
 * Starting a thread of the library's own. Signals are the program's affair: a handler that ran
 * on a thread the program knows nothing of would find none of its thread-local state, and a
 * thread that takes a signal keeps it from the one in sigwait. So these threads take none.
 */
#pragma once

#include <pthread.h>

/* As pthread_create, with every signal blocked in the new thread except those that an
 * instruction of the thread itself raises (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS).
 * attributes NULL: the default ones. Returns 0 or the error number. */
int agx_thread_start(pthread_t *out_thread, const pthread_attr_t *attributes,
                     void *(*body)(void *user), void *user);
