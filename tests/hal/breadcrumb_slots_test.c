/* SPDX-License-Identifier: MIT
 *
 * A command buffer in flight several times: each submission's success is known by its own count,
 * and one that failed is never taken for a good one. A phantom, which is entered by hand, keeps the
 * command buffer in flight, so that it does not matter how fast the device is.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_kmd.h"
#include "fixture.h"
#include "hal/device/device.h"
#include "hal/record/command_buffer.h"

/* Counts its runs in the first word, also where two queues run it at once. */
static const struct agx_test_kernel adder = {
   .name = "adder",
   .text = "mov d=r1 a=1\n"
           "atomic r=none s=r1 base=du0 index=0 op=add coherency=coherent1 group=a\n",
   .local_size = {1, 1, 1},
   .gpr_halves = 4,
   .bindings = 1,
   .written = 1,
};

#define MAX_FLIGHTS 16

struct flights {
   struct failing_kmd kmd;
   struct fixture f;
   struct agx_executable *kernel;
   struct agx_buffer *buffer;
   uint32_t *words;
   struct agx_command_buffer *commands;
   struct agx_semaphore *done[MAX_FLIGHTS];
};

static void open_flights(struct flights *it, const char *inject)
{
   const struct agx_device_desc desc = {.size = sizeof(desc), .queue_count = 2};
   if (inject)
      setenv("AGX_VIRTUAL_INJECT", inject, 1);
   failing_kmd_open(&it->kmd);
   unsetenv("AGX_VIRTUAL_INJECT");
   fixture_open_over(&it->f, &desc, &it->kmd.base);
   it->kernel = fixture_kernel(&it->f, &adder);
   it->buffer = fixture_buffer(&it->f, 256, &it->words);
   it->commands = fixture_begin(&it->f);
   fixture_dispatch(it->commands, it->kernel, 1, &it->buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(it->commands));
   for (uint32_t i = 0; i < MAX_FLIGHTS; i++)
      it->done[i] = fixture_semaphore(&it->f);
}

static void close_flights(struct flights *it)
{
   agx_release(it->commands);
   agx_release(it->buffer);
   agx_release(it->kernel);
   for (uint32_t i = 0; i < MAX_FLIGHTS; i++)
      agx_release(it->done[i]);
   fixture_close(&it->f);
   failing_kmd_await_close(&it->kmd);
}

/* In flight on that queue, and never over before it is withdrawn. */
static void add_phantom(struct flights *it, uint32_t queue)
{
   struct agxw_compute stream;
   atomic_fetch_add(&it->commands->in_flight, 1);
   pthread_mutex_lock(&it->f.device->sync.lock);
   assert_int_equal(agx_breadcrumb_begin(&it->commands->breadcrumb, queue, true, &stream), 0);
   pthread_mutex_unlock(&it->f.device->sync.lock);
}

static void remove_phantom(struct flights *it)
{
   pthread_mutex_lock(&it->f.device->sync.lock);
   agx_breadcrumb_cancel(&it->commands->breadcrumb, 0);
   pthread_mutex_unlock(&it->f.device->sync.lock);
   atomic_fetch_sub(&it->commands->in_flight, 1);
}

/* The i-th signals done[i]; queues: of the i-th, by i modulo 2. */
static void submit(struct flights *it, uint32_t count, const uint32_t queues[2])
{
   struct agx_op ops[MAX_FLIGHTS] = {0};
   struct agx_point signals[MAX_FLIGHTS];
   for (uint32_t i = 0; i < count; i++) {
      signals[i] = (struct agx_point){it->done[i], 1};
      ops[i] = (struct agx_op){.size = sizeof(ops[i]),
                               .kind = AGX_OP_EXECUTE,
                               .queues = 1u << queues[i % 2],
                               .signals = &signals[i],
                               .signal_count = 1,
                               .u.execute.commands = it->commands};
   }
   assert_ok(agx_submit(it->f.device, ops, count, NULL));
}

static const uint32_t one_queue[2] = {0, 0}, two_queues[2] = {0, 1};

/* Until the device has run all; the completion thread may not have looked by then. */
static void run_dry(struct flights *it)
{
   struct agx_device *device = it->f.device;
   for (uint32_t i = 0; i < device->sync.queue_count; i++) {
      pthread_mutex_lock(&device->sync.lock);
      const struct agxw_point last = {device->sync.queues[i].timeline,
                                      device->sync.queues[i].epoch};
      pthread_mutex_unlock(&device->sync.lock);
      if (last.timeline)
         assert_ok(agxw_wait(agx_context_of(device)->winsys, &last, 1, false, AGX_DEADLINE_NEVER));
   }
}

static uint32_t ran(const struct flights *it, uint32_t count)
{
   return atomic_load(&it->commands->breadcrumb.words->counts[count]);
}

static uint32_t all_ran(const struct flights *it)
{
   uint32_t sum = 0;
   for (uint32_t i = 0; i < AGX_BREADCRUMB_SLOTS; i++)
      sum += ran(it, i);
   return sum;
}

static void wait_for(struct flights *it, uint32_t count)
{
   for (uint32_t i = 0; i < count; i++)
      assert_ok(fixture_wait(it->done[i], 1));
}

/* ---- good ones ------------------------------------------------------------ */

static void nobody_is_asked(void **state)
{
   for (uint32_t rounds = 1; rounds <= 3; rounds++) {
      struct flights it;
      open_flights(&it, "slow 1 2000"); /* so that others are under way when one is looked at */
      for (uint32_t i = 0; i < rounds; i++) {
         add_phantom(&it, 0);
         submit(&it, 5, one_queue);
         wait_for(&it, 5);
         remove_phantom(&it);
         for (uint32_t j = 0; j < 5; j++) { /* so that the next round may signal them, too */
            agx_release(it.done[j]);
            it.done[j] = fixture_semaphore(&it.f);
         }
      }
      assert_int_equal(ran(&it, 0), 0);
      assert_true(ran(&it, 1) >= rounds);
      assert_int_equal(all_ran(&it), 5 * rounds);
      assert_int_equal(it.kmd.asked, 0);
      assert_int_equal(atomic_load(&it.commands->in_flight), 0);
      close_flights(&it);
   }
}

/* Through the recorded stream again once it is idle, whatever the prologues have left behind. */
static void idle_again(void **state)
{
   struct flights it;
   open_flights(&it, NULL);
   add_phantom(&it, 0);
   submit(&it, 3, one_queue);
   wait_for(&it, 3);
   remove_phantom(&it);
   assert_int_not_equal(atomic_load(&it.commands->breadcrumb.words->current), 0);
   struct agx_semaphore *done = fixture_semaphore(&it.f);
   for (uint32_t i = 1; i <= 3; i++) {
      assert_ok(fixture_submit(&it.f, it.commands, NO_POINT, (struct agx_point){done, i}));
      assert_ok(fixture_wait(done, i));
      assert_int_equal(ran(&it, 0), i);
   }
   assert_int_equal(it.kmd.asked, 0);
   /* Recorded anew it starts at nothing, and its prologues lead into the new stream. */
   assert_ok(agx_command_buffer_begin(it.commands));
   uint32_t *words;
   struct agx_buffer *other = fixture_buffer(&it.f, 256, &words);
   fixture_dispatch(it.commands, it.kernel, 1, &other, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(it.commands));
   assert_int_equal(all_ran(&it), 0);
   add_phantom(&it, 0);
   for (uint32_t i = 4; i <= 6; i++)
      assert_ok(fixture_submit(&it.f, it.commands, NO_POINT, (struct agx_point){done, i}));
   assert_ok(fixture_wait(done, 6));
   remove_phantom(&it);
   assert_int_equal(all_ran(&it), 3);
   assert_int_equal(words[0], 3);
   assert_int_equal(it.kmd.asked, 0);
   agx_release(other);
   agx_release(done);
   close_flights(&it);
}

/* More than there are counts share the last one. Whether they are asked depends on who is over
 * when they are looked at; the last is known without. */
static void more_than_there_are_counts(void **state)
{
   struct flights it;
   open_flights(&it, NULL);
   add_phantom(&it, 0);
   submit(&it, MAX_FLIGHTS, one_queue);
   run_dry(&it);
   wait_for(&it, MAX_FLIGHTS);
   assert_int_equal(all_ran(&it), MAX_FLIGHTS);
   remove_phantom(&it);
   close_flights(&it);
}

/* All share the count of the recorded stream then. */
static void without_memory_for_heads(void **state)
{
   struct flights it;
   open_flights(&it, NULL);
   add_phantom(&it, 0);
   failing_kmd_arm(&it.kmd, 0, NR_GEM_CREATE, ENOMEM);
   submit(&it, 3, one_queue);
   wait_for(&it, 3);
   assert_int_equal(it.kmd.failed, 1); /* once is enough */
   assert_int_equal(atomic_load(&it.commands->breadcrumb.prologues_va), 0);
   assert_int_equal(ran(&it, 0), 3);
   failing_kmd_disarm(&it.kmd);
   remove_phantom(&it);
   close_flights(&it);
}

static void several_queues_know_the_sum(void **state)
{
   struct flights it;
   open_flights(&it, NULL);
   submit(&it, 10, two_queues);
   run_dry(&it);
   wait_for(&it, 10);
   assert_int_equal(all_ran(&it), 10);
   assert_int_equal(it.words[0], 10);
   uint32_t asked = it.kmd.asked;
   /* On one of them alone each is known again. */
   struct agx_semaphore *done = fixture_semaphore(&it.f);
   for (uint32_t i = 1; i <= 3; i++) {
      assert_ok(fixture_submit(&it.f, it.commands, NO_POINT, (struct agx_point){done, i}));
      assert_ok(fixture_wait(done, i));
   }
   assert_int_equal(it.kmd.asked, asked);
   agx_release(done);
   close_flights(&it);
}

/* ---- one of them fails ---------------------------------------------------- */

static void count_submits(void *user, uint32_t nr)
{
   if (nr == NR_SUBMIT)
      atomic_fetch_add((_Atomic uint32_t *)user, 1);
}

/* The number-th of count submissions fails; all later ones that the kernel got before the failure
 * was noticed ran, but the queue is gone by then. */
static void fail_one(uint32_t number, uint32_t count, const uint32_t queues[2], bool with_heads)
{
   struct flights it;
   _Atomic uint32_t submitted = 0;
   char inject[32];
   snprintf(inject, sizeof(inject), "fault %u", number + 1);
   open_flights(&it, inject);
   add_phantom(&it, 0);
   if (!with_heads)
      failing_kmd_arm(&it.kmd, 0, NR_GEM_CREATE, ENOMEM);
   it.kmd.hook_user = &submitted;
   it.kmd.hook = count_submits;
   submit(&it, count, queues);
   failing_kmd_disarm(&it.kmd);
   run_dry(&it);
   it.kmd.hook = NULL;
   assert_in_range(submitted, number + 1, count);
   for (uint32_t i = 0; i < count; i++) {
      bool shares_queue = queues[i % 2] == queues[number % 2];
      if (i == number)
         assert_fails(fixture_wait(it.done[i], 1), AGX_DATA_LOSS, "fault");
      else if (i < number || !shares_queue)
         assert_ok(fixture_wait(it.done[i], 1));
      else
         assert_fails(fixture_wait(it.done[i], 1), AGX_DATA_LOSS, "fault");
   }
   assert_int_equal(all_ran(&it), submitted - 1);
   assert_int_equal(it.words[0], submitted - 1);
   remove_phantom(&it);
   /* A new queue starts with a clean slate. */
   assert_ok(agx_queue_recreate(it.f.device, queues[number % 2]));
   struct agx_semaphore *done = fixture_semaphore(&it.f);
   uint32_t asked = it.kmd.asked;
   for (uint32_t i = 1; i <= 2; i++) {
      assert_ok(fixture_submit(&it.f, it.commands, NO_POINT, (struct agx_point){done, i}));
      assert_ok(fixture_wait(done, i));
   }
   assert_int_equal(it.kmd.asked, asked);
   agx_release(done);
   close_flights(&it);
}

static void each_may_fail(void **state)
{
   for (uint32_t number = 0; number < 12; number++)
      fail_one(number, 12, one_queue, true);
}

static void each_may_fail_without_heads(void **state)
{
   for (uint32_t number = 0; number < 4; number++)
      fail_one(number, 4, one_queue, false);
}

static void each_may_fail_on_two_queues(void **state)
{
   for (uint32_t number = 0; number < 6; number++)
      fail_one(number, 6, two_queues, true);
}

static uint32_t next_random(uint32_t *seed)
{
   *seed = *seed * 1664525 + 1013904223;
   return *seed >> 16;
}

/* Some in flight at a time, on one queue or two, one of which fails, and waits here and there:
 * those before it on its queue and all on the other one are good, it and those behind it are not.
 */
static void random_flights(uint32_t seed)
{
   struct flights it;
   char inject[64];
   const uint32_t failing = next_random(&seed) % MAX_FLIGHTS;
   const uint32_t one_in = 1 + next_random(&seed) % 8; /* submissions of the other queue */
   uint32_t queues[MAX_FLIGHTS];
   bool is_good[MAX_FLIGHTS];
   snprintf(inject, sizeof(inject), "fault %u; slow 1 %u", failing + 1, next_random(&seed) % 100);
   open_flights(&it, inject);
   for (uint32_t i = 0; i < MAX_FLIGHTS; i++) {
      const struct agx_point done = {it.done[i], 1};
      queues[i] = next_random(&seed) % one_in == 1;
      const struct agx_op op = {.size = sizeof(op),
                                .kind = AGX_OP_EXECUTE,
                                .queues = 1u << queues[i],
                                .signals = &done,
                                .signal_count = 1,
                                .u.execute.commands = it.commands};
      is_good[i] = agx_submit(it.f.device, &op, 1, NULL) == AGX_OK; /* its queue may be gone */
      uint32_t waited = next_random(&seed) % (2 * i + 2);
      if (waited <= i && is_good[waited])
         is_good[waited] = fixture_wait(it.done[waited], 1) == AGX_OK;
   }
   for (uint32_t i = 0; i < MAX_FLIGHTS; i++) {
      is_good[i] = is_good[i] && fixture_wait(it.done[i], 1) == AGX_OK;
      assert_int_equal(is_good[i], i < failing || queues[i] != queues[failing]);
   }
   close_flights(&it);
}

static void some_at_random(void **state)
{
   for (uint32_t seed = 1; seed <= 60; seed++)
      random_flights(seed);
}

/* Without a phantom: the first comes through the recorded stream. The second may find its queue
 * lost already when it is to be handed in; another queue goes on. */
static void the_first_may_fail(void **state)
{
   for (uint32_t queue = 0; queue < 2; queue++) {
      const uint32_t queues[2] = {0, queue};
      struct flights it;
      open_flights(&it, "fault 1");
      submit(&it, 2, queues);
      run_dry(&it);
      assert_fails(fixture_wait(it.done[0], 1), AGX_DATA_LOSS, "fault");
      assert_int_equal(fixture_wait(it.done[1], 1) == AGX_OK, queue == 1);
      assert_in_range(all_ran(&it), queue, 1);
      close_flights(&it);
   }
}

/* For want of a descriptor or memory the library can't ask how one came out: that one fails, and
 * no other. */
static void one_cannot_be_asked(void **state)
{
   static const int errors[] = {EMFILE, ENOMEM};
   for (uint32_t i = 0; i < 2; i++) {
      struct flights it;
      open_flights(&it, NULL);
      add_phantom(&it, 0);
      failing_kmd_arm(&it.kmd, 0, NR_GEM_CREATE, ENOMEM); /* no prologues: all are asked */
      submit(&it, 1, one_queue);
      wait_for(&it, 1);
      assert_int_equal(it.kmd.asked, 1);
      struct agx_semaphore *done[] = {fixture_semaphore(&it.f), fixture_semaphore(&it.f)};
      failing_kmd_arm(&it.kmd, 0, NR_SYNCOBJ_TO_FD, errors[i]);
      it.kmd.once = true;
      assert_ok(fixture_submit(&it.f, it.commands, NO_POINT, (struct agx_point){done[0], 1}));
      run_dry(&it);
      assert_fails(fixture_wait(done[0], 1), AGX_RESOURCE_EXHAUSTED, "");
      assert_ok(agx_flush(it.f.device, 0));
      assert_ok(fixture_submit(&it.f, it.commands, NO_POINT, (struct agx_point){done[1], 1}));
      assert_ok(fixture_wait(done[1], 1));
      assert_int_equal(it.kmd.failed, 2);
      assert_int_equal(all_ran(&it), 3);
      remove_phantom(&it);
      agx_release(done[0]);
      agx_release(done[1]);
      close_flights(&it);
   }
}

/* A prologue's launch is none of the command buffer's. */
static void a_fault_behind_a_head_names_its_dispatch(void **state)
{
   struct flights it;
   uint64_t address = 0x2345678000;
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   open_flights(&it, NULL);
   struct agx_executable *stray = fixture_kernel(&it.f, &agx_test_stray);
   assert_ok(agx_command_buffer_begin(it.commands));
   fixture_dispatch(it.commands, it.kernel, 1, &it.buffer, 1, NULL, 0);
   fixture_dispatch(it.commands, stray, 1, NULL, 0, &address, 8);
   assert_ok(agx_command_buffer_end(it.commands));
   add_phantom(&it, 0);
   submit(&it, 2, one_queue);
   run_dry(&it);
   assert_fails(fixture_wait(it.done[0], 1), AGX_DATA_LOSS, "2345678000");
   assert_non_null(strstr(agx_error_peek(), "dispatch 1 (\"stray"));
   assert_int_equal(all_ran(&it), 0);
   remove_phantom(&it);
   agx_release(stray);
   close_flights(&it);
   unsetenv("AGX_VIRTUAL_STRICT");
}

/* A kernel that refuses one leaves the others as they are. */
static void one_is_refused(void **state)
{
   struct flights it;
   open_flights(&it, "ioctl submit 2 ENOMEM");
   add_phantom(&it, 0);
   struct agx_semaphore *done = fixture_semaphore(&it.f);
   assert_ok(fixture_submit(&it.f, it.commands, NO_POINT, (struct agx_point){done, 1}));
   assert_fails(fixture_submit(&it.f, it.commands, NO_POINT, (struct agx_point){done, 2}),
                AGX_RESOURCE_EXHAUSTED, "SUBMIT");
   assert_ok(fixture_submit(&it.f, it.commands, NO_POINT, (struct agx_point){done, 3}));
   assert_ok(fixture_wait(done, 3));
   assert_int_equal(all_ran(&it), 2);
   assert_int_equal(it.kmd.asked, 0);
   remove_phantom(&it);
   assert_int_equal(it.commands->breadcrumb.slots.in_flight, 0);
   agx_release(done);
   close_flights(&it);
}

/* ---- the rules, without a device ------------------------------------------ */

struct rules {
   struct agx_breadcrumb_words words;
   struct agx_breadcrumb breadcrumb;
};

static void init_rules(struct rules *it, uint32_t from)
{
   *it = (struct rules){.breadcrumb = {.words = &it->words, .prologues_va = 0x1000}};
   for (uint32_t i = 0; i < AGX_BREADCRUMB_SLOTS; i++)
      it->words.counts[i] = it->breadcrumb.slots.expected[i] = from;
}

static uint32_t enter(struct rules *it, uint32_t queue)
{
   struct agxw_compute stream = {1, 2};
   uint32_t count = agx_breadcrumb_begin(&it->breadcrumb, queue, true, &stream);
   assert_int_equal(stream.stream_va, count ? 0x1000 + count * AGX_BREADCRUMB_PROLOGUE_BYTES : 1);
   return count;
}

static void counts_wrap(void **state)
{
   struct rules it;
   init_rules(&it, UINT32_MAX - 1);
   for (uint32_t i = 0; i < 4; i++) {
      uint32_t first = enter(&it, 0), second = enter(&it, 0);
      assert_int_equal(first, 0);
      assert_int_equal(second, 1);
      assert_false(agx_breadcrumb_tells_success(&it.breadcrumb, first));
      it.words.counts[second]++;
      assert_true(agx_breadcrumb_tells_success(&it.breadcrumb, second));
      assert_false(agx_breadcrumb_tells_success(&it.breadcrumb, first));
      it.words.counts[first]++;
      assert_true(agx_breadcrumb_tells_success(&it.breadcrumb, first));
      agx_breadcrumb_end(&it.breadcrumb, first, false);
      agx_breadcrumb_end(&it.breadcrumb, second, false);
   }
}

/* From the moment that another queue has it, single counts say nothing of the submissions in
 * flight: the second one's end may have added to the first one's count. */
static void mixing_spoils_all(void **state)
{
   struct rules it;
   init_rules(&it, 0);
   uint32_t first = enter(&it, 0), second = enter(&it, 0), other = enter(&it, 1);
   assert_int_equal(other, 0);
   it.words.counts[first]++;
   it.words.counts[second]++;
   assert_false(agx_breadcrumb_tells_success(&it.breadcrumb, first));
   assert_false(agx_breadcrumb_tells_success(&it.breadcrumb, second));
   assert_int_equal(enter(&it, 0), 0); /* through no prologue any more */
   it.words.counts[second] += 2;
   assert_true(agx_breadcrumb_tells_success(&it.breadcrumb, first));
   assert_true(agx_breadcrumb_tells_success(&it.breadcrumb, other));
   const uint32_t counts[] = {first, second, other, 0};
   for (uint32_t i = 0; i < 4; i++)
      agx_breadcrumb_end(&it.breadcrumb, counts[i], false);
   assert_int_equal(enter(&it, 1), 0);
   assert_int_equal(enter(&it, 1), 1); /* as new */
   assert_false(agx_breadcrumb_tells_success(&it.breadcrumb, 1));
   it.words.counts[1]++;
   assert_true(agx_breadcrumb_tells_success(&it.breadcrumb, 1));
}

/* One that must come through the recorded stream adds to whatever count was current. */
static void without_a_head_behind_heads(void **state)
{
   struct rules it;
   struct agxw_compute stream = {1, 2};
   init_rules(&it, 0);
   (void)enter(&it, 0);
   assert_int_equal(agx_breadcrumb_begin(&it.breadcrumb, 0, false, &stream), 0);
   assert_false(it.breadcrumb.slots.is_mixed); /* no submission has come through a prologue */
   assert_int_equal(enter(&it, 0), 1);
   assert_int_equal(agx_breadcrumb_begin(&it.breadcrumb, 0, false, &stream), 0);
   assert_true(it.breadcrumb.slots.is_mixed);
   assert_int_equal(stream.stream_va, 1);
}

/* A count that lags without a failure may come late, and is not taken for the next submission's. */
static void a_late_count_is_nobody_elses(void **state)
{
   struct rules it;
   init_rules(&it, 0);
   (void)enter(&it, 0);
   agx_breadcrumb_end(&it.breadcrumb, 0, false); /* the kernel was asked */
   (void)enter(&it, 0);
   it.words.counts[0]++;
   assert_false(agx_breadcrumb_tells_success(&it.breadcrumb, 0));
   it.words.counts[0]++;
   assert_true(agx_breadcrumb_tells_success(&it.breadcrumb, 0));
   agx_breadcrumb_end(&it.breadcrumb, 0, false);
   (void)enter(&it, 0);
   agx_breadcrumb_end(&it.breadcrumb, 0, true); /* one that failed is not waited for */
   (void)enter(&it, 0);
   assert_false(agx_breadcrumb_tells_success(&it.breadcrumb, 0));
   it.words.counts[0]++;
   assert_true(agx_breadcrumb_tells_success(&it.breadcrumb, 0));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(nobody_is_asked),
      cmocka_unit_test(idle_again),
      cmocka_unit_test(more_than_there_are_counts),
      cmocka_unit_test(without_memory_for_heads),
      cmocka_unit_test(several_queues_know_the_sum),
      cmocka_unit_test(each_may_fail),
      cmocka_unit_test(each_may_fail_without_heads),
      cmocka_unit_test(each_may_fail_on_two_queues),
      cmocka_unit_test(some_at_random),
      cmocka_unit_test(the_first_may_fail),
      cmocka_unit_test(one_cannot_be_asked),
      cmocka_unit_test(a_fault_behind_a_head_names_its_dispatch),
      cmocka_unit_test(one_is_refused),
      cmocka_unit_test(counts_wrap),
      cmocka_unit_test(mixing_spoils_all),
      cmocka_unit_test(without_a_head_behind_heads),
      cmocka_unit_test(a_late_count_is_nobody_elses),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
