/* SPDX-License-Identifier: MIT
 *
 * A host allocator that fails on request, for tests of what happens without memory.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>

#include "base/alloc.h"

/* An allocator whose nth allocation (0 = the first) and all later ones fail.
 * Embedded; reset remaining to arm it again. */
struct failing_alloc {
   struct agx_host_alloc alloc;
   _Atomic size_t remaining; /* allocations that still succeed */
   _Atomic size_t live;      /* allocations not yet freed */
};
/* Lets the next `remaining` allocations succeed and all later ones fail. */
void failing_alloc_init(struct failing_alloc *failing, size_t remaining);
/* Waits until all memory has come back; then nothing reads *failing any more. A device may end in a
 * thread of the library, after the last release has returned. A leak hangs here. */
void failing_alloc_await_end(const struct failing_alloc *failing);
