/* SPDX-License-Identifier: MIT
 *
 * What the kernel refuses, and how: a line per row of the errors that
 * docs/hw/cmdstream.md lists for the requests of the driver and of the DRM core.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>

#include "device.h"
#include "winsys/virtual/store/user.h"
#include "user_checked.h"

#define BAD_POINTER 8 /* an address that nothing is mapped at */

/* Rows with a bad pointer, where the host can tell one (emulators can't). */
#define IF_CHECKED(...)                                                                            \
   do {                                                                                            \
      if (user_is_checked())                                                                       \
         __VA_ARGS__;                                                                              \
   } while (0)

#define EXPECT(expected, call)                                                                     \
   do {                                                                                            \
      int result_ = (call);                                                                        \
      if (result_ != (expected))                                                                   \
         fail_msg("line %d: %s: %d, not %d", __LINE__, #call, result_, (expected));                \
   } while (0)
#define REFUSES(error, request, ...) EXPECT(-(error), CALL(&device, request, __VA_ARGS__))
#define ACCEPTS(request, ...)        EXPECT(0, CALL(&device, request, __VA_ARGS__))

static agx_status do_nothing(const struct agx_chip *chip, const struct agxs_memory *memory,
                             const struct agxs_options *options, uint64_t usc_base,
                             uint64_t stream_va, struct agxs_stats *out_stats)
{
   return AGX_OK;
}

static void numbers_and_sizes(void **state)
{
   struct device device = device_open(do_nothing);
   const struct {
      uint32_t code;
      int expected;
   } rows[] = {
      {0xc0086464, -EINVAL},         /* 'd', a number without a request */
      {0xc008649f, -EINVAL},         /* beyond the driver's */
      {0xc00864fe, -EINVAL},         /* beyond the core's */
      {0xc0087801, -ENOTTY},         /* another letter */
      {0xc008640a, -EACCES},         /* GEM_FLINK */
      {0x4010640d, -EACCES},         /* SET_CLIENT_CAP */
      {0xc0106401, -EACCES},         /* GET_UNIQUE */
      {0x80046402, -EACCES},         /* GET_MAGIC */
      {0x641f, -EACCES},             /* DROP_MASTER */
      {0xc04064a0, -EACCES},         /* MODE_GETRESOURCES */
      {AGX_IOCTL_SYNCOBJ_CREATE, 0}, /* as it is */
      {0xc00464bf, 0},               /* shorter: flags missing, so 0 */
      {0xc01064bf, 0},               /* longer */
   };
   for (unsigned i = 0; i < AGX_COUNT(rows); i++) {
      uint64_t argument[16] = {0};
      EXPECT(rows[i].expected, agx_virtual_ioctl(device.file, rows[i].code, argument));
   }
   /* Nothing is copied beyond the caller's size. */
   uint32_t words[4] = {7, 7, 7, 7};
   EXPECT(0, agx_virtual_ioctl(device.file, 0xc00464bf, words));
   assert_int_equal(words[0], 4);
   assert_int_equal(words[1], 7);
   device_close(&device);
}

static void version_and_capabilities(void **state)
{
   struct device device = device_open(do_nothing);
   char name[8] = "zzzzzzz";
   struct agx_uapi_version version = {.name = (uintptr_t)name, .name_len = 2};
   ACCEPTS(VERSION, version);
   assert_int_equal(version.name_len, 5);
   assert_memory_equal(name, "aszzzzz", 7);
   assert_int_equal(version.version_major, 0);
   assert_true(version.date_len > 0 && version.desc_len > 0);
   struct agx_uapi_get_cap cap = {.capability = AGX_UAPI_CAP_SYNCOBJ_TIMELINE};
   ACCEPTS(GET_CAP, cap);
   assert_int_equal(cap.value, 1);
   cap.capability = AGX_UAPI_CAP_PRIME;
   ACCEPTS(GET_CAP, cap);
   assert_int_equal(cap.value, 3);
   REFUSES(EOPNOTSUPP, GET_CAP, (struct agx_uapi_get_cap){.capability = 0x77});
   device_close(&device);
}

static void parameters_and_time(void **state)
{
   struct device device = device_open(do_nothing);
   struct agx_uapi_params_global params = {0};
   struct agx_uapi_get_params get = {0, 0, (uintptr_t)&params, sizeof(params)};
   ACCEPTS(ASAHI_GET_PARAMS, get);
   assert_int_equal(params.chip_id, 0x8103);
   assert_int_equal(params.gpu_generation, 13);
   assert_int_equal(params.gpu_variant, 'G');
   assert_int_equal(params.core_masks[0], 0xff);
   assert_int_equal(params.core_masks[1], 0);
   assert_int_equal(params.vm_start, 0x4000);
   assert_int_equal(params.vm_end, 0x7fffff8000);
   assert_int_equal(params.vm_kernel_min_size, 0x20000000);
   assert_int_equal(params.max_commands_per_submission, 64);
   assert_int_equal(params.max_attachments, 16);
   assert_int_equal(params.command_timestamp_frequency_hz, 1000000000);
   memset(&params, 0x77, sizeof(params));
   get.size = 12;
   ACCEPTS(ASAHI_GET_PARAMS, get);
   assert_int_equal(params.gpu_generation, 13);
   assert_int_equal(params.gpu_variant, 0x77777777);
   REFUSES(EINVAL, ASAHI_GET_PARAMS, (struct agx_uapi_get_params){1, 0, get.pointer, 8});
   REFUSES(EINVAL, ASAHI_GET_PARAMS, (struct agx_uapi_get_params){0, 1, get.pointer, 8});
   IF_CHECKED(
      REFUSES(EFAULT, ASAHI_GET_PARAMS, (struct agx_uapi_get_params){0, 0, BAD_POINTER, 8}));
   REFUSES(EINVAL, ASAHI_GET_TIME, (struct agx_uapi_get_time){.flags = 1});
   struct agx_uapi_get_time first = {0}, second = {0};
   ACCEPTS(ASAHI_GET_TIME, first);
   ACCEPTS(ASAHI_GET_TIME, second);
   assert_true(first.gpu_timestamp && second.gpu_timestamp >= first.gpu_timestamp);
   device_close(&device);
}

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static uint64_t boottime_ns(void)
{
   struct timespec now;
   clock_gettime(CLOCK_BOOTTIME, &now);
   return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Whether GET_TIME lies between two looks at CLOCK_BOOTTIME, but for a tick. */
static bool time_is_boottime(void)
{
   struct device device = device_open(do_nothing);
   struct agx_uapi_get_time now = {0};
   uint64_t before = boottime_ns();
   ACCEPTS(ASAHI_GET_TIME, now);
   bool is = now.gpu_timestamp + 125 >= before && now.gpu_timestamp <= boottime_ns();
   device_close(&device);
   return is;
}

static int wait_for(pid_t child)
{
   int status = -1;
   waitpid(child, &status, 0);
   return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* In a child whose own children see a machine that was suspended for a quarter of an hour; 77
 * where such can't be made. */
static int look_after_a_suspend(void)
{
   if (unshare(CLONE_NEWTIME))
      return 77;
   int offsets = open("/proc/self/timens_offsets", O_WRONLY);
   if (offsets < 0 || write(offsets, "boottime 900 0\n", 15) != 15)
      return 77;
   close(offsets);
   pid_t child = fork();
   if (child == 0)
      _exit(!time_is_boottime());
   return wait_for(child);
}

static void time_counts_on_over_suspend(void **state)
{
   assert_true(time_is_boottime());
   pid_t child = fork();
   if (child == 0)
      _exit(look_after_a_suspend());
   int code = wait_for(child);
   if (code == 77)
      skip();
   assert_int_equal(code, 0);
}

static void address_spaces(void **state)
{
   struct device device = device_open(do_nothing);
   const uint64_t end = 0x7fffff8000, least = 0x20000000;
   typedef struct agx_uapi_vm_create create;
   ACCEPTS(ASAHI_VM_CREATE, (create){end - least, end, 0, 0});
   ACCEPTS(ASAHI_VM_CREATE, (create){0x4000, 0x4000 + least, 0, 0});
   REFUSES(EINVAL, ASAHI_VM_CREATE, (create){0, least, 0, 0});
   REFUSES(EINVAL, ASAHI_VM_CREATE, (create){end - least, end + PAGE, 0, 0});
   REFUSES(EINVAL, ASAHI_VM_CREATE, (create){end - least + PAGE, end, 0, 0});
   REFUSES(EINVAL, ASAHI_VM_CREATE, (create){0x5000, 0x5000 + least, 0, 0});
   REFUSES(EINVAL, ASAHI_VM_CREATE, (create){end, end - least, 0, 0});
   REFUSES(ENOENT, ASAHI_VM_DESTROY, (struct agx_uapi_vm_destroy){0, 0});
   REFUSES(ENOENT, ASAHI_VM_DESTROY, (struct agx_uapi_vm_destroy){4, 0});
   ACCEPTS(ASAHI_VM_DESTROY, (struct agx_uapi_vm_destroy){2, 0});
   REFUSES(ENOENT, ASAHI_VM_DESTROY, (struct agx_uapi_vm_destroy){2, 0});
   struct agx_uapi_vm_create again = {0x4000, 0x4000 + least, 0, 0};
   ACCEPTS(ASAHI_VM_CREATE, again);
   assert_int_equal(again.vm_id, 2); /* the lowest free number */
   device_close(&device);
}

static void buffers(void **state)
{
   struct device device = device_open(do_nothing);
   typedef struct agx_uapi_gem_create create;
   const uint32_t both = AGX_UAPI_GEM_WRITEBACK | AGX_UAPI_GEM_VM_PRIVATE;
   ACCEPTS(ASAHI_GEM_CREATE, (create){.size = 1});
   ACCEPTS(ASAHI_GEM_CREATE, (create){.size = PAGE, .flags = both, .vm_id = device.vm});
   REFUSES(EINVAL, ASAHI_GEM_CREATE, (create){.size = PAGE, .flags = 4});
   REFUSES(EINVAL, ASAHI_GEM_CREATE, (create){.size = PAGE, .vm_id = device.vm});
   REFUSES(ENOENT, ASAHI_GEM_CREATE, (create){.size = PAGE, .flags = 2, .vm_id = 9});
   REFUSES(EINVAL, ASAHI_GEM_CREATE, (create){.size = 0});
   REFUSES(EOVERFLOW, ASAHI_GEM_CREATE, (create){.size = UINT64_MAX});
   REFUSES(ENOMEM, ASAHI_GEM_CREATE, (create){.size = 1ull << 50});
   REFUSES(EINVAL, ASAHI_GEM_MMAP_OFFSET, (struct agx_uapi_gem_mmap_offset){1, 1, 0});
   REFUSES(ENOENT, ASAHI_GEM_MMAP_OFFSET, (struct agx_uapi_gem_mmap_offset){3, 0, 0});
   REFUSES(EINVAL, GEM_CLOSE, (struct agx_uapi_gem_close){0, 0});
   REFUSES(EINVAL, GEM_CLOSE, (struct agx_uapi_gem_close){3, 0});
   ACCEPTS(GEM_CLOSE, (struct agx_uapi_gem_close){1, 0});
   REFUSES(EINVAL, GEM_CLOSE, (struct agx_uapi_gem_close){1, 0});
   struct agx_uapi_gem_create again = {.size = 1};
   ACCEPTS(ASAHI_GEM_CREATE, again);
   assert_int_equal(again.handle, 1);
   device_close(&device);
}

/* What the padding of these requests says doesn't matter; check mode counts it and says so. */
static void paddings_that_kernels_ignore(void **state)
{
   for (unsigned check = 0; check < 2; check++) {
      struct device device = device_open(do_nothing);
      struct agx_virtual_statistics counts;
      char text[128];
      agx_virtual_set_option(device.node, AGX_VIRTUAL_CHECK, check);
      ACCEPTS(ASAHI_VM_CREATE, (struct agx_uapi_vm_create){KERNEL_START, KERNEL_END, 0, 7});
      ACCEPTS(ASAHI_VM_DESTROY, (struct agx_uapi_vm_destroy){2, 7});
      ACCEPTS(ASAHI_GEM_CREATE, (struct agx_uapi_gem_create){.size = PAGE, .pad = 7});
      ACCEPTS(ASAHI_QUEUE_DESTROY, (struct agx_uapi_queue_destroy){device.queue, 7});
      ACCEPTS(GEM_CLOSE, (struct agx_uapi_gem_close){1, 7});
      agx_virtual_read_statistics(device.node, &counts);
      assert_int_equal(counts.pads, check ? 5 : 0);
      agx_virtual_last_error(device.node, text, sizeof(text));
      assert_int_equal(strstr(text, "GEM_CLOSE: pad is 7") != NULL, check);
      device_close(&device);
   }
}

static int bind_one(struct device *device, uint32_t flags, uint32_t handle, uint64_t offset,
                    uint64_t range, uint64_t va)
{
   struct agx_uapi_gem_bind_op op = {flags, handle, offset, range, va};
   return bind_ops(device, &op, 1);
}

static void binding(void **state)
{
   struct device device = device_open(do_nothing);
   const uint64_t va = 0x2000000000ull;
   uint32_t gem = make_gem(&device, 2 * PAGE, 0);
   uint32_t own = make_gem(&device, PAGE, AGX_UAPI_GEM_VM_PRIVATE);
   uint32_t other_vm = make_vm(&device);
   EXPECT(0, bind_one(&device, 2, gem, 0, 2 * PAGE, va));
   EXPECT(0, bind_one(&device, 6, own, 0, PAGE, va));
   EXPECT(-EINVAL, bind_one(&device, 0, gem, 0, PAGE, va));
   EXPECT(-EINVAL, bind_one(&device, 8, gem, 0, PAGE, va));
   EXPECT(-EINVAL, bind_one(&device, 2 | 16, gem, 0, PAGE, va));
   EXPECT(-ENOENT, bind_one(&device, 2, 99, 0, PAGE, va));
   EXPECT(-ENOENT, bind_one(&device, 2, 0, 0, PAGE, va));
   EXPECT(-EINVAL, bind_one(&device, 2, gem, 0, PAGE, va + 0x1000));
   EXPECT(-EINVAL, bind_one(&device, 2, gem, 0, PAGE - 1, va));
   EXPECT(-EINVAL, bind_one(&device, 2, gem, 0x1000, PAGE, va));
   EXPECT(-EINVAL, bind_one(&device, 2, gem, PAGE, 2 * PAGE, va));
   EXPECT(-EINVAL, bind_one(&device, 2, gem, UINT64_MAX - PAGE + 1, 2 * PAGE, va));
   EXPECT(0, bind_one(&device, 2 | 8, gem, PAGE, 64 * PAGE, va));
   EXPECT(-EINVAL, bind_one(&device, 2 | 8, gem, 2 * PAGE, PAGE, va));
   EXPECT(-EINVAL, bind_one(&device, 2 | 8, gem, 0, UINT64_MAX - PAGE + 1, va));
   EXPECT(-EINVAL, bind_one(&device, 2, gem, 0, PAGE, 0));
   EXPECT(0, bind_one(&device, 2, gem, 0, PAGE, 0x4000));
   EXPECT(-EINVAL, bind_one(&device, 2, gem, 0, PAGE, 0x7fffff8000));
   EXPECT(-EINVAL, bind_one(&device, 2, gem, 0, PAGE, KERNEL_START));
   EXPECT(-EINVAL, bind_one(&device, 2, gem, 0, 2 * PAGE, KERNEL_START - PAGE));
   EXPECT(0, bind_one(&device, 2, gem, 0, PAGE, KERNEL_START - PAGE));
   EXPECT(0, bind_one(&device, 1, 0, 0, 1ull << 30, va));
   EXPECT(-EINVAL, bind_one(&device, 1 | 2, 0, 0, PAGE, va));
   EXPECT(-EINVAL, bind_one(&device, 1, gem, 0, PAGE, va));
   EXPECT(-EINVAL, bind_one(&device, 1, 0, PAGE, PAGE, va));
   struct agx_uapi_gem_bind_op op = {2, own, 0, PAGE, va};
   typedef struct agx_uapi_vm_bind vm_bind;
   const uint64_t ops = (uintptr_t)&op;
   REFUSES(EINVAL, ASAHI_VM_BIND, (vm_bind){other_vm, 1, sizeof(op), 0, ops});
   REFUSES(ENOENT, ASAHI_VM_BIND, (vm_bind){99, 1, sizeof(op), 0, ops});
   REFUSES(EINVAL, ASAHI_VM_BIND, (vm_bind){device.vm, 1, 0, 0, ops});
   REFUSES(EINVAL, ASAHI_VM_BIND, (vm_bind){device.vm, 1, sizeof(op), 1, ops});
   IF_CHECKED(REFUSES(EFAULT, ASAHI_VM_BIND, (vm_bind){device.vm, 1, sizeof(op), 0, BAD_POINTER}));
   ACCEPTS(ASAHI_VM_BIND, (vm_bind){device.vm, 0, sizeof(op), 0, BAD_POINTER});
   ACCEPTS(ASAHI_VM_BIND, (vm_bind){99, 0, sizeof(op), 0, ops});
   device_close(&device);
}

static void timestamp_objects(void **state)
{
   struct device device = device_open(do_nothing);
   uint32_t gem = make_gem(&device, 2 * PAGE, 0);
   uint32_t own = make_gem(&device, PAGE, AGX_UAPI_GEM_VM_PRIVATE);
   typedef struct agx_uapi_gem_bind_object object;
   REFUSES(EINVAL, ASAHI_GEM_BIND_OBJECT, (object){0, 1, gem, 0, 0, PAGE, 0, 1});
   REFUSES(EINVAL, ASAHI_GEM_BIND_OBJECT, (object){0, 1, gem, 1, 0, PAGE, 0, 0});
   REFUSES(EINVAL, ASAHI_GEM_BIND_OBJECT, (object){2, 1, gem, 0, 0, PAGE, 0, 0});
   REFUSES(EINVAL, ASAHI_GEM_BIND_OBJECT, (object){0, 0, gem, 0, 0, PAGE, 0, 0});
   REFUSES(EINVAL, ASAHI_GEM_BIND_OBJECT, (object){0, 3, gem, 0, 0, PAGE, 0, 0});
   REFUSES(EINVAL, ASAHI_GEM_BIND_OBJECT, (object){0, 1, gem, 0, 8, PAGE, 0, 0});
   REFUSES(EINVAL, ASAHI_GEM_BIND_OBJECT, (object){0, 1, gem, 0, 0, 8, 0, 0});
   REFUSES(EINVAL, ASAHI_GEM_BIND_OBJECT, (object){0, 1, gem, 0, PAGE, 2 * PAGE, 0, 0});
   REFUSES(EINVAL, ASAHI_GEM_BIND_OBJECT, (object){0, 1, gem, 0, -PAGE, 2 * PAGE, 0, 0});
   REFUSES(EINVAL, ASAHI_GEM_BIND_OBJECT, (object){0, 1, own, 0, 0, PAGE, 0, 0});
   REFUSES(ENOENT, ASAHI_GEM_BIND_OBJECT, (object){0, 1, 99, 0, 0, PAGE, 0, 0});
   ACCEPTS(ASAHI_GEM_BIND_OBJECT, (object){0, 1, gem, 0, PAGE, PAGE, 0, 0});
   REFUSES(EINVAL, ASAHI_GEM_BIND_OBJECT, (object){1, 1, 0, 0, 0, 0, 1, 0});
   REFUSES(EINVAL, ASAHI_GEM_BIND_OBJECT, (object){1, 0, gem, 0, 0, 0, 1, 0});
   REFUSES(EINVAL, ASAHI_GEM_BIND_OBJECT, (object){1, 0, 0, 0, PAGE, 0, 1, 0});
   REFUSES(EINVAL, ASAHI_GEM_BIND_OBJECT, (object){1, 0, 0, 0, 0, PAGE, 1, 0});
   REFUSES(ENOENT, ASAHI_GEM_BIND_OBJECT, (object){1, 0, 0, 0, 0, 0, 2, 0});
   ACCEPTS(ASAHI_GEM_BIND_OBJECT, (object){1, 0, 0, 0, 0, 0, 1, 0});
   REFUSES(ENOENT, ASAHI_GEM_BIND_OBJECT, (object){1, 0, 0, 0, 0, 0, 1, 0});
   device_close(&device);
}

static void queues(void **state)
{
   struct device device = device_open(do_nothing);
   typedef struct agx_uapi_queue_create create;
   ACCEPTS(ASAHI_QUEUE_CREATE, (create){0, device.vm, AGX_UAPI_PRIORITY_MEDIUM, 0, USC_BASE});
   REFUSES(EINVAL, ASAHI_QUEUE_CREATE, (create){1, device.vm, 0, 0, USC_BASE});
   REFUSES(EINVAL, ASAHI_QUEUE_CREATE, (create){0, device.vm, AGX_UAPI_PRIORITY_HIGH, 0, 0});
   REFUSES(EINVAL, ASAHI_QUEUE_CREATE, (create){0, device.vm, AGX_UAPI_PRIORITY_REALTIME, 0, 0});
   REFUSES(EINVAL, ASAHI_QUEUE_CREATE, (create){0, device.vm, 4, 0, 0});
   REFUSES(ENOENT, ASAHI_QUEUE_CREATE, (create){0, 99, 0, 0, USC_BASE});
   REFUSES(ENOENT, ASAHI_QUEUE_DESTROY, (struct agx_uapi_queue_destroy){3, 0});
   ACCEPTS(ASAHI_QUEUE_DESTROY, (struct agx_uapi_queue_destroy){2, 0});
   device_close(&device);
}

/* The submission of the rows below, each of which spoils one thing in it. */
struct spoiled {
   struct agx_uapi_submit args;
   struct agx_uapi_sync syncs[2];
   struct compute_record commands[2];
};

static struct spoiled sound(struct device *device, uint32_t in, uint32_t out)
{
   struct spoiled it = {
      .args = {.queue_id = device->queue,
               .in_sync_count = 1,
               .out_sync_count = 1,
               .cmdbuf_size = sizeof(it.commands)},
      .syncs = {{AGX_UAPI_SYNC_SYNCOBJ, in, 0}, {AGX_UAPI_SYNC_TIMELINE_SYNCOBJ, out, 1}},
      .commands = {compute_command(1), compute_command(2)},
   };
   it.commands[1].header.cdm_barrier = 1;
   return it;
}

#define SPOIL(expected, change)                                                                    \
   do {                                                                                            \
      struct spoiled it = sound(&device, in, out);                                                 \
      it.args.syncs = (uintptr_t)it.syncs;                                                         \
      it.args.cmdbuf = (uintptr_t)it.commands;                                                     \
      change;                                                                                      \
      int result_ = CALL(&device, ASAHI_SUBMIT, it.args);                                          \
      if (result_ != (expected))                                                                   \
         fail_msg("line %d: %s: %d, not %d", __LINE__, #change, result_, (expected));              \
      if (expected)                                                                                \
         assert_int_equal(query(&device, out, AGX_UAPI_SYNCOBJ_QUERY_LAST_SUBMITTED), 0);          \
   } while (0)

static void submissions(void **state)
{
   struct device device = device_open(do_nothing);
   uint32_t in = make_syncobj(&device), out = make_syncobj(&device), empty = make_syncobj(&device);
   assert_int_equal(signal_syncobj(&device, in), 0);
   struct agx_uapi_gem_bind_object object = {0, 1, make_gem(&device, PAGE, 0), 0, 0, PAGE, 0, 0};
   ACCEPTS(ASAHI_GEM_BIND_OBJECT, object);
   SPOIL(-EINVAL, it.args.flags = 1);
   SPOIL(-EINVAL, it.args.pad = 1);
   SPOIL(-ENOENT, it.args.queue_id = 99);
   IF_CHECKED(SPOIL(-EFAULT, it.args.syncs = BAD_POINTER));
   IF_CHECKED(SPOIL(-EFAULT, it.args.cmdbuf = BAD_POINTER));
   SPOIL(-EINVAL, it.syncs[0].sync_type = 2);
   SPOIL(-EINVAL, it.syncs[1].sync_type = 2);
   SPOIL(-EINVAL, it.syncs[0].timeline_value = 1);
   SPOIL(-EINVAL, it.syncs[0].handle = empty);
   SPOIL(-EINVAL, (it.syncs[0] = (struct agx_uapi_sync){1, in, 5}));
   SPOIL(-ENOENT, it.syncs[0].handle = 99);
   SPOIL(-ENOENT, it.syncs[1].handle = 99);
   SPOIL(-EINVAL, it.args.cmdbuf_size = 0);
   SPOIL(-EINVAL, it.args.cmdbuf_size = 4);
   SPOIL(-EINVAL, it.args.cmdbuf_size -= 8);
   SPOIL(-EINVAL, it.commands[0].header.cmd_type = 5);
   SPOIL(-EINVAL, it.commands[1].header.size = 80);
   SPOIL(-EINVAL, it.commands[0].header.cdm_barrier = 1);
   SPOIL(-EINVAL, it.commands[1].header.cdm_barrier = 2);
   SPOIL(-EINVAL, it.commands[1].header.vdm_barrier = 1);
   SPOIL(-EINVAL, it.commands[0].compute.flags = 1);
   SPOIL(-ENOENT, it.commands[0].compute.ts.start.handle = 9);
   SPOIL(-ERANGE, (it.commands[0].compute.ts.end = (struct agx_uapi_timestamp){1, PAGE - 7}));
   SPOIL(0, (it.commands[0].compute.ts.end = (struct agx_uapi_timestamp){1, PAGE - 8}));
   device_close(&device);
}

/* Attachments and render commands, as packed bytes. */
struct packed {
   uint8_t bytes[8192];
   uint32_t size;
};

static void put(struct packed *packed, uint16_t type, const void *payload, uint16_t size,
                uint16_t barrier)
{
   struct agx_uapi_cmd_header header = {type, size, barrier, barrier};
   memcpy(packed->bytes + packed->size, &header, sizeof(header));
   memcpy(packed->bytes + packed->size + sizeof(header), payload, size);
   packed->size += sizeof(header) + size;
}

static int submit_packed(struct device *device, const struct packed *packed)
{
   struct agx_uapi_submit args = {
      .cmdbuf = (uintptr_t)packed->bytes, .queue_id = device->queue, .cmdbuf_size = packed->size};
   return CALL(device, ASAHI_SUBMIT, args);
}

static int submit_attachments(struct device *device, const struct agx_uapi_attachment *attachments,
                              uint16_t count, uint16_t barrier)
{
   struct packed packed = {.size = 0};
   struct agx_uapi_cmd_compute compute = {.cdm_ctrl_stream_base = 1};
   put(&packed, AGX_UAPI_CMD_SET_COMPUTE_ATTACHMENTS, attachments,
       (uint16_t)(count * sizeof(*attachments)), barrier);
   put(&packed, AGX_UAPI_CMD_COMPUTE, &compute, sizeof(compute), AGX_UAPI_BARRIER_NONE);
   return submit_packed(device, &packed);
}

static void attachments(void **state)
{
   struct device device = device_open(do_nothing);
   struct agx_uapi_attachment list[17] = {{.pointer = 0x4000, .size = PAGE}};
   EXPECT(0, submit_attachments(&device, list, 16, AGX_UAPI_BARRIER_NONE));
   EXPECT(-EINVAL, submit_attachments(&device, list, 17, AGX_UAPI_BARRIER_NONE));
   EXPECT(-EINVAL, submit_attachments(&device, list, 1, 0));
   list[0].pad = 1;
   EXPECT(-EINVAL, submit_attachments(&device, list, 1, AGX_UAPI_BARRIER_NONE));
   list[0] = (struct agx_uapi_attachment){.flags = 1};
   EXPECT(-EINVAL, submit_attachments(&device, list, 1, AGX_UAPI_BARRIER_NONE));
   struct packed only = {.size = 0};
   put(&only, AGX_UAPI_CMD_SET_COMPUTE_ATTACHMENTS, list, 0, AGX_UAPI_BARRIER_NONE);
   EXPECT(-EINVAL, submit_packed(&device, &only)); /* no hardware command */
   device_close(&device);
}

static void at_most_64_commands(void **state)
{
   struct device device = device_open(do_nothing);
   struct agx_uapi_cmd_compute compute = {.cdm_ctrl_stream_base = 1};
   struct packed packed = {.size = 0};
   for (int i = 0; i < 64; i++)
      put(&packed, AGX_UAPI_CMD_COMPUTE, &compute, sizeof(compute), AGX_UAPI_BARRIER_NONE);
   EXPECT(0, submit_packed(&device, &packed));
   put(&packed, AGX_UAPI_CMD_COMPUTE, &compute, sizeof(compute), AGX_UAPI_BARRIER_NONE);
   EXPECT(-EINVAL, submit_packed(&device, &packed));
   device_close(&device);
}

static int submit_render(struct device *device, const struct agx_uapi_cmd_render *render)
{
   struct packed packed = {.size = 0};
   put(&packed, AGX_UAPI_CMD_RENDER, render, sizeof(*render), 0);
   return submit_packed(device, &packed);
}

#define RENDER(expected, change)                                                                   \
   do {                                                                                            \
      struct agx_uapi_cmd_render it = good;                                                        \
      change;                                                                                      \
      EXPECT(expected, submit_render(&device, &it));                                               \
   } while (0)

static void render_commands_are_checked(void **state)
{
   struct device device = device_open(do_nothing);
   const struct agx_uapi_cmd_render good = {.width_px = 16384,
                                            .height_px = 1,
                                            .layers = 2048,
                                            .samples = 4,
                                            .utile_width_px = 32,
                                            .utile_height_px = 16,
                                            .flags = 7 | 1 << 18};
   struct agx_uapi_gem_bind_object object = {0, 1, make_gem(&device, PAGE, 0), 0, 0, PAGE, 0, 0};
   ACCEPTS(ASAHI_GEM_BIND_OBJECT, object);
   RENDER(-EINVAL, it.flags = 8);
   RENDER(-EINVAL, it.width_px = 0);
   RENDER(-EINVAL, it.height_px = 16385);
   RENDER(-EINVAL, it.layers = 0);
   RENDER(-EINVAL, it.layers = 2049);
   RENDER(-EINVAL, it.samples = 3);
   RENDER(-EINVAL, it.utile_width_px = 64);
   RENDER(-ENOENT, it.ts_frag.end.handle = 4);
   RENDER(-ERANGE, (it.ts_vtx.start = (struct agx_uapi_timestamp){1, PAGE}));
   RENDER(0, (it.ts_vtx.start = (struct agx_uapi_timestamp){1, 0}));
   RENDER(0, (void)it);
   device_close(&device);
}

static void mappings(void **state)
{
   struct device device = device_open(do_nothing), other = {.node = device.node};
   assert_ok(agx_virtual_open(device.node, &other.file));
   uint32_t gem = make_gem(&device, 4 * PAGE, 0);
   uint64_t offset = mmap_offset(&device, gem);
   assert_true(offset >= 1ull << 32 && offset % PAGE == 0);
   const struct {
      struct device *device;
      size_t length;
      int flags;
      uint64_t offset;
      int expected;
   } rows[] = {
      {&device, 4 * PAGE, MAP_SHARED, offset, 0},
      {&device, PAGE, MAP_SHARED, offset, 0},
      {&device, 5 * PAGE, MAP_SHARED, offset, EINVAL},
      {&device, PAGE, MAP_SHARED, offset + PAGE, EINVAL},
      {&device, PAGE, MAP_PRIVATE, offset, EINVAL},
      {&device, PAGE, MAP_SHARED, 0, EINVAL},
      {&device, PAGE, MAP_SHARED, ~0ull << 14, EINVAL},
      {&device, 0, MAP_SHARED, offset, EINVAL},
      {&other, PAGE, MAP_SHARED, offset, EACCES},
   };
   for (unsigned i = 0; i < AGX_COUNT(rows); i++) {
      int error = 0;
      void *memory =
         agx_virtual_mmap(rows[i].device->file, NULL, rows[i].length, PROT_READ | PROT_WRITE,
                          rows[i].flags, rows[i].offset, &error);
      EXPECT(rows[i].expected, error);
      assert_int_equal(memory == NULL, rows[i].expected != 0);
      if (memory)
         unmap_gem(&device, memory, rows[i].length);
   }
   agx_virtual_close(other.file);
   device_close(&device);
}

static void sharing_buffers(void **state)
{
   struct device device = device_open(do_nothing), other = {.node = device.node};
   assert_ok(agx_virtual_open(device.node, &other.file));
   uint32_t gem = make_gem(&device, PAGE, 0);
   uint32_t own = make_gem(&device, PAGE, AGX_UAPI_GEM_VM_PRIVATE);
   typedef struct agx_uapi_prime_handle prime;
   REFUSES(EINVAL, PRIME_HANDLE_TO_FD, (prime){own, 0, 0});
   REFUSES(ENOENT, PRIME_HANDLE_TO_FD, (prime){99, 0, 0});
   REFUSES(EINVAL, PRIME_HANDLE_TO_FD, (prime){gem, 1, 0});
   REFUSES(EBADF, PRIME_FD_TO_HANDLE, (prime){0, 0, -1});
   REFUSES(EINVAL, PRIME_FD_TO_HANDLE, (prime){0, 0, 0});
   struct agx_uapi_prime_handle out = {gem, AGX_UAPI_PRIME_CLOEXEC | AGX_UAPI_PRIME_RDWR, 0};
   ACCEPTS(PRIME_HANDLE_TO_FD, out);
   assert_int_equal(lseek(out.fd, 0, SEEK_END), PAGE);
   struct agx_uapi_prime_handle in = {0, 0, out.fd};
   ACCEPTS(PRIME_FD_TO_HANDLE, in);
   assert_int_equal(in.handle, gem); /* a file has one handle for a buffer */
   assert_int_equal(CALL(&other, PRIME_FD_TO_HANDLE, in), 0);
   assert_int_equal(in.handle, 1);
   uint32_t *here = map_gem(&device, gem, PAGE), *there = map_gem(&other, in.handle, PAGE);
   here[5] = 0x1234;
   assert_int_equal(there[5], 0x1234);
   assert_int_equal(mmap_offset(&device, gem), mmap_offset(&other, in.handle));
   close(out.fd);
   unmap_gem(&device, here, PAGE);
   unmap_gem(&device, there, PAGE);
   agx_virtual_close(other.file);
   device_close(&device);
}

/* Descriptors that the client closed don't hold on to buffers, nor to descriptors. */
static void closed_descriptors_are_given_up(void **state)
{
   struct device device = device_open(do_nothing);
   int first = -1;
   for (int i = 0; i < 2000; i++) {
      struct agx_uapi_prime_handle out = {make_gem(&device, 64 * PAGE, 0), 0, 0};
      ACCEPTS(PRIME_HANDLE_TO_FD, out);
      if (i == 0)
         first = out.fd;
      else
         close(out.fd);
      ACCEPTS(GEM_CLOSE, (struct agx_uapi_gem_close){out.handle, 0});
   }
   struct agx_uapi_prime_handle in = {0, 0, first};
   ACCEPTS(PRIME_FD_TO_HANDLE, in); /* the one that is still open */
   close(first);
   int next = dup(0);
   assert_true(next < 100);
   close(next);
   device_close(&device);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_and_sizes),
      cmocka_unit_test(version_and_capabilities),
      cmocka_unit_test(parameters_and_time),
      cmocka_unit_test(time_counts_on_over_suspend),
      cmocka_unit_test(address_spaces),
      cmocka_unit_test(buffers),
      cmocka_unit_test(paddings_that_kernels_ignore),
      cmocka_unit_test(binding),
      cmocka_unit_test(timestamp_objects),
      cmocka_unit_test(queues),
      cmocka_unit_test(submissions),
      cmocka_unit_test(attachments),
      cmocka_unit_test(at_most_64_commands),
      cmocka_unit_test(render_commands_are_checked),
      cmocka_unit_test(mappings),
      cmocka_unit_test(sharing_buffers),
      cmocka_unit_test(closed_descriptors_are_given_up),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
