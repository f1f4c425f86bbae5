/* SPDX-License-Identifier: MIT
 *
 * Image layouts against cases that another implementation computed
 * (layout_cases.tsv), and properties that hold for any shape: elements of a level
 * don't overlap each other or another level, and stay inside the image.
 */
#include "agx/layout/layout.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "support.h"

enum {
   WIDTH,
   HEIGHT,
   DEPTH,
   LEVELS,
   SAMPLES,
   BLOCK_B,
   MIP_Z,
   WRITEABLE,
   RENDERABLE,
   DEPTH_STENCIL,
   FORCED_STRIDE,
   OUT_LEVELS,
   OUT_STRIDE,
   OUT_LAYER_STRIDE,
   OUT_PAGES,
   OUT_SIZE,
   NUMBERS
};

struct reader {
   struct agx_layout layout;
   char id[64];
   unsigned level, cases, texels;
};

static void read_case(struct reader *reader, const char *line)
{
   char tiling[32];
   unsigned block[2];
   unsigned long long n[NUMBERS];
   int at = 0;
   assert_int_equal(
      sscanf(line, "case\t%63s\t%31s\t%u\t%u%n", reader->id, tiling, &block[0], &block[1], &at), 4);
   for (unsigned i = 0; i < NUMBERS; i++) {
      int step = 0;
      assert_int_equal(sscanf(line + at, "%llu%n", &n[i], &step), 1);
      at += step;
   }
   struct agx_layout_shape shape = {
      .tiling = strcmp(tiling, "linear") ? AGX_LAYOUT_GPU : AGX_LAYOUT_LINEAR,
      .width = (uint32_t)n[WIDTH],
      .height = (uint32_t)n[HEIGHT],
      .depth = (uint32_t)n[DEPTH],
      .levels = (uint32_t)n[LEVELS],
      .samples = (uint32_t)n[SAMPLES],
      .block_B = (uint32_t)n[BLOCK_B],
      .block_w = block[0],
      .block_h = block[1],
      .stride_B = (uint32_t)n[FORCED_STRIDE],
      .is_3d = n[MIP_Z],
      .is_writeable = n[WRITEABLE],
      .is_renderable = n[RENDERABLE],
      .is_depth_stencil = n[DEPTH_STENCIL],
      .is_compressed = strstr(tiling, "compressed"),
   };
   print_message("%s\n", reader->id);
   assert_ok(agx_layout_init(&shape, &reader->layout));
   assert_int_equal(reader->layout.level_count, n[OUT_LEVELS]);
   assert_int_equal(reader->layout.stride_B, n[OUT_STRIDE]);
   assert_int_equal(reader->layout.layer_stride_B, n[OUT_LAYER_STRIDE]);
   assert_int_equal(reader->layout.is_page_aligned, n[OUT_PAGES]);
   assert_int_equal(reader->layout.size_B, n[OUT_SIZE]);
   reader->level = 0;
   reader->cases++;
}

static void read_level(struct reader *reader, const char *line)
{
   unsigned long long n[4];
   assert_int_equal(sscanf(line, "level %llu %llu %llu %llu", &n[0], &n[1], &n[2], &n[3]), 4);
   const struct agx_layout_level *level = &reader->layout.level[reader->level++];
   assert_int_equal(level->offset_B, n[0]);
   if (reader->layout.tiling == AGX_LAYOUT_LINEAR)
      return;
   assert_int_equal(1u << level->tile_w_log2, n[1]);
   assert_int_equal(1u << level->tile_h_log2, n[2]);
   assert_int_equal(level->stride_el, n[3]);
}

static void read_meta(const struct reader *reader, const char *line)
{
   unsigned long long offset, stride;
   int at = 0, step = 0;
   uint32_t level = 0;
   assert_int_equal(sscanf(line, "meta %llu %llu%n", &offset, &stride, &at), 2);
   assert_int_equal(reader->layout.meta_offset_B, offset);
   assert_int_equal(reader->layout.meta_layer_stride_B, stride);
   for (; sscanf(line + at, "%llu%n", &offset, &step) == 1; at += step)
      assert_int_equal(reader->layout.level[level++].meta_offset_B, offset);
   assert_int_equal(reader->layout.meta_level_count, level);
}

static void read_texel(struct reader *reader, const char *line)
{
   unsigned level, x, y;
   unsigned long long offset;
   assert_int_equal(sscanf(line, "texel %u %u %u %llu", &level, &x, &y, &offset), 4);
   uint64_t found = agx_layout_offset(&reader->layout, level, 0, x, y, 0);
   assert_int_equal(found - reader->layout.level[level].offset_B, offset);
   reader->texels++;
}

static void test_cases(void **state)
{
   char line[512];
   struct reader reader = {0};
   char *path = agx_test_path("agx/layout_cases.tsv");
   FILE *file = fopen(path, "r");
   assert_non_null(file);
   free(path);
   while (fgets(line, sizeof(line), file)) {
      if (!strncmp(line, "case", 4))
         read_case(&reader, line);
      else if (!strncmp(line, "level", 5))
         read_level(&reader, line);
      else if (!strncmp(line, "meta", 4))
         read_meta(&reader, line);
      else if (!strncmp(line, "texel", 5))
         read_texel(&reader, line);
   }
   fclose(file);
   assert_int_equal(reader.cases, 27);
   assert_true(reader.texels > 100);
}

/* Every element of every level and layer has bytes of its own. */
static void check_apart(const struct agx_layout *layout)
{
   uint8_t *taken = calloc(1, layout->size_B);
   assert_non_null(taken);
   for (uint32_t layer = 0; layer < layout->depth; layer++) {
      for (uint32_t level = 0; level < layout->level_count; level++) {
         uint32_t width = (uint32_t)agx_div_up(AGX_MAX(layout->width >> level, 1), layout->block_w);
         uint32_t height =
            (uint32_t)agx_div_up(AGX_MAX(layout->height >> level, 1), layout->block_h);
         for (uint32_t i = 0; i < width * height; i++) {
            uint64_t at = agx_layout_offset(layout, level, layer, i % width, i / width, 0);
            assert_true(agx_range_fits(at, layout->element_B, layout->size_B));
            for (uint32_t b = 0; b < layout->element_B; b++)
               assert_false(taken[at + b]++);
         }
      }
   }
   free(taken);
}

static void test_no_overlap(void **state)
{
   struct agx_test_rng rng = {1};
   for (unsigned i = 0; i < 300; i++) {
      uint64_t r = agx_test_random(&rng);
      bool is_linear = r % 8 == 0, is_block = r % 8 == 1;
      struct agx_layout_shape shape = {
         .tiling = is_linear    ? AGX_LAYOUT_LINEAR
                   : r >> 3 & 1 ? AGX_LAYOUT_TWIDDLED
                                : AGX_LAYOUT_GPU,
         .width = 1 + (r >> 4 & 255) % (r >> 12 & 1 ? 200 : 9),
         .height = 1 + (r >> 13 & 255) % (r >> 21 & 1 ? 200 : 9),
         .depth = 1 + (r >> 22 & 3),
         .levels = is_linear ? 1 : 1 + (r >> 24 & 1),
         .samples = 1,
         .block_B = 1u << (r >> 25 & 7) % 5,
         .block_w = is_block ? 4 : 1,
         .block_h = is_block ? 4 : 1,
         .is_3d = r >> 28 & 1,
         .is_writeable = r >> 29 & 1,
      };
      struct agx_layout layout;
      assert_ok(agx_layout_init(&shape, &layout));
      check_apart(&layout);
   }
}

/* Neighbouring samples, then the next texel. */
static void test_samples(void **state)
{
   struct agx_layout_shape shape = {.tiling = AGX_LAYOUT_GPU,
                                    .width = 64,
                                    .height = 64,
                                    .depth = 1,
                                    .levels = 1,
                                    .samples = 4,
                                    .block_B = 4,
                                    .block_w = 1,
                                    .block_h = 1};
   struct agx_layout layout;
   assert_ok(agx_layout_init(&shape, &layout));
   assert_int_equal(agx_layout_offset(&layout, 0, 0, 0, 0, 3), 12);
   assert_int_equal(agx_layout_offset(&layout, 0, 0, 1, 0, 1), 20);
}

/* Source of the sizes: the layouts that Mesa's own tests expect of 1024 by 1024 texels. */
static void sparse_tables_have_folios(void **state)
{
   struct agx_layout layout;
   struct agx_layout_shape shape = {.tiling = AGX_LAYOUT_GPU,
                                    .width = 1024,
                                    .height = 1024,
                                    .depth = 3,
                                    .levels = 11,
                                    .samples = 1,
                                    .block_B = 4,
                                    .block_w = 1,
                                    .block_h = 1,
                                    .pages = AGX_LAYOUT_PAGES_ON};
   assert_ok(agx_layout_init(&shape, &layout));
   assert_int_equal(agx_layout_sparse_size(&layout), 3 * 0x1000);
   assert_int_equal(agx_layout_sparse_offset(&layout, 0, 255 * 0x4000), 255 * 4);
   assert_int_equal(agx_layout_sparse_offset(&layout, 0, 256 * 0x4000 + 5), 512 * 4);
   assert_int_equal(agx_layout_sparse_offset(&layout, 2, 0x7fff), 4 * 512 * 4 + 4);
   shape.levels = 1;
   assert_ok(agx_layout_init(&shape, &layout));
   assert_int_equal(agx_layout_sparse_size(&layout), 3 * 0x800);
}

static void test_refusals(void **state)
{
   struct agx_layout layout;
   struct agx_layout_shape good = {.tiling = AGX_LAYOUT_GPU,
                                   .width = 16,
                                   .height = 16,
                                   .depth = 1,
                                   .levels = 1,
                                   .samples = 1,
                                   .block_B = 4,
                                   .block_w = 1,
                                   .block_h = 1};
   struct agx_layout_shape bad = good;
   bad.width = 16385;
   assert_fails(agx_layout_init(&bad, &layout), AGX_OUT_OF_RANGE, "width 16385");
   bad = good, bad.samples = 3;
   assert_fails(agx_layout_init(&bad, &layout), AGX_INVALID_ARGUMENT, "3 samples");
   bad = good, bad.tiling = AGX_LAYOUT_LINEAR, bad.levels = 2;
   assert_fails(agx_layout_init(&bad, &layout), AGX_INVALID_ARGUMENT, "linear memory");
   bad = good, bad.tiling = AGX_LAYOUT_LINEAR, bad.stride_B = 72;
   assert_fails(agx_layout_init(&bad, &layout), AGX_OUT_OF_RANGE, "72 bytes");
   bad = good, bad.tiling = (enum agx_layout_tiling)3;
   assert_fails(agx_layout_init(&bad, &layout), AGX_UNIMPLEMENTED, "layout 3");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cases),    cmocka_unit_test(test_no_overlap),
      cmocka_unit_test(test_samples),  cmocka_unit_test(sparse_tables_have_folios),
      cmocka_unit_test(test_refusals),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
