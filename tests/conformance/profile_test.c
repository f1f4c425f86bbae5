/* SPDX-License-Identifier: MIT
 *
 * Profiling: the cases of the reference suite, and what sessions of several families give.
 */
#include "profile_scene.h"

/* ---- cases of the reference ------------------------------------------- */

static void dispatch_profiling_records_command_buffer_dispatch(void **state)
{
   struct profiled s;
   struct told told;
   profiled_begin(&s, state);
   begin(s.w.f, &told, AGX_PROFILE_DISPATCH);
   struct agx_command_buffer *commands = start(&s, "layer");
   add(&s, commands, 7);
   conformance_run(s.w.f, commands);
   assert_ok(agx_profile_flush(s.w.f->device));
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
   assert_ok(agx_profile_end(s.w.f->device));
   assert_int_equal(s.w.words[1][31], 7);
   agx_release(commands);
   profiled_end(&s);
}

static void multi_dispatch_profiling_filters_command_index(void **state)
{
   struct profiled s;
   struct told told;
   profiled_begin(&s, state);
   struct agx_profile_desc desc = desc_of(&told, AGX_PROFILE_DISPATCH);
   desc.filter.has_command_index = true;
   desc.filter.command_index = 1;
   assert_ok(agx_profile_begin(s.w.f->device, &desc));
   struct agx_command_buffer *commands = start(&s, NULL);
   count(&s, commands);
   assert_ok(agx_cmd_barrier(commands, NULL));
   add(&s, commands, 5);
   assert_ok(agx_cmd_barrier(commands, NULL));
   count(&s, commands);
   conformance_run(s.w.f, commands);
   assert_ok(agx_profile_end(s.w.f->device));
   assert_int_equal(told.count, 1);
   assert_int_equal(told.records[0].command_index, 1);
   assert_int_equal(told.records[0].granularity, AGX_PROFILE_ONE_DISPATCH);
   assert_int_equal(s.w.words[1][0], 6);
   assert_int_equal(s.w.words[1][31], 37);
   agx_release(commands);
   profiled_end(&s);
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
   struct profiled s;
   struct told told;
   profiled_begin(&s, state);
   for (uint32_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
      begin(s.w.f, &told, families[i]);
      struct agx_command_buffer *commands = start(&s, NULL);
      count(&s, commands);
      assert_ok(agx_cmd_barrier(commands, NULL));
      add(&s, commands, 100 + i);
      conformance_run(s.w.f, commands);
      assert_int_equal(s.w.words[1][3], 104 + i);
      agx_release(commands);
      assert_ok(agx_profile_end(s.w.f->device));
      assert_true(told.count > 0);
   }
   profiled_end(&s);
}

static void dispatch_host_queue_event_profiling(void **state)
{
   struct profiled s;
   struct told told;
   profiled_begin(&s, state);
   begin(s.w.f, &told, AGX_PROFILE_QUEUE);
   struct agx_semaphore *go = fixture_semaphore(s.w.f), *done = fixture_semaphore(s.w.f);
   struct agx_command_buffer *commands = start(&s, "parked");
   add(&s, commands, 1);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(s.w.f, commands, conformance_point(go, 1), conformance_point(done, 1)));
   uint64_t parked_ns = now_ns();
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(done, 1));
   assert_ok(agx_profile_flush(s.w.f->device));
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
   assert_ok(agx_profile_end(s.w.f->device));
   agx_release(go);
   agx_release(done);
   agx_release(commands);
   profiled_end(&s);
}

static void dispatch_device_queue_event_profiling(void **state)
{
   struct profiled s;
   struct told told;
   profiled_begin(&s, state);
   begin(s.w.f, &told, AGX_PROFILE_DEVICE_QUEUE);
   struct agx_command_buffer *commands = start(&s, "layer");
   add(&s, commands, 1);
   add(&s, commands, 2);
   conformance_run(s.w.f, commands);
   assert_ok(agx_profile_end(s.w.f->device));
   assert_int_equal(told.count, 1);
   const struct agx_profile_record *it = &told.records[0];
   assert_int_equal(it->kind, AGX_PROFILE_RECORD_DEVICE_QUEUE);
   assert_int_equal(it->granularity, AGX_PROFILE_SUBMISSION);
   assert_int_equal(it->span_count, 2);
   assert_times(&s, it);
   agx_release(commands);
   profiled_end(&s);
}

static void dispatch_profile_filters_choose_dispatches(void **state)
{
   struct profiled s;
   struct told told;
   profiled_begin(&s, state);
   struct agx_command_buffer *one = start(&s, "one"), *other = start(&s, "other");
   add(&s, one, 1);
   add(&s, other, 2);
   count(&s, other);
   struct agx_profile_desc desc =
      desc_of(&told, AGX_PROFILE_DISPATCH | AGX_PROFILE_QUEUE | AGX_PROFILE_DEVICE_QUEUE);
   desc.filter.command_buffer = agx_command_buffer_profile_id(other);
   desc.filter.function = "a?*";
   assert_ok(agx_profile_begin(s.w.f->device, &desc));
   conformance_run(s.w.f, one);
   conformance_run(s.w.f, other);
   assert_ok(agx_profile_end(s.w.f->device));
   assert_int_equal(count_kind(&told, AGX_PROFILE_RECORD_QUEUE), 2);
   assert_int_equal(count_kind(&told, AGX_PROFILE_RECORD_DEVICE_QUEUE), 2);
   assert_int_equal(count_kind(&told, AGX_PROFILE_RECORD_DISPATCH), 1);
   assert_string_equal(find(&told, AGX_PROFILE_RECORD_DISPATCH, 0)->label, "other");
   assert_string_equal(find(&told, AGX_PROFILE_RECORD_DISPATCH, 0)->name, "add");
   /* Of another queue, nothing. */
   desc = desc_of(&told, AGX_PROFILE_DISPATCH | AGX_PROFILE_QUEUE);
   desc.filter.queues = 2;
   assert_ok(agx_profile_begin(s.w.f->device, &desc));
   struct agx_semaphore *done = fixture_semaphore(s.w.f);
   assert_ok(fixture_submit(s.w.f, one, NO_POINT, conformance_point(done, 1)));
   assert_ok(fixture_wait(done, 1));
   assert_ok(agx_profile_end(s.w.f->device));
   assert_int_equal(told.count, 0);
   agx_release(done);
   agx_release(one);
   agx_release(other);
   profiled_end(&s);
}

static void dispatch_profile_filter_can_skip_direct_dispatch_events(void **state)
{
   struct profiled s;
   struct told told;
   profiled_begin(&s, state);
   struct agx_semaphore *done = fixture_semaphore(s.w.f);
   struct agx_command_buffer *commands = start(&s, "one");
   struct agx_binding binding = {.ref = {s.w.buffers[0], 0, AGX_WHOLE_LENGTH}};
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = s.w.count,
                                   .workgroups = {1, 1, 1},
                                   .binding_count = 1,
                                   .bindings = &binding};
   struct agx_point signal = conformance_point(done, 1);
   struct agx_op op = {.size = sizeof(op),
                       .kind = AGX_OP_DISPATCH,
                       .signals = &signal,
                       .signal_count = 1,
                       .u.dispatch = {&dispatch}};
   begin(s.w.f, &told, AGX_PROFILE_DISPATCH);
   assert_ok(agx_submit(s.w.f->device, &op, 1, NULL));
   assert_ok(fixture_wait(done, 1));
   assert_ok(agx_profile_end(s.w.f->device));
   assert_int_equal(told.count, 1);
   assert_string_equal(told.records[0].name, "count");
   assert_int_equal(told.records[0].operation, AGX_OP_DISPATCH);
   assert_int_equal(told.records[0].command_buffer, 0);
   struct agx_profile_desc desc = desc_of(&told, AGX_PROFILE_DISPATCH);
   desc.filter.command_buffer = agx_command_buffer_profile_id(commands);
   assert_ok(agx_profile_begin(s.w.f->device, &desc));
   signal.value = 2;
   assert_ok(agx_submit(s.w.f->device, &op, 1, NULL));
   assert_ok(fixture_wait(done, 2));
   assert_ok(agx_profile_end(s.w.f->device));
   assert_int_equal(told.count, 0);
   agx_release(done);
   agx_release(commands);
   profiled_end(&s);
}

static void fill_and_copy_host_queue_event_profiling(void **state)
{
   struct profiled s;
   struct told told;
   profiled_begin(&s, state);
   struct agx_semaphore *done = fixture_semaphore(s.w.f);
   struct agx_point points[] = {conformance_point(done, 1), conformance_point(done, 2)};
   struct agx_op ops[] = {
      {.size = sizeof(ops[0]),
       .kind = AGX_OP_FILL,
       .signals = &points[0],
       .signal_count = 1,
       .u.fill = {{s.w.buffers[0], 0, 256}, {1, 2, 3, 4}, 4}},
      {.size = sizeof(ops[0]),
       .kind = AGX_OP_COPY,
       .waits = &points[0],
       .wait_count = 1,
       .signals = &points[1],
       .signal_count = 1,
       .u.copy = {{s.w.buffers[0], 0, 128}, {s.w.buffers[1], 64, 128}}},
   };
   begin(s.w.f, &told, AGX_PROFILE_QUEUE);
   assert_ok(agx_submit(s.w.f->device, ops, 2, NULL));
   assert_ok(fixture_wait(done, 2));
   assert_ok(agx_profile_flush(s.w.f->device));
   assert_int_equal(told.count, 2);
   assert_string_equal(told.records[0].name, "fill");
   assert_int_equal(told.records[0].operation, AGX_OP_FILL);
   assert_string_equal(told.records[1].name, "copy");
   assert_int_equal(told.records[1].operation, AGX_OP_COPY);
   assert_true(told.records[0].submission < told.records[1].submission);
   for (int i = 0; i < 2; i++)
      assert_times(&s, &told.records[i]);
   assert_ok(agx_profile_end(s.w.f->device));
   assert_int_equal(s.w.words[1][15], 0);
   assert_int_equal(s.w.words[1][16], 0x04030201);
   agx_release(done);
   profiled_end(&s);
}

/* Debug labels show where in a command buffer a dispatch stands. */
static void labels_are_told(void **state)
{
   struct profiled s;
   struct told told;
   profiled_begin(&s, state);
   begin(s.w.f, &told, AGX_PROFILE_DISPATCH);
   struct agx_command_buffer *commands = start(&s, "net");
   count(&s, commands);
   assert_ok(agx_cmd_begin_label(commands, "layer 1", 0));
   assert_ok(agx_cmd_begin_label(commands, "gemm", 0));
   count(&s, commands);
   count(&s, commands);
   assert_ok(agx_cmd_end_label(commands));
   add(&s, commands, 1);
   assert_ok(agx_cmd_end_label(commands));
   conformance_run(s.w.f, commands);
   assert_ok(agx_profile_end(s.w.f->device));
   static const char *const labels[] = {"net", "net/layer 1/gemm", "net/layer 1/gemm",
                                        "net/layer 1"};
   assert_int_equal(told.count, 4);
   for (uint32_t i = 0; i < 4; i++)
      assert_string_equal(told.records[i].label, labels[i]);
   agx_release(commands);
   profiled_end(&s);
}

/* Commands are counted, not launches: a fill of nothing is one without any. */
static void commands_are_numbered(void **state)
{
   struct profiled s;
   struct told told;
   profiled_begin(&s, state);
   struct agx_command_buffer *commands = start(&s, NULL);
   const struct agx_buffer_ref some = {s.w.buffers[0], 0, 64}, none = {s.w.buffers[0], 0, 0};
   static uint8_t data[AGX_MAX_UPDATE_B];
   uint32_t *words;
   struct agx_buffer *room = fixture_buffer(s.w.f, sizeof(data), &words);
   const struct agx_buffer_ref large = {room, 0, sizeof(data)};
   const uint32_t pattern = 3;
   count(&s, commands);                                  /* 0 */
   assert_ok(agx_cmd_fill(commands, none, &pattern, 4)); /* 1 */
   assert_ok(agx_cmd_fill(commands, none, &pattern, 4)); /* 2 */
   assert_ok(agx_cmd_barrier(commands, NULL));
   assert_ok(agx_cmd_fill(commands, some, &pattern, 4)); /* 3 */
   assert_ok(agx_cmd_barrier(commands, NULL));
   assert_ok(agx_cmd_update(commands, NULL, none));  /* 4 */
   add(&s, commands, 5);                             /* 5 */
   assert_ok(agx_cmd_update(commands, data, large)); /* 6, in two launches */
   assert_ok(agx_cmd_barrier(commands, NULL));
   count(&s, commands); /* 7 */
   begin(s.w.f, &told, AGX_PROFILE_DISPATCH);
   conformance_run(s.w.f, commands);
   assert_ok(agx_profile_end(s.w.f->device));
   static const uint32_t expected[] = {0, 3, 5, 6, 6, 7};
   assert_int_equal(told.count, 6);
   for (uint32_t i = 0; i < 6; i++)
      assert_int_equal(told.records[i].command_index, expected[i]);
   struct agx_profile_desc desc = desc_of(&told, AGX_PROFILE_DISPATCH);
   desc.filter.has_command_index = true;
   desc.filter.command_index = 6;
   struct agx_semaphore *done = fixture_semaphore(s.w.f);
   assert_ok(agx_profile_begin(s.w.f->device, &desc));
   assert_ok(fixture_submit(s.w.f, commands, NO_POINT, conformance_point(done, 1)));
   assert_ok(fixture_wait(done, 1));
   assert_ok(agx_profile_end(s.w.f->device));
   assert_int_equal(told.count, 2);
   assert_int_equal(told.records[1].command_index, 6);
   agx_release(done);
   agx_release(commands);
   agx_release(room);
   profiled_end(&s);
}

/* What the application calls its operations, and how much they move. */
static void operations_are_tagged(void **state)
{
   struct profiled s;
   struct told told;
   profiled_begin(&s, state);
   struct agx_semaphore *done = fixture_semaphore(s.w.f);
   begin(s.w.f, &told, AGX_PROFILE_QUEUE | AGX_PROFILE_DISPATCH);
   const struct agx_point points[] = {{done, 1}, {done, 2}, {done, 3}};
   const struct agx_op ops[] = {
      {.size = sizeof(ops[0]),
       .kind = AGX_OP_FILL,
       .signals = &points[0],
       .signal_count = 1,
       .u.fill = {{s.w.buffers[0], 64, 128}, {1}, 1},
       .tag = 11},
      {.size = sizeof(ops[0]),
       .kind = AGX_OP_COPY,
       .waits = &points[0],
       .wait_count = 1,
       .signals = &points[1],
       .signal_count = 1,
       .u.copy = {{s.w.buffers[0], 64, 32}, {s.w.buffers[1], 0, 32}},
       .tag = 1ull << 63},
      {.size = sizeof(ops[0]),
       .kind = AGX_OP_BARRIER,
       .waits = &points[1],
       .wait_count = 1,
       .signals = &points[2],
       .signal_count = 1,
       .tag = 13},
   };
   assert_ok(agx_submit(s.w.f->device, ops, 3, NULL));
   assert_ok(fixture_wait(done, 3));
   assert_ok(agx_profile_end(s.w.f->device));
   uint32_t operations = 0, dispatches = 0;
   for (uint32_t i = 0; i < told.count; i++) {
      const struct agx_profile_record *it = &told.records[i];
      if (it->kind == AGX_PROFILE_RECORD_QUEUE) {
         operations++;
         assert_true(it->tag == (it->operation == AGX_OP_FILL   ? 11
                                 : it->operation == AGX_OP_COPY ? 1ull << 63
                                                                : 13));
         assert_int_equal(it->payload_B, it->operation == AGX_OP_FILL   ? 128
                                         : it->operation == AGX_OP_COPY ? 32
                                                                        : 0);
      } else {
         dispatches++;
         assert_true(it->tag == 11 || it->tag == 1ull << 63);
      }
   }
   assert_int_equal(operations, 3);
   assert_int_equal(dispatches, 2);
   agx_release(done);
   profiled_end(&s);
}

/* Bound by a table, a command buffer runs as another one, and is told of as itself. */
static void tables_are_told_as_their_command_buffer(void **state)
{
   struct profiled s;
   struct told told;
   profiled_begin(&s, state);
   struct agx_command_buffer_desc desc = {.size = sizeof(desc), .label = "net", .table_slots = 1};
   struct agx_command_buffer *commands = NULL;
   assert_ok(agx_command_buffer_create(s.w.f->device, &desc, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   const struct agx_binding binding = {.ref = {.length_B = AGX_WHOLE_LENGTH, .table_slot = 1}};
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = s.w.count,
                                         .workgroups = {1, 1, 1},
                                         .binding_count = 1,
                                         .bindings = &binding};
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_command_buffer_end(commands));
   begin(s.w.f, &told, AGX_PROFILE_DISPATCH);
   struct agx_semaphore *done = fixture_semaphore(s.w.f);
   for (uint64_t i = 0; i < 2; i++) {
      const struct agx_buffer_ref table = {s.w.buffers[i], 0, AGX_WHOLE_LENGTH};
      const struct agx_point signal = conformance_point(done, i + 1);
      const struct agx_op op = {.size = sizeof(op),
                                .kind = AGX_OP_EXECUTE,
                                .signals = &signal,
                                .signal_count = 1,
                                .u.execute = {commands, &table, 1}};
      assert_ok(agx_submit(s.w.f->device, &op, 1, NULL));
   }
   assert_ok(fixture_wait(done, 2));
   assert_ok(agx_profile_end(s.w.f->device));
   assert_int_equal(told.count, 2);
   for (uint32_t i = 0; i < 2; i++) {
      assert_int_equal(told.records[i].command_buffer, agx_command_buffer_profile_id(commands));
      assert_string_equal(told.records[i].label, "net");
      assert_int_equal(s.w.words[i][63], 64);
   }
   agx_release(done);
   agx_release(commands);
   profiled_end(&s);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(dispatch_profiling_records_command_buffer_dispatch),
      cmocka_unit_test(multi_dispatch_profiling_filters_command_index),
      cmocka_unit_test(commands_are_numbered),
      cmocka_unit_test(operations_are_tagged),
      cmocka_unit_test(dispatch_with_constants_and_bindings_while_profiling),
      cmocka_unit_test(dispatch_host_queue_event_profiling),
      cmocka_unit_test(dispatch_device_queue_event_profiling),
      cmocka_unit_test(dispatch_profile_filters_choose_dispatches),
      cmocka_unit_test(dispatch_profile_filter_can_skip_direct_dispatch_events),
      cmocka_unit_test(fill_and_copy_host_queue_event_profiling),
      cmocka_unit_test(labels_are_told),
      cmocka_unit_test(tables_are_told_as_their_command_buffer),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
