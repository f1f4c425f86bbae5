/* SPDX-License-Identifier: MIT
 *
 * What fork(2) and threads of the library's own mean for objects.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How often this process has come out of a fork(2), its forebears too, since the library was used
 * first. What was made before the last one is the parent's: its threads are not here, and its
 * handles, descriptors and GPU memory are shared with it. */
extern uint32_t agx_forks;

/* Called in each child, on its only thread, before fork(2) returns. */
typedef void (*agx_fork_hook)(void);

/* Counts agx_forks from now on and calls the hooks, an array that ends with NULL and stays valid.
 * Later calls change nothing. Any thread. */
void agx_forks_watch(const agx_fork_hook *hooks);

/* Set by threads that the library has started: they don't destroy devices by themselves, since
 * that waits for them. In a child of fork(2) it is false: the thread is the application's. */
extern _Thread_local bool agx_on_library_thread;
