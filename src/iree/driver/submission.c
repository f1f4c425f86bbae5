/* SPDX-License-Identifier: MIT
 *
 * Submissions of command buffers: IREE's binding table, and the block with tables of addresses
 * where dispatches take those (command_buffer.c).
 */
#include <stdlib.h>
#include <string.h>

#include "command_buffer.h"

/* ---- recording ------------------------------------------------------------- */

static iree_status_t put_table(struct agx_iree_command_buffer *commands,
                               const struct agx_iree_entry *entry,
                               iree_hal_buffer_ref_list_t bindings, uint8_t *push)
{
   struct agx_iree_table table;
   IREE_RETURN_IF_ERROR(agx_iree_table_allocate(commands->device, 8 * bindings.count, &table));
   iree_status_t status = agx_iree_kept_add(&commands->kept, table.buffer);
   agx_release(table.buffer);
   IREE_RETURN_IF_ERROR(status);
   agx_iree_write_root(entry, table.address, push);
   return agx_iree_addresses(commands->device, bindings, iree_hal_buffer_binding_table_empty(),
                             table.memory);
}

/* Room for count more elements of size_B each. */
static iree_status_t grow(void **array, uint32_t used, uint32_t count, uint32_t *capacity,
                          size_t size_B)
{
   if (used + count <= *capacity)
      return iree_ok_status();
   uint32_t wanted = *capacity ? 2 * *capacity : 16;
   while (wanted < used + count)
      wanted *= 2;
   void *memory = realloc(*array, wanted * size_B);
   if (!memory)
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "command buffer: no host memory");
   *array = memory;
   *capacity = wanted;
   return iree_ok_status();
}

static uint32_t align16(uint32_t value)
{
   return (value + 15) & ~15u;
}

static iree_status_t put_late(struct agx_iree_command_buffer *commands,
                              iree_hal_executable_t *executable, const struct agx_iree_entry *entry,
                              iree_hal_buffer_ref_list_t bindings,
                              struct agx_iree_dispatch *dispatch)
{
   const uint32_t count = (uint32_t)bindings.count;
   if (!commands->table_slots)
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "dispatch: %s has a slot for a buffer, the command buffer has none",
                              entry->name);
   uint32_t push_capacity = commands->late_capacity;
   IREE_RETURN_IF_ERROR(
      grow((void **)&commands->late_push, commands->late_count, 1, &push_capacity, AGX_MAX_PUSH_B));
   IREE_RETURN_IF_ERROR(grow((void **)&commands->late, commands->late_count, 1,
                             &commands->late_capacity, sizeof(*commands->late)));
   IREE_RETURN_IF_ERROR(grow((void **)&commands->late_refs, commands->late_ref_count, count,
                             &commands->late_ref_capacity, sizeof(*commands->late_refs)));
   struct agx_iree_late *late = &commands->late[commands->late_count];
   *late = (struct agx_iree_late){
      .executable = executable,
      .entry = entry,
      .first_ref = commands->late_ref_count,
      .ref_count = count,
      .at_B = commands->block_B,
   };
   late->table_at_B = late->at_B + align16(dispatch->core.push_B);
   memcpy(&commands->late_refs[late->first_ref], bindings.values, count * sizeof(*bindings.values));
   memcpy(&commands->late_push[(size_t)commands->late_count * AGX_MAX_PUSH_B], dispatch->push,
          dispatch->core.push_B);
   dispatch->core.arguments = (struct agx_buffer_ref){
      .offset_B = late->at_B,
      .length_B = dispatch->core.push_B,
      .table_slot = commands->table_slots,
   };
   iree_hal_executable_retain(executable);
   commands->late_count++;
   commands->late_ref_count += count;
   commands->block_B = late->table_at_B + align16(8 * count);
   return iree_ok_status();
}

iree_status_t agx_iree_command_buffer_table(struct agx_iree_command_buffer *commands,
                                            iree_hal_executable_t *executable,
                                            const struct agx_iree_entry *entry,
                                            iree_hal_buffer_ref_list_t bindings,
                                            struct agx_iree_dispatch *dispatch)
{
   IREE_RETURN_IF_ERROR(agx_iree_kept_add_refs(&commands->kept, bindings));
   for (iree_host_size_t i = 0; i < bindings.count; i++) {
      if (!bindings.values[i].buffer)
         return put_late(commands, executable, entry, bindings, dispatch);
   }
   return put_table(commands, entry, bindings, dispatch->push);
}

/* ---- submission ------------------------------------------------------------ */

static iree_status_t put_block(struct agx_iree_command_buffer *commands,
                               iree_hal_buffer_binding_table_t bindings,
                               struct agx_iree_table *out_block)
{
   IREE_RETURN_IF_ERROR(agx_iree_table_allocate(commands->device, commands->block_B, out_block));
   for (uint32_t i = 0; i < commands->late_count; i++) {
      const struct agx_iree_late *late = &commands->late[i];
      uint8_t *push = (uint8_t *)out_block->memory + late->at_B;
      uint8_t *table = (uint8_t *)out_block->memory + late->table_at_B;
      const iree_hal_buffer_ref_list_t refs = {
         .count = late->ref_count,
         .values = &commands->late_refs[late->first_ref],
      };
      memcpy(push, &commands->late_push[(size_t)i * AGX_MAX_PUSH_B], late->entry->push_B);
      agx_iree_write_root(late->entry, out_block->address + late->table_at_B, push);
      iree_status_t status =
         agx_iree_addresses(commands->device, refs, bindings, (uint64_t *)table);
      if (!iree_status_is_ok(status)) {
         agx_release(out_block->buffer);
         return status;
      }
   }
   return iree_ok_status();
}

/* The core wants as many entries as the command buffer has slots; IREE gives as many as it used. */
static iree_status_t fill_table(iree_hal_buffer_binding_table_t bindings, uint32_t slots,
                                struct agx_buffer_ref *table)
{
   memset(table, 0, slots * sizeof(*table));
   for (uint32_t i = 0; i < slots && i < bindings.count; i++) {
      const iree_hal_buffer_binding_t *from = &bindings.bindings[i];
      if (from->buffer) {
         IREE_RETURN_IF_ERROR(agx_iree_ref(
            iree_hal_make_buffer_ref(from->buffer, from->offset, from->length), &table[i]));
      }
   }
   return iree_ok_status();
}

/* The command buffer keeps what was recorded; so it must live itself. */
static iree_status_t keep(struct agx_iree_command_buffer *commands,
                          iree_hal_buffer_binding_table_t bindings, struct agx_iree_kept *kept)
{
   if (commands->kept.count) {
      IREE_RETURN_IF_ERROR(agx_iree_kept_add_resource(kept, &commands->base));
   }
   for (iree_host_size_t i = 0; i < bindings.count; i++) {
      IREE_RETURN_IF_ERROR(agx_iree_kept_add_buffer(kept, bindings.bindings[i].buffer));
   }
   return iree_ok_status();
}

iree_status_t agx_iree_submit_core(const struct agx_iree_submission *submission,
                                   struct agx_command_buffer *core, uint32_t first_note)
{
   struct agx_iree_command_buffer *commands = submission->commands;
   if (submission->device->profile && first_note != AGX_IREE_NO_NOTES) {
      IREE_RETURN_IF_ERROR(agx_iree_profile_execute(submission->device, &commands->base,
                                                    agx_command_buffer_profile_id(core),
                                                    &commands->notes, first_note));
   }
   struct agx_op op = {
      .kind = AGX_OP_EXECUTE,
      .u.execute = {.commands = core,
                    .table = submission->table,
                    .table_count = commands->table_slots},
   };
   struct agx_iree_kept kept = {0};
   iree_status_t status = keep(commands, submission->bindings, &kept);
   if (iree_status_is_ok(status))
      return agx_iree_submit_kept(submission->device, submission->affinity, submission->waits,
                                  submission->signals, &op, &kept);
   agx_iree_kept_free(&kept);
   return status;
}

static iree_status_t submit(const struct agx_iree_submission *submission)
{
   if (submission->commands->collectives.count)
      return agx_iree_collectives_submit(submission);
   return agx_iree_submit_core(submission, submission->commands->core, 0);
}

#define STACK_SLOTS 64

iree_status_t agx_iree_command_buffer_submit(struct agx_iree_device *device,
                                             iree_hal_queue_affinity_t affinity,
                                             iree_hal_semaphore_list_t waits,
                                             iree_hal_semaphore_list_t signals,
                                             iree_hal_command_buffer_t *base,
                                             iree_hal_buffer_binding_table_t bindings)
{
   struct agx_iree_command_buffer *commands = agx_iree_command_buffer_of(base);
   if (!commands)
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "command buffer: another driver's");
   struct agx_iree_submission submission = {
      .device = device,
      .affinity = affinity,
      .waits = waits,
      .signals = signals,
      .commands = commands,
   };
   if (!commands->table_slots)
      return submit(&submission);
   struct agx_buffer_ref on_stack[STACK_SLOTS], *table = on_stack;
   const uint32_t slots = commands->table_slots;
   struct agx_iree_table block = {0};
   if (slots > STACK_SLOTS)
      table = malloc(slots * sizeof(*table));
   if (!table)
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "submission: no host memory");
   iree_status_t status = fill_table(bindings, slots - 1, table);
   table[slots - 1] = (struct agx_buffer_ref){0};
   if (iree_status_is_ok(status) && commands->late_count)
      status = put_block(commands, bindings, &block);
   if (block.buffer && iree_status_is_ok(status))
      table[slots - 1] =
         (struct agx_buffer_ref){.buffer = block.buffer, .length_B = AGX_WHOLE_LENGTH};
   if (iree_status_is_ok(status)) {
      submission.bindings = bindings;
      submission.table = table;
      status = submit(&submission);
      agx_release(block.buffer);
   }
   if (table != on_stack)
      free(table);
   return status;
}
