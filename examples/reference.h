/* SPDX-License-Identifier: MIT
 *
 * The examples' inputs, and what each kernel must compute, on the CPU.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Reproducible inputs: floats in -1..1, small integers. */
void fill_floats(float *data, uint32_t count, uint32_t seed);
void fill_integers(uint32_t *data, uint32_t count, uint32_t seed);

/* Each returns NULL when the kernel's result is right, else what is wrong with it
 * (a static text, valid until the next call). */
const char *check_saxpy(const float *x, const float *y_before, const float *y, float a,
                        uint32_t count);
const char *check_reduction(const uint32_t *data, uint32_t count, const uint32_t *sums,
                            uint32_t groups, uint32_t group_size);
const char *check_matmul(const float *a, const float *b, const float *c, uint32_t rows,
                         uint32_t columns, uint32_t inner);

struct mandelbrot_view {
   uint32_t width, height, limit;
   float left, top, step;
};
const char *check_mandelbrot(const uint32_t *iterations, const struct mandelbrot_view *view);
