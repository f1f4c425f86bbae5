/* SPDX-License-Identifier: MIT
 *
 * --robust MODE and --robust SET.BINDING=MODE, where MODE is off, clamp or zero.
 */
#pragma once

#include <stdbool.h>

#include "agx/hal.h"

struct agx_tool_robust {
   uint32_t mode; /* enum agx_robustness, of all but: */
   struct agx_binding_robustness overrides[AGX_MAX_BINDINGS];
   uint32_t count;
};

#define AGX_TOOL_ROBUST_VALUES "off, clamp, zero, or one of them for a binding: 0.1=zero"

/* Takes one option's value; false when it makes no sense. */
bool agx_tool_robust_parse(struct agx_tool_robust *robust, const char *text);
