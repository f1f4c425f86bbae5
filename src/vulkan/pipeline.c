/* SPDX-License-Identifier: MIT
 *
 * Shader modules, and the compute pipelines that the HAL's compiler makes of them.
 */
#include "vulkan/pipeline.h"

#include <string.h>
#include <time.h>

/* ---- modules ------------------------------------------------------------ */

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateShaderModule(VkDevice device,
                                                        const VkShaderModuleCreateInfo *pCreateInfo,
                                                        const VkAllocationCallbacks *pAllocator,
                                                        VkShaderModule *pShaderModule)
{
   struct agxvk_shader_module *module;
   module =
      agxvk_object_create(agxvk_device_of(device), pAllocator,
                          sizeof(*module) + pCreateInfo->codeSize, VK_OBJECT_TYPE_SHADER_MODULE);
   if (!module)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   module->size_B = pCreateInfo->codeSize;
   memcpy(module->words, pCreateInfo->pCode, pCreateInfo->codeSize);
   *pShaderModule = agxvk_shader_module_handle(module);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyShaderModule(VkDevice device, VkShaderModule module,
                                                     const VkAllocationCallbacks *pAllocator)
{
   agxvk_object_destroy(agxvk_device_of(device), pAllocator, agxvk_shader_module_of(module));
}

/* ---- specialization ----------------------------------------------------- */

#define SPIRV_HEADER_WORDS 5u
#define SPIRV_OP_DECORATE  71u
#define SPIRV_OP_FUNCTION  54u
#define SPIRV_SPEC_ID      1u

/* Whether the module has a constant of that id: an application may give others, which the HAL
 * refuses. */
static bool declares(const uint32_t *words, size_t count, uint32_t id)
{
   size_t at = SPIRV_HEADER_WORDS;
   while (at < count) {
      const uint32_t length = words[at] >> 16, opcode = words[at] & 0xffff;
      if (!length || length > count - at || opcode == SPIRV_OP_FUNCTION)
         return false;
      if (opcode == SPIRV_OP_DECORATE && length == 4 && words[at + 2] == SPIRV_SPEC_ID &&
          words[at + 3] == id)
         return true;
      at += length;
   }
   return false;
}

/* Gives the entries that the module declares; out has room for all. */
static uint32_t specialize(const VkSpecializationInfo *info, const uint32_t *words, size_t size_B,
                           struct agx_specialization *out)
{
   uint32_t count = 0;
   for (uint32_t i = 0; info && i < info->mapEntryCount; i++) {
      const VkSpecializationMapEntry *entry = &info->pMapEntries[i];
      if (!declares(words, size_B / 4, entry->constantID))
         continue;
      out[count] = (struct agx_specialization){entry->constantID, (uint32_t)entry->size, 0};
      memcpy(&out[count].value, (const uint8_t *)info->pData + entry->offset,
             AGXVK_MIN(entry->size, sizeof(out[count].value)));
      count++;
   }
   return count;
}

/* ---- robustness --------------------------------------------------------- */

static uint32_t mode_of(VkPipelineRobustnessBufferBehaviorEXT behavior, uint32_t otherwise)
{
   switch (behavior) {
   case VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DISABLED_EXT:
      return AGX_ROBUST_OFF;
   case VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_ROBUST_BUFFER_ACCESS_EXT:
      return AGX_ROBUST_CLAMP;
   case VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_ROBUST_BUFFER_ACCESS_2_EXT:
      return AGX_ROBUST_ZERO;
   default:
      return otherwise;
   }
}

/* The stricter one of what is asked for buffers of either kind; what a pipeline does not say, the
 * device's features do. A null descriptor is a buffer without bytes. */
static uint32_t robustness(const struct agxvk_device *device, const void *pipeline,
                           const void *stage)
{
   const struct agxvk_features *features = &device->features;
   const VkPipelineRobustnessCreateInfoEXT *info =
      agxvk_find(stage, VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT);
   uint32_t mode = features->robustBufferAccess2  ? AGX_ROBUST_ZERO
                   : features->robustBufferAccess ? AGX_ROBUST_CLAMP
                                                  : AGX_ROBUST_OFF;
   if (!info)
      info = agxvk_find(pipeline, VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT);
   if (info)
      mode = AGXVK_MAX(mode_of(info->storageBuffers, mode), mode_of(info->uniformBuffers, mode));
   return features->nullDescriptor ? AGXVK_MAX(mode, (uint32_t)AGX_ROBUST_ZERO) : mode;
}

/* ---- what a dispatch gives ---------------------------------------------- */

static bool is_buffer(uint32_t type)
{
   return type == AGX_BINDING_STORAGE || type == AGX_BINDING_UNIFORM;
}

/* How many descriptors a binding of the executable takes from the layout's. */
static uint32_t elements_of(const struct agx_binding_info *info,
                            const struct agxvk_set_binding *binding)
{
   if (!info->elements)
      return 1;
   return AGXVK_MIN(info->elements, binding->count);
}

static const struct agxvk_set_binding *find_binding(const struct agxvk_pipeline_layout *layout,
                                                    const struct agx_binding_info *info)
{
   if (info->set >= layout->set_count || !layout->sets[info->set])
      return NULL;
   return agxvk_set_layout_find(layout->sets[info->set], info->binding);
}

static void add_needs(struct agxvk_pipeline *pipeline, const struct agx_binding_info *info,
                      const struct agxvk_set_binding *binding)
{
   const uint32_t count = elements_of(info, binding);
   for (uint32_t e = 0; e < count; e++) {
      const uint32_t element = info->element + e;
      pipeline->needs[pipeline->need_count++] = (struct agxvk_need){
         .set = info->set,
         .binding = info->binding,
         .element = element,
         .index = binding->first + AGXVK_MIN(element, binding->count - 1),
         .dynamic =
            binding->dynamic == AGXVK_NO_DYNAMIC ? AGXVK_NO_DYNAMIC : binding->dynamic + element,
         .is_buffer = is_buffer(info->type),
         .is_array = info->elements != 0,
         .needs_bytes = is_buffer(info->type) && info->robustness == AGX_ROBUST_OFF,
      };
   }
}

/* Lists what the kernel uses; a binding that the layout lacks is a mistake of the application's
 * that would else show in no call. */
static VkResult plan(struct agxvk_device *device, struct agxvk_pipeline *pipeline,
                     const struct agxvk_pipeline_layout *layout)
{
   struct agx_executable_info info = {.size = sizeof(info)};
   struct agx_binding_info binding_info = {.size = sizeof(binding_info)};
   agx_executable_get_info(pipeline->executable, &info);
   pipeline->push_B = info.push_B;
   uint32_t count = 0;
   for (int pass = 0; pass < 2; pass++) {
      for (uint32_t i = 0; i < info.binding_count; i++) {
         agx_status status = agx_executable_get_binding(pipeline->executable, i, &binding_info);
         const struct agxvk_set_binding *binding = find_binding(layout, &binding_info);
         if (status != AGX_OK || !binding || !binding->count) {
            agxvk_tell(device->instance, VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
                       "vkCreateComputePipelines: the shader uses a binding that the pipeline "
                       "layout does not have");
            return VK_ERROR_UNKNOWN;
         }
         if (pass)
            add_needs(pipeline, &binding_info, binding);
         else
            count += elements_of(&binding_info, binding);
      }
      if (pass || !count)
         break;
      pipeline->needs = agxvk_alloc(&device->alloc, NULL, count * sizeof(*pipeline->needs),
                                    VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
      if (!pipeline->needs)
         return VK_ERROR_OUT_OF_HOST_MEMORY;
   }
   return VK_SUCCESS;
}

/* ---- creation ----------------------------------------------------------- */

static void destroy(struct agxvk_device *device, struct agxvk_pipeline *pipeline,
                    const VkAllocationCallbacks *alloc)
{
   agx_release(pipeline->executable);
   agxvk_free(&device->alloc, NULL, pipeline->needs);
   agxvk_object_destroy(device, alloc, pipeline);
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyPipeline(VkDevice device, VkPipeline pipeline,
                                                 const VkAllocationCallbacks *pAllocator)
{
   if (pipeline)
      destroy(agxvk_device_of(device), agxvk_pipeline_of(pipeline), pAllocator);
}

/* A stage's SPIR-V: of its module, or in the chain. */
static const void *code_of(const VkPipelineShaderStageCreateInfo *stage, size_t *size_B)
{
   const struct agxvk_shader_module *module = agxvk_shader_module_of(stage->module);
   const VkShaderModuleCreateInfo *info =
      agxvk_find(stage->pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
   if (!module && !info)
      return NULL;
   *size_B = module ? module->size_B : info->codeSize;
   return module ? module->words : info->pCode;
}

static VkResult compile(struct agxvk_device *device, const VkComputePipelineCreateInfo *info,
                        struct agxvk_pipeline *pipeline)
{
   const VkPipelineShaderStageCreateInfo *stage = &info->stage;
   const VkSpecializationInfo *constants = stage->pSpecializationInfo;
   struct agx_executable_desc desc = {
      .size = sizeof(desc),
      .entry = stage->pName,
      .robustness = robustness(device, info->pNext, stage->pNext),
      .flags = info->flags & VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR
                  ? AGX_EXECUTABLE_KEEP_IR
                  : 0u,
   };
   struct agx_specialization local[32], *specializations = local;
   desc.data = code_of(stage, &desc.data_B);
   if (!desc.data)
      return VK_ERROR_FEATURE_NOT_PRESENT;
   if (constants && constants->mapEntryCount > AGXVK_COUNT(local))
      specializations =
         agxvk_alloc(&device->alloc, NULL, constants->mapEntryCount * sizeof(*specializations),
                     VK_SYSTEM_ALLOCATION_SCOPE_COMMAND);
   if (!specializations)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   desc.specializations = specializations;
   desc.specialization_count = specialize(constants, desc.data, desc.data_B, specializations);
   agx_status status = agx_executable_create(device->core, &desc, &pipeline->executable);
   if (specializations != local)
      agxvk_free(&device->alloc, NULL, specializations);
   pipeline->object.core = pipeline->executable;
   return agxvk_result(device, status);
}

static VkResult create_one(struct agxvk_device *device, const VkComputePipelineCreateInfo *info,
                           const VkAllocationCallbacks *alloc, VkPipeline *out)
{
   struct agxvk_pipeline *pipeline =
      agxvk_object_create(device, alloc, sizeof(*pipeline), VK_OBJECT_TYPE_PIPELINE);
   if (!pipeline)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   VkResult result = compile(device, info, pipeline);
   if (result == VK_SUCCESS)
      result = plan(device, pipeline, agxvk_pipeline_layout_of(info->layout));
   if (result != VK_SUCCESS) {
      destroy(device, pipeline, alloc);
      return result;
   }
   *out = agxvk_pipeline_handle(pipeline);
   return VK_SUCCESS;
}

static uint64_t now_ns(void)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* How long it took, where an application asks. */
static void write_feedback(const VkComputePipelineCreateInfo *info, uint64_t began_ns)
{
   const VkPipelineCreationFeedbackCreateInfo *feedback =
      agxvk_find(info->pNext, VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO);
   if (!feedback)
      return;
   const VkPipelineCreationFeedback took = {
      .flags = VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT,
      .duration = now_ns() - began_ns,
   };
   *feedback->pPipelineCreationFeedback = took;
   for (uint32_t i = 0; i < feedback->pipelineStageCreationFeedbackCount; i++)
      feedback->pPipelineStageCreationFeedbacks[i] = took;
}

VKAPI_ATTR VkResult VKAPI_CALL
agxvk_CreateComputePipelines(VkDevice device_handle, VkPipelineCache cache, uint32_t count,
                             const VkComputePipelineCreateInfo *pCreateInfos,
                             const VkAllocationCallbacks *pAllocator, VkPipeline *pPipelines)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   VkResult first = VK_SUCCESS;
   memset(pPipelines, 0, count * sizeof(*pPipelines));
   for (uint32_t i = 0; i < count; i++) {
      const VkPipelineCreateFlags flags = pCreateInfos[i].flags;
      const uint64_t began_ns = now_ns();
      VkResult result = flags & VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT
                           ? VK_PIPELINE_COMPILE_REQUIRED
                           : create_one(device, &pCreateInfos[i], pAllocator, &pPipelines[i]);
      write_feedback(&pCreateInfos[i], began_ns);
      first = first == VK_SUCCESS ? result : first;
      if (result != VK_SUCCESS && flags & VK_PIPELINE_CREATE_EARLY_RETURN_ON_FAILURE_BIT)
         break;
   }
   return first;
}

/* ---- caches ------------------------------------------------------------- */

/* The HAL keeps compiled kernels itself, in memory and on disk: what an application keeps is the
 * header that tells whose it is. */
struct agxvk_pipeline_cache {
   struct agxvk_object object;
};
AGXVK_OBJECT(pipeline_cache, VkPipelineCache)

VKAPI_ATTR VkResult VKAPI_CALL
agxvk_CreatePipelineCache(VkDevice device, const VkPipelineCacheCreateInfo *pCreateInfo,
                          const VkAllocationCallbacks *pAllocator, VkPipelineCache *pPipelineCache)
{
   struct agxvk_pipeline_cache *cache = agxvk_object_create(
      agxvk_device_of(device), pAllocator, sizeof(*cache), VK_OBJECT_TYPE_PIPELINE_CACHE);
   *pPipelineCache = agxvk_pipeline_cache_handle(cache);
   return cache ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyPipelineCache(VkDevice device, VkPipelineCache cache,
                                                      const VkAllocationCallbacks *pAllocator)
{
   agxvk_object_destroy(agxvk_device_of(device), pAllocator, agxvk_pipeline_cache_of(cache));
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_GetPipelineCacheData(VkDevice device, VkPipelineCache cache,
                                                          size_t *pDataSize, void *pData)
{
   const VkPhysicalDeviceProperties *core = &agxvk_device_of(device)->physical->core;
   VkPipelineCacheHeaderVersionOne header = {
      .headerSize = sizeof(header),
      .headerVersion = VK_PIPELINE_CACHE_HEADER_VERSION_ONE,
      .vendorID = core->vendorID,
      .deviceID = core->deviceID,
   };
   memcpy(header.pipelineCacheUUID, core->pipelineCacheUUID, VK_UUID_SIZE);
   if (pData && *pDataSize < sizeof(header)) {
      *pDataSize = 0;
      return VK_INCOMPLETE;
   }
   if (pData)
      memcpy(pData, &header, sizeof(header));
   *pDataSize = sizeof(header);
   return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_MergePipelineCaches(VkDevice device, VkPipelineCache target,
                                                         uint32_t count,
                                                         const VkPipelineCache *pSources)
{
   return VK_SUCCESS;
}
