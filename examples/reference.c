/* SPDX-License-Identifier: MIT */
#include "reference.h"

#include <math.h>
#include <stdio.h>

static char text[160];

static uint32_t next(uint32_t *state)
{
   *state ^= *state << 13;
   *state ^= *state >> 17;
   *state ^= *state << 5;
   return *state;
}

void fill_floats(float *data, uint32_t count, uint32_t seed)
{
   for (uint32_t i = 0; i < count; i++)
      data[i] = (float)(next(&seed) >> 8) * 0x1p-23f - 1.0f;
}

void fill_integers(uint32_t *data, uint32_t count, uint32_t seed)
{
   for (uint32_t i = 0; i < count; i++)
      data[i] = next(&seed) % 1000;
}

/* The GPU may fuse multiplication and addition, so the last bits may differ. */
static bool is_close(double got, double want, double scale)
{
   return fabs(got - want) <= 1e-5 * (fabs(want) + scale);
}

const char *check_saxpy(const float *x, const float *y_before, const float *y, float a,
                        uint32_t count)
{
   for (uint32_t i = 0; i < count; i++) {
      double want = (double)a * x[i] + y_before[i];
      if (is_close(y[i], want, 1.0))
         continue;
      snprintf(text, sizeof(text), "y[%u] is %g, should be %g", i, y[i], want);
      return text;
   }
   return NULL;
}

const char *check_reduction(const uint32_t *data, uint32_t count, const uint32_t *sums,
                            uint32_t groups, uint32_t group_size)
{
   for (uint32_t group = 0; group < groups; group++) {
      uint32_t want = 0;
      for (uint32_t lane = 0; lane < group_size; lane++)
         for (uint32_t i = group * group_size + lane; i < count; i += groups * group_size)
            want += data[i];
      if (sums[group] == want)
         continue;
      snprintf(text, sizeof(text), "sum %u is %u, should be %u", group, sums[group], want);
      return text;
   }
   return NULL;
}

const char *check_matmul(const float *a, const float *b, const float *c, uint32_t rows,
                         uint32_t columns, uint32_t inner)
{
   for (uint32_t row = 0; row < rows; row++) {
      for (uint32_t column = 0; column < columns; column++) {
         double want = 0;
         for (uint32_t i = 0; i < inner; i++)
            want += (double)a[row * inner + i] * b[i * columns + column];
         float got = c[row * columns + column];
         if (is_close(got, want, (double)inner / 8))
            continue;
         snprintf(text, sizeof(text), "c[%u][%u] is %g, should be %g", row, column, got, want);
         return text;
      }
   }
   return NULL;
}

static uint32_t escape(const struct mandelbrot_view *view, uint32_t column, uint32_t row)
{
   float cx = view->left + (float)column * view->step, cy = view->top + (float)row * view->step;
   float x = 0, y = 0;
   uint32_t n = 0;
   for (; n < view->limit && x * x + y * y <= 4.0f; n++) {
      float next_x = x * x - y * y + cx;
      y = 2.0f * x * y + cy;
      x = next_x;
   }
   return n;
}

/* Orbits near the border amplify the last bit, so a few pixels may differ. */
const char *check_mandelbrot(const uint32_t *iterations, const struct mandelbrot_view *view)
{
   uint32_t different = 0, pixels = view->width * view->height;
   for (uint32_t row = 0; row < view->height; row++)
      for (uint32_t column = 0; column < view->width; column++)
         different += iterations[row * view->width + column] != escape(view, column, row);
   if (different <= pixels / 50)
      return NULL;
   snprintf(text, sizeof(text), "%u of %u pixels differ", different, pixels);
   return text;
}
