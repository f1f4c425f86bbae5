/* SPDX-License-Identifier: MIT
 *
 * What the walks over streams share.
 */
#pragma once

#include "agx/hw/decode.h"

/* Copies memory that `what` lies in; AGX_DATA_LOSS with its name when it is not there. */
AGX_MUST_CHECK agx_status agx_hw_read_words(const struct agx_hw_reader *reader, uint64_t va,
                                            void *out, size_t size, const char *what);
/* Reads one packet, moves on behind it, and tells the visitor. */
AGX_MUST_CHECK agx_status agx_hw_take_packet(const struct agx_hw_reader *reader,
                                             const struct agx_hw_visitor *visitor,
                                             const struct agx_hw_packet *packet, uint64_t *va,
                                             void *out_values);
