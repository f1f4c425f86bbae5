/* SPDX-License-Identifier: MIT
 *
 * The corpus with every binding shrunk at random, to the byte, moved inside its buffer, or not
 * there at all. What robust code leaves in memory is what a model of the rules says (zero), or
 * what it says where nothing was outside (clamp); nothing outside of the bindings changes, and
 * the device, which is told the bounds, has nothing to object to.
 *
 * AGX_ROBUST_SEEDS and AGX_ROBUST_SEED choose how many of the plans are tried, from which on;
 * AGX_ROBUST_KERNEL one kernel alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/compiler/compiler.h"
#include "base/util.h"
#include "corpus_job.h"
#include "hal/device/device.h"
#include "robust_model.h"

/* Of a SIMD-group: garbage may say how often a loop turns. */
#define MOST_INSTRUCTIONS "300000"

struct counts {
   uint64_t plans, outside, refused, compared[3], inexact[3], skipped_atomics, timeouts;
};

struct session {
   struct fixture plain, robust; /* the model's device, and the one that is told the bounds */
   struct robust_model model;
   struct counts counts;
   uint64_t first_seed, seeds;
};

/* One kernel. */
struct trial {
   struct session *session;
   const char *kernel;
   struct corpus_job model, robust[3]; /* by enum agx_robustness */
   struct corpus_range ranges[AGX_MANIFEST_MAX_RESOURCES];
   struct corpus_range plain_ranges[AGX_MANIFEST_MAX_RESOURCES]; /* with buffers everywhere */
   uint64_t reach[AGX_MANIFEST_MAX_RESOURCES];
   uint64_t seed;
};

/* ---- the model's side ----------------------------------------------------- */

static struct agx_program *compile_plain(const struct corpus_job *job, const char *kernel)
{
   struct agxc_spec specs[AGX_MANIFEST_MAX_SPECS];
   for (uint32_t i = 0; i < job->manifest.spec_count; i++)
      specs[i] = (struct agxc_spec){job->manifest.specs[i].id, 4, job->manifest.specs[i].value};
   const struct agxc_options options = {.chip = agx_chip_find("g13g"),
                                        .specs = specs,
                                        .spec_count = job->manifest.spec_count,
                                        .debug = AGXC_DEBUG_NO_OPT};
   struct agx_program *program = NULL;
   size_t size;
   char *path = corpus_path("corpus/%s.spv", kernel, 0), *spirv = agx_test_read_file(path, &size);
   assert_ok(agxc_compile(spirv, size, &options, &program));
   free(spirv);
   free(path);
   return program;
}

/* Code that knows of no limits, which may be bound to anything: the device sees to the rest. */
static void load_model(struct trial *trial)
{
   struct corpus_job *job = &trial->model;
   struct agx_program *program = compile_plain(job, trial->kernel);
   struct agx_program_binding bindings[AGX_PROGRAM_MAX_BINDINGS];
   memcpy(bindings, program->bindings, program->binding_count * sizeof(bindings[0]));
   for (uint32_t i = 0; i < program->binding_count; i++)
      bindings[i].min_size_B = 0;
   struct agx_program open = *program;
   open.bindings = bindings;
   void *image;
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   assert_ok(agx_program_write_elf(&open, NULL, &image, &desc.data_B));
   desc.data = image;
   assert_ok(agx_executable_create(job->fixture->device, &desc, &job->executable));
   agx_host_free(NULL, image, desc.data_B);
   agx_program_free(program);
}

static bool is_buffer(const struct corpus_job *job, uint32_t i)
{
   return job->manifest.resources[i].type <= AGX_MANIFEST_UBO;
}

/* Of buffers, or of images, as atomics on them do. */
static bool takes_addresses(const struct corpus_job *job)
{
   for (uint32_t i = 0; i < job->manifest.resource_count; i++)
      if (!is_buffer(job, i))
         return true;
   return false;
}

/* False: it took too long. */
static bool run_model(struct trial *trial)
{
   struct corpus_job *job = &trial->model;
   struct robust_model *model = &trial->session->model;
   /* The code has a 64-bit number in two elements. */
   *model = (struct robust_model){.component_B = strcmp(trial->kernel, "i64_div") == 0 ? 8 : 0};
   memcpy(trial->plain_ranges, trial->ranges, sizeof(trial->ranges));
   for (uint32_t i = 0; i < job->manifest.resource_count; i++)
      trial->plain_ranges[i].is_null = false;
   corpus_prepare(job);
   for (uint32_t i = 0; i < job->manifest.resource_count; i++) {
      struct agx_buffer_info info = {.size = sizeof(info)};
      if (!is_buffer(job, i))
         continue;
      assert_true(model->count < MODEL_MAX_BINDINGS);
      agx_buffer_get_info(job->buffers[i], &info);
      model->bindings[model->count++] = (struct model_binding){
         .va = info.address + trial->ranges[i].offset_B, .bytes = trial->ranges[i].bound_B};
   }
   agx_status status = corpus_run(job);
   if (status == AGX_DEADLINE_EXCEEDED)
      return false;
   assert_ok(status);
   if (model->foreign && !takes_addresses(job))
      fail_msg("%s: %llu accesses that name no binding", trial->kernel,
               (unsigned long long)model->foreign);
   return true;
}

static uint64_t count_outside(const struct robust_model *model, bool *out_atomic)
{
   uint64_t count = 0;
   *out_atomic = false;
   for (uint32_t i = 0; i < model->count; i++) {
      count += model->bindings[i].outside;
      *out_atomic |= model->bindings[i].atomic_outside;
   }
   return count;
}

/* What the kernel accesses where everything is there. */
static void find_reach(struct trial *trial)
{
   const struct robust_model *model = &trial->session->model;
   for (uint32_t i = 0; i < trial->model.manifest.resource_count; i++)
      trial->ranges[i] =
         (struct corpus_range){.bound_B = trial->model.manifest.resources[i].size_B};
   assert_true(run_model(trial));
   for (uint32_t i = 0, b = 0; i < trial->model.manifest.resource_count; i++)
      trial->reach[i] = is_buffer(&trial->model, i) ? model->bindings[b++].reach : 0;
   corpus_release(&trial->model);
}

/* ---- plans ----------------------------------------------------------------- */

static uint64_t choose_size(struct agx_test_rng *rng, uint64_t full, uint64_t reach)
{
   uint64_t few = agx_test_random_below(rng, 20);
   switch (agx_test_random_below(rng, 12)) {
   case 0:
      return 0;
   case 1:
      return AGX_MIN(few, full);
   case 2:
   case 3:
   case 4:
      return AGX_MIN(reach, full); /* everything just fits */
   case 5:
   case 6:
      return AGX_MIN(reach, full) - AGX_MIN(few + 1, AGX_MIN(reach, full));
   case 7:
      return AGX_MIN(reach + few, full);
   case 8:
      return full;
   default:
      return agx_test_random_below(rng, full + 1);
   }
}

static void make_plan(struct trial *trial)
{
   struct agx_test_rng rng = {trial->seed * 0x9e3779b97f4a7c15u};
   const struct agx_manifest *m = &trial->model.manifest;
   for (const char *c = trial->kernel; *c; c++)
      rng.state = rng.state * 31 + (uint8_t)*c;
   for (uint32_t i = 0; i < m->resource_count; i++) {
      struct corpus_range *range = &trial->ranges[i];
      *range = (struct corpus_range){.bound_B = m->resources[i].size_B};
      if (!is_buffer(&trial->model, i))
         continue;
      range->offset_B = 4 * agx_test_random_below(&rng, 16);
      range->bound_B = choose_size(&rng, m->resources[i].size_B, trial->reach[i]);
      range->is_null = range->bound_B == 0 && agx_test_random_below(&rng, 2);
   }
}

static void describe_plan(const struct trial *trial)
{
   for (uint32_t i = 0; i < trial->model.manifest.resource_count; i++)
      print_message(
         "   resource %u: %llu of %llu bytes (reach %llu) at %llu%s\n",
         trial->model.manifest.resources[i].id, (unsigned long long)trial->ranges[i].bound_B,
         (unsigned long long)trial->model.manifest.resources[i].size_B,
         (unsigned long long)trial->reach[i], (unsigned long long)trial->ranges[i].offset_B,
         trial->ranges[i].is_null ? ", null" : "");
}

/* ---- comparison ------------------------------------------------------------- */

static const char *const mode_names[3] = {"off", "clamp", "zero"};

static void failed(const struct trial *trial, uint32_t mode, const char *what)
{
   print_message("%s, seed %llu, %s: %s\n", trial->kernel, (unsigned long long)trial->seed,
                 mode_names[mode], what);
   describe_plan(trial);
   fail();
}

/* Around what is bound nothing changes. */
static void check_margins(const struct trial *trial, uint32_t mode, uint32_t i)
{
   const struct corpus_range *range = &trial->ranges[i];
   const struct corpus_job *job = &trial->robust[mode];
   const uint8_t *start = (const uint8_t *)job->memory[i] - range->offset_B;
   const uint8_t *data = (const uint8_t *)job->memory[i];
   uint8_t *initial = calloc(1, job->sizes[i] + 1);
   char text[128];
   for (uint64_t b = 0; b < range->offset_B; b++)
      if (start[b] != CORPUS_MARK)
         failed(trial, mode, "bytes before a binding changed");
   corpus_contents(job, i, initial);
   for (uint64_t b = range->bound_B; b < job->sizes[i] + CORPUS_MARGIN_B; b++) {
      if (data[b] == (b < job->sizes[i] ? initial[b] : CORPUS_MARK))
         continue;
      snprintf(text, sizeof(text), "byte %llu of resource %u, behind the binding, changed",
               (unsigned long long)b, job->manifest.resources[i].id);
      failed(trial, mode, text);
   }
   free(initial);
}

/* Bit by bit; else by the rule that the manifest has for results of other hardware. */
static void compare(struct trial *trial, uint32_t mode, uint32_t i)
{
   const struct corpus_job *got = &trial->robust[mode], *wanted = &trial->model;
   uint64_t size = is_buffer(got, i) ? trial->ranges[i].bound_B : got->sizes[i];
   char text[256], message[400];
   if (memcmp(got->memory[i], wanted->memory[i], size) == 0)
      return;
   trial->session->counts.inexact[mode]++;
   bool is_exact = wanted->manifest.compare == AGX_COMPARE_EXACT;
   if (!is_exact && agx_manifest_compare(&wanted->manifest, got->memory[i], wanted->memory[i],
                                         size & ~(uint64_t)3, text, sizeof(text)))
      return;
   uint64_t at = 0;
   while (((const uint8_t *)got->memory[i])[at] == ((const uint8_t *)wanted->memory[i])[at])
      at++;
   snprintf(message, sizeof(message),
            "resource %u differs from byte %llu on: 0x%08x, the model has 0x%08x; %s",
            wanted->manifest.resources[i].id, (unsigned long long)at, got->memory[i][at / 4],
            wanted->memory[i][at / 4], is_exact ? "" : text);
   failed(trial, mode, message);
}

static void run_mode(struct trial *trial, uint32_t mode, bool is_told)
{
   struct corpus_job *job = &trial->robust[mode];
   corpus_prepare(job);
   agx_status status = corpus_run(job);
   if (status != AGX_OK)
      failed(trial, mode, agx_error_peek());
   for (uint32_t i = 0; i < job->manifest.resource_count; i++) {
      if (is_buffer(job, i))
         check_margins(trial, mode, i);
      if (is_told)
         compare(trial, mode, i);
   }
   trial->session->counts.compared[mode] += is_told;
   corpus_release(job);
}

static void try_plan(struct trial *trial)
{
   struct counts *counts = &trial->session->counts;
   bool has_atomic;
   make_plan(trial);
   counts->plans++;
   if (run_model(trial)) {
      uint64_t outside = count_outside(&trial->session->model, &has_atomic);
      counts->outside += outside;
      counts->skipped_atomics += has_atomic;
      run_mode(trial, AGX_ROBUST_CLAMP, outside == 0);
      run_mode(trial, AGX_ROBUST_ZERO, !has_atomic);
   } else {
      counts->timeouts++;
   }
   corpus_release(&trial->model);
}

/* ---- kernels ---------------------------------------------------------------- */

static void try_kernel(void *user, unsigned tier, const char *kernel)
{
   struct session *session = user;
   struct trial *trial = calloc(1, sizeof(*trial));
   const char *only = getenv("AGX_ROBUST_KERNEL");
   trial->session = session;
   trial->kernel = kernel;
   trial->model.fixture = &session->plain;
   trial->model.ranges = trial->plain_ranges;
   corpus_load_manifest(&trial->model, kernel);
   if (!only || strcmp(only, kernel) == 0) {
      load_model(trial);
      find_reach(trial);
      for (uint32_t mode = AGX_ROBUST_CLAMP; mode <= AGX_ROBUST_ZERO; mode++) {
         struct corpus_job *job = &trial->robust[mode];
         *job = (struct corpus_job){.fixture = &session->robust, .ranges = trial->ranges};
         corpus_load_manifest(job, kernel);
         assert_ok(corpus_compile(job, kernel, mode));
      }
      for (uint64_t i = 0; i < session->seeds; i++) {
         trial->seed = session->first_seed + i;
         try_plan(trial);
      }
      agx_release(trial->model.executable);
      agx_release(trial->robust[AGX_ROBUST_CLAMP].executable);
      agx_release(trial->robust[AGX_ROBUST_ZERO].executable);
   }
   free(trial);
}

static uint64_t number(const char *name, uint64_t otherwise)
{
   const char *text = getenv(name);
   return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static void open_plain(struct session *session)
{
   assert_ok(agx_instance_create(NULL, &session->plain.instance));
   assert_ok(agx_device_open_kmd(session->plain.instance, model_open("g13g", &session->model),
                                 &session->plain.device));
}

static void shrunk_bindings_follow_the_rules(void **state)
{
   struct session *session = calloc(1, sizeof(*session));
   const struct counts *counts = &session->counts;
   session->first_seed = number("AGX_ROBUST_SEED", 1);
   session->seeds = number("AGX_ROBUST_SEEDS", 4);
   setenv("AGX_VIRTUAL_TIMEOUT", MOST_INSTRUCTIONS, 1);
   setenv("AGX_VIRTUAL_THREADS", "1", 1);
   open_plain(session);
   setenv("AGX_VIRTUAL_TIMEOUT", "0", 1);
   setenv("AGX_DEBUG", "bounds", 1);
   fixture_open(&session->robust, "virtual:g13g");
   unsetenv("AGX_DEBUG");
   unsetenv("AGX_VIRTUAL_TIMEOUT");
   unsetenv("AGX_VIRTUAL_THREADS");
   corpus_for_each(try_kernel, session);
   print_message("%llu plans, %llu elements outside; compared: clamp %llu (%llu buffers by the "
                 "manifest's rule), zero %llu (%llu); not compared: %llu for results of atomics "
                 "outside, %llu too long\n",
                 (unsigned long long)counts->plans, (unsigned long long)counts->outside,
                 (unsigned long long)counts->compared[1], (unsigned long long)counts->inexact[1],
                 (unsigned long long)counts->compared[2], (unsigned long long)counts->inexact[2],
                 (unsigned long long)counts->skipped_atomics, (unsigned long long)counts->timeouts);
   fixture_close(&session->plain);
   fixture_close(&session->robust);
   free(session);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(shrunk_bindings_follow_the_rules),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
