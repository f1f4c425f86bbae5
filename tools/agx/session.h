/* SPDX-License-Identifier: MIT
 *
 * A device of the HAL as the commands use it: buffers that stay mapped, and one
 * semaphore that counts submissions.
 */
#pragma once

#include "agx/hal.h"
#include "manifest.h"
#include "robust.h"

struct agx_session {
   struct agx_instance *instance;
   struct agx_device *device;
   struct agx_command_buffer *commands;
   struct agx_semaphore *done;
   uint64_t value; /* of the last submission */
};

/* One buffer, mapped all the time; or an image with a sampler, and memory to copy it from. */
struct agx_session_buffer {
   struct agx_buffer *buffer;
   struct agx_image *image;
   struct agx_sampler *sampler;
   uint8_t *memory;
   uint64_t size, address; /* address: on the GPU */
};

/* device as --device takes it. Close it also when it failed. */
AGX_MUST_CHECK agx_status agx_session_open(const char *device, struct agx_session *out_session);
/* Releases device, instance and what agx_session_open made. */
void agx_session_close(struct agx_session *session);

/* All levels between the image and its memory. */
AGX_MUST_CHECK agx_status agx_session_copy_image(const struct agx_manifest_resource *resource,
                                                 const struct agx_session_buffer *buffer,
                                                 bool to_image);
/* Releases buffer, image, sampler and memory, as far as they are there. */
void agx_session_release_buffer(struct agx_session_buffer *buffer);

/* A buffer or image for each resource of the manifest, in its order. Call
 * agx_session_release_buffer for each, also when it failed. */
AGX_MUST_CHECK agx_status agx_session_make_buffers(struct agx_session *session,
                                                   struct agx_executable *executable,
                                                   const struct agx_manifest *manifest,
                                                   struct agx_session_buffer *out_buffers);
/* Fills them as the manifest says, and push: contents may hold addresses of any of them. */
AGX_MUST_CHECK agx_status agx_session_fill_buffers(const struct agx_manifest *manifest,
                                                   const struct agx_session_buffer *buffers,
                                                   uint8_t push[AGX_MANIFEST_MAX_PUSH_B]);

/* A kernel from SPIR-V or a compiled file, with the manifest's specialization constants; entry
 * NULL: its first entry point. robust may be NULL: off, or as the file was compiled. */
AGX_MUST_CHECK agx_status agx_session_load(struct agx_session *session, const char *path,
                                           const char *entry, const struct agx_manifest *manifest,
                                           const struct agx_tool_robust *robust,
                                           struct agx_executable **out_executable);

/* What a dispatch binds, at most AGX_MANIFEST_MAX_RESOURCES; how many. buffers stand in the order
 * of the manifest's resources. */
uint32_t agx_session_bindings(const struct agx_manifest *manifest,
                              const struct agx_session_buffer *buffers,
                              struct agx_binding *out_bindings);

/* Submits a command buffer once more; its end signals the next value of `done`. */
AGX_MUST_CHECK agx_status agx_session_submit(struct agx_session *session,
                                             struct agx_command_buffer *commands);
/* Waits for everything submitted. */
AGX_MUST_CHECK agx_status agx_session_wait(struct agx_session *session);

/* Records the kernel `dispatches` times, unordered among each other, over a grid of
 * workgroups; buffers stand in the order of the manifest's resources. */
AGX_MUST_CHECK agx_status agx_session_record(struct agx_session *session,
                                             struct agx_executable *executable,
                                             const struct agx_manifest *manifest,
                                             const struct agx_session_buffer *buffers,
                                             const uint8_t *push, const uint32_t workgroups[3],
                                             uint32_t dispatches);

/* Submits what was recorded and waits for it. *out_ns is the time that took. */
AGX_MUST_CHECK agx_status agx_session_execute(struct agx_session *session, uint64_t *out_ns);
