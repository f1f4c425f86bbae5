/* SPDX-License-Identifier: MIT
 *
 * Who adds to which count of a tag. A queue runs what it is given in order, so while a command
 * buffer is in flight on one queue only, a submission's end adds to the count that its head has
 * named, or to count 0 while nobody has come through a head. On several queues heads and ends mix,
 * and only the sum of all counts says something.
 */
#include "hal/record/breadcrumb.h"

#include <string.h>

static uint32_t count_of(const struct agx_tag *tag, uint32_t i)
{
   return atomic_load_explicit(&tag->words->counts[i], memory_order_acquire);
}

/* That all that the kernel was ever given has run to its end. Counts only rise, up to what is
 * expected of them, and nothing is submitted meanwhile: so it does not matter that they are read
 * one after the other. */
static bool is_complete(const struct agx_tag *tag)
{
   uint32_t sum = 0, expected = 0;
   for (uint32_t i = 0; i < AGX_TAG_COUNTS; i++) {
      sum += count_of(tag, i);
      expected += tag->flight.expected[i];
   }
   return sum == expected;
}

/* Nothing is in flight. Counts that lag though nothing has failed may be late: they stay expected,
 * so that they are nobody else's then. */
static void settle(struct agx_tag *tag)
{
   struct agx_tag_flight *flight = &tag->flight;
   if (flight->has_failed || (flight->is_mixed && is_complete(tag))) {
      for (uint32_t i = 0; i < AGX_TAG_COUNTS; i++)
         flight->expected[i] = count_of(tag, i);
      flight->has_failed = flight->is_mixed = false;
   }
   flight->uses_heads = false;
   atomic_store_explicit(&tag->words->current, 0, memory_order_relaxed);
}

/* One that nobody in flight adds to; else the one that was taken last, whose submissions are known
 * to be good once the last of them is. */
static uint32_t choose_head(struct agx_tag_flight *flight)
{
   for (uint32_t i = 1; i < AGX_TAG_COUNTS; i++)
      if (flight->holders[i] == 0)
         return flight->last = i;
   return flight->last;
}

static uint32_t choose_count(struct agx_tag *tag, uint32_t queue, bool takes_heads)
{
   struct agx_tag_flight *flight = &tag->flight;
   if (flight->in_flight == 0) {
      settle(tag);
      flight->queue = queue;
      return 0;
   }
   bool can_tell = queue == flight->queue && !flight->is_mixed;
   bool has_heads = takes_heads && atomic_load_explicit(&tag->heads_va, memory_order_acquire);
   if (can_tell && has_heads) {
      flight->uses_heads = true;
      return choose_head(flight);
   }
   flight->is_mixed |= !can_tell || flight->uses_heads;
   return 0;
}

uint32_t agx_tag_enter(struct agx_tag *tag, uint32_t queue, bool takes_heads,
                       struct agxw_compute *stream)
{
   struct agx_tag_flight *flight = &tag->flight;
   uint32_t count = choose_count(tag, queue, takes_heads);
   if (count > 0) {
      uint64_t va = tag->heads_va + count * AGX_TAG_HEAD_BYTES;
      stream->stream_va = va;
      stream->stream_end_va = va + tag->head_end_B;
   }
   flight->expected[count]++;
   flight->holders[count]++;
   flight->in_flight++;
   return count;
}

void agx_tag_withdraw(struct agx_tag *tag, uint32_t count)
{
   tag->flight.expected[count]--;
   agx_tag_leave(tag, count, false);
}

void agx_tag_leave(struct agx_tag *tag, uint32_t count, bool has_failed)
{
   tag->flight.holders[count]--;
   tag->flight.in_flight--;
   tag->flight.has_failed |= has_failed;
}

bool agx_tag_tells_success(const struct agx_tag *tag, uint32_t count)
{
   if (tag->flight.is_mixed)
      return is_complete(tag);
   return count_of(tag, count) == tag->flight.expected[count];
}

void agx_tag_reset(struct agx_tag *tag)
{
   if (!tag->page)
      return;
   for (uint32_t i = 0; i < AGX_TAG_COUNTS; i++)
      atomic_store_explicit(&tag->words->counts[i], 0, memory_order_relaxed);
   atomic_store_explicit(&tag->words->current, 0, memory_order_relaxed);
   tag->flight = (struct agx_tag_flight){0};
   tag->lacks_heads = false;
}
