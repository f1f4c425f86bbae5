/* SPDX-License-Identifier: MIT
 *
 * Clears and copies of images on the GPU: each format and layout against what the host reads and
 * writes (agx_image_read, agx_image_write), and against the model of formats. Runs strict and
 * checked, with bounds.
 */
#include "image_launch.h"

#include <stdlib.h>
#include <string.h>

#include "agx/format.h"
#include "base/status.h"
#include "base/util.h"
#include "format_model.h"

#define MAX_B (1u << 20)

static uint8_t host[MAX_B], before[MAX_B], got[MAX_B];

/* ---- help --------------------------------------------------------------- */

static uint32_t side(uint32_t size, uint32_t level)
{
   return AGX_MAX(size >> level, 1u);
}

static struct agx_image_region level_of(const struct agx_image_desc *desc, uint32_t level)
{
   return (struct agx_image_region){
      .level = level,
      .width = side(desc->width, level),
      .height = side(desc->height, level),
      .depth = desc->type == AGX_IMAGE_3D ? side(desc->depth, level) : AGX_MAX(desc->depth, 1u),
   };
}

static uint32_t below(uint32_t *random, uint32_t bound)
{
   return image_random(random) % bound;
}

/* A part of a level, all of it at times. */
static struct agx_image_region some_region(const struct agx_image_desc *desc, uint32_t *random)
{
   const uint32_t level = below(random, AGX_MAX(desc->levels, 1u));
   struct agx_image_region region = level_of(desc, level);
   if (below(random, 4) == 0)
      return region;
   region.x = below(random, region.width);
   region.y = below(random, region.height);
   region.z = below(random, region.depth);
   region.width = 1 + below(random, region.width - region.x);
   region.height = 1 + below(random, region.height - region.y);
   region.depth = 1 + below(random, region.depth - region.z);
   return region;
}

static uint64_t bytes_of(const struct agx_image_region *region, uint32_t texel_B)
{
   return (uint64_t)region->width * region->height * region->depth * texel_B;
}

static void scramble(uint8_t *bytes, uint64_t count, uint32_t *random)
{
   for (uint64_t i = 0; i < count; i++)
      bytes[i] = (uint8_t)(image_random(random) >> 8);
}

static uint32_t texel_B(struct agx_image *image)
{
   struct agx_image_info info = {.size = sizeof(info)};
   agx_image_get_info(image, &info);
   return info.texel_B;
}

/* An image of random bytes, each sample of it. */
static struct agx_image *make_random(struct image_launch *it, const struct agx_image_desc *desc,
                                     uint32_t *random)
{
   struct agx_image *image = image_make(it, *desc);
   for (uint32_t level = 0; level < AGX_MAX(desc->levels, 1u); level++)
      for (uint32_t sample = 0; sample < AGX_MAX(desc->samples, 1u); sample++) {
         struct agx_image_region region = level_of(desc, level);
         region.sample = sample;
         assert_true(bytes_of(&region, texel_B(image)) <= MAX_B);
         scramble(host, bytes_of(&region, texel_B(image)), random);
         assert_ok(agx_image_write(image, &region, host, 0, 0));
      }
   return image;
}

/* Ends the recording, runs it and waits. */
static void run(struct image_launch *it, struct agx_command_buffer *commands)
{
   struct agx_semaphore *done = fixture_semaphore(&it->fixture);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&it->fixture, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   agx_release(done);
   agx_release(commands);
}

static const struct agx_image_desc shapes[] = {
   {.type = AGX_IMAGE_1D, .width = 77, .height = 1, .depth = 3, .levels = 3},
   {.type = AGX_IMAGE_2D, .width = 37, .height = 21, .depth = 1, .levels = 6},
   {.type = AGX_IMAGE_2D, .width = 150, .height = 90, .depth = 2, .levels = 1},
   {.type = AGX_IMAGE_2D, .width = 37, .height = 21, .depth = 2, .flags = AGX_IMAGE_LINEAR},
   {.type = AGX_IMAGE_3D, .width = 17, .height = 9, .depth = 5, .levels = 4},
   {.type = AGX_IMAGE_CUBE, .width = 16, .height = 16, .depth = 12, .levels = 5},
};

static struct agx_image_desc shape_of(size_t index, const char *format)
{
   struct agx_image_desc desc = shapes[index % AGX_COUNT(shapes)];
   desc.format = format;
   return desc;
}

/* ---- buffers ------------------------------------------------------------- */

/* What lies in a buffer of texels by its description, out of a packed one, or the other way. */
static void spread_texels(uint8_t *buffer, const struct agx_texels *texels,
                          const struct agx_image_region *region, uint8_t *packed, uint32_t bytes,
                          bool to_packed)
{
   const uint64_t row = texels->row_texels ? texels->row_texels : region->width;
   const uint64_t rows = texels->slice_rows ? texels->slice_rows : region->height;
   for (uint32_t z = 0; z < region->depth; z++)
      for (uint32_t y = 0; y < region->height; y++) {
         uint8_t *at = buffer + texels->ref.offset_B + (z * rows + y) * row * bytes;
         uint8_t *line = packed + (z * region->height + y) * region->width * bytes;
         if (to_packed)
            memcpy(line, at, region->width * bytes);
         else
            memcpy(at, line, region->width * bytes);
      }
}

static struct agx_texels some_texels(struct agx_buffer *buffer,
                                     const struct agx_image_region *region, uint32_t bytes,
                                     uint32_t *random)
{
   struct agx_texels texels = {
      .ref = {buffer, (uint64_t)bytes * below(random, 20), AGX_WHOLE_LENGTH}};
   if (below(random, 2))
      texels.row_texels = region->width + below(random, 5);
   if (below(random, 2))
      texels.slice_rows = region->height + below(random, 3);
   return texels;
}

static void check_buffer_copies(struct image_launch *it, const struct agx_image_desc *desc,
                                uint32_t *random)
{
   struct agx_image *image = make_random(it, desc, random);
   const uint32_t bytes = texel_B(image);
   uint32_t *memory;
   struct agx_buffer *buffer = fixture_buffer(&it->fixture, MAX_B, &memory);
   struct agx_image_region region = some_region(desc, random);
   region.sample = below(random, AGX_MAX(desc->samples, 1u));
   struct agx_texels texels = some_texels(buffer, &region, bytes, random);
   /* Out of the image: what is between the rows stays. */
   scramble(before, 65536, random);
   memcpy(memory, before, 65536);
   struct agx_command_buffer *commands = fixture_begin(&it->fixture);
   assert_ok(agx_cmd_copy_from_image(commands, image, &region, &texels));
   run(it, commands);
   assert_ok(agx_image_read(image, &region, host, 0, 0));
   spread_texels(before, &texels, &region, host, bytes, false);
   assert_memory_equal(memory, before, 65536);
   /* Into it: what is around the region stays. */
   const struct agx_image_region all = level_of(desc, region.level);
   struct agx_image_region level = all;
   level.sample = region.sample;
   texels = some_texels(buffer, &region, bytes, random);
   scramble((uint8_t *)memory, MAX_B, random);
   spread_texels((uint8_t *)memory, &texels, &region, got, bytes, true);
   assert_ok(agx_image_read(image, &level, before, 0, 0));
   commands = fixture_begin(&it->fixture);
   assert_ok(agx_cmd_copy_to_image(commands, &texels, image, &region));
   run(it, commands);
   for (uint32_t z = 0; z < region.depth; z++)
      for (uint32_t y = 0; y < region.height; y++)
         memcpy(before + (((region.z + z) * all.height + region.y + y) * all.width + region.x) *
                            (uint64_t)bytes,
                got + (z * region.height + y) * region.width * (uint64_t)bytes,
                region.width * (uint64_t)bytes);
   assert_ok(agx_image_read(image, &level, host, 0, 0));
   assert_memory_equal(host, before, bytes_of(&level, bytes));
   agx_release(image);
   agx_release(buffer);
}

static void buffers_and_images_agree_with_the_host(void **state)
{
   uint32_t random = 1;
   for (size_t i = 0; agx_format_at(i); i++)
      for (size_t turn = 0; turn < 3; turn++) {
         const struct agx_image_desc desc = shape_of(i + 2 * turn, agx_format_at(i)->name);
         check_buffer_copies(*state, &desc, &random);
      }
}

static void samples_are_copied_one_by_one(void **state)
{
   uint32_t random = 2;
   static const char *const formats[] = {"R8_UINT", "R16_FLOAT", "rgba8", "rg32f", "rgba32f"};
   for (size_t i = 0; i < 2 * AGX_COUNT(formats); i++) {
      const struct agx_image_desc desc = {.type = AGX_IMAGE_2D,
                                          .format = formats[i / 2],
                                          .width = 33,
                                          .height = 18,
                                          .depth = 2,
                                          .levels = 1,
                                          .samples = i % 2 ? 2 : 4};
      check_buffer_copies(*state, &desc, &random);
   }
}

/* ---- images -------------------------------------------------------------- */

static void check_image_copy(struct image_launch *it, const struct agx_image_desc *from,
                             const struct agx_image_desc *to, uint32_t *random)
{
   struct agx_image *source = make_random(it, from, random), *target = make_random(it, to, random);
   const uint32_t bytes = texel_B(source);
   struct agx_image_region a = some_region(from, random);
   struct agx_image_region b = level_of(to, below(random, AGX_MAX(to->levels, 1u)));
   const struct agx_image_region all = b;
   a.width = AGX_MIN(a.width, all.width);
   a.height = AGX_MIN(a.height, all.height);
   a.depth = AGX_MIN(a.depth, all.depth);
   b.x = below(random, all.width - a.width + 1);
   b.y = below(random, all.height - a.height + 1);
   b.z = below(random, all.depth - a.depth + 1);
   struct agx_image_region samples = all;
   for (uint32_t sample = 0; sample < AGX_MAX(to->samples, 1u); sample++) {
      samples.sample = sample;
      assert_ok(agx_image_read(target, &samples, before + sample * bytes_of(&all, bytes), 0, 0));
   }
   struct agx_command_buffer *commands = fixture_begin(&it->fixture);
   assert_ok(agx_cmd_copy_image(commands, source, &a, target, &b));
   run(it, commands);
   for (uint32_t sample = 0; sample < AGX_MAX(to->samples, 1u); sample++) {
      uint8_t *want = before + sample * bytes_of(&all, bytes);
      a.sample = samples.sample = sample;
      assert_ok(agx_image_read(source, &a, host, 0, 0));
      for (uint32_t z = 0; z < a.depth; z++)
         for (uint32_t y = 0; y < a.height; y++)
            memcpy(want + (((b.z + z) * all.height + b.y + y) * all.width + b.x) * (uint64_t)bytes,
                   host + (z * a.height + y) * a.width * (uint64_t)bytes,
                   a.width * (uint64_t)bytes);
      assert_ok(agx_image_read(target, &samples, got, 0, 0));
      assert_memory_equal(got, want, bytes_of(&all, bytes));
   }
   agx_release(source);
   agx_release(target);
}

static void images_are_copied_whatever_their_layout(void **state)
{
   static const char *const pairs[][2] = {{"R8_UNORM", "R8_SINT"},
                                          {"R16_FLOAT", "R5G6B5_UNORM"},
                                          {"rgba8", "R32_UINT"},
                                          {"rgba16f", "rg32ui"},
                                          {"rgba32f", "rgba32i"}};
   uint32_t random = 3;
   for (size_t i = 0; i < AGX_COUNT(pairs) * AGX_COUNT(shapes); i++) {
      const char *const *formats = pairs[i % AGX_COUNT(pairs)];
      const struct agx_image_desc from = shape_of(i, formats[0]);
      const struct agx_image_desc to = shape_of(i / 5 + i, formats[1]);
      check_image_copy(*state, &from, &to, &random);
   }
   for (uint32_t i = 0; i < 2 * AGX_COUNT(pairs); i++) {
      const struct agx_image_desc from = {.type = AGX_IMAGE_2D,
                                          .format = pairs[i / 2][0],
                                          .width = 30,
                                          .height = 41,
                                          .samples = i % 2 ? 2 : 4};
      struct agx_image_desc to = from;
      to.format = pairs[i / 2][1];
      to.width = 90;
      check_image_copy(*state, &from, &to, &random);
   }
}

/* ---- clears -------------------------------------------------------------- */

static union agx_color some_color(const struct format_model *model, uint32_t *random)
{
   union agx_color color;
   for (uint32_t c = 0; c < 4; c++) {
      uint32_t bits = 8;
      for (uint32_t i = 0; i < model->count; i++)
         bits = model->part[i].channel == c ? model->part[i].bits : bits;
      const uint32_t word = image_random(random) << 12 ^ image_random(random);
      if (format_model_class(model) == FORMAT_OF_UINTS)
         color.uint32[c] = word >> (32 - bits);
      else if (format_model_class(model) == FORMAT_OF_SINTS)
         color.int32[c] = (int32_t)word >> (32 - bits);
      else
         color.float32[c] = image_float(below(random, 4) ? 0x3e000000 + word % 0x2000000 : word);
   }
   return color;
}

static void assert_cleared(const struct format_model *model, const union agx_color *color,
                           const uint8_t *texel)
{
   double value[4];
   for (uint32_t c = 0; c < 4; c++)
      value[c] = format_model_class(model) == FORMAT_OF_UINTS   ? (double)color->uint32[c]
                 : format_model_class(model) == FORMAT_OF_SINTS ? (double)color->int32[c]
                                                                : (double)color->float32[c];
   if (!format_model_is_stored(model, texel, value))
      fail_msg("%s: %g, %g, %g, %g as 0x%02x%02x%02x%02x", model->name, value[0], value[1],
               value[2], value[3], texel[3], texel[2], texel[1], texel[0]);
}

static void check_clear(struct image_launch *it, const struct agx_image_desc *desc,
                        uint32_t *random)
{
   struct agx_image *image = make_random(it, desc, random);
   const struct agx_image_region region = some_region(desc, random);
   const uint32_t bytes = texel_B(image);
   struct agx_image_region all = level_of(desc, region.level);
   struct format_model model;
   format_model_read(agx_format_find(desc->format)->name, &model);
   const union agx_color color = some_color(&model, random);
   all.sample = AGX_MAX(desc->samples, 1u) - 1;
   assert_ok(agx_image_read(image, &all, before, 0, 0));
   struct agx_command_buffer *commands = fixture_begin(&it->fixture);
   assert_ok(agx_cmd_clear_image(commands, image, &region, &color));
   run(it, commands);
   assert_ok(agx_image_read(image, &all, got, 0, 0));
   for (uint32_t i = 0; i < all.width * all.height * all.depth; i++) {
      const uint32_t x = i % all.width, y = i / all.width % all.height;
      const uint32_t z = i / all.width / all.height;
      const bool is_inside =
         x - region.x < region.width && y - region.y < region.height && z - region.z < region.depth;
      if (is_inside)
         assert_cleared(&model, &color, got + i * bytes);
      else
         assert_memory_equal(got + i * bytes, before + i * bytes, bytes);
   }
   agx_release(image);
}

static void clears_store_the_color_and_nothing_else(void **state)
{
   uint32_t random = 4;
   for (size_t i = 0; agx_format_at(i); i++) {
      for (size_t turn = 0; turn < 4; turn++) {
         const struct agx_image_desc desc = shape_of(i + turn, agx_format_at(i)->name);
         check_clear(*state, &desc, &random);
      }
      const struct agx_image_desc samples = {.type = AGX_IMAGE_2D,
                                             .format = agx_format_at(i)->name,
                                             .width = 20,
                                             .height = 11,
                                             .samples = i % 2 ? 2 : 4};
      check_clear(*state, &samples, &random);
   }
}

static void all_levels_are_cleared_by_one_command(void **state)
{
   struct image_launch *it = *state;
   uint32_t random = 5;
   const union agx_color color = {.uint32 = {0x12345678}};
   const struct agx_image_desc desc = shape_of(4, "r32ui");
   struct agx_image *image = make_random(it, &desc, &random);
   struct agx_command_buffer *commands = fixture_begin(&it->fixture);
   assert_ok(agx_cmd_clear_image(commands, image, NULL, &color));
   run(it, commands);
   for (uint32_t level = 0; level < desc.levels; level++) {
      const struct agx_image_region region = level_of(&desc, level);
      uint32_t texels[17 * 9 * 5];
      assert_ok(agx_image_read(image, &region, texels, 0, 0));
      for (uint32_t i = 0; i < region.width * region.height * region.depth; i++)
         assert_int_equal(texels[i], 0x12345678);
   }
   agx_release(image);
}

/* ---- order, tables, queue operations ---------------------------------------- */

/* A clear, a copy and a copy out, ordered by barriers alone; twice, with other tables. */
static void barriers_order_them_and_tables_name_their_buffers(void **state)
{
   struct image_launch *it = *state;
   const struct agx_command_buffer_desc with_table = {.size = sizeof(with_table), .table_slots = 1};
   const struct agx_image_desc desc = {
      .format = "r32ui", .type = AGX_IMAGE_2D, .width = 64, .height = 64};
   const struct agx_image_region all = {.width = 64, .height = 64, .depth = 1};
   const union agx_color color = {.uint32 = {77}};
   struct agx_image *a = image_make(it, desc), *b = image_make(it, desc);
   struct agx_command_buffer *commands;
   struct agx_semaphore *done = fixture_semaphore(&it->fixture);
   assert_ok(agx_command_buffer_create(it->fixture.device, &with_table, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   assert_ok(agx_cmd_clear_image(commands, a, NULL, &color));
   assert_ok(agx_cmd_barrier(commands, NULL));
   assert_ok(agx_cmd_copy_image(commands, a, &all, b, &all));
   assert_ok(agx_cmd_barrier(commands, NULL));
   const struct agx_texels out = {.ref = {.length_B = AGX_WHOLE_LENGTH, .table_slot = 1}};
   assert_ok(agx_cmd_copy_from_image(commands, b, &all, &out));
   assert_ok(agx_command_buffer_end(commands));
   for (uint64_t turn = 1; turn <= 2; turn++) {
      uint32_t *words;
      struct agx_buffer *buffer = fixture_buffer(&it->fixture, 64 * 64 * 4, &words);
      const struct agx_buffer_ref table = {buffer, 0, AGX_WHOLE_LENGTH};
      const struct agx_point signal = {done, turn};
      const struct agx_op op = {.size = sizeof(op),
                                .kind = AGX_OP_EXECUTE,
                                .signals = &signal,
                                .signal_count = 1,
                                .u.execute = {commands, &table, 1}};
      assert_ok(agx_submit(it->fixture.device, &op, 1, NULL));
      assert_ok(fixture_wait(done, turn));
      for (uint32_t i = 0; i < 64 * 64; i++)
         assert_int_equal(words[i], 77);
      agx_release(buffer);
   }
   agx_release(commands);
   agx_release(done);
   agx_release(a);
   agx_release(b);
}

static void queue_operations_do_the_same(void **state)
{
   struct image_launch *it = *state;
   const struct agx_image_desc desc = {
      .format = "r32ui", .type = AGX_IMAGE_2D, .width = 16, .height = 16};
   const struct agx_image_region all = {.width = 16, .height = 16, .depth = 1};
   const union agx_color color = {.uint32 = {5}};
   struct agx_image *a = image_make(it, desc), *b = image_make(it, desc);
   struct agx_semaphore *done = fixture_semaphore(&it->fixture);
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(&it->fixture, 2048, &words);
   words[256] = 9;
   const struct agx_texels one = {.ref = {buffer, 1024, 4}}, out = {.ref = {buffer, 0, 1024}};
   const struct agx_image_region corner = {.x = 3, .y = 2, .width = 1, .height = 1, .depth = 1};
   const struct agx_op_image images[] = {
      {.target = a, .color = &color},
      {.target = a, .target_region = &corner, .texels = &one},
      {.source = a, .target = b, .source_region = &all, .target_region = &all},
      {.source = b, .source_region = &all, .texels = &out},
   };
   static const uint32_t kinds[] = {AGX_OP_CLEAR_IMAGE, AGX_OP_COPY_TO_IMAGE, AGX_OP_COPY_IMAGE,
                                    AGX_OP_COPY_FROM_IMAGE};
   for (uint64_t i = 0; i < AGX_COUNT(kinds); i++) {
      const struct agx_point wait = {done, i}, signal = {done, i + 1};
      const struct agx_op op = {.size = sizeof(op),
                                .kind = kinds[i],
                                .waits = &wait,
                                .signals = &signal,
                                .wait_count = 1,
                                .signal_count = 1,
                                .u.image = images[i]};
      assert_ok(agx_submit(it->fixture.device, &op, 1, NULL));
   }
   assert_ok(fixture_wait(done, AGX_COUNT(kinds)));
   for (uint32_t i = 0; i < 256; i++)
      assert_int_equal(words[i], i == 2 * 16 + 3 ? 9 : 5);
   agx_release(buffer);
   agx_release(done);
   agx_release(a);
   agx_release(b);
}

/* ---- refusals ------------------------------------------------------------- */

static void what_does_not_fit_is_refused(void **state)
{
   struct image_launch *it = *state;
   const struct agx_image_desc small = {
      .format = "r32ui", .type = AGX_IMAGE_3D, .width = 16, .height = 8, .depth = 4, .levels = 2};
   const struct agx_image_desc wide = {
      .format = "rgba32f", .type = AGX_IMAGE_2D, .width = 16, .height = 8};
   const struct agx_image_desc fixed = {.format = "r32ui",
                                        .type = AGX_IMAGE_2D,
                                        .width = 16,
                                        .height = 8,
                                        .flags = AGX_IMAGE_GPU_READ_ONLY};
   struct agx_image *image = image_make(it, small), *other = image_make(it, wide);
   struct agx_image *frozen = image_make(it, fixed);
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(&it->fixture, 512, &words);
   struct agx_command_buffer *c = fixture_begin(&it->fixture);
   const union agx_color color = {.uint32 = {1}};
   const struct agx_image_region slice = {.width = 16, .height = 8, .depth = 1};
   const struct agx_image_region deep = {.level = 1, .width = 8, .height = 4, .depth = 3};
   const struct agx_image_region none = {.width = 16, .height = 8};
   const struct agx_image_region behind = {.x = 4, .width = 16, .height = 8, .depth = 1};
   const struct agx_image_region two = {.width = 16, .height = 8, .depth = 2};
   const struct agx_image_region sample = {.width = 1, .height = 1, .depth = 1, .sample = 1};
   const struct agx_texels all = {.ref = {buffer, 0, AGX_WHOLE_LENGTH}};
   const struct agx_texels odd = {.ref = {buffer, 2, AGX_WHOLE_LENGTH}};
   const struct agx_texels narrow = {.ref = {buffer, 0, AGX_WHOLE_LENGTH}, .row_texels = 15};
   const struct agx_texels gaps = {.ref = {buffer, 0, AGX_WHOLE_LENGTH}, .row_texels = 17};
   const struct agx_texels nothing = {.row_texels = 16};
   assert_fails(agx_cmd_clear_image(c, image, &deep, &color), AGX_OUT_OF_RANGE,
                "level 1 has 8 x 4 x 2");
   assert_fails(agx_cmd_clear_image(c, image, &none, &color), AGX_INVALID_ARGUMENT, "at least 1");
   assert_fails(agx_cmd_clear_image(c, image, &slice, NULL), AGX_INVALID_ARGUMENT, "NULL");
   assert_fails(agx_cmd_clear_image(c, NULL, &slice, &color), AGX_INVALID_ARGUMENT, "NULL");
   assert_fails(agx_cmd_clear_image(c, frozen, &slice, &color), AGX_INVALID_ARGUMENT, "read-only");
   assert_fails(agx_cmd_copy_image(c, image, &slice, other, &slice), AGX_INVALID_ARGUMENT,
                "the same");
   assert_fails(agx_cmd_copy_image(c, image, &slice, image, &slice), AGX_INVALID_ARGUMENT,
                "overlap");
   assert_fails(agx_cmd_copy_image(c, frozen, &slice, image, &behind), AGX_OUT_OF_RANGE,
                "at 4, 0, 0");
   assert_fails(agx_cmd_copy_image(c, frozen, NULL, image, &slice), AGX_INVALID_ARGUMENT, "NULL");
   assert_fails(agx_cmd_copy_to_image(c, &all, image, &two), AGX_OUT_OF_RANGE, "512 bytes");
   assert_fails(agx_cmd_copy_to_image(c, &gaps, image, &slice), AGX_OUT_OF_RANGE, "rows of 17");
   assert_fails(agx_cmd_copy_to_image(c, &narrow, image, &slice), AGX_INVALID_ARGUMENT,
                "row_texels");
   assert_fails(agx_cmd_copy_to_image(c, &nothing, image, &slice), AGX_INVALID_ARGUMENT, "NULL");
   assert_fails(agx_cmd_copy_from_image(c, image, &sample, &all), AGX_OUT_OF_RANGE, "sample 1");
   assert_fails(
      agx_cmd_copy_from_image(c, image, &(struct agx_image_region){0, 0, 0, 0, 1, 1, 1, 0}, &odd),
      AGX_INVALID_ARGUMENT, "no multiple");
   assert_fails(agx_command_buffer_end(c), AGX_OUT_OF_RANGE, "level 1");
   assert_ok(agx_command_buffer_begin(c));
   assert_ok(agx_cmd_copy_from_image(c, image, &slice, &all)); /* all 512 bytes */
   agx_release(c);
   agx_release(buffer);
   agx_release(frozen);
   agx_release(other);
   agx_release(image);
}

AGX_TEST_FILE(void)
{
#define CASE(test)                                                                                 \
   cmocka_unit_test_setup_teardown(test, image_launch_open_bounds, image_launch_close)
   const struct CMUnitTest tests[] = {
      CASE(buffers_and_images_agree_with_the_host),
      CASE(samples_are_copied_one_by_one),
      CASE(images_are_copied_whatever_their_layout),
      CASE(clears_store_the_color_and_nothing_else),
      CASE(all_levels_are_cleared_by_one_command),
      CASE(barriers_order_them_and_tables_name_their_buffers),
      CASE(queue_operations_do_the_same),
      CASE(what_does_not_fit_is_refused),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
