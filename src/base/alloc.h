/* SPDX-License-Identifier: MIT
 *
 * The host allocator that an application hands in, or the C library's.
 */
#pragma once

#include <stddef.h>

/* alloc returns memory aligned for any type or NULL; free takes the size that
 * alloc was given, so that arena allocators fit. */
struct agx_host_alloc {
   void *user;
   void *(*alloc)(void *user, size_t size);
   void (*free)(void *user, void *memory, size_t size);
};

/* malloc and free. */
const struct agx_host_alloc *agx_host_alloc_default(void);

/* Zeroed memory from alloc (NULL means the default one), or NULL. */
void *agx_host_zalloc(const struct agx_host_alloc *alloc, size_t size);
/* Gives memory of agx_host_zalloc back, with the size that it was asked for; alloc is the same. */
void agx_host_free(const struct agx_host_alloc *alloc, void *memory, size_t size);
