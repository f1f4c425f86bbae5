/* SPDX-License-Identifier: MIT
 *
 * What kinds of memory there are, and what a description of a buffer comes to. There is one
 * memory; what differs is how the host maps it.
 */
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "hal/memory/buffer.h"
#include "hal/core/desc.h"

#define KNOWN_FLAGS (AGX_BUFFER_HOST_READ | AGX_BUFFER_GPU_READ_ONLY)
#define KNOWN_MEMORY                                                                               \
   (AGX_MEMORY_DEVICE_LOCAL | AGX_MEMORY_HOST_VISIBLE | AGX_MEMORY_HOST_COHERENT |                 \
    AGX_MEMORY_HOST_CACHED | AGX_MEMORY_TRANSIENT)
#define DEFAULT_USAGE (AGX_USAGE_TRANSFER | AGX_USAGE_DISPATCH)
#define KNOWN_USAGE                                                                                \
   (DEFAULT_USAGE | AGX_USAGE_SHARING_EXPORT | AGX_USAGE_TIMESTAMPS | AGX_USAGE_MAPPING |          \
    AGX_USAGE_MAPPING_READ)

#define MAPPED (AGX_MEMORY_DEVICE_LOCAL | AGX_MEMORY_HOST_VISIBLE | AGX_MEMORY_HOST_COHERENT)

/* Best first. */
static const uint32_t heaps[] = {
   MAPPED,                          /* written by the host, read by the GPU */
   MAPPED | AGX_MEMORY_HOST_CACHED, /* read by the host */
   AGX_MEMORY_DEVICE_LOCAL,         /* none of the host's business */
};

uint32_t agx_heap_of(uint32_t memory)
{
   for (uint32_t i = 0; i < AGX_COUNT(heaps); i++)
      if (heaps[i] == (memory & ~(uint32_t)AGX_MEMORY_TRANSIENT))
         return i;
   return 0;
}

static uint64_t machine_memory(void)
{
   long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
   return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : AGX_MAX_BUFFER_B;
}

agx_status agx_device_get_heaps(struct agx_device *device, uint32_t *count, struct agx_heap *out)
{
   uint32_t capacity = out ? *count : 0;
   for (uint32_t i = 0; i < AGX_MIN(capacity, AGX_COUNT(heaps)); i++)
      out[i] = (struct agx_heap){
         .memory = heaps[i],
         .usage = heaps[i] & AGX_MEMORY_HOST_VISIBLE
                     ? KNOWN_USAGE
                     : KNOWN_USAGE & ~(AGX_USAGE_MAPPING | AGX_USAGE_MAPPING_READ),
         .max_size_B = AGX_MAX_BUFFER_B,
         .min_align_B = agxw_device_page(agx_context_of(device)->winsys),
         .size_B = machine_memory(),
      };
   *count = AGX_COUNT(heaps);
   return AGX_OK;
}

/* ---- descriptions -------------------------------------------------------- */

static agx_status check(const struct agx_buffer_desc *desc, const char *what)
{
   if (desc->size_B > AGX_MAX_BUFFER_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: size %llu; at most 2^37 bytes", what,
                      (unsigned long long)desc->size_B);
   AGX_TRY(agx_bits_check(what, "flags", desc->flags, KNOWN_FLAGS));
   AGX_TRY(agx_bits_check(what, "memory types", desc->memory, KNOWN_MEMORY));
   AGX_TRY(agx_bits_check(what, "usage", desc->usage, KNOWN_USAGE));
   AGX_TRY(agx_bits_check(what, "access", desc->access, AGX_ACCESS_ALL));
   if (desc->align_B & (desc->align_B - 1) || desc->align_B > AGX_MAX_BUFFER_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: align %llu is no power of two up to 2^37", what,
                      (unsigned long long)desc->align_B);
   return AGX_OK;
}

agx_status agx_refuse_timestamps(uint32_t usage, const char *what)
{
   return usage & AGX_USAGE_TIMESTAMPS
             ? AGX_FAIL(AGX_INVALID_ARGUMENT,
                        "%s: usage AGX_USAGE_TIMESTAMPS; only agx_buffer_create takes it", what)
             : AGX_OK;
}

agx_status agx_buffer_resolve(struct agx_buffer_desc *desc, const char *what)
{
   AGX_TRY(check(desc, what));
   uint32_t memory = desc->memory & ~(uint32_t)AGX_MEMORY_TRANSIENT;
   if (!memory)
      memory = MAPPED;
   if (!desc->usage)
      desc->usage = DEFAULT_USAGE | (memory & ~AGX_MEMORY_DEVICE_LOCAL ? AGX_USAGE_MAPPING : 0u);
   if (desc->usage & AGX_USAGE_MAPPING_READ || desc->flags & AGX_BUFFER_HOST_READ)
      memory |= AGX_MEMORY_HOST_CACHED;
   if (desc->usage & AGX_USAGE_MAPPING)
      memory |= AGX_MEMORY_HOST_VISIBLE;
   memory |= memory & ~AGX_MEMORY_DEVICE_LOCAL ? MAPPED : AGX_MEMORY_DEVICE_LOCAL;
   desc->memory = memory | (desc->memory & AGX_MEMORY_TRANSIENT);
   if (memory & AGX_MEMORY_HOST_CACHED)
      desc->flags |= AGX_BUFFER_HOST_READ;
   if (!desc->access)
      desc->access = AGX_ACCESS_ALL;
   if (!(desc->access & AGX_ACCESS_WRITE))
      desc->flags |= AGX_BUFFER_GPU_READ_ONLY;
   return AGX_OK;
}

static uint32_t external_compat_of(struct agx_device *device, const struct agx_buffer_desc *desc)
{
   uint32_t all = AGX_COMPAT_IMPORT | AGX_COMPAT_IMPORT_DMA_BUF | AGX_COMPAT_EXPORT_ADDRESS;
   if (agxw_device_takes_memory(agx_context_of(device)->winsys))
      all |= AGX_COMPAT_IMPORT_MEMFD | AGX_COMPAT_IMPORT_HOST_POINTER;
   if (!(desc->usage & (AGX_USAGE_DISPATCH | AGX_USAGE_SHARING_EXPORT)))
      all |= AGX_COMPAT_IMPORT_HOST_POINTER; /* by operations of the host, if need be */
   if (desc->usage & AGX_USAGE_SHARING_EXPORT)
      all |= AGX_COMPAT_EXPORT | AGX_COMPAT_EXPORT_DMA_BUF;
   if (desc->usage & AGX_USAGE_MAPPING)
      all |= AGX_COMPAT_EXPORT_HOST_POINTER;
   return all;
}

static uint32_t compat_of(struct agx_device *device, const struct agx_buffer_desc *desc)
{
   uint32_t all = AGX_COMPAT_ALLOCATE | external_compat_of(device, desc);
   bool reads = desc->usage & AGX_USAGE_MAPPING && desc->access & AGX_ACCESS_READ;
   if (desc->usage & AGX_USAGE_TRANSFER)
      all |= AGX_COMPAT_TRANSFER;
   if (desc->usage & AGX_USAGE_DISPATCH)
      all |= AGX_COMPAT_DISPATCH;
   return all | (reads && !(desc->memory & AGX_MEMORY_HOST_CACHED) ? AGX_COMPAT_SLOW : 0u);
}

uint32_t agx_buffer_compat(struct agx_device *device, struct agx_buffer_desc *desc,
                           uint64_t *size_B)
{
   struct agx_buffer_desc read;
   uint64_t page = agxw_device_page(agx_context_of(device)->winsys);
   if (agx_desc_read("agx_buffer_desc", desc, &read, sizeof(read)) != AGX_OK)
      return 0;
   bool has_usage = read.usage;
   read.size_B = *size_B;
   if (agx_buffer_resolve(&read, "agx_buffer_compat") != AGX_OK)
      return 0;
   *size_B = agx_align_up(AGX_MAX(read.size_B, 1u), AGX_MAX(page, 1u));
   read.align_B = AGX_MAX(read.align_B, page);
   read.size_B = *size_B;
   if (desc)
      memcpy(desc, &read, AGX_MIN(read.size, sizeof(read)));
   uint32_t compat = compat_of(device, &read);
   return has_usage ? compat : compat & ~(uint32_t)AGX_COMPAT_SLOW;
}
