/* SPDX-License-Identifier: MIT
 *
 * Buffers of a replay: their contents are written before submissions, and compared behind them,
 * page by page by hashes, and byte by byte where these differ.
 */
#include "replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define PAGE_BYTES AGXW_CAPTURE_PAGE_BYTES

static agx_status no_memory(const char *what)
{
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for %s", what);
}

/* ---- buffers ---- */

agx_status replay_add_buffer(struct replay_device *device, uint32_t recorded, uint32_t handle,
                             uint64_t bytes)
{
   if (device->buffer_count == device->buffer_capacity) {
      size_t capacity = AGX_MAX(2 * device->buffer_capacity, 64);
      struct replay_buffer *buffers = realloc(device->buffers, capacity * sizeof(*buffers));
      if (!buffers)
         return no_memory("the buffers of the replay");
      device->buffers = buffers;
      device->buffer_capacity = capacity;
   }
   struct agx_table_entry *entry = agx_table_get(&device->ids, REPLAY_BUFFER, recorded);
   if (!entry)
      return no_memory("the buffers of the replay");
   device->buffers[device->buffer_count++] = (struct replay_buffer){
      .handle = handle, .recorded = recorded, .bytes = agx_align_up(bytes, PAGE_BYTES)};
   entry->value = device->buffer_count;
   return AGX_OK;
}

struct replay_buffer *replay_find_buffer(struct replay_device *device, uint32_t recorded)
{
   const struct agx_table_entry *entry = agx_table_find(&device->ids, REPLAY_BUFFER, recorded);
   return entry ? &device->buffers[entry->value - 1] : NULL;
}

void replay_unmap_buffer(struct replay_device *device, struct replay_buffer *buffer)
{
   if (buffer->memory)
      device->kmd->ops->munmap(device->kmd, buffer->memory, buffer->bytes);
   free(buffer->hashes);
   buffer->memory = NULL;
   buffer->hashes = NULL;
}

agx_status replay_map_buffer(struct replay_device *device, struct replay_buffer *buffer)
{
   if (buffer->memory)
      return AGX_OK;
   struct agx_uapi_gem_mmap_offset get = {.handle = buffer->handle};
   int error = device->kmd->ops->ioctl(device->kmd, AGX_IOCTL_ASAHI_GEM_MMAP_OFFSET, &get);
   buffer->hashes = calloc(buffer->bytes / PAGE_BYTES, sizeof(*buffer->hashes));
   if (!buffer->hashes)
      return no_memory("a buffer's hashes");
   if (!error)
      buffer->memory = device->kmd->ops->mmap(device->kmd, get.offset, buffer->bytes, &error);
   if (!buffer->memory)
      return agx_status_fail_errno(error, "buffer %u can't be mapped", buffer->recorded);
   return AGX_OK;
}

static uint32_t last_time(const struct replay_device *device, uint32_t buffer, uint64_t page)
{
   const struct agx_table_entry *entry =
      agx_table_find(&device->ids, REPLAY_TIMES, (uint64_t)buffer << 40 | page);
   return entry ? (uint32_t)entry->value : 0;
}

static agx_status add_time(struct replay_device *device, uint32_t buffer, uint64_t page,
                           uint64_t offset)
{
   for (uint32_t at = last_time(device, buffer, page); at; at = device->times[at - 1].earlier)
      if (device->times[at - 1].offset == offset)
         return AGX_OK;
   if (device->time_count == device->time_capacity) {
      size_t capacity = AGX_MAX(2 * device->time_capacity, 64);
      struct replay_time *times = realloc(device->times, capacity * sizeof(*times));
      if (!times)
         return no_memory("the times of the replay");
      device->times = times;
      device->time_capacity = capacity;
   }
   struct agx_table_entry *entry =
      agx_table_get(&device->ids, REPLAY_TIMES, (uint64_t)buffer << 40 | page);
   if (!entry)
      return no_memory("the times of the replay");
   device->times[device->time_count++] = (struct replay_time){offset, (uint32_t)entry->value};
   entry->value = device->time_count;
   return AGX_OK;
}

agx_status replay_add_time(struct replay_device *device, uint32_t buffer, uint64_t offset)
{
   uint64_t first = offset / PAGE_BYTES, last = (offset + 7) / PAGE_BYTES;
   AGX_TRY(add_time(device, buffer, first, offset));
   return last == first ? AGX_OK : add_time(device, buffer, last, offset);
}

/* ---- contents ---- */

/* What was recorded last of a page. */
static agx_status read_recorded(const struct replay_device *device, uint32_t buffer, uint64_t page,
                                uint8_t out[PAGE_BYTES])
{
   const struct agx_table_entry *entry =
      agx_table_find(&device->ids, REPLAY_PAGES + (uint64_t)buffer, page);
   if (!entry) {
      memset(out, 0, PAGE_BYTES);
      return AGX_OK;
   }
   const struct agxw_capture_place place = {entry->value, entry->more};
   return agxw_capture_page(device->replay->reader, &place, 0, out, PAGE_BYTES);
}

/* Takes the times of the page as they are. */
static void mend_times(const struct replay_device *device, uint32_t buffer, uint64_t page,
                       const uint8_t *replayed, uint8_t *recorded)
{
   uint64_t start = page * PAGE_BYTES;
   for (uint32_t i = last_time(device, buffer, page); i; i = device->times[i - 1].earlier)
      for (uint64_t at = device->times[i - 1].offset; at < device->times[i - 1].offset + 8; at++)
         if (at >= start && at < start + PAGE_BYTES)
            recorded[at - start] = replayed[at - start];
}

/* Where the buffer's byte is mapped, as it was recorded; 0: nowhere. */
static uint64_t find_va(const struct agxw_capture_device *recorded, uint32_t handle,
                        uint64_t offset, uint32_t vm_id)
{
   struct agxw_capture_mapping it;
   for (uint64_t va = 0; agxw_capture_device_mapping(recorded, vm_id, va, &it);
        va = it.va + it.bytes)
      if (it.object->handle == handle && offset >= it.offset && offset - it.offset < it.bytes)
         return it.va + (offset - it.offset);
   return 0;
}

static void note_difference(struct replay_device *device, const struct agxw_capture_record *record,
                            const struct replay_buffer *buffer, uint64_t page,
                            const uint8_t *recorded, const uint8_t *replayed)
{
   struct replay_difference *it = &device->replay->difference;
   uint32_t at = 0;
   while (recorded[at] == replayed[at])
      at++;
   at &= ~3u;
   *it = (struct replay_difference){.is_there = true,
                                    .submission = device->replay->submissions,
                                    .offset = page * PAGE_BYTES + at,
                                    .handle = buffer->recorded,
                                    .process = device->process,
                                    .file = device->file,
                                    .bytes = AGX_MIN(PAGE_BYTES - at, sizeof(it->recorded))};
   memcpy(it->recorded, recorded + at, it->bytes);
   memcpy(it->replayed, replayed + at, it->bytes);
   snprintf(it->buffer, sizeof(it->buffer), "%s", buffer->label);
   const struct agxw_capture_device *was = agxw_capture_state_device(device->replay->state, record);
   for (uint32_t i = 0, vm_id; was && it->va == 0 && (vm_id = agxw_capture_device_space(was, i));
        i++)
      it->va = find_va(was, buffer->recorded, it->offset, vm_id);
}

/* Which of the pages from `page` on, 64 at most, may be other than zero, or were recorded so:
 * looking at holes of the virtual AGX's memory would fill them. */
static uint64_t pages_to_look_at(const struct replay_device *device,
                                 const struct replay_buffer *buffer, uint64_t page)
{
   uint64_t count = AGX_MIN(buffer->bytes / PAGE_BYTES - page, AGXW_CAPTURE_RUN_PAGES);
   if (strncmp(device->kmd->name, "virtual", 7) != 0)
      return UINT64_MAX;
   uint64_t mask = agxw_capture_present(buffer->memory + page * PAGE_BYTES, count);
   for (uint64_t i = 0; i < count; i++)
      mask |= (uint64_t)(buffer->hashes[page + i] != 0) << i;
   return mask;
}

static agx_status compare_page(struct replay_device *device,
                               const struct agxw_capture_record *record, uint32_t index,
                               uint64_t page)
{
   struct replay_buffer *buffer = &device->buffers[index];
   const uint8_t *memory = buffer->memory + page * PAGE_BYTES;
   uint8_t recorded[PAGE_BYTES];
   uint64_t hash = agxw_capture_hash(memory);
   if (hash == buffer->hashes[page])
      return AGX_OK;
   AGX_TRY(read_recorded(device, index, page, recorded));
   mend_times(device, index, page, memory, recorded);
   if (memcmp(recorded, memory, PAGE_BYTES) != 0)
      note_difference(device, record, buffer, page, recorded, memory);
   else
      buffer->hashes[page] = hash;
   return AGX_OK;
}

agx_status replay_compare(struct replay_device *device, const struct agxw_capture_record *record)
{
   device->awaits_results = false;
   for (uint32_t i = 0; i < device->buffer_count; i++) {
      const struct replay_buffer *buffer = &device->buffers[i];
      if (!buffer->handle || !buffer->is_bound)
         continue;
      AGX_TRY(replay_map_buffer(device, &device->buffers[i]));
      uint64_t mask = 0;
      for (uint64_t page = 0; page < buffer->bytes / PAGE_BYTES; page++) {
         if (device->replay->difference.is_there)
            return AGX_OK;
         if (page % AGXW_CAPTURE_RUN_PAGES == 0)
            mask = pages_to_look_at(device, buffer, page);
         device->replay->pages_compared++;
         if (mask >> page % AGXW_CAPTURE_RUN_PAGES & 1)
            AGX_TRY(compare_page(device, record, i, page));
      }
   }
   return AGX_OK;
}

static agx_status restore_page(struct replay_device *device, uint32_t index, uint64_t page)
{
   const struct replay_buffer *buffer = &device->buffers[index];
   uint8_t *memory = buffer->memory + page * PAGE_BYTES;
   return agxw_capture_hash(memory) == buffer->hashes[page]
             ? AGX_OK
             : read_recorded(device, index, page, memory);
}

agx_status replay_restore(struct replay_device *device)
{
   for (uint32_t i = 0; i < device->buffer_count; i++) {
      struct replay_buffer *buffer = &device->buffers[i];
      if (!buffer->handle || !buffer->is_bound)
         continue;
      AGX_TRY(replay_map_buffer(device, buffer));
      uint64_t mask = 0;
      for (uint64_t page = 0; page < buffer->bytes / PAGE_BYTES; page++) {
         if (page % AGXW_CAPTURE_RUN_PAGES == 0)
            mask = pages_to_look_at(device, buffer, page);
         if (mask >> page % AGXW_CAPTURE_RUN_PAGES & 1)
            AGX_TRY(restore_page(device, i, page));
      }
   }
   return AGX_OK;
}

agx_status replay_pages(struct replay_device *device, const struct agxw_capture_record *record)
{
   struct replay_buffer *buffer = replay_find_buffer(device, record->handle);
   uint64_t first = record->offset / PAGE_BYTES;
   if (!buffer || record->page_count > buffer->bytes / PAGE_BYTES ||
       first > buffer->bytes / PAGE_BYTES - record->page_count)
      return AGX_FAIL(AGX_DATA_LOSS, "contents at offset %llu of buffer %u, which has %llu bytes",
                      (unsigned long long)record->offset, record->handle,
                      (unsigned long long)(buffer ? buffer->bytes : 0));
   AGX_TRY(replay_map_buffer(device, buffer));
   uint32_t index = (uint32_t)(buffer - device->buffers);
   for (uint64_t i = 0; i < record->page_count; i++) {
      struct agx_table_entry *entry =
         agx_table_get(&device->ids, REPLAY_PAGES + (uint64_t)index, first + i);
      uint8_t contents[PAGE_BYTES];
      if (!entry)
         return no_memory("where pages are recorded");
      entry->value = record->file_offset;
      entry->more = i;
      AGX_TRY(read_recorded(device, index, first + i, contents));
      buffer->hashes[first + i] = agxw_capture_hash(contents);
      if (record->moment == AGXW_CAPTURE_BEFORE)
         memcpy(buffer->memory + (first + i) * PAGE_BYTES, contents, PAGE_BYTES);
   }
   return AGX_OK;
}
