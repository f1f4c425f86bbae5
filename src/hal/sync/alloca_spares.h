/* SPDX-License-Identifier: MIT
 *
 * Objects of allocations that are kept to be used again (alloca.c).
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

struct agx_alloca;

/* Objects without memory, kept to be used again. */
struct agx_alloca_spares {
   pthread_mutex_t lock;
   struct agx_alloca *first;
   uint32_t count;
};
