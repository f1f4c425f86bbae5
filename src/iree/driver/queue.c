/* SPDX-License-Identifier: MIT
 *
 * Operations of queues: one agx_op each. pool.c, host_call.c and file.c have the others.
 */
#include <string.h>

#include "profile.h"

static struct agx_iree_device *device_of(iree_hal_device_t *base)
{
   return (struct agx_iree_device *)base;
}

/* Submits what uses one or two buffers (NULL: none). */
static iree_status_t submit(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                            iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals,
                            struct agx_op *op, iree_hal_buffer_t *one, iree_hal_buffer_t *other)
{
   struct agx_iree_kept kept = {0};
   iree_status_t status = agx_iree_kept_add_buffer(&kept, one);
   if (iree_status_is_ok(status))
      status = agx_iree_kept_add_buffer(&kept, other);
   if (iree_status_is_ok(status))
      return agx_iree_submit_kept(device_of(base), affinity, waits, signals, op, &kept);
   agx_iree_kept_free(&kept);
   return status;
}

iree_status_t agx_iree_queue_fill(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                  iree_hal_semaphore_list_t waits,
                                  iree_hal_semaphore_list_t signals, iree_hal_buffer_t *target,
                                  iree_device_size_t offset_B, iree_device_size_t length_B,
                                  const void *pattern, iree_host_size_t pattern_B,
                                  iree_hal_fill_flags_t flags)
{
   struct agx_op op = {.kind = AGX_OP_FILL, .u.fill = {.pattern_B = (uint32_t)pattern_B}};
   if (pattern_B > sizeof(op.u.fill.pattern))
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "fill: a pattern of %" PRIhsz " bytes; 1, 2 or 4", pattern_B);
   memcpy(op.u.fill.pattern, pattern, pattern_B);
   IREE_RETURN_IF_ERROR(
      agx_iree_ref(iree_hal_make_buffer_ref(target, offset_B, length_B), &op.u.fill.target));
   return submit(base, affinity, waits, signals, &op, target, NULL);
}

iree_status_t agx_iree_queue_update(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                    iree_hal_semaphore_list_t waits,
                                    iree_hal_semaphore_list_t signals, const void *source,
                                    iree_host_size_t source_offset_B, iree_hal_buffer_t *target,
                                    iree_device_size_t offset_B, iree_device_size_t length_B,
                                    iree_hal_update_flags_t flags)
{
   struct agx_op op = {.kind = AGX_OP_UPDATE,
                       .u.update = {.data = (const uint8_t *)source + source_offset_B}};
   IREE_RETURN_IF_ERROR(
      agx_iree_ref(iree_hal_make_buffer_ref(target, offset_B, length_B), &op.u.update.target));
   return submit(base, affinity, waits, signals, &op, target, NULL);
}

iree_status_t agx_iree_queue_copy(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                  iree_hal_semaphore_list_t waits,
                                  iree_hal_semaphore_list_t signals, iree_hal_buffer_t *source,
                                  iree_device_size_t source_offset_B, iree_hal_buffer_t *target,
                                  iree_device_size_t target_offset_B, iree_device_size_t length_B,
                                  iree_hal_copy_flags_t flags)
{
   struct agx_op op = {.kind = AGX_OP_COPY};
   IREE_RETURN_IF_ERROR(
      agx_iree_ref(iree_hal_make_buffer_ref(source, source_offset_B, length_B), &op.u.copy.source));
   IREE_RETURN_IF_ERROR(
      agx_iree_ref(iree_hal_make_buffer_ref(target, target_offset_B, length_B), &op.u.copy.target));
   return submit(base, affinity, waits, signals, &op, source, target);
}

iree_status_t agx_iree_queue_flush(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity)
{
   struct agx_iree_device *device = device_of(base);
   const uint64_t queues =
      iree_hal_queue_affinity_is_any(affinity) ? 0 : agx_iree_device_queues(device, affinity);
   return agx_iree_status(agx_flush(device->core, queues));
}

/* ---- dispatches ------------------------------------------------------------ */

/* Fills a table of its own for the dispatch. */
static iree_status_t put_table(struct agx_iree_device *device, const struct agx_iree_entry *entry,
                               iree_hal_buffer_ref_list_t bindings, struct agx_iree_kept *kept,
                               uint8_t *push)
{
   struct agx_iree_table table;
   IREE_RETURN_IF_ERROR(agx_iree_table_allocate(device, 8 * bindings.count, &table));
   iree_status_t status = agx_iree_kept_add(kept, table.buffer);
   agx_release(table.buffer);
   if (iree_status_is_ok(status))
      status = agx_iree_kept_add_refs(kept, bindings);
   if (iree_status_is_ok(status))
      status =
         agx_iree_addresses(device, bindings, iree_hal_buffer_binding_table_empty(), table.memory);
   agx_iree_write_root(entry, table.address, push);
   return status;
}

iree_status_t
agx_iree_queue_dispatch(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                        iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals,
                        iree_hal_executable_t *executable, iree_hal_executable_function_t function,
                        const iree_hal_dispatch_config_t config, iree_const_byte_span_t constants,
                        const iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags)
{
   struct agx_iree_device *device = device_of(base);
   const struct agx_iree_entry *entry = NULL;
   IREE_RETURN_IF_ERROR(agx_iree_executable_entry(executable, function, &entry));
   for (iree_host_size_t i = 0; i < bindings.count; i++) {
      if (!bindings.values[i].buffer)
         return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                                 "dispatch: binding %" PRIhsz " has no buffer; slots are for "
                                 "command buffers",
                                 i);
   }
   struct agx_iree_dispatch dispatch;
   IREE_RETURN_IF_ERROR(
      agx_iree_dispatch_fill(entry, &config, constants, bindings, flags, &dispatch));
   uint64_t tag = 0;
   if (device->profile) {
      const struct agx_iree_note note =
         agx_iree_note_of_dispatch(entry, &config, flags, (uint32_t)bindings.count);
      IREE_RETURN_IF_ERROR(agx_iree_profile_dispatch(device, &note, &tag));
   }
   struct agx_op op = {
      .kind = AGX_OP_DISPATCH, .tag = tag, .u.dispatch = {.dispatch = &dispatch.core}};
   struct agx_iree_kept kept = {0};
   iree_status_t status = agx_iree_kept_add_buffer(&kept, config.workgroup_count_ref.buffer);
   for (iree_host_size_t i = 0; i < bindings.count && iree_status_is_ok(status); i++)
      status = agx_iree_kept_add_buffer(&kept, bindings.values[i].buffer);
   if (iree_status_is_ok(status) && agx_iree_dispatch_wants_table(entry, flags))
      status = put_table(device, entry, bindings, &kept, dispatch.push);
   if (iree_status_is_ok(status))
      return agx_iree_submit_kept(device, affinity, waits, signals, &op, &kept);
   agx_iree_kept_free(&kept);
   return status;
}

iree_status_t agx_iree_queue_execute(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                     iree_hal_semaphore_list_t waits,
                                     iree_hal_semaphore_list_t signals,
                                     iree_hal_command_buffer_t *command_buffer,
                                     iree_hal_buffer_binding_table_t table,
                                     iree_hal_execute_flags_t flags)
{
   if (command_buffer)
      return agx_iree_command_buffer_submit(device_of(base), affinity, waits, signals,
                                            command_buffer, table);
   struct agx_op op = {.kind = AGX_OP_BARRIER};
   return agx_iree_submit(device_of(base), affinity, waits, signals, &op, NULL);
}
