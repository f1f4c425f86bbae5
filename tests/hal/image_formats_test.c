/* SPDX-License-Identifier: MIT
 *
 * Every format of the table through compiler, driver and virtual device: fetches, samples, stores
 * and loads of all levels, layers and texels and of what lies outside, in all dimensions and both
 * layouts, against format_model.h and the rules of sampling as the APIs define them.
 * AGX_IMAGE_FORMATS=all takes every format with every shape and sampler (make image-formats); else
 * each format meets a few of them, others for each.
 */
#include "format_bench.h"

#include <stdio.h>

#include "base/status.h"
#include "base/util.h"

/* ---- fetches ----------------------------------------------------------- */

struct fetch {
   int32_t x, y, z, level;
};

static uint32_t add_fetch(struct format_bench *it, uint32_t count, struct fetch fetch)
{
   assert_true(count < MAX_REQUESTS);
   ((struct fetch *)it->request)[count] = fetch;
   return count + 1;
}

/* All texels of each level and those around it, levels around, and places far away. */
static uint32_t ask_fetches(struct subject *subject)
{
   static const int32_t far[] = {-1, -32768, INT32_MIN, INT32_MAX, 65536, 1 << 20, 0xfff0, 16384};
   const struct image_shape *shape = subject->shape;
   struct format_bench *it = subject->bench;
   uint32_t count = 0, d = shape->dimension;
   int32_t levels = (int32_t)shape->levels;
   for (int32_t level = -1; level <= levels + 1; level++) {
      bool is_there = level >= 0 && level < levels;
      struct agx_image_region region = subject_level(subject, is_there ? (uint32_t)level : 0);
      bool has_y = d >= FLAT, has_z = d != LINE && d != FLAT;
      for (int32_t z = has_z ? -1 : 0; z <= (int32_t)region.depth - !has_z; z++)
         for (int32_t y = has_y ? -1 : 0; y <= (int32_t)region.height - !has_y; y++)
            for (int32_t x = -1; x <= (int32_t)region.width; x++)
               count = add_fetch(it, count, (struct fetch){x, y, z, level});
   }
   for (uint32_t i = 0; i < AGX_COUNT(far); i++) {
      count = add_fetch(it, count, (struct fetch){far[i], 0, 0, 0});
      count = add_fetch(it, count, (struct fetch){0, d >= FLAT ? far[i] : 0, 0, 0});
      count = add_fetch(it, count, (struct fetch){0, 0, d != LINE && d != FLAT ? far[i] : 0, 0});
      count = add_fetch(it, count, (struct fetch){0, 0, 0, far[i]});
   }
   return count;
}

static void check_fetches(struct subject *subject)
{
   if (subject->shape->dimension > SOLID)
      return;
   uint32_t count = ask_fetches(subject);
   subject_run(subject, FETCH, count, 0, NULL);
   for (uint32_t i = 0; i < count; i++) {
      const struct fetch *f = &((const struct fetch *)subject->bench->request)[i];
      const int32_t at[3] = {f->x, f->y, f->z};
      double want[4];
      char what[80];
      subject_decode(subject, (uint32_t)f->level, at, want);
      snprintf(what, sizeof(what), "fetch of %d, %d, %d, level %d:", f->x, f->y, f->z, f->level);
      subject_compare(subject, i, want, NULL, what);
   }
}

/* ---- all formats ------------------------------------------------------- */

static void fetches_are_decoded(void **state)
{
   for_each_subject(*state, check_fetches, false);
}

static void nearest_texels_and_borders(void **state)
{
   for_each_subject(*state, check_nearest, false);
}

static void linear_filters(void **state)
{
   for_each_subject(*state, check_linear, true);
}

static void stores_are_encoded(void **state)
{
   for_each_subject(*state, check_stores, false);
}

/* More than a row of 16384 texels, fewer, and one. */
static void buffers_of_texels(void **state)
{
   struct format_bench *it = *state;
   const uint32_t counts[] = {it->takes_all ? 32767 : 16500, 1031, 1};
   for (uint32_t i = 0; i < AGX_COUNT(counts); i++) {
      const struct image_shape row = {.width = counts[i], .height = 1, .depth = 1, .levels = 1};
      for_each_format(it, check_texels, &row);
   }
}

static void samples_of_texels(void **state)
{
   for (uint32_t samples = 2; samples <= 4; samples += 2) {
      const struct image_shape shape = {LAYERS, 19, 9, samples, 1, 0};
      for_each_format(*state, check_multisampled, &shape);
   }
}

/* Compressed blocks, depth, three channels, 64 bits: by the name that was asked for. */
static void other_formats_are_refused(void **state)
{
   static const char *const names[] = {
      "BC1_RGB_UNORM_BLOCK",
      "BC1_RGBA_SRGB_BLOCK",
      "BC2_UNORM_BLOCK",
      "BC3_SRGB_BLOCK",
      "BC4_SNORM_BLOCK",
      "BC5_UNORM_BLOCK",
      "BC6H_UFLOAT_BLOCK",
      "VK_FORMAT_BC7_UNORM_BLOCK",
      "ETC2_R8G8B8_UNORM_BLOCK",
      "EAC_R11_UNORM_BLOCK",
      "ASTC_4x4_UNORM_BLOCK",
      "ASTC_12x12_SRGB_BLOCK",
      "PVRTC1_2BPP_UNORM_BLOCK_IMG",
      "GL_COMPRESSED_RGBA8_ETC2_EAC",
      "D32_SFLOAT",
      "D24_UNORM_S8_UINT",
      "S8_UINT",
      "R8G8B8_UNORM",
      "R16G16B16_SFLOAT",
      "R32G32B32_SFLOAT",
      "R64_UINT",
      "R8_USCALED",
      "A2R10G10B10_UNORM_PACK32",
      "G8_B8R8_2PLANE_420_UNORM",
      "",
      "R8_UNORMX",
   };
   struct format_bench *it = *state;
   for (uint32_t i = 0; i < AGX_COUNT(names); i++) {
      const struct agx_image_desc desc = {
         .size = sizeof(desc), .type = AGX_IMAGE_2D, .format = names[i], .width = 4, .height = 4};
      struct agx_image *image;
      assert_fails(agx_image_create(it->fixture.device, &desc, &image), AGX_UNIMPLEMENTED,
                   names[i]);
   }
}

AGX_TEST_FILE(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, format_bench_open, format_bench_close)
   const struct CMUnitTest tests[] = {
      CASE(fetches_are_decoded),       CASE(nearest_texels_and_borders), CASE(linear_filters),
      CASE(stores_are_encoded),        CASE(buffers_of_texels),          CASE(samples_of_texels),
      CASE(other_formats_are_refused),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
