/* SPDX-License-Identifier: MIT
 *
 * Decodes texels of BC1 to BC5. Colours between a block's two are exact, not rounded to the bits
 * of the format: the specification asks for real arithmetic, and what hardware rounds to is [U].
 * block.c lists the decoders. source: Khronos Data Format Specification 1.3
 */
#include "agx/sim/image/block.h"

#include "agx/hw/packet.h"
#include "agx/sim/memory/memory.h"

/* Channel of a colour of 5, 6 and 5 bits. */
static double colour_channel(uint32_t colour, unsigned channel)
{
   static const uint8_t shift[3] = {11, 5, 0}, limit[3] = {31, 63, 31};
   return (double)(colour >> shift[channel] & limit[channel]) / limit[channel];
}

/* Eight bytes: two colours, and two bits for each texel. may_cut: where the first isn't larger
 * there are three colours, and one without any. */
static void decode_colour(const uint8_t *bytes, unsigned x, unsigned y, bool may_cut,
                          struct agxs_texel *out)
{
   /* Thirds and halves of the second colour. */
   static const uint8_t thirds[4] = {0, 3, 1, 2}, halves[4] = {0, 2, 1, 0};
   uint32_t colours = agxs_get_le32(bytes), first = colours & 0xffff, second = colours >> 16;
   unsigned code = agxs_get_le32(bytes + 4) >> 2 * (4 * y + x) & 3;
   bool is_cut = may_cut && first <= second;
   double parts = is_cut ? 2 : 3, share = is_cut ? halves[code] : thirds[code];
   bool is_none = is_cut && code == 3;
   for (unsigned c = 0; c < 3; c++) {
      double sum = (parts - share) * colour_channel(first, c) + share * colour_channel(second, c);
      out->real[c] = is_none ? 0.0 : sum / parts;
   }
   out->real[3] = is_none ? 0.0 : 1.0;
}

/* Eight bytes: two values, and three bits for each texel. */
static double decode_value(const uint8_t *bytes, unsigned x, unsigned y, bool is_signed)
{
   struct agxs_block_bits bits = {
      {agxs_get_le32(bytes) | (uint64_t)agxs_get_le32(bytes + 4) << 32}};
   unsigned code = agxs_block_bits_get(&bits, 16 + 3 * (4 * y + x), 3);
   int first = is_signed ? (int8_t)bytes[0] : bytes[0];
   int second = is_signed ? (int8_t)bytes[1] : bytes[1];
   unsigned parts = first > second ? 7 : 5;
   double limit = is_signed ? 127.0 : 255.0;
   if (code > parts)
      return code == 7 ? 1.0 : is_signed ? -1.0 : 0.0;
   unsigned share = code < 2 ? code * parts : code - 1;
   double low = AGX_MAX(first / limit, -1.0), high = AGX_MAX(second / limit, -1.0);
   return ((parts - share) * low + share * high) / parts;
}

void agxs_block_bc1(const struct agxs_texel_format *format, const uint8_t *bytes, unsigned x,
                    unsigned y, struct agxs_texel *out)
{
   (void)format;
   decode_colour(bytes, x, y, true, out);
}

void agxs_block_bc2(const struct agxs_texel_format *format, const uint8_t *bytes, unsigned x,
                    unsigned y, struct agxs_texel *out)
{
   (void)format;
   decode_colour(bytes + 8, x, y, false, out);
   out->real[3] = (bytes[2 * y + x / 2] >> 4 * (x % 2) & 15) / 15.0;
}

void agxs_block_bc3(const struct agxs_texel_format *format, const uint8_t *bytes, unsigned x,
                    unsigned y, struct agxs_texel *out)
{
   (void)format;
   decode_colour(bytes + 8, x, y, false, out);
   out->real[3] = decode_value(bytes, x, y, false);
}

void agxs_block_bc4(const struct agxs_texel_format *format, const uint8_t *bytes, unsigned x,
                    unsigned y, struct agxs_texel *out)
{
   out->real[0] = decode_value(bytes, x, y, format->type == AGX_HW_TEXTURE_TYPE_SNORM);
}

void agxs_block_bc5(const struct agxs_texel_format *format, const uint8_t *bytes, unsigned x,
                    unsigned y, struct agxs_texel *out)
{
   out->real[0] = decode_value(bytes, x, y, format->type == AGX_HW_TEXTURE_TYPE_SNORM);
   out->real[1] = decode_value(bytes + 8, x, y, format->type == AGX_HW_TEXTURE_TYPE_SNORM);
}
