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
   size_t name = strlen(run->executable->label);
   size_t length = agx_command_buffer_dispatch_label(commands, run->first, path, sizeof(path));
   length = AGX_MIN(length, sizeof(path) - 1);
   length = length > name + 2 ? length - name - 2 : 0; /* without ": kernel" */
   snprintf(label, label_B, "%s%s%.*s", commands->label, length ? "/" : "", (int)length, path);
}

/* Where the numbers of commands have come to. */
struct numbering {
   const struct agx_odd_command *odd, *end;
   uint32_t launch;  /* the next one */
   uint32_t command; /* its command */
};

/* The launches from there on, up to limit, that have one command or one each. */
static void take_launches(struct numbering *at, uint32_t limit, struct agx_profile_launches *out)
{
   for (; at->odd < at->end && at->odd->first <= at->launch && !at->odd->launches; at->odd++)
      at->command++;
   const struct agx_odd_command *odd = at->odd < at->end ? at->odd : NULL;
   out->command = at->command;
   out->is_one_command = odd && odd->first <= at->launch;
   const uint32_t end = !odd                  ? limit
                        : out->is_one_command ? AGX_MIN(limit, odd->first + odd->launches)
                                              : AGX_MIN(limit, odd->first);
   out->count = end - at->launch;
   at->launch = end;
   if (!out->is_one_command) {
      at->command += out->count;
   } else if (end == odd->first + odd->launches) {
      at->command++;
      at->odd++;
   }
}

agx_status agx_command_buffer_profile(const struct agx_command_buffer *commands,
                                      struct agx_profile_entry *entry)
{
   const struct agx_run *runs = commands->runs.items;
   const struct agx_odd_command *odd = commands->odd_commands.items;
   struct numbering at = {odd, odd ? odd + commands->odd_commands.count : odd, 0, 0};
   char label[512 + AGX_NAME_BYTES];
   AGX_TRY(agx_profile_entry_reserve(entry, commands->dispatch_count));
   for (uint32_t i = 0; i < commands->runs.count; i++) {
      bool is_last = i + 1 == commands->runs.count;
      uint32_t end = is_last ? commands->dispatch_count : runs[i + 1].first;
      struct agx_profile_launches launches = {
         .kernel = runs[i].executable->label,
         .label = label,
         .executable_tag = runs[i].executable->tag,
         .executable_entry = runs[i].executable->entry,
      };
      label_run(commands, &runs[i], label, sizeof(label));
      for (at.launch = runs[i].first; at.launch < end;) {
         take_launches(&at, end, &launches);
         agx_profile_entry_add(entry, &launches);
      }
   }
   return AGX_OK;
}
