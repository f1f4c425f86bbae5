/* SPDX-License-Identifier: MIT
 *
 * Opens a device, and makes buffers, images and executables on it, for agx run and agx bench.
 */
#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "agx.h"
#include "base/clock.h"
#include "base/status.h"

agx_status agx_session_open(const char *device, struct agx_session *out_session)
{
   *out_session = (struct agx_session){0};
   struct agx_device_desc desc = {.size = sizeof(desc), .name = device};
   AGX_TRY(agx_instance_create(NULL, &out_session->instance));
   AGX_TRY(agx_device_open(out_session->instance, &desc, &out_session->device));
   AGX_TRY(agx_semaphore_create(out_session->device, 0, &out_session->done));
   return agx_command_buffer_create(out_session->device, NULL, &out_session->commands);
}

void agx_session_close(struct agx_session *session)
{
   agx_release(session->commands);
   agx_release(session->done);
   agx_release(session->device);
   agx_release(session->instance);
}

/* What a vertex stage is compiled for; attributes has room for all of the manifest's. */
static struct agx_vertex_input vertex_input(const struct agx_manifest *manifest,
                                            struct agx_vertex_attribute *attributes)
{
   struct agx_vertex_input input = {.size = sizeof(input),
                                    .attributes = attributes,
                                    .attribute_count = manifest->attribute_count};
   for (uint32_t i = 0; i < manifest->attribute_count; i++) {
      const struct agx_manifest_attribute *a = &manifest->attributes[i];
      attributes[i] = (struct agx_vertex_attribute){a->location, a->format, a->stride_B,
                                                    a->per_instance, a->divisor};
   }
   for (uint32_t i = 0; i < manifest->resource_count; i++)
      if (manifest->resources[i].type == AGX_MANIFEST_INDEX)
         input.index_B = manifest->resources[i].binding;
   return input;
}

agx_status agx_session_load(struct agx_session *session, const char *path, const char *entry,
                            const struct agx_manifest *manifest,
                            const struct agx_tool_robust *robust,
                            struct agx_executable **out_executable)
{
   struct agx_specialization specs[AGX_MANIFEST_MAX_SPECS];
   uint8_t *data;
   size_t size;
   *out_executable = NULL;
   AGX_TRY(agx_tool_read(path, &data, &size));
   for (uint32_t i = 0; i < manifest->spec_count; i++)
      specs[i] = (struct agx_specialization){
         .id = manifest->specs[i].id, .bytes = 4, .value = manifest->specs[i].value};
   struct agx_executable_desc desc = {.size = sizeof(desc),
                                      .data = data,
                                      .data_B = size,
                                      .entry = entry,
                                      .specializations = specs,
                                      .specialization_count = manifest->spec_count};
   struct agx_vertex_attribute attributes[AGX_MANIFEST_MAX_ATTRIBUTES];
   const struct agx_vertex_input input = vertex_input(manifest, attributes);
   bool is_elf = size >= 4 && memcmp(data, "\177ELF", 4) == 0; /* which has its own */
   if (manifest->is_draw && !is_elf)
      desc.vertex = &input;
   if (robust) {
      desc.robustness = robust->mode;
      desc.overrides = robust->overrides;
      desc.override_count = robust->count;
   }
   agx_status status = agx_executable_create(session->device, &desc, out_executable);
   free(data);
   if (status != AGX_OK)
      agx_error_prefix("%s", path);
   return status;
}

/* Every resource of the manifest that a kernel can bind. */
uint32_t agx_session_bindings(const struct agx_manifest *manifest,
                              const struct agx_session_buffer *buffers,
                              struct agx_binding *out_bindings)
{
   uint32_t count = 0;
   for (uint32_t i = 0; i < manifest->resource_count; i++) {
      const struct agx_manifest_resource *resource = &manifest->resources[i];
      if (resource->type == AGX_MANIFEST_ADDRESS || resource->type >= AGX_MANIFEST_VERTEX)
         continue;
      out_bindings[count++] = (struct agx_binding){.set = resource->set,
                                                   .binding = resource->binding,
                                                   .ref = {buffers[i].buffer, 0, AGX_WHOLE_LENGTH},
                                                   .image = buffers[i].image,
                                                   .sampler = buffers[i].sampler};
   }
   return count;
}

agx_status agx_session_submit(struct agx_session *session, struct agx_command_buffer *commands)
{
   const struct agx_point done = {session->done, ++session->value};
   struct agx_op op = {.size = sizeof(op),
                       .kind = AGX_OP_EXECUTE,
                       .signals = &done,
                       .signal_count = 1,
                       .u.execute.commands = commands};
   return agx_submit(session->device, &op, 1, NULL);
}

agx_status agx_session_wait(struct agx_session *session)
{
   const struct agx_point done = {session->done, session->value};
   return agx_semaphore_wait(&done, 1, false, AGX_DEADLINE_NEVER);
}

/* The manifest's draw, with buffers for what only vertex stages have. */
static agx_status record_draw(struct agx_session *session, const struct agx_dispatch *like,
                              const struct agx_manifest *manifest,
                              const struct agx_session_buffer *buffers)
{
   struct agx_vertex_buffer vertex[AGX_MANIFEST_MAX_RESOURCES];
   struct agx_buffer_ref feedback[AGX_MANIFEST_MAX_RESOURCES] = {{0}};
   struct agx_vertex_dispatch draw = {.size = sizeof(draw),
                                      .executable = like->executable,
                                      .first = manifest->draw[0],
                                      .vertex_count = manifest->draw[1],
                                      .base_vertex = (int32_t)manifest->draw[2],
                                      .base_instance = manifest->draw[3],
                                      .instance_count = manifest->draw[4],
                                      .vertex_buffers = vertex,
                                      .feedback = feedback,
                                      .feedback_count = AGX_MANIFEST_MAX_RESOURCES,
                                      .binding_count = like->binding_count,
                                      .bindings = like->bindings,
                                      .push = like->push,
                                      .push_B = like->push_B};
   for (uint32_t i = 0; i < manifest->resource_count; i++) {
      const struct agx_manifest_resource *r = &manifest->resources[i];
      const struct agx_buffer_ref ref = {buffers[i].buffer, 0, AGX_WHOLE_LENGTH};
      if (r->type == AGX_MANIFEST_VERTEX)
         vertex[draw.vertex_buffer_count++] = (struct agx_vertex_buffer){r->binding, ref, 0};
      else if (r->type == AGX_MANIFEST_INDEX)
         draw.indices = ref;
      else if (r->type == AGX_MANIFEST_FEEDBACK && r->binding < AGX_MANIFEST_MAX_RESOURCES)
         feedback[r->binding] = ref;
   }
   return agx_cmd_dispatch_vertices(session->commands, &draw);
}

agx_status agx_session_record(struct agx_session *session, struct agx_executable *executable,
                              const struct agx_manifest *manifest,
                              const struct agx_session_buffer *buffers, const uint8_t *push,
                              const uint32_t workgroups[3], uint32_t dispatches)
{
   struct agx_binding bindings[AGX_MANIFEST_MAX_RESOURCES];
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = executable,
                                   .workgroups = {workgroups[0], workgroups[1], workgroups[2]},
                                   .binding_count =
                                      agx_session_bindings(manifest, buffers, bindings),
                                   .bindings = bindings,
                                   .push = push,
                                   .push_B = manifest->push_B};
   AGX_TRY(agx_command_buffer_begin(session->commands));
   for (uint32_t i = 0; i < dispatches; i++)
      AGX_TRY(manifest->is_draw ? record_draw(session, &dispatch, manifest, buffers)
                                : agx_cmd_dispatch(session->commands, &dispatch));
   return agx_command_buffer_end(session->commands);
}

agx_status agx_session_execute(struct agx_session *session, uint64_t *out_ns)
{
   const int64_t start = agx_now_ns();
   AGX_TRY(agx_session_submit(session, session->commands));
   AGX_TRY(agx_session_wait(session));
   *out_ns = (uint64_t)(agx_now_ns() - start);
   return AGX_OK;
}
