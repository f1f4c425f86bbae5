/* SPDX-License-Identifier: MIT
 *
 * Counters in profiles: what each dispatch executed, on virtual devices. IREE selects them by sets
 * of names, says first what a set has, and then takes a sample of each set for a dispatch
 * (profile.c).
 */
#include <stdlib.h>
#include <string.h>

#include "profile.h"

/* What the core counts (docs/profiling.md). */
static const struct {
   const char *name;
   uint32_t unit;
   const char *description;
} known[] = {
   {"workgroups", IREE_HAL_PROFILE_COUNTER_UNIT_COUNT, "workgroups that ran"},
   {"threads", IREE_HAL_PROFILE_COUNTER_UNIT_COUNT, "threads that ran"},
   {"instructions", IREE_HAL_PROFILE_COUNTER_UNIT_COUNT, "instructions of SIMD-groups"},
   {"cycles", IREE_HAL_PROFILE_COUNTER_UNIT_CYCLES, "modelled cycles"},
   {"stall_cycles", IREE_HAL_PROFILE_COUNTER_UNIT_CYCLES, "of these, without an instruction"},
   {"waits", IREE_HAL_PROFILE_COUNTER_UNIT_COUNT, "instructions that wait for memory"},
   {"bytes", IREE_HAL_PROFILE_COUNTER_UNIT_BYTES, "bytes of memory accessed"},
   {"lines", IREE_HAL_PROFILE_COUNTER_UNIT_COUNT, "cache lines accessed"},
};

static iree_status_t find(iree_string_view_t name, uint32_t *out_index)
{
   for (uint32_t i = 0; i < IREE_ARRAYSIZE(known); i++) {
      if (iree_string_view_equal(name, iree_make_cstring_view(known[i].name))) {
         *out_index = i;
         return iree_ok_status();
      }
   }
   return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                           "profiling: no counter %.*s; workgroups, threads, instructions, cycles, "
                           "stall_cycles, waits, bytes and lines are counted",
                           (int)name.size, name.data);
}

iree_status_t agx_iree_counters_select(const iree_hal_device_profiling_options_t *options,
                                       struct agx_iree_counters *out_counters)
{
   *out_counters = (struct agx_iree_counters){0};
   if (options->counter_set_count > AGX_IREE_MAX_COUNTER_SETS)
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "profiling: %" PRIhsz " sets of counters, at most %d",
                              options->counter_set_count, AGX_IREE_MAX_COUNTER_SETS);
   for (iree_host_size_t i = 0; i < options->counter_set_count; i++) {
      const iree_hal_profile_counter_set_selection_t *from = &options->counter_sets[i];
      struct agx_iree_counter_set *set = &out_counters->sets[out_counters->set_count++];
      if (from->counter_name_count > AGX_IREE_MAX_SET_COUNTERS)
         return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                                 "profiling: %" PRIhsz " counters of a set, at most %d",
                                 from->counter_name_count, AGX_IREE_MAX_SET_COUNTERS);
      for (iree_host_size_t j = 0; j < from->counter_name_count; j++) {
         uint32_t index = 0;
         IREE_RETURN_IF_ERROR(find(from->counter_names[j], &index));
         set->counters[set->count++] = (uint8_t)index;
      }
   }
   return iree_ok_status();
}

/* A record and the texts behind it. */
struct chunk {
   uint8_t bytes[256];
   uint32_t size;
};

static void append(struct chunk *chunk, const void *data, uint32_t size)
{
   memcpy(chunk->bytes + chunk->size, data, size);
   chunk->size += size;
}

static void put_set(const struct agx_iree_counter_set *set, uint32_t number, agx_iree_put_fn put,
                    void *user)
{
   static const char name[] = "agx";
   struct chunk chunk = {.size = 0};
   iree_hal_profile_counter_set_record_t record = iree_hal_profile_counter_set_record_default();
   record.record_length = sizeof(record) + sizeof(name) - 1;
   record.counter_set_id = number + 1;
   record.physical_device_ordinal = 0;
   record.counter_count = set->count;
   record.sample_value_count = set->count;
   record.name_length = sizeof(name) - 1;
   append(&chunk, &record, sizeof(record));
   append(&chunk, name, sizeof(name) - 1);
   put(user, IREE_HAL_PROFILE_CONTENT_TYPE_COUNTER_SETS, chunk.bytes, chunk.size);
}

static void put_counter(uint32_t counter, uint32_t set, uint32_t at, agx_iree_put_fn put,
                        void *user)
{
   struct chunk chunk = {.size = 0};
   const uint32_t name_B = (uint32_t)strlen(known[counter].name);
   const uint32_t description_B = (uint32_t)strlen(known[counter].description);
   iree_hal_profile_counter_record_t record = iree_hal_profile_counter_record_default();
   record.record_length = (uint32_t)sizeof(record) + 3 + name_B + description_B;
   record.flags = IREE_HAL_PROFILE_COUNTER_FLAG_RAW;
   record.unit = known[counter].unit;
   record.physical_device_ordinal = 0;
   record.counter_set_id = set + 1;
   record.counter_ordinal = at;
   record.sample_value_offset = at;
   record.sample_value_count = 1;
   record.block_name_length = 3;
   record.name_length = name_B;
   record.description_length = description_B;
   append(&chunk, &record, sizeof(record));
   append(&chunk, "gpu", 3);
   append(&chunk, known[counter].name, name_B);
   append(&chunk, known[counter].description, description_B);
   put(user, IREE_HAL_PROFILE_CONTENT_TYPE_COUNTERS, chunk.bytes, chunk.size);
}

void agx_iree_counters_describe(const struct agx_iree_counters *counters, agx_iree_put_fn put,
                                void *user)
{
   for (uint32_t i = 0; i < counters->set_count; i++) {
      put_set(&counters->sets[i], i, put, user);
      for (uint32_t j = 0; j < counters->sets[i].count; j++)
         put_counter(counters->sets[i].counters[j], i, j, put, user);
   }
}

static uint64_t value_of(const struct agx_profile_record *record, const char *name)
{
   for (uint32_t i = 0; i < record->counter_count; i++) {
      if (strcmp(record->counters[i].name, name) == 0)
         return record->counters[i].value;
   }
   return 0;
}

void agx_iree_counters_sample(const struct agx_iree_counters *counters,
                              const struct agx_profile_record *record,
                              iree_hal_profile_counter_sample_record_t sample, agx_iree_put_fn put,
                              void *user)
{
   for (uint32_t i = 0; i < counters->set_count; i++) {
      const struct agx_iree_counter_set *set = &counters->sets[i];
      struct chunk chunk = {.size = 0};
      sample.record_length = (uint32_t)(sizeof(sample) + set->count * sizeof(uint64_t));
      sample.counter_set_id = i + 1;
      sample.sample_value_count = set->count;
      append(&chunk, &sample, sizeof(sample));
      for (uint32_t j = 0; j < set->count; j++) {
         const uint64_t value = value_of(record, known[set->counters[j]].name);
         append(&chunk, &value, sizeof(value));
      }
      put(user, IREE_HAL_PROFILE_CONTENT_TYPE_COUNTER_SAMPLES, chunk.bytes, chunk.size);
   }
}
