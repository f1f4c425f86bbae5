/* SPDX-License-Identifier: MIT
 *
 * Formats: what the HAL can do with them.
 */
#pragma once

#include "vulkan/object.h"

/* NULL: a format that the registry does not know. */
const struct agxvk_format *agxvk_format_find(VkFormat format);
