/* SPDX-License-Identifier: MIT
 *
 * Compiles an operation's kernel and runs it on a virtual device. judge.c fills the inputs and
 * reads the results.
 */
#include <stdlib.h>

#include "agx/compiler/compiler.h"
#include "agx/hal.h"
#include "base/alloc.h"
#include "manifest.h"
#include "program/program.h"
#include "ulp.h"

struct ulp_device {
   struct agx_instance *instance;
   struct agx_device *device;
   struct agx_semaphore *done;
   struct agx_command_buffer *commands;
   struct agx_executable *executable;
   struct agx_buffer *in, *out;
   uint32_t *in_words, *out_words;
   uint64_t value;
};

static agx_status make_buffer(struct ulp_device *device, uint64_t size_B,
                              struct agx_buffer **out_buffer, uint32_t **out_words)
{
   struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = size_B, .flags = AGX_BUFFER_HOST_READ, .label = "ulp"};
   AGX_TRY(agx_buffer_create(device->device, &desc, out_buffer));
   return agx_buffer_map(*out_buffer, (void **)out_words);
}

static agx_status open_device(struct ulp_device *device, uint32_t count)
{
   struct agx_device_desc desc = {.size = sizeof(desc), .name = "virtual"};
   AGX_TRY(agx_instance_create(NULL, &device->instance));
   AGX_TRY(agx_device_open(device->instance, &desc, &device->device));
   AGX_TRY(agx_semaphore_create(device->device, 0, &device->done));
   AGX_TRY(agx_command_buffer_create(device->device, NULL, &device->commands));
   AGX_TRY(make_buffer(device, 4ull * count * ULP_MAX_OPERANDS, &device->in, &device->in_words));
   return make_buffer(device, 4ull * count, &device->out, &device->out_words);
}

agx_status ulp_device_open(uint32_t count, struct ulp_device **out_device)
{
   struct ulp_device *device = calloc(1, sizeof(*device));
   if (!device)
      return AGX_RESOURCE_EXHAUSTED;
   agx_status status = open_device(device, count);
   *out_device = device;
   return status;
}

void ulp_device_close(struct ulp_device *device)
{
   agx_release(device->executable);
   agx_release(device->in);
   agx_release(device->out);
   agx_release(device->commands);
   agx_release(device->done);
   agx_release(device->device);
   agx_release(device->instance);
   free(device);
}

static agx_status compile(const struct ulp_operation *operation, unsigned width, bool is_precise,
                          void **out_image, size_t *out_size)
{
   uint32_t words[ULP_MODULE_WORDS], count = ulp_module(operation, width, is_precise, words);
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   struct agx_program *program = NULL;
   AGX_TRY(agxc_compile(words, count * 4ul, &options, &program));
   agx_status status = agx_program_write_elf(program, NULL, out_image, out_size);
   agx_program_free(program);
   return status;
}

agx_status ulp_code_hash(const struct ulp_operation *operation, unsigned width, bool is_precise,
                         uint64_t *out_hash)
{
   void *image;
   size_t size;
   AGX_TRY(compile(operation, width, is_precise, &image, &size));
   *out_hash = agx_fnv1a(AGX_FNV_START, image, size);
   agx_host_free(NULL, image, size);
   return AGX_OK;
}

agx_status ulp_device_load(struct ulp_device *device, const struct ulp_operation *operation,
                           unsigned width, bool is_precise)
{
   void *image;
   size_t size;
   AGX_TRY(compile(operation, width, is_precise, &image, &size));
   struct agx_executable_desc desc = {.size = sizeof(desc), .data = image, .data_B = size};
   agx_release(device->executable);
   device->executable = NULL;
   agx_status status = agx_executable_create(device->device, &desc, &device->executable);
   agx_host_free(NULL, image, size);
   return status;
}

uint32_t *ulp_device_in(struct ulp_device *device)
{
   return device->in_words;
}

const uint32_t *ulp_device_out(struct ulp_device *device)
{
   return device->out_words;
}

agx_status ulp_device_run(struct ulp_device *device, uint32_t count)
{
   struct agx_binding bindings[] = {
      {.binding = 0, .ref = {device->in, 0, AGX_WHOLE_LENGTH}},
      {.binding = 1, .ref = {device->out, 0, AGX_WHOLE_LENGTH}},
   };
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = device->executable,
                                   .workgroups = {count / ULP_GROUP, 1, 1},
                                   .binding_count = 2,
                                   .bindings = bindings};
   struct agx_point point = {device->done, ++device->value};
   struct agx_op op = {.size = sizeof(op),
                       .kind = AGX_OP_EXECUTE,
                       .signals = &point,
                       .signal_count = 1,
                       .u.execute.commands = device->commands};
   AGX_TRY(agx_command_buffer_begin(device->commands));
   AGX_TRY(agx_cmd_dispatch(device->commands, &dispatch));
   AGX_TRY(agx_command_buffer_end(device->commands));
   AGX_TRY(agx_submit(device->device, &op, 1, NULL));
   return agx_semaphore_wait(&point, 1, false, AGX_DEADLINE_NEVER);
}
