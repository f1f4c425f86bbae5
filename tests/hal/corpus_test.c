/* SPDX-License-Identifier: MIT
 *
 * The corpus through every layer: SPIR-V, compiler, HAL, stream, virtual kernel, simulator.
 * Tier 1 must match its references; what lies beyond must match too, or be refused with the
 * name of what is missing. Runs strict and checked: a stray access, or a
 * result read without a wait, fails the dispatch.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"
#include "manifest.h"

struct job {
   struct fixture *fixture;
   struct agx_manifest manifest;
   struct agx_executable *executable;
   struct agx_buffer *buffers[AGX_MANIFEST_MAX_RESOURCES];
   struct agx_image *images[AGX_MANIFEST_MAX_RESOURCES]; /* the buffer is staging memory then */
   struct agx_sampler *samplers[AGX_MANIFEST_MAX_RESOURCES];
   uint64_t sizes[AGX_MANIFEST_MAX_RESOURCES];
   uint32_t *memory[AGX_MANIFEST_MAX_RESOURCES];
   uint8_t push[AGX_MANIFEST_MAX_PUSH_B];
};

static char *corpus_path(const char *format, const char *kernel, uint32_t id)
{
   char name[128];
   snprintf(name, sizeof(name), format, kernel, id);
   return agx_test_path(name);
}

static agx_status load(struct job *job, const char *kernel, bool robust)
{
   struct agx_specialization specializations[AGX_MANIFEST_MAX_SPECS];
   char *path = corpus_path("corpus/%s.txt", kernel, 0);
   assert_ok(agx_manifest_load(path, &job->manifest));
   free(path);
   for (uint32_t i = 0; i < job->manifest.spec_count; i++)
      specializations[i] = (struct agx_specialization){
         .id = job->manifest.specs[i].id, .bytes = 4, .value = job->manifest.specs[i].value};
   struct agx_executable_desc desc = {
      .size = sizeof(desc),
      .specializations = specializations,
      .specialization_count = job->manifest.spec_count,
      .robustness = robust ? AGX_ROBUST_CLAMP : AGX_ROBUST_OFF,
   };
   path = corpus_path("corpus/%s.spv", kernel, 0);
   char *spirv = agx_test_read_file(path, &desc.data_B);
   free(path);
   desc.data = spirv;
   agx_status status = agx_executable_create(job->fixture->device, &desc, &job->executable);
   free(spirv);
   return status;
}

static uint64_t address_of(void *user, uint32_t id)
{
   const struct job *job = user;
   struct agx_buffer_info info;
   const struct agx_manifest_resource *resource = agx_manifest_find(&job->manifest, id);
   agx_buffer_get_info(job->buffers[resource - job->manifest.resources], &info);
   return info.address;
}

static bool has_atomics(const struct job *job, const struct agx_manifest_resource *resource)
{
   struct agx_binding_info info;
   for (uint32_t i = 0;; i++) {
      if (agx_executable_get_binding(job->executable, i, &info) != AGX_OK)
         return false;
      if (info.set == resource->set && info.binding == resource->binding)
         return info.has_atomics;
   }
}

/* An image, its sampler, and staging memory for all its levels. */
static void make_image(struct job *job, uint32_t index)
{
   const struct agx_manifest_resource *resource = &job->manifest.resources[index];
   const struct agx_image_desc desc = {
      .size = sizeof(desc),
      .type = AGX_IMAGE_2D,
      .format = resource->format,
      .width = resource->width,
      .height = resource->height,
      .levels = resource->levels,
      .flags = AGX_IMAGE_HOST_READ | (has_atomics(job, resource) ? AGX_IMAGE_ATOMICS : 0u),
   };
   const struct agx_sampler_desc sampler = {.size = sizeof(sampler),
                                            .wrap = {AGX_WRAP_EDGE, AGX_WRAP_EDGE, AGX_WRAP_EDGE}};
   struct agx_image_info info;
   assert_ok(agx_image_create(job->fixture->device, &desc, &job->images[index]));
   assert_ok(agx_sampler_create(job->fixture->device, &sampler, &job->samplers[index]));
   agx_image_get_info(job->images[index], &info);
   job->sizes[index] = 0;
   for (uint32_t level = 0; level < info.levels; level++)
      job->sizes[index] += (uint64_t)AGX_MAX(info.width >> level, 1u) *
                           AGX_MAX(info.height >> level, 1u) * info.texel_B;
}

static void copy_image(const struct job *job, uint32_t index, bool to_image)
{
   struct agx_image_info info;
   uint8_t *at = (uint8_t *)job->memory[index];
   agx_image_get_info(job->images[index], &info);
   for (uint32_t level = 0; level < info.levels; level++) {
      const struct agx_image_region region = {
         .level = level,
         .width = AGX_MAX(info.width >> level, 1u),
         .height = AGX_MAX(info.height >> level, 1u),
         .depth = 1,
      };
      assert_ok(to_image ? agx_image_write(job->images[index], &region, at, 0, 0)
                         : agx_image_read(job->images[index], &region, at, 0, 0));
      at += (size_t)region.width * region.height * info.texel_B;
   }
}

/* Contents and push constants may hold the address of any buffer. */
static void fill(struct job *job)
{
   const struct agx_manifest *m = &job->manifest;
   for (uint32_t i = 0; i < m->resource_count; i++)
      agx_manifest_fill(&m->resources[i].init, job->memory[i], job->sizes[i], address_of, job);
   memcpy(job->push, m->push, sizeof(job->push));
   for (uint32_t i = 0; i < m->fixup_count; i++) {
      uint64_t address = address_of(job, m->fixups[i].id);
      memcpy(job->push + m->fixups[i].offset_B, &address, sizeof(address));
   }
}

static void dispatch(struct job *job)
{
   const struct agx_manifest *m = &job->manifest;
   struct agx_binding bindings[AGX_MANIFEST_MAX_RESOURCES];
   uint32_t bound = 0;
   for (uint32_t i = 0; i < m->resource_count; i++) {
      job->sizes[i] = m->resources[i].size_B;
      if (m->resources[i].type >= AGX_MANIFEST_STORAGE_IMAGE)
         make_image(job, i);
      job->buffers[i] = fixture_buffer(job->fixture, job->sizes[i], &job->memory[i]);
      if (m->resources[i].type == AGX_MANIFEST_ADDRESS)
         continue;
      bindings[bound++] = (struct agx_binding){.set = m->resources[i].set,
                                               .binding = m->resources[i].binding,
                                               .ref = {job->buffers[i], 0, AGX_WHOLE_LENGTH},
                                               .image = job->images[i],
                                               .sampler = job->samplers[i]};
   }
   fill(job);
   for (uint32_t i = 0; i < m->resource_count; i++)
      if (job->images[i])
         copy_image(job, i, true);
   struct agx_dispatch dispatch = {
      .executable = job->executable,
      .workgroups = {m->workgroups[0], m->workgroups[1], m->workgroups[2]},
      .bindings = bindings,
      .binding_count = bound,
      .push = job->push,
      .push_B = m->push_B,
   };
   struct agx_command_buffer *commands = fixture_begin(job->fixture);
   struct agx_semaphore *done = fixture_semaphore(job->fixture);
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(job->fixture, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   agx_release(commands);
   agx_release(done);
   for (uint32_t i = 0; i < m->resource_count; i++)
      if (job->images[i])
         copy_image(job, i, false);
}

static void compare(const struct job *job, const char *kernel)
{
   for (uint32_t i = 0; i < job->manifest.resource_count; i++) {
      const struct agx_manifest_resource *resource = &job->manifest.resources[i];
      if (!resource->is_output)
         continue;
      char text[256];
      size_t size;
      char *path = corpus_path("corpus/ref/%s.%u.bin", kernel, resource->id);
      char *reference = agx_test_read_file(path, &size);
      assert_int_equal(size, job->sizes[i]);
      if (!agx_manifest_compare(&job->manifest, job->memory[i], reference, size, text,
                                sizeof(text)))
         fail_msg("%s: output %u: %s", kernel, resource->id, text);
      free(reference);
      free(path);
   }
}

/* Returns whether the kernel ran; if not, a capability was named. */
static bool run_kernel(struct fixture *fixture, const char *kernel, bool robust)
{
   struct job job = {.fixture = fixture};
   agx_status status = load(&job, kernel, robust);
   if (status != AGX_OK) {
      if (status != AGX_UNIMPLEMENTED)
         fail_msg("%s: %s (%s)", kernel, agx_error_peek(), agx_status_name(status));
      return false;
   }
   dispatch(&job);
   compare(&job, kernel);
   for (uint32_t i = 0; i < job.manifest.resource_count; i++) {
      agx_release(job.buffers[i]);
      agx_release(job.images[i]);
      agx_release(job.samplers[i]);
   }
   agx_release(job.executable);
   return true;
}

static void run_corpus(const char *device, const char *debug, bool robust)
{
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   setenv("AGX_DEBUG", debug, 1);
   struct fixture fixture;
   fixture_open(&fixture, device);
   char *path = agx_test_path("corpus/tiers.tsv");
   char *text = agx_test_read_file(path, NULL), *save = NULL;
   unsigned ran[4] = {0}, listed[4] = {0};
   for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
      unsigned tier;
      char kernel[64];
      if (sscanf(line, "%u %63s", &tier, kernel) != 2 || tier > 3)
         continue;
      bool done = run_kernel(&fixture, kernel, robust);
      if (tier == 1 && !done)
         fail_msg("%s: tier 1, but %s", kernel, agx_error_peek());
      listed[tier]++;
      ran[tier] += done;
   }
   print_message("tier 1: %u of %u, tier 2: %u of %u, tier 3: %u of %u\n", ran[1], listed[1],
                 ran[2], listed[2], ran[3], listed[3]);
   assert_int_equal(listed[1] + listed[2] + listed[3], 54);
   free(text);
   free(path);
   fixture_close(&fixture);
   unsetenv("AGX_VIRTUAL_STRICT");
   unsetenv("AGX_VIRTUAL_CHECK");
   unsetenv("AGX_DEBUG");
}

static void every_kernel_matches_or_is_refused_by_name(void **state)
{
   run_corpus("virtual", "validate", false);
}

static void without_optimisation_too(void **state)
{
   run_corpus("virtual:g14s", "noopt,validate", false);
}

static void robust_code_computes_the_same(void **state)
{
   run_corpus("virtual:g13s", "", true);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kernel_matches_or_is_refused_by_name),
      cmocka_unit_test(without_optimisation_too),
      cmocka_unit_test(robust_code_computes_the_same),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
