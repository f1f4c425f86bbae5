/* SPDX-License-Identifier: MIT
 *
 * Records of a profiling session as a trace file for Perfetto and chrome://tracing: a row for each
 * queue by the host's clock and by the GPU's, one for each thread, and one for GPU memory. The file
 * is valid JSON after each flush, so that it can be read however the program ends.
 */
#pragma once

#include "agx/profile.h"
#include "base/status.h"

struct agx_device;
struct agx_trace;

/* Makes the file, or empties it. AGX_ALREADY_EXISTS: another trace is written to it, by this or
 * another process. */
AGX_MUST_CHECK agx_status agx_trace_open(struct agx_device *device, const char *path,
                                         struct agx_trace **out_trace);
/* One thread at a time. What can't be written is said once, and is no failure. */
void agx_trace_put(struct agx_trace *trace, const struct agx_profile_record *record);
void agx_trace_flush(struct agx_trace *trace);
/* Flushes; NULL is fine. */
void agx_trace_close(struct agx_trace *trace);
