/* SPDX-License-Identifier: MIT
 *
 * A texel of each format as a model reads and writes it, from the format's name alone, for
 * image_formats_*.c.
 */
#include "format_model.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "support.h"

/* ---- names ------------------------------------------------------------- */

void format_model_read(const char *name, struct format_model *out)
{
   static const char letters[] = "RGBAE";
   static const char *const readings[] = {"_UNORM", "_SNORM", "_SRGB", "_FLOAT", "_UINT", "_SINT"};
   *out = (struct format_model){.name = name};
   const char *at = name;
   uint32_t shift = 0;
   while (isalpha((unsigned char)*at)) {
      const char *letter = strchr(letters, *at);
      char *end;
      uint32_t bits = (uint32_t)strtoul(at + 1, &end, 10);
      if (!letter || bits == 0 || out->count == 4)
         fail_msg("format %s", name);
      uint8_t channel = (uint8_t)(letter - letters);
      if (channel == 4) {
         out->has_shared_exponent = true;
      } else {
         out->part[out->count].channel = channel;
         out->part[out->count].bits = (uint8_t)bits;
         out->part[out->count++].shift = (uint8_t)shift;
         out->has[channel] = true;
      }
      shift += bits;
      at = end;
   }
   for (uint32_t i = 0; i < AGX_COUNT(readings); i++)
      if (strcmp(at, readings[i]) == 0) {
         out->reading = (enum format_reading)i;
         out->texel_B = shift / 8;
         return;
      }
   fail_msg("format %s", name);
}

enum format_class format_model_class(const struct format_model *model)
{
   return model->reading == READ_UINT   ? FORMAT_OF_UINTS
          : model->reading == READ_SINT ? FORMAT_OF_SINTS
                                        : FORMAT_OF_FLOATS;
}

/* ---- texels to numbers ------------------------------------------------- */

static uint32_t get_bits(const void *texel, uint32_t shift, uint32_t bits)
{
   const uint8_t *bytes = texel;
   uint64_t value = 0;
   for (uint32_t i = shift / 8; i < (shift + bits + 7) / 8; i++)
      value |= (uint64_t)bytes[i] << (8 * (i - shift / 8));
   return (uint32_t)(value >> shift % 8 & ((1ull << bits) - 1));
}

static int64_t as_signed(uint32_t field, uint32_t bits)
{
   return (int64_t)field - (field >> (bits - 1) ? 1ll << bits : 0);
}

static uint32_t digits_of(uint32_t bits)
{
   return bits == 32 ? 23 : bits == 16 ? 10 : bits - 5;
}

/* Floats of 10 and 11 bits have no sign, and the exponent of halves. */
static double decode_float(uint32_t field, uint32_t bits)
{
   uint32_t digits = digits_of(bits), exponent_bits = bits == 32 ? 8 : 5;
   uint32_t fraction = field & ((1u << digits) - 1);
   uint32_t exponent = field >> digits & ((1u << exponent_bits) - 1);
   int bias = bits == 32 ? 127 : 15;
   double sign = bits >= 16 && field >> (bits - 1) ? -1.0 : 1.0;
   if (exponent == (1u << exponent_bits) - 1)
      return fraction ? NAN : sign * INFINITY;
   if (exponent == 0)
      return sign * ldexp(fraction, 1 - bias - (int)digits);
   return sign * ldexp(fraction + (1u << digits), (int)exponent - bias - (int)digits);
}

static double decode_srgb(double value)
{
   return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

static double decode_part(const struct format_model *model, const void *texel, uint32_t i)
{
   uint32_t bits = model->part[i].bits;
   uint32_t field = get_bits(texel, model->part[i].shift, bits);
   double most = (double)((1ull << bits) - 1), most_signed = (double)((1ull << (bits - 1)) - 1);
   switch (model->reading) {
   case READ_UNORM:
      return field / most;
   case READ_SNORM:
      return fmax((double)as_signed(field, bits) / most_signed, -1.0);
   case READ_SRGB:
      return model->part[i].channel == 3 ? field / most : decode_srgb(field / most);
   case READ_UINT:
      return field;
   case READ_SINT:
      return (double)as_signed(field, bits);
   default:
      break;
   }
   if (model->has_shared_exponent) /* bias 15, 9 digits behind the point */
      return ldexp(field, (int)get_bits(texel, 27, 5) - 15 - 9);
   return decode_float(field, bits);
}

void format_model_decode(const struct format_model *model, const void *texel, double out[4])
{
   out[0] = out[1] = out[2] = 0.0;
   out[3] = 1.0;
   for (uint32_t i = 0; i < model->count; i++)
      out[model->part[i].channel] = decode_part(model, texel, i);
}

double format_model_tolerance(const struct format_model *model, double value)
{
   if (model->reading == READ_UNORM || model->reading == READ_SNORM)
      return fabs(value) * 0x1p-23;
   if (model->reading == READ_SRGB) /* the curve: well below half a step of its 8 bits */
      return 0x1p-20;
   /* Numbers below the normal ones may count as 0. */
   return model->reading == READ_FLOAT && fabs(value) < 0x1p-126 ? 0x1p-126 : 0.0;
}

/* ---- numbers to texels ------------------------------------------------- */

/* To the nearest float of so many bits, of two the even one; what is too large is infinite. */
static double round_to_float(double value, uint32_t bits)
{
   int digits = (int)digits_of(bits), exponent;
   if (bits < 16 && !(value > 0.0))
      return value == value ? 0.0 : NAN;
   if (!isfinite(value) || value == 0.0)
      return value;
   frexp(value, &exponent);
   exponent = AGX_MAX(exponent - 1, -14) - digits;
   double rounded = ldexp(rint(ldexp(value, -exponent)), exponent);
   return fabs(rounded) >= 65536.0 ? copysign(INFINITY, value) : rounded;
}

static bool is_same(double a, double b)
{
   return a == b || (isnan(a) && isnan(b));
}

static double encode_srgb(double value)
{
   return value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1.0 / 2.4) - 0.055;
}

/* Nearest; of numbers that lie between two, either, as far as single floats can't tell. */
static bool is_normalised(const struct format_model *model, uint32_t i, uint32_t field,
                          double value)
{
   uint32_t bits = model->part[i].bits;
   bool is_signed = model->reading == READ_SNORM;
   double most = (double)((1u << (bits - is_signed)) - 1);
   double low = is_signed ? -1.0 : 0.0;
   value = isnan(value) ? 0.0 : fmin(fmax(value, low), 1.0);
   if (model->reading == READ_SRGB && model->part[i].channel != 3)
      value = encode_srgb(value);
   double got = is_signed ? (double)as_signed(field, bits) : (double)field;
   return fabs(got - value * most) <= 0.5 + most * 0x1p-23 && got >= -most;
}

/* As OpenGL 4.6 defines it in 8.5.2: shared exponents of 9 digits, 5 bits, bias 15. */
static uint32_t encode_shared(const double value[4])
{
   double most = 511.0 / 512.0 * 65536.0, largest = 0.0, kept[3];
   for (uint32_t c = 0; c < 3; c++) {
      kept[c] = value[c] > 0.0 ? fmin(value[c], most) : 0.0;
      largest = fmax(largest, kept[c]);
   }
   int first = largest > 0.0 ? ilogb(largest) : -16;
   int exponent = AGX_MAX(-16, first) + 16;
   if (floor(largest / ldexp(1.0, exponent - 24) + 0.5) == 512.0)
      exponent++;
   uint32_t word = (uint32_t)exponent << 27;
   for (uint32_t c = 0; c < 3; c++)
      word |= (uint32_t)floor(kept[c] / ldexp(1.0, exponent - 24) + 0.5) << 9 * c;
   return word;
}

/* Ties may go either way: one step of each field. */
static bool is_shared(const void *texel, const double value[4])
{
   uint32_t want = encode_shared(value), got = get_bits(texel, 0, 32);
   if (want >> 27 != got >> 27)
      return false;
   for (uint32_t c = 0; c < 3; c++) {
      double kept = value[c] > 0.0 ? fmin(value[c], 65408.0) : 0.0;
      if (fabs((got >> 9 * c & 511) - ldexp(kept, 24 - (int)(got >> 27))) > 0.5)
         return false;
   }
   return true;
}

static bool is_part_stored(const struct format_model *model, const void *texel, uint32_t i,
                           double value)
{
   uint32_t bits = model->part[i].bits;
   uint32_t field = get_bits(texel, model->part[i].shift, bits);
   double got = decode_part(model, texel, i);
   switch (model->reading) {
   case READ_UINT:
   case READ_SINT:
      return got == value;
   case READ_FLOAT:
      if (bits == 32)
         return is_same(got, value) || (fabs(value) < 0x1p-126 && got == 0.0);
      return is_same(got, round_to_float(value, bits));
   default:
      return is_normalised(model, i, field, value);
   }
}

bool format_model_is_stored(const struct format_model *model, const void *texel,
                            const double value[4])
{
   if (model->has_shared_exponent)
      return is_shared(texel, value);
   for (uint32_t i = 0; i < model->count; i++)
      if (!is_part_stored(model, texel, i, value[model->part[i].channel]))
         return false;
   return true;
}
