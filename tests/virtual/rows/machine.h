/* SPDX-License-Identifier: MIT
 *
 * A machine that holds what is submitted to it: stream n ends when it is fired.
 */
#pragma once

#include <pthread.h>

#include "agx/sim/sim.h"

static pthread_mutex_t machine_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t machine_fired = PTHREAD_COND_INITIALIZER;
static uint64_t machine_open;

static agx_status machine_run(const struct agx_chip *chip, const struct agxs_memory *memory,
                              const struct agxs_options *options, uint64_t usc_base,
                              uint64_t stream_va, struct agxs_stats *out_stats)
{
   pthread_mutex_lock(&machine_lock);
   while (!(machine_open >> stream_va & 1))
      pthread_cond_wait(&machine_fired, &machine_lock);
   pthread_mutex_unlock(&machine_lock);
   return AGX_OK;
}

static void machine_fire(unsigned stream)
{
   pthread_mutex_lock(&machine_lock);
   machine_open |= 1ull << stream;
   pthread_cond_broadcast(&machine_fired);
   pthread_mutex_unlock(&machine_lock);
}

static void machine_close(unsigned stream)
{
   pthread_mutex_lock(&machine_lock);
   machine_open &= ~(1ull << stream);
   pthread_mutex_unlock(&machine_lock);
}
