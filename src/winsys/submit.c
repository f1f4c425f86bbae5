/* SPDX-License-Identifier: MIT
 *
 * A submission: one ioctl, built on the stack. Commands of a submission run one
 * after the other: command i carries cdm_barrier = i, "the i-th of this ioctl has
 * ended"; the first one's 0 means "everything of earlier ioctls on this queue".
 * What doesn't fit one ioctl is split (split.c): waits with the first part, signals
 * with the last. Source: docs/hw/kernel.md 5 and 8.
 */
#include "base/util.h"
#include "winsys/device.h"

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

static void pack_commands(struct packed_command *packed, const struct agxw_compute *commands,
                          uint32_t count)
{
   for (uint32_t i = 0; i < count; i++) {
      packed[i] = (struct packed_command){
         .header = {.cmd_type = AGX_UAPI_CMD_COMPUTE,
                    .size = sizeof(packed[i].compute),
                    .vdm_barrier = AGX_UAPI_BARRIER_NONE,
                    .cdm_barrier = (uint16_t)i},
         .compute = {.cdm_ctrl_stream_base = commands[i].stream_va,
                     .cdm_ctrl_stream_end = commands[i].stream_end_va},
      };
      if (commands[i].stamps)
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
   pack_commands(packed, submit->commands, submit->command_count);
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
