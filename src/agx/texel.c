/* SPDX-License-Identifier: MIT
 *
 * Turns a color into the bytes of a texel, for clears, whose kernel stores bytes (hal/record).
 */
#include "agx/texel.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"

#define CODE_SHARED_EXPONENT 39

/* Codes of format.def. */
enum type_code {
   TYPE_UNORM = 0,
   TYPE_SNORM = 1,
   TYPE_UINT = 2,
   TYPE_SINT = 3,
   TYPE_FLOAT = 4,
};

/* Bits of the channels in memory, from the lowest one up, by the code of format.def. */
static const uint8_t *widths_of(uint32_t channels)
{
   static const struct {
      uint8_t code, widths[4];
   } rows[] = {
      {0, {8}},
      {9, {16}},
      {10, {8, 8}},
      {11, {5, 6, 5}},
      {12, {4, 4, 4, 4}},
      {14, {5, 5, 5, 1}},
      {33, {32}},
      {35, {16, 16}},
      {37, {11, 11, 10}},
      {38, {10, 10, 10, 2}},
      {40, {8, 8, 8, 8}},
      {49, {32, 32}},
      {50, {16, 16, 16, 16}},
      {56, {32, 32, 32, 32}},
   };
   for (size_t i = 0; i < AGX_COUNT(rows); i++)
      if (rows[i].code == channels)
         return rows[i].widths;
   agx_assert(!"a format's channels");
   return rows[0].widths;
}

/* ---- channels ------------------------------------------------------------ */

static uint32_t pack_norm(double value, double low, double most)
{
   value = isnan(value) ? 0.0 : fmin(fmax(value, low), 1.0);
   return (uint32_t)(int32_t)rint(value * most);
}

static double to_srgb(double value)
{
   return value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1.0 / 2.4) - 0.055;
}

/* A float of 5 exponent bits, to the nearest, of two the even one; those of less than 16 bits have
 * no sign. */
static uint32_t pack_float(float value, unsigned bits)
{
   const unsigned digits = bits == 16 ? 10 : bits - 5;
   const uint32_t sign = bits == 16 && signbit(value) ? 0x8000 : 0, infinite = 31u << digits;
   int exponent;
   if (isnan(value))
      return infinite | 1u << (digits - 1);
   if (bits < 16 && value < 0)
      return 0;
   if (isinf(value))
      return sign | infinite;
   if (value == 0)
      return sign;
   (void)frexp(fabs((double)value), &exponent);
   exponent = AGX_MAX(exponent - 1, -14);
   if (exponent > 15)
      return sign | infinite;
   /* The leading digit counts as 1 in the exponent, whose bias is 15. */
   const uint32_t units = (uint32_t)rint(ldexp(fabs((double)value), (int)digits - exponent));
   return (sign | (uint32_t)(exponent + 14) << digits) + units;
}

/* A channel of a format that has floats of its own or numbers between 0 and 1. */
static uint32_t pack_channel(const struct agx_format *format, unsigned component, unsigned bits,
                             uint32_t word)
{
   float value;
   memcpy(&value, &word, sizeof(value));
   switch (format->type) {
   case TYPE_UNORM:
      return pack_norm(format->is_srgb && component < 3 && value > 0 ? to_srgb((double)value)
                                                                     : (double)value,
                       0.0, (double)((1u << bits) - 1));
   case TYPE_SNORM:
      return pack_norm((double)value, -1.0, (double)((1u << (bits - 1)) - 1));
   case TYPE_FLOAT:
      return bits == 32 ? word : pack_float(value, bits);
   default:
      return word;
   }
}

/* ---- shared exponents ------------------------------------------------------ */

/* Source: the OpenGL 4.6 specification, 8.5.2. */
static uint32_t pack_shared(const uint32_t color[4])
{
   const double most = 65408.0; /* 511/512 * 2^16 */
   double kept[3], largest = 0.0;
   int exponent = 0;
   for (unsigned c = 0; c < 3; c++) {
      float value;
      memcpy(&value, &color[c], sizeof(value));
      kept[c] = value > 0 ? fmin((double)value, most) : 0.0;
      largest = fmax(largest, kept[c]);
   }
   if (largest > 0.0)
      (void)frexp(largest, &exponent);
   exponent = largest > 0.0 ? AGX_MAX(exponent - 1, -16) + 16 : 0;
   if (floor(ldexp(largest, 24 - exponent) + 0.5) >= 512.0)
      exponent++;
   uint32_t word = (uint32_t)exponent << 27;
   for (unsigned c = 0; c < 3; c++)
      word |= (uint32_t)floor(ldexp(kept[c], 24 - exponent) + 0.5) << 9 * c;
   return word;
}

/* ---- all ----------------------------------------------------------------- */

/* Which of red, green, blue and alpha a channel in memory holds. */
static unsigned component_of(const struct agx_format *format, unsigned channel)
{
   for (unsigned c = 0; c < 4; c++)
      if (format->swizzle[c] == (char)('0' + channel))
         return c;
   return channel;
}

void agx_texel_pack(const struct agx_format *format, const uint32_t color[4], uint8_t out[16])
{
   uint32_t words[4] = {0};
   if (format->channels == CODE_SHARED_EXPONENT) {
      words[0] = pack_shared(color);
   } else {
      const uint8_t *widths = widths_of(format->channels);
      for (unsigned channel = 0, at = 0; channel < 4 && widths[channel]; at += widths[channel++]) {
         const unsigned component = component_of(format, channel), bits = widths[channel];
         const uint32_t field = pack_channel(format, component, bits, color[component]);
         words[at / 32] |= (field & (uint32_t)agx_bits(bits)) << at % 32;
      }
   }
   memcpy(out, words, sizeof(words)); /* hosts are little-endian */
}
