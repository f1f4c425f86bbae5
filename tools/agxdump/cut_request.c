/* SPDX-License-Identifier: MIT
 *
 * Requests of a cut capture. What only asks is left out, as replays don't make it again; steps of a
 * VM_BIND go with their buffers, commands of a SUBMIT one by one.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "cut_impl.h"
#include "winsys/asahi_uapi.h"

#define ARGUMENT_BYTES 128

/* A request that is put together anew. */
struct made {
   struct agxw_capture_record record;
   uint8_t before[ARGUMENT_BYTES], after[ARGUMENT_BYTES];
   uint8_t *blobs;
};

static agx_status begin(struct made *made, const struct agxw_capture_record *record)
{
   made->record = *record;
   if (record->argument_bytes > ARGUMENT_BYTES)
      return AGX_FAIL(AGX_DATA_LOSS,
                      "request %u at offset %llu: %u bytes of argument, the limit is %u",
                      AGX_UAPI_NR(record->request), (unsigned long long)record->file_offset,
                      record->argument_bytes, ARGUMENT_BYTES);
   memcpy(made->before, record->before, record->argument_bytes);
   memcpy(made->after, record->after, record->argument_bytes);
   made->record.before = made->before;
   made->record.after = made->after;
   made->record.blobs = made->blobs = malloc(record->blobs_bytes + 8);
   made->record.blobs_bytes = 0;
   made->record.blob_count = 0;
   return made->blobs ? AGX_OK : cut_no_memory();
}

static void set_argument(struct made *made, size_t at, const void *value, size_t bytes)
{
   memcpy(made->before + at, value, bytes);
   memcpy(made->after + at, value, bytes);
}

/* data is of what the record had, so that there is room for it. */
static void add_blob(struct made *made, uint32_t pointer_at, const void *data, uint32_t bytes)
{
   const struct agxw_capture_blob blob = {pointer_at, bytes};
   uint8_t *at = made->blobs + made->record.blobs_bytes;
   size_t padded = agx_align_up(bytes, 8);
   if (bytes == 0)
      return;
   memcpy(at, &blob, sizeof(blob));
   memset(at + sizeof(blob) + bytes, 0, padded - bytes);
   memcpy(at + sizeof(blob), data, bytes);
   made->record.blobs_bytes += sizeof(blob) + padded;
   made->record.blob_count++;
}

static bool keeps_handle(const struct cut *cut, const struct cut_names *names,
                         const struct agxw_capture_record *record, uint32_t handle)
{
   uint32_t object = cut_find_object(names, record, handle);
   return !object || cut->objects[object - 1].is_kept;
}

static agx_status make_bind(const struct cut *cut, const struct cut_names *names, struct made *made,
                            const struct agxw_capture_record *record)
{
   struct agx_uapi_vm_bind bind;
   uint32_t bytes, kept = 0;
   const uint32_t at = offsetof(struct agx_uapi_vm_bind, userptr);
   agxw_capture_argument(record, false, &bind, sizeof(bind));
   const uint8_t *steps = agxw_capture_find_blob(record, at, &bytes);
   uint8_t *out = malloc(bytes + 1);
   if (!out)
      return cut_no_memory();
   for (uint64_t i = 0; bind.stride && i < bind.num_binds && i < bytes / bind.stride; i++) {
      struct agx_uapi_gem_bind_op step = {0};
      memcpy(&step, steps + i * bind.stride, AGX_MIN(sizeof(step), bind.stride));
      if (step.flags & AGX_UAPI_BIND_UNBIND || keeps_handle(cut, names, record, step.handle))
         memcpy(out + (size_t)bind.stride * kept++, steps + i * bind.stride, bind.stride);
   }
   set_argument(made, offsetof(struct agx_uapi_vm_bind, num_binds), &kept, sizeof(kept));
   add_blob(made, at, out, kept * bind.stride);
   free(out);
   return AGX_OK;
}

/* A barrier names the first so many commands of a kind: those of them that are left. */
static uint16_t move_barrier(uint16_t barrier, const uint16_t *kept, size_t count)
{
   if (barrier == AGX_UAPI_BARRIER_NONE || barrier > count)
      return barrier;
   return kept[barrier] ? kept[barrier] : (uint16_t)AGX_UAPI_BARRIER_NONE;
}

struct barriers {
   uint16_t *kept[2]; /* of render, compute: of the first i commands, how many are kept */
   size_t count[2];
};

static void count_command(struct barriers *barriers, uint16_t type, bool is_kept)
{
   unsigned kind = type == AGX_UAPI_CMD_COMPUTE;
   uint16_t *kept = barriers->kept[kind];
   kept[barriers->count[kind] + 1] = (uint16_t)(kept[barriers->count[kind]] + is_kept);
   barriers->count[kind]++;
}

/* Commands don't name objects of times that are not made. */
static void drop_times(struct agx_uapi_cmd_header header, uint8_t *payload)
{
   size_t at = header.cmd_type == AGX_UAPI_CMD_COMPUTE ? offsetof(struct agx_uapi_cmd_compute, ts)
               : header.cmd_type == AGX_UAPI_CMD_RENDER
                  ? offsetof(struct agx_uapi_cmd_render, ts_vtx)
                  : header.size;
   if (at < header.size)
      memset(payload + at, 0, header.size - at);
}

static uint32_t copy_commands(const struct cut *cut, const struct cut_submission *submission,
                              const uint8_t *commands, uint32_t bytes, struct barriers *barriers,
                              uint8_t *out)
{
   struct agx_uapi_cmd_header header;
   uint32_t out_bytes = 0, index = 0;
   for (uint32_t at = 0; at + sizeof(header) <= bytes;
        at += (uint32_t)sizeof(header) + header.size, index++) {
      memcpy(&header, commands + at, sizeof(header));
      if (header.size > bytes - at - sizeof(header))
         break;
      bool is_kept = index >= submission->command_count ||
                     cut->commands[submission->first_command + index].is_kept;
      if (is_kept) {
         struct agx_uapi_cmd_header moved = header;
         moved.vdm_barrier =
            move_barrier(header.vdm_barrier, barriers->kept[0], barriers->count[0]);
         moved.cdm_barrier =
            move_barrier(header.cdm_barrier, barriers->kept[1], barriers->count[1]);
         memcpy(out + out_bytes, &moved, sizeof(moved));
         memcpy(out + out_bytes + sizeof(moved), commands + at + sizeof(header), header.size);
         if (cut->drops_syncs)
            drop_times(header, out + out_bytes + sizeof(moved));
         out_bytes += (uint32_t)sizeof(header) + header.size;
      }
      if (header.cmd_type == AGX_UAPI_CMD_COMPUTE || header.cmd_type == AGX_UAPI_CMD_RENDER)
         count_command(barriers, header.cmd_type, is_kept);
   }
   return out_bytes;
}

static agx_status make_submit(const struct cut *cut, const struct cut_submission *submission,
                              struct made *made, const struct agxw_capture_record *record)
{
   const uint32_t syncs_at = offsetof(struct agx_uapi_submit, syncs),
                  commands_at = offsetof(struct agx_uapi_submit, cmdbuf);
   const uint32_t none = 0;
   uint32_t syncs_bytes, bytes;
   const void *syncs = agxw_capture_find_blob(record, syncs_at, &syncs_bytes);
   const uint8_t *commands = agxw_capture_find_blob(record, commands_at, &bytes);
   size_t count = submission->command_count + 2;
   struct barriers barriers = {.kept = {calloc(count, 2), calloc(count, 2)}};
   uint8_t *out = malloc(bytes + 1);
   bool is_short = !barriers.kept[0] || !barriers.kept[1] || !out;
   if (!is_short) {
      if (cut->drops_syncs) {
         set_argument(made, offsetof(struct agx_uapi_submit, in_sync_count), &none, sizeof(none));
         set_argument(made, offsetof(struct agx_uapi_submit, out_sync_count), &none, sizeof(none));
      } else {
         add_blob(made, syncs_at, syncs, syncs_bytes);
      }
      bytes = copy_commands(cut, submission, commands, bytes, &barriers, out);
      set_argument(made, offsetof(struct agx_uapi_submit, cmdbuf_size), &bytes, sizeof(bytes));
      add_blob(made, commands_at, out, bytes);
   }
   free(barriers.kept[0]);
   free(barriers.kept[1]);
   free(out);
   made->record.is_awaited = !cut->drops_results && (cut->after || record->is_awaited);
   return is_short ? cut_no_memory() : AGX_OK;
}

/* Whether a request that is neither VM_BIND nor SUBMIT stays. */
static bool is_kept(const struct cut *cut, const struct cut_names *names,
                    const struct agxw_capture_record *record)
{
   static const uint32_t always[] = {AGX_IOCTL_ASAHI_GET_PARAMS, AGX_IOCTL_ASAHI_VM_CREATE,
                                     AGX_IOCTL_ASAHI_VM_DESTROY, AGX_IOCTL_ASAHI_QUEUE_CREATE,
                                     AGX_IOCTL_ASAHI_QUEUE_DESTROY};
   static const struct {
      uint32_t request;
      uint8_t handle_at;
   } named[] = {
      {AGX_IOCTL_ASAHI_GEM_CREATE, offsetof(struct agx_uapi_gem_create, handle)},
      {AGX_IOCTL_GEM_CLOSE, offsetof(struct agx_uapi_gem_close, handle)},
      {AGX_IOCTL_PRIME_HANDLE_TO_FD, offsetof(struct agx_uapi_prime_handle, handle)},
      {AGX_IOCTL_PRIME_FD_TO_HANDLE, offsetof(struct agx_uapi_prime_handle, handle)},
   };
   for (size_t i = 0; i < AGX_COUNT(always); i++)
      if (agxw_capture_is_request(record, always[i]))
         return true;
   for (size_t i = 0; i < AGX_COUNT(named); i++)
      if (agxw_capture_is_request(record, named[i].request))
         return record->argument_bytes >= named[i].handle_at + 4u &&
                keeps_handle(cut, names, record, agx_load_u32(record->after + named[i].handle_at));
   bool is_sync = AGX_UAPI_NR(record->request) >= AGX_UAPI_NR(AGX_IOCTL_SYNCOBJ_CREATE) ||
                  agxw_capture_is_request(record, AGX_IOCTL_ASAHI_GEM_BIND_OBJECT);
   return is_sync && !cut->drops_syncs;
}

agx_status cut_write_request(const struct cut *cut, const struct cut_names *names,
                             struct agxw_capture_writer *writer,
                             const struct agxw_capture_record *record, size_t submission)
{
   struct made made = {0};
   bool is_bind = agxw_capture_is_request(record, AGX_IOCTL_ASAHI_VM_BIND);
   bool is_submit = agxw_capture_is_request(record, AGX_IOCTL_ASAHI_SUBMIT);
   if (!is_bind && !is_submit) {
      if (is_kept(cut, names, record))
         agxw_capture_writer_put(writer, record);
      return AGX_OK;
   }
   AGX_TRY(begin(&made, record));
   agx_status status = is_bind ? make_bind(cut, names, &made, record)
                               : make_submit(cut, &cut->submissions[submission], &made, record);
   if (status == AGX_OK)
      agxw_capture_writer_put(writer, &made.record);
   free(made.blobs);
   return status;
}

void cut_write_alias(const struct cut *cut, struct agxw_capture_writer *writer,
                     const struct agxw_capture_record *like, uint32_t vm_id,
                     const struct cut_alias *alias)
{
   const struct agx_uapi_vm_bind bind = {.vm_id = vm_id,
                                         .num_binds = alias->instead_of ? 2 : 1,
                                         .stride = sizeof(struct agx_uapi_gem_bind_op),
                                         .userptr = 1 /* to the blob */};
   const struct {
      struct agxw_capture_blob head;
      struct agx_uapi_gem_bind_op step, unbind;
   } blob = {{offsetof(struct agx_uapi_vm_bind, userptr), bind.num_binds * bind.stride},
             {.flags = AGX_UAPI_BIND_READ | AGX_UAPI_BIND_WRITE |
                       (alias->single_page ? AGX_UAPI_BIND_SINGLE_PAGE : 0),
              .handle = cut->objects[alias->object].handle,
              .addr = alias->va,
              .range = alias->bytes,
              .offset = alias->offset},
             {.flags = AGX_UAPI_BIND_UNBIND, .addr = alias->instead_of, .range = alias->bytes}};
   const struct agxw_capture_record record = {.type = AGXW_CAPTURE_REQUEST,
                                              .time_ns = like->time_ns,
                                              .process = like->process,
                                              .file = like->file,
                                              .request = (uint32_t)AGX_IOCTL_ASAHI_VM_BIND,
                                              .argument_bytes = sizeof(bind),
                                              .before = (const uint8_t *)&bind,
                                              .after = (const uint8_t *)&bind,
                                              .blob_count = 1,
                                              .blobs = (const uint8_t *)&blob,
                                              .blobs_bytes = sizeof(blob.head) + blob.head.bytes};
   agxw_capture_writer_put(writer, &record);
}
