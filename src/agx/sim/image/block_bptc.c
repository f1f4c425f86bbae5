/* SPDX-License-Identifier: MIT
 *
 * Decodes texels of BC7 and BC6H. Their blocks have one to three subsets of texels, each with two
 * endpoints, and an index between them for each texel. block.c lists the decoders.
 * source: Khronos Data Format Specification 1.3
 */
#include "agx/sim/image/block.h"

#include "agx/isa/isa.h"
#include "agx/sim/machine/floats.h"
#include "agx/sim/machine/format.h"

/* Which of two subsets a texel is in: a bit each. */
static const uint16_t halves[64] = {
   0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80, 0xc800, 0xffec, 0xfe80,
   0xe800, 0xffe8, 0xff00, 0xfff0, 0xf000, 0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310,
   0x3100, 0x8cce, 0x088c, 0x3110, 0x6666, 0x366c, 0x17e8, 0x0ff0, 0x718e, 0x399c, 0xaaaa,
   0xf0f0, 0x5a5a, 0x33cc, 0x3c3c, 0x55aa, 0x9696, 0xa55a, 0x73ce, 0x13c8, 0x324c, 0x3bdc,
   0x6996, 0xc33c, 0x9966, 0x0660, 0x0272, 0x04e4, 0x4e40, 0x2720, 0xc936, 0x936c, 0x39c6,
   0x639c, 0x9336, 0x9cc6, 0x817e, 0xe718, 0xccf0, 0x0fcc, 0x7744, 0xee22,
};

/* Which of three: two bits each. */
static const uint32_t thirds[64] = {
   0xaa685050, 0x6a5a5040, 0x5a5a4200, 0x5450a0a8, 0xa5a50000, 0xa0a05050, 0x5555a0a0, 0x5a5a5050,
   0xaa550000, 0xaa555500, 0xaaaa5500, 0x90909090, 0x94949494, 0xa4a4a4a4, 0xa9a59450, 0x2a0a4250,
   0xa5945040, 0x0a425054, 0xa5a5a500, 0x55a0a0a0, 0xa8a85454, 0x6a6a4040, 0xa4a45000, 0x1a1a0500,
   0x0050a4a4, 0xaaa59090, 0x14696914, 0x69691400, 0xa08585a0, 0xaa821414, 0x50a4a450, 0x6a5a0200,
   0xa9a58000, 0x5090a0a8, 0xa8a09050, 0x24242424, 0x00aa5500, 0x24924924, 0x24499224, 0x50a50a50,
   0x500aa550, 0xaaaa4444, 0x66660000, 0xa5a0a5a0, 0x50a050a0, 0x69286928, 0x44aaaa44, 0x66666600,
   0xaa444444, 0x54a854a8, 0x95809580, 0x96969600, 0xa85454a8, 0x80959580, 0xaa141414, 0x96960000,
   0xaaaa1414, 0xa05050a0, 0xa0a5a5a0, 0x96000000, 0x40804080, 0xa9a8a9a8, 0xaaaaaa44, 0x2a4a5254,
};

/* The texel of the second subset, and those of the second and third, whose index lacks the
 * highest bit; in the first subset it is texel 0. */
static const uint8_t half_anchors[64] = {
   15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 2,  8, 2,  2, 8,
   8,  15, 2,  8,  2,  2,  8,  8,  2,  2,  15, 15, 6,  8,  2,  8,  15, 15, 2, 8,  2, 2,
   2,  15, 15, 6,  6,  2,  6,  8,  15, 15, 2,  2,  15, 15, 15, 15, 15, 2,  2, 15,
};
static const uint8_t third_anchors[2][64] = {
   {3,  3,  15, 15, 8, 3,  15, 15, 8,  8,  6, 6,  6, 5,  3, 3,  3,  3,  8,  15, 3,  3,
    6,  10, 5,  8,  8, 6,  8,  5,  15, 15, 8, 15, 3, 5,  6, 10, 8,  15, 15, 3,  15, 5,
    15, 15, 15, 15, 3, 15, 5,  5,  5,  8,  5, 10, 5, 10, 8, 13, 15, 12, 3,  3},
   {15, 8, 8, 3,  15, 15, 3,  8,  15, 15, 15, 15, 15, 15, 15, 8,  15, 8,  15, 3,  15, 8,
    15, 8, 3, 15, 6,  10, 15, 15, 10, 8,  15, 3,  15, 10, 10, 8,  9,  10, 6,  15, 8,  15,
    3,  6, 6, 8,  15, 3,  15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 3,  15, 15, 8},
};

/* 64ths of the second endpoint, by the bits of an index. */
static const uint8_t weights[3][16] = {
   {0, 21, 43, 64},
   {0, 9, 18, 27, 37, 46, 55, 64},
   {0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64},
};

static unsigned subset_of(unsigned subsets, unsigned partition, unsigned texel)
{
   if (subsets == 2)
      return halves[partition] >> texel & 1;
   return subsets == 3 ? thirds[partition] >> 2 * texel & 3 : 0;
}

/* A texel's weight; indices of `width` bits start at `start`. */
static int weight_of(const struct agxs_block_bits *bits, unsigned start, unsigned width,
                     unsigned subsets, unsigned partition, unsigned texel)
{
   const unsigned anchors[3] = {
      0,
      subsets == 2   ? half_anchors[partition]
      : subsets == 3 ? third_anchors[0][partition]
                     : 16,
      subsets == 3 ? third_anchors[1][partition] : 16,
   };
   unsigned at = start + texel * width, count = width;
   for (unsigned i = 0; i < AGX_COUNT(anchors); i++) {
      at -= anchors[i] < texel;
      count -= anchors[i] == texel;
   }
   return weights[width - 2][agxs_block_bits_get(bits, at, count)];
}

static int interpolate(int first, int second, int weight)
{
   return ((64 - weight) * first + weight * second + 32) >> 6;
}

static const struct bc7_mode {
   uint8_t subsets, partition_bits, rotation_bits, selector_bits, colour_bits, alpha_bits;
   uint8_t low_bits; /* a lowest bit for 1: each endpoint, 2: each subset */
   uint8_t index_bits, second_bits;
} bc7_modes[8] = {
   {3, 4, 0, 0, 4, 0, 1, 3, 0}, {2, 6, 0, 0, 6, 0, 2, 3, 0}, {3, 6, 0, 0, 5, 0, 0, 2, 0},
   {2, 6, 0, 0, 7, 0, 1, 2, 0}, {1, 0, 2, 1, 5, 6, 0, 2, 3}, {1, 0, 2, 0, 7, 8, 0, 2, 2},
   {1, 0, 0, 0, 7, 7, 1, 4, 0}, {2, 6, 0, 0, 5, 5, 1, 2, 0},
};

/* The two endpoints of a subset, which start at bit `start`, in eight bits. */
static void read_bc7_endpoints(const struct agxs_block_bits *bits, const struct bc7_mode *mode,
                               unsigned start, unsigned subset, int out[2][4])
{
   unsigned endpoints = 2u * mode->subsets;
   unsigned low_at = start + endpoints * (3u * mode->colour_bits + mode->alpha_bits);
   for (unsigned end = 0; end < 2; end++) {
      unsigned index = 2 * subset + end;
      for (unsigned c = 0; c < 4; c++) {
         unsigned width = c < 3 ? mode->colour_bits : mode->alpha_bits;
         unsigned at = start + c * endpoints * mode->colour_bits + index * width;
         uint32_t value = agxs_block_bits_get(bits, at, width);
         if (mode->low_bits && width) {
            unsigned low = mode->low_bits == 1 ? index : subset;
            value = value << 1 | agxs_block_bits_get(bits, low_at + low, 1);
            width++;
         }
         value <<= 8 - width;
         out[end][c] = width ? (int)(value | value >> width) : 255;
      }
   }
}

void agxs_block_bc7(const struct agxs_texel_format *format, const uint8_t *bytes, unsigned x,
                    unsigned y, struct agxs_texel *out)
{
   (void)format;
   struct agxs_block_bits bits = agxs_block_bits_load(bytes);
   unsigned texel = 4 * y + x;
   int ends[2][4], colour[4];
   *out = (struct agxs_texel){0};
   if (!bytes[0])
      return; /* reserved */
   unsigned number = (unsigned)__builtin_ctz(bytes[0]), at = number + 1;
   const struct bc7_mode *mode = &bc7_modes[number];
   uint32_t partition = agxs_block_bits_get(&bits, at, mode->partition_bits);
   at += mode->partition_bits;
   uint32_t rotation = agxs_block_bits_get(&bits, at, mode->rotation_bits);
   at += mode->rotation_bits;
   bool is_swapped = agxs_block_bits_get(&bits, at, mode->selector_bits);
   at += mode->selector_bits;
   read_bc7_endpoints(&bits, mode, at, subset_of(mode->subsets, partition, texel), ends);
   unsigned low_bits = mode->low_bits == 1 ? 2u * mode->subsets : mode->low_bits ? 2 : 0;
   at += 2u * mode->subsets * (3u * mode->colour_bits + mode->alpha_bits) + low_bits;
   int weight[2];
   weight[0] = weight[1] = weight_of(&bits, at, mode->index_bits, mode->subsets, partition, texel);
   at += 16u * mode->index_bits - mode->subsets;
   if (mode->second_bits)
      weight[!is_swapped] = weight_of(&bits, at, mode->second_bits, 1, 0, texel);
   for (unsigned c = 0; c < 4; c++)
      colour[c] = interpolate(ends[0][c], ends[1][c], weight[c == 3]);
   for (unsigned c = 0; c < 4; c++) {
      unsigned from = rotation && c == 3 ? rotation - 1 : rotation == c + 1 ? 3 : c;
      out->real[c] = colour[from] / 255.0;
   }
}

/* Endpoint i of red, green or blue. */
enum bc6_field {
   R0,
   R1,
   R2,
   R3,
   G0,
   G1,
   G2,
   G3,
   B0,
   B1,
   B2,
   B3
};

/* How a mode's bits are spread: runs from the lowest bit up, behind the mode's own bits. */
static const struct bc6_mode {
   uint8_t code, bits, delta_bits[3];
   bool is_delta; /* endpoints but the first are differences from it */
   uint8_t subsets;
   struct {
      uint8_t field, low, count;
   } runs[24];
} bc6_modes[] = {
   {0,
    10,
    {5, 5, 5},
    true,
    2,
    {{G2, 4, 1},
     {B2, 4, 1},
     {B3, 4, 1},
     {R0, 0, 10},
     {G0, 0, 10},
     {B0, 0, 10},
     {R1, 0, 5},
     {G3, 4, 1},
     {G2, 0, 4},
     {G1, 0, 5},
     {B3, 0, 1},
     {G3, 0, 4},
     {B1, 0, 5},
     {B3, 1, 1},
     {B2, 0, 4},
     {R2, 0, 5},
     {B3, 2, 1},
     {R3, 0, 5},
     {B3, 3, 1}}},
   {1, 7, {6, 6, 6}, true, 2, {{G2, 5, 1}, {G3, 4, 1}, {G3, 5, 1}, {R0, 0, 7}, {B3, 0, 1},
                               {B3, 1, 1}, {B2, 4, 1}, {G0, 0, 7}, {B2, 5, 1}, {B3, 2, 1},
                               {G2, 4, 1}, {B0, 0, 7}, {B3, 3, 1}, {B3, 5, 1}, {B3, 4, 1},
                               {R1, 0, 6}, {G2, 0, 4}, {G1, 0, 6}, {G3, 0, 4}, {B1, 0, 6},
                               {B2, 0, 4}, {R2, 0, 6}, {R3, 0, 6}}},
   {2,
    11,
    {5, 4, 4},
    true,
    2,
    {{R0, 0, 10},
     {G0, 0, 10},
     {B0, 0, 10},
     {R1, 0, 5},
     {R0, 10, 1},
     {G2, 0, 4},
     {G1, 0, 4},
     {G0, 10, 1},
     {B3, 0, 1},
     {G3, 0, 4},
     {B1, 0, 4},
     {B0, 10, 1},
     {B3, 1, 1},
     {B2, 0, 4},
     {R2, 0, 5},
     {B3, 2, 1},
     {R3, 0, 5},
     {B3, 3, 1}}},
   {6, 11, {4, 5, 4}, true, 2, {{R0, 0, 10}, {G0, 0, 10}, {B0, 0, 10}, {R1, 0, 4},  {R0, 10, 1},
                                {G3, 4, 1},  {G2, 0, 4},  {G1, 0, 5},  {G0, 10, 1}, {G3, 0, 4},
                                {B1, 0, 4},  {B0, 10, 1}, {B3, 1, 1},  {B2, 0, 4},  {R2, 0, 4},
                                {B3, 0, 1},  {B3, 2, 1},  {R3, 0, 4},  {G2, 4, 1},  {B3, 3, 1}}},
   {10, 11, {4, 4, 5}, true, 2, {{R0, 0, 10}, {G0, 0, 10}, {B0, 0, 10}, {R1, 0, 4},  {R0, 10, 1},
                                 {B2, 4, 1},  {G2, 0, 4},  {G1, 0, 4},  {G0, 10, 1}, {B3, 0, 1},
                                 {G3, 0, 4},  {B1, 0, 5},  {B0, 10, 1}, {B2, 0, 4},  {R2, 0, 4},
                                 {B3, 1, 1},  {B3, 2, 1},  {R3, 0, 4},  {B3, 4, 1},  {B3, 3, 1}}},
   {14,
    9,
    {5, 5, 5},
    true,
    2,
    {{R0, 0, 9},
     {B2, 4, 1},
     {G0, 0, 9},
     {G2, 4, 1},
     {B0, 0, 9},
     {B3, 4, 1},
     {R1, 0, 5},
     {G3, 4, 1},
     {G2, 0, 4},
     {G1, 0, 5},
     {B3, 0, 1},
     {G3, 0, 4},
     {B1, 0, 5},
     {B3, 1, 1},
     {B2, 0, 4},
     {R2, 0, 5},
     {B3, 2, 1},
     {R3, 0, 5},
     {B3, 3, 1}}},
   {18,
    8,
    {6, 5, 5},
    true,
    2,
    {{R0, 0, 8},
     {G3, 4, 1},
     {B2, 4, 1},
     {G0, 0, 8},
     {B3, 2, 1},
     {G2, 4, 1},
     {B0, 0, 8},
     {B3, 3, 1},
     {B3, 4, 1},
     {R1, 0, 6},
     {G2, 0, 4},
     {G1, 0, 5},
     {B3, 0, 1},
     {G3, 0, 4},
     {B1, 0, 5},
     {B3, 1, 1},
     {B2, 0, 4},
     {R2, 0, 6},
     {R3, 0, 6}}},
   {22, 8, {5, 6, 5}, true, 2, {{R0, 0, 8}, {B3, 0, 1}, {B2, 4, 1}, {G0, 0, 8}, {G2, 5, 1},
                                {G2, 4, 1}, {B0, 0, 8}, {G3, 5, 1}, {B3, 4, 1}, {R1, 0, 5},
                                {G3, 4, 1}, {G2, 0, 4}, {G1, 0, 6}, {G3, 0, 4}, {B1, 0, 5},
                                {B3, 1, 1}, {B2, 0, 4}, {R2, 0, 5}, {B3, 2, 1}, {R3, 0, 5},
                                {B3, 3, 1}}},
   {26, 8, {5, 5, 6}, true, 2, {{R0, 0, 8}, {B3, 1, 1}, {B2, 4, 1}, {G0, 0, 8}, {B2, 5, 1},
                                {G2, 4, 1}, {B0, 0, 8}, {B3, 5, 1}, {B3, 4, 1}, {R1, 0, 5},
                                {G3, 4, 1}, {G2, 0, 4}, {G1, 0, 5}, {B3, 0, 1}, {G3, 0, 4},
                                {B1, 0, 6}, {B2, 0, 4}, {R2, 0, 5}, {B3, 2, 1}, {R3, 0, 5},
                                {B3, 3, 1}}},
   {30, 6, {6, 6, 6}, false, 2, {{R0, 0, 6}, {G3, 4, 1}, {B3, 0, 1}, {B3, 1, 1}, {B2, 4, 1},
                                 {G0, 0, 6}, {G2, 5, 1}, {B2, 5, 1}, {B3, 2, 1}, {G2, 4, 1},
                                 {B0, 0, 6}, {G3, 5, 1}, {B3, 3, 1}, {B3, 5, 1}, {B3, 4, 1},
                                 {R1, 0, 6}, {G2, 0, 4}, {G1, 0, 6}, {G3, 0, 4}, {B1, 0, 6},
                                 {B2, 0, 4}, {R2, 0, 6}, {R3, 0, 6}}},
   {3,
    10,
    {10, 10, 10},
    false,
    1,
    {{R0, 0, 10}, {G0, 0, 10}, {B0, 0, 10}, {R1, 0, 10}, {G1, 0, 10}, {B1, 0, 10}}},
   {7,
    11,
    {9, 9, 9},
    true,
    1,
    {{R0, 0, 10},
     {G0, 0, 10},
     {B0, 0, 10},
     {R1, 0, 9},
     {R0, 10, 1},
     {G1, 0, 9},
     {G0, 10, 1},
     {B1, 0, 9},
     {B0, 10, 1}}},
   {11,
    12,
    {8, 8, 8},
    true,
    1,
    {{R0, 0, 10},
     {G0, 0, 10},
     {B0, 0, 10},
     {R1, 0, 8},
     {R0, 11, 1},
     {R0, 10, 1},
     {G1, 0, 8},
     {G0, 11, 1},
     {G0, 10, 1},
     {B1, 0, 8},
     {B0, 11, 1},
     {B0, 10, 1}}},
   {15, 16, {4, 4, 4}, true, 1, {{R0, 0, 10}, {G0, 0, 10}, {B0, 0, 10}, {R1, 0, 4},  {R0, 15, 1},
                                 {R0, 14, 1}, {R0, 13, 1}, {R0, 12, 1}, {R0, 11, 1}, {R0, 10, 1},
                                 {G1, 0, 4},  {G0, 15, 1}, {G0, 14, 1}, {G0, 13, 1}, {G0, 12, 1},
                                 {G0, 11, 1}, {G0, 10, 1}, {B1, 0, 4},  {B0, 15, 1}, {B0, 14, 1},
                                 {B0, 13, 1}, {B0, 12, 1}, {B0, 11, 1}, {B0, 10, 1}}},
};

static int sign_extend(int value, unsigned bits)
{
   int sign = 1 << (bits - 1);
   return ((value & (2 * sign - 1)) ^ sign) - sign;
}

/* Endpoints as the block has them; no mode: reserved. */
static const struct bc6_mode *read_bc6(const struct agxs_block_bits *bits, int fields[12])
{
   unsigned code = agxs_block_bits_get(bits, 0, 2), at = 2;
   if (code > 1) {
      code = agxs_block_bits_get(bits, 0, 5);
      at = 5;
   }
   for (size_t i = 0; i < AGX_COUNT(bc6_modes); i++) {
      const struct bc6_mode *mode = &bc6_modes[i];
      if (mode->code != code)
         continue;
      for (unsigned run = 0; run < AGX_COUNT(mode->runs) && mode->runs[run].count; run++) {
         uint32_t value = agxs_block_bits_get(bits, at, mode->runs[run].count);
         fields[mode->runs[run].field] |= (int)(value << mode->runs[run].low);
         at += mode->runs[run].count;
      }
      return mode;
   }
   return NULL;
}

/* To 16 bits, or 15 and a sign. */
static int widen(int value, unsigned bits, bool is_signed)
{
   if (!is_signed) {
      if (bits >= 15 || !value)
         return value;
      return value == (1 << bits) - 1 ? 0xffff : ((value << 16) + 0x8000) >> bits;
   }
   int size = value < 0 ? -value : value;
   if (bits >= 16 || !value)
      return value;
   size = size >= (1 << (bits - 1)) - 1 ? 0x7fff : ((size << 15) + 0x4000) >> (bits - 1);
   return value < 0 ? -size : size;
}

/* An endpoint of a channel. */
static int bc6_endpoint(const struct bc6_mode *mode, const int fields[12], unsigned channel,
                        unsigned index, bool is_signed)
{
   int value = fields[4 * channel + index];
   if (index && mode->is_delta)
      value = sign_extend(value, mode->delta_bits[channel]) + fields[4 * channel];
   value &= (1 << mode->bits) - 1;
   return widen(is_signed ? sign_extend(value, mode->bits) : value, mode->bits, is_signed);
}

/* The halves' bits. */
static uint32_t to_half(int value, bool is_signed)
{
   if (!is_signed)
      return (uint32_t)(value * 31 >> 6);
   return value < 0 ? (uint32_t)(-value * 31 >> 5) | 0x8000 : (uint32_t)(value * 31 >> 5);
}

static void decode_bc6(const uint8_t *bytes, unsigned x, unsigned y, bool is_signed,
                       struct agxs_texel *out)
{
   struct agxs_block_bits bits = agxs_block_bits_load(bytes);
   int fields[12] = {0};
   unsigned texel = 4 * y + x;
   const struct bc6_mode *mode = read_bc6(&bits, fields);
   if (!mode)
      return;
   bool has_halves = mode->subsets == 2;
   unsigned partition = has_halves ? agxs_block_bits_get(&bits, 77, 5) : 0;
   unsigned subset = subset_of(mode->subsets, partition, texel);
   int weight =
      weight_of(&bits, has_halves ? 82 : 65, has_halves ? 3 : 4, mode->subsets, partition, texel);
   for (unsigned c = 0; c < 3; c++) {
      int first = bc6_endpoint(mode, fields, c, 2 * subset, is_signed);
      int second = bc6_endpoint(mode, fields, c, 2 * subset + 1, is_signed);
      out->bits[c] = agxs_half_to_single(to_half(interpolate(first, second, weight), is_signed));
      out->real[c] = (double)agxs_float(out->bits[c]);
   }
}

void agxs_block_bc6h_signed(const struct agxs_texel_format *format, const uint8_t *bytes,
                            unsigned x, unsigned y, struct agxs_texel *out)
{
   (void)format;
   decode_bc6(bytes, x, y, true, out);
}

void agxs_block_bc6h_unsigned(const struct agxs_texel_format *format, const uint8_t *bytes,
                              unsigned x, unsigned y, struct agxs_texel *out)
{
   (void)format;
   decode_bc6(bytes, x, y, false, out);
}
