/* SPDX-License-Identifier: MIT
 *
 * What is recorded to measure what that costs: kernels of the corpus over what their manifests
 * name.
 */
#pragma once

#include "session.h"

#define BENCH_WORK_RESOURCES 8

struct bench_work {
   struct agx_manifest manifest;
   struct agx_executable *executable;
   struct agx_session_buffer buffers[BENCH_WORK_RESOURCES];
   struct agx_binding bindings[BENCH_WORK_RESOURCES];
   struct agx_dispatch dispatch;
};

/* FOLDER/name.spv, of one workgroup. Close it, also when it failed. */
AGX_MUST_CHECK agx_status bench_work_open(struct bench_work *work, struct agx_session *session,
                                          const char *folder, const char *name,
                                          enum agx_robustness robust);
void bench_work_close(struct bench_work *work);
