/* SPDX-License-Identifier: MIT
 *
 * Which dispatch of a replay left the bytes that differ first: the records are replayed once more,
 * up to that submission, and the bytes are looked at behind each of its dispatches.
 */
#include "replay.h"

#include <string.h>

#include "agx/sim/check/statistics.h"

struct search {
   struct replay_difference *difference;
   const uint8_t *bytes; /* in the replay's buffer; NULL: another device's */
   uint8_t last[sizeof(((struct replay_difference *)0)->replayed)];
};

static agx_status begin(void *user, struct replay_device *device,
                        const struct agxw_capture_record *record)
{
   struct search *search = user;
   const struct replay_difference *it = search->difference;
   struct replay_buffer *buffer = device->process == it->process && device->file == it->file
                                     ? replay_find_buffer(device, it->handle)
                                     : NULL;
   if (!buffer)
      return AGX_OK;
   AGX_TRY(replay_map_buffer(device, buffer));
   search->bytes = buffer->memory + it->offset;
   memcpy(search->last, search->bytes, it->bytes);
   return AGX_OK;
}

static void look(void *user, uint32_t command, const struct agxs_dispatch_stats *stats)
{
   struct search *search = user;
   struct replay_difference *it = search->difference;
   if (!search->bytes || memcmp(search->last, search->bytes, it->bytes) == 0)
      return;
   memcpy(search->last, search->bytes, it->bytes);
   it->writers++;
   it->command = command;
   it->dispatch = stats->index;
   it->kernel = stats->code_hash;
   memcpy(it->grid, stats->grid, sizeof(it->grid));
}

agx_status replay_find_writer(struct replay *replay)
{
   struct replay_options options = replay->options;
   struct search search = {.difference = &replay->difference};
   struct replay_watcher watcher = {.submission = replay->difference.submission,
                                    .user = &search,
                                    .begin = begin,
                                    .dispatch = look};
   /* Only a virtual AGX tells when a dispatch is done, and not when it has none in order. */
   bool is_virtual = !options.device || strncmp(options.device, "virtual", 7) == 0;
   if (!replay->difference.is_there || !is_virtual || options.chaos)
      return AGX_OK;
   options.repeat = 1;
   options.is_timed = false;
   options.last_submit = watcher.submission;
   replay->difference.is_watched = true;
   return replay_again(replay, &options, &watcher);
}
