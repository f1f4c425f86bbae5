/* SPDX-License-Identifier: MIT
 *
 * IREE's SemaphoreSubmissionTest, by name: work ordered by semaphores, between queues, the host and
 * what has not been submitted yet.
 */
#include "conformance.h"

#include <string.h>
#include <time.h>

#define WORDS 64u

static struct work make_work(struct fixture *f)
{
   struct work w = {0};
   work_begin(&w, f);
   work_record(&w);
   return w;
}

static bool has_run(const struct work *w)
{
   return w->words[0][WORDS - 1] == WORDS;
}

/* commands NULL: a barrier. */
static agx_status submit(struct fixture *f, uint64_t queues, struct agx_command_buffer *commands,
                         const struct agx_point *waits, uint32_t wait_count,
                         const struct agx_point *signals, uint32_t signal_count)
{
   const struct agx_op op = {.size = sizeof(op),
                             .kind = commands ? AGX_OP_EXECUTE : AGX_OP_BARRIER,
                             .queues = queues,
                             .waits = waits,
                             .wait_count = wait_count,
                             .signals = signals,
                             .signal_count = signal_count,
                             .u.execute.commands = commands};
   return agx_submit(f->device, &op, 1, NULL);
}

static bool is_reached(struct agx_semaphore *semaphore, uint64_t value)
{
   uint64_t now = 0;
   assert_ok(agx_semaphore_query(semaphore, &now));
   return now >= value;
}

static void pause_a_little(void)
{
   nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
}

static void submit_with_no_command_buffers(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *s = fixture_semaphore(f);
   const struct agx_point point = {s, 1};
   assert_ok(submit(f, 0, NULL, NULL, 0, &point, 1));
   assert_ok(fixture_wait(s, 1));
   assert_ok(submit(f, 0, NULL, NULL, 0, NULL, 0));
   assert_false(is_reached(s, 2));
   agx_release(s);
}

static void flush_is_for_queues_that_are_there(void **state)
{
   struct fixture *f = conformance_device(state);
   assert_ok(agx_flush(f->device, 0));
   assert_ok(agx_flush(f->device, 1));
   assert_ok(agx_flush(f->device, UINT64_MAX));
   assert_fails(agx_flush(f->device, 1ull << 63), AGX_INVALID_ARGUMENT, "0x8000000000000000");
}

static void submit_and_signal(void **state)
{
   struct fixture *f = conformance_device(state);
   struct work w = make_work(f);
   struct agx_semaphore *s = fixture_semaphore(f);
   const struct agx_point point = {s, 1};
   assert_ok(submit(f, 0, w.commands, NULL, 0, &point, 1));
   assert_ok(fixture_wait(s, 1));
   assert_true(has_run(&w));
   agx_release(s);
   work_end(&w);
}

static void submit_with_wait(void **state)
{
   struct fixture *f = conformance_device(state);
   struct work w = make_work(f);
   struct agx_semaphore *go = fixture_semaphore(f), *done = fixture_semaphore(f);
   const struct agx_point wait = {go, 1}, signal = {done, 101};
   assert_ok(submit(f, 0, w.commands, &wait, 1, &signal, 1));
   pause_a_little();
   assert_false(is_reached(done, 1));
   assert_false(has_run(&w));
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(done, 101));
   assert_true(has_run(&w));
   agx_release(go);
   agx_release(done);
   work_end(&w);
}

static void cross_queue_wait_before_signal(void **state)
{
   struct fixture *f = conformance_device(state);
   struct work first = make_work(f), second = make_work(f);
   struct agx_semaphore *s = fixture_semaphore(f);
   const struct agx_point points[] = {{s, 1}, {s, 2}};
   assert_ok(submit(f, 1, second.commands, &points[0], 1, &points[1], 1));
   pause_a_little();
   assert_false(has_run(&second));
   assert_ok(submit(f, 2, first.commands, NULL, 0, &points[0], 1));
   assert_ok(fixture_wait(s, 2));
   assert_true(has_run(&first) && has_run(&second));
   agx_release(s);
   work_end(&first);
   work_end(&second);
}

static void multi_queue_fan_out_different_values_before_signal(void **state)
{
   enum {
      FAN = 6
   };
   struct fixture *f = conformance_device(state);
   struct work works[FAN];
   struct agx_semaphore *source = fixture_semaphore(f), *done[FAN];
   for (uint32_t i = 0; i < FAN; i++) {
      works[i] = make_work(f);
      done[i] = fixture_semaphore(f);
      const struct agx_point wait = {source, i + 1}, signal = {done[i], 1};
      assert_ok(submit(f, 1 + i % 2, works[i].commands, &wait, 1, &signal, 1));
   }
   for (uint32_t i = 0; i < FAN; i++) {
      assert_false(is_reached(done[i], 1));
      assert_ok(agx_semaphore_signal(source, i + 1));
      assert_ok(fixture_wait(done[i], 1));
      assert_true(has_run(&works[i]));
   }
   for (uint32_t i = 0; i < FAN; i++) {
      agx_release(done[i]);
      work_end(&works[i]);
   }
   agx_release(source);
}

static void indirect_command_buffer_binding_table_retained_until_signal(void **state)
{
   struct fixture *f = conformance_device(state);
   const struct agx_command_buffer_desc desc = {.size = sizeof(desc), .table_slots = 1};
   struct agx_executable *count = fixture_kernel(f, &agx_test_count);
   struct agx_semaphore *go = fixture_semaphore(f), *done = fixture_semaphore(f);
   struct agx_command_buffer *commands = NULL;
   uint32_t *words, *copy;
   struct agx_buffer *bound = fixture_buffer(f, 256, &words), *out = fixture_buffer(f, 256, &copy);
   const struct agx_binding binding = {.ref = {NULL, 0, 256, 1}};
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = count,
                                         .workgroups = {1, 1, 1},
                                         .binding_count = 1,
                                         .bindings = &binding};
   assert_ok(agx_command_buffer_create(f->device, &desc, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_cmd_barrier(commands, NULL));
   assert_ok(agx_cmd_copy(commands, (struct agx_buffer_ref){NULL, 0, 256, 1},
                          (struct agx_buffer_ref){out, 0, 256}));
   assert_ok(agx_command_buffer_end(commands));
   const struct agx_buffer_ref table = {bound, 0, 256};
   const struct agx_point wait = {go, 1}, signal = {done, 1};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_EXECUTE,
                             .waits = &wait,
                             .wait_count = 1,
                             .signals = &signal,
                             .signal_count = 1,
                             .u.execute = {commands, &table, 1}};
   assert_ok(agx_submit(f->device, &op, 1, NULL));
   agx_release(bound);
   agx_release(commands);
   agx_release(count);
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(done, 1));
   assert_int_equal(copy[63], 64);
   agx_release(out);
   agx_release(go);
   agx_release(done);
}

static void submit_with_multiple_semaphores(void **state)
{
   struct fixture *f = conformance_device(state);
   struct work w = make_work(f);
   struct agx_semaphore *s[4];
   for (int i = 0; i < 4; i++)
      s[i] = fixture_semaphore(f);
   const struct agx_point waits[] = {{s[0], 1}, {s[1], 2}}, signals[] = {{s[2], 3}, {s[3], 4}};
   assert_ok(submit(f, 0, w.commands, waits, 2, signals, 2));
   assert_ok(agx_semaphore_signal(s[0], 1));
   pause_a_little();
   assert_false(has_run(&w));
   assert_ok(agx_semaphore_signal(s[1], 2));
   assert_ok(fixture_wait(s[2], 3));
   assert_ok(fixture_wait(s[3], 4));
   assert_true(has_run(&w));
   for (int i = 0; i < 4; i++)
      agx_release(s[i]);
   work_end(&w);
}

static void wait_all_host_and_device_semaphores(void **state)
{
   struct fixture *f = conformance_device(state);
   struct work w = make_work(f);
   struct agx_semaphore *host = fixture_semaphore(f), *device = fixture_semaphore(f);
   const struct agx_point both[] = {{host, 1}, {device, 1}};
   assert_ok(submit(f, 0, w.commands, NULL, 0, &both[1], 1));
   assert_ok(fixture_wait(device, 1));
   assert_fails(agx_semaphore_wait(both, 2, false, 0), AGX_DEADLINE_EXCEEDED, "");
   assert_ok(agx_semaphore_signal(host, 1));
   assert_ok(agx_semaphore_wait(both, 2, false, AGX_DEADLINE_NEVER));
   agx_release(host);
   agx_release(device);
   work_end(&w);
}

static void wait_any_host_and_device_semaphores_and_device_signals(void **state)
{
   struct fixture *f = conformance_device(state);
   struct work w = make_work(f);
   struct agx_semaphore *host = fixture_semaphore(f), *device = fixture_semaphore(f);
   const struct agx_point both[] = {{host, 1}, {device, 1}};
   assert_ok(submit(f, 0, w.commands, NULL, 0, &both[1], 1));
   assert_ok(agx_semaphore_wait(both, 2, true, AGX_DEADLINE_NEVER));
   assert_true(is_reached(device, 1));
   assert_false(is_reached(host, 1));
   agx_release(host);
   agx_release(device);
   work_end(&w);
}

static void wait_any_host_and_device_semaphores_and_host_signals(void **state)
{
   struct fixture *f = conformance_device(state);
   struct work w = make_work(f);
   struct agx_semaphore *host = fixture_semaphore(f), *device = fixture_semaphore(f),
                        *never = fixture_semaphore(f);
   const struct agx_point both[] = {{host, 1}, {device, 1}}, held = {never, 1};
   assert_ok(submit(f, 0, w.commands, &held, 1, &both[1], 1));
   assert_ok(agx_semaphore_signal(host, 1));
   assert_ok(agx_semaphore_wait(both, 2, true, AGX_DEADLINE_NEVER));
   assert_false(is_reached(device, 1));
   assert_ok(agx_semaphore_signal(never, 1));
   assert_ok(fixture_wait(device, 1));
   agx_release(host);
   agx_release(device);
   agx_release(never);
   work_end(&w);
}

static void intermediate_semaphore_between_device_batches(void **state)
{
   struct fixture *f = conformance_device(state);
   struct work first = make_work(f), second = make_work(f);
   struct agx_semaphore *between = fixture_semaphore(f), *done = fixture_semaphore(f);
   const struct agx_point middle = {between, 1}, last = {done, 1};
   assert_ok(submit(f, 1, first.commands, NULL, 0, &middle, 1));
   assert_ok(submit(f, 2, second.commands, &middle, 1, &last, 1));
   assert_ok(fixture_wait(done, 1));
   assert_true(has_run(&first) && has_run(&second));
   assert_true(is_reached(between, 1));
   agx_release(between);
   agx_release(done);
   work_end(&first);
   work_end(&second);
}

static void two_batches_waiting_on_1_former_batch_amongst_2(void **state)
{
   struct fixture *f = conformance_device(state);
   struct work works[4];
   struct agx_semaphore *a = fixture_semaphore(f), *b = fixture_semaphore(f),
                        *done = fixture_semaphore(f), *end = fixture_semaphore(f);
   for (int i = 0; i < 4; i++)
      works[i] = make_work(f);
   const struct agx_point pa = {a, 1}, pb = {b, 1}, d1 = {done, 1}, e1 = {end, 1};
   assert_ok(submit(f, 1, works[0].commands, NULL, 0, &pa, 1));
   assert_ok(submit(f, 2, works[1].commands, NULL, 0, &pb, 1));
   assert_ok(submit(f, 1, works[2].commands, &pa, 1, &d1, 1));
   assert_ok(submit(f, 2, works[3].commands, &pa, 1, &e1, 1));
   const struct agx_point all[] = {pb, d1, e1};
   assert_ok(agx_semaphore_wait(all, 3, false, AGX_DEADLINE_NEVER));
   for (int i = 0; i < 4; i++) {
      assert_true(has_run(&works[i]));
      work_end(&works[i]);
   }
   agx_release(a);
   agx_release(b);
   agx_release(done);
   agx_release(end);
}

static void two_batches_waiting_on_different_semaphore_values(void **state)
{
   struct fixture *f = conformance_device(state);
   struct work first = make_work(f), second = make_work(f);
   struct agx_semaphore *s = fixture_semaphore(f), *a = fixture_semaphore(f),
                        *b = fixture_semaphore(f);
   const struct agx_point one = {s, 1}, two = {s, 2}, done_a = {a, 1}, done_b = {b, 1};
   assert_ok(submit(f, 0, second.commands, &two, 1, &done_b, 1));
   assert_ok(submit(f, 0, first.commands, &one, 1, &done_a, 1));
   assert_ok(agx_semaphore_signal(s, 1));
   assert_ok(fixture_wait(a, 1));
   assert_false(is_reached(b, 1));
   assert_ok(agx_semaphore_signal(s, 2));
   assert_ok(fixture_wait(b, 1));
   assert_true(has_run(&first) && has_run(&second));
   agx_release(s);
   agx_release(a);
   agx_release(b);
   work_end(&first);
   work_end(&second);
}

static void batch_waiting_on_another_and_host_signal(void **state)
{
   struct fixture *f = conformance_device(state);
   struct work first = make_work(f), second = make_work(f);
   struct agx_semaphore *a = fixture_semaphore(f), *host = fixture_semaphore(f),
                        *done = fixture_semaphore(f);
   const struct agx_point pa = {a, 1}, both[] = {{a, 1}, {host, 1}}, last = {done, 1};
   assert_ok(submit(f, 1, first.commands, NULL, 0, &pa, 1));
   assert_ok(submit(f, 2, second.commands, both, 2, &last, 1));
   assert_ok(fixture_wait(a, 1));
   assert_false(is_reached(done, 1));
   assert_ok(agx_semaphore_signal(host, 1));
   assert_ok(fixture_wait(done, 1));
   assert_true(has_run(&second));
   agx_release(a);
   agx_release(host);
   agx_release(done);
   work_end(&first);
   work_end(&second);
}

static void device_batch_signal_another_and_host(void **state)
{
   struct fixture *f = conformance_device(state);
   struct work first = make_work(f), second = make_work(f);
   struct agx_semaphore *s = fixture_semaphore(f), *done = fixture_semaphore(f);
   const struct agx_point one = {s, 1}, last = {done, 1};
   assert_ok(submit(f, 2, second.commands, &one, 1, &last, 1));
   assert_ok(submit(f, 1, first.commands, NULL, 0, &one, 1));
   assert_ok(fixture_wait(s, 1));
   assert_true(has_run(&first));
   assert_ok(fixture_wait(done, 1));
   assert_true(has_run(&second));
   agx_release(s);
   agx_release(done);
   work_end(&first);
   work_end(&second);
}

static void batch_waiting_on_smaller_value_after_signaled(void **state)
{
   struct fixture *f = conformance_device(state);
   struct work w = make_work(f);
   struct agx_semaphore *s = fixture_semaphore(f), *done = fixture_semaphore(f);
   const struct agx_point wait = {s, 3}, signal = {done, 1};
   assert_ok(agx_semaphore_signal(s, 9));
   assert_ok(submit(f, 0, w.commands, &wait, 1, &signal, 1));
   assert_ok(fixture_wait(done, 1));
   assert_true(has_run(&w));
   agx_release(s);
   agx_release(done);
   work_end(&w);
}

static void batch_waiting_on_smaller_value_before_signaled(void **state)
{
   struct fixture *f = conformance_device(state);
   struct work w = make_work(f), source = make_work(f);
   struct agx_semaphore *s = fixture_semaphore(f), *done = fixture_semaphore(f);
   const struct agx_point wait = {s, 3}, larger = {s, 9}, signal = {done, 1};
   assert_ok(submit(f, 1, w.commands, &wait, 1, &signal, 1));
   assert_ok(submit(f, 2, source.commands, NULL, 0, &larger, 1));
   assert_ok(fixture_wait(done, 1));
   assert_true(has_run(&w) && has_run(&source));
   assert_true(is_reached(s, 9));
   agx_release(s);
   agx_release(done);
   work_end(&w);
   work_end(&source);
}

/* Through a chain over both queues, with code and text; nothing runs. */
static void propagate_fail_signal(void **state)
{
   struct fixture *f = conformance_device(state);
   struct work works[3];
   struct agx_semaphore *s[4];
   for (int i = 0; i < 4; i++)
      s[i] = fixture_semaphore(f);
   for (uint32_t i = 0; i < 3; i++) {
      const struct agx_point wait = {s[i], 1}, signal = {s[i + 1], 1};
      works[i] = make_work(f);
      assert_ok(submit(f, 1 + i % 2, works[i].commands, &wait, 1, &signal, 1));
   }
   agx_semaphore_fail(s[0], AGX_DATA_LOSS, "the source has dried up");
   for (int i = 1; i < 4; i++)
      assert_fails(fixture_wait(s[i], 1), AGX_DATA_LOSS, "the source has dried up");
   for (int i = 0; i < 3; i++) {
      assert_int_equal(works[i].words[0][0], 0);
      work_end(&works[i]);
   }
   for (int i = 0; i < 4; i++)
      agx_release(s[i]);
}

/* One of two waits fails while the other is not submitted: the submission fails without it. */
static void one_failed_wait_is_enough(void **state)
{
   struct fixture *f = conformance_device(state);
   struct work w = make_work(f);
   struct agx_semaphore *never = fixture_semaphore(f), *bad = fixture_semaphore(f),
                        *done = fixture_semaphore(f);
   const struct agx_point waits[] = {{never, 1}, {bad, 1}}, signal = {done, 1};
   assert_ok(submit(f, 0, w.commands, waits, 2, &signal, 1));
   agx_semaphore_fail(bad, AGX_ABORTED, "enough");
   assert_fails(fixture_wait(done, 1), AGX_ABORTED, "enough");
   assert_ok(agx_semaphore_signal(never, 1));
   assert_int_equal(w.words[0][0], 0);
   agx_release(never);
   agx_release(bad);
   agx_release(done);
   work_end(&w);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(submit_with_no_command_buffers),
      cmocka_unit_test(flush_is_for_queues_that_are_there),
      cmocka_unit_test(submit_and_signal),
      cmocka_unit_test(submit_with_wait),
      cmocka_unit_test(cross_queue_wait_before_signal),
      cmocka_unit_test(multi_queue_fan_out_different_values_before_signal),
      cmocka_unit_test(indirect_command_buffer_binding_table_retained_until_signal),
      cmocka_unit_test(submit_with_multiple_semaphores),
      cmocka_unit_test(wait_all_host_and_device_semaphores),
      cmocka_unit_test(wait_any_host_and_device_semaphores_and_device_signals),
      cmocka_unit_test(wait_any_host_and_device_semaphores_and_host_signals),
      cmocka_unit_test(intermediate_semaphore_between_device_batches),
      cmocka_unit_test(two_batches_waiting_on_1_former_batch_amongst_2),
      cmocka_unit_test(two_batches_waiting_on_different_semaphore_values),
      cmocka_unit_test(batch_waiting_on_another_and_host_signal),
      cmocka_unit_test(device_batch_signal_another_and_host),
      cmocka_unit_test(batch_waiting_on_smaller_value_after_signaled),
      cmocka_unit_test(batch_waiting_on_smaller_value_before_signaled),
      cmocka_unit_test(propagate_fail_signal),
      cmocka_unit_test(one_failed_wait_is_enough),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
