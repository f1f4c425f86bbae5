/* SPDX-License-Identifier: MIT
 *
 * Profiling for IREE's sinks: a session of the core's (docs/profiling.md), whose records become
 * IREE's. A sink hears first of the device and its queues, then of each executable and command
 * buffer before something refers to them. All times are CLOCK_MONOTONIC's nanoseconds in ticks,
 * since the core has converted the GPU's; three clock correlations at least tie them to IREE's
 * time.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profile.h"

/* A command buffer that was submitted in the session. It may go before the session ends, with all
 * the memory that it keeps. */
struct known_commands {
   uint64_t core_id, profile_id;
   struct agx_iree_notes notes;
   uint32_t first_note; /* of the core's first command */
};

struct agx_iree_profile {
   struct agx_iree_device *device;
   iree_slim_mutex_t mutex; /* over all below, and over writing to the sink */
   iree_hal_profile_sink_t *sink;
   iree_hal_device_profiling_data_families_t families;
   uint64_t session_id, next_event, next_sample, last_dispatch;
   struct agx_iree_counters counters;
   int64_t to_host_ns;                       /* from CLOCK_MONOTONIC to IREE's time */
   iree_hal_profile_capture_filter_t filter; /* without its pattern */
   char *pattern;                            /* of the filter */
   struct agx_iree_notes direct;             /* dispatches outside of command buffers, by tag - 1 */
   struct known_commands *known;
   uint32_t known_count, known_capacity;
   uint64_t *executables; /* ids of those that the sink knows */
   uint32_t executable_count, executable_capacity;
   iree_status_t failure; /* the first that the sink gave */
};

static int64_t monotonic_ns(void)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* ---- chunks ---------------------------------------------------------------- */

/* IREE's number of a queue's stream: 0 is none. */
static uint64_t stream_of(uint32_t queue)
{
   return queue + UINT64_C(1);
}

/* Writes records of one type, of a queue or (UINT32_MAX) of the device. The caller holds the mutex.
 */
static void put(struct agx_iree_profile *profile, iree_string_view_t type, uint32_t queue,
                const void *data, size_t data_B)
{
   if (!iree_status_is_ok(profile->failure))
      return;
   iree_hal_profile_chunk_metadata_t metadata = iree_hal_profile_chunk_metadata_default();
   metadata.content_type = type;
   metadata.session_id = profile->session_id;
   metadata.physical_device_ordinal = 0;
   metadata.queue_ordinal = queue;
   metadata.stream_id = queue == UINT32_MAX ? 0 : stream_of(queue);
   const iree_const_byte_span_t span = iree_make_const_byte_span(data, data_B);
   profile->failure = iree_hal_profile_sink_write(profile->sink, &metadata, 1, &span);
}

static void put_by_counters(void *user, iree_string_view_t type, const void *data, size_t data_B)
{
   put(user, type, UINT32_MAX, data, data_B);
}

static void put_devices(struct agx_iree_profile *profile)
{
   iree_hal_profile_device_record_t device = iree_hal_profile_device_record_default();
   iree_hal_profile_queue_record_t queues[AGX_IREE_MAX_QUEUES];
   const uint32_t count = profile->device->info.queue_count;
   device.physical_device_ordinal = 0;
   device.queue_count = count;
   put(profile, IREE_HAL_PROFILE_CONTENT_TYPE_DEVICES, UINT32_MAX, &device, sizeof(device));
   for (uint32_t i = 0; i < count; i++) {
      queues[i] = iree_hal_profile_queue_record_default();
      queues[i].physical_device_ordinal = 0;
      queues[i].queue_ordinal = i;
      queues[i].stream_id = stream_of(i);
   }
   put(profile, IREE_HAL_PROFILE_CONTENT_TYPE_QUEUES, UINT32_MAX, queues,
       count * sizeof(queues[0]));
   agx_iree_counters_describe(&profile->counters, put_by_counters, profile);
}

static void put_clock(struct agx_iree_profile *profile)
{
   iree_hal_profile_clock_correlation_record_t record =
      iree_hal_profile_clock_correlation_record_default();
   record.flags = IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_DEVICE_TICK |
                  IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_CPU_TIMESTAMP |
                  IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_SYSTEM_TIMESTAMP |
                  IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_TIME_BRACKET;
   record.physical_device_ordinal = 0;
   record.sample_id = ++profile->next_sample;
   record.host_time_begin_ns = iree_time_now();
   record.device_tick = (uint64_t)monotonic_ns();
   record.host_time_end_ns = iree_time_now();
   record.host_cpu_timestamp_ns = record.device_tick;
   record.host_system_timestamp = record.device_tick;
   record.host_system_frequency_hz = 1000000000;
   put(profile, IREE_HAL_PROFILE_CONTENT_TYPE_CLOCK_CORRELATIONS, UINT32_MAX, &record,
       sizeof(record));
}

static void put_function(struct agx_iree_profile *profile,
                         const struct agx_iree_executable *executable, uint32_t index)
{
   const struct agx_iree_entry *entry = &executable->entries[index];
   const size_t name_B = strlen(entry->name);
   iree_hal_profile_executable_function_record_t record =
      iree_hal_profile_executable_function_record_default();
   uint8_t *bytes = malloc(sizeof(record) + name_B);
   if (!bytes)
      return;
   record.record_length = (uint32_t)(sizeof(record) + name_B);
   record.executable_id = executable->profile_id;
   record.function_ordinal = index;
   record.constant_count = entry->constant_count;
   record.binding_count = entry->binding_count;
   record.parameter_count = entry->constant_count + entry->binding_count;
   memcpy(record.workgroup_size, entry->local_size, sizeof(record.workgroup_size));
   record.name_length = (uint32_t)name_B;
   memcpy(bytes, &record, sizeof(record));
   memcpy(bytes + sizeof(record), entry->name, name_B);
   put(profile, IREE_HAL_PROFILE_CONTENT_TYPE_EXECUTABLE_FUNCTIONS, UINT32_MAX, bytes,
       record.record_length);
   free(bytes);
}

/* Room for one more element of size_B. */
static iree_status_t grow(void **array, uint32_t count, uint32_t *capacity, size_t size_B)
{
   if (count < *capacity)
      return iree_ok_status();
   const uint32_t wanted = *capacity ? 2 * *capacity : 16;
   void *memory = realloc(*array, wanted * size_B);
   if (!memory)
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "profile: no host memory");
   *array = memory;
   *capacity = wanted;
   return iree_ok_status();
}

static iree_status_t put_executable(struct agx_iree_profile *profile,
                                    const struct agx_iree_executable *executable)
{
   if (!executable)
      return iree_ok_status();
   for (uint32_t i = 0; i < profile->executable_count; i++) {
      if (profile->executables[i] == executable->profile_id)
         return iree_ok_status();
   }
   IREE_RETURN_IF_ERROR(grow((void **)&profile->executables, profile->executable_count,
                             &profile->executable_capacity, sizeof(*profile->executables)));
   profile->executables[profile->executable_count++] = executable->profile_id;
   iree_hal_profile_executable_record_t record = iree_hal_profile_executable_record_default();
   record.executable_id = executable->profile_id;
   record.function_count = executable->entry_count;
   put(profile, IREE_HAL_PROFILE_CONTENT_TYPE_EXECUTABLES, UINT32_MAX, &record, sizeof(record));
   for (uint32_t i = 0; i < executable->entry_count; i++)
      put_function(profile, executable, i);
   return iree_ok_status();
}

static void put_operation(struct agx_iree_profile *profile, uint64_t command_buffer_id,
                          uint32_t index, const struct agx_iree_note *note)
{
   iree_hal_profile_command_operation_record_t record =
      iree_hal_profile_command_operation_record_default();
   record.type = note->type;
   record.flags = note->flags;
   record.command_index = index;
   record.command_buffer_id = command_buffer_id;
   record.length = note->length_B;
   record.binding_count = note->binding_count;
   if (note->executable) {
      record.executable_id = note->executable->profile_id;
      record.function_ordinal = note->function;
   }
   memcpy(record.workgroup_count, note->workgroups, sizeof(record.workgroup_count));
   memcpy(record.workgroup_size, note->local_size, sizeof(record.workgroup_size));
   put(profile, IREE_HAL_PROFILE_CONTENT_TYPE_COMMAND_OPERATIONS, UINT32_MAX, &record,
       sizeof(record));
}

static iree_status_t put_commands(struct agx_iree_profile *profile,
                                  iree_hal_command_buffer_t *commands,
                                  const struct agx_iree_notes *notes)
{
   iree_hal_profile_command_buffer_record_t record =
      iree_hal_profile_command_buffer_record_default();
   record.command_buffer_id = iree_hal_command_buffer_profile_id(commands);
   record.mode = iree_hal_command_buffer_mode(commands);
   record.command_categories = iree_hal_command_buffer_allowed_categories(commands);
   record.queue_affinity = iree_hal_command_buffer_queue_affinity(commands);
   record.physical_device_ordinal = 0;
   for (uint32_t i = 0; i < notes->count; i++) {
      IREE_RETURN_IF_ERROR(put_executable(profile, notes->at[i].executable));
   }
   put(profile, IREE_HAL_PROFILE_CONTENT_TYPE_COMMAND_BUFFERS, UINT32_MAX, &record, sizeof(record));
   for (uint32_t i = 0; i < notes->count; i++)
      put_operation(profile, record.command_buffer_id, i, &notes->at[i]);
   return iree_ok_status();
}

/* ---- what is submitted ----------------------------------------------------- */

iree_status_t agx_iree_profile_dispatch(struct agx_iree_device *device,
                                        const struct agx_iree_note *note, uint64_t *out_tag)
{
   struct agx_iree_profile *profile = device->profile;
   iree_slim_mutex_lock(&profile->mutex);
   iree_status_t status = put_executable(profile, note->executable);
   if (iree_status_is_ok(status))
      status = agx_iree_notes_add(&profile->direct, note);
   *out_tag = profile->direct.count;
   iree_slim_mutex_unlock(&profile->mutex);
   return status;
}

static struct known_commands *find(struct agx_iree_profile *profile, uint64_t core_id)
{
   for (uint32_t i = profile->known_count; i > 0; i--) {
      if (profile->known[i - 1].core_id == core_id)
         return &profile->known[i - 1];
   }
   return NULL;
}

static bool is_put(const struct agx_iree_profile *profile, uint64_t profile_id)
{
   for (uint32_t i = profile->known_count; i > 0; i--) {
      if (profile->known[i - 1].profile_id == profile_id)
         return true;
   }
   return false;
}

static iree_status_t add_known(struct agx_iree_profile *profile, uint64_t profile_id,
                               uint64_t core_id, const struct agx_iree_notes *notes,
                               uint32_t first_note)
{
   struct known_commands known = {
      .core_id = core_id, .profile_id = profile_id, .first_note = first_note};
   iree_status_t status = grow((void **)&profile->known, profile->known_count,
                               &profile->known_capacity, sizeof(*profile->known));
   for (uint32_t i = 0; i < notes->count && iree_status_is_ok(status); i++)
      status = agx_iree_notes_add(&known.notes, &notes->at[i]);
   if (iree_status_is_ok(status))
      profile->known[profile->known_count++] = known;
   else
      agx_iree_notes_free(&known.notes);
   return status;
}

iree_status_t agx_iree_profile_execute(struct agx_iree_device *device,
                                       iree_hal_command_buffer_t *commands, uint64_t core_id,
                                       const struct agx_iree_notes *notes, uint32_t first_note)
{
   struct agx_iree_profile *profile = device->profile;
   const uint64_t profile_id = iree_hal_command_buffer_profile_id(commands);
   iree_status_t status = iree_ok_status();
   iree_slim_mutex_lock(&profile->mutex);
   if (!find(profile, core_id)) {
      if (!is_put(profile, profile_id))
         status = put_commands(profile, commands, notes);
      if (iree_status_is_ok(status))
         status = add_known(profile, profile_id, core_id, notes, first_note);
   }
   iree_slim_mutex_unlock(&profile->mutex);
   return status;
}

/* ---- records --------------------------------------------------------------- */

static uint32_t type_of(uint32_t operation)
{
   static const uint8_t types[] = {
      [AGX_OP_BARRIER] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_BARRIER,
      [AGX_OP_EXECUTE] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_EXECUTE,
      [AGX_OP_DISPATCH] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DISPATCH,
      [AGX_OP_FILL] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_FILL,
      [AGX_OP_UPDATE] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_UPDATE,
      [AGX_OP_COPY] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_COPY,
      [AGX_OP_ALLOCA] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_ALLOCA,
      [AGX_OP_DEALLOCA] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DEALLOCA,
      [AGX_OP_READ] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_READ,
      [AGX_OP_WRITE] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_WRITE,
      [AGX_OP_HOST_CALL] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_HOST_CALL,
   };
   return operation < IREE_ARRAYSIZE(types) ? types[operation]
                                            : IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_BARRIER;
}

/* The note of the core's index-th command: barriers have no number there. */
static const struct agx_iree_note *launch(const struct known_commands *known, uint32_t index)
{
   const struct agx_iree_notes *notes = &known->notes;
   for (uint32_t i = known->first_note; i < notes->count; i++) {
      if (notes->at[i].type != IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_BARRIER && index-- == 0)
         return &notes->at[i];
   }
   return NULL;
}

/* The note of what a record is of, and its command buffer's number and its own in IREE's counting.
 */
static const struct agx_iree_note *note_of(struct agx_iree_profile *profile,
                                           const struct agx_profile_record *record,
                                           uint64_t *out_commands, uint32_t *out_index)
{
   *out_commands = 0;
   *out_index = UINT32_MAX;
   const struct known_commands *known =
      record->command_buffer ? find(profile, record->command_buffer) : NULL;
   if (known) {
      *out_commands = known->profile_id;
      const struct agx_iree_note *note = launch(known, record->command_index);
      if (note)
         *out_index = (uint32_t)(note - known->notes.at);
      return note;
   }
   const uint64_t tag = record->tag;
   return tag && tag <= profile->direct.count ? &profile->direct.at[tag - 1] : NULL;
}

static void put_queue(struct agx_iree_profile *profile, const struct agx_profile_record *record)
{
   uint64_t commands = 0;
   uint32_t index = 0;
   const struct agx_iree_note *note = note_of(profile, record, &commands, &index);
   iree_hal_profile_queue_event_t event = iree_hal_profile_queue_event_default();
   event.type = type_of(record->operation);
   event.event_id = ++profile->next_event;
   event.host_time_ns = (int64_t)record->submitted_ns + profile->to_host_ns;
   event.ready_host_time_ns = (int64_t)record->start_ns + profile->to_host_ns;
   event.submission_id = record->submission;
   event.command_buffer_id = commands;
   event.stream_id = stream_of(record->queue);
   event.physical_device_ordinal = 0;
   event.queue_ordinal = record->queue;
   event.operation_count = 1;
   event.payload_length = record->payload_B;
   if (profile->families & IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS)
      put(profile, IREE_HAL_PROFILE_CONTENT_TYPE_QUEUE_EVENTS, record->queue, &event,
          sizeof(event));
   if (!(profile->families & IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS))
      return;
   iree_hal_profile_host_execution_event_t host = iree_hal_profile_host_execution_event_default();
   host.type = event.type;
   host.status_code = (uint32_t)record->status;
   host.event_id = ++profile->next_event;
   host.submission_id = event.submission_id;
   host.command_buffer_id = commands;
   host.stream_id = event.stream_id;
   host.physical_device_ordinal = 0;
   host.queue_ordinal = record->queue;
   if (note && record->operation == AGX_OP_DISPATCH) {
      host.executable_id = note->executable->profile_id;
      host.function_ordinal = note->function;
      memcpy(host.workgroup_count, note->workgroups, sizeof(host.workgroup_count));
      memcpy(host.workgroup_size, note->local_size, sizeof(host.workgroup_size));
   }
   host.start_host_time_ns = event.ready_host_time_ns;
   host.end_host_time_ns = (int64_t)record->end_ns + profile->to_host_ns;
   host.payload_length = event.payload_length;
   host.operation_count = 1;
   put(profile, IREE_HAL_PROFILE_CONTENT_TYPE_HOST_EXECUTION_EVENTS, record->queue, &host,
       sizeof(host));
}

static void put_device_queue(struct agx_iree_profile *profile,
                             const struct agx_profile_record *record)
{
   iree_hal_profile_queue_device_event_t event = iree_hal_profile_queue_device_event_default();
   uint32_t index = 0;
   note_of(profile, record, &event.command_buffer_id, &index);
   event.type = type_of(record->operation);
   event.event_id = ++profile->next_event;
   event.submission_id = record->submission;
   event.stream_id = stream_of(record->queue);
   event.physical_device_ordinal = 0;
   event.queue_ordinal = record->queue;
   event.operation_count = 1;
   event.payload_length = record->payload_B;
   event.start_tick = record->start_ns;
   event.end_tick = record->end_ns;
   put(profile, IREE_HAL_PROFILE_CONTENT_TYPE_QUEUE_DEVICE_EVENTS, record->queue, &event,
       sizeof(event));
}

/* IREE counts commands in another way than the core, so that the filter of places is here. */
static bool is_wanted(const struct agx_iree_profile *profile,
                      const struct agx_profile_record *record, uint64_t commands, uint32_t index)
{
   return iree_hal_profile_capture_filter_matches_location(&profile->filter, commands, index, 0,
                                                           record->queue);
}

/* Kernels of the library's own, of fills and copies, are no dispatches to IREE. */
static void put_dispatch(struct agx_iree_profile *profile, const struct agx_profile_record *record)
{
   iree_hal_profile_dispatch_event_t event = iree_hal_profile_dispatch_event_default();
   uint32_t index = 0;
   const struct agx_iree_note *note = note_of(profile, record, &event.command_buffer_id, &index);
   if (!note || !note->executable || !is_wanted(profile, record, event.command_buffer_id, index))
      return;
   event.event_id = ++profile->next_event;
   profile->last_dispatch = event.event_id;
   event.submission_id = record->submission;
   event.executable_id = note->executable->profile_id;
   event.function_ordinal = note->function;
   if (event.command_buffer_id) {
      event.flags |= IREE_HAL_PROFILE_DISPATCH_EVENT_FLAG_COMMAND_BUFFER;
      event.command_index = index;
   }
   if (note->flags & IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_INDIRECT_PARAMETERS)
      event.flags |= IREE_HAL_PROFILE_DISPATCH_EVENT_FLAG_INDIRECT_PARAMETERS;
   memcpy(event.workgroup_count, note->workgroups, sizeof(event.workgroup_count));
   memcpy(event.workgroup_size, note->local_size, sizeof(event.workgroup_size));
   event.start_tick = record->start_ns;
   event.end_tick = record->end_ns;
   put(profile, IREE_HAL_PROFILE_CONTENT_TYPE_DISPATCH_EVENTS, record->queue, &event,
       sizeof(event));
}

/* Comes behind the record of the dispatch, where dispatches are recorded. */
static void put_counters(struct agx_iree_profile *profile, const struct agx_profile_record *record)
{
   iree_hal_profile_counter_sample_record_t sample =
      iree_hal_profile_counter_sample_record_default();
   uint32_t index = 0;
   const struct agx_iree_note *note = note_of(profile, record, &sample.command_buffer_id, &index);
   if (!note || !note->executable || !is_wanted(profile, record, sample.command_buffer_id, index))
      return;
   sample.scope = IREE_HAL_PROFILE_COUNTER_SAMPLE_SCOPE_DISPATCH;
   sample.sample_id = ++profile->next_sample;
   if (profile->families & IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS) {
      sample.flags |= IREE_HAL_PROFILE_COUNTER_SAMPLE_FLAG_DISPATCH_EVENT;
      sample.dispatch_event_id = profile->last_dispatch;
   }
   if (sample.command_buffer_id)
      sample.command_index = index;
   sample.submission_id = record->submission;
   sample.executable_id = note->executable->profile_id;
   sample.function_ordinal = note->function;
   sample.stream_id = stream_of(record->queue);
   sample.start_tick = record->start_ns;
   sample.end_tick = record->end_ns;
   sample.physical_device_ordinal = 0;
   sample.queue_ordinal = record->queue;
   agx_iree_counters_sample(&profile->counters, record, sample, put_by_counters, profile);
}

static void put_memory(struct agx_iree_profile *profile, const struct agx_profile_record *record)
{
   iree_hal_profile_memory_event_t event = iree_hal_profile_memory_event_default();
   event.type = record->kind == AGX_PROFILE_RECORD_ALLOCATE
                   ? IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_ALLOCATE
                   : IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_FREE;
   event.event_id = ++profile->next_event;
   event.host_time_ns = (int64_t)record->start_ns + profile->to_host_ns;
   event.allocation_id = record->address;
   event.physical_device_ordinal = 0;
   event.length = record->size_B;
   put(profile, IREE_HAL_PROFILE_CONTENT_TYPE_MEMORY_EVENTS, UINT32_MAX, &event, sizeof(event));
}

static void on_record(void *user, const struct agx_profile_record *record)
{
   struct agx_iree_profile *profile = user;
   iree_slim_mutex_lock(&profile->mutex);
   switch (record->kind) {
   case AGX_PROFILE_RECORD_QUEUE:
      put_queue(profile, record);
      break;
   case AGX_PROFILE_RECORD_DEVICE_QUEUE:
      put_device_queue(profile, record);
      break;
   case AGX_PROFILE_RECORD_DISPATCH:
      put_dispatch(profile, record);
      break;
   case AGX_PROFILE_RECORD_COUNTERS:
      put_counters(profile, record);
      break;
   case AGX_PROFILE_RECORD_ALLOCATE:
   case AGX_PROFILE_RECORD_FREE:
      put_memory(profile, record);
      break;
   }
   iree_slim_mutex_unlock(&profile->mutex);
}

/* ---- session --------------------------------------------------------------- */

static const iree_hal_device_profiling_data_families_t all_families =
   IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS |
   IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS |
   IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS |
   IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS | IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES |
   IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_METADATA |
   IREE_HAL_DEVICE_PROFILING_DATA_MEMORY_EVENTS;

static void profile_free(struct agx_iree_profile *profile)
{
   for (uint32_t i = 0; i < profile->known_count; i++)
      agx_iree_notes_free(&profile->known[i].notes);
   free(profile->known);
   free(profile->executables);
   free(profile->pattern);
   agx_iree_notes_free(&profile->direct);
   iree_hal_profile_sink_release(profile->sink);
   iree_slim_mutex_deinitialize(&profile->mutex);
   iree_status_ignore(profile->failure);
   free(profile);
}

static iree_status_t begin_core(struct agx_iree_profile *profile,
                                const iree_hal_device_profiling_options_t *options)
{
   const iree_hal_profile_capture_filter_t *filter = &options->capture_filter;
   struct agx_profile_desc desc = {.size = sizeof(desc), .fn = on_record, .user = profile};
   if (profile->families & (IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS |
                            IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS))
      desc.families |= AGX_PROFILE_QUEUE;
   if (profile->families & IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS)
      desc.families |= AGX_PROFILE_DEVICE_QUEUE;
   if (profile->families & IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS)
      desc.families |= AGX_PROFILE_DISPATCH;
   if (profile->families & IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES)
      desc.families |= AGX_PROFILE_COUNTERS;
   if (profile->families & IREE_HAL_DEVICE_PROFILING_DATA_MEMORY_EVENTS)
      desc.families |= AGX_PROFILE_MEMORY;
   if (filter->flags & IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_EXECUTABLE_FUNCTION_PATTERN) {
      const iree_string_view_t pattern = filter->executable_function_pattern;
      profile->pattern = strndup(pattern.data, pattern.size);
      desc.filter.function = profile->pattern;
   }
   return agx_iree_status(agx_profile_begin(profile->device->core, &desc));
}

iree_status_t agx_iree_profiling_begin(iree_hal_device_t *base,
                                       const iree_hal_device_profiling_options_t *options)
{
   static iree_atomic_int64_t next_session = IREE_ATOMIC_VAR_INIT(1);
   struct agx_iree_device *device = (struct agx_iree_device *)base;
   if (options->data_families & ~all_families)
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                              "profiling: families 0x%" PRIx64 " of data can't be recorded",
                              options->data_families & ~all_families);
   if (device->profile)
      return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "profiling: there is a session");
   struct agx_iree_profile *profile = calloc(1, sizeof(*profile));
   if (!profile)
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "profiling: no host memory");
   iree_slim_mutex_initialize(&profile->mutex);
   profile->device = device;
   profile->sink = options->sink;
   iree_hal_profile_sink_retain(profile->sink);
   profile->families = options->data_families;
   profile->filter = options->capture_filter;
   profile->session_id =
      (uint64_t)iree_atomic_fetch_add(&next_session, 1, iree_memory_order_relaxed);
   profile->to_host_ns = iree_time_now() - monotonic_ns();
   if (!profile->families) /* IREE's lightweight statistics */
      profile->families = IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS |
                          IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS;
   iree_status_t status = agx_iree_counters_select(options, &profile->counters);
   if (iree_status_is_ok(status))
      status = begin_core(profile, options);
   if (!iree_status_is_ok(status)) {
      profile_free(profile);
      return status;
   }
   iree_hal_profile_chunk_metadata_t metadata = iree_hal_profile_chunk_metadata_default();
   metadata.content_type = IREE_HAL_PROFILE_CONTENT_TYPE_SESSION;
   metadata.session_id = profile->session_id;
   status = iree_hal_profile_sink_begin_session(profile->sink, &metadata);
   if (!iree_status_is_ok(status)) {
      iree_status_ignore(agx_iree_status(agx_profile_end(device->core)));
      profile_free(profile);
      return status;
   }
   iree_slim_mutex_lock(&profile->mutex);
   put_devices(profile);
   put_clock(profile);
   iree_slim_mutex_unlock(&profile->mutex);
   device->profile = profile;
   return iree_ok_status();
}

/* The sink's first failure, or the core's. */
static iree_status_t take_failure(struct agx_iree_profile *profile, iree_status_t status)
{
   iree_slim_mutex_lock(&profile->mutex);
   put_clock(profile);
   if (iree_status_is_ok(status)) {
      status = profile->failure;
      profile->failure = iree_ok_status();
   }
   iree_slim_mutex_unlock(&profile->mutex);
   return status;
}

iree_status_t agx_iree_profiling_flush(iree_hal_device_t *base)
{
   struct agx_iree_device *device = (struct agx_iree_device *)base;
   if (!device->profile)
      return iree_ok_status();
   return take_failure(device->profile, agx_iree_status(agx_profile_flush(device->core)));
}

iree_status_t agx_iree_profiling_end(iree_hal_device_t *base)
{
   struct agx_iree_device *device = (struct agx_iree_device *)base;
   struct agx_iree_profile *profile = device->profile;
   if (!profile)
      return iree_ok_status();
   iree_status_t status = take_failure(profile, agx_iree_status(agx_profile_end(device->core)));
   iree_hal_profile_chunk_metadata_t metadata = iree_hal_profile_chunk_metadata_default();
   metadata.content_type = IREE_HAL_PROFILE_CONTENT_TYPE_SESSION;
   metadata.session_id = profile->session_id;
   iree_status_t ended =
      iree_hal_profile_sink_end_session(profile->sink, &metadata, iree_status_code(status));
   device->profile = NULL;
   profile_free(profile);
   return iree_status_join(status, ended);
}
