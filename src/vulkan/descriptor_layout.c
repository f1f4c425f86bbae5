/* SPDX-License-Identifier: MIT
 *
 * Layouts of sets and pipelines, pools, and the sets themselves.
 */
#include <stdlib.h>
#include <string.h>

#include "vulkan/descriptor.h"
#include "vulkan/image.h"

/* ---- layouts of sets ---------------------------------------------------- */

static void *grab(uint32_t *references, void *object)
{
   __atomic_fetch_add(references, 1, __ATOMIC_RELAXED);
   return object;
}

static bool drop(uint32_t *references)
{
   return __atomic_fetch_sub(references, 1, __ATOMIC_ACQ_REL) == 1;
}

void agxvk_set_layout_release(struct agxvk_device *device, struct agxvk_set_layout *layout)
{
   if (layout && drop(&layout->references))
      agxvk_object_destroy(device, NULL, layout);
}

const struct agxvk_set_binding *agxvk_set_layout_find(const struct agxvk_set_layout *layout,
                                                      uint32_t binding)
{
   uint32_t low = 0, high = layout->binding_count;
   while (low < high) {
      const uint32_t middle = (low + high) / 2;
      if (layout->bindings[middle].binding == binding)
         return &layout->bindings[middle];
      if (layout->bindings[middle].binding < binding)
         low = middle + 1;
      else
         high = middle;
   }
   return NULL;
}

static bool has_samplers(const VkDescriptorSetLayoutBinding *binding)
{
   return binding->pImmutableSamplers &&
          (binding->descriptorType == VK_DESCRIPTOR_TYPE_SAMPLER ||
           binding->descriptorType == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER);
}

static bool is_dynamic(VkDescriptorType type)
{
   return type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC ||
          type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC;
}

static int compare_bindings(const void *a, const void *b)
{
   const struct agxvk_set_binding *left = a, *right = b;
   return (left->binding > right->binding) - (left->binding < right->binding);
}

/* Numbers descriptors in the order of bindings, so that a write that goes on in the next binding
 * goes on in the array. */
static void number(struct agxvk_set_layout *layout)
{
   qsort(layout->bindings, layout->binding_count, sizeof(layout->bindings[0]), compare_bindings);
   for (uint32_t i = 0; i < layout->binding_count; i++) {
      struct agxvk_set_binding *binding = &layout->bindings[i];
      binding->first = layout->descriptor_count;
      layout->descriptor_count += binding->count;
      binding->dynamic = is_dynamic(binding->type) ? layout->dynamic_count : AGXVK_NO_DYNAMIC;
      layout->dynamic_count += is_dynamic(binding->type) ? binding->count : 0;
      binding->inline_offset_B = layout->inline_B;
      layout->inline_B += (binding->inline_B + 15) / 16 * 16;
   }
}

static void take_binding(const VkDescriptorSetLayoutBinding *from, struct agxvk_set_binding *to,
                         struct agx_sampler ***samplers)
{
   const bool is_inline = from->descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK;
   *to = (struct agxvk_set_binding){
      .binding = from->binding,
      .type = from->descriptorType,
      .count = is_inline ? from->descriptorCount > 0 : from->descriptorCount,
      .inline_B = is_inline ? from->descriptorCount : 0,
   };
   if (!has_samplers(from))
      return;
   to->samplers = *samplers;
   for (uint32_t i = 0; i < from->descriptorCount; i++)
      *(*samplers)++ = agxvk_sampler_of(from->pImmutableSamplers[i])->core;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateDescriptorSetLayout(
   VkDevice device_handle, const VkDescriptorSetLayoutCreateInfo *pCreateInfo,
   const VkAllocationCallbacks *pAllocator, VkDescriptorSetLayout *pSetLayout)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   const uint32_t count = pCreateInfo->bindingCount;
   uint64_t samplers = 0;
   for (uint32_t i = 0; i < count; i++)
      samplers +=
         has_samplers(&pCreateInfo->pBindings[i]) ? pCreateInfo->pBindings[i].descriptorCount : 0;
   struct agxvk_set_layout *layout;
   const size_t bindings_B = sizeof(*layout) + count * sizeof(layout->bindings[0]);
   layout = agxvk_object_create(device, NULL, bindings_B + samplers * sizeof(struct agx_sampler *),
                                VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT);
   if (!layout)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   struct agx_sampler **next = (struct agx_sampler **)((uint8_t *)layout + bindings_B);
   layout->references = 1;
   layout->binding_count = count;
   for (uint32_t i = 0; i < count; i++)
      take_binding(&pCreateInfo->pBindings[i], &layout->bindings[i], &next);
   number(layout);
   *pSetLayout = agxvk_set_layout_handle(layout);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyDescriptorSetLayout(VkDevice device,
                                                            VkDescriptorSetLayout layout,
                                                            const VkAllocationCallbacks *pAllocator)
{
   agxvk_set_layout_release(agxvk_device_of(device), agxvk_set_layout_of(layout));
}

/* A kernel may have as many as it has bindings; sets as many as memory. */
VKAPI_ATTR void VKAPI_CALL agxvk_GetDescriptorSetLayoutSupport(
   VkDevice device, const VkDescriptorSetLayoutCreateInfo *pCreateInfo,
   VkDescriptorSetLayoutSupport *pSupport)
{
   const struct agxvk_properties *properties = &agxvk_device_of(device)->physical->properties;
   uint64_t count = 0;
   for (uint32_t i = 0; i < pCreateInfo->bindingCount; i++)
      count += pCreateInfo->pBindings[i].descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK
                  ? 1
                  : pCreateInfo->pBindings[i].descriptorCount;
   pSupport->supported = count <= properties->maxPerSetDescriptors;
}

/* ---- layouts of pipelines ----------------------------------------------- */

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreatePipelineLayout(
   VkDevice device_handle, const VkPipelineLayoutCreateInfo *pCreateInfo,
   const VkAllocationCallbacks *pAllocator, VkPipelineLayout *pPipelineLayout)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   struct agxvk_pipeline_layout *layout =
      agxvk_object_create(device, NULL, sizeof(*layout), VK_OBJECT_TYPE_PIPELINE_LAYOUT);
   if (!layout)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   layout->references = 1;
   layout->set_count = AGXVK_MIN(pCreateInfo->setLayoutCount, AGXVK_MAX_SETS);
   for (uint32_t i = 0; i < layout->set_count; i++) {
      struct agxvk_set_layout *set = agxvk_set_layout_of(pCreateInfo->pSetLayouts[i]);
      layout->sets[i] = set ? grab(&set->references, set) : NULL;
   }
   *pPipelineLayout = agxvk_pipeline_layout_handle(layout);
   return VK_SUCCESS;
}

void agxvk_pipeline_layout_release(struct agxvk_device *device,
                                   struct agxvk_pipeline_layout *layout)
{
   if (!layout || !drop(&layout->references))
      return;
   for (uint32_t i = 0; i < layout->set_count; i++)
      agxvk_set_layout_release(device, layout->sets[i]);
   agxvk_object_destroy(device, NULL, layout);
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyPipelineLayout(VkDevice device, VkPipelineLayout layout,
                                                       const VkAllocationCallbacks *pAllocator)
{
   agxvk_pipeline_layout_release(agxvk_device_of(device), agxvk_pipeline_layout_of(layout));
}

/* ---- pools -------------------------------------------------------------- */

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateDescriptorPool(
   VkDevice device_handle, const VkDescriptorPoolCreateInfo *pCreateInfo,
   const VkAllocationCallbacks *pAllocator, VkDescriptorPool *pDescriptorPool)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   struct agxvk_descriptor_pool *pool =
      agxvk_object_create(device, pAllocator, sizeof(*pool), VK_OBJECT_TYPE_DESCRIPTOR_POOL);
   if (!pool)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   pool->flags = pCreateInfo->flags;
   pool->sets_left = pCreateInfo->maxSets;
   for (uint32_t i = 0; i < pCreateInfo->poolSizeCount; i++)
      pool->descriptors_left += pCreateInfo->pPoolSizes[i].descriptorCount;
   *pDescriptorPool = agxvk_descriptor_pool_handle(pool);
   return VK_SUCCESS;
}

static void free_set(struct agxvk_device *device, struct agxvk_descriptor_set *set)
{
   struct agxvk_descriptor_pool *pool = set->pool;
   *set->link = set->next;
   if (set->next)
      set->next->link = set->link;
   pool->sets_left++;
   pool->descriptors_left += set->layout->descriptor_count;
   agx_release(set->inline_buffer);
   agxvk_set_layout_release(device, set->layout);
   agxvk_object_destroy(device, NULL, set);
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_ResetDescriptorPool(VkDevice device, VkDescriptorPool pool,
                                                         VkDescriptorPoolResetFlags flags)
{
   while (agxvk_descriptor_pool_of(pool)->first)
      free_set(agxvk_device_of(device), agxvk_descriptor_pool_of(pool)->first);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyDescriptorPool(VkDevice device, VkDescriptorPool pool,
                                                       const VkAllocationCallbacks *pAllocator)
{
   if (!pool)
      return;
   agxvk_ResetDescriptorPool(device, pool, 0);
   agxvk_object_destroy(agxvk_device_of(device), pAllocator, agxvk_descriptor_pool_of(pool));
}

/* ---- sets --------------------------------------------------------------- */

/* Inline uniform blocks are buffers that the host writes. */
static agx_status make_inline(struct agxvk_device *device, struct agxvk_descriptor_set *set)
{
   const struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = set->layout->inline_B, .label = "inline uniform blocks"};
   void *memory = NULL;
   if (!set->layout->inline_B)
      return AGX_OK;
   agx_status status = agx_buffer_create(device->core, &desc, &set->inline_buffer);
   if (status == AGX_OK)
      status = agx_buffer_map(set->inline_buffer, &memory);
   if (status != AGX_OK)
      return status;
   set->inline_bytes = memory;
   for (uint32_t i = 0; i < set->layout->binding_count; i++) {
      const struct agxvk_set_binding *binding = &set->layout->bindings[i];
      if (binding->inline_B)
         set->descriptors[binding->first].value.ref = (struct agx_buffer_ref){
            set->inline_buffer, binding->inline_offset_B, binding->inline_B, 0, 0};
   }
   return AGX_OK;
}

void agxvk_descriptors_init(const struct agxvk_set_layout *layout,
                            struct agxvk_descriptor *descriptors)
{
   memset(descriptors, 0, layout->descriptor_count * sizeof(*descriptors));
   for (uint32_t i = 0; i < layout->binding_count; i++) {
      const struct agxvk_set_binding *binding = &layout->bindings[i];
      for (uint32_t e = 0; binding->samplers && e < binding->count; e++)
         descriptors[binding->first + e].value.sampler = binding->samplers[e];
   }
}

static VkResult allocate_set(struct agxvk_device *device, struct agxvk_descriptor_pool *pool,
                             struct agxvk_set_layout *layout, VkDescriptorSet *out)
{
   struct agxvk_descriptor_set *set;
   if (!pool->sets_left || pool->descriptors_left < layout->descriptor_count)
      return VK_ERROR_OUT_OF_POOL_MEMORY;
   set = agxvk_object_create(device, NULL,
                             sizeof(*set) + layout->descriptor_count * sizeof(set->descriptors[0]),
                             VK_OBJECT_TYPE_DESCRIPTOR_SET);
   if (!set)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   set->pool = pool;
   set->layout = grab(&layout->references, layout);
   set->next = pool->first;
   set->link = &pool->first;
   if (set->next)
      set->next->link = &set->next;
   pool->first = set;
   pool->sets_left--;
   pool->descriptors_left -= layout->descriptor_count;
   agxvk_descriptors_init(layout, set->descriptors);
   agx_status status = make_inline(device, set);
   if (status != AGX_OK) {
      free_set(device, set);
      return agxvk_memory_result(device, status);
   }
   *out = agxvk_descriptor_set_handle(set);
   return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_FreeDescriptorSets(VkDevice device, VkDescriptorPool pool,
                                                        uint32_t count,
                                                        const VkDescriptorSet *pDescriptorSets)
{
   for (uint32_t i = 0; i < count; i++)
      if (pDescriptorSets[i])
         free_set(agxvk_device_of(device), agxvk_descriptor_set_of(pDescriptorSets[i]));
   return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
agxvk_AllocateDescriptorSets(VkDevice device, const VkDescriptorSetAllocateInfo *pAllocateInfo,
                             VkDescriptorSet *pDescriptorSets)
{
   const uint32_t count = pAllocateInfo->descriptorSetCount;
   for (uint32_t i = 0; i < count; i++) {
      VkResult result = allocate_set(
         agxvk_device_of(device), agxvk_descriptor_pool_of(pAllocateInfo->descriptorPool),
         agxvk_set_layout_of(pAllocateInfo->pSetLayouts[i]), &pDescriptorSets[i]);
      if (result == VK_SUCCESS)
         continue;
      agxvk_FreeDescriptorSets(device, pAllocateInfo->descriptorPool, i, pDescriptorSets);
      memset(pDescriptorSets, 0, count * sizeof(*pDescriptorSets));
      return result;
   }
   return VK_SUCCESS;
}
