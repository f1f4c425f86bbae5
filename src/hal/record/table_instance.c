/* SPDX-License-Identifier: MIT
 *
 * What happens to instances with the command buffer that they are of: command_lifetime.c calls this
 * where that is recorded anew or goes.
 */
#include "hal/record/table_instance.h"

void agx_table_instances_reset(struct agx_command_buffer *commands)
{
   pthread_mutex_lock(&commands->instances_lock);
   for (struct agx_table_instance *it = commands->instances; it; it = it->next)
      it->is_recorded = false;
   pthread_mutex_unlock(&commands->instances_lock);
}

void agx_table_instances_fini(struct agx_command_buffer *commands)
{
   while (commands->instances) {
      struct agx_table_instance *instance = commands->instances;
      commands->instances = instance->next;
      instance->commands->base = NULL;
      agx_release(instance->commands);
      agx_host_free(agx_context_of(commands->device)->alloc, instance,
                    agx_table_instance_B(instance->count));
   }
}
