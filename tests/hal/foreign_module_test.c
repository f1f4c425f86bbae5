/* SPDX-License-Identifier: MIT
 *
 * Modules that are right but that glslang does not write, as other compilers emit them, through all
 * layers against plain C: tests/kernels/foreign/NAME.spvasm. Each gets 64 words in binding 0 and
 * writes 64 to binding 1, by two workgroups of 32 threads.
 */
#include "image_launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define GROUP   32u
#define THREADS (2 * GROUP)

static uint32_t shared_stride(const uint32_t *x, uint32_t i)
{
   uint32_t mirror = GROUP - 1 - i % GROUP;
   return x[i / GROUP * GROUP + mirror] + 1000 * mirror;
}

static uint32_t annotations(const uint32_t *x, uint32_t i)
{
   return x[i] + 7;
}

static uint32_t matrix_pointers(const uint32_t *x, uint32_t i)
{
   return i % 4 + (i % 2 ? 100 : 0);
}

static uint32_t copied_handles(const uint32_t *x, uint32_t i)
{
   return 3 * i + x[i];
}

static uint32_t stages(const uint32_t *x, uint32_t i)
{
   return 3 * x[i];
}

static uint32_t join_in_loop(uint32_t sum)
{
   for (uint32_t i = 0; i <= 8; i++, sum++) {
      if (sum % 2 && sum > 1000)
         break;
      if (sum % 2 && sum % 3 == 0)
         continue;
      sum += sum % 2 ? 100 : 3;
   }
   return sum;
}

static uint32_t joins(const uint32_t *all, uint32_t i)
{
   uint32_t x = all[i], left = x + 1000, arms = x == 1 ? 100 : x == 3 ? 1000 : 20;
   if (x & 2)
      left = x & 4 ? 3 : x & 8 ? 20 : x + 100;
   if (x & 4)
      arms = x & 1 ? 8 : 16;
   arms += x + (x & 1 ? 10000 : 0);
   return 27 * (x + (x & 1 ? 100 : 1000)) + 9 * left + 3 * arms + join_in_loop(x);
}

static uint32_t far_pointers(const uint32_t *x, uint32_t i)
{
   int64_t twice = 2 * (int64_t)x[i] - 100, words = twice * 10000000, thirds = twice * 3000000;
   uint32_t sum = 3 * (3 * (uint32_t)words + (uint32_t)thirds) + (uint32_t)(words >> 20);
   return 3 * sum + (uint32_t)(thirds >> 20);
}

static const struct foreign {
   const char *name;
   uint32_t (*expected)(const uint32_t *x, uint32_t i);
   bool has_texture, has_both; /* both: with a sampler in one binding */
} modules[] = {
   {"shared_stride", shared_stride},
   {"annotations", annotations},
   {"nested", annotations},
   {"matrix_pointers", matrix_pointers},
   {"copied_handles", copied_handles, true},
   {"one_binding", copied_handles, true, true},
   {"stages", stages},
   {"joins", joins},
   {"unsized_buffers", annotations},
   {"far_pointers", far_pointers},
   {"large_zeros", annotations},
};

static float three_times_x(int x, int y, int z, int level, int sample)
{
   return (float)(3 * x);
}

/* Texels of 3 * x and a sampler: in bindings 2 and 3, or both in each of bindings 2 and 4. */
static void bind_texture(struct image_launch *it, bool is_both)
{
   struct agx_image *image =
      image_make(it, (struct agx_image_desc){
                        .type = AGX_IMAGE_2D, .format = "r32f", .width = THREADS, .height = 1});
   image_fill(image, three_times_x);
   struct agx_sampler *sampler = it->nearest;
   image_bind(
      it, (struct agx_binding){.binding = 2, .image = image, .sampler = is_both ? sampler : NULL});
   if (!is_both) {
      image_bind(it, (struct agx_binding){.binding = 3, .sampler = sampler});
      return;
   }
   agx_retain(image); /* each binding is dropped with a reference of its own */
   image_bind(it, (struct agx_binding){.binding = 4, .image = image, .sampler = sampler});
}

static void check(struct image_launch *it, const struct foreign *module)
{
   char path[96];
   uint32_t *x = image_bind_buffer(it, 0, 4 * THREADS), *y = image_bind_buffer(it, 1, 4 * THREADS);
   for (uint32_t i = 0; i < THREADS; i++)
      x[i] = i * 37 % 101;
   snprintf(path, sizeof(path), "kernels/foreign/%s.spv", module->name);
   if (module->has_texture)
      bind_texture(it, module->has_both);
   image_run_groups(it, path, THREADS / GROUP);
   for (uint32_t i = 0; i < THREADS; i++)
      if (y[i] != module->expected(x, i))
         fail_msg("%s: thread %u wrote %u, not %u", module->name, i, y[i], module->expected(x, i));
   image_drop_bindings(it);
}

static void foreign_modules_compute(void **state)
{
   for (size_t i = 0; i < AGX_COUNT(modules); i++)
      check(*state, &modules[i]);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(foreign_modules_compute, image_launch_open,
                                      image_launch_close),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
