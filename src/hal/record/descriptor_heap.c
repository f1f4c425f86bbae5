/* SPDX-License-Identifier: MIT
 *
 * Descriptor heaps: creation, what applications write to them, and what a dispatch takes of them.
 * Kernels find elements as they do in the heap that a launch makes for itself (bind_array.c), so
 * nothing in code says which of the two it is.
 */
#include "hal/record/descriptor_heap.h"

#include <string.h>

#include "base/util.h"
#include "hal/core/desc.h"
#include "hal/memory/buffer.h"
#include "hal/memory/sampler_heap.h"
#include "hal/record/bind_buffer.h"
#include "agx/isa/isa.h"

_Static_assert((int)AGX_VIEW_1D == AGX_ISA_DIM_1D && (int)AGX_VIEW_2D == AGX_ISA_DIM_2D &&
                  (int)AGX_VIEW_1D_ARRAY == AGX_ISA_DIM_1D_ARRAY &&
                  (int)AGX_VIEW_2D_ARRAY == AGX_ISA_DIM_2D_ARRAY &&
                  (int)AGX_VIEW_2D_MULTISAMPLED == AGX_ISA_DIM_2D_MS &&
                  (int)AGX_VIEW_3D == AGX_ISA_DIM_3D && (int)AGX_VIEW_CUBE == AGX_ISA_DIM_CUBE &&
                  (int)AGX_VIEW_CUBE_ARRAY == AGX_ISA_DIM_CUBE_ARRAY &&
                  (int)AGX_VIEW_2D_MULTISAMPLED_ARRAY == AGX_ISA_DIM_2D_MS_ARRAY,
               "views are numbered as dimensions are");
_Static_assert(AGX_MAX_HEAP_SLOTS == AGX_PROGRAM_MAX_HEAP_ELEMENTS, "an array fits a heap");

#define PART_ALIGN_B 128u

/* ---- parts ---------------------------------------------------------------- */

/* What code may ask for of a binding type: enum agx_binding_type has the numbers of
 * agx_binding_kind. */
static uint32_t parts_of(uint32_t type)
{
   uint32_t parts = 0;
   if (agx_binding_is_buffer(type))
      parts |= 1u << AGX_HEAP_BUFFERS;
   if (agx_binding_has_image(type))
      parts |= 1u << AGX_HEAP_TEXTURES | 1u << AGX_HEAP_NUMBERS;
   if (type == AGX_BINDING_STORAGE_IMAGE || type == AGX_BINDING_STORAGE_TEXEL_BUFFER)
      parts |= 1u << AGX_HEAP_IMAGES;
   if (agx_binding_has_sampler(type))
      parts |= 1u << AGX_HEAP_SAMPLERS;
   return parts;
}

uint32_t agx_heap_stride(uint64_t part)
{
   static const uint8_t strides_B[AGX_HEAP_PART_COUNT] = {
      [AGX_HEAP_TEXTURES] = AGX_HEAP_DESCRIPTOR_B, [AGX_HEAP_IMAGES] = AGX_HEAP_DESCRIPTOR_B,
      [AGX_HEAP_NUMBERS] = AGX_HEAP_NUMBERS_B,     [AGX_HEAP_SAMPLERS] = AGX_HEAP_SAMPLER_B,
      [AGX_HEAP_BUFFERS] = AGX_HEAP_BUFFER_B,
   };
   return strides_B[part];
}

static void write_numbers(const struct agx_bound *bound, uint8_t *out)
{
   _Static_assert(4 * AGX_IMAGE_PROPERTY_COUNT <= AGX_HEAP_ADDRESS_B, "all have room");
   const uint64_t address = agx_bound_property(bound, AGX_IMAGE_ADDRESS);
   memset(out, 0, AGX_HEAP_NUMBERS_B);
   for (uint32_t i = AGX_IMAGE_WIDTH; i < AGX_IMAGE_PROPERTY_COUNT; i++) {
      uint32_t value = (uint32_t)agx_bound_property(bound, (enum agx_image_property)i);
      memcpy(out + (size_t)4 * i, &value, sizeof(value)); /* as uniforms: hosts are little-endian */
   }
   memcpy(out + AGX_HEAP_ADDRESS_B, &address, sizeof(address));
}

static void write_buffer(const struct agx_bound *bound, uint8_t *out)
{
   const uint64_t words[2] = {bound->address, AGX_MIN(bound->length_B, (uint64_t)UINT32_MAX)};
   _Static_assert(sizeof(words) == AGX_HEAP_BUFFER_B, "an element");
   memcpy(out, words, sizeof(words));
}

agx_status agx_heap_write_part(struct agx_device *device, const struct agx_bound *bound,
                               uint64_t part, uint8_t *out)
{
   uint32_t number;
   switch ((enum agx_heap_part)part) {
   case AGX_HEAP_TEXTURES:
      return agx_bound_pack_texture(bound, out);
   case AGX_HEAP_IMAGES:
      return agx_bound_pack_image(bound, out);
   case AGX_HEAP_NUMBERS:
      write_numbers(bound, out);
      return AGX_OK;
   case AGX_HEAP_SAMPLERS:
      AGX_TRY(agx_sampler_heap_enter(device, bound->sampler, &number));
      memcpy(out, &number, AGX_HEAP_SAMPLER_B); /* hosts are little-endian */
      return AGX_OK;
   default:
      write_buffer(bound, out);
      return AGX_OK;
   }
}

/* ---- lifetime -------------------------------------------------------------- */

static void heap_destroy(struct agx_object *object)
{
   struct agx_descriptor_heap *heap = agx_container_of(object, struct agx_descriptor_heap, object);
   struct agx_device *device = heap->device;
   agx_release(heap->memory);
   agx_host_free(agx_context_of(device)->alloc, heap, sizeof(*heap));
   agx_release(device);
}

static const struct agx_object_type heap_type = {"descriptor heap", heap_destroy};

#define ALL_TYPES                                                                                  \
   (((1u << (AGX_BINDING_STORAGE_TEXEL_BUFFER + 1)) - 1) &                                         \
    ~(1u << AGX_BINDING_ATTRIBUTE | 1u << AGX_BINDING_INDICES | 1u << AGX_BINDING_FEEDBACK))

static agx_status check_desc(const struct agx_descriptor_heap_desc *desc)
{
   if (!desc->slots || desc->slots > AGX_MAX_HEAP_SLOTS)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "descriptor heap of %u slots; 1 to %u", desc->slots,
                      AGX_MAX_HEAP_SLOTS);
   if (!desc->types || desc->types & ~ALL_TYPES)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "descriptor heap of types 0x%x, of 0x%x", desc->types,
                      ALL_TYPES);
   return AGX_OK;
}

static agx_status make_memory(struct agx_descriptor_heap *heap, const char *label)
{
   struct agx_buffer_desc memory = {.size = sizeof(memory), .label = label};
   void *bytes;
   for (uint32_t type = 0; type <= AGX_BINDING_STORAGE_TEXEL_BUFFER; type++)
      heap->parts |= heap->types >> type & 1 ? parts_of(type) : 0;
   for (uint32_t part = 0; part < AGX_HEAP_PART_COUNT; part++) {
      heap->part_offset_B[part] = memory.size_B;
      if (heap->parts >> part & 1)
         memory.size_B += agx_align_up((uint64_t)heap->slots * agx_heap_stride(part), PART_ALIGN_B);
   }
   AGX_TRY(agx_buffer_create(heap->device, &memory, &heap->memory));
   AGX_TRY(agx_buffer_map(heap->memory, &bytes));
   heap->bytes = bytes;
   return AGX_OK;
}

agx_status agx_descriptor_heap_create(struct agx_device *device,
                                      const struct agx_descriptor_heap_desc *desc,
                                      struct agx_descriptor_heap **out_heap)
{
   struct agx_descriptor_heap_desc read;
   *out_heap = NULL;
   AGX_TRY(agx_fork_check(device));
   AGX_TRY(agx_desc_read("agx_descriptor_heap_desc", desc, &read, sizeof(read)));
   AGX_TRY(check_desc(&read));
   struct agx_descriptor_heap *heap = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*heap));
   if (!heap)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for a descriptor heap");
   agx_object_init(&heap->object, &heap_type);
   heap->device = device;
   heap->slots = read.slots;
   heap->types = read.types;
   agx_retain(device);
   agx_status status = make_memory(heap, read.label);
   if (status != AGX_OK) {
      agx_release(heap);
      return status;
   }
   *out_heap = heap;
   return AGX_OK;
}

/* ---- what applications write ------------------------------------------------ */

/* Resolves a descriptor as a dispatch does what it binds to a kernel that would do anything. */
static agx_status resolve(const struct agx_descriptor_heap *heap,
                          const struct agx_descriptor *descriptor, struct agx_bound *out)
{
   const struct agx_program_binding wanted = {
      .kind = descriptor->type,
      .access = AGX_BINDING_READS | AGX_BINDING_HEAP,
      .dim = agx_binding_is_texels(descriptor->type) ? AGX_ISA_DIM_2D : descriptor->view,
      .robustness = AGX_PROGRAM_ROBUST_ZERO, /* for the sinks */
      .elements = 1,
   };
   *out = (struct agx_bound){0};
   if (descriptor->type > AGX_BINDING_STORAGE_TEXEL_BUFFER ||
       !(heap->types >> descriptor->type & 1))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "type %u, in a heap of types 0x%x", descriptor->type,
                      heap->types);
   if (descriptor->view > AGX_VIEW_2D_MULTISAMPLED_ARRAY)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "view %u; the last is AGX_VIEW_2D_MULTISAMPLED_ARRAY, %u", descriptor->view,
                      AGX_VIEW_2D_MULTISAMPLED_ARRAY);
   if (agx_binding_is_buffer(wanted.kind))
      return agx_bind_range(&wanted, &descriptor->value, heap->device, out);
   return agx_bind_seen(&wanted, &descriptor->value, heap->device, out);
}

/* Where a kernel can't store, it stores to nothing. */
static bool is_storable(const struct agx_bound *bound)
{
   return bound->format->is_storable &&
          !(bound->image && bound->image->flags & AGX_IMAGE_GPU_READ_ONLY);
}

static agx_status write_slot(struct agx_descriptor_heap *heap, uint32_t slot,
                             const struct agx_descriptor *descriptor)
{
   struct agx_bound bound;
   AGX_TRY(resolve(heap, descriptor, &bound));
   const uint32_t parts = parts_of(descriptor->type);
   for (uint32_t part = 0; part < AGX_HEAP_PART_COUNT; part++) {
      const uint32_t stride_B = agx_heap_stride(part);
      uint8_t *at = heap->bytes + heap->part_offset_B[part] + (uint64_t)slot * stride_B;
      struct agx_bound seen = bound;
      if (!(parts >> part & 1))
         continue;
      if (part == AGX_HEAP_IMAGES && !bound.is_null && !is_storable(&bound))
         agx_bind_nothing_seen(heap->device, &seen);
      AGX_TRY(agx_heap_write_part(heap->device, &seen, part, at));
   }
   return AGX_OK;
}

static agx_status check_slots(const struct agx_descriptor_heap *heap, uint32_t first,
                              uint32_t count)
{
   if (agx_range_fits(first, count, heap->slots))
      return AGX_OK;
   return AGX_FAIL(AGX_OUT_OF_RANGE, "descriptor heap %s: %u slots from %u of %u",
                   heap->memory->label, count, first, heap->slots);
}

agx_status agx_descriptor_heap_write(struct agx_descriptor_heap *heap, uint32_t first,
                                     uint32_t count, const struct agx_descriptor *descriptors)
{
   AGX_TRY(agx_fork_check(heap->device));
   AGX_TRY(check_slots(heap, first, count));
   for (uint32_t i = 0; i < count; i++) {
      agx_status status = write_slot(heap, first + i, &descriptors[i]);
      if (status == AGX_OK)
         continue;
      agx_error_prefix("descriptor heap %s: slot %u", heap->memory->label, first + i);
      return status;
   }
   return AGX_OK;
}

agx_status agx_descriptor_heap_copy(struct agx_descriptor_heap *source, uint32_t source_first,
                                    struct agx_descriptor_heap *target, uint32_t target_first,
                                    uint32_t count)
{
   AGX_TRY(agx_fork_check(source->device));
   AGX_TRY(check_slots(source, source_first, count));
   AGX_TRY(check_slots(target, target_first, count));
   if (source->device != target->device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "descriptor heap %s is %s", target->memory->label,
                      agx_describe_owner(target->device, source->device).text);
   for (uint32_t part = 0; part < AGX_HEAP_PART_COUNT; part++) {
      const uint64_t stride_B = agx_heap_stride(part);
      if (source->parts & target->parts & 1u << part)
         memmove(target->bytes + target->part_offset_B[part] + target_first * stride_B,
                 source->bytes + source->part_offset_B[part] + source_first * stride_B,
                 count * stride_B);
   }
   return AGX_OK;
}

/* ---- what a dispatch takes ---------------------------------------------------- */

const struct agx_heap_range *agx_heap_find(const struct agx_dispatch *dispatch, uint32_t set,
                                           uint32_t binding)
{
   for (uint32_t i = 0; i < dispatch->heap_count; i++)
      if (dispatch->heaps[i].set == set && dispatch->heaps[i].binding == binding)
         return &dispatch->heaps[i];
   return NULL;
}

static agx_status check_range(const struct agx_program_binding *wanted,
                              const struct agx_heap_range *range, const struct agx_device *device,
                              bool is_unchecked)
{
   const struct agx_descriptor_heap *heap = range->heap;
   if (!heap)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "the heap is NULL");
   if (heap->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s is a descriptor heap %s", heap->memory->label,
                      agx_describe_owner(heap->device, device).text);
   if (!(wanted->access & AGX_BINDING_HEAP))
      return AGX_FAIL(
         AGX_INVALID_ARGUMENT,
         "the kernel doesn't look for it in a heap: name its set in heap_sets when the "
         "executable is made");
   if (!(heap->types >> wanted->kind & 1))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "type %u, in heap %s of types 0x%x", wanted->kind,
                      heap->memory->label, heap->types);
   if (!range->slot_count)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "no slots of heap %s", heap->memory->label);
   AGX_TRY(check_slots(heap, range->first_slot, range->slot_count));
   if (wanted->elements != AGX_PROGRAM_UNSIZED && range->slot_count < wanted->elements &&
       !is_unchecked)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%u slots of heap %s, for an array of %u",
                      range->slot_count, heap->memory->label, wanted->elements);
   return AGX_OK;
}

agx_status agx_heap_bind(const char *name, const struct agx_program_binding *wanted,
                         const struct agx_heap_range *range, const struct agx_device *device,
                         bool is_unchecked, struct agx_bound *out_bound)
{
   agx_status status = check_range(wanted, range, device, is_unchecked);
   if (status != AGX_OK) {
      agx_error_prefix("dispatch of %s: set %u binding %u", name, wanted->set, wanted->binding);
      return status;
   }
   agx_bind_nothing_seen(device, out_bound);
   out_bound->objects[0] = range->heap;
   out_bound->heap = range->heap;
   out_bound->first_slot = range->first_slot;
   out_bound->elements = range->slot_count;
   return AGX_OK;
}

uint64_t agx_heap_address(const struct agx_bound *bound, uint64_t part)
{
   const struct agx_descriptor_heap *heap = bound->heap;
   return heap->memory->address + heap->part_offset_B[part] +
          (uint64_t)bound->first_slot * agx_heap_stride(part);
}
