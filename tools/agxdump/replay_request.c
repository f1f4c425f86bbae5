/* SPDX-License-Identifier: MIT
 *
 * Recorded requests in the ids of the device that replays them. What a table row doesn't say is in
 * its function; requests without a row are not made again, for they only ask.
 */
#include "replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"

#define ARGUMENT_BYTES 64
#define MAX_FIELDS     3
#define MAX_WAIT_NS    (INT64_C(10) * 1000000000)

/* A request on its way to the device. */
struct call {
   struct replay_device *device;
   const struct agxw_capture_record *record;
   const struct row *row;
   _Alignas(8) uint8_t argument[ARGUMENT_BYTES]; /* as it goes in, in the device's ids */
   uint8_t then[ARGUMENT_BYTES];                 /* as it was recorded coming out */
   void *copies[2];                              /* of what it points at, in the device's ids; each
                                                    with room for one more struct agx_uapi_sync */
   bool is_skipped;
};

/* A number in the argument, or in each element of an array that the argument points at. */
struct field {
   enum replay_kind kind;
   bool is_result;
   uint8_t at;
};

struct row {
   uint32_t request;
   struct field fields[MAX_FIELDS];
   agx_status (*prepare)(struct call *call); /* may be NULL */
   agx_status (*finish)(struct call *call);  /* when it succeeded; may be NULL */
};

/* ---- ids ---- */

static agx_status unknown(const struct call *call, enum replay_kind kind, uint32_t id)
{
   static const char *const names[] = {"",        "buffer", "address space", "queue",
                                       "syncobj", "object", "descriptor"};
   return AGX_FAIL(AGX_DATA_LOSS, "%s %u was never made", names[kind], id);
}

static agx_status translate(const struct call *call, enum replay_kind kind, void *at)
{
   uint32_t id = agx_load_u32(at), now;
   if (id == 0 && kind != REPLAY_FD)
      return AGX_OK; /* none */
   const struct agx_table_entry *entry = agx_table_find(&call->device->ids, kind, id);
   if (!entry)
      return unknown(call, kind, id);
   now = (uint32_t)entry->value;
   if (kind == REPLAY_BUFFER)
      now = call->device->buffers[entry->value - 1].handle;
   else if (kind == REPLAY_FD)
      now--;
   memcpy(at, &now, sizeof(now));
   return AGX_OK;
}

static agx_status remember(struct call *call, enum replay_kind kind, uint32_t recorded,
                           uint32_t now)
{
   struct agx_table_entry *entry = agx_table_get(&call->device->ids, kind, recorded);
   if (!entry)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for the ids of the replay");
   /* A number that comes again was closed, which no request tells. */
   if (kind == REPLAY_FD && entry->value)
      close((int)entry->value - 1);
   entry->value = now + (kind == REPLAY_FD ? UINT64_C(1) : 0);
   return AGX_OK;
}

/* ---- arrays ---- */

/* A copy of what the pointer led to, which the argument then points at; NULL with a status when it
 * is not there. */
static agx_status copy_blob(struct call *call, unsigned slot, uint32_t pointer_at, uint64_t bytes,
                            void **out_copy)
{
   uint32_t there;
   const void *data = agxw_capture_find_blob(call->record, pointer_at, &there);
   *out_copy = NULL;
   if (bytes == 0)
      return AGX_OK;
   if (!data || there < bytes)
      return AGX_FAIL(AGX_DATA_LOSS, "%" PRIu64 " bytes that it points at are not recorded", bytes);
   call->copies[slot] = malloc(bytes + sizeof(struct agx_uapi_sync));
   if (!call->copies[slot])
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for %" PRIu64 " bytes of a request",
                      bytes);
   memcpy(call->copies[slot], data, bytes);
   uint64_t address = (uintptr_t)call->copies[slot];
   memcpy(call->argument + pointer_at, &address, sizeof(address));
   *out_copy = call->copies[slot];
   return AGX_OK;
}

/* Handles of syncobjs, and a number with each where points_at is one. */
static agx_status prepare_handles(struct call *call, uint32_t count_at, bool has_points)
{
   uint64_t count = agx_load_u32(call->argument + count_at);
   uint8_t *handles;
   void *points;
   AGX_TRY(copy_blob(call, 0, 0, 4 * count, (void **)&handles));
   for (uint64_t i = 0; i < count; i++)
      AGX_TRY(translate(call, REPLAY_SYNCOBJ, handles + 4 * i));
   bool has_values = has_points && agx_load_u64(call->argument + 8) != 0;
   return has_values ? copy_blob(call, 1, 8, 8 * count, &points) : AGX_OK;
}

/* What was reached when it was recorded is there by now, since each submission is waited for; some
 * time is given to what other devices have to do with it, and a capture whose signal is missing
 * ends then. */
static agx_status prepare_wait(struct call *call)
{
   bool has_points = call->row->request == AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT;
   const int64_t end_ns =
      call->device->replay->options.is_impatient ? 0 : agx_now_ns() + MAX_WAIT_NS;
   memcpy(call->argument + (has_points ? 16 : 8), &end_ns, sizeof(end_ns));
   return prepare_handles(call, has_points ? 24 : 16, has_points);
}

static agx_status prepare_array(struct call *call)
{
   bool has_points = call->row->request == AGX_IOCTL_SYNCOBJ_TIMELINE_SIGNAL;
   return prepare_handles(call, has_points ? 16 : 8, has_points);
}

static agx_status prepare_bind(struct call *call)
{
   struct agx_uapi_vm_bind bind;
   uint8_t *steps;
   memcpy(&bind, call->argument, sizeof(bind));
   if (bind.stride < sizeof(struct agx_uapi_gem_bind_op))
      return AGX_FAIL(AGX_UNIMPLEMENTED, "steps of %u bytes", bind.stride);
   AGX_TRY(copy_blob(call, 0, offsetof(struct agx_uapi_vm_bind, userptr),
                     (uint64_t)bind.stride * bind.num_binds, (void **)&steps));
   for (uint64_t i = 0; i < bind.num_binds; i++) {
      struct agx_uapi_gem_bind_op step;
      uint8_t *at = steps + i * bind.stride;
      memcpy(&step, at, sizeof(step));
      if (step.flags & AGX_UAPI_BIND_UNBIND)
         continue;
      struct replay_buffer *buffer = replay_find_buffer(call->device, step.handle);
      AGX_TRY(translate(call, REPLAY_BUFFER, at + offsetof(struct agx_uapi_gem_bind_op, handle)));
      if (buffer)
         buffer->is_bound = true;
   }
   return AGX_OK;
}

/* ---- buffers ---- */

static agx_status finish_create(struct call *call)
{
   const struct agx_uapi_gem_create *now = (const void *)call->argument;
   struct agx_uapi_gem_create then;
   memcpy(&then, call->then, sizeof(then));
   return replay_add_buffer(call->device, then.handle, now->handle, now->size);
}

static agx_status finish_close(struct call *call)
{
   uint32_t recorded = agx_load_u32(call->then);
   struct replay_buffer *buffer = replay_find_buffer(call->device, recorded);
   if (!buffer)
      return AGX_OK;
   replay_unmap_buffer(call->device, buffer);
   buffer->handle = 0;
   return remember(call, REPLAY_BUFFER, recorded, 0);
}

static agx_status finish_export(struct call *call)
{
   const struct agx_uapi_prime_handle *now = (const void *)call->argument;
   struct agx_uapi_prime_handle then;
   memcpy(&then, call->then, sizeof(then));
   return remember(call, REPLAY_FD, (uint32_t)then.fd, (uint32_t)now->fd);
}

/* Another's buffer is made when its size is known (IMPORT). */
static agx_status prepare_import(struct call *call)
{
   struct agx_uapi_prime_handle then;
   memcpy(&then, call->then, sizeof(then));
   call->is_skipped = replay_find_buffer(call->device, then.handle) != NULL ||
                      !agx_table_find(&call->device->ids, REPLAY_FD, (uint32_t)then.fd);
   return call->is_skipped ? AGX_OK
                           : translate(call, REPLAY_FD,
                                       call->argument + offsetof(struct agx_uapi_prime_handle, fd));
}

static agx_status finish_import(struct call *call)
{
   const struct agx_uapi_prime_handle *now = (const void *)call->argument;
   struct agx_uapi_prime_handle then;
   memcpy(&then, call->then, sizeof(then));
   int64_t bytes = call->device->kmd->ops->dmabuf_bytes(call->device->kmd, now->fd);
   if (bytes <= 0)
      return AGX_FAIL(AGX_INTERNAL, "descriptor %d has no size", now->fd);
   return replay_add_buffer(call->device, then.handle, now->handle, (uint64_t)bytes);
}

/* ---- times ---- */

/* An unbound object is named in the request. */
static agx_status prepare_bind_object(struct call *call)
{
   struct agx_uapi_gem_bind_object then;
   memcpy(&then, call->then, sizeof(then));
   return then.op == AGX_UAPI_BIND_OBJECT_OP_BIND
             ? AGX_OK
             : translate(call, REPLAY_OBJECT,
                         call->argument + offsetof(struct agx_uapi_gem_bind_object, object_handle));
}

/* What replay_add_time needs: object ids lead to buffers. */
static agx_status finish_bind_object(struct call *call)
{
   const struct agx_uapi_gem_bind_object *now = (const void *)call->argument;
   struct agx_uapi_gem_bind_object then;
   memcpy(&then, call->then, sizeof(then));
   if (then.op != AGX_UAPI_BIND_OBJECT_OP_BIND)
      return AGX_OK;
   struct agx_table_entry *entry =
      agx_table_get(&call->device->ids, REPLAY_OBJECT, then.object_handle);
   const struct replay_buffer *buffer = replay_find_buffer(call->device, then.handle);
   if (!entry || !buffer)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for the ids of the replay");
   entry->value = now->object_handle;
   /* The buffer and where the object begins in it. */
   entry->more = (uint64_t)(buffer - call->device->buffers) << 40 | (then.offset & 0xffffffffffu);
   return AGX_OK;
}

static agx_status translate_time(struct call *call, uint8_t *at)
{
   struct agx_uapi_timestamp then;
   memcpy(&then, at, sizeof(then));
   if (then.handle == 0)
      return AGX_OK;
   const struct agx_table_entry *entry =
      agx_table_find(&call->device->ids, REPLAY_OBJECT, then.handle);
   if (!entry)
      return unknown(call, REPLAY_OBJECT, then.handle);
   AGX_TRY(replay_add_time(call->device, (uint32_t)(entry->more >> 40),
                           (entry->more & 0xffffffffffu) + then.offset));
   uint32_t now = (uint32_t)entry->value;
   memcpy(at, &now, sizeof(now));
   return AGX_OK;
}

/* ---- submissions ---- */

static agx_status translate_commands(struct call *call, uint8_t *commands, uint32_t bytes)
{
   static const size_t times[][4] = {
      [AGX_UAPI_CMD_RENDER] = {offsetof(struct agx_uapi_cmd_render, ts_vtx.start),
                               offsetof(struct agx_uapi_cmd_render, ts_vtx.end),
                               offsetof(struct agx_uapi_cmd_render, ts_frag.start),
                               offsetof(struct agx_uapi_cmd_render, ts_frag.end)},
      [AGX_UAPI_CMD_COMPUTE] = {offsetof(struct agx_uapi_cmd_compute, ts.start),
                                offsetof(struct agx_uapi_cmd_compute, ts.end)},
   };
   struct agx_uapi_cmd_header header;
   for (uint32_t at = 0; at < bytes; at += (uint32_t)sizeof(header) + header.size) {
      if (bytes - at < sizeof(header))
         return AGX_FAIL(AGX_DATA_LOSS, "a command is cut off");
      memcpy(&header, commands + at, sizeof(header));
      if (header.size > bytes - at - sizeof(header))
         return AGX_FAIL(AGX_DATA_LOSS, "a command is cut off");
      for (size_t i = 0; header.cmd_type < AGX_COUNT(times) && i < 4; i++) {
         size_t offset = times[header.cmd_type][i];
         if (offset > 0 && offset + sizeof(struct agx_uapi_timestamp) <= header.size)
            AGX_TRY(translate_time(call, commands + at + sizeof(header) + offset));
      }
   }
   return AGX_OK;
}

static agx_status prepare_submit(struct call *call)
{
   struct agx_uapi_submit submit;
   uint8_t *syncs, *commands;
   memcpy(&submit, call->argument, sizeof(submit));
   uint64_t count = (uint64_t)submit.in_sync_count + submit.out_sync_count;
   AGX_TRY(copy_blob(call, 0, offsetof(struct agx_uapi_submit, syncs),
                     count * sizeof(struct agx_uapi_sync), (void **)&syncs));
   if (!call->copies[0] && !(call->copies[0] = malloc(sizeof(struct agx_uapi_sync))))
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for a submission's fence");
   for (uint64_t i = 0; i < count; i++)
      AGX_TRY(translate(call, REPLAY_SYNCOBJ,
                        syncs + i * sizeof(struct agx_uapi_sync) +
                           offsetof(struct agx_uapi_sync, handle)));
   AGX_TRY(copy_blob(call, 1, offsetof(struct agx_uapi_submit, cmdbuf), submit.cmdbuf_size,
                     (void **)&commands));
   return translate_commands(call, commands, submit.cmdbuf_size);
}

/* Makes the submission and waits for its end. */
static agx_status submit(struct call *call, struct agx_uapi_submit *submit)
{
   struct agx_kmd *kmd = call->device->kmd;
   int error = kmd->ops->ioctl(kmd, AGX_IOCTL_ASAHI_SUBMIT, submit);
   if (error)
      return agx_status_fail_errno(error, "SUBMIT");
   struct agx_uapi_syncobj_wait wait = {
      .handles = (uintptr_t)&call->device->done, .timeout_nsec = INT64_MAX, .count_handles = 1};
   error = kmd->ops->ioctl(kmd, AGX_IOCTL_SYNCOBJ_WAIT, &wait);
   return error ? agx_status_fail_errno(error, "SYNCOBJ_WAIT") : AGX_OK;
}

/* On a thread of the node. */
static void tell_watcher(void *user, const struct agx_virtual_counters *counters)
{
   const struct replay_watcher *watcher = user;
   watcher->dispatch(watcher->user, counters->command, counters->stats);
}

/* The submission with the watcher, who may look only once. */
static agx_status watch(struct call *call, agx_virtual_counters_fn *fn, void *user)
{
   int error = agx_virtual_watch_counters(agx_kmd_virtual_file(call->device->kmd), fn, user);
   return error ? agx_status_fail_errno(error, "dispatches can't be watched") : AGX_OK;
}

static agx_status submit_watched(struct call *call, struct agx_uapi_submit *all)
{
   const struct replay *replay = call->device->replay;
   struct replay_watcher *watcher = replay->watcher;
   AGX_TRY(watcher->begin(watcher->user, call->device, call->record));
   if (watcher->dispatch)
      AGX_TRY(watch(call, tell_watcher, watcher));
   agx_status status = submit(call, all);
   if (watcher->dispatch && status == AGX_OK)
      status = watch(call, replay->on_counters, replay->counters_user);
   return status == AGX_OK && watcher->end ? watcher->end(watcher->user, call->device) : status;
}

/* What the device has to say of the submission. */
static void tell_faults(struct call *call)
{
   struct replay_device *device = call->device;
   struct agx_kmd_fault fault;
   if (!device->kmd->inspection || !device->kmd->inspection->take_fault)
      return;
   while (device->kmd->inspection->take_fault(device->kmd, 0, UINT64_MAX, &fault)) {
      if (device->replay->faults++ == 0) {
         device->replay->first_fault = fault;
         device->replay->fault_submission = device->replay->submissions;
      }
      if (device->replay->is_quiet)
         continue;
      fprintf(stderr, "submission %" PRIu64 ", command %u: %s%s\n", device->replay->submissions,
              fault.command, fault.text,
              fault.error == -ETIMEDOUT ? "; --instructions N allows more" : "");
   }
}

static agx_status make_done(struct replay_device *device)
{
   struct agx_uapi_syncobj_create create = {0};
   int error =
      device->done ? 0 : device->kmd->ops->ioctl(device->kmd, AGX_IOCTL_SYNCOBJ_CREATE, &create);
   if (error)
      return agx_status_fail_errno(error, "SYNCOBJ_CREATE");
   if (create.handle)
      device->done = create.handle;
   return AGX_OK;
}

/* In place of a submission whose memory was not recorded: signals what others wait for. */
static agx_status signal_only(struct call *call)
{
   struct agx_kmd *kmd = call->device->kmd;
   struct agx_uapi_submit submit;
   memcpy(&submit, call->argument, sizeof(submit));
   const struct agx_uapi_sync *syncs = call->copies[0];
   call->device->replay->submissions++;
   for (uint32_t i = 0; i < submit.out_sync_count; i++) {
      const struct agx_uapi_sync *sync = &syncs[submit.in_sync_count + i];
      struct agx_uapi_syncobj_array plain = {(uintptr_t)&sync->handle, 1, 0};
      struct agx_uapi_syncobj_timeline_array timeline = {
         .handles = (uintptr_t)&sync->handle,
         .points = (uintptr_t)&sync->timeline_value,
         .count_handles = 1,
      };
      int error = sync->sync_type == AGX_UAPI_SYNC_TIMELINE_SYNCOBJ
                     ? kmd->ops->ioctl(kmd, AGX_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &timeline)
                     : kmd->ops->ioctl(kmd, AGX_IOCTL_SYNCOBJ_SIGNAL, &plain);
      if (error)
         return agx_status_fail_errno(error, "the signals of a SUBMIT");
   }
   return AGX_OK;
}

/* In place of the ioctl: with one more signal, by which it is waited for. Repetitions wait for and
 * signal nothing else. */
static agx_status execute_submit(struct call *call)
{
   struct replay *replay = call->device->replay;
   struct agx_uapi_submit all, alone;
   AGX_TRY(make_done(call->device));
   memcpy(&all, call->argument, sizeof(all));
   struct agx_uapi_sync *syncs = call->copies[0];
   struct agx_uapi_sync *done = &syncs[(uint64_t)all.in_sync_count + all.out_sync_count];
   *done = (struct agx_uapi_sync){.sync_type = AGX_UAPI_SYNC_SYNCOBJ, .handle = call->device->done};
   all.syncs = (uintptr_t)syncs;
   all.out_sync_count++;
   alone = all;
   alone.syncs = (uintptr_t)done;
   alone.in_sync_count = 0;
   alone.out_sync_count = 1;
   replay->submissions++;
   bool is_watched = replay->watcher && replay->watcher->submission == replay->submissions;
   for (uint64_t i = 0; i < replay->options.repeat; i++) {
      if (i > 0)
         AGX_TRY(replay_restore(call->device));
      int64_t begin_ns = agx_now_ns();
      AGX_TRY(is_watched && i == 0 ? submit_watched(call, &all) : submit(call, i ? &alone : &all));
      if (replay->options.is_timed)
         printf("submission %" PRIu64 ": %.3f ms\n", replay->submissions,
                (double)(agx_now_ns() - begin_ns) / 1e6);
   }
   tell_faults(call);
   call->device->awaits_results = call->record->is_awaited;
   replay->awaited += call->record->is_awaited;
   return AGX_OK;
}

/* ---- the table ---- */

#define AT(type, field) offsetof(struct agx_uapi_##type, field)

static const struct row rows[] = {
   {AGX_IOCTL_ASAHI_VM_CREATE, {{REPLAY_VM, true, AT(vm_create, vm_id)}}, NULL, NULL},
   {AGX_IOCTL_ASAHI_VM_DESTROY, {{REPLAY_VM, false, AT(vm_destroy, vm_id)}}, NULL, NULL},
   {AGX_IOCTL_ASAHI_VM_BIND, {{REPLAY_VM, false, AT(vm_bind, vm_id)}}, prepare_bind, NULL},
   {AGX_IOCTL_ASAHI_GEM_CREATE, {{REPLAY_VM, false, AT(gem_create, vm_id)}}, NULL, finish_create},
   {AGX_IOCTL_ASAHI_GEM_BIND_OBJECT,
    {{REPLAY_BUFFER, false, AT(gem_bind_object, handle)},
     {REPLAY_VM, false, AT(gem_bind_object, vm_id)}},
    prepare_bind_object,
    finish_bind_object},
   {AGX_IOCTL_GEM_CLOSE, {{REPLAY_BUFFER, false, AT(gem_close, handle)}}, NULL, finish_close},
   {AGX_IOCTL_PRIME_HANDLE_TO_FD,
    {{REPLAY_BUFFER, false, AT(prime_handle, handle)}},
    NULL,
    finish_export},
   {AGX_IOCTL_PRIME_FD_TO_HANDLE, {{0}}, prepare_import, finish_import},
   {AGX_IOCTL_ASAHI_QUEUE_CREATE,
    {{REPLAY_VM, false, AT(queue_create, vm_id)}, {REPLAY_QUEUE, true, AT(queue_create, queue_id)}},
    NULL,
    NULL},
   {AGX_IOCTL_ASAHI_QUEUE_DESTROY,
    {{REPLAY_QUEUE, false, AT(queue_destroy, queue_id)}},
    NULL,
    NULL},
   {AGX_IOCTL_ASAHI_SUBMIT, {{REPLAY_QUEUE, false, AT(submit, queue_id)}}, prepare_submit, NULL},
   {AGX_IOCTL_SYNCOBJ_CREATE, {{REPLAY_SYNCOBJ, true, AT(syncobj_create, handle)}}, NULL, NULL},
   {AGX_IOCTL_SYNCOBJ_DESTROY, {{REPLAY_SYNCOBJ, false, AT(syncobj_destroy, handle)}}, NULL, NULL},
   {AGX_IOCTL_SYNCOBJ_HANDLE_TO_FD,
    {{REPLAY_SYNCOBJ, false, AT(syncobj_handle, handle)},
     {REPLAY_FD, true, AT(syncobj_handle, fd)}},
    NULL,
    NULL},
   {AGX_IOCTL_SYNCOBJ_FD_TO_HANDLE,
    {{REPLAY_FD, false, AT(syncobj_handle, fd)},
     {REPLAY_SYNCOBJ, true, AT(syncobj_handle, handle)}},
    NULL,
    NULL},
   {AGX_IOCTL_SYNCOBJ_TRANSFER,
    {{REPLAY_SYNCOBJ, false, AT(syncobj_transfer, src_handle)},
     {REPLAY_SYNCOBJ, false, AT(syncobj_transfer, dst_handle)}},
    NULL,
    NULL},
   {AGX_IOCTL_SYNCOBJ_WAIT, {{0}}, prepare_wait, NULL},
   {AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT, {{0}}, prepare_wait, NULL},
   {AGX_IOCTL_SYNCOBJ_RESET, {{0}}, prepare_array, NULL},
   {AGX_IOCTL_SYNCOBJ_SIGNAL, {{0}}, prepare_array, NULL},
   {AGX_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, {{0}}, prepare_array, NULL},
};

static const struct row *find_row(uint32_t request)
{
   for (size_t i = 0; i < AGX_COUNT(rows); i++)
      if (AGX_UAPI_NR(rows[i].request) == AGX_UAPI_NR(request))
         return &rows[i];
   return NULL;
}

static agx_status prepare(struct call *call)
{
   agxw_capture_argument(call->record, false, call->argument, sizeof(call->argument));
   agxw_capture_argument(call->record, true, call->then, sizeof(call->then));
   for (unsigned i = 0; i < MAX_FIELDS; i++) {
      const struct field *field = &call->row->fields[i];
      if (field->kind && !field->is_result)
         AGX_TRY(translate(call, field->kind, call->argument + field->at));
   }
   return call->row->prepare ? call->row->prepare(call) : AGX_OK;
}

static agx_status execute(struct call *call)
{
   struct agx_kmd *kmd = call->device->kmd;
   if (call->row->request == AGX_IOCTL_ASAHI_SUBMIT)
      return call->record->lacks_memory ? signal_only(call) : execute_submit(call);
   int error = kmd->ops->ioctl(kmd, call->row->request, call->argument);
   return error ? agx_status_fail_errno(error, "it fails now") : AGX_OK;
}

static agx_status finish(struct call *call)
{
   for (unsigned i = 0; i < MAX_FIELDS; i++) {
      const struct field *field = &call->row->fields[i];
      if (field->kind && field->is_result)
         AGX_TRY(remember(call, field->kind, agx_load_u32(call->then + field->at),
                          agx_load_u32(call->argument + field->at)));
   }
   return call->row->finish ? call->row->finish(call) : AGX_OK;
}

agx_status replay_request(struct replay_device *device, const struct agxw_capture_record *record)
{
   struct call call = {.device = device, .record = record, .row = find_row(record->request)};
   /* What failed then changed nothing, and what has no row only asks. */
   if (!call.row || record->result != 0)
      return AGX_OK;
   device->replay->requests++;
   agx_status status = prepare(&call);
   if (status == AGX_OK && !call.is_skipped)
      status = execute(&call);
   if (status == AGX_OK && !call.is_skipped)
      status = finish(&call);
   free(call.copies[0]);
   free(call.copies[1]);
   if (status != AGX_OK)
      agx_error_prefix("request %u at offset %" PRIu64, AGX_UAPI_NR(record->request),
                       record->file_offset);
   return status;
}
