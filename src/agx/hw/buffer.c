/* SPDX-License-Identifier: MIT
 *
 * Appending packets to bounded memory.
 */
#include "agx/hw/buffer.h"

#include "base/util.h"

agx_status agx_hw_append(struct agx_hw_buffer *buffer, const struct agx_hw_packet *packet,
                         const void *values)
{
   if (!agx_range_fits(buffer->used, packet->size_B, buffer->capacity))
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: no room behind %zu of %zu bytes", packet->name,
                      buffer->used, buffer->capacity);
   AGX_TRY(agx_hw_pack(packet, values, buffer->memory + buffer->used));
   buffer->used += packet->size_B;
   return AGX_OK;
}
