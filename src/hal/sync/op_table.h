/* SPDX-License-Identifier: MIT
 *
 * The table of kinds of operations.
 */
#pragma once

#include "hal/sync/op.h"

/* By enum agx_op_kind; NULL for numbers that are none. */
const struct agx_op_type *agx_op_type(const struct agx_device *device, uint32_t kind);
