/* SPDX-License-Identifier: MIT
 *
 * Which stream adds to which count of a breadcrumb. A queue runs what it is given in order, so
 * while a command buffer is in flight on one queue only, a submission's end adds to the count that
 * its prologue has named, or to count 0 while no stream has run a prologue. On several queues
 * prologues and ends mix, and only the sum of all counts says something.
 */
#include "hal/record/breadcrumb.h"

#include <string.h>

static uint32_t count_of(const struct agx_breadcrumb *breadcrumb, uint32_t i)
{
   return atomic_load_explicit(&breadcrumb->words->counts[i], memory_order_acquire);
}

/* That all that the kernel was ever given has run to its end. Counts only rise, up to what is
 * expected of them, and nothing is submitted meanwhile: so it does not matter that they are read
 * one after the other. */
static bool is_complete(const struct agx_breadcrumb *breadcrumb)
{
   uint32_t sum = 0, expected = 0;
   for (uint32_t i = 0; i < AGX_BREADCRUMB_SLOTS; i++) {
      sum += count_of(breadcrumb, i);
      expected += breadcrumb->slots.expected[i];
   }
   return sum == expected;
}

/* Nothing is in flight. Counts that lag though nothing has failed may be late: they stay expected,
 * so that no other submission takes them for its own. */
static void reset_expected(struct agx_breadcrumb *breadcrumb)
{
   struct agx_breadcrumb_slots *slots = &breadcrumb->slots;
   if (slots->has_failed || (slots->is_mixed && is_complete(breadcrumb))) {
      for (uint32_t i = 0; i < AGX_BREADCRUMB_SLOTS; i++)
         slots->expected[i] = count_of(breadcrumb, i);
      slots->has_failed = slots->is_mixed = false;
   }
   slots->uses_prologues = false;
   atomic_store_explicit(&breadcrumb->words->current, 0, memory_order_relaxed);
}

/* One that no submission in flight adds to; else the one that was taken last, whose submissions are
 * known to be good once the last of them is. */
static uint32_t choose_prologue(struct agx_breadcrumb_slots *slots)
{
   for (uint32_t i = 1; i < AGX_BREADCRUMB_SLOTS; i++)
      if (slots->holders[i] == 0)
         return slots->last = i;
   return slots->last;
}

static uint32_t choose_count(struct agx_breadcrumb *breadcrumb, uint32_t queue,
                             bool takes_prologues)
{
   struct agx_breadcrumb_slots *slots = &breadcrumb->slots;
   if (slots->in_flight == 0) {
      reset_expected(breadcrumb);
      slots->queue = queue;
      return 0;
   }
   bool is_separable = queue == slots->queue && !slots->is_mixed;
   bool has_prologues =
      takes_prologues && atomic_load_explicit(&breadcrumb->prologues_va, memory_order_acquire);
   if (is_separable && has_prologues) {
      slots->uses_prologues = true;
      return choose_prologue(slots);
   }
   slots->is_mixed |= !is_separable || slots->uses_prologues;
   return 0;
}

uint32_t agx_breadcrumb_begin(struct agx_breadcrumb *breadcrumb, uint32_t queue,
                              bool takes_prologues, struct agxw_compute *stream)
{
   struct agx_breadcrumb_slots *slots = &breadcrumb->slots;
   uint32_t count = choose_count(breadcrumb, queue, takes_prologues);
   if (count > 0) {
      uint64_t va = breadcrumb->prologues_va + count * AGX_BREADCRUMB_PROLOGUE_BYTES;
      stream->stream_va = va;
      stream->stream_end_va = va + breadcrumb->prologue_end_B;
   }
   slots->expected[count]++;
   slots->holders[count]++;
   slots->in_flight++;
   return count;
}

void agx_breadcrumb_cancel(struct agx_breadcrumb *breadcrumb, uint32_t count)
{
   breadcrumb->slots.expected[count]--;
   agx_breadcrumb_end(breadcrumb, count, false);
}

void agx_breadcrumb_end(struct agx_breadcrumb *breadcrumb, uint32_t count, bool has_failed)
{
   breadcrumb->slots.holders[count]--;
   breadcrumb->slots.in_flight--;
   breadcrumb->slots.has_failed |= has_failed;
}

bool agx_breadcrumb_tells_success(const struct agx_breadcrumb *breadcrumb, uint32_t count)
{
   if (breadcrumb->slots.is_mixed)
      return is_complete(breadcrumb);
   return count_of(breadcrumb, count) == breadcrumb->slots.expected[count];
}

void agx_breadcrumb_reset(struct agx_breadcrumb *breadcrumb)
{
   if (!breadcrumb->page)
      return;
   for (uint32_t i = 0; i < AGX_BREADCRUMB_SLOTS; i++)
      atomic_store_explicit(&breadcrumb->words->counts[i], 0, memory_order_relaxed);
   atomic_store_explicit(&breadcrumb->words->current, 0, memory_order_relaxed);
   breadcrumb->slots = (struct agx_breadcrumb_slots){0};
   breadcrumb->lacks_prologues = false;
}
