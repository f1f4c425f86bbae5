/* SPDX-License-Identifier: MIT
 *
 * A bounded piece of memory that words are appended to: what the writers of
 * streams and USC programs share.
 */
#pragma once

#include "agx/hw/packet.h"

struct agx_hw_buffer {
   uint8_t *memory;
   size_t capacity, used;
};

/* Packs values at the end; AGX_RESOURCE_EXHAUSTED when there is no room, with nothing
 * written. */
AGX_MUST_CHECK agx_status agx_hw_append(struct agx_hw_buffer *buffer,
                                        const struct agx_hw_packet *packet, const void *values);
