/* SPDX-License-Identifier: MIT
 *
 * agx-vkbench: the corpus' kernels on the virtual AGX, made by our compiler, and on
 * lavapipe, in one run: wall time of the same grids repeated equally often. Pipelines
 * are built before, statistics and checking are off, and each side has run the kernel
 * once, before any clock starts, with equal results. Where they differ the corpus's reference
 * says whether ours are right (Debian 12's lavapipe takes one lane's level for textureSize).
 *
 * --cpu takes the processor time of all threads in place of wall time, which is steadier
 * where other programs run.
 *
 * A grid is repeated along z until it has 65,536 threads, where the kernel's own grid is
 * flat, and as further dispatches of the same command buffer, without barriers, until
 * lavapipe needs 20 ms.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agx/agx.h"
#include "agx/session.h"
#include "base/status.h"
#include "base/text.h"
#include "base/util.h"
#include "base/json.h"
#include "vkbench.h"

#define MIN_THREADS    65536u
#define MIN_NS         20000000u
#define MAX_DISPATCHES 65536u
#define MAX_KERNELS    128

struct row {
   char name[64], reason[256]; /* reason: why it is not compared */
   uint64_t threads;
   uint32_t dispatches;
   uint64_t ours_ns, theirs_ns;
   char difference[160]; /* how the outputs differ; empty: they don't */
   bool is_ours_right;   /* although they differ: ours are the corpus's reference */
};

struct bench {
   const char *folder, *only, *device_name;
   uint32_t rounds;
   bool is_json, by_cpu;
   struct vkbench_device *device;
   struct agx_session session;
   struct row rows[MAX_KERNELS];
   uint32_t row_count;
};

/* One kernel while it is measured. */
struct job {
   struct bench *bench;
   struct agx_manifest manifest;
   struct vkbench_kernel *theirs;
   struct agx_executable *ours;
   struct agx_session_buffer buffers[AGX_MANIFEST_MAX_RESOURCES];
   uint8_t push[AGX_MANIFEST_MAX_PUSH_B];
};

/* ---- both sides of one kernel ------------------------------------------- */

static agx_status load_kernel(struct job *job, const char *name)
{
   char path[1024];
   uint8_t *spirv;
   size_t size;
   snprintf(path, sizeof(path), "%s/%s.txt", job->bench->folder, name);
   AGX_TRY(agx_manifest_load(path, &job->manifest));
   snprintf(path, sizeof(path), "%s/%s.spv", job->bench->folder, name);
   AGX_TRY(agx_session_load(&job->bench->session, path, NULL, &job->manifest, NULL, &job->ours));
   AGX_TRY(agx_session_make_buffers(&job->bench->session, job->ours, &job->manifest, job->buffers));
   AGX_TRY(agx_session_fill_buffers(&job->manifest, job->buffers, job->push));
   AGX_TRY(agx_tool_read(path, &spirv, &size));
   agx_status status =
      vkbench_kernel_create(job->bench->device, spirv, size, &job->manifest, &job->theirs);
   free(spirv);
   return status;
}

static agx_status record_ours(struct job *job, const uint32_t workgroups[3], uint32_t dispatches)
{
   return agx_session_record(&job->bench->session, job->ours, &job->manifest, job->buffers,
                             job->push, workgroups, dispatches);
}

/* Whether an output is what the corpus has for it; false when it has nothing. */
static bool is_reference(const struct job *job, const char *name, uint32_t index)
{
   char path[1024], text[16];
   uint8_t *expected;
   size_t size;
   snprintf(path, sizeof(path), "%s/ref/%s.%u.bin", job->bench->folder, name,
            job->manifest.resources[index].id);
   if (agx_tool_read(path, &expected, &size) != AGX_OK)
      return false;
   bool same = size == job->buffers[index].size &&
               agx_manifest_compare(&job->manifest, job->buffers[index].memory, expected, size,
                                    text, sizeof(text));
   free(expected);
   return same;
}

static agx_status compare_output(struct job *job, struct row *row, uint32_t index)
{
   const struct agx_manifest_resource *resource = &job->manifest.resources[index];
   const struct agx_session_buffer *ours = &job->buffers[index];
   char text[sizeof(row->difference) - 16];
   if (ours->image)
      AGX_TRY(agx_session_copy_image(resource, ours, false));
   if (agx_manifest_compare(&job->manifest, ours->memory, vkbench_kernel_memory(job->theirs, index),
                            ours->size, text, sizeof(text)))
      return AGX_OK;
   bool is_right = is_reference(job, row->name, index);
   row->is_ours_right = is_right && (row->is_ours_right || !row->difference[0]);
   snprintf(row->difference, sizeof(row->difference), "output %u: %s", resource->id, text);
   return AGX_OK;
}

/* One dispatch of each side as the manifest says, and whether they agree. */
static agx_status run_once(struct job *job, struct row *row)
{
   uint64_t ns;
   AGX_TRY(record_ours(job, job->manifest.workgroups, 1));
   AGX_TRY(agx_session_execute(&job->bench->session, &ns));
   AGX_TRY(vkbench_kernel_record(job->theirs, job->manifest.workgroups, 1));
   AGX_TRY(vkbench_kernel_execute(job->theirs, &ns));
   AGX_TRY(vkbench_kernel_read_images(job->theirs));
   for (uint32_t i = 0; i < job->manifest.resource_count; i++)
      if (job->manifest.resources[i].is_output)
         AGX_TRY(compare_output(job, row, i));
   return AGX_OK;
}

/* The grid repeated along z, and how many dispatches of it are the least. */
static agx_status choose_grid(struct job *job, uint32_t workgroups[3], struct row *row)
{
   const uint32_t *grid = job->manifest.workgroups;
   struct agx_executable_info info = {.size = sizeof(info)};
   agx_executable_get_info(job->ours, &info);
   uint64_t threads = (uint64_t)info.local_size[0] * info.local_size[1] * info.local_size[2] *
                      grid[0] * grid[1] * grid[2];
   memcpy(workgroups, grid, 3 * sizeof(*workgroups));
   if (!threads)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "the grid is empty");
   if (grid[2] == 1) {
      workgroups[2] = (uint32_t)agx_div_up(MIN_THREADS, threads);
      threads *= workgroups[2];
   }
   row->dispatches = (uint32_t)agx_div_up(MIN_THREADS, threads);
   row->threads = threads * row->dispatches;
   return AGX_OK;
}

/* Whether lavapipe's best, in wall time, is long enough; else there are more dispatches now. */
static bool is_enough(struct row *row, uint64_t best_ns)
{
   if (best_ns >= MIN_NS || row->dispatches >= MAX_DISPATCHES)
      return true;
   uint64_t eighths = 10 * (uint64_t)MIN_NS / AGX_MAX(best_ns, 1u) + 1; /* a quarter more */
   uint64_t dispatches = AGX_MIN(row->dispatches * eighths / 8 + 1, MAX_DISPATCHES);
   row->threads = row->threads / row->dispatches * dispatches;
   row->dispatches = (uint32_t)dispatches;
   return false;
}

static uint64_t cpu_ns(void)
{
   struct timespec now;
   clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
   return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct best {
   uint64_t wall_ns, cpu_ns;
};

/* Runs one side once and keeps the smaller times. */
static agx_status run_side(struct job *job, bool is_ours, struct best *best)
{
   uint64_t ns, start = cpu_ns();
   AGX_TRY(is_ours ? agx_session_execute(&job->bench->session, &ns)
                   : vkbench_kernel_execute(job->theirs, &ns));
   best->wall_ns = AGX_MIN(best->wall_ns, ns);
   best->cpu_ns = AGX_MIN(best->cpu_ns, cpu_ns() - start);
   return AGX_OK;
}

/* The best of some rounds, the two sides in turn. */
static agx_status run_rounds(struct job *job, struct best *theirs, struct best *ours)
{
   *theirs = *ours = (struct best){UINT64_MAX, UINT64_MAX};
   for (uint32_t round = 0; round < job->bench->rounds; round++) {
      AGX_TRY(run_side(job, false, theirs));
      AGX_TRY(run_side(job, true, ours));
   }
   return AGX_OK;
}

/* Lavapipe alone finds how many dispatches are enough; then both run, again with more when its
 * best turns out shorter. */
static agx_status measure(struct job *job, struct row *row)
{
   uint32_t workgroups[3];
   struct best theirs, ours;
   AGX_TRY(run_once(job, row));
   AGX_TRY(choose_grid(job, workgroups, row));
   do {
      theirs = (struct best){UINT64_MAX, UINT64_MAX};
      AGX_TRY(vkbench_kernel_record(job->theirs, workgroups, row->dispatches));
      for (unsigned i = 0; i < 3; i++)
         AGX_TRY(run_side(job, false, &theirs));
   } while (!is_enough(row, theirs.wall_ns));
   do {
      AGX_TRY(vkbench_kernel_record(job->theirs, workgroups, row->dispatches));
      AGX_TRY(record_ours(job, workgroups, row->dispatches));
      AGX_TRY(run_rounds(job, &theirs, &ours));
   } while (!is_enough(row, theirs.wall_ns));
   row->theirs_ns = job->bench->by_cpu ? theirs.cpu_ns : theirs.wall_ns;
   row->ours_ns = job->bench->by_cpu ? ours.cpu_ns : ours.wall_ns;
   return AGX_OK;
}

static void compare_kernel(struct bench *bench, struct row *row)
{
   static struct job job;
   job = (struct job){.bench = bench};
   agx_status status = load_kernel(&job, row->name);
   if (status == AGX_OK)
      status = measure(&job, row);
   if (status != AGX_OK)
      snprintf(row->reason, sizeof(row->reason), "%s", agx_error_peek());
   vkbench_kernel_destroy(job.theirs);
   for (uint32_t i = 0; i < AGX_MANIFEST_MAX_RESOURCES; i++)
      agx_release(job.buffers[i].buffer);
   agx_release(job.ours);
}

/* ---- report -------------------------------------------------------------- */

static double ratio_of(const struct row *row)
{
   return (double)row->ours_ns / (double)row->theirs_ns;
}

struct summary {
   uint32_t count, refused, differing;
   double mean; /* geometric */
   const struct row *worst;
};

static struct summary summarize(const struct bench *bench)
{
   struct summary sum = {0};
   double logs = 0.0;
   for (uint32_t i = 0; i < bench->row_count; i++) {
      const struct row *row = &bench->rows[i];
      sum.refused += row->reason[0] != 0;
      sum.differing += row->difference[0] && !row->is_ours_right;
      if (row->reason[0])
         continue;
      sum.count++;
      logs += log(ratio_of(row));
      if (!sum.worst || ratio_of(row) > ratio_of(sum.worst))
         sum.worst = row;
   }
   sum.mean = sum.count ? exp(logs / sum.count) : 0.0;
   return sum;
}

static void print_row(const struct row *row)
{
   const char *verdict = !row->difference[0]  ? ""
                         : row->is_ours_right ? "  ours is the reference, theirs differs, "
                                              : "  DIFFERS, ";
   if (row->reason[0])
      printf("%-20s not compared: %s\n", row->name, row->reason);
   else
      printf("%-20s %10" PRIu64 " %6u %10.2f %10.2f %8.2f%s%s\n", row->name, row->threads,
             row->dispatches, (double)row->theirs_ns / 1e6, (double)row->ours_ns / 1e6,
             ratio_of(row), verdict, row->difference);
   fflush(stdout);
}

static void print_summary(const struct bench *bench)
{
   struct summary sum = summarize(bench);
   if (sum.count)
      printf("%u kernels: geometric mean of the ratio %.2f, worst %.2f (%s); not compared: %u\n",
             sum.count, sum.mean, ratio_of(sum.worst), sum.worst->name, sum.refused);
   else
      printf("no kernel could be compared\n");
}

static void print_real(struct agx_json *json, const char *name, double value)
{
   agx_json_name(json, name);
   fprintf(json->file, "%.4f", value);
}

static void print_json(const struct bench *bench)
{
   struct agx_json json = {.file = stdout};
   struct summary sum = summarize(bench);
   agx_json_open(&json, NULL, '{');
   agx_json_text(&json, "device", vkbench_device_name(bench->device));
   agx_json_open(&json, "kernels", '[');
   for (uint32_t i = 0; i < bench->row_count; i++) {
      const struct row *row = &bench->rows[i];
      agx_json_open(&json, NULL, '{');
      agx_json_text(&json, "kernel", row->name);
      if (row->reason[0]) {
         agx_json_text(&json, "not_compared", row->reason);
      } else {
         agx_json_number(&json, "threads", row->threads);
         agx_json_number(&json, "dispatches", row->dispatches);
         agx_json_number(&json, "vulkan_ns", row->theirs_ns);
         agx_json_number(&json, "agx_ns", row->ours_ns);
         print_real(&json, "ratio", ratio_of(row));
         agx_json_bool(&json, "same_output", !row->difference[0]);
         if (row->difference[0])
            agx_json_bool(&json, "ours_is_reference", row->is_ours_right);
      }
      agx_json_close(&json, '}');
   }
   agx_json_close(&json, ']');
   print_real(&json, "geometric_mean", sum.mean);
   print_real(&json, "worst", sum.worst ? ratio_of(sum.worst) : 0.0);
   agx_json_close(&json, '}');
   putchar('\n');
}

/* ---- command ------------------------------------------------------------- */

/* The kernels that tiers.tsv lists, in its order: tier, kernel, capabilities. */
static agx_status list_kernels(struct bench *bench)
{
   char path[1024];
   uint8_t *text;
   size_t size;
   snprintf(path, sizeof(path), "%s/tiers.tsv", bench->folder);
   AGX_TRY(agx_tool_read(path, &text, &size));
   char *rest = (char *)text, *line = agx_split(&rest, "\n"); /* the header */
   while (bench->row_count < MAX_KERNELS && (line = agx_split(&rest, "\n"))) {
      agx_split(&line, "\t");
      const char *name = agx_split(&line, "\t");
      if (name && (!bench->only || strcmp(bench->only, name) == 0))
         snprintf(bench->rows[bench->row_count++].name, sizeof(bench->rows[0].name), "%s", name);
   }
   free(text);
   if (!bench->row_count)
      return AGX_FAIL(AGX_NOT_FOUND, "%s: no such kernel", path);
   return AGX_OK;
}

static agx_status run(struct bench *bench)
{
   AGX_TRY(list_kernels(bench));
   AGX_TRY(vkbench_device_open(bench->device_name, &bench->device));
   AGX_TRY(agx_session_open("virtual", &bench->session));
   if (!bench->is_json)
      printf("virtual AGX against %s: %s, best of %u rounds, the two in turn\n"
             "%-20s %10s %6s %10s %10s %8s\n",
             vkbench_device_name(bench->device), bench->by_cpu ? "processor time" : "wall time",
             bench->rounds, "kernel", "threads", "disp.", "lvp ms", "agx ms", "ratio");
   for (uint32_t i = 0; i < bench->row_count; i++) {
      compare_kernel(bench, &bench->rows[i]);
      if (!bench->is_json)
         print_row(&bench->rows[i]);
   }
   if (bench->is_json)
      print_json(bench);
   else
      print_summary(bench);
   return AGX_OK;
}

static int usage(void)
{
   fprintf(stderr, "usage: agx-vkbench [--corpus FOLDER] [--only KERNEL] [--rounds N] [--cpu]\n    "
                   "               [--device TEXT] [--json]\n");
   return AGX_EXIT_USAGE;
}

int main(int argc, char **argv)
{
   static struct bench bench = {.folder = "tests/corpus", .rounds = 3};
   for (int i = 1; i < argc; i++) {
      if (strcmp(argv[i], "--json") == 0)
         bench.is_json = true;
      else if (strcmp(argv[i], "--cpu") == 0)
         bench.by_cpu = true;
      else if (strcmp(argv[i], "--corpus") == 0 && i + 1 < argc)
         bench.folder = argv[++i];
      else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc)
         bench.device_name = argv[++i];
      else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
         bench.only = argv[++i];
      else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0)
         bench.rounds = (uint32_t)atoi(argv[++i]);
      else
         return usage();
   }
   agx_status status = run(&bench);
   agx_session_close(&bench.session);
   vkbench_device_close(bench.device);
   if (status != AGX_OK)
      return agx_tool_failed("vkbench");
   return summarize(&bench).differing ? AGX_EXIT_FAILURE : AGX_EXIT_OK;
}
