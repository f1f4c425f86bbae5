/* SPDX-License-Identifier: MIT
 *
 * The device under test, which AGX_CONFORMANCE_DEVICE names, and kernels and helpers that the
 * conformance tests share.
 */
#include "conformance.h"

#include <stdlib.h>
#include <string.h>

const struct agx_test_kernel conformance_grid = {
   .name = "grid",
   .text = "mfsr d=r0 sr=thread_in_grid_x\n"
           "mfsr d=r1 sr=thread_in_grid_y\n"
           "mfsr d=r2 sr=thread_in_grid_z\n"
           "imadd d=r3 a=r1 b=u2 c=r0\n"
           "imadd d=r3 a=r2 b=u3 c=r3\n"
           "ldimm32 d=r4 imm=100\n"
           "imadd d=r0 a=r1 b=r4 c=r0\n"
           "ldimm32 d=r4 imm=10000\n"
           "imadd d=r0 a=r2 b=r4 c=r0\n"
           "store r=r0 base=du0 index=r3 format=i32 mask=x group=a\n",
   .local_size = {4, 2, 2},
   .gpr_halves = 10,
   .push_B = 8,
   .bindings = 1,
   .written = 1,
};

const char *conformance_device_name(void)
{
   const char *name = getenv("AGX_CONFORMANCE_DEVICE");
   return name && *name ? name : "virtual";
}

void conformance_open_another(struct fixture *f)
{
   fixture_open(f, conformance_device_name());
}

int conformance_open(void **state)
{
   static struct fixture fixture;
   *state = NULL;
   assert_ok(agx_instance_create(NULL, &fixture.instance));
   agx_status status =
      fixture_open_device(fixture.instance, conformance_device_name(), &fixture.device);
   if (status != AGX_OK) {
      char text[512];
      agx_error_text(text, sizeof(text));
      print_message("skipped: %s\n", text);
      agx_release(fixture.instance);
      return strncmp(conformance_device_name(), "virtual", 7) == 0
                ? -1
                : 0; /* that one is always there */
   }
   fixture.info.size = sizeof(fixture.info);
   agx_device_get_info(fixture.device, &fixture.info);
   *state = &fixture;
   return 0;
}

int conformance_close(void **state)
{
   if (*state)
      fixture_close(*state);
   return 0;
}

struct fixture *conformance_device(void **state)
{
   if (!*state)
      skip();
   return *state;
}

char *conformance_read(const char *name, struct agx_executable_desc *desc)
{
   char *path = agx_test_path(name), *bytes = agx_test_read_file(path, &desc->data_B);
   free(path);
   desc->size = sizeof(*desc);
   desc->data = bytes;
   return bytes;
}

struct agx_executable *conformance_kernel(struct fixture *f, const char *name, const char *entry)
{
   struct agx_executable_desc desc = {.entry = entry};
   struct agx_executable *executable;
   char *bytes = conformance_read(name, &desc);
   assert_ok(agx_executable_create(f->device, &desc, &executable));
   free(bytes);
   return executable;
}

struct fixture *conformance_gpu(void **state)
{
   struct fixture *f = conformance_device(state);
   if (f->info.core_count == 0)
      skip();
   return f;
}

struct agx_point conformance_point(struct agx_semaphore *semaphore, uint64_t value)
{
   return (struct agx_point){semaphore, value};
}

void conformance_run(struct fixture *f, struct agx_command_buffer *commands)
{
   struct agx_semaphore *done = fixture_semaphore(f);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(f, commands, NO_POINT, conformance_point(done, 1)));
   assert_ok(fixture_wait(done, 1));
   agx_release(done);
}
