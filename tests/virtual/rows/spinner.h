/* SPDX-License-Identifier: MIT
 *
 * A program that runs on the node's own GPU until a word is set: what makes a fence stay
 * pending where the machine can't be replaced.
 */
#pragma once

#include <string.h>
#include <sys/mman.h>

#include "support.h"
#include "winsys/asahi_uapi.h"

#define SPIN_USC_BASE 0x1100000000ull
#define SPIN_CODE     (SPIN_USC_BASE + 0x4000)
#define SPIN_WORDS    (SPIN_USC_BASE + 0x8000)
#define SPIN_UNIFORMS 0x2000000000ull
#define SPIN_STREAM   0x2000004000ull
#define SPIN_FLAG     0x2000008000ull

/* The node, by whatever way: both give 0 or a negative errno. */
struct spinner_door {
   int (*ioctl)(void *user, unsigned long request, void *argument);
   int (*map_page)(void *user, uint64_t offset, void **out_memory);
   void *user;
};

struct spinner {
   struct spinner_door door;
   uint32_t vm, queue;
   volatile uint32_t *flag;
};

static const uint8_t spin_code[] = {
   0x62, 0x00, 0x00, 0x00,                         /* no thread is masked off */
   0x7e, 0x05, 0x00, 0x08, 0x80, 0x00,             /* r1 = 0 */
   0x05, 0x19, 0x20, 0x0e, 0x00, 0xf0, 0x12, 0x00, /* top: r3 = flag[r1] */
   0x38, 0x00,                                     /* wait for it */
   0x52, 0x0c, 0x46, 0x02, 0x00, 0x00,             /* while r3 == 0 */
   0x00, 0xc0, 0xf0, 0xff, 0xff, 0xff,             /* go to top */
   0x52, 0x0e, 0x00, 0x00, 0x00, 0x00,             /* end of the loop */
   0x88, 0x00,                                     /* stop */
   0x08, 0x00, 0x08, 0x00, 0x08, 0x00, 0x08, 0x00, 0x08, 0x00, 0x08, 0x00, 0x08, 0x00, 0x08, 0x00,
};

static const uint8_t spin_words[] = {
   0x1d, 0x00, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x20, /* 12 uniform halves */
   0x4d, 0x90, 0x00, 0x00,                         /* no threadgroup memory */
   0x0d, 0x0c, 0x00, 0x40, 0x00, 0x00,             /* code at + 0x4000 */
   0x8d, 0x01, 0x00, 0x00,                         /* 8 register halves */
   0x88, 0x00,                                     /* no preamble, end */
};

static const uint32_t spin_stream[] = {0x00000002, 0x00008000, 4,          1,          1, 4,
                                       1,          1,          0x600fffff, 0x40000000, 0};

#define SPIN_REQUEST(it, request, argument)                                                        \
   assert_int_equal((it)->door.ioctl((it)->door.user, AGX_IOCTL_##request, &(argument)), 0)

/* A page of the address space with those bytes in front. */
static inline void *spin_place(struct spinner *it, uint64_t va, const void *bytes, size_t size)
{
   struct agx_uapi_gem_create create = {
      .size = AGX_UAPI_PAGE_BYTES, .flags = AGX_UAPI_GEM_VM_PRIVATE, .vm_id = it->vm};
   SPIN_REQUEST(it, ASAHI_GEM_CREATE, create);
   struct agx_uapi_gem_bind_op op = {AGX_UAPI_BIND_READ | AGX_UAPI_BIND_WRITE, create.handle, 0,
                                     AGX_UAPI_PAGE_BYTES, va};
   struct agx_uapi_vm_bind bind = {it->vm, 1, sizeof(op), 0, (uintptr_t)&op};
   struct agx_uapi_gem_mmap_offset offset = {.handle = create.handle};
   void *memory;
   SPIN_REQUEST(it, ASAHI_VM_BIND, bind);
   SPIN_REQUEST(it, ASAHI_GEM_MMAP_OFFSET, offset);
   assert_int_equal(it->door.map_page(it->door.user, offset.offset, &memory), 0);
   memcpy(memory, bytes, size);
   return memory;
}

static inline void spin_make(struct spinner *it, struct spinner_door door)
{
   static const uint64_t uniforms[] = {SPIN_FLAG, 0, 0};
   static const uint32_t zero;
   struct agx_uapi_vm_create vm = {0x7000000000ull, 0x7fffff8000ull, 0, 0};
   it->door = door;
   SPIN_REQUEST(it, ASAHI_VM_CREATE, vm);
   it->vm = vm.vm_id;
   spin_place(it, SPIN_CODE, spin_code, sizeof(spin_code));
   spin_place(it, SPIN_WORDS, spin_words, sizeof(spin_words));
   spin_place(it, SPIN_UNIFORMS, uniforms, sizeof(uniforms));
   spin_place(it, SPIN_STREAM, spin_stream, sizeof(spin_stream));
   it->flag = spin_place(it, SPIN_FLAG, &zero, sizeof(zero));
   struct agx_uapi_queue_create queue = {.vm_id = it->vm, .usc_exec_base = SPIN_USC_BASE};
   SPIN_REQUEST(it, ASAHI_QUEUE_CREATE, queue);
   it->queue = queue.queue_id;
}

/* Submits the stream at va, whose end signals out. */
static inline void spin_submit_stream(struct spinner *it, uint64_t va, struct agx_uapi_sync out)
{
   struct {
      struct agx_uapi_cmd_header header;
      struct agx_uapi_cmd_compute compute;
   } command = {{AGX_UAPI_CMD_COMPUTE, sizeof(command.compute), 0, 0},
                {.cdm_ctrl_stream_base = va, .cdm_ctrl_stream_end = va + sizeof(spin_stream) - 8}};
   struct agx_uapi_submit args = {.syncs = (uintptr_t)&out,
                                  .cmdbuf = (uintptr_t)&command,
                                  .queue_id = it->queue,
                                  .out_sync_count = 1,
                                  .cmdbuf_size = sizeof(command)};
   SPIN_REQUEST(it, ASAHI_SUBMIT, args);
}

static inline void spin_submit(struct spinner *it, struct agx_uapi_sync out)
{
   spin_submit_stream(it, SPIN_STREAM, out);
}
