/* SPDX-License-Identifier: MIT
 *
 * Operations in a session: an entry for each, from agx_submit until its records are delivered.
 */
#include <fnmatch.h>
#include <string.h>

#include "base/util.h"
#include "hal/profile/profile_session.h"

#define GPU_FAMILIES (AGX_PROFILE_DEVICE_QUEUE | AGX_PROFILE_DISPATCH | AGX_PROFILE_COUNTERS)

/* ---- entries -------------------------------------------------------------- */

void agx_profile_free_entry(struct agx_profile_entry *entry)
{
   const struct agx_host_alloc *alloc = agx_context_of(entry->profile->device)->alloc;
   agxw_stamps_destroy(entry->stamps);
   agxw_bo_destroy(entry->stream);
   if (entry->dispatches)
      agx_host_free(alloc, entry->dispatches,
                    entry->dispatch_capacity * sizeof(entry->dispatches[0]));
   agx_host_free(alloc, entry, sizeof(*entry));
}

static struct agx_profile_entry *acquire_spare(struct agx_profile *profile)
{
   struct agx_profile_entry *entry = NULL;
   pthread_mutex_lock(&profile->lock);
   if (!agx_list_empty(&profile->spare)) {
      entry = agx_container_of(profile->spare.next, struct agx_profile_entry, link);
      agx_list_remove(&entry->link);
   }
   pthread_mutex_unlock(&profile->lock);
   if (entry)
      return entry;
   entry = agx_host_zalloc(agx_context_of(profile->device)->alloc, sizeof(*entry));
   if (entry) {
      entry->profile = profile;
      agx_list_init(&entry->link);
   }
   return entry;
}

static bool is_of_queue(const struct agx_profile *profile, uint32_t queue)
{
   return !profile->filter.queues || profile->filter.queues >> queue & 1;
}

agx_status agx_profile_entry_create(struct agx_profile *profile,
                                    const struct agx_profile_operation *operation,
                                    struct agx_profile_entry **out_entry)
{
   *out_entry = NULL;
   bool is_wanted = profile->families & (AGX_PROFILE_QUEUE | GPU_FAMILIES) &&
                    is_of_queue(profile, operation->queue);
   struct agx_profile_entry *entry = is_wanted ? acquire_spare(profile) : NULL;
   if (is_wanted && !entry)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "submit: no host memory to profile it");
   atomic_fetch_add(&profile->references, 1); /* whose other records its end delivers */
   if (!entry)
      return AGX_OK;
   entry->queue = operation->queue;
   entry->operation = operation->kind;
   entry->name = operation->name;
   entry->submitted_ns = agx_profile_clock();
   entry->number = entry->started_ns = entry->ended_ns = 0;
   entry->commands_id = operation->commands_id;
   entry->tag = operation->tag;
   entry->payload_B = operation->payload_B;
   entry->status = AGX_OK;
   entry->is_in_flight = entry->is_timed = false;
   entry->command_count = entry->span_count = entry->dispatch_count = 0;
   pthread_mutex_lock(&profile->lock);
   entry->label = agx_profile_intern(profile, operation->label);
   pthread_mutex_unlock(&profile->lock);
   *out_entry = entry;
   return AGX_OK;
}

void agx_profile_entry_start(struct agx_profile_entry *entry)
{
   entry->started_ns = agx_profile_clock();
}

void agx_profile_entry_end(struct agx_profile_entry *entry, uint64_t number, agx_status status)
{
   struct agx_profile *profile = entry->profile;
   entry->number = number;
   entry->ended_ns = agx_profile_clock();
   entry->status = status;
   pthread_mutex_lock(&profile->lock);
   agx_list_remove(&entry->link);
   agx_list_append(profile->is_closed ? &profile->spare : &profile->ended, &entry->link);
   pthread_mutex_unlock(&profile->lock);
}

void agx_profile_release_operation(struct agx_profile *profile, struct agx_profile_entry *entry)
{
   pthread_mutex_lock(&profile->lock);
   if (entry) { /* refused by the kernel: it may be listed as in flight */
      agx_list_remove(&entry->link);
      agx_list_append(&profile->spare, &entry->link);
   }
   bool is_closed = profile->is_closed;
   pthread_mutex_unlock(&profile->lock);
   if (!is_closed)
      agx_profile_notify(profile);
   agx_profile_release(profile);
}

/* ---- to the GPU ----------------------------------------------------------- */

static bool is_selected(const struct agx_profile *profile, const struct agx_profile_entry *entry,
                        const struct agx_profile_dispatch *dispatch)
{
   const struct agx_profile_filter *filter = &profile->filter;
   return (!filter->command_buffer || filter->command_buffer == entry->commands_id) &&
          (!filter->has_command_index || filter->command_index == dispatch->command_index) &&
          (!filter->function || fnmatch(filter->function, dispatch->name, 0) == 0);
}

agx_status agx_profile_entry_reserve(struct agx_profile_entry *entry, uint32_t count)
{
   const struct agx_host_alloc *alloc = agx_context_of(entry->profile->device)->alloc;
   size_t bytes = sizeof(entry->dispatches[0]);
   if (count <= entry->dispatch_capacity)
      return AGX_OK;
   struct agx_profile_dispatch *larger = agx_host_zalloc(alloc, count * bytes);
   if (!larger)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "submit: no host memory to profile %u dispatches",
                      count);
   if (entry->dispatches)
      agx_host_free(alloc, entry->dispatches, entry->dispatch_capacity * bytes);
   entry->dispatches = larger;
   entry->dispatch_capacity = count;
   return AGX_OK;
}

bool agx_profile_entry_wants_dispatches(const struct agx_profile_entry *entry)
{
   return entry->profile->families & GPU_FAMILIES && entry->command_count == 0;
}

void agx_profile_entry_add(struct agx_profile_entry *entry,
                           const struct agx_profile_launches *launches)
{
   struct agx_profile *profile = entry->profile;
   pthread_mutex_lock(&profile->lock);
   struct agx_profile_dispatch of = {
      .name = agx_profile_intern(profile, launches->kernel),
      .label = agx_profile_intern(profile, launches->label),
      .executable_tag = launches->executable_tag,
      .executable_entry = launches->executable_entry,
   };
   for (uint32_t i = 0; i < launches->count; i++) {
      of.command_index = launches->command + (launches->is_one_command ? 0 : i);
      of.is_selected = is_selected(profile, entry, &of);
      entry->dispatches[entry->dispatch_count++] = of;
   }
   pthread_mutex_unlock(&profile->lock);
}

static bool wants_any(const struct agx_profile_entry *entry)
{
   for (uint32_t i = 0; i < entry->dispatch_count; i++)
      if (entry->dispatches[i].is_selected)
         return true;
   return false;
}

/* The first span_count commands, or the only one, get times. */
static agx_status add_stamps(struct agx_profile_entry *entry)
{
   struct agxw_device *winsys = agx_context_of(entry->profile->device)->winsys;
   if (!entry->stamps)
      AGX_TRY(agxw_stamps_create(winsys, 2 * AGX_PROFILE_MAX_COMMANDS, &entry->stamps));
   _Atomic uint64_t *times = agxw_stamps_times(entry->stamps);
   uint32_t count = entry->span_count ? entry->span_count : 1;
   for (uint32_t i = 0; i < count; i++) {
      atomic_store_explicit(&times[2 * i], 0, memory_order_relaxed);
      atomic_store_explicit(&times[2 * i + 1], 0, memory_order_relaxed);
      entry->commands[i].stamps = entry->stamps;
      entry->commands[i].start_stamp = 2 * i;
      entry->commands[i].end_stamp = 2 * i + 1;
   }
   entry->is_timed = true;
   return AGX_OK;
}

agx_status agx_profile_entry_send(struct agx_profile_entry *entry,
                                  const struct agxw_compute *stream, struct agxw_submit *submit)
{
   struct agx_profile *profile = entry->profile;
   if (!(profile->families & GPU_FAMILIES))
      return AGX_OK;
   if (entry->command_count == 0) { /* once, however often the kernel is asked */
      entry->commands[0] = *stream;
      entry->command_count = 1;
      if (profile->families & (AGX_PROFILE_DISPATCH | AGX_PROFILE_COUNTERS) && wants_any(entry))
         AGX_TRY(agx_profile_split(entry, stream));
      if (profile->families & (AGX_PROFILE_DEVICE_QUEUE | AGX_PROFILE_DISPATCH))
         AGX_TRY(add_stamps(entry));
   }
   submit->commands = entry->commands;
   submit->command_count = entry->command_count;
   pthread_mutex_lock(&profile->lock);
   if (!entry->is_in_flight)
      agx_list_append(&profile->in_flight, &entry->link);
   entry->is_in_flight = true;
   pthread_mutex_unlock(&profile->lock);
   return AGX_OK;
}

/* The dispatch that a launch of a command is; with the lock held. */
static struct agx_profile_dispatch *find_dispatch(struct agx_profile *profile, uint64_t stream_va,
                                                  uint32_t launch)
{
   agx_list_for_each (struct agx_profile_entry, entry, &profile->in_flight, link)
      for (uint32_t i = 0; i < entry->span_count; i++) {
         const struct agx_profile_span *span = &entry->spans[i];
         if (span->stream_va != stream_va)
            continue;
         return launch < span->count ? &entry->dispatches[span->first + launch] : NULL;
      }
   return NULL;
}

void agx_profile_count(void *user, const struct agx_kmd_counters *counters)
{
   struct agx_profile *profile = user;
   pthread_mutex_lock(&profile->lock);
   struct agx_profile_dispatch *dispatch =
      find_dispatch(profile, counters->stream_va, counters->dispatch);
   if (dispatch) {
      dispatch->counters = *counters;
      dispatch->has_counters = true;
   }
   pthread_mutex_unlock(&profile->lock);
}

bool agx_profile_entry_streams(const struct agx_profile_entry *entry, uint64_t *out_first_va,
                               uint64_t *out_last_va)
{
   if (entry->span_count == 0)
      return false;
   *out_first_va = entry->commands[0].stream_va;
   *out_last_va = entry->commands[entry->command_count - 1].stream_va;
   return true;
}

uint32_t agx_profile_entry_first_dispatch(const struct agx_profile_entry *entry, uint64_t stream_va)
{
   for (uint32_t i = 0; i < entry->span_count; i++)
      if (entry->spans[i].stream_va == stream_va)
         return entry->spans[i].first;
   return 0;
}
