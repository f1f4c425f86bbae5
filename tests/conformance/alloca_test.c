/* SPDX-License-Identifier: MIT
 *
 * Memory that comes and goes in the order of the queues. The first tests are named after the cases
 * of QueueAllocaTest.
 */
#include "conformance.h"

#include <pthread.h>
#include <string.h>

#define BLOCK_B 65536u

/* Stays on the GPU until the host sets word 0. */
static const struct agx_test_kernel gate_kernel = {
   .name = "gate",
   .text = "ldimm16 d=r0l imm=0\n"
           "mov d=r1 a=0\n"
           "atomic r=r3 s=r1 base=du0 index=0 op=or coherency=coherent1 group=a\n"
           "wait group=a\n"
           "while_icmp a=r3 b=0 nest=1 cond=ieq\n"
           "jmp_any offset=-16\n"
           "pop_exec nest=1\n",
   .local_size = {1, 1, 1},
   .gpr_halves = 8,
   .bindings = 1,
   .written = 1,
};

/* ---- helpers ---------------------------------------------------------------- */

struct request {
   struct agx_pool *pool;
   uint64_t size_B, flags, queues;
   struct agx_point wait, signal;
};

static agx_status allocate(struct fixture *f, struct request it, struct agx_buffer **out_buffer)
{
   const struct agx_op op = {
      .size = sizeof(op),
      .kind = AGX_OP_ALLOCA,
      .flags = it.flags,
      .queues = it.queues,
      .waits = &it.wait,
      .signals = &it.signal,
      .wait_count = it.wait.semaphore != NULL,
      .signal_count = it.signal.semaphore != NULL,
      .u.alloca = {.pool = it.pool, .size_B = it.size_B, .out_buffer = out_buffer},
   };
   return agx_submit(f->device, &op, 1, NULL);
}

static agx_status give_back(struct fixture *f, struct agx_buffer *buffer, struct request it)
{
   const struct agx_op op = {
      .size = sizeof(op),
      .kind = AGX_OP_DEALLOCA,
      .flags = it.flags,
      .queues = it.queues,
      .waits = &it.wait,
      .signals = &it.signal,
      .wait_count = it.wait.semaphore != NULL,
      .signal_count = it.signal.semaphore != NULL,
      .u.dealloca.buffer = buffer,
   };
   return agx_submit(f->device, &op, 1, NULL);
}

static struct agx_pool *new_pool(struct fixture *f, uint32_t strategy, uint64_t limit_B)
{
   const struct agx_pool_desc desc = {.size = sizeof(desc),
                                      .strategy = strategy,
                                      .flags = AGX_BUFFER_HOST_READ,
                                      .slab_B = strategy == AGX_POOL_VARIABLE ? 4 * BLOCK_B : 0,
                                      .block_B = strategy == AGX_POOL_FIXED ? BLOCK_B : 0,
                                      .limit_B = limit_B,
                                      .label = "scratch"};
   struct agx_pool *pool = NULL;
   assert_ok(agx_pool_create(f->device, &desc, &pool));
   return pool;
}

static struct agx_buffer_info info_of(struct agx_buffer *buffer)
{
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(buffer, &info);
   return info;
}

static struct agx_pool_stats stats_of(struct agx_pool *pool)
{
   struct agx_pool_stats stats = {.size = sizeof(stats)};
   agx_pool_get_stats(pool, &stats);
   return stats;
}

static uint64_t value_of(struct agx_semaphore *semaphore)
{
   uint64_t value;
   assert_ok(agx_semaphore_query(semaphore, &value));
   return value;
}

/* A kernel fills the buffer with 1, 2, 3, ...; between two points. */
static agx_status use(struct fixture *f, struct agx_buffer *buffer, struct agx_point wait,
                      struct agx_point signal)
{
   struct agx_executable *count = fixture_kernel(f, &agx_test_count);
   struct agx_command_buffer *commands = fixture_begin(f);
   fixture_dispatch(commands, count, 4, &buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   agx_status status = fixture_submit(f, commands, wait, signal);
   agx_release(commands);
   agx_release(count);
   return status;
}

static void assert_counted(struct agx_buffer *buffer)
{
   void *memory = NULL;
   assert_ok(agx_buffer_map(buffer, &memory));
   for (uint32_t i = 0; i < 256; i++)
      assert_int_equal(((uint32_t *)memory)[i], i + 1);
}

/* Work on queue 0 that ends when the host says so. */
struct gate {
   struct agx_buffer *flag;
   uint32_t *words;
   struct agx_semaphore *over; /* 1 */
};

static void close_gate(struct fixture *f, struct gate *gate)
{
   struct agx_executable *kernel = fixture_kernel(f, &gate_kernel);
   struct agx_command_buffer *commands = fixture_begin(f);
   gate->flag = fixture_buffer(f, 64, &gate->words);
   gate->over = fixture_semaphore(f);
   fixture_dispatch(commands, kernel, 1, &gate->flag, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(f, commands, NO_POINT, conformance_point(gate->over, 1)));
   agx_release(commands);
   agx_release(kernel);
}

static void open_gate(struct gate *gate)
{
   __atomic_store_n(&gate->words[0], 1, __ATOMIC_SEQ_CST);
   assert_ok(fixture_wait(gate->over, 1));
   agx_release(gate->flag);
   agx_release(gate->over);
}

/* ---- QueueAllocaTest ---------------------------------------------------------- */

static void alloca_and_dealloca_of(struct fixture *f, struct agx_pool *pool)
{
   struct agx_semaphore *timeline = fixture_semaphore(f);
   struct agx_buffer *buffer = NULL;
   assert_ok(allocate(
      f, (struct request){.pool = pool, .size_B = 1024, .signal = conformance_point(timeline, 1)},
      &buffer));
   assert_non_null(buffer);
   assert_ok(use(f, buffer, conformance_point(timeline, 1), conformance_point(timeline, 2)));
   assert_ok(fixture_wait(timeline, 2));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_LIVE);
   if (pool)
      assert_counted(buffer);
   assert_ok(give_back(f, buffer,
                       (struct request){.wait = conformance_point(timeline, 2),
                                        .signal = conformance_point(timeline, 3)}));
   assert_ok(fixture_wait(timeline, 3));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_DEAD);
   agx_release(buffer);
   agx_release(timeline);
}

static void basic_alloca(void **state)
{
   alloca_and_dealloca_of(conformance_device(state), NULL);
}

static void explicit_passthrough_pool_alloca_dealloca(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_PASSTHROUGH, 0);
   alloca_and_dealloca_of(f, pool);
   agx_pool_trim(pool);
   assert_int_equal(stats_of(pool).reserved_B, 0);
   agx_release(pool);
}

static void explicit_tlsf_pool_transfer_alloca_dealloca(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_VARIABLE, 0);
   alloca_and_dealloca_of(f, pool);
   assert_int_equal(stats_of(pool).used_B, 0);
   agx_release(pool);
}

/* The block's last use is on the GPU still: with the flag the next buffer has it all the same, and
 * comes after. */
static void explicit_fixed_block_pool_cross_queue_wait_frontier(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *given = fixture_semaphore(f), *taken = fixture_semaphore(f);
   struct agx_buffer *first = NULL, *second = NULL;
   struct gate gate;
   assert_ok(allocate(f, (struct request){.pool = pool, .size_B = 1024}, &first));
   close_gate(f, &gate);
   assert_ok(give_back(f, first,
                       (struct request){.wait = conformance_point(gate.over, 1),
                                        .signal = conformance_point(given, 1)}));
   assert_ok(allocate(f,
                      (struct request){.pool = pool,
                                       .size_B = 1024,
                                       .flags = AGX_ALLOCA_ALLOW_WAIT,
                                       .queues = 2,
                                       .signal = conformance_point(taken, 1)},
                      &second));
   assert_true(info_of(second).address == info_of(first).address);
   assert_int_equal(stats_of(pool).reuses, 1);
   assert_int_equal(value_of(taken), 0);
   assert_ok(use(f, second, conformance_point(taken, 1), conformance_point(taken, 2)));
   open_gate(&gate);
   assert_ok(fixture_wait(taken, 2));
   assert_ok(fixture_wait(given, 1));
   assert_counted(second);
   agx_release(first);
   agx_release(second);
   agx_release(given);
   agx_release(taken);
   agx_release(pool);
}

/* The block comes back only with a dealloca that waits itself. */
static void explicit_fixed_block_pool_pending_dealloca_wait_frontier(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *go = fixture_semaphore(f), *taken = fixture_semaphore(f);
   struct agx_buffer *first = NULL, *second = NULL;
   assert_ok(allocate(f, (struct request){.pool = pool, .size_B = 1024}, &first));
   assert_ok(give_back(f, first, (struct request){.wait = conformance_point(go, 1)}));
   assert_ok(allocate(f,
                      (struct request){.pool = pool,
                                       .size_B = 1024,
                                       .flags = AGX_ALLOCA_ALLOW_WAIT,
                                       .signal = conformance_point(taken, 1)},
                      &second));
   uint64_t address = info_of(second).address;
   assert_true(address != 0 && address != info_of(first).address);
   assert_int_equal(info_of(second).state, AGX_BUFFER_RESERVED);
   assert_ok(use(f, second, conformance_point(taken, 1), conformance_point(taken, 2)));
   assert_int_equal(value_of(taken), 0);
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(taken, 2));
   assert_true(info_of(second).address == address);
   assert_counted(second);
   agx_release(first);
   agx_release(second);
   agx_release(go);
   agx_release(taken);
   agx_release(pool);
}

/* Without the flag nobody gets a block whose last use is on the GPU. */
static void explicit_fixed_block_pool_requires_wait_frontier_flag(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *taken = fixture_semaphore(f);
   struct agx_buffer *first = NULL, *second = NULL;
   struct gate gate;
   assert_ok(allocate(f, (struct request){.pool = pool, .size_B = 1024}, &first));
   close_gate(f, &gate);
   assert_ok(give_back(f, first, (struct request){.wait = conformance_point(gate.over, 1)}));
   assert_ok(
      allocate(f,
               (struct request){
                  .pool = pool, .size_B = 1024, .queues = 2, .signal = conformance_point(taken, 1)},
               &second));
   assert_int_equal(info_of(second).state, AGX_BUFFER_RESERVED);
   assert_int_equal(stats_of(pool).hot_B, BLOCK_B);
   open_gate(&gate);
   assert_ok(fixture_wait(taken, 1));
   assert_int_equal(info_of(second).state, AGX_BUFFER_LIVE);
   agx_release(first);
   agx_release(second);
   agx_release(taken);
   agx_release(pool);
}

/* Where the pool may grow, it does rather than wait. */
static void explicit_tlsf_pool_cross_queue_stale_block_grows(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_VARIABLE, 0);
   struct agx_semaphore *taken = fixture_semaphore(f);
   struct agx_buffer *first = NULL, *second = NULL;
   struct gate gate;
   assert_ok(allocate(f, (struct request){.pool = pool, .size_B = 4 * BLOCK_B}, &first));
   close_gate(f, &gate);
   assert_ok(give_back(f, first, (struct request){.wait = conformance_point(gate.over, 1)}));
   assert_ok(allocate(
      f,
      (struct request){
         .pool = pool, .size_B = 4 * BLOCK_B, .queues = 2, .signal = conformance_point(taken, 1)},
      &second));
   assert_ok(fixture_wait(taken, 1)); /* while the gate is closed */
   assert_true(info_of(second).address != info_of(first).address);
   assert_int_equal(stats_of(pool).slab_count, 2);
   open_gate(&gate);
   agx_release(first);
   agx_release(second);
   agx_release(taken);
   agx_release(pool);
}

/* Who finds the pool full waits for whoever gives something back, in order. */
static void explicit_fixed_block_pool_notification_retry(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *taken[2] = {fixture_semaphore(f), fixture_semaphore(f)};
   struct agx_buffer *buffers[3] = {NULL};
   assert_ok(allocate(f, (struct request){.pool = pool, .size_B = BLOCK_B}, &buffers[0]));
   for (int i = 0; i < 2; i++)
      assert_ok(allocate(
         f,
         (struct request){.pool = pool, .size_B = 1024, .signal = conformance_point(taken[i], 1)},
         &buffers[1 + i]));
   assert_ok(give_back(f, buffers[0], (struct request){0}));
   assert_ok(fixture_wait(taken[0], 1));
   assert_int_equal(value_of(taken[1]), 0);
   assert_ok(use(f, buffers[1], NO_POINT, conformance_point(taken[0], 2)));
   assert_ok(fixture_wait(taken[0], 2));
   assert_counted(buffers[1]);
   agx_release(buffers[1]); /* its memory goes with it */
   assert_ok(fixture_wait(taken[1], 1));
   for (int i = 0; i < 2; i++) {
      agx_release(buffers[2 * i]);
      agx_release(taken[i]);
   }
   assert_int_equal(stats_of(pool).used_B, 0);
   agx_release(pool);
}

static void alloca_with_wait_semaphores(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *go = fixture_semaphore(f), *taken = fixture_semaphore(f);
   struct agx_buffer *buffer = NULL;
   void *memory = (void *)1;
   assert_ok(allocate(f,
                      (struct request){.size_B = 1024,
                                       .wait = conformance_point(go, 1),
                                       .signal = conformance_point(taken, 1)},
                      &buffer));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_RESERVED);
   assert_true(info_of(buffer).address != 0);
   assert_fails(agx_buffer_map(buffer, &memory), AGX_FAILED_PRECONDITION, "memory");
   assert_null(memory);
   assert_int_equal(value_of(taken), 0);
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(taken, 1));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_LIVE);
   assert_ok(agx_buffer_map(buffer, &memory));
   memset(memory, 7, 1024);
   agx_release(buffer);
   agx_release(go);
   agx_release(taken);
}

static void alloca_dealloca_cycle(void **state)
{
   struct fixture *f = conformance_device(state);
   for (int i = 0; i < 10; i++)
      alloca_and_dealloca_of(f, NULL);
}

static void buffer_metadata(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_VARIABLE, 0);
   struct agx_semaphore *go = fixture_semaphore(f);
   struct agx_buffer *early = NULL, *late = NULL;
   assert_ok(allocate(f, (struct request){.pool = pool, .size_B = 1000}, &early));
   assert_ok(allocate(
      f, (struct request){.pool = pool, .size_B = 1000, .wait = conformance_point(go, 1)}, &late));
   assert_int_equal(info_of(early).size_B, 1000);
   assert_int_equal(info_of(late).size_B, 1000);
   assert_int_equal(info_of(early).address % 256, 0);
   assert_int_equal(info_of(early).queues, 1);
   assert_int_equal(info_of(early).usage, info_of(late).usage);
   assert_true(info_of(late).usage & AGX_USAGE_STORAGE_WRITE);
   assert_true(info_of(late).memory & AGX_MEMORY_HOST_CACHED);
   assert_int_equal(info_of(late).address % f->info.page_B, 0);
   assert_ok(agx_semaphore_signal(go, 1));
   agx_release(early);
   agx_release(late);
   agx_release(go);
   agx_release(pool);
}

static void dealloca_releases_memory(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_PASSTHROUGH, 0);
   struct agx_semaphore *over = fixture_semaphore(f);
   struct agx_buffer *buffer = NULL;
   assert_ok(allocate(f, (struct request){.pool = pool, .size_B = BLOCK_B}, &buffer));
   assert_int_equal(stats_of(pool).used_B, BLOCK_B);
   assert_ok(give_back(f, buffer, (struct request){.signal = conformance_point(over, 1)}));
   assert_ok(fixture_wait(over, 1));
   assert_int_equal(stats_of(pool).used_B, 0);
   assert_int_equal(stats_of(pool).reserved_B, 0);
   agx_release(buffer);
   agx_release(over);
   agx_release(pool);
}

static void failed_dealloca_wait_does_not_dealloca(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *bad = fixture_semaphore(f), *over = fixture_semaphore(f),
                        *timeline = fixture_semaphore(f);
   struct agx_buffer *buffer = NULL;
   assert_ok(allocate(
      f, (struct request){.pool = pool, .size_B = 1024, .signal = conformance_point(timeline, 1)},
      &buffer));
   assert_ok(give_back(
      f, buffer,
      (struct request){.wait = conformance_point(bad, 1), .signal = conformance_point(over, 1)}));
   agx_semaphore_fail(bad, AGX_DATA_LOSS, "lost on the way");
   assert_fails(fixture_wait(over, 1), AGX_DATA_LOSS, "lost on the way");
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_LIVE);
   assert_ok(use(f, buffer, conformance_point(timeline, 1), conformance_point(timeline, 2)));
   assert_ok(give_back(f, buffer,
                       (struct request){.wait = conformance_point(timeline, 2),
                                        .signal = conformance_point(timeline, 3)}));
   assert_ok(fixture_wait(timeline, 3));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_DEAD);
   agx_release(buffer);
   agx_release(bad);
   agx_release(over);
   agx_release(timeline);
   agx_release(pool);
}

/* Each allocation behind the dealloca before, all submitted before the first may go: they need the
 * memory of one. */
static void chain(struct fixture *f, struct agx_pool *pool, uint64_t length)
{
   struct agx_semaphore *timeline = fixture_semaphore(f);
   for (uint64_t i = 0; i < length; i++) {
      struct agx_buffer *buffer = NULL;
      assert_ok(allocate(f,
                         (struct request){.pool = pool,
                                          .size_B = BLOCK_B,
                                          .queues = 1 + i % 2,
                                          .wait = conformance_point(timeline, 3 * i + 1),
                                          .signal = conformance_point(timeline, 3 * i + 2)},
                         &buffer));
      assert_ok(use(f, buffer, conformance_point(timeline, 3 * i + 2),
                    conformance_point(timeline, 3 * i + 3)));
      assert_ok(give_back(f, buffer,
                          (struct request){.wait = conformance_point(timeline, 3 * i + 3),
                                           .signal = conformance_point(timeline, 3 * i + 4)}));
      agx_release(buffer);
   }
   assert_int_equal(value_of(timeline), 0);
   assert_ok(agx_semaphore_signal(timeline, 1));
   assert_ok(fixture_wait(timeline, 3 * length + 1));
   agx_release(timeline);
}

static void chained_alloca_dealloca(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   chain(f, pool, 8);
   assert_int_equal(stats_of(pool).peak_used_B, BLOCK_B);
   assert_int_equal(stats_of(pool).used_B, 0);
   agx_release(pool);
}

static void default_pool_repeated_chained_alloca_dealloca(void **state)
{
   struct fixture *f = conformance_device(state);
   for (int i = 0; i < 10; i++)
      chain(f, NULL, 4);
}

static void zero_access_flags_canonicalized(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *go = fixture_semaphore(f);
   struct agx_buffer *early = NULL, *late = NULL;
   assert_ok(allocate(f, (struct request){.size_B = 1000}, &early));
   assert_ok(
      allocate(f, (struct request){.size_B = 1000, .wait = conformance_point(go, 1)}, &late));
   assert_int_equal(info_of(early).access, AGX_ACCESS_ALL);
   assert_int_equal(info_of(late).access, AGX_ACCESS_ALL);
   assert_ok(agx_semaphore_signal(go, 1));
   agx_release(early);
   agx_release(late);
   agx_release(go);
}

static void dealloca_prefers_origin_placement(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *timeline = fixture_semaphore(f);
   struct agx_buffer *buffer = NULL;
   assert_ok(allocate(
      f, (struct request){.size_B = 1024, .queues = 2, .signal = conformance_point(timeline, 1)},
      &buffer));
   assert_int_equal(info_of(buffer).queues, 2);
   assert_ok(give_back(f, buffer,
                       (struct request){.flags = AGX_DEALLOCA_PREFER_ORIGIN,
                                        .queues = 1,
                                        .wait = conformance_point(timeline, 1),
                                        .signal = conformance_point(timeline, 2)}));
   assert_ok(fixture_wait(timeline, 2));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_DEAD);
   agx_release(buffer);
   agx_release(timeline);
}

/* ---- beyond ---------------------------------------------------------------------- */

static void a_second_dealloca_fails(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *first = fixture_semaphore(f), *second = fixture_semaphore(f);
   struct agx_buffer *buffer = NULL;
   assert_ok(allocate(f, (struct request){.size_B = 1024}, &buffer));
   assert_ok(give_back(f, buffer, (struct request){.signal = conformance_point(first, 1)}));
   assert_ok(fixture_wait(first, 1));
   assert_ok(give_back(f, buffer, (struct request){.signal = conformance_point(second, 1)}));
   assert_fails(fixture_wait(second, 1), AGX_FAILED_PRECONDITION, "given back before");
   agx_release(buffer);
   agx_release(first);
   agx_release(second);
}

static void dealloca_before_the_memory_fails(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *go = fixture_semaphore(f), *over = fixture_semaphore(f),
                        *taken = fixture_semaphore(f);
   struct agx_buffer *buffer = NULL;
   assert_ok(allocate(f,
                      (struct request){.size_B = 1024,
                                       .wait = conformance_point(go, 1),
                                       .signal = conformance_point(taken, 1)},
                      &buffer));
   assert_ok(give_back(f, buffer, (struct request){.signal = conformance_point(over, 1)}));
   assert_fails(fixture_wait(over, 1), AGX_FAILED_PRECONDITION, "no memory yet");
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(taken, 1));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_LIVE);
   agx_release(buffer);
   agx_release(go);
   agx_release(over);
   agx_release(taken);
}

/* A dealloca that forgot to wait for the last use takes nothing away from it. */
static void memory_stays_until_its_last_use_is_over(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *used = fixture_semaphore(f), *taken = fixture_semaphore(f);
   struct agx_buffer *first = NULL, *second = NULL;
   struct gate gate;
   assert_ok(allocate(f, (struct request){.pool = pool, .size_B = 1024}, &first));
   close_gate(f, &gate);
   assert_ok(use(f, first, conformance_point(gate.over, 1), conformance_point(used, 1)));
   assert_ok(give_back(f, first, (struct request){0}));
   assert_int_equal(info_of(first).state, AGX_BUFFER_DEAD);
   assert_int_equal(stats_of(pool).hot_B, BLOCK_B);
   assert_ok(allocate(
      f, (struct request){.pool = pool, .size_B = 1024, .signal = conformance_point(taken, 1)},
      &second));
   assert_int_equal(info_of(second).state, AGX_BUFFER_RESERVED);
   open_gate(&gate);
   assert_ok(fixture_wait(used, 1));
   assert_ok(fixture_wait(taken, 1));
   agx_release(first);
   agx_release(second);
   agx_release(used);
   agx_release(taken);
   agx_release(pool);
}

static void dealloca_of_other_buffers_is_a_barrier(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *timeline = fixture_semaphore(f);
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 1024, &words);
   for (uint64_t i = 0; i < 2; i++)
      assert_ok(give_back(f, buffer,
                          (struct request){.wait = conformance_point(timeline, i + 1),
                                           .signal = conformance_point(timeline, i + 2)}));
   assert_int_equal(value_of(timeline), 0);
   assert_ok(agx_semaphore_signal(timeline, 1));
   assert_ok(fixture_wait(timeline, 3));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_LIVE);
   words[255] = 1;
   agx_release(buffer);
   agx_release(timeline);
}

static void indeterminate_lifetimes_end_with_the_object(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *timeline = fixture_semaphore(f);
   struct agx_buffer *buffer = NULL;
   assert_ok(allocate(f,
                      (struct request){.pool = pool,
                                       .size_B = 1024,
                                       .flags = AGX_ALLOCA_INDETERMINATE_LIFETIME,
                                       .signal = conformance_point(timeline, 1)},
                      &buffer));
   for (uint64_t i = 1; i < 3; i++)
      assert_ok(give_back(f, buffer,
                          (struct request){.wait = conformance_point(timeline, i),
                                           .signal = conformance_point(timeline, i + 1)}));
   assert_ok(use(f, buffer, conformance_point(timeline, 3), conformance_point(timeline, 4)));
   assert_ok(fixture_wait(timeline, 4));
   assert_counted(buffer);
   assert_int_equal(stats_of(pool).used_B, BLOCK_B);
   agx_release(buffer);
   agx_release(timeline);
   agx_pool_trim(pool); /* whatever held it to the last is gone, too */
   assert_int_equal(stats_of(pool).used_B, 0);
   agx_release(pool);
}

static void bad_requests_leave_no_trace(void **state)
{
   struct fixture *f = conformance_device(state), other;
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *reached = fixture_semaphore(f);
   struct agx_buffer *buffer = (void *)1;
   const struct {
      struct request it;
      agx_status status;
      const char *part;
   } bad[] = {
      {{.size_B = 0}, AGX_INVALID_ARGUMENT, "0 bytes"},
      {{.size_B = (1ull << 37) + 1}, AGX_INVALID_ARGUMENT, "137438953473"},
      {{.pool = pool, .size_B = BLOCK_B + 1}, AGX_INVALID_ARGUMENT, "65537"},
      {{.size_B = 4, .flags = 8}, AGX_INVALID_ARGUMENT, "flags 0x8"},
      {{.size_B = 4, .signal = {reached, 1}}, AGX_INVALID_ARGUMENT, "at 1 already"},
   };
   assert_ok(agx_semaphore_signal(reached, 1));
   for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
      assert_fails(allocate(f, bad[i].it, &buffer), bad[i].status, bad[i].part);
      if (i != 3) /* which is refused before anything else */
         assert_null(buffer);
   }
   assert_fails(allocate(f, (struct request){.size_B = 4}, NULL), AGX_INVALID_ARGUMENT,
                "out_buffer");
   assert_fails(give_back(f, NULL, (struct request){0}), AGX_INVALID_ARGUMENT, "NULL");
   assert_int_equal(stats_of(pool).used_B, 0);
   conformance_open_another(&other);
   assert_fails(allocate(&other, (struct request){.pool = pool, .size_B = 4}, &buffer),
                AGX_INVALID_ARGUMENT, "another device");
   fixture_close(&other);
   agx_release(reached);
   agx_release(pool);
}

/* What waits is cancelled like anything else; what nobody wants any more takes no memory. */
static void waiting_allocations_can_be_cancelled(void **state)
{
   struct fixture f;
   (void)conformance_device(state);
   conformance_open_another(&f);
   struct agx_pool *pool = new_pool(&f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *go = fixture_semaphore(&f), *taken[2];
   struct agx_buffer *buffers[3] = {NULL};
   assert_ok(allocate(&f, (struct request){.pool = pool, .size_B = 4}, &buffers[0]));
   for (int i = 0; i < 2; i++) {
      taken[i] = fixture_semaphore(&f);
      assert_ok(allocate(&f,
                         (struct request){.pool = pool,
                                          .size_B = 4,
                                          .wait = conformance_point(i ? go : NULL, 1),
                                          .signal = conformance_point(taken[i], 1)},
                         &buffers[1 + i]));
   }
   agx_device_cancel(f.device);
   for (int i = 0; i < 2; i++) {
      assert_fails(fixture_wait(taken[i], 1), AGX_CANCELLED, "");
      assert_int_equal(info_of(buffers[1 + i]).state, AGX_BUFFER_RESERVED);
      agx_release(taken[i]);
      agx_release(buffers[1 + i]);
   }
   agx_release(buffers[0]);
   assert_int_equal(stats_of(pool).used_B, 0);
   agx_release(go);
   agx_release(pool);
   fixture_close(&f);
}

/* References that go when points are reached; memory of pools shows when they have gone. */
static void release_after_waits_for_its_points(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_PASSTHROUGH, 0);
   struct agx_semaphore *go[2] = {fixture_semaphore(f), fixture_semaphore(f)};
   struct agx_buffer *buffers[2] = {NULL};
   for (int i = 0; i < 2; i++)
      assert_ok(agx_pool_allocate(pool, BLOCK_B, 0, &buffers[i]));
   const struct agx_point both[] = {{go[0], 1}, {go[1], 1}};
   assert_ok(agx_buffer_release_after(buffers[0], both, 2));
   assert_ok(agx_buffer_release_after(buffers[1], &both[1], 1));
   assert_ok(agx_semaphore_signal(go[0], 1));
   assert_int_equal(stats_of(pool).used_B, 2 * BLOCK_B);
   agx_semaphore_fail(go[1], AGX_ABORTED, "never mind");
   assert_int_equal(stats_of(pool).used_B, 0);
   assert_ok(agx_pool_allocate(pool, BLOCK_B, 0, &buffers[0]));
   assert_ok(agx_buffer_release_after(buffers[0], NULL, 0));
   assert_int_equal(stats_of(pool).used_B, 0);
   assert_ok(agx_pool_allocate(pool, BLOCK_B, 0, &buffers[0]));
   assert_fails(agx_buffer_release_after(buffers[0], &(struct agx_point){0}, 1),
                AGX_INVALID_ARGUMENT, "NULL");
   agx_release(buffers[0]); /* it is ours still */
   agx_release(go[0]);
   agx_release(go[1]);
   agx_release(pool);
}

/* ---- threads ----------------------------------------------------------------------- */

struct party {
   struct fixture *f;
   struct agx_pool *pool;
   uint32_t queue;
};

/* Allocates, fills, checks and gives back, again and again; what it finds is its own. */
static void *come_and_go(void *argument)
{
   struct party *party = argument;
   struct fixture *f = party->f;
   struct agx_semaphore *timeline = NULL;
   if (agx_semaphore_create(f->device, 0, &timeline) != AGX_OK)
      return "no semaphore";
   for (uint64_t at = 0; at < 3 * 60; at += 3) {
      struct agx_buffer *buffer = NULL;
      void *memory;
      if (allocate(f,
                   (struct request){.pool = party->pool,
                                    .size_B = 1024 + 997 * (at % 7),
                                    .flags = at % 2,
                                    .queues = 1u << party->queue,
                                    .wait = {timeline, at},
                                    .signal = {timeline, at + 1}},
                   &buffer) != AGX_OK ||
          fixture_wait(timeline, at + 1) != AGX_OK)
         return "no buffer";
      if (agx_buffer_map(buffer, &memory) != AGX_OK)
         return "no memory";
      memset(memory, (int)at, 1024);
      if (fixture_submit(f, NULL, (struct agx_point){timeline, at + 1},
                         (struct agx_point){timeline, at + 2}) != AGX_OK)
         return "no barrier";
      for (uint32_t i = 0; i < 1024; i++)
         if (((uint8_t *)memory)[i] != (uint8_t)at)
            return "another one's bytes";
      if (give_back(f, buffer,
                    (struct request){.wait = {timeline, at + 2}, .signal = {timeline, at + 3}}) !=
          AGX_OK)
         return "not given back";
      agx_release(buffer);
   }
   if (fixture_wait(timeline, 3 * 60) != AGX_OK)
      return "the end failed";
   agx_release(timeline);
   return NULL;
}

static void threads_share_a_full_pool(void **state)
{
   struct fixture *f = conformance_device(state);
   for (uint32_t strategy = 0; strategy < 3; strategy++) {
      struct agx_pool *pool = new_pool(f, strategy, 2 * BLOCK_B);
      struct party parties[4];
      pthread_t threads[4];
      for (uint32_t i = 0; i < 4; i++) {
         parties[i] = (struct party){f, pool, i % 2};
         assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &parties[i]), 0);
      }
      for (uint32_t i = 0; i < 4; i++) {
         void *wrong = NULL;
         pthread_join(threads[i], &wrong);
         if (wrong)
            fail_msg("%s", (char *)wrong);
      }
      assert_int_equal(stats_of(pool).used_B, 0);
      agx_release(pool);
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(basic_alloca),
      cmocka_unit_test(explicit_passthrough_pool_alloca_dealloca),
      cmocka_unit_test(explicit_tlsf_pool_transfer_alloca_dealloca),
      cmocka_unit_test(explicit_fixed_block_pool_cross_queue_wait_frontier),
      cmocka_unit_test(explicit_fixed_block_pool_pending_dealloca_wait_frontier),
      cmocka_unit_test(explicit_fixed_block_pool_requires_wait_frontier_flag),
      cmocka_unit_test(explicit_tlsf_pool_cross_queue_stale_block_grows),
      cmocka_unit_test(explicit_fixed_block_pool_notification_retry),
      cmocka_unit_test(alloca_with_wait_semaphores),
      cmocka_unit_test(alloca_dealloca_cycle),
      cmocka_unit_test(buffer_metadata),
      cmocka_unit_test(dealloca_releases_memory),
      cmocka_unit_test(failed_dealloca_wait_does_not_dealloca),
      cmocka_unit_test(chained_alloca_dealloca),
      cmocka_unit_test(default_pool_repeated_chained_alloca_dealloca),
      cmocka_unit_test(dealloca_prefers_origin_placement),
      cmocka_unit_test(zero_access_flags_canonicalized),
      cmocka_unit_test(a_second_dealloca_fails),
      cmocka_unit_test(dealloca_before_the_memory_fails),
      cmocka_unit_test(memory_stays_until_its_last_use_is_over),
      cmocka_unit_test(dealloca_of_other_buffers_is_a_barrier),
      cmocka_unit_test(indeterminate_lifetimes_end_with_the_object),
      cmocka_unit_test(bad_requests_leave_no_trace),
      cmocka_unit_test(waiting_allocations_can_be_cancelled),
      cmocka_unit_test(release_after_waits_for_its_points),
      cmocka_unit_test(threads_share_a_full_pool),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
