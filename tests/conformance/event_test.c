/* SPDX-License-Identifier: MIT
 *
 * Events, in one command buffer and in several.
 */
#include "conformance.h"

#include <string.h>

struct event_work {
   struct work w;
   struct agx_event *event;
};

static struct fixture *event_begin(void **state, struct event_work *it)
{
   struct fixture *f = conformance_device(state);
   work_begin(&it->w, f);
   assert_ok(agx_event_create(f->device, &it->event));
   return f;
}

static void event_end(struct event_work *it)
{
   agx_release(it->event);
   work_end(&it->w);
}

/* buffers[to] = buffers[from] + number */
static void add(struct event_work *it, struct agx_command_buffer *commands, uint32_t from,
                uint32_t to, uint32_t number)
{
   struct agx_buffer *buffers[2] = {it->w.buffers[from], it->w.buffers[to]};
   fixture_dispatch(commands, it->w.add, 2, buffers, 2, &number, 4);
}

static void check(const struct event_work *it, uint32_t which, uint32_t more)
{
   for (uint32_t i = 0; i < 64; i++)
      assert_int_equal(it->w.words[which][i], i + 1 + more);
}

static void create(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_event *event = NULL, *other = NULL;
   assert_ok(agx_event_create(f->device, &event));
   assert_ok(agx_event_create(f->device, &other));
   assert_non_null(event);
   assert_ptr_not_equal(event, other);
   agx_release(event);
   agx_release(other);
}

static void signal_and_reset(void **state)
{
   struct event_work it;
   struct fixture *f = event_begin(state, &it);
   struct agx_command_buffer *commands = fixture_begin(f);
   assert_ok(agx_cmd_event(commands, it.event, AGX_EVENT_SIGNAL, NULL));
   assert_ok(agx_cmd_event(commands, it.event, AGX_EVENT_RESET, NULL));
   conformance_run(f, commands);
   agx_release(commands);
   event_end(&it);
}

static void submit_with_chained_command_buffers(void **state)
{
   struct event_work it;
   struct fixture *f = event_begin(state, &it);
   struct agx_semaphore *between = fixture_semaphore(f), *done = fixture_semaphore(f);
   struct agx_command_buffer *first = fixture_begin(f), *second = fixture_begin(f);
   fixture_dispatch(first, it.w.count, 1, &it.w.buffers[0], 1, NULL, 0);
   assert_ok(agx_cmd_event(first, it.event, AGX_EVENT_SIGNAL, NULL));
   assert_ok(agx_command_buffer_end(first));
   assert_ok(agx_cmd_event(second, it.event, AGX_EVENT_WAIT, NULL));
   add(&it, second, 0, 1, 5);
   assert_ok(agx_cmd_event(second, it.event, AGX_EVENT_RESET, NULL));
   assert_ok(agx_command_buffer_end(second));
   /* With a semaphore between them, then in the order of the queue alone. */
   assert_ok(fixture_submit(f, first, NO_POINT, conformance_point(between, 1)));
   assert_ok(fixture_submit(f, second, conformance_point(between, 1), conformance_point(done, 1)));
   assert_ok(fixture_wait(done, 1));
   check(&it, 1, 5);
   memset(it.w.words[0], 0, 256);
   memset(it.w.words[1], 0, 256);
   assert_ok(fixture_submit(f, first, NO_POINT, NO_POINT));
   assert_ok(fixture_submit(f, second, NO_POINT, conformance_point(done, 2)));
   assert_ok(fixture_wait(done, 2));
   check(&it, 1, 5);
   agx_release(first);
   agx_release(second);
   agx_release(between);
   agx_release(done);
   event_end(&it);
}

/* What was recorded between the signal and the wait belongs to neither side. */
static void a_wait_orders_what_the_signal_stands_behind(void **state)
{
   struct event_work it;
   struct fixture *f = event_begin(state, &it);
   for (int round = 0; round < 8; round++) {
      struct agx_command_buffer *commands = fixture_begin(f);
      const struct agx_barrier of_one = {
         .size = sizeof(of_one), .buffer_count = 1, .buffers = &it.w.buffers[0]};
      memset(it.w.words[0], 0, 256);
      fixture_dispatch(commands, it.w.count, 1, &it.w.buffers[0], 1, NULL, 0);
      assert_ok(agx_cmd_event(commands, it.event, AGX_EVENT_SIGNAL, NULL));
      fixture_dispatch(commands, it.w.count, 1, &it.w.buffers[2], 1, NULL, 0);
      assert_ok(agx_cmd_event(commands, it.event, AGX_EVENT_WAIT, round % 2 ? &of_one : NULL));
      add(&it, commands, 0, 1, 7);
      conformance_run(f, commands);
      check(&it, 1, 7);
      check(&it, 2, 0);
      agx_release(commands);
   }
   event_end(&it);
}

/* The recording keeps it. */
static void an_event_may_go_early(void **state)
{
   struct event_work it;
   struct fixture *f = event_begin(state, &it);
   struct agx_command_buffer *commands = fixture_begin(f);
   struct agx_event *event;
   assert_ok(agx_event_create(f->device, &event));
   assert_ok(agx_cmd_event(commands, event, AGX_EVENT_SIGNAL, NULL));
   agx_release(event);
   conformance_run(f, commands);
   agx_release(commands);
   event_end(&it);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(create),
      cmocka_unit_test(signal_and_reset),
      cmocka_unit_test(submit_with_chained_command_buffers),
      cmocka_unit_test(a_wait_orders_what_the_signal_stands_behind),
      cmocka_unit_test(an_event_may_go_early),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
