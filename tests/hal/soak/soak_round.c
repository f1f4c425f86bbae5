/* SPDX-License-Identifier: MIT
 *
 * What a round's threads share: how it comes to be, how it ends, and what must be gone then.
 */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hal/device.h"
#include "kernels.h"
#include "soak.h"

static void set(const char *name, const char *value)
{
   if (value && *value)
      setenv(name, value, 1);
   else
      unsetenv(name);
}

/* ---- making ---------------------------------------------------------------------- */

static bool make_kernel(struct soak_round *round, const struct agx_test_kernel *kernel,
                        struct agx_executable **out_executable)
{
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   void *image = agx_test_kernel_elf(kernel, "g13g", &desc.data_B);
   desc.data = image;
   agx_status status = agx_executable_create(round->device, &desc, out_executable);
   free(image);
   return status == AGX_OK;
}

static bool record_shared(struct soak_round *round, uint32_t i)
{
   struct agx_command_buffer **commands = &round->shared[i];
   const struct agx_binding binding = {.ref = {round->scratch[i], 0, AGX_WHOLE_LENGTH}};
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = round->count,
                                         .workgroups = {2, 1, 1},
                                         .binding_count = 1,
                                         .bindings = &binding};
   return agx_command_buffer_create(round->device, NULL, commands) == AGX_OK &&
          agx_command_buffer_begin(*commands) == AGX_OK &&
          agx_cmd_dispatch(*commands, &dispatch) == AGX_OK &&
          agx_command_buffer_end(*commands) == AGX_OK;
}

static bool make_objects(struct soak_round *round)
{
   const struct agx_buffer_desc buffer = {.size = sizeof(buffer), .size_B = SOAK_SCRATCH_B};
   const struct agx_pool_desc pools[2] = {
      {.size = sizeof(pools[0]), .slab_B = 65536, .limit_B = 262144},
      {.size = sizeof(pools[0]), .strategy = AGX_POOL_FIXED, .block_B = 16384, .limit_B = 262144},
   };
   if (!make_kernel(round, &agx_test_count, &round->count) ||
       !make_kernel(round, &agx_test_add, &round->add) ||
       !make_kernel(round, &agx_test_stray, &round->stray))
      return false;
   for (uint32_t i = 0; i < SOAK_SCRATCH; i++)
      if (agx_buffer_create(round->device, &buffer, &round->scratch[i]) != AGX_OK ||
          !record_shared(round, i))
         return false;
   for (uint32_t i = 0; i < 2; i++)
      if (agx_pool_create(round->device, &pools[i], &round->pools[i]) != AGX_OK)
         return false;
   for (uint32_t i = 0; i < SOAK_SLOTS; i++) {
      if (agx_semaphore_create(round->device, 0, &round->timelines[i].semaphore) != AGX_OK)
         return false;
      round->slots[i] = i;
      round->timeline_count++;
   }
   return true;
}

static void on_profile(void *user, const struct agx_profile_record *record)
{
   soak_check(record->size == sizeof(*record), "a profile record of %u bytes", record->size);
}

static bool begin_profile(struct soak_round *round)
{
   const struct agx_profile_desc desc = {
      .size = sizeof(desc),
      .families = AGX_PROFILE_QUEUE | AGX_PROFILE_DEVICE_QUEUE | AGX_PROFILE_DISPATCH |
                  AGX_PROFILE_HOST | AGX_PROFILE_MEMORY,
      .fn = on_profile,
   };
   return !round->plan.profiles || agx_profile_begin(round->device, &desc) == AGX_OK;
}

bool soak_round_open(struct soak_round *round)
{
   char chaos[16] = "";
   const struct agx_instance_desc instance = {.size = sizeof(instance), .alloc = &soak_alloc};
   const struct agx_device_desc device = {
      .size = sizeof(device), .queue_count = round->plan.queues, .max_parked = 600};
   struct agx_kmd *kmd;
   if (round->plan.chaos)
      snprintf(chaos, sizeof(chaos), "%u", round->plan.chaos);
   set("AGX_VIRTUAL_CHAOS", chaos);
   set("AGX_VIRTUAL_INJECT", round->plan.inject);
   set("AGX_VIRTUAL_STRICT", round->plan.strays ? "1" : "");
   pthread_mutex_init(&round->lock, NULL);
   round->records = calloc(SOAK_RECORDS, sizeof(*round->records));
   soak_check(round->records, "no memory");
   soak_check(agx_instance_create(&instance, &round->instance) == AGX_OK, "no instance");
   round->kmd = soak_kmd_open(&kmd);
   if (agx_device_open_over(round->instance, &device, kmd, &round->device) != AGX_OK ||
       !make_objects(round) || !begin_profile(round))
      return false;
   soak_alloc_fail(round->plan.null_per_mille, round->plan.seed);
   return true;
}

/* ---- timelines and records ---------------------------------------------------------- */

struct soak_timeline *soak_timeline_pick(struct soak_thread *thread)
{
   struct soak_round *round = thread->round;
   return &round->timelines[atomic_load(&round->slots[soak_below(thread, SOAK_SLOTS)])];
}

void soak_timeline_renew(struct soak_thread *thread)
{
   struct soak_round *round = thread->round;
   const uint32_t slot = soak_below(thread, SOAK_SLOTS);
   struct agx_semaphore *fresh = NULL;
   uint64_t value;
   uint32_t current = atomic_load(&round->slots[slot]);
   if (agx_semaphore_query(round->timelines[current].semaphore, &value) == AGX_OK ||
       atomic_load(&round->timeline_count) > SOAK_TIMELINES - SOAK_THREADS ||
       agx_semaphore_create(round->device, 0, &fresh) != AGX_OK)
      return;
   uint32_t index = atomic_fetch_add(&round->timeline_count, 1);
   round->timelines[index].semaphore = fresh;
   atomic_store(&round->slots[slot], index);
}

struct soak_record *soak_record_take(struct soak_round *round, enum soak_record_kind kind)
{
   uint32_t index = atomic_fetch_add(&round->record_count, 1);
   if (index >= SOAK_RECORDS)
      return NULL;
   round->records[index].round = round;
   round->records[index].kind = kind;
   return &round->records[index];
}

/* ---- the end -------------------------------------------------------------------------- */

/* Nothing that anybody waits for is left to come, but by what has been submitted. */
static void release_all(struct soak_round *round, struct soak_thread *threads)
{
   for (uint32_t i = 0; i < round->timeline_count; i++)
      (void)!agx_semaphore_signal(round->timelines[i].semaphore, SOAK_FAR);
   for (uint32_t t = 0; t < SOAK_THREADS; t++)
      for (uint32_t i = 0; i < SOAK_HELD; i++)
         soak_alloca_end(&threads[t].allocas[i]);
}

/* One look at all receipts and functions; the first that is not over, or NULL. */
static const struct soak_receipt *look(struct soak_round *round, struct soak_thread *threads)
{
   const struct soak_receipt *left = NULL;
   soak_finish_deferred(round, true);
   if (round->plan.cancels)
      agx_device_cancel(round->device);
   for (uint32_t t = 0; t < SOAK_THREADS; t++)
      for (uint32_t i = 0; i < SOAK_RECEIPTS; i++)
         if (!soak_receipt_check(&threads[t].receipts[i], soak_now() + 500000))
            left = &threads[t].receipts[i];
   return left;
}

static void check_timelines(struct soak_round *round)
{
   for (uint32_t i = 0; i < round->timeline_count; i++) {
      struct soak_timeline *it = &round->timelines[i];
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
}

void soak_round_settle(struct soak_round *round, struct soak_thread *threads)
{
   const int64_t deadline_ns = soak_deadline();
   const struct soak_receipt *left;
   soak_alloc_fail(0, 0);
   if (!round->plan.cancels)
      release_all(round, threads);
   while ((left = look(round, threads)))
      soak_check(soak_now() < deadline_ns, "an operation of kind %u never ends", left->kind);
   check_timelines(round);
   for (uint32_t t = 0; t < SOAK_THREADS; t++)
      end_thread(&threads[t]);
   if (round->plan.cancels)
      agx_device_cancel(round->device);
   if (round->plan.profiles)
      soak_check(agx_profile_end(round->device) == AGX_OK, "the profile does not end");
}

uint32_t soak_count_entries(const char *path)
{
   uint32_t count = 0;
   DIR *folder = opendir(path);
   soak_check(folder, "no %s", path);
   while (readdir(folder))
      count++;
   closedir(folder);
   return count;
}

static void release_objects(struct soak_round *round)
{
   for (uint32_t i = 0; i < round->timeline_count; i++)
      agx_release(round->timelines[i].semaphore);
   for (uint32_t i = 0; i < SOAK_SCRATCH; i++) {
      agx_release(round->shared[i]);
      agx_release(round->scratch[i]);
   }
   agx_release(round->pools[0]);
   agx_release(round->pools[1]);
   agx_release(round->count);
   agx_release(round->add);
   agx_release(round->stray);
   agx_release(round->device);
   agx_release(round->instance);
}

void soak_round_close(struct soak_round *round)
{
   const int64_t deadline_ns = soak_deadline();
   soak_alloc_fail(0, 0);
   release_objects(round);
   soak_kmd_close(round->kmd);
   while (soak_alloc_blocks()) {
      soak_check(soak_now() < deadline_ns, "%lld blocks of host memory are left",
                 (long long)soak_alloc_blocks());
      sched_yield();
   }
   const uint32_t records = round->record_count < SOAK_RECORDS ? round->record_count : SOAK_RECORDS;
   for (uint32_t i = 0; i < records; i++)
      soak_check(round->records[i].calls >= round->records[i].least,
                 "the release of file %u never came", i);
   free(round->records);
   pthread_mutex_destroy(&round->lock);
}
