/* SPDX-License-Identifier: MIT
 *
 * The monotonic clock, which deadlines are given in, and waiting by it.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* Now, in nanoseconds. */
static inline int64_t agx_now_ns(void)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* A time of this clock for pthread_cond_timedwait. */
static inline struct timespec agx_timespec(int64_t time_ns)
{
   return (struct timespec){.tv_sec = (time_t)(time_ns / 1000000000),
                            .tv_nsec = (long)(time_ns % 1000000000)};
}

/* As pthread_cond_init; timed waits go by this clock. */
static inline void agx_cond_init(pthread_cond_t *condition)
{
   pthread_condattr_t monotonic;
   pthread_condattr_init(&monotonic);
   pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
   pthread_cond_init(condition, &monotonic);
   pthread_condattr_destroy(&monotonic);
}
