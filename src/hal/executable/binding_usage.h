/* SPDX-License-Identifier: MIT
 *
 * What a kernel's bindings ask of buffers: the launch template keeps it for the fast path of
 * recording, the general path works it out for each binding.
 */
#pragma once

#include <stdbool.h>

#include "agx/buffer.h"
#include "program/program.h"

/* What a buffer must have been made for: any of `reads`, and all of `writes`. */
struct agx_binding_usage {
   uint32_t reads, writes;
};

/* The usage that a binding of a kernel asks of its buffer. */
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

/* Whether a buffer made for `usage` may be bound. */
static inline bool agx_binding_usage_fits(const struct agx_binding_usage *wanted, uint32_t usage)
{
   return (!wanted->reads || usage & wanted->reads) && !(wanted->writes & ~usage);
}
