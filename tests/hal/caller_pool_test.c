/* SPDX-License-Identifier: MIT
 *
 * What goes wrong with pools of the application's blocks (AGX_POOL_CALLER): descriptions, sources
 * that fail or give what can't be used, requests and host memory that fail, what is cancelled or
 * lost. Whatever it is, each block goes back once. tests/conformance has how they work.
 */
#include "block_source.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "failing_kmd.h"
#include "hal/device/device.h"
#include "shortage.h"

#define BLOCK_B 65536u /* whole pages of any device */

struct world {
   struct failing_kmd kmd;
   struct fixture f;
   struct block_source source;
   struct agx_pool *pool;
   struct agx_semaphore *go, *done;
   struct agx_buffer *buffer;
};

static void open_world(struct world *w, uint32_t source_flags)
{
   *w = (struct world){0};
   failing_kmd_open(&w->kmd);
   fixture_open_over(&w->f, NULL, &w->kmd.base);
   block_source_init(&w->source, w->f.device, BLOCK_B, 1);
   assert_ok(block_pool_create(&w->source, w->f.device, source_flags, &w->pool));
   w->go = fixture_semaphore(&w->f);
   w->done = fixture_semaphore(&w->f);
}

static void close_world(struct world *w)
{
   agx_release(w->buffer);
   agx_release(w->pool);
   block_source_fini(&w->source);
   agx_release(w->go);
   agx_release(w->done);
   fixture_close(&w->f);
   failing_kmd_await_close(&w->kmd);
}

/* Behind go's 1, if it is to wait. */
static agx_status allocate(struct world *w, uint64_t size_B, bool waits)
{
   const struct agx_point wait = {w->go, 1}, signal = {w->done, 1};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_ALLOCA,
                             .queues = 1,
                             .waits = &wait,
                             .wait_count = waits,
                             .signals = &signal,
                             .signal_count = 1,
                             .u.alloca = {w->pool, size_B, 0, &w->buffer}};
   return agx_submit(w->f.device, &op, 1, NULL);
}

static uint32_t state_of(struct agx_buffer *buffer)
{
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(buffer, &info);
   return info.state;
}

/* ---- descriptions --------------------------------------------------------------- */

static void sources_are_checked(void **state)
{
   const struct agx_pool_source good = {
      .size = sizeof(good), .acquire = block_acquire, .release = block_release};
   struct agx_pool_source no_release = good, no_acquire = good, flags = good, size = good;
   no_release.release = NULL;
   no_acquire.acquire = NULL;
   flags.flags = 2;
   size.size = 3;
   const struct {
      struct agx_pool_desc desc;
      const char *part;
   } bad[] = {
      {{.strategy = AGX_POOL_CALLER}, "source (nil)"},
      {{.strategy = AGX_POOL_VARIABLE, .source = &good}, "strategy 0"},
      {{.strategy = AGX_POOL_CALLER, .source = &no_release}, "lacks release"},
      {{.strategy = AGX_POOL_CALLER, .source = &no_acquire}, "lacks acquire"},
      {{.strategy = AGX_POOL_CALLER, .source = &flags}, "flags 0x2"},
      {{.strategy = AGX_POOL_CALLER, .source = &size}, "size is 3"},
      {{.strategy = AGX_POOL_CALLER, .source = &good, .limit_B = 5}, "limit of 5"},
      {{.strategy = AGX_POOL_CALLER, .source = &good, .slab_B = 7}, "slabs of 7"},
      {{.strategy = AGX_POOL_CALLER, .source = &good, .block_B = 9}, "block size 9"},
   };
   struct fixture f;
   struct agx_pool *pool = (void *)1;
   fixture_open(&f, "virtual");
   for (size_t i = 0; i < AGX_COUNT(bad); i++) {
      struct agx_pool_desc desc = bad[i].desc;
      desc.size = sizeof(desc);
      assert_fails(agx_pool_create(f.device, &desc, &pool), AGX_INVALID_ARGUMENT, bad[i].part);
      assert_null(pool);
   }
   fixture_close(&f);
}

/* ---- sources that fail ------------------------------------------------------------ */

/* Asked within agx_submit, the failure comes from there; later, from the signals. */
static void failures_of_sources_have_their_text(void **state)
{
   static const struct {
      agx_status given, seen;
      const char *reason, *part;
   } failures[] = {
      {AGX_RESOURCE_EXHAUSTED, AGX_RESOURCE_EXHAUSTED, "the budget is spent",
       "the budget is spent"},
      {AGX_UNAVAILABLE, AGX_UNAVAILABLE, NULL, "UNAVAILABLE"},
      {(agx_status)77, AGX_INTERNAL, NULL, "blocks"},
   };
   for (size_t i = 0; i < 2 * AGX_COUNT(failures); i++) {
      struct world w;
      const bool waits = i % 2;
      open_world(&w, i / 2 % 2);
      w.source.failure = failures[i / 2].given;
      w.source.reason = failures[i / 2].reason;
      if (waits) {
         assert_ok(allocate(&w, 1024, true));
         assert_ok(agx_semaphore_signal(w.go, 1));
         assert_fails(fixture_wait(w.done, 1), failures[i / 2].seen, failures[i / 2].part);
         assert_int_equal(state_of(w.buffer), AGX_BUFFER_RESERVED);
      } else {
         assert_fails(allocate(&w, 1024, false), failures[i / 2].seen, failures[i / 2].part);
         assert_null(w.buffer);
      }
      struct agx_buffer *none = NULL;
      assert_fails(agx_pool_allocate(w.pool, 1024, 0, &none), failures[i / 2].seen,
                   failures[i / 2].part);
      w.source.failure = AGX_OK;
      close_world(&w);
   }
}

static void blocks_have_an_end(void **state)
{
   struct world w;
   open_world(&w, 0);
   assert_fails(allocate(&w, BLOCK_B + 1, false), AGX_OUT_OF_RANGE, "blocks have 65536 bytes");
   assert_null(w.buffer);
   close_world(&w);
}

/* ---- what can't be used -------------------------------------------------------------- */

static struct agx_buffer *other; /* what a source gives in place of its own */

static void give_nothing(struct block_source *it, struct agx_pool_grant *grant)
{
   grant->buffer = NULL;
}

static void give_other(struct block_source *it, struct agx_pool_grant *grant)
{
   grant->buffer = other;
}

static void give_less(struct block_source *it, struct agx_pool_grant *grant)
{
   grant->offset_B = BLOCK_B - 512;
}

static void give_crooked(struct block_source *it, struct agx_pool_grant *grant)
{
   grant->offset_B = 128;
}

static void give_far(struct block_source *it, struct agx_pool_grant *grant)
{
   grant->death.epochs[1] = 1;
}

static void give_no_queue(struct block_source *it, struct agx_pool_grant *grant)
{
   grant->death.epochs[AGX_MAX_QUEUES - 1] = 1;
}

static void assert_given_back(struct world *w)
{
   assert_int_equal(w->source.acquired, 1);
   assert_int_equal(w->source.released, 1);
   assert_int_equal(w->source.last_queue, AGX_NO_QUEUE);
}

/* flags of the operation; part: of the message. */
static void refuse(void (*spoil)(struct block_source *, struct agx_pool_grant *), uint64_t flags,
                   agx_status status, const char *part)
{
   for (int waits = 0; waits < 2; waits++) {
      struct world w;
      open_world(&w, 0);
      const struct agx_point wait = {w.go, 1}, signal = {w.done, 1};
      const struct agx_op op = {.size = sizeof(op),
                                .kind = AGX_OP_ALLOCA,
                                .flags = flags,
                                .waits = &wait,
                                .wait_count = (uint32_t)waits,
                                .signals = &signal,
                                .signal_count = 1,
                                .u.alloca = {w.pool, 1024, 0, &w.buffer}};
      w.source.spoil = spoil;
      agx_status given = agx_submit(w.f.device, &op, 1, NULL);
      if (waits) {
         assert_ok(given);
         assert_ok(agx_semaphore_signal(w.go, 1));
         given = fixture_wait(w.done, 1);
      }
      assert_fails(given, status, part);
      assert_given_back(&w);
      w.source.spoil = NULL;
      close_world(&w);
   }
}

static void what_is_no_block_is_refused(void **state)
{
   refuse(give_nothing, 0, AGX_INVALID_ARGUMENT, "gave no buffer");
   refuse(give_less, 0, AGX_OUT_OF_RANGE, "1024 bytes at 65024");
   refuse(give_far, 0, AGX_INVALID_ARGUMENT, "may not wait");
}

static void epochs_of_the_future_are_refused(void **state)
{
   struct world w;
   open_world(&w, 0);
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_ALLOCA,
                             .flags = AGX_ALLOCA_ALLOW_WAIT,
                             .u.alloca = {w.pool, 1024, 0, &w.buffer}};
   w.source.spoil = give_no_queue;
   assert_fails(agx_submit(w.f.device, &op, 1, NULL), AGX_INVALID_ARGUMENT,
                "epoch 1 of queue 7, which has come to 0");
   assert_null(w.buffer);
   assert_given_back(&w);
   w.source.spoil = NULL;
   close_world(&w);
}

static void crooked_blocks_are_refused(void **state)
{
   for (uint32_t pages = 0; pages < 2; pages++) {
      struct world w;
      open_world(&w, pages);
      const struct agx_op op = {
         .size = sizeof(op), .kind = AGX_OP_ALLOCA, .u.alloca = {w.pool, 1024, 256, &w.buffer}};
      w.source.spoil = give_crooked;
      assert_fails(agx_submit(w.f.device, &op, 1, NULL), AGX_INVALID_ARGUMENT, "multiple of 256");
      assert_given_back(&w);
      w.source.spoil = NULL;
      close_world(&w);
   }
}

/* Buffers that are no plain memory of the device's, or lack what the pool promises. */
static void what_is_no_memory_is_refused(void **state)
{
   struct world w, elsewhere;
   struct agx_buffer *others[4] = {NULL};
   static const char *const parts[] = {"another device", "lacks", "exported", "AGX_OP_ALLOCA"};
   open_world(&w, 0);
   open_world(&elsewhere, 0);
   others[0] = elsewhere.source.memory;
   agx_retain(others[0]);
   struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = BLOCK_B, .usage = AGX_USAGE_TRANSFER | AGX_USAGE_MAPPING};
   assert_ok(agx_buffer_create(w.f.device, &desc, &others[1]));
   desc.flags = AGX_BUFFER_HOST_READ;
   desc.usage =
      AGX_USAGE_TRANSFER | AGX_USAGE_DISPATCH | AGX_USAGE_MAPPING | AGX_USAGE_SHARING_EXPORT;
   assert_ok(agx_buffer_create(w.f.device, &desc, &others[2]));
   const struct agx_op op = {
      .size = sizeof(op), .kind = AGX_OP_ALLOCA, .u.alloca = {NULL, BLOCK_B, 0, &others[3]}};
   assert_ok(agx_submit(w.f.device, &op, 1, NULL));
   for (size_t i = 0; i < AGX_COUNT(others); i++) {
      other = others[i];
      w.source.acquired = w.source.released = 0;
      w.source.spoil = give_other;
      assert_fails(allocate(&w, 1024, false), AGX_INVALID_ARGUMENT, i == 1 ? "usage" : parts[i]);
      assert_null(w.buffer);
      assert_given_back(&w);
      agx_release(others[i]);
   }
   w.source.spoil = NULL;
   close_world(&elsewhere);
   close_world(&w);
}

/* ---- what fails meanwhile --------------------------------------------------------------- */

/* The request that shows a block at the buffer's address fails: the block goes back. */
static void a_refused_request_gives_the_block_back(void **state)
{
   struct world w;
   open_world(&w, AGX_POOL_SOURCE_PAGES);
   assert_ok(allocate(&w, 1024, true));
   failing_kmd_arm(&w.kmd, 0, NR_VM_BIND, ENOMEM);
   assert_ok(agx_semaphore_signal(w.go, 1));
   assert_fails(fixture_wait(w.done, 1), AGX_RESOURCE_EXHAUSTED, "");
   failing_kmd_disarm(&w.kmd);
   assert_given_back(&w);
   close_world(&w);
}

/* One that waits for a block ends as cancelled, and wants none any more. */
static void what_waits_for_a_source_is_cancelled(void **state)
{
   for (uint32_t flags = 0; flags < 2; flags++) {
      struct world w;
      open_world(&w, flags);
      block_hold(&w.source, 0, true);
      assert_ok(allocate(&w, 1024, false));
      assert_true(w.source.refused > 0);
      agx_device_cancel(w.f.device);
      assert_fails(fixture_wait(w.done, 1), AGX_CANCELLED, "cancelled");
      block_hold(&w.source, 0, false);
      agx_pool_notify(w.pool);
      assert_int_equal(w.source.acquired, 0);
      close_world(&w);
   }
}

static void what_waits_for_a_source_goes_with_the_device(void **state)
{
   struct world w;
   open_world(&w, AGX_POOL_SOURCE_PAGES);
   block_hold(&w.source, 0, true);
   assert_ok(allocate(&w, 1024, false));
   struct agx_executable *count = fixture_kernel(&w.f, &agx_test_count);
   uint32_t *words;
   struct agx_buffer *target = fixture_buffer(&w.f, 256, &words);
   struct agx_command_buffer *commands = fixture_begin(&w.f);
   struct agx_semaphore *worked = fixture_semaphore(&w.f);
   fixture_dispatch(commands, count, 1, &target, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   failing_kmd_arm(&w.kmd, 0, NR_TIMELINE_WAIT, ENODEV);
   assert_ok(fixture_submit(&w.f, commands, NO_POINT, (struct agx_point){worked, 1}));
   assert_fails(fixture_wait(worked, 1), AGX_UNAVAILABLE, "");
   assert_fails(fixture_wait(w.done, 1), AGX_UNAVAILABLE, "");
   failing_kmd_disarm(&w.kmd);
   block_hold(&w.source, 0, false);
   agx_pool_notify(w.pool);
   assert_int_equal(w.source.acquired, 0);
   agx_release(worked);
   agx_release(commands);
   agx_release(target);
   agx_release(count);
   close_world(&w);
}

/* A life with each of its host allocations failing in turn. */
static agx_status live(struct shortage *s, struct agx_buffer *memory)
{
   struct block_source source = {.memory = memory, .block_B = SHORTAGE_PAGE, .count = 1};
   struct agx_pool *pool = NULL;
   struct agx_buffer *buffer = NULL, *of_host = NULL;
   struct agx_semaphore *done = NULL;
   pthread_mutex_init(&source.lock, NULL);
   agx_status status = agx_semaphore_create(s->device, 0, &done);
   if (status == AGX_OK)
      status = block_pool_create(&source, s->device, AGX_POOL_SOURCE_PAGES, &pool);
   const bool has_pool = status == AGX_OK;
   const struct agx_point point = {done, 1};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_ALLOCA,
                             .signals = &point,
                             .signal_count = 1,
                             .u.alloca = {pool, 1024, 0, &buffer}};
   if (status == AGX_OK)
      status = agx_submit(s->device, &op, 1, NULL);
   if (status == AGX_OK)
      status = fixture_wait(done, 1);
   agx_release(buffer);
   if (status == AGX_OK)
      status = agx_pool_allocate(pool, 1024, 0, &of_host);
   agx_release(of_host);
   agx_release(pool);
   agx_release(done);
   assert_int_equal(source.acquired, source.released);
   assert_int_equal(source.destroyed, has_pool);
   pthread_mutex_destroy(&source.lock);
   return status;
}

static void every_allocation_may_fail(void **state)
{
   struct shortage s;
   const struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = SHORTAGE_PAGE, .flags = AGX_BUFFER_HOST_READ};
   struct agx_buffer *memory = NULL;
   shortage_begin(&s);
   assert_ok(agx_buffer_create(s.device, &desc, &memory));
   size_t nth = 0;
   for (agx_status status = AGX_RESOURCE_EXHAUSTED; status != AGX_OK; nth++) {
      assert_true(nth < 100);
      s.alloc.remaining = nth;
      status = live(&s, memory);
      s.alloc.remaining = SIZE_MAX;
      assert_true(status == AGX_OK || status == AGX_RESOURCE_EXHAUSTED);
   }
   assert_true(nth > 3);
   const struct shortage_state before = shortage_look(&s);
   assert_ok(live(&s, memory));
   shortage_assert_same(&s, &before);
   agx_release(memory);
   shortage_end(&s);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(sources_are_checked),
      cmocka_unit_test(failures_of_sources_have_their_text),
      cmocka_unit_test(blocks_have_an_end),
      cmocka_unit_test(what_is_no_block_is_refused),
      cmocka_unit_test(epochs_of_the_future_are_refused),
      cmocka_unit_test(crooked_blocks_are_refused),
      cmocka_unit_test(what_is_no_memory_is_refused),
      cmocka_unit_test(a_refused_request_gives_the_block_back),
      cmocka_unit_test(what_waits_for_a_source_is_cancelled),
      cmocka_unit_test(what_waits_for_a_source_goes_with_the_device),
      cmocka_unit_test(every_allocation_may_fail),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
