/* SPDX-License-Identifier: MIT
 *
 * Kernels whose private arrays lie in scratch memory: of every size, one larger than the other
 * while the smaller ones are in flight, recorded before there was as much, on several queues, and
 * after a queue was lost. The virtual device is strict in these runs: it gives a kernel what the
 * submission's helper program maps, and nothing else.
 */
#include "conformance.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define THREADS 64u
#define GROUPS  17u
#define TOTAL   (THREADS * GROUPS)
#define SIZES   3

static const uint32_t sizes[SIZES] = {100, 333, 2000}; /* words of the private array */

struct scratch_case {
   struct fixture *f;
   struct agx_executable *kernels[SIZES];
   struct agx_buffer *in, *out[SIZES];
   uint32_t *rounds, *result[SIZES];
   struct agx_semaphore *done;
   uint64_t value;
};

static struct agx_executable *load(struct fixture *f, uint32_t words)
{
   const struct agx_specialization size = {.id = 0, .bytes = 4, .value = words};
   struct agx_executable_desc desc = {
      .size = sizeof(desc), .specializations = &size, .specialization_count = 1};
   struct agx_executable *kernel = NULL;
   struct agx_executable_info info = {.size = sizeof(info)};
   char *bytes = conformance_read("kernels/scratch.spv", &desc);
   assert_ok(agx_executable_create(f->device, &desc, &kernel));
   free(bytes);
   assert_ok(agx_executable_get_entry(kernel, 0, &info));
   assert_true(info.scratch_B >= 4 * words); /* else this tests nothing */
   return kernel;
}

static void open_scratch_case(void **state, struct scratch_case *s)
{
   *s = (struct scratch_case){.f = conformance_gpu(state)};
   s->in = fixture_buffer(s->f, 4 * TOTAL, &s->rounds);
   s->done = fixture_semaphore(s->f);
   for (uint32_t i = 0; i < TOTAL; i++)
      s->rounds[i] = i * 7 % 23;
   for (unsigned i = 0; i < SIZES; i++) {
      s->kernels[i] = load(s->f, sizes[i]);
      s->out[i] = fixture_buffer(s->f, 4 * TOTAL, &s->result[i]);
      memset(s->result[i], 0xee, 4 * TOTAL);
   }
}

static void close_scratch_case(struct scratch_case *s)
{
   for (unsigned i = 0; i < SIZES; i++) {
      agx_release(s->out[i]);
      agx_release(s->kernels[i]);
   }
   agx_release(s->done);
   agx_release(s->in);
}

static struct agx_command_buffer *record(const struct scratch_case *s, unsigned size)
{
   struct agx_command_buffer *commands = fixture_begin(s->f);
   struct agx_buffer *buffers[] = {s->in, s->out[size]};
   fixture_dispatch(commands, s->kernels[size], GROUPS, buffers, 2, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   return commands;
}

static void submit(struct scratch_case *s, struct agx_command_buffer *commands, uint64_t queues)
{
   const struct agx_point before = {s->done, s->value}, after = {s->done, s->value + 1};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_EXECUTE,
                             .queues = queues,
                             .waits = &before,
                             .wait_count = 1,
                             .signals = &after,
                             .signal_count = 1,
                             .u.execute = {.commands = commands}};
   assert_ok(agx_submit(s->f->device, &op, 1, NULL));
   s->value++;
}

/* As scratch.comp does. */
static uint32_t expected(uint32_t words, uint32_t id, uint32_t rounds)
{
   uint32_t *own = calloc(words, sizeof(*own)), sum = 0;
   for (uint32_t i = 0; i < words; i++)
      own[(i * 7u + id) % words] = id * 2654435761u + i;
   for (uint32_t i = 0; i < rounds; i++) {
      own[(sum + i) % words] += sum ^ i;
      sum = sum * 31u + own[(sum + id) % words];
   }
   free(own);
   return sum;
}

static void expect_results(const struct scratch_case *s, unsigned size)
{
   for (uint32_t i = 0; i < TOTAL; i++)
      assert_int_equal(s->result[size][i], expected(sizes[size], i, s->rounds[i]));
   memset(s->result[size], 0xee, 4 * TOTAL);
}

/* Each needs more than the one before, which may be in flight and keeps what it has; the first one
 * then runs again, as it was recorded. */
static void scratch_grows_in_flight(void **state)
{
   struct scratch_case s;
   struct agx_command_buffer *commands[SIZES];
   open_scratch_case(state, &s);
   for (unsigned i = 0; i < SIZES; i++)
      commands[i] = record(&s, i);
   for (unsigned round = 0; round < 3; round++) {
      for (unsigned i = 0; i < SIZES; i++)
         submit(&s, commands[i], 0);
      assert_ok(fixture_wait(s.done, s.value));
      for (unsigned i = 0; i < SIZES; i++)
         expect_results(&s, i);
   }
   for (unsigned i = 0; i < SIZES; i++)
      agx_release(commands[i]);
   close_scratch_case(&s);
}

/* Kernels of several sizes, and without any scratch, in one command buffer. */
static void one_recording_has_several_sizes(void **state)
{
   struct scratch_case s;
   uint32_t *words;
   open_scratch_case(state, &s);
   struct agx_executable *count = fixture_kernel(s.f, &agx_test_count);
   struct agx_buffer *counted = fixture_buffer(s.f, 4096, &words);
   struct agx_command_buffer *commands = fixture_begin(s.f);
   for (unsigned i = 0; i < SIZES; i++) {
      struct agx_buffer *buffers[] = {s.in, s.out[SIZES - 1 - i]};
      fixture_dispatch(commands, s.kernels[SIZES - 1 - i], GROUPS, buffers, 2, NULL, 0);
      fixture_dispatch(commands, count, 1, &counted, 1, NULL, 0);
   }
   conformance_run(s.f, commands);
   for (unsigned i = 0; i < SIZES; i++)
      expect_results(&s, i);
   for (uint32_t i = 0; i < 64; i++)
      assert_int_equal(words[i], i + 1);
   agx_release(commands);
   agx_release(counted);
   agx_release(count);
   close_scratch_case(&s);
}

/* Queues run at once: each has scratch memory of its own. */
static void queues_have_their_own(void **state)
{
   struct scratch_case s;
   struct agx_command_buffer *commands[SIZES];
   struct agx_semaphore *done[SIZES];
   open_scratch_case(state, &s);
   const uint32_t queues = AGX_MIN(s.f->info.queue_count, (uint32_t)SIZES);
   for (unsigned i = 0; i < queues; i++) {
      commands[i] = record(&s, i);
      done[i] = fixture_semaphore(s.f);
   }
   for (uint64_t round = 1; round <= 8; round++) {
      for (unsigned i = 0; i < queues; i++) {
         const struct agx_point after = {done[i], round};
         const struct agx_op op = {.size = sizeof(op),
                                   .kind = AGX_OP_EXECUTE,
                                   .queues = 1ull << i,
                                   .signals = &after,
                                   .signal_count = 1,
                                   .u.execute = {.commands = commands[i]}};
         assert_ok(agx_submit(s.f->device, &op, 1, NULL));
      }
   }
   for (unsigned i = 0; i < queues; i++) {
      assert_ok(fixture_wait(done[i], 8));
      expect_results(&s, i);
      agx_release(done[i]);
      agx_release(commands[i]);
   }
   close_scratch_case(&s);
}

/* A kernel that faults keeps its stacks. A queue that is made anew starts without these, or one day
 * there would be none left. */
static void lost_stacks_are_forgotten(void **state)
{
   struct scratch_case s;
   open_scratch_case(state, &s);
   struct agx_command_buffer *sound = record(&s, 0), *stray = fixture_begin(s.f);
   struct agx_buffer *buffers[] = {s.in, s.out[0]};
   fixture_dispatch(stray, s.kernels[0], 400, buffers, 2, NULL, 0); /* beyond both buffers */
   assert_ok(agx_command_buffer_end(stray));
   for (unsigned i = 0; i < 140; i++) {
      struct agx_semaphore *done = fixture_semaphore(s.f);
      const agx_status status = fixture_submit(s.f, stray, NO_POINT, (struct agx_point){done, 1});
      assert_ok(status);
      const bool has_failed = fixture_wait(done, 1) != AGX_OK;
      agx_release(done);
      if (!has_failed) /* a device with soft faults, which is not strict */
         break;
      assert_ok(agx_queue_recreate(s.f->device, 0));
   }
   memset(s.result[0], 0xee, 4 * TOTAL);
   submit(&s, sound, 0);
   assert_ok(fixture_wait(s.done, s.value));
   expect_results(&s, 0);
   agx_release(stray);
   agx_release(sound);
   close_scratch_case(&s);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(scratch_grows_in_flight),
      cmocka_unit_test(one_recording_has_several_sizes),
      cmocka_unit_test(queues_have_their_own),
      cmocka_unit_test(lost_stacks_are_forgotten),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
