/* SPDX-License-Identifier: MIT
 *
 * Files, as sources and targets of queues. The core reads and writes them on threads of its own.
 * Files that another driver has imported are streamed by IREE's own helper.
 */
#include "iree/hal/utils/file_transfer.h"
#include "iree/io/file_handle.h"

#include "agx_iree.h"

struct file {
   iree_hal_resource_t resource;
   iree_allocator_t host_allocator;
   iree_hal_memory_access_t access;
   struct agx_file *core;
};

static const iree_hal_file_vtable_t vtable;

static struct file *cast(iree_hal_file_t *base)
{
   return (struct file *)base;
}

static void release_handle(void *user)
{
   iree_io_file_handle_release(user);
}

static iree_status_t describe(iree_io_file_handle_t *handle, iree_hal_memory_access_t access,
                              struct agx_file_desc *out_desc)
{
   const iree_io_file_handle_primitive_t primitive = iree_io_file_handle_primitive(handle);
   *out_desc = (struct agx_file_desc){
      .size = sizeof(*out_desc),
      .release = release_handle,
      .user = handle,
   };
   if (access & IREE_HAL_MEMORY_ACCESS_READ)
      out_desc->access |= AGX_FILE_READ;
   if (access & IREE_HAL_MEMORY_ACCESS_WRITE)
      out_desc->access |= AGX_FILE_WRITE;
   switch (primitive.type) {
   case IREE_IO_FILE_HANDLE_TYPE_HOST_ALLOCATION:
      out_desc->kind = AGX_FILE_HOST_MEMORY;
      out_desc->memory = primitive.value.host_allocation.data;
      out_desc->memory_B = primitive.value.host_allocation.data_length;
      return iree_ok_status();
   case IREE_IO_FILE_HANDLE_TYPE_FD:
      out_desc->kind = AGX_FILE_FD;
      out_desc->fd = primitive.value.fd;
      return iree_ok_status();
   }
   return iree_make_status(IREE_STATUS_UNAVAILABLE,
                           "file: handles of kind %d; host memory and descriptors can be imported",
                           (int)primitive.type);
}

iree_status_t agx_iree_file_import(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                   iree_hal_memory_access_t access, iree_io_file_handle_t *handle,
                                   iree_hal_external_file_flags_t flags, iree_hal_file_t **out_file)
{
   struct agx_iree_device *device = (struct agx_iree_device *)base;
   struct agx_file_desc desc;
   IREE_RETURN_IF_ERROR(describe(handle, access, &desc));
   struct file *file = NULL;
   IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(device->host_allocator, sizeof(*file), (void **)&file));
   iree_hal_resource_initialize(&vtable, &file->resource);
   file->host_allocator = device->host_allocator;
   file->access = access;
   iree_io_file_handle_retain(handle);
   const agx_status status = agx_file_import(device->core, &desc, &file->core);
   if (status != AGX_OK) {
      iree_io_file_handle_release(handle);
      iree_allocator_free(device->host_allocator, file);
      return agx_iree_status(status);
   }
   *out_file = (iree_hal_file_t *)file;
   return iree_ok_status();
}

static void file_destroy(iree_hal_file_t *IREE_RESTRICT base)
{
   struct file *file = cast(base);
   agx_release(file->core);
   iree_allocator_free(file->host_allocator, file);
}

static iree_hal_memory_access_t allowed_access(iree_hal_file_t *base)
{
   return cast(base)->access;
}

static uint64_t length(iree_hal_file_t *base)
{
   struct agx_file_info info = {.size = sizeof(info)};
   return agx_file_get_info(cast(base)->core, &info) == AGX_OK ? info.length_B : 0;
}

static iree_hal_buffer_t *storage_buffer(iree_hal_file_t *base)
{
   return NULL;
}

static iree_async_file_t *async_handle(iree_hal_file_t *base)
{
   return NULL;
}

static bool supports_synchronous_io(iree_hal_file_t *base)
{
   return false;
}

static iree_status_t refuse(const char *what)
{
   return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "file: no synchronous %s; queues do that",
                           what);
}

static iree_status_t file_read(iree_hal_file_t *base, uint64_t file_offset_B,
                               iree_hal_buffer_t *buffer, iree_device_size_t offset_B,
                               iree_device_size_t length_B)
{
   return refuse("read");
}

static iree_status_t file_write(iree_hal_file_t *base, uint64_t file_offset_B,
                                iree_hal_buffer_t *buffer, iree_device_size_t offset_B,
                                iree_device_size_t length_B)
{
   return refuse("write");
}

static const iree_hal_file_vtable_t vtable = {
   .destroy = file_destroy,
   .allowed_access = allowed_access,
   .length = length,
   .storage_buffer = storage_buffer,
   .async_handle = async_handle,
   .supports_synchronous_io = supports_synchronous_io,
   .read = file_read,
   .write = file_write,
};

/* ---- queues ---------------------------------------------------------------- */

static iree_status_t submit(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                            iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals,
                            uint32_t kind, struct file *file, uint64_t file_offset_B,
                            iree_hal_buffer_ref_t range)
{
   struct agx_op op = {
      .kind = kind,
      .u.file = {.file = file->core, .offset_B = file_offset_B},
   };
   IREE_RETURN_IF_ERROR(agx_iree_ref(range, &op.u.file.ref));
   struct agx_iree_kept kept = {0};
   IREE_RETURN_IF_ERROR(agx_iree_kept_add_buffer(&kept, range.buffer));
   return agx_iree_submit_kept((struct agx_iree_device *)base, affinity, waits, signals, &op,
                               &kept);
}

static iree_hal_file_transfer_options_t streaming(void)
{
   return (iree_hal_file_transfer_options_t){
      .chunk_count = IREE_HAL_FILE_TRANSFER_CHUNK_COUNT_DEFAULT,
      .chunk_size = IREE_HAL_FILE_TRANSFER_CHUNK_SIZE_DEFAULT,
   };
}

iree_status_t agx_iree_queue_read(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                  iree_hal_semaphore_list_t waits,
                                  iree_hal_semaphore_list_t signals, iree_hal_file_t *source,
                                  uint64_t source_offset_B, iree_hal_buffer_t *target,
                                  iree_device_size_t offset_B, iree_device_size_t length_B,
                                  iree_hal_read_flags_t flags)
{
   if (!iree_hal_resource_is(source, &vtable))
      return iree_hal_device_queue_read_streaming(base, affinity, waits, signals, source,
                                                  source_offset_B, target, offset_B, length_B,
                                                  flags, streaming());
   return submit(base, affinity, waits, signals, AGX_OP_READ, cast(source), source_offset_B,
                 iree_hal_make_buffer_ref(target, offset_B, length_B));
}

iree_status_t agx_iree_queue_write(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                   iree_hal_semaphore_list_t waits,
                                   iree_hal_semaphore_list_t signals, iree_hal_buffer_t *source,
                                   iree_device_size_t offset_B, iree_hal_file_t *target,
                                   uint64_t target_offset_B, iree_device_size_t length_B,
                                   iree_hal_write_flags_t flags)
{
   if (!iree_hal_resource_is(target, &vtable))
      return iree_hal_device_queue_write_streaming(base, affinity, waits, signals, source, offset_B,
                                                   target, target_offset_B, length_B, flags,
                                                   streaming());
   return submit(base, affinity, waits, signals, AGX_OP_WRITE, cast(target), target_offset_B,
                 iree_hal_make_buffer_ref(source, offset_B, length_B));
}
