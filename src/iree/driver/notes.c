/* SPDX-License-Identifier: MIT
 *
 * Notes of commands, which profiles describe them by. Command buffers take them while recording,
 * and queues when a dispatch is submitted during a session.
 */
#include <stdlib.h>
#include <string.h>

#include "profile.h"

struct agx_iree_note agx_iree_note_of_dispatch(const struct agx_iree_entry *entry,
                                               const iree_hal_dispatch_config_t *config,
                                               iree_hal_dispatch_flags_t flags,
                                               uint32_t binding_count)
{
   struct agx_iree_note note = {
      .executable = entry->executable,
      .function = (uint32_t)(entry - entry->executable->entries),
      .type = IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_DISPATCH,
      .binding_count = binding_count,
   };
   if (iree_hal_dispatch_uses_indirect_parameters(flags))
      note.flags |= IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_INDIRECT_PARAMETERS;
   else
      memcpy(note.workgroups, config->workgroup_count, sizeof(note.workgroups));
   const bool has_size = config->workgroup_size[0] != 0;
   memcpy(note.local_size, has_size ? config->workgroup_size : entry->local_size,
          sizeof(note.local_size));
   return note;
}

iree_status_t agx_iree_notes_add(struct agx_iree_notes *notes, const struct agx_iree_note *note)
{
   if (notes->count == notes->capacity) {
      const uint32_t capacity = notes->capacity ? 2 * notes->capacity : 16;
      struct agx_iree_note *at = realloc(notes->at, capacity * sizeof(*at));
      if (!at)
         return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "profile: no host memory");
      notes->at = at;
      notes->capacity = capacity;
   }
   iree_hal_resource_retain(note->executable);
   notes->at[notes->count++] = *note;
   return iree_ok_status();
}

void agx_iree_notes_free(struct agx_iree_notes *notes)
{
   for (uint32_t i = 0; i < notes->count; i++)
      iree_hal_resource_release(notes->at[i].executable);
   free(notes->at);
   *notes = (struct agx_iree_notes){0};
}
