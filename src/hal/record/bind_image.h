/* SPDX-License-Identifier: MIT
 *
 * Checking and resolving the images, samplers and texel buffers that a dispatch binds.
 */
#pragma once

#include "hal/core/context.h"
#include "hal/memory/descriptor.h"
#include "program/program.h"

/* Of an image, a sampler, or both, or a texel buffer; name is the executable's. binding NULL: an
 * element of an array that the application leaves out. */
AGX_MUST_CHECK agx_status agx_bind_image(const char *name, const struct agx_program_binding *wanted,
                                         const struct agx_binding *binding,
                                         struct agx_device *device, struct agx_bound *out_bound);

/* The same without the dispatch's name in front of a failure. */
AGX_MUST_CHECK agx_status agx_bind_seen(const struct agx_program_binding *wanted,
                                        const struct agx_binding *binding,
                                        struct agx_device *device, struct agx_bound *out);

/* Makes *out something that is not there; sinks and an address that they can be reached from. */
void agx_bind_nothing_seen(const struct agx_device *device, struct agx_bound *out);
