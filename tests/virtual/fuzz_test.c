/* SPDX-License-Identifier: MIT
 *
 * Random requests that know the structs: numbers mostly in range, now and then not;
 * pointers mostly good. Nothing may crash, hang, or leave anything behind. The seeds
 * are fixed; AGX_FUZZ_STEPS makes it longer.
 */
#include <stdlib.h>

#include "device.h"
#include "winsys/virtual/store/user.h"
#include "user_checked.h"

#define DEFAULT_STEPS 100000

static agx_status touch(const struct agx_chip *chip, const struct agxs_memory *memory,
                        const struct agxs_options *options, uint64_t usc_base, uint64_t stream_va,
                        struct agxs_stats *out_stats)
{
   for (uint64_t page = 0; page < 16; page++) {
      uint8_t *at = memory->translate(memory->user, 0x2000000000ull + page * PAGE, AGXS_WRITE);
      if (at)
         __atomic_fetch_add(at, 1, __ATOMIC_RELAXED);
   }
   return stream_va & 1 ? AGX_FAIL(AGX_DATA_LOSS, "an odd stream") : AGX_OK;
}

struct fuzz {
   struct agx_test_rng rng;
   struct device device;
};

static uint64_t below(struct fuzz *fuzz, uint64_t bound)
{
   return agx_test_random_below(&fuzz->rng, bound);
}

/* A small number, or rarely any. */
static uint32_t number(struct fuzz *fuzz)
{
   return below(fuzz, 50) ? (uint32_t)below(fuzz, 9) : (uint32_t)agx_test_random(&fuzz->rng);
}

/* Mostly 0. */
static uint32_t rare(struct fuzz *fuzz)
{
   return below(fuzz, 12) ? 0 : number(fuzz);
}

static uint64_t address(struct fuzz *fuzz)
{
   uint64_t va = 0x2000000000ull + below(fuzz, 300) * PAGE;
   return below(fuzz, 40) ? va : agx_test_random(&fuzz->rng);
}

static uint64_t pages(struct fuzz *fuzz)
{
   return below(fuzz, 40) ? (1 + below(fuzz, 300)) * PAGE : agx_test_random(&fuzz->rng) >> 20;
}

static uint64_t pointer(struct fuzz *fuzz, const void *good)
{
   return below(fuzz, 30) || !user_is_checked() ? (uintptr_t)good : below(fuzz, 4096);
}

static void do_vm(struct fuzz *fuzz)
{
   struct device *device = &fuzz->device;
   struct agx_uapi_gem_bind_op ops[4];
   uint32_t count = (uint32_t)below(fuzz, 5);
   for (uint32_t i = 0; i < AGX_COUNT(ops); i++) {
      bool unbinds = below(fuzz, 3) == 0;
      ops[i] = (struct agx_uapi_gem_bind_op){
         unbinds ? 1 : 2 + number(fuzz), unbinds ? rare(fuzz) : number(fuzz),
         unbinds ? 0 : below(fuzz, 4) * PAGE, pages(fuzz), address(fuzz)};
   }
   struct agx_uapi_vm_bind bind = {number(fuzz), count, sizeof(ops[0]), rare(fuzz),
                                   pointer(fuzz, ops)};
   CALL(device, ASAHI_VM_BIND, bind);
   struct agx_uapi_vm_create create = {KERNEL_START, KERNEL_END + rare(fuzz), 0, rare(fuzz)};
   struct agx_uapi_vm_destroy destroy = {number(fuzz), rare(fuzz)};
   if (below(fuzz, 30) == 0)
      CALL(device, ASAHI_VM_CREATE, create);
   if (below(fuzz, 60) == 0)
      CALL(device, ASAHI_VM_DESTROY, destroy);
}

static void do_gem(struct fuzz *fuzz)
{
   struct device *device = &fuzz->device;
   struct agx_uapi_gem_create create = {.size = below(fuzz, 20) ? below(fuzz, 1 << 20)
                                                                : agx_test_random(&fuzz->rng),
                                        .flags = rare(fuzz),
                                        .pad = rare(fuzz) & 1};
   create.vm_id = create.flags & 2 ? number(fuzz) : 0;
   struct agx_uapi_gem_close close_args = {number(fuzz), rare(fuzz)};
   struct agx_uapi_gem_mmap_offset offset = {number(fuzz), rare(fuzz), 0};
   struct agx_uapi_gem_bind_object object = {(uint32_t)below(fuzz, 2),
                                             1,
                                             number(fuzz),
                                             0,
                                             0,
                                             PAGE * below(fuzz, 8),
                                             number(fuzz),
                                             rare(fuzz)};
   if (object.op)
      object = (struct agx_uapi_gem_bind_object){.op = 1, .object_handle = number(fuzz)};
   CALL(device, ASAHI_GEM_CREATE, create);
   CALL(device, GEM_CLOSE, close_args);
   if (below(fuzz, 8) == 0)
      CALL(device, ASAHI_GEM_BIND_OBJECT, object);
   if (CALL(device, ASAHI_GEM_MMAP_OFFSET, offset) || below(fuzz, 4))
      return;
   int error;
   size_t length = (1 + below(fuzz, 8)) * PAGE;
   void *memory = agx_virtual_mmap(device->file, NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED,
                                   offset.offset + rare(fuzz), &error);
   if (memory) {
      memset(memory, (int)below(fuzz, 256), length);
      unmap_gem(device, memory, length);
   }
}

static void do_submit(struct fuzz *fuzz)
{
   struct compute_record commands[3];
   struct agx_uapi_sync syncs[4];
   for (unsigned i = 0; i < AGX_COUNT(commands); i++) {
      commands[i] = compute_command(below(fuzz, 20) * 2 + (below(fuzz, 50) == 0));
      commands[i].header.cdm_barrier = (uint16_t)below(fuzz, i + 2);
      commands[i].header.cmd_type = below(fuzz, 60) ? 1 : (uint16_t)below(fuzz, 7);
      commands[i].header.size = below(fuzz, 60) ? 64 : (uint16_t)below(fuzz, 65536);
      commands[i].compute.flags = below(fuzz, 60) == 0;
      commands[i].compute.ts.end.handle = rare(fuzz);
      commands[i].compute.ts.end.offset = (uint32_t)below(fuzz, 2 * PAGE);
   }
   for (unsigned i = 0; i < AGX_COUNT(syncs); i++) {
      bool timeline = below(fuzz, 2);
      syncs[i] = (struct agx_uapi_sync){timeline, number(fuzz), timeline ? below(fuzz, 30) : 0};
   }
   struct agx_uapi_submit args = {
      .syncs = pointer(fuzz, syncs),
      .cmdbuf = pointer(fuzz, commands),
      .queue_id = number(fuzz),
      .flags = rare(fuzz) & 1,
      .in_sync_count = (uint32_t)below(fuzz, 2),
      .out_sync_count = (uint32_t)below(fuzz, 3),
      .cmdbuf_size = (uint32_t)(below(fuzz, 10) ? sizeof(commands[0]) * (1 + below(fuzz, 3))
                                                : below(fuzz, sizeof(commands))),
   };
   CALL(&fuzz->device, ASAHI_SUBMIT, args);
   struct agx_uapi_queue_create create = {rare(fuzz), number(fuzz), number(fuzz) & 3, 0, 0};
   struct agx_uapi_queue_destroy destroy = {number(fuzz), rare(fuzz)};
   if (below(fuzz, 20) == 0)
      CALL(&fuzz->device, ASAHI_QUEUE_CREATE, create);
   if (below(fuzz, 40) == 0)
      CALL(&fuzz->device, ASAHI_QUEUE_DESTROY, destroy);
}

static void do_arrays(struct fuzz *fuzz)
{
   static const uint32_t plain[] = {AGX_IOCTL_SYNCOBJ_RESET, AGX_IOCTL_SYNCOBJ_SIGNAL};
   static const uint32_t valued[] = {AGX_IOCTL_SYNCOBJ_QUERY, AGX_IOCTL_SYNCOBJ_TIMELINE_SIGNAL};
   struct device *device = &fuzz->device;
   uint32_t handles[4], count = (uint32_t)below(fuzz, 5);
   uint64_t values[4];
   for (unsigned i = 0; i < 4; i++) {
      handles[i] = number(fuzz);
      values[i] = below(fuzz, 30);
   }
   struct agx_uapi_syncobj_array array = {pointer(fuzz, handles), count, rare(fuzz)};
   struct agx_uapi_syncobj_timeline_array timeline = {pointer(fuzz, handles), pointer(fuzz, values),
                                                      count, rare(fuzz)};
   struct agx_uapi_syncobj_timeline_wait wait = {.handles = pointer(fuzz, handles),
                                                 .points = pointer(fuzz, values),
                                                 .count_handles = count,
                                                 .flags = number(fuzz),
                                                 .timeout_nsec =
                                                    now_ns() + (int64_t)below(fuzz, 20000)};
   agx_virtual_ioctl(device->file, plain[below(fuzz, 2)], &array);
   agx_virtual_ioctl(device->file, valued[below(fuzz, 2)], &timeline);
   CALL(device, SYNCOBJ_TIMELINE_WAIT, wait);
}

static void do_descriptors(struct fuzz *fuzz)
{
   struct device *device = &fuzz->device;
   struct agx_uapi_syncobj_handle out = {number(fuzz), rare(fuzz) & 3, -1, 0, rare(fuzz)};
   struct agx_uapi_prime_handle prime = {number(fuzz), 0, -1};
   if (CALL(device, SYNCOBJ_HANDLE_TO_FD, out) == 0) {
      struct agx_uapi_syncobj_handle in = {number(fuzz), out.flags, out.fd, 0, rare(fuzz)};
      CALL(device, SYNCOBJ_FD_TO_HANDLE, in);
      close(out.fd);
   }
   if (below(fuzz, 4) == 0 && CALL(device, PRIME_HANDLE_TO_FD, prime) == 0) {
      CALL(device, PRIME_FD_TO_HANDLE, prime);
      close(prime.fd);
   }
}

static void do_syncobjs(struct fuzz *fuzz)
{
   struct device *device = &fuzz->device;
   struct agx_uapi_syncobj_create create = {0, rare(fuzz)};
   struct agx_uapi_syncobj_destroy destroy = {number(fuzz), rare(fuzz)};
   struct agx_uapi_syncobj_transfer transfer = {
      number(fuzz), number(fuzz), rare(fuzz) & 31, below(fuzz, 30), 0, rare(fuzz)};
   CALL(device, SYNCOBJ_CREATE, create);
   if (below(fuzz, 2))
      CALL(device, SYNCOBJ_DESTROY, destroy);
   CALL(device, SYNCOBJ_TRANSFER, transfer);
}

/* Any number with any bytes, but nothing that may sleep for long. */
static void do_noise(struct fuzz *fuzz)
{
   uint32_t request = (uint32_t)agx_test_random(&fuzz->rng);
   if (below(fuzz, 4))
      request = (request & ~0xff00u) | 0x6400;
   uint32_t nr = AGX_UAPI_NR(request);
   uint64_t words[2048];
   for (unsigned i = 0; i < 16; i++)
      words[i] = below(fuzz, 3) ? number(fuzz) & 0xffff : 0; /* no address of anything */
   if (nr == 0xc3 || nr == 0xca || nr == 0xcc)
      return;
   if (!user_is_checked()) /* the words would be pointers too */
      return;
   agx_virtual_ioctl(fuzz->device.file, request, below(fuzz, 20) ? words : NULL);
}

static void run_seed(uint64_t seed, uint64_t steps)
{
   static void (*const actions[])(struct fuzz *) = {
      do_vm, do_gem, do_submit, do_arrays, do_noise, do_syncobjs, do_descriptors, do_syncobjs};
   struct fuzz fuzz = {.rng = {seed}, .device = device_open(touch)};
   for (uint64_t step = 0; step < steps; step++) {
      actions[below(&fuzz, AGX_COUNT(actions))](&fuzz);
      if (below(&fuzz, 2000) == 0) { /* close in flight */
         agx_virtual_close(fuzz.device.file);
         assert_ok(agx_virtual_open(fuzz.device.node, &fuzz.device.file));
         fuzz.device.vm = make_vm(&fuzz.device);
         fuzz.device.queue = make_queue(&fuzz.device, fuzz.device.vm);
      }
   }
   /* What is left still works. */
   agx_virtual_close(fuzz.device.file);
   assert_ok(agx_virtual_open(fuzz.device.node, &fuzz.device.file));
   fuzz.device.vm = make_vm(&fuzz.device);
   fuzz.device.queue = make_queue(&fuzz.device, fuzz.device.vm);
   run(&fuzz.device, 2);
   device_close(&fuzz.device);
}

static void random_requests_do_no_harm(void **state)
{
   const char *text = getenv("AGX_FUZZ_STEPS");
   uint64_t steps = text ? strtoull(text, NULL, 0) : DEFAULT_STEPS;
   for (uint64_t seed = 1; seed <= 4; seed++)
      run_seed(seed * 0x9e3779b97f4a7c15ull, steps / 4);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {cmocka_unit_test(random_requests_do_no_harm)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
