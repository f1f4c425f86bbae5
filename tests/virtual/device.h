/* SPDX-License-Identifier: MIT
 *
 * A virtual node with one open file, an address space and a queue, for tests; and a
 * machine that tests program: what it does stands in a function of the test.
 */
#pragma once

#include <errno.h>
#include <linux/sync_file.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "support.h"
#include "winsys/asahi_uapi.h"
#include "winsys/virtual/virtual.h"

#define PAGE         0x4000ull
#define KERNEL_START 0x7000000000ull
#define KERNEL_END   0x7fffff8000ull
#define USC_BASE     0x1100000000ull

struct device {
   struct agx_virtual_node *node;
   struct agx_virtual_file *file;
   uint32_t vm, queue;
};

static inline int64_t now_ns(void)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return now.tv_sec * 1000000000ll + now.tv_nsec;
}

#define CALL(device, request, ...)                                                                 \
   agx_virtual_ioctl((device)->file, AGX_IOCTL_##request, &(__VA_ARGS__))

static inline uint32_t make_vm(struct device *device)
{
   struct agx_uapi_vm_create args = {KERNEL_START, KERNEL_END, 0, 0};
   assert_int_equal(CALL(device, ASAHI_VM_CREATE, args), 0);
   return args.vm_id;
}

static inline uint32_t make_queue(struct device *device, uint32_t vm)
{
   struct agx_uapi_queue_create args = {.vm_id = vm, .usc_exec_base = USC_BASE};
   assert_int_equal(CALL(device, ASAHI_QUEUE_CREATE, args), 0);
   return args.queue_id;
}

/* On a segment that may be shared (taken over), or a private one (-1). */
static inline struct device device_open_on(int segment, agx_virtual_run_compute_fn *run)
{
   struct device device = {0};
   assert_ok(agx_virtual_node_create(agx_chip_find("g13g"), segment, &device.node));
   agx_virtual_set_run_compute(device.node, run);
   assert_ok(agx_virtual_open(device.node, &device.file));
   device.vm = make_vm(&device);
   device.queue = make_queue(&device, device.vm);
   return device;
}

static inline struct device device_open(agx_virtual_run_compute_fn *run)
{
   return device_open_on(-1, run);
}

static inline void device_close(struct device *device)
{
   agx_virtual_close(device->file);
   agx_virtual_node_destroy(device->node);
}

static inline uint32_t make_gem(struct device *device, uint64_t size, uint32_t flags)
{
   struct agx_uapi_gem_create args = {.size = size, .flags = flags};
   args.vm_id = flags & AGX_UAPI_GEM_VM_PRIVATE ? device->vm : 0;
   assert_int_equal(CALL(device, ASAHI_GEM_CREATE, args), 0);
   return args.handle;
}

static inline uint64_t mmap_offset(struct device *device, uint32_t handle)
{
   struct agx_uapi_gem_mmap_offset args = {.handle = handle};
   assert_int_equal(CALL(device, ASAHI_GEM_MMAP_OFFSET, args), 0);
   return args.offset;
}

static inline void *map_gem(struct device *device, uint32_t handle, size_t size)
{
   int error = 0;
   void *memory = agx_virtual_mmap(device->file, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
                                   mmap_offset(device, handle), &error);
   assert_int_equal(error, 0);
   assert_non_null(memory);
   return memory;
}

static inline void unmap_gem(struct device *device, void *memory, size_t size)
{
   munmap(memory, size);
   agx_virtual_unmapped(device->node, memory, size);
}

static inline int bind_ops(struct device *device, struct agx_uapi_gem_bind_op *ops, uint32_t count)
{
   struct agx_uapi_vm_bind args = {device->vm, count, sizeof(*ops), 0, (uintptr_t)ops};
   return CALL(device, ASAHI_VM_BIND, args);
}

static inline int bind_gem(struct device *device, uint32_t handle, uint64_t va, uint64_t range,
                           uint32_t flags)
{
   struct agx_uapi_gem_bind_op op = {flags, handle, 0, range, va};
   return bind_ops(device, &op, 1);
}

static inline uint32_t make_syncobj(struct device *device)
{
   struct agx_uapi_syncobj_create args = {0};
   assert_int_equal(CALL(device, SYNCOBJ_CREATE, args), 0);
   return args.handle;
}

static inline int wait_syncobj(struct device *device, uint32_t handle, int64_t deadline_ns,
                               uint32_t flags)
{
   struct agx_uapi_syncobj_wait args = {.handles = (uintptr_t)&handle,
                                        .count_handles = 1,
                                        .timeout_nsec = deadline_ns,
                                        .flags = flags};
   return CALL(device, SYNCOBJ_WAIT, args);
}

static inline int wait_point(struct device *device, uint32_t handle, uint64_t value,
                             int64_t deadline_ns, uint32_t flags)
{
   struct agx_uapi_syncobj_timeline_wait args = {.handles = (uintptr_t)&handle,
                                                 .points = (uintptr_t)&value,
                                                 .count_handles = 1,
                                                 .timeout_nsec = deadline_ns,
                                                 .flags = flags};
   return CALL(device, SYNCOBJ_TIMELINE_WAIT, args);
}

static inline int signal_syncobj(struct device *device, uint32_t handle)
{
   struct agx_uapi_syncobj_array args = {(uintptr_t)&handle, 1, 0};
   return CALL(device, SYNCOBJ_SIGNAL, args);
}

static inline int signal_point(struct device *device, uint32_t handle, uint64_t value)
{
   struct agx_uapi_syncobj_timeline_array args = {(uintptr_t)&handle, (uintptr_t)&value, 1, 0};
   return CALL(device, SYNCOBJ_TIMELINE_SIGNAL, args);
}

static inline uint64_t query(struct device *device, uint32_t handle, uint32_t flags)
{
   uint64_t value = 0xdeadull;
   struct agx_uapi_syncobj_timeline_array args = {(uintptr_t)&handle, (uintptr_t)&value, 1, flags};
   assert_int_equal(CALL(device, SYNCOBJ_QUERY, args), 0);
   return value;
}

struct compute_record {
   struct agx_uapi_cmd_header header;
   struct agx_uapi_cmd_compute compute;
};

/* A compute command whose stream is at va, serial to what came before. */
static inline struct compute_record compute_command(uint64_t va)
{
   return (struct compute_record){
      .header = {AGX_UAPI_CMD_COMPUTE, sizeof(struct agx_uapi_cmd_compute), 0, 0},
      .compute = {.cdm_ctrl_stream_base = va, .cdm_ctrl_stream_end = va + 0x24},
   };
}

static inline int submit(struct device *device, const struct compute_record *command,
                         const struct agx_uapi_sync *syncs, uint32_t ins, uint32_t outs)
{
   struct agx_uapi_submit args = {
      .syncs = (uintptr_t)syncs,
      .cmdbuf = (uintptr_t)command,
      .queue_id = device->queue,
      .in_sync_count = ins,
      .out_sync_count = outs,
      .cmdbuf_size = sizeof(*command),
   };
   return CALL(device, ASAHI_SUBMIT, args);
}

/* Submits one command and waits for its end. */
static inline void run(struct device *device, uint64_t va)
{
   uint32_t handle = make_syncobj(device);
   struct agx_uapi_sync out = {AGX_UAPI_SYNC_SYNCOBJ, handle, 0};
   struct compute_record command = compute_command(va);
   assert_int_equal(submit(device, &command, &out, 0, 1), 0);
   assert_int_equal(wait_syncobj(device, handle, INT64_MAX, AGX_UAPI_SYNCOBJ_WAIT_ALL), 0);
   struct agx_uapi_syncobj_destroy destroy = {handle, 0};
   assert_int_equal(CALL(device, SYNCOBJ_DESTROY, destroy), 0);
}

/* The status in a sync file's info. */
static inline int fence_status(struct device *device, uint32_t handle)
{
   struct agx_uapi_syncobj_handle args = {.handle = handle, .flags = AGX_UAPI_SYNCOBJ_SYNC_FILE};
   assert_int_equal(CALL(device, SYNCOBJ_HANDLE_TO_FD, args), 0);
   struct sync_fence_info fence = {0};
   struct sync_file_info info = {.num_fences = 1, .sync_fence_info = (uintptr_t)&fence};
   assert_int_equal(agx_virtual_fd_ioctl(device->node, args.fd, SYNC_IOC_FILE_INFO, &info), 0);
   assert_int_equal(info.status, fence.status);
   close(args.fd);
   return info.status;
}
