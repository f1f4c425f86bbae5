/* SPDX-License-Identifier: MIT
 *
 * A node that answers as an M1's would, remembers what it was asked, and fails requests on demand.
 */
#include "fake_kmd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "winsys/device_impl.h"

static struct fake_kmd *fake_of(struct agx_kmd *kmd)
{
   return (struct fake_kmd *)kmd; /* base stands first */
}

static void *pointer(uint64_t address)
{
   return (void *)(uintptr_t)address;
}

static int take_id(struct fake_kmd *fake, uint32_t *out_id, int *live)
{
   *out_id = ++fake->next_id;
   (*live)++;
   return 0;
}

static int drop(int *live)
{
   (*live)--;
   return 0;
}

static int take_submit(struct fake_kmd *fake, const struct agx_uapi_submit *request)
{
   assert_true(fake->submit_count < FAKE_MAX_SUBMITS);
   struct fake_submit *submit = &fake->submits[fake->submit_count++];
   if (fake->on_submit)
      fake->on_submit(fake->submit_user);
   uint32_t syncs = request->in_sync_count + request->out_sync_count;
   assert_true(syncs <= FAKE_MAX_SYNCS);
   submit->request = *request;
   if (syncs)
      memcpy(submit->syncs, pointer(request->syncs), syncs * sizeof(submit->syncs[0]));
   submit->command_count = request->cmdbuf_size / sizeof(submit->commands[0]);
   assert_int_equal(request->cmdbuf_size % sizeof(submit->commands[0]), 0);
   assert_in_range(submit->command_count, 1, FAKE_MAX_COMMANDS);
   memcpy(submit->commands, pointer(request->cmdbuf), request->cmdbuf_size);
   return 0;
}

static int take_bind(struct fake_kmd *fake, const struct agx_uapi_vm_bind *bind)
{
   const struct agx_uapi_gem_bind_op *ops = pointer(bind->userptr);
   assert_int_equal(bind->stride, sizeof(*ops));
   if (bind->num_binds == 2) { /* zeros and waste */
      fake->sinks[0] = ops[0];
      fake->sinks[1] = ops[1];
      fake->sink_binds++;
      return 0;
   }
   fake->bind_count = bind->num_binds;
   fake->bind = ops[0];
   fake->live.binds += fake->bind.flags & AGX_UAPI_BIND_UNBIND ? -1 : 1;
   return 0;
}

static int take_wait(struct fake_kmd *fake, const struct agx_uapi_syncobj_timeline_wait *wait)
{
   fake->wait = *wait;
   assert_in_range(wait->count_handles, 1, FAKE_MAX_WAITS);
   memcpy(fake->wait_points, pointer(wait->points), wait->count_handles * 8);
   return 0;
}

static int take_export(struct fake_kmd *fake, struct agx_uapi_syncobj_handle *export)
{
   if (fake->old_kernel && export->flags & AGX_UAPI_SYNCOBJ_TIMELINE)
      return -EINVAL;
   export->fd = eventfd(0, EFD_CLOEXEC);
   return 0;
}

static int take_import(struct fake_kmd *fake, struct agx_uapi_syncobj_handle *import)
{
   if (fcntl(import->fd, F_GETFD) == -1)
      return -EINVAL;
   if (import->flags == 0)
      return take_id(fake, &import->handle, &fake->live.syncobjs);
   return fake->old_kernel && import->flags & AGX_UAPI_SYNCOBJ_TIMELINE ? -EINVAL : 0;
}

static int give_offset(struct agx_uapi_gem_mmap_offset *get)
{
   assert_in_range(get->handle, 1, 63);
   get->offset = (uint64_t)get->handle << 32;
   return 0;
}

/* Every descriptor is of the object that the test named, or of a new one. */
static int take_buffer(struct fake_kmd *fake, struct agx_uapi_prime_handle *args)
{
   if (!fake->imported)
      return take_id(fake, &args->handle, &fake->live.buffers);
   args->handle = fake->imported;
   return 0;
}

static int answer(struct fake_kmd *fake, uint32_t request, void *argument)
{
   switch (request) {
   case AGX_IOCTL_ASAHI_GET_PARAMS: {
      struct agx_uapi_get_params *get = argument;
      assert_int_equal(get->size, sizeof(fake->params));
      memcpy(pointer(get->pointer), &fake->params, sizeof(fake->params));
      return 0;
   }
   case AGX_IOCTL_ASAHI_VM_CREATE:
      fake->vm = *(struct agx_uapi_vm_create *)argument;
      return take_id(fake, &((struct agx_uapi_vm_create *)argument)->vm_id, &fake->live.vms);
   case AGX_IOCTL_ASAHI_VM_DESTROY:
      return drop(&fake->live.vms);
   case AGX_IOCTL_ASAHI_GEM_CREATE:
      fake->gem = *(struct agx_uapi_gem_create *)argument;
      return take_id(fake, &((struct agx_uapi_gem_create *)argument)->handle, &fake->live.buffers);
   case AGX_IOCTL_GEM_CLOSE:
      return drop(&fake->live.buffers);
   case AGX_IOCTL_ASAHI_GEM_MMAP_OFFSET:
      return give_offset(argument);
   case AGX_IOCTL_PRIME_HANDLE_TO_FD:
      ((struct agx_uapi_prime_handle *)argument)->fd = eventfd(0, EFD_CLOEXEC);
      return 0;
   case AGX_IOCTL_PRIME_FD_TO_HANDLE:
      return take_buffer(fake, argument);
   case AGX_IOCTL_ASAHI_VM_BIND:
      return take_bind(fake, argument);
   case AGX_IOCTL_ASAHI_GEM_BIND_OBJECT: {
      struct agx_uapi_gem_bind_object *bind = argument;
      if (bind->op == AGX_UAPI_BIND_OBJECT_OP_UNBIND) {
         assert_int_equal(bind->object_handle, fake->object.object_handle);
         return drop(&fake->live.objects);
      }
      int error = take_id(fake, &bind->object_handle, &fake->live.objects);
      fake->object = *bind;
      return error;
   }
   case AGX_IOCTL_ASAHI_GET_TIME:
      ((struct agx_uapi_get_time *)argument)->gpu_timestamp = 77;
      return 0;
   case AGX_IOCTL_ASAHI_QUEUE_CREATE:
      fake->queue = *(struct agx_uapi_queue_create *)argument;
      return take_id(fake, &((struct agx_uapi_queue_create *)argument)->queue_id,
                     &fake->live.queues);
   case AGX_IOCTL_ASAHI_QUEUE_DESTROY:
      return drop(&fake->live.queues);
   case AGX_IOCTL_ASAHI_SUBMIT:
      return take_submit(fake, argument);
   case AGX_IOCTL_SYNCOBJ_CREATE:
      return take_id(fake, &((struct agx_uapi_syncobj_create *)argument)->handle,
                     &fake->live.syncobjs);
   case AGX_IOCTL_SYNCOBJ_DESTROY:
      return drop(&fake->live.syncobjs);
   case AGX_IOCTL_SYNCOBJ_WAIT: /* submissions are done at once */
      return 0;
   case AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT:
      return take_wait(fake, argument);
   case AGX_IOCTL_SYNCOBJ_TIMELINE_SIGNAL:
      fake->signalled =
         *(uint64_t *)pointer(((struct agx_uapi_syncobj_timeline_array *)argument)->points);
      return 0;
   case AGX_IOCTL_SYNCOBJ_QUERY:
      *(uint64_t *)pointer(((struct agx_uapi_syncobj_timeline_array *)argument)->points) =
         fake->signalled;
      return 0;
   case AGX_IOCTL_SYNCOBJ_TRANSFER:
      assert_true(fake->transfer_count < FAKE_MAX_TRANSFERS);
      fake->transfers[fake->transfer_count++] = *(struct agx_uapi_syncobj_transfer *)argument;
      return 0;
   case AGX_IOCTL_SYNCOBJ_HANDLE_TO_FD:
      return take_export(fake, argument);
   case AGX_IOCTL_SYNCOBJ_FD_TO_HANDLE:
      return take_import(fake, argument);
   case AGX_IOCTL_SYNCOBJ_EVENTFD:
      return 0;
   }
   fail_msg("request %#x is unexpected", request);
   return -ENOTTY;
}

static int fake_ioctl(struct agx_kmd *kmd, unsigned long request, void *argument)
{
   struct fake_kmd *fake = fake_of(kmd);
   assert_false(fake->closed);
   if (fake->fail_nr == 0 || fake->fail_nr == AGX_UAPI_NR(request)) {
      int index = fake->requests++;
      if (fake->fail_at >= 0 && index >= fake->fail_at && index < fake->fail_at + fake->fail_times)
         return -fake->fail_errno;
   }
   return fake->inner ? fake->inner->ops->ioctl(fake->inner, request, argument)
                      : answer(fake, (uint32_t)request, argument);
}

static void *fake_mmap(struct agx_kmd *kmd, uint64_t offset, size_t length, int *out_errno)
{
   struct fake_kmd *fake = fake_of(kmd);
   if (fake->inner)
      return fake->inner->ops->mmap(fake->inner, offset, length, out_errno);
   fake->live.mappings++;
   void **memory = &fake->memory[offset >> 32];
   if (!*memory)
      *memory = calloc(1, length);
   return *memory;
}

static void fake_munmap(struct agx_kmd *kmd, void *memory, size_t length)
{
   struct fake_kmd *fake = fake_of(kmd);
   if (fake->inner) {
      fake->inner->ops->munmap(fake->inner, memory, length);
      return;
   }
   fake->live.mappings--;
}

static int fake_fd_ioctl(struct agx_kmd *kmd, int fd, unsigned long request, void *argument)
{
   struct fake_kmd *fake = fake_of(kmd);
   if (fake->inner)
      return fake->inner->ops->fd_ioctl(fake->inner, fd, request, argument);
   assert_int_equal(request, SYNC_IOC_FILE_INFO);
   assert_int_not_equal(fcntl(fd, F_GETFD), -1);
   struct sync_file_info *info = argument;
   info->status = fake->file_status;
   if (info->num_fences > 0) {
      struct sync_fence_info *fences = pointer(info->sync_fence_info);
      fences[0].status = fake->fence_status;
   }
   info->num_fences = 1;
   return 0;
}

static int64_t fake_dmabuf_bytes(struct agx_kmd *kmd, int fd)
{
   struct fake_kmd *fake = fake_of(kmd);
   if (fake->inner)
      return fake->inner->ops->dmabuf_bytes(fake->inner, fd);
   return fake->dmabuf_bytes;
}

static int fake_make_dmabuf(struct agx_kmd *kmd, int memory_file, uint64_t offset, uint64_t bytes)
{
   struct fake_kmd *fake = fake_of(kmd);
   if (fake->inner)
      return fake->inner->ops->make_dmabuf(fake->inner, memory_file, offset, bytes);
   return fake->make_dmabuf_error ? fake->make_dmabuf_error : fcntl(memory_file, F_DUPFD, 0);
}

static size_t fake_last_error(struct agx_kmd *kmd, char *text, size_t capacity)
{
   const char *last = fake_of(kmd)->last_error;
   snprintf(text, capacity, "%s", last ? last : "");
   return last ? strlen(last) : 0;
}

static void fake_close(struct agx_kmd *kmd)
{
   struct fake_kmd *fake = fake_of(kmd);
   assert_false(fake->closed);
   fake->closed = true;
   for (int i = 0; i < 64; i++)
      free(fake->memory[i]);
   if (fake->inner)
      fake->inner->ops->close(fake->inner);
}

static void fake_label(struct agx_kmd *kmd, uint32_t handle, const char *text)
{
   snprintf(fake_of(kmd)->label, sizeof(fake_of(kmd)->label), "%s", text);
}

static const struct agx_kmd_ops fake_ops = {
   .ioctl = fake_ioctl,
   .mmap = fake_mmap,
   .munmap = fake_munmap,
   .fd_ioctl = fake_fd_ioctl,
   .dmabuf_bytes = fake_dmabuf_bytes,
   .make_dmabuf = fake_make_dmabuf,
   .close = fake_close,
};

static const struct agx_kmd_inspection fake_inspection = {
   .last_error = fake_last_error,
   .label = fake_label,
};

void fake_kmd_init(struct fake_kmd *fake)
{
   *fake = (struct fake_kmd){
      .base = {.ops = &fake_ops, .inspection = &fake_inspection, .name = "fake", .fd = -1},
      .fail_at = -1,
      .params =
         {
            .features = AGX_UAPI_FEATURE_SOFT_FAULTS,
            .gpu_generation = 13,
            .gpu_variant = 'G',
            .gpu_revision = 0x11,
            .chip_id = 0x8103,
            .num_dies = 1,
            .num_clusters_total = 1,
            .num_cores_per_cluster = 8,
            .max_frequency_khz = 1278000,
            .core_masks = {0xff},
            .vm_start = 0x4000,
            .vm_end = 0x7fffff8000,
            .vm_kernel_min_size = 0x20000000,
            .max_commands_per_submission = 64,
            .max_attachments = 16,
            .command_timestamp_frequency_hz = 1000000000,
         },
   };
}

void fake_kmd_wrap(struct fake_kmd *fake, struct agx_kmd *inner)
{
   fake_kmd_init(fake);
   fake->inner = inner;
   fake->base.name = inner->name;
}

void fake_kmd_fail(struct fake_kmd *fake, int nth, uint32_t nr, int error)
{
   fake->requests = 0;
   fake->fail_at = nth;
   fake->fail_times = 1;
   fake->fail_nr = nr;
   fake->fail_errno = error;
}

void fake_kmd_assert_clean(const struct fake_kmd *fake)
{
   assert_true(fake->closed);
   if (fake->inner)
      return;
   assert_int_equal(fake->live.vms, 0);
   assert_int_equal(fake->live.buffers, 0);
   assert_int_equal(fake->live.queues, 0);
   assert_int_equal(fake->live.syncobjs, 0);
   assert_int_equal(fake->live.mappings, 0);
}

void fake_device_begin(struct fake_device *it)
{
   memset(it, 0, sizeof(*it));
   fake_kmd_init(&it->fake);
   assert_ok(agxw_device_create(&it->fake.base, NULL, &it->device));
}

void fake_device_begin_queue(struct fake_device *it, uint32_t max_commands)
{
   memset(it, 0, sizeof(*it));
   fake_kmd_init(&it->fake);
   it->fake.params.max_commands_per_submission = max_commands;
   assert_ok(agxw_device_create(&it->fake.base, NULL, &it->device));
   assert_ok(agxw_queue_create(it->device, 0, &it->queue));
   assert_ok(agxw_timeline_create(it->device, 0, &it->timeline));
   assert_ok(agxw_timeline_create(it->device, 0, &it->second));
}

void fake_device_end(struct fake_device *it)
{
   agxw_timeline_destroy(it->timeline);
   agxw_timeline_destroy(it->second);
   agxw_queue_destroy(it->queue);
   agxw_bo_destroy(it->range);
   agxw_bo_destroy(it->memory);
   assert_int_equal(it->device->user.live, 0);
   assert_int_equal(it->device->usc.live, 0);
   assert_true(agx_list_empty(&it->device->shared));
   agxw_device_destroy(it->device);
   fake_kmd_assert_clean(&it->fake);
}
