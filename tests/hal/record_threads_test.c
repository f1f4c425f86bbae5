/* SPDX-License-Identifier: MIT
 *
 * Threads record at the same time, each its own command buffers, over the same objects, which
 * remember where they were last in whose recording; and take chunks and tags from one device.
 */
#include "fixture.h"

#include <pthread.h>
#include <string.h>

#include "base/util.h"
#include "stream.h"

#define THREADS 4
#define ROUNDS  30
#define BUFFERS 20 /* more than a set begins with */

struct shared {
   struct fixture f;
   struct agx_executable *add;
   struct agx_buffer *inputs[BUFFERS];
   uint32_t *words[BUFFERS];
};

struct worker {
   struct shared *shared;
   pthread_t thread;
   uint32_t number;
   struct agx_buffer *sum;
   uint32_t *words;
};

/* sum = input + number, one input after the other, from another one in each thread. */
static void record(struct worker *worker, struct agx_command_buffer *commands, uint32_t count)
{
   struct shared *shared = worker->shared;
   for (uint32_t i = 0; i < count; i++) {
      uint32_t which = (i + worker->number * 7) % BUFFERS, number = 100 * worker->number + i;
      struct agx_buffer *buffers[2] = {shared->inputs[which], worker->sum};
      fixture_dispatch(commands, shared->add, 1, buffers, 2, &number, 4);
      assert_ok(agx_cmd_barrier(commands, NULL));
   }
   assert_ok(agx_command_buffer_end(commands));
}

static void *work(void *user)
{
   struct worker *worker = user;
   struct shared *shared = worker->shared;
   struct agx_semaphore *done = fixture_semaphore(&shared->f);
   for (uint32_t round = 1; round <= ROUNDS; round++) {
      struct agx_command_buffer *commands = fixture_begin(&shared->f);
      uint32_t count = round % 8 ? 2 * BUFFERS : 600; /* of which some take large chunks */
      record(worker, commands, count);
      assert_int_equal(strlen(stream_text(commands)), 2 * count - 1);
      assert_ok(fixture_submit(&shared->f, commands, NO_POINT, (struct agx_point){done, round}));
      assert_ok(fixture_wait(done, round));
      uint32_t last = (count - 1 + worker->number * 7) % BUFFERS;
      assert_int_equal(worker->words[0], 1000 * last + 100 * worker->number + count - 1);
      agx_release(commands);
   }
   agx_release(done);
   return NULL;
}

static void threads_record_over_the_same_objects(void **state)
{
   static struct shared shared;
   static struct worker workers[THREADS];
   fixture_open(&shared.f, "virtual:g13g");
   shared.add = fixture_kernel(&shared.f, &agx_test_add);
   for (uint32_t i = 0; i < BUFFERS; i++) {
      shared.inputs[i] = fixture_buffer(&shared.f, 128, &shared.words[i]);
      shared.words[i][0] = 1000 * i;
   }
   for (uint32_t i = 0; i < THREADS; i++) {
      workers[i] = (struct worker){.shared = &shared, .number = i};
      workers[i].sum = fixture_buffer(&shared.f, 128, &workers[i].words);
      assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
   }
   for (uint32_t i = 0; i < THREADS; i++) {
      pthread_join(workers[i].thread, NULL);
      agx_release(workers[i].sum);
   }
   for (uint32_t i = 0; i < BUFFERS; i++)
      agx_release(shared.inputs[i]);
   agx_release(shared.add);
   fixture_close(&shared.f);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_record_over_the_same_objects),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
