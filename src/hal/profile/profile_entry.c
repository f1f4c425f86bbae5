/* SPDX-License-Identifier: MIT
 *
 * Operations in a session: an entry for each, from agx_submit until its records are delivered.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "hal/record/command_buffer.h"
#include "hal/profile/profile_session.h"
#include "hal/sync/submission.h"

#define GPU_FAMILIES (AGX_PROFILE_DEVICE_QUEUE | AGX_PROFILE_DISPATCH | AGX_PROFILE_COUNTERS)

uint64_t agx_command_buffer_profile_id(struct agx_command_buffer *commands)
{
   static _Atomic uint64_t ids;
   uint64_t none = 0, id = atomic_load(&commands->profile_id);
   if (id)
      return id;
   id = atomic_fetch_add(&ids, 1) + 1;
   return atomic_compare_exchange_strong(&commands->profile_id, &none, id) ? id : none;
}

/* ---- entries -------------------------------------------------------------- */

void agx_profile_free_entry(struct agx_profile_entry *entry)
{
   const struct agx_host_alloc *alloc = entry->profile->device->alloc;
   agxw_stamps_destroy(entry->stamps);
   agxw_bo_destroy(entry->stream);
   if (entry->dispatches)
      agx_host_free(alloc, entry->dispatches,
                    entry->dispatch_capacity * sizeof(entry->dispatches[0]));
   agx_host_free(alloc, entry, sizeof(*entry));
}

static struct agx_profile_entry *take_spare(struct agx_profile *profile)
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
   entry = agx_host_zalloc(profile->device->alloc, sizeof(*entry));
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

agx_status agx_profile_take_submission(struct agx_submission *submission, uint32_t kind)
{
   struct agx_profile *profile = submission->device->profile;
   if (!(profile->families & (AGX_PROFILE_QUEUE | GPU_FAMILIES)) ||
       !is_of_queue(profile, submission->queue->index))
      return AGX_OK;
   struct agx_profile_entry *entry = take_spare(profile);
   if (!entry)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "submit: no host memory to profile it");
   atomic_fetch_add(&profile->references, 1);
   entry->queue = submission->queue->index;
   entry->operation = kind;
   entry->name = submission->type->name;
   entry->submitted_ns = agx_profile_clock();
   entry->number = entry->started_ns = entry->ended_ns = entry->commands_id = 0;
   entry->status = AGX_OK;
   entry->is_in_flight = entry->is_timed = false;
   entry->command_count = entry->span_count = entry->dispatch_count = 0;
   entry->label = "";
   if (submission->commands) {
      if (!submission->commands->is_own)
         entry->commands_id = agx_command_buffer_profile_id(submission->commands);
      pthread_mutex_lock(&profile->lock);
      entry->label = agx_profile_intern(profile, submission->commands->label);
      pthread_mutex_unlock(&profile->lock);
   }
   submission->profile = entry;
   submission->session = profile;
   return AGX_OK;
}

void agx_profile_started(struct agx_submission *submission)
{
   if (submission->profile)
      submission->profile->started_ns = agx_profile_clock();
}

void agx_profile_ended(struct agx_submission *submission, const struct agx_failure *failure)
{
   struct agx_profile_entry *entry = submission->profile;
   struct agx_profile *profile = submission->session;
   if (!entry)
      return;
   entry->number = submission->number;
   entry->ended_ns = agx_profile_clock();
   entry->status = failure ? failure->status : AGX_OK;
   submission->profile = NULL;
   pthread_mutex_lock(&profile->lock);
   agx_list_remove(&entry->link);
   agx_list_append(profile->is_closed ? &profile->spare : &profile->ended, &entry->link);
   pthread_mutex_unlock(&profile->lock);
}

void agx_profile_drop(struct agx_submission *submission)
{
   struct agx_profile_entry *entry = submission->profile;
   struct agx_profile *profile = submission->session;
   pthread_mutex_lock(&profile->lock);
   if (entry) { /* refused by the kernel: it may be listed as in flight */
      agx_list_remove(&entry->link);
      agx_list_append(&profile->spare, &entry->link);
   }
   bool is_closed = profile->is_closed;
   pthread_mutex_unlock(&profile->lock);
   submission->profile = NULL;
   submission->session = NULL;
   if (!is_closed)
      agx_profile_deliver(profile);
   agx_profile_unref(profile);
}

/* ---- to the GPU ----------------------------------------------------------- */

static bool is_wanted(const struct agx_profile *profile, const struct agx_profile_entry *entry,
                      const struct agx_profile_dispatch *dispatch)
{
   const struct agx_profile_filter *filter = &profile->filter;
   return (!filter->command_buffer || filter->command_buffer == entry->commands_id) &&
          (!filter->has_command_index || filter->command_index == dispatch->command_index) &&
          (!filter->function || fnmatch(filter->function, dispatch->name, 0) == 0);
}

static agx_status make_room(struct agx_profile_entry *entry, uint32_t count)
{
   const struct agx_host_alloc *alloc = entry->profile->device->alloc;
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

/* "command buffer/outer/inner" of a run's launches; with the lock held. */
static const char *label_run(struct agx_profile *profile, const struct agx_command_buffer *commands,
                             const struct agx_run *run)
{
   char path[512], label[512 + AGX_NAME_BYTES];
   size_t name = strlen(run->executable->program->name);
   size_t length = agx_command_buffer_dispatch_label(commands, run->first, path, sizeof(path));
   length = AGX_MIN(length, sizeof(path) - 1);
   length = length > name + 2 ? length - name - 2 : 0; /* without ": kernel" */
   snprintf(label, sizeof(label), "%s%s%.*s", commands->label, length ? "/" : "", (int)length,
            path);
   return agx_profile_intern(profile, label);
}

/* What the stream's launches are, but for the last, which is the library's own. */
static agx_status name_dispatches(struct agx_profile_entry *entry,
                                  const struct agx_command_buffer *commands)
{
   struct agx_profile *profile = entry->profile;
   const struct agx_run *runs = commands->runs.items;
   AGX_TRY(make_room(entry, commands->dispatch_count));
   pthread_mutex_lock(&profile->lock);
   for (uint32_t i = 0; i < commands->runs.count; i++) {
      bool is_last = i + 1 == commands->runs.count;
      uint32_t end = is_last ? commands->dispatch_count : runs[i + 1].first;
      struct agx_profile_dispatch of = {
         .name = agx_profile_intern(profile, runs[i].executable->program->name),
         .label = label_run(profile, commands, &runs[i]),
      };
      for (uint32_t index = runs[i].first; index < end; index++) {
         of.command_index = index;
         of.is_wanted = is_wanted(profile, entry, &of);
         entry->dispatches[entry->dispatch_count++] = of;
      }
   }
   pthread_mutex_unlock(&profile->lock);
   return AGX_OK;
}

static bool wants_any(const struct agx_profile_entry *entry)
{
   for (uint32_t i = 0; i < entry->dispatch_count; i++)
      if (entry->dispatches[i].is_wanted)
         return true;
   return false;
}

/* The first span_count commands, or the only one, get times. */
static agx_status add_stamps(struct agx_profile_entry *entry)
{
   struct agxw_device *winsys = entry->profile->device->winsys;
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

agx_status agx_profile_prepare(struct agx_submission *submission, struct agxw_submit *submit)
{
   struct agx_profile_entry *entry = submission->profile;
   struct agx_profile *profile = entry->profile;
   entry->started_ns = agx_profile_clock();
   if (!(profile->families & GPU_FAMILIES))
      return AGX_OK;
   if (entry->command_count == 0) { /* once, however often the kernel is asked */
      AGX_TRY(name_dispatches(entry, submission->commands));
      entry->commands[0] = submission->stream;
      entry->command_count = 1;
      if (profile->families & (AGX_PROFILE_DISPATCH | AGX_PROFILE_COUNTERS) && wants_any(entry))
         AGX_TRY(agx_profile_split(entry, &submission->stream));
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

void agx_profile_streams(const struct agx_submission *submission, uint64_t *out_first_va,
                         uint64_t *out_last_va)
{
   const struct agx_profile_entry *entry = submission->profile;
   *out_first_va = *out_last_va = submission->stream.stream_va;
   if (!entry || entry->span_count == 0)
      return;
   *out_first_va = entry->commands[0].stream_va;
   *out_last_va = entry->commands[entry->command_count - 1].stream_va;
}

uint32_t agx_profile_first_dispatch(const struct agx_submission *submission, uint64_t stream_va)
{
   const struct agx_profile_entry *entry = submission->profile;
   for (uint32_t i = 0; entry && i < entry->span_count; i++)
      if (entry->spans[i].stream_va == stream_va)
         return entry->spans[i].first;
   return 0;
}
