/* SPDX-License-Identifier: MIT
 *
 * What became of a pipeline: statistics and texts of its code, and of the variant without checks
 * that the HAL runs where a dispatch's numbers allow it.
 */
#include <stdio.h>
#include <string.h>

#include "vulkan/device.h"
#include "vulkan/pipeline.h"

static const struct {
   const char *name, *description;
} variants[] = {
   [AGX_VARIANT_CHECKED] = {"compute", "The kernel, with the checks that its robustness asks for"},
   [AGX_VARIANT_UNCHECKED] = {"compute, unchecked",
                              "The kernel without checks, for dispatches whose numbers say that "
                              "all accesses are inside"},
};

static uint32_t variant_count(const struct agxvk_pipeline *pipeline)
{
   uint32_t statistics = 0;
   return agx_executable_get_statistics(pipeline->executable, 0, AGX_VARIANT_UNCHECKED, &statistics,
                                        NULL) == AGX_OK
             ? 2
             : 1;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_GetPipelineExecutablePropertiesKHR(
   VkDevice device, const VkPipelineInfoKHR *pPipelineInfo, uint32_t *pCount,
   VkPipelineExecutablePropertiesKHR *pProperties)
{
   VkResult result;
   const uint32_t count = agxvk_outarray(variant_count(agxvk_pipeline_of(pPipelineInfo->pipeline)),
                                         pProperties, pCount, &result);
   for (uint32_t i = 0; i < count; i++) {
      VkPipelineExecutablePropertiesKHR *out = &pProperties[i];
      out->stages = VK_SHADER_STAGE_COMPUTE_BIT;
      snprintf(out->name, sizeof(out->name), "%s", variants[i].name);
      snprintf(out->description, sizeof(out->description), "%s", variants[i].description);
      out->subgroupSize = agxvk_device_of(device)->physical->info.simd_lanes;
   }
   return result;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_GetPipelineExecutableStatisticsKHR(
   VkDevice device, const VkPipelineExecutableInfoKHR *pInfo, uint32_t *pCount,
   VkPipelineExecutableStatisticKHR *pStatistics)
{
   struct agx_executable *executable = agxvk_pipeline_of(pInfo->pipeline)->executable;
   struct agx_statistic statistics[64];
   uint32_t count = AGXVK_COUNT(statistics);
   VkResult result;
   agx_status status =
      agx_executable_get_statistics(executable, 0, pInfo->executableIndex, &count, statistics);
   if (status != AGX_OK)
      return agxvk_result(agxvk_device_of(device), status);
   count = agxvk_outarray(AGXVK_MIN(count, AGXVK_COUNT(statistics)), pStatistics, pCount, &result);
   for (uint32_t i = 0; i < count; i++) {
      VkPipelineExecutableStatisticKHR *out = &pStatistics[i];
      snprintf(out->name, sizeof(out->name), "%s", statistics[i].name);
      snprintf(out->description, sizeof(out->description), "%s", statistics[i].description);
      out->format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR;
      out->value.u64 = statistics[i].value;
   }
   return result;
}

static const struct {
   uint32_t text; /* enum agx_executable_text */
   const char *name, *description;
} texts[] = {
   {AGX_TEXT_IR, "IR", "As the module says it"},
   {AGX_TEXT_IR_OPTIMIZED, "optimized IR", "Before machine instructions are selected"},
   {AGX_TEXT_IR_REGISTERS, "machine IR", "Machine instructions with their registers"},
   {AGX_TEXT_ASSEMBLY, "assembly", "The machine code, the preamble behind it"},
};

static VkResult write_text(struct agx_executable *executable, uint32_t variant, uint32_t index,
                           size_t text_B, VkPipelineExecutableInternalRepresentationKHR *out)
{
   snprintf(out->name, sizeof(out->name), "%s", texts[index].name);
   snprintf(out->description, sizeof(out->description), "%s", texts[index].description);
   out->isText = VK_TRUE;
   if (!out->pData) {
      out->dataSize = text_B;
      return VK_SUCCESS;
   }
   const bool is_whole = out->dataSize >= text_B;
   size_t room = out->dataSize;
   if (agx_executable_get_text(executable, 0, variant, texts[index].text, &room, out->pData) !=
       AGX_OK)
      return VK_ERROR_UNKNOWN;
   out->dataSize = AGXVK_MIN(out->dataSize, text_B);
   return is_whole ? VK_SUCCESS : VK_INCOMPLETE;
}

/* The texts of IR are there where the pipeline was made to capture them. */
VKAPI_ATTR VkResult VKAPI_CALL agxvk_GetPipelineExecutableInternalRepresentationsKHR(
   VkDevice device, const VkPipelineExecutableInfoKHR *pInfo, uint32_t *pCount,
   VkPipelineExecutableInternalRepresentationKHR *pOut)
{
   struct agx_executable *executable = agxvk_pipeline_of(pInfo->pipeline)->executable;
   size_t sizes[AGXVK_COUNT(texts)];
   uint32_t kept[AGXVK_COUNT(texts)], count = 0;
   VkResult result;
   for (uint32_t i = 0; i < AGXVK_COUNT(texts); i++) {
      sizes[i] = 0;
      if (agx_executable_get_text(executable, 0, pInfo->executableIndex, texts[i].text, &sizes[i],
                                  NULL) == AGX_OK)
         kept[count++] = i;
   }
   count = agxvk_outarray(count, pOut, pCount, &result);
   for (uint32_t i = 0; i < count; i++) {
      VkResult written =
         write_text(executable, pInfo->executableIndex, kept[i], sizes[kept[i]], &pOut[i]);
      result = written == VK_SUCCESS ? result : written;
   }
   return result;
}
