/* SPDX-License-Identifier: MIT
 *
 * Loads kernels of the corpus with their manifests and inputs, and compares outputs with the
 * references, for the tests that run the corpus through the HAL.
 */
#include "corpus_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

char *corpus_path(const char *format, const char *kernel, uint32_t id)
{
   char name[128];
   snprintf(name, sizeof(name), format, kernel, id);
   return agx_test_path(name);
}

void corpus_for_each(void (*kernel)(void *user, unsigned tier, const char *name), void *user)
{
   unsigned tier;
   char name[64];
   char *path = agx_test_path("corpus/tiers.tsv");
   char *text = agx_test_read_file(path, NULL), *save = NULL;
   for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
      if (sscanf(line, "%u %63s", &tier, name) == 2 && tier <= 3)
         kernel(user, tier, name);
   free(text);
   free(path);
}

void corpus_load_manifest(struct corpus_job *job, const char *kernel)
{
   char *path = corpus_path("corpus/%s.txt", kernel, 0);
   assert_ok(agx_manifest_load(path, &job->manifest));
   free(path);
}

agx_status corpus_compile(struct corpus_job *job, const char *kernel, uint32_t robustness)
{
   struct agx_specialization specializations[AGX_MANIFEST_MAX_SPECS];
   for (uint32_t i = 0; i < job->manifest.spec_count; i++)
      specializations[i] = (struct agx_specialization){
         .id = job->manifest.specs[i].id, .bytes = 4, .value = job->manifest.specs[i].value};
   struct agx_executable_desc desc = {
      .size = sizeof(desc),
      .specializations = specializations,
      .specialization_count = job->manifest.spec_count,
      .robustness = robustness,
      .flags = job->flags,
   };
   char *path = corpus_path("corpus/%s.spv", kernel, 0);
   char *spirv = agx_test_read_file(path, &desc.data_B);
   free(path);
   desc.data = spirv;
   agx_status status = agx_executable_create(job->fixture->device, &desc, &job->executable);
   free(spirv);
   return status;
}

static uint64_t address_of(void *user, uint32_t id)
{
   const struct corpus_job *job = user;
   struct agx_buffer_info info = {.size = sizeof(info)};
   const struct agx_manifest_resource *resource = agx_manifest_find(&job->manifest, id);
   agx_buffer_get_info(job->buffers[resource - job->manifest.resources], &info);
   return info.address;
}

static bool has_atomics(const struct corpus_job *job, const struct agx_manifest_resource *resource)
{
   struct agx_binding_info info = {.size = sizeof(info)};
   for (uint32_t i = 0;; i++) {
      if (agx_executable_get_binding(job->executable, i, &info) != AGX_OK)
         return false;
      if (info.set == resource->set && info.binding == resource->binding)
         return info.has_atomics;
   }
}

/* An image, its sampler, and staging memory for all its levels. */
static void make_image(struct corpus_job *job, uint32_t index)
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
   struct agx_image_info info = {.size = sizeof(info)};
   assert_ok(agx_image_create(job->fixture->device, &desc, &job->images[index]));
   assert_ok(agx_sampler_create(job->fixture->device, &sampler, &job->samplers[index]));
   agx_image_get_info(job->images[index], &info);
   job->sizes[index] = 0;
   for (uint32_t level = 0; level < info.levels; level++)
      job->sizes[index] += (uint64_t)AGX_MAX(info.width >> level, 1u) *
                           AGX_MAX(info.height >> level, 1u) * info.texel_B;
}

static void copy_image(const struct corpus_job *job, uint32_t index, bool to_image)
{
   struct agx_image_info info = {.size = sizeof(info)};
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

void corpus_contents(const struct corpus_job *job, uint32_t index, void *out_bytes)
{
   agx_manifest_fill(&job->manifest.resources[index].init, out_bytes, job->sizes[index], address_of,
                     (void *)job);
}

/* Contents and push constants may hold the address of any buffer. */
static void fill(struct corpus_job *job)
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

static struct agx_buffer *make_buffer(struct corpus_job *job, uint32_t index)
{
   const struct corpus_range *range = job->ranges ? &job->ranges[index] : NULL;
   uint64_t margin_B = range ? range->offset_B + CORPUS_MARGIN_B : 0;
   struct agx_buffer *buffer =
      fixture_buffer(job->fixture, job->sizes[index] + margin_B, &job->memory[index]);
   if (!range)
      return buffer;
   memset(job->memory[index], CORPUS_MARK, job->sizes[index] + margin_B);
   job->memory[index] += range->offset_B / 4;
   return buffer;
}

void corpus_prepare(struct corpus_job *job)
{
   const struct agx_manifest *m = &job->manifest;
   for (uint32_t i = 0; i < m->resource_count; i++) {
      job->sizes[i] = m->resources[i].size_B;
      if (m->resources[i].type >= AGX_MANIFEST_STORAGE_IMAGE)
         make_image(job, i);
      job->buffers[i] = make_buffer(job, i);
   }
   fill(job);
   for (uint32_t i = 0; i < m->resource_count; i++)
      if (job->images[i])
         copy_image(job, i, true);
}

uint32_t corpus_bindings(const struct corpus_job *job, struct agx_binding *bindings)
{
   uint32_t count = 0;
   for (uint32_t i = 0; i < job->manifest.resource_count; i++) {
      const struct agx_manifest_resource *resource = &job->manifest.resources[i];
      const struct corpus_range *range = job->ranges ? &job->ranges[i] : NULL;
      if (resource->type == AGX_MANIFEST_ADDRESS)
         continue;
      struct agx_binding *binding = &bindings[count++];
      *binding = (struct agx_binding){.set = resource->set,
                                      .binding = resource->binding,
                                      .ref = {job->buffers[i], 0, AGX_WHOLE_LENGTH},
                                      .image = job->images[i],
                                      .sampler = job->samplers[i]};
      if (range)
         binding->ref = (struct agx_buffer_ref){range->is_null ? NULL : job->buffers[i],
                                                range->offset_B, range->bound_B};
   }
   return count;
}

agx_status corpus_run(struct corpus_job *job)
{
   const struct agx_manifest *m = &job->manifest;
   struct agx_binding bindings[AGX_MANIFEST_MAX_RESOURCES];
   struct agx_dispatch dispatch = {
      .size = sizeof(dispatch),
      .executable = job->executable,
      .workgroups = {m->workgroups[0], m->workgroups[1], m->workgroups[2]},
      .bindings = bindings,
      .binding_count = corpus_bindings(job, bindings),
      .push = job->push,
      .push_B = m->push_B,
   };
   struct agx_command_buffer *commands = fixture_begin(job->fixture);
   struct agx_semaphore *done = fixture_semaphore(job->fixture);
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(job->fixture, commands, NO_POINT, (struct agx_point){done, 1}));
   agx_status status = fixture_wait(done, 1);
   agx_release(commands);
   agx_release(done);
   for (uint32_t i = 0; i < m->resource_count && status == AGX_OK; i++)
      if (job->images[i])
         copy_image(job, i, false);
   return status;
}

void corpus_release(struct corpus_job *job)
{
   for (uint32_t i = 0; i < job->manifest.resource_count; i++) {
      agx_release(job->buffers[i]);
      agx_release(job->images[i]);
      agx_release(job->samplers[i]);
      job->buffers[i] = NULL;
      job->images[i] = NULL;
      job->samplers[i] = NULL;
   }
}
