/* SPDX-License-Identifier: MIT
 *
 * Buffers that applications create: one GPU allocation each, or a view of one. Mapping, reading and
 * writing from the host. External memory, pools and reservations of addresses make their buffers
 * with it, too.
 */
#include "hal/memory/buffer.h"

#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/util.h"
#include "hal/memory/buffer_cache.h"
#include "hal/core/desc.h"
#include "hal/memory/state.h"

/* ---- life ---------------------------------------------------------------- */

void agx_buffer_init(struct agx_buffer *buffer, const struct agx_object_type *type,
                     struct agx_device *device, struct agxw_bo *bo,
                     const struct agx_buffer_desc *desc, const char *label)
{
   agx_object_init(&buffer->object, type);
   agx_retain(device);
   buffer->device = device;
   buffer->serial = agx_buffer_next_serial(device);
   buffer->bo = bo;
   buffer->size_B = desc->size_B;
   buffer->address = agxw_bo_va(bo);
   buffer->flags = desc->flags;
   buffer->memory = desc->memory;
   buffer->usage = desc->usage;
   buffer->access = desc->access;
   snprintf(buffer->label, sizeof(buffer->label), "%s", desc->label ? desc->label : label);
}

void agx_buffer_set_label(struct agx_object *object, const char *label)
{
   struct agx_buffer *buffer = agx_container_of(object, struct agx_buffer, object);
   label = label ? label : "buffer";
   agx_label_write(buffer->device, buffer->label, sizeof(buffer->label), label);
   if (!buffer->parent && !buffer->storage) /* else the memory is others', too */
      agxw_bo_set_label(buffer->bo, label);
}

void agx_buffer_fini(struct agx_buffer *buffer)
{
   agxw_bo_destroy(buffer->bo);
   agx_release(buffer->device);
}

static uint32_t storage_flags(uint32_t memory)
{
   return memory & AGX_MEMORY_HOST_VISIBLE ? AGX_STORAGE_HOST_VISIBLE : 0;
}

static void buffer_destroy(struct agx_object *object)
{
   struct agx_buffer *buffer = agx_container_of(object, struct agx_buffer, object);
   struct agx_device *device = buffer->device;
   agx_storage_return(device, buffer->bo, storage_flags(buffer->memory));
   agx_host_free(agx_context_of(device)->alloc, buffer, sizeof(*buffer));
   agx_release(device);
}

static const struct agx_object_type buffer_type = {"buffer", buffer_destroy, agx_buffer_set_label};

/* Once more without what pools and caches keep, if need be. */
static agx_status acquire_storage(struct agx_device *device, const struct agx_buffer_desc *desc,
                                  struct agxw_bo **out_bo)
{
   const char *label = desc->label ? desc->label : "buffer";
   const uint64_t size_B = AGX_MAX(desc->size_B, 1u);
   const uint32_t bo_flags = agx_buffer_bo_flags(desc->flags, desc->usage);
   const uint32_t flags = storage_flags(desc->memory);
   agx_status status =
      agx_storage_acquire(device, size_B, desc->align_B, bo_flags, flags, label, out_bo);
   if (status != AGX_RESOURCE_EXHAUSTED || !agx_memory_trim(device))
      return status;
   return agx_storage_acquire(device, size_B, desc->align_B, bo_flags, flags, label, out_bo);
}

agx_status agx_buffer_create(struct agx_device *device, const struct agx_buffer_desc *desc,
                             struct agx_buffer **out_buffer)
{
   struct agx_buffer_desc read;
   struct agxw_bo *bo;
   *out_buffer = NULL;
   AGX_TRY(agx_fork_check(device));
   AGX_TRY(agx_desc_read("agx_buffer_desc", desc, &read, sizeof(read)));
   AGX_TRY(agx_buffer_resolve(&read, "buffer"));
   struct agx_buffer *buffer = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*buffer));
   if (!buffer)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "buffer: out of host memory");
   agx_status status = acquire_storage(device, &read, &bo);
   if (status == AGX_OK && read.usage & AGX_USAGE_TIMESTAMPS) {
      status = agxw_bo_take_stamps(bo);
      if (status != AGX_OK)
         agx_storage_return(device, bo, storage_flags(read.memory));
   }
   if (status != AGX_OK) {
      agx_host_free(agx_context_of(device)->alloc, buffer, sizeof(*buffer));
      return status;
   }
   agx_buffer_init(buffer, &buffer_type, device, bo, &read, "buffer");
   *out_buffer = buffer;
   return AGX_OK;
}

/* ---- host access --------------------------------------------------------- */

agx_status agx_buffer_check_range(const struct agx_buffer *buffer, uint64_t offset_B,
                                  uint64_t *length_B)
{
   if (offset_B <= buffer->size_B && *length_B == AGX_WHOLE_LENGTH)
      *length_B = buffer->size_B - offset_B;
   if (!agx_range_fits(offset_B, *length_B, buffer->size_B))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: %llu bytes at %llu; it has %llu", buffer->label,
                      (unsigned long long)*length_B, (unsigned long long)offset_B,
                      (unsigned long long)buffer->size_B);
   return AGX_OK;
}

agx_status agx_buffer_check_live(const struct agx_buffer *buffer)
{
   uint32_t state = atomic_load_explicit(&buffer->state, memory_order_acquire);
   if (state != AGX_BUFFER_LIVE)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: %s", buffer->label,
                      state == AGX_BUFFER_RESERVED ? "it has no memory yet: its allocation waits"
                                                   : "its memory was given back");
   return AGX_OK;
}

/* Checks that the host may map the buffer for access. */
static agx_status check_mapping(struct agx_buffer *buffer, uint32_t access)
{
   if (access == 0 || access & ~(uint32_t)AGX_ACCESS_ALL)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: access %#x; it takes bits of %#x, one at least",
                      buffer->label, access, AGX_ACCESS_ALL);
   AGX_TRY(agx_fork_check(buffer));
   if (buffer->is_reservation)
      return AGX_FAIL(AGX_PERMISSION_DENIED,
                      "%s: addresses have no memory of their own: map its pages (agx_pages_map)",
                      buffer->label);
   if (!(buffer->memory & AGX_MEMORY_HOST_VISIBLE) || !(buffer->usage & AGX_USAGE_MAPPING))
      return AGX_FAIL(AGX_PERMISSION_DENIED,
                      "%s: the host can't map it; ask for AGX_USAGE_MAPPING and "
                      "AGX_MEMORY_HOST_VISIBLE",
                      buffer->label);
   if (access & ~buffer->access)
      return AGX_FAIL(AGX_PERMISSION_DENIED, "%s: access %#x; its own allows %#x", buffer->label,
                      access, buffer->access);
   return agx_buffer_check_live(buffer);
}

agx_status agx_buffer_host_memory(struct agx_buffer *buffer, void **out_memory)
{
   void *memory = buffer->host;
   *out_memory = NULL;
   if (buffer->storage)
      return buffer->storage->host_memory(buffer, out_memory);
   if (!memory)
      AGX_TRY(agxw_bo_map(buffer->bo, &memory));
   *out_memory = (uint8_t *)memory + buffer->offset_B;
   return AGX_OK;
}

agx_status agx_buffer_map(struct agx_buffer *buffer, void **out_memory)
{
   *out_memory = NULL;
   AGX_TRY(check_mapping(buffer, AGX_ACCESS_READ | AGX_ACCESS_WRITE));
   return agx_buffer_host_memory(buffer, out_memory);
}

agx_status agx_buffer_map_range(struct agx_buffer *buffer, uint64_t offset_B, uint64_t length_B,
                                uint32_t access, void **out_memory)
{
   void *memory;
   *out_memory = NULL;
   AGX_TRY(agx_buffer_check_range(buffer, offset_B, &length_B));
   AGX_TRY(check_mapping(buffer, access));
   AGX_TRY(agx_buffer_host_memory(buffer, &memory));
   agx_retain(buffer);
   atomic_fetch_add_explicit(&buffer->mappings, 1, memory_order_relaxed);
   *out_memory = (uint8_t *)memory + offset_B;
   return AGX_OK;
}

agx_status agx_buffer_unmap(struct agx_buffer *buffer)
{
   AGX_TRY(agx_fork_check(buffer));
   uint32_t mappings = atomic_load_explicit(&buffer->mappings, memory_order_relaxed);
   while (mappings > 0 &&
          !atomic_compare_exchange_weak_explicit(&buffer->mappings, &mappings, mappings - 1,
                                                 memory_order_relaxed, memory_order_relaxed))
      ;
   if (mappings == 0)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: not mapped by agx_buffer_map_range",
                      buffer->label);
   agx_release(buffer);
   return AGX_OK;
}

static agx_status sync_range(struct agx_buffer *buffer, uint64_t offset_B, uint64_t length_B,
                             uint32_t access)
{
   AGX_TRY(agx_buffer_check_range(buffer, offset_B, &length_B));
   return check_mapping(buffer, access);
}

agx_status agx_buffer_flush(struct agx_buffer *buffer, uint64_t offset_B, uint64_t length_B)
{
   return sync_range(buffer, offset_B, length_B, AGX_ACCESS_WRITE);
}

agx_status agx_buffer_invalidate(struct agx_buffer *buffer, uint64_t offset_B, uint64_t length_B)
{
   return sync_range(buffer, offset_B, length_B, AGX_ACCESS_READ);
}

/* ---- what it is ---------------------------------------------------------- */

void agx_buffer_get_info(struct agx_buffer *buffer, struct agx_buffer_info *out_info)
{
   const bool is_placed = agx_buffer_is_placed(buffer);
   struct agx_buffer_info info = {
      .size_B = buffer->size_B,
      .address = is_placed ? buffer->address : 0,
      .state = atomic_load_explicit(&buffer->state, memory_order_acquire),
      .flags = buffer->flags,
      .memory = buffer->memory,
      .usage = buffer->usage,
      .access = buffer->access,
      .heap = agx_heap_of(buffer->memory),
      .is_exportable = is_placed && agxw_bo_is_shareable(buffer->bo) &&
                       (buffer->usage & (AGX_USAGE_SHARING_EXPORT | AGX_USAGE_TIMESTAMPS)) !=
                          AGX_USAGE_TIMESTAMPS,
      .is_imported = buffer->is_imported,
      .allocation_B = is_placed ? agxw_bo_size(buffer->bo) : 0,
      .offset_B = is_placed ? buffer->offset_B : 0,
      .queues = buffer->storage ? buffer->storage->queues(buffer) : 0,
   };
   if (buffer->is_reservation && !agx_is_inherited(buffer) && agx_vmem_is_empty(buffer))
      info.state = AGX_BUFFER_RESERVED;
   snprintf(info.label, sizeof(info.label), "%s", buffer->label);
   agx_info_write_or_log(buffer->device, "agx_buffer_info", out_info, &info, sizeof(info));
}

/* ---- views --------------------------------------------------------------- */

agx_status agx_buffer_init_view(struct agx_buffer *view, const struct agx_object_type *type,
                                struct agx_buffer *parent, uint64_t offset_B, uint64_t size_B,
                                uint32_t flags, const char *label)
{
   if (!agx_range_fits(offset_B, size_B, parent->size_B))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: a view of %llu bytes at %llu of %llu", parent->label,
                      (unsigned long long)size_B, (unsigned long long)offset_B,
                      (unsigned long long)parent->size_B);
   agx_object_init(&view->object, type);
   agx_retain(parent);
   view->device = parent->device;
   view->serial = agx_buffer_next_serial(parent->device);
   view->bo = parent->bo;
   view->parent = parent;
   view->offset_B = parent->offset_B + offset_B;
   view->size_B = size_B;
   view->address = parent->address + offset_B;
   view->flags = parent->flags | flags;
   view->memory = parent->memory;
   view->usage = parent->usage;
   view->access = parent->access;
   view->is_imported = parent->is_imported;
   view->is_reservation = parent->is_reservation;
   view->host = parent->host;
   snprintf(view->label, sizeof(view->label), "%s", label ? label : parent->label);
   return AGX_OK;
}

void agx_buffer_fini_view(struct agx_buffer *view)
{
   agx_release(view->parent);
}

/* ---- contents ------------------------------------------------------------------ */

agx_status agx_buffer_read(struct agx_buffer *buffer, uint64_t offset_B, uint64_t length_B,
                           void *out_data)
{
   void *memory;
   AGX_TRY(agx_buffer_check_range(buffer, offset_B, &length_B));
   if (length_B && !out_data)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %llu bytes to NULL", buffer->label,
                      (unsigned long long)length_B);
   AGX_TRY(agx_buffer_map_range(buffer, offset_B, length_B, AGX_ACCESS_READ, &memory));
   if (length_B)
      memcpy(out_data, memory, length_B);
   return agx_buffer_unmap(buffer);
}

agx_status agx_buffer_write(struct agx_buffer *buffer, uint64_t offset_B, uint64_t length_B,
                            const void *data)
{
   void *memory;
   AGX_TRY(agx_buffer_check_range(buffer, offset_B, &length_B));
   if (length_B && !data)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %llu bytes from NULL", buffer->label,
                      (unsigned long long)length_B);
   AGX_TRY(agx_buffer_map_range(buffer, offset_B, length_B, AGX_ACCESS_WRITE, &memory));
   if (length_B)
      memcpy(memory, data, length_B);
   return agx_buffer_unmap(buffer);
}

agx_status agx_pattern_check(const struct agx_buffer_ref *target, const void *pattern,
                             uint32_t pattern_B, uint32_t *out_word)
{
   if (!pattern || (pattern_B != 1 && pattern_B != 2 && pattern_B != 4))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "fill: a pattern of %u bytes at %p; it takes 1, 2 or 4",
                      pattern_B, pattern);
   if (target->offset_B % pattern_B || target->length_B % pattern_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "fill: offset %llu, length %llu: no multiples of the pattern's %u bytes",
                      (unsigned long long)target->offset_B, (unsigned long long)target->length_B,
                      pattern_B);
   uint8_t *bytes = (uint8_t *)out_word;
   for (uint32_t i = 0; i < sizeof(*out_word); i++)
      bytes[i] = ((const uint8_t *)pattern)[i % pattern_B];
   return AGX_OK;
}

agx_status agx_buffer_fill(struct agx_buffer *buffer, uint64_t offset_B, uint64_t length_B,
                           const void *pattern, uint32_t pattern_B)
{
   struct agx_buffer_ref target = {buffer, offset_B, length_B};
   uint32_t word;
   void *memory;
   AGX_TRY(agx_buffer_check_range(buffer, offset_B, &target.length_B));
   AGX_TRY(agx_pattern_check(&target, pattern, pattern_B, &word));
   AGX_TRY(agx_buffer_map_range(buffer, offset_B, target.length_B, AGX_ACCESS_WRITE, &memory));
   uint8_t *at = memory;
   uint64_t done = 0;
   for (; target.length_B - done >= sizeof(word); done += sizeof(word))
      memcpy(at + done, &word, sizeof(word));
   memcpy(at + done, &word, target.length_B - done);
   return agx_buffer_unmap(buffer);
}
