/* SPDX-License-Identifier: MIT
 *
 * The formats that memory instructions name: how an element or a packed word in memory
 * becomes a register's bits, and back. exec/ and image/ call it.
 */
#include "agx/sim/machine/format.h"

#include "agx/sim/machine/floats.h"
#include "agx/sim/memory/memory.h"

const struct agxs_format agxs_formats[17] = {
   [AGX_ISA_FORMAT_I8] = {1, 1, 0, 1},           [AGX_ISA_FORMAT_I16] = {1, 2, 0, 1},
   [AGX_ISA_FORMAT_I32] = {1, 4, 0, 1},          [AGX_ISA_FORMAT_F16] = {1, 2, 0, 1},
   [AGX_ISA_FORMAT_U8NORM] = {1, 1, 0, 0},       [AGX_ISA_FORMAT_S8NORM] = {1, 1, 0, 0},
   [AGX_ISA_FORMAT_U16NORM] = {1, 2, 0, 0},      [AGX_ISA_FORMAT_S16NORM] = {1, 2, 0, 0},
   [AGX_ISA_FORMAT_RGB10A2] = {1, 4, 4, 0},      [AGX_ISA_FORMAT_SRGBA8] = {1, 1, 0, 0},
   [AGX_ISA_FORMAT_RG11B10F] = {1, 4, 3, 0},     [AGX_ISA_FORMAT_RGB9E5] = {1, 4, 3, 0},
   [AGX_ISA_FORMAT_RG11B10F_RTZ] = {1, 4, 3, 0}, [AGX_ISA_FORMAT_RGB9E5_RTZ] = {1, 4, 3, 0},
   [AGXS_FORMAT_F16_WIDE] = {1, 2, 0, 0},
};

/* Where a packed word's channel lies. */
struct field {
   uint8_t start, width;
};

static const struct field rgb10a2[4] = {{0, 10}, {10, 10}, {20, 10}, {30, 2}};
static const struct field rg11b10f[3] = {{0, 11}, {11, 11}, {22, 10}};

static uint32_t get_field(struct field field, uint32_t word)
{
   return word >> field.start & ((1u << field.width) - 1);
}

/* A real number rounded once to the register's float; every value here has few
 * enough digits that single first, then half, is right but for the quotients,
 * which are computed in double and cut to odd. */
uint32_t agxs_real_to_register(double value, unsigned bits)
{
   if (bits == 32)
      return agxs_flush(agxs_bits((float)value));
   uint64_t wide;
   memcpy(&wide, &value, sizeof(wide));
   wide = (wide & ~0x1fffffffull) | ((wide & 0x1fffffff) ? 0x20000000 : 0);
   memcpy(&value, &wide, sizeof(value));
   return agxs_single_to_half(agxs_bits((float)value));
}

double agxs_register_to_real(uint32_t value, unsigned bits)
{
   return (double)agxs_float(bits == 16 ? agxs_half_to_single(value & 0xffff) : agxs_flush(value));
}

static double load_snorm(int32_t value, double limit)
{
   return (value < -limit ? -limit : value) / limit;
}

double agxs_srgb_to_linear(double value)
{
   return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

double agxs_linear_to_srgb(double value)
{
   return value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1.0 / 2.4) - 0.055;
}

/* An unsigned float of 5 exponent bits and `digits` of significand. */
static double load_small_float(uint32_t value, unsigned digits)
{
   /* With zeros below it is a half without its sign. */
   return (double)agxs_float(agxs_half_to_single(value << (10 - digits)));
}

static double load_packed(unsigned format, unsigned channel, uint32_t word)
{
   if (format == AGX_ISA_FORMAT_RGB10A2)
      return get_field(rgb10a2[channel], word) / (double)((1u << rgb10a2[channel].width) - 1);
   if (format == AGX_ISA_FORMAT_RG11B10F || format == AGX_ISA_FORMAT_RG11B10F_RTZ)
      return load_small_float(get_field(rg11b10f[channel], word), rg11b10f[channel].width - 5u);
   return ldexp((double)(word >> 9 * channel & 511), (int)(word >> 27) - 24);
}

uint32_t agxs_format_load(unsigned format, unsigned channel, const uint8_t *bytes, unsigned bits)
{
   switch (format) {
   case AGX_ISA_FORMAT_I8:
      return bytes[0];
   case AGX_ISA_FORMAT_I16:
   case AGX_ISA_FORMAT_F16:
      return agxs_get_le16(bytes);
   case AGXS_FORMAT_F16_WIDE:
      return agxs_half_to_single(agxs_get_le16(bytes));
   case AGX_ISA_FORMAT_I32:
      return agxs_get_le32(bytes);
   case AGX_ISA_FORMAT_U8NORM:
      return agxs_real_to_register(bytes[0] / 255.0, bits);
   case AGX_ISA_FORMAT_S8NORM:
      return agxs_real_to_register(load_snorm((int8_t)bytes[0], 127.0), bits);
   case AGX_ISA_FORMAT_U16NORM:
      return agxs_real_to_register(agxs_get_le16(bytes) / 65535.0, bits);
   case AGX_ISA_FORMAT_S16NORM:
      return agxs_real_to_register(load_snorm((int16_t)agxs_get_le16(bytes), 32767.0), bits);
   case AGX_ISA_FORMAT_SRGBA8:
      return agxs_real_to_register(
         channel == 3 ? bytes[0] / 255.0 : agxs_srgb_to_linear(bytes[0] / 255.0), bits);
   default:
      return agxs_real_to_register(load_packed(format, channel, agxs_get_le32(bytes)), bits);
   }
}

/* Clamped to low..1, NaN as 0, scaled and rounded to nearest even. */
static int32_t to_norm(double value, double low, double limit)
{
   if (!(value == value))
      return 0;
   value = value < low ? low : value > 1.0 ? 1.0 : value;
   return (int32_t)rint(value * limit);
}

void agxs_format_store(unsigned format, unsigned channel, uint8_t *bytes, uint32_t value,
                       unsigned bits)
{
   switch (format) {
   case AGX_ISA_FORMAT_I8:
      bytes[0] = (uint8_t)value;
      break;
   case AGX_ISA_FORMAT_I16:
   case AGX_ISA_FORMAT_F16:
      agxs_put_le16(bytes, (uint16_t)value);
      break;
   case AGXS_FORMAT_F16_WIDE:
      agxs_put_le16(bytes, (uint16_t)agxs_single_to_half(agxs_flush(value)));
      break;
   case AGX_ISA_FORMAT_I32:
      agxs_put_le32(bytes, value);
      break;
   case AGX_ISA_FORMAT_U8NORM:
      bytes[0] = (uint8_t)to_norm(agxs_register_to_real(value, bits), 0.0, 255.0);
      break;
   case AGX_ISA_FORMAT_S8NORM:
      bytes[0] = (uint8_t)to_norm(agxs_register_to_real(value, bits), -1.0, 127.0);
      break;
   case AGX_ISA_FORMAT_U16NORM:
      agxs_put_le16(bytes, (uint16_t)to_norm(agxs_register_to_real(value, bits), 0.0, 65535.0));
      break;
   case AGX_ISA_FORMAT_S16NORM:
      agxs_put_le16(bytes, (uint16_t)to_norm(agxs_register_to_real(value, bits), -1.0, 32767.0));
      break;
   case AGX_ISA_FORMAT_SRGBA8: {
      double linear = agxs_register_to_real(value, bits);
      bool is_color = channel != 3 && linear > 0.0 && linear < 1.0;
      bytes[0] = (uint8_t)to_norm(is_color ? agxs_linear_to_srgb(linear) : linear, 0.0, 255.0);
      break;
   }
   default:
      break; /* packed */
   }
}

/* Half bits rounded on to fewer digits; negative values become 0. */
static uint32_t store_small_float(uint32_t single, unsigned digits, bool toward_zero)
{
   uint32_t size = single & 0x7fffffff;
   if (size > 0x7f800000)
      return (31u << digits) | 1u << (digits - 1);
   if (single >> 31)
      return 0;
   if (size == 0x7f800000)
      return 31u << digits;
   double value = (double)agxs_float(size);
   int exponent = size < 0x38800000 ? -14 : (int)(size >> 23) - 127;
   double steps = ldexp(value, (int)digits - exponent);
   uint32_t count = (uint32_t)(toward_zero ? trunc(steps) : rint(steps < 1e9 ? steps : 1e9));
   if (exponent > 15)
      return toward_zero ? (31u << digits) - 1 : 31u << digits;
   /* count holds the hidden bit of a normal number; a carry moves into the exponent. */
   return count + ((uint32_t)(exponent + 14) << digits);
}

static uint32_t store_rgb9e5(const uint32_t *channel, bool toward_zero)
{
   double value[3], largest = 0.0;
   for (unsigned i = 0; i < 3; i++) {
      value[i] = (double)agxs_float(channel[i]);
      value[i] = value[i] > 0.0 ? (value[i] < 65408.0 ? value[i] : 65408.0) : 0.0;
      largest = value[i] > largest ? value[i] : largest;
   }
   int exponent = largest < ldexp(1.0, -16) ? -16 : ilogb(largest);
   int shared = exponent + 16;
   if (!toward_zero && rint(ldexp(largest, 24 - shared)) >= 512.0)
      shared++;
   uint32_t word = (uint32_t)shared << 27;
   for (unsigned i = 0; i < 3; i++) {
      double steps = ldexp(value[i], 24 - shared);
      word |= (uint32_t)(toward_zero ? trunc(steps) : rint(steps)) << 9 * i;
   }
   return word;
}

void agxs_format_store_packed(unsigned format, uint8_t *bytes, const uint32_t *channel)
{
   uint32_t word = 0;
   bool toward_zero = format >= AGX_ISA_FORMAT_RG11B10F_RTZ;
   if (format == AGX_ISA_FORMAT_RGB10A2) {
      for (unsigned i = 0; i < 4; i++) {
         double limit = (double)((1u << rgb10a2[i].width) - 1);
         word |= (uint32_t)to_norm((double)agxs_float(channel[i]), 0.0, limit) << rgb10a2[i].start;
      }
   } else if (format == AGX_ISA_FORMAT_RGB9E5 || format == AGX_ISA_FORMAT_RGB9E5_RTZ) {
      word = store_rgb9e5(channel, toward_zero);
   } else {
      for (unsigned i = 0; i < 3; i++)
         word |= store_small_float(channel[i], rg11b10f[i].width - 5u, toward_zero)
                 << rg11b10f[i].start;
   }
   agxs_put_le32(bytes, word);
}
