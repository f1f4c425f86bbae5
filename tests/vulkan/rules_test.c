/* SPDX-License-Identifier: MIT
 *
 * Rules of the specification that a program seldom meets: required limits, and what commands do at
 * the edges of what they may be given.
 */
#include "vulkan/harness.h"

#include <string.h>

/* ---- limits ------------------------------------------------------------- */

/* The table of required limits, for devices without optional stages. */
static void limits_are_what_the_table_asks(void **state)
{
   struct vk *vk = *state;
   const VkPhysicalDeviceLimits *limits = &vk->properties.limits;
   const VkSampleCountFlags counts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT;
   assert_true(limits->maxPerStageDescriptorInputAttachments >= 4);
   assert_true(limits->maxDescriptorSetInputAttachments >= 4);
   assert_true(limits->maxDescriptorSetSamplers >= 96);
   assert_true(limits->maxDescriptorSetUniformBuffers >= 72);
   assert_true(limits->maxDescriptorSetStorageBuffers >= 24);
   assert_true(limits->maxDescriptorSetSampledImages >= 96);
   assert_true(limits->maxDescriptorSetStorageImages >= 24);
   assert_true(
      limits->maxPerStageResources >=
      limits->maxPerStageDescriptorUniformBuffers + limits->maxPerStageDescriptorStorageBuffers +
         limits->maxPerStageDescriptorSampledImages + limits->maxPerStageDescriptorStorageImages +
         limits->maxPerStageDescriptorInputAttachments + limits->maxColorAttachments);
   assert_int_equal(limits->sampledImageDepthSampleCounts & counts, counts);
   assert_int_equal(limits->sampledImageStencilSampleCounts & counts, counts);
}

AGX_TEST_FILE(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, vk_open, vk_close)
   const struct CMUnitTest tests[] = {
      CASE(limits_are_what_the_table_asks),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
