/* SPDX-License-Identifier: MIT
 *
 * What the host does with a buffer's contents by itself.
 */
#include <string.h>

#include "hal/memory/buffer.h"
#include "hal/record/transfer.h"

agx_status agx_buffer_read(struct agx_buffer *buffer, uint64_t offset_B, uint64_t length_B,
                           void *out_data)
{
   void *memory;
   AGX_TRY(agx_buffer_check_range(buffer, offset_B, &length_B));
   if (length_B && !out_data)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %llu bytes to NULL", buffer->label,
                      (unsigned long long)length_B);
   AGX_TRY(agx_buffer_map_range(buffer, offset_B, length_B, AGX_ACCESS_READ, &memory));
   if (length_B)
      memcpy(out_data, memory, length_B);
   return agx_buffer_unmap(buffer);
}

agx_status agx_buffer_write(struct agx_buffer *buffer, uint64_t offset_B, uint64_t length_B,
                            const void *data)
{
   void *memory;
   AGX_TRY(agx_buffer_check_range(buffer, offset_B, &length_B));
   if (length_B && !data)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %llu bytes from NULL", buffer->label,
                      (unsigned long long)length_B);
   AGX_TRY(agx_buffer_map_range(buffer, offset_B, length_B, AGX_ACCESS_WRITE, &memory));
   if (length_B)
      memcpy(memory, data, length_B);
   return agx_buffer_unmap(buffer);
}

agx_status agx_buffer_fill(struct agx_buffer *buffer, uint64_t offset_B, uint64_t length_B,
                           const void *pattern, uint32_t pattern_B)
{
   struct agx_buffer_ref target = {buffer, offset_B, length_B};
   uint32_t word;
   void *memory;
   AGX_TRY(agx_buffer_check_range(buffer, offset_B, &target.length_B));
   AGX_TRY(agx_pattern_check(&target, pattern, pattern_B, &word));
   AGX_TRY(agx_buffer_map_range(buffer, offset_B, target.length_B, AGX_ACCESS_WRITE, &memory));
   uint8_t *at = memory;
   uint64_t done = 0;
   for (; target.length_B - done >= sizeof(word); done += sizeof(word))
      memcpy(at + done, &word, sizeof(word));
   memcpy(at + done, &word, target.length_B - done);
   return agx_buffer_unmap(buffer);
}
