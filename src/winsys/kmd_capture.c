/* SPDX-License-Identifier: MIT
 *
 * The seam with a recorder in between. Requests are written when they have returned,
 * under a lock that is held while they run (so that the file's order is the kernel's);
 * only those that may block run outside of it. Before a submission all bound buffers
 * are compared page by page with what was last written, and what changed is written.
 * A recording that can't be written any more makes the next submission fail.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/util.h"
#include "winsys/asahi_uapi.h"
#include "winsys/capture.h"
#include "winsys/kmd.h"

#define PAGE_BYTES 16384u

/* A GEM object. */
struct object {
   uint32_t handle;
   uint64_t size;
   bool bound;
   uint8_t *memory;  /* our own mapping; NULL until first looked at */
   uint64_t *hashes; /* per page, of what was last written; 0: zero page */
};

struct kmd_capture {
   struct agx_kmd base;
   struct agx_kmd_inspection inspection;
   struct agx_kmd *inner;
   pthread_mutex_t lock;
   FILE *file;
   int error; /* errno of the first failed write */
   struct object *objects;
   size_t object_count, object_capacity;
};

static struct kmd_capture *capture_of(struct agx_kmd *kmd)
{
   return agx_container_of(kmd, struct kmd_capture, base);
}

/* ---- writing ---- */

static void put(struct kmd_capture *capture, const void *data, size_t bytes)
{
   static const uint8_t zero[8];
   if (capture->error)
      return;
   size_t padding = (8 - bytes % 8) % 8;
   if (fwrite(data, 1, bytes, capture->file) != bytes ||
       fwrite(zero, 1, padding, capture->file) != padding)
      capture->error = errno ? errno : EIO;
}

static void put_record(struct kmd_capture *capture, enum agxw_capture_type type, uint64_t bytes)
{
   struct agxw_capture_record_header header = {.type = type, .bytes = bytes};
   put(capture, &header, sizeof(header));
}

static void put_note(struct kmd_capture *capture, const char *text)
{
   put_record(capture, AGXW_CAPTURE_NOTE, strlen(text));
   put(capture, text, strlen(text));
}

/* ---- requests ---- */

#define NO_FIELD 0xff

/* Pointers in arguments: (u32 at count_at + u32 at plus_at) elements of element_bytes,
 * or of as many bytes as the u32 at stride_at says. */
static const struct pointer_field {
   uint32_t request;
   uint8_t pointer_at, count_at, plus_at, stride_at, element_bytes;
} pointer_fields[] = {
   {AGX_IOCTL_ASAHI_GET_PARAMS, 8, 16, NO_FIELD, NO_FIELD, 1},
   {AGX_IOCTL_ASAHI_VM_BIND, 16, 4, NO_FIELD, 8, 0},
   {AGX_IOCTL_ASAHI_SUBMIT, 0, 24, 28, NO_FIELD, 16},
   {AGX_IOCTL_ASAHI_SUBMIT, 8, 32, NO_FIELD, NO_FIELD, 1},
   {AGX_IOCTL_SYNCOBJ_WAIT, 0, 16, NO_FIELD, NO_FIELD, 4},
   {AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT, 0, 24, NO_FIELD, NO_FIELD, 4},
   {AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT, 8, 24, NO_FIELD, NO_FIELD, 8},
   {AGX_IOCTL_SYNCOBJ_RESET, 0, 8, NO_FIELD, NO_FIELD, 4},
   {AGX_IOCTL_SYNCOBJ_SIGNAL, 0, 8, NO_FIELD, NO_FIELD, 4},
   {AGX_IOCTL_SYNCOBJ_QUERY, 0, 16, NO_FIELD, NO_FIELD, 4},
   {AGX_IOCTL_SYNCOBJ_QUERY, 8, 16, NO_FIELD, NO_FIELD, 8},
   {AGX_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, 0, 16, NO_FIELD, NO_FIELD, 4},
   {AGX_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, 8, 16, NO_FIELD, NO_FIELD, 8},
};
_Static_assert(offsetof(struct agx_uapi_vm_bind, userptr) == 16, "VM_BIND row");
_Static_assert(offsetof(struct agx_uapi_submit, out_sync_count) == 28, "SUBMIT row");
_Static_assert(offsetof(struct agx_uapi_submit, cmdbuf_size) == 32, "SUBMIT row");
_Static_assert(offsetof(struct agx_uapi_syncobj_wait, count_handles) == 16, "WAIT row");
_Static_assert(offsetof(struct agx_uapi_syncobj_timeline_wait, count_handles) == 24, "WAIT row");
_Static_assert(offsetof(struct agx_uapi_syncobj_timeline_array, count_handles) == 16, "QUERY row");

/* The bytes behind a pointer; 0 when the pointer is null or the sum doesn't fit. */
static uint32_t pointed_bytes(const struct pointer_field *field, const uint8_t *argument)
{
   uint64_t count = agx_load_u32(argument + field->count_at);
   if (field->plus_at != NO_FIELD)
      count += agx_load_u32(argument + field->plus_at);
   uint64_t each = field->stride_at != NO_FIELD ? agx_load_u32(argument + field->stride_at)
                                                : field->element_bytes;
   if (agx_load_u64(argument + field->pointer_at) == 0 || each == 0 || count > UINT32_MAX / each)
      return 0;
   return (uint32_t)(count * each);
}

struct blob_list {
   struct agxw_capture_blob blobs[4];
   const void *data[4];
   uint32_t count;
   uint64_t bytes; /* in the file */
};

/* Only after a request that succeeded: the kernel has read these addresses. */
static void find_blobs(uint32_t request, const void *argument, struct blob_list *out)
{
   *out = (struct blob_list){0};
   for (size_t i = 0; i < AGX_COUNT(pointer_fields); i++) {
      const struct pointer_field *field = &pointer_fields[i];
      uint32_t bytes = AGX_UAPI_NR(field->request) == AGX_UAPI_NR(request) &&
                             AGX_UAPI_BYTES(request) >= AGX_UAPI_BYTES(field->request)
                          ? pointed_bytes(field, argument)
                          : 0;
      if (bytes == 0)
         continue;
      uint64_t address = agx_load_u64((const uint8_t *)argument + field->pointer_at);
      out->blobs[out->count] = (struct agxw_capture_blob){field->pointer_at, bytes};
      out->data[out->count++] = (const void *)(uintptr_t)address;
      out->bytes += sizeof(struct agxw_capture_blob) + agx_align_up(bytes, 8);
   }
}

static void put_request(struct kmd_capture *capture, uint32_t request, int result,
                        const void *before, const void *after)
{
   struct blob_list list = {0};
   if (result == 0)
      find_blobs(request, after, &list);
   struct agxw_capture_request head = {.request = request,
                                       .result = result,
                                       .argument_bytes = AGX_UAPI_BYTES(request),
                                       .blob_count = list.count};
   put_record(capture, AGXW_CAPTURE_REQUEST,
              sizeof(head) + 2 * agx_align_up(head.argument_bytes, 8) + list.bytes);
   put(capture, &head, sizeof(head));
   put(capture, before, head.argument_bytes);
   put(capture, after, head.argument_bytes);
   for (uint32_t i = 0; i < list.count; i++) {
      put(capture, &list.blobs[i], sizeof(list.blobs[i]));
      put(capture, list.data[i], list.blobs[i].bytes);
   }
}

/* ---- objects ---- */

static struct object *find_object(struct kmd_capture *capture, uint32_t handle)
{
   for (size_t i = 0; i < capture->object_count; i++)
      if (capture->objects[i].handle == handle)
         return &capture->objects[i];
   return NULL;
}

static void add_object(struct kmd_capture *capture, uint32_t handle, uint64_t size)
{
   if (capture->object_count == capture->object_capacity) {
      size_t capacity = AGX_MAX(2 * capture->object_capacity, 64);
      struct object *objects = realloc(capture->objects, capacity * sizeof(*objects));
      if (!objects) {
         capture->error = ENOMEM;
         return;
      }
      capture->objects = objects;
      capture->object_capacity = capacity;
   }
   capture->objects[capture->object_count++] =
      (struct object){.handle = handle, .size = agx_align_up(size, PAGE_BYTES)};
}

static void release_object(struct kmd_capture *capture, struct object *object)
{
   if (object->memory)
      capture->inner->ops->munmap(capture->inner, object->memory, object->size);
   free(object->hashes);
   *object = capture->objects[--capture->object_count];
}

static void mark_bound(struct kmd_capture *capture, const struct agx_uapi_vm_bind *bind)
{
   const uint8_t *steps = (const uint8_t *)(uintptr_t)bind->userptr;
   for (uint32_t i = 0; i < bind->num_binds; i++) {
      struct agx_uapi_gem_bind_op step = {0};
      memcpy(&step, steps + (size_t)i * bind->stride, AGX_MIN(sizeof(step), bind->stride));
      struct object *object = find_object(capture, step.handle);
      if (object && !(step.flags & AGX_UAPI_BIND_UNBIND))
         object->bound = true;
   }
}

/* After a request that succeeded. */
static void follow(struct kmd_capture *capture, uint32_t request, const void *argument)
{
   switch (request) {
   case AGX_IOCTL_ASAHI_GEM_CREATE: {
      const struct agx_uapi_gem_create *create = argument;
      add_object(capture, create->handle, create->size);
      break;
   }
   case AGX_IOCTL_PRIME_FD_TO_HANDLE: {
      const struct agx_uapi_prime_handle *import = argument;
      int64_t bytes = capture->inner->ops->dmabuf_bytes(capture->inner, import->fd);
      if (bytes > 0 && !find_object(capture, import->handle))
         add_object(capture, import->handle, (uint64_t)bytes);
      break;
   }
   case AGX_IOCTL_GEM_CLOSE: {
      const struct agx_uapi_gem_close *close = argument;
      struct object *object = find_object(capture, close->handle);
      if (object)
         release_object(capture, object);
      break;
   }
   case AGX_IOCTL_ASAHI_VM_BIND:
      mark_bound(capture, argument);
      break;
   }
}

/* ---- memory ---- */

/* Never 0 unless the page is all zero. */
static uint64_t hash_page(const uint8_t *page)
{
   uint64_t hash = 0x9e3779b97f4a7c15u, any = 0;
   for (size_t i = 0; i < PAGE_BYTES; i += 8) {
      uint64_t word = agx_load_u64(page + i);
      any |= word;
      hash = (hash ^ word) * 0xff51afd7ed558ccdu;
      hash ^= hash >> 32;
   }
   return any ? (hash ? hash : 1) : 0;
}

static bool map_object(struct kmd_capture *capture, struct object *object)
{
   if (object->memory)
      return true;
   struct agx_uapi_gem_mmap_offset get = {.handle = object->handle};
   int error = capture->inner->ops->ioctl(capture->inner, AGX_IOCTL_ASAHI_GEM_MMAP_OFFSET, &get);
   object->hashes = calloc(object->size / PAGE_BYTES, sizeof(uint64_t));
   if (!error && object->hashes)
      object->memory = capture->inner->ops->mmap(capture->inner, get.offset, object->size, &error);
   if (object->memory)
      return true;
   char text[80];
   snprintf(text, sizeof(text), "buffer %u can't be read: errno %d", object->handle, -error);
   put_note(capture, text);
   free(object->hashes);
   object->hashes = NULL;
   object->bound = false; /* once is enough */
   return false;
}

static void put_pages(struct kmd_capture *capture, const struct object *object, uint64_t first,
                      uint64_t end)
{
   struct agxw_capture_pages head = {.handle = object->handle, .offset = first * PAGE_BYTES};
   uint64_t bytes = (end - first) * PAGE_BYTES;
   put_record(capture, AGXW_CAPTURE_PAGES, sizeof(head) + bytes);
   put(capture, &head, sizeof(head));
   put(capture, object->memory + head.offset, bytes);
}

/* Runs of changed pages become one record each. */
static void put_changes(struct kmd_capture *capture, struct object *object)
{
   uint64_t pages = object->size / PAGE_BYTES, first = 0;
   bool in_run = false;
   for (uint64_t i = 0; i < pages; i++) {
      uint64_t hash = hash_page(object->memory + i * PAGE_BYTES);
      bool changed = hash != object->hashes[i];
      object->hashes[i] = hash;
      if (in_run && !changed)
         put_pages(capture, object, first, i);
      if (changed && !in_run)
         first = i;
      in_run = changed;
   }
   if (in_run)
      put_pages(capture, object, first, pages);
}

static void put_memory(struct kmd_capture *capture)
{
   for (size_t i = 0; i < capture->object_count; i++)
      if (capture->objects[i].bound && map_object(capture, &capture->objects[i]))
         put_changes(capture, &capture->objects[i]);
}

/* ---- the seam ---- */

static bool may_block(uint32_t request)
{
   return request == AGX_IOCTL_SYNCOBJ_WAIT || request == AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT ||
          request == AGX_IOCTL_SYNCOBJ_TRANSFER;
}

/* Request under the lock. */
static int record_request(struct kmd_capture *capture, uint32_t request, void *argument)
{
   uint8_t before[AGX_UAPI_BYTES(UINT32_MAX) + 1];
   bool submits = AGX_UAPI_NR(request) == AGX_UAPI_NR(AGX_IOCTL_ASAHI_SUBMIT);
   memcpy(before, argument, AGX_UAPI_BYTES(request));
   if (submits)
      put_memory(capture);
   if (submits && capture->error)
      return -capture->error;
   int result = capture->inner->ops->ioctl(capture->inner, request, argument);
   put_request(capture, request, result, before, argument);
   if (result == 0)
      follow(capture, request, argument);
   if (submits && fflush(capture->file) != 0 && !capture->error)
      capture->error = errno;
   return result;
}

static int capture_ioctl(struct agx_kmd *kmd, unsigned long request, void *argument)
{
   struct kmd_capture *capture = capture_of(kmd);
   if (!may_block((uint32_t)request)) {
      pthread_mutex_lock(&capture->lock);
      int result = record_request(capture, (uint32_t)request, argument);
      pthread_mutex_unlock(&capture->lock);
      return result;
   }
   uint8_t before[sizeof(struct agx_uapi_syncobj_timeline_wait)];
   memcpy(before, argument, AGX_UAPI_BYTES(request));
   int result = capture->inner->ops->ioctl(capture->inner, request, argument);
   pthread_mutex_lock(&capture->lock);
   put_request(capture, (uint32_t)request, result, before, argument);
   pthread_mutex_unlock(&capture->lock);
   return result;
}

static void *capture_mmap(struct agx_kmd *kmd, uint64_t offset, size_t length, int *out_errno)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   return inner->ops->mmap(inner, offset, length, out_errno);
}

static void capture_munmap(struct agx_kmd *kmd, void *memory, size_t length)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   inner->ops->munmap(inner, memory, length);
}

static int capture_fd_ioctl(struct agx_kmd *kmd, int fd, unsigned long request, void *argument)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   return inner->ops->fd_ioctl(inner, fd, request, argument);
}

static int64_t capture_dmabuf_bytes(struct agx_kmd *kmd, int fd)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   return inner->ops->dmabuf_bytes(inner, fd);
}

static int capture_make_dmabuf(struct agx_kmd *kmd, int memory_file, uint64_t offset,
                               uint64_t bytes)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   return inner->ops->make_dmabuf(inner, memory_file, offset, bytes);
}

static size_t capture_last_error(struct agx_kmd *kmd, char *text, size_t capacity)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   return inner->inspection->last_error(inner, text, capacity);
}

static const char *capture_obstacle(struct agx_kmd *kmd)
{
   struct kmd_capture *capture = capture_of(kmd);
   pthread_mutex_lock(&capture->lock);
   bool is_stuck = capture->error != 0;
   pthread_mutex_unlock(&capture->lock);
   return is_stuck ? "the capture file can't be written" : NULL;
}

static bool capture_take_fault(struct agx_kmd *kmd, uint64_t first_va, uint64_t last_va,
                               struct agx_kmd_fault *out_fault)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   return inner->inspection->take_fault(inner, first_va, last_va, out_fault);
}

static int capture_watch_counters(struct agx_kmd *kmd,
                                  void (*fn)(void *user, const struct agx_kmd_counters *counters),
                                  void *user)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   return inner->inspection->watch_counters(inner, fn, user);
}

static void capture_label(struct agx_kmd *kmd, uint32_t handle, const char *text)
{
   struct kmd_capture *capture = capture_of(kmd);
   struct agxw_capture_label head = {.handle = handle};
   pthread_mutex_lock(&capture->lock);
   put_record(capture, AGXW_CAPTURE_LABEL, sizeof(head) + strlen(text));
   put(capture, &head, sizeof(head));
   put(capture, text, strlen(text));
   pthread_mutex_unlock(&capture->lock);
   if (capture->inner->inspection->label)
      capture->inner->inspection->label(capture->inner, handle, text);
}

static int capture_declare_bounds(struct agx_kmd *kmd, uint64_t stream_va,
                                  const struct agx_kmd_range *ranges, uint32_t count)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   return inner->inspection->declare_bounds(inner, stream_va, ranges, count);
}

static void capture_close(struct agx_kmd *kmd)
{
   struct kmd_capture *capture = capture_of(kmd);
   while (capture->object_count > 0)
      release_object(capture, &capture->objects[0]);
   fclose(capture->file);
   capture->inner->ops->close(capture->inner);
   pthread_mutex_destroy(&capture->lock);
   free(capture->objects);
   free(capture);
}

static void put_header(struct kmd_capture *capture)
{
   struct agxw_capture_header header = {
      .version = AGXW_CAPTURE_VERSION, .header_bytes = sizeof(header), .page_bytes = PAGE_BYTES};
   memcpy(header.magic, AGXW_CAPTURE_MAGIC, sizeof(header.magic));
   snprintf(header.node, sizeof(header.node), "%s", capture->inner->name);
   put(capture, &header, sizeof(header));
}

static const struct agx_kmd_ops capture_ops = {
   .ioctl = capture_ioctl,
   .mmap = capture_mmap,
   .munmap = capture_munmap,
   .fd_ioctl = capture_fd_ioctl,
   .dmabuf_bytes = capture_dmabuf_bytes,
   .make_dmabuf = capture_make_dmabuf,
   .close = capture_close,
};

agx_status agx_kmd_capture_open(struct agx_kmd *inner, const char *path, struct agx_kmd **out_kmd)
{
   *out_kmd = NULL;
   struct kmd_capture *capture = calloc(1, sizeof(*capture));
   FILE *file = capture ? fopen(path, "wbe") : NULL;
   if (!file) {
      int error = capture ? errno : ENOMEM;
      free(capture);
      inner->ops->close(inner);
      return agx_status_fail_errno(error, "capture: %s can't be written", path);
   }
   capture->inspection = (struct agx_kmd_inspection){
      .last_error = inner->inspection->last_error ? capture_last_error : NULL,
      .obstacle = capture_obstacle,
      .take_fault = inner->inspection->take_fault ? capture_take_fault : NULL,
      .watch_counters = inner->inspection->watch_counters ? capture_watch_counters : NULL,
      .label = capture_label,
      .declare_bounds = inner->inspection->declare_bounds ? capture_declare_bounds : NULL,
   };
   capture->base = (struct agx_kmd){.ops = &capture_ops,
                                    .inspection = &capture->inspection,
                                    .name = inner->name,
                                    .fd = inner->fd};
   capture->inner = inner;
   capture->file = file;
   pthread_mutex_init(&capture->lock, NULL);
   put_header(capture);
   *out_kmd = &capture->base;
   return AGX_OK;
}
