/* SPDX-License-Identifier: MIT
 *
 * `make ulp`: measures all operations, several processes at a time, and prints the table. A row
 * that is done, or the part of it that is, lies in the folder of states; a later run with the same
 * number of inputs goes on there.
 *
 *    ulp STATES [INPUTS [JOBS [NAME]]]   INPUTS: of each operation of singles, a power of two;
 * `all` is 2^32
 *
 * Exit status: 0 all within Vulkan's table, 1 a miss, 2 can't run.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ulp.h"

#define CHUNK     (1u << 17) /* inputs of a dispatch */
#define SAVE_EACH (1u << 24) /* inputs between two states */

struct job {
   const struct ulp_operation *operation;
   unsigned width;
   bool is_precise;
   uint64_t total, done, code; /* code: a hash of the kernel */
   struct ulp_result result;
   char path[512];
};

static void read_state(struct job *job)
{
   struct job state;
   FILE *file = fopen(job->path, "rb");
   if (file && fread(&state, sizeof(state), 1, file) == 1 && state.total == job->total &&
       state.code == job->code) {
      job->done = state.done;
      job->result = state.result;
   }
   if (file)
      fclose(file);
}

static void write_state(const struct job *job)
{
   char path[sizeof(job->path) + 8];
   snprintf(path, sizeof(path), "%s.new", job->path);
   FILE *file = fopen(path, "wb");
   if (!file || fwrite(job, sizeof(*job), 1, file) != 1 || fclose(file) ||
       rename(path, job->path)) {
      fprintf(stderr, "ulp: %s can't be written\n", path);
      exit(2);
   }
}

static void make_job(struct job *job, const char *folder, size_t index, unsigned width,
                     bool is_precise, uint64_t inputs)
{
   const struct ulp_operation *operation = &ulp_operations[index];
   *job = (struct job){.operation = operation, .width = width, .is_precise = is_precise};
   /* All inputs of several operands can't be had, and what is asked of special values needs fewer.
    */
   uint64_t wanted = ulp_operands(operation) > 1 && inputs > 1u << 26 ? 1u << 26 : inputs;
   job->total = ulp_total(operation, width, is_precise && wanted > 1u << 18 ? 1u << 18 : wanted);
   snprintf(job->path, sizeof(job->path), "%s/%zu.%u.%d", folder, index, width, is_precise);
   if (ulp_code_hash(operation, width, is_precise, &job->code) != AGX_OK) {
      fprintf(stderr, "ulp: %s: %s\n", operation->name, agx_error_peek());
      exit(2);
   }
   read_state(job);
}

static agx_status measure(struct job *job)
{
   struct ulp_device *device;
   AGX_TRY(ulp_device_open(CHUNK, &device));
   AGX_TRY(ulp_device_load(device, job->operation, job->width, job->is_precise));
   while (job->done < job->total) {
      uint64_t left = job->total - job->done;
      struct ulp_plan plan = {job->done, left < CHUNK ? left : CHUNK, job->total, &ulp_mpfr,
                              job->is_precise};
      AGX_TRY(ulp_measure(device, job->operation, job->width, &plan, &job->result));
      job->done += plan.count;
      if (job->done % SAVE_EACH == 0 || job->done == job->total)
         write_state(job);
      if (job->done % SAVE_EACH == 0 && job->done < job->total)
         fprintf(stderr, "%s of %u bits: %.1f %%\n", job->operation->name, job->width,
                 100.0 * (double)job->done / (double)job->total);
   }
   ulp_device_close(device);
   return AGX_OK;
}

/* Each job that isn't done gets a process; jobs_at_once of them run. */
static bool run_all(struct job *jobs, size_t count, unsigned at_once)
{
   bool is_well = true;
   unsigned running = 0;
   for (size_t i = 0; i < count || running > 0;) {
      bool has_work = i < count && jobs[i].done < jobs[i].total;
      if (i < count && !has_work) {
         i++;
      } else if (has_work && running < at_once) {
         if (fork() == 0) {
            agx_status status = measure(&jobs[i]);
            if (status != AGX_OK)
               fprintf(stderr, "ulp: %s: %s\n", jobs[i].operation->name, agx_error_peek());
            _exit(status == AGX_OK ? 0 : 2);
         }
         running++;
         i++;
      } else {
         int status;
         wait(&status);
         is_well &= status == 0;
         running--;
      }
   }
   return is_well;
}

static void print_words(char *text, size_t capacity, const struct job *job, const uint32_t *words)
{
   size_t at = 0;
   for (unsigned k = 0; k < ulp_operands(job->operation); k++) {
      unsigned bits = ulp_bits(ulp_kind(job->operation, k), job->width);
      at += (size_t)snprintf(text + at, capacity - at, "%s%0*" PRIx32, k ? " " : "", (int)bits / 4,
                             words[k]);
   }
}

static void print_row(const struct job *job, const struct job *precise)
{
   const struct ulp_result *r = &job->result;
   char at[80], worst[32];
   bool misses = r->misses || precise->result.misses;
   print_words(at, sizeof(at), job, r->misses ? r->missed : r->at);
   bool is_absolute = job->operation->is_absolute;
   snprintf(worst, sizeof(worst), is_absolute ? "%.3g absolute" : "%.4g",
            is_absolute ? r->worst_abs : r->worst);
   printf("| %s | %u | %s | %s | %s | %.3f | %s |\n", job->operation->name, job->width, worst,
          r->worst > 0 || r->misses ? at : "-", job->operation->rule, r->share,
          misses ? "MISS" : "ok");
   if (precise->result.misses) {
      print_words(at, sizeof(at), precise, precise->result.missed);
      printf("%s of %u bits, with special values kept: %" PRIu64
             " misses, first of %s gives %" PRIx32 "\n",
             job->operation->name, job->width, precise->result.misses, at,
             precise->result.missed_got);
   }
}

static uint64_t inputs_of(const char *text)
{
   return strcmp(text, "all") == 0 ? 1ull << 32 : strtoull(text, NULL, 0);
}

int main(int argc, char **argv)
{
   uint64_t inputs = argc > 2 ? inputs_of(argv[2]) : 1u << 22, misses = 0;
   unsigned at_once = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
   struct job *jobs = calloc(ulp_operation_count * 4, sizeof(*jobs));
   size_t count = 0;
   if (argc < 2 || inputs < 1u << 17 || (inputs & (inputs - 1)) || !jobs) {
      fprintf(stderr, "usage: ulp STATES [INPUTS [JOBS [NAME]]]; INPUTS: a power of two from "
                      "131072 on, or all\n");
      return 2;
   }
   for (size_t i = 0; i < ulp_operation_count; i++)
      for (unsigned width = 16; width <= 32; width *= 2)
         for (unsigned precise = 0; precise < 2 && ulp_exists(&ulp_operations[i], width); precise++)
            if (argc < 5 || strcmp(argv[4], ulp_operations[i].name) == 0)
               make_job(&jobs[count++], argv[1], i, width, precise, inputs);
   if (!run_all(jobs, count, at_once ? at_once : 1))
      return 2;
   printf("| operation | bits | worst, ulp | of | Vulkan allows | share of it | "
          "|\n|---|---|---|---|---|---|---|\n");
   for (size_t i = 0; i < count; i++)
      read_state(&jobs[i]);
   for (size_t i = 0; i < count; i += 2) {
      print_row(&jobs[i], &jobs[i + 1]);
      misses += jobs[i].result.misses + jobs[i + 1].result.misses;
   }
   free(jobs);
   return misses ? 1 : 0;
}
