/* SPDX-License-Identifier: MIT
 *
 * Pictures of iteration counts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Colours counts (row by row; `limit` is inside the set, black) and writes a PNG. */
bool write_mandelbrot(const char *path, const uint32_t *counts, uint32_t width, uint32_t height,
                      uint32_t limit);
