/* SPDX-License-Identifier: MIT
 *
 * Buffers of a dispatch: checks, and the numbers that robust kernels ask for.
 */
#pragma once

#include "agx/buffer.h"
#include "hal/record/bind_image.h"

/* What a buffer must have been made for: any of `reads`, and all of `writes`. */
struct agx_binding_usage {
   uint32_t reads, writes;
};

static inline struct agx_binding_usage agx_binding_usage(const struct agx_program_binding *wanted)
{
   /* The driver's own kernels that fill and copy are the only ones that take any byte. */
   const bool is_transfer = wanted->access & AGX_BINDING_BYTES;
   const uint32_t read = is_transfer ? AGX_USAGE_TRANSFER_SOURCE
                         : wanted->kind == AGX_BINDING_UNIFORM_BUFFER
                            ? AGX_USAGE_UNIFORM | AGX_USAGE_STORAGE_READ
                            : AGX_USAGE_STORAGE_READ;
   const uint32_t write = is_transfer ? AGX_USAGE_TRANSFER_TARGET : AGX_USAGE_STORAGE_WRITE;
   return (struct agx_binding_usage){wanted->access & AGX_BINDING_READS ? read : 0,
                                     wanted->access & AGX_BINDING_WRITES ? write : 0};
}

static inline bool agx_binding_usage_fits(const struct agx_binding_usage *wanted, uint32_t usage)
{
   return (!wanted->reads || usage & wanted->reads) && !(wanted->writes & ~usage);
}

/* binding NULL: the application gave none. name is the executable's. */
AGX_MUST_CHECK agx_status agx_bind_buffer(const char *name,
                                          const struct agx_program_binding *wanted,
                                          const struct agx_binding *binding,
                                          struct agx_device *device, struct agx_bound *out_bound);

/* The same without the dispatch's name in front of a failure. */
AGX_MUST_CHECK agx_status agx_bind_range(const struct agx_program_binding *wanted,
                                         const struct agx_binding *binding,
                                         struct agx_device *device, struct agx_bound *out_bound);

/* What a uniform of the kinds AGX_UNIFORM_BUFFER_COUNT to _GUARD says of a bound buffer.
 * AGX_OUT_OF_RANGE names a binding whose kernel needs a sink where none is in reach. */
AGX_MUST_CHECK agx_status agx_bound_limit(const struct agx_program *program,
                                          const struct agx_program_uniform *slot,
                                          const struct agx_bound *bound, uint64_t *out_value);
