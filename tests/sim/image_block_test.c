/* SPDX-License-Identifier: MIT
 *
 * Block-compressed formats: decoded texels against those of other decoders, and fetches through
 * launches from images of several levels whose sides are no multiple of a block's.
 */
#include "image_support.h"

#include <math.h>
#include <string.h>

#include "agx/sim/image/image.h"
#include "agx/sim/machine/floats.h"
#include "base/util.h"

static const struct vector {
   uint8_t channels, type;
   bool is_srgb;
   const char *block;
   uint8_t x, y;
   uint16_t value[4];
} vectors[] = {
#include "block_vectors.inc"
};

static unsigned from_hex(const char *text, uint8_t *bytes)
{
   unsigned count = (unsigned)strlen(text) / 2;
   for (unsigned i = 0; i < count; i++)
      bytes[i] = (uint8_t)((text[2 * i] % 32 + 9 * (text[2 * i] > '9')) % 16 << 4 |
                           (text[2 * i + 1] % 32 + 9 * (text[2 * i + 1] > '9')) % 16);
   return count;
}

/* The judge's value as a real number, and how far off it may be: it rounds colours between two. */
static double judged(const struct vector *vector, unsigned channel, double *out_tolerance)
{
   bool is_astc = vector->channels >= AGX_HW_CHANNELS_ASTC_4X4 &&
                  vector->channels <= AGX_HW_CHANNELS_ASTC_12X12;
   bool is_bc6h =
      vector->channels == AGX_HW_CHANNELS_BC6H || vector->channels == AGX_HW_CHANNELS_BC6H_UFLOAT;
   bool is_rounded =
      vector->channels == AGX_HW_CHANNELS_EAC_R11 || vector->channels == AGX_HW_CHANNELS_EAC_RG11 ||
      (vector->channels >= AGX_HW_CHANNELS_BC1 && vector->channels <= AGX_HW_CHANNELS_BC5);
   *out_tolerance = is_rounded ? 1.5 / 255.0 : 1e-9;
   if (is_bc6h || (is_astc && !vector->is_srgb))
      return (double)agxs_float(agxs_half_to_single(vector->value[channel]));
   return vector->value[channel] / 255.0;
}

static void texels_are_those_of_other_decoders(void **state)
{
   for (size_t i = 0; i < AGX_COUNT(vectors); i++) {
      const struct vector *vector = &vectors[i];
      struct agxs_texel_format format;
      struct agxs_texel texel;
      uint8_t bytes[16];
      assert_ok(agxs_texel_format_init(&format, vector->channels, vector->type));
      format.is_srgb = vector->is_srgb;
      assert_int_equal(from_hex(vector->block, bytes), format.bytes);
      agxs_texel_load(&format, bytes, vector->x, vector->y, &texel);
      for (unsigned c = 0; c < format.count; c++) {
         double tolerance, value = judged(vector, c, &tolerance);
         if (!(fabs(texel.real[c] - value) <= tolerance))
            fail_msg("%s at %u, %u, channel %u: %g, not %g", vector->block, vector->x, vector->y, c,
                     texel.real[c], value);
      }
   }
}

/* A block of BC4 whose texels are all `value`. */
static void fill_block(struct image_case *c, const struct agx_layout *layout, uint32_t level,
                       uint32_t x, uint32_t y, uint8_t value)
{
   uint8_t *bytes = c->pixels + agx_layout_offset(layout, level, 0, x, y, 0);
   memset(bytes, 0, 8);
   bytes[0] = bytes[1] = value;
}

static void blocks_are_found_in_every_level(void **state)
{
   struct image_case c;
   image_begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 lod=r8l dim=2d mask=xyzw "
                        "lod_mode=lod_min group=a" WRITE);
   c.texture.channels = AGX_HW_CHANNELS_BC4;
   c.texture.type = AGX_HW_TEXTURE_TYPE_UNORM;
   c.texture.width = 21, c.texture.height = 13;
   c.texture.last_level = 4;
   c.texture.unk_mipmapped = true;
   struct agx_layout layout = image_layout((struct agx_layout_shape){
      .width = 21, .height = 13, .levels = 5, .block_B = 8, .block_w = 4, .block_h = 4});
   for (uint32_t level = 0; level < 5; level++)
      for (uint32_t y = 0; y < agx_div_up(AGX_MAX(13u >> level, 1u), 4); y++)
         for (uint32_t x = 0; x < agx_div_up(AGX_MAX(21u >> level, 1u), 4); x++)
            fill_block(&c, &layout, level, x, y, (uint8_t)(50 * level + 10 * y + x));
   const struct {
      uint32_t x, y, level;
      int value;
   } rows[] = {{0, 0, 0, 0},  {20, 12, 0, 35}, {7, 4, 0, 11},  {21, 0, 0, 0},
               {9, 5, 1, 62}, {4, 2, 2, 101},  {1, 0, 3, 150}, {0, 0, 4, 200}};
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      c.input[i][0] = rows[i].x;
      c.input[i][1] = rows[i].y;
      c.input[i][4] = rows[i].level;
   }
   assert_ok(image_run(&c));
   for (size_t i = 0; i < AGX_COUNT(rows); i++)
      assert_true(image_float(c.output[i][0]) == (float)(rows[i].value / 255.0));
   image_end(&c);
}

static void blocks_are_not_stored_as_texels(void **state)
{
   struct agxs_texture texture;
   uint8_t descriptor[AGXS_TEXTURE_BYTES];
   struct agx_hw_pbe pbe = agx_hw_pbe_default();
   pbe.dimension = AGX_HW_TEXTURE_DIMENSION_2D;
   pbe.layout = AGX_HW_LAYOUT_GPU;
   pbe.channels = AGX_HW_CHANNELS_BC7;
   pbe.type = AGX_HW_TEXTURE_TYPE_UNORM;
   pbe.width = pbe.height = 8;
   assert_ok(agx_hw_pbe_pack(&pbe, descriptor));
   assert_fails(agxs_texture_init_pbe(&texture, descriptor), AGX_UNIMPLEMENTED, "read only");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(texels_are_those_of_other_decoders),
      cmocka_unit_test(blocks_are_found_in_every_level),
      cmocka_unit_test(blocks_are_not_stored_as_texels),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
