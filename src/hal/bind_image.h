/* SPDX-License-Identifier: MIT
 *
 * What a dispatch binds, checked and resolved; and the descriptors of images and samplers
 * that its state registers hold.
 */
#pragma once

#include "hal/image.h"
#include "program/program.h"

/* One of the executable's bindings in one dispatch. */
struct agx_bound {
   void *objects[2];           /* to retain; NULL where there is none */
   uint64_t address, length_B; /* buffers */
   struct agxw_sinks sinks;    /* of robust ones; zeros where they are out of reach */
   const struct agx_image *image;
   const struct agx_sampler *sampler;
   uint32_t first_level, level_count, dim;
};

/* Of an image, a sampler, or both; name is the executable's. */
AGX_MUST_CHECK agx_status agx_bind_image(const char *name, const struct agx_program_binding *wanted,
                                         const struct agx_binding *binding,
                                         struct agx_device *device, struct agx_bound *out_bound);

/* What a uniform says of a bound image. */
uint64_t agx_bound_property(const struct agx_bound *bound, enum agx_image_property property);

/* The descriptors that program->states asks for: textures, then samplers. */
AGX_MUST_CHECK agx_status agx_bound_write_states(const struct agx_program *program,
                                                 const struct agx_bound *bound, uint8_t *out);
