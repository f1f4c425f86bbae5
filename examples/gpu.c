/* SPDX-License-Identifier: MIT */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *gpu_error(void)
{
   static char text[512];
   agx_error_text(text, sizeof(text));
   return text;
}

void gpu_check(agx_status status)
{
   if (status == AGX_OK)
      return;
   fprintf(stderr, "%s: %s\n", agx_status_name(status), gpu_error());
   exit(1);
}

bool gpu_open(const char *device, struct gpu *out_gpu)
{
   *out_gpu = (struct gpu){0};
   struct agx_device_desc desc = {.size = sizeof(desc), .name = device};
   if (agx_instance_create(NULL, &out_gpu->instance) != AGX_OK ||
       agx_device_open(out_gpu->instance, &desc, &out_gpu->device) != AGX_OK) {
      gpu_close(out_gpu);
      return false;
   }
   struct agx_device_info info = {.size = sizeof(info)};
   agx_device_get_info(out_gpu->device, &info);
   if (info.is_virtual)
      snprintf(out_gpu->name, sizeof(out_gpu->name), "virtual AGX, %s", info.chip);
   else
      memcpy(out_gpu->name, info.name, sizeof(out_gpu->name));
   out_gpu->is_virtual = info.is_virtual;
   return true;
}

void gpu_close(struct gpu *gpu)
{
   agx_release(gpu->device);
   agx_release(gpu->instance);
}

bool gpu_buffer(struct gpu *gpu, size_t bytes, struct gpu_buffer *out_buffer)
{
   *out_buffer = (struct gpu_buffer){.bytes = bytes};
   struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = bytes, .flags = AGX_BUFFER_HOST_READ};
   if (agx_buffer_create(gpu->device, &desc, &out_buffer->buffer) != AGX_OK)
      return false;
   return agx_buffer_map(out_buffer->buffer, &out_buffer->memory) == AGX_OK;
}

void gpu_buffer_free(struct gpu_buffer *buffer)
{
   agx_release(buffer->buffer);
}

struct agx_executable *gpu_kernel(struct gpu *gpu, const void *spirv, size_t spirv_bytes)
{
   struct agx_executable *executable;
   struct agx_executable_desc desc = {.size = sizeof(desc), .data = spirv, .data_B = spirv_bytes};
   gpu_check(agx_executable_create(gpu->device, &desc, &executable));
   return executable;
}

struct agx_op gpu_op(enum agx_op_kind kind, const struct agx_point *waits, uint32_t wait_count,
                     const struct agx_point *signal)
{
   return (struct agx_op){.size = sizeof(struct agx_op),
                          .kind = kind,
                          .waits = waits,
                          .wait_count = wait_count,
                          .signals = signal,
                          .signal_count = signal != NULL};
}

static double now_ms(void)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static bool record(struct agx_command_buffer *commands, struct agx_executable *executable,
                   const struct gpu_run *run)
{
   struct agx_binding bindings[4] = {0};
   for (uint32_t i = 0; i < run->buffer_count; i++)
      bindings[i] = (struct agx_binding){
         .set = 0, .binding = i, .ref = {run->buffers[i]->buffer, 0, AGX_WHOLE_LENGTH}};
   struct agx_dispatch dispatch = {
      .size = sizeof(dispatch),
      .executable = executable,
      .workgroups = {run->workgroups[0], run->workgroups[1], run->workgroups[2]},
      .binding_count = run->buffer_count,
      .bindings = bindings,
      .push = run->arguments,
      .push_B = (uint32_t)run->argument_bytes};
   return agx_command_buffer_begin(commands) == AGX_OK &&
          agx_cmd_dispatch(commands, &dispatch) == AGX_OK &&
          agx_command_buffer_end(commands) == AGX_OK;
}

static bool submit_and_wait(struct gpu *gpu, struct agx_command_buffer *commands)
{
   struct agx_semaphore *semaphore;
   if (agx_semaphore_create(gpu->device, 0, &semaphore) != AGX_OK)
      return false;
   const struct agx_point done = {semaphore, 1};
   struct agx_op op = {.size = sizeof(op),
                       .kind = AGX_OP_EXECUTE,
                       .signals = &done,
                       .signal_count = 1,
                       .u.execute.commands = commands};
   bool ok = agx_submit(gpu->device, &op, 1, NULL) == AGX_OK &&
             agx_semaphore_wait(&done, 1, false, AGX_DEADLINE_NEVER) == AGX_OK;
   agx_release(semaphore);
   return ok;
}

static void fill_figures(struct agx_executable *executable, struct gpu_run *run)
{
   struct agx_executable_info info = {.size = sizeof(info)};
   agx_executable_get_info(executable, &info);
   run->instructions = info.instructions;
   run->bytes = info.code_B;
   run->registers = (info.gpr_halves + 1) / 2;
   run->uniforms = (info.uniform_halves + 1) / 2;
   run->simd_groups = info.resident_simdgroups;
   run->cycles = info.cycles;
}

bool gpu_execute(struct gpu *gpu, struct gpu_run *run)
{
   struct agx_executable *executable = NULL;
   struct agx_command_buffer *commands = NULL;
   struct agx_executable_desc desc = {
      .size = sizeof(desc), .data = run->spirv, .data_B = run->spirv_bytes};
   bool ok = agx_executable_create(gpu->device, &desc, &executable) == AGX_OK;
   if (ok)
      fill_figures(executable, run);
   ok = ok && agx_command_buffer_create(gpu->device, NULL, &commands) == AGX_OK &&
        record(commands, executable, run);
   double start = now_ms();
   ok = ok && submit_and_wait(gpu, commands);
   run->ms = now_ms() - start;
   agx_release(commands);
   agx_release(executable);
   return ok;
}
