/* SPDX-License-Identifier: MIT
 *
 * Limits and other properties. Those of graphics are the smallest that the specification allows,
 * since it has no others for devices without a queue for them; docs/decisions has the reasons.
 */
#include <string.h>

#include "vulkan/instance.h"

#define VENDOR_APPLE 0x106b
#define MAX_IMAGE    16384
#define MAX_LAYERS   2048
#define MAX_3D       2048
#define MAX_SETS     8
#define ALIGN_B      16

/* Bindings of a kernel are AGX_MAX_BINDINGS in all. */
enum {
   UNIFORM_BUFFERS = 12,
   STORAGE_BUFFERS = 16,
   TEXTURES = 16,
   STORAGE_IMAGES = 4,
   SAMPLERS = 16,
   RESOURCES = UNIFORM_BUFFERS + STORAGE_BUFFERS + TEXTURES + STORAGE_IMAGES,
   ATTACHMENTS = 4 + 4, /* that a stage of graphics has besides: inputs and colours */
   DYNAMIC_BUFFERS = 8,
};
_Static_assert(RESOURCES + SAMPLERS <= AGX_MAX_BINDINGS, "as many as a kernel can have");

static const VkPhysicalDeviceLimits graphics_limits = {
   .maxVertexInputAttributes = 16,
   .maxVertexInputBindings = 16,
   .maxVertexInputAttributeOffset = 2047,
   .maxVertexInputBindingStride = 2048,
   .maxVertexOutputComponents = 64,
   .maxFragmentInputComponents = 64,
   .maxPerStageDescriptorInputAttachments = 4,
   .maxDescriptorSetInputAttachments = 4,
   .maxFragmentOutputAttachments = 4,
   .maxFragmentCombinedOutputResources = 4,
   .maxDrawIndexedIndexValue = (1u << 24) - 1,
   .maxDrawIndirectCount = 1,
   .maxViewports = 1,
   .maxViewportDimensions = {4096, 4096},
   .viewportBoundsRange = {-8192, 8191},
   .minInterpolationOffset = 0,
   .maxInterpolationOffset = 0,
   .maxFramebufferWidth = 4096,
   .maxFramebufferHeight = 4096,
   .maxFramebufferLayers = 256,
   .framebufferColorSampleCounts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT,
   .framebufferDepthSampleCounts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT,
   .framebufferStencilSampleCounts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT,
   .framebufferNoAttachmentsSampleCounts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT,
   .maxColorAttachments = 4,
   .pointSizeRange = {1, 1},
   .lineWidthRange = {1, 1},
   .standardSampleLocations = VK_TRUE,
};

static void fill_image_limits(VkPhysicalDeviceLimits *limits)
{
   limits->maxImageDimension1D = MAX_IMAGE;
   limits->maxImageDimension2D = MAX_IMAGE;
   limits->maxImageDimension3D = MAX_3D;
   limits->maxImageDimensionCube = MAX_IMAGE;
   limits->maxImageArrayLayers = MAX_LAYERS;
   limits->maxTexelBufferElements = 1u << 28;
   limits->maxSamplerAllocationCount = 4000;
   limits->mipmapPrecisionBits = 8;
   limits->subPixelPrecisionBits = 8;
   limits->subTexelPrecisionBits = 8;
   limits->maxSamplerLodBias = 16;
   limits->maxSamplerAnisotropy = 16;
   limits->minTexelOffset = -8;
   limits->maxTexelOffset = 7;
   limits->sampledImageColorSampleCounts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT;
   limits->sampledImageIntegerSampleCounts = VK_SAMPLE_COUNT_1_BIT;
   limits->sampledImageDepthSampleCounts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT;
   limits->sampledImageStencilSampleCounts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT;
   limits->storageImageSampleCounts = VK_SAMPLE_COUNT_1_BIT;
   limits->maxSampleMaskWords = 1;
}

/* What the stages of a layout may have together: six times one's, as on a device with all stages. A
 * kernel takes of it what its stage may have. */
#define STAGES 6

static void fill_descriptor_limits(VkPhysicalDeviceLimits *limits)
{
   limits->maxBoundDescriptorSets = MAX_SETS;
   limits->maxPerStageDescriptorSamplers = SAMPLERS;
   limits->maxDescriptorSetSamplers = STAGES * SAMPLERS;
   limits->maxPerStageDescriptorUniformBuffers = UNIFORM_BUFFERS;
   limits->maxDescriptorSetUniformBuffers = STAGES * UNIFORM_BUFFERS;
   limits->maxPerStageDescriptorStorageBuffers = STORAGE_BUFFERS;
   limits->maxDescriptorSetStorageBuffers = STAGES * STORAGE_BUFFERS;
   limits->maxPerStageDescriptorSampledImages = TEXTURES;
   limits->maxDescriptorSetSampledImages = STAGES * TEXTURES;
   limits->maxPerStageDescriptorStorageImages = STORAGE_IMAGES;
   limits->maxDescriptorSetStorageImages = STAGES * STORAGE_IMAGES;
   limits->maxPerStageResources = RESOURCES + ATTACHMENTS;
   limits->maxDescriptorSetUniformBuffersDynamic = DYNAMIC_BUFFERS;
   limits->maxDescriptorSetStorageBuffersDynamic = DYNAMIC_BUFFERS;
   limits->maxUniformBufferRange = 65536;
   limits->maxStorageBufferRange = UINT32_MAX;
}

static void fill_compute_limits(const struct agx_device_info *info, VkPhysicalDeviceLimits *limits)
{
   limits->maxPushConstantsSize = info->max_push_B;
   limits->maxComputeSharedMemorySize = info->max_shared_B;
   limits->maxComputeWorkGroupInvocations = info->max_workgroup_threads;
   for (uint32_t i = 0; i < 3; i++) {
      limits->maxComputeWorkGroupCount[i] =
         (uint32_t)AGXVK_MIN(info->max_workgroups[i], (uint64_t)UINT32_MAX);
      limits->maxComputeWorkGroupSize[i] = info->max_workgroup_threads;
   }
   limits->maxMemoryAllocationCount = UINT32_MAX;
   limits->bufferImageGranularity = 1;
   limits->minMemoryMapAlignment = 4096;
   limits->minTexelBufferOffsetAlignment = ALIGN_B;
   limits->minUniformBufferOffsetAlignment = ALIGN_B;
   limits->minStorageBufferOffsetAlignment = ALIGN_B;
   limits->timestampComputeAndGraphics = VK_TRUE;
   limits->timestampPeriod = info->timestamp_hz ? (float)(1e9 / (double)info->timestamp_hz) : 0;
   limits->discreteQueuePriorities = 2;
   limits->optimalBufferCopyOffsetAlignment = ALIGN_B;
   limits->optimalBufferCopyRowPitchAlignment = ALIGN_B;
   limits->nonCoherentAtomSize = 64;
}

static void fill_core(struct agxvk_physical_device *device)
{
   VkPhysicalDeviceProperties *core = &device->core;
   *core = (VkPhysicalDeviceProperties){
      .apiVersion = AGXVK_VERSION,
      .driverVersion = VK_MAKE_API_VERSION(0, AGX_VERSION_MAJOR, AGX_VERSION_MINOR, 0),
      .vendorID = VENDOR_APPLE,
      /* The virtual AGX as well: programs are to do what they do on a Mac. */
      .deviceType = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
      .limits = graphics_limits,
   };
   memcpy(core->deviceName, device->info.name, sizeof(device->info.name));
   strncat(core->deviceName, device->info.is_virtual ? " (agxhal, virtual)" : " (agxhal)",
           sizeof(core->deviceName) - sizeof(device->info.name) - 1);
   memcpy(core->pipelineCacheUUID, device->info.uuid, VK_UUID_SIZE);
   core->pipelineCacheUUID[0] ^= AGX_ABI_VERSION;
   fill_image_limits(&core->limits);
   fill_descriptor_limits(&core->limits);
   fill_compute_limits(&device->info, &core->limits);
}

/* The library's, whatever the device. */
static const uint8_t driver_uuid[VK_UUID_SIZE] = {
   'a', 'g', 'x', 'h', 'a', 'l', AGX_VERSION_MAJOR, 0x80, 0x80, AGX_VERSION_MINOR, AGX_ABI_VERSION};

static void fill_1_1(const struct agx_device_info *info, struct agxvk_properties *p)
{
   memcpy(p->deviceUUID, info->uuid, VK_UUID_SIZE);
   memcpy(p->driverUUID, driver_uuid, VK_UUID_SIZE);
   p->deviceNodeMask = 1;
   p->subgroupSize = info->simd_lanes;
   p->subgroupSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
   p->subgroupSupportedOperations =
      VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT |
      VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT |
      VK_SUBGROUP_FEATURE_SHUFFLE_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT |
      VK_SUBGROUP_FEATURE_CLUSTERED_BIT | VK_SUBGROUP_FEATURE_QUAD_BIT;
   /* The struct that came first has other names. */
   p->supportedStages = p->subgroupSupportedStages;
   p->supportedOperations = p->subgroupSupportedOperations;
   p->quadOperationsInAllStages = p->subgroupQuadOperationsInAllStages;
   p->pointClippingBehavior = VK_POINT_CLIPPING_BEHAVIOR_ALL_CLIP_PLANES;
   p->maxMultiviewViewCount = 6;
   p->maxMultiviewInstanceIndex = (1u << 27) - 1;
   p->maxPerSetDescriptors = 1024;
   p->maxMemoryAllocationSize = 1ull << 37;
}

static void fill_1_2(struct agxvk_properties *p)
{
   strcpy(p->driverName, "agxhal");
   strcpy(p->driverInfo, "agxhal 0.1.0: compute and transfer on Apple AGX");
   p->denormBehaviorIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
   p->roundingModeIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
   p->shaderSignedZeroInfNanPreserveFloat16 = VK_TRUE;
   p->shaderSignedZeroInfNanPreserveFloat32 = VK_TRUE;
   p->shaderDenormFlushToZeroFloat32 = VK_TRUE;
   p->shaderDenormPreserveFloat16 = VK_TRUE;
   p->shaderRoundingModeRTEFloat16 = VK_TRUE;
   p->shaderRoundingModeRTEFloat32 = VK_TRUE;
   p->maxTimelineSemaphoreValueDifference = UINT64_MAX >> 1;
   p->framebufferIntegerColorSampleCounts = VK_SAMPLE_COUNT_1_BIT;
}

/* Sets that are updated after they were bound have the same limits. */
static void fill_update_after_bind(struct agxvk_properties *p)
{
   p->maxUpdateAfterBindDescriptorsInAllPools = 1u << 20;
   p->maxPerStageDescriptorUpdateAfterBindSamplers = SAMPLERS;
   p->maxPerStageDescriptorUpdateAfterBindUniformBuffers = UNIFORM_BUFFERS;
   p->maxPerStageDescriptorUpdateAfterBindStorageBuffers = STORAGE_BUFFERS;
   p->maxPerStageDescriptorUpdateAfterBindSampledImages = TEXTURES;
   p->maxPerStageDescriptorUpdateAfterBindStorageImages = STORAGE_IMAGES;
   p->maxPerStageUpdateAfterBindResources = RESOURCES;
   p->maxDescriptorSetUpdateAfterBindSamplers = SAMPLERS;
   p->maxDescriptorSetUpdateAfterBindUniformBuffers = UNIFORM_BUFFERS;
   p->maxDescriptorSetUpdateAfterBindUniformBuffersDynamic = DYNAMIC_BUFFERS;
   p->maxDescriptorSetUpdateAfterBindStorageBuffers = STORAGE_BUFFERS;
   p->maxDescriptorSetUpdateAfterBindStorageBuffersDynamic = DYNAMIC_BUFFERS;
   p->maxDescriptorSetUpdateAfterBindSampledImages = TEXTURES;
   p->maxDescriptorSetUpdateAfterBindStorageImages = STORAGE_IMAGES;
}

static void fill_1_3(const struct agx_device_info *info, struct agxvk_properties *p)
{
   p->minSubgroupSize = p->maxSubgroupSize = info->simd_lanes;
   p->maxComputeWorkgroupSubgroups = info->max_workgroup_threads / info->simd_lanes;
   p->requiredSubgroupSizeStages = VK_SHADER_STAGE_COMPUTE_BIT;
   p->storageTexelBufferOffsetAlignmentBytes = ALIGN_B;
   p->uniformTexelBufferOffsetAlignmentBytes = ALIGN_B;
   p->maxBufferSize = 1ull << 37;
}

static void fill_extensions(struct agxvk_properties *p)
{
   p->maxPushDescriptors = 32;
   p->robustStorageBufferAccessSizeAlignment = 1;
   p->robustUniformBufferAccessSizeAlignment = 1;
   p->defaultRobustnessStorageBuffers = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DISABLED_EXT;
   p->defaultRobustnessUniformBuffers = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DISABLED_EXT;
   p->defaultRobustnessVertexInputs = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DISABLED_EXT;
   p->defaultRobustnessImages = VK_PIPELINE_ROBUSTNESS_IMAGE_BEHAVIOR_ROBUST_IMAGE_ACCESS_2_EXT;
}

void agxvk_properties_init(struct agxvk_physical_device *device)
{
   fill_core(device);
   fill_1_1(&device->info, &device->properties);
   fill_1_2(&device->properties);
   fill_update_after_bind(&device->properties);
   fill_1_3(&device->info, &device->properties);
   fill_extensions(&device->properties);
}
