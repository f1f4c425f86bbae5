/* SPDX-License-Identifier: MIT
 *
 * An array that grows, for what a recording notes on the host.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

/* An array that grows; its memory stays from recording to recording. */
struct agx_vector {
   void *items;
   uint32_t count, capacity;
};

/* Room for one more item of item_B bytes, or NULL: out of host memory. */
void *agx_vector_add(struct agx_vector *vector, const struct agx_host_alloc *alloc, size_t item_B);
/* Frees the items' memory; the items own nothing. */
void agx_vector_fini(struct agx_vector *vector, const struct agx_host_alloc *alloc, size_t item_B);
