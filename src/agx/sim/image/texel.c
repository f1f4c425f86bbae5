/* SPDX-License-Identifier: MIT
 *
 * Converts between the bytes of a texel and its channels, for every format that descriptors
 * can name. texture.c chooses the format, sample.c loads and stores.
 */
#include "agx/sim/image/image.h"

#include <math.h>
#include <string.h>

#include "agx/hw/packet.h"
#include "agx/isa/isa.h"
#include "agx/sim/image/block.h"
#include "agx/sim/machine/floats.h"
#include "agx/sim/machine/format.h"
#include "agx/sim/memory/memory.h"
#include "base/util.h"

#define SRGB_BORDER_BITS 12u

struct channels {
   uint8_t code, bytes, count, width[4], packed;
   bool has_norm, has_int, has_float;
};

/* Lowest bits first. R10G10B10A2 has no signed normalised form. */
static const struct channels table[] = {
   {AGX_HW_CHANNELS_R8, 1, 1, {8}, 0, true, true, false},
   {AGX_HW_CHANNELS_R16, 2, 1, {16}, 0, true, true, true},
   {AGX_HW_CHANNELS_R8G8, 2, 2, {8, 8}, 0, true, true, false},
   {AGX_HW_CHANNELS_R5G6B5, 2, 3, {5, 6, 5}, 0, true, false, false},
   {AGX_HW_CHANNELS_R4G4B4A4, 2, 4, {4, 4, 4, 4}, 0, true, false, false},
   {AGX_HW_CHANNELS_R5G5B5A1, 2, 4, {5, 5, 5, 1}, 0, true, false, false},
   {AGX_HW_CHANNELS_R32, 4, 1, {32}, 0, false, true, true},
   {AGX_HW_CHANNELS_R16G16, 4, 2, {16, 16}, 0, true, true, true},
   {AGX_HW_CHANNELS_R11G11B10, 4, 3, {11, 11, 10}, AGX_ISA_FORMAT_RG11B10F, false, false, true},
   {AGX_HW_CHANNELS_R10G10B10A2, 4, 4, {10, 10, 10, 2}, 0, true, true, false},
   {AGX_HW_CHANNELS_R9G9B9E5, 4, 3, {9, 9, 9}, AGX_ISA_FORMAT_RGB9E5, false, false, true},
   {AGX_HW_CHANNELS_R8G8B8A8, 4, 4, {8, 8, 8, 8}, 0, true, true, false},
   {AGX_HW_CHANNELS_R32G32, 8, 2, {32, 32}, 0, false, true, true},
   {AGX_HW_CHANNELS_R16G16B16A16, 8, 4, {16, 16, 16, 16}, 0, true, true, true},
   {AGX_HW_CHANNELS_R32G32B32_EMULATED, 12, 3, {32, 32, 32}, 0, false, true, true},
   {AGX_HW_CHANNELS_R32G32B32A32, 16, 4, {32, 32, 32, 32}, 0, false, true, true},
};

static bool has_type(const struct channels *row, unsigned type)
{
   switch (type) {
   case AGX_HW_TEXTURE_TYPE_UNORM:
      return row->has_norm;
   case AGX_HW_TEXTURE_TYPE_SNORM:
      return row->has_norm && (row->width[0] == 8 || row->width[0] == 16);
   case AGX_HW_TEXTURE_TYPE_UINT:
   case AGX_HW_TEXTURE_TYPE_SINT:
      return row->has_int;
   case AGX_HW_TEXTURE_TYPE_FLOAT:
      return row->has_float;
   default:
      return false;
   }
}

/* What a texture descriptor's field calls a value. */
static const char *name_of(const char *field_name, unsigned value)
{
   const char *name = NULL;
   for (uint32_t i = 0; i < agx_hw_texture_packet.field_count && !name; i++) {
      const struct agx_hw_field *field = &agx_hw_texture_packet.fields[i];
      if (!strcmp(field->name, field_name))
         name = agx_hw_value_name(field->values, value);
   }
   return name ? name : "unknown";
}

/* False: the code stands for no blocks, or not of this type. */
static bool init_block_format(struct agxs_texel_format *format, unsigned channels, unsigned type)
{
   const struct agxs_block_format *row = agxs_block_format_find(channels);
   if (!row || !((type == AGX_HW_TEXTURE_TYPE_UNORM && row->has_unorm) ||
                 (type == AGX_HW_TEXTURE_TYPE_SNORM && row->has_snorm) ||
                 (type == AGX_HW_TEXTURE_TYPE_FLOAT && row->has_float)))
      return false;
   *format = (struct agxs_texel_format){
      .type = (uint8_t)type,
      .bytes = row->bytes,
      .count = row->count,
      .block_w = row->width,
      .block_h = row->height,
      .decode = row->decode,
   };
   memset(format->width, row->border_bits, sizeof(format->width));
   return true;
}

agx_status agxs_texel_format_init(struct agxs_texel_format *format, unsigned channels,
                                  unsigned type)
{
   if (init_block_format(format, channels, type))
      return AGX_OK;
   for (size_t i = 0; i < AGX_COUNT(table); i++) {
      const struct channels *row = &table[i];
      if (row->code != channels)
         continue;
      if (!has_type(row, type))
         break;
      *format = (struct agxs_texel_format){
         .type = (uint8_t)type,
         .bytes = row->bytes,
         .count = row->count,
         .packed = row->packed,
         .is_int = type == AGX_HW_TEXTURE_TYPE_UINT || type == AGX_HW_TEXTURE_TYPE_SINT,
         .block_w = 1,
         .block_h = 1,
      };
      memcpy(format->width, row->width, sizeof(format->width));
      return AGX_OK;
   }
   return AGX_FAIL(AGX_UNIMPLEMENTED, "texels of channels %u (%s), type %u (%s) are not modelled",
                   channels, name_of("Channels", channels), type, name_of("Type", type));
}

static uint32_t sign_extend(uint32_t value, unsigned width)
{
   uint32_t sign = 1u << (width - 1);
   return ((value & (uint32_t)agx_bits(width)) ^ sign) - sign;
}

/* A field's number. */
static void load_channel(unsigned type, unsigned width, uint32_t field, unsigned channel,
                         struct agxs_texel *out)
{
   double limit = (double)agx_bits(width - (type == AGX_HW_TEXTURE_TYPE_SNORM));
   switch (type) {
   case AGX_HW_TEXTURE_TYPE_UNORM:
      out->real[channel] = field / limit;
      break;
   case AGX_HW_TEXTURE_TYPE_SNORM: {
      double value = (int32_t)sign_extend(field, width);
      out->real[channel] = (value < -limit ? -limit : value) / limit;
      break;
   }
   case AGX_HW_TEXTURE_TYPE_UINT:
      out->bits[channel] = field;
      break;
   case AGX_HW_TEXTURE_TYPE_SINT:
      out->bits[channel] = sign_extend(field, width);
      break;
   default:
      out->bits[channel] = width == 16 ? agxs_half_to_single(field) : field;
      out->real[channel] = (double)agxs_float(out->bits[channel]);
      break;
   }
}

/* Bits start .. start + width of little-endian words; no field crosses a word. */
static uint32_t get_field(const uint8_t *bytes, unsigned start, unsigned width)
{
   return agxs_get_le32(bytes + start / 32 * 4) >> start % 32 & (uint32_t)agx_bits(width);
}

void agxs_texel_load(const struct agxs_texel_format *format, const uint8_t *bytes, unsigned x,
                     unsigned y, struct agxs_texel *out)
{
   uint8_t whole[AGXS_TEXEL_MAX_BYTES] = {0};
   *out = (struct agxs_texel){.real = {0, 0, 0, 1}};
   out->bits[3] = format->is_int ? 1 : agxs_bits(1.0f);
   if (format->decode) {
      format->decode(format, bytes, x, y, out);
      return;
   }
   memcpy(whole, bytes, format->bytes);
   unsigned start = 0;
   for (unsigned c = 0; c < format->count; c++) {
      if (format->packed) {
         out->bits[c] = agxs_format_load(format->packed, c, whole, 32);
         out->real[c] = (double)agxs_float(out->bits[c]);
      } else {
         load_channel(format->type, format->width[c], get_field(whole, start, format->width[c]), c,
                      out);
      }
      start += format->width[c];
   }
}

/* Half bits of a real number. */
static uint32_t to_half(double value, bool toward_zero)
{
   uint32_t half = agxs_real_to_register(value, 16);
   if (!toward_zero || isnan(value) || isinf(value))
      return half;
   double rounded = (double)agxs_float(agxs_half_to_single(half));
   return fabs(rounded) > fabs(value) ? half - 1 : half;
}

static uint32_t to_norm(double value, double low, double limit)
{
   if (isnan(value))
      return 0;
   value = value < low ? low : value > 1.0 ? 1.0 : value;
   return (uint32_t)(int32_t)rint(value * limit);
}

static uint32_t store_channel(const struct agxs_texel_format *format, unsigned channel,
                              const struct agxs_texel *texel, bool toward_zero)
{
   unsigned width = format->width[channel];
   switch (format->type) {
   case AGX_HW_TEXTURE_TYPE_UNORM:
      return to_norm(texel->real[channel], 0.0, (double)agx_bits(width));
   case AGX_HW_TEXTURE_TYPE_SNORM:
      return to_norm(texel->real[channel], -1.0, (double)agx_bits(width - 1));
   case AGX_HW_TEXTURE_TYPE_FLOAT:
      return width == 16 ? to_half(texel->real[channel], toward_zero) : texel->bits[channel];
   default:
      return texel->bits[channel];
   }
}

static void store_packed(const struct agxs_texel_format *format, const struct agxs_texel *texel,
                         bool toward_zero, uint8_t *out_bytes)
{
   unsigned packed = format->packed;
   uint32_t channel[4];
   for (unsigned c = 0; c < 4; c++)
      channel[c] = agxs_real_to_register(texel->real[c], 32);
   if (toward_zero)
      packed =
         packed == AGX_ISA_FORMAT_RGB9E5 ? AGX_ISA_FORMAT_RGB9E5_RTZ : AGX_ISA_FORMAT_RG11B10F_RTZ;
   agxs_format_store_packed(packed, out_bytes, channel);
}

void agxs_texel_store(const struct agxs_texel_format *format, const struct agxs_texel *texel,
                      bool toward_zero, uint8_t *out_bytes)
{
   uint32_t words[AGXS_TEXEL_MAX_BYTES / 4] = {0};
   uint8_t whole[AGXS_TEXEL_MAX_BYTES];
   if (format->packed) {
      store_packed(format, texel, toward_zero, out_bytes);
      return;
   }
   unsigned start = 0;
   for (unsigned c = 0; c < format->count; c++) {
      uint32_t field = store_channel(format, c, texel, toward_zero);
      words[start / 32] |= (field & (uint32_t)agx_bits(format->width[c])) << start % 32;
      start += format->width[c];
   }
   for (unsigned i = 0; i < AGX_COUNT(words); i++)
      agxs_put_le32(whole + 4 * i, words[i]);
   memcpy(out_bytes, whole, format->bytes);
}

void agxs_texel_border(const struct agxs_texel_format *format, unsigned channel, uint32_t word,
                       bool is_curved, struct agxs_texel *out)
{
   if (channel >= format->count)
      return;
   unsigned width = is_curved ? SRGB_BORDER_BITS : format->width[channel];
   if (format->type == AGX_HW_TEXTURE_TYPE_FLOAT)
      width = format->width[channel] <= 16 ? 16 : 32;
   load_channel(format->type, width, word & (uint32_t)agx_bits(width), channel, out);
}
