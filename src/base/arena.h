/* SPDX-License-Identifier: MIT
 *
 * A bump allocator: everything is freed at once, or back to a mark. Memory
 * comes zeroed. When the host has no more memory or the arena's limit is
 * reached, the arena leaves through the jump buffer that its owner set, once;
 * so code that allocates from it has no error paths and must own nothing else.
 */
#pragma once

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct agx_arena_block;

struct agx_arena {
   const struct agx_host_alloc *alloc;
   struct agx_arena_block *current;
   size_t used;    /* bytes used in current */
   size_t total_B; /* bytes taken from the host */
   size_t limit_B; /* most that may be taken; SIZE_MAX for none */
   jmp_buf *exhausted;
};

struct agx_arena_mark {
   struct agx_arena_block *block;
   size_t used;
};

/* alloc NULL means the C library; exhausted must be set before the first
 * allocation and stay valid; limit_B bounds what hostile input can cost. */
void agx_arena_init(struct agx_arena *arena, const struct agx_host_alloc *alloc, size_t limit_B,
                    jmp_buf *exhausted);
/* Gives all memory back to the host allocator. */
void agx_arena_fini(struct agx_arena *arena);

/* Zeroed memory, aligned to 16 bytes, valid until the arena's end or release
 * of an earlier mark. Never returns NULL. */
void *agx_arena_alloc(struct agx_arena *arena, size_t size);

/* count elements of size bytes; a product that overflows counts as exhausted. */
void *agx_arena_array(struct agx_arena *arena, size_t count, size_t size);

/* A larger copy of an array of old_count elements; the rest is zero. */
void *agx_arena_grow(struct agx_arena *arena, const void *old, size_t old_count, size_t count,
                     size_t size);

/* Formatted text, in the arena. */
char *agx_arena_printf(struct agx_arena *arena, const char *format, ...)
   __attribute__((format(printf, 2, 3)));

/* Where the arena stands, for agx_arena_release. */
struct agx_arena_mark agx_arena_mark(const struct agx_arena *arena);
/* Frees what was allocated since the mark. */
void agx_arena_release(struct agx_arena *arena, struct agx_arena_mark mark);

#define AGX_ARENA_NEW(arena, type) ((type *)agx_arena_alloc((arena), sizeof(type)))
#define AGX_ARENA_ARRAY(arena, type, count)                                                        \
   ((type *)agx_arena_array((arena), (count), sizeof(type)))
