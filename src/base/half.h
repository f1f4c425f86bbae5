/* SPDX-License-Identifier: MIT
 *
 * IEEE half precision, exactly: the same bits on every host.
 */
#pragma once

#include <stdint.h>

/* Rounds to nearest even; denormals are kept, a NaN becomes a quiet one. */
uint16_t agx_half_from_float(float value);

/* Exact; the payload of a NaN is kept in the high bits. */
float agx_half_to_float(uint16_t half);
