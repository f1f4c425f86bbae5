/* SPDX-License-Identifier: MIT
 *
 * Decodes texels of ASTC in its LDR profile: what that lacks, and what is malformed, has the error
 * colour. A block is read in four steps: its mode, its sequences of integers, its colours, and the
 * weight and subset of the texel. block.c lists the decoder.
 * source: Khronos Data Format Specification 1.3
 */
#include "agx/sim/image/block.h"

#include "agx/isa/isa.h"
#include "agx/sim/machine/floats.h"
#include "agx/sim/machine/format.h"

#define MAX_WEIGHTS 64u
#define MAX_COLOURS 18u

/* Sequences of integers: so many values, of bits and a digit to the base 3 or 5. */
static const struct range {
   uint8_t bits, base; /* 1: bits alone */
} ranges[] = {
   {1, 1}, {0, 3}, {2, 1}, {0, 5}, {1, 3}, {3, 1}, {1, 5}, {2, 3}, {4, 1}, {2, 5}, {3, 3},
   {5, 1}, {3, 5}, {4, 3}, {6, 1}, {4, 5}, {5, 3}, {7, 1}, {5, 5}, {6, 3}, {8, 1},
};

static unsigned sequence_bits(const struct range *range, unsigned count)
{
   unsigned digits = range->base == 3   ? (8 * count + 4) / 5
                     : range->base == 5 ? (7 * count + 2) / 3
                                        : 0;
   return count * range->bits + digits;
}

/* Five digits of 0 to 2 from eight bits. */
static void unpack_trits(unsigned t, unsigned out[5])
{
   unsigned c = t & 31;
   if ((t >> 2 & 7) == 7) {
      c = (t >> 5 & 7) << 2 | (t & 3);
      out[4] = out[3] = 2;
   } else if ((t >> 5 & 3) == 3) {
      out[4] = 2;
      out[3] = t >> 7;
   } else {
      out[4] = t >> 7;
      out[3] = t >> 5 & 3;
   }
   if ((c & 3) == 3) {
      out[2] = 2;
      out[1] = c >> 4;
      out[0] = (c >> 3 & 1) << 1 | (c >> 2 & ~(c >> 3) & 1);
   } else if ((c >> 2 & 3) == 3) {
      out[2] = out[1] = 2;
      out[0] = c & 3;
   } else {
      out[2] = c >> 4;
      out[1] = c >> 2 & 3;
      out[0] = (c >> 1 & 1) << 1 | (c & ~(c >> 1) & 1);
   }
}

/* Three digits of 0 to 4 from seven bits. */
static void unpack_quints(unsigned q, unsigned out[3])
{
   if ((q >> 1 & 3) == 3 && (q >> 5 & 3) == 0) {
      unsigned low = q & 1;
      out[2] = low << 2 | (q >> 4 & ~low & 1) << 1 | (q >> 3 & ~low & 1);
      out[1] = out[0] = 4;
      return;
   }
   unsigned c = q & 31;
   out[2] = q >> 5 & 3;
   if ((q >> 1 & 3) == 3) {
      out[2] = 4;
      c = (q >> 3 & 3) << 3 | (~q >> 5 & 3) << 1 | (q & 1);
   }
   out[1] = (c & 7) == 5 ? 4 : c >> 3 & 3;
   out[0] = (c & 7) == 5 ? c >> 3 & 3 : c & 7;
}

/* A group of values that share the bits of their digits: five, or three. */
static unsigned read_group(const struct agxs_block_bits *bits, unsigned at, unsigned end,
                           const struct range *range, unsigned digit[5], unsigned low[5])
{
   static const uint8_t trit_bits[5] = {2, 2, 1, 2, 1}, quint_bits[3] = {3, 2, 2};
   unsigned size = range->base == 3 ? 5 : 3, packed = 0, shift = 0;
   for (unsigned i = 0; i < size; i++) {
      unsigned count = range->base == 3 ? trit_bits[i] : quint_bits[i];
      low[i] = at < end ? agxs_block_bits_get(bits, at, AGX_MIN(range->bits, end - at)) : 0;
      at += range->bits;
      unsigned part = at < end ? agxs_block_bits_get(bits, at, AGX_MIN(count, end - at)) : 0;
      at += count;
      packed |= part << shift;
      shift += count;
   }
   if (range->base == 3)
      unpack_trits(packed, digit);
   else
      unpack_quints(packed, digit);
   return at;
}

/* Values as bits below a digit. */
static void read_sequence(const struct agxs_block_bits *bits, unsigned at,
                          const struct range *range, unsigned count, uint8_t *out_digit,
                          uint8_t *out_low)
{
   unsigned digit[5] = {0}, low[5] = {0};
   unsigned size = range->base == 3 ? 5 : range->base == 5 ? 3 : 1;
   unsigned end = at + sequence_bits(range, count);
   for (unsigned i = 0; i < count; i++) {
      if (size == 1) {
         low[0] = agxs_block_bits_get(bits, at, range->bits);
         at += range->bits;
      } else if (i % size == 0) {
         at = read_group(bits, at, end, range, digit, low);
      }
      out_digit[i] = (uint8_t)digit[i % size];
      out_low[i] = (uint8_t)low[i % size];
   }
}

/* Repeats a value of `bits` bits until it has `wide` ones. */
static unsigned replicate(unsigned value, unsigned bits, unsigned wide)
{
   unsigned out = 0;
   for (unsigned i = 0; i < wide; i++)
      out |= (value >> (bits - 1 - i % bits) & 1) << (wide - 1 - i);
   return out;
}

/* Spreads the bits of a value that are not the lowest: pattern names a bit for each place, '.' for
 * none, from the highest place down. */
static unsigned spread(const char *pattern, unsigned value)
{
   unsigned out = 0;
   for (; *pattern; pattern++)
      out = out << 1 | (*pattern == '.' ? 0 : value >> (*pattern - 'a') & 1);
   return out;
}

static unsigned scale_digit(unsigned digit, unsigned low, unsigned factor, const char *pattern,
                            unsigned width)
{
   unsigned flip = low & 1 ? (1u << width) - 1 : 0, top = 1u << (width - 2);
   unsigned value = (digit * factor + spread(pattern, low)) ^ flip;
   return (flip & top) | value >> 2;
}

/* To 0 .. 255. */
static unsigned widen_colour(const struct range *range, unsigned digit, unsigned low)
{
   static const struct {
      uint8_t factor;
      const char *pattern;
   } trits[7] = {{0, ""},           {204, ""},         {93, "b...b.bb."}, {44, "cb...cbcb"},
                 {22, "dcb...dcb"}, {11, "edcb...ed"}, {5, "fedcb...f"}},
     quints[6] = {{0, ""},           {113, ""},         {54, "b....bb.."},
                  {26, "cb....cbc"}, {13, "dcb....dc"}, {6, "edcb....e"}};
   if (range->base == 1)
      return replicate(low, range->bits, 8);
   if (range->base == 3)
      return scale_digit(digit, low, trits[range->bits].factor, trits[range->bits].pattern, 9);
   return scale_digit(digit, low, quints[range->bits].factor, quints[range->bits].pattern, 9);
}

/* To 0 .. 64. */
static unsigned widen_weight(const struct range *range, unsigned digit, unsigned low)
{
   static const struct {
      uint8_t factor;
      const char *pattern;
   } trits[4] = {{0, ""}, {50, ""}, {23, "b...b.b"}, {11, "cb...cb"}},
     quints[3] = {{0, ""}, {28, ""}, {13, "b....b."}};
   static const uint8_t alone[2][5] = {{0, 32, 63}, {0, 16, 32, 47, 63}};
   unsigned weight;
   if (range->base == 1)
      weight = replicate(low, range->bits, 6);
   else if (!range->bits)
      weight = alone[range->base == 5][digit];
   else if (range->base == 3)
      weight = scale_digit(digit, low, trits[range->bits].factor, trits[range->bits].pattern, 7);
   else
      weight = scale_digit(digit, low, quints[range->bits].factor, quints[range->bits].pattern, 7);
   return weight + (weight > 32);
}

/* A block's mode: the grid of weights, and what its colours are. */
struct mode {
   unsigned width, height; /* of the grid */
   const struct range *weights;
   bool is_dual;
   unsigned weight_bits, subsets, partition;
   unsigned endpoint_mode[4];
   unsigned selected;                /* the channel that has the second plane */
   unsigned colours_at, colours_end; /* bits */
};

/* Grid, range and planes from the first eleven bits; false: reserved. */
static bool read_grid(uint32_t bits, struct mode *mode)
{
   unsigned a = bits >> 5 & 3, b = bits >> 7 & 3, code = bits >> 4 & 1;
   bool is_high = bits >> 9 & 1;
   mode->is_dual = bits >> 10 & 1;
   if (bits & 3) {
      const unsigned sizes[5][2] = {
         {b + 4, a + 2}, {b + 8, a + 2}, {a + 2, b + 8}, {a + 2, (b & 1) + 6}, {(b & 1) + 2, a + 2},
      };
      unsigned row = bits >> 2 & 3;
      row += row == 3 && b >= 2;
      mode->width = sizes[row][0];
      mode->height = sizes[row][1];
      code |= (bits & 3) << 1;
   } else {
      const unsigned sizes[4][2] = {
         {12, a + 2},
         {a + 2, 12},
         {a + 6, (bits >> 9 & 3) + 6},
         {a ? 10 : 6, a ? 6 : 10},
      };
      if (b == 3 && a >= 2)
         return false;
      mode->width = sizes[b][0];
      mode->height = sizes[b][1];
      code |= (bits >> 2 & 3) << 1;
      is_high &= b != 2;
      mode->is_dual &= b != 2;
   }
   if (code < 2)
      return false;
   mode->weights = &ranges[code - 2 + (is_high ? 6 : 0)];
   return true;
}

/* The kinds of the endpoints, whose last bits may lie below the weights. */
static void read_endpoint_modes(const struct agxs_block_bits *bits, struct mode *mode)
{
   unsigned end = 128 - mode->weight_bits;
   if (mode->subsets == 1) {
      mode->endpoint_mode[0] = agxs_block_bits_get(bits, 13, 4);
      mode->colours_at = 17;
   } else {
      uint32_t field = agxs_block_bits_get(bits, 23, 6);
      mode->partition = agxs_block_bits_get(bits, 13, 10);
      mode->colours_at = 29;
      if (field & 3) {
         unsigned more = 3 * mode->subsets - 4;
         end -= more;
         field |= agxs_block_bits_get(bits, end, more) << 6;
      }
      for (unsigned i = 0; i < mode->subsets; i++) {
         unsigned high = (field & 3) - 1 + (field >> (2 + i) & 1);
         unsigned low = field >> (2 + mode->subsets + 2 * i) & 3;
         mode->endpoint_mode[i] = field & 3 ? high << 2 | low : field >> 2 & 15;
      }
   }
   if (mode->is_dual) {
      end -= 2;
      mode->selected = agxs_block_bits_get(bits, end, 2);
   }
   mode->colours_end = end;
}

static bool read_mode(const struct agxs_block_bits *bits, const struct agxs_texel_format *format,
                      struct mode *mode)
{
   *mode = (struct mode){0};
   if (!read_grid(agxs_block_bits_get(bits, 0, 11), mode))
      return false;
   unsigned count = mode->width * mode->height * (mode->is_dual ? 2 : 1);
   mode->subsets = agxs_block_bits_get(bits, 11, 2) + 1;
   if (count > MAX_WEIGHTS || mode->width > format->block_w || mode->height > format->block_h)
      return false;
   mode->weight_bits = sequence_bits(mode->weights, count);
   if (mode->weight_bits < 24 || mode->weight_bits > 96 || (mode->is_dual && mode->subsets == 4))
      return false;
   read_endpoint_modes(bits, mode);
   return true;
}

static unsigned value_count(unsigned endpoint_mode)
{
   return 2 * (endpoint_mode >> 2) + 2;
}

/* The values of all endpoints, in the finest range that fits; false: none does. */
static bool read_values(const struct agxs_block_bits *bits, const struct mode *mode,
                        int values[MAX_COLOURS])
{
   uint8_t digit[MAX_COLOURS], low[MAX_COLOURS];
   const struct range *range = NULL;
   unsigned count = 0;
   for (unsigned i = 0; i < mode->subsets; i++)
      count += value_count(mode->endpoint_mode[i]);
   if (count > MAX_COLOURS || mode->colours_end < mode->colours_at)
      return false;
   for (unsigned i = 4; i < AGX_COUNT(ranges); i++) {
      if (sequence_bits(&ranges[i], count) <= mode->colours_end - mode->colours_at)
         range = &ranges[i];
   }
   if (!range)
      return false;
   read_sequence(bits, mode->colours_at, range, count, digit, low);
   for (unsigned i = 0; i < count; i++)
      values[i] = (int)widen_colour(range, digit[i], low[i]);
   return true;
}

/* Moves a bit of the offset to the base; the offset becomes signed. */
static void transfer_bit(int *offset, int *base)
{
   *base = *base >> 1 | (*offset & 0x80);
   *offset = ((*offset >> 1 & 0x3f) ^ 0x20) - 0x20;
}

static void contract_blue(int colour[4])
{
   colour[0] = (colour[0] + colour[2]) >> 1;
   colour[1] = (colour[1] + colour[2]) >> 1;
}

/* Direct values, first and second by turns. */
static void set_direct(const int *v, unsigned channels, int ends[2][4])
{
   bool is_reversed = v[1] + v[3] + v[5] < v[0] + v[2] + v[4];
   for (unsigned c = 0; c < channels; c++) {
      ends[is_reversed][c] = v[2 * c];
      ends[!is_reversed][c] = v[2 * c + 1];
   }
   for (unsigned i = 0; i < 2 && is_reversed; i++)
      contract_blue(ends[i]);
}

/* A base and an offset by turns. */
static void set_offset(const int *v, unsigned channels, int ends[2][4])
{
   int base[4], offset[4];
   for (unsigned c = 0; c < channels; c++) {
      base[c] = v[2 * c];
      offset[c] = v[2 * c + 1];
      transfer_bit(&offset[c], &base[c]);
   }
   bool is_reversed = channels > 2 && offset[0] + offset[1] + offset[2] < 0;
   for (unsigned c = 0; c < channels; c++) {
      ends[is_reversed][c] = base[c];
      ends[!is_reversed][c] = base[c] + offset[c];
   }
   for (unsigned i = 0; i < 2 && is_reversed; i++)
      contract_blue(ends[i]);
}

/* Luminance, and alpha where it has some. */
static void set_luminance(unsigned endpoint_mode, const int *v, int ends[2][4])
{
   int two[2][4] = {{v[0], 255}, {v[1], 255}};
   if (endpoint_mode == 1) {
      two[0][0] = v[0] >> 2 | (v[1] & 0xc0);
      two[1][0] = two[0][0] + (v[1] & 0x3f);
   } else if (endpoint_mode == 4) {
      two[0][1] = v[2];
      two[1][1] = v[3];
   } else if (endpoint_mode == 5) {
      set_offset(v, 2, two);
   }
   for (unsigned i = 0; i < 2; i++) {
      ends[i][0] = ends[i][1] = ends[i][2] = two[i][0];
      ends[i][3] = two[i][1];
   }
}

/* The second colour, and a factor for the first. */
static void set_scaled(const int *v, bool has_alpha, int ends[2][4])
{
   for (unsigned c = 0; c < 3; c++) {
      ends[0][c] = v[c] * v[3] >> 8;
      ends[1][c] = v[c];
   }
   if (has_alpha) {
      ends[0][3] = v[4];
      ends[1][3] = v[5];
   }
}

/* Two colours of eight bits; false: a mode of the HDR profile. */
static bool set_endpoints(unsigned endpoint_mode, const int *v, int ends[2][4])
{
   ends[0][3] = ends[1][3] = 255;
   switch (endpoint_mode) {
   case 0:
   case 1:
   case 4:
   case 5:
      set_luminance(endpoint_mode, v, ends);
      break;
   case 6:
   case 10:
      set_scaled(v, endpoint_mode == 10, ends);
      break;
   case 8:
   case 12:
      set_direct(v, endpoint_mode == 12 ? 4 : 3, ends);
      break;
   case 9:
   case 13:
      set_offset(v, endpoint_mode == 13 ? 4 : 3, ends);
      break;
   default:
      return false;
   }
   for (unsigned i = 0; i < 2; i++)
      for (unsigned c = 0; c < 4; c++)
         ends[i][c] = ends[i][c] < 0 ? 0 : AGX_MIN(ends[i][c], 255);
   return true;
}

static uint32_t scramble(uint32_t value)
{
   value ^= value >> 15;
   value *= 0xeede0891u;
   value ^= value >> 5;
   value += value << 16;
   value ^= value >> 7;
   value ^= value >> 3;
   value ^= value << 6;
   return value ^ value >> 17;
}

/* The specification's pseudo-random pattern of subsets. */
static unsigned find_subset(const struct mode *mode, const struct agxs_texel_format *format,
                            unsigned x, unsigned y)
{
   static const uint8_t constant_bits[4] = {14, 10, 6, 2};
   unsigned seed = mode->partition + (mode->subsets - 1) * 1024, best = 0;
   uint32_t random = scramble(seed), sum[4];
   if (mode->subsets == 1)
      return 0;
   unsigned shift[2] = {seed & 2 ? 4 : 5, mode->subsets == 3 ? 6 : 5};
   unsigned small = (unsigned)format->block_w * format->block_h < 31;
   for (unsigned i = 0; i < 4; i++) {
      uint32_t across = random >> 8 * i & 15, down = random >> (8 * i + 4) & 15;
      across = across * across >> shift[!(seed & 1)];
      down = down * down >> shift[seed & 1];
      sum[i] = i < mode->subsets ? across * (x << small) + down * (y << small) : 0;
      sum[i] = i < mode->subsets ? (sum[i] + (random >> constant_bits[i])) & 63 : 0;
   }
   for (unsigned i = 1; i < mode->subsets; i++)
      best = sum[i] > sum[best] ? i : best;
   return best;
}

/* Where the texel is in the grid's units, along an axis: in sixteenths. */
static unsigned grid_at(unsigned texel, unsigned size, unsigned grid)
{
   unsigned scale = (1024 + size / 2) / (size - 1);
   return (scale * texel * (grid - 1) + 32) >> 6;
}

/* The texel's weight in each plane, between those of the grid around it. */
static void find_weights(const struct agxs_block_bits *bits, const struct mode *mode,
                         const struct agxs_texel_format *format, unsigned x, unsigned y,
                         unsigned out[2])
{
   uint8_t digit[MAX_WEIGHTS], low[MAX_WEIGHTS];
   struct agxs_block_bits reversed = {{0}};
   unsigned planes = mode->is_dual ? 2 : 1, count = mode->width * mode->height * planes;
   for (unsigned i = 0; i < 128; i++)
      reversed.word[i / 64] |= (bits->word[1 - i / 64] >> (63 - i % 64) & 1) << i % 64;
   read_sequence(&reversed, 0, mode->weights, count, digit, low);
   unsigned s = grid_at(x, format->block_w, mode->width);
   unsigned t = grid_at(y, format->block_h, mode->height);
   unsigned both = ((s & 15) * (t & 15) + 8) >> 4;
   const unsigned share[4] = {16 - (s & 15) - (t & 15) + both, (s & 15) - both, (t & 15) - both,
                              both};
   for (unsigned plane = 0; plane < planes; plane++) {
      unsigned sum = 8;
      for (unsigned i = 0; i < 4; i++) {
         unsigned at = ((t >> 4) + i / 2) * mode->width + (s >> 4) + i % 2;
         unsigned index = at * planes + plane;
         sum += share[i] && index < count
                   ? share[i] * widen_weight(mode->weights, digit[index], low[index])
                   : 0;
      }
      out[plane] = sum >> 4;
   }
}

/* A channel of 16 bits: for the sRGB curve its highest eight, else a half that is cut. */
static double to_real(uint32_t value, bool is_srgb)
{
   if (is_srgb)
      return (value >> 8) / 255.0;
   if (value == 0xffff)
      return 1.0;
   unsigned size = value ? 32u - (unsigned)__builtin_clz(value) : 0;
   /* Eleven bits of precision, and nothing below the smallest half, 2^-24. */
   unsigned lost = size > 11 ? size - 11 : 0;
   return (double)(value >> lost << lost) / 65536.0;
}

static void set_error(struct agxs_texel *out)
{
   *out = (struct agxs_texel){.real = {1, 0, 1, 1}};
}

/* One colour for the whole block; its extent must make sense but doesn't count. */
static void decode_constant(const struct agxs_block_bits *bits,
                            const struct agxs_texel_format *format, struct agxs_texel *out)
{
   uint32_t extent[4];
   bool is_everywhere = true;
   for (unsigned i = 0; i < 4; i++) {
      extent[i] = agxs_block_bits_get(bits, 12 + 13 * i, 13);
      is_everywhere &= extent[i] == 0x1fff;
   }
   bool is_sound = is_everywhere || (extent[0] < extent[1] && extent[2] < extent[3]);
   if (agxs_block_bits_get(bits, 9, 3) != 6 || !is_sound) {
      set_error(out);
      return;
   }
   for (unsigned c = 0; c < 4; c++)
      out->real[c] = to_real(agxs_block_bits_get(bits, 64 + 16 * c, 16), format->is_srgb);
}

void agxs_block_astc(const struct agxs_texel_format *format, const uint8_t *bytes, unsigned x,
                     unsigned y, struct agxs_texel *out)
{
   struct agxs_block_bits bits = agxs_block_bits_load(bytes);
   struct mode mode;
   int values[MAX_COLOURS] = {0}, ends[2][4];
   unsigned weight[2], first = 0;
   if (agxs_block_bits_get(&bits, 0, 9) == 0x1fc) {
      decode_constant(&bits, format, out);
      return;
   }
   set_error(out);
   if (!read_mode(&bits, format, &mode) || !read_values(&bits, &mode, values))
      return;
   unsigned subset = find_subset(&mode, format, x, y);
   for (unsigned i = 0; i < subset; i++)
      first += value_count(mode.endpoint_mode[i]);
   if (!set_endpoints(mode.endpoint_mode[subset], values + first, ends))
      return;
   find_weights(&bits, &mode, format, x, y, weight);
   for (unsigned c = 0; c < 4; c++) {
      unsigned w = weight[mode.is_dual && mode.selected == c];
      bool is_curved = format->is_srgb && c < 3;
      uint32_t wide[2];
      /* A colour for the curve is followed by a half; others are repeated. source: Data Format
       * Specification 1.3 */
      for (unsigned i = 0; i < 2; i++)
         wide[i] = (uint32_t)ends[i][c] << 8 | (is_curved ? 0x80 : (uint32_t)ends[i][c]);
      out->real[c] = to_real((wide[0] * (64 - w) + wide[1] * w + 32) >> 6, format->is_srgb);
   }
}
