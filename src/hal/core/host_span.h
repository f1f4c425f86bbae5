/* SPDX-License-Identifier: MIT
 *
 * What the library itself spends time on, for a profiling session: any room may mark a span of it.
 * Without a session it costs one test of a pointer.
 */
#pragma once

#include "hal/core/context.h"

/* Where spans go; part of a session. */
struct agx_host_spans {
   /* The time now, on the clock of spans; 0 if the session takes none. */
   uint64_t (*now)(const struct agx_host_spans *spans);
   /* Keeps a span from start_ns until now; copies both names, detail may be NULL. Any thread, also
    * with locks held. */
   void (*note)(struct agx_host_spans *spans, const char *name, const char *detail,
                uint64_t start_ns);
};

/* `uint64_t t = agx_profile_host_begin(device); ... agx_profile_host_end(device, "compile",
 * name, t);` records what lies between. Any thread, also with locks held. */
static inline uint64_t agx_profile_host_begin(const struct agx_device *device)
{
   const struct agx_host_spans *spans = agx_context_of(device)->spans;
   return __builtin_expect(spans != NULL, 0) ? spans->now(spans) : 0;
}

/* Ends a span that agx_profile_host_begin() began; the session copies both names. */
static inline void agx_profile_host_end(const struct agx_device *device, const char *name,
                                        const char *detail, uint64_t start_ns)
{
   struct agx_host_spans *spans = agx_context_of(device)->spans;
   if (__builtin_expect(start_ns != 0 && spans, 0))
      spans->note(spans, name, detail, start_ns);
}
