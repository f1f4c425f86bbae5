/* SPDX-License-Identifier: MIT
 *
 * Profiling sessions: begins and ends them for applications, relates the GPU's clock to the host's,
 * and calls the application with records when the other rooms have put some.
 */
#include "agx/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/debug.h"
#include "base/util.h"
#include "hal/core/desc.h"
#include "hal/profile/clock.h"
#include "hal/profile/profile_session.h"
#include "hal/profile/trace.h"

#define KNOWN_FAMILIES                                                                             \
   (AGX_PROFILE_QUEUE | AGX_PROFILE_DEVICE_QUEUE | AGX_PROFILE_DISPATCH | AGX_PROFILE_HOST |       \
    AGX_PROFILE_MEMORY | AGX_PROFILE_COUNTERS)
#define TIMED_FAMILIES (AGX_PROFILE_DEVICE_QUEUE | AGX_PROFILE_DISPATCH)
#define MAX_PATH_B     4096
#define MAX_TRACES     256
#define CLOCK_AGE_NS   (100 * UINT64_C(1000000)) /* clocks drift by less than a ten-thousandth */

/* ---- clocks --------------------------------------------------------------- */

uint64_t agx_profile_clock(void)
{
   return (uint64_t)agx_now_ns();
}

/* The function now of struct agx_host_spans. */
static uint64_t spans_now(const struct agx_host_spans *spans)
{
   const struct agx_profile *profile = (const struct agx_profile *)spans;
   return profile->families & AGX_PROFILE_HOST ? agx_profile_clock() : 0;
}

static agx_status correlate(struct agx_profile *profile)
{
   struct agx_clocks clocks;
   AGX_TRY(agx_clocks_read(profile->device, &clocks));
   profile->gpu_base = clocks.gpu;
   profile->host_base = clocks.host_ns;
   return AGX_OK;
}

/* ---- delivery ------------------------------------------------------------- */

void agx_profile_put(struct agx_profile *profile, const struct agx_profile_record *record)
{
   struct agx_profile_record whole = *record;
   whole.size = sizeof(whole);
   whole.name = record->name ? record->name : "";
   whole.label = record->label ? record->label : "";
   if (profile->trace)
      agx_trace_put(profile->trace, &whole);
   if (profile->fn)
      profile->fn(profile->user, &whole);
}

static void put_dropped(struct agx_profile *profile, uint64_t count)
{
   const struct agx_profile_record record = {.kind = AGX_PROFILE_RECORD_DROPPED,
                                             .command_index = AGX_PROFILE_NONE,
                                             .start_ns = agx_profile_clock(),
                                             .dropped = count};
   if (count)
      agx_profile_put(profile, &record);
}

/* With the lock held, which is let go of meanwhile. */
static void notify_all(struct agx_profile *profile)
{
   struct agx_link ended, events;
   agx_list_init(&ended);
   agx_list_init(&events);
   agx_list_splice(&ended, &profile->ended);
   agx_list_splice(&events, &profile->events);
   uint64_t dropped = profile->dropped;
   profile->dropped = profile->event_count = 0;
   pthread_mutex_unlock(&profile->lock);
   if (profile->families & TIMED_FAMILIES && !agx_list_empty(&ended) &&
       agx_profile_clock() - profile->host_base > CLOCK_AGE_NS)
      (void)!correlate(profile);
   agx_list_for_each (struct agx_profile_entry, entry, &ended, link)
      agx_profile_notify_entry(profile, entry);
   agx_list_for_each_safe (struct agx_profile_event, event, &events, link) {
      agx_profile_put(profile, &event->record);
      agx_host_free(agx_context_of(profile->device)->alloc, event, sizeof(*event));
   }
   put_dropped(profile, dropped);
   pthread_mutex_lock(&profile->lock);
   agx_list_splice(&profile->spare, &ended);
}

/* With the lock held. */
static bool has_pending_notifications(const struct agx_profile *profile)
{
   return !agx_list_empty(&profile->ended) || !agx_list_empty(&profile->events) || profile->dropped;
}

void agx_profile_notify(struct agx_profile *profile)
{
   pthread_mutex_lock(&profile->lock);
   if (!profile->is_notifying && has_pending_notifications(profile)) {
      profile->is_notifying = true;
      profile->notifier = pthread_self();
      while (has_pending_notifications(profile))
         notify_all(profile);
      pthread_mutex_unlock(&profile->lock);
      if (profile->trace)
         agx_trace_flush(profile->trace);
      pthread_mutex_lock(&profile->lock);
      profile->is_notifying = false;
      pthread_cond_broadcast(&profile->idle);
   }
   pthread_mutex_unlock(&profile->lock);
}

/* ---- begin ---------------------------------------------------------------- */

static agx_status check_families(const struct agx_device *device,
                                 const struct agx_profile_desc *desc)
{
   static const struct {
      uint64_t family;
      const char *name;
   } missing[] = {{AGX_PROFILE_TRACES, "traces of instructions"},
                  {AGX_PROFILE_METRICS, "metrics of the device"}};
   for (size_t i = 0; i < AGX_COUNT(missing); i++)
      if (desc->families & missing[i].family)
         return AGX_FAIL(AGX_UNIMPLEMENTED, "profile: there are no %s", missing[i].name);
   if (desc->families & ~(uint64_t)KNOWN_FAMILIES)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "profile: unknown families 0x%llx",
                      (unsigned long long)(desc->families & ~(uint64_t)KNOWN_FAMILIES));
   AGX_TRY(agx_bits_check("profile", "flags", desc->flags, AGX_PROFILE_KEEP_OVERLAP));
   if (desc->families && !desc->fn && !desc->path)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "profile: neither a function nor a path");
   if (agx_context_of(device)->debug & AGX_DEBUG_BOUNDS &&
       desc->families & (AGX_PROFILE_DISPATCH | AGX_PROFILE_COUNTERS))
      return AGX_FAIL(AGX_UNAVAILABLE,
                      "profile: dispatches can't be timed or counted while AGX_DEBUG=bounds "
                      "watches them");
   return AGX_OK;
}

static struct agx_profile *new_profile(struct agx_device *device,
                                       const struct agx_profile_desc *desc)
{
   struct agx_profile *profile = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*profile));
   if (!profile)
      return NULL;
   profile->spans = (struct agx_host_spans){spans_now, agx_profile_note};
   profile->references = 1;
   profile->device = device;
   profile->families = desc->families;
   profile->flags = desc->flags;
   profile->filter = desc->filter;
   profile->fn = desc->fn;
   profile->user = desc->user;
   pthread_mutex_init(&profile->lock, NULL);
   pthread_cond_init(&profile->idle, NULL);
   agx_list_init(&profile->in_flight);
   agx_list_init(&profile->ended);
   agx_list_init(&profile->spare);
   agx_list_init(&profile->events);
   return profile;
}

static void free_profile(struct agx_profile *profile)
{
   const struct agx_host_alloc *alloc = agx_context_of(profile->device)->alloc;
   agx_list_for_each_safe (struct agx_profile_entry, entry, &profile->spare, link)
      agx_profile_free_entry(entry);
   agx_list_for_each_safe (struct agx_profile_event, event, &profile->events, link)
      agx_host_free(alloc, event, sizeof(*event));
   agx_trace_close(profile->trace);
   agx_profile_free_names(profile);
   pthread_cond_destroy(&profile->idle);
   pthread_mutex_destroy(&profile->lock);
   agx_host_free(alloc, profile, sizeof(*profile));
}

void agx_profile_release(struct agx_profile *profile)
{
   if (profile && atomic_fetch_sub(&profile->references, 1) == 1)
      free_profile(profile);
}

struct agx_profile *agx_profile_retain_for_spans(const struct agx_device *device)
{
   struct agx_profile *profile = agx_context_of(device)->profile;
   if (!profile || !(profile->families & AGX_PROFILE_HOST))
      return NULL;
   atomic_fetch_add(&profile->references, 1);
   return profile;
}

/* Whether the device has what timing takes, before a session relies on it. */
static agx_status check_timing(struct agx_profile *profile)
{
   struct agxw_device *winsys = agx_context_of(profile->device)->winsys;
   const struct agxw_device_info *info = agxw_device_info(winsys);
   struct agxw_stamps *stamps = NULL;
   if (profile->families & AGX_PROFILE_DISPATCH && info->max_commands < 2)
      return AGX_FAIL(AGX_UNAVAILABLE,
                      "profile: %s takes one command in a submission, so dispatches can't be timed",
                      info->node);
   AGX_TRY(correlate(profile));
   AGX_TRY(agxw_stamps_create(winsys, 1, &stamps));
   agxw_stamps_destroy(stamps);
   return AGX_OK;
}

static agx_status start(struct agx_profile *profile, const struct agx_profile_desc *desc)
{
   struct agxw_device *winsys = agx_context_of(profile->device)->winsys;
   const char *function = desc->filter.function;
   profile->filter.function = function ? agx_profile_intern(profile, function) : NULL;
   if (function && *function && !*profile->filter.function)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "profile: out of host memory");
   if (profile->families & TIMED_FAMILIES)
      AGX_TRY(check_timing(profile));
   if (desc->path)
      AGX_TRY(agx_trace_open(profile->device, desc->path, &profile->trace));
   if (profile->families & AGX_PROFILE_COUNTERS)
      AGX_TRY(agxw_device_watch_counters(winsys, agx_profile_count, profile));
   if (profile->families & AGX_PROFILE_MEMORY)
      agxw_device_observe(winsys, agx_profile_note_memory, profile);
   return AGX_OK;
}

agx_status agx_profile_begin(struct agx_device *device, const struct agx_profile_desc *desc)
{
   struct agx_profile_desc read;
   AGX_TRY(agx_fork_check(device));
   AGX_TRY(agx_desc_read("agx_profile_desc", desc, &read, sizeof(read)));
   AGX_TRY(check_families(device, &read));
   if (agx_context_of(device)->profile)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "profile: the device has a session already");
   struct agx_profile *profile = new_profile(device, &read);
   if (!profile)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "profile: out of host memory");
   agx_status status = start(profile, &read);
   if (status != AGX_OK) {
      free_profile(profile);
      return status;
   }
   agx_context_of(device)->profile = profile;
   agx_context_of(device)->spans = &profile->spans;
   return AGX_OK;
}

/* ---- flush and end -------------------------------------------------------- */

agx_status agx_profile_flush(struct agx_device *device)
{
   struct agx_profile *profile = agx_context_of(device)->profile;
   AGX_TRY(agx_fork_check(device));
   if (!profile)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "profile: flush without a session");
   pthread_mutex_lock(&profile->lock);
   bool is_inside = profile->is_notifying && pthread_equal(profile->notifier, pthread_self());
   while (profile->is_notifying && !is_inside)
      pthread_cond_wait(&profile->idle, &profile->lock);
   pthread_mutex_unlock(&profile->lock);
   if (is_inside)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "profile: flush from the session's own function");
   agx_profile_notify(profile);
   return AGX_OK;
}

agx_status agx_profile_end(struct agx_device *device)
{
   struct agx_profile *profile = agx_context_of(device)->profile;
   AGX_TRY(agx_fork_check(device));
   if (!profile)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "profile: end without a session");
   if (profile->families & AGX_PROFILE_MEMORY)
      agxw_device_observe(agx_context_of(device)->winsys, NULL, NULL);
   if (profile->families & AGX_PROFILE_COUNTERS)
      (void)!agxw_device_watch_counters(agx_context_of(device)->winsys, NULL, NULL);
   agx_status status = agx_profile_flush(device);
   agx_context_of(device)->profile = NULL;
   agx_context_of(device)->spans = NULL;
   pthread_mutex_lock(&profile->lock);
   profile->is_closed = true;
   pthread_mutex_unlock(&profile->lock);
   agx_profile_release(profile); /* what is under way has references of its own */
   return status;
}

void agx_profile_fini(struct agx_device *device)
{
   if (agx_context_of(device)->profile)
      (void)!agx_profile_end(device);
}

/* ---- the environment ------------------------------------------------------ */

static const struct {
   const char *name;
   uint64_t family;
} family_names[] = {
   {"queue", AGX_PROFILE_QUEUE},       {"device", AGX_PROFILE_DEVICE_QUEUE},
   {"dispatch", AGX_PROFILE_DISPATCH}, {"host", AGX_PROFILE_HOST},
   {"memory", AGX_PROFILE_MEMORY},     {"counters", AGX_PROFILE_COUNTERS},
};

static agx_status parse_families(const char *text, uint64_t *out_families)
{
   *out_families = 0;
   for (size_t length; *text; text += length + (text[length] == ',')) {
      size_t i = 0;
      length = strcspn(text, ",");
      while (i < AGX_COUNT(family_names) && (strlen(family_names[i].name) != length ||
                                             strncmp(family_names[i].name, text, length) != 0))
         i++;
      if (i == AGX_COUNT(family_names))
         return AGX_FAIL(AGX_INVALID_ARGUMENT,
                         "AGX_PROFILE_FAMILIES: \"%.*s\" is none of queue, device, dispatch, host, "
                         "memory, counters",
                         (int)length, text);
      *out_families |= family_names[i].family;
   }
   return AGX_OK;
}

/* Each device of the program has a file of its own, and so have the processes that it starts: the
 * first that no session writes to of FILE, FILE.2, FILE.3 ... */
static agx_status begin_at(struct agx_device *device, const char *path,
                           struct agx_profile_desc *desc)
{
   static _Atomic uint32_t traces;
   char own_path[MAX_PATH_B];
   agx_status status = AGX_ALREADY_EXISTS;
   for (uint32_t tries = 0; tries < MAX_TRACES && status == AGX_ALREADY_EXISTS; tries++) {
      uint32_t number = atomic_fetch_add(&traces, 1) + 1;
      snprintf(own_path, sizeof(own_path), "%s.%u", path, number);
      desc->path = number == 1 ? path : own_path;
      status = agx_profile_begin(device, desc);
   }
   return status;
}

agx_status agx_profile_open_environment(struct agx_device *device)
{
   const char *path = getenv("AGX_PROFILE"), *families = getenv("AGX_PROFILE_FAMILIES");
   struct agx_profile_desc desc = {
      .size = sizeof(desc),
      .families = KNOWN_FAMILIES & ~(uint64_t)AGX_PROFILE_COUNTERS,
   };
   if (!path || !*path)
      return AGX_OK;
   if (families && *families)
      AGX_TRY(parse_families(families, &desc.families));
   /* A full disk is no reason either to keep the program from its device. */
   if (begin_at(device, path, &desc) != AGX_OK)
      agx_log(agx_context_of(device)->log, AGX_LOG_WARNING, "AGX_PROFILE: %s", agx_error_peek());
   return AGX_OK;
}
