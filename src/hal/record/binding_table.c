/* SPDX-License-Identifier: MIT
 *
 * Instances of a command buffer with a binding table: agx_submit looks for one that was recorded
 * for an equal table, and records another where none is idle.
 */
#include "hal/record/binding_table.h"

#include "base/util.h"
#include "hal/record/table_instance.h"

static bool is_equal(const struct agx_table_instance *instance, const struct agx_table *table)
{
   if (!instance->is_recorded || instance->count != table->count)
      return false;
   for (uint32_t i = 0; i < table->count; i++) {
      const struct agx_table_slot *slot = &instance->slots[i];
      const struct agx_buffer_ref *entry = &table->entries[i];
      if (slot->serial != (entry->buffer ? entry->buffer->serial : 0) ||
          slot->offset_B != entry->offset_B || slot->length_B != entry->length_B)
         return false;
   }
   return true;
}

static agx_status check_table(const struct agx_command_buffer *commands,
                              const struct agx_table *table)
{
   if (table->count != commands->table_slots || (table->count && !table->entries))
      return AGX_FAIL(table->count < commands->table_slots && table->count ? AGX_OUT_OF_RANGE
                                                                           : AGX_INVALID_ARGUMENT,
                      "submit: %s takes a table of %u slots; %u are given at %p", commands->label,
                      commands->table_slots, table->count, (const void *)table->entries);
   for (uint32_t i = 0; i < table->count; i++) {
      const struct agx_buffer_ref *entry = &table->entries[i];
      AGX_TRY(agx_ref_check_placed(entry, "submit: a slot of the table"));
      if (entry->table_slot)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: slot %u of the table is a slot itself", i);
      if (entry->buffer && entry->buffer->device != commands->device)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: slot %u: %s is a buffer %s", i,
                         entry->buffer->label,
                         agx_describe_owner(entry->buffer->device, commands->device).text);
   }
   return AGX_OK;
}

/* ---- instances ------------------------------------------------------------ */

static agx_status make_instance(struct agx_command_buffer *commands,
                                struct agx_table_instance **out_instance)
{
   const struct agx_host_alloc *alloc = agx_context_of(commands->device)->alloc;
   const struct agx_command_buffer_desc desc = {
      .size = sizeof(desc),
      .label = commands->label,
      /* The deferred commands and the table keep things alive; a submission is of commands. */
      .flags = AGX_COMMAND_BUFFER_UNRETAINED | (commands->flags & AGX_COMMAND_BUFFER_UNCHECKED)};
   struct agx_table_instance *instance =
      agx_host_zalloc(alloc, agx_table_instance_B(commands->table_slots));
   if (!instance)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "submit: out of host memory");
   agx_status status = agx_command_buffer_create(commands->device, &desc, &instance->commands);
   if (status != AGX_OK) {
      agx_host_free(alloc, instance, agx_table_instance_B(commands->table_slots));
      return status;
   }
   instance->count = commands->table_slots;
   instance->commands->base = commands;
   instance->next = commands->instances;
   commands->instances = instance;
   *out_instance = instance;
   return AGX_OK;
}

static agx_status record(struct agx_command_buffer *commands, const struct agx_table *table,
                         struct agx_table_instance *instance)
{
   instance->is_recorded = false;
   AGX_TRY(agx_command_buffer_begin(instance->commands));
   AGX_TRY(agx_deferred_commands_replay(&commands->deferred, table, instance->commands));
   AGX_TRY(agx_command_buffer_end(instance->commands));
   for (uint32_t i = 0; i < table->count; i++) {
      const struct agx_buffer_ref *entry = &table->entries[i];
      instance->slots[i] =
         (struct agx_table_slot){entry->buffer, entry->buffer ? entry->buffer->serial : 0,
                                 entry->offset_B, entry->length_B};
   }
   instance->is_recorded = true;
   return AGX_OK;
}

/* The one of an equal table, else an idle one, else a new one. */
static agx_status find(struct agx_command_buffer *commands, const struct agx_table *table,
                       struct agx_table_instance **out_instance)
{
   struct agx_table_instance *idle = NULL;
   for (struct agx_table_instance *it = commands->instances; it; it = it->next) {
      if (it->is_emptied)
         continue;
      *out_instance = it;
      if (is_equal(it, table))
         return AGX_OK;
      if (it->users == 0)
         idle = it;
   }
   *out_instance = idle;
   if (!idle)
      AGX_TRY(make_instance(commands, out_instance));
   return record(commands, table, *out_instance);
}

agx_status agx_table_acquire(struct agx_command_buffer *commands, const struct agx_table *table,
                             struct agx_command_buffer **out_instance)
{
   struct agx_table_instance *instance = NULL;
   AGX_TRY(check_table(commands, table));
   pthread_mutex_lock(&commands->instances_lock);
   agx_status status = find(commands, table, &instance);
   if (status == AGX_OK && instance->users++ == 0)
      for (uint32_t i = 0; i < instance->count; i++) {
         instance->slots[i].buffer = table->entries[i].buffer;
         agx_retain(instance->slots[i].buffer);
      }
   if (status == AGX_OK) {
      agx_retain(instance->commands);
      *out_instance = instance->commands;
   }
   pthread_mutex_unlock(&commands->instances_lock);
   return status;
}

void agx_table_return(struct agx_command_buffer *commands, struct agx_command_buffer *commands_of)
{
   pthread_mutex_lock(&commands->instances_lock);
   struct agx_table_instance *instance = commands->instances;
   while (instance->commands != commands_of)
      instance = instance->next;
   const bool is_last = --instance->users == 0;
   instance->is_emptied = is_last;
   pthread_mutex_unlock(&commands->instances_lock);
   if (!is_last)
      return;
   for (uint32_t i = 0; i < instance->count; i++)
      agx_release(instance->slots[i].buffer); /* which may call the application */
   pthread_mutex_lock(&commands->instances_lock);
   instance->is_emptied = false;
   pthread_mutex_unlock(&commands->instances_lock);
}
