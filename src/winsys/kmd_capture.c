/* SPDX-License-Identifier: MIT
 *
 * The seam with a recorder in between: requests go through it, all else to the device.
 */
#include <stdlib.h>

#include "base/list.h"
#include "winsys/capture/record.h"
#include "winsys/kmd.h"

struct kmd_capture {
   struct agx_kmd base;
   struct agx_kmd_inspection inspection;
   struct agxw_recorded_ops recorded_ops;
   struct agx_kmd *inner;
   struct agxw_capture_file *file;
   struct agxw_recorder *recorder;
};

static struct kmd_capture *capture_of(struct agx_kmd *kmd)
{
   return agx_container_of(kmd, struct kmd_capture, base);
}

/* ---- the device, for the recorder ---- */

static int inner_ioctl(void *user, unsigned long request, void *argument)
{
   struct agx_kmd *inner = user;
   return inner->ops->ioctl(inner, request, argument);
}

static void *inner_mmap(void *user, uint64_t offset, size_t length, int *out_errno)
{
   struct agx_kmd *inner = user;
   return inner->ops->mmap(inner, offset, length, out_errno);
}

static void inner_munmap(void *user, void *memory, size_t length)
{
   struct agx_kmd *inner = user;
   inner->ops->munmap(inner, memory, length);
}

static int64_t inner_dmabuf_bytes(void *user, int fd)
{
   struct agx_kmd *inner = user;
   return inner->ops->dmabuf_bytes(inner, fd);
}

static bool inner_find_memory(void *user, uint64_t offset, uint64_t from, uint64_t *out_begin,
                              uint64_t *out_end)
{
   struct agx_kmd *inner = user;
   return inner->inspection->find_memory(inner, offset, from, out_begin, out_end);
}

/* ---- the seam ---- */

static int capture_ioctl(struct agx_kmd *kmd, unsigned long request, void *argument)
{
   return agxw_recorder_ioctl(capture_of(kmd)->recorder, request, argument);
}

static void *capture_mmap(struct agx_kmd *kmd, uint64_t offset, size_t length, int *out_errno)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   return inner->ops->mmap(inner, offset, length, out_errno);
}

static void capture_munmap(struct agx_kmd *kmd, void *memory, size_t length)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   inner->ops->munmap(inner, memory, length);
}

static int capture_fd_ioctl(struct agx_kmd *kmd, int fd, unsigned long request, void *argument)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   return inner->ops->fd_ioctl(inner, fd, request, argument);
}

static int64_t capture_dmabuf_bytes(struct agx_kmd *kmd, int fd)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   return inner->ops->dmabuf_bytes(inner, fd);
}

static int capture_make_dmabuf(struct agx_kmd *kmd, int memory_file, uint64_t offset,
                               uint64_t bytes)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   return inner->ops->make_dmabuf(inner, memory_file, offset, bytes);
}

static size_t capture_last_error(struct agx_kmd *kmd, char *text, size_t capacity)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   return inner->inspection->last_error(inner, text, capacity);
}

static const char *capture_obstacle(struct agx_kmd *kmd)
{
   return agxw_recorder_is_stuck(capture_of(kmd)->recorder) ? "the capture file can't be written"
                                                            : NULL;
}

static bool capture_take_fault(struct agx_kmd *kmd, uint64_t first_va, uint64_t last_va,
                               struct agx_kmd_fault *out_fault)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   return inner->inspection->take_fault(inner, first_va, last_va, out_fault);
}

static int capture_watch_counters(struct agx_kmd *kmd,
                                  void (*fn)(void *user, const struct agx_kmd_counters *counters),
                                  void *user)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   return inner->inspection->watch_counters(inner, fn, user);
}

static void capture_label(struct agx_kmd *kmd, uint32_t handle, const char *text)
{
   struct kmd_capture *capture = capture_of(kmd);
   agxw_recorder_label(capture->recorder, handle, text);
   if (capture->inner->inspection->label)
      capture->inner->inspection->label(capture->inner, handle, text);
}

static int capture_record_memory(struct agx_kmd *kmd, bool is_recorded, const char *label)
{
   return agxw_recorder_set_memory(capture_of(kmd)->recorder, is_recorded, label);
}

static int capture_declare_bounds(struct agx_kmd *kmd, uint64_t stream_va,
                                  const struct agx_kmd_range *ranges, uint32_t count)
{
   struct agx_kmd *inner = capture_of(kmd)->inner;
   return inner->inspection->declare_bounds(inner, stream_va, ranges, count);
}

static void capture_close(struct agx_kmd *kmd)
{
   struct kmd_capture *capture = capture_of(kmd);
   agxw_recorder_destroy(capture->recorder);
   if (capture->file)
      agxw_capture_file_release(capture->file);
   capture->inner->ops->close(capture->inner);
   free(capture);
}

static const struct agx_kmd_ops capture_ops = {
   .ioctl = capture_ioctl,
   .mmap = capture_mmap,
   .munmap = capture_munmap,
   .fd_ioctl = capture_fd_ioctl,
   .dmabuf_bytes = capture_dmabuf_bytes,
   .make_dmabuf = capture_make_dmabuf,
   .close = capture_close,
};

static agx_status start(struct kmd_capture *capture, const char *path,
                        const struct agxw_capture_options *options)
{
   AGX_TRY(agxw_capture_file_open(path, capture->inner->name, options, &capture->file));
   return agxw_recorder_create(capture->file, &capture->recorded_ops, capture->inner,
                               capture->inner->name, &capture->recorder);
}

agx_status agx_kmd_capture_open(struct agx_kmd *inner, const char *path, struct agx_kmd **out_kmd)
{
   struct agxw_capture_options options;
   *out_kmd = NULL;
   agx_status status = agxw_capture_options_parse(getenv("AGX_CAPTURE_OPTIONS"), &options);
   if (status == AGX_OK && options.joins && inner->fd >= 0) {
      *out_kmd = inner; /* agxdump has it recorded where all programs pass */
      return AGX_OK;
   }
   struct kmd_capture *capture = status == AGX_OK ? calloc(1, sizeof(*capture)) : NULL;
   if (!capture) {
      inner->ops->close(inner);
      return status == AGX_OK
                ? AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "capture: no memory for its recorder")
                : status;
   }
   capture->inspection = (struct agx_kmd_inspection){
      .last_error = inner->inspection->last_error ? capture_last_error : NULL,
      .obstacle = capture_obstacle,
      .take_fault = inner->inspection->take_fault ? capture_take_fault : NULL,
      .watch_counters = inner->inspection->watch_counters ? capture_watch_counters : NULL,
      .label = capture_label,
      .record_memory = capture_record_memory,
      .declare_bounds = inner->inspection->declare_bounds ? capture_declare_bounds : NULL,
   };
   capture->recorded_ops = (struct agxw_recorded_ops){
      .ioctl = inner_ioctl,
      .mmap = inner_mmap,
      .munmap = inner_munmap,
      .dmabuf_bytes = inner_dmabuf_bytes,
      .find_memory = inner->inspection->find_memory ? inner_find_memory : NULL,
   };
   capture->base = (struct agx_kmd){.ops = &capture_ops,
                                    .inspection = &capture->inspection,
                                    .name = inner->name,
                                    .fd = inner->fd};
   capture->inner = inner;
   status = start(capture, path, &options);
   if (status != AGX_OK)
      capture_close(&capture->base);
   else
      *out_kmd = &capture->base;
   return status;
}
