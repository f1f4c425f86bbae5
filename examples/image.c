/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

/* Colours that are run through as counts grow, again and again. */
static const uint8_t palette[][3] = {
   {0, 7, 100}, {32, 107, 203}, {237, 255, 255}, {255, 170, 0}, {106, 20, 30}, {10, 2, 30},
};
#define COLOURS (sizeof(palette) / sizeof(palette[0]))

static void colour(uint32_t count, uint32_t limit, uint8_t *pixel)
{
   memset(pixel, 0, 3);
   if (count >= limit)
      return;
   /* Counts grow without bound towards the border; their logarithm steps evenly. */
   double place = fmod(log2(1.0 + count) * 0.9, COLOURS);
   size_t from = (size_t)place, to = (from + 1) % COLOURS;
   double part = place - (double)from;
   for (int i = 0; i < 3; i++)
      pixel[i] = (uint8_t)(palette[from][i] * (1.0 - part) + palette[to][i] * part + 0.5);
}

bool write_mandelbrot(const char *path, const uint32_t *counts, uint32_t width, uint32_t height,
                      uint32_t limit)
{
   uint8_t *pixels = malloc((size_t)width * height * 3);
   if (!pixels)
      return false;
   for (size_t i = 0; i < (size_t)width * height; i++)
      colour(counts[i], limit, pixels + 3 * i);
   png_image image = {
      .version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_RGB};
   bool written = png_image_write_to_file(&image, path, 0, pixels, 0, NULL);
   free(pixels);
   return written;
}
