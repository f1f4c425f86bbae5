/* SPDX-License-Identifier: MIT
 *
 * A program that loads the library, submits and unloads it without waiting, as a plugin host does
 * with an adapter. This test is linked with the HAL itself; what it calls here is another copy, of
 * the library that programs load.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "agx/hal.h"
#include "fixture.h"

typedef agx_status instance_create_fn(const struct agx_instance_desc *, struct agx_instance **);
typedef agx_status device_open_fn(struct agx_instance *, const struct agx_device_desc *,
                                  struct agx_device **);
typedef agx_status submit_fn(struct agx_device *, const struct agx_op *, uint32_t, uint32_t *);
typedef void release_fn(void *);

enum {
   CALLS = 4
};

/* What the host functions know of each other. */
struct gate {
   _Atomic bool is_open;
   _Atomic uint32_t inside, done;
};

static agx_status pass(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct gate *gate = user;
   atomic_fetch_add(&gate->inside, 1);
   while (!atomic_load(&gate->is_open))
      usleep(1000);
   atomic_fetch_add(&gate->done, 1);
   return AGX_OK;
}

static void await(_Atomic uint32_t *count, uint32_t value)
{
   for (uint32_t i = 0; i < 20000 && atomic_load(count) < value; i++)
      usleep(1000);
   assert_true(atomic_load(count) >= value);
}

/* The device goes with the last of the host functions, on a thread of the library. */
static void work_goes_on_when_the_library_is_closed(void **state)
{
   const struct agx_device_desc desc = {.size = sizeof(desc), .name = "virtual"};
   struct agx_instance *instance = NULL;
   struct agx_device *device = NULL;
   static struct gate gate;
   void *library = dlopen(getenv("AGX_TEST_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
   assert_non_null(library);
   release_fn *release = (release_fn *)dlsym(library, "agx_release");
   submit_fn *submit = (submit_fn *)dlsym(library, "agx_submit");
   assert_ok(((instance_create_fn *)dlsym(library, "agx_instance_create"))(NULL, &instance));
   assert_ok(((device_open_fn *)dlsym(library, "agx_device_open"))(instance, &desc, &device));
   for (int i = 0; i < CALLS; i++) {
      const struct agx_op op = {
         .size = sizeof(op), .kind = AGX_OP_HOST_CALL, .u.host_call = {.fn = pass, .user = &gate}};
      assert_ok(submit(device, &op, 1, NULL));
   }
   release(device);
   release(instance);
   await(&gate.inside, 1);
   assert_int_equal(dlclose(library), 0);
   atomic_store(&gate.is_open, true);
   await(&gate.done, CALLS);
   usleep(100000); /* the threads return into the library, and end there */
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(work_goes_on_when_the_library_is_closed),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
