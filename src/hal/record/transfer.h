/* SPDX-License-Identifier: MIT
 *
 * Recording fills, updates and copies, of buffers (transfer.c) and images (image_transfer.c).
 */
#pragma once

#include "agx/queue.h"
#include "base/status.h"
#include "hal/record/image_transfer_desc.h"

/* agx_cmd_update without its limit. */
AGX_MUST_CHECK agx_status agx_record_update(struct agx_command_buffer *commands, const void *data,
                                            struct agx_buffer_ref target);

/* Checks that the range may be read, or written, by a transfer, which `what` names, and puts a
 * number in place of AGX_WHOLE_LENGTH. */
AGX_MUST_CHECK agx_status agx_transfer_check_source(const struct agx_device *device,
                                                    const char *what, struct agx_buffer_ref *ref);
AGX_MUST_CHECK agx_status agx_transfer_check_target(const struct agx_device *device,
                                                    const char *what, struct agx_buffer_ref *ref);

/* Notes a command whose launches began with that number, for profiles, unless it is one launch as
 * most are. */
AGX_MUST_CHECK agx_status agx_transfer_note_command(struct agx_command_buffer *commands,
                                                    uint32_t first);

/* Records a transfer of an image, now or when a table is known. */
AGX_MUST_CHECK agx_status agx_record_image_transfer(struct agx_command_buffer *commands,
                                                    const struct agx_image_transfer *transfer);
