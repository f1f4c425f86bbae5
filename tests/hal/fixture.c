/* SPDX-License-Identifier: MIT
 *
 * An instance, a device and the objects that most tests of the HAL need; each call asserts that it
 * succeeds.
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "failing_kmd.h"
#include "hal/device/device.h"

agx_status fixture_open_device(struct agx_instance *instance, const char *name,
                               struct agx_device **out_device)
{
   static const char syncs[] = "syncs:";
   struct agx_device_desc desc = {.size = sizeof(desc), .name = name};
   struct agx_kmd *kmd = NULL;
   if (!name || strncmp(name, syncs, strlen(syncs)) != 0)
      return agx_device_open(instance, &desc, out_device);
   AGX_TRY(agx_kmd_drm_open_syncs(name + strlen(syncs), &kmd));
   return agx_device_open_syncs(instance, kmd, out_device);
}

void fixture_open(struct fixture *f, const char *name)
{
   assert_ok(agx_instance_create(NULL, &f->instance));
   assert_ok(fixture_open_device(f->instance, name, &f->device));
   f->info.size = sizeof(f->info);
   agx_device_get_info(f->device, &f->info);
}

void fixture_open_over(struct fixture *f, const struct agx_device_desc *desc, struct agx_kmd *kmd)
{
   const struct agx_device_desc zeros = {.size = sizeof(zeros)};
   assert_ok(agx_instance_create(NULL, &f->instance));
   assert_ok(agx_device_open_over(f->instance, desc ? desc : &zeros, kmd, &f->device));
   f->info.size = sizeof(f->info);
   agx_device_get_info(f->device, &f->info);
}

void fixture_close(struct fixture *f)
{
   agx_release(f->device);
   agx_release(f->instance);
}

struct agx_executable *fixture_kernel(struct fixture *f, const struct agx_test_kernel *kernel)
{
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   struct agx_executable *executable = NULL;
   void *image = agx_test_kernel_elf(kernel, f->info.chip, &desc.data_B);
   desc.data = image;
   assert_ok(agx_executable_create(f->device, &desc, &executable));
   free(image);
   return executable;
}

struct agx_buffer *fixture_buffer(struct fixture *f, uint64_t size, uint32_t **out_words)
{
   struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = size, .flags = AGX_BUFFER_HOST_READ};
   struct agx_buffer *buffer = NULL;
   void *memory = NULL;
   assert_ok(agx_buffer_create(f->device, &desc, &buffer));
   assert_ok(agx_buffer_map(buffer, &memory));
   *out_words = memory;
   return buffer;
}

struct agx_semaphore *fixture_semaphore(struct fixture *f)
{
   struct agx_semaphore *semaphore = NULL;
   assert_ok(agx_semaphore_create(f->device, 0, &semaphore));
   return semaphore;
}

struct agx_command_buffer *fixture_begin(struct fixture *f)
{
   struct agx_command_buffer *commands = NULL;
   assert_ok(agx_command_buffer_create(f->device, NULL, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   return commands;
}

void fixture_dispatch(struct agx_command_buffer *commands, struct agx_executable *executable,
                      uint32_t workgroups, struct agx_buffer **buffers, uint32_t count,
                      const void *push, uint32_t push_B)
{
   struct agx_binding bindings[8];
   for (uint32_t i = 0; i < count; i++)
      bindings[i] = (struct agx_binding){
         .binding = i, .ref = {.buffer = buffers[i], .length_B = AGX_WHOLE_LENGTH}};
   struct agx_dispatch dispatch = {
      .size = sizeof(dispatch),
      .executable = executable,
      .workgroups = {workgroups, 1, 1},
      .bindings = bindings,
      .binding_count = count,
      .push = push,
      .push_B = push_B,
   };
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
}

agx_status fixture_submit(struct fixture *f, struct agx_command_buffer *commands,
                          struct agx_point wait, struct agx_point signal)
{
   struct agx_op op = {
      .size = sizeof(op),
      .kind = commands ? AGX_OP_EXECUTE : AGX_OP_BARRIER,
      .waits = &wait,
      .signals = &signal,
      .wait_count = wait.semaphore != NULL,
      .signal_count = signal.semaphore != NULL,
      .u.execute.commands = commands,
   };
   return agx_submit(f->device, &op, 1, NULL);
}

agx_status fixture_wait(struct agx_semaphore *semaphore, uint64_t value)
{
   struct agx_point point = {semaphore, value};
   return agx_semaphore_wait(&point, 1, false, AGX_DEADLINE_NEVER);
}

void work_begin(struct work *w, struct fixture *f)
{
   w->f = f;
   w->commands = NULL;
   w->count = fixture_kernel(f, &agx_test_count);
   w->add = fixture_kernel(f, &agx_test_add);
   for (uint32_t i = 0; i < WORK_BUFFERS; i++)
      w->buffers[i] = fixture_buffer(f, 256, &w->words[i]);
   w->done = fixture_semaphore(f);
}

void work_end(struct work *w)
{
   agx_release(w->commands);
   agx_release(w->done);
   for (uint32_t i = 0; i < WORK_BUFFERS; i++)
      agx_release(w->buffers[i]);
   agx_release(w->add);
   agx_release(w->count);
}

void work_open(struct work *w, const char *name)
{
   w->kmd = NULL;
   fixture_open(&w->own, name);
   work_begin(w, &w->own);
}

void work_open_failing(struct work *w, const struct agx_device_desc *desc)
{
   w->kmd = calloc(1, sizeof(*w->kmd));
   assert_non_null(w->kmd);
   failing_kmd_open(w->kmd);
   fixture_open_over(&w->own, desc, &w->kmd->base);
   work_begin(w, &w->own);
}

void work_close(struct work *w)
{
   work_end(w);
   fixture_close(&w->own);
   if (w->kmd)
      failing_kmd_await_close(w->kmd);
   free(w->kmd);
}

void work_record(struct work *w)
{
   w->commands = fixture_begin(w->f);
   fixture_dispatch(w->commands, w->count, 1, w->buffers, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(w->commands));
}
