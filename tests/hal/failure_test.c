/* SPDX-License-Identifier: MIT
 *
 * The kernel refuses, hangs or goes away: every request fails in turn, and each time the
 * HAL returns an error, leaks nothing, waits for no fence that can't come, and closes the node.
 */
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>

#include "failing_kmd.h"
#include "fixture.h"
#include "hal/device/device.h"
#include "hal/profile/profile_session.h"
#include "hal/sync/semaphore.h"

/* Opens, creates, runs one kernel, waits. What failed, or AGX_OK. */
static agx_status whole_life(struct failing_kmd *kmd, const void *image, size_t image_B)
{
   struct agx_executable_desc desc = {.size = sizeof(desc), .data = image, .data_B = image_B};
   struct agx_buffer_desc buffer_desc = {.size = sizeof(buffer_desc), .size_B = 256};
   struct agx_instance *instance = NULL;
   struct agx_device *device = NULL;
   struct agx_executable *executable = NULL;
   struct agx_buffer *buffer = NULL;
   struct agx_command_buffer *commands = NULL;
   struct agx_semaphore *done = NULL;
   void *memory = NULL;
   assert_ok(agx_instance_create(NULL, &instance));
   agx_status status = agx_device_open_kmd(instance, &kmd->base, &device);
   if (status == AGX_OK)
      status = agx_executable_create(device, &desc, &executable);
   if (status == AGX_OK)
      status = agx_buffer_create(device, &buffer_desc, &buffer);
   if (status == AGX_OK)
      status = agx_buffer_map(buffer, &memory);
   if (status == AGX_OK) {
      assert_ok(agx_semaphore_create(device, 0, &done));
      assert_ok(agx_command_buffer_create(device, NULL, &commands));
      assert_ok(agx_command_buffer_begin(commands));
      const struct agx_binding binding = {.ref = {buffer, 0, AGX_WHOLE_LENGTH}};
      const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                            .executable = executable,
                                            .workgroups = {1, 1, 1},
                                            .binding_count = 1,
                                            .bindings = &binding};
      status = agx_cmd_dispatch(commands, &dispatch);
   }
   if (status == AGX_OK)
      status = agx_command_buffer_end(commands);
   struct agx_point point = {done, 1};
   struct agx_op op = {.size = sizeof(op),
                       .kind = AGX_OP_EXECUTE,
                       .signals = &point,
                       .signal_count = 1,
                       .u.execute.commands = commands};
   if (status == AGX_OK)
      status = agx_submit(device, &op, 1, NULL);
   if (status == AGX_OK)
      status = agx_semaphore_wait(&point, 1, false, AGX_DEADLINE_NEVER);
   if (status == AGX_OK)
      assert_int_equal(((uint32_t *)memory)[63], 64);
   agx_release(done);
   agx_release(commands);
   agx_release(buffer);
   agx_release(executable);
   agx_release(device);
   agx_release(instance);
   failing_kmd_await_close(kmd);
   return status;
}

static void every_request_may_fail(void **state)
{
   static const int errors[] = {ENOMEM, EINVAL, ENODEV};
   size_t image_B;
   void *image = agx_test_kernel_elf(&agx_test_count, "g13g", &image_B);
   for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
      bool finished = false;
      for (int nth = 0; nth < 200 && !finished; nth++) {
         struct failing_kmd kmd;
         failing_kmd_open(&kmd);
         failing_kmd_arm(&kmd, nth, 0, errors[i]);
         agx_status status = whole_life(&kmd, image, image_B);
         finished = kmd.failed == 0;
         if (finished)
            assert_int_equal(status, AGX_OK);
      }
      assert_true(finished);
   }
   free(image);
}

/* A refused submission leaves the semaphore and the command buffer as they were. */
static void a_refused_submission_can_be_repeated(void **state)
{
   struct work w;
   struct agx_point signal;
   uint64_t value;
   work_open_failing(&w, NULL);
   work_record(&w);
   signal = (struct agx_point){w.done, 1};
   failing_kmd_arm(w.kmd, 0, NR_SUBMIT, ENOMEM);
   assert_fails(fixture_submit(w.f, w.commands, NO_POINT, signal), AGX_RESOURCE_EXHAUSTED, "");
   assert_ok(agx_semaphore_query(w.done, &value));
   assert_int_equal(value, 0);
   failing_kmd_disarm(w.kmd);
   assert_ok(fixture_submit(w.f, w.commands, NO_POINT, signal));
   assert_ok(fixture_wait(w.done, 1));
   assert_int_equal(w.words[0][63], 64);
   work_close(&w);
}

static void ignore(void *user, const struct agx_profile_record *record) {}

/* Nor does a session think that it is in flight. */
static void a_refused_submission_leaves_no_profile(void **state)
{
   struct work w;
   work_open_failing(&w, NULL);
   work_record(&w);
   const struct agx_profile_desc desc = {
      .size = sizeof(desc), .families = AGX_PROFILE_DEVICE_QUEUE, .fn = ignore};
   assert_ok(agx_profile_begin(w.f->device, &desc));
   const struct agx_profile *profile = w.f->device->context.profile;
   for (uint64_t round = 1; round <= 3; round++) {
      const struct agx_point signal = {w.done, round};
      failing_kmd_arm(w.kmd, 0, NR_SUBMIT, ENOMEM);
      assert_fails(fixture_submit(w.f, w.commands, NO_POINT, signal), AGX_RESOURCE_EXHAUSTED, "");
      failing_kmd_disarm(w.kmd);
      assert_true(agx_list_empty(&profile->in_flight));
      assert_ok(fixture_submit(w.f, w.commands, NO_POINT, signal));
      assert_ok(fixture_wait(w.done, round));
      assert_true(agx_list_empty(&profile->in_flight));
   }
   assert_ok(agx_profile_end(w.f->device));
   work_close(&w);
}

/* agx_submit() has returned when the kernel refuses a parked submission: its signals fail. */
static void a_parked_submission_that_is_refused_fails(void **state)
{
   struct work w;
   work_open_failing(&w, NULL);
   work_record(&w);
   struct agx_semaphore *go = fixture_semaphore(w.f);
   assert_ok(
      fixture_submit(w.f, w.commands, (struct agx_point){go, 1}, (struct agx_point){w.done, 1}));
   failing_kmd_arm(w.kmd, 0, NR_SUBMIT, ENOMEM);
   assert_ok(agx_semaphore_signal(go, 1));
   assert_fails(fixture_wait(w.done, 1), AGX_RESOURCE_EXHAUSTED, "");
   assert_int_equal(w.words[0][63], 0);
   agx_release(go);
   work_close(&w);
}

/* When waiting itself fails the device counts as lost: everything outstanding fails, and
 * so does what comes later. */
static void a_lost_device_fails_what_is_outstanding(void **state)
{
   struct work w;
   work_open_failing(&w, NULL);
   work_record(&w);
   failing_kmd_arm(w.kmd, 0, NR_TIMELINE_WAIT, ENODEV);
   assert_ok(fixture_submit(w.f, w.commands, NO_POINT, (struct agx_point){w.done, 1}));
   agx_status status = fixture_wait(w.done, 1);
   assert_int_not_equal(status, AGX_OK);
   failing_kmd_disarm(w.kmd);
   assert_int_equal(agx_device_status(w.f->device), status);
   struct agx_semaphore *later = fixture_semaphore(w.f);
   assert_ok(fixture_submit(w.f, w.commands, NO_POINT, (struct agx_point){later, 1}));
   assert_int_equal(fixture_wait(later, 1), status);
   assert_int_equal(agx_queue_recreate(w.f->device, 0), status);
   agx_release(later);
   work_close(&w);
}

/* A shortage while waiting or asking is the caller's to hear of, and takes nothing away. */
static void a_shortage_takes_nothing_away(void **state)
{
   struct work w;
   work_open_failing(&w, NULL);
   work_record(&w);
   failing_kmd_arm(w.kmd, 0, NR_TIMELINE_WAIT, ENOMEM);
   assert_ok(fixture_submit(w.f, w.commands, NO_POINT, (struct agx_point){w.done, 1}));
   agx_status status = fixture_wait(w.done, 1);
   assert_true(status == AGX_OK || status == AGX_RESOURCE_EXHAUSTED);
   failing_kmd_disarm(w.kmd);
   assert_ok(agx_device_status(w.f->device));
   assert_ok(fixture_wait(w.done, 1));
   assert_int_equal(w.words[0][63], 64);
   assert_ok(fixture_submit(w.f, w.commands, NO_POINT, (struct agx_point){w.done, 2}));
   assert_ok(fixture_wait(w.done, 2));
   work_close(&w);
}

/* A fault takes its queue away: what is behind it fails with its text, what comes later does, and
 * another queue goes on, until the queue is made anew. */
static void a_fault_takes_its_queue_away(void **state)
{
   enum {
      BEHIND = 12
   };
   struct fixture f;
   uint64_t address = 0x2345678000;
   uint32_t *words;
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   fixture_open(&f, "virtual");
   struct agx_executable *stray = fixture_kernel(&f, &agx_test_stray);
   struct agx_executable *count = fixture_kernel(&f, &agx_test_count);
   struct agx_buffer *buffer = fixture_buffer(&f, 256, &words);
   struct agx_buffer *second = fixture_buffer(&f, 256, &words);
   struct agx_command_buffer *bad = fixture_begin(&f), *good = fixture_begin(&f),
                             *beside = fixture_begin(&f);
   fixture_dispatch(bad, stray, 1, NULL, 0, &address, 8);
   fixture_dispatch(good, count, 1, &buffer, 1, NULL, 0);
   fixture_dispatch(beside, count, 1, &second, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(beside));
   assert_ok(agx_command_buffer_end(bad));
   assert_ok(agx_command_buffer_end(good));
   assert_fails(agx_queue_recreate(f.device, 0), AGX_FAILED_PRECONDITION, "not lost");
   for (uint64_t round = 0; round < 20; round++) {
      struct agx_semaphore *failed = fixture_semaphore(&f), *behind = fixture_semaphore(&f),
                           *later = fixture_semaphore(&f), *other = fixture_semaphore(&f);
      assert_ok(fixture_submit(&f, bad, NO_POINT, (struct agx_point){failed, 1}));
      for (uint64_t i = 1; i <= BEHIND; i++)
         assert_ok(fixture_submit(&f, good, NO_POINT, (struct agx_point){behind, i}));
      assert_fails(fixture_wait(failed, 1), AGX_DATA_LOSS, "fault");
      assert_fails(fixture_wait(behind, BEHIND), AGX_DATA_LOSS, "fault");
      assert_ok(fixture_submit(&f, good, NO_POINT, (struct agx_point){later, 1}));
      assert_fails(fixture_wait(later, 1), AGX_DATA_LOSS, "fault");
      const struct agx_point signal = {other, 1};
      const struct agx_op op = {.size = sizeof(op),
                                .kind = AGX_OP_EXECUTE,
                                .queues = 2,
                                .signals = &signal,
                                .signal_count = 1,
                                .u.execute = {beside}};
      assert_ok(agx_submit(f.device, &op, 1, NULL));
      assert_ok(fixture_wait(other, 1));
      assert_ok(agx_device_status(f.device));
      assert_ok(agx_queue_recreate(f.device, 0));
      assert_ok(fixture_submit(&f, good, NO_POINT, (struct agx_point){other, 2}));
      assert_ok(fixture_wait(other, 2));
      agx_release(failed);
      agx_release(behind);
      agx_release(later);
      agx_release(other);
   }
   agx_release(bad);
   agx_release(good);
   agx_release(beside);
   agx_release(second);
   agx_release(buffer);
   agx_release(count);
   agx_release(stray);
   fixture_close(&f);
   unsetenv("AGX_VIRTUAL_STRICT");
}

/* The second submission waits in its request for the failure of the first one, which the device's
 * own threads don't ask for before. */
struct late {
   struct agx_semaphore *failed;
   pthread_t submitter;
   sem_t second;
   unsigned submissions;
};

static void hear_of_the_fault(void *user, uint32_t nr)
{
   struct late *late = user;
   if (!pthread_equal(pthread_self(), late->submitter)) {
      assert_int_equal(sem_wait(&late->second), 0);
      assert_int_equal(sem_post(&late->second), 0);
   } else if (nr == NR_SUBMIT && ++late->submissions == 2) {
      assert_int_equal(sem_post(&late->second), 0);
      assert_fails(fixture_wait(late->failed, 1), AGX_DATA_LOSS, "fault");
   }
}

/* What the kernel is being given while its queue is lost fails then and there. */
static void a_queue_lost_meanwhile_is_heard_of(void **state)
{
   struct work w;
   setenv("AGX_VIRTUAL_INJECT", "fault 1", 1);
   work_open_failing(&w, NULL);
   work_record(&w);
   unsetenv("AGX_VIRTUAL_INJECT");
   struct late late = {.failed = fixture_semaphore(w.f), .submitter = pthread_self()};
   assert_int_equal(sem_init(&late.second, 0, 0), 0);
   w.kmd->hook_user = &late;
   w.kmd->hook = hear_of_the_fault;
   assert_ok(fixture_submit(w.f, w.commands, NO_POINT, (struct agx_point){late.failed, 1}));
   assert_ok(fixture_submit(w.f, w.commands, NO_POINT, (struct agx_point){w.done, 1}));
   assert_int_equal(late.submissions, 2);
   pthread_mutex_lock(&w.f->device->sync.lock);
   assert_int_equal(w.done->failure.status, AGX_DATA_LOSS);
   pthread_mutex_unlock(&w.f->device->sync.lock);
   assert_fails(fixture_wait(w.done, 1), AGX_DATA_LOSS, "fault");
   w.kmd->hook = NULL;
   agx_release(late.failed);
   work_close(&w);
   sem_destroy(&late.second);
}

/* Of what failed on one queue nothing follows on another, also when the host hears of both at once,
 * and of the other queue first. */
static void a_fault_is_known_before_what_follows(void **state)
{
   struct fixture f;
   uint32_t *words;
   setenv("AGX_VIRTUAL_INJECT", "fault 1", 1);
   fixture_open(&f, "virtual");
   unsetenv("AGX_VIRTUAL_INJECT");
   struct agx_executable *count = fixture_kernel(&f, &agx_test_count);
   struct agx_buffer *buffer = fixture_buffer(&f, 256, &words);
   struct agx_command_buffer *commands[2];
   struct agx_semaphore *failed = fixture_semaphore(&f), *done = fixture_semaphore(&f);
   const struct agx_point middle = {failed, 1}, end = {done, 1};
   struct agx_op ops[2] = {0};
   for (uint32_t i = 0; i < 2; i++) {
      commands[i] = fixture_begin(&f);
      fixture_dispatch(commands[i], count, 1, &buffer, 1, NULL, 0);
      assert_ok(agx_command_buffer_end(commands[i]));
      ops[i] = (struct agx_op){.size = sizeof(ops[i]),
                               .kind = AGX_OP_EXECUTE,
                               .queues = i ? 1 : 2,
                               .waits = &middle,
                               .wait_count = i,
                               .signals = i ? &end : &middle,
                               .signal_count = 1,
                               .u.execute.commands = commands[i]};
   }
   assert_ok(agx_submit(f.device, ops, 2, NULL));
   pthread_mutex_lock(&f.device->sync.lock);
   const struct agxw_point last = {f.device->sync.queues[0].timeline, 1};
   assert_ok(agxw_wait(agx_context_of(f.device)->winsys, &last, 1, false, AGX_DEADLINE_NEVER));
   pthread_mutex_unlock(&f.device->sync.lock);
   assert_fails(fixture_wait(done, 1), AGX_DATA_LOSS, "fault");
   assert_fails(fixture_wait(failed, 1), AGX_DATA_LOSS, "fault");
   for (uint32_t i = 0; i < 2; i++)
      agx_release(commands[i]);
   agx_release(failed);
   agx_release(done);
   agx_release(buffer);
   agx_release(count);
   fixture_close(&f);
}

/* An operation without GPU work stands between two of one queue, and fails because the host fails
 * what it waits for: the second is not told to be done before that, though both have run when the
 * host hears of the first. */
static void a_failure_between_is_known_before_what_follows(void **state)
{
   struct work w;
   work_open_failing(&w, NULL);
   work_record(&w);
   struct fixture *f = w.f;
   struct agx_semaphore *first = fixture_semaphore(f), *between = fixture_semaphore(f);
   const struct agx_point points[3] = {{first, 1}, {between, 1}, {w.done, 1}};
   struct agx_op ops[3] = {0};
   for (uint32_t i = 0; i < 3; i++)
      ops[i] = (struct agx_op){.size = sizeof(ops[i]),
                               .kind = i == 1 ? AGX_OP_BARRIER : AGX_OP_EXECUTE,
                               .waits = i ? &points[i - 1] : NULL,
                               .wait_count = i > 0,
                               .signals = &points[i],
                               .signal_count = 1,
                               .u.execute.commands = i == 1 ? NULL : w.commands};
   failing_kmd_arm(w.kmd, 0, NR_TIMELINE_QUERY,
                   ENOMEM); /* the completion thread learns of no end */
   assert_ok(agx_submit(f->device, ops, 3, NULL));
   agx_semaphore_fail(first, AGX_DATA_LOSS, "by the host");
   failing_kmd_disarm(w.kmd);
   assert_fails(fixture_wait(w.done, 1), AGX_DATA_LOSS, "by the host");
   assert_fails(fixture_wait(between, 1), AGX_DATA_LOSS, "by the host");
   agx_release(between);
   agx_release(first);
   work_close(&w);
}

static void never_called(struct agx_watch *watch, agx_status status, uint64_t value)
{
   fail();
}

static bool is_in_kernel(struct agx_device *device)
{
   pthread_mutex_lock(&device->sync.lock);
   bool is = device->sync.in_kernel > 0;
   pthread_mutex_unlock(&device->sync.lock);
   return is;
}

/* A device goes while its thread sits in the kernel, which refuses to have it woken: what the
 * thread still has to tell when it comes back must not bring the device to life again. */
static void a_device_goes_though_nobody_can_be_woken(void **state)
{
   struct work w;
   uint64_t value = 0;
   setenv("AGX_VIRTUAL_INJECT", "unwoken 1; slow 1 50000", 1);
   work_open_failing(&w, NULL);
   work_record(&w);
   unsetenv("AGX_VIRTUAL_INJECT");
   struct agx_watch watch = {.value = 2, .fn = never_called};
   assert_ok(fixture_submit(w.f, w.commands, NO_POINT, (struct agx_point){w.done, 1}));
   assert_ok(agx_semaphore_watch(w.done, &watch));
   while (!is_in_kernel(w.f->device))
      sched_yield();
   while (value == 0)
      assert_ok(agx_semaphore_query(w.done, &value));
   assert_true(agx_semaphore_unwatch(w.done, &watch));
   failing_kmd_arm(w.kmd, 0, NR_TIMELINE_SIGNAL, ENOMEM);
   work_close(&w);
}

/* Memory that a refused submission would have used is free at once: nothing waits for an epoch that
 * is never submitted. */
static void a_refused_submission_uses_no_memory(void **state)
{
   struct work w;
   struct agx_buffer *first = NULL, *second = NULL;
   work_open_failing(&w, NULL);
   work_record(&w);
   const struct agx_point given = {w.done, 1}, taken = {w.done, 2};
   struct agx_pool_desc desc = {
      .size = sizeof(desc), .strategy = AGX_POOL_FIXED, .block_B = 65536, .limit_B = 65536};
   struct agx_pool *pool = NULL;
   assert_ok(agx_pool_create(w.f->device, &desc, &pool));
   struct agx_op op = {
      .size = sizeof(op), .kind = AGX_OP_ALLOCA, .u.alloca = {.size_B = 256, .pool = pool}};
   op.u.alloca.out_buffer = &first;
   assert_ok(agx_submit(w.f->device, &op, 1, NULL));
   struct agx_command_buffer *commands = fixture_begin(w.f);
   fixture_dispatch(commands, w.count, 1, &first, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   failing_kmd_arm(w.kmd, 0, NR_SUBMIT, ENOMEM);
   assert_fails(fixture_submit(w.f, commands, NO_POINT, given), AGX_RESOURCE_EXHAUSTED, "");
   failing_kmd_disarm(w.kmd);
   const struct agx_op give = {.size = sizeof(give),
                               .kind = AGX_OP_DEALLOCA,
                               .signals = &given,
                               .signal_count = 1,
                               .u.dealloca.buffer = first};
   assert_ok(agx_submit(w.f->device, &give, 1, NULL));
   op.flags = AGX_ALLOCA_ALLOW_WAIT;
   op.signals = &taken;
   op.signal_count = 1;
   op.u.alloca.out_buffer = &second;
   assert_ok(agx_submit(w.f->device, &op, 1, NULL));
   assert_ok(agx_semaphore_wait(&taken, 1, false, 0));
   agx_release(commands);
   agx_release(first);
   agx_release(second);
   agx_release(pool);
   work_close(&w);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_request_may_fail),
      cmocka_unit_test(a_refused_submission_can_be_repeated),
      cmocka_unit_test(a_parked_submission_that_is_refused_fails),
      cmocka_unit_test(a_refused_submission_leaves_no_profile),
      cmocka_unit_test(a_refused_submission_uses_no_memory),
      cmocka_unit_test(a_shortage_takes_nothing_away),
      cmocka_unit_test(a_fault_takes_its_queue_away),
      cmocka_unit_test(a_queue_lost_meanwhile_is_heard_of),
      cmocka_unit_test(a_fault_is_known_before_what_follows),
      cmocka_unit_test(a_failure_between_is_known_before_what_follows),
      cmocka_unit_test(a_device_goes_though_nobody_can_be_woken),
      cmocka_unit_test(a_lost_device_fails_what_is_outstanding),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
