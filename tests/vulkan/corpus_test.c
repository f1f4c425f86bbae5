/* SPDX-License-Identifier: MIT
 *
 * The kernels of the corpus through the Vulkan loader and our driver: their outputs are those that
 * the corpus has for them.
 */
#include "vulkan/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "manifest.h"
#include "vkbench.h"

static void check_output(const char *name, const struct agx_manifest *manifest,
                         const struct vkbench_kernel *kernel, uint32_t index)
{
   char file[128], text[128] = "";
   size_t size;
   snprintf(file, sizeof(file), "corpus/ref/%s.%u.bin", name, manifest->resources[index].id);
   char *path = agx_test_path(file);
   char *expected = agx_test_read_file(path, &size);
   if (!agx_manifest_compare(manifest, vkbench_kernel_memory(kernel, index), expected, size, text,
                             sizeof(text)))
      fail_msg("%s: output %u: %s", name, manifest->resources[index].id, text);
   free(expected);
   free(path);
}

static void check_kernel(struct vkbench_device *device, const char *name)
{
   static struct agx_manifest manifest;
   char file[128];
   size_t size;
   uint64_t ns;
   struct vkbench_kernel *kernel;
   snprintf(file, sizeof(file), "corpus/%s.txt", name);
   char *path = agx_test_path(file);
   assert_int_equal(agx_manifest_load(path, &manifest), AGX_OK);
   free(path);
   snprintf(file, sizeof(file), "corpus/%s.spv", name);
   uint32_t *spirv = vk_read_spirv(file, &size);
   if (vkbench_kernel_create(device, spirv, size, &manifest, &kernel) != AGX_OK ||
       vkbench_kernel_record(kernel, manifest.workgroups, 1) != AGX_OK ||
       vkbench_kernel_execute(kernel, &ns) != AGX_OK ||
       vkbench_kernel_read_images(kernel) != AGX_OK)
      fail_msg("%s: %s", name, agx_error_peek());
   for (uint32_t i = 0; i < manifest.resource_count; i++)
      if (manifest.resources[i].is_output)
         check_output(name, &manifest, kernel, i);
   vkbench_kernel_destroy(kernel);
   free(spirv);
}

static void the_corpus_runs_through_the_loader(void **state)
{
   struct vkbench_device *device;
   char *path = agx_test_path("corpus/tiers.tsv"), *saved = NULL;
   size_t size;
   uint32_t count = 0;
   char *text = agx_test_read_file(path, &size);
   free(path);
   assert_int_equal(vkbench_device_open("agxhal", &device), AGX_OK);
   for (char *line = strtok_r(text, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
      char name[64];
      if (sscanf(line, "%*u %63s", name) != 1)
         continue;
      check_kernel(device, name);
      count++;
   }
   assert_true(count > 50);
   vkbench_device_close(device);
   free(text);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_corpus_runs_through_the_loader),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
