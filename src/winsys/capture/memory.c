/* SPDX-License-Identifier: MIT
 *
 * What a recorder knows of the device's objects, and their contents: each bound object is mapped,
 * and its pages are compared with what was last written of them: with copies as long as these are
 * few, which takes a quarter of the time, else by hashes (docs/decisions/0043).
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "winsys/asahi_uapi.h"
#include "winsys/capture/capture.h"
#include "winsys/capture/recorder_impl.h"

#define PAGE_BYTES   AGXW_CAPTURE_PAGE_BYTES
#define MAX_COPIES   (UINT64_C(64) << 20)
#define LEAST_SPARSE (UINT64_C(64) << 10) /* smaller objects are filled by looking at them */
#define PARTS        4u
#define PART_BYTES   (PAGE_BYTES / PARTS)
#define OLD          UINT64_MAX /* in place of a hash: written anew */

/* ---- objects ---- */

static struct agxw_recorded_object *find_object(const struct agxw_recorder *recorder,
                                                uint32_t handle)
{
   const struct agx_table_entry *entry = agx_table_find(&recorder->handles, 1, handle);
   return entry ? &recorder->objects[entry->value - 1] : NULL;
}

static bool name_object(struct agxw_recorder *recorder, uint32_t handle, size_t index)
{
   struct agx_table_entry *entry = agx_table_get(&recorder->handles, 1, handle);
   if (entry)
      entry->value = index;
   return entry != NULL;
}

static bool have_room(struct agxw_recorder *recorder)
{
   if (recorder->object_count < recorder->object_capacity)
      return true;
   size_t capacity = AGX_MAX(2 * recorder->object_capacity, 64);
   struct agxw_recorded_object *objects = realloc(recorder->objects, capacity * sizeof(*objects));
   if (!objects)
      return false;
   recorder->objects = objects;
   recorder->object_capacity = capacity;
   return true;
}

static void add_object(struct agxw_recorder *recorder, uint32_t handle, uint64_t size)
{
   if (!have_room(recorder) || !name_object(recorder, handle, recorder->object_count + 1)) {
      recorder->is_short = true;
      return;
   }
   recorder->objects[recorder->object_count++] =
      (struct agxw_recorded_object){.handle = handle, .size = agx_align_up(size, PAGE_BYTES)};
}

static void unmap_object(struct agxw_recorder *recorder, struct agxw_recorded_object *object)
{
   if (object->memory)
      recorder->ops->munmap(recorder->user, object->memory, object->size);
   if (object->copies)
      recorder->copied_bytes -= object->size;
   free(object->copies);
   free(object->hashes);
   object->memory = NULL;
   object->hashes = NULL;
   object->copies = NULL;
}

/* The last object takes the place of the one that goes. */
static void release_object(struct agxw_recorder *recorder, struct agxw_recorded_object *object)
{
   size_t index = (size_t)(object - recorder->objects) + 1;
   unmap_object(recorder, object);
   name_object(recorder, object->handle, 0);
   *object = recorder->objects[--recorder->object_count];
   if (index <= recorder->object_count)
      name_object(recorder, object->handle, index);
}

void agxw_recorder_release_memory(struct agxw_recorder *recorder)
{
   for (size_t i = 0; i < recorder->object_count; i++)
      unmap_object(recorder, &recorder->objects[i]);
   free(recorder->objects);
   free(recorder->run);
   agx_table_fini(&recorder->handles);
}

static void follow_bind(struct agxw_recorder *recorder, const struct agx_uapi_vm_bind *bind)
{
   for (uint64_t i = 0; i < bind->num_binds; i++) {
      struct agx_uapi_gem_bind_op step = {0};
      if (!agxw_recorder_read(recorder, &step, bind->userptr + i * bind->stride,
                              AGX_MIN(sizeof(step), bind->stride)))
         return;
      struct agxw_recorded_object *object = find_object(recorder, step.handle);
      if (!object || step.flags & AGX_UAPI_BIND_UNBIND)
         continue;
      object->is_bound = true;
      object->is_written |= (step.flags & AGX_UAPI_BIND_WRITE) != 0;
   }
}

static void put_import(struct agxw_recorder *recorder, uint32_t handle, uint64_t bytes)
{
   const struct agxw_capture_import import = {.handle = handle, .bytes = bytes};
   const struct iovec part = {(void *)&import, sizeof(import)};
   agxw_capture_put(recorder->file, &recorder->origin, AGXW_CAPTURE_IMPORT, &part, 1);
}

void agxw_recorder_follow(struct agxw_recorder *recorder, uint32_t request, const void *argument)
{
   switch (AGX_UAPI_NR(request)) {
   case AGX_UAPI_NR(AGX_IOCTL_ASAHI_GEM_CREATE): {
      const struct agx_uapi_gem_create *create = argument;
      add_object(recorder, create->handle, create->size);
      break;
   }
   case AGX_UAPI_NR(AGX_IOCTL_PRIME_FD_TO_HANDLE): {
      const struct agx_uapi_prime_handle *import = argument;
      int64_t bytes = recorder->ops->dmabuf_bytes(recorder->user, import->fd);
      if (bytes > 0 && !find_object(recorder, import->handle)) {
         add_object(recorder, import->handle, (uint64_t)bytes);
         put_import(recorder, import->handle, (uint64_t)bytes);
      }
      break;
   }
   case AGX_UAPI_NR(AGX_IOCTL_GEM_CLOSE): {
      const struct agx_uapi_gem_close *close = argument;
      struct agxw_recorded_object *object = find_object(recorder, close->handle);
      if (object)
         release_object(recorder, object);
      break;
   }
   case AGX_UAPI_NR(AGX_IOCTL_ASAHI_VM_BIND):
      follow_bind(recorder, argument);
      break;
   case AGX_UAPI_NR(AGX_IOCTL_ASAHI_GEM_BIND_OBJECT): { /* timestamps are written there */
      const struct agx_uapi_gem_bind_object *bind = argument;
      struct agxw_recorded_object *object = find_object(recorder, bind->handle);
      if (object)
         object->is_written = true;
      break;
   }
   }
}

/* ---- contents ---- */

/* Without contents, and large ones without memory: quarters are copied when they aren't zero. */
static void make_copies(struct agxw_recorder *recorder, struct agxw_recorded_object *object)
{
   if (object->size > MAX_COPIES - recorder->copied_bytes)
      return;
   object->copies = malloc(object->size);
   if (object->copies)
      recorder->copied_bytes += object->size;
}

static bool map_object(struct agxw_recorder *recorder, struct agxw_recorded_object *object)
{
   if (object->memory)
      return true;
   struct agx_uapi_gem_mmap_offset get = {.handle = object->handle};
   int error = recorder->ops->ioctl(recorder->user, AGX_IOCTL_ASAHI_GEM_MMAP_OFFSET, &get);
   object->hashes = calloc(object->size / PAGE_BYTES, sizeof(uint64_t));
   if (!object->hashes)
      error = -ENOMEM;
   if (!error)
      object->memory = recorder->ops->mmap(recorder->user, get.offset, object->size, &error);
   if (object->memory) {
      object->mmap_offset = get.offset;
      make_copies(recorder, object);
      return true;
   }
   agxw_capture_put_note(recorder->file, &recorder->origin, "buffer %u can't be read: %s",
                         object->handle, strerror(abs(error)));
   free(object->hashes);
   object->hashes = NULL;
   object->is_bound = false; /* once is enough */
   return false;
}

static void put_run(struct agxw_recorder *recorder, const struct agxw_recorded_object *object,
                    enum agxw_capture_moment moment, uint64_t first, uint64_t count)
{
   const struct agxw_capture_pages pages = {
      .handle = object->handle, .moment = moment, .offset = first * PAGE_BYTES};
   if (count > 0)
      agxw_capture_put_pages(recorder->file, &recorder->origin, &pages, recorder->run,
                             (size_t)count * PAGE_BYTES);
}

/* Quarters that are zero have no copy: most small objects have little in their pages. */
static bool is_changed(const struct agxw_recorded_object *object, uint64_t i)
{
   const uint8_t *page = object->memory + i * PAGE_BYTES;
   if (object->hashes[i] == OLD)
      return true;
   if (!object->copies)
      return agxw_capture_hash(page) != object->hashes[i];
   for (unsigned part = 0; part < PARTS; part++) {
      const uint8_t *now = page + part * PART_BYTES;
      const uint8_t *then = object->copies + i * PAGE_BYTES + part * PART_BYTES;
      if (object->hashes[i] >> part & 1 ? memcmp(then, now, PART_BYTES) != 0
                                        : !agxw_capture_is_zero(now, PART_BYTES))
         return true;
   }
   return false;
}

/* Remembers page i as it is written. */
static void remember(struct agxw_recorded_object *object, uint64_t i, const uint8_t *written)
{
   if (!object->copies) {
      object->hashes[i] = agxw_capture_hash(written);
      return;
   }
   uint64_t parts = 0;
   for (unsigned part = 0; part < PARTS; part++) {
      const uint8_t *now = written + part * PART_BYTES;
      if (agxw_capture_is_zero(now, PART_BYTES))
         continue;
      memcpy(object->copies + i * PAGE_BYTES + part * PART_BYTES, now, PART_BYTES);
      parts |= UINT64_C(1) << part;
   }
   object->hashes[i] = parts;
}

/* Pages of an object that have memory, in the order of a look. */
struct extent {
   uint64_t begin, end;
};

/* Finds the first extent that ends behind page i; false when that can't be told. */
static bool find_extent(const struct agxw_recorder *recorder,
                        const struct agxw_recorded_object *object, uint64_t i,
                        struct extent *extent)
{
   uint64_t begin, end;
   if (i < extent->end)
      return true;
   if (!recorder->ops->find_memory(recorder->user, object->mmap_offset, i * PAGE_BYTES, &begin,
                                   &end))
      return false;
   extent->begin = begin / PAGE_BYTES;
   extent->end = agx_align_up(AGX_MAX(end, (i + 1) * PAGE_BYTES), PAGE_BYTES) / PAGE_BYTES;
   return true;
}

/* The same for count pages, of any mapping. */
static uint64_t ask_host(const struct agxw_recorded_object *object, uint64_t i, uint64_t count)
{
   uint64_t present = agxw_capture_present(object->memory + i * PAGE_BYTES, count);
   for (uint64_t at = 0; at < count; at++)
      present |= (uint64_t)(object->hashes[i + at] != 0) << at;
   return present;
}

/* Which of the pages from i on, up to a run of them, have to be looked at: those that have memory,
 * and those that had something. */
static uint64_t present_pages(const struct agxw_recorder *recorder,
                              const struct agxw_recorded_object *object, uint64_t i,
                              struct extent *extent)
{
   uint64_t count = AGX_MIN(object->size / PAGE_BYTES - i, AGXW_CAPTURE_RUN_PAGES);
   uint64_t present = 0;
   if (!recorder->ops->find_memory || object->size < LEAST_SPARSE)
      return UINT64_MAX;
   for (uint64_t at = 0; at < count; at++) {
      bool had_something = object->hashes[i + at] != 0;
      if (!had_something && !find_extent(recorder, object, i + at, extent))
         return ask_host(object, i, count);
      present |= (uint64_t)(had_something || i + at >= extent->begin) << at;
   }
   return present;
}

/* Runs of changed pages become one record each. A page is remembered as it was copied: it may
 * change while it is looked at. */
static void put_changes(struct agxw_recorder *recorder, struct agxw_recorded_object *object,
                        enum agxw_capture_moment moment)
{
   uint64_t pages = object->size / PAGE_BYTES, first = 0, count = 0, present = 0;
   struct extent extent = {0, 0};
   for (uint64_t i = 0; i < pages; i++) {
      if (i % AGXW_CAPTURE_RUN_PAGES == 0)
         present = present_pages(recorder, object, i, &extent);
      bool is_there = present >> i % AGXW_CAPTURE_RUN_PAGES & 1;
      if (!is_there || !is_changed(object, i)) {
         put_run(recorder, object, moment, first, count);
         count = 0;
         continue;
      }
      if (count == AGXW_CAPTURE_RUN_PAGES) {
         put_run(recorder, object, moment, first, count);
         count = 0;
      }
      if (count == 0)
         first = i;
      uint8_t *copy = recorder->run + count++ * PAGE_BYTES;
      memcpy(copy, object->memory + i * PAGE_BYTES, PAGE_BYTES);
      remember(object, i, copy);
   }
   put_run(recorder, object, moment, first, count);
}

/* Processes that share the device since a fork remember nothing of what another has written. */
static void forget_old(struct agxw_recorder *recorder)
{
   uint32_t process = agxw_capture_process_id(recorder->file);
   if (atomic_exchange(recorder->writer, process) == process)
      return;
   for (size_t i = 0; i < recorder->object_count; i++)
      for (uint64_t j = 0;
           recorder->objects[i].hashes && j < recorder->objects[i].size / PAGE_BYTES; j++)
         recorder->objects[i].hashes[j] = OLD;
}

void agxw_recorder_put_memory(struct agxw_recorder *recorder, enum agxw_capture_moment moment)
{
   if (!recorder->run)
      recorder->run = malloc((size_t)AGXW_CAPTURE_RUN_PAGES * PAGE_BYTES);
   if (!recorder->run)
      recorder->is_short = true;
   forget_old(recorder);
   for (size_t i = 0; recorder->run && i < recorder->object_count; i++) {
      struct agxw_recorded_object *object = &recorder->objects[i];
      bool may_differ = object->is_bound && (moment == AGXW_CAPTURE_BEFORE || object->is_written);
      if (may_differ && !agxw_capture_is_over(recorder->file) && map_object(recorder, object))
         put_changes(recorder, object, moment);
   }
}
