/* SPDX-License-Identifier: MIT
 *
 * Decodes texels of ETC2 and EAC, whose eight bytes are one number with the highest byte first.
 * block.c lists the decoders. source: Khronos Data Format Specification 1.3
 */
#include "agx/sim/image/block.h"

#include "agx/hw/packet.h"

struct colour {
   int channel[3];
};

static uint64_t load(const uint8_t *bytes)
{
   uint64_t word = 0;
   for (unsigned i = 0; i < 8; i++)
      word = word << 8 | bytes[i];
   return word;
}

static int field(uint64_t word, unsigned low, unsigned count)
{
   return (int)(word >> low & agx_bits(count));
}

static int clamp(int value, int low, int high)
{
   return value < low ? low : AGX_MIN(value, high);
}

/* To eight bits, by repeating the highest. */
static int expand(int value, unsigned bits)
{
   return value << (8 - bits) | value >> (2 * bits - 8);
}

static void put(struct agxs_texel *out, struct colour colour, int offset)
{
   for (unsigned c = 0; c < 3; c++)
      out->real[c] = clamp(colour.channel[c] + offset, 0, 255) / 255.0;
}

/* Two bits of a texel, which counts down the columns. */
static unsigned texel_code(uint64_t word, unsigned x, unsigned y)
{
   unsigned at = 4 * x + y;
   return (unsigned)(field(word, 16 + at, 1) << 1 | field(word, at, 1));
}

/* Each half of the block has a colour, and each texel adds the same to its channels. */
static bool decode_halves(uint64_t word, unsigned x, unsigned y, bool is_differential, bool is_cut,
                          struct agxs_texel *out)
{
   static const uint8_t offsets[8][2] = {{2, 8},   {5, 17},  {9, 29},   {13, 42},
                                         {18, 60}, {24, 80}, {33, 106}, {47, 183}};
   bool is_second = (field(word, 32, 1) ? y : x) >= 2;
   unsigned code = texel_code(word, x, y);
   int row = field(word, is_second ? 34 : 37, 3);
   struct colour colour;
   for (unsigned c = 0; c < 3; c++) {
      unsigned low = 56 - 8 * c;
      if (is_differential) {
         int delta = is_second ? (field(word, low, 3) ^ 4) - 4 : 0;
         colour.channel[c] = expand(field(word, low + 3, 5) + delta, 5);
      } else {
         colour.channel[c] = expand(field(word, is_second ? low : low + 4, 4), 4);
      }
   }
   if (is_cut && code == 2)
      return false;
   int offset = is_cut && code == 0 ? 0 : offsets[row][code & 1];
   put(out, colour, code & 2 ? -offset : offset);
   return true;
}

static const uint8_t distances[8] = {3, 6, 11, 16, 23, 32, 41, 64};

/* One colour, and a second one with a lighter and a darker form. */
static bool decode_t(uint64_t word, unsigned x, unsigned y, bool is_cut, struct agxs_texel *out)
{
   const struct colour first = {{expand(field(word, 59, 2) << 2 | field(word, 56, 2), 4),
                                 expand(field(word, 52, 4), 4), expand(field(word, 48, 4), 4)}};
   const struct colour second = {{expand(field(word, 44, 4), 4), expand(field(word, 40, 4), 4),
                                  expand(field(word, 36, 4), 4)}};
   int distance = distances[field(word, 34, 2) << 1 | field(word, 32, 1)];
   unsigned code = texel_code(word, x, y);
   if (is_cut && code == 2)
      return false;
   put(out, code ? second : first, code == 1 ? distance : code == 3 ? -distance : 0);
   return true;
}

/* Two colours, each with a lighter and a darker form. */
static bool decode_h(uint64_t word, unsigned x, unsigned y, bool is_cut, struct agxs_texel *out)
{
   const int raw[2][3] = {
      {field(word, 59, 4), field(word, 56, 3) << 1 | field(word, 52, 1),
       field(word, 51, 1) << 3 | field(word, 47, 3)},
      {field(word, 43, 4), field(word, 39, 4), field(word, 35, 4)},
   };
   int order = 0, number[2];
   struct colour colour[2];
   for (unsigned i = 0; i < 2; i++) {
      number[i] = raw[i][0] << 8 | raw[i][1] << 4 | raw[i][2];
      for (unsigned c = 0; c < 3; c++)
         colour[i].channel[c] = expand(raw[i][c], 4);
   }
   order = number[0] >= number[1];
   int distance = distances[field(word, 34, 1) << 2 | field(word, 32, 1) << 1 | order];
   unsigned code = texel_code(word, x, y);
   if (is_cut && code == 2)
      return false;
   put(out, colour[code >> 1], code & 1 ? -distance : distance);
   return true;
}

/* A colour at the origin, one to the right and one below. */
static void decode_planar(uint64_t word, unsigned x, unsigned y, struct agxs_texel *out)
{
   const int at[3][3] = {
      {expand(field(word, 57, 6), 6), expand(field(word, 56, 1) << 6 | field(word, 49, 6), 7),
       expand(field(word, 48, 1) << 5 | field(word, 43, 2) << 3 | field(word, 39, 3), 6)},
      {expand(field(word, 34, 5) << 1 | field(word, 32, 1), 6), expand(field(word, 25, 7), 7),
       expand(field(word, 19, 6), 6)},
      {expand(field(word, 13, 6), 6), expand(field(word, 6, 7), 7), expand(field(word, 0, 6), 6)},
   };
   struct colour colour;
   for (unsigned c = 0; c < 3; c++)
      colour.channel[c] =
         ((int)x * (at[1][c] - at[0][c]) + (int)y * (at[2][c] - at[0][c]) + 4 * at[0][c] + 2) >> 2;
   put(out, colour, 0);
}

/* Which of red, green and blue leaves its range first, when the second half's colour is computed
 * from the first; 3: none. */
static unsigned overflowing_channel(uint64_t word)
{
   unsigned c = 0;
   for (; c < 3; c++) {
      unsigned low = 56 - 8 * c;
      int sum = field(word, low + 3, 5) + (field(word, low, 3) ^ 4) - 4;
      if (sum < 0 || sum > 31)
         break;
   }
   return c;
}

/* is_cut: a code of texels stands for none. False: this texel has it. */
static bool decode_colour(uint64_t word, unsigned x, unsigned y, bool is_differential, bool is_cut,
                          struct agxs_texel *out)
{
   switch (is_differential ? overflowing_channel(word) : 3) {
   case 0:
      return decode_t(word, x, y, is_cut, out);
   case 1:
      return decode_h(word, x, y, is_cut, out);
   case 2:
      decode_planar(word, x, y, out);
      return true;
   default:
      return decode_halves(word, x, y, is_differential, is_cut, out);
   }
}

void agxs_block_etc2_rgb(const struct agxs_texel_format *format, const uint8_t *bytes, unsigned x,
                         unsigned y, struct agxs_texel *out)
{
   (void)format;
   uint64_t word = load(bytes);
   decode_colour(word, x, y, field(word, 33, 1), false, out);
}

void agxs_block_etc2_rgba1(const struct agxs_texel_format *format, const uint8_t *bytes, unsigned x,
                           unsigned y, struct agxs_texel *out)
{
   (void)format;
   uint64_t word = load(bytes);
   if (!decode_colour(word, x, y, true, !field(word, 33, 1), out))
      *out = (struct agxs_texel){0};
}

/* What a texel adds to the block's value, before it is multiplied. */
static int modifier(uint64_t word, unsigned x, unsigned y)
{
   static const int8_t rows[16][8] = {
      {-3, -6, -9, -15, 2, 5, 8, 14}, {-3, -7, -10, -13, 2, 6, 9, 12},
      {-2, -5, -8, -13, 1, 4, 7, 12}, {-2, -4, -6, -13, 1, 3, 5, 12},
      {-3, -6, -8, -12, 2, 5, 7, 11}, {-3, -7, -9, -11, 2, 6, 8, 10},
      {-4, -7, -8, -11, 3, 6, 7, 10}, {-3, -5, -8, -11, 2, 4, 7, 10},
      {-2, -6, -8, -10, 1, 5, 7, 9},  {-2, -5, -8, -10, 1, 4, 7, 9},
      {-2, -4, -8, -10, 1, 3, 7, 9},  {-2, -5, -7, -10, 1, 4, 6, 9},
      {-3, -4, -7, -10, 2, 3, 6, 9},  {-1, -2, -3, -10, 0, 1, 2, 9},
      {-4, -6, -8, -9, 3, 5, 7, 8},   {-3, -5, -7, -9, 2, 4, 6, 8},
   };
   return rows[field(word, 48, 4)][field(word, 45 - 3 * (4 * x + y), 3)];
}

void agxs_block_etc2_rgba(const struct agxs_texel_format *format, const uint8_t *bytes, unsigned x,
                          unsigned y, struct agxs_texel *out)
{
   uint64_t word = load(bytes);
   agxs_block_etc2_rgb(format, bytes + 8, x, y, out);
   int alpha = field(word, 56, 8) + modifier(word, x, y) * field(word, 52, 4);
   out->real[3] = clamp(alpha, 0, 255) / 255.0;
}

/* A channel of 11 bits. */
static double decode_11(const uint8_t *bytes, unsigned x, unsigned y, bool is_signed)
{
   uint64_t word = load(bytes);
   int base = field(word, 56, 8), multiplier = field(word, 52, 4);
   int offset = modifier(word, x, y) * (multiplier ? 8 * multiplier : 1);
   if (!is_signed)
      return clamp(8 * base + 4 + offset, 0, 2047) / 2047.0;
   base = AGX_MAX((base ^ 128) - 128, -127);
   return clamp(8 * base + offset, -1023, 1023) / 1023.0;
}

void agxs_block_eac_r11(const struct agxs_texel_format *format, const uint8_t *bytes, unsigned x,
                        unsigned y, struct agxs_texel *out)
{
   out->real[0] = decode_11(bytes, x, y, format->type == AGX_HW_TEXTURE_TYPE_SNORM);
}

void agxs_block_eac_rg11(const struct agxs_texel_format *format, const uint8_t *bytes, unsigned x,
                         unsigned y, struct agxs_texel *out)
{
   out->real[0] = decode_11(bytes, x, y, format->type == AGX_HW_TEXTURE_TYPE_SNORM);
   out->real[1] = decode_11(bytes + 8, x, y, format->type == AGX_HW_TEXTURE_TYPE_SNORM);
}
