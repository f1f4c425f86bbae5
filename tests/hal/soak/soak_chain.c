/* SPDX-License-Identifier: MIT
 *
 * Chains: each operation waits for the one before, on whatever queue. When the last point is
 * reached all have run, whatever failed elsewhere, and the buffer holds what the model says.
 * And memory that comes and goes in the order of queues.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soak.h"

/* ---- chains ------------------------------------------------------------------- */

static bool open_chain(struct soak_thread *thread)
{
   struct soak_chain *chain = &thread->chain;
   const struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = SOAK_CHAIN_B};
   if (chain->semaphore)
      return true;
   if (agx_semaphore_create(thread->round->device, 0, &chain->semaphore) != AGX_OK)
      return false;
   if (agx_buffer_create(thread->round->device, &desc, &chain->buffer) != AGX_OK) {
      agx_release(chain->semaphore);
      chain->semaphore = NULL;
      return false;
   }
   chain->value = 0;
   memset(chain->model, 0, sizeof(chain->model));
   chain->history[0] = 0;
   return true;
}

/* The next link. */
static bool link_on(struct soak_thread *thread, struct agx_op *op)
{
   struct soak_chain *chain = &thread->chain;
   const struct agx_point wait = {chain->semaphore, chain->value};
   const struct agx_point signal = {chain->semaphore, chain->value + 1};
   op->waits = &wait;
   op->signals = &signal;
   op->wait_count = op->signal_count = 1;
   const agx_status status = soak_send(thread, op, NULL);
   const struct agx_buffer_ref *at = op->kind == AGX_OP_FILL     ? &op->u.fill.target
                                     : op->kind == AGX_OP_UPDATE ? &op->u.update.target
                                     : op->kind == AGX_OP_COPY   ? &op->u.copy.target
                                                                 : &op->u.file.ref;
   const bool has_range = op->kind != AGX_OP_DISPATCH;
   size_t used = strlen(chain->history);
   if (used > sizeof(chain->history) - 100)
      used = 0;
   snprintf(chain->history + used, sizeof(chain->history) - used, " %u@%llx[%llu+%llu]%s%s",
            op->kind, (unsigned long long)op->queues,
            (unsigned long long)(has_range ? at->offset_B : 0),
            (unsigned long long)(has_range ? at->length_B : 0), status == AGX_OK ? "" : "!",
            status == AGX_OK ? "" : agx_status_name(status));
   if (status != AGX_OK)
      return false;
   chain->value++;
   return true;
}

static void chain_fill(struct soak_thread *thread, uint32_t offset_B, uint32_t length_B)
{
   struct soak_chain *chain = &thread->chain;
   struct agx_op op = {.kind = AGX_OP_FILL};
   op.u.fill = (struct agx_op_fill){.target = {chain->buffer, offset_B, length_B},
                                    .pattern = {(uint8_t)soak_below(thread, 256)},
                                    .pattern_B = 1};
   if (link_on(thread, &op))
      memset(chain->model + offset_B, op.u.fill.pattern[0], length_B);
}

static void chain_update(struct soak_thread *thread, uint32_t offset_B, uint32_t length_B)
{
   struct soak_chain *chain = &thread->chain;
   struct agx_op op = {.kind = AGX_OP_UPDATE};
   uint8_t data[SOAK_CHAIN_B];
   for (uint32_t i = 0; i < length_B; i++)
      data[i] = (uint8_t)soak_below(thread, 256);
   op.u.update = (struct agx_op_update){data, {chain->buffer, offset_B, length_B}};
   if (link_on(thread, &op))
      memcpy(chain->model + offset_B, data, length_B);
}

/* Between the halves, so that nothing overlaps. */
static void chain_copy(struct soak_thread *thread, uint32_t offset_B, uint32_t length_B)
{
   struct soak_chain *chain = &thread->chain;
   struct agx_op op = {.kind = AGX_OP_COPY};
   const uint32_t half_B = SOAK_CHAIN_B / 2, from_B = offset_B % (half_B / 2);
   length_B = length_B % (half_B / 2) + 1;
   op.u.copy.source = (struct agx_buffer_ref){chain->buffer, from_B, length_B};
   op.u.copy.target = (struct agx_buffer_ref){chain->buffer, half_B + from_B / 2, length_B};
   if (link_on(thread, &op))
      memcpy(chain->model + half_B + from_B / 2, chain->model + from_B, length_B);
}

static void chain_dispatch(struct soak_thread *thread, uint32_t offset_B, uint32_t length_B)
{
   struct soak_chain *chain = &thread->chain;
   struct agx_op op = {.kind = AGX_OP_DISPATCH};
   const struct agx_binding binding = {.ref = {chain->buffer, offset_B % 512 & ~15u, 256}};
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = thread->round->count,
                                         .workgroups = {1, 1, 1},
                                         .binding_count = 1,
                                         .bindings = &binding};
   op.u.dispatch.dispatch = &dispatch;
   if (!link_on(thread, &op))
      return;
   for (uint32_t i = 0; i < 64; i++) {
      const uint8_t word[4] = {(uint8_t)(i + 1)};
      memcpy(chain->model + binding.ref.offset_B + i * 4, word, 4);
   }
}

/* Out into host memory and back to another place. */
static void chain_file(struct soak_thread *thread, uint32_t offset_B, uint32_t length_B)
{
   struct soak_chain *chain = &thread->chain;
   struct agx_file *file = NULL;
   void *memory = malloc(SOAK_CHAIN_B);
   const struct agx_file_desc desc = {.size = sizeof(desc),
                                      .kind = AGX_FILE_HOST_MEMORY,
                                      .access = AGX_FILE_READ | AGX_FILE_WRITE,
                                      .memory = memory,
                                      .memory_B = SOAK_CHAIN_B,
                                      .release = free,
                                      .user = memory};
   soak_check(memory, "no memory");
   if (agx_file_import(thread->round->device, &desc, &file) != AGX_OK) {
      free(memory);
      return;
   }
   struct agx_op out = {.kind = AGX_OP_WRITE}, in = {.kind = AGX_OP_READ};
   out.u.file = (struct agx_op_file){file, 0, {chain->buffer, offset_B, length_B}};
   in.u.file = (struct agx_op_file){file, 0, {chain->buffer, 0, length_B}};
   if (link_on(thread, &out) && link_on(thread, &in))
      memmove(chain->model, chain->model + offset_B, length_B);
   agx_release(file);
}

void soak_chain_go_on(struct soak_thread *thread)
{
   static void (*const links[])(struct soak_thread *, uint32_t, uint32_t) = {
      chain_fill, chain_update, chain_copy, chain_dispatch, chain_file};
   atomic_store(&thread->doing, "chain");
   if (!open_chain(thread))
      return;
   const uint32_t offset_B = soak_below(thread, SOAK_CHAIN_B);
   links[soak_below(thread, 5)](thread, offset_B, 1 + soak_below(thread, SOAK_CHAIN_B - offset_B));
   if (soak_chance(thread, 100))
      soak_chain_check(thread, soak_deadline());
}

static void compare(struct soak_chain *chain)
{
   uint8_t *memory = NULL;
   soak_check(agx_buffer_map(chain->buffer, (void **)&memory) == AGX_OK, "chain: no memory");
   for (uint32_t i = 0; i < SOAK_CHAIN_B; i++)
      soak_check(memory[i] == chain->model[i], "chain of %llu: byte %u is %02x, not %02x;%s",
                 (unsigned long long)chain->value, i, memory[i], chain->model[i], chain->history);
}

void soak_chain_check(struct soak_thread *thread, int64_t deadline_ns)
{
   struct soak_chain *chain = &thread->chain;
   if (!chain->semaphore)
      return;
   agx_status status;
   soak_check(soak_await(chain->semaphore, chain->value, deadline_ns, &status),
              "chain: %llu is neither reached nor failed", (unsigned long long)chain->value);
   if (status == AGX_OK) {
      compare(chain);
      atomic_fetch_add(&thread->round->compared, chain->value);
   }
   agx_release(chain->semaphore);
   agx_release(chain->buffer);
   chain->semaphore = NULL;
   chain->buffer = NULL;
}

/* ---- memory in the order of queues ------------------------------------------------ */

void soak_alloca_end(struct soak_alloca *it)
{
   agx_release(it->buffer);
   agx_release(it->semaphore);
   *it = (struct soak_alloca){0};
}

static void begin_alloca(struct soak_thread *thread, struct soak_alloca *it)
{
   struct soak_round *round = thread->round;
   struct agx_op op = {.kind = AGX_OP_ALLOCA};
   if (agx_semaphore_create(round->device, 0, &it->semaphore) != AGX_OK)
      return;
   const struct agx_point signal = {it->semaphore, 1};
   op.flags = (soak_chance(thread, 500) ? AGX_ALLOCA_ALLOW_WAIT : 0) |
              (soak_chance(thread, 100) ? AGX_ALLOCA_INDETERMINATE_LIFETIME : 0);
   op.signals = &signal;
   op.signal_count = 1;
   op.u.alloca = (struct agx_op_alloca){
      .pool = soak_chance(thread, 800) ? round->pools[soak_below(thread, 2)] : NULL,
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
