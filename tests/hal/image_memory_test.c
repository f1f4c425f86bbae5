/* SPDX-License-Identifier: MIT
 *
 * Images in the memory of buffers: what they hold is there and nowhere else, also where two images
 * share it.
 */
#include "image_launch.h"

#include <string.h>

#include "base/util.h"

#define BEFORE_B (2u * 16384u)
#define AFTER_B  4096u
#define GUARD    0x5a

static const struct agx_image_desc shapes[] = {
   {.type = AGX_IMAGE_2D, .format = "r32ui", .width = 100, .height = 60, .levels = 4},
   {.type = AGX_IMAGE_2D, .format = "r32ui", .width = 33, .height = 9, .flags = AGX_IMAGE_LINEAR},
   {.type = AGX_IMAGE_3D, .format = "rgba8", .width = 20, .height = 20, .depth = 9},
   {.type = AGX_IMAGE_CUBE, .format = "r16f", .width = 16, .height = 16},
   {.type = AGX_IMAGE_2D, .format = "r32f", .width = 40, .height = 40, .samples = 4},
};

static struct agx_image_region level_0(const struct agx_image_desc *desc)
{
   const uint32_t depth = desc->type == AGX_IMAGE_CUBE ? 6 : AGX_MAX(desc->depth, 1u);
   return (struct agx_image_region){.width = desc->width, .height = desc->height, .depth = depth};
}

static struct agx_image_info requirements(struct image_launch *it,
                                          const struct agx_image_desc *desc)
{
   struct agx_image_info info = {.size = sizeof(info)};
   struct agx_image_desc sized = *desc;
   sized.size = sizeof(sized);
   assert_ok(agx_image_get_requirements(it->fixture.device, &sized, &info));
   return info;
}

/* A buffer with room for the image behind BEFORE_B guarded bytes. */
static uint8_t *make_memory(struct image_launch *it, const struct agx_image_info *info,
                            struct agx_buffer **out_buffer)
{
   void *memory;
   const struct agx_buffer_desc desc = {.size = sizeof(desc),
                                        .size_B = BEFORE_B + info->size_B + AFTER_B};
   assert_ok(agx_buffer_create(it->fixture.device, &desc, out_buffer));
   assert_ok(agx_buffer_map(*out_buffer, &memory));
   memset(memory, GUARD, desc.size_B);
   return memory;
}

static struct agx_image *place(struct image_launch *it, struct agx_image_desc desc,
                               struct agx_buffer *memory)
{
   desc.memory = memory;
   desc.offset_B = BEFORE_B;
   return image_make(it, desc);
}

static void submit(struct image_launch *it, struct agx_command_buffer *commands)
{
   struct agx_semaphore *done = fixture_semaphore(&it->fixture);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&it->fixture, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   agx_release(done);
   agx_release(commands);
}

/* ---- tests -------------------------------------------------------------- */

static void texels_lie_in_the_buffer_and_nowhere_else(void **state)
{
   struct image_launch *it = *state;
   static uint32_t texels[100 * 60], got[100 * 60];
   for (uint32_t i = 0; i < AGX_COUNT(texels); i++)
      texels[i] = i * 2654435761u;
   for (uint32_t s = 0; s < AGX_COUNT(shapes); s++) {
      const struct agx_image_info info = requirements(it, &shapes[s]);
      struct agx_buffer *memory, *source;
      uint32_t *words;
      const uint8_t *bytes = make_memory(it, &info, &memory);
      struct agx_image *image = place(it, shapes[s], memory);
      struct agx_image *alias = place(it, shapes[s], memory);
      source = fixture_buffer(&it->fixture, sizeof(texels), &words);
      memcpy(words, texels, sizeof(texels));
      const struct agx_image_region all = level_0(&shapes[s]);
      const struct agx_texels from = {.ref = {source, 0, AGX_WHOLE_LENGTH, 0, 0}};
      struct agx_command_buffer *commands = fixture_begin(&it->fixture);
      assert_ok(agx_cmd_copy_to_image(commands, &from, image, &all));
      agx_release(memory); /* the image keeps it */
      submit(it, commands);
      assert_ok(agx_image_read(alias, &all, got, 0, 0));
      assert_memory_equal(got, texels, (size_t)all.width * all.height * all.depth * info.texel_B);
      for (uint32_t y = 0; info.is_linear && y < all.height; y++)
         assert_memory_equal(bytes + BEFORE_B + y * info.row_B, &texels[y * all.width],
                             (size_t)all.width * info.texel_B);
      for (uint32_t i = 0; i < BEFORE_B; i++)
         assert_int_equal(bytes[i], GUARD);
      for (uint32_t i = 0; i < AFTER_B; i++)
         assert_int_equal(bytes[BEFORE_B + info.size_B + i], GUARD);
      agx_release(image);
      agx_release(alias);
      agx_release(source);
   }
}

static void requirements_are_those_of_the_image(void **state)
{
   struct image_launch *it = *state;
   for (uint32_t s = 0; s < AGX_COUNT(shapes); s++) {
      const struct agx_image_info info = requirements(it, &shapes[s]);
      struct agx_image *image = image_make(it, shapes[s]);
      struct agx_image_info of_image = {.size = sizeof(of_image)};
      agx_image_get_info(image, &of_image);
      assert_memory_equal(&info, &of_image, sizeof(info));
      assert_true(info.align_B >= 128 && info.size_B > 0);
      agx_release(image);
   }
}

static void memory_that_does_not_fit_is_refused(void **state)
{
   struct image_launch *it = *state;
   struct agx_device *device = it->fixture.device;
   struct agx_image_desc desc = shapes[0];
   const struct agx_image_info info = requirements(it, &desc);
   struct agx_buffer *memory, *frozen, *reserved;
   struct agx_image *image;
   const struct agx_buffer_desc exact = {.size = sizeof(exact), .size_B = info.size_B};
   const struct agx_buffer_desc only_read = {
      .size = sizeof(only_read), .size_B = info.size_B, .flags = AGX_BUFFER_GPU_READ_ONLY};
   assert_ok(agx_buffer_create(device, &exact, &memory));
   assert_ok(agx_buffer_create(device, &only_read, &frozen));
   assert_ok(agx_vmem_reserve(device, &exact, &reserved));
   desc.size = sizeof(desc);
   desc.memory = memory;
   assert_ok(agx_image_create(device, &desc, &image));
   agx_release(image);
   desc.offset_B = 4;
   assert_fails(agx_image_create(device, &desc, &image), AGX_INVALID_ARGUMENT, "offset_B 4");
   desc.offset_B = 16384;
   assert_fails(agx_image_create(device, &desc, &image), AGX_OUT_OF_RANGE, "bytes at offset_B");
   desc.offset_B = UINT64_MAX - 16383;
   assert_fails(agx_image_create(device, &desc, &image), AGX_OUT_OF_RANGE, "bytes at offset_B");
   desc.offset_B = 0;
   desc.memory = frozen;
   assert_fails(agx_image_create(device, &desc, &image), AGX_PERMISSION_DENIED, "READ_ONLY");
   desc.flags = AGX_IMAGE_GPU_READ_ONLY;
   assert_ok(agx_image_create(device, &desc, &image));
   agx_release(image);
   desc.memory = reserved;
   assert_fails(agx_image_create(device, &desc, &image), AGX_INVALID_ARGUMENT, "comes and goes");
   agx_release(memory);
   agx_release(frozen);
   agx_release(reserved);
}

/* Vulkan wants these of them: the specification's table of mandatory formats. */
static void formats_tell_what_they_are_for(void **state)
{
   static const struct {
      const char *name;
      uint32_t texel_B;
      bool is_integer, is_storable, has_atomics, is_srgb;
   } formats[] = {
      {"R8G8B8A8_UNORM", 4, false, true, false, false},
      {"R8G8B8A8_SRGB", 4, false, true, false, true},
      {"R32_UINT", 4, true, true, true, false},
      {"r32i", 4, true, true, true, false},
      {"R32G32B32A32_SFLOAT", 16, false, true, false, false},
      {"E5B9G9R9_UFLOAT_PACK32", 4, false, true, false, false},
   };
   struct agx_format_info info = {.size = sizeof(info)};
   for (uint32_t i = 0; i < AGX_COUNT(formats); i++) {
      assert_ok(agx_format_get_info(formats[i].name, &info));
      assert_int_equal(info.texel_B, formats[i].texel_B);
      assert_int_equal(info.is_integer, formats[i].is_integer);
      assert_int_equal(info.is_filterable, !formats[i].is_integer);
      assert_int_equal(info.is_storable, formats[i].is_storable);
      assert_int_equal(info.has_atomics, formats[i].has_atomics);
      assert_int_equal(info.is_srgb, formats[i].is_srgb);
   }
   assert_fails(agx_format_get_info("R7_UNORM", &info), AGX_UNIMPLEMENTED, "R7_UNORM");
   assert_fails(agx_format_get_info(NULL, &info), AGX_UNIMPLEMENTED, "NULL");
}

AGX_TEST_FILE(void)
{
#define CASE(test)                                                                                 \
   cmocka_unit_test_setup_teardown(test, image_launch_open_bounds, image_launch_close)
   const struct CMUnitTest tests[] = {
      CASE(texels_lie_in_the_buffer_and_nowhere_else),
      CASE(requirements_are_those_of_the_image),
      CASE(memory_that_does_not_fit_is_refused),
      CASE(formats_tell_what_they_are_for),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
