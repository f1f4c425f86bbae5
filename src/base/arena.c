/* SPDX-License-Identifier: MIT
 *
 * Blocks of an arena: 64 KiB each, or as large as one allocation needs. The
 * compiler allocates everything from arenas.
 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"

#define BLOCK_BYTES ((size_t)64 << 10)
#define ALIGN       ((size_t)16)

struct agx_arena_block {
   struct agx_arena_block *prev;
   size_t size; /* bytes of data */
   _Alignas(16) unsigned char data[];
};

void agx_arena_init(struct agx_arena *arena, const struct agx_host_alloc *alloc, size_t limit_B,
                    jmp_buf *exhausted)
{
   *arena = (struct agx_arena){
      .alloc = alloc ? alloc : agx_host_alloc_default(),
      .limit_B = limit_B,
      .exhausted = exhausted,
   };
}

static void pop_block(struct agx_arena *arena)
{
   struct agx_arena_block *block = arena->current;
   size_t bytes = sizeof(*block) + block->size;
   arena->current = block->prev;
   arena->total_B -= bytes;
   agx_host_free(arena->alloc, block, bytes);
}

void agx_arena_fini(struct agx_arena *arena)
{
   while (arena->current)
      pop_block(arena);
   arena->used = 0;
}

static void __attribute__((noreturn)) leave(struct agx_arena *arena)
{
   agx_assert(arena->exhausted);
   longjmp(*arena->exhausted, 1);
}

static void push_block(struct agx_arena *arena, size_t size)
{
   size_t data = AGX_MAX(size, BLOCK_BYTES - sizeof(struct agx_arena_block));
   size_t bytes = sizeof(struct agx_arena_block) + data;
   if (bytes < data || bytes > arena->limit_B || arena->total_B > arena->limit_B - bytes)
      leave(arena);
   struct agx_arena_block *block = arena->alloc->alloc(arena->alloc->user, bytes);
   if (!block)
      leave(arena);
   block->prev = arena->current;
   block->size = data;
   arena->current = block;
   arena->used = 0;
   arena->total_B += bytes;
}

void *agx_arena_alloc(struct agx_arena *arena, size_t size)
{
   if (size > SIZE_MAX / 2)
      leave(arena);
   size = agx_align_up(AGX_MAX(size, (size_t)1), ALIGN);
   if (!arena->current || size > arena->current->size - arena->used)
      push_block(arena, size);
   void *memory = arena->current->data + arena->used;
   arena->used += size;
   return memset(memory, 0, size);
}

void *agx_arena_array(struct agx_arena *arena, size_t count, size_t size)
{
   size_t bytes;
   if (__builtin_mul_overflow(count, size, &bytes))
      leave(arena);
   return agx_arena_alloc(arena, bytes);
}

void *agx_arena_grow(struct agx_arena *arena, const void *old, size_t old_count, size_t count,
                     size_t size)
{
   void *memory = agx_arena_array(arena, count, size);
   if (old_count)
      memcpy(memory, old, AGX_MIN(old_count, count) * size);
   return memory;
}

char *agx_arena_printf(struct agx_arena *arena, const char *format, ...)
{
   agx_assert(format); /* GCC's UBSan build wants to know, too */
   va_list args;
   va_start(args, format);
   int length = vsnprintf(NULL, 0, format, args);
   va_end(args);
   if (length < 0)
      leave(arena);
   char *text = agx_arena_alloc(arena, (size_t)length + 1);
   va_start(args, format);
   vsnprintf(text, (size_t)length + 1, format, args);
   va_end(args);
   return text;
}

struct agx_arena_mark agx_arena_mark(const struct agx_arena *arena)
{
   return (struct agx_arena_mark){.block = arena->current, .used = arena->used};
}

void agx_arena_release(struct agx_arena *arena, struct agx_arena_mark mark)
{
   while (arena->current != mark.block)
      pop_block(arena);
   arena->used = mark.used;
}
