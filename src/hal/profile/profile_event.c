/* SPDX-License-Identifier: MIT
 *
 * What happens on the host, and to memory: events, and the names that they keep.
 */
#include <string.h>

#include "base/util.h"
#include "hal/profile/profile_session.h"

/* ---- names ---------------------------------------------------------------- */

const char *agx_profile_intern(struct agx_profile *profile, const char *text)
{
   uint32_t hash = 2166136261u; /* FNV-1a */
   for (const char *at = text ? text : ""; *at; at++)
      hash = (hash ^ (uint8_t)*at) * 16777619u;
   if (!text || !*text)
      return "";
   struct agx_profile_name **bucket = &profile->names[hash % AGX_PROFILE_NAME_BUCKETS];
   for (const struct agx_profile_name *name = *bucket; name; name = name->next)
      if (strcmp(name->text, text) == 0)
         return name->text;
   const struct agx_host_alloc *alloc = agx_context_of(profile->device)->alloc;
   size_t bytes = sizeof(struct agx_profile_name) + strlen(text) + 1;
   struct agx_profile_name *name = agx_host_zalloc(alloc, bytes);
   if (!name)
      return "";
   name->bytes = bytes;
   memcpy(name->text, text, bytes - sizeof(*name));
   name->next = *bucket;
   *bucket = name;
   return name->text;
}

void agx_profile_free_names(struct agx_profile *profile)
{
   for (unsigned i = 0; i < AGX_PROFILE_NAME_BUCKETS; i++)
      while (profile->names[i]) {
         struct agx_profile_name *name = profile->names[i];
         profile->names[i] = name->next;
         agx_host_free(agx_context_of(profile->device)->alloc, name, name->bytes);
      }
}

/* ---- events --------------------------------------------------------------- */

static uint32_t thread_number(void)
{
   static _Atomic uint32_t threads;
   static _Thread_local uint32_t own;
   if (own == 0)
      own = atomic_fetch_add(&threads, 1) + 1;
   return own;
}

/* Keeps an event, whose names it copies. memory_B: by how much it changes the device's memory; the
 * total that the record tells counts the events before it, so both happen under one lock. */
static void add_event(struct agx_profile *profile, const struct agx_profile_record *record,
                      int64_t memory_B)
{
   const struct agx_host_alloc *alloc = agx_context_of(profile->device)->alloc;
   struct agx_profile_event *event = agx_host_zalloc(alloc, sizeof(*event));
   pthread_mutex_lock(&profile->lock);
   profile->memory_B += (uint64_t)memory_B;
   bool keeps = event && !profile->is_closed && profile->event_count < AGX_PROFILE_MAX_EVENTS;
   if (keeps) {
      event->record = *record;
      event->record.total_B = memory_B ? profile->memory_B : 0;
      event->record.name = agx_profile_intern(profile, record->name);
      event->record.label = agx_profile_intern(profile, record->label);
      profile->event_count++;
      agx_list_append(&profile->events, &event->link);
   }
   profile->dropped += !keeps;
   pthread_mutex_unlock(&profile->lock);
   if (!keeps && event)
      agx_host_free(alloc, event, sizeof(*event));
}

void agx_profile_note(struct agx_host_spans *spans, const char *name, const char *detail,
                      uint64_t start_ns)
{
   struct agx_profile *profile = (struct agx_profile *)spans;
   const struct agx_profile_record record = {
      .kind = AGX_PROFILE_RECORD_HOST,
      .granularity = AGX_PROFILE_HOST_TIME,
      .command_index = AGX_PROFILE_NONE,
      .name = name,
      .label = detail,
      .start_ns = start_ns,
      .end_ns = agx_profile_clock(),
      .thread = thread_number(),
   };
   add_event(profile, &record, 0);
}

void agx_profile_add_span(struct agx_profile *profile, const char *name, const char *detail,
                          uint64_t start_ns)
{
   if (profile)
      agx_profile_note(&profile->spans, name, detail, start_ns);
}

/* agxw_device_observe */
void agx_profile_note_memory(void *user, const struct agxw_place *place, bool is_new)
{
   struct agx_profile *profile = user;
   struct agx_profile_record record = {
      .kind = is_new ? AGX_PROFILE_RECORD_ALLOCATE : AGX_PROFILE_RECORD_FREE,
      .granularity = AGX_PROFILE_HOST_TIME,
      .command_index = AGX_PROFILE_NONE,
      .name = place->label,
      .start_ns = agx_profile_clock(),
      .thread = thread_number(),
      .address = place->va,
      .size_B = place->bytes,
   };
   record.end_ns = record.start_ns;
   add_event(profile, &record, is_new ? (int64_t)place->bytes : -(int64_t)place->bytes);
}
