/* SPDX-License-Identifier: MIT
 *
 * How a round ends: all that threads have started comes to something.
 */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "soak.h"

/* After this, all that threads and submissions wait for comes from work that is submitted already.
 */
static void release_all(struct soak_round *round, struct soak_thread *threads)
{
   for (uint32_t d = 0; d < round->plan.devices; d++)
      for (uint32_t i = 0; i < round->devices[d].timeline_count; i++)
         (void)!agx_semaphore_signal(round->devices[d].timelines[i].semaphore, SOAK_FAR);
   for (uint32_t t = 0; t < SOAK_THREADS; t++)
      for (uint32_t i = 0; i < SOAK_HELD; i++)
         soak_alloca_end(&threads[t].allocas[i]);
}

static void cancel(struct soak_round *round)
{
   for (uint32_t d = 0; d < round->plan.devices && round->plan.cancels; d++) {
      atomic_store(&round->devices[d].is_cancelled, true);
      agx_device_cancel(round->devices[d].device);
   }
}

/* One look at all receipts and functions; the first that is not over, or NULL. */
static const struct soak_receipt *look(struct soak_round *round, struct soak_thread *threads)
{
   const struct soak_receipt *left = NULL;
   soak_finish_deferred(round, true);
   cancel(round);
   for (uint32_t t = 0; t < SOAK_THREADS; t++)
      for (uint32_t i = 0; i < SOAK_RECEIPTS; i++)
         if (!soak_receipt_check(&threads[t].receipts[i], soak_now() + 500000))
            left = &threads[t].receipts[i];
   return left;
}

static void check_timelines(struct soak_device *device)
{
   for (uint32_t i = 0; i < device->timeline_count; i++) {
      struct soak_timeline *it = &device->timelines[i];
      agx_status status;
      soak_check(soak_await(it->semaphore, it->promised, soak_deadline(), &status),
                 "timeline %u: %llu is neither reached nor failed", i,
                 (unsigned long long)it->promised);
   }
}

/* Every value is reached, so all must be called. */
static void await_watch(struct soak_watch *watch)
{
   const int64_t deadline_ns = soak_deadline();
   while (atomic_load(&watch->calls) + watch->taken_back < watch->armed) {
      soak_check(soak_now() < deadline_ns, "a watch for %llu is never called",
                 (unsigned long long)watch->watch.value);
      sched_yield();
   }
}

static void end_thread(struct soak_thread *thread)
{
   soak_chain_check(thread, soak_deadline());
   for (uint32_t i = 0; i < SOAK_WATCHES; i++) {
      if (!thread->round->plan.cancels)
         await_watch(&thread->watches[i]);
      soak_unwatch(&thread->watches[i]);
   }
   for (uint32_t i = 0; i < SOAK_HELD; i++) {
      soak_alloca_end(&thread->allocas[i]);
      agx_release(thread->commands[i]);
      if (thread->fds[i] >= 0)
         close(thread->fds[i]);
   }
   free(thread->chain);
}

void soak_round_settle(struct soak_round *round, struct soak_thread *threads)
{
   const int64_t deadline_ns = soak_deadline();
   const struct soak_receipt *left;
   soak_phase("the end of operations");
   soak_alloc_fail(0, 0);
   if (!round->plan.cancels)
      release_all(round, threads);
   while ((left = look(round, threads)))
      soak_check(soak_now() < deadline_ns, "an operation of kind %u never ends", left->kind);
   for (uint32_t d = 0; d < round->plan.devices; d++)
      check_timelines(&round->devices[d]);
   for (uint32_t t = 0; t < SOAK_THREADS; t++) {
      soak_phase("the end of a chain");
      end_thread(&threads[t]);
   }
   soak_phase("the quiet");
   soak_round_be_quiet(round);
   cancel(round);
   for (uint32_t d = 0; d < round->plan.devices && round->plan.profiles; d++)
      soak_check(agx_profile_end(round->devices[d].device) == AGX_OK, "the profile does not end");
}
