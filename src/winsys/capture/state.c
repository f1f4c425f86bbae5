/* SPDX-License-Identifier: MIT
 *
 * What the recorded devices know at some point of the file: objects, their contents page by page,
 * address spaces and queues. Contents stay in the file; memory used is in proportion to the number
 * of records.
 */
#include <string.h>

#include "base/util.h"
#include "winsys/asahi_uapi.h"
#include "winsys/capture/capture.h"
#include "winsys/capture/ranges.h"
#include "base/table.h"

#define PAGE_BYTES AGXW_CAPTURE_PAGE_BYTES

/* What the table of a device holds, by the group of a key. Pages have the groups behind: 16 + the
 * object's number. */
enum group {
   GROUP_HANDLES, /* handle: 1 + index of the object */
   GROUP_SPACES,  /* vm_id: 1 + index of the address space */
   GROUP_QUEUES,  /* queue_id: 1 + index of the queue */
   GROUP_PAGES = 16,
};

struct array {
   void *data;
   size_t count, capacity;
};

struct space {
   uint32_t vm_id;
   struct agxw_ranges ranges;
};

struct agxw_capture_device {
   struct agxw_capture_state *state;
   struct array objects, spaces, queues;
   struct agx_table table;
};

struct agxw_capture_state {
   const struct agx_host_alloc *alloc;
   struct agxw_capture_reader *reader;
   struct array devices;    /* struct agxw_capture_device * */
   struct agx_table opened; /* (process, file): 1 + index of the device */
   agx_status damage;
   char damage_text[AGX_ERROR_TEXT_BYTES];
};

static agx_status out_of_memory(void)
{
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "capture: no memory for the device's state");
}

static void *grow(const struct agx_host_alloc *alloc, struct array *array, size_t element)
{
   if (array->count == array->capacity) {
      size_t capacity = AGX_MAX(2 * array->capacity, 32);
      uint8_t *data = agx_host_zalloc(alloc, capacity * element);
      if (!data)
         return NULL;
      if (array->count > 0)
         memcpy(data, array->data, array->count * element);
      agx_host_free(alloc, array->data, array->capacity * element);
      array->data = data;
      array->capacity = capacity;
   }
   return (uint8_t *)array->data + array->count++ * element;
}

/* ---- devices ---- */

static agx_status add_device(struct agxw_capture_state *state, uint32_t process, uint32_t file)
{
   struct agx_table_entry *entry = agx_table_get(&state->opened, process, file + UINT64_C(1));
   struct agxw_capture_device **place =
      entry ? grow(state->alloc, &state->devices, sizeof(*place)) : NULL;
   if (!place)
      return out_of_memory();
   *place = agx_host_zalloc(state->alloc, sizeof(**place));
   if (!*place) {
      state->devices.count--;
      return out_of_memory();
   }
   (*place)->state = state;
   (*place)->table.alloc = state->alloc;
   entry->value = state->devices.count;
   return AGX_OK;
}

struct agxw_capture_device *agxw_capture_state_device(const struct agxw_capture_state *state,
                                                      const struct agxw_capture_record *record)
{
   const struct agx_table_entry *entry =
      agx_table_find(&state->opened, record->process, record->file + UINT64_C(1));
   return entry ? ((struct agxw_capture_device **)state->devices.data)[entry->value - 1] : NULL;
}

static void free_device(struct agxw_capture_device *device)
{
   const struct agx_host_alloc *alloc = device->state->alloc;
   struct space *spaces = device->spaces.data;
   for (size_t i = 0; i < device->spaces.count; i++)
      agxw_ranges_fini(&spaces[i].ranges);
   agx_host_free(alloc, device->objects.data,
                 device->objects.capacity * sizeof(struct agxw_capture_object));
   agx_host_free(alloc, device->spaces.data, device->spaces.capacity * sizeof(struct space));
   agx_host_free(alloc, device->queues.data,
                 device->queues.capacity * sizeof(struct agxw_capture_queue));
   agx_table_fini(&device->table);
   agx_host_free(alloc, device, sizeof(*device));
}

/* ---- objects ---- */

/* 1 + index of what has that number, or 0. */
static uint32_t find(const struct agxw_capture_device *device, enum group group, uint32_t number)
{
   const struct agx_table_entry *entry =
      agx_table_find(&device->table, group, number + UINT64_C(1));
   return entry ? (uint32_t)entry->value : 0;
}

static bool name(struct agxw_capture_device *device, enum group group, uint32_t number,
                 size_t value)
{
   struct agx_table_entry *entry = agx_table_get(&device->table, group, number + UINT64_C(1));
   if (!entry)
      return false;
   entry->value = value;
   return true;
}

static struct agxw_capture_object *object_at(const struct agxw_capture_device *device,
                                             uint32_t object)
{
   return (struct agxw_capture_object *)device->objects.data + (object - 1);
}

const struct agxw_capture_object *
agxw_capture_device_object(const struct agxw_capture_device *device, uint32_t index)
{
   return index < device->objects.count ? object_at(device, index + 1) : NULL;
}

const struct agxw_capture_object *agxw_capture_device_find(const struct agxw_capture_device *device,
                                                           uint32_t handle)
{
   uint32_t object = find(device, GROUP_HANDLES, handle);
   return object ? object_at(device, object) : NULL;
}

/* The kernel drops an object's mappings with its handle: what leads to a closed object is a hole.
 */
static void close_object(struct agxw_capture_device *device, uint32_t handle)
{
   uint32_t object = find(device, GROUP_HANDLES, handle);
   if (!object)
      return;
   object_at(device, object)->handle = 0;
   name(device, GROUP_HANDLES, handle, 0);
}

static agx_status add_object(struct agxw_capture_device *device, uint32_t handle, uint64_t bytes)
{
   close_object(device, handle);
   struct agxw_capture_object *object =
      grow(device->state->alloc, &device->objects, sizeof(*object));
   if (!object)
      return out_of_memory();
   *object = (struct agxw_capture_object){.handle = handle, .bytes = bytes};
   return name(device, GROUP_HANDLES, handle, device->objects.count) ? AGX_OK : out_of_memory();
}

/* ---- records ---- */

static struct agxw_ranges *ranges_of(const struct agxw_capture_device *device, uint32_t space)
{
   return &((struct space *)device->spaces.data + (space - 1))->ranges;
}

static agx_status find_space(struct agxw_capture_device *device, uint32_t vm_id,
                             struct agxw_ranges **out_space)
{
   uint32_t space = find(device, GROUP_SPACES, vm_id);
   if (!space) {
      struct space *new_space = grow(device->state->alloc, &device->spaces, sizeof(*new_space));
      if (!new_space || !name(device, GROUP_SPACES, vm_id, device->spaces.count))
         return out_of_memory();
      new_space->vm_id = vm_id;
      agxw_ranges_init(&new_space->ranges, device->state->alloc);
      space = (uint32_t)device->spaces.count;
   }
   *out_space = ranges_of(device, space);
   return AGX_OK;
}

static agx_status apply_step(struct agxw_capture_device *device, struct agxw_ranges *space,
                             const struct agx_uapi_gem_bind_op *step)
{
   bool unbind = step->flags & AGX_UAPI_BIND_UNBIND;
   const struct agxw_range range = {.start = step->addr,
                                    .bytes = step->range,
                                    .object =
                                       unbind ? 0 : find(device, GROUP_HANDLES, step->handle),
                                    .single_page = step->flags & AGX_UAPI_BIND_SINGLE_PAGE,
                                    .offset = step->offset};
   /* No kernel takes others. */
   if (range.bytes == 0 || range.bytes > UINT64_MAX - range.start ||
       (range.start | range.bytes | range.offset) % PAGE_BYTES != 0 ||
       (!range.single_page && range.bytes > UINT64_MAX - range.offset))
      return AGX_FAIL(AGX_DATA_LOSS, "capture damaged: %llu bytes bound at %#llx",
                      (unsigned long long)range.bytes, (unsigned long long)range.start);
   return agxw_ranges_set(space, &range);
}

static agx_status apply_bind(struct agxw_capture_device *device,
                             const struct agxw_capture_record *record)
{
   struct agx_uapi_vm_bind bind;
   struct agxw_ranges *space = NULL;
   uint32_t bytes;
   agxw_capture_argument(record, false, &bind, sizeof(bind));
   const uint8_t *steps =
      agxw_capture_find_blob(record, offsetof(struct agx_uapi_vm_bind, userptr), &bytes);
   AGX_TRY(find_space(device, bind.vm_id, &space));
   for (uint64_t i = 0; bind.stride > 0 && i < bind.num_binds && i < bytes / bind.stride; i++) {
      struct agx_uapi_gem_bind_op step = {0};
      memcpy(&step, steps + i * bind.stride, AGX_MIN(sizeof(step), bind.stride));
      AGX_TRY(apply_step(device, space, &step));
   }
   return AGX_OK;
}

static agx_status apply_queue(struct agxw_capture_device *device,
                              const struct agx_uapi_queue_create *create)
{
   struct agxw_capture_queue *queue = grow(device->state->alloc, &device->queues, sizeof(*queue));
   if (!queue || !name(device, GROUP_QUEUES, create->queue_id, device->queues.count))
      return out_of_memory();
   *queue = (struct agxw_capture_queue){
      .id = create->queue_id, .vm_id = create->vm_id, .usc_base = create->usc_exec_base};
   return AGX_OK;
}

/* A new address space of an old one's number begins empty. */
static void apply_vm_destroy(struct agxw_capture_device *device, uint32_t vm_id)
{
   uint32_t space = find(device, GROUP_SPACES, vm_id);
   if (space)
      agxw_ranges_fini(ranges_of(device, space));
}

static agx_status apply_request(struct agxw_capture_device *device,
                                const struct agxw_capture_record *record)
{
   union {
      struct agx_uapi_gem_create create;
      struct agx_uapi_gem_close close;
      struct agx_uapi_prime_handle import;
      struct agx_uapi_queue_create queue;
      struct agx_uapi_vm_destroy vm;
   } argument;
   if (record->result != 0)
      return AGX_OK;
   agxw_capture_argument(record, true, &argument, sizeof(argument));
   switch (AGX_UAPI_NR(record->request)) {
   case AGX_UAPI_NR(AGX_IOCTL_ASAHI_GEM_CREATE):
      return add_object(device, argument.create.handle, argument.create.size);
   case AGX_UAPI_NR(AGX_IOCTL_PRIME_FD_TO_HANDLE): /* maybe of what has a handle already */
      return find(device, GROUP_HANDLES, argument.import.handle)
                ? AGX_OK
                : add_object(device, argument.import.handle, 0);
   case AGX_UAPI_NR(AGX_IOCTL_GEM_CLOSE):
      close_object(device, argument.close.handle);
      return AGX_OK;
   case AGX_UAPI_NR(AGX_IOCTL_ASAHI_VM_BIND):
      return apply_bind(device, record);
   case AGX_UAPI_NR(AGX_IOCTL_ASAHI_VM_DESTROY):
      apply_vm_destroy(device, argument.vm.vm_id);
      return AGX_OK;
   case AGX_UAPI_NR(AGX_IOCTL_ASAHI_QUEUE_CREATE):
      return apply_queue(device, &argument.queue);
   }
   return AGX_OK;
}

static agx_status apply_pages(struct agxw_capture_device *device,
                              const struct agxw_capture_record *record)
{
   uint32_t object = find(device, GROUP_HANDLES, record->handle);
   if (!object)
      return AGX_FAIL(AGX_DATA_LOSS,
                      "capture damaged: contents of unknown buffer %u at offset %llu",
                      record->handle, (unsigned long long)record->file_offset);
   for (uint64_t i = 0; i < record->page_count; i++) {
      struct agx_table_entry *entry = agx_table_get(&device->table, GROUP_PAGES + (uint64_t)object,
                                                    record->offset / PAGE_BYTES + i);
      if (!entry)
         return out_of_memory();
      entry->value = record->file_offset;
      entry->more = i;
   }
   return AGX_OK;
}

static void apply_label(struct agxw_capture_device *device,
                        const struct agxw_capture_record *record)
{
   uint32_t found = find(device, GROUP_HANDLES, record->handle);
   if (!found)
      return;
   struct agxw_capture_object *object = object_at(device, found);
   size_t length = AGX_MIN(record->text_bytes, sizeof(object->label) - 1);
   memcpy(object->label, record->text, length);
   object->label[length] = 0;
}

static void apply_import(struct agxw_capture_device *device,
                         const struct agxw_capture_record *record)
{
   uint32_t found = find(device, GROUP_HANDLES, record->handle);
   if (found)
      object_at(device, found)->bytes = record->object_bytes;
}

agx_status agxw_capture_state_apply(struct agxw_capture_state *state,
                                    const struct agxw_capture_record *record)
{
   struct agxw_capture_device *device = agxw_capture_state_device(state, record);
   bool is_of_device = record->type == AGXW_CAPTURE_REQUEST || record->type == AGXW_CAPTURE_PAGES ||
                       record->type == AGXW_CAPTURE_LABEL || record->type == AGXW_CAPTURE_IMPORT;
   if (record->type == AGXW_CAPTURE_OPEN || (is_of_device && !device)) {
      AGX_TRY(add_device(state, record->process, record->file));
      device = agxw_capture_state_device(state, record);
   }
   switch (record->type) {
   case AGXW_CAPTURE_REQUEST:
      return apply_request(device, record);
   case AGXW_CAPTURE_PAGES:
      return apply_pages(device, record);
   case AGXW_CAPTURE_LABEL:
      apply_label(device, record);
      return AGX_OK;
   case AGXW_CAPTURE_IMPORT:
      apply_import(device, record);
      return AGX_OK;
   case AGXW_CAPTURE_NOTE:
   case AGXW_CAPTURE_PROCESS:
   case AGXW_CAPTURE_OPEN:
   case AGXW_CAPTURE_CLOSE:
      return AGX_OK;
   }
   return AGX_OK;
}

/* ---- looking ---- */

uint32_t agxw_capture_device_space(const struct agxw_capture_device *device, uint32_t index)
{
   return index < device->spaces.count ? ((struct space *)device->spaces.data)[index].vm_id : 0;
}

/* The range around va or the next one behind it. */
static const struct agxw_range *find_range(const struct agxw_capture_device *device, uint32_t vm_id,
                                           uint64_t va)
{
   uint32_t space = find(device, GROUP_SPACES, vm_id);
   return space ? agxw_ranges_find(ranges_of(device, space), va) : NULL;
}

static bool is_open(const struct agxw_capture_device *device, const struct agxw_range *range)
{
   return object_at(device, range->object)->handle != 0;
}

bool agxw_capture_device_mapping(const struct agxw_capture_device *device, uint32_t vm_id,
                                 uint64_t va, struct agxw_capture_mapping *out_mapping)
{
   const struct agxw_range *range = find_range(device, vm_id, va);
   while (range && !is_open(device, range))
      range = find_range(device, vm_id, range->start + range->bytes);
   if (!range)
      return false;
   *out_mapping = (struct agxw_capture_mapping){.vm_id = vm_id,
                                                .va = range->start,
                                                .bytes = range->bytes,
                                                .object = object_at(device, range->object),
                                                .offset = range->offset,
                                                .single_page = range->single_page};
   return true;
}

static agx_status copy_part(struct agxw_capture_device *device, const struct agxw_range *range,
                            uint64_t va, uint8_t *out, uint32_t bytes)
{
   uint64_t inside = va - range->start;
   uint64_t offset = range->offset + (range->single_page ? inside % PAGE_BYTES : inside);
   const struct agx_table_entry *page =
      agx_table_find(&device->table, GROUP_PAGES + (uint64_t)range->object, offset / PAGE_BYTES);
   if (!page) {
      memset(out, 0, bytes);
      return AGX_OK;
   }
   const struct agxw_capture_place place = {page->value, page->more};
   return agxw_capture_page(device->state->reader, &place, (uint32_t)(offset % PAGE_BYTES), out,
                            bytes);
}

bool agxw_capture_device_read(struct agxw_capture_device *device, uint32_t vm_id, uint64_t va,
                              void *out_data, size_t bytes)
{
   uint8_t *out = out_data;
   while (bytes > 0) {
      const struct agxw_range *range = find_range(device, vm_id, va);
      if (!range || range->start > va || !is_open(device, range))
         return false;
      uint32_t part = (uint32_t)AGX_MIN(PAGE_BYTES - va % PAGE_BYTES, bytes);
      agx_status status = copy_part(device, range, va, out, part);
      if (status != AGX_OK && device->state->damage == AGX_OK) {
         device->state->damage = status;
         agx_error_save(device->state->damage_text);
      }
      if (status != AGX_OK)
         return false;
      va += part;
      out += part;
      bytes -= part;
   }
   return true;
}

agx_status agxw_capture_state_damage(const struct agxw_capture_state *state)
{
   if (state->damage != AGX_OK)
      agx_error_restore(state->damage_text);
   return state->damage;
}

const struct agxw_capture_queue *agxw_capture_device_queue(const struct agxw_capture_device *device,
                                                           uint32_t queue_id)
{
   uint32_t queue = find(device, GROUP_QUEUES, queue_id);
   return queue ? (struct agxw_capture_queue *)device->queues.data + (queue - 1) : NULL;
}

agx_status agxw_capture_state_create(const struct agx_host_alloc *alloc,
                                     struct agxw_capture_reader *reader,
                                     struct agxw_capture_state **out_state)
{
   struct agxw_capture_state *state = agx_host_zalloc(alloc, sizeof(*state));
   *out_state = state;
   if (!state)
      return out_of_memory();
   state->alloc = alloc;
   state->reader = reader;
   state->opened.alloc = alloc;
   return AGX_OK;
}

void agxw_capture_state_destroy(struct agxw_capture_state *state)
{
   if (!state)
      return;
   struct agxw_capture_device **devices = state->devices.data;
   for (size_t i = 0; i < state->devices.count; i++)
      free_device(devices[i]);
   agx_host_free(state->alloc, devices,
                 state->devices.capacity * sizeof(struct agxw_capture_device *));
   agx_table_fini(&state->opened);
   agx_host_free(state->alloc, state, sizeof(*state));
}
