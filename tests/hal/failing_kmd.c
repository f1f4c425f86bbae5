/* SPDX-License-Identifier: MIT */
#include "failing_kmd.h"

#include <sched.h>

/* Requests that give things back: a kernel doesn't fail them, and a driver could do nothing
 * about it. */
static bool gives_back(uint32_t nr)
{
   return nr == 0x09 /* GEM_CLOSE */ || nr == 0x43 /* VM_DESTROY */ ||
          nr == 0x49 /* QUEUE_DESTROY */ || nr == 0xc0 /* SYNCOBJ_DESTROY */;
}

/* Whether this request is one to fail. */
static bool fails(struct failing_kmd *kmd, uint32_t nr)
{
   uint32_t wanted = atomic_load(&kmd->nr);
   bool counts = !gives_back(nr) && (wanted == 0 || wanted == nr);
   int left = atomic_load(&kmd->countdown);
   while (counts && left > 0 && !atomic_compare_exchange_weak(&kmd->countdown, &left, left - 1))
      ;
   if (counts && left == 0) {
      atomic_fetch_add(&kmd->failed, 1);
      if (kmd->once)
         atomic_store(&kmd->countdown, -1);
   }
   return counts && left == 0;
}

static int forward_ioctl(struct agx_kmd *base, unsigned long request, void *argument)
{
   struct failing_kmd *kmd = (struct failing_kmd *)base;
   if (fails(kmd, request & 0xff))
      return -atomic_load(&kmd->error);
   return kmd->inner->ops->ioctl(kmd->inner, request, argument);
}

static void *forward_mmap(struct agx_kmd *base, uint64_t offset, size_t length, int *out_errno)
{
   struct failing_kmd *kmd = (struct failing_kmd *)base;
   return kmd->inner->ops->mmap(kmd->inner, offset, length, out_errno);
}

static void forward_munmap(struct agx_kmd *base, void *memory, size_t length)
{
   struct failing_kmd *kmd = (struct failing_kmd *)base;
   kmd->inner->ops->munmap(kmd->inner, memory, length);
}

static int forward_fd_ioctl(struct agx_kmd *base, int fd, unsigned long request, void *argument)
{
   struct failing_kmd *kmd = (struct failing_kmd *)base;
   return kmd->inner->ops->fd_ioctl(kmd->inner, fd, request, argument);
}

static int64_t forward_dmabuf_bytes(struct agx_kmd *base, int fd)
{
   struct failing_kmd *kmd = (struct failing_kmd *)base;
   return kmd->inner->ops->dmabuf_bytes(kmd->inner, fd);
}

static int forward_make_dmabuf(struct agx_kmd *base, int memory_file, uint64_t offset,
                               uint64_t bytes)
{
   struct failing_kmd *kmd = (struct failing_kmd *)base;
   if (fails(kmd, FAILING_UDMABUF))
      return -atomic_load(&kmd->error);
   return kmd->inner->ops->make_dmabuf(kmd->inner, memory_file, offset, bytes);
}

static size_t forward_last_error(struct agx_kmd *base, char *text, size_t capacity)
{
   struct failing_kmd *kmd = (struct failing_kmd *)base;
   return kmd->inner->ops->last_error(kmd->inner, text, capacity);
}

static bool forward_take_fault(struct agx_kmd *base, uint64_t first_va, uint64_t last_va,
                               struct agx_kmd_fault *out_fault)
{
   struct failing_kmd *kmd = (struct failing_kmd *)base;
   return kmd->inner->ops->take_fault(kmd->inner, first_va, last_va, out_fault);
}

static int forward_watch_counters(struct agx_kmd *base,
                                  void (*fn)(void *user, const struct agx_kmd_counters *counters),
                                  void *user)
{
   struct failing_kmd *kmd = (struct failing_kmd *)base;
   return kmd->inner->ops->watch_counters(kmd->inner, fn, user);
}

static void forward_close(struct agx_kmd *base)
{
   struct failing_kmd *kmd = (struct failing_kmd *)base;
   assert_false(kmd->closed);
   kmd->inner->ops->close(kmd->inner);
   kmd->closed = true;
}

void failing_kmd_open(struct failing_kmd *kmd)
{
   static const struct agx_kmd_ops ops = {
      .ioctl = forward_ioctl,
      .mmap = forward_mmap,
      .munmap = forward_munmap,
      .fd_ioctl = forward_fd_ioctl,
      .dmabuf_bytes = forward_dmabuf_bytes,
      .make_dmabuf = forward_make_dmabuf,
      .last_error = forward_last_error,
      .take_fault = forward_take_fault,
      .watch_counters = forward_watch_counters,
      .close = forward_close,
   };
   *kmd = (struct failing_kmd){.countdown = -1};
   assert_ok(agx_kmd_virtual_open(NULL, &kmd->inner));
   kmd->base = (struct agx_kmd){&ops, kmd->inner->name, kmd->inner->fd};
}

void failing_kmd_arm(struct failing_kmd *kmd, int nth, uint32_t nr, int error)
{
   kmd->nr = nr;
   kmd->error = error;
   kmd->once = false;
   kmd->countdown = nth;
}

void failing_kmd_disarm(struct failing_kmd *kmd)
{
   kmd->countdown = -1;
}

void failing_kmd_await_close(const struct failing_kmd *kmd)
{
   while (!atomic_load(&kmd->closed))
      sched_yield();
}
