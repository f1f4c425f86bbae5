/* SPDX-License-Identifier: MIT
 *
 * A Vulkan layer that keeps every shader module that a program makes, for scripts/wide: programs
 * that compile their kernels when they run show them to the driver only. Module N of process P
 * becomes the file P.N.spv of the folder that AGX_MODULES names. The values of specialization
 * constants that a compute pipeline gives it stand in P.N.M.spec: a line "ID HEX" for each.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define EXPORTED    __attribute__((visibility("default")))
#define MAX_MODULES 65536

/* Of the one instance and the one device that a program has at a time: what is below this layer. */
static PFN_vkGetInstanceProcAddr next_instance_proc;
static PFN_vkGetDeviceProcAddr next_device_proc;
static VkInstance the_instance;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned module_count, pipeline_count;
static VkShaderModule modules[MAX_MODULES]; /* the handle of module N; drivers use them again */

/* A new file; NULL also when it is there. */
static FILE *open_file(const char *name)
{
   char path[1024];
   const char *folder = getenv("AGX_MODULES");
   snprintf(path, sizeof(path), "%s/%s", folder ? folder : ".", name);
   return fopen(path, "wbx");
}

/* The number that the module got. A loader that unloads the layer with the last instance makes it
 * count anew: numbers whose files are there are passed over. */
static unsigned keep_module(const VkShaderModuleCreateInfo *info, VkShaderModule module)
{
   char name[64];
   FILE *file = NULL;
   pthread_mutex_lock(&lock);
   unsigned number = MAX_MODULES;
   while (!file && module_count < MAX_MODULES) {
      number = module_count++;
      snprintf(name, sizeof(name), "%d.%u.spv", (int)getpid(), number);
      file = open_file(name);
   }
   if (file) {
      modules[number] = module;
      fwrite(info->pCode, 1, info->codeSize, file);
      fclose(file);
   }
   pthread_mutex_unlock(&lock);
   return file ? number : MAX_MODULES;
}

static void keep_constants(unsigned number, const VkSpecializationInfo *info)
{
   char name[64];
   pthread_mutex_lock(&lock);
   unsigned pipeline = pipeline_count++;
   pthread_mutex_unlock(&lock);
   snprintf(name, sizeof(name), "%d.%u.%u.spec", (int)getpid(), number, pipeline);
   FILE *file = open_file(name);
   for (uint32_t i = 0; file && i < info->mapEntryCount; i++) {
      const VkSpecializationMapEntry *entry = &info->pMapEntries[i];
      uint64_t value = 0;
      if (entry->size <= sizeof(value) && entry->offset + entry->size <= info->dataSize)
         memcpy(&value, (const char *)info->pData + entry->offset, entry->size);
      fprintf(file, "%" PRIu32 " %" PRIx64 "\n", entry->constantID, value);
   }
   if (file)
      fclose(file);
}

/* The latest module with that handle; MAX_MODULES: none. */
static unsigned find_module(VkShaderModule module)
{
   unsigned found = MAX_MODULES;
   pthread_mutex_lock(&lock);
   for (unsigned i = module_count; i-- > 0 && found == MAX_MODULES;)
      found = modules[i] == module ? i : found;
   pthread_mutex_unlock(&lock);
   return found;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice device,
                                                    const VkShaderModuleCreateInfo *info,
                                                    const VkAllocationCallbacks *alloc,
                                                    VkShaderModule *out_module)
{
   PFN_vkCreateShaderModule next =
      (PFN_vkCreateShaderModule)next_device_proc(device, "vkCreateShaderModule");
   VkResult result = next(device, info, alloc, out_module);
   keep_module(info, result == VK_SUCCESS ? *out_module : VK_NULL_HANDLE);
   return result;
}

/* A stage may bring its module along instead of naming one. */
static unsigned module_of_stage(const VkPipelineShaderStageCreateInfo *stage)
{
   if (stage->module)
      return find_module(stage->module);
   for (const VkBaseInStructure *next = stage->pNext; next; next = next->pNext)
      if (next->sType == VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO)
         return keep_module((const VkShaderModuleCreateInfo *)next, VK_NULL_HANDLE);
   return MAX_MODULES;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache cache,
                                                       uint32_t count,
                                                       const VkComputePipelineCreateInfo *infos,
                                                       const VkAllocationCallbacks *alloc,
                                                       VkPipeline *out_pipelines)
{
   PFN_vkCreateComputePipelines next =
      (PFN_vkCreateComputePipelines)next_device_proc(device, "vkCreateComputePipelines");
   for (uint32_t i = 0; i < count; i++) {
      unsigned number = module_of_stage(&infos[i].stage);
      if (number < MAX_MODULES && infos[i].stage.pSpecializationInfo)
         keep_constants(number, infos[i].stage.pSpecializationInfo);
   }
   return next(device, cache, count, infos, alloc, out_pipelines);
}

/* ---- what the loader asks for ------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *alloc,
                                                      VkInstance *out_instance)
{
   VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)info->pNext;
   while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
                    link->function == VK_LAYER_LINK_INFO))
      link = (VkLayerInstanceCreateInfo *)link->pNext;
   if (!link)
      return VK_ERROR_INITIALIZATION_FAILED;
   next_instance_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
   link->u.pLayerInfo = link->u.pLayerInfo->pNext;
   PFN_vkCreateInstance next = (PFN_vkCreateInstance)next_instance_proc(NULL, "vkCreateInstance");
   VkResult result = next(info, alloc, out_instance);
   the_instance = result == VK_SUCCESS ? *out_instance : VK_NULL_HANDLE;
   return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                                    const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *alloc,
                                                    VkDevice *out_device)
{
   VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)info->pNext;
   while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO &&
                    link->function == VK_LAYER_LINK_INFO))
      link = (VkLayerDeviceCreateInfo *)link->pNext;
   if (!link)
      return VK_ERROR_INITIALIZATION_FAILED;
   PFN_vkGetInstanceProcAddr instance_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
   next_device_proc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
   link->u.pLayerInfo = link->u.pLayerInfo->pNext;
   PFN_vkCreateDevice next = (PFN_vkCreateDevice)instance_proc(the_instance, "vkCreateDevice");
   return next(physical, info, alloc, out_device);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance,
                                                              const char *name);

static PFN_vkVoidFunction own_function(const char *name)
{
   static const struct {
      const char *name;
      PFN_vkVoidFunction function;
   } all[] = {
      {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)instance_proc},
      {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)device_proc},
      {"vkCreateInstance", (PFN_vkVoidFunction)create_instance},
      {"vkCreateDevice", (PFN_vkVoidFunction)create_device},
      {"vkCreateShaderModule", (PFN_vkVoidFunction)create_module},
      {"vkCreateComputePipelines", (PFN_vkVoidFunction)create_pipelines},
   };
   for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
      if (strcmp(all[i].name, name) == 0)
         return all[i].function;
   return NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name)
{
   PFN_vkVoidFunction own = own_function(name);
   return own ? own : next_device_proc(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char *name)
{
   PFN_vkVoidFunction own = own_function(name);
   return own ? own : next_instance_proc ? next_instance_proc(instance, name) : NULL;
}

/* The entry point that the layer's manifest leads to. */
EXPORTED VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *version)
{
   version->loaderLayerInterfaceVersion = 2;
   version->pfnGetInstanceProcAddr = instance_proc;
   version->pfnGetDeviceProcAddr = device_proc;
   version->pfnGetPhysicalDeviceProcAddr = NULL;
   return VK_SUCCESS;
}
