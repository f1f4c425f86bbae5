/* SPDX-License-Identifier: MIT
 *
 * Texel fetches through a whole launch: levels, layers, samples, every format, every layout. What
 * a texel's bytes mean in each format is computed here by other means than the simulator's.
 */
#include "image_support.h"

#include <math.h>
#include <string.h>

#include "agx/format.h"
#include "base/util.h"

/* ---- Texel fetch ------------------------------------------------------------ */

/* A view names levels that an image without levels lacks. */
static void a_last_level_beyond_the_levels_is_clamped(void **state)
{
   struct image_case c;
   image_begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 lod=r8l dim=2d mask=xyzw "
                        "lod_mode=lod_min group=a" WRITE);
   c.texture.width = 20, c.texture.height = 12;
   c.texture.last_level = 3;
   struct agx_layout layout =
      image_layout((struct agx_layout_shape){.width = 20, .height = 12, .levels = 1});
   image_fill_level(&c, &layout, 0, 0, 20, 12);
   c.input[0][0] = c.input[1][0] = 9;
   c.input[0][1] = c.input[1][1] = 5;
   c.input[1][4] = 2;
   assert_ok(image_run(&c));
   assert_true(image_float(c.output[0][0]) == 59);
   assert_true(image_float(c.output[1][0]) == 59);
   image_end(&c);
}

static void test_fetch_levels(void **state)
{
   struct image_case c;
   image_begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 lod=r8l dim=2d mask=xyzw "
                        "lod_mode=lod_min group=a" WRITE);
   c.texture.width = 20, c.texture.height = 12;
   c.texture.first_level = 1, c.texture.last_level = 2;
   c.texture.unk_mipmapped = true;
   struct agx_layout layout =
      image_layout((struct agx_layout_shape){.width = 20, .height = 12, .levels = 5});
   for (uint32_t level = 0; level < 3; level++)
      image_fill_level(&c, &layout, level, 0, 20 >> level, 12 >> level);
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
   assert_ok(image_run(&c));
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      assert_true(image_float(c.output[i][0]) == rows[i].value);
      assert_int_equal(c.output[i][1], 0);
      /* The swizzle's one stays where the border gives zero: hardware's format default. */
      assert_true(image_float(c.output[i][3]) == 1.0f);
   }
   c.launch.options.check = true;
   assert_fails(image_run(&c), AGX_FAILED_PRECONDITION, "level or layer outside");
   image_end(&c);
}

static void test_fetch_3d_and_layers(void **state)
{
   struct image_case c;
   image_begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=3d mask=xyzw "
                        "lod_mode=auto_lod group=a" WRITE);
   c.texture.dimension = AGX_HW_TEXTURE_DIMENSION_3D;
   c.texture.depth = 4;
   struct agx_layout layout =
      image_layout((struct agx_layout_shape){.width = 8, .height = 8, .depth = 4, .is_3d = true});
   for (uint32_t z = 0; z < 4; z++)
      image_fill_level(&c, &layout, 0, z, 8, 8);
   for (uint32_t i = 0; i < 5; i++)
      c.input[i][0] = 3, c.input[i][1] = 2, c.input[i][2] = i;
   assert_ok(image_run(&c));
   for (uint32_t i = 0; i < 4; i++)
      assert_true(image_float(c.output[i][0]) == (float)(23 + 1000 * i));
   assert_int_equal(c.output[4][0], 0);
   image_end(&c);
   image_begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=2d_array mask=xyzw "
                        "lod_mode=auto_lod group=a" WRITE);
   c.texture.dimension = AGX_HW_TEXTURE_DIMENSION_2D_ARRAY;
   c.texture.depth = 4;
   for (uint32_t z = 0; z < 4; z++)
      image_fill_level(&c, &layout, 0, z, 8, 8);
   for (uint32_t i = 0; i < 4; i++)
      c.input[i][0] = 5, c.input[i][1] = 1, c.input[i][2] = 0xabcd0000 | i; /* low half counts */
   assert_ok(image_run(&c));
   for (uint32_t i = 0; i < 4; i++)
      assert_true(image_float(c.output[i][0]) == (float)(15 + 1000 * i));
   image_end(&c);
}

static void test_samples(void **state)
{
   struct image_case c;
   image_begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=2d_ms mask=xyzw "
                        "lod_mode=auto_lod group=a" WRITE);
   c.texture.dimension = AGX_HW_TEXTURE_DIMENSION_2D_MULTISAMPLED;
   c.texture.samples = AGX_HW_SAMPLE_COUNT_4;
   /* Samples of a texel are neighbours: sample 2 of texel 1, 0 is word 6. */
   agxs_put_le32(c.pixels + 24, image_bits(7.5f));
   for (unsigned i = 0; i < THREADS; i++)
      c.input[i][0] = 1, c.input[i][2] = 2;
   assert_ok(image_run(&c));
   assert_true(image_float(c.output[0][0]) == 7.5f);
   image_end(&c);
}

/* Of a sample that the image lacks, and of one of an image that has no samples. */
static void a_sample_out_of_range_is_zero(void **state)
{
   for (unsigned check = 0; check < 2; check++) {
      struct image_case c;
      image_begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=2d_ms mask=xyzw "
                           "lod_mode=auto_lod group=a" WRITE);
      c.launch.options.check = check;
      c.texture.dimension = AGX_HW_TEXTURE_DIMENSION_2D_MULTISAMPLED;
      c.texture.samples = AGX_HW_SAMPLE_COUNT_4;
      memset(c.pixels, 0x41, 8 * 8 * 4 * 4);
      for (unsigned i = 0; i < THREADS; i++)
         c.input[i][0] = 7, c.input[i][1] = 7, c.input[i][2] = i < 4 ? i : i * 2113;
      assert_ok(image_run(&c));
      for (unsigned i = 0; i < THREADS; i++) {
         assert_int_equal(c.output[i][0], i < 4 ? 0x41414141 : 0);
         assert_true(image_float(c.output[i][3]) == 1.0f); /* the descriptor's, not the texel's */
      }
      image_end(&c);
   }
}

/* As Mesa packs it: one dimension, one texel, four zeros. Nothing of the coordinates counts. */
static void a_null_texture_reads_zero(void **state)
{
   static const char *const programs[] = {
#define FETCH_NULL(dim)                                                                            \
   READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=" dim " mask=xyzw "                  \
        "lod_mode=auto_lod group=a" WRITE
      FETCH_NULL("1d"),    FETCH_NULL("2d"),   FETCH_NULL("3d"),
      FETCH_NULL("2d_ms"), FETCH_NULL("cube"), FETCH_NULL("2d_array"),
   };
   for (size_t i = 0; i < 2 * AGX_COUNT(programs); i++) {
      struct image_case c;
      image_begin(&c, programs[i / 2]);
      c.launch.options.check = i % 2;
      c.texture = agx_hw_texture_default();
      c.texture.dimension = AGX_HW_TEXTURE_DIMENSION_1D;
      c.texture.layout = AGX_HW_LAYOUT_TWIDDLED;
      c.texture.channels = AGX_HW_CHANNELS_R8;
      c.texture.type = AGX_HW_TEXTURE_TYPE_UNORM;
      c.texture.swizzle_r = c.texture.swizzle_g = AGX_HW_CHANNEL_0;
      c.texture.swizzle_b = c.texture.swizzle_a = AGX_HW_CHANNEL_0;
      c.texture.address = PIXELS;
      memset(c.pixels, 0xff, 0x100);
      for (unsigned t = 0; t < THREADS; t++)
         c.input[t][0] = t % 2, c.input[t][1] = t * 77, c.input[t][2] = t * 3;
      memset(c.output, 0xff, THREADS * sizeof(*c.output));
      assert_ok(image_run(&c));
      for (unsigned t = 0; t < THREADS; t++)
         for (unsigned e = 0; e < 4; e++)
            assert_int_equal(c.output[t][e], 0);
      image_end(&c);
   }
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
                            : (double)image_float(field);
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
   image_begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=2d mask=xyzw "
                        "lod_mode=auto_lod group=a\nwait group=a\n"
                        "imgw r=r20..r23 texture=ts1 coord=r4 lod=0 dim=2d" WRITE);
   set_format(&c, format);
   c.pbe.buffer = PIXELS + 0x4000;
   struct agx_layout layout =
      image_layout((struct agx_layout_shape){.width = 8, .height = 8, .block_B = format->texel_B});
   uint8_t texel[THREADS][16];
   for (unsigned i = 0; i < THREADS; i++) {
      for (unsigned b = 0; b < 16; b++)
         texel[i][b] = (uint8_t)agx_test_random(rng);
      if (strstr(format->name, "32_FLOAT") || strstr(format->name, "B32A32_FLOAT")) {
         for (unsigned w = 0; w < 4; w++)
            agxs_put_le32(texel[i] + 4 * w,
                          image_bits((float)(int32_t)agx_test_random(rng) / 7.0f));
      }
      c.input[i][0] = i % 8, c.input[i][1] = i / 8;
      memcpy(c.pixels + agx_layout_offset(&layout, 0, 0, i % 8, i / 8, 0), texel[i],
             format->texel_B);
   }
   assert_ok(image_run(&c));
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
            assert_true(isnan(image_float(got)));
         else if (fabs(value) >= 0x1p-126 || value == 0.0)
            assert_true(got == image_bits((float)value));
      }
      const uint8_t *stored = c.pixels + 0x4000 + agx_layout_offset(&layout, 0, 0, i % 8, i / 8, 0);
      /* Two codes mean -1; a shared exponent has many spellings; NaNs have payloads. */
      if (!is_special && !strstr(format->name, "R9G9B9E5"))
         assert_memory_equal(stored, texel[i], format->texel_B);
   }
   image_end(&c);
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
   image_begin(&c, FETCH_2D);
   c.texture.channels = AGX_HW_CHANNELS_PVRTC_2BPP;
   assert_fails(image_run(&c), AGX_UNIMPLEMENTED, "PVRTC 2bpp");
   c.texture.channels = AGX_HW_CHANNELS_R8G8B8A8;
   assert_fails(image_run(&c), AGX_UNIMPLEMENTED, "Float");
   c.texture.type = AGX_HW_TEXTURE_TYPE_UNORM;
   c.texture.layout = AGX_HW_LAYOUT_INTERCHANGE;
   assert_fails(image_run(&c), AGX_UNIMPLEMENTED, "interchange");
   c.texture.layout = AGX_HW_LAYOUT_GPU;
   c.texture.first_level = 2;
   c.texture.last_level = 3;
   assert_fails(image_run(&c), AGX_INVALID_ARGUMENT, "levels 2 to 3 of 1");
   c.texture.first_level = c.texture.last_level = 0;
   c.texture.dimension = AGX_HW_TEXTURE_DIMENSION_CUBE;
   c.texture.height = c.texture.width + 1;
   assert_fails(image_run(&c), AGX_INVALID_ARGUMENT, "a cube's faces of 8x9");
   c.texture.dimension = AGX_HW_TEXTURE_DIMENSION_2D;
   c.texture.height = c.texture.width;
   c.texture.address = 0x5000000000; /* texture accesses are not covered by soft faults */
   c.launch.options.strict = false;
   assert_fails(image_run(&c), AGX_DATA_LOSS, "0x5000000000");
   c.launch.preamble = "tex_state_store ts=ts0 heap=du0 offset=0 group=a";
   assert_fails(image_run(&c), AGX_INVALID_ARGUMENT, "nothing was loaded into sampler state 0");
   c.launch.preamble = "sampler_state_store ss=ss0 heap=du0 offset=64 group=a";
   assert_fails(image_run(&c), AGX_INVALID_ARGUMENT, "nothing was loaded into texture state 0");
   image_end(&c);
}

/* ---- Layouts -------------------------------------------------------------------- */

static void test_linear_and_twiddled(void **state)
{
   struct image_case c;
   image_begin(&c, FETCH_2D);
   c.texture.layout = AGX_HW_LAYOUT_LINEAR;
   c.texture.stride = 144 - 16;
   agxs_put_le32(c.pixels + 3 * 144 + 4 * 5, image_bits(35.0f));
   c.input[0][0] = 5, c.input[0][1] = 3;
   assert_ok(image_run(&c));
   assert_true(image_float(c.output[0][0]) == 35.0f);
   c.texture.layout = AGX_HW_LAYOUT_TWIDDLED;
   c.texture.stride = 0;
   c.texture.depth = 1;
   memset(c.pixels, 0, 0x1000);
   /* x = 101, y = 011: interleaved 0 1 1 0 1 1 from the top, x lowest. */
   agxs_put_le32(c.pixels + 4 * 0x1b, image_bits(53.0f));
   assert_ok(image_run(&c));
   assert_true(image_float(c.output[0][0]) == 53.0f);
   image_end(&c);
}

/* Texels of 12 bytes are emulated by programs: only fetches outside are hardware's. */
static void test_emulated(void **state)
{
   struct image_case c;
   image_begin(&c, FETCH_2D);
   c.texture.layout = AGX_HW_LAYOUT_LINEAR;
   c.texture.channels = AGX_HW_CHANNELS_R32G32B32_EMULATED;
   for (unsigned i = 0; i < THREADS; i++)
      c.input[i][0] = 0xffffffff, c.input[i][1] = 262143;
   assert_ok(image_run(&c));
   assert_int_equal(c.output[0][0], 0);
   c.input[0][0] = c.input[0][1] = 0;
   assert_fails(image_run(&c), AGX_UNIMPLEMENTED, "texels of 12 bytes");
   image_end(&c);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_last_level_beyond_the_levels_is_clamped),
      cmocka_unit_test(test_fetch_levels),
      cmocka_unit_test(test_fetch_3d_and_layers),
      cmocka_unit_test(test_samples),
      cmocka_unit_test(a_sample_out_of_range_is_zero),
      cmocka_unit_test(a_null_texture_reads_zero),
      cmocka_unit_test(test_formats),
      cmocka_unit_test(test_refused_formats),
      cmocka_unit_test(test_linear_and_twiddled),
      cmocka_unit_test(test_emulated),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
