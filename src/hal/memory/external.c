/* SPDX-License-Identifier: MIT
 *
 * Buffers over memory that others made, and for others to have.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/util.h"
#include "base/list.h"
#include "hal/memory/buffer.h"
#include "hal/core/desc.h"

#define OFFSET_ALIGN_B 16u

/* ---- host memory --------------------------------------------------------------- */

/* What it is, as the process's own map tells: the kernel gives a GPU only memory that has a
 * descriptor. */

/* A line of /proc/self/maps. */
struct area {
   uint64_t start, end, offset, inode;
   char access[5];
   unsigned major, minor;
};

static bool read_area(FILE *maps, struct area *out)
{
   char line[PATH_MAX + 128];
   if (!fgets(line, sizeof(line), maps))
      return false;
   *out = (struct area){0};
   return sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64, &out->start,
                 &out->end, out->access, &out->offset, &out->major, &out->minor, &out->inode) == 7;
}

static agx_status check(const struct area *area, uint64_t at, bool writes)
{
   const char *reason = NULL;
   if (area->inode == 0)
      reason = "is anonymous memory; memory that the GPU can have comes from memfd_create(2)";
   else if (area->access[3] != 's')
      reason = "is a private mapping; map the memory file with MAP_SHARED";
   else if (writes && area->access[1] != 'w')
      reason = "is mapped read-only; import it without AGX_ACCESS_WRITE";
   if (reason)
      return AGX_FAIL(AGX_UNAVAILABLE, "host memory at %#" PRIx64 " %s", at, reason);
   return AGX_OK;
}

static bool continues(const struct area *first, const struct area *next)
{
   return next->inode == first->inode && next->major == first->major &&
          next->minor == first->minor && next->offset - first->offset == next->start - first->start;
}

/* Goes through the areas from `at` to `end`, which must follow each other in one file. */
static agx_status walk(FILE *maps, uint64_t at, uint64_t end, bool writes, struct area *out_first)
{
   struct area area;
   bool is_first = true;
   while (at < end && read_area(maps, &area)) {
      if (area.end <= at)
         continue;
      if (area.start > at)
         break;
      AGX_TRY(check(&area, at, writes));
      if (is_first)
         *out_first = area;
      else if (!continues(out_first, &area))
         return AGX_FAIL(AGX_UNAVAILABLE, "host memory at %#" PRIx64 " is of another file", at);
      is_first = false;
      at = area.end;
   }
   if (at < end)
      return AGX_FAIL(AGX_UNAVAILABLE, "host memory at %#" PRIx64 ": nothing is mapped", at);
   return AGX_OK;
}

static bool is_file(int fd, const struct area *area)
{
   struct stat info;
   return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_ino == area->inode &&
          major(info.st_dev) == area->major && minor(info.st_dev) == area->minor;
}

/* A copy of one of the process's descriptors of the file, or -1. */
static int find_descriptor(const struct area *area)
{
   DIR *folder = opendir("/proc/self/fd");
   int found = -1;
   for (struct dirent *entry; folder && found < 0 && (entry = readdir(folder));) {
      int fd = atoi(entry->d_name);
      if (entry->d_name[0] == '.' || !is_file(fd, area))
         continue;
      found = fcntl(fd, F_DUPFD_CLOEXEC, 0);
      if (found >= 0 && !is_file(found, area)) { /* closed and opened in between */
         close(found);
         found = -1;
      }
   }
   if (folder)
      closedir(folder);
   return found;
}

/* The mapping itself leads to its file, for who has the right to follow it. */
static int follow_mapping(const struct area *area)
{
   char path[96];
   snprintf(path, sizeof(path), "/proc/self/map_files/%" PRIx64 "-%" PRIx64, area->start,
            area->end);
   return open(path, O_RDWR | O_CLOEXEC);
}

/* The memory file that bytes at pointer are a shared mapping of: a descriptor of its own, which
 * the caller closes, and where in it they lie. writes: the mapping must be writable.
 * AGX_UNAVAILABLE, with the reason, for all other memory. */
static agx_status host_memory_find(const void *pointer, uint64_t bytes, bool writes, int *out_fd,
                                   uint64_t *out_offset)
{
   struct area area;
   uint64_t at = (uintptr_t)pointer;
   *out_fd = -1;
   *out_offset = 0;
   if (!pointer || bytes == 0 || at > UINT64_MAX - bytes)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "host memory: %" PRIu64 " bytes at %p", bytes, pointer);
   FILE *maps = fopen("/proc/self/maps", "re");
   if (!maps)
      return AGX_FAIL(AGX_UNAVAILABLE,
                      "host memory at %p: /proc/self/maps can't be read; pass the memory file's "
                      "descriptor (AGX_EXTERNAL_MEMFD)",
                      pointer);
   agx_status status = walk(maps, at, at + bytes, writes, &area);
   fclose(maps);
   AGX_TRY(status);
   int fd = find_descriptor(&area);
   if (fd < 0)
      fd = follow_mapping(&area);
   if (fd < 0)
      return AGX_FAIL(AGX_UNAVAILABLE,
                      "host memory at %p: the process has no descriptor of its memory file any "
                      "more; keep one open until it is imported",
                      pointer);
   *out_fd = fd;
   *out_offset = area.offset + (at - area.start);
   return AGX_OK;
}

/* ---- import --------------------------------------------------------------- */

struct imported {
   struct agx_buffer buffer; /* at offset 0 */
   struct agx_release_callback callback;
};

static void imported_destroy(struct agx_object *object)
{
   struct imported *it = agx_container_of(object, struct imported, buffer.object);
   const struct agx_release_callback callback = it->callback;
   struct agx_device *device = it->buffer.device;
   agx_retain(device);
   agx_buffer_fini(&it->buffer);
   agx_host_free(agx_context_of(device)->alloc, it, sizeof(*it));
   agx_release(device);
   if (callback.run)
      callback.run(callback.user);
}

static const struct agx_object_type imported_type = {"buffer", imported_destroy,
                                                     agx_buffer_set_label};

/* What is to be imported, from the point where all of it is a dma-buf. */
struct source {
   int fd;
   bool is_ours;      /* fd is to be closed */
   uint64_t offset_B; /* of the buffer in it */
   uint64_t size_B;   /* 0: to its end */
   void *pointer;     /* where the host has it mapped, or NULL */
};

/* A dma-buf of exactly the buffer's part of a memory file. */
static agx_status from_memory_file(struct agx_device *device, int file, uint64_t offset_B,
                                   struct source *source)
{
   AGX_TRY(agxw_dmabuf_of_memory(agx_context_of(device)->winsys, file, offset_B, source->size_B,
                                 &source->fd));
   source->is_ours = true;
   source->offset_B = 0;
   return AGX_OK;
}

static agx_status from_pointer(struct agx_device *device, const struct agx_external *external,
                               bool writes, struct source *source)
{
   uint64_t offset_B;
   int file;
   AGX_TRY(host_memory_find(external->pointer, source->size_B, writes, &file, &offset_B));
   agx_status status = from_memory_file(device, file, offset_B, source);
   close(file);
   source->pointer = external->pointer;
   return status;
}

static agx_status find_source(struct agx_device *device, const struct agx_external *external,
                              const struct agx_buffer_desc *desc, struct source *out_source)
{
   *out_source = (struct source){.fd = external->fd,
                                 .offset_B = external->offset_B,
                                 .size_B = external->size_B ? external->size_B : desc->size_B};
   bool is_host =
      external->kind == AGX_EXTERNAL_MEMFD || external->kind == AGX_EXTERNAL_HOST_POINTER;
   if (is_host && out_source->size_B == 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "import: size 0");
   switch (external->kind) {
   case AGX_EXTERNAL_DMA_BUF:
      if (external->offset_B % OFFSET_ALIGN_B)
         return AGX_FAIL(AGX_OUT_OF_RANGE, "import: offset %llu is no multiple of %u",
                         (unsigned long long)external->offset_B, OFFSET_ALIGN_B);
      return AGX_OK;
   case AGX_EXTERNAL_MEMFD:
      return from_memory_file(device, external->fd, external->offset_B, out_source);
   case AGX_EXTERNAL_HOST_POINTER:
      return from_pointer(device, external, desc->access & AGX_ACCESS_WRITE, out_source);
   case AGX_EXTERNAL_ADDRESS:
      return AGX_FAIL(AGX_UNAVAILABLE, "import: an address alone says nothing of its memory; the "
                                       "buffer that it is in can be exported as a dma-buf");
   default:
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "import: unknown kind %u", external->kind);
   }
}

static agx_status make(struct agx_device *device, const struct source *source,
                       struct agx_buffer_desc *desc, struct agx_buffer *buffer)
{
   struct agxw_bo *bo;
   const uint32_t flags = desc->flags & AGX_BUFFER_GPU_READ_ONLY ? AGXW_BO_READ_ONLY : 0;
   AGX_TRY(agxw_bo_import(agx_context_of(device)->winsys, source->fd, flags,
                          desc->label ? desc->label : "import", &bo));
   uint64_t all = agxw_bo_size(bo);
   uint64_t size_B = source->size_B ? source->size_B : all - AGX_MIN(source->offset_B, all);
   if (size_B == 0 || !agx_range_fits(source->offset_B, size_B, all)) {
      agxw_bo_destroy(bo);
      return AGX_FAIL(AGX_OUT_OF_RANGE, "import: %llu bytes at %llu of a dma-buf of %llu",
                      (unsigned long long)size_B, (unsigned long long)source->offset_B,
                      (unsigned long long)all);
   }
   desc->size_B = size_B;
   if (source->is_ours && desc->memory & AGX_MEMORY_HOST_VISIBLE) /* the host's, as it maps it */
      desc->memory |= AGX_MEMORY_HOST_CACHED;
   agx_buffer_init(buffer, &imported_type, device, bo, desc, "import");
   buffer->offset_B = source->offset_B;
   buffer->address += source->offset_B;
   buffer->is_imported = true;
   buffer->host = source->pointer;
   return AGX_OK;
}

/* That the host may access all of the range. */
static agx_status check_mapped(const void *pointer, uint64_t size_B, bool writes)
{
   uint64_t at = (uintptr_t)pointer, end = at + size_B;
   FILE *maps = fopen("/proc/self/maps", "re");
   struct area area;
   if (!maps)
      return agx_status_fail_errno(errno, "import: /proc/self/maps");
   while (at < end && read_area(maps, &area)) {
      if (area.end <= at)
         continue;
      if (area.start > at || area.access[0] != 'r' || (writes && area.access[1] != 'w'))
         break;
      at = area.end;
   }
   fclose(maps);
   if (at < end)
      return AGX_FAIL(AGX_UNAVAILABLE, "host memory at %#" PRIx64 ": it is not mapped for %s", at,
                      writes ? "reading and writing" : "reading");
   return AGX_OK;
}

/* Whether operations of the host can serve all that the buffer is to be used for. */
static bool is_for_host(const struct agx_external *external, const struct agx_buffer_desc *desc)
{
   return external->kind == AGX_EXTERNAL_HOST_POINTER && external->pointer &&
          !(desc->usage & (AGX_USAGE_DISPATCH | AGX_USAGE_SHARING_EXPORT));
}

/* A buffer that only the host reaches. */
static agx_status make_host_only(struct agx_device *device, const struct agx_external *external,
                                 struct agx_buffer_desc *desc, struct agx_buffer *buffer)
{
   struct agxw_bo *bo;
   desc->size_B = external->size_B ? external->size_B : desc->size_B;
   if (desc->size_B > AGX_MAX_BUFFER_B || desc->size_B > UINTPTR_MAX - (uintptr_t)external->pointer)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "import: %llu bytes at %p",
                      (unsigned long long)desc->size_B, external->pointer);
   AGX_TRY(check_mapped(external->pointer, desc->size_B, desc->access & AGX_ACCESS_WRITE));
   AGX_TRY(agxw_bo_reserve(agx_context_of(device)->winsys, desc->size_B, 1,
                           desc->label ? desc->label : "import", &bo));
   desc->memory |= AGX_MEMORY_HOST_CACHED;
   agx_buffer_init(buffer, &imported_type, device, bo, desc, "import");
   buffer->is_imported = buffer->is_host_only = true;
   buffer->host = external->pointer;
   return AGX_OK;
}

static agx_status import(struct agx_device *device, const struct agx_external *external,
                         struct agx_buffer_desc *desc, struct agx_buffer *buffer)
{
   struct source source;
   agx_status found = find_source(device, external, desc, &source);
   if (found == AGX_UNAVAILABLE && is_for_host(external, desc))
      return make_host_only(device, external, desc, buffer);
   AGX_TRY(found);
   agx_status status = make(device, &source, desc, buffer);
   if (source.is_ours)
      close(source.fd);
   return status;
}

agx_status agx_buffer_import(struct agx_device *device, const struct agx_buffer_desc *desc,
                             const struct agx_external *external,
                             struct agx_release_callback callback, struct agx_buffer **out_buffer)
{
   struct agx_buffer_desc read;
   struct agx_external from;
   *out_buffer = NULL;
   AGX_TRY(agx_fork_check(device));
   AGX_TRY(agx_desc_read("agx_buffer_desc", desc, &read, sizeof(read)));
   AGX_TRY(agx_desc_read_tail("agx_external", external, &from, sizeof(from)));
   AGX_TRY(agx_refuse_timestamps(read.usage, "import"));
   AGX_TRY(agx_buffer_resolve(&read, "import"));
   struct imported *it = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*it));
   if (!it)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "import: out of host memory");
   agx_status status = import(device, &from, &read, &it->buffer);
   if (status != AGX_OK) {
      agx_host_free(agx_context_of(device)->alloc, it, sizeof(*it));
      return status;
   }
   it->callback = callback;
   *out_buffer = &it->buffer;
   return AGX_OK;
}

/* ---- export --------------------------------------------------------------- */

static agx_status export_dma_buf(struct agx_buffer *buffer, struct agx_external *out)
{
   if (buffer->is_reservation)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: reserved addresses have no memory to export",
                      buffer->label);
   if (!agxw_bo_is_shareable(buffer->bo))
      return AGX_FAIL(AGX_FAILED_PRECONDITION,
                      "%s: not made to be shared; ask for AGX_USAGE_SHARING_EXPORT", buffer->label);
   out->offset_B = buffer->offset_B;
   return agxw_bo_export(buffer->bo, &out->fd);
}

static agx_status export(struct agx_buffer *buffer, struct agx_external *out)
{
   if (!agx_buffer_is_placed(buffer))
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: it has no address yet; wait for its allocation",
                      buffer->label);
   switch (out->kind) {
   case AGX_EXTERNAL_DMA_BUF:
      return export_dma_buf(buffer, out);
   case AGX_EXTERNAL_HOST_POINTER:
      return agx_buffer_map(buffer, &out->pointer);
   case AGX_EXTERNAL_ADDRESS:
      if (buffer->is_host_only)
         return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: memory of the host that the GPU can't reach",
                         buffer->label);
      out->address = buffer->address;
      return AGX_OK;
   case AGX_EXTERNAL_MEMFD:
      return AGX_FAIL(AGX_UNAVAILABLE, "%s: GPU memory is no memory file; export a dma-buf",
                      buffer->label);
   default:
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: export of unknown kind %u", buffer->label,
                      out->kind);
   }
}

agx_status agx_buffer_export(struct agx_buffer *buffer, uint32_t kind,
                             struct agx_external *out_external)
{
   struct agx_external out = {.kind = kind, .fd = -1, .size_B = buffer->size_B};
   const uint32_t size = agx_load_u32(out_external);
   AGX_TRY(agx_info_check("agx_external", out_external));
   /* A descriptor that there is no room for would be lost. */
   if (kind == AGX_EXTERNAL_DMA_BUF && size < offsetof(struct agx_external, fd) + sizeof(out.fd))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "agx_external: size is %u, which has no room for fd; set it to "
                      "sizeof(struct agx_external)",
                      size);
   agx_status status = agx_fork_check(buffer);
   if (status == AGX_OK)
      status = export(buffer, &out);
   if (status != AGX_OK)
      out = (struct agx_external){.fd = -1};
   (void)!agx_info_write("agx_external", out_external, &out, sizeof(out)); /* whose size is right */
   return status;
}
