/* SPDX-License-Identifier: MIT
 *
 * Compressed and sparse images through a whole launch: fetches and stores of blocks that are stored
 * plainly, as one colour, or not written yet, and of pages that are there or not.
 */
#include "image_support.h"

#include <string.h>

#include "base/util.h"

/* ---- Compressed images -------------------------------------------------------- */

#define META      0x20000 /* from PIXELS */
#define WIDTH     40
#define HEIGHT    24
#define UNWRITTEN 0x00

/* What the metadata says of an element's size: everything, or one colour. */
static const struct {
   enum agx_hw_channels channels;
   uint8_t bytes, plain, solid;
} sizes[] = {
   {AGX_HW_CHANNELS_R32G32B32A32, 16, 0xff, 0x07},
   {AGX_HW_CHANNELS_R32G32, 8, 0xff, 0x07},
   {AGX_HW_CHANNELS_R32, 4, 0x7f, 0x03},
   {AGX_HW_CHANNELS_R16, 2, 0x3f, 0x01},
   {AGX_HW_CHANNELS_R8, 1, 0x1f, 0x60},
};

/* Bytes of metadata of 3 by 2 tiles, in an order of 4 by 2. */
static uint8_t *meta_of(struct image_case *c, uint32_t x, uint32_t y)
{
   static const uint8_t tiles[2][3] = {{0, 1, 4}, {2, 3, 6}};
   static const uint8_t parts[4][2] = {{0, 2}, {1, 3}, {4, 6}, {5, 7}};
   return c->pixels + META + 8 * tiles[y / 16][x / 16] + parts[y % 16 / 4][x % 16 / 8];
}

static void begin_compressed(struct image_case *c, const char *program, size_t size)
{
   image_begin(c, program);
   c->texture.channels = c->pbe.channels = sizes[size].channels;
   c->texture.type = c->pbe.type = AGX_HW_TEXTURE_TYPE_UINT;
   c->texture.width = c->pbe.width = WIDTH;
   c->texture.height = c->pbe.height = HEIGHT;
   c->texture.compressed_1 = c->pbe.compressed_1 = true;
   c->texture.extended = c->pbe.extended = true;
   c->texture.acceleration_buffer = c->pbe.acceleration_buffer = PIXELS + META;
   c->texture.swizzle_g = AGX_HW_CHANNEL_G;
}

/* Every byte of the image's memory differs from its neighbours; returns where texels lie. */
static struct agx_layout fill(struct image_case *c, size_t size)
{
   for (unsigned i = 0; i < META; i++)
      c->pixels[i] = (uint8_t)(i * 37 + i / 256 * 11 + 1);
   return image_layout(
      (struct agx_layout_shape){.width = WIDTH, .height = HEIGHT, .block_B = sizes[size].bytes});
}

/* The first four bytes of a texel. */
static uint32_t word_at(const uint8_t *at, size_t size)
{
   uint8_t bytes[4] = {0};
   memcpy(bytes, at, AGX_MIN(sizes[size].bytes, 4));
   return agxs_get_le32(bytes);
}

/* What a fetch gives, by a part's code. */
static uint32_t expected(struct image_case *c, const struct agx_layout *layout, size_t size,
                         uint32_t x, uint32_t y)
{
   uint8_t code = *meta_of(c, x, y);
   if (code == UNWRITTEN)
      return 0;
   if (code == sizes[size].solid)
      x &= ~15u, y &= ~15u;
   return word_at(c->pixels + agx_layout_offset(layout, 0, 0, x, y, 0), size);
}

static void parts_are_plain_or_of_one_colour_or_unwritten(void **state)
{
   for (size_t size = 0; size < AGX_COUNT(sizes); size++) {
      struct image_case c;
      begin_compressed(&c, FETCH_2D, size);
      struct agx_layout layout = fill(&c, size);
      const uint8_t codes[] = {sizes[size].plain, sizes[size].solid, UNWRITTEN};
      memset(c.pixels + META, 0xee, 64); /* not known, so that each byte that counts is set */
      for (uint32_t y = 0; y < HEIGHT; y += 4)
         for (uint32_t x = 0; x < WIDTH; x += 8)
            *meta_of(&c, x, y) = codes[(x / 8 * 7 + y / 4 * 5 + x * y / 96) % 3];
      for (uint32_t first = 0; first < WIDTH * HEIGHT; first += THREADS) {
         for (uint32_t t = 0; t < THREADS; t++)
            c.input[t][0] = (first + t) % WIDTH, c.input[t][1] = (first + t) / WIDTH;
         c.launch.options.check = first % 3 == 0;
         assert_ok(image_run(&c));
         for (uint32_t t = 0; t < THREADS; t++)
            assert_int_equal(c.output[t][0],
                             expected(&c, &layout, size, c.input[t][0], c.input[t][1]));
      }
      image_end(&c);
   }
}

/* A store leaves what it doesn't touch as it was read before, and the tile plain. */
static void a_store_makes_a_tile_plain(void **state)
{
   for (size_t size = 0; size < AGX_COUNT(sizes); size++) {
      struct image_case c;
      uint32_t before[HEIGHT][WIDTH];
      begin_compressed(&c, READ "imgw r=r8..r11 texture=ts1 coord=r4 lod=0 dim=2d", size);
      struct agx_layout layout = fill(&c, size);
      const uint8_t codes[] = {sizes[size].solid, sizes[size].plain, UNWRITTEN};
      for (uint32_t y = 0; y < HEIGHT; y += 4)
         for (uint32_t x = 0; x < WIDTH; x += 8)
            *meta_of(&c, x, y) = codes[(x / 8 + y / 4) % 3];
      for (uint32_t y = 0; y < HEIGHT; y++)
         for (uint32_t x = 0; x < WIDTH; x++)
            before[y][x] = expected(&c, &layout, size, x, y);
      /* Two tiles: the first, and the one in the corner. Lanes without a texel store outside. */
      for (uint32_t t = 0; t < THREADS; t++) {
         c.input[t][0] = t < 2 ? t * 39 : 1000, c.input[t][1] = t < 2 ? t * 23 : 0;
         c.input[t][4] = 0x5a;
      }
      before[0][0] = before[23][39] = 0x5a;
      c.launch.options.check = true;
      assert_ok(image_run(&c));
      for (uint32_t y = 0; y < HEIGHT; y++) {
         for (uint32_t x = 0; x < WIDTH; x++) {
            bool is_touched = (x < 16 && y < 16) || (x >= 32 && y >= 16);
            uint8_t code = is_touched ? sizes[size].plain : codes[(x / 8 + y / 4) % 3];
            assert_int_equal(*meta_of(&c, x, y), code);
            assert_int_equal(expected(&c, &layout, size, x, y), before[y][x]);
         }
      }
      image_end(&c);
   }
}

/* Workgroups of several workers write all of an image that was one colour. */
static void many_workers_write_one_tile(void **state)
{
   struct image_case c;
   begin_compressed(&c,
                    "mfsr d=r0 sr=thread_in_grid_x\nand d=r4 a=r0 b=15\nshr d=r5 b=r0 c=4\n"
                    "imgw r=r0..r3 texture=ts1 coord=r4 lod=0 dim=2d",
                    2);
   struct agx_layout layout =
      image_layout((struct agx_layout_shape){.width = WIDTH, .height = HEIGHT, .block_B = 4});
   for (unsigned round = 0; round < 20; round++) {
      memset(c.pixels, 0x77, 0x1000);
      memset(c.pixels + META, 0x03, 64);
      c.launch.grid[0] = 256, c.launch.local[0] = 32;
      c.launch.options.thread_count = 4;
      assert_ok(image_run(&c));
      for (uint32_t i = 0; i < 256; i++) {
         const uint8_t *at = c.pixels + agx_layout_offset(&layout, 0, 0, i % 16, i / 16, 0);
         assert_int_equal(agxs_get_le32(at), i);
      }
      assert_int_equal(*meta_of(&c, 0, 0), 0x7f);
      assert_int_equal(*meta_of(&c, 16, 0), 0x03);
   }
   image_end(&c);
}

/* Samples of a texel lie beside and below each other in a tile; codes are those of a sample. */
static void samples_of_compressed_images(void **state)
{
   struct image_case c;
   image_begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=2d_ms mask=xyzw "
                        "lod_mode=auto_lod group=a" WRITE);
   c.texture.dimension = AGX_HW_TEXTURE_DIMENSION_2D_MULTISAMPLED;
   c.texture.samples = AGX_HW_SAMPLE_COUNT_4;
   c.texture.width = c.texture.height = 16;
   c.texture.type = AGX_HW_TEXTURE_TYPE_UINT;
   c.texture.compressed_1 = c.texture.extended = true;
   c.texture.acceleration_buffer = PIXELS + META;
   for (uint32_t i = 0; i < 16 * 16 * 4; i++)
      agxs_put_le32(c.pixels + 4 * i, i);
   memset(c.pixels + META, 0x7f, 32);
   memset(c.pixels + META + 8, 0x03, 8); /* texels 8 to 15 of rows 0 to 7 */
   for (uint32_t t = 0; t < THREADS; t++)
      c.input[t][0] = t / 4 % 4 * 4, c.input[t][1] = 1 + t / 16 * 8, c.input[t][2] = t % 4;
   assert_ok(image_run(&c));
   for (uint32_t t = 0; t < THREADS; t++) {
      uint32_t x = t / 4 % 4 * 4, y = 1 + t / 16 * 8;
      /* Bits of x and y in turns, in texels of four samples. */
      uint32_t texel = 0;
      for (unsigned bit = 0; bit < 4; bit++)
         texel |= (x >> bit & 1) << 2 * bit | (y >> bit & 1) << (2 * bit + 1);
      assert_int_equal(c.output[t][0], x >= 8 && y < 8 ? 64 * 4 : 4 * texel + t % 4);
   }
   image_end(&c);
}

static void count_fault(void *user, const struct agxs_fault *fault)
{
   unsigned *count = user;
   assert_int_equal(fault->kind, AGXS_FAULT_SOFT_LOAD);
   assert_int_equal(fault->va, PIXELS + META + 1);
   ++*count;
}

/* Memory that had another use before and was not written as this image: a soft fault. */
static void codes_that_are_not_known_read_zero(void **state)
{
   for (unsigned is_store = 0; is_store < 2; is_store++) {
      struct image_case c;
      unsigned faults = 0;
      begin_compressed(
         &c, is_store ? READ "imgw r=r8..r11 texture=ts1 coord=r4 lod=0 dim=2d" : FETCH_2D, 2);
      fill(&c, 2);
      memset(c.pixels + META, 0x7f, 64);
      c.pixels[META + 1] = 0x55;
      c.input[3][1] = 4; /* in the second part */
      c.launch.options.user = &faults;
      c.launch.options.on_fault = count_fault;
      c.launch.options.strict = true;
      assert_fails(image_run(&c), AGX_UNIMPLEMENTED, "stored compressed, in a way that is not");
      c.launch.options.strict = false;
      c.launch.options.check = true;
      c.pixels[META + 1] = 0x55;
      assert_fails(image_run(&c), AGX_UNIMPLEMENTED, "stored compressed, in a way that is not");
      c.launch.options.check = false;
      c.pixels[META + 1] = 0x55;
      assert_int_equal(faults, 0);
      assert_ok(image_run(&c));
      assert_int_equal(faults, 1);
      assert_int_equal(c.launch.stats.soft_faults, 1);
      if (is_store)
         assert_int_equal(c.pixels[META + 1], 0x7f);
      else
         assert_int_equal(c.output[3][0], 0);
      c.launch.options.on_fault = NULL;
      c.texture.acceleration_buffer = c.pbe.acceleration_buffer = 0x5000000000;
      assert_fails(image_run(&c), AGX_DATA_LOSS, "compression metadata is not mapped");
      image_end(&c);
   }
}

/* ---- Sparse images -------------------------------------------------------------- */

#define TABLE  (SIM_DATA + 0x200000)
#define PAGE_A (SIM_DATA + 0x300000)
#define PAGE_B (SIM_DATA + 0x500000)

static void put_entry(uint8_t *table, uint32_t index, uint64_t address)
{
   const struct agx_hw_sparse_block entry = {.address = address, .unknown = true, .enabled = true};
   assert_ok(agx_hw_sparse_block_pack(&entry, table + 4 * index));
}

/* Two layers of two pages of 64 by 64 texels: the first of layer 0 and the second of layer 1. */
static uint8_t *begin_sparse(struct image_case *c, const char *program, uint8_t *out_page[2])
{
   image_begin(c, program);
   c->texture.dimension = c->pbe.dimension = AGX_HW_TEXTURE_DIMENSION_2D_ARRAY;
   c->texture.mode = c->pbe.mode = AGX_HW_IMAGE_MODE_SPARSE;
   c->texture.type = c->pbe.type = AGX_HW_TEXTURE_TYPE_UINT;
   c->texture.width = c->pbe.width = 128;
   c->texture.height = c->pbe.height = 64;
   c->texture.depth = c->pbe.layers = 2;
   c->texture.page_aligned_layers = c->pbe.page_aligned_layers = true;
   c->texture.address = c->pbe.buffer = TABLE;
   uint8_t *table = sim_map(&c->launch.memory, TABLE, 0x4000, false);
   out_page[0] = sim_map(&c->launch.memory, PAGE_A, 0x4000, true);
   out_page[1] = sim_map(&c->launch.memory, PAGE_B, 0x4000, true);
   put_entry(table, 0, PAGE_A);
   put_entry(table, 512 + 1, PAGE_B); /* a folio has 256 entries and as many that are not used */
   for (uint32_t i = 0; i < 0x4000 / 4; i++) {
      agxs_put_le32(out_page[0] + 4 * i, 0x10000 + i);
      agxs_put_le32(out_page[1] + 4 * i, 0x20000 + i);
   }
   for (uint32_t t = 0; t < THREADS; t++) {
      c->input[t][0] = 64 * (t % 2) + 2, c->input[t][1] = 1, c->input[t][2] = t / 2 % 2;
      c->input[t][4] = 0x5a5a + t;
   }
   return table;
}

#define FETCH_SPARSE                                                                               \
   READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=2d_array mask=xyzw "                 \
        "lod_mode=auto_lod sparse group=a\nwait group=a\nmov d=r21 a=r24" WRITE

static void pages_of_a_sparse_image_may_be_absent(void **state)
{
   for (unsigned check = 0; check < 2; check++) {
      struct image_case c;
      uint8_t *page[2];
      begin_sparse(&c, FETCH_SPARSE, page);
      c.launch.options.check = check;
      memset(c.output, 0xff, THREADS * sizeof(*c.output));
      assert_ok(image_run(&c));
      for (uint32_t t = 0; t < THREADS; t++) {
         /* Texel 2, 1 of a page: x bit 1 is bit 2, y bit 0 is bit 1. */
         uint32_t value = t % 4 == 0 ? 0x10006 : t % 4 == 3 ? 0x20006 : 0;
         assert_int_equal(c.output[t][0], value);
         assert_int_equal(c.output[t][1], !value); /* bit 0 of the code: not resident */
      }
      image_end(&c);
   }
}

static void a_store_to_an_absent_page_is_dropped(void **state)
{
   struct image_case c;
   uint8_t *page[2];
   begin_sparse(&c, READ "imgw r=r8..r11 texture=ts1 coord=r4 lod=0 dim=2d_array", page);
   c.launch.options.check = true;
   assert_ok(image_run(&c));
   for (uint32_t i = 0; i < 0x4000 / 4; i++) {
      uint32_t in_a = agxs_get_le32(page[0] + 4 * i), in_b = agxs_get_le32(page[1] + 4 * i);
      /* Of several stores to one texel one is left. */
      assert_true(i == 6 ? in_a - 0x5a5a < THREADS : in_a == 0x10000 + i);
      assert_true(i == 6 ? in_b - 0x5a5a < THREADS : in_b == 0x20000 + i);
   }
   image_end(&c);
}

/* A linear filter over the seam: half of a texel is there. */
static void a_filter_tells_what_is_absent(void **state)
{
   struct image_case c;
   uint8_t *page[2];
   begin_sparse(&c,
                READ "smpf r=r20..r23 texture=ts0 sampler=ss0 coord=r4 lod=r8l dim=2d_array "
                     "mask=xyzw lod_mode=lod_min sparse group=a\nwait group=a\n"
                     "mov d=r21 a=r24" WRITE,
                page);
   c.texture.type = AGX_HW_TEXTURE_TYPE_FLOAT;
   c.sampler.magnify = c.sampler.minify = AGX_HW_FILTER_LINEAR;
   for (uint32_t i = 0; i < 0x4000 / 4; i++)
      agxs_put_le32(page[0] + 4 * i, image_bits(8.0f));
   for (uint32_t t = 0; t < THREADS; t++) {
      c.input[t][0] = image_bits(t ? 32.0f / 128.0f : 64.0f / 128.0f);
      c.input[t][1] = image_bits(0.5f), c.input[t][2] = c.input[t][4] = 0;
   }
   assert_ok(image_run(&c));
   assert_true(image_float(c.output[0][0]) == 4.0f);
   assert_int_equal(c.output[0][1], 1);
   assert_true(image_float(c.output[1][0]) == 8.0f);
   assert_int_equal(c.output[1][1], 0);
   image_end(&c);
}

/* Level 1 of 1024 by 1024 texels begins with page 256, whose entry is the next folio's first. */
static void levels_go_on_in_the_next_folio(void **state)
{
   struct image_case c;
   uint8_t *page[2];
   uint8_t *table = begin_sparse(&c, FETCH_SPARSE, page);
   c.texture.width = c.texture.height = 1024;
   c.texture.depth = 1;
   c.texture.unk_mipmapped = true;
   c.texture.first_level = 1, c.texture.last_level = 10;
   put_entry(table, 512, PAGE_A);
   for (uint32_t t = 0; t < THREADS; t++)
      c.input[t][0] = t * 2, c.input[t][2] = 0;
   assert_ok(image_run(&c));
   assert_int_equal(c.output[1][0], 0x10006);
   assert_int_equal(c.output[0][1], 0);
   image_end(&c);
}

static void a_bad_page_table_ends_the_submission(void **state)
{
   struct image_case c;
   uint8_t *page[2];
   uint8_t *table = begin_sparse(&c, FETCH_SPARSE, page);
   put_entry(table, 0, 0x5000000000);
   assert_fails(image_run(&c), AGX_DATA_LOSS, "a texel is not mapped so: 0x5000000018");
   agxs_put_le32(table, 0xffffffff);
   assert_fails(image_run(&c), AGX_DATA_LOSS, "page table has bits that are not known");
   c.texture.address = 0x5000000000;
   assert_fails(image_run(&c), AGX_DATA_LOSS, "page table is not mapped");
   c.texture.page_aligned_layers = false;
   c.texture.width = c.texture.height = 8;
   assert_fails(image_run(&c), AGX_INVALID_ARGUMENT,
                "texture descriptor: a sparse image with 2 layers of");
   image_end(&c);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_are_plain_or_of_one_colour_or_unwritten),
      cmocka_unit_test(a_store_makes_a_tile_plain),
      cmocka_unit_test(many_workers_write_one_tile),
      cmocka_unit_test(samples_of_compressed_images),
      cmocka_unit_test(codes_that_are_not_known_read_zero),
      cmocka_unit_test(pages_of_a_sparse_image_may_be_absent),
      cmocka_unit_test(a_store_to_an_absent_page_is_dropped),
      cmocka_unit_test(a_filter_tells_what_is_absent),
      cmocka_unit_test(levels_go_on_in_the_next_folio),
      cmocka_unit_test(a_bad_page_table_ends_the_submission),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
