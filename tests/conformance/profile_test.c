/* SPDX-License-Identifier: MIT */
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

static void note(void *user, const struct agx_profile_record *record)
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

static struct agx_profile_desc desc_of(struct told *told, uint64_t families)
{
   *told = (struct told){0};
   return (struct agx_profile_desc){
      .size = sizeof(struct agx_profile_desc), .families = families, .fn = note, .user = told};
}

static void begin(struct fixture *f, struct told *told, uint64_t families)
{
   struct agx_profile_desc desc = desc_of(told, families);
   assert_ok(agx_profile_begin(f->device, &desc));
}

static uint32_t count_kind(const struct told *told, uint32_t kind)
{
   uint32_t count = 0;
   assert_true(told->count <= MAX_RECORDS);
   for (uint32_t i = 0; i < told->count; i++)
      count += told->records[i].kind == kind;
   return count;
}

/* The nth record of a kind. */
static const struct agx_profile_record *find(const struct told *told, uint32_t kind, uint32_t n)
{
   for (uint32_t i = 0; i < told->count && i < MAX_RECORDS; i++)
      if (told->records[i].kind == kind && n-- == 0)
         return &told->records[i];
   fail_msg("no such record of kind %u", kind);
   return NULL;
}

static uint64_t now_ns(void)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A device with a kernel that adds, and where it adds from and to. */
struct scene {
   struct fixture *f;
   struct agx_executable *add, *count;
   struct agx_buffer *buffers[2];
   uint32_t *words[2];
   uint64_t begun_ns;
};

static void set(struct scene *s, void **state)
{
   s->f = conformance_device(state);
   s->add = fixture_kernel(s->f, &agx_test_add);
   s->count = fixture_kernel(s->f, &agx_test_count);
   for (int i = 0; i < 2; i++)
      s->buffers[i] = fixture_buffer(s->f, 256, &s->words[i]);
   s->begun_ns = now_ns();
}

static void strike(struct scene *s)
{
   agx_release(s->add);
   agx_release(s->count);
   for (int i = 0; i < 2; i++)
      agx_release(s->buffers[i]);
}

static struct agx_command_buffer *start(struct scene *s, const char *label)
{
   struct agx_command_buffer_desc desc = {.size = sizeof(desc), .label = label};
   struct agx_command_buffer *commands = NULL;
   assert_ok(agx_command_buffer_create(s->f->device, &desc, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   return commands;
}

static void add(struct scene *s, struct agx_command_buffer *commands, uint32_t amount)
{
   fixture_dispatch(commands, s->add, 1, s->buffers, 2, &amount, 4);
}

static void count(struct scene *s, struct agx_command_buffer *commands)
{
   fixture_dispatch(commands, s->count, 1, s->buffers, 1, NULL, 0);
}

/* Within the test, by the host's clock. A device's clock is compared to that when the session
 * begins and seldom after it, so some drift is allowed for. */
static void assert_times(const struct scene *s, const struct agx_profile_record *record)
{
   const uint64_t drift_ns = 1000000;
   assert_true(record->start_ns <= record->end_ns);
   assert_true(record->start_ns + drift_ns >= s->begun_ns);
   assert_true(record->end_ns <= now_ns() + drift_ns);
}

/* ---- cases of the reference ------------------------------------------- */

static void dispatch_profiling_records_command_buffer_dispatch(void **state)
{
   struct scene s;
   struct told told;
   set(&s, state);
   begin(s.f, &told, AGX_PROFILE_DISPATCH);
   struct agx_command_buffer *commands = start(&s, "layer");
   add(&s, commands, 7);
   conformance_run(s.f, commands);
   assert_ok(agx_profile_flush(s.f->device));
   assert_int_equal(told.count, 1);
   const struct agx_profile_record *it = &told.records[0];
   assert_int_equal(it->kind, AGX_PROFILE_RECORD_DISPATCH);
   assert_string_equal(it->name, "add");
   assert_string_equal(it->label, "layer");
   assert_int_equal(it->command_buffer, agx_command_buffer_profile_id(commands));
   assert_int_equal(it->command_index, 0);
   assert_int_equal(it->queue, 0);
   assert_int_equal(it->workgroups[0], 1);
   assert_int_equal(it->granularity, AGX_PROFILE_ONE_DISPATCH);
   assert_int_equal(it->span_count, 1);
   assert_times(&s, it);
   assert_ok(agx_profile_end(s.f->device));
   assert_int_equal(s.words[1][31], 7);
   agx_release(commands);
   strike(&s);
}

static void multi_dispatch_profiling_filters_command_index(void **state)
{
   struct scene s;
   struct told told;
   set(&s, state);
   struct agx_profile_desc desc = desc_of(&told, AGX_PROFILE_DISPATCH);
   desc.filter.has_command_index = true;
   desc.filter.command_index = 1;
   assert_ok(agx_profile_begin(s.f->device, &desc));
   struct agx_command_buffer *commands = start(&s, NULL);
   count(&s, commands);
   assert_ok(agx_cmd_barrier(commands, NULL));
   add(&s, commands, 5);
   assert_ok(agx_cmd_barrier(commands, NULL));
   count(&s, commands);
   conformance_run(s.f, commands);
   assert_ok(agx_profile_end(s.f->device));
   assert_int_equal(told.count, 1);
   assert_int_equal(told.records[0].command_index, 1);
   assert_int_equal(told.records[0].granularity, AGX_PROFILE_ONE_DISPATCH);
   assert_int_equal(s.words[1][0], 6);
   assert_int_equal(s.words[1][31], 37);
   agx_release(commands);
   strike(&s);
}

static void dispatch_with_constants_and_bindings_while_profiling(void **state)
{
   static const uint64_t families[] = {
      AGX_PROFILE_QUEUE,
      AGX_PROFILE_DEVICE_QUEUE,
      AGX_PROFILE_DISPATCH,
      AGX_PROFILE_HOST | AGX_PROFILE_MEMORY,
      AGX_PROFILE_QUEUE | AGX_PROFILE_DEVICE_QUEUE | AGX_PROFILE_DISPATCH | AGX_PROFILE_HOST |
         AGX_PROFILE_MEMORY,
   };
   struct scene s;
   struct told told;
   set(&s, state);
   for (uint32_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
      begin(s.f, &told, families[i]);
      struct agx_command_buffer *commands = start(&s, NULL);
      count(&s, commands);
      assert_ok(agx_cmd_barrier(commands, NULL));
      add(&s, commands, 100 + i);
      conformance_run(s.f, commands);
      assert_int_equal(s.words[1][3], 104 + i);
      agx_release(commands);
      assert_ok(agx_profile_end(s.f->device));
      assert_true(told.count > 0);
   }
   strike(&s);
}

static void dispatch_host_queue_event_profiling(void **state)
{
   struct scene s;
   struct told told;
   set(&s, state);
   begin(s.f, &told, AGX_PROFILE_QUEUE);
   struct agx_semaphore *go = fixture_semaphore(s.f), *done = fixture_semaphore(s.f);
   struct agx_command_buffer *commands = start(&s, "parked");
   add(&s, commands, 1);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(s.f, commands, conformance_point(go, 1), conformance_point(done, 1)));
   uint64_t parked_ns = now_ns();
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(done, 1));
   assert_ok(agx_profile_flush(s.f->device));
   assert_int_equal(told.count, 1);
   const struct agx_profile_record *it = find(&told, AGX_PROFILE_RECORD_QUEUE, 0);
   assert_string_equal(it->name, "execute");
   assert_string_equal(it->label, "parked");
   assert_int_equal(it->operation, AGX_OP_EXECUTE);
   assert_int_equal(it->status, AGX_OK);
   assert_int_equal(it->granularity, AGX_PROFILE_HOST_TIME);
   assert_true(it->submission > 0);
   assert_times(&s, it);
   assert_true(it->submitted_ns <= parked_ns);
   assert_true(it->start_ns >= parked_ns);
   assert_ok(agx_profile_end(s.f->device));
   agx_release(go);
   agx_release(done);
   agx_release(commands);
   strike(&s);
}

static void dispatch_device_queue_event_profiling(void **state)
{
   struct scene s;
   struct told told;
   set(&s, state);
   begin(s.f, &told, AGX_PROFILE_DEVICE_QUEUE);
   struct agx_command_buffer *commands = start(&s, "layer");
   add(&s, commands, 1);
   add(&s, commands, 2);
   conformance_run(s.f, commands);
   assert_ok(agx_profile_end(s.f->device));
   assert_int_equal(told.count, 1);
   const struct agx_profile_record *it = &told.records[0];
   assert_int_equal(it->kind, AGX_PROFILE_RECORD_DEVICE_QUEUE);
   assert_int_equal(it->granularity, AGX_PROFILE_SUBMISSION);
   assert_int_equal(it->span_count, 2);
   assert_times(&s, it);
   agx_release(commands);
   strike(&s);
}

static void dispatch_profile_filters_choose_dispatches(void **state)
{
   struct scene s;
   struct told told;
   set(&s, state);
   struct agx_command_buffer *one = start(&s, "one"), *other = start(&s, "other");
   add(&s, one, 1);
   add(&s, other, 2);
   count(&s, other);
   struct agx_profile_desc desc =
      desc_of(&told, AGX_PROFILE_DISPATCH | AGX_PROFILE_QUEUE | AGX_PROFILE_DEVICE_QUEUE);
   desc.filter.command_buffer = agx_command_buffer_profile_id(other);
   desc.filter.function = "a?*";
   assert_ok(agx_profile_begin(s.f->device, &desc));
   conformance_run(s.f, one);
   conformance_run(s.f, other);
   assert_ok(agx_profile_end(s.f->device));
   assert_int_equal(count_kind(&told, AGX_PROFILE_RECORD_QUEUE), 2);
   assert_int_equal(count_kind(&told, AGX_PROFILE_RECORD_DEVICE_QUEUE), 2);
   assert_int_equal(count_kind(&told, AGX_PROFILE_RECORD_DISPATCH), 1);
   assert_string_equal(find(&told, AGX_PROFILE_RECORD_DISPATCH, 0)->label, "other");
   assert_string_equal(find(&told, AGX_PROFILE_RECORD_DISPATCH, 0)->name, "add");
   /* Of another queue, nothing. */
   desc = desc_of(&told, AGX_PROFILE_DISPATCH | AGX_PROFILE_QUEUE);
   desc.filter.queues = 2;
   assert_ok(agx_profile_begin(s.f->device, &desc));
   struct agx_semaphore *done = fixture_semaphore(s.f);
   assert_ok(fixture_submit(s.f, one, NO_POINT, conformance_point(done, 1)));
   assert_ok(fixture_wait(done, 1));
   assert_ok(agx_profile_end(s.f->device));
   assert_int_equal(told.count, 0);
   agx_release(done);
   agx_release(one);
   agx_release(other);
   strike(&s);
}

static void dispatch_profile_filter_can_skip_direct_dispatch_events(void **state)
{
   struct scene s;
   struct told told;
   set(&s, state);
   struct agx_semaphore *done = fixture_semaphore(s.f);
   struct agx_command_buffer *commands = start(&s, "one");
   struct agx_binding binding = {.ref = {s.buffers[0], 0, AGX_WHOLE_LENGTH}};
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = s.count,
                                   .workgroups = {1, 1, 1},
                                   .binding_count = 1,
                                   .bindings = &binding};
   struct agx_point signal = conformance_point(done, 1);
   struct agx_op op = {.size = sizeof(op),
                       .kind = AGX_OP_DISPATCH,
                       .signals = &signal,
                       .signal_count = 1,
                       .u.dispatch = {&dispatch}};
   begin(s.f, &told, AGX_PROFILE_DISPATCH);
   assert_ok(agx_submit(s.f->device, &op, 1, NULL));
   assert_ok(fixture_wait(done, 1));
   assert_ok(agx_profile_end(s.f->device));
   assert_int_equal(told.count, 1);
   assert_string_equal(told.records[0].name, "count");
   assert_int_equal(told.records[0].operation, AGX_OP_DISPATCH);
   assert_int_equal(told.records[0].command_buffer, 0);
   struct agx_profile_desc desc = desc_of(&told, AGX_PROFILE_DISPATCH);
   desc.filter.command_buffer = agx_command_buffer_profile_id(commands);
   assert_ok(agx_profile_begin(s.f->device, &desc));
   signal.value = 2;
   assert_ok(agx_submit(s.f->device, &op, 1, NULL));
   assert_ok(fixture_wait(done, 2));
   assert_ok(agx_profile_end(s.f->device));
   assert_int_equal(told.count, 0);
   agx_release(done);
   agx_release(commands);
   strike(&s);
}

static void fill_and_copy_host_queue_event_profiling(void **state)
{
   struct scene s;
   struct told told;
   set(&s, state);
   struct agx_semaphore *done = fixture_semaphore(s.f);
   struct agx_point points[] = {conformance_point(done, 1), conformance_point(done, 2)};
   struct agx_op ops[] = {
      {.size = sizeof(ops[0]),
       .kind = AGX_OP_FILL,
       .signals = &points[0],
       .signal_count = 1,
       .u.fill = {{s.buffers[0], 0, 256}, {1, 2, 3, 4}, 4}},
      {.size = sizeof(ops[0]),
       .kind = AGX_OP_COPY,
       .waits = &points[0],
       .wait_count = 1,
       .signals = &points[1],
       .signal_count = 1,
       .u.copy = {{s.buffers[0], 0, 128}, {s.buffers[1], 64, 128}}},
   };
   begin(s.f, &told, AGX_PROFILE_QUEUE);
   assert_ok(agx_submit(s.f->device, ops, 2, NULL));
   assert_ok(fixture_wait(done, 2));
   assert_ok(agx_profile_flush(s.f->device));
   assert_int_equal(told.count, 2);
   assert_string_equal(told.records[0].name, "fill");
   assert_int_equal(told.records[0].operation, AGX_OP_FILL);
   assert_string_equal(told.records[1].name, "copy");
   assert_int_equal(told.records[1].operation, AGX_OP_COPY);
   assert_true(told.records[0].submission < told.records[1].submission);
   for (int i = 0; i < 2; i++)
      assert_times(&s, &told.records[i]);
   assert_ok(agx_profile_end(s.f->device));
   assert_int_equal(s.words[1][15], 0);
   assert_int_equal(s.words[1][16], 0x04030201);
   agx_release(done);
   strike(&s);
}

/* Debug labels show where in a command buffer a dispatch stands. */
static void labels_are_told(void **state)
{
   struct scene s;
   struct told told;
   set(&s, state);
   begin(s.f, &told, AGX_PROFILE_DISPATCH);
   struct agx_command_buffer *commands = start(&s, "net");
   count(&s, commands);
   assert_ok(agx_cmd_begin_label(commands, "layer 1", 0));
   assert_ok(agx_cmd_begin_label(commands, "gemm", 0));
   count(&s, commands);
   count(&s, commands);
   assert_ok(agx_cmd_end_label(commands));
   add(&s, commands, 1);
   assert_ok(agx_cmd_end_label(commands));
   conformance_run(s.f, commands);
   assert_ok(agx_profile_end(s.f->device));
   static const char *const labels[] = {"net", "net/layer 1/gemm", "net/layer 1/gemm",
                                        "net/layer 1"};
   assert_int_equal(told.count, 4);
   for (uint32_t i = 0; i < 4; i++)
      assert_string_equal(told.records[i].label, labels[i]);
   agx_release(commands);
   strike(&s);
}

/* Bound by a table, a command buffer runs as another one, and is told of as itself. */
static void tables_are_told_as_their_command_buffer(void **state)
{
   struct scene s;
   struct told told;
   set(&s, state);
   struct agx_command_buffer_desc desc = {.size = sizeof(desc), .label = "net", .table_slots = 1};
   struct agx_command_buffer *commands = NULL;
   assert_ok(agx_command_buffer_create(s.f->device, &desc, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   const struct agx_binding binding = {.ref = {.length_B = AGX_WHOLE_LENGTH, .table_slot = 1}};
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = s.count,
                                         .workgroups = {1, 1, 1},
                                         .binding_count = 1,
                                         .bindings = &binding};
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_command_buffer_end(commands));
   begin(s.f, &told, AGX_PROFILE_DISPATCH);
   struct agx_semaphore *done = fixture_semaphore(s.f);
   for (uint64_t i = 0; i < 2; i++) {
      const struct agx_buffer_ref table = {s.buffers[i], 0, AGX_WHOLE_LENGTH};
      const struct agx_point signal = conformance_point(done, i + 1);
      const struct agx_op op = {.size = sizeof(op),
                                .kind = AGX_OP_EXECUTE,
                                .signals = &signal,
                                .signal_count = 1,
                                .u.execute = {commands, &table, 1}};
      assert_ok(agx_submit(s.f->device, &op, 1, NULL));
   }
   assert_ok(fixture_wait(done, 2));
   assert_ok(agx_profile_end(s.f->device));
   assert_int_equal(told.count, 2);
   for (uint32_t i = 0; i < 2; i++) {
      assert_int_equal(told.records[i].command_buffer, agx_command_buffer_profile_id(commands));
      assert_string_equal(told.records[i].label, "net");
      assert_int_equal(s.words[i][63], 64);
   }
   agx_release(done);
   agx_release(commands);
   strike(&s);
}

/* ---- sessions ------------------------------------------------------------- */

static void sessions_are_checked(void **state)
{
   struct fixture *f = conformance_device(state);
   struct told told;
   struct agx_profile_desc desc = desc_of(&told, AGX_PROFILE_QUEUE);
   assert_fails(agx_profile_end(f->device), AGX_FAILED_PRECONDITION, "without a session");
   assert_fails(agx_profile_flush(f->device), AGX_FAILED_PRECONDITION, "without a session");
   desc.families |= AGX_PROFILE_TRACES;
   assert_fails(agx_profile_begin(f->device, &desc), AGX_UNIMPLEMENTED, "traces");
   desc.families = AGX_PROFILE_METRICS;
   assert_fails(agx_profile_begin(f->device, &desc), AGX_UNIMPLEMENTED, "metrics");
   desc.families = AGX_PROFILE_QUEUE | UINT64_C(1) << 40;
   assert_fails(agx_profile_begin(f->device, &desc), AGX_UNIMPLEMENTED, "0x10000000000");
   desc.families = AGX_PROFILE_QUEUE;
   desc.flags = 8;
   assert_fails(agx_profile_begin(f->device, &desc), AGX_INVALID_ARGUMENT, "0x8");
   desc.flags = 0;
   desc.fn = NULL;
   assert_fails(agx_profile_begin(f->device, &desc), AGX_INVALID_ARGUMENT, "neither");
   desc.path = "/nowhere/at/all";
   assert_fails(agx_profile_begin(f->device, &desc), AGX_NOT_FOUND, "/nowhere/at/all");
   desc.path = NULL;
   desc.families = 0; /* nothing to record, and nobody to tell */
   assert_ok(agx_profile_begin(f->device, &desc));
   assert_fails(agx_profile_begin(f->device, &desc), AGX_FAILED_PRECONDITION, "already");
   struct agx_command_buffer *commands = fixture_begin(f);
   conformance_run(f, commands);
   agx_release(commands);
   assert_ok(agx_profile_flush(f->device));
   assert_ok(agx_profile_end(f->device));
   assert_int_equal(told.count, 0);
}

static void ids_are_never_given_twice(void **state)
{
   struct fixture *f = conformance_device(state);
   uint64_t last = 0;
   for (int i = 0; i < 4; i++) {
      struct agx_command_buffer *commands = fixture_begin(f);
      uint64_t id = agx_command_buffer_profile_id(commands);
      assert_true(id > last);
      assert_int_equal(agx_command_buffer_profile_id(commands), id);
      last = id;
      agx_release(commands);
   }
}

/* Operations that never reach the GPU, and one that fails. */
static void operations_of_the_host_are_recorded(void **state)
{
   struct fixture *f = conformance_device(state);
   struct told told;
   begin(f, &told, AGX_PROFILE_QUEUE | AGX_PROFILE_DISPATCH);
   struct agx_semaphore *go = fixture_semaphore(f), *done = fixture_semaphore(f);
   assert_ok(fixture_submit(f, NULL, NO_POINT, conformance_point(done, 1)));
   assert_ok(fixture_submit(f, NULL, conformance_point(go, 1), conformance_point(done, 2)));
   agx_semaphore_fail(go, AGX_ABORTED, "pulled the plug");
   assert_fails(fixture_wait(done, 2), AGX_ABORTED, "plug");
   assert_ok(agx_profile_end(f->device));
   assert_int_equal(told.count, 2);
   assert_string_equal(find(&told, AGX_PROFILE_RECORD_QUEUE, 0)->name, "barrier");
   assert_int_equal(find(&told, AGX_PROFILE_RECORD_QUEUE, 0)->status, AGX_OK);
   assert_int_equal(find(&told, AGX_PROFILE_RECORD_QUEUE, 1)->status, AGX_ABORTED);
   agx_release(go);
   agx_release(done);
}

/* What is under way when a session ends goes on, and is not told of. */
static void a_session_may_end_early(void **state)
{
   struct scene s;
   struct told told;
   set(&s, state);
   struct agx_semaphore *go = fixture_semaphore(s.f), *done = fixture_semaphore(s.f);
   struct agx_command_buffer *commands = start(&s, NULL);
   add(&s, commands, 3);
   assert_ok(agx_command_buffer_end(commands));
   begin(s.f, &told, AGX_PROFILE_QUEUE | AGX_PROFILE_DISPATCH);
   assert_ok(fixture_submit(s.f, commands, conformance_point(go, 1), conformance_point(done, 1)));
   assert_ok(agx_profile_end(s.f->device));
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(done, 1));
   assert_int_equal(told.count, 0);
   assert_int_equal(s.words[1][0], 3);
   agx_release(go);
   agx_release(done);
   agx_release(commands);
   strike(&s);
}

/* ---- granularity ---------------------------------------------------------- */

/* More dispatches than the kernel takes commands: each is told of, with how many it was timed. */
static void many_dispatches_are_timed_together(void **state)
{
   enum {
      COUNT = 150
   };
   struct scene s;
   struct told told;
   set(&s, state);
   begin(s.f, &told, AGX_PROFILE_DISPATCH);
   struct agx_command_buffer *commands = start(&s, NULL);
   for (uint32_t i = 0; i < COUNT; i++) {
      struct agx_buffer *from_to[2] = {s.buffers[i % 2], s.buffers[(i + 1) % 2]};
      uint32_t one = 1;
      fixture_dispatch(commands, s.add, 1, from_to, 2, &one, 4);
      assert_ok(agx_cmd_barrier(commands, NULL));
   }
   conformance_run(s.f, commands);
   assert_ok(agx_profile_end(s.f->device));
   assert_int_equal(told.count, COUNT);
   for (uint32_t i = 0; i < COUNT; i++) {
      const struct agx_profile_record *it = &told.records[i];
      assert_int_equal(it->command_index, i);
      assert_int_equal(it->granularity, AGX_PROFILE_SPAN);
      assert_int_equal(it->span_count, 3);
      assert_int_equal(it->span_index, i % 3);
      assert_times(&s, it);
      assert_true(i < 3 || it->start_ns >= told.records[i - 3].end_ns);
   }
   assert_int_equal(s.words[0][9], COUNT);
   agx_release(commands);
   strike(&s);
}

static void overlap_can_be_kept(void **state)
{
   struct scene s;
   struct told told;
   set(&s, state);
   struct agx_profile_desc desc = desc_of(&told, AGX_PROFILE_DISPATCH);
   desc.flags = AGX_PROFILE_KEEP_OVERLAP;
   assert_ok(agx_profile_begin(s.f->device, &desc));
   struct agx_command_buffer *commands = start(&s, NULL);
   static const uint32_t groups[] = {2, 1, 3};
   for (uint32_t i = 0; i < 3; i++) {
      for (uint32_t j = 0; j < groups[i]; j++)
         add(&s, commands, 4);
      assert_ok(agx_cmd_barrier(commands, NULL));
   }
   conformance_run(s.f, commands);
   assert_ok(agx_profile_end(s.f->device));
   assert_int_equal(told.count, 6);
   for (uint32_t i = 0, at = 0; i < 3; i++)
      for (uint32_t j = 0; j < groups[i]; j++, at++) {
         const struct agx_profile_record *it = &told.records[at];
         assert_int_equal(it->command_index, at);
         assert_int_equal(it->span_count, groups[i]);
         assert_int_equal(it->span_index, j);
         assert_int_equal(it->granularity,
                          groups[i] == 1 ? AGX_PROFILE_ONE_DISPATCH : AGX_PROFILE_SPAN);
      }
   agx_release(commands);
   strike(&s);
}

/* A command buffer that is in flight several times has times of each. */
static void submissions_are_told_apart(void **state)
{
   enum {
      COUNT = 40
   };
   struct scene s;
   struct told told;
   set(&s, state);
   begin(s.f, &told, AGX_PROFILE_DISPATCH | AGX_PROFILE_DEVICE_QUEUE);
   struct agx_semaphore *done = fixture_semaphore(s.f);
   struct agx_command_buffer *commands = start(&s, NULL);
   count(&s, commands);
   add(&s, commands, 4);
   assert_ok(agx_command_buffer_end(commands));
   for (uint64_t i = 1; i <= COUNT; i++)
      assert_ok(fixture_submit(s.f, commands, NO_POINT, conformance_point(done, i)));
   assert_ok(fixture_wait(done, COUNT));
   assert_ok(agx_profile_end(s.f->device));
   assert_int_equal(count_kind(&told, AGX_PROFILE_RECORD_DISPATCH), 2 * COUNT);
   assert_int_equal(count_kind(&told, AGX_PROFILE_RECORD_DEVICE_QUEUE), COUNT);
   for (uint32_t i = 0; i < COUNT; i++) {
      const struct agx_profile_record *whole = find(&told, AGX_PROFILE_RECORD_DEVICE_QUEUE, i);
      const struct agx_profile_record *first = find(&told, AGX_PROFILE_RECORD_DISPATCH, 2 * i);
      const struct agx_profile_record *last = find(&told, AGX_PROFILE_RECORD_DISPATCH, 2 * i + 1);
      assert_int_equal(first->submission, whole->submission);
      assert_int_equal(last->submission, whole->submission);
      assert_int_equal(first->start_ns, whole->start_ns);
      assert_int_equal(last->end_ns, whole->end_ns);
      assert_true(first->end_ns <= last->start_ns);
   }
   agx_release(done);
   agx_release(commands);
   strike(&s);
}

/* ---- other families ------------------------------------------------------- */

static void memory_is_recorded(void **state)
{
   struct fixture *f = conformance_device(state);
   struct told told;
   struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = 40000, .label = "weights"};
   struct agx_buffer_info info = {.size = sizeof(info)};
   struct agx_buffer *buffer = NULL;
   begin(f, &told, AGX_PROFILE_MEMORY);
   assert_ok(agx_profile_flush(f->device));
   uint32_t before = told.count; /* what there was */
   assert_true(before > 0);
   assert_int_equal(count_kind(&told, AGX_PROFILE_RECORD_ALLOCATE), before);
   uint64_t total_B = told.records[before - 1].total_B;
   assert_ok(agx_buffer_create(f->device, &desc, &buffer));
   agx_buffer_get_info(buffer, &info);
   agx_release(buffer);
   assert_ok(agx_profile_end(f->device));
   assert_true(told.count >= before + 1);
   const struct agx_profile_record *it = &told.records[before];
   assert_int_equal(it->kind, AGX_PROFILE_RECORD_ALLOCATE);
   assert_string_equal(it->name, "weights");
   assert_int_equal(it->size_B, 40000);
   assert_int_equal(it->address, info.address);
   assert_int_equal(it->total_B, total_B + 40000);
}

static void counters_are_recorded_where_there_are_some(void **state)
{
   struct scene s;
   struct told told;
   set(&s, state);
   struct agx_profile_desc desc = desc_of(&told, AGX_PROFILE_COUNTERS);
   agx_status status = agx_profile_begin(s.f->device, &desc);
   if (status != AGX_OK) {
      assert_int_equal(status, AGX_UNAVAILABLE);
      begin(s.f, &told, AGX_PROFILE_QUEUE); /* nothing was begun */
      assert_ok(agx_profile_end(s.f->device));
      strike(&s);
      return;
   }
   struct agx_command_buffer *commands = start(&s, NULL);
   count(&s, commands);
   assert_ok(agx_cmd_barrier(commands, NULL));
   add(&s, commands, 4);
   conformance_run(s.f, commands);
   assert_ok(agx_profile_end(s.f->device));
   assert_int_equal(told.count, 2);
   assert_string_equal(told.records[0].name, "count");
   assert_string_equal(told.records[1].name, "add");
   assert_int_equal(told.records[0].counter_count, told.records[1].counter_count);
   agx_release(commands);
   strike(&s);
}

/* ---- threads -------------------------------------------------------------- */

#define THREADS 4
#define ROUNDS  25

struct runner {
   struct scene *scene;
   bool is_right;
};

static void *run(void *argument)
{
   struct runner *runner = argument;
   struct scene *s = runner->scene;
   struct agx_semaphore *done = fixture_semaphore(s->f);
   runner->is_right = true;
   for (uint64_t i = 1; i <= ROUNDS && runner->is_right; i++) {
      struct agx_command_buffer *commands = fixture_begin(s->f);
      count(s, commands);
      runner->is_right =
         agx_command_buffer_end(commands) == AGX_OK &&
         fixture_submit(s->f, commands, NO_POINT, conformance_point(done, i)) == AGX_OK &&
         fixture_wait(done, i) == AGX_OK;
      if (i % 8 == 0)
         runner->is_right &= agx_profile_flush(s->f->device) == AGX_OK;
      agx_release(commands);
   }
   agx_release(done);
   return NULL;
}

static void threads_are_recorded_together(void **state)
{
   struct scene s;
   struct told told;
   struct runner runners[THREADS];
   pthread_t threads[THREADS];
   set(&s, state);
   begin(s.f, &told, AGX_PROFILE_QUEUE | AGX_PROFILE_DISPATCH | AGX_PROFILE_HOST);
   for (int i = 0; i < THREADS; i++) {
      runners[i] = (struct runner){&s, false};
      assert_int_equal(pthread_create(&threads[i], NULL, run, &runners[i]), 0);
   }
   for (int i = 0; i < THREADS; i++) {
      pthread_join(threads[i], NULL);
      assert_true(runners[i].is_right);
   }
   assert_ok(agx_profile_end(s.f->device));
   assert_int_equal(count_kind(&told, AGX_PROFILE_RECORD_QUEUE), THREADS * ROUNDS);
   assert_int_equal(count_kind(&told, AGX_PROFILE_RECORD_DISPATCH), THREADS * ROUNDS);
   strike(&s);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(dispatch_profiling_records_command_buffer_dispatch),
      cmocka_unit_test(multi_dispatch_profiling_filters_command_index),
      cmocka_unit_test(dispatch_with_constants_and_bindings_while_profiling),
      cmocka_unit_test(dispatch_host_queue_event_profiling),
      cmocka_unit_test(dispatch_device_queue_event_profiling),
      cmocka_unit_test(dispatch_profile_filters_choose_dispatches),
      cmocka_unit_test(dispatch_profile_filter_can_skip_direct_dispatch_events),
      cmocka_unit_test(fill_and_copy_host_queue_event_profiling),
      cmocka_unit_test(labels_are_told),
      cmocka_unit_test(tables_are_told_as_their_command_buffer),
      cmocka_unit_test(sessions_are_checked),
      cmocka_unit_test(ids_are_never_given_twice),
      cmocka_unit_test(operations_of_the_host_are_recorded),
      cmocka_unit_test(a_session_may_end_early),
      cmocka_unit_test(many_dispatches_are_timed_together),
      cmocka_unit_test(overlap_can_be_kept),
      cmocka_unit_test(submissions_are_told_apart),
      cmocka_unit_test(memory_is_recorded),
      cmocka_unit_test(counters_are_recorded_where_there_are_some),
      cmocka_unit_test(threads_are_recorded_together),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
