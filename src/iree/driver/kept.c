/* SPDX-License-Identifier: MIT
 *
 * What must live until work has ended though the core can't see that the work uses it: buffers that
 * kernels know by their addresses only, memory for tables of those, and buffers whose memory goes
 * back with the IREE object, which are blocks of IREE's pools and what was imported with a
 * callback.
 */
#include <stdlib.h>

#include "agx_iree.h"

static iree_status_t add(struct agx_iree_kept *kept, struct agx_iree_kept_object object)
{
   if (kept->count == kept->capacity) {
      const uint32_t capacity = kept->capacity ? 2 * kept->capacity : 16;
      struct agx_iree_kept_object *objects = realloc(kept->objects, capacity * sizeof(*objects));
      if (!objects)
         return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "queue: no host memory");
      kept->objects = objects;
      kept->capacity = capacity;
   }
   agx_retain(object.core);
   iree_hal_resource_retain(object.resource);
   kept->objects[kept->count++] = object;
   return iree_ok_status();
}

iree_status_t agx_iree_kept_add(struct agx_iree_kept *kept, void *core)
{
   return add(kept, (struct agx_iree_kept_object){.core = core});
}

iree_status_t agx_iree_kept_add_refs(struct agx_iree_kept *kept, iree_hal_buffer_ref_list_t refs)
{
   for (iree_host_size_t i = 0; i < refs.count; i++) {
      if (!refs.values[i].buffer)
         continue;
      struct agx_buffer_ref core;
      IREE_RETURN_IF_ERROR(agx_iree_ref(refs.values[i], &core));
      IREE_RETURN_IF_ERROR(agx_iree_kept_add(kept, core.buffer));
   }
   return iree_ok_status();
}

iree_status_t agx_iree_kept_add_buffer(struct agx_iree_kept *kept, iree_hal_buffer_t *buffer)
{
   const struct agx_iree_buffer *ours = buffer ? agx_iree_buffer_of(buffer) : NULL;
   if (!ours || (!ours->pooled && !ours->release.fn))
      return iree_ok_status();
   return add(kept, (struct agx_iree_kept_object){.resource = buffer});
}

iree_status_t agx_iree_kept_add_resource(struct agx_iree_kept *kept, void *resource)
{
   return add(kept, (struct agx_iree_kept_object){.resource = resource});
}

void agx_iree_kept_free(struct agx_iree_kept *kept)
{
   for (uint32_t i = 0; i < kept->count; i++) {
      agx_release(kept->objects[i].core);
      iree_hal_resource_release(kept->objects[i].resource);
   }
   free(kept->objects);
   *kept = (struct agx_iree_kept){0};
}

static void ended(void *user, uint64_t tag, agx_status status)
{
   agx_iree_kept_free(user);
   free(user);
}

iree_status_t agx_iree_submit_kept(struct agx_iree_device *device,
                                   iree_hal_queue_affinity_t affinity,
                                   iree_hal_semaphore_list_t waits,
                                   iree_hal_semaphore_list_t signals, struct agx_op *op,
                                   struct agx_iree_kept *kept)
{
   if (!kept->count)
      return agx_iree_submit(device, affinity, waits, signals, op, NULL);
   struct agx_iree_kept *moved = malloc(sizeof(*moved));
   if (!moved) {
      agx_iree_kept_free(kept);
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "queue: no host memory");
   }
   *moved = *kept;
   *kept = (struct agx_iree_kept){0};
   const struct agx_iree_end end = {.fn = ended, .user = moved};
   iree_status_t status = agx_iree_submit(device, affinity, waits, signals, op, &end);
   if (!iree_status_is_ok(status))
      ended(moved, 0, AGX_OK);
   return status;
}

iree_status_t agx_iree_table_allocate(struct agx_iree_device *device, uint64_t size_B,
                                      struct agx_iree_table *out_table)
{
   *out_table = (struct agx_iree_table){0};
   IREE_RETURN_IF_ERROR(agx_iree_status(
      agx_pool_allocate(device->tables, size_B ? size_B : 8, 0, &out_table->buffer)));
   const agx_status status = agx_buffer_map(out_table->buffer, &out_table->memory);
   if (status != AGX_OK) {
      agx_release(out_table->buffer);
      return agx_iree_status(status);
   }
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(out_table->buffer, &info);
   out_table->address = info.address;
   return iree_ok_status();
}
