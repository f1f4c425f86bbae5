/* SPDX-License-Identifier: MIT
 *
 * Textures and images through a whole launch: descriptors in memory, state loaded by
 * a preamble, every thread one access. What a texel's bytes mean in each format is
 * computed here by other means than the simulator's.
 */
#include "sim_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agx/format.h"
#include "agx/hw/packet.h"
#include "agx/layout/layout.h"
#include "agx/sim/check/statistics.h"
#include "agx/sim/image/texture.h"
#include "base/util.h"

#define HEAP    SIM_DATA              /* descriptors: texture, PBE, sampler at 64 */
#define INPUT   (SIM_DATA + 0x10000)  /* 16 words a thread */
#define OUTPUT  (SIM_DATA + 0x20000)  /* 4 words a thread */
#define PIXELS  (SIM_DATA + 0x100000) /* the image */
#define THREADS 32

/* u0: heap, u2: input, u4: output; 64 bits each. */
#define PREAMBLE                                                                                   \
   "tex_state_store ts=ts0 heap=du0 offset=0 group=a; "                                            \
   "tex_state_store ts=ts1 heap=du0 offset=24 group=a; "                                           \
   "sampler_state_store ss=ss0 heap=du0 offset=64 group=a"
#define READ                                                                                       \
   "mfsr d=r0 sr=thread_in_grid_x\n"                                                               \
   "shl d=r1 b=r0 c=2\n"                                                                           \
   "load r=r4..r7 base=du2 index=r1 shift=lsl2 format=i32 mask=xyzw group=a\n"                     \
   "iadd d=r2 a=r1 b=1\n"                                                                          \
   "load r=r8..r11 base=du2 index=r2 shift=lsl2 format=i32 mask=xyzw group=a\n"                    \
   "iadd d=r2 a=r1 b=2\n"                                                                          \
   "load r=r12..r15 base=du2 index=r2 shift=lsl2 format=i32 mask=xyzw group=a\n"                   \
   "iadd d=r2 a=r1 b=3\n"                                                                          \
   "load r=r16..r19 base=du2 index=r2 shift=lsl2 format=i32 mask=xyzw group=a\n"                   \
   "wait group=a\n"
#define WRITE                                                                                      \
   "\nwait group=a\n"                                                                              \
   "store r=r20..r23 base=du4 index=r0 shift=lsl2 format=i32 mask=xyzw group=a"

struct image_case {
   struct sim_launch launch;
   struct agx_hw_texture texture;
   struct agx_hw_pbe pbe;
   struct agx_hw_sampler sampler;
   uint8_t *heap, *pixels;
   uint32_t (*input)[16];
   uint32_t (*output)[4];
};

static void begin(struct image_case *c, const char *program)
{
   sim_launch_init(&c->launch, program);
   c->launch.preamble = PREAMBLE;
   c->launch.halves = 64;
   c->launch.grid[0] = c->launch.local[0] = THREADS;
   c->heap = sim_map(&c->launch.memory, HEAP, 0x4000, false);
   c->input = (void *)sim_map(&c->launch.memory, INPUT, 0x4000, false);
   c->output = (void *)sim_map(&c->launch.memory, OUTPUT, 0x4000, true);
   c->pixels = sim_map(&c->launch.memory, PIXELS, 0x40000, true);
   c->launch.uniform[0] = HEAP;
   c->launch.uniform[1] = INPUT;
   c->launch.uniform[2] = OUTPUT;
   c->texture = agx_hw_texture_default();
   c->texture.dimension = AGX_HW_TEXTURE_DIMENSION_2D;
   c->texture.layout = AGX_HW_LAYOUT_GPU;
   c->texture.channels = AGX_HW_CHANNELS_R32;
   c->texture.type = AGX_HW_TEXTURE_TYPE_FLOAT;
   c->texture.swizzle_r = AGX_HW_CHANNEL_R;
   c->texture.swizzle_g = AGX_HW_CHANNEL_0;
   c->texture.swizzle_b = AGX_HW_CHANNEL_0;
   c->texture.swizzle_a = AGX_HW_CHANNEL_1;
   c->texture.width = c->texture.height = 8;
   c->texture.address = PIXELS;
   c->pbe = agx_hw_pbe_default();
   c->pbe.dimension = AGX_HW_TEXTURE_DIMENSION_2D;
   c->pbe.layout = AGX_HW_LAYOUT_GPU;
   c->pbe.channels = AGX_HW_CHANNELS_R32;
   c->pbe.type = AGX_HW_TEXTURE_TYPE_FLOAT;
   c->pbe.swizzle_g = AGX_HW_CHANNEL_G;
   c->pbe.swizzle_b = AGX_HW_CHANNEL_B;
   c->pbe.swizzle_a = AGX_HW_CHANNEL_A;
   c->pbe.width = c->pbe.height = 8;
   c->pbe.buffer = PIXELS;
   c->sampler = agx_hw_sampler_default();
   c->sampler.maximum_lod = 14;
   c->sampler.wrap_s = c->sampler.wrap_t = c->sampler.wrap_r = AGX_HW_WRAP_CLAMP_TO_BORDER;
}

static agx_status run(struct image_case *c)
{
   assert_ok(agx_hw_texture_pack(&c->texture, c->heap));
   assert_ok(agx_hw_pbe_pack(&c->pbe, c->heap + 24));
   assert_ok(agx_hw_sampler_pack(&c->sampler, c->heap + 64));
   return sim_launch_run(&c->launch);
}

static void end(struct image_case *c)
{
   sim_launch_fini(&c->launch);
}

static uint32_t bits_of(float value)
{
   uint32_t bits;
   memcpy(&bits, &value, sizeof(bits));
   return bits;
}

static float float_of(uint32_t bits)
{
   float value;
   memcpy(&value, &bits, sizeof(value));
   return value;
}

/* Fills a level of an R32 image with x + 10 y + 100 level + 1000 layer. */
static void fill_level(struct image_case *c, const struct agx_layout *layout, uint32_t level,
                       uint32_t layer, uint32_t width, uint32_t height)
{
   for (uint32_t y = 0; y < height; y++) {
      for (uint32_t x = 0; x < width; x++) {
         float value = (float)(x + 10 * y + 100 * level + 1000 * layer);
         uint64_t at = agx_layout_offset(layout, level, layer, x, y, 0);
         agxs_put_le32(c->pixels + at, bits_of(value));
      }
   }
}

/* ---- Texel fetch ------------------------------------------------------------ */

static void test_fetch_levels(void **state)
{
   struct image_case c;
   begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 lod=r8l dim=2d mask=xyzw "
                  "lod_mode=lod_min group=a" WRITE);
   c.texture.width = 20, c.texture.height = 12;
   c.texture.first_level = 1, c.texture.last_level = 2;
   c.texture.unk_mipmapped = true;
   struct agx_layout layout;
   struct agx_layout_shape shape = {.tiling = AGX_LAYOUT_GPU,
                                    .width = 20,
                                    .height = 12,
                                    .depth = 1,
                                    .levels = 5,
                                    .samples = 1,
                                    .block_B = 4,
                                    .block_w = 1,
                                    .block_h = 1,
                                    .pages = AGX_LAYOUT_PAGES_OFF};
   assert_ok(agx_layout_init(&shape, &layout));
   for (uint32_t level = 0; level < 3; level++)
      fill_level(&c, &layout, level, 0, 20 >> level, 12 >> level);
   const struct {
      int32_t x, y, level;
      float value, alpha;
   } rows[] = {
      {0, 0, 0, 100, 1},
      {9, 5, 0, 159, 1},
      {10, 5, 0, 0, 0 /* outside */},
      {4, 2, 1, 224, 1},
      {5, 0, 1, 0, 0},
      {-1, 0, 0, 0, 0},
      {0, 6, 0, 0, 0},
      {3, 1, 7, 213, 1 /* the level is clamped */},
   };
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      c.input[i][0] = (uint32_t)rows[i].x;
      c.input[i][1] = (uint32_t)rows[i].y;
      c.input[i][4] = (uint32_t)rows[i].level;
   }
   assert_ok(run(&c));
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      assert_true(float_of(c.output[i][0]) == rows[i].value);
      assert_int_equal(c.output[i][1], 0);
      /* The swizzle's one stays where the border gives zero: hardware's format default. */
      assert_true(float_of(c.output[i][3]) == 1.0f);
   }
   c.launch.options.check = true;
   assert_fails(run(&c), AGX_FAILED_PRECONDITION, "level or layer outside");
   end(&c);
}

static void test_fetch_3d_and_layers(void **state)
{
   struct image_case c;
   begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=3d mask=xyzw "
                  "lod_mode=auto_lod group=a" WRITE);
   c.texture.dimension = AGX_HW_TEXTURE_DIMENSION_3D;
   c.texture.depth = 4;
   struct agx_layout layout;
   struct agx_layout_shape shape = {.tiling = AGX_LAYOUT_GPU,
                                    .width = 8,
                                    .height = 8,
                                    .depth = 4,
                                    .levels = 1,
                                    .samples = 1,
                                    .block_B = 4,
                                    .block_w = 1,
                                    .block_h = 1,
                                    .is_3d = true,
                                    .pages = AGX_LAYOUT_PAGES_OFF};
   assert_ok(agx_layout_init(&shape, &layout));
   for (uint32_t z = 0; z < 4; z++)
      fill_level(&c, &layout, 0, z, 8, 8);
   for (uint32_t i = 0; i < 5; i++)
      c.input[i][0] = 3, c.input[i][1] = 2, c.input[i][2] = i;
   assert_ok(run(&c));
   for (uint32_t i = 0; i < 4; i++)
      assert_true(float_of(c.output[i][0]) == (float)(23 + 1000 * i));
   assert_int_equal(c.output[4][0], 0);
   end(&c);
   begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=2d_array mask=xyzw "
                  "lod_mode=auto_lod group=a" WRITE);
   c.texture.dimension = AGX_HW_TEXTURE_DIMENSION_2D_ARRAY;
   c.texture.depth = 4;
   for (uint32_t z = 0; z < 4; z++)
      fill_level(&c, &layout, 0, z, 8, 8);
   for (uint32_t i = 0; i < 4; i++)
      c.input[i][0] = 5, c.input[i][1] = 1, c.input[i][2] = 0xabcd0000 | i; /* low half counts */
   assert_ok(run(&c));
   for (uint32_t i = 0; i < 4; i++)
      assert_true(float_of(c.output[i][0]) == (float)(15 + 1000 * i));
   end(&c);
}

static void test_samples(void **state)
{
   struct image_case c;
   begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=2d_ms mask=xyzw "
                  "lod_mode=auto_lod group=a" WRITE);
   c.texture.dimension = AGX_HW_TEXTURE_DIMENSION_2D_MULTISAMPLED;
   c.texture.samples = AGX_HW_SAMPLE_COUNT_4;
   /* Samples of a texel are neighbours: sample 2 of texel 1, 0 is word 6. */
   agxs_put_le32(c.pixels + 24, bits_of(7.5f));
   for (unsigned i = 0; i < THREADS; i++)
      c.input[i][0] = 1, c.input[i][2] = 2;
   assert_ok(run(&c));
   assert_true(float_of(c.output[0][0]) == 7.5f);
   c.input[0][2] = 4;
   assert_fails(run(&c), AGX_INVALID_ARGUMENT, "fewer samples");
   end(&c);
}

/* ---- Every format of the table ------------------------------------------------ */

static double fraction(uint32_t value, unsigned width)
{
   return value / (ldexp(1.0, (int)width) - 1.0);
}

static double small_float(uint32_t value, unsigned digits)
{
   uint32_t exponent = value >> digits, mantissa = value & ((1u << digits) - 1);
   if (exponent == 31)
      return mantissa ? NAN : INFINITY;
   return exponent ? ldexp(1.0 + ldexp(mantissa, -(int)digits), (int)exponent - 15)
                   : ldexp(mantissa, -14 - (int)digits);
}

/* Channel c of a texel, by the format's name. */
static double expected_channel(const struct agx_format *format, const uint8_t *texel, unsigned c,
                               bool is_alpha)
{
   static const struct {
      const char *prefix;
      uint8_t width[4];
   } shapes[] = {
      {"R5G6B5", {5, 6, 5}},       {"R5G5B5A1", {5, 5, 5, 1}},
      {"R4G4B4A4", {4, 4, 4, 4}},  {"R10G10B10A2", {10, 10, 10, 2}},
      {"R11G11B10", {11, 11, 10}}, {"R9G9B9E5", {9, 9, 9}},
      {"R8", {8, 8, 8, 8}},        {"B8", {8, 8, 8, 8}},
      {"R16", {16, 16, 16, 16}},   {"R32", {32, 32, 32, 32}},
   };
   const uint8_t *width = NULL;
   for (size_t i = 0; i < AGX_COUNT(shapes) && !width; i++)
      width =
         strncmp(format->name, shapes[i].prefix, strlen(shapes[i].prefix)) ? NULL : shapes[i].width;
   assert_non_null(width);
   uint8_t padded[20] = {0};
   memcpy(padded, texel, format->texel_B);
   unsigned start = 0;
   for (unsigned i = 0; i < c; i++)
      start += width[i];
   uint32_t field = (uint32_t)(agx_load_u64(padded + start / 32 * 4) >> start % 32) &
                    (uint32_t)agx_bits(width[c]);
   if (strstr(format->name, "R9G9B9E5"))
      return field * ldexp(1.0, (int)(agx_load_u32(padded) >> 27) - 15 - 9);
   if (strstr(format->name, "R11G11B10"))
      return small_float(field, c == 2 ? 5 : 6);
   int64_t sign = (int64_t)(field ^ (1ull << (width[c] - 1))) - (int64_t)(1ull << (width[c] - 1));
   if (strstr(format->name, "SNORM"))
      return fmax((double)sign / (ldexp(1.0, width[c] - 1) - 1.0), -1.0);
   if (strstr(format->name, "UINT"))
      return field;
   if (strstr(format->name, "SINT"))
      return (double)sign;
   if (strstr(format->name, "FLOAT"))
      return width[c] == 16 ? (field >> 15 ? -1 : 1) * small_float(field & 0x7fff, 10)
                            : (double)float_of(field);
   double value = fraction(field, width[c]);
   if (format->is_srgb && !is_alpha)
      value = value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
   return value;
}

static enum agx_hw_channel channel_of(char letter)
{
   return letter == 'o'   ? AGX_HW_CHANNEL_1
          : letter == 'z' ? AGX_HW_CHANNEL_0
                          : (enum agx_hw_channel)(letter - '0');
}

static void set_format(struct image_case *c, const struct agx_format *format)
{
   c->texture.channels = c->pbe.channels = format->channels;
   c->texture.type = c->pbe.type = format->type;
   c->texture.srgb = c->pbe.srgb = format->is_srgb;
   c->texture.swizzle_r = channel_of(format->swizzle[0]);
   c->texture.swizzle_g = channel_of(format->swizzle[1]);
   c->texture.swizzle_b = channel_of(format->swizzle[2]);
   c->texture.swizzle_a = channel_of(format->swizzle[3]);
   /* The inverse for stores: what each memory channel takes. */
   enum agx_hw_channel inverse[4] = {0, 1, 2, 3};
   for (unsigned i = 0; i < 4; i++) {
      if (format->swizzle[i] >= '0' && format->swizzle[i] <= '3')
         inverse[format->swizzle[i] - '0'] = (enum agx_hw_channel)i;
   }
   c->pbe.swizzle_r = inverse[0];
   c->pbe.swizzle_g = inverse[1];
   c->pbe.swizzle_b = inverse[2];
   c->pbe.swizzle_a = inverse[3];
}

static bool is_integer(const struct agx_format *format)
{
   return strstr(format->name, "UINT") || strstr(format->name, "SINT");
}

/* Loads random texels, compares them with the model, and stores what was loaded into a
 * cleared image: the same bytes must come back where they are the only ones of their value. */
static void check_format(const struct agx_format *format, struct agx_test_rng *rng)
{
   struct image_case c;
   begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=2d mask=xyzw "
                  "lod_mode=auto_lod group=a\nwait group=a\n"
                  "imgw r=r20..r23 texture=ts1 coord=r4 lod=0 dim=2d" WRITE);
   set_format(&c, format);
   c.pbe.buffer = PIXELS + 0x4000;
   struct agx_layout layout;
   struct agx_layout_shape shape = {.tiling = AGX_LAYOUT_GPU,
                                    .width = 8,
                                    .height = 8,
                                    .depth = 1,
                                    .levels = 1,
                                    .samples = 1,
                                    .block_B = format->texel_B,
                                    .block_w = 1,
                                    .block_h = 1,
                                    .pages = AGX_LAYOUT_PAGES_OFF};
   assert_ok(agx_layout_init(&shape, &layout));
   uint8_t texel[THREADS][16];
   for (unsigned i = 0; i < THREADS; i++) {
      for (unsigned b = 0; b < 16; b++)
         texel[i][b] = (uint8_t)agx_test_random(rng);
      if (strstr(format->name, "32_FLOAT") || strstr(format->name, "B32A32_FLOAT")) {
         for (unsigned w = 0; w < 4; w++)
            agxs_put_le32(texel[i] + 4 * w, bits_of((float)(int32_t)agx_test_random(rng) / 7.0f));
      }
      c.input[i][0] = i % 8, c.input[i][1] = i / 8;
      memcpy(c.pixels + agx_layout_offset(&layout, 0, 0, i % 8, i / 8, 0), texel[i],
             format->texel_B);
   }
   assert_ok(run(&c));
   for (unsigned i = 0; i < THREADS; i++) {
      bool is_special = false;
      for (unsigned ch = 0; ch < 4; ch++) {
         char from = format->swizzle[ch];
         double value = from == 'o' ? 1.0
                        : from == 'z'
                           ? 0.0
                           : expected_channel(format, texel[i], (unsigned)(from - '0'), ch == 3);
         uint32_t got = c.output[i][ch];
         is_special |= isnan(value) || (strstr(format->name, "SNORM") && value <= -1.0);
         if (is_integer(format))
            assert_true(got == (uint32_t)(int64_t)value);
         else if (isnan(value))
            assert_true(isnan(float_of(got)));
         else if (fabs(value) >= 0x1p-126 || value == 0.0)
            assert_true(got == bits_of((float)value));
      }
      const uint8_t *stored = c.pixels + 0x4000 + agx_layout_offset(&layout, 0, 0, i % 8, i / 8, 0);
      /* Two codes mean -1; a shared exponent has many spellings; NaNs have payloads. */
      if (!is_special && !strstr(format->name, "R9G9B9E5"))
         assert_memory_equal(stored, texel[i], format->texel_B);
   }
   end(&c);
}

static void test_formats(void **state)
{
   struct agx_test_rng rng = {0x70e1};
   unsigned count = 0;
   const struct agx_format *format;
   for (size_t i = 0; (format = agx_format_at(i)); i++) {
      if (!format->is_storable)
         continue;
      for (unsigned round = 0; round < 4; round++)
         check_format(format, &rng);
      count++;
   }
   assert_true(count >= 40);
}

static void test_refused_formats(void **state)
{
   struct image_case c;
   begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=2d mask=xyzw "
                  "lod_mode=auto_lod group=a" WRITE);
   c.texture.channels = AGX_HW_CHANNELS_BC1;
   assert_fails(run(&c), AGX_UNIMPLEMENTED, "BC1");
   c.texture.channels = AGX_HW_CHANNELS_R8G8B8A8;
   assert_fails(run(&c), AGX_UNIMPLEMENTED, "Float");
   c.texture.type = AGX_HW_TEXTURE_TYPE_UNORM;
   c.texture.mode = AGX_HW_IMAGE_MODE_SPARSE;
   assert_fails(run(&c), AGX_UNIMPLEMENTED, "sparse");
   c.texture.mode = AGX_HW_IMAGE_MODE_NORMAL;
   c.texture.layout = AGX_HW_LAYOUT_INTERCHANGE;
   assert_fails(run(&c), AGX_UNIMPLEMENTED, "interchange");
   c.texture.layout = AGX_HW_LAYOUT_GPU;
   c.texture.last_level = 3;
   assert_fails(run(&c), AGX_INVALID_ARGUMENT, "levels 0 to 3 of 1");
   c.texture.last_level = 0;
   c.texture.dimension = AGX_HW_TEXTURE_DIMENSION_CUBE;
   c.texture.height = c.texture.width + 1;
   assert_fails(run(&c), AGX_INVALID_ARGUMENT, "a cube's faces of 8x9");
   c.texture.dimension = AGX_HW_TEXTURE_DIMENSION_2D;
   c.texture.height = c.texture.width;
   c.texture.address = 0x5000000000; /* texture accesses are not covered by soft faults */
   c.launch.options.strict = false;
   assert_fails(run(&c), AGX_DATA_LOSS, "0x5000000000");
   c.launch.preamble = "tex_state_store ts=ts0 heap=du0 offset=0 group=a";
   assert_fails(run(&c), AGX_INVALID_ARGUMENT, "nothing was loaded into sampler state 0");
   c.launch.preamble = "sampler_state_store ss=ss0 heap=du0 offset=64 group=a";
   assert_fails(run(&c), AGX_INVALID_ARGUMENT, "nothing was loaded into texture state 0");
   end(&c);
}

/* ---- Layouts -------------------------------------------------------------------- */

static void test_linear_and_twiddled(void **state)
{
   struct image_case c;
   begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=2d mask=xyzw "
                  "lod_mode=auto_lod group=a" WRITE);
   c.texture.layout = AGX_HW_LAYOUT_LINEAR;
   c.texture.stride = 144 - 16;
   agxs_put_le32(c.pixels + 3 * 144 + 4 * 5, bits_of(35.0f));
   c.input[0][0] = 5, c.input[0][1] = 3;
   assert_ok(run(&c));
   assert_true(float_of(c.output[0][0]) == 35.0f);
   c.texture.layout = AGX_HW_LAYOUT_TWIDDLED;
   c.texture.stride = 0;
   c.texture.depth = 1;
   memset(c.pixels, 0, 0x1000);
   /* x = 101, y = 011: interleaved 0 1 1 0 1 1 from the top, x lowest. */
   agxs_put_le32(c.pixels + 4 * 0x1b, bits_of(53.0f));
   assert_ok(run(&c));
   assert_true(float_of(c.output[0][0]) == 53.0f);
   end(&c);
}

/* Texels of 12 bytes are emulated by programs: only fetches outside are hardware's. */
static void test_emulated(void **state)
{
   struct image_case c;
   begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=2d mask=xyzw "
                  "lod_mode=auto_lod group=a" WRITE);
   c.texture.layout = AGX_HW_LAYOUT_LINEAR;
   c.texture.channels = AGX_HW_CHANNELS_R32G32B32_EMULATED;
   for (unsigned i = 0; i < THREADS; i++)
      c.input[i][0] = 0xffffffff, c.input[i][1] = 262143;
   assert_ok(run(&c));
   assert_int_equal(c.output[0][0], 0);
   c.input[0][0] = c.input[0][1] = 0;
   assert_fails(run(&c), AGX_UNIMPLEMENTED, "texels of 12 bytes");
   end(&c);
}

/* Blocks whose metadata says that they are plain can be read, others are refused. */
static void test_compressed(void **state)
{
   struct image_case c;
   begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=2d mask=xyzw "
                  "lod_mode=auto_lod group=a" WRITE);
   c.texture.width = c.texture.height = 16;
   c.texture.compressed_1 = true;
   c.texture.extended = true;
   c.texture.acceleration_buffer = PIXELS + 0x8000;
   agxs_put_le32(c.pixels, bits_of(4.0f));
   memset(c.pixels + 0x8000, 0x7f, 8);
   assert_ok(run(&c));
   assert_true(float_of(c.output[0][0]) == 4.0f);
   c.pixels[0x8003] = 0x03;
   assert_fails(run(&c), AGX_UNIMPLEMENTED, "stored compressed");
   end(&c);
}

/* ---- Filtering ------------------------------------------------------------------ */

#define SAMPLE                                                                                     \
   READ "smpf r=r20..r23 texture=ts0 sampler=ss0 coord=r4 lod=r8l dim=2d mask=xyzw "               \
        "lod_mode=lod_min group=a" WRITE

static void fill_plain(struct image_case *c)
{
   struct agx_layout layout;
   struct agx_layout_shape shape = {.tiling = AGX_LAYOUT_GPU,
                                    .width = 8,
                                    .height = 8,
                                    .depth = 1,
                                    .levels = c->texture.unk_mipmapped ? 4 : 1,
                                    .samples = 1,
                                    .block_B = 4,
                                    .block_w = 1,
                                    .block_h = 1,
                                    .pages = AGX_LAYOUT_PAGES_OFF};
   assert_ok(agx_layout_init(&shape, &layout));
   for (uint32_t level = 0; level < layout.level_count; level++)
      fill_level(c, &layout, level, 0, 8 >> level, 8 >> level);
}

static void test_wrap_modes(void **state)
{
   /* Texel x of row 0 at coordinate u, nearest; -1: border. */
   static const struct {
      enum agx_hw_wrap mode;
      float u;
      int x;
   } rows[] = {
      {AGX_HW_WRAP_CLAMP_TO_EDGE, -0.3f, 0},
      {AGX_HW_WRAP_CLAMP_TO_EDGE, 1.7f, 7},
      {AGX_HW_WRAP_REPEAT, -0.2f, 6},
      {AGX_HW_WRAP_REPEAT, 2.3f, 2},
      {AGX_HW_WRAP_MIRRORED_REPEAT, -0.3f, 2},
      {AGX_HW_WRAP_MIRRORED_REPEAT, 1.1f, 7},
      {AGX_HW_WRAP_MIRRORED_REPEAT, 1.9f, 0},
      {AGX_HW_WRAP_CLAMP_TO_BORDER, -0.01f, -1},
      {AGX_HW_WRAP_CLAMP_TO_BORDER, 0.99f, 7},
      {AGX_HW_WRAP_CLAMP_TO_BORDER, 1.0f, -1},
      {AGX_HW_WRAP_MIRRORED_CLAMP_TO_EDGE, -0.3f, 2},
      {AGX_HW_WRAP_MIRRORED_CLAMP_TO_EDGE, 3.0f, 7},
   };
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      struct image_case c;
      begin(&c, SAMPLE);
      fill_plain(&c);
      c.sampler.wrap_s = rows[i].mode;
      c.sampler.border_colour = AGX_HW_BORDER_COLOUR_OPAQUE_WHITE;
      c.input[0][0] = bits_of(rows[i].u);
      c.input[0][1] = bits_of(0.0625f);
      assert_ok(run(&c));
      assert_true(float_of(c.output[0][0]) == (rows[i].x < 0 ? 1.0f : (float)rows[i].x));
      end(&c);
   }
}

/* The image is linear in x, y and level, and so must what filters make of it be. */
static void test_linear_filter(void **state)
{
   struct image_case c;
   struct agx_test_rng rng = {77};
   begin(&c, SAMPLE);
   c.texture.unk_mipmapped = true;
   c.texture.last_level = 3;
   fill_plain(&c);
   c.sampler.magnify = c.sampler.minify = AGX_HW_FILTER_LINEAR;
   c.sampler.wrap_s = c.sampler.wrap_t = AGX_HW_WRAP_CLAMP_TO_EDGE;
   float x[THREADS], y[THREADS];
   for (unsigned i = 0; i < THREADS; i++) {
      x[i] = 0.5f + (float)agx_test_random_below(&rng, 700) / 100.0f;
      y[i] = 0.5f + (float)agx_test_random_below(&rng, 700) / 100.0f;
      c.input[i][0] = bits_of(x[i] / 8.0f);
      c.input[i][1] = bits_of(y[i] / 8.0f);
   }
   assert_ok(run(&c));
   for (unsigned i = 0; i < THREADS; i++)
      assert_true(fabsf(float_of(c.output[i][0]) - (x[i] - 0.5f + 10.0f * (y[i] - 0.5f))) < 1e-4f);
   /* Between levels 0 and 1, a quarter of the way: centre of both. */
   c.sampler.mip_filter = AGX_HW_MIP_FILTER_LINEAR;
   c.input[0][0] = c.input[0][1] = bits_of(0.5f);
   c.input[0][4] = 0x3400; /* 0.25 */
   assert_ok(run(&c));
   assert_true(fabsf(float_of(c.output[0][0]) - (0.75f * 38.5f + 0.25f * 116.5f)) < 1e-4f);
   /* The nearest level, and the sampler's clamp. */
   c.sampler.mip_filter = AGX_HW_MIP_FILTER_NEAREST;
   c.input[0][4] = 0x4000; /* 2.0 */
   assert_ok(run(&c));
   assert_true(float_of(c.output[0][0]) == 205.5f);
   c.sampler.maximum_lod = 1;
   assert_ok(run(&c));
   assert_true(float_of(c.output[0][0]) == 116.5f);
   end(&c);
}

static void test_offset_gather_compare(void **state)
{
   struct image_case c;
   begin(&c, READ "smpf r=r20..r23 texture=ts0 sampler=ss0 coord=r4 extra=r8l dim=2d mask=xyzw "
                  "lod_mode=auto_lod gather=gather_r group=a" WRITE);
   fill_plain(&c);
   for (unsigned i = 0; i < THREADS; i++) {
      c.input[i][0] = bits_of(3.0f / 8.0f), c.input[i][1] = bits_of(4.0f / 8.0f);
      c.input[i][4] = 0x0f | 1 << 4; /* x - 1, y + 1 */
   }
   assert_ok(run(&c));
   /* Texels 1..2, 4..5: lower left, lower right, upper right, upper left. */
   const float four[4] = {51, 52, 42, 41};
   for (unsigned ch = 0; ch < 4; ch++)
      assert_true(float_of(c.output[0][ch]) == four[ch]);
   end(&c);
   begin(&c, READ "smpf r=r20..r23 texture=ts0 sampler=ss0 coord=r4 extra=r8 dim=2d mask=xyzw "
                  "lod_mode=auto_lod shadow group=a" WRITE);
   fill_plain(&c);
   c.sampler.compare_enable = true;
   c.sampler.compare_func = AGX_HW_COMPARE_FUNC_LESS;
   c.sampler.magnify = AGX_HW_FILTER_LINEAR;
   for (unsigned i = 0; i < THREADS; i++) {
      c.input[i][0] = bits_of(3.25f / 8.0f), c.input[i][1] = bits_of(0.5f / 8.0f);
      c.input[i][4] = bits_of(2.5f); /* less than 3, not than 2; 3 weighs three quarters */
   }
   assert_ok(run(&c));
   assert_true(float_of(c.output[0][0]) == 0.75f);
   end(&c);
}

static void test_level_of_detail(void **state)
{
   struct image_case c;
   begin(&c, READ "smpf r=r20..r21 texture=ts0 sampler=ss0 coord=r4 lod=r8..r9 dim=2d mask=xy "
                  "lod_mode=lod_grad query_lod group=a" WRITE);
   c.texture.unk_mipmapped = true;
   c.texture.last_level = 3;
   c.sampler.mip_filter = AGX_HW_MIP_FILTER_LINEAR;
   c.sampler.maximum_lod = 2;
   for (unsigned i = 0; i < THREADS; i++) {
      /* d/dx.x, d/dy.x, d/dx.y, d/dy.y: four texels a pixel in y, two in x. */
      c.input[i][4] = bits_of(0.25f), c.input[i][7] = bits_of(i ? 1.0f : 0.5f);
   }
   assert_ok(run(&c));
   assert_true(float_of(c.output[0][0]) == 2.0f && float_of(c.output[0][1]) == 2.0f);
   assert_true(float_of(c.output[1][0]) == 2.0f && float_of(c.output[1][1]) == 3.0f);
   end(&c);
}

/* The faces of a cube, by their centres; 6 layers. */
static void test_cube(void **state)
{
   static const float axis[6][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                    {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
   struct image_case c;
   begin(&c, READ "smpf r=r20..r23 texture=ts0 sampler=ss0 coord=r4 lod=r8l dim=cube mask=xyzw "
                  "lod_mode=lod_min group=a" WRITE);
   c.texture.dimension = AGX_HW_TEXTURE_DIMENSION_CUBE;
   struct agx_layout layout;
   struct agx_layout_shape shape = {.tiling = AGX_LAYOUT_GPU,
                                    .width = 8,
                                    .height = 8,
                                    .depth = 6,
                                    .levels = 1,
                                    .samples = 1,
                                    .block_B = 4,
                                    .block_w = 1,
                                    .block_h = 1,
                                    .pages = AGX_LAYOUT_PAGES_OFF};
   assert_ok(agx_layout_init(&shape, &layout));
   for (uint32_t face = 0; face < 6; face++)
      fill_level(&c, &layout, 0, face, 8, 8);
   for (unsigned i = 0; i < 6; i++) {
      for (unsigned a = 0; a < 3; a++)
         c.input[i][a] = bits_of(axis[i][a] * 3.0f);
   }
   /* +x face: s goes against z, t against y. */
   const float corner[3] = {1, 0.9f, 0.9f};
   for (unsigned a = 0; a < 3; a++)
      c.input[6][a] = bits_of(corner[a]);
   assert_ok(run(&c));
   for (unsigned i = 0; i < 6; i++)
      assert_true(float_of(c.output[i][0]) == (float)(44 + 1000 * i));
   assert_true(float_of(c.output[6][0]) == 0.0f);
   end(&c);
}

/* Direction to the corner of all positive axes, of a cube whose faces are 1, 2, 3 ... */
static void test_cube_corner(void **state)
{
   struct image_case c;
   begin(&c, READ "smpf r=r20..r23 texture=ts0 sampler=ss0 coord=r4 lod=r8l dim=cube mask=xyzw "
                  "lod_mode=lod_min group=a" WRITE);
   c.texture.dimension = AGX_HW_TEXTURE_DIMENSION_CUBE;
   c.texture.width = c.texture.height = 1;
   c.sampler.magnify = AGX_HW_FILTER_LINEAR;
   for (uint32_t face = 0; face < 6; face++)
      agxs_put_le32(c.pixels + 128 * face, bits_of((float)(face + 1)));
   for (unsigned a = 0; a < 3; a++)
      c.input[0][a] = bits_of(1.0f);
   assert_ok(run(&c));
   /* A quarter each of +x, +y, +z and their average; one face weighs as much as another. */
   assert_true(fabsf(float_of(c.output[0][0]) - (1 + 3 + 5) / 3.0f) < 1e-6f);
   end(&c);
}

/* Registers name samplers of the command's heap, from 28 on. */
static void test_sampler_heap(void **state)
{
   struct image_case c;
   begin(&c, READ "mov d=r3l a=r9l\n"
                  "smpf r=r20..r23 texture=ts0 sampler=r3l coord=r4 lod=r8l dim=2d mask=xyzw "
                  "lod_mode=lod_min group=a" WRITE);
   fill_plain(&c);
   static const enum agx_hw_wrap modes[] = {AGX_HW_WRAP_CLAMP_TO_EDGE, AGX_HW_WRAP_REPEAT,
                                            AGX_HW_WRAP_MIRRORED_REPEAT};
   static const float texels[] = {7, 1, 6};
   for (unsigned i = 0; i < AGX_COUNT(modes); i++) {
      struct agx_hw_sampler sampler = c.sampler;
      sampler.wrap_s = modes[i];
      assert_ok(agx_hw_sampler_pack(&sampler, c.heap + 0x100 + 8 * i));
   }
   c.launch.options.sampler_heap = HEAP + 0x100;
   c.launch.options.sampler_count = AGX_COUNT(modes);
   for (unsigned i = 0; i < THREADS; i++) {
      c.input[i][0] = bits_of(1.2f), c.input[i][1] = bits_of(0.0625f);
      c.input[i][5] = 28 + i % 3;
   }
   assert_ok(run(&c));
   for (unsigned i = 0; i < THREADS; i++)
      assert_true(float_of(c.output[i][0]) == texels[i % 3]);
   c.input[5][5] = 31;
   assert_fails(run(&c), AGX_INVALID_ARGUMENT, "lane 5: sampler 3 of a heap of 3");
   c.input[5][5] = 27;
   assert_fails(run(&c), AGX_INVALID_ARGUMENT, "sampler state 27");
   c.input[5][5] = 30;
   c.launch.options.sampler_heap = 0x5000000000;
   assert_fails(run(&c), AGX_DATA_LOSS, "sampler is not mapped");
   end(&c);
}

/* Where a view shows alpha as a colour it is not curved, and a colour as alpha is. */
static void test_srgb_swizzle(void **state)
{
   struct image_case c;
   begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=2d mask=xyzw "
                  "lod_mode=auto_lod group=a" WRITE);
   c.texture.channels = AGX_HW_CHANNELS_R8G8B8A8;
   c.texture.type = AGX_HW_TEXTURE_TYPE_UNORM;
   c.texture.srgb = true;
   c.texture.swizzle_r = AGX_HW_CHANNEL_A;
   c.texture.swizzle_a = AGX_HW_CHANNEL_R;
   agxs_put_le32(c.pixels, 0x33000033);
   assert_ok(run(&c));
   assert_true(float_of(c.output[0][0]) == 0.2f);
   assert_true(fabs(float_of(c.output[0][3]) - pow((0.2 + 0.055) / 1.055, 2.4)) < 1e-6);
   end(&c);
}

/* ---- Stores ---------------------------------------------------------------------- */

static void test_store_outside(void **state)
{
   struct image_case c;
   begin(&c, READ "imgw r=r8..r11 texture=ts1 coord=r4 lod=0 dim=2d" WRITE);
   for (unsigned i = 0; i < THREADS; i++) {
      c.input[i][0] = i % 10, c.input[i][1] = i / 10 * 4;
      c.input[i][4] = bits_of((float)(i + 1));
   }
   assert_ok(run(&c));
   struct agx_layout layout;
   struct agx_layout_shape shape = {.tiling = AGX_LAYOUT_GPU,
                                    .width = 8,
                                    .height = 8,
                                    .depth = 1,
                                    .levels = 1,
                                    .samples = 1,
                                    .block_B = 4,
                                    .block_w = 1,
                                    .block_h = 1};
   assert_ok(agx_layout_init(&shape, &layout));
   for (unsigned i = 0; i < 64; i++) {
      uint32_t x = i % 8, y = i / 8;
      uint32_t got = agxs_get_le32(c.pixels + agx_layout_offset(&layout, 0, 0, x, y, 0));
      float expected = y % 4 ? 0.0f : (float)(y / 4 * 10 + x + 1);
      assert_true(float_of(got) == expected);
   }
   for (unsigned i = 256; i < 0x4000; i++)
      assert_int_equal(c.pixels[i], 0);
   end(&c);
}

/* A tile goes from threadgroup memory to an image as Mesa's copies do it. */
static void test_tile(void **state)
{
   struct image_case c;
   begin(&c, READ "mov d=r2l a=r0l\nshr d=r2h b=r0 c=31\n"
                  "st_tile r=r8..r11 coord=r2l..r2h samples=1 offset=0 explicit_coords format=i32 "
                  "mask=xyzw\n"
                  "ld_tile r=r20..r21 coord=r2l..r2h samples=1 offset=0 format=i32 mask=xy\n"
                  "barrier\nldimm32 d=r12 imm=0\nmov d=r3 a=r0\nldimm16 d=r0l imm=0\n"
                  "if_icmp a=r3 b=0 nest=1 cond=ieq\n"
                  "imgwblk r=r12l texture=ts1 coord=r4 lod=0 explicit_coords dim=2d format=i32\n"
                  "pop_exec nest=1\nmov d=r0 a=r3" WRITE);
   c.launch.shared_bytes = 8192;
   c.launch.sample_stride = 1; /* 8 bytes */
   c.pbe.channels = AGX_HW_CHANNELS_R32G32;
   c.pbe.width = 40;
   c.input[0][0] = 2;
   for (unsigned i = 0; i < THREADS; i++)
      c.input[i][4] = bits_of((float)i), c.input[i][5] = bits_of((float)i + 0.5f);
   assert_ok(run(&c));
   struct agx_layout layout;
   struct agx_layout_shape shape = {.tiling = AGX_LAYOUT_GPU,
                                    .width = 40,
                                    .height = 8,
                                    .depth = 1,
                                    .levels = 1,
                                    .samples = 1,
                                    .block_B = 8,
                                    .block_w = 1,
                                    .block_h = 1,
                                    .pages = AGX_LAYOUT_PAGES_OFF};
   assert_ok(agx_layout_init(&shape, &layout));
   for (unsigned i = 0; i < THREADS; i++) {
      const uint8_t *at = c.pixels + agx_layout_offset(&layout, 0, 0, 2 + i, 0, 0);
      assert_true(float_of(agxs_get_le32(at)) == (float)i);
      assert_true(float_of(agxs_get_le32(at + 4)) == (float)i + 0.5f);
      assert_true(float_of(c.output[i][1]) == (float)i + 0.5f);
   }
   end(&c);
}

/* Mesa's copies to packed formats: halves from 32-bit registers, and the block's code for 16
 * bits is that of integers. */
static void test_packed_tile(void **state)
{
   struct image_case c;
   begin(&c, READ "mov d=r2l a=r0l\nshr d=r2h b=r0 c=31\n"
                  "st_tile r=r8..r11 coord=r2l..r2h samples=1 offset=0 explicit_coords format=f16 "
                  "mask=xyzw\n"
                  "ld_tile r=r20..r21 coord=r2l..r2h samples=1 offset=0 format=f16 mask=xy\n"
                  "barrier\nldimm32 d=r12 imm=0\nmov d=r3 a=r0\nldimm16 d=r0l imm=0\n"
                  "if_icmp a=r3 b=0 nest=1 cond=ieq\n"
                  "imgwblk r=r12l texture=ts1 coord=r4 lod=0 explicit_coords dim=2d format=i16\n"
                  "pop_exec nest=1\nmov d=r0 a=r3" WRITE);
   c.launch.shared_bytes = 8192;
   c.launch.sample_stride = 1;
   c.pbe.channels = AGX_HW_CHANNELS_R5G6B5;
   c.pbe.type = AGX_HW_TEXTURE_TYPE_UNORM;
   c.pbe.width = c.pbe.height = 32;
   for (unsigned i = 0; i < THREADS; i++) {
      c.input[i][4] = bits_of((float)i / 31.0f);
      c.input[i][5] = bits_of((float)(2 * i) / 63.0f);
      c.input[i][6] = bits_of((float)(31 - i) / 31.0f);
   }
   assert_ok(run(&c));
   for (unsigned i = 0; i < THREADS; i++) {
      uint32_t at = 2 * agx_layout_morton(i, 0, 7, 6);
      assert_int_equal(agxs_get_le16(c.pixels + at), i | 2 * i << 5 | (31 - i) << 11);
      assert_true(fabsf(float_of(c.output[i][0]) - (float)i / 31.0f) < 1e-3f);
   }
   end(&c);
}

/* ---- Statistics ------------------------------------------------------------- */

struct touched {
   uint64_t classes[AGXS_CLASS_COUNT];
   uint64_t sample_lines, sample_lsu, wait_stall, write_lines, write_lsu;
};

/* The sample, the wait that follows it, and the image store. */
static void note_touched(void *user, const struct agxs_dispatch_stats *stats)
{
   struct touched *touched = user;
   struct agx_isa_instr instr;
   memcpy(touched->classes, stats->classes, sizeof(touched->classes));
   for (uint32_t i = 0; i + 1 < stats->spot_count; i++) {
      const struct agxs_spot *spot = &stats->spots[i];
      assert_ok(agx_isa_decode(spot->bytes, spot->length, &instr));
      if (instr.op == AGX_ISA_OP_SMPI) {
         touched->sample_lines = spot->lines;
         touched->sample_lsu = spot->lsu;
         touched->wait_stall = spot[1].stall;
      }
      if (instr.op == AGX_ISA_OP_IMGW) {
         touched->write_lines = spot->lines;
         touched->write_lsu = spot->lsu;
      }
   }
}

/* 8 x 8 texels of 4 bytes in Morton order are two lines: rows 0 to 3, and 4 to 7. Fetched
 * are the first four rows, written every second row; one lane in two fetches outside. */
static void test_lines(void **state)
{
   struct image_case c;
   struct touched touched = {{0}};
   begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=2d mask=xyzw "
                  "group=a\nwait group=a\n"
                  "imgw r=r20..r23 texture=ts1 coord=r12 lod=0 dim=2d" WRITE);
   c.launch.options.profile = true;
   c.launch.options.user = &touched;
   c.launch.options.on_dispatch = note_touched;
   for (unsigned i = 0; i < THREADS; i++) {
      c.input[i][0] = i % 8;
      c.input[i][1] = i & 1 ? 100 : i / 8;
      c.input[i][8] = i % 8;
      c.input[i][9] = i / 8 * 2;
   }
   assert_ok(run(&c));
   assert_int_equal(touched.classes[AGXS_CLASS_TEXTURE], 2);
   assert_int_equal(touched.sample_lines, 1);
   assert_int_equal(touched.sample_lsu, 2);
   assert_int_equal(touched.wait_stall, 199);
   assert_int_equal(touched.write_lines, 2);
   assert_int_equal(touched.write_lsu, 4);
   end(&c);
}

static agx_status run_checked(const char *program)
{
   struct image_case c;
   begin(&c, program);
   c.launch.options.check = true;
   c.launch.shared_bytes = 32 * 32 * 16;
   c.pbe.channels = AGX_HW_CHANNELS_R16G16;
   agx_status status = run(&c);
   end(&c);
   return status;
}

#define FETCH(r, coord, dim, mask)                                                                 \
   READ "smpi r=" r " texture=ts0 sampler=ss0 coord=" coord " dim=" dim " mask=" mask              \
        " lod_mode=auto_lod group=a\n"
#define SAVE(r)      "store r=" r " base=du4 index=r0 format=i32 mask=x group=a"
#define IMAGE(coord) "imgw r=r20..r23 texture=ts1 coord=" coord " lod=0 dim=2d"

/* Check mode: a fault each, and next to it what is sound. */
static void test_checks(void **state)
{
   assert_fails(run_checked(FETCH("r20", "r4", "2d", "x") SAVE("r20")), AGX_FAILED_PRECONDITION,
                "check: r20l is read while an operation of group a will write it");
   assert_ok(run_checked(FETCH("r20", "r4", "2d", "x") "wait group=a\n" SAVE("r20")));
   /* Four registers change. */
   assert_fails(run_checked(FETCH("r20", "r4", "2d", "x") "mov d=r23l a=1\n"),
                AGX_FAILED_PRECONDITION, "check: r23l is written while an operation of group a");
   assert_fails(
      run_checked("mov d=r21 a=1\n" FETCH("r20", "r4", "2d", "x") "wait group=a\n" SAVE("r21")),
      AGX_FAILED_PRECONDITION, "a texture operation, changed it besides its results");
   assert_fails(run_checked(FETCH("r20", "r24", "2d", "x")), AGX_FAILED_PRECONDITION,
                "check: r24 of lane 0 (thread 0) reaches an image address, but bits 0xffffffff are "
                "undefined: nothing wrote it");
   assert_fails(run_checked("mov d=r24 a=0\n" FETCH("r20", "r24", "2d", "x")),
                AGX_FAILED_PRECONDITION,
                "check: r25 of lane 0 (thread 0) reaches an image address");
   assert_ok(run_checked("mov d=r24 a=0\nmov d=r25 a=0\n" FETCH("r20", "r24", "2d", "x")));
   /* Of two channels in memory nobody sees blue and alpha. */
   assert_fails(
      run_checked(READ "mov d=r20 a=0\n" IMAGE("r4")), AGX_FAILED_PRECONDITION,
      "check: r21 of lane 0 (thread 0) reaches an image, but bits 0xffffffff are undefined");
   assert_ok(run_checked(READ "mov d=r20 a=0\nmov d=r21 a=0\n" IMAGE("r4")));
   assert_fails(run_checked(READ IMAGE("r24")), AGX_FAILED_PRECONDITION,
                "check: r24 of lane 0 (thread 0) reaches an image address");
}

/* A block store counts as its texels, and looks at limits. */
static void test_tile_limit(void **state)
{
   struct image_case c;
   begin(&c, "again:\nldimm32 d=r4 imm=0\nldimm32 d=r5 imm=0\nldimm32 d=r12 imm=0\n"
             "imgwblk r=r12l texture=ts1 coord=r4 lod=0 explicit_coords dim=2d format=i32\n"
             "jmp_any offset=@again");
   c.launch.shared_bytes = 8192;
   c.launch.sample_stride = 1;
   c.launch.options.max_instructions_per_group = 200000;
   assert_fails(run(&c), AGX_DEADLINE_EXCEEDED, "more instructions");
   assert_true(c.launch.stats.instructions < 100);
   end(&c);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fetch_levels),
      cmocka_unit_test(test_fetch_3d_and_layers),
      cmocka_unit_test(test_samples),
      cmocka_unit_test(test_formats),
      cmocka_unit_test(test_refused_formats),
      cmocka_unit_test(test_linear_and_twiddled),
      cmocka_unit_test(test_emulated),
      cmocka_unit_test(test_compressed),
      cmocka_unit_test(test_wrap_modes),
      cmocka_unit_test(test_linear_filter),
      cmocka_unit_test(test_offset_gather_compare),
      cmocka_unit_test(test_level_of_detail),
      cmocka_unit_test(test_cube),
      cmocka_unit_test(test_cube_corner),
      cmocka_unit_test(test_sampler_heap),
      cmocka_unit_test(test_srgb_swizzle),
      cmocka_unit_test(test_store_outside),
      cmocka_unit_test(test_tile),
      cmocka_unit_test(test_tile_limit),
      cmocka_unit_test(test_packed_tile),
      cmocka_unit_test(test_lines),
      cmocka_unit_test(test_checks),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
