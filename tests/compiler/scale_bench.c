/* SPDX-License-Identifier: MIT
 *
 * Not a test of its own: how the compiler's work, time and memory grow with the kernel, for each
 * shape. `make bench-scale` builds it with -Dcount_work=true and runs it: then work is the number
 * of basic blocks that ran in the compiler, which is the same on each machine and each time.
 *
 *    scale_bench [--most COUNT] [--shape TEXT] [--robust] [--check] [--profile FILE] [--threads]
 *
 * It compiles modules of 10^3, 10^4 .. COUNT instructions (10^6 without --most). --check fails
 * where a step takes more than MOST_GROWTH times the work for what the module or its code grew by.
 * --profile writes how often each address of the program ran, for addr2line. --threads compiles two
 * modules one after the other, and at once by two threads, instead.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agx/compiler/compiler.h"
#include "base/util.h"
#include "shapes.h"

#define FEWEST      1000u
#define STEP        10u
#define MOST_GROWTH 1.2
#define PROBE       256u /* pieces, to learn how many instructions one has */

/* ---- work ---------------------------------------------------------------- */

#define SITES (1u << 18)

static struct {
   uint64_t blocks;
   bool is_profiled;
   struct site {
      const char *pc;
      uint64_t count;
   } sites[SITES];
} work;

#ifdef COUNT_WORK
#define UNCOUNTED __attribute__((no_sanitize_coverage))

/* The compiler of C puts a call of this into each basic block. */
void __sanitizer_cov_trace_pc(void);
UNCOUNTED void __sanitizer_cov_trace_pc(void)
{
   work.blocks++;
   if (!work.is_profiled)
      return;
   const char *pc = __builtin_return_address(0);
   uint32_t at = (uint32_t)((uintptr_t)pc * 0x9e3779b97f4a7c15ull >> 46) % SITES;
   while (work.sites[at].pc && work.sites[at].pc != pc)
      at = (at + 1) % SITES;
   work.sites[at].pc = pc;
   work.sites[at].count++;
}
#endif

static int write_profile(const char *path)
{
   extern const char __executable_start;
   FILE *file = fopen(path, "w");
   if (!file) {
      perror(path);
      return 1;
   }
   for (uint32_t i = 0; i < SITES; i++)
      if (work.sites[i].count)
         fprintf(file, "%#zx %llu\n", (size_t)(work.sites[i].pc - &__executable_start),
                 (unsigned long long)work.sites[i].count);
   return fclose(file) ? 1 : 0;
}

/* ---- memory -------------------------------------------------------------- */

struct memory {
   size_t now_B, peak_B;
};

static void *take(void *user, size_t size)
{
   struct memory *memory = user;
   memory->now_B += size;
   memory->peak_B = AGX_MAX(memory->peak_B, memory->now_B);
   return malloc(size);
}

static void give_back(void *user, void *address, size_t size)
{
   struct memory *memory = user;
   memory->now_B -= size;
   free(address);
}

/* ---- one module ---------------------------------------------------------- */

struct result {
   double seconds, blocks, peak_B, code_B;
   bool is_refused;
};

static uint32_t count_instructions(const struct shape_module *module)
{
   uint32_t count = 0;
   for (size_t at = 5; at < module->count; at += module->words[at] >> 16)
      count++;
   return count;
}

static uint32_t pieces_of(enum shape shape, uint32_t instructions)
{
   struct shape_module few, many;
   shape_make(&few, shape, PROBE);
   shape_make(&many, shape, 2 * PROBE);
   double each = (count_instructions(&many) - count_instructions(&few)) / (double)PROBE;
   free(few.words);
   free(many.words);
   return (uint32_t)AGX_MAX(1.0, instructions / each);
}

static double now_s(clockid_t clock)
{
   struct timespec time;
   clock_gettime(clock, &time);
   return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static struct result measure(enum shape shape, uint32_t pieces, enum agxc_robustness robustness)
{
   struct shape_module module;
   struct agx_program *program = NULL;
   struct memory memory = {0};
   struct agx_host_alloc alloc = {.user = &memory, .alloc = take, .free = give_back};
   struct agxc_options options = {
      .chip = agx_chip_find("g13g"), .alloc = &alloc, .robustness = robustness};
   shape_make(&module, shape, pieces);
   double start = now_s(CLOCK_PROCESS_CPUTIME_ID);
   work.blocks = 0;
   agx_status status = agxc_compile(module.words, module.count * 4, &options, &program);
   struct result result = {.seconds = now_s(CLOCK_PROCESS_CPUTIME_ID) - start,
                           .blocks = (double)work.blocks,
                           .peak_B = (double)memory.peak_B,
                           .is_refused = status != AGX_OK};
   if (status == AGX_OK)
      result.code_B = program->text_B;
   else
      printf("  %s", agx_error_peek());
   free(module.words);
   agx_program_free(program);
   return result;
}

/* ---- two threads --------------------------------------------------------- */

#define TRIES 7

struct worker {
   struct shape_module module;
   double own_s, wall_s; /* time of the processor, and of the clock */
};

static void *compile_some(void *user)
{
   struct worker *worker = user;
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   double own_s = now_s(CLOCK_THREAD_CPUTIME_ID), wall_s = now_s(CLOCK_MONOTONIC);
   for (unsigned i = 0; i < 10; i++) {
      struct agx_program *program;
      if (agxc_compile(worker->module.words, worker->module.count * 4, &options, &program))
         abort();
      agx_program_free(program);
   }
   worker->own_s = now_s(CLOCK_THREAD_CPUTIME_ID) - own_s;
   worker->wall_s = now_s(CLOCK_MONOTONIC) - wall_s;
   return NULL;
}

/* Both threads' time together, alone or at once. */
static void run_workers(struct worker workers[2], bool at_once, double *own_s, double *wall_s)
{
   pthread_t threads[2];
   for (unsigned i = 0; i < 2; i++) {
      if (pthread_create(&threads[i], NULL, compile_some, &workers[i]))
         abort();
      if (!at_once)
         pthread_join(threads[i], NULL);
   }
   for (unsigned i = 0; at_once && i < 2; i++)
      pthread_join(threads[i], NULL);
   *own_s = workers[0].own_s + workers[1].own_s;
   *wall_s = AGX_MAX(workers[0].wall_s, workers[1].wall_s);
}

/* The best of some tries, for the processors have other work as well. */
static int run_two_threads(void)
{
   struct worker workers[2];
   double least_own = 1e9, least_wall = 1e9;
   shape_make(&workers[0].module, SHAPE_IF_ROW, 300);
   shape_make(&workers[1].module, SHAPE_MEMORY_ROW, 900);
   for (unsigned i = 0; i < TRIES; i++) {
      double own[2], wall[2];
      run_workers(workers, false, &own[0], &wall[0]);
      run_workers(workers, true, &own[1], &wall[1]);
      least_own = AGX_MIN(least_own, own[1] / own[0]);
      least_wall = AGX_MIN(least_wall, wall[1] / wall[0]);
   }
   printf("two threads at once: %.2f times the processor time, %.2f times the time of the longer "
          "one alone\n",
          least_own, least_wall);
   free(workers[0].module.words);
   free(workers[1].module.words);
   return 0;
}

/* ---- all ----------------------------------------------------------------- */

struct request {
   const char *shape, *profile;
   uint32_t most;
   enum agxc_robustness robustness;
   bool checks, has_threads;
};

static bool take_step(enum shape shape, uint32_t instructions, const struct request *request,
                      struct result *last)
{
   struct result now = measure(shape, pieces_of(shape, instructions), request->robustness);
   if (now.is_refused)
      return true;
   printf(" | %8.3f s %7.1f MiB", now.seconds, now.peak_B / 1048576);
   double grown = last->code_B > 0 ? AGX_MAX(STEP, now.code_B / last->code_B) : 0;
   bool is_steep = last->seconds > 0 && now.blocks > MOST_GROWTH * grown * last->blocks;
   if (last->seconds > 0)
      printf(" x%5.1f x%5.1f work x%5.1f%s", now.seconds / last->seconds, now.peak_B / last->peak_B,
             last->blocks > 0 ? now.blocks / last->blocks : 0.0, is_steep ? " !" : "");
   fflush(stdout);
   *last = now;
   return !is_steep;
}

static bool read_arguments(int argc, char **argv, struct request *request)
{
   for (int i = 1; i < argc; i++) {
      if (!strcmp(argv[i], "--robust"))
         request->robustness = AGXC_ROBUST_ZERO;
      else if (!strcmp(argv[i], "--check"))
         request->checks = true;
      else if (!strcmp(argv[i], "--threads"))
         request->has_threads = true;
      else if (i + 1 < argc && !strcmp(argv[i], "--most"))
         request->most = (uint32_t)strtoul(argv[++i], NULL, 0);
      else if (i + 1 < argc && !strcmp(argv[i], "--shape"))
         request->shape = argv[++i];
      else if (i + 1 < argc && !strcmp(argv[i], "--profile"))
         request->profile = argv[++i];
      else
         return false;
   }
   return true;
}

int main(int argc, char **argv)
{
   struct request request = {.shape = "", .most = 1000000};
   if (!read_arguments(argc, argv, &request)) {
      fprintf(stderr, "usage: scale_bench [--most COUNT] [--shape TEXT] [--robust] [--check] "
                      "[--profile FILE] [--threads]\n");
      return 2;
   }
   if (request.has_threads)
      return run_two_threads();
   work.is_profiled = request.profile != NULL;
   bool is_linear = true;
   for (enum shape shape = 0; shape < SHAPE_COUNT; shape++) {
      struct result last = {0};
      if (!strstr(shape_name(shape), request.shape))
         continue;
      printf("%-24s", shape_name(shape));
      for (uint64_t count = FEWEST; count <= request.most; count *= STEP)
         is_linear &= take_step(shape, (uint32_t)count, &request, &last);
      printf("\n");
   }
   if (request.profile && write_profile(request.profile))
      return 1;
   return request.checks && !is_linear;
}
