/* SPDX-License-Identifier: MIT
 *
 * What applications write to descriptors: one by one, from other sets, and by templates.
 */
#include <string.h>

#include "vulkan/descriptor.h"
#include "vulkan/image.h"
#include "vulkan/memory.h"

/* ---- one descriptor ----------------------------------------------------- */

static void write_buffer(struct agx_binding *to, const VkDescriptorBufferInfo *info)
{
   const struct agxvk_buffer *buffer = agxvk_buffer_of(info->buffer);
   to->ref =
      buffer ? agxvk_buffer_ref(buffer, info->offset, info->range) : (struct agx_buffer_ref){0};
}

static void write_view(struct agx_binding *to, VkBufferView handle)
{
   const struct agxvk_buffer_view *view = agxvk_buffer_view_of(handle);
   to->ref = view ? view->ref : (struct agx_buffer_ref){0};
   to->format = view ? view->format : NULL;
}

static void write_image(struct agx_binding *to, const VkDescriptorImageInfo *info)
{
   static const struct agxvk_image_view no_view;
   const struct agxvk_image_view *view = agxvk_image_view_of(info->imageView);
   view = view ? view : &no_view;
   to->image = view->image;
   to->first_level = view->first_level;
   to->level_count = view->level_count;
   to->first_layer = view->first_layer;
   to->layer_count = view->layer_count;
   to->format = view->format;
   to->swizzle = view->swizzle[0] ? view->swizzle : NULL;
}

static void write_one(struct agx_binding *to, VkDescriptorType type, bool has_sampler,
                      const void *info)
{
   const VkDescriptorImageInfo *image = info;
   switch (type) {
   case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
   case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
   case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
   case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC:
      write_buffer(to, info);
      break;
   case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
   case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
      write_view(to, *(const VkBufferView *)info);
      break;
   case VK_DESCRIPTOR_TYPE_SAMPLER:
      if (!has_sampler && image->sampler)
         to->sampler = agxvk_sampler_of(image->sampler)->core;
      break;
   case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
      if (!has_sampler && image->sampler)
         to->sampler = agxvk_sampler_of(image->sampler)->core;
      write_image(to, image);
      break;
   default:
      write_image(to, image);
      break;
   }
}

/* ---- writes and copies -------------------------------------------------- */

static void write_inline(const struct agxvk_set_binding *binding, uint8_t *inline_bytes,
                         uint32_t offset_B, uint32_t size_B, const void *data)
{
   memcpy(inline_bytes + binding->inline_offset_B + offset_B, data, size_B);
}

/* Where the elements of a write are, and how far apart. */
static const void *elements_of(const VkWriteDescriptorSet *write, size_t *stride_B)
{
   switch (write->descriptorType) {
   case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
   case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
   case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
   case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC:
      *stride_B = sizeof(*write->pBufferInfo);
      return write->pBufferInfo;
   case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
   case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
      *stride_B = sizeof(*write->pTexelBufferView);
      return write->pTexelBufferView;
   default:
      *stride_B = sizeof(*write->pImageInfo);
      return write->pImageInfo;
   }
}

static void write_elements(const struct agxvk_set_layout *layout,
                           const struct agxvk_set_binding *binding,
                           struct agxvk_descriptor *descriptors, VkDescriptorType type,
                           uint32_t first, uint32_t count, const void *data, size_t stride_B)
{
   for (uint32_t i = 0; i < count; i++) {
      const uint32_t at = binding->first + first + i;
      if (at >= layout->descriptor_count)
         return;
      write_one(&descriptors[at].value, type, binding->samplers != NULL,
                (const uint8_t *)data + i * stride_B);
   }
}

void agxvk_descriptors_write(const struct agxvk_set_layout *layout,
                             struct agxvk_descriptor *descriptors, uint8_t *inline_bytes,
                             const VkWriteDescriptorSet *write)
{
   const struct agxvk_set_binding *binding = agxvk_set_layout_find(layout, write->dstBinding);
   size_t stride_B;
   if (!binding)
      return;
   if (write->descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK) {
      const VkWriteDescriptorSetInlineUniformBlock *block =
         agxvk_find(write->pNext, VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_INLINE_UNIFORM_BLOCK);
      write_inline(binding, inline_bytes, write->dstArrayElement, write->descriptorCount,
                   block->pData);
      return;
   }
   const void *elements = elements_of(write, &stride_B);
   write_elements(layout, binding, descriptors, write->descriptorType, write->dstArrayElement,
                  write->descriptorCount, elements, stride_B);
}

/* An immutable sampler stays. */
static void copy_one(struct agx_binding *to, const struct agx_binding *from, bool has_sampler)
{
   struct agx_sampler *sampler = has_sampler ? to->sampler : from->sampler;
   *to = *from;
   to->sampler = sampler;
}

static void copy(const VkCopyDescriptorSet *info)
{
   struct agxvk_descriptor_set *from = agxvk_descriptor_set_of(info->srcSet);
   struct agxvk_descriptor_set *to = agxvk_descriptor_set_of(info->dstSet);
   const struct agxvk_set_binding *source = agxvk_set_layout_find(from->layout, info->srcBinding);
   const struct agxvk_set_binding *target = agxvk_set_layout_find(to->layout, info->dstBinding);
   if (source->type == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK) {
      write_inline(target, to->inline_bytes, info->dstArrayElement, info->descriptorCount,
                   from->inline_bytes + source->inline_offset_B + info->srcArrayElement);
      return;
   }
   for (uint32_t i = 0; i < info->descriptorCount; i++)
      copy_one(&to->descriptors[target->first + info->dstArrayElement + i].value,
               &from->descriptors[source->first + info->srcArrayElement + i].value,
               target->samplers != NULL);
}

VKAPI_ATTR void VKAPI_CALL agxvk_UpdateDescriptorSets(VkDevice device, uint32_t writeCount,
                                                      const VkWriteDescriptorSet *pWrites,
                                                      uint32_t copyCount,
                                                      const VkCopyDescriptorSet *pCopies)
{
   for (uint32_t i = 0; i < writeCount; i++) {
      struct agxvk_descriptor_set *set = agxvk_descriptor_set_of(pWrites[i].dstSet);
      agxvk_descriptors_write(set->layout, set->descriptors, set->inline_bytes, &pWrites[i]);
   }
   for (uint32_t i = 0; i < copyCount; i++)
      copy(&pCopies[i]);
}

/* ---- templates ---------------------------------------------------------- */

struct agxvk_template {
   struct agxvk_object object;
   uint32_t entry_count;
   VkDescriptorUpdateTemplateEntry entries[];
};
AGXVK_OBJECT(template, VkDescriptorUpdateTemplate)

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateDescriptorUpdateTemplate(
   VkDevice device, const VkDescriptorUpdateTemplateCreateInfo *pCreateInfo,
   const VkAllocationCallbacks *pAllocator, VkDescriptorUpdateTemplate *pTemplate)
{
   const uint32_t count = pCreateInfo->descriptorUpdateEntryCount;
   struct agxvk_template *made;
   made = agxvk_object_create(agxvk_device_of(device), pAllocator,
                              sizeof(*made) + count * sizeof(made->entries[0]),
                              VK_OBJECT_TYPE_DESCRIPTOR_UPDATE_TEMPLATE);
   if (!made)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   made->entry_count = count;
   memcpy(made->entries, pCreateInfo->pDescriptorUpdateEntries, count * sizeof(made->entries[0]));
   *pTemplate = agxvk_template_handle(made);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyDescriptorUpdateTemplate(
   VkDevice device, VkDescriptorUpdateTemplate handle, const VkAllocationCallbacks *pAllocator)
{
   agxvk_object_destroy(agxvk_device_of(device), pAllocator, agxvk_template_of(handle));
}

void agxvk_template_write(VkDescriptorUpdateTemplate handle, const struct agxvk_set_layout *layout,
                          struct agxvk_descriptor *descriptors, uint8_t *inline_bytes,
                          const void *data)
{
   const struct agxvk_template *from = agxvk_template_of(handle);
   for (uint32_t i = 0; i < from->entry_count; i++) {
      const VkDescriptorUpdateTemplateEntry *entry = &from->entries[i];
      const struct agxvk_set_binding *binding = agxvk_set_layout_find(layout, entry->dstBinding);
      const uint8_t *at = (const uint8_t *)data + entry->offset;
      if (!binding)
         continue;
      if (entry->descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK)
         write_inline(binding, inline_bytes, entry->dstArrayElement, entry->descriptorCount, at);
      else
         write_elements(layout, binding, descriptors, entry->descriptorType, entry->dstArrayElement,
                        entry->descriptorCount, at, entry->stride);
   }
}

VKAPI_ATTR void VKAPI_CALL agxvk_UpdateDescriptorSetWithTemplate(
   VkDevice device, VkDescriptorSet handle, VkDescriptorUpdateTemplate template, const void *pData)
{
   struct agxvk_descriptor_set *set = agxvk_descriptor_set_of(handle);
   agxvk_template_write(template, set->layout, set->descriptors, set->inline_bytes, pData);
}
