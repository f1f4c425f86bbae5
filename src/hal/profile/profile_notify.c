/* SPDX-License-Identifier: MIT
 *
 * What an operation that ended has to tell: its entry as records.
 */
#include <string.h>

#include "base/util.h"
#include "hal/profile/profile_session.h"

struct times {
   uint64_t start_ns, end_ns;
};

static uint64_t to_host(const struct agx_profile *profile, uint64_t gpu)
{
   const struct agxw_device_info *info = agxw_device_info(agx_context_of(profile->device)->winsys);
   uint64_t hz = info->timestamp_hz ? info->timestamp_hz : 1000000000;
   int64_t ticks = (int64_t)(gpu - profile->gpu_base);
   return profile->host_base + (uint64_t)(int64_t)((__int128)ticks * 1000000000 / hz);
}

/* False: the GPU wrote none, as when a command was not executed. */
static bool read_times(const struct agx_profile *profile, const struct agx_profile_entry *entry,
                       uint32_t first, uint32_t last, struct times *out_times)
{
   *out_times = (struct times){0};
   if (!entry->is_timed)
      return false;
   _Atomic uint64_t *times = agxw_stamps_times(entry->stamps);
   uint64_t start = atomic_load_explicit(&times[2 * first], memory_order_relaxed);
   uint64_t end = atomic_load_explicit(&times[2 * last + 1], memory_order_relaxed);
   if (!start || !end || end < start)
      return false;
   *out_times = (struct times){to_host(profile, start), to_host(profile, end)};
   return true;
}

static struct agx_profile_record record_of(const struct agx_profile_entry *entry, uint32_t kind)
{
   return (struct agx_profile_record){
      .kind = kind,
      .queue = entry->queue,
      .operation = entry->operation,
      .submission = entry->number,
      .command_buffer = entry->commands_id,
      .command_index = AGX_PROFILE_NONE,
      .name = entry->name,
      .label = entry->label,
      .status = entry->status,
      .tag = entry->tag,
   };
}

static void notify_operation(struct agx_profile *profile, const struct agx_profile_entry *entry)
{
   struct agx_profile_record record = record_of(entry, AGX_PROFILE_RECORD_QUEUE);
   record.granularity = AGX_PROFILE_HOST_TIME;
   record.payload_B = entry->payload_B;
   record.submitted_ns = entry->submitted_ns;
   record.start_ns = entry->started_ns ? entry->started_ns : entry->ended_ns;
   record.end_ns = entry->ended_ns;
   agx_profile_put(profile, &record);
}

static void notify_submission(struct agx_profile *profile, const struct agx_profile_entry *entry)
{
   struct agx_profile_record record = record_of(entry, AGX_PROFILE_RECORD_DEVICE_QUEUE);
   struct times times;
   if (read_times(profile, entry, 0, entry->span_count ? entry->span_count - 1 : 0, &times))
      record.granularity = AGX_PROFILE_SUBMISSION;
   record.start_ns = times.start_ns;
   record.end_ns = times.end_ns;
   record.span_count = entry->dispatch_count;
   agx_profile_put(profile, &record);
}

static void notify_counters(struct agx_profile *profile, struct agx_profile_record *record,
                            const struct agx_kmd_counters *it)
{
   const struct agx_profile_counter counters[] = {
      {"workgroups", it->workgroups},
      {"threads", it->threads},
      {"instructions", it->instructions},
      {"cycles", it->cycles},
      {"stall_cycles", it->stall_cycles},
      {"waits", it->waits},
      {"bytes", it->bytes},
      {"lines", it->lines},
   };
   record->kind = AGX_PROFILE_RECORD_COUNTERS;
   record->counters = counters;
   record->counter_count = AGX_COUNT(counters);
   agx_profile_put(profile, record);
}

static void notify_span(struct agx_profile *profile, const struct agx_profile_entry *entry,
                        uint32_t number)
{
   const struct agx_profile_span *span = &entry->spans[number];
   struct times times;
   bool has_times = read_times(profile, entry, number, number, &times);
   for (uint32_t i = 0; i < span->count; i++) {
      const struct agx_profile_dispatch *dispatch = &entry->dispatches[span->first + i];
      struct agx_profile_record record = record_of(entry, AGX_PROFILE_RECORD_DISPATCH);
      if (!dispatch->is_selected)
         continue;
      record.name = dispatch->name;
      record.label = dispatch->label;
      record.command_index = dispatch->command_index;
      record.executable_tag = dispatch->executable_tag;
      record.executable_entry = dispatch->executable_entry;
      memcpy(record.workgroups, dispatch->workgroups, sizeof(record.workgroups));
      record.granularity = !has_times         ? AGX_PROFILE_NO_TIME
                           : span->count == 1 ? AGX_PROFILE_ONE_DISPATCH
                                              : AGX_PROFILE_SPAN;
      record.start_ns = times.start_ns;
      record.end_ns = times.end_ns;
      record.span_count = span->count;
      record.span_index = i;
      if (profile->families & AGX_PROFILE_DISPATCH)
         agx_profile_put(profile, &record);
      if (dispatch->has_counters)
         notify_counters(profile, &record, &dispatch->counters);
   }
}

void agx_profile_notify_entry(struct agx_profile *profile, const struct agx_profile_entry *entry)
{
   if (profile->families & AGX_PROFILE_QUEUE)
      notify_operation(profile, entry);
   if (entry->command_count == 0)
      return;
   if (profile->families & AGX_PROFILE_DEVICE_QUEUE)
      notify_submission(profile, entry);
   for (uint32_t i = 0; i < entry->span_count; i++)
      notify_span(profile, entry, i);
}
