/* SPDX-License-Identifier: MIT
 *
 * See image_launch.h.
 */
#include "image_launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static int open_with(void **state, const char *debug)
{
   static struct image_launch it;
   it = (struct image_launch){0};
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   setenv("AGX_DEBUG", debug, 1);
   fixture_open(&it.fixture, "virtual");
   const struct agx_sampler_desc desc = {.size = sizeof(desc),
                                         .wrap = {AGX_WRAP_EDGE, AGX_WRAP_EDGE, AGX_WRAP_EDGE}};
   assert_ok(agx_sampler_create(it.fixture.device, &desc, &it.nearest));
   *state = &it;
   return 0;
}

int image_launch_open(void **state)
{
   return open_with(state, "validate");
}

int image_launch_open_bounds(void **state)
{
   return open_with(state, "validate,bounds");
}

void image_drop_bindings(struct image_launch *it)
{
   for (uint32_t i = 0; i < it->count; i++) {
      agx_release(it->bindings[i].ref.buffer);
      agx_release(it->bindings[i].image);
      if (it->bindings[i].sampler != it->nearest)
         agx_release(it->bindings[i].sampler);
   }
   it->count = 0;
}

int image_launch_open_noopt(void **state)
{
   return open_with(state, "validate,bounds,noopt");
}

int image_launch_close(void **state)
{
   struct image_launch *it = *state;
   image_drop_bindings(it);
   agx_release(it->nearest);
   fixture_close(&it->fixture);
   unsetenv("AGX_VIRTUAL_STRICT");
   unsetenv("AGX_VIRTUAL_CHECK");
   unsetenv("AGX_DEBUG");
   return 0;
}

struct agx_image *image_make(struct image_launch *it, struct agx_image_desc desc)
{
   struct agx_image *image = NULL;
   desc.size = sizeof(desc);
   desc.flags |= AGX_IMAGE_HOST_READ;
   assert_ok(agx_image_create(it->fixture.device, &desc, &image));
   return image;
}

struct agx_binding *image_bind(struct image_launch *it, struct agx_binding binding)
{
   assert_true(it->count < IMAGE_MAX_BOUND);
   it->bindings[it->count] = binding;
   return &it->bindings[it->count++];
}

void *image_bind_buffer(struct image_launch *it, uint32_t binding, uint64_t size)
{
   uint32_t *memory;
   struct agx_buffer *buffer = fixture_buffer(&it->fixture, size, &memory);
   image_bind(it, (struct agx_binding){.binding = binding, .ref = {buffer, 0, AGX_WHOLE_LENGTH}});
   return memory;
}

agx_status image_record(struct image_launch *it, const char *kernel, uint32_t workgroups,
                        bool submit)
{
   struct agx_executable_desc desc = {.size = sizeof(desc), .robustness = it->robustness};
   struct agx_executable *executable;
   char *path = agx_test_path(kernel);
   char *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(it->fixture.device, &desc, &executable));
   free(spirv);
   free(path);
   const struct agx_dispatch dispatch = {
      .size = sizeof(dispatch),
      .executable = executable,
      .workgroups = {workgroups, 1, 1},
      .bindings = it->bindings,
      .binding_count = it->count,
   };
   struct agx_command_buffer *commands = fixture_begin(&it->fixture);
   agx_status status = agx_cmd_dispatch(commands, &dispatch);
   if (submit && status == AGX_OK) {
      struct agx_semaphore *done = fixture_semaphore(&it->fixture);
      assert_ok(agx_command_buffer_end(commands));
      assert_ok(fixture_submit(&it->fixture, commands, NO_POINT, (struct agx_point){done, 1}));
      assert_ok(fixture_wait(done, 1));
      agx_release(done);
   }
   agx_release(commands);
   agx_release(executable);
   return status;
}

void image_run_groups(struct image_launch *it, const char *kernel, uint32_t workgroups)
{
   assert_ok(image_record(it, kernel, workgroups, true));
}

void image_run(struct image_launch *it, const char *kernel)
{
   image_run_groups(it, kernel, IMAGE_REQUESTS / 32);
}

uint32_t image_random(uint32_t *random)
{
   *random = *random * 1664525u + 1013904223u;
   return *random >> 8;
}

float image_float(uint32_t bits)
{
   float value;
   memcpy(&value, &bits, sizeof(value));
   return value;
}

void image_fill(struct agx_image *image, image_texel *texel)
{
   struct agx_image_info info = {.size = sizeof(info)};
   agx_image_get_info(image, &info);
   for (uint32_t level = 0; level < info.levels; level++)
      for (uint32_t sample = 0; sample < info.samples; sample++) {
         uint32_t width = AGX_MAX(info.width >> level, 1u), depth = info.depth;
         uint32_t height = AGX_MAX(info.height >> level, 1u);
         if (info.type == AGX_IMAGE_3D)
            depth = AGX_MAX(depth >> level, 1u);
         for (uint32_t z = 0; z < depth; z++)
            for (uint32_t y = 0; y < height; y++) {
               float row[128];
               for (uint32_t x = 0; x < width; x++)
                  row[x] = texel((int)x, (int)y, (int)z, (int)level, (int)sample);
               const struct agx_image_region region = {.level = level,
                                                       .y = y,
                                                       .z = z,
                                                       .width = width,
                                                       .height = 1,
                                                       .depth = 1,
                                                       .sample = sample};
               assert_ok(agx_image_write(image, &region, row, 0, 0));
            }
      }
}

float image_number(int x, int y, int z, int level, int sample)
{
   return (float)(1 + x + 64 * y + 4096 * z + 65536 * level + 1048576 * sample);
}
