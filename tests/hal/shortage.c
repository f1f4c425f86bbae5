/* SPDX-License-Identifier: MIT
 *
 * Host memory that runs out after so many allocations, and an instance that allocates from it, for
 * tests of what happens then.
 */
#include "shortage.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hal/device/device.h"
#include "winsys/virtual/virtual.h"

agx_status shortage_instance(struct shortage *s, struct agx_instance **out_instance)
{
   const struct agx_alloc_callbacks callbacks = {s->alloc.alloc.user, s->alloc.alloc.alloc,
                                                 s->alloc.alloc.free};
   const struct agx_instance_desc desc = {.size = sizeof(desc), .alloc = &callbacks};
   return agx_instance_create(&desc, out_instance);
}

void shortage_begin(struct shortage *s)
{
   *s = (struct shortage){0};
   failing_alloc_init(&s->alloc, SIZE_MAX);
   failing_kmd_open(&s->kmd);
   assert_ok(shortage_instance(s, &s->instance));
   assert_ok(agx_device_open_kmd(s->instance, &s->kmd.forward.base, &s->device));
   s->file = memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
   assert_int_equal(ftruncate(s->file, 4 * SHORTAGE_PAGE), 0);
   assert_int_equal(fcntl(s->file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
}

void shortage_end(struct shortage *s)
{
   agx_release(s->device);
   agx_release(s->instance);
   failing_kmd_await_close(&s->kmd);
   close(s->file);
   failing_alloc_await_end(&s->alloc);
}

struct shortage_state shortage_look(struct shortage *s)
{
   struct agx_virtual_statistics statistics;
   agx_device_trim(s->device);
   agx_virtual_read_statistics(agx_kmd_virtual_node(s->kmd.forward.inner), &statistics);
   struct shortage_state state = {.gpu_B = statistics.memory_bytes,
                                  .counted_B = s->device->memory.counters.device.used_B,
                                  .host = s->alloc.live};
   DIR *folder = opendir("/proc/self/fd");
   while (readdir(folder))
      state.descriptors++;
   closedir(folder);
   return state;
}

static bool is_same(const struct shortage_state *now, const struct shortage_state *before)
{
   return now->gpu_B == before->gpu_B && now->counted_B == before->counted_B &&
          now->host == before->host && now->descriptors == before->descriptors;
}

/* A thread of the library may hold for a moment what it was looking at. */
void shortage_assert_same(struct shortage *s, const struct shortage_state *before)
{
   struct shortage_state now = shortage_look(s);
   for (int tries = 0; !is_same(&now, before) && tries < 5000; tries++) {
      usleep(1000);
      now = shortage_look(s);
   }
   assert_int_equal(now.gpu_B, before->gpu_B);
   assert_int_equal(now.counted_B, before->counted_B);
   assert_int_equal(now.host, before->host);
   assert_int_equal(now.descriptors, before->descriptors);
}
