/* SPDX-License-Identifier: MIT
 *
 * What tests of transfers on queues have in common.
 */
#pragma once

#include "conformance.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define GUARD 0xa5

/* ---- operations ------------------------------------------------------------ */

static inline struct agx_op fill_op(struct agx_buffer *buffer, uint64_t offset, uint64_t length,
                                    uint32_t pattern, uint32_t pattern_B)
{
   struct agx_op op = {.size = sizeof(op),
                       .kind = AGX_OP_FILL,
                       .u.fill = {.target = {buffer, offset, length}, .pattern_B = pattern_B}};
   for (int i = 0; i < 4; i++)
      op.u.fill.pattern[i] = (uint8_t)(pattern >> 8 * i);
   return op;
}

static inline struct agx_op copy_op(struct agx_buffer *source, uint64_t from,
                                    struct agx_buffer *target, uint64_t to, uint64_t length)
{
   return (struct agx_op){.size = sizeof(struct agx_op),
                          .kind = AGX_OP_COPY,
                          .u.copy = {{source, from, length}, {target, to, length}}};
}

static inline agx_status submit(struct fixture *f, struct agx_op op, struct agx_point wait,
                                struct agx_point signal)
{
   op.waits = &wait;
   op.signals = &signal;
   op.wait_count = wait.semaphore != NULL;
   op.signal_count = signal.semaphore != NULL;
   return agx_submit(f->device, &op, 1, NULL);
}

/* Until it is done. */
static inline void run(struct fixture *f, struct agx_op op)
{
   struct agx_semaphore *done = fixture_semaphore(f);
   assert_ok(submit(f, op, NO_POINT, conformance_point(done, 1)));
   assert_ok(fixture_wait(done, 1));
   agx_release(done);
}

static inline void model_fill(uint8_t *bytes, uint64_t length, uint32_t pattern, uint32_t pattern_B)
{
   for (uint64_t i = 0; i < length; i++)
      bytes[i] = (uint8_t)(pattern >> i % pattern_B * 8);
}

/* What tells places apart. */
static inline void scatter(uint8_t *bytes, uint64_t size, uint32_t seed)
{
   for (uint64_t i = 0; i < size; i++)
      bytes[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
}

static inline struct agx_buffer *make_buffer(struct fixture *f, uint64_t size, int byte,
                                             uint8_t **out_bytes)
{
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, size, &words);
   memset(words, byte, size);
   *out_bytes = (uint8_t *)words;
   return buffer;
}
