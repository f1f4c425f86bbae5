/* SPDX-License-Identifier: MIT
 *
 * What the interface's documentation says is refused, and how (refusals.tsv: id, what,
 * result): every line in every form that it names, on every chip. The source of the
 * lines is docs/hw/kernel.md.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>

#include "agx/chip.h"
#include "rows/rows.h"

#define PAGE         AGX_UAPI_PAGE_BYTES
#define VM_END       0x7fffff8000ull
#define KERNEL_BYTES 0x20000000ull
#define VA           0x2000000000ull
#define UNKNOWN      77

/* A sound request with one thing changed in it. */
#define SPOILT(id, request, sound, change)                                                         \
   do {                                                                                            \
      __typeof__(sound) it = (sound);                                                              \
      change;                                                                                      \
      rows_refuse(id, REQUEST(request, it), #change, __LINE__);                                    \
   } while (0)
#define REFUSED(id, call) rows_refuse(id, call, #call, __LINE__)

/* What requests name in each test. */
static uint32_t vm, other_vm, gem, own_gem, queue, bound, signalled, empty, out;

static uint32_t made_vm(void)
{
   struct agx_uapi_vm_create args = {VM_END - KERNEL_BYTES, VM_END, 0, 0};
   assert_int_equal(REQUEST(ASAHI_VM_CREATE, args), 0);
   return args.vm_id;
}

static uint32_t made_gem(uint64_t size, uint32_t flags)
{
   struct agx_uapi_gem_create args = {.size = size, .flags = flags, .vm_id = flags & 2 ? vm : 0};
   assert_int_equal(REQUEST(ASAHI_GEM_CREATE, args), 0);
   return args.handle;
}

static int set_up(void **state)
{
   rows_set_up(state);
   vm = made_vm();
   other_vm = made_vm();
   gem = made_gem(2 * PAGE, 0);
   own_gem = made_gem(2 * PAGE, AGX_UAPI_GEM_VM_PRIVATE);
   struct agx_uapi_queue_create queue_args = {.vm_id = vm};
   assert_int_equal(REQUEST(ASAHI_QUEUE_CREATE, queue_args), 0);
   queue = queue_args.queue_id;
   struct agx_uapi_gem_bind_object object = {0, 1, gem, 0, 0, PAGE, 0, 0};
   assert_int_equal(REQUEST(ASAHI_GEM_BIND_OBJECT, object), 0);
   bound = object.object_handle;
   signalled = create(1);
   empty = create(0);
   out = create(0);
   return 0;
}

static void numbers_and_sizes(void **state)
{
   static const uint32_t unknown[] = {0xc0086464, 0xc008649f, 0xc00864fe, 0x6400 | 0x4b};
   static const uint32_t denied[] = {0xc008640a, 0x4010640d, 0xc0106401, 0x80046402,
                                     0x641f,     0xc04064a0, 0xc00864bc, 0xc01064c6};
   static const uint32_t sizes[] = {0xc00464bf, 0xc01064bf, 0xc04064bf, 0xffff64bf};
   static const uint32_t pointed[] = {AGX_IOCTL_VERSION, AGX_IOCTL_ASAHI_SUBMIT,
                                      AGX_IOCTL_ASAHI_GET_TIME, AGX_IOCTL_SYNCOBJ_CREATE};
   uint64_t argument[2048] = {0};
   for (unsigned i = 0; i < AGX_COUNT(unknown); i++)
      REFUSED("any.2", door_ioctl(file, unknown[i], argument));
   for (unsigned i = 0; i < AGX_COUNT(denied); i++)
      REFUSED("any.3", door_ioctl(file, denied[i], argument));
   REFUSED("any.4", door_ioctl(file, 0xc0087801, argument));
   for (unsigned i = 0; i < AGX_COUNT(sizes); i++) {
      argument[0] = 0;
      REFUSED("any.5", door_ioctl(file, sizes[i], argument));
   }
   for (unsigned i = 0; i < AGX_COUNT(pointed); i++) {
      REFUSED("any.6", door_ioctl(file, pointed[i], (void *)BAD_POINTER));
      REFUSED("any.6", door_ioctl(file, pointed[i], NULL));
      REFUSED("any.6", door_ioctl(file, pointed[i], (void *)UINTPTR_MAX));
   }
   REFUSED("get_cap.1", REQUEST(GET_CAP, (struct agx_uapi_get_cap){UINT64_MAX, 0}));
}

static void device_requests(void **state)
{
   struct agx_uapi_params_global params = {0};
   const struct agx_chip *chip = agx_chip_find(door_chip);
   struct agx_uapi_get_params get = {0, 0, (uintptr_t)&params, sizeof(params)};
   assert_int_equal(REQUEST(ASAHI_GET_PARAMS, get), 0);
   assert_int_equal(params.chip_id, chip->chip_id);
   assert_int_equal(params.gpu_generation, chip->generation);
   assert_int_equal(params.num_clusters_total, chip->clusters);
   assert_int_equal(params.num_cores_per_cluster, chip->cores_per_cluster);
   assert_int_equal(params.num_dies, chip->dies);
   SPOILT("get_params.1", ASAHI_GET_PARAMS, get, it.param_group = 1);
   SPOILT("get_params.1", ASAHI_GET_PARAMS, get, it.param_group = UINT32_MAX);
   SPOILT("get_params.1", ASAHI_GET_PARAMS, get, it.pad = 1);
   SPOILT("get_params.3", ASAHI_GET_PARAMS, get, it.pointer = BAD_POINTER);
   SPOILT("get_params.3", ASAHI_GET_PARAMS, get, it.pointer = 0);
   SPOILT("get_params.3", ASAHI_GET_PARAMS, get, it.pointer = UINT64_MAX);
   struct agx_uapi_get_time now = {0};
   SPOILT("get_time.1", ASAHI_GET_TIME, now, it.flags = 1);
   SPOILT("get_time.1", ASAHI_GET_TIME, now, it.flags = 1ull << 63);
}

static void address_spaces(void **state)
{
   struct agx_uapi_vm_create sound = {VM_END - KERNEL_BYTES, VM_END, 0, 0};
   SPOILT("vm_create.1", ASAHI_VM_CREATE, sound, it.kernel_start = 0);
   SPOILT("vm_create.1", ASAHI_VM_CREATE, sound, it.kernel_end += PAGE);
   SPOILT("vm_create.1", ASAHI_VM_CREATE, sound, it.kernel_start += PAGE);
   SPOILT("vm_create.1", ASAHI_VM_CREATE, sound, it.kernel_start -= 4096);
   SPOILT("vm_create.1", ASAHI_VM_CREATE, sound, it.kernel_end -= 1);
   SPOILT("vm_create.1", ASAHI_VM_CREATE, sound, it.kernel_end = it.kernel_start - PAGE);
   SPOILT("vm_create.1", ASAHI_VM_CREATE, sound, it.kernel_end = UINT64_MAX - PAGE + 1);
   SPOILT("vm_create.2", ASAHI_VM_CREATE, sound, it.pad = 1);
   struct agx_uapi_vm_destroy destroy_args = {vm, 0};
   SPOILT("vm_destroy.1", ASAHI_VM_DESTROY, destroy_args, it.vm_id = UNKNOWN);
   SPOILT("vm_destroy.1", ASAHI_VM_DESTROY, destroy_args, it.vm_id = 0);
   SPOILT("vm_destroy.1", ASAHI_VM_DESTROY, destroy_args, it.vm_id = UINT32_MAX);
   SPOILT("vm_destroy.2", ASAHI_VM_DESTROY, destroy_args, it.pad = 1);
}

static void buffers(void **state)
{
   struct agx_uapi_gem_create sound = {.size = PAGE};
   SPOILT("gem_create.1", ASAHI_GEM_CREATE, sound, it.flags = 4);
   SPOILT("gem_create.1", ASAHI_GEM_CREATE, sound, it.flags = 1u << 31);
   SPOILT("gem_create.2", ASAHI_GEM_CREATE, sound, it.vm_id = vm);
   SPOILT("gem_create.3", ASAHI_GEM_CREATE, sound, (it.flags = 2, it.vm_id = UNKNOWN));
   SPOILT("gem_create.3", ASAHI_GEM_CREATE, sound, (it.flags = 2, it.vm_id = 0));
   SPOILT("gem_create.4", ASAHI_GEM_CREATE, sound, it.size = 0);
   SPOILT("gem_create.5", ASAHI_GEM_CREATE, sound, it.size = UINT64_MAX);
   SPOILT("gem_create.5", ASAHI_GEM_CREATE, sound, it.size = UINT64_MAX - PAGE + 2);
   SPOILT("gem_create.6", ASAHI_GEM_CREATE, sound, it.size = 1ull << 50);
   SPOILT("gem_create.6", ASAHI_GEM_CREATE, sound, it.size = UINT64_MAX - PAGE + 1);
   SPOILT("gem_create.7", ASAHI_GEM_CREATE, sound, it.pad = 1);
   struct agx_uapi_gem_mmap_offset offset = {.handle = gem};
   SPOILT("gem_mmap_offset.1", ASAHI_GEM_MMAP_OFFSET, offset, it.flags = 1);
   SPOILT("gem_mmap_offset.2", ASAHI_GEM_MMAP_OFFSET, offset, it.handle = UNKNOWN);
   SPOILT("gem_mmap_offset.2", ASAHI_GEM_MMAP_OFFSET, offset, it.handle = 0);
   struct agx_uapi_gem_close close_args = {gem, 0};
   SPOILT("gem_close.1", GEM_CLOSE, close_args, it.handle = UNKNOWN);
   SPOILT("gem_close.1", GEM_CLOSE, close_args, it.handle = 0);
   SPOILT("gem_close.2", GEM_CLOSE, close_args, (it.handle = made_gem(PAGE, 0), it.pad = 1));
   struct agx_uapi_prime_handle prime = {gem, AGX_UAPI_PRIME_CLOEXEC, -1};
   SPOILT("prime_handle_to_fd.1", PRIME_HANDLE_TO_FD, prime, it.handle = own_gem);
   SPOILT("prime_handle_to_fd.2", PRIME_HANDLE_TO_FD, prime, it.handle = UNKNOWN);
   SPOILT("prime_handle_to_fd.3", PRIME_HANDLE_TO_FD, prime, it.flags |= 1);
   SPOILT("prime_fd_to_handle.1", PRIME_FD_TO_HANDLE, prime, it.fd = -1);
   int fd;
   assert_int_equal(to_fd(empty, 0, 0, &fd), 0);
   SPOILT("prime_fd_to_handle.2", PRIME_FD_TO_HANDLE, prime, it.fd = fd);
   SPOILT("prime_fd_to_handle.2", PRIME_FD_TO_HANDLE, prime, it.fd = 0);
   close(fd);
}

static int bind(struct agx_uapi_gem_bind_op op)
{
   struct agx_uapi_vm_bind args = {vm, 1, sizeof(op), 0, (uintptr_t)&op};
   return REQUEST(ASAHI_VM_BIND, args);
}

#define OP(id, change)                                                                             \
   do {                                                                                            \
      struct agx_uapi_gem_bind_op it = {6, gem, 0, PAGE, VA};                                      \
      change;                                                                                      \
      rows_refuse(id, bind(it), #change, __LINE__);                                                \
   } while (0)

static void binding(void **state)
{
   struct agx_uapi_gem_bind_op op = {6, gem, 0, PAGE, VA};
   struct agx_uapi_vm_bind sound = {vm, 1, sizeof(op), 0, (uintptr_t)&op};
   SPOILT("vm_bind.1", ASAHI_VM_BIND, sound, it.stride = 0);
   SPOILT("vm_bind.1", ASAHI_VM_BIND, sound, it.pad = 1);
   SPOILT("vm_bind.2", ASAHI_VM_BIND, sound, it.userptr = 0);
   SPOILT("vm_bind.2", ASAHI_VM_BIND, sound, it.userptr = BAD_POINTER);
   SPOILT("vm_bind.2", ASAHI_VM_BIND, sound, it.userptr = UINT64_MAX - 8);
   SPOILT("vm_bind.9", ASAHI_VM_BIND, sound, it.vm_id = UNKNOWN);
   SPOILT("vm_bind.9", ASAHI_VM_BIND, sound, it.vm_id = 0);
   SPOILT("vm_bind.15", ASAHI_VM_BIND, sound, (it.num_binds = 0, it.vm_id = UNKNOWN));
   SPOILT("vm_bind.15", ASAHI_VM_BIND, sound, (it.num_binds = 0, it.userptr = BAD_POINTER));
   SPOILT("vm_bind.2", ASAHI_VM_BIND, sound, (it.vm_id = UNKNOWN, it.userptr = BAD_POINTER));
   SPOILT("vm_bind.16", ASAHI_VM_BIND, sound, it.num_binds = (1u << 20) + 1);
   SPOILT("vm_bind.16", ASAHI_VM_BIND, sound, (it.stride = 1u << 31, it.num_binds = 2));
   OP("vm_bind.3", it.addr += 4096);
   OP("vm_bind.3", it.range = PAGE - 1);
   OP("vm_bind.3", it.offset = 8);
   OP("vm_bind.4", it.flags |= 16);
   OP("vm_bind.4", it.flags |= 1u << 31);
   OP("vm_bind.5", it.flags = 0);
   OP("vm_bind.5", it.flags = AGX_UAPI_BIND_SINGLE_PAGE);
   OP("vm_bind.6", it.handle = UNKNOWN);
   OP("vm_bind.6", it.handle = 0);
   OP("vm_bind.7", (it.addr = UINT64_MAX - PAGE + 1, it.range = 2 * PAGE));
   OP("vm_bind.7", (it.flags |= 8, it.range = UINT64_MAX - PAGE + 1));
   OP("vm_bind.8", it.offset = 2 * PAGE);
   OP("vm_bind.8", it.range = 3 * PAGE);
   OP("vm_bind.8", it.offset = UINT64_MAX - PAGE + 1);
   OP("vm_bind.8", (it.flags |= 8, it.offset = 2 * PAGE));
   OP("vm_bind.10", it.addr = 0);
   OP("vm_bind.10", it.addr = VM_END);
   OP("vm_bind.10", (it.flags = 1, it.handle = 0, it.addr = 0));
   OP("vm_bind.11", it.addr = VM_END - PAGE);
   OP("vm_bind.11", (it.range = 2 * PAGE, it.addr = VM_END - KERNEL_BYTES - PAGE));
   op.flags = 0;
   SPOILT("vm_bind.17", ASAHI_VM_BIND, sound, it.vm_id = UNKNOWN);
   op.flags = 6;
   op.handle = own_gem;
   SPOILT("vm_bind.12", ASAHI_VM_BIND, sound, it.vm_id = other_vm);
   OP("vm_bind.13", (it.flags = 1 | 2, it.handle = 0));
   OP("vm_bind.13", (it.flags = 1 | 8, it.handle = 0));
   OP("vm_bind.13", it.flags = 1);
   OP("vm_bind.13", (it.flags = 1, it.handle = 0, it.offset = PAGE));
   OP("vm_bind.14", it.range = 0);
}

static void timestamp_objects(void **state)
{
   struct agx_uapi_gem_bind_object sound = {0, 1, gem, 0, 0, PAGE, 0, 0};
   struct agx_uapi_gem_bind_object end = {.op = 1, .object_handle = bound};
   SPOILT("gem_bind_object.1", ASAHI_GEM_BIND_OBJECT, sound, it.pad = 1);
   SPOILT("gem_bind_object.1", ASAHI_GEM_BIND_OBJECT, sound, it.vm_id = vm);
   SPOILT("gem_bind_object.1", ASAHI_GEM_BIND_OBJECT, sound, it.op = 2);
   SPOILT("gem_bind_object.2", ASAHI_GEM_BIND_OBJECT, sound, it.flags = 0);
   SPOILT("gem_bind_object.2", ASAHI_GEM_BIND_OBJECT, sound, it.flags = 3);
   SPOILT("gem_bind_object.2", ASAHI_GEM_BIND_OBJECT, sound, it.offset = 8);
   SPOILT("gem_bind_object.2", ASAHI_GEM_BIND_OBJECT, sound, it.range = 8);
   SPOILT("gem_bind_object.2", ASAHI_GEM_BIND_OBJECT, sound, it.range = 3 * PAGE);
   SPOILT("gem_bind_object.2", ASAHI_GEM_BIND_OBJECT, sound, it.offset = UINT64_MAX - PAGE + 1);
   SPOILT("gem_bind_object.3", ASAHI_GEM_BIND_OBJECT, sound, it.handle = own_gem);
   SPOILT("gem_bind_object.4", ASAHI_GEM_BIND_OBJECT, sound, it.handle = UNKNOWN);
   SPOILT("gem_bind_object.5", ASAHI_GEM_BIND_OBJECT, end, it.flags = 1);
   SPOILT("gem_bind_object.5", ASAHI_GEM_BIND_OBJECT, end, it.handle = gem);
   SPOILT("gem_bind_object.5", ASAHI_GEM_BIND_OBJECT, end, it.offset = PAGE);
   SPOILT("gem_bind_object.5", ASAHI_GEM_BIND_OBJECT, end, it.range = PAGE);
   SPOILT("gem_bind_object.6", ASAHI_GEM_BIND_OBJECT, end, it.object_handle = UNKNOWN);
   SPOILT("gem_bind_object.6", ASAHI_GEM_BIND_OBJECT, end, it.object_handle = 0);
}

static void queues(void **state)
{
   struct agx_uapi_queue_create sound = {.vm_id = vm};
   SPOILT("queue_create.1", ASAHI_QUEUE_CREATE, sound, it.flags = 1);
   SPOILT("queue_create.1", ASAHI_QUEUE_CREATE, sound, it.priority = AGX_UAPI_PRIORITY_HIGH);
   SPOILT("queue_create.1", ASAHI_QUEUE_CREATE, sound, it.priority = AGX_UAPI_PRIORITY_REALTIME);
   SPOILT("queue_create.1", ASAHI_QUEUE_CREATE, sound, it.priority = UINT32_MAX);
   SPOILT("queue_create.2", ASAHI_QUEUE_CREATE, sound, it.vm_id = UNKNOWN);
   SPOILT("queue_create.2", ASAHI_QUEUE_CREATE, sound, it.vm_id = 0);
   struct agx_uapi_queue_destroy destroy_args = {queue, 0};
   SPOILT("queue_destroy.1", ASAHI_QUEUE_DESTROY, destroy_args, it.queue_id = UNKNOWN);
   SPOILT("queue_destroy.1", ASAHI_QUEUE_DESTROY, destroy_args, it.queue_id = 0);
   SPOILT("queue_destroy.2", ASAHI_QUEUE_DESTROY, destroy_args, it.pad = 1);
}

/* ---- submissions: one record of each kind at most, and syncs ---- */

struct record {
   struct agx_uapi_cmd_header header;
   union {
      struct agx_uapi_cmd_compute compute;
      struct agx_uapi_cmd_render render;
      struct agx_uapi_attachment attachments[17];
      uint8_t bytes[17 * 24];
   };
};

struct submission {
   struct agx_uapi_submit args;
   struct agx_uapi_sync syncs[2];
   struct record first, second; /* the second where its size isn't 0 */
   unsigned copies;             /* of the first */
   uint32_t missing;            /* bytes at the end */
};

static struct submission sound_compute(void)
{
   struct submission it = {
      .args = {.queue_id = queue, .in_sync_count = 1, .out_sync_count = 1},
      .syncs = {{AGX_UAPI_SYNC_SYNCOBJ, signalled, 0}, {AGX_UAPI_SYNC_TIMELINE_SYNCOBJ, out, 1}},
      .copies = 1};
   it.first.header =
      (struct agx_uapi_cmd_header){AGX_UAPI_CMD_COMPUTE, sizeof(it.first.compute), 0, 0};
   return it;
}

static struct submission sound_render(void)
{
   struct submission it = sound_compute();
   it.first.header.cmd_type = AGX_UAPI_CMD_RENDER;
   it.first.header.size = sizeof(it.first.render);
   it.first.render = (struct agx_uapi_cmd_render){.width_px = 16384,
                                                  .height_px = 1,
                                                  .layers = 2048,
                                                  .samples = 4,
                                                  .utile_width_px = 32,
                                                  .utile_height_px = 16};
   return it;
}

static struct submission with_attachments(unsigned count)
{
   struct submission it = sound_compute();
   it.second = it.first;
   it.first.header =
      (struct agx_uapi_cmd_header){AGX_UAPI_CMD_SET_COMPUTE_ATTACHMENTS, (uint16_t)(count * 24),
                                   AGX_UAPI_BARRIER_NONE, AGX_UAPI_BARRIER_NONE};
   memset(it.first.bytes, 0, sizeof(it.first.bytes));
   return it;
}

static void put(uint8_t *bytes, uint32_t *size, const struct record *record)
{
   size_t payload = AGX_MIN(record->header.size, sizeof(record->bytes));
   memcpy(bytes + *size, &record->header, sizeof(record->header));
   memcpy(bytes + *size + sizeof(record->header), record->bytes, payload);
   *size += (uint32_t)(sizeof(record->header) + payload);
}

/* What is refused leaves the out-sync alone. */
static int submit(struct submission *it)
{
   uint8_t bytes[8192];
   uint32_t size = 0;
   for (unsigned i = 0; i < it->copies; i++)
      put(bytes, &size, &it->first);
   if (it->second.header.size)
      put(bytes, &size, &it->second);
   it->args.cmdbuf_size = size - it->missing;
   if (!it->args.cmdbuf)
      it->args.cmdbuf = (uintptr_t)bytes;
   if (!it->args.syncs)
      it->args.syncs = (uintptr_t)it->syncs;
   int result = REQUEST(ASAHI_SUBMIT, it->args);
   if (result)
      assert_int_equal(last_of(out), 0);
   return result;
}

#define SUBMIT(id, sound, change)                                                                  \
   do {                                                                                            \
      struct submission it = sound;                                                                \
      change;                                                                                      \
      rows_refuse(id, submit(&it), #change, __LINE__);                                             \
   } while (0)

static void submissions(void **state)
{
   SUBMIT("submit.1", sound_compute(), it.args.flags = 1);
   SUBMIT("submit.1", sound_compute(), it.args.pad = 1);
   SUBMIT("submit.2", sound_compute(), it.args.queue_id = UNKNOWN);
   SUBMIT("submit.2", sound_compute(), it.args.queue_id = 0);
   SUBMIT("submit.4", sound_compute(), it.args.syncs = BAD_POINTER);
   SUBMIT("submit.4", sound_compute(), it.args.cmdbuf = BAD_POINTER);
   SUBMIT("submit.5", sound_compute(), it.syncs[0].sync_type = 2);
   SUBMIT("submit.5", sound_compute(), it.syncs[1].sync_type = UINT32_MAX);
   SUBMIT("submit.5", sound_compute(), it.syncs[0].timeline_value = 1);
   SUBMIT("submit.5", sound_compute(), it.syncs[0].handle = empty);
   SUBMIT("submit.5", sound_compute(), (it.syncs[0] = (struct agx_uapi_sync){1, signalled, 5}));
   SUBMIT("submit.6", sound_compute(), it.syncs[0].handle = UNKNOWN);
   SUBMIT("submit.6", sound_compute(), it.syncs[1].handle = 0);
   SUBMIT("submit.7", sound_compute(), it.copies = 0);
   SUBMIT("submit.7", sound_compute(), it.copies = 65);
   SUBMIT("submit.7", with_attachments(1), it.second.header.size = 0);
   SUBMIT("submit.8", sound_compute(), it.first.header.cmd_type = 5);
   SUBMIT("submit.8", sound_compute(), it.first.header.cmd_type = 0xffff);
   SUBMIT("submit.8", sound_compute(), it.missing = 1);
   SUBMIT("submit.8", sound_compute(), it.missing = sizeof(it.first.compute) + 4);
   SUBMIT("submit.9", sound_compute(), it.first.header.cdm_barrier = 1);
   SUBMIT("submit.9", sound_compute(), it.first.header.vdm_barrier = 1);
   SUBMIT("submit.9", sound_compute(), it.first.header.cdm_barrier = 0xfffe);
   SUBMIT("submit.10", with_attachments(1), it.first.header.cdm_barrier = 0);
   SUBMIT("submit.10", with_attachments(1), it.first.header.vdm_barrier = 0);
   SUBMIT("submit.11", with_attachments(17), (void)it);
   SUBMIT("submit.11", with_attachments(2), it.first.attachments[1].pad = 1);
   SUBMIT("submit.11", with_attachments(2), it.first.attachments[1].flags = 1);
   SUBMIT("submit.12", sound_compute(), it.first.compute.flags = 1);
   SUBMIT("submit.14", sound_compute(), it.first.compute.ts.start.handle = UNKNOWN);
   SUBMIT("submit.14", sound_compute(), it.first.compute.ts.end.handle = UNKNOWN);
   SUBMIT("submit.15", sound_compute(),
          (it.first.compute.ts.end = (struct agx_uapi_timestamp){bound, PAGE - 7}));
   SUBMIT("submit.15", sound_compute(),
          (it.first.compute.ts.start = (struct agx_uapi_timestamp){bound, UINT32_MAX - 8}));
   SUBMIT("submit.19", sound_compute(),
          (it.first.compute.ts.start = (struct agx_uapi_timestamp){bound, UINT32_MAX - 7}));
   SUBMIT("submit.16", sound_compute(), it.first.header.size = 72);
   assert_int_equal(submit(&(struct submission){0}), -ENOENT);
}

static void render_commands(void **state)
{
   SUBMIT("submit.13", sound_render(), it.first.render.flags = 8);
   SUBMIT("submit.13", sound_render(), it.first.render.width_px = 0);
   SUBMIT("submit.13", sound_render(), it.first.render.width_px = 16385);
   SUBMIT("submit.13", sound_render(), it.first.render.height_px = 0);
   SUBMIT("submit.13", sound_render(), it.first.render.height_px = 16385);
   SUBMIT("submit.13", sound_render(), it.first.render.layers = 0);
   SUBMIT("submit.13", sound_render(), it.first.render.layers = 2049);
   SUBMIT("submit.13", sound_render(), it.first.render.samples = 0);
   SUBMIT("submit.13", sound_render(), it.first.render.samples = 3);
   SUBMIT("submit.13", sound_render(), it.first.render.samples = 8);
   SUBMIT("submit.13", sound_render(), it.first.render.utile_width_px = 64);
   SUBMIT("submit.13", sound_render(), it.first.render.utile_height_px = 8);
   SUBMIT("submit.14", sound_render(), it.first.render.ts_vtx.start.handle = UNKNOWN);
   SUBMIT("submit.14", sound_render(), it.first.render.ts_frag.end.handle = UNKNOWN);
   SUBMIT("submit.15", sound_render(),
          (it.first.render.ts_frag.start = (struct agx_uapi_timestamp){bound, PAGE}));
   SUBMIT("submit.16", sound_render(), it.first.header.size += 8);
   SUBMIT("submit.17", sound_render(), (void)it);
}

static void syncobjs(void **state)
{
   struct agx_uapi_syncobj_handle sound = {.handle = signalled, .fd = -1};
   int fd, ignored;
   assert_int_equal(to_fd(signalled, 0, 0, &fd), 0);
   SPOILT("so_create.1", SYNCOBJ_CREATE, ((struct agx_uapi_syncobj_create){0, 0}), it.flags = 2);
   REFUSED("so_destroy.1", destroy(UNKNOWN));
   REFUSED("so_destroy.1", REQUEST(SYNCOBJ_DESTROY, (struct agx_uapi_syncobj_destroy){out, 1}));
   SPOILT("so_handle_to_fd.1", SYNCOBJ_HANDLE_TO_FD, sound, it.pad = 1);
   SPOILT("so_handle_to_fd.1", SYNCOBJ_HANDLE_TO_FD, sound, it.flags = 4);
   SPOILT("so_handle_to_fd.1", SYNCOBJ_HANDLE_TO_FD, sound, (it.flags = 2, it.point = 3));
   SPOILT("so_handle_to_fd.1", SYNCOBJ_HANDLE_TO_FD, sound, it.point = 3);
   REFUSED("so_handle_to_fd.2", to_fd(UNKNOWN, 0, 0, &ignored));
   REFUSED("so_handle_to_fd.3", to_fd(UNKNOWN, 1, 0, &ignored));
   REFUSED("so_handle_to_fd.4", to_fd(empty, 1, 0, &ignored));
   REFUSED("so_handle_to_fd.4", to_fd(signalled, 3, 9, &ignored));
   SPOILT("so_fd_to_handle.1", SYNCOBJ_FD_TO_HANDLE, sound, (it.fd = fd, it.pad = 1));
   SPOILT("so_fd_to_handle.1", SYNCOBJ_FD_TO_HANDLE, sound, (it.fd = fd, it.flags = 8));
   SPOILT("so_fd_to_handle.1", SYNCOBJ_FD_TO_HANDLE, sound, (it.fd = fd, it.point = 8));
   SPOILT("so_fd_to_handle.2", SYNCOBJ_FD_TO_HANDLE, sound, it.fd = 0);
   SPOILT("so_fd_to_handle.2", SYNCOBJ_FD_TO_HANDLE, sound, it.fd = -1);
   SPOILT("so_fd_to_handle.2", SYNCOBJ_FD_TO_HANDLE, sound, (it.fd = fd, it.flags = 1));
   close(fd);
   assert_int_equal(to_fd(signalled, 1, 0, &fd), 0);
   SPOILT("so_fd_to_handle.2", SYNCOBJ_FD_TO_HANDLE, sound, it.fd = fd);
   uint32_t unknown = UNKNOWN;
   REFUSED("so_fd_to_handle.3", from_fd(fd, 1, 0, &unknown));
   close(fd);
}

static void waits(void **state)
{
   const uint32_t unknown[] = {signalled, UNKNOWN};
   const uint64_t zeros[] = {0, 0};
   REFUSED("so_wait.1", wait_one(signalled, AVAILABLE, 0));
   REFUSED("so_wait.1", wait_one(signalled, 1u << 31, 0));
   REFUSED("so_timeline_wait.1", wait_at(signalled, 0, 0x10, 0));
   REFUSED("waits.1", wait_array(NULL, 0, 0, 0));
   REFUSED("waits.1", wait_points(NULL, NULL, 0, 0, 0));
   REFUSED("waits.2", wait_array(unknown, 2, 0, 0));
   REFUSED("waits.2", wait_points(unknown, zeros, 2, WFS, 0));
   REFUSED("waits.3", wait_one(empty, 0, 0));
   REFUSED("waits.3", wait_at(signalled, 1, 0, 0));
   REFUSED("waits.4", wait_one(empty, WFS, 0));
   REFUSED("waits.4", wait_at(empty, 1, AVAILABLE, in_ms(1)));
   rows_aside("waits.5", "the recorded rows B41 and B42 have it");
}

static void arrays(void **state)
{
   static const unsigned long plain[] = {AGX_IOCTL_SYNCOBJ_RESET, AGX_IOCTL_SYNCOBJ_SIGNAL};
   static const unsigned long valued[] = {AGX_IOCTL_SYNCOBJ_TIMELINE_SIGNAL,
                                          AGX_IOCTL_SYNCOBJ_QUERY};
   static const char *const flags[] = {"so_timeline_signal.1", "so_query.1"};
   const uint32_t unknown[] = {out, UNKNOWN}, *bad = (const uint32_t *)BAD_POINTER;
   uint64_t points[2] = {0};
   for (unsigned i = 0; i < 2; i++) {
      REFUSED("arrays.1", array_call(plain[i], unknown, 1, 1));
      REFUSED("arrays.1", array_call(plain[i], unknown, 0, 0));
      REFUSED("arrays_all.1", array_call(plain[i], unknown, 2, 0));
      REFUSED("any.1", array_call(plain[i], bad, 1, 0));
      REFUSED("any.1", array_call(plain[i], NULL, 1, 0));
      REFUSED(flags[i], timeline_call(valued[i], unknown, points, 1, 2));
      REFUSED(flags[i], timeline_call(valued[i], unknown, points, 0, 0));
      REFUSED("arrays_all.1", timeline_call(valued[i], unknown, points, 2, 0));
      REFUSED("any.1", timeline_call(valued[i], bad, points, 1, 0));
      REFUSED("any.1", timeline_call(valued[i], unknown, (const uint64_t *)BAD_POINTER, 1, 0));
   }
   REFUSED("any.1", wait_array(bad, 1, 0, 0));
   REFUSED("any.1", wait_points(unknown, (const uint64_t *)BAD_POINTER, 1, 0, 0));
}

static void transfers_and_eventfds(void **state)
{
   struct agx_uapi_syncobj_transfer sound = {signalled, out, 0, 1, 0, 0};
   int fd = eventfd(0, EFD_CLOEXEC);
   SPOILT("so_transfer.1", SYNCOBJ_TRANSFER, sound, it.pad = 1);
   SPOILT("so_transfer.1", SYNCOBJ_TRANSFER, sound, it.flags = 1);
   SPOILT("so_transfer.1", SYNCOBJ_TRANSFER, sound, it.flags = 4);
   SPOILT("so_transfer.1", SYNCOBJ_TRANSFER, sound, it.src_handle = empty);
   SPOILT("so_transfer.1", SYNCOBJ_TRANSFER, sound, it.src_point = 1);
   SPOILT("so_transfer.2", SYNCOBJ_TRANSFER, sound, it.src_handle = UNKNOWN);
   SPOILT("so_transfer.2", SYNCOBJ_TRANSFER, sound, it.dst_handle = UNKNOWN);
   rows_aside("so_transfer.3", "the recorded row X5 has it; it takes five seconds");
   REFUSED("so_eventfd.1", arm_eventfd(signalled, 0, fd, WFS, 0));
   REFUSED("so_eventfd.1", arm_eventfd(signalled, 0, fd, 0, 1));
   REFUSED("so_eventfd.2", arm_eventfd(UNKNOWN, 0, fd, 0, 0));
   REFUSED("so_eventfd.3", arm_eventfd(signalled, 0, 0, 0, 0));
   REFUSED("so_eventfd.4", arm_eventfd(signalled, 0, -1, 0, 0));
   REFUSED("so_eventfd.5", arm_eventfd(signalled, 0, fd, 0, 0));
   close(fd);
}

/* What is whole and well in one file names nothing in another. */
static void names_of_another_file(void **state)
{
   struct door_file *mine = file;
   struct submission foreign = sound_compute();
   file = door_open();
   REFUSED("any.7", REQUEST(ASAHI_VM_DESTROY, (struct agx_uapi_vm_destroy){vm, 0}));
   REFUSED("any.7", REQUEST(ASAHI_GEM_MMAP_OFFSET, (struct agx_uapi_gem_mmap_offset){gem, 0, 0}));
   REFUSED("any.7", REQUEST(ASAHI_QUEUE_CREATE, (struct agx_uapi_queue_create){.vm_id = vm}));
   REFUSED("any.7", REQUEST(ASAHI_QUEUE_DESTROY, (struct agx_uapi_queue_destroy){queue, 0}));
   REFUSED("any.7", REQUEST(PRIME_HANDLE_TO_FD, (struct agx_uapi_prime_handle){gem, 0, -1}));
   REFUSED("any.7", REQUEST(ASAHI_GEM_BIND_OBJECT,
                            (struct agx_uapi_gem_bind_object){.op = 1, .object_handle = bound}));
   REFUSED("any.7", wait_one(signalled, 0, 0));
   REFUSED("any.7", transfer(signalled, 0, signalled, 0, 0));
   uint8_t bytes[128];
   uint32_t size = 0;
   put(bytes, &size, &foreign.first);
   foreign.args.cmdbuf = (uintptr_t)bytes;
   foreign.args.cmdbuf_size = size;
   foreign.args.syncs = (uintptr_t)foreign.syncs;
   REFUSED("submit.18", REQUEST(ASAHI_SUBMIT, foreign.args));
   door_close(file);
   file = mine;
}

static void a_lost_device(void **state)
{
   struct agx_uapi_params_global params;
   struct submission it = sound_compute();
   assert_int_equal(submit(&it), 0);
   assert_int_equal(wait_at(out, 1, 0, FOREVER), 0);
   REFUSED("get_params.2",
           REQUEST(ASAHI_GET_PARAMS, (struct agx_uapi_get_params){0, 0, (uintptr_t)&params, 8}));
   struct submission again = sound_compute();
   again.args.out_sync_count = 0;
   again.args.cmdbuf_size = 0;
   uint8_t bytes[128];
   uint32_t size = 0;
   put(bytes, &size, &again.first);
   again.args.cmdbuf = (uintptr_t)bytes;
   again.args.cmdbuf_size = size;
   again.args.syncs = (uintptr_t)again.syncs;
   REFUSED("submit.3", REQUEST(ASAHI_SUBMIT, again.args));
}

static int lose_set_up(void **state)
{
   door_script = "lose 1";
   return set_up(state);
}

static int lose_tear_down(void **state)
{
   door_script = NULL;
   return rows_tear_down(state);
}

static void every_line_had_its_turn(void **state)
{
   rows_finish();
   rows_forget();
}

static int read_lines(void **state)
{
   static bool is_read;
   if (!is_read)
      rows_read("refusals.tsv");
   is_read = true;
   return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, rows_tear_down)

AGX_TEST_FILE(void)
{
   static const char *const chips[] = {"t8103", "t6000", "t6001", "t6002",
                                       "t8112", "t6020", "t6021", "t6022"};
   const struct CMUnitTest tests[] = {
      TEST(numbers_and_sizes),
      TEST(device_requests),
      TEST(address_spaces),
      TEST(buffers),
      TEST(binding),
      TEST(timestamp_objects),
      TEST(queues),
      TEST(submissions),
      TEST(render_commands),
      TEST(syncobjs),
      TEST(waits),
      TEST(arrays),
      TEST(transfers_and_eventfds),
      TEST(names_of_another_file),
      cmocka_unit_test_setup_teardown(a_lost_device, lose_set_up, lose_tear_down),
      cmocka_unit_test(every_line_had_its_turn),
   };
   int failed = 0;
   for (unsigned i = 0; i < AGX_COUNT(chips) && !failed; i++) {
      door_chip = chips[i];
      failed = cmocka_run_group_tests_name(chips[i], tests, read_lines, NULL);
   }
   return failed;
}
