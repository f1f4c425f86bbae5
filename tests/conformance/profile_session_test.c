/* SPDX-License-Identifier: MIT
 *
 * Sessions of profiling: how they begin and end, how exact they are, from many threads.
 */
#include "profile_scene.h"

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
   desc.families = 0; /* nothing to record, and no function to call */
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
   struct profiled s;
   struct told told;
   profiled_begin(&s, state);
   struct agx_semaphore *go = fixture_semaphore(s.w.f), *done = fixture_semaphore(s.w.f);
   struct agx_command_buffer *commands = start(&s, NULL);
   add(&s, commands, 3);
   assert_ok(agx_command_buffer_end(commands));
   begin(s.w.f, &told, AGX_PROFILE_QUEUE | AGX_PROFILE_DISPATCH);
   assert_ok(fixture_submit(s.w.f, commands, conformance_point(go, 1), conformance_point(done, 1)));
   assert_ok(agx_profile_end(s.w.f->device));
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(done, 1));
   assert_int_equal(told.count, 0);
   assert_int_equal(s.w.words[1][0], 3);
   agx_release(go);
   agx_release(done);
   agx_release(commands);
   profiled_end(&s);
}

/* ---- granularity ---------------------------------------------------------- */

/* More dispatches than the kernel takes commands: each is told of, with how many it was timed. */
static void many_dispatches_are_timed_together(void **state)
{
   enum {
      COUNT = 150
   };
   struct profiled s;
   struct told told;
   profiled_begin(&s, state);
   begin(s.w.f, &told, AGX_PROFILE_DISPATCH);
   struct agx_command_buffer *commands = start(&s, NULL);
   for (uint32_t i = 0; i < COUNT; i++) {
      struct agx_buffer *from_to[2] = {s.w.buffers[i % 2], s.w.buffers[(i + 1) % 2]};
      uint32_t one = 1;
      fixture_dispatch(commands, s.w.add, 1, from_to, 2, &one, 4);
      assert_ok(agx_cmd_barrier(commands, NULL));
   }
   conformance_run(s.w.f, commands);
   assert_ok(agx_profile_end(s.w.f->device));
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
   assert_int_equal(s.w.words[0][9], COUNT);
   agx_release(commands);
   profiled_end(&s);
}

static void overlap_can_be_kept(void **state)
{
   struct profiled s;
   struct told told;
   profiled_begin(&s, state);
   struct agx_profile_desc desc = desc_of(&told, AGX_PROFILE_DISPATCH);
   desc.flags = AGX_PROFILE_KEEP_OVERLAP;
   assert_ok(agx_profile_begin(s.w.f->device, &desc));
   struct agx_command_buffer *commands = start(&s, NULL);
   static const uint32_t groups[] = {2, 1, 3};
   for (uint32_t i = 0; i < 3; i++) {
      for (uint32_t j = 0; j < groups[i]; j++)
         add(&s, commands, 4);
      assert_ok(agx_cmd_barrier(commands, NULL));
   }
   conformance_run(s.w.f, commands);
   assert_ok(agx_profile_end(s.w.f->device));
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
   profiled_end(&s);
}

/* A command buffer that is in flight several times has times of each. */
static void submissions_are_told_apart(void **state)
{
   enum {
      COUNT = 40
   };
   struct profiled s;
   struct told told;
   profiled_begin(&s, state);
   begin(s.w.f, &told, AGX_PROFILE_DISPATCH | AGX_PROFILE_DEVICE_QUEUE);
   struct agx_semaphore *done = fixture_semaphore(s.w.f);
   struct agx_command_buffer *commands = start(&s, NULL);
   count(&s, commands);
   add(&s, commands, 4);
   assert_ok(agx_command_buffer_end(commands));
   for (uint64_t i = 1; i <= COUNT; i++)
      assert_ok(fixture_submit(s.w.f, commands, NO_POINT, conformance_point(done, i)));
   assert_ok(fixture_wait(done, COUNT));
   assert_ok(agx_profile_end(s.w.f->device));
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
   profiled_end(&s);
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
   /* What there was; what the tests before released may go only now. */
   assert_true(told.count > 0);
   assert_int_equal(told.records[0].kind, AGX_PROFILE_RECORD_ALLOCATE);
   assert_ok(agx_buffer_create(f->device, &desc, &buffer));
   agx_buffer_get_info(buffer, &info);
   agx_release(buffer);
   assert_ok(agx_profile_end(f->device));
   const struct agx_profile_record *it = NULL;
   for (uint32_t i = 1; i < told.count && !it; i++)
      it = strcmp(told.records[i].name, "weights") == 0 ? &told.records[i] : NULL;
   assert_non_null(it);
   assert_int_equal(it->kind, AGX_PROFILE_RECORD_ALLOCATE);
   assert_int_equal(it->size_B, 40000);
   assert_int_equal(it->address, info.address);
   assert_int_equal(it->total_B, it[-1].total_B + 40000);
}

static void counters_are_recorded_where_there_are_some(void **state)
{
   struct profiled s;
   struct told told;
   profiled_begin(&s, state);
   struct agx_profile_desc desc = desc_of(&told, AGX_PROFILE_COUNTERS);
   agx_status status = agx_profile_begin(s.w.f->device, &desc);
   if (status != AGX_OK) {
      assert_int_equal(status, AGX_UNAVAILABLE);
      begin(s.w.f, &told, AGX_PROFILE_QUEUE); /* nothing was begun */
      assert_ok(agx_profile_end(s.w.f->device));
      profiled_end(&s);
      return;
   }
   struct agx_command_buffer *commands = start(&s, NULL);
   count(&s, commands);
   assert_ok(agx_cmd_barrier(commands, NULL));
   add(&s, commands, 4);
   conformance_run(s.w.f, commands);
   assert_ok(agx_profile_end(s.w.f->device));
   assert_int_equal(told.count, 2);
   assert_string_equal(told.records[0].name, "count");
   assert_string_equal(told.records[1].name, "add");
   assert_int_equal(told.records[0].counter_count, told.records[1].counter_count);
   agx_release(commands);
   profiled_end(&s);
}

/* ---- threads -------------------------------------------------------------- */

#define THREADS 4
#define ROUNDS  25

struct runner {
   struct profiled *scene;
   bool is_right;
};

static void *run(void *argument)
{
   struct runner *runner = argument;
   struct profiled *s = runner->scene;
   struct agx_semaphore *done = fixture_semaphore(s->w.f);
   runner->is_right = true;
   for (uint64_t i = 1; i <= ROUNDS && runner->is_right; i++) {
      struct agx_command_buffer *commands = fixture_begin(s->w.f);
      count(s, commands);
      runner->is_right =
         agx_command_buffer_end(commands) == AGX_OK &&
         fixture_submit(s->w.f, commands, NO_POINT, conformance_point(done, i)) == AGX_OK &&
         fixture_wait(done, i) == AGX_OK;
      if (i % 8 == 0)
         runner->is_right &= agx_profile_flush(s->w.f->device) == AGX_OK;
      agx_release(commands);
   }
   agx_release(done);
   return NULL;
}

static void threads_are_recorded_together(void **state)
{
   struct profiled s;
   struct told told;
   struct runner runners[THREADS];
   pthread_t threads[THREADS];
   profiled_begin(&s, state);
   begin(s.w.f, &told, AGX_PROFILE_QUEUE | AGX_PROFILE_DISPATCH | AGX_PROFILE_HOST);
   for (int i = 0; i < THREADS; i++) {
      runners[i] = (struct runner){&s, false};
      assert_int_equal(pthread_create(&threads[i], NULL, run, &runners[i]), 0);
   }
   for (int i = 0; i < THREADS; i++) {
      pthread_join(threads[i], NULL);
      assert_true(runners[i].is_right);
   }
   assert_ok(agx_profile_end(s.w.f->device));
   assert_int_equal(count_kind(&told, AGX_PROFILE_RECORD_QUEUE), THREADS * ROUNDS);
   assert_int_equal(count_kind(&told, AGX_PROFILE_RECORD_DISPATCH), THREADS * ROUNDS);
   profiled_end(&s);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
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
