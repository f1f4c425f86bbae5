/* SPDX-License-Identifier: MIT
 *
 * SUBMIT: copies everything once, checks everything, and only then queues. What it
 * refuses leaves no trace. Checks: docs/hw/kernel.md 5. Render commands are checked and accepted,
 * but not executed: the job ends with -ENODATA where the first of them stands.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "winsys/virtual/sync/fence.h"
#include "winsys/virtual/node/node_impl.h"
#include "winsys/virtual/gpu/job.h"
#include "winsys/virtual/sync/syncobj.h"
#include "winsys/virtual/store/user.h"

#define MAX_SYNCS     (1u << 16)
#define MAX_CMDBUF_B  (1u << 24)
#define SMALL_BYTES   2048u /* what fits on the stack */
#define MAX_RENDER_PX 16384u
#define MAX_LAYERS    2048u

struct submission {
   struct agx_virtual_file *file;
   const struct agx_uapi_submit *args;
   const struct agx_uapi_sync *syncs; /* in, then out */
   const uint8_t *cmdbuf;
   struct agxv_command commands[AGXV_MAX_COMMANDS];
   uint32_t compute_count, render_count;
   uint32_t executed_count; /* of the compute commands: those before any render command */
   uint64_t render_va;      /* the stream of the first render command */
};

/* The record at the cursor, with what is missing of its payload as zeros. */
struct record {
   struct agx_uapi_cmd_header header;
   const uint8_t *payload;
};

static void read_payload(void *to, size_t size, const struct record *record)
{
   memset(to, 0, size);
   memcpy(to, record->payload, AGX_MIN(size, record->header.size));
}

static int check_barrier(uint16_t barrier, uint32_t seen)
{
   return barrier != AGX_UAPI_BARRIER_NONE && barrier > seen ? -EINVAL : 0;
}

static int check_stamp(const struct submission *submission,
                       const struct agx_uapi_timestamp *timestamp, struct agxv_stamp *out_stamp)
{
   *out_stamp = (struct agxv_stamp){0};
   if (timestamp->handle == 0)
      return 0;
   uint32_t ref = agxv_object_find(submission->file, AGXV_BOUND, timestamp->handle);
   if (!ref)
      return -ENOENT;
   const struct agxv_bound *bound = AGXV_AT(submission->file->node, agxv_bound, ref);
   if (timestamp->offset > UINT32_MAX - sizeof(uint64_t))
      return -EINVAL;
   if (!agx_range_fits(timestamp->offset, sizeof(uint64_t), bound->range))
      return -ERANGE;
   *out_stamp = (struct agxv_stamp){ref, timestamp->offset};
   return 0;
}

static int take_compute(struct submission *submission, const struct record *record)
{
   struct agx_uapi_cmd_compute compute;
   if (record->header.size > sizeof(compute))
      return -EINVAL;
   read_payload(&compute, sizeof(compute), record);
   if (compute.flags)
      return -EINVAL;
   struct agxv_command *command = &submission->commands[submission->compute_count];
   command->stream_va = compute.cdm_ctrl_stream_base;
   command->sampler_heap = compute.sampler_heap;
   command->sampler_count = compute.sampler_count;
   command->helper =
      (struct agxs_helper_program){compute.helper.binary, compute.helper.cfg, compute.helper.data};
   command->barrier = record->header.cdm_barrier;
   int error = check_stamp(submission, &compute.ts.start, &command->start);
   if (!error)
      error = check_stamp(submission, &compute.ts.end, &command->end);
   submission->compute_count++;
   submission->executed_count += submission->render_count == 0;
   return error;
}

static bool is_utile(uint8_t width, uint8_t height)
{
   return (width == 32 && (height == 32 || height == 16)) || (width == 16 && height == 16);
}

static int take_render(struct submission *submission, const struct record *record)
{
   const uint32_t known = AGX_UAPI_RENDER_VERTEX_SCRATCH | AGX_UAPI_RENDER_PROCESS_EMPTY_TILES |
                          AGX_UAPI_RENDER_NO_VERTEX_CLUSTERING | AGX_UAPI_RENDER_DBIAS_IS_INT;
   struct agx_uapi_cmd_render render;
   if (record->header.size > sizeof(render))
      return -EINVAL;
   read_payload(&render, sizeof(render), record);
   if (render.flags & ~known || !is_utile(render.utile_width_px, render.utile_height_px))
      return -EINVAL;
   if (render.width_px == 0 || render.width_px > MAX_RENDER_PX || render.height_px == 0 ||
       render.height_px > MAX_RENDER_PX || render.layers == 0 || render.layers > MAX_LAYERS)
      return -EINVAL;
   if (render.samples != 1 && render.samples != 2 && render.samples != 4)
      return -EINVAL;
   const struct agx_uapi_timestamp *stamps[] = {&render.ts_vtx.start, &render.ts_vtx.end,
                                                &render.ts_frag.start, &render.ts_frag.end};
   struct agxv_stamp ignored;
   int error = 0;
   for (unsigned i = 0; i < AGX_COUNT(stamps) && !error; i++)
      error = check_stamp(submission, stamps[i], &ignored);
   if (submission->render_count++ == 0)
      submission->render_va = render.vdm_ctrl_stream_base;
   return error;
}

/* Attachments are hints; nothing here uses them. */
static int take_attachments(const struct record *record)
{
   const struct agx_uapi_cmd_header *header = &record->header;
   uint32_t count = header->size / sizeof(struct agx_uapi_attachment);
   if (header->vdm_barrier != AGX_UAPI_BARRIER_NONE || header->cdm_barrier != AGX_UAPI_BARRIER_NONE)
      return -EINVAL;
   if (header->size % sizeof(struct agx_uapi_attachment) || count > AGXV_MAX_ATTACHMENTS)
      return -EINVAL;
   for (uint32_t i = 0; i < count; i++) {
      struct agx_uapi_attachment attachment;
      memcpy(&attachment, record->payload + i * sizeof(attachment), sizeof(attachment));
      if (attachment.pad || attachment.flags)
         return -EINVAL;
   }
   return 0;
}

static int take_record(struct submission *submission, const struct record *record)
{
   uint16_t type = record->header.cmd_type;
   if (type > AGX_UAPI_CMD_SET_COMPUTE_ATTACHMENTS)
      return -EINVAL;
   if (type >= AGX_UAPI_CMD_SET_VERTEX_ATTACHMENTS)
      return take_attachments(record);
   if (submission->compute_count + submission->render_count == AGXV_MAX_COMMANDS)
      return -EINVAL;
   int error = check_barrier(record->header.vdm_barrier, submission->render_count);
   if (!error)
      error = check_barrier(record->header.cdm_barrier, submission->compute_count);
   if (error)
      return error;
   return type == AGX_UAPI_CMD_COMPUTE ? take_compute(submission, record)
                                       : take_render(submission, record);
}

static int parse(struct submission *submission)
{
   uint32_t size = submission->args->cmdbuf_size;
   for (uint32_t at = 0; at < size;) {
      struct record record;
      if (size - at < sizeof(record.header))
         return -EINVAL;
      memcpy(&record.header, submission->cmdbuf + at, sizeof(record.header));
      at += sizeof(record.header);
      if (size - at < record.header.size)
         return -EINVAL;
      record.payload = submission->cmdbuf + at;
      at += record.header.size;
      int error = take_record(submission, &record);
      if (error)
         return error;
   }
   return submission->compute_count + submission->render_count ? 0 : -EINVAL;
}

static int check_syncs(const struct submission *submission)
{
   uint32_t count = submission->args->in_sync_count + submission->args->out_sync_count;
   for (uint32_t i = 0; i < count; i++) {
      const struct agx_uapi_sync *sync = &submission->syncs[i];
      if (sync->sync_type > AGX_UAPI_SYNC_TIMELINE_SYNCOBJ)
         return -EINVAL;
      if (sync->sync_type == AGX_UAPI_SYNC_SYNCOBJ && sync->timeline_value)
         return -EINVAL;
      if (!agxv_object_find(submission->file, AGXV_SYNCOBJ, sync->handle))
         return -ENOENT;
   }
   return 0;
}

/* A fence that is done when all in-syncs are; 0 with *out_error. */
static uint32_t gather_in_syncs(const struct submission *submission, int *out_error)
{
   struct agx_virtual_node *node = submission->file->node;
   uint32_t ready = agxv_fence_create(node);
   *out_error = ready ? 0 : -ENOMEM;
   for (uint32_t i = 0; i < submission->args->in_sync_count && !*out_error; i++) {
      const struct agx_uapi_sync *sync = &submission->syncs[i];
      uint32_t fence =
         agxv_syncobj_fence(submission->file, sync->handle, sync->timeline_value, out_error);
      if (fence && !agxv_fence_depend(node, ready, fence))
         *out_error = -ENOMEM;
      agxv_fence_put(node, fence);
   }
   if (!*out_error) {
      AGXV_AT(node, agxv_fence, ready)->is_job = true;
      agxv_fence_signal(node, ready, 0);
      return ready;
   }
   agxv_fence_put(node, ready);
   return 0;
}

static int install_out_syncs(const struct submission *submission, uint32_t fence)
{
   struct agx_virtual_node *node = submission->file->node;
   const struct agx_uapi_sync *out = submission->syncs + submission->args->in_sync_count;
   int error = 0;
   for (uint32_t i = 0; i < submission->args->out_sync_count; i++) {
      uint32_t ref = agxv_object_find(submission->file, AGXV_SYNCOBJ, out[i].handle);
      if (out[i].sync_type == AGX_UAPI_SYNC_SYNCOBJ)
         agxv_syncobj_replace(node, ref, fence);
      else if (!agxv_syncobj_add_point(node, ref, fence, out[i].timeline_value))
         error = -ENOMEM;
   }
   if (submission->args->out_sync_count)
      agxv_notify(node);
   return error;
}

/* Whether no command waits for earlier submissions. */
static bool is_free(const struct submission *submission)
{
   if (submission->render_count)
      return false;
   for (uint32_t i = 0; i < submission->compute_count; i++)
      if (submission->commands[i].barrier == 0)
         return false;
   return true;
}

/* Queues the job; or, where nothing is to be executed and nothing waited for, completes
 * it here and now. */
static int push(struct submission *submission, uint32_t queue, uint32_t ready)
{
   struct agx_virtual_node *node = submission->file->node;
   uint64_t number = ++node->shared->submissions;
   bool now = !node->options.execute && !node->inject && agxv_fence_done(node, ready) &&
              !AGXV_AT(node, agxv_queue, queue)->first_job;
   uint32_t fence = now ? agxv_fence_create_done(node) : agxv_fence_create(node);
   uint32_t job = 0;
   if (fence && !now && agxv_workers_start(node))
      job = agxv_job_create(node, submission->commands, submission->executed_count);
   if (!fence || (!now && !job)) {
      agxv_fence_put(node, fence);
      agxv_fence_put(node, ready);
      return -ENOMEM;
   }
   if (now) {
      agxv_fence_put(node, ready);
   } else {
      struct agxv_job *it = AGXV_AT(node, agxv_job, job);
      it->number = number;
      it->render_count = submission->render_count;
      it->render_va = submission->render_va;
      it->is_free = is_free(submission);
      it->queue = queue;
      AGXV_AT(node, agxv_queue, queue)->refs++;
      it->ready = ready;
      it->fence = fence;
      agxv_fence_get(node, fence);
      agxv_job_push(node, job);
   }
   int error = install_out_syncs(submission, fence);
   agxv_fence_put(node, fence);
   return error;
}

/* The lock is held. */
static int submit_locked(struct submission *submission)
{
   uint32_t queue = agxv_object_find(submission->file, AGXV_QUEUE, submission->args->queue_id);
   if (!queue)
      return -ENOENT;
   int error = check_syncs(submission);
   if (!error)
      error = parse(submission);
   uint32_t ready = error ? 0 : gather_in_syncs(submission, &error);
   return error ? error : push(submission, queue, ready);
}

static int copy_and_submit(struct submission *submission, uint8_t *memory, size_t sync_B)
{
   const struct agx_uapi_submit *args = submission->args;
   struct agx_virtual_node *node = submission->file->node;
   int error = agxv_copy_in(memory, args->syncs, sync_B);
   if (!error)
      error = agxv_copy_in(memory + sync_B, args->cmdbuf, args->cmdbuf_size);
   if (error)
      return error;
   submission->syncs = (const struct agx_uapi_sync *)memory;
   submission->cmdbuf = memory + sync_B;
   agxv_lock(node);
   error = submit_locked(submission);
   agxv_unlock(node);
   return error;
}

AGXV_HANDLER(submit)
{
   const struct agx_uapi_submit *args = argument;
   if (args->flags || args->pad)
      return -EINVAL;
   agxv_lock(file->node);
   bool known = agxv_object_find(file, AGXV_QUEUE, args->queue_id);
   bool is_lost = file->node->shared->is_lost;
   agxv_unlock(file->node);
   if (!known)
      return -ENOENT;
   if (is_lost)
      return -ENODEV;
   if ((uint64_t)args->in_sync_count + args->out_sync_count > MAX_SYNCS ||
       args->cmdbuf_size > MAX_CMDBUF_B)
      return -ENOMEM;
   struct submission submission = {.file = file, .args = args};
   size_t sync_B = sizeof(struct agx_uapi_sync) * (args->in_sync_count + args->out_sync_count);
   size_t total_B = sync_B + args->cmdbuf_size;
   _Alignas(16) uint8_t small[SMALL_BYTES];
   uint8_t *memory = total_B <= sizeof(small) ? small : malloc(total_B);
   if (!memory)
      return -ENOMEM;
   int error = copy_and_submit(&submission, memory, sync_B);
   if (memory != small)
      free(memory);
   return error;
}
