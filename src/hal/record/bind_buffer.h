/* SPDX-License-Identifier: MIT
 *
 * Buffers of a dispatch.
 */
#pragma once

#include "agx/buffer.h"
#include "hal/executable/launch_template.h"
#include "hal/record/bind_image.h"

/* binding NULL: the application gave none. name is the executable's. */
AGX_MUST_CHECK agx_status agx_bind_buffer(const char *name,
                                          const struct agx_program_binding *wanted,
                                          const struct agx_binding *binding,
                                          struct agx_device *device, struct agx_bound *out_bound);

/* The same without the dispatch's name in front of a failure. */
AGX_MUST_CHECK agx_status agx_bind_range(const struct agx_program_binding *wanted,
                                         const struct agx_binding *binding,
                                         struct agx_device *device, struct agx_bound *out_bound);
