/* SPDX-License-Identifier: MIT
 *
 * What a profiling session learns of a command buffer: its number and what its launches are.
 * sync/send.c calls it when the commands go to the kernel.
 */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "hal/profile/profile.h"
#include "hal/record/command_buffer.h"

uint64_t agx_command_buffer_profile_id(struct agx_command_buffer *commands)
{
   static _Atomic uint64_t ids;
   uint64_t none = 0, id = atomic_load(&commands->profile_id);
   if (id)
      return id;
   id = atomic_fetch_add(&ids, 1) + 1;
   return atomic_compare_exchange_strong(&commands->profile_id, &none, id) ? id : none;
}

/* "command buffer/outer/inner" of a run's launches. */
static void label_run(const struct agx_command_buffer *commands, const struct agx_run *run,
                      char *label, size_t label_B)
{
   char path[512];
   size_t name = strlen(run->executable->program->name);
   size_t length = agx_command_buffer_dispatch_label(commands, run->first, path, sizeof(path));
   length = AGX_MIN(length, sizeof(path) - 1);
   length = length > name + 2 ? length - name - 2 : 0; /* without ": kernel" */
   snprintf(label, label_B, "%s%s%.*s", commands->label, length ? "/" : "", (int)length, path);
}

agx_status agx_command_buffer_profile(const struct agx_command_buffer *commands,
                                      struct agx_profile_entry *entry)
{
   const struct agx_run *runs = commands->runs.items;
   char label[512 + AGX_NAME_BYTES];
   AGX_TRY(agx_profile_entry_reserve(entry, commands->dispatch_count));
   for (uint32_t i = 0; i < commands->runs.count; i++) {
      bool is_last = i + 1 == commands->runs.count;
      uint32_t end = is_last ? commands->dispatch_count : runs[i + 1].first;
      label_run(commands, &runs[i], label, sizeof(label));
      agx_profile_entry_add(entry, runs[i].executable->program->name, label, runs[i].first, end);
   }
   return AGX_OK;
}
