/* SPDX-License-Identifier: MIT
 *
 * Sets up a kernel of the corpus with its buffers and images, for the rows of agx bench that record
 * launches.
 */
#include "bench_work.h"

#include <stdio.h>

static agx_status make_resources(struct bench_work *work, struct agx_session *session)
{
   const struct agx_manifest *manifest = &work->manifest;
   if (manifest->resource_count > BENCH_WORK_RESOURCES)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "bench: %u resources; the limit is %u",
                      manifest->resource_count, BENCH_WORK_RESOURCES);
   for (uint32_t i = 0; i < manifest->resource_count; i++) {
      const struct agx_manifest_resource *resource = &manifest->resources[i];
      const bool is_image = resource->type == AGX_MANIFEST_STORAGE_IMAGE ||
                            resource->type == AGX_MANIFEST_SAMPLED_IMAGE;
      AGX_TRY(is_image ? agx_session_image(session, work->executable, resource, &work->buffers[i])
                       : agx_session_buffer(session, resource->size_B, "bench", &work->buffers[i]));
   }
   return AGX_OK;
}

agx_status bench_work_open(struct bench_work *work, struct agx_session *session, const char *folder,
                           const char *name, enum agx_robustness robust)
{
   const struct agx_tool_robust mode = {.mode = robust};
   char path[1024];
   *work = (struct bench_work){0};
   snprintf(path, sizeof(path), "%s/%s.txt", folder, name);
   AGX_TRY(agx_manifest_load(path, &work->manifest));
   snprintf(path, sizeof(path), "%s/%s.spv", folder, name);
   AGX_TRY(agx_session_load(session, path, NULL, &work->manifest, &mode, &work->executable));
   AGX_TRY(make_resources(work, session));
   work->dispatch = (struct agx_dispatch){
      .size = sizeof(work->dispatch),
      .executable = work->executable,
      .workgroups = {1, 1, 1},
      .binding_count = agx_session_bindings(&work->manifest, work->buffers, work->bindings),
      .bindings = work->bindings,
      .push = work->manifest.push,
      .push_B = work->manifest.push_B};
   return AGX_OK;
}

void bench_work_close(struct bench_work *work)
{
   for (uint32_t i = 0; i < BENCH_WORK_RESOURCES; i++)
      agx_session_release_buffer(&work->buffers[i]);
   agx_release(work->executable);
}
