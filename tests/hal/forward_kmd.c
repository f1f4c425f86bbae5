/* SPDX-License-Identifier: MIT
 *
 * The node in front of the virtual one: each call goes on to it, with hooks before and after
 * requests. failing_kmd.c and the soak test build on it.
 */
#include "forward_kmd.h"

static int forward_ioctl(struct agx_kmd *base, unsigned long request, void *argument)
{
   struct forward_kmd *kmd = (struct forward_kmd *)base;
   const uint32_t nr = request & 0xff;
   int error = kmd->before ? kmd->before(kmd, nr, argument) : 0;
   if (!error)
      error = kmd->inner->ops->ioctl(kmd->inner, request, argument);
   void (*after)(struct forward_kmd *, uint32_t, const void *, int) = kmd->after;
   if (after)
      after(kmd, nr, argument, error);
   return error;
}

static void *forward_mmap(struct agx_kmd *base, uint64_t offset, size_t length, int *out_errno)
{
   struct forward_kmd *kmd = (struct forward_kmd *)base;
   return kmd->inner->ops->mmap(kmd->inner, offset, length, out_errno);
}

static void forward_munmap(struct agx_kmd *base, void *memory, size_t length)
{
   struct forward_kmd *kmd = (struct forward_kmd *)base;
   kmd->inner->ops->munmap(kmd->inner, memory, length);
}

static int forward_fd_ioctl(struct agx_kmd *base, int fd, unsigned long request, void *argument)
{
   struct forward_kmd *kmd = (struct forward_kmd *)base;
   return kmd->inner->ops->fd_ioctl(kmd->inner, fd, request, argument);
}

static int64_t forward_dmabuf_bytes(struct agx_kmd *base, int fd)
{
   struct forward_kmd *kmd = (struct forward_kmd *)base;
   return kmd->inner->ops->dmabuf_bytes(kmd->inner, fd);
}

static int forward_make_dmabuf(struct agx_kmd *base, int memory_file, uint64_t offset,
                               uint64_t bytes)
{
   struct forward_kmd *kmd = (struct forward_kmd *)base;
   int error = kmd->before ? kmd->before(kmd, FORWARD_UDMABUF, NULL) : 0;
   return error ? error : kmd->inner->ops->make_dmabuf(kmd->inner, memory_file, offset, bytes);
}

static size_t forward_last_error(struct agx_kmd *base, char *text, size_t capacity)
{
   struct forward_kmd *kmd = (struct forward_kmd *)base;
   return kmd->inner->inspection->last_error(kmd->inner, text, capacity);
}

static bool forward_take_fault(struct agx_kmd *base, uint64_t first_va, uint64_t last_va,
                               struct agx_kmd_fault *out_fault)
{
   struct forward_kmd *kmd = (struct forward_kmd *)base;
   return kmd->inner->inspection->take_fault(kmd->inner, first_va, last_va, out_fault);
}

static int forward_watch_counters(struct agx_kmd *base,
                                  void (*fn)(void *user, const struct agx_kmd_counters *counters),
                                  void *user)
{
   struct forward_kmd *kmd = (struct forward_kmd *)base;
   return kmd->inner->inspection->watch_counters(kmd->inner, fn, user);
}

static void forward_close(struct agx_kmd *base)
{
   struct forward_kmd *kmd = (struct forward_kmd *)base;
   assert_false(kmd->closed);
   kmd->inner->ops->close(kmd->inner);
   atomic_store(&kmd->closed, true);
}

void forward_kmd_open(struct forward_kmd *kmd)
{
   static const struct agx_kmd_ops ops = {
      .ioctl = forward_ioctl,
      .mmap = forward_mmap,
      .munmap = forward_munmap,
      .fd_ioctl = forward_fd_ioctl,
      .dmabuf_bytes = forward_dmabuf_bytes,
      .make_dmabuf = forward_make_dmabuf,
      .close = forward_close,
   };
   static const struct agx_kmd_inspection inspection = {
      .last_error = forward_last_error,
      .take_fault = forward_take_fault,
      .watch_counters = forward_watch_counters,
   };
   *kmd = (struct forward_kmd){0};
   assert_ok(agx_kmd_virtual_open(NULL, &kmd->inner));
   kmd->base = (struct agx_kmd){&ops, &inspection, kmd->inner->name, kmd->inner->fd};
}
