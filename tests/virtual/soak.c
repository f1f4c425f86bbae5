/* SPDX-License-Identifier: MIT
 *
 * See soak.h. A generator per request fills a sound argument; send() spoils it now and
 * then, and remembers what came to be.
 */
#include "soak.h"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "winsys/virtual/store/user.h"
#include "user_checked.h"

#define SCRATCH_BYTES 16384
#define VOID_BYTES    (16ull << 30) /* behind it; a stride is less than 4 GiB */
#define SHIFTS        8             /* pages by which the scratch memory may lie elsewhere */
#define WINDOW_VA     0x2000000000ull
#define WINDOW_PAGES  300
#define WAIT_NS       20000

struct request {
   const char *name;
   uint32_t code;
   int8_t pointers[3]; /* byte offsets in the argument; -1: no more */
   int8_t makes;       /* the kind of what it makes, -1: nothing */
   uint8_t made_at;    /* where its number is then */
};

/* clang-format off */
#define ROW(name, ...) {#name, AGX_IOCTL_##name, __VA_ARGS__}
static const struct request requests[] = {
   ROW(VERSION, {24, 40, 56}, -1, 0),
   ROW(GET_CAP, {-1}, -1, 0),
   ROW(GEM_CLOSE, {-1}, -1, 0),
   ROW(PRIME_HANDLE_TO_FD, {-1}, -1, 0),
   ROW(PRIME_FD_TO_HANDLE, {-1}, SOAK_GEM, 0),
   ROW(ASAHI_GET_PARAMS, {8, -1}, -1, 0),
   ROW(ASAHI_GET_TIME, {-1}, -1, 0),
   ROW(ASAHI_VM_CREATE, {-1}, SOAK_VM, 16),
   ROW(ASAHI_VM_DESTROY, {-1}, -1, 0),
   ROW(ASAHI_VM_BIND, {16, -1}, -1, 0),
   ROW(ASAHI_GEM_CREATE, {-1}, SOAK_GEM, 16),
   ROW(ASAHI_GEM_MMAP_OFFSET, {-1}, -1, 0),
   ROW(ASAHI_GEM_BIND_OBJECT, {-1}, SOAK_BOUND, 32),
   ROW(ASAHI_QUEUE_CREATE, {-1}, SOAK_QUEUE, 12),
   ROW(ASAHI_QUEUE_DESTROY, {-1}, -1, 0),
   ROW(ASAHI_SUBMIT, {0, 8, -1}, -1, 0),
   ROW(SYNCOBJ_CREATE, {-1}, SOAK_SYNCOBJ, 0),
   ROW(SYNCOBJ_DESTROY, {-1}, -1, 0),
   ROW(SYNCOBJ_HANDLE_TO_FD, {-1}, -1, 0),
   ROW(SYNCOBJ_FD_TO_HANDLE, {-1}, SOAK_SYNCOBJ, 0),
   ROW(SYNCOBJ_WAIT, {0, -1}, -1, 0),
   ROW(SYNCOBJ_TIMELINE_WAIT, {0, 8, -1}, -1, 0),
   ROW(SYNCOBJ_RESET, {0, -1}, -1, 0),
   ROW(SYNCOBJ_SIGNAL, {0, -1}, -1, 0),
   ROW(SYNCOBJ_TIMELINE_SIGNAL, {0, 8, -1}, -1, 0),
   ROW(SYNCOBJ_QUERY, {0, 8, -1}, -1, 0),
   ROW(SYNCOBJ_TRANSFER, {-1}, -1, 0),
   ROW(SYNCOBJ_EVENTFD, {-1}, -1, 0),
};
/* clang-format on */
_Static_assert(AGX_COUNT(requests) == SOAK_REQUESTS, "a generator for each");

const char *soak_request_name(unsigned index)
{
   return index < AGX_COUNT(requests) ? requests[index].name : NULL;
}

enum {
   R_VERSION,
   R_GET_CAP,
   R_GEM_CLOSE,
   R_PRIME_OUT,
   R_PRIME_IN,
   R_PARAMS,
   R_TIME,
   R_VM_CREATE,
   R_VM_DESTROY,
   R_VM_BIND,
   R_GEM_CREATE,
   R_MMAP_OFFSET,
   R_BIND_OBJECT,
   R_QUEUE_CREATE,
   R_QUEUE_DESTROY,
   R_SUBMIT,
   R_CREATE,
   R_DESTROY,
   R_TO_FD,
   R_FROM_FD,
   R_WAIT,
   R_TIMELINE_WAIT,
   R_RESET,
   R_SIGNAL,
   R_TIMELINE_SIGNAL,
   R_QUERY,
   R_TRANSFER,
   R_EVENTFD
};

/* ---- what to choose ---- */

static uint64_t below(struct soak *soak, uint64_t bound)
{
   return agx_test_random_below(&soak->rng, bound);
}

static bool one_in(struct soak *soak, uint64_t count)
{
   return below(soak, count) == 0;
}

/* A number that programs get wrong. */
static uint64_t odd_number(struct soak *soak)
{
   static const uint64_t odd[] = {0,
                                  1,
                                  2,
                                  3,
                                  4,
                                  7,
                                  8,
                                  15,
                                  16,
                                  63,
                                  64,
                                  65,
                                  255,
                                  4095,
                                  4096,
                                  16383,
                                  16384,
                                  16385,
                                  0xffff,
                                  0x10000,
                                  1u << 20,
                                  0x7fffffff,
                                  0x80000000,
                                  0xffffffff,
                                  1ull << 32,
                                  1ull << 39,
                                  0x7fffff8000,
                                  1ull << 40,
                                  1ull << 47,
                                  INT64_MAX,
                                  1ull << 63,
                                  UINT64_MAX - 16383,
                                  UINT64_MAX};
   return one_in(soak, 4) ? agx_test_random(&soak->rng) : odd[below(soak, AGX_COUNT(odd))];
}

/* Something of that kind that exists in the file, as far as is known. */
static uint32_t name_of(struct soak *soak, enum soak_kind kind)
{
   uint32_t name = 0;
   pthread_mutex_lock(&soak->world->lock);
   uint32_t count = soak->file->counts[kind];
   if (count)
      name = soak->file->names[kind][below(soak, count)];
   pthread_mutex_unlock(&soak->world->lock);
   return one_in(soak, 40) ? (uint32_t)odd_number(soak) : name;
}

static void remember(struct soak *soak, enum soak_kind kind, uint32_t name)
{
   pthread_mutex_lock(&soak->world->lock);
   uint32_t *count = &soak->file->counts[kind];
   soak->file->names[kind][*count < SOAK_NAMES ? (*count)++ : below(soak, SOAK_NAMES)] = name;
   pthread_mutex_unlock(&soak->world->lock);
}

/* How many are remembered. */
static uint32_t known(struct soak *soak, enum soak_kind kind)
{
   pthread_mutex_lock(&soak->world->lock);
   uint32_t count = soak->file->counts[kind];
   pthread_mutex_unlock(&soak->world->lock);
   return count;
}

/* A name that is about to go, forgotten already. */
static uint32_t last_of(struct soak *soak, enum soak_kind kind)
{
   uint32_t name = 0;
   pthread_mutex_lock(&soak->world->lock);
   uint32_t *count = &soak->file->counts[kind];
   if (*count) {
      uint32_t slot = (uint32_t)below(soak, *count);
      name = soak->file->names[kind][slot];
      soak->file->names[kind][slot] = soak->file->names[kind][--*count];
   }
   pthread_mutex_unlock(&soak->world->lock);
   return name;
}

static int some_fd(struct soak *soak)
{
   pthread_mutex_lock(&soak->world->lock);
   int fd = soak->world->fds[below(soak, SOAK_FDS)];
   int copy = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
   pthread_mutex_unlock(&soak->world->lock);
   return copy;
}

/* Keeps fd in place of another. */
static void keep_fd(struct soak *soak, int fd)
{
   pthread_mutex_lock(&soak->world->lock);
   int *slot = &soak->world->fds[below(soak, SOAK_FDS)];
   int old = *slot;
   *slot = fd;
   pthread_mutex_unlock(&soak->world->lock);
   if (old >= 0)
      close(old);
}

/* size bytes that end at the last mapped one, or a little before. */
static void *scratch(struct soak *soak, size_t size)
{
   size_t behind = one_in(soak, 2) ? 0 : below(soak, 64) * 8;
   return soak->scratch + soak->scratch_bytes - size - behind;
}

/* ---- sending ---- */

/* Nowhere, or in the page that can't be touched, or half in it. */
static uint64_t bad_pointer(struct soak *soak)
{
   const uint64_t end = (uintptr_t)soak->scratch + soak->scratch_bytes;
   const uint64_t bad[] = {0, 8, 4095, end, end + 8, end - 1, end - 4, 1ull << 47, UINT64_MAX - 7};
   return bad[below(soak, AGX_COUNT(bad))];
}

static bool is_pointer(const struct request *request, size_t offset)
{
   for (unsigned i = 0; i < AGX_COUNT(request->pointers) && request->pointers[i] >= 0; i++)
      if (offset / 8 * 8 == (size_t)request->pointers[i])
         return true;
   return false;
}

static void spoil(struct soak *soak, const struct request *request, uint8_t *argument)
{
   size_t offset = below(soak, AGX_UAPI_BYTES(request->code) / 4) * 4;
   uint64_t value = odd_number(soak);
   if (is_pointer(request, offset)) {
      if (!user_is_checked())
         return;
      value = bad_pointer(soak);
      memcpy(argument + offset / 8 * 8, &value, 8);
   } else if (one_in(soak, 2)) {
      argument[offset + below(soak, 4)] ^= (uint8_t)(1u << below(soak, 8));
   } else {
      memcpy(argument + offset, &value, 4);
   }
}

/* Nothing may sleep for long: a wait can't know whether what it waits for comes. */
static void tame(const struct request *request, void *argument)
{
   struct agx_uapi_syncobj_wait *wait = argument;
   struct agx_uapi_syncobj_timeline_wait *timeline_wait = argument;
   struct agx_uapi_syncobj_transfer *transfer = argument;
   int64_t latest = now_ns() + WAIT_NS;
   if (request->code == AGX_IOCTL_SYNCOBJ_WAIT)
      wait->timeout_nsec = AGX_MIN(wait->timeout_nsec, latest);
   if (request->code == AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT)
      timeline_wait->timeout_nsec = AGX_MIN(timeline_wait->timeout_nsec, latest);
   if (request->code == AGX_IOCTL_SYNCOBJ_TRANSFER)
      transfer->flags &= ~(uint32_t)AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT;
}

static int send(struct soak *soak, unsigned index, void *sound)
{
   const struct request *request = &requests[index];
   _Alignas(16) uint8_t argument[128] = {0};
   uint32_t code = request->code, size = AGX_UAPI_BYTES(code);
   memcpy(argument, sound, size);
   while (one_in(soak, 10))
      spoil(soak, request, argument);
   bool gives_fd = index == R_TO_FD || index == R_PRIME_OUT; /* cut, it would be lost */
   if (one_in(soak, 200) && !gives_fd) /* another size, cut or filled up, but no half pointers */
      code = (code & ~0x3fff0000u) | (uint32_t)below(soak, 9) * 8 << 16;
   tame(request, argument);
   bool nowhere = one_in(soak, 500) && user_is_checked();
   int result = agx_virtual_ioctl(soak->file->file, code,
                                  nowhere ? (void *)(uintptr_t)bad_pointer(soak) : argument);
   soak->requests++;
   atomic_fetch_add(result ? &soak->world->refused[index] : &soak->world->accepted[index], 1);
   if (result == -EFAULT)
      atomic_fetch_add(&soak->world->faulted, 1);
   memcpy(sound, argument, size);
   if (result == 0 && request->makes >= 0 && code == request->code) {
      uint32_t made;
      memcpy(&made, argument + request->made_at, 4);
      remember(soak, (enum soak_kind)request->makes, made);
   }
   return result;
}

#define SEND(index, ...) send(soak, index, &(__VA_ARGS__))

/* ---- generators ---- */

static void ask(struct soak *soak)
{
   char *text = scratch(soak, 48);
   struct agx_uapi_version version = {.name = (uintptr_t)text,
                                      .name_len = below(soak, 16),
                                      .date = (uintptr_t)text + 16,
                                      .date_len = below(soak, 16),
                                      .desc = (uintptr_t)text + 32,
                                      .desc_len = below(soak, 16)};
   struct agx_uapi_get_params params = {
      .pointer = (uintptr_t)scratch(soak, sizeof(struct agx_uapi_params_global)),
      .size = one_in(soak, 2) ? sizeof(struct agx_uapi_params_global) : below(soak, 600)};
   SEND(R_VERSION, version);
   SEND(R_GET_CAP, (struct agx_uapi_get_cap){below(soak, 24), 0});
   SEND(R_PARAMS, params);
   SEND(R_TIME, (struct agx_uapi_get_time){0});
}

static void do_vms(struct soak *soak)
{
   struct agx_uapi_vm_create create = {KERNEL_START, KERNEL_END, 0, 0};
   if (known(soak, SOAK_VM) < 4)
      SEND(R_VM_CREATE, create);
   else if (one_in(soak, 8))
      SEND(R_VM_DESTROY, (struct agx_uapi_vm_destroy){last_of(soak, SOAK_VM), 0});
}

static void do_bind(struct soak *soak)
{
   uint32_t count = 1 + (uint32_t)below(soak, 3);
   uint32_t stride = one_in(soak, 8) ? 8 + (uint32_t)below(soak, 60) : 32;
   uint8_t *ops = scratch(soak, (size_t)count * 72);
   memset(ops, 0, (size_t)count * 72);
   for (uint32_t i = 0; i < count; i++) {
      bool unbinds = one_in(soak, 4), is_small = !one_in(soak, 6);
      struct agx_uapi_gem_bind_op op = {
         .flags = unbinds ? 1 : 2 + (uint32_t)below(soak, 3) * 2 + (uint32_t)below(soak, 2) * 8,
         .handle = unbinds ? 0 : name_of(soak, SOAK_GEM),
         .offset = unbinds || is_small ? 0 : below(soak, 3) * PAGE,
         .range = (1 + below(soak, is_small          ? 1
                                   : one_in(soak, 4) ? WINDOW_PAGES
                                                     : 4)) *
                  PAGE,
         .addr = WINDOW_VA + below(soak, WINDOW_PAGES) * PAGE};
      if (one_in(soak, 30))
         memcpy((uint8_t *)&op + below(soak, 4) * 8, &(uint64_t){odd_number(soak)}, 8);
      memcpy(ops + i * stride, &op, AGX_MIN(stride, sizeof(op)));
   }
   SEND(R_VM_BIND,
        (struct agx_uapi_vm_bind){name_of(soak, SOAK_VM), count, stride, 0, (uintptr_t)ops});
}

static void use_mapping(struct soak *soak, uint64_t offset)
{
   int error;
   size_t length = (1 + below(soak, 3)) * PAGE;
   uint8_t *memory = agx_virtual_mmap(soak->file->file, NULL, length, PROT_READ | PROT_WRITE,
                                      MAP_SHARED, offset, &error);
   if (!memory)
      return;
   for (size_t at = 0; at < length; at += PAGE)
      __atomic_fetch_add(memory + at, 1, __ATOMIC_RELAXED);
   size_t first = one_in(soak, 4) ? PAGE : length; /* in two pieces */
   munmap(memory, first);
   agx_virtual_unmapped(soak->world->node, memory, first);
   if (first < length) {
      munmap(memory + first, length - first);
      agx_virtual_unmapped(soak->world->node, memory + first, length - first);
   }
}

static void do_gems(struct soak *soak)
{
   bool is_private = one_in(soak, 3);
   struct agx_uapi_gem_create create = {.size = 1 + below(soak, 4 * PAGE),
                                        .flags = (uint32_t)below(soak, 2) | (is_private ? 2 : 0)};
   create.vm_id = is_private ? name_of(soak, SOAK_VM) : 0;
   struct agx_uapi_gem_mmap_offset offset = {.handle = name_of(soak, SOAK_GEM)};
   if (known(soak, SOAK_GEM) < SOAK_NAMES)
      SEND(R_GEM_CREATE, create);
   if (known(soak, SOAK_GEM) > SOAK_NAMES / 2)
      SEND(R_GEM_CLOSE, (struct agx_uapi_gem_close){last_of(soak, SOAK_GEM), 0});
   if (SEND(R_MMAP_OFFSET, offset) == 0 && one_in(soak, 4))
      use_mapping(soak, offset.offset);
}

static void do_objects(struct soak *soak)
{
   struct agx_uapi_gem_bind_object object = {.flags = 1,
                                             .handle = name_of(soak, SOAK_GEM),
                                             .offset = below(soak, 2) * PAGE,
                                             .range = (1 + below(soak, 2)) * PAGE};
   if (known(soak, SOAK_BOUND) > 4)
      object =
         (struct agx_uapi_gem_bind_object){.op = 1, .object_handle = last_of(soak, SOAK_BOUND)};
   SEND(R_BIND_OBJECT, object);
}

static void do_queues(struct soak *soak)
{
   struct agx_uapi_queue_create create = {.vm_id = name_of(soak, SOAK_VM),
                                          .priority = (uint32_t)below(soak, 2),
                                          .usc_exec_base = USC_BASE};
   if (known(soak, SOAK_QUEUE) < 4)
      SEND(R_QUEUE_CREATE, create);
   else if (one_in(soak, 4))
      SEND(R_QUEUE_DESTROY, (struct agx_uapi_queue_destroy){last_of(soak, SOAK_QUEUE), 0});
}

static size_t add_record(struct soak *soak, uint8_t *to, uint32_t seen)
{
   struct agx_uapi_attachment attachment = {.pointer = WINDOW_VA, .size = PAGE};
   struct agx_uapi_cmd_compute compute = {.cdm_ctrl_stream_base = below(soak, 64),
                                          .ts.end = {name_of(soak, SOAK_BOUND), 0}};
   compute.ts.end.offset = (uint32_t)below(soak, PAGE / 8) * 8;
   bool attaches = one_in(soak, 6);
   struct agx_uapi_cmd_header header = {AGX_UAPI_CMD_COMPUTE, sizeof(compute), 0,
                                        (uint16_t)below(soak, seen + 1)};
   if (attaches)
      header =
         (struct agx_uapi_cmd_header){AGX_UAPI_CMD_SET_COMPUTE_ATTACHMENTS, sizeof(attachment),
                                      AGX_UAPI_BARRIER_NONE, AGX_UAPI_BARRIER_NONE};
   if (one_in(soak, 60))
      memcpy((uint8_t *)&header + below(soak, 4) * 2, &(uint16_t){(uint16_t)odd_number(soak)}, 2);
   size_t size = attaches ? sizeof(attachment) : sizeof(compute);
   if (!attaches && one_in(soak, 10)) /* an older, shorter payload */
      header.size = (uint16_t)(size = 8 + below(soak, 7) * 8);
   if (!attaches && one_in(soak, 3))
      compute.ts.end.handle = 0;
   memcpy(to, &header, sizeof(header));
   memcpy(to + sizeof(header), attaches ? (void *)&attachment : (void *)&compute, size);
   return sizeof(header) + size;
}

static void do_submit(struct soak *soak)
{
   uint8_t bytes[4 * 72];
   size_t size = 0;
   uint32_t ins = (uint32_t)below(soak, 3), outs = (uint32_t)below(soak, 3);
   uint32_t records = 1 + (uint32_t)below(soak, 4);
   for (uint32_t i = 0; i < records; i++)
      size += add_record(soak, bytes + size, i);
   uint8_t *cmdbuf = scratch(soak, size + 8);
   memcpy(cmdbuf, bytes, size);
   struct agx_uapi_sync *syncs = (void *)(soak->scratch + 4096); /* a place of their own */
   for (uint32_t i = 0; i < ins + outs; i++) {
      uint32_t timeline = (uint32_t)below(soak, 2);
      uint64_t value = timeline ? (i < ins ? 0 : 1 + below(soak, 64)) : 0;
      syncs[i] = (struct agx_uapi_sync){timeline, name_of(soak, SOAK_SYNCOBJ), value};
   }
   SEND(R_SUBMIT, (struct agx_uapi_submit){.syncs = (uintptr_t)syncs,
                                           .cmdbuf = (uintptr_t)cmdbuf,
                                           .queue_id = name_of(soak, SOAK_QUEUE),
                                           .in_sync_count = ins,
                                           .out_sync_count = outs,
                                           .cmdbuf_size = (uint32_t)size});
}

static void do_syncobjs(struct soak *soak)
{
   struct agx_uapi_syncobj_transfer transfer = {.src_handle = name_of(soak, SOAK_SYNCOBJ),
                                                .dst_handle = name_of(soak, SOAK_SYNCOBJ),
                                                .src_point = one_in(soak, 2) ? below(soak, 64) : 0,
                                                .dst_point = below(soak, 64)};
   if (known(soak, SOAK_SYNCOBJ) < SOAK_NAMES)
      SEND(R_CREATE, (struct agx_uapi_syncobj_create){0, (uint32_t)below(soak, 2)});
   if (known(soak, SOAK_SYNCOBJ) > SOAK_NAMES / 2 && one_in(soak, 2))
      SEND(R_DESTROY, (struct agx_uapi_syncobj_destroy){last_of(soak, SOAK_SYNCOBJ), 0});
   SEND(R_TRANSFER, transfer);
}

static void do_arrays(struct soak *soak)
{
   static const unsigned plain[] = {R_RESET, R_SIGNAL}, valued[] = {R_TIMELINE_SIGNAL, R_QUERY};
   uint32_t count =
      one_in(soak, 16) ? 17 + (uint32_t)below(soak, 64) : 1 + (uint32_t)below(soak, 4);
   uint64_t *points = scratch(soak, count * 8);
   uint32_t *handles = (void *)(soak->scratch + 4096);
   for (uint32_t i = 0; i < count; i++) {
      handles[i] = name_of(soak, SOAK_SYNCOBJ);
      points[i] = below(soak, 64);
   }
   const uintptr_t first = (uintptr_t)handles, second = (uintptr_t)points;
   SEND(plain[below(soak, 2)], (struct agx_uapi_syncobj_array){first, count, 0});
   SEND(valued[below(soak, 2)], (struct agx_uapi_syncobj_timeline_array){first, second, count, 0});
   SEND(R_WAIT,
        (struct agx_uapi_syncobj_wait){.handles = first,
                                       .count_handles = count,
                                       .flags = (uint32_t)below(soak, 4),
                                       .timeout_nsec = now_ns() + (int64_t)below(soak, 9999)});
   SEND(R_TIMELINE_WAIT,
        (struct agx_uapi_syncobj_timeline_wait){.handles = first,
                                                .points = second,
                                                .count_handles = count,
                                                .flags = (uint32_t)below(soak, 16),
                                                .timeout_nsec = (int64_t)below(soak, 2)});
}

static void use_fd(struct soak *soak, int fd)
{
   struct {
      uint32_t flags;
      int32_t fd;
   } fences = {1 + (uint32_t)below(soak, 3), some_fd(soak)};
   struct dma_buf_sync sync = {below(soak, 8)};
   struct sync_file_info info = {0};
   struct sync_merge_data merge = {.fd2 = fences.fd};
   struct agx_virtual_node *node = soak->world->node;
   int imported = fences.fd;
   agx_virtual_fd_ioctl(node, fd, DMA_BUF_IOCTL_SYNC, &sync);
   agx_virtual_fd_ioctl(node, fd, SYNC_IOC_FILE_INFO, &info);
   if (agx_virtual_fd_ioctl(node, fd, SYNC_IOC_MERGE, &merge) == 0)
      keep_fd(soak, merge.fence);
   agx_virtual_fd_ioctl(node, fd, _IOW(DMA_BUF_BASE, 3, fences), &fences);
   if (agx_virtual_fd_ioctl(node, fd, _IOWR(DMA_BUF_BASE, 2, fences), &fences) == 0)
      keep_fd(soak, fences.fd);
   if (imported >= 0)
      close(imported);
   soak->requests += 5;
}

static void do_fds(struct soak *soak)
{
   if (soak->is_child)
      return;
   struct agx_uapi_syncobj_handle out = {.handle = name_of(soak, SOAK_SYNCOBJ),
                                         .flags = (uint32_t)below(soak, 2)};
   struct agx_uapi_prime_handle buffer = {name_of(soak, SOAK_GEM), AGX_UAPI_PRIME_CLOEXEC, -1};
   if (SEND(R_TO_FD, out) == 0)
      keep_fd(soak, out.fd);
   if (SEND(R_PRIME_OUT, buffer) == 0)
      keep_fd(soak, buffer.fd);
   if (one_in(soak, 2))
      keep_fd(soak, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
   int fd = some_fd(soak);
   uint32_t flags = (uint32_t)below(soak, 2);
   SEND(R_EVENTFD, (struct agx_uapi_syncobj_eventfd){.handle = name_of(soak, SOAK_SYNCOBJ),
                                                     .flags = one_in(soak, 2) ? 4 : 0,
                                                     .point = below(soak, 64),
                                                     .fd = fd});
   if (known(soak, SOAK_GEM) < SOAK_NAMES)
      SEND(R_PRIME_IN, (struct agx_uapi_prime_handle){0, 0, fd});
   if (flags || known(soak, SOAK_SYNCOBJ) < SOAK_NAMES)
      SEND(R_FROM_FD,
           (struct agx_uapi_syncobj_handle){
              .handle = flags ? name_of(soak, SOAK_SYNCOBJ) : 0, .flags = flags, .fd = fd});
   use_fd(soak, fd);
   if (fd >= 0)
      close(fd);
}

/* Any number with any bytes, none of which is an address of anything. */
static void do_noise(struct soak *soak)
{
   uint64_t words[2048] = {0};
   uint32_t code = (uint32_t)agx_test_random(&soak->rng);
   if (!one_in(soak, 4))
      code = (code & ~0xff00u) | 0x6400;
   uint32_t nr = AGX_UAPI_NR(code);
   for (unsigned i = 0; i < 16; i++)
      words[i] = below(soak, 3) ? odd_number(soak) & 0xffff : 0;
   bool may_sleep = nr == 0xc3 || nr == 0xca || nr == 0xcc, gives_fd = nr == 0xc1 || nr == 0x2d;
   if (may_sleep || gives_fd || !user_is_checked())
      return;
   agx_virtual_ioctl(soak->file->file, code, one_in(soak, 20) ? NULL : words);
   soak->requests++;
}

/* ---- files ---- */

static void put_file(struct soak_world *world, struct soak_file *file)
{
   pthread_mutex_lock(&world->lock);
   bool last = --file->refs == 0;
   pthread_mutex_unlock(&world->lock);
   if (!last)
      return;
   agx_virtual_close(file->file);
   free(file);
}

static struct soak_file *new_file(struct soak_world *world)
{
   struct soak_file *file = calloc(1, sizeof(*file));
   assert_non_null(file);
   file->refs = 1;
   assert_ok(agx_virtual_open(world->node, &file->file));
   return file;
}

/* Closes a file, with whatever is in flight, and opens another in its place. */
static void change_file(struct soak *soak)
{
   struct soak_world *world = soak->world;
   struct soak_file *file = new_file(world);
   pthread_mutex_lock(&world->lock);
   struct soak_file **slot = &world->files[below(soak, SOAK_FILES)], *old = *slot;
   *slot = file;
   pthread_mutex_unlock(&world->lock);
   put_file(world, old);
}

static void take_file(struct soak *soak)
{
   struct soak_world *world = soak->world;
   pthread_mutex_lock(&world->lock);
   soak->file = world->files[below(soak, SOAK_FILES)];
   soak->file->refs++;
   pthread_mutex_unlock(&world->lock);
}

void soak_step(struct soak *soak)
{
   static void (*const actions[])(struct soak *) = {
      do_bind,   do_bind,   do_gems,     do_gems,     do_submit, do_submit, do_submit, do_submit,
      do_arrays, do_arrays, do_syncobjs, do_syncobjs, do_fds,    do_vms,    do_queues, do_objects};
   if (one_in(soak, 1500))
      change_file(soak);
   take_file(soak);
   if (one_in(soak, 32))
      one_in(soak, 2) ? ask(soak) : do_noise(soak);
   else
      actions[below(soak, AGX_COUNT(actions))](soak);
   put_file(soak->world, soak->file);
}

void soak_world_open(struct soak_world *world, struct agx_virtual_node *node)
{
   *world = (struct soak_world){.node = node};
   pthread_mutex_init(&world->lock, NULL);
   for (unsigned i = 0; i < SOAK_FILES; i++)
      world->files[i] = new_file(world);
   for (unsigned i = 0; i < SOAK_FDS; i++)
      world->fds[i] = -1;
}

void soak_world_close(struct soak_world *world)
{
   for (unsigned i = 0; i < SOAK_FILES; i++)
      put_file(world, world->files[i]);
   for (unsigned i = 0; i < SOAK_FDS; i++)
      if (world->fds[i] >= 0)
         close(world->fds[i]);
   pthread_mutex_destroy(&world->lock);
}

/* The arrays lie elsewhere each time, mostly where nothing was allowed before and the other way
 * round: what held for an address once must not be believed later. */
void soak_begin(struct soak *soak, struct soak_world *world, uint64_t seed)
{
   size_t page = (size_t)sysconf(_SC_PAGESIZE);
   size_t bytes = agx_align_up(SCRATCH_BYTES, page);
   *soak = (struct soak){.rng = {seed}, .world = world, .scratch_bytes = bytes};
   soak->whole_bytes = SHIFTS * page + bytes + VOID_BYTES;
   soak->whole =
      mmap(NULL, soak->whole_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
   assert_true(soak->whole != MAP_FAILED);
   soak->scratch = soak->whole + below(soak, SHIFTS) * page;
   assert_int_equal(mprotect(soak->scratch, bytes, PROT_READ | PROT_WRITE), 0);
}

void soak_end(struct soak *soak)
{
   munmap(soak->whole, soak->whole_bytes);
}
