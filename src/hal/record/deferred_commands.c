/* SPDX-License-Identifier: MIT
 *
 * Memory of deferred commands: a list in blocks that stay from recording to recording.
 * command_defer.c fills it.
 */
#include "hal/record/deferred_commands_impl.h"

#include <string.h>

#include "base/util.h"

#define BLOCK_B ((size_t)32 << 10)

struct agx_deferred_block {
   struct agx_deferred_block *next;
   size_t size_B, used_B; /* of data */
   _Alignas(16) uint8_t data[];
};

void agx_deferred_commands_reset(struct agx_deferred_commands *deferred)
{
   while (deferred->blocks) {
      struct agx_deferred_block *block = deferred->blocks;
      deferred->blocks = block->next;
      block->used_B = 0;
      block->next = deferred->spare;
      deferred->spare = block;
   }
   deferred->first = deferred->last = NULL;
}

void agx_deferred_commands_fini(struct agx_deferred_commands *deferred)
{
   agx_deferred_commands_reset(deferred);
   while (deferred->spare) {
      struct agx_deferred_block *block = deferred->spare;
      deferred->spare = block->next;
      agx_host_free(deferred->alloc, block, sizeof(*block) + block->size_B);
   }
}

static struct agx_deferred_block *take_block(struct agx_deferred_commands *deferred, size_t size_B)
{
   struct agx_deferred_block *block = deferred->spare;
   if (block && block->size_B >= size_B) {
      deferred->spare = block->next;
   } else {
      size_B = AGX_MAX(size_B, BLOCK_B);
      block = agx_host_zalloc(deferred->alloc, sizeof(*block) + size_B);
      if (!block)
         return NULL;
      block->size_B = size_B;
   }
   block->next = deferred->blocks;
   deferred->blocks = block;
   return block;
}

void *agx_deferred_take(struct agx_deferred_commands *deferred, size_t size_B)
{
   struct agx_deferred_block *block = deferred->blocks;
   size_B = agx_align_up(size_B, 16);
   if (!block || block->size_B - block->used_B < size_B)
      block = take_block(deferred, size_B);
   if (!block)
      return NULL;
   void *memory = block->data + block->used_B;
   block->used_B += size_B;
   return memory;
}

bool agx_deferred_keep(struct agx_deferred_commands *deferred, const void *from, size_t size_B,
                       const void **out)
{
   *out = NULL;
   if (!from || size_B == 0)
      return true;
   void *copy = agx_deferred_take(deferred, size_B);
   if (copy)
      memcpy(copy, from, size_B);
   *out = copy;
   return copy;
}

struct agx_deferred_command *agx_deferred_add(struct agx_deferred_commands *deferred,
                                              enum agx_deferred_kind kind)
{
   struct agx_deferred_command *entry = agx_deferred_take(deferred, sizeof(*entry));
   if (!entry)
      return NULL;
   memset(entry, 0, sizeof(*entry));
   entry->kind = kind;
   return entry;
}

void agx_deferred_append(struct agx_deferred_commands *deferred, struct agx_deferred_command *entry)
{
   if (deferred->last)
      deferred->last->next = entry;
   else
      deferred->first = entry;
   deferred->last = entry;
}
