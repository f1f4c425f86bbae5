/* SPDX-License-Identifier: MIT
 *
 * Transfers from inside: how long ones are cut, that they take no memory of the host in steady
 * state and survive its end, and that threads may submit them at once.
 */
#include "fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "hal/device/device.h"
#include "hal/record/command_buffer.h"

#define GIB (1ull << 30)

/* ---- parts ----------------------------------------------------------------- */

/* That what the launches may write, or may only read, is the range, without gaps or overlaps. */
static void assert_covers(const struct agx_command_buffer *commands, bool is_written, uint64_t va,
                          uint64_t length_B)
{
   const struct agx_kmd_range *ranges = commands->ranges.items;
   uint64_t at = va;
   for (uint32_t i = 0; i < commands->ranges.count; i++) {
      if (!ranges[i].bytes || ranges[i].is_writable != is_written)
         continue;
      assert_true(ranges[i].va == at);
      assert_true(ranges[i].bytes <= GIB);
      assert_true((at - va) % 16 == 0);
      at += ranges[i].bytes;
      if (at == va + length_B) /* the tag's memory follows */
         return;
   }
   fail_msg("only %llu of %llu bytes", (unsigned long long)(at - va), (unsigned long long)length_B);
}

static void long_ranges_are_cut(void **state)
{
   const uint64_t size_B = 5 * GIB + 100, offset_B = 3, length_B = 5 * GIB + 90;
   struct fixture f;
   struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = size_B};
   struct agx_buffer *a = NULL, *b = NULL;
   const uint8_t pattern = 1;
   setenv("AGX_DEBUG", "bounds", 1); /* keeps what each launch may access */
   fixture_open(&f, "virtual");
   unsetenv("AGX_DEBUG");
   assert_ok(agx_buffer_create(f.device, &desc, &a));
   assert_ok(agx_buffer_create(f.device, &desc, &b));
   struct agx_command_buffer *commands = fixture_begin(&f);
   assert_ok(agx_cmd_fill(commands, (struct agx_buffer_ref){a, offset_B, length_B}, &pattern, 1));
   assert_int_equal(commands->dispatch_count, 6);
   assert_covers(commands, true, a->address + offset_B, length_B);
   assert_ok(agx_command_buffer_begin(commands));
   assert_ok(agx_cmd_copy(commands, (struct agx_buffer_ref){a, offset_B, length_B},
                          (struct agx_buffer_ref){b, 8, length_B}));
   assert_int_equal(commands->dispatch_count, 6);
   assert_covers(commands, true, b->address + 8, length_B);
   assert_covers(commands, false, a->address + offset_B, length_B);
   assert_ok(agx_command_buffer_begin(commands));
   assert_ok(agx_cmd_fill(commands, (struct agx_buffer_ref){a, 16, GIB}, &pattern, 1));
   assert_int_equal(commands->dispatch_count, 1);
   agx_release(commands);
   agx_release(a);
   agx_release(b);
   fixture_close(&f);
}

/* ---- memory ---------------------------------------------------------------- */

struct heap {
   _Atomic uint64_t allocations;
   _Atomic int64_t budget; /* allocations that succeed from now on; below 0: all */
};

static void *heap_alloc(void *user, size_t size)
{
   struct heap *heap = user;
   atomic_fetch_add(&heap->allocations, 1);
   if (atomic_load(&heap->budget) >= 0 && atomic_fetch_sub(&heap->budget, 1) <= 0) {
      atomic_store(&heap->budget, 0);
      return NULL;
   }
   return malloc(size);
}

static void heap_free(void *user, void *memory, size_t size)
{
   free(memory);
}

static void open_over(struct fixture *f, struct heap *heap)
{
   const struct agx_alloc_callbacks callbacks = {heap, heap_alloc, heap_free};
   const struct agx_instance_desc desc = {.size = sizeof(desc), .alloc = &callbacks};
   const struct agx_device_desc device_desc = {.size = sizeof(device_desc), .name = "virtual"};
   atomic_store(&heap->budget, -1);
   assert_ok(agx_instance_create(&desc, &f->instance));
   assert_ok(agx_device_open(f->instance, &device_desc, &f->device));
   f->info.size = sizeof(f->info);
   agx_device_get_info(f->device, &f->info);
}

/* One of each kind, one behind the other: y[i] = 7, then x = y + ... in the end y[0..31]. */
struct round {
   struct fixture *f;
   struct agx_executable *add;
   struct agx_buffer *x, *y;
   uint32_t *words;
   struct agx_semaphore *chain;
   uint64_t value;
};

static agx_status submit_next(struct round *round, struct agx_op op)
{
   const struct agx_point wait = {round->chain, round->value};
   const struct agx_point signal = {round->chain, round->value + 1};
   op.size = sizeof(op);
   op.waits = &wait;
   op.signals = &signal;
   op.wait_count = op.signal_count = 1;
   agx_status status = agx_submit(round->f->device, &op, 1, NULL);
   round->value += status == AGX_OK;
   return status;
}

static agx_status run_round(struct round *round)
{
   const uint32_t push = 5;
   static const uint8_t data[100] = {1, 2, 3, 4};
   const struct agx_binding bindings[] = {{.binding = 0, .ref = {round->x, 0, 128}},
                                          {.binding = 1, .ref = {round->y, 0, 128}}};
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = round->add,
                                         .workgroups = {1, 1, 1},
                                         .binding_count = 2,
                                         .bindings = bindings,
                                         .push = &push,
                                         .push_B = sizeof(push)};
   const struct agx_op ops[] = {
      {.kind = AGX_OP_FILL, .u.fill = {{round->y, 3, 100}, {9, 0, 0, 0}, 1}},
      {.kind = AGX_OP_UPDATE, .u.update = {data, {round->y, 0, 100}}},
      {.kind = AGX_OP_COPY, .u.copy = {{round->y, 0, 128}, {round->x, 0, 128}}},
      {.kind = AGX_OP_DISPATCH, .u.dispatch = {&dispatch}},
   };
   for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
      agx_status status = submit_next(round, ops[i]);
      if (status != AGX_OK)
         return status;
   }
   return fixture_wait(round->chain, round->value);
}

static void round_open(struct round *round, struct fixture *f)
{
   uint32_t *words;
   *round = (struct round){.f = f};
   round->add = fixture_kernel(f, &agx_test_add);
   round->x = fixture_buffer(f, 256, &words);
   round->y = fixture_buffer(f, 256, &round->words);
   round->chain = fixture_semaphore(f);
}

static void round_close(struct round *round)
{
   agx_release(round->add);
   agx_release(round->x);
   agx_release(round->y);
   agx_release(round->chain);
}

static void operations_take_no_memory_in_steady_state(void **state)
{
   struct fixture f;
   static struct heap heap; /* the device may end after this function */
   struct round round;
   open_over(&f, &heap);
   round_open(&round, &f);
   /* Another thread may still hold what an operation used: then there is one more of it, for good.
    * So the state is steady some rounds later. */
   uint64_t before, taken = UINT64_MAX;
   for (int window = 0; window < 20 && taken; window++) {
      before = atomic_load(&heap.allocations);
      for (int i = 0; i < 50; i++)
         assert_ok(run_round(&round));
      taken = atomic_load(&heap.allocations) - before;
   }
   assert_int_equal(taken, 0);
   assert_int_equal(round.words[0], 0x04030201 + 5);
   round_close(&round);
   fixture_close(&f);
}

static uint32_t count_spare(struct agx_device *device)
{
   pthread_mutex_lock(&device->sync.one_shots.lock);
   uint32_t count = device->sync.one_shots.count;
   pthread_mutex_unlock(&device->sync.one_shots.lock);
   return count;
}

/* What waits to be used again goes, and comes back. */
static void trimming_lets_go_of_command_buffers(void **state)
{
   struct fixture f;
   struct round round;
   fixture_open(&f, "virtual");
   round_open(&round, &f);
   const struct agx_op op = {.kind = AGX_OP_FILL, .u.fill = {{round.y, 0, 4}, {1}, 1}};
   assert_ok(submit_next(&round, op));
   assert_ok(fixture_wait(round.chain, round.value));
   while (count_spare(f.device) == 0) /* it comes back behind its signal */
      sched_yield();
   agx_device_trim(f.device);
   assert_int_equal(count_spare(f.device), 0);
   assert_ok(run_round(&round));
   assert_int_equal(round.words[0], 0x04030201 + 5);
   round_close(&round);
   fixture_close(&f);
}

static void memory_may_run_out_anywhere(void **state)
{
   bool finished = false;
   for (int64_t budget = 0; !finished; budget++) {
      struct fixture f;
      static struct heap heap; /* the device may end after this function */
      struct round round;
      open_over(&f, &heap);
      round_open(&round, &f);
      atomic_store(&heap.budget, budget);
      agx_status status = run_round(&round);
      finished = status == AGX_OK;
      assert_true(finished || status == AGX_RESOURCE_EXHAUSTED);
      assert_true(budget < 500);
      atomic_store(&heap.budget, -1);
      assert_ok(fixture_wait(round.chain, round.value));
      assert_ok(run_round(&round)); /* nothing was left half done */
      assert_int_equal(round.words[0], 0x04030201 + 5);
      round_close(&round);
      fixture_close(&f);
   }
}

/* ---- threads ---------------------------------------------------------------- */

#define THREADS 4
#define ROUNDS  60
#define EACH    7

struct filler {
   struct fixture *f;
   struct agx_buffer *buffer;
   uint32_t number;
   bool is_right;
};

/* Bytes [7 n, 7 n + 7) of each 28 are the thread's; the device's kernels are loaded meanwhile. */
static void *fill_own_bytes(void *argument)
{
   struct filler *filler = argument;
   struct agx_semaphore *done = NULL;
   filler->is_right = agx_semaphore_create(filler->f->device, 0, &done) == AGX_OK;
   for (uint64_t i = 0; i < ROUNDS && filler->is_right; i++) {
      const struct agx_point signal = {done, i + 1};
      const uint8_t byte = (uint8_t)(filler->number * ROUNDS + i);
      const struct agx_op op = {
         .size = sizeof(op),
         .kind = AGX_OP_FILL,
         .signals = &signal,
         .signal_count = 1,
         .u.fill = {{filler->buffer, (i * THREADS + filler->number) * EACH, EACH}, {byte}, 1}};
      filler->is_right = agx_submit(filler->f->device, &op, 1, NULL) == AGX_OK;
   }
   filler->is_right = filler->is_right && fixture_wait(done, ROUNDS) == AGX_OK;
   agx_release(done);
   return NULL;
}

static void threads_fill_side_by_side(void **state)
{
   struct fixture f;
   uint32_t *words;
   struct filler fillers[THREADS];
   pthread_t threads[THREADS];
   fixture_open(&f, "virtual");
   struct agx_buffer *buffer = fixture_buffer(&f, THREADS * ROUNDS * EACH, &words);
   for (uint32_t i = 0; i < THREADS; i++) {
      fillers[i] = (struct filler){&f, buffer, i, false};
      assert_int_equal(pthread_create(&threads[i], NULL, fill_own_bytes, &fillers[i]), 0);
   }
   for (uint32_t i = 0; i < THREADS; i++) {
      pthread_join(threads[i], NULL);
      assert_true(fillers[i].is_right);
   }
   for (uint32_t i = 0; i < THREADS * ROUNDS * EACH; i++)
      assert_int_equal(((uint8_t *)words)[i],
                       (uint8_t)(i / EACH % THREADS * ROUNDS + i / EACH / THREADS));
   agx_release(buffer);
   fixture_close(&f);
}

/* An operation without signals keeps the device until it has run. */
static void operations_outlive_their_device_handle(void **state)
{
   struct fixture f;
   uint32_t *words;
   fixture_open(&f, "virtual");
   struct agx_buffer *buffer = fixture_buffer(&f, 4096, &words);
   const struct agx_op op = {
      .size = sizeof(op), .kind = AGX_OP_FILL, .u.fill = {{buffer, 0, 4096}, {1, 2, 3, 4}, 4}};
   for (int i = 0; i < 10; i++)
      assert_ok(agx_submit(f.device, &op, 1, NULL));
   agx_release(buffer);
   fixture_close(&f);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(long_ranges_are_cut),
      cmocka_unit_test(operations_take_no_memory_in_steady_state),
      cmocka_unit_test(trimming_lets_go_of_command_buffers),
      cmocka_unit_test(memory_may_run_out_anywhere),
      cmocka_unit_test(threads_fill_side_by_side),
      cmocka_unit_test(operations_outlive_their_device_handle),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
