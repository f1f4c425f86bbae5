/* SPDX-License-Identifier: MIT
 *
 * A session that notes what it is told, and commands to record.
 */
#pragma once

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "conformance.h"

#define MAX_RECORDS 1024

#define NAME_BYTES 32

/* What a session told; names are good until its end only, so they are copied. */
struct told {
   struct agx_profile_record records[MAX_RECORDS];
   char names[MAX_RECORDS][2][NAME_BYTES];
   uint32_t count;
};

static inline void note(void *user, const struct agx_profile_record *record)
{
   struct told *told = user;
   assert_int_equal(record->size, sizeof(*record));
   uint32_t at = told->count++;
   if (at >= MAX_RECORDS)
      return;
   struct agx_profile_record *kept = &told->records[at];
   *kept = *record;
   snprintf(told->names[at][0], NAME_BYTES, "%s", record->name);
   snprintf(told->names[at][1], NAME_BYTES, "%s", record->label);
   kept->name = told->names[at][0];
   kept->label = told->names[at][1];
   kept->counters = NULL;
}

static inline struct agx_profile_desc desc_of(struct told *told, uint64_t families)
{
   *told = (struct told){0};
   return (struct agx_profile_desc){
      .size = sizeof(struct agx_profile_desc), .families = families, .fn = note, .user = told};
}

static inline void begin(struct fixture *f, struct told *told, uint64_t families)
{
   struct agx_profile_desc desc = desc_of(told, families);
   assert_ok(agx_profile_begin(f->device, &desc));
}

static inline uint32_t count_kind(const struct told *told, uint32_t kind)
{
   uint32_t count = 0;
   assert_true(told->count <= MAX_RECORDS);
   for (uint32_t i = 0; i < told->count; i++)
      count += told->records[i].kind == kind;
   return count;
}

/* The nth record of a kind. */
static inline const struct agx_profile_record *find(const struct told *told, uint32_t kind,
                                                    uint32_t n)
{
   for (uint32_t i = 0; i < told->count && i < MAX_RECORDS; i++)
      if (told->records[i].kind == kind && n-- == 0)
         return &told->records[i];
   fail_msg("no such record of kind %u", kind);
   return NULL;
}

static inline uint64_t now_ns(void)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct profiled {
   struct work w;
   uint64_t begun_ns;
};

static inline void profiled_begin(struct profiled *s, void **state)
{
   work_begin(&s->w, conformance_device(state));
   s->begun_ns = now_ns();
}

static inline void profiled_end(struct profiled *s)
{
   work_end(&s->w);
}

static inline struct agx_command_buffer *start(struct profiled *s, const char *label)
{
   struct agx_command_buffer_desc desc = {.size = sizeof(desc), .label = label};
   struct agx_command_buffer *commands = NULL;
   assert_ok(agx_command_buffer_create(s->w.f->device, &desc, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   return commands;
}

static inline void add(struct profiled *s, struct agx_command_buffer *commands, uint32_t amount)
{
   fixture_dispatch(commands, s->w.add, 1, s->w.buffers, 2, &amount, 4);
}

static inline void count(struct profiled *s, struct agx_command_buffer *commands)
{
   fixture_dispatch(commands, s->w.count, 1, s->w.buffers, 1, NULL, 0);
}

/* Within the test, by the host's clock. A device's clock is compared to that when the session
 * begins and seldom after it, so some drift is allowed for. */
static inline void assert_times(const struct profiled *s, const struct agx_profile_record *record)
{
   const uint64_t drift_ns = 1000000;
   assert_true(record->start_ns <= record->end_ns);
   assert_true(record->start_ns + drift_ns >= s->begun_ns);
   assert_true(record->end_ns <= now_ns() + drift_ns);
}
