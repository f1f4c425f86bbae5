/* SPDX-License-Identifier: MIT
 *
 * The end of an operation as the application hears of it (agx_op.end): once for each, with its tag
 * and how it came out, after its signals and after it let go of everything.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "failing_kmd.h"
#include "fixture.h"

#define ENDS 512

/* What was heard. */
struct ends {
   struct work w;
   struct agx_semaphore *gate;
   _Atomic uint32_t calls;
   _Atomic uint32_t by_tag[ENDS];
   agx_status status[ENDS];
   char text[ENDS][128];
};

static void note_end(void *user, uint64_t tag, agx_status status)
{
   struct ends *it = user;
   it->status[tag] = status;
   if (status != AGX_OK)
      agx_error_text(it->text[tag], sizeof(it->text[tag]));
   it->by_tag[tag]++;
   it->calls++;
}

static void await_ends(const struct ends *it, uint32_t count)
{
   while (it->calls < count)
      usleep(1000);
}

static struct ends *open_ends(void)
{
   struct ends *it = calloc(1, sizeof(*it));
   assert_non_null(it);
   work_open(&it->w, "virtual");
   work_record(&it->w);
   it->gate = fixture_semaphore(it->w.f);
   return it;
}

static void close_ends(struct ends *it)
{
   agx_release(it->gate);
   work_close(&it->w);
   for (uint32_t i = 0; i < ENDS; i++)
      assert_true(it->by_tag[i] <= 1);
   free(it);
}

static agx_status submit_with_end(struct ends *it, struct agx_op op, uint64_t tag,
                                  struct agx_point wait, struct agx_point signal)
{
   op.size = sizeof(op);
   op.waits = &wait;
   op.wait_count = wait.semaphore != NULL;
   op.signals = &signal;
   op.signal_count = signal.semaphore != NULL;
   op.end = note_end;
   op.end_user = it;
   op.tag = tag;
   return agx_submit(it->w.f->device, &op, 1, NULL);
}

static agx_status submit_commands(struct ends *it, uint64_t tag, struct agx_point wait,
                                  struct agx_point signal)
{
   return submit_with_end(
      it, (struct agx_op){.kind = AGX_OP_EXECUTE, .u.execute.commands = it->w.commands}, tag, wait,
      signal);
}

static void each_operation_ends_once(void **state)
{
   struct ends *it = open_ends();
   assert_ok(submit_with_end(it, (struct agx_op){.kind = AGX_OP_BARRIER}, 1, NO_POINT, NO_POINT));
   assert_int_equal(it->calls, 1); /* within agx_submit */
   assert_ok(submit_commands(it, 2, NO_POINT, (struct agx_point){it->w.done, 1}));
   assert_ok(submit_commands(it, 3, NO_POINT, NO_POINT)); /* nothing waits for it */
   await_ends(it, 3);
   for (uint32_t i = 1; i <= 3; i++) {
      assert_int_equal(it->by_tag[i], 1);
      assert_int_equal(it->status[i], AGX_OK);
   }
   close_ends(it);
}

static void what_was_refused_has_no_end(void **state)
{
   struct ends *it = open_ends();
   const struct agx_point low = {it->w.done, 0};
   assert_fails(submit_commands(it, 1, NO_POINT, low), AGX_INVALID_ARGUMENT, "it is at 0 already");
   assert_ok(submit_with_end(it, (struct agx_op){.kind = AGX_OP_BARRIER}, 2, NO_POINT, NO_POINT));
   assert_int_equal(it->calls, 1);
   assert_int_equal(it->by_tag[1], 0);
   close_ends(it);
}

static agx_status do_nothing(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   return AGX_OK;
}

/* All that waits for one failure, of each kind that needs a thread, the GPU or neither. */
static void a_failed_wait_ends_it(void **state)
{
   struct ends *it = open_ends();
   const struct agx_point gate = {it->gate, 1};
   struct agx_buffer *transient = NULL;
   assert_ok(submit_commands(it, 0, gate, (struct agx_point){it->w.done, 1}));
   assert_ok(
      submit_with_end(it, (struct agx_op){.kind = AGX_OP_HOST_CALL, .u.host_call.fn = do_nothing},
                      1, gate, NO_POINT));
   assert_ok(submit_with_end(it, (struct agx_op){.kind = AGX_OP_BARRIER}, 2, gate, NO_POINT));
   assert_ok(submit_with_end(
      it, (struct agx_op){.kind = AGX_OP_ALLOCA, .u.alloca = {NULL, 4096, 0, &transient}}, 3, gate,
      NO_POINT));
   assert_ok(submit_commands(it, 4, (struct agx_point){it->w.done, 1}, NO_POINT));
   assert_int_equal(it->calls, 0);
   agx_semaphore_fail(it->gate, AGX_DATA_LOSS, "the gate is broken");
   await_ends(it, 5);
   for (uint32_t i = 0; i < 5; i++) {
      assert_int_equal(it->status[i], AGX_DATA_LOSS);
      assert_string_equal(it->text[i], "the gate is broken");
   }
   agx_release(transient);
   close_ends(it);
}

static void being_cancelled_ends_it(void **state)
{
   struct ends *it = open_ends();
   assert_ok(submit_commands(it, 0, (struct agx_point){it->gate, 1}, NO_POINT));
   agx_device_cancel(it->w.f->device);
   assert_int_equal(it->calls, 1);
   assert_int_equal(it->status[0], AGX_CANCELLED);
   assert_non_null(strstr(it->text[0], "cancelled"));
   close_ends(it);
}

static agx_status refuse(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   return AGX_FAIL(AGX_OUT_OF_RANGE, "too far");
}

static agx_status defer(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   *(struct agx_host_call * _Atomic *)user = call;
   return AGX_DEFERRED;
}

static void host_calls_end_with_their_status(void **state)
{
   struct ends *it = open_ends();
   struct agx_host_call *_Atomic deferred = NULL;
   struct agx_op op = {.kind = AGX_OP_HOST_CALL, .u.host_call.fn = refuse};
   assert_ok(submit_with_end(it, op, 0, NO_POINT, (struct agx_point){it->gate, 1}));
   await_ends(it, 1);
   assert_int_equal(it->status[0], AGX_OUT_OF_RANGE);
   assert_string_equal(it->text[0], "too far");
   op.u.host_call = (struct agx_op_host_call){.fn = defer, .user = (void *)&deferred};
   assert_ok(submit_with_end(it, op, 1, NO_POINT, (struct agx_point){it->w.done, 1}));
   while (!deferred)
      usleep(1000);
   assert_int_equal(it->calls, 1);
   agx_host_call_finish(deferred, AGX_OK, NULL);
   assert_int_equal(it->calls, 2);
   assert_int_equal(it->status[1], AGX_OK);
   close_ends(it);
}

/* A kernel's fault takes the queue, and what stands behind it there; a node that is gone takes the
 * device. */
static void what_is_lost_ends(void **state)
{
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   struct ends *it = open_ends();
   unsetenv("AGX_VIRTUAL_STRICT");
   struct agx_executable *stray = fixture_kernel(it->w.f, &agx_test_stray);
   struct agx_command_buffer *commands = fixture_begin(it->w.f);
   const uint64_t address = 0x1234567890;
   fixture_dispatch(commands, stray, 1, NULL, 0, &address, 8);
   assert_ok(agx_command_buffer_end(commands));
   struct agx_op op = {.kind = AGX_OP_EXECUTE, .u.execute.commands = commands};
   assert_ok(submit_with_end(it, op, 0, NO_POINT, (struct agx_point){it->w.done, 1}));
   for (uint64_t i = 1; i < 20; i++) {
      agx_status status = submit_commands(it, i, NO_POINT, NO_POINT);
      if (status != AGX_OK) /* the queue is known to be lost by now */
         note_end(it, i, status);
   }
   assert_int_equal(fixture_wait(it->w.done, 1), AGX_DATA_LOSS);
   await_ends(it, 20);
   for (uint32_t i = 0; i < 20; i++) {
      assert_int_equal(it->status[i], AGX_DATA_LOSS);
      assert_int_equal(it->by_tag[i], 1);
      assert_non_null(strstr(it->text[i], "GPU fault"));
   }
   agx_release(commands);
   agx_release(stray);
   close_ends(it);
}

static void the_devices_loss_ends_it(void **state)
{
   struct ends *it = calloc(1, sizeof(*it));
   work_open_failing(&it->w, NULL);
   work_record(&it->w);
   it->gate = fixture_semaphore(it->w.f);
   assert_ok(submit_commands(it, 0, (struct agx_point){it->gate, 1}, NO_POINT));
   assert_ok(submit_commands(it, 1, NO_POINT, (struct agx_point){it->w.done, 1}));
   failing_kmd_arm(it->w.kmd, 0, 0, 19 /* ENODEV */);
   (void)!fixture_wait(it->w.done, 1);
   (void)!agx_semaphore_signal(it->gate, 1);
   await_ends(it, 2);
   assert_int_not_equal(it->status[0], AGX_OK);
   failing_kmd_disarm(it->w.kmd);
   close_ends(it);
}

/* ---- what an end may do ----------------------------------------------------- */

/* Releases what it holds, which may be the last reference, and submits the next. */
struct relay {
   struct ends *it;
   struct agx_buffer *buffer;
   _Atomic uint32_t left;
};

static void run_relay(void *user, uint64_t tag, agx_status status)
{
   struct relay *relay = user;
   struct ends *it = relay->it;
   uint64_t value = 0;
   assert_ok(status);
   assert_ok(agx_semaphore_query(it->w.done, &value));
   assert_true(value >= tag); /* published before */
   if (tag == 1) {
      agx_release(relay->buffer);
      relay->buffer = NULL;
   }
   const struct agx_point signal = {it->w.done, tag + 1};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_EXECUTE,
                             .signals = &signal,
                             .signal_count = 1,
                             .u.execute.commands = it->w.commands,
                             .end = run_relay,
                             .end_user = relay,
                             .tag = tag + 1};
   if (relay->left > 1)
      assert_ok(agx_submit(it->w.f->device, &op, 1, NULL));
   relay->left--;
}

static void ends_submit_and_release(void **state)
{
   struct ends *it = open_ends();
   uint32_t *words;
   struct relay relay = {it, fixture_buffer(it->w.f, 4096, &words), 50};
   const struct agx_point signal = {it->w.done, 1};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_FILL,
                             .signals = &signal,
                             .signal_count = 1,
                             .u.fill = {.target = {relay.buffer, 0, 4096}, .pattern_B = 4},
                             .end = run_relay,
                             .end_user = &relay,
                             .tag = 1};
   assert_ok(agx_submit(it->w.f->device, &op, 1, NULL));
   assert_ok(fixture_wait(it->w.done, 50));
   while (relay.left)
      usleep(1000);
   assert_null(relay.buffer);
   close_ends(it);
}

/* The library holds nothing more for the operation by then: the last reference is the caller's. */
struct holder {
   bool *is_freed;
   _Atomic bool is_over;
   bool was_freed;
};

static void note_free(void *user)
{
   *(bool *)user = true;
}

static void note_holder(void *user, uint64_t tag, agx_status status)
{
   struct holder *holder = user;
   holder->was_freed = *holder->is_freed;
   holder->is_over = true;
}

static void references_go_before(void **state)
{
   struct ends *it = open_ends();
   uint8_t bytes[64] = {0};
   bool is_freed = false;
   struct holder holder = {.is_freed = &is_freed};
   const struct agx_file_desc desc = {.size = sizeof(desc),
                                      .kind = AGX_FILE_HOST_MEMORY,
                                      .access = AGX_FILE_READ,
                                      .memory = bytes,
                                      .memory_B = sizeof(bytes),
                                      .release = note_free,
                                      .user = &is_freed};
   struct agx_file *file = NULL;
   assert_ok(agx_file_import(it->w.f->device, &desc, &file));
   const struct agx_point gate = {it->gate, 1};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_READ,
                             .waits = &gate,
                             .wait_count = 1,
                             .u.file = {file, 0, {it->w.buffers[0], 0, 64}},
                             .end = note_holder,
                             .end_user = &holder};
   assert_ok(agx_submit(it->w.f->device, &op, 1, NULL));
   agx_release(file);
   assert_false(is_freed);
   assert_ok(agx_semaphore_signal(it->gate, 1));
   while (!holder.is_over)
      usleep(1000);
   assert_true(holder.was_freed);
   close_ends(it);
}

/* ---- several threads -------------------------------------------------------- */

#define THREADS 4

struct submitter {
   struct ends *it;
   uint32_t first;
};

static void *submit_many(void *user)
{
   const struct submitter *own = user;
   for (uint32_t i = 0; i < ENDS / THREADS; i++) {
      const struct agx_op op = {.kind = i % 3 ? AGX_OP_BARRIER : AGX_OP_EXECUTE,
                                .u.execute.commands = i % 3 ? NULL : own->it->w.commands};
      const struct agx_point wait = i % 5 ? NO_POINT : (struct agx_point){own->it->gate, 1};
      assert_ok(submit_with_end(own->it, op, own->first + i, wait, NO_POINT));
   }
   return NULL;
}

static void threads_hear_of_each(void **state)
{
   struct ends *it = open_ends();
   pthread_t threads[THREADS];
   struct submitter submitters[THREADS];
   for (uint32_t i = 0; i < THREADS; i++) {
      submitters[i] = (struct submitter){it, i * (ENDS / THREADS)};
      assert_int_equal(pthread_create(&threads[i], NULL, submit_many, &submitters[i]), 0);
   }
   usleep(1000);
   assert_ok(agx_semaphore_signal(it->gate, 1));
   for (uint32_t i = 0; i < THREADS; i++)
      pthread_join(threads[i], NULL);
   await_ends(it, ENDS);
   for (uint32_t i = 0; i < ENDS; i++) {
      assert_int_equal(it->by_tag[i], 1);
      assert_int_equal(it->status[i], AGX_OK);
   }
   close_ends(it);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_operation_ends_once),
      cmocka_unit_test(what_was_refused_has_no_end),
      cmocka_unit_test(a_failed_wait_ends_it),
      cmocka_unit_test(being_cancelled_ends_it),
      cmocka_unit_test(host_calls_end_with_their_status),
      cmocka_unit_test(what_is_lost_ends),
      cmocka_unit_test(the_devices_loss_ends_it),
      cmocka_unit_test(ends_submit_and_release),
      cmocka_unit_test(references_go_before),
      cmocka_unit_test(threads_hear_of_each),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
