/* SPDX-License-Identifier: MIT
 *
 * Queues, the times of commands, and submissions. A submission: one ioctl, built on the stack.
 * Commands of a submission run one after the other: command i carries cdm_barrier = i, "the i-th of
 * this ioctl has ended"; the first one's 0 means "everything of earlier ioctls on this queue". What
 * doesn't fit one ioctl is split (split.c): waits with the first part, signals with the last.
 * Source: docs/hw/kernel.md 5 and 8.
 */
#include "base/util.h"
#include "winsys/device_impl.h"

/* Commands per ioctl that the stack has room for, whatever the kernel would take. */
#define MAX_COMMANDS 64

struct packed_command {
   struct agx_uapi_cmd_header header;
   struct agx_uapi_cmd_compute compute;
};
_Static_assert(sizeof(struct packed_command) == 72, "commands follow each other without holes");

/* Adds a wait; of one timeline only the largest value stays, as the kernel wants. */
static uint32_t add_wait(struct agx_uapi_sync *syncs, uint32_t count,
                         const struct agxw_point *point)
{
   if (point->value == 0)
      return count; /* every timeline has reached 0; to the kernel it means "latest" */
   for (uint32_t i = 0; i < count; i++) {
      if (syncs[i].handle == point->timeline->handle) {
         syncs[i].timeline_value = AGX_MAX(syncs[i].timeline_value, point->value);
         return count;
      }
   }
   syncs[count] = (struct agx_uapi_sync){.sync_type = AGX_UAPI_SYNC_TIMELINE_SYNCOBJ,
                                         .handle = point->timeline->handle,
                                         .timeline_value = point->value};
   return count + 1;
}

static uint32_t pack_waits(struct agx_uapi_sync *syncs, const struct agxw_submit *submit)
{
   uint32_t count = 0;
   for (uint32_t i = 0; i < submit->wait_count; i++)
      count = add_wait(syncs, count, &submit->waits[i]);
   return count;
}

static void pack_signals(struct agx_uapi_sync *syncs, const struct agxw_submit *submit)
{
   for (uint32_t i = 0; i < submit->signal_count; i++)
      syncs[i] = (struct agx_uapi_sync){.sync_type = AGX_UAPI_SYNC_TIMELINE_SYNCOBJ,
                                        .handle = submit->signals[i].timeline->handle,
                                        .timeline_value = submit->signals[i].value};
}

static struct agx_uapi_helper_program pack_helper(const struct agxw_helper *helper)
{
   return helper ? (struct agx_uapi_helper_program){.binary = helper->code_offset | 1,
                                                    .data = helper->data_va}
                 : (struct agx_uapi_helper_program){0};
}

static void pack_commands(struct packed_command *packed, const struct agxw_submit *submit)
{
   const struct agxw_compute *commands = submit->commands;
   for (uint32_t i = 0; i < submit->command_count; i++) {
      packed[i] = (struct packed_command){
         .header = {.cmd_type = AGX_UAPI_CMD_COMPUTE,
                    .size = sizeof(packed[i].compute),
                    .vdm_barrier = AGX_UAPI_BARRIER_NONE,
                    .cdm_barrier = (uint16_t)i},
         .compute = {.cdm_ctrl_stream_base = commands[i].stream_va,
                     .cdm_ctrl_stream_end = commands[i].stream_end_va,
                     .sampler_count = submit->samplers.count,
                     .sampler_heap = submit->samplers.heap_va,
                     .helper = pack_helper(submit->helper)},
      };
      if (commands[i].stamps || commands[i].stamped)
         agxw_stamps_pack(&commands[i], &packed[i].compute.ts);
   }
}

static agx_status check_submit(const struct agxw_submit *submit)
{
   if (submit->wait_count > AGXW_MAX_SYNCS || submit->signal_count > AGXW_MAX_SYNCS)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: %u waits and %u signals; %u each are possible",
                      submit->wait_count, submit->signal_count, AGXW_MAX_SYNCS);
   for (uint32_t i = 0; i < submit->signal_count; i++)
      if (submit->signals[i].value == 0)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: signal %u has value 0", i);
   return AGX_OK;
}

agx_status agxw_submit_whole(struct agxw_queue *queue, const struct agxw_submit *submit)
{
   struct agx_uapi_sync syncs[2 * AGXW_MAX_SYNCS];
   struct packed_command packed[MAX_COMMANDS];
   uint32_t waits = pack_waits(syncs, submit);
   pack_signals(syncs + waits, submit);
   pack_commands(packed, submit);
   struct agx_uapi_submit request = {
      .syncs = waits + submit->signal_count ? (uintptr_t)syncs : 0,
      .cmdbuf = (uintptr_t)packed,
      .queue_id = queue->id,
      .in_sync_count = waits,
      .out_sync_count = submit->signal_count,
      .cmdbuf_size = submit->command_count * (uint32_t)sizeof(packed[0]),
   };
   int error = agxw_ioctl(queue->device, AGX_IOCTL_ASAHI_SUBMIT, &request);
   if (!error)
      return AGX_OK;
   struct agx_kmd *kmd = queue->device->kmd;
   const char *why = kmd->inspection->obstacle ? kmd->inspection->obstacle(kmd) : NULL;
   return agx_status_fail_errno(
      error, "queue %u: SUBMIT of %u commands with %u waits, %u signals%s%s", queue->id,
      submit->command_count, waits, submit->signal_count, why ? ": " : "", why ? why : "");
}

agx_status agxw_submit(struct agxw_queue *queue, const struct agxw_submit *submit)
{
   AGX_TRY(check_submit(submit));
   if (submit->command_count == 0)
      return agxw_submit_syncs(queue->device, submit);
   uint32_t limit = AGX_MIN(queue->device->info.max_commands, MAX_COMMANDS);
   if (submit->command_count > limit)
      return agxw_submit_split(queue, submit, limit);
   return agxw_submit_whole(queue, submit);
}

/* A submission without commands. The kernel's SUBMIT wants at least one, so fences
 * are copied instead: the wait's fence becomes the fence of each signal. Several
 * waits are first collected in a timeline made for the purpose, whose last point is
 * reached when all of its points are. */

/* A wait on value 0 is no wait. */
static uint32_t count_waits(const struct agxw_submit *submit, const struct agxw_point **out_last)
{
   uint32_t count = 0;
   for (uint32_t i = 0; i < submit->wait_count; i++) {
      if (submit->waits[i].value == 0)
         continue;
      *out_last = &submit->waits[i];
      count++;
   }
   return count;
}

static agx_status signal_now(const struct agxw_submit *submit)
{
   for (uint32_t i = 0; i < submit->signal_count; i++)
      AGX_TRY(agxw_timeline_signal(submit->signals[i].timeline, submit->signals[i].value));
   return AGX_OK;
}

static agx_status signal_after(struct agxw_device *device, const struct agxw_submit *submit,
                               uint32_t handle, uint64_t value)
{
   for (uint32_t i = 0; i < submit->signal_count; i++) {
      const struct agxw_point *signal = &submit->signals[i];
      int error =
         agxw_syncobj_transfer(device, handle, value, signal->timeline->handle, signal->value);
      if (error)
         return agx_status_fail_errno(error, "submit: SYNCOBJ_TRANSFER to signal %u, value %llu", i,
                                      (unsigned long long)signal->value);
   }
   return AGX_OK;
}

static agx_status collect(struct agxw_device *device, const struct agxw_submit *submit,
                          uint32_t handle, uint64_t *out_value)
{
   uint64_t value = 0;
   for (uint32_t i = 0; i < submit->wait_count; i++) {
      const struct agxw_point *wait = &submit->waits[i];
      if (wait->value == 0)
         continue;
      int error =
         agxw_syncobj_transfer(device, wait->timeline->handle, wait->value, handle, ++value);
      if (error)
         return agx_status_fail_errno(error, "submit: SYNCOBJ_TRANSFER from wait %u, value %llu", i,
                                      (unsigned long long)wait->value);
   }
   *out_value = value;
   return AGX_OK;
}

agx_status agxw_submit_syncs(struct agxw_device *device, const struct agxw_submit *submit)
{
   const struct agxw_point *wait = NULL;
   uint32_t waits = count_waits(submit, &wait);
   if (waits == 0)
      return signal_now(submit);
   if (waits == 1)
      return signal_after(device, submit, wait->timeline->handle, wait->value);
   uint32_t sum;
   int error = agxw_syncobj_create(device, 0, &sum);
   if (error)
      return agx_status_fail_errno(error, "submit: SYNCOBJ_CREATE to collect %u waits", waits);
   uint64_t value = 0;
   agx_status status = collect(device, submit, sum, &value);
   if (status == AGX_OK)
      status = signal_after(device, submit, sum, value);
   agxw_syncobj_destroy(device, sum);
   return status;
}

/* A queue: one of the kernel's, fixed to the device's window for code. It holds no
 * state of ours, so any thread may submit to it at any time. */

agx_status agxw_queue_create(struct agxw_device *device, uint32_t priority,
                             struct agxw_queue **out_queue)
{
   *out_queue = NULL;
   struct agxw_queue *queue = agx_host_zalloc(device->alloc, sizeof(*queue));
   if (!queue)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "queue: no memory for the object");
   struct agx_uapi_queue_create create = {
      .vm_id = device->vm_id, .priority = priority, .usc_exec_base = device->address_map.usc_start};
   int error = agxw_ioctl(device, AGX_IOCTL_ASAHI_QUEUE_CREATE, &create);
   if (error) {
      agx_host_free(device->alloc, queue, sizeof(*queue));
      return agx_status_fail_errno(error, "queue: QUEUE_CREATE with priority %u", priority);
   }
   queue->device = device;
   queue->id = create.queue_id;
   *out_queue = queue;
   return AGX_OK;
}

void agxw_queue_destroy(struct agxw_queue *queue)
{
   if (!queue)
      return;
   struct agx_uapi_queue_destroy destroy = {.queue_id = queue->id};
   agxw_ioctl(queue->device, AGX_IOCTL_ASAHI_QUEUE_DESTROY, &destroy);
   agx_host_free(queue->device->alloc, queue, sizeof(*queue));
}

/* Memory that the GPU's firmware writes the times of commands to. It has to be a buffer that
 * could be shared, made known to the kernel. Source: docs/hw/kernel.md 3 and 5. */

struct agxw_stamps {
   struct agxw_device *device;
   struct agxw_bo *bo;
   uint32_t count;
   _Atomic uint64_t *times;
};

agx_status agxw_bo_take_stamps(struct agxw_bo *bo)
{
   struct agx_uapi_gem_bind_object bind = {
      .op = AGX_UAPI_BIND_OBJECT_OP_BIND,
      .flags = AGX_UAPI_BIND_OBJECT_USAGE_TIMESTAMPS,
      .handle = bo->handle,
      .range = bo->size,
   };
   int error = agxw_ioctl(bo->device, AGX_IOCTL_ASAHI_GEM_BIND_OBJECT, &bind);
   if (error)
      return agx_status_fail_errno(error, "timestamps: GEM_BIND_OBJECT of %llu bytes",
                                   (unsigned long long)bo->size);
   bo->stamps = bind.object_handle;
   return AGX_OK;
}

void agxw_bo_drop_stamps(struct agxw_bo *bo)
{
   struct agx_uapi_gem_bind_object unbind = {.op = AGX_UAPI_BIND_OBJECT_OP_UNBIND,
                                             .object_handle = bo->stamps};
   if (bo->stamps)
      agxw_ioctl(bo->device, AGX_IOCTL_ASAHI_GEM_BIND_OBJECT, &unbind);
   bo->stamps = 0;
}

static agx_status fill(struct agxw_stamps *stamps)
{
   void *memory = NULL;
   AGX_TRY(agxw_bo_create(stamps->device, stamps->count * sizeof(uint64_t), 0,
                          AGXW_BO_SHAREABLE | AGXW_BO_CACHED, "timestamps", &stamps->bo));
   AGX_TRY(agxw_bo_map(stamps->bo, &memory));
   stamps->times = memory;
   return agxw_bo_take_stamps(stamps->bo);
}

agx_status agxw_stamps_create(struct agxw_device *device, uint32_t count,
                              struct agxw_stamps **out_stamps)
{
   *out_stamps = NULL;
   struct agxw_stamps *stamps = agx_host_zalloc(device->alloc, sizeof(*stamps));
   if (!stamps)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "timestamps: no memory for the object");
   stamps->device = device;
   stamps->count = count;
   agx_status status = fill(stamps);
   if (status != AGX_OK)
      agxw_stamps_destroy(stamps);
   else
      *out_stamps = stamps;
   return status;
}

void agxw_stamps_destroy(struct agxw_stamps *stamps)
{
   if (!stamps)
      return;
   struct agxw_device *device = stamps->device;
   agxw_bo_destroy(stamps->bo);
   agx_host_free(device->alloc, stamps, sizeof(*stamps));
}

_Atomic uint64_t *agxw_stamps_times(struct agxw_stamps *stamps)
{
   return stamps->times;
}

void agxw_stamps_pack(const struct agxw_compute *command, struct agx_uapi_timestamps *out_stamps)
{
   const struct agxw_stamps *stamps = command->stamps;
   *out_stamps = (struct agx_uapi_timestamps){0};
   if (!stamps) {
      out_stamps->end.handle = command->stamped->stamps;
      out_stamps->end.offset = command->stamped_offset_B;
      return;
   }
   out_stamps->start.handle = out_stamps->end.handle = stamps->bo->stamps;
   out_stamps->start.offset = command->start_stamp * (uint32_t)sizeof(uint64_t);
   out_stamps->end.offset = command->end_stamp * (uint32_t)sizeof(uint64_t);
}

agx_status agxw_device_time(struct agxw_device *device, uint64_t *out_time)
{
   struct agx_uapi_get_time get = {0};
   *out_time = 0;
   int error = agxw_ioctl(device, AGX_IOCTL_ASAHI_GET_TIME, &get);
   if (error)
      return agx_status_fail_errno(error, "%s: GET_TIME", device->kmd->name);
   *out_time = get.gpu_timestamp;
   return AGX_OK;
}
