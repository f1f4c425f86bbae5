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

/* ---- queries ------------------------------------------------------------ */

/* There is no feature for them, so a device without graphics makes them as well. */
static void pools_of_occlusion_queries_can_be_made(void **state)
{
   struct vk *vk = *state;
   const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                       .queryType = VK_QUERY_TYPE_OCCLUSION,
                                       .queryCount = 4};
   uint64_t results[4][2];
   VkQueryPool pool;
   assert_vk(vkCreateQueryPool(vk->device, &info, NULL, &pool));
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   vkCmdResetQueryPool(commands, pool, 0, 4);
   vk_run(vk, commands);
   const VkQueryResultFlags flags = VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT;
   assert_int_equal(vkGetQueryPoolResults(vk->device, pool, 0, 4, sizeof(results), results,
                                          sizeof(results[0]), flags),
                    VK_NOT_READY);
   for (uint32_t i = 0; i < 4; i++)
      assert_int_equal(results[i][1], 0);
   vkDestroyQueryPool(vk->device, pool, NULL);
}

AGX_TEST_FILE(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, vk_open, vk_close)
   const struct CMUnitTest tests[] = {
      CASE(limits_are_what_the_table_asks),
      CASE(pools_of_occlusion_queries_can_be_made),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
