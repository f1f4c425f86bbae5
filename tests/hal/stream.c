/* SPDX-License-Identifier: MIT
 *
 * Reads the command stream that a recording wrote, block by block, for tests that say what it must
 * hold.
 */
#include "stream.h"

#include <string.h>

#include "base/util.h"
#include "support.h"

#define MAX_BLOCKS 65536

const uint8_t *stream_memory(const struct agx_command_buffer *commands, uint64_t va)
{
   for (const struct agx_chunk *chunk = commands->first; chunk; chunk = chunk->next)
      if (va >= chunk->va && va - chunk->va < chunk->usable_B)
         return chunk->memory + (va - chunk->va);
   return NULL;
}

static uint32_t launch_words(const struct agx_command_buffer *commands)
{
   return agxw_device_info(agx_context_of(commands->device)->winsys)->chip->cdm_has_unk_words ? 10
                                                                                              : 8;
}

/* Steps over one block: its letter, or 0 at the end. */
static char step(const struct agx_command_buffer *commands, uint64_t *va)
{
   const uint32_t *words = (const uint32_t *)stream_memory(commands, *va);
   assert_non_null(words);
   switch (words[0] >> 29) {
   case AGX_HW_CDM_BLOCK_TYPE_LAUNCH:
      *va += launch_words(commands) * 4;
      return 'L';
   case AGX_HW_CDM_BLOCK_TYPE_BARRIER:
      *va += 4;
      return 'B';
   case AGX_HW_CDM_BLOCK_TYPE_STREAM_LINK:
      *va = (uint64_t)(words[0] & 0xff) << 32 | words[1];
      return step(commands, va);
   case AGX_HW_CDM_BLOCK_TYPE_STREAM_TERMINATE:
      return 0;
   default:
      fail_msg("block 0x%08x at 0x%llx", words[0], (unsigned long long)*va);
      return 0;
   }
}

const char *stream_text(const struct agx_command_buffer *commands)
{
   static _Thread_local char text[MAX_BLOCKS + 1];
   uint32_t length = 0;
   uint64_t va = commands->stream_va;
   if (!va)
      return "";
   for (char letter; (letter = step(commands, &va)) != 0;) {
      assert_true(length < MAX_BLOCKS);
      text[length++] = letter;
   }
   assert_true(length > 3 && memcmp(text + length - 3, "BLB", 3) == 0);
   text[length - 3] = 0;
   return text;
}

const uint32_t *stream_launch(const struct agx_command_buffer *commands, uint32_t number)
{
   uint64_t va = commands->stream_va;
   for (;;) {
      char letter = step(commands, &va);
      assert_true(letter != 0);
      if (letter == 'L' && number-- == 0)
         return (const uint32_t *)(stream_memory(commands, va) - launch_words(commands) * 4);
   }
}
