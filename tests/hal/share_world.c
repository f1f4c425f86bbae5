/* SPDX-License-Identifier: MIT
 *
 * Two sides that share semaphores, a device and another file of its node, for tests of sharing.
 */
#include "share_world.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "hal/device/device.h"

void world_open(struct world *w, const char *script, const struct agx_instance_desc *desc)
{
   struct fixture *f = &w->f;
   if (script)
      setenv("AGX_VIRTUAL_INJECT", script, 1);
   failing_kmd_open(&w->kmd);
   unsetenv("AGX_VIRTUAL_INJECT");
   assert_ok(agx_instance_create(desc, &f->instance));
   assert_ok(agx_device_open_kmd(f->instance, &w->kmd.base, &f->device));
   f->info.size = sizeof(f->info);
   agx_device_get_info(f->device, &f->info);
   bed_open_over(&w->bed, agx_context_of(f->device)->winsys);
   w->kernel = fixture_kernel(f, &agx_test_count);
   for (uint32_t i = 0; i < 2; i++) {
      w->buffers[i] = fixture_buffer(f, 256, &w->words[i]);
      w->commands[i] = fixture_begin(f);
      fixture_dispatch(w->commands[i], w->kernel, 1, &w->buffers[i], 1, NULL, 0);
      assert_ok(agx_command_buffer_end(w->commands[i]));
   }
}

void world_close(struct world *w)
{
   bed_close(&w->bed);
   for (uint32_t i = 0; i < 2; i++) {
      agx_release(w->commands[i]);
      agx_release(w->buffers[i]);
   }
   agx_release(w->kernel);
   fixture_close(&w->f);
   failing_kmd_await_close(&w->kmd);
}

void world_submit(struct world *w, uint32_t queue, struct agx_point wait, struct agx_point signal)
{
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_EXECUTE,
                             .queues = 1ull << queue,
                             .waits = &wait,
                             .wait_count = wait.semaphore != NULL,
                             .signals = &signal,
                             .signal_count = 1,
                             .u.execute.commands = w->commands[queue]};
   assert_ok(agx_submit(w->f.device, &op, 1, NULL));
}

/* Until the GPU has come as far, of which the library is not told. */
void world_let_run(struct world *w, uint32_t queue, uint64_t epoch)
{
   const struct agxw_point last = {w->f.device->sync.queues[queue].timeline, epoch};
   assert_ok(agxw_wait(agx_context_of(w->f.device)->winsys, &last, 1, false, AGX_DEADLINE_NEVER));
}

uint32_t world_in_flight(struct world *w, uint32_t queue)
{
   pthread_mutex_lock(&w->f.device->sync.lock);
   uint32_t count = w->f.device->sync.queues[queue].in_flight_count;
   pthread_mutex_unlock(&w->f.device->sync.lock);
   return count;
}

void world_wait_in_flight(struct world *w, uint32_t queue, uint32_t count)
{
   while (world_in_flight(w, queue) < count)
      sched_yield();
   assert_int_equal(world_in_flight(w, queue), count);
}

/* As an importer of the file sees it. */
agx_status world_outcome(struct world *w, int fd)
{
   struct agx_semaphore *other = fixture_semaphore(&w->f);
   assert_ok(agx_semaphore_import_point(other, 1, AGX_FD_SYNC_FILE, fd));
   agx_status status = fixture_wait(other, 1);
   agx_release(other);
   return status;
}

struct agx_semaphore *world_import(struct world *w, struct agxw_timeline *timeline)
{
   struct agx_semaphore *semaphore = NULL;
   int fd;
   assert_ok(agxw_timeline_export(timeline, &fd));
   assert_ok(agx_semaphore_import(w->f.device, fd, &semaphore));
   close(fd);
   return semaphore;
}
