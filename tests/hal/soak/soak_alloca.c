/* SPDX-License-Identifier: MIT
 *
 * Memory that comes and goes in the order of queues: held for a while, or passed through by a
 * chain.
 */
#include <stdio.h>
#include <string.h>

#include "soak_chain.h"

void soak_alloca_end(struct soak_alloca *it)
{
   agx_release(it->buffer);
   agx_release(it->semaphore);
   *it = (struct soak_alloca){0};
}

static void begin_alloca(struct soak_thread *thread, struct soak_alloca *it)
{
   struct soak_device *device = thread->device;
   struct agx_op op = {.kind = AGX_OP_ALLOCA};
   if (agx_semaphore_create(device->device, 0, &it->semaphore) != AGX_OK)
      return;
   const struct agx_point signal = {it->semaphore, 1};
   op.flags = (soak_chance(thread, 500) ? AGX_ALLOCA_ALLOW_WAIT : 0) |
              (soak_chance(thread, 100) ? AGX_ALLOCA_INDETERMINATE_LIFETIME : 0);
   op.signals = &signal;
   op.signal_count = 1;
   op.u.alloca = (struct agx_op_alloca){
      .pool = soak_chance(thread, 800) ? device->pools[soak_below(thread, 2)] : NULL,
      .size_B = 16 + soak_below(thread, 16000),
      .out_buffer = &it->buffer};
   if (soak_send(thread, &op, NULL) != AGX_OK) {
      soak_check(!it->buffer, "a failed alloca left a buffer");
      soak_alloca_end(it);
      return;
   }
   it->value = 1;
}

static void use_alloca(struct soak_thread *thread, struct soak_alloca *it, bool is_last)
{
   struct agx_op op = {.kind = is_last ? AGX_OP_DEALLOCA : AGX_OP_FILL};
   const struct agx_point wait = {it->semaphore, it->value};
   const struct agx_point signal = {it->semaphore, it->value + 1};
   op.waits = &wait;
   op.signals = &signal;
   op.wait_count = op.signal_count = 1;
   if (is_last) {
      op.flags = soak_chance(thread, 300) ? AGX_DEALLOCA_PREFER_ORIGIN : 0;
      op.u.dealloca.buffer = it->buffer;
   } else {
      op.u.fill =
         (struct agx_op_fill){.target = {it->buffer, 0, 16}, .pattern = {7}, .pattern_B = 1};
   }
   it->value += soak_send(thread, &op, NULL) == AGX_OK;
}

void soak_alloca_go_on(struct soak_thread *thread)
{
   struct soak_alloca *it = &thread->allocas[soak_below(thread, SOAK_HELD)];
   atomic_store(&thread->doing, "alloca");
   if (!it->buffer) {
      begin_alloca(thread, it);
   } else if (soak_chance(thread, 500)) {
      use_alloca(thread, it, false);
   } else {
      struct agx_point last = {it->semaphore, it->value};
      if (soak_chance(thread, 600))
         use_alloca(thread, it, true);
      else if (soak_chance(thread, 500) && agx_buffer_release_after(it->buffer, &last, 1) == AGX_OK)
         it->buffer = NULL;
      soak_alloca_end(it);
   }
}

/* ---- of chains ----------------------------------------------------------------------- */

static struct agx_buffer *borrow(struct soak_thread *thread, uint32_t size_B)
{
   struct soak_batch batch = {.count = 0};
   struct soak_link *link = soak_batch_next(thread, &batch);
   struct agx_buffer *buffer = NULL;
   link->op.kind = AGX_OP_ALLOCA;
   link->op.flags = soak_chance(thread, 500) ? AGX_ALLOCA_ALLOW_WAIT : 0;
   link->op.u.alloca = (struct agx_op_alloca){
      .pool = thread->device->chain_pool, .size_B = size_B, .out_buffer = &buffer};
   snprintf(link->note, sizeof(link->note), "alloca");
   soak_batch_close(thread, &batch);
   const bool is_queued = soak_batch_submit(thread, &batch) == 1;
   soak_check(is_queued == (buffer != NULL), "an alloca that was queued: %u, and its buffer %p",
              is_queued, (void *)buffer);
   return buffer;
}

/* Another chain that has the same memory at the same time would be seen. */
void soak_chain_borrow(struct soak_thread *thread)
{
   struct soak_chain *chain = thread->chain;
   struct soak_batch batch = {.count = 0};
   const uint32_t length_B = 4 * (1 + soak_below(thread, 64));
   const uint32_t part_B = SOAK_PART_B * soak_below(thread, 2);
   const uint32_t at_B = part_B + soak_below(thread, SOAK_PART_B - length_B);
   const uint32_t push = soak_below(thread, 256);
   const uint32_t size_B = length_B + soak_below(thread, 40000); /* the pool has 64 KiB */
   struct agx_buffer *buffer = borrow(thread, size_B);
   struct soak_link *link;
   if (!buffer)
      return;
   link = soak_batch_next(thread, &batch);
   link->op.kind = AGX_OP_FILL;
   link->op.u.fill = (struct agx_op_fill){
      .target = {buffer, 0, length_B}, .pattern = {(uint8_t)push}, .pattern_B = 1};
   snprintf(link->note, sizeof(link->note), "fill-alloca");
   soak_batch_close(thread, &batch);

   link = soak_batch_next(thread, &batch);
   link->op.kind = AGX_OP_COPY;
   link->op.u.copy.source = (struct agx_buffer_ref){buffer, 0, length_B};
   link->op.u.copy.target = soak_ref(chain, at_B, length_B);
   memset(chain->model + at_B, (int)push, length_B);
   snprintf(link->note, sizeof(link->note), "copy-alloca[%u+%u]", at_B, length_B);
   soak_batch_close(thread, &batch);

   link = soak_batch_next(thread, &batch);
   link->op.kind = AGX_OP_DEALLOCA;
   link->op.u.dealloca.buffer = buffer;
   snprintf(link->note, sizeof(link->note), "dealloca");
   soak_batch_close(thread, &batch);
   (void)soak_batch_submit(thread, &batch);
   agx_release(buffer);
}
