/* SPDX-License-Identifier: MIT
 *
 * Chains of the soak test: a thread makes operations that follow one another over memory of its
 * own, and compares that memory with a model at the end. soak_round.c lets each thread have one.
 */
#include "soak_chain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool soak_chain_make(struct soak_thread *thread)
{
   thread->chain = calloc(1, sizeof(*thread->chain));
   return thread->chain;
}

static void release(struct soak_chain *chain)
{
   for (uint32_t i = 0; i < SOAK_PARTS; i++) {
      agx_release(chain->buffers[i]);
      chain->buffers[i] = NULL;
   }
   agx_release(chain->semaphore);
   chain->semaphore = NULL;
}

static bool open_chain(struct soak_thread *thread)
{
   struct soak_chain *chain = thread->chain;
   bool is_good = true;
   if (chain->semaphore)
      return true;
   if (agx_semaphore_create(thread->device->device, 0, &chain->semaphore) != AGX_OK)
      return false;
   for (uint32_t i = 0; i < SOAK_PARTS; i++) {
      const struct agx_buffer_desc desc = {
         .size = sizeof(desc), .size_B = i < SOAK_PARTS - 1 ? SOAK_PART_B : SOAK_PARAMETERS_B};
      is_good &= agx_buffer_create(thread->device->device, &desc, &chain->buffers[i]) == AGX_OK;
   }
   if (!is_good) {
      release(chain);
      return false;
   }
   chain->value = 0;
   chain->call_count = chain->file_count = 0;
   memset(chain->model, 0, sizeof(chain->model));
   chain->history[0] = 0;
   return true;
}

void soak_note(struct soak_link *link, const char *format, ...)
{
   va_list arguments;
   va_start(arguments, format);
   vsnprintf(link->note, sizeof(link->note), format, arguments);
   va_end(arguments);
}

struct agx_buffer_ref soak_place(struct soak_thread *thread, uint32_t *out_at_B)
{
   *out_at_B = soak_below(thread, SOAK_CHAIN_B);
   return soak_ref(thread->chain, *out_at_B,
                   1 + soak_below(thread, SOAK_PART_B - *out_at_B % SOAK_PART_B));
}

/* ---- going on ------------------------------------------------------------------ */

static void remember(struct soak_chain *chain, const struct soak_link *link, const char *end)
{
   size_t used = strlen(chain->history);
   if (used > sizeof(chain->history) - 100)
      used = 0;
   snprintf(chain->history + used, sizeof(chain->history) - used, " %s@%llx%s", link->note,
            (unsigned long long)link->op.queues, end);
}

struct soak_link *soak_batch_next(struct soak_thread *thread, struct soak_batch *batch)
{
   const struct soak_chain *chain = thread->chain;
   struct soak_link *link = &batch->links[batch->count];
   memcpy(batch->models[batch->count], chain->model, SOAK_MODEL_B);
   batch->calls[batch->count] = chain->call_count;
   memset(link, 0, sizeof(*link));
   return link;
}

void soak_batch_close(struct soak_thread *thread, struct soak_batch *batch)
{
   struct soak_chain *chain = thread->chain;
   struct soak_link *link = &batch->links[batch->count++];
   link->op.size = sizeof(link->op);
   if (soak_chance(thread, 300))
      link->op.queues = 1ull << soak_below(thread, thread->round->plan.queues);
   link->wait = (struct agx_point){chain->semaphore, chain->value};
   link->signals[0] = (struct agx_point){chain->semaphore, ++chain->value};
   link->op.waits = &link->wait;
   link->op.signals = link->signals;
   link->op.wait_count = 1;
   link->op.signal_count = link->signals[1].semaphore ? 2 : 1;
}

/* What the links that were not queued have changed. */
static void undo(struct soak_chain *chain, const struct soak_batch *batch, uint32_t queued)
{
   memcpy(chain->model, batch->models[queued], SOAK_MODEL_B);
   while (chain->call_count > batch->calls[queued]) {
      struct soak_record *record = chain->calls[--chain->call_count];
      agx_release(record->done);
      record->done = NULL;
   }
   chain->value -= batch->count - queued;
   while (chain->file_count && chain->files[chain->file_count - 1].link > chain->value)
      close(chain->files[--chain->file_count].fd);
}

uint32_t soak_batch_submit(struct soak_thread *thread, struct soak_batch *batch)
{
   struct soak_round *round = thread->round;
   struct agx_op ops[SOAK_BATCH];
   const uint32_t count = batch->count;
   uint32_t queued = 77;
   for (uint32_t i = 0; i < count; i++)
      ops[i] = batch->links[i].op;
   agx_status status = agx_submit(thread->device->device, ops, count, &queued);
   soak_check(queued <= count && (status == AGX_OK) == (queued == count),
              "a batch of %u: %s, %u queued", count, agx_status_name(status), queued);
   for (uint32_t i = 0; i < count; i++) {
      remember(thread->chain, &batch->links[i], i < queued ? "" : "!");
      agx_release(batch->links[i].buffer);
      agx_release(batch->links[i].file);
      agx_release(batch->links[i].commands);
   }
   memset(batch->links, 0xee, count * sizeof(batch->links[0])); /* all was captured */
   atomic_fetch_add(&round->submitted, queued);
   atomic_fetch_add(&round->refused, queued < count);
   if (queued < count)
      undo(thread->chain, batch, queued);
   batch->count = 0;
   return queued;
}

/* One of any kind. */
static void add_any(struct soak_thread *thread, struct soak_batch *batch)
{
   static const soak_link_fn kinds[] = {
      soak_link_fill,       soak_link_update,   soak_link_copy,         soak_link_dispatch,
      soak_link_parameters, soak_link_indirect, soak_link_dynamic_size, soak_link_read,
      soak_link_write,      soak_link_call,     soak_link_tabled,       soak_link_tabled,
      soak_link_recorded,   soak_link_recorded,
   };
   struct soak_link *link = soak_batch_next(thread, batch);
   if (!kinds[soak_below(thread, sizeof(kinds) / sizeof(kinds[0]))](thread, link)) {
      memset(link, 0, sizeof(*link));
      (void)soak_link_fill(thread, link);
   }
   soak_batch_close(thread, batch);
}

void soak_chain_go_on(struct soak_thread *thread)
{
   struct soak_batch batch = {.count = 0};
   atomic_store(&thread->doing, "chain");
   if (!open_chain(thread))
      return;
   if (soak_chance(thread, 120)) {
      soak_chain_borrow(thread);
   } else {
      for (uint32_t n = soak_chance(thread, 600) ? 1 : 1 + soak_below(thread, SOAK_BATCH); n > 0;
           n--)
         add_any(thread, &batch);
      (void)soak_batch_submit(thread, &batch);
   }
   if (soak_chance(thread, 100))
      soak_chain_check(thread, soak_deadline());
}

/* ---- the end ---------------------------------------------------------------------- */

bool soak_chain_read(struct agx_buffer *const buffers[SOAK_PARTS], uint8_t bytes[SOAK_MODEL_B])
{
   for (uint32_t i = 0; i < SOAK_PARTS; i++) {
      void *memory = NULL;
      if (agx_buffer_map(buffers[i], &memory) != AGX_OK)
         return false;
      memcpy(bytes + i * SOAK_PART_B, memory, i < SOAK_PARTS - 1 ? SOAK_PART_B : SOAK_PARAMETERS_B);
   }
   return true;
}

static void compare(struct soak_chain *chain)
{
   uint8_t bytes[SOAK_MODEL_B];
   soak_check(soak_chain_read(chain->buffers, bytes), "chain: no memory");
   for (uint32_t i = 0; i < SOAK_MODEL_B; i++)
      soak_check(bytes[i] == chain->model[i], "chain of %llu: byte %u is %02x, not %02x;%s",
                 (unsigned long long)chain->value, i, bytes[i], chain->model[i], chain->history);
   for (uint32_t i = 0; i < chain->call_count; i++)
      soak_check(chain->calls[i]->calls == 1, "chain of %llu: host call %u came %u times;%s",
                 (unsigned long long)chain->value, i, chain->calls[i]->calls, chain->history);
}

static void compare_file(const struct soak_chain *chain, const struct chain_file *file)
{
   uint8_t bytes[SOAK_CHAIN_B];
   soak_check(pread(file->fd, bytes, file->length_B, (off_t)file->offset_B) ==
                 (ssize_t)file->length_B,
              "chain: a file lacks what was written to %llu;%s", (unsigned long long)file->offset_B,
              chain->history);
   for (uint32_t i = 0; i < file->length_B; i++)
      soak_check(bytes[i] == file->bytes[i], "chain: link %u's file: byte %u is %02x, not %02x;%s",
                 file->link, i, bytes[i], file->bytes[i], chain->history);
}

void soak_chain_check(struct soak_thread *thread, int64_t deadline_ns)
{
   struct soak_chain *chain = thread->chain;
   if (!chain->semaphore)
      return;
   agx_status status;
   soak_check(soak_await(chain->semaphore, chain->value, deadline_ns, &status),
              "chain: %llu is neither reached nor failed", (unsigned long long)chain->value);
   soak_check(status == AGX_OK || !thread->device->must_succeed ||
                 atomic_load(&thread->device->is_cancelled),
              "a chain of %llu fails for no reason: %s;%s", (unsigned long long)chain->value,
              agx_status_name(status), chain->history);
   if (status == AGX_OK) {
      compare(chain);
      atomic_fetch_add(&thread->round->compared, chain->value);
   }
   for (uint32_t i = 0; i < chain->file_count; i++) {
      if (status == AGX_OK)
         compare_file(chain, &chain->files[i]);
      close(chain->files[i].fd);
   }
   release(chain);
}
