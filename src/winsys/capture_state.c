/* SPDX-License-Identifier: MIT
 *
 * What a recorded device knows at some point of the file: objects, their contents
 * page by page, bindings and queues. Contents stay in the file; memory used is in
 * proportion to the number of records.
 */
#include <string.h>

#include "base/util.h"
#include "winsys/asahi_uapi.h"
#include "winsys/capture.h"

#define PAGE_BYTES 16384u

struct object {
   uint32_t handle; /* 0: closed */
   char label[32];
};

/* Contents of page `page` of object `object`; the key's hash says where in the table. */
struct page {
   uint32_t object; /* 1 + index; 0: free */
   uint64_t page;
   const uint8_t *data;
};

/* Later ones cover earlier ones. */
struct binding {
   uint32_t vm_id;
   uint32_t object; /* 1 + index; 0: a hole */
   bool single_page;
   uint64_t va, bytes, offset;
};

struct array {
   void *data;
   size_t count, capacity;
};

struct agxw_capture_state {
   const struct agx_host_alloc *alloc;
   struct array objects, bindings, queues;
   struct page *pages; /* open addressing, a power of two of places */
   size_t page_count, page_capacity;
};

static void *grow(struct agxw_capture_state *state, struct array *array, size_t element)
{
   if (array->count == array->capacity) {
      size_t capacity = AGX_MAX(2 * array->capacity, 32);
      uint8_t *data = agx_host_zalloc(state->alloc, capacity * element);
      if (!data)
         return NULL;
      if (array->count > 0)
         memcpy(data, array->data, array->count * element);
      agx_host_free(state->alloc, array->data, array->capacity * element);
      array->data = data;
      array->capacity = capacity;
   }
   return (uint8_t *)array->data + array->count++ * element;
}

static agx_status out_of_memory(void)
{
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "capture: no memory for the device's state");
}

/* ---- pages ---- */

static size_t page_place(const struct agxw_capture_state *state, uint32_t object, uint64_t page)
{
   uint64_t hash = (page * 0x9e3779b97f4a7c15u) ^ (object * 0xc2b2ae3d27d4eb4fu);
   size_t mask = state->page_capacity - 1, place = (size_t)(hash ^ hash >> 29) & mask;
   while (state->pages[place].object != 0 &&
          (state->pages[place].object != object || state->pages[place].page != page))
      place = (place + 1) & mask;
   return place;
}

static agx_status grow_pages(struct agxw_capture_state *state)
{
   if (4 * (state->page_count + 1) <= 3 * state->page_capacity)
      return AGX_OK;
   struct page *old = state->pages;
   size_t old_capacity = state->page_capacity, capacity = AGX_MAX(2 * old_capacity, 256);
   struct page *pages = agx_host_zalloc(state->alloc, capacity * sizeof(*pages));
   if (!pages)
      return out_of_memory();
   state->pages = pages;
   state->page_capacity = capacity;
   for (size_t i = 0; i < old_capacity; i++)
      if (old[i].object != 0)
         state->pages[page_place(state, old[i].object, old[i].page)] = old[i];
   agx_host_free(state->alloc, old, old_capacity * sizeof(*old));
   return AGX_OK;
}

static agx_status set_page(struct agxw_capture_state *state, uint32_t object, uint64_t page,
                           const uint8_t *data)
{
   AGX_TRY(grow_pages(state));
   struct page *entry = &state->pages[page_place(state, object, page)];
   state->page_count += entry->object == 0;
   *entry = (struct page){object, page, data};
   return AGX_OK;
}

/* ---- objects ---- */

/* 1 + index, or 0. */
static uint32_t find_object(const struct agxw_capture_state *state, uint32_t handle)
{
   const struct object *objects = state->objects.data;
   for (size_t i = state->objects.count; handle != 0 && i-- > 0;)
      if (objects[i].handle == handle)
         return (uint32_t)i + 1;
   return 0;
}

static struct object *object_at(const struct agxw_capture_state *state, uint32_t object)
{
   return (struct object *)state->objects.data + (object - 1);
}

static agx_status add_object(struct agxw_capture_state *state, uint32_t handle)
{
   uint32_t old = find_object(state, handle);
   if (old)
      object_at(state, old)->handle = 0;
   struct object *object = grow(state, &state->objects, sizeof(*object));
   if (!object)
      return out_of_memory();
   *object = (struct object){.handle = handle};
   return AGX_OK;
}

/* ---- records ---- */

static agx_status apply_bind(struct agxw_capture_state *state,
                             const struct agxw_capture_record *record)
{
   struct agx_uapi_vm_bind bind;
   uint32_t bytes;
   agxw_capture_argument(record, false, &bind, sizeof(bind));
   const uint8_t *steps =
      agxw_capture_find_blob(record, offsetof(struct agx_uapi_vm_bind, userptr), &bytes);
   for (uint64_t i = 0; bind.stride > 0 && i < bind.num_binds && i < bytes / bind.stride; i++) {
      struct agx_uapi_gem_bind_op step = {0};
      memcpy(&step, steps + i * bind.stride, AGX_MIN(sizeof(step), bind.stride));
      struct binding *binding = grow(state, &state->bindings, sizeof(*binding));
      if (!binding)
         return out_of_memory();
      bool unbind = step.flags & AGX_UAPI_BIND_UNBIND;
      *binding = (struct binding){.vm_id = bind.vm_id,
                                  .object = unbind ? 0 : find_object(state, step.handle),
                                  .single_page = step.flags & AGX_UAPI_BIND_SINGLE_PAGE,
                                  .va = step.addr,
                                  .bytes = step.range,
                                  .offset = step.offset};
   }
   return AGX_OK;
}

static agx_status apply_queue(struct agxw_capture_state *state,
                              const struct agx_uapi_queue_create *create)
{
   struct agxw_capture_queue *queue = grow(state, &state->queues, sizeof(*queue));
   if (!queue)
      return out_of_memory();
   *queue = (struct agxw_capture_queue){
      .id = create->queue_id, .vm_id = create->vm_id, .usc_base = create->usc_exec_base};
   return AGX_OK;
}

/* The kernel drops an object's bindings with its handle. */
static void apply_close(struct agxw_capture_state *state, uint32_t handle)
{
   uint32_t object = find_object(state, handle);
   struct binding *bindings = state->bindings.data;
   size_t kept = 0;
   if (!object)
      return;
   object_at(state, object)->handle = 0;
   for (size_t i = 0; i < state->bindings.count; i++)
      if (bindings[i].object != object)
         bindings[kept++] = bindings[i];
   state->bindings.count = kept;
}

static agx_status apply_request(struct agxw_capture_state *state,
                                const struct agxw_capture_record *record)
{
   union {
      struct agx_uapi_gem_create create;
      struct agx_uapi_gem_close close;
      struct agx_uapi_prime_handle import;
      struct agx_uapi_queue_create queue;
   } argument;
   if (record->result != 0)
      return AGX_OK;
   agxw_capture_argument(record, true, &argument, sizeof(argument));
   switch (record->request) {
   case AGX_IOCTL_ASAHI_GEM_CREATE:
      return add_object(state, argument.create.handle);
   case AGX_IOCTL_PRIME_FD_TO_HANDLE: /* maybe of what has a handle already */
      return find_object(state, argument.import.handle) ? AGX_OK
                                                        : add_object(state, argument.import.handle);
   case AGX_IOCTL_GEM_CLOSE:
      apply_close(state, argument.close.handle);
      return AGX_OK;
   case AGX_IOCTL_ASAHI_VM_BIND:
      return apply_bind(state, record);
   case AGX_IOCTL_ASAHI_QUEUE_CREATE:
      return apply_queue(state, &argument.queue);
   }
   return AGX_OK;
}

static agx_status apply_pages(struct agxw_capture_state *state,
                              const struct agxw_capture_record *record)
{
   uint32_t object = find_object(state, record->handle);
   if (!object)
      return AGX_FAIL(AGX_DATA_LOSS, "capture damaged: contents of unknown buffer %u at offset %zu",
                      record->handle, record->file_offset);
   for (size_t at = 0; at < record->bytes; at += PAGE_BYTES)
      AGX_TRY(set_page(state, object, (record->offset + at) / PAGE_BYTES, record->data + at));
   return AGX_OK;
}

static void apply_label(struct agxw_capture_state *state, const struct agxw_capture_record *record)
{
   uint32_t found = find_object(state, record->handle);
   if (!found)
      return;
   struct object *object = object_at(state, found);
   size_t length = AGX_MIN(record->bytes, sizeof(object->label) - 1);
   memcpy(object->label, record->data, length);
   object->label[length] = 0;
}

agx_status agxw_capture_state_apply(struct agxw_capture_state *state,
                                    const struct agxw_capture_record *record)
{
   switch (record->type) {
   case AGXW_CAPTURE_REQUEST:
      return apply_request(state, record);
   case AGXW_CAPTURE_PAGES:
      return apply_pages(state, record);
   case AGXW_CAPTURE_LABEL:
      apply_label(state, record);
      return AGX_OK;
   case AGXW_CAPTURE_NOTE:
      return AGX_OK;
   }
   return AGX_OK;
}

/* ---- looking ---- */

static const struct binding *find_binding(const struct agxw_capture_state *state, uint32_t vm_id,
                                          uint64_t va)
{
   const struct binding *bindings = state->bindings.data;
   for (size_t i = state->bindings.count; i-- > 0;)
      if (bindings[i].vm_id == vm_id && va >= bindings[i].va &&
          va - bindings[i].va < bindings[i].bytes)
         return bindings[i].object ? &bindings[i] : NULL;
   return NULL;
}

static void copy_page(const struct agxw_capture_state *state, const struct binding *binding,
                      uint64_t va, uint8_t *out, size_t bytes)
{
   uint64_t inside = va - binding->va;
   uint64_t offset = binding->offset + (binding->single_page ? inside % PAGE_BYTES : inside);
   const struct page *page =
      state->page_capacity ? &state->pages[page_place(state, binding->object, offset / PAGE_BYTES)]
                           : NULL;
   if (page && page->object != 0)
      memcpy(out, page->data + offset % PAGE_BYTES, bytes);
   else
      memset(out, 0, bytes);
}

bool agxw_capture_state_read(struct agxw_capture_state *state, uint32_t vm_id, uint64_t va,
                             void *out_data, size_t bytes)
{
   uint8_t *out = out_data;
   while (bytes > 0) {
      const struct binding *binding = find_binding(state, vm_id, va);
      if (!binding)
         return false;
      uint64_t in_page = PAGE_BYTES - (binding->offset + (va - binding->va)) % PAGE_BYTES;
      size_t part = (size_t)AGX_MIN(AGX_MIN(in_page, PAGE_BYTES - va % PAGE_BYTES), bytes);
      copy_page(state, binding, va, out, part);
      va += part;
      out += part;
      bytes -= part;
   }
   return true;
}

const struct agxw_capture_queue *agxw_capture_state_queue(const struct agxw_capture_state *state,
                                                          uint32_t queue_id)
{
   const struct agxw_capture_queue *queues = state->queues.data;
   for (size_t i = state->queues.count; i-- > 0;)
      if (queues[i].id == queue_id)
         return &queues[i];
   return NULL;
}

const char *agxw_capture_state_label(const struct agxw_capture_state *state, uint32_t vm_id,
                                     uint64_t va, uint64_t *out_start)
{
   const struct binding *binding = find_binding(state, vm_id, va);
   *out_start = binding ? binding->va : 0;
   return binding ? object_at(state, binding->object)->label : NULL;
}

agx_status agxw_capture_state_create(const struct agx_host_alloc *alloc,
                                     struct agxw_capture_state **out_state)
{
   *out_state = agx_host_zalloc(alloc, sizeof(**out_state));
   if (!*out_state)
      return out_of_memory();
   (*out_state)->alloc = alloc;
   return AGX_OK;
}

void agxw_capture_state_destroy(struct agxw_capture_state *state)
{
   if (!state)
      return;
   const struct agx_host_alloc *alloc = state->alloc;
   agx_host_free(alloc, state->objects.data, state->objects.capacity * sizeof(struct object));
   agx_host_free(alloc, state->bindings.data, state->bindings.capacity * sizeof(struct binding));
   agx_host_free(alloc, state->queues.data,
                 state->queues.capacity * sizeof(struct agxw_capture_queue));
   agx_host_free(alloc, state->pages, state->page_capacity * sizeof(struct page));
   agx_host_free(alloc, state, sizeof(*state));
}
