/* SPDX-License-Identifier: MIT
 *
 * How a round begins, and that nothing is left of it.
 */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "soak.h"

static void set(const char *name, const char *value)
{
   if (value && *value)
      setenv(name, value, 1);
   else
      unsetenv(name);
}

/* Nodes look at the environment when they are opened. */
static bool open_device(struct soak_round *round, uint32_t index)
{
   const struct soak_plan *plan = &round->plan;
   struct soak_device *it = &round->devices[index];
   const bool is_spared = plan->spares_last && index == SOAK_DEVICES - 1;
   const bool is_harmless = is_spared || plan->is_harmless;
   char chaos[16] = "";
   if (plan->chaos)
      snprintf(chaos, sizeof(chaos), "%u", plan->chaos + index);
   set("AGX_VIRTUAL_CHAOS", chaos);
   set("AGX_VIRTUAL_INJECT", is_spared ? NULL : plan->inject);
   set("AGX_VIRTUAL_STRICT", plan->strays ? "1" : "");
   it->round = round;
   it->strays = plan->strays && !is_spared;
   it->must_succeed = is_harmless && !it->strays && plan->null_per_mille == 0;
   return soak_device_open(it);
}

bool soak_round_open(struct soak_round *round)
{
   pthread_mutex_init(&round->lock, NULL);
   round->records = calloc(SOAK_RECORDS, sizeof(*round->records));
   soak_check(round->records, "no memory");
   for (uint32_t i = 0; i < round->plan.devices; i++)
      if (!open_device(round, i))
         return false;
   soak_alloc_fail(round->plan.null_per_mille, round->plan.seed);
   return true;
}

struct soak_record *soak_record_take(struct soak_thread *thread)
{
   struct soak_round *round = thread->round;
   uint32_t index = atomic_fetch_add(&round->record_count, 1);
   if (index >= SOAK_RECORDS)
      return NULL;
   round->records[index].round = round;
   round->records[index].device = thread->device;
   return &round->records[index];
}

/* ---- what must be gone ------------------------------------------------------------------ */

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

static void close_records(struct soak_round *round)
{
   const uint32_t count = round->record_count < SOAK_RECORDS ? round->record_count : SOAK_RECORDS;
   for (uint32_t i = 0; i < count; i++) {
      agx_status status;
      if (round->records[i].done)
         soak_check(soak_await(round->records[i].done, 1, soak_deadline(), &status),
                    "a chain's host call %u never ends", i);
      agx_release(round->records[i].done);
      for (uint32_t part = 0; part < SOAK_PARTS; part++)
         agx_release(round->records[i].buffers[part]);
      free(round->records[i].expected);
   }
}

static void check_records(const struct soak_round *round)
{
   const uint32_t count = round->record_count < SOAK_RECORDS ? round->record_count : SOAK_RECORDS;
   for (uint32_t i = 0; i < count; i++)
      soak_check(round->records[i].calls >= round->records[i].least,
                 "the release of file %u never came", i);
}

void soak_round_close(struct soak_round *round)
{
   const int64_t deadline_ns = soak_deadline();
   soak_phase("closing");
   soak_alloc_fail(0, 0);
   close_records(round);
   for (uint32_t i = 0; i < SOAK_DEVICES; i++)
      soak_device_close(&round->devices[i]);
   for (uint32_t i = 0; i < SOAK_DEVICES; i++)
      soak_kmd_close(round->devices[i].kmd);
   while (soak_alloc_blocks()) {
      soak_check(soak_now() < deadline_ns, "%lld blocks of host memory are left",
                 (long long)soak_alloc_blocks());
      sched_yield();
   }
   check_records(round);
   free(round->records);
   pthread_mutex_destroy(&round->lock);
}
