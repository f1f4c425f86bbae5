/* SPDX-License-Identifier: MIT
 *
 * Eight threads do everything at random to one device after the other, with faults: no operation,
 * signal, watch or function is lost, nothing comes twice, and all memory, descriptors and threads
 * are back. AGX_HAL_SOAK_SECONDS: how long; without it, AGX_HAL_SOAK_ROUNDS and
 * AGX_HAL_SOAK_OPERATIONS of each thread count. AGX_HAL_SOAK_SEED and AGX_HAL_SOAK_FIRST (round)
 * do again what failed, as far as threads can; AGX_HAL_SOAK_PLAN: only that one of the plans that
 * rounds follow in turn (soak_plan.c); AGX_HAL_SOAK_PATIENCE: seconds without a step that are a
 * hang.
 */
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/sanitizers.h"
#include "soak.h"

/* Some minute altogether. */
#if AGX_THREAD_SANITIZED
#define ROUNDS     8
#define OPERATIONS 400
#elif AGX_ADDRESS_SANITIZED
#define ROUNDS     32
#define OPERATIONS 400
#else
#define ROUNDS     48
#define OPERATIONS 1000
#endif

#define PATIENCE_S 90
#define ATTEMPTS   8 /* to open a round that failures are against */

#if AGX_THREAD_SANITIZED
/* Operations without order write to the same bytes, on the simulated GPU and by its files: only
 * what touches such bytes is named, by function or file of any frame; none of it calls anything
 * that threads share otherwise. */
AGX_API const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
   return "race:sim/exec/elements_impl.h\n" /* of lanes: loads and stores */
          "race:agxs_get_le\n"
          "race:agxs_put_le\n"
          "race:sim/memory/cache.c\n" /* what cores see of pages, in chaos */
          "race:^copy_some$\n"        /* of files */
          "race:^move_some$\n";
}
#endif

static struct soak_round *running;
static struct soak_thread *running_threads;
static const char *running_phase;

static uint64_t setting(const char *name, uint64_t otherwise)
{
   const char *text = getenv(name);
   return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

int64_t soak_now(void)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int64_t soak_deadline(void)
{
   return soak_now() + (int64_t)setting("AGX_HAL_SOAK_PATIENCE", PATIENCE_S) * 1000000000;
}

/* What does not even come to look at the time. */
static void on_alarm(int signal)
{
   soak_die(__FILE__, __LINE__, "alarm", "%s hangs", running_phase ? running_phase : "the soak");
}

void soak_phase(const char *name)
{
   running_phase = name;
   alarm(2 * (unsigned)setting("AGX_HAL_SOAK_PATIENCE", PATIENCE_S));
}

void soak_die(const char *file, int line, const char *condition, const char *format, ...)
{
   char error[512];
   va_list arguments;
   agx_error_text(error, sizeof(error));
   fprintf(stderr, "%s:%d: %s: ", file, line, condition);
   va_start(arguments, format);
   vfprintf(stderr, format, arguments);
   va_end(arguments);
   fprintf(stderr, "\nlast error here: %s\n", error);
   if (running)
      fprintf(
         stderr, "AGX_HAL_SOAK_SEED=%llu AGX_HAL_SOAK_FIRST=%llu AGX_HAL_SOAK_PLAN=%u: %s%s%s\n",
         (unsigned long long)running->plan.seed / 1000,
         (unsigned long long)running->plan.seed % 1000, running->plan.number, running->plan.inject,
         running->plan.strays ? " strays" : "", running->plan.cancels ? " cancels" : "");
   for (uint32_t i = 0; running_threads && i < SOAK_THREADS; i++)
      fprintf(stderr, "thread %u: %s after %llu%s\n", i, running_threads[i].doing,
              (unsigned long long)running_threads[i].done,
              running_threads[i].has_ended ? ", ended" : "");
   abort();
}

static void *work(void *argument)
{
   struct soak_thread *thread = argument;
   for (uint32_t i = 0; i < thread->round->plan.operations; i++) {
      uint32_t pick = soak_below(thread, 100);
      if (pick < 45)
         soak_submit(thread);
      else if (pick < 60)
         soak_chain_go_on(thread);
      else if (pick < 70)
         soak_alloca_go_on(thread);
      else
         soak_host(thread);
      if (soak_chance(thread, 60))
         soak_finish_deferred(thread->round, false);
      atomic_fetch_add(&thread->done, 1);
   }
   atomic_store(&thread->has_ended, true);
   return NULL;
}

static void start(struct soak_round *round, struct soak_thread *threads)
{
   for (uint32_t i = 0; i < SOAK_THREADS; i++) {
      struct soak_thread *thread = &threads[i];
      thread->round = round;
      thread->device = &round->devices[i % round->plan.devices];
      thread->index = i;
      soak_check(soak_chain_make(thread), "no memory");
      thread->rng.state = (round->plan.seed * SOAK_THREADS + i) * 0x9e3779b97f4a7c15 + 1;
      thread->doing = "nothing";
      for (uint32_t k = 0; k < SOAK_HELD; k++)
         thread->fds[k] = -1;
   }
   for (uint32_t i = 0; i < SOAK_THREADS; i++)
      soak_check(pthread_create(&threads[i].thread, NULL, work, &threads[i]) == 0, "no thread");
}

/* One that does not go on hangs. */
static void join(struct soak_thread *threads)
{
   const struct timespec nap = {.tv_nsec = 5000000};
   for (uint32_t i = 0; i < SOAK_THREADS; i++) {
      uint64_t seen = UINT64_MAX;
      int64_t deadline_ns = soak_deadline();
      while (!atomic_load(&threads[i].has_ended)) {
         if (seen != atomic_load(&threads[i].done)) {
            deadline_ns = soak_deadline();
            soak_phase("a thread");
         }
         seen = atomic_load(&threads[i].done);
         soak_check(soak_now() < deadline_ns, "thread %u hangs", i);
         nanosleep(&nap, NULL);
      }
      pthread_join(threads[i].thread, NULL);
   }
}

static void expect_back(const char *path, uint32_t before)
{
   const int64_t deadline_ns = soak_deadline();
   while (soak_count_entries(path) > before) {
      soak_check(soak_now() < deadline_ns, "%s: %u before, %u now", path, before,
                 soak_count_entries(path));
      sched_yield();
   }
}

/* What became of a plan's rounds. */
struct tally {
   uint64_t opened, unopened, submitted;
};

static void tell(const struct soak_round *round, const struct soak_place *place)
{
   printf(
      "# round %u, plan %u: %llu submitted, %llu refused; of those with a receipt %llu reached, "
      "%llu failed; %llu links compared; %u device%s; %s%s\n",
      place->round, place->plan, (unsigned long long)round->submitted,
      (unsigned long long)round->refused, (unsigned long long)round->reached,
      (unsigned long long)round->failed, (unsigned long long)round->compared, round->plan.devices,
      round->plan.devices > 1 ? "s" : "", round->plan.inject, round->plan.strays ? " strays" : "");
}

/* False: it could not be opened. */
static bool attempt(const struct soak_place *place, struct tally *tally)
{
   struct soak_round *round = calloc(1, sizeof(*round));
   struct soak_thread *threads = calloc(SOAK_THREADS, sizeof(*threads));
   const uint32_t fds = soak_count_entries("/proc/self/fd");
   const uint32_t tasks = soak_count_entries("/proc/self/task");
   soak_check(round && threads, "no memory");
   soak_plan_make(&round->plan, place);
   running = round;
   soak_phase("opening");
   bool is_open = soak_round_open(round);
   if (is_open) {
      start(round, threads);
      running_threads = threads;
      join(threads);
      soak_round_settle(round, threads);
   }
   soak_round_close(round);
   expect_back("/proc/self/fd", fds);
   expect_back("/proc/self/task", tasks);
   alarm(0);
   if (is_open)
      tell(round, place);
   tally->submitted += round->submitted;
   running = NULL;
   running_threads = NULL;
   free(round);
   free(threads);
   return is_open;
}

static void run_round(struct soak_place *place, struct tally *tally)
{
   for (place->attempt = 0; place->attempt < ATTEMPTS; place->attempt++)
      if (attempt(place, tally)) {
         tally->opened++;
         return;
      }
   printf("# round %u, plan %u: not opened in %u attempts\n", place->round, place->plan, ATTEMPTS);
   tally->unopened++;
}

static void *do_nothing(void *argument)
{
   return argument;
}

#if AGX_SANITIZED
/* Of the sanitizers' runtime. */
void __sanitizer_symbolize_pc(void *pc, const char *format, char *out, size_t capacity);
#endif

/* With the first thread a sanitizer starts one of its own, and with the first name that it looks up
 * clang's starts a program, to which two pipes lead. */
static void start_first_thread(void)
{
   pthread_t thread;
#if AGX_SANITIZED
   char name[64];
   __sanitizer_symbolize_pc((void *)start_first_thread, "%f", name, sizeof(name));
#endif
   soak_check(pthread_create(&thread, NULL, do_nothing, NULL) == 0, "no thread");
   pthread_join(thread, NULL);
}

/* Rounds that do nothing find nothing. */
static void check_tallies(const struct tally tallies[SOAK_PLANS])
{
   for (uint32_t i = 0; i < SOAK_PLANS; i++) {
      const struct tally *it = &tallies[i];
      if (it->opened + it->unopened == 0)
         continue;
      printf("# plan %u: %llu rounds, %llu more did not open; %llu operations\n", i,
             (unsigned long long)it->opened, (unsigned long long)it->unopened,
             (unsigned long long)it->submitted);
      soak_check(it->opened > it->unopened && it->submitted > 0, "plan %u does nothing", i);
   }
}

static void random_operations(void **state)
{
   const uint64_t seed = setting("AGX_HAL_SOAK_SEED", 1);
   const uint64_t seconds = setting("AGX_HAL_SOAK_SECONDS", 0);
   const uint64_t plan = setting("AGX_HAL_SOAK_PLAN", SOAK_PLANS);
   const uint32_t first = (uint32_t)setting("AGX_HAL_SOAK_FIRST", 0);
   const uint64_t rounds = setting("AGX_HAL_SOAK_ROUNDS", ROUNDS);
   const int64_t end_ns = soak_now() + (int64_t)seconds * 1000000000;
   struct tally tallies[SOAK_PLANS] = {0};
   start_first_thread();
   signal(SIGALRM, on_alarm);
   for (uint32_t i = 0; seconds ? soak_now() < end_ns : i < rounds; i++) {
      const uint32_t index = first + i;
      struct soak_place place = {
         .seed = seed + index / 1000,
         .round = index % 1000,
         .plan = (uint32_t)(plan < SOAK_PLANS ? plan : index % SOAK_PLANS),
         .operations = (uint32_t)setting("AGX_HAL_SOAK_OPERATIONS", OPERATIONS),
      };
      run_round(&place, &tallies[place.plan]);
   }
   check_tallies(tallies);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {cmocka_unit_test(random_operations)};
   setvbuf(stdout, NULL, _IOLBF, 0);
   return cmocka_run_group_tests(tests, NULL, NULL);
}
