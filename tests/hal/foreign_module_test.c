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

static const struct foreign {
   const char *name;
   uint32_t (*expected)(const uint32_t *x, uint32_t i);
} modules[] = {
   {"shared_stride", shared_stride},
};

static void check(struct image_launch *it, const struct foreign *module)
{
   char path[96];
   uint32_t *x = image_bind_buffer(it, 0, 4 * THREADS), *y = image_bind_buffer(it, 1, 4 * THREADS);
   for (uint32_t i = 0; i < THREADS; i++)
      x[i] = i * 37 % 101;
   snprintf(path, sizeof(path), "kernels/foreign/%s.spv", module->name);
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
