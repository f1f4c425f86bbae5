/* SPDX-License-Identifier: MIT
 *
 * Looks into what a command buffer recorded.
 */
#pragma once

#include "hal/record/command_buffer.h"

/* Host memory of a GPU address in its chunks; NULL: it lies elsewhere. */
const uint8_t *stream_memory(const struct agx_command_buffer *commands, uint64_t va);

/* The stream of a recorded command buffer, a letter a block: L launch, B barrier, without links and
 * without the breadcrumb's end. The breadcrumb must be there. */
const char *stream_text(const struct agx_command_buffer *commands);

/* The words of the launch of that number. */
const uint32_t *stream_launch(const struct agx_command_buffer *commands, uint32_t number);
