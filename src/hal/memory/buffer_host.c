/* SPDX-License-Identifier: MIT
 *
 * What the host does with a buffer's contents by itself.
 */
#include <string.h>

#include "hal/memory/buffer.h"

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

agx_status agx_pattern_check(const struct agx_buffer_ref *target, const void *pattern,
                             uint32_t pattern_B, uint32_t *out_word)
{
   if (!pattern || (pattern_B != 1 && pattern_B != 2 && pattern_B != 4))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "fill: a pattern of %u bytes at %p; it takes 1, 2 or 4",
                      pattern_B, pattern);
   if (target->offset_B % pattern_B || target->length_B % pattern_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "fill: offset %llu, length %llu: no multiples of the pattern's %u bytes",
                      (unsigned long long)target->offset_B, (unsigned long long)target->length_B,
                      pattern_B);
   uint8_t *bytes = (uint8_t *)out_word;
   for (uint32_t i = 0; i < sizeof(*out_word); i++)
      bytes[i] = ((const uint8_t *)pattern)[i % pattern_B];
   return AGX_OK;
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
