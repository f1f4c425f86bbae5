/* SPDX-License-Identifier: MIT
 *
 * What tests of queue-ordered memory have in common.
 */
#pragma once

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

static inline agx_status allocate(struct fixture *f, struct request it,
                                  struct agx_buffer **out_buffer)
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

static inline agx_status give_back(struct fixture *f, struct agx_buffer *buffer, struct request it)
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

static inline struct agx_pool *new_pool(struct fixture *f, uint32_t strategy, uint64_t limit_B)
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

static inline struct agx_buffer_info info_of(struct agx_buffer *buffer)
{
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(buffer, &info);
   return info;
}

static inline struct agx_pool_stats stats_of(struct agx_pool *pool)
{
   struct agx_pool_stats stats = {.size = sizeof(stats)};
   agx_pool_get_stats(pool, &stats);
   return stats;
}

static inline uint64_t value_of(struct agx_semaphore *semaphore)
{
   uint64_t value;
   assert_ok(agx_semaphore_query(semaphore, &value));
   return value;
}

/* A kernel fills the buffer with 1, 2, 3, ...; between two points. */
static inline agx_status use(struct fixture *f, struct agx_buffer *buffer, struct agx_point wait,
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

static inline void assert_counted(struct agx_buffer *buffer)
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

static inline void close_gate(struct fixture *f, struct gate *gate)
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

static inline void open_gate(struct gate *gate)
{
   __atomic_store_n(&gate->words[0], 1, __ATOMIC_SEQ_CST);
   assert_ok(fixture_wait(gate->over, 1));
   agx_release(gate->flag);
   agx_release(gate->over);
}
