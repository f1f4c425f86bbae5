/* SPDX-License-Identifier: MIT
 *
 * One way at least of making each thing that there is.
 */
#pragma once

#include "shortage.h"

enum {
   OWN_NODE = 1, /* it asks a node of its own */
   WAKES = 2,    /* the completion thread asks, too, and takes the device away with what fails */
};

struct create_maker {
   const char *function;
   agx_status (*make)(struct shortage *s, void **out);
   void (*undo)(void *thing);
   uint32_t special;
};

extern const struct create_maker makers[];
extern const size_t maker_count;

/* What makers leave in place who don't set it. */
#define POISON ((void *)1)

/* What makers take: made over the device, and released. */
void make_given(struct shortage *s);
void release_given(void);
