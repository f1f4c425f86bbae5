/* SPDX-License-Identifier: MIT
 *
 * What a compiled kernel is found by.
 */
#pragma once

#include "agx/compiler/compiler.h"
#include "hal/executable/digest.h"

struct agx_cache_key {
   uint8_t digest[AGX_DIGEST_B];
   uint64_t material_B; /* what the digest is of */
};

/* Of all that decides what the compiler makes of a module: the options that change code, and the
 * compiler itself, by compiler_id (NULL: this one). */
void agx_cache_key_make(const void *spirv, size_t size, const struct agxc_options *options,
                        const char *compiler_id, struct agx_cache_key *out_key);
