/* SPDX-License-Identifier: MIT
 *
 *    vkrecord FOLDER DISPATCHES [DEVICE]
 *
 * Runs the dispatches that tests/hal/recorded.c wrote into the file DISPATCHES on the first Vulkan
 * device whose name contains DEVICE, with the SPIR-V of FOLDER (tests/kernels), and prints a line
 * for each: its name and the hash of its output. Kernels that the device can't run are named on
 * standard error. tests/kernels/recorded/README.md says what is done with the lines.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define MAX_BUFFERS  5
#define MAX_SPECS    16
#define MAX_SPIRV_B  (1u << 20)
#define MAX_DEVICES  16
#define LIMIT_NS     20000000000ull
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Headers of Debian 12 lack both. */
#ifndef VK_KHR_cooperative_matrix
typedef struct {
   VkStructureType sType;
   void *pNext;
   VkBool32 cooperativeMatrix, cooperativeMatrixRobustBufferAccess;
} VkPhysicalDeviceCooperativeMatrixFeaturesKHR;
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR                          \
   ((VkStructureType)1000506000)
#endif
#ifndef VK_KHR_shader_subgroup_rotate
typedef struct {
   VkStructureType sType;
   void *pNext;
   VkBool32 shaderSubgroupRotate, shaderSubgroupRotateClustered;
} VkPhysicalDeviceShaderSubgroupRotateFeaturesKHR;
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_ROTATE_FEATURES_KHR                      \
   ((VkStructureType)1000416000)
#endif

#define CHECK(call)                                                                                \
   do {                                                                                            \
      VkResult result_ = (call);                                                                   \
      if (result_ != VK_SUCCESS)                                                                   \
         stop(#call, result_);                                                                     \
   } while (0)

struct buffer {
   VkBuffer buffer;
   VkDeviceMemory memory;
   uint8_t *mapped;
   uint32_t size_B;
};

struct dispatch {
   char name[160], kernel[64];
   uint32_t specs[MAX_SPECS][2]; /* id, value */
   uint32_t spec_count, buffer_count, output;
   struct buffer buffers[MAX_BUFFERS];
   uint64_t negative_zero;
};

static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static VkPhysicalDeviceMemoryProperties memory_types;
static VkCommandPool commands_pool;
static VkDescriptorPool descriptor_pool;
static VkFence fence;

static void stop(const char *what, long result)
{
   fprintf(stderr, "vkrecord: %s: %ld\n", what, result);
   exit(1);
}

static bool has_extension(const char *name)
{
   static VkExtensionProperties all[512];
   uint32_t count = COUNT(all);
   vkEnumerateDeviceExtensionProperties(physical, NULL, &count, all);
   for (uint32_t i = 0; i < count; i++)
      if (strcmp(all[i].extensionName, name) == 0)
         return true;
   return false;
}

static void choose_device(const char *name)
{
   const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                          .apiVersion = VK_API_VERSION_1_3};
   const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                      .pApplicationInfo = &application};
   VkInstance instance;
   VkPhysicalDevice devices[MAX_DEVICES];
   uint32_t count = MAX_DEVICES;
   CHECK(vkCreateInstance(&info, NULL, &instance));
   CHECK(vkEnumeratePhysicalDevices(instance, &count, devices));
   for (uint32_t i = 0; i < count; i++) {
      VkPhysicalDeviceDriverProperties driver = {
         .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
      VkPhysicalDeviceProperties2 properties = {
         .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
      vkGetPhysicalDeviceProperties2(devices[i], &properties);
      if (!strstr(properties.properties.deviceName, name))
         continue;
      physical = devices[i];
      printf("# %s, %s %s\n", properties.properties.deviceName, driver.driverName,
             driver.driverInfo);
      return;
   }
   stop("no such device", (long)count);
}

/* With every feature that the device has, but no robustness. */
static void open_device(void)
{
   VkPhysicalDeviceShaderSubgroupRotateFeaturesKHR rotate = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_ROTATE_FEATURES_KHR};
   VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrix = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR};
   VkPhysicalDeviceVulkan13Features v13 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
   VkPhysicalDeviceVulkan12Features v12 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &v13};
   VkPhysicalDeviceVulkan11Features v11 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &v12};
   VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                         .pNext = &v11};
   const char *extensions[2];
   uint32_t count = 0;
   void **tail = &v13.pNext;
   if (has_extension("VK_KHR_shader_subgroup_rotate")) {
      extensions[count++] = "VK_KHR_shader_subgroup_rotate";
      *tail = &rotate;
      tail = &rotate.pNext;
   }
   if (has_extension("VK_KHR_cooperative_matrix")) {
      extensions[count++] = "VK_KHR_cooperative_matrix";
      *tail = &matrix;
   }
   vkGetPhysicalDeviceFeatures2(physical, &features);
   features.features.robustBufferAccess = v13.robustImageAccess = VK_FALSE;
   const float priority = 1;
   const VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
   const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                    .pNext = &features,
                                    .queueCreateInfoCount = 1,
                                    .pQueueCreateInfos = &queues,
                                    .enabledExtensionCount = count,
                                    .ppEnabledExtensionNames = extensions};
   CHECK(vkCreateDevice(physical, &info, NULL, &device));
   vkGetDeviceQueue(device, 0, 0, &queue);
   vkGetPhysicalDeviceMemoryProperties(physical, &memory_types);
}

static void make_pools(void)
{
   const VkCommandPoolCreateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
   const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, MAX_BUFFERS};
   const VkDescriptorPoolCreateInfo descriptors = {.sType =
                                                      VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                                   .maxSets = 1,
                                                   .poolSizeCount = 1,
                                                   .pPoolSizes = &size};
   const VkFenceCreateInfo fences = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
   CHECK(vkCreateCommandPool(device, &commands, NULL, &commands_pool));
   CHECK(vkCreateDescriptorPool(device, &descriptors, NULL, &descriptor_pool));
   CHECK(vkCreateFence(device, &fences, NULL, &fence));
}

static void get_bytes(FILE *file, void *out, size_t size)
{
   if (fread(out, 1, size, file) != size)
      stop("the dispatches end in the middle of one", (long)ftell(file));
}

static uint32_t get_word(FILE *file, uint32_t limit)
{
   uint32_t word;
   get_bytes(file, &word, sizeof(word));
   if (word > limit)
      stop("a count in the dispatches is too large", (long)word);
   return word;
}

static void get_text(FILE *file, char *out, uint32_t size)
{
   uint32_t length = get_word(file, size - 1);
   get_bytes(file, out, length);
   out[length] = 0;
}

static void get_buffer(FILE *file, struct buffer *out)
{
   VkMemoryRequirements needs;
   void *mapped;
   out->size_B = get_word(file, 1 << 24);
   const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                    .size = out->size_B,
                                    .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
   CHECK(vkCreateBuffer(device, &info, NULL, &out->buffer));
   vkGetBufferMemoryRequirements(device, out->buffer, &needs);
   VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                      .allocationSize = needs.size};
   const VkMemoryPropertyFlags wanted =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
   while (allocation.memoryTypeIndex < memory_types.memoryTypeCount &&
          (!(needs.memoryTypeBits >> allocation.memoryTypeIndex & 1) ||
           (memory_types.memoryTypes[allocation.memoryTypeIndex].propertyFlags & wanted) != wanted))
      allocation.memoryTypeIndex++;
   CHECK(vkAllocateMemory(device, &allocation, NULL, &out->memory));
   CHECK(vkBindBufferMemory(device, out->buffer, out->memory, 0));
   CHECK(vkMapMemory(device, out->memory, 0, VK_WHOLE_SIZE, 0, &mapped));
   out->mapped = mapped;
   get_bytes(file, mapped, out->size_B);
}

/* False at the end of the file. */
static bool get_dispatch(FILE *file, struct dispatch *out)
{
   int next = fgetc(file);
   if (next == EOF)
      return false;
   ungetc(next, file);
   get_text(file, out->name, sizeof(out->name));
   get_text(file, out->kernel, sizeof(out->kernel));
   out->spec_count = get_word(file, MAX_SPECS);
   for (uint32_t i = 0; i < out->spec_count; i++) {
      out->specs[i][0] = get_word(file, UINT32_MAX);
      out->specs[i][1] = get_word(file, UINT32_MAX);
   }
   out->buffer_count = get_word(file, MAX_BUFFERS);
   for (uint32_t i = 0; i < out->buffer_count; i++)
      get_buffer(file, &out->buffers[i]);
   out->output = get_word(file, out->buffer_count - 1);
   out->negative_zero = get_word(file, UINT32_MAX);
   out->negative_zero |= (uint64_t)get_word(file, UINT32_MAX) << 32;
   return true;
}

static VkShaderModule make_module(const char *folder, const char *kernel)
{
   static uint32_t words[MAX_SPIRV_B / 4];
   char path[512];
   snprintf(path, sizeof(path), "%s/%s.spv", folder, kernel);
   FILE *file = fopen(path, "rb");
   if (!file)
      stop(path, 0);
   const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                          .codeSize = fread(words, 1, sizeof(words), file),
                                          .pCode = words};
   VkShaderModule module;
   fclose(file);
   CHECK(vkCreateShaderModule(device, &info, NULL, &module));
   return module;
}

static VkResult make_pipeline(const struct dispatch *it, VkShaderModule module,
                              VkPipelineLayout layout, VkPipeline *out)
{
   VkSpecializationMapEntry entries[MAX_SPECS];
   for (uint32_t i = 0; i < it->spec_count; i++)
      entries[i] = (VkSpecializationMapEntry){it->specs[i][0], 8 * i + 4, 4};
   const VkSpecializationInfo specialization = {it->spec_count, entries, sizeof(it->specs),
                                                it->specs};
   const VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = "main",
                .pSpecializationInfo = &specialization},
      .layout = layout};
   return vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, out);
}

static VkDescriptorSet make_set(const struct dispatch *it, VkDescriptorSetLayout layout)
{
   const VkDescriptorSetAllocateInfo info = {.sType =
                                                VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = descriptor_pool,
                                             .descriptorSetCount = 1,
                                             .pSetLayouts = &layout};
   VkDescriptorSet set;
   CHECK(vkResetDescriptorPool(device, descriptor_pool, 0));
   CHECK(vkAllocateDescriptorSets(device, &info, &set));
   for (uint32_t i = 0; i < it->buffer_count; i++) {
      const VkDescriptorBufferInfo buffer = {it->buffers[i].buffer, 0, VK_WHOLE_SIZE};
      const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                          .dstSet = set,
                                          .dstBinding = i,
                                          .descriptorCount = 1,
                                          .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                          .pBufferInfo = &buffer};
      vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
   }
   return set;
}

static void execute(VkPipeline pipeline, VkPipelineLayout layout, VkDescriptorSet set)
{
   const VkCommandBufferAllocateInfo info = {.sType =
                                                VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = commands_pool,
                                             .commandBufferCount = 1};
   const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
   const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                    .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
   VkCommandBuffer commands;
   CHECK(vkAllocateCommandBuffers(device, &info, &commands));
   CHECK(vkBeginCommandBuffer(commands, &begin));
   vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
   vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
   vkCmdDispatch(commands, 1, 1, 1);
   vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                        0, 1, &barrier, 0, NULL, 0, NULL);
   CHECK(vkEndCommandBuffer(commands));
   const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                .commandBufferCount = 1,
                                .pCommandBuffers = &commands};
   CHECK(vkQueueSubmit(queue, 1, &submit, fence));
   CHECK(vkWaitForFences(device, 1, &fence, VK_TRUE, LIMIT_NS));
   CHECK(vkResetFences(device, 1, &fence));
   vkFreeCommandBuffers(device, commands_pool, 1, &commands);
}

/* FNV-1a over 64-bit words. */
static uint64_t hash_of(const struct dispatch *it)
{
   const struct buffer *output = &it->buffers[it->output];
   uint64_t hash = 0xcbf29ce484222325u, word;
   for (uint32_t at = 0; at + sizeof(word) <= output->size_B; at += sizeof(word)) {
      memcpy(&word, output->mapped + at, sizeof(word));
      if (it->negative_zero && word == it->negative_zero)
         word = 0;
      hash = (hash ^ word) * 0x100000001b3u;
   }
   return hash;
}

static void run(const char *folder, struct dispatch *it)
{
   VkDescriptorSetLayoutBinding bindings[MAX_BUFFERS];
   for (uint32_t i = 0; i < it->buffer_count; i++)
      bindings[i] =
         (VkDescriptorSetLayoutBinding){.binding = i,
                                        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                        .descriptorCount = 1,
                                        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
   const VkDescriptorSetLayoutCreateInfo set_info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = it->buffer_count,
      .pBindings = bindings};
   VkDescriptorSetLayout set_layout;
   VkPipelineLayout layout;
   VkPipeline pipeline;
   CHECK(vkCreateDescriptorSetLayout(device, &set_info, NULL, &set_layout));
   const VkPipelineLayoutCreateInfo layout_info = {.sType =
                                                      VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                                   .setLayoutCount = 1,
                                                   .pSetLayouts = &set_layout};
   CHECK(vkCreatePipelineLayout(device, &layout_info, NULL, &layout));
   VkShaderModule module = make_module(folder, it->kernel);
   VkResult result = make_pipeline(it, module, layout, &pipeline);
   if (result == VK_SUCCESS) {
      execute(pipeline, layout, make_set(it, set_layout));
      printf("%s\t%016llx\n", it->name, (unsigned long long)hash_of(it));
      vkDestroyPipeline(device, pipeline, NULL);
   } else {
      fprintf(stderr, "vkrecord: %s: no pipeline (%d)\n", it->name, (int)result);
   }
   vkDestroyShaderModule(device, module, NULL);
   vkDestroyPipelineLayout(device, layout, NULL);
   vkDestroyDescriptorSetLayout(device, set_layout, NULL);
   for (uint32_t i = 0; i < it->buffer_count; i++) {
      vkDestroyBuffer(device, it->buffers[i].buffer, NULL);
      vkFreeMemory(device, it->buffers[i].memory, NULL);
   }
}

int main(int argc, char **argv)
{
   static struct dispatch it;
   FILE *file = argc > 2 ? fopen(argv[2], "rb") : NULL;
   if (!file)
      stop("usage: vkrecord FOLDER DISPATCHES [DEVICE]; the dispatches can't be opened", 2);
   choose_device(argc > 3 ? argv[3] : "");
   open_device();
   make_pools();
   while (get_dispatch(file, &it))
      run(argv[1], &it);
   return 0;
}
