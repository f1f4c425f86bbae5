/* SPDX-License-Identifier: MIT
 *
 * Debug flags (debug.def), parsed once from the environment by code that opens a device and
 * handed down from there.
 */
#pragma once

#include <stdint.h>

#include "base/status.h"

enum agx_debug_bit {
#define DEBUG(name, NAME, sentence) AGX_DEBUG_BIT_##NAME,
#include "base/debug.def"
#undef DEBUG
};

enum agx_debug {
#define DEBUG(name, NAME, sentence) AGX_DEBUG_##NAME = 1u << AGX_DEBUG_BIT_##NAME,
#include "base/debug.def"
#undef DEBUG
};

/* The flags that text names ("ir,sync"; NULL or "": none). AGX_INVALID_ARGUMENT tells which
 * word is unknown and what there is. `help` prints the list to standard error. */
AGX_MUST_CHECK agx_status agx_debug_parse(const char *text, uint32_t *out_flags);
