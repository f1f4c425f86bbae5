// SPDX-License-Identifier: MIT
// y = a x + y on the GPU: cc first_program.c $(pkg-config --cflags --libs agxhal)
#include <agx/hal.h>
#include <stdio.h>
#include <stdlib.h>

static void check(agx_status status)
{
   char text[512];
   agx_error_text(text, sizeof(text));
   if (status != AGX_OK && fprintf(stderr, "%s: %s\n", agx_status_name(status), text))
      exit(1);
}

static float *make_buffer(struct agx_device *device, struct agx_buffer **buffer)
{
   struct agx_buffer_desc desc = {sizeof(desc), NULL, 1000 * sizeof(float), AGX_BUFFER_HOST_READ};
   void *memory;
   check(agx_buffer_create(device, &desc, buffer));
   check(agx_buffer_map(*buffer, &memory));
   return memory;
}

int main(int argc, char **argv)
{
   static char spirv[65536];
   FILE *file = fopen(argc > 1 ? argv[1] : "saxpy.spv", "rb");
   size_t size = file ? fread(spirv, 1, sizeof(spirv), file) : 0;
   struct agx_executable_desc code = {.size = sizeof(code), .data = spirv, .data_B = size};
   struct agx_instance *instance;
   struct agx_device *device; // a real GPU, or else the virtual one
   struct agx_executable *saxpy;
   struct agx_buffer *x, *y;
   struct agx_command_buffer *commands;
   struct agx_semaphore *done;
   check(agx_instance_create(NULL, &instance));
   check(agx_device_open(instance, NULL, &device));
   check(agx_executable_create(device, &code, &saxpy));
   float *xs = make_buffer(device, &x), *ys = make_buffer(device, &y);
   for (int i = 0; i < 1000; i++)
      xs[i] = (float)i, ys[i] = 1;
   unsigned push[] = {0x40200000, 1000}; // a, the bits of 2.5f, and how many
   struct agx_binding bindings[] = {{0, 0, {x, 0, 4000}}, {0, 1, {y, 0, 4000}}};
   struct agx_dispatch dispatch = {sizeof(dispatch), NULL, saxpy,       {16, 1, 1}, 2,
                                   bindings,         push, sizeof(push)};
   check(agx_command_buffer_create(device, NULL, &commands));
   check(agx_command_buffer_begin(commands));
   check(agx_cmd_dispatch(commands, &dispatch));
   check(agx_command_buffer_end(commands));
   check(agx_semaphore_create(device, 0, &done));
   struct agx_point point = {done, 1};
   struct agx_op op = {sizeof(op), AGX_OP_EXECUTE, 0, 0, NULL, &point, 0, 1, {{commands}}};
   check(agx_submit(device, &op, 1, NULL));
   check(agx_semaphore_wait(&point, 1, false, AGX_DEADLINE_NEVER));
   printf("2.5 * 999 + 1 = %g\n", ys[999]);
   void *objects[] = {done, commands, y, x, saxpy, device, instance};
   for (int i = 0; i < 7; i++)
      agx_release(objects[i]);
}
