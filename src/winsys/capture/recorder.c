/* SPDX-License-Identifier: MIT
 *
 * A recorder of one open device. Requests are written when they have returned, under the file's
 * lock, which is held while they run, so that the file's order is the kernel's; only those that may
 * block run outside of it. Memory is written before a submission and, once it is done, after it.
 */
#include "winsys/capture/recorder_impl.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/util.h"
#include "winsys/asahi_uapi.h"

bool agxw_recorder_read(const struct agxw_recorder *recorder, void *out, uint64_t address,
                        size_t bytes)
{
   if (recorder->ops->read)
      return recorder->ops->read(recorder->user, out, address, bytes) == 0;
   memcpy(out, (const void *)(uintptr_t)address, bytes);
   return true;
}

/* ---- what requests point at ---- */

#define NO_FIELD 0xff

/* Pointers in arguments: (u32 at count_at + u32 at plus_at) elements of element_bytes,
 * or of as many bytes as the u32 at stride_at says. */
static const struct pointer_field {
   uint32_t request;
   uint8_t pointer_at, count_at, plus_at, stride_at, element_bytes;
} pointer_fields[] = {
   {AGX_IOCTL_ASAHI_GET_PARAMS, 8, 16, NO_FIELD, NO_FIELD, 1},
   {AGX_IOCTL_ASAHI_VM_BIND, 16, 4, NO_FIELD, 8, 0},
   {AGX_IOCTL_ASAHI_SUBMIT, 0, 24, 28, NO_FIELD, 16},
   {AGX_IOCTL_ASAHI_SUBMIT, 8, 32, NO_FIELD, NO_FIELD, 1},
   {AGX_IOCTL_SYNCOBJ_WAIT, 0, 16, NO_FIELD, NO_FIELD, 4},
   {AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT, 0, 24, NO_FIELD, NO_FIELD, 4},
   {AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT, 8, 24, NO_FIELD, NO_FIELD, 8},
   {AGX_IOCTL_SYNCOBJ_RESET, 0, 8, NO_FIELD, NO_FIELD, 4},
   {AGX_IOCTL_SYNCOBJ_SIGNAL, 0, 8, NO_FIELD, NO_FIELD, 4},
   {AGX_IOCTL_SYNCOBJ_QUERY, 0, 16, NO_FIELD, NO_FIELD, 4},
   {AGX_IOCTL_SYNCOBJ_QUERY, 8, 16, NO_FIELD, NO_FIELD, 8},
   {AGX_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, 0, 16, NO_FIELD, NO_FIELD, 4},
   {AGX_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, 8, 16, NO_FIELD, NO_FIELD, 8},
};
_Static_assert(offsetof(struct agx_uapi_vm_bind, userptr) == 16, "VM_BIND row");
_Static_assert(offsetof(struct agx_uapi_submit, out_sync_count) == 28, "SUBMIT row");
_Static_assert(offsetof(struct agx_uapi_submit, cmdbuf_size) == 32, "SUBMIT row");
_Static_assert(offsetof(struct agx_uapi_syncobj_wait, count_handles) == 16, "WAIT row");
_Static_assert(offsetof(struct agx_uapi_syncobj_timeline_wait, count_handles) == 24, "WAIT row");
_Static_assert(offsetof(struct agx_uapi_syncobj_timeline_array, count_handles) == 16, "QUERY row");

/* The bytes behind a pointer; 0 when the pointer is null or the sum doesn't fit. */
static uint32_t pointed_bytes(const struct pointer_field *field, const uint8_t *argument)
{
   uint64_t count = agx_load_u32(argument + field->count_at);
   if (field->plus_at != NO_FIELD)
      count += agx_load_u32(argument + field->plus_at);
   uint64_t each = field->stride_at != NO_FIELD ? agx_load_u32(argument + field->stride_at)
                                                : field->element_bytes;
   if (agx_load_u64(argument + field->pointer_at) == 0 || each == 0 || count > UINT32_MAX / each)
      return 0;
   return (uint32_t)(count * each);
}

#define MAX_BLOBS 4

struct blob_list {
   struct agxw_capture_blob blobs[MAX_BLOBS];
   const void *data[MAX_BLOBS];
   void *copies[MAX_BLOBS]; /* of another process's memory */
   uint32_t count;
};

static void add_blob(struct agxw_recorder *recorder, struct blob_list *list, uint32_t pointer_at,
                     uint64_t address, uint32_t bytes)
{
   void *copy = NULL;
   if (recorder->ops->read) {
      copy = malloc(bytes);
      recorder->is_short |=
         !copy; /* the next submission fails rather than being recorded in half */
      if (!copy || !agxw_recorder_read(recorder, copy, address, bytes)) {
         free(copy);
         return;
      }
   }
   list->blobs[list->count] = (struct agxw_capture_blob){pointer_at, bytes};
   list->data[list->count] = copy ? copy : (const void *)(uintptr_t)address;
   list->copies[list->count++] = copy;
}

/* Only after a request that succeeded: the kernel has read these addresses. */
static void find_blobs(struct agxw_recorder *recorder, uint32_t request, const void *argument,
                       struct blob_list *list)
{
   for (size_t i = 0; i < AGX_COUNT(pointer_fields); i++) {
      const struct pointer_field *field = &pointer_fields[i];
      uint32_t bytes = AGX_UAPI_NR(field->request) == AGX_UAPI_NR(request) &&
                             AGX_UAPI_BYTES(request) >= AGX_UAPI_BYTES(field->request)
                          ? pointed_bytes(field, argument)
                          : 0;
      if (bytes > 0)
         add_blob(recorder, list, field->pointer_at,
                  agx_load_u64((const uint8_t *)argument + field->pointer_at), bytes);
   }
}

/* ---- requests ---- */

#define ARGUMENT_BYTES (AGX_UAPI_BYTES(UINT32_MAX) + 1)

/* One request on its way. Of the arguments only the request's bytes are set. */
struct call {
   uint32_t request;
   int result;
   bool is_awaited; /* a SUBMIT whose end was waited for */
   bool lacks_memory;
   int64_t begin_ns;
   uint8_t before[ARGUMENT_BYTES], after[ARGUMENT_BYTES];
};

static void add_padded(struct iovec *parts, int *count, const void *data, size_t bytes)
{
   static const uint8_t zero[8];
   parts[(*count)++] = (struct iovec){(void *)data, bytes};
   parts[(*count)++] = (struct iovec){(void *)zero, (8 - bytes % 8) % 8};
}

static void put_request(struct agxw_recorder *recorder, const struct call *call)
{
   struct blob_list list = {.count = 0};
   struct iovec parts[AGXW_CAPTURE_MAX_PARTS];
   int count = 0;
   if (call->result == 0)
      find_blobs(recorder, call->request, call->after, &list);
   const struct agxw_capture_request head = {
      .request = call->request,
      .result = call->result,
      .argument_bytes = AGX_UAPI_BYTES(call->request),
      .blob_count = list.count,
      .duration_ns = (uint64_t)(agx_now_ns() - call->begin_ns),
      .caller = agxw_capture_process_id(recorder->file),
      .flags = agxw_capture_request_flags(call->is_awaited, call->lacks_memory)};
   parts[count++] = (struct iovec){(void *)&head, sizeof(head)};
   add_padded(parts, &count, call->before, head.argument_bytes);
   add_padded(parts, &count, call->after, head.argument_bytes);
   for (uint32_t i = 0; i < list.count; i++) {
      parts[count++] = (struct iovec){&list.blobs[i], sizeof(list.blobs[i])};
      add_padded(parts, &count, list.data[i], list.blobs[i].bytes);
   }
   agxw_capture_put(recorder->file, &recorder->origin, AGXW_CAPTURE_REQUEST, parts, count);
   for (uint32_t i = 0; i < list.count; i++)
      free(list.copies[i]);
}

static void execute(struct agxw_recorder *recorder, struct call *call, void *argument)
{
   call->result = recorder->ops->ioctl(recorder->user, call->request, argument);
   if (!agxw_recorder_read(recorder, call->after, (uintptr_t)argument,
                           AGX_UAPI_BYTES(call->request)))
      memcpy(call->after, call->before, AGX_UAPI_BYTES(call->request));
}

/* ---- submissions ---- */

static bool has_syncobj(const struct agxw_recorder *recorder)
{
   return recorder->done && recorder->done_process == agxw_capture_process_id(recorder->file);
}

/* The syncobj that tells when a submission is done; 0 when there can be none. A forked child makes
 * one of its own: its parent's is signaled by its parent's submissions, and goes with them. */
static uint32_t done_syncobj(struct agxw_recorder *recorder)
{
   struct agx_uapi_syncobj_create create = {0};
   if (has_syncobj(recorder))
      return recorder->done;
   bool is_made = recorder->ops->ioctl(recorder->user, AGX_IOCTL_SYNCOBJ_CREATE, &create) == 0;
   recorder->done = is_made ? create.handle : 0;
   recorder->done_process = agxw_capture_process_id(recorder->file);
   return recorder->done;
}

/* As many syncs as submissions have take no call of the kernel to be read where they lie in a
 * frame. */
#define FEW_SYNCS 16

/* Waits for a submission that signals `done`. */
static void wait_for(struct agxw_recorder *recorder, uint32_t done)
{
   struct agx_uapi_syncobj_wait wait = {
      .handles = (uintptr_t)&done, .timeout_nsec = INT64_MAX, .count_handles = 1};
   recorder->ops->ioctl(recorder->user, AGX_IOCTL_SYNCOBJ_WAIT, &wait);
}

/* Executes the submission with one more fence to signal, and waits for it: every fence that a
 * submission waits for is signaled some day. False: it can't be, and nothing was done. */
static bool submit_and_wait(struct agxw_recorder *recorder, struct call *call)
{
   struct agx_uapi_submit submit;
   memcpy(&submit, call->before, sizeof(submit));
   uint64_t count = (uint64_t)submit.in_sync_count + submit.out_sync_count;
   uint32_t done = done_syncobj(recorder);
   struct agx_uapi_sync few[FEW_SYNCS], *syncs = few;
   if (count >= FEW_SYNCS)
      syncs = count < 65536 ? calloc(count + 1, sizeof(*syncs)) : NULL;
   bool is_ready = done && syncs &&
                   (count == 0 || (submit.syncs && agxw_recorder_read(recorder, syncs, submit.syncs,
                                                                      count * sizeof(*syncs))));
   if (is_ready) {
      syncs[count] = (struct agx_uapi_sync){.sync_type = AGX_UAPI_SYNC_SYNCOBJ, .handle = done};
      submit.syncs = (uintptr_t)syncs;
      submit.out_sync_count++;
      call->result = recorder->ops->ioctl(recorder->user, call->request, &submit);
      memcpy(call->after, call->before, sizeof(submit)); /* a SUBMIT's argument only goes in */
   }
   if (syncs != few)
      free(syncs);
   if (is_ready && call->result == 0)
      wait_for(recorder, done);
   return is_ready;
}

static bool is_wanted(const struct agxw_capture_options *options, uint64_t number)
{
   return number >= AGX_MAX(options->first_submit, 1) &&
          (options->last_submit == 0 || number <= options->last_submit);
}

/* Where all of the argument is there as we know it, and its memory is our own. */
static bool can_wait(const struct agxw_recorder *recorder, uint32_t request)
{
   return !agxw_capture_file_options(recorder->file)->is_pipelined && !recorder->ops->is_remote &&
          request == AGX_IOCTL_ASAHI_SUBMIT;
}

static void record_submit(struct agxw_recorder *recorder, struct call *call, void *argument)
{
   const struct agxw_capture_options *options = agxw_capture_file_options(recorder->file);
   uint64_t number = agxw_capture_count_submit(recorder->file);
   bool has_memory = is_wanted(options, number) && !recorder->is_without_memory;
   call->lacks_memory = !has_memory;
   if (has_memory)
      agxw_recorder_put_memory(recorder, AGXW_CAPTURE_BEFORE);
   agxw_capture_flush(recorder->file);
   if (agxw_capture_error(recorder->file) || recorder->is_short) {
      call->result = recorder->is_short ? -ENOMEM : -agxw_capture_error(recorder->file);
      return;
   }
   bool is_executed =
      has_memory && can_wait(recorder, call->request) && submit_and_wait(recorder, call);
   if (!is_executed)
      execute(recorder, call, argument);
   call->is_awaited = is_executed && call->result == 0;
   put_request(recorder, call);
   if (call->is_awaited)
      agxw_recorder_put_memory(recorder, AGXW_CAPTURE_AFTER);
   if (options->last_submit && number == options->last_submit)
      agxw_capture_end(recorder->file, "the last submission that was asked for is done");
}

/* ---- the seam ---- */

static bool may_block(uint32_t request)
{
   uint32_t number = AGX_UAPI_NR(request);
   return number == AGX_UAPI_NR(AGX_IOCTL_SYNCOBJ_WAIT) ||
          number == AGX_UAPI_NR(AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT) ||
          number == AGX_UAPI_NR(AGX_IOCTL_SYNCOBJ_TRANSFER);
}

static void record_locked(struct agxw_recorder *recorder, struct call *call, void *argument)
{
   if (AGX_UAPI_NR(call->request) == AGX_UAPI_NR(AGX_IOCTL_ASAHI_SUBMIT)) {
      record_submit(recorder, call, argument);
      return;
   }
   execute(recorder, call, argument);
   put_request(recorder, call);
   if (call->result == 0)
      agxw_recorder_follow(recorder, call->request, call->after);
}

int agxw_recorder_ioctl(struct agxw_recorder *recorder, unsigned long request, void *argument)
{
   struct call call;
   call.request = (uint32_t)request; /* zeros in the arguments would be 32 KiB for each request */
   call.result = 0;
   call.is_awaited = call.lacks_memory = false;
   call.begin_ns = agx_now_ns();
   agxw_capture_lock(recorder->file);
   bool is_over = agxw_capture_is_over(recorder->file);
   if (is_over ||
       !agxw_recorder_read(recorder, call.before, (uintptr_t)argument, AGX_UAPI_BYTES(request))) {
      agxw_capture_unlock(recorder->file);
      return recorder->ops->ioctl(recorder->user, request, argument);
   }
   if (may_block(call.request)) {
      agxw_capture_unlock(recorder->file);
      execute(recorder, &call, argument);
      agxw_capture_lock(recorder->file);
      put_request(recorder, &call);
   } else {
      record_locked(recorder, &call, argument);
   }
   agxw_capture_unlock(recorder->file);
   return call.result;
}

void agxw_recorder_label(struct agxw_recorder *recorder, uint32_t handle, const char *text)
{
   const struct agxw_capture_label head = {.handle = handle};
   const struct iovec parts[] = {{(void *)&head, sizeof(head)}, {(void *)text, strlen(text)}};
   agxw_capture_lock(recorder->file);
   agxw_capture_put(recorder->file, &recorder->origin, AGXW_CAPTURE_LABEL, parts, 2);
   agxw_capture_unlock(recorder->file);
}

int agxw_recorder_set_memory(struct agxw_recorder *recorder, bool is_recorded, const char *label)
{
   agxw_capture_lock(recorder->file);
   const bool is_set = recorder->is_without_memory != is_recorded;
   recorder->is_without_memory = !is_recorded;
   if (!is_set)
      agxw_capture_put_note(recorder->file, &recorder->origin, "memory of submissions is %s%s%s",
                            is_recorded ? "recorded from here on" : "not recorded from here on",
                            label ? ": " : "", label ? label : "");
   agxw_capture_unlock(recorder->file);
   return is_set ? -EALREADY : 0;
}

bool agxw_recorder_is_stuck(struct agxw_recorder *recorder)
{
   agxw_capture_lock(recorder->file);
   bool is_stuck = agxw_capture_error(recorder->file) != 0;
   agxw_capture_unlock(recorder->file);
   return is_stuck;
}

agx_status agxw_recorder_create(struct agxw_capture_file *file, const struct agxw_recorded_ops *ops,
                                void *user, const char *name, struct agxw_recorder **out_recorder)
{
   struct agxw_recorder *recorder = calloc(1, sizeof(*recorder));
   *out_recorder = recorder;
   if (!recorder)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "capture: no memory for the recorder of %s", name);
   *recorder = (struct agxw_recorder){.file = file, .ops = ops, .user = user};
   recorder->writer = mmap(NULL, sizeof(*recorder->writer), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
   if (recorder->writer == MAP_FAILED) {
      free(recorder);
      *out_recorder = NULL;
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "capture: no memory for the recorder of %s", name);
   }
   agxw_capture_lock(file);
   recorder->forks = agxw_capture_forks(file);
   *recorder->writer = agxw_capture_process_id(file);
   recorder->origin =
      (struct agxw_capture_origin){agxw_capture_process_id(file), agxw_capture_count_open(file)};
   const struct iovec part = {(void *)name, strlen(name)};
   agxw_capture_put(file, &recorder->origin, AGXW_CAPTURE_OPEN, &part, 1);
   agxw_capture_unlock(file);
   return AGX_OK;
}

void agxw_recorder_destroy(struct agxw_recorder *recorder)
{
   if (!recorder)
      return;
   if (has_syncobj(recorder)) {
      struct agx_uapi_syncobj_destroy destroy = {.handle = recorder->done};
      recorder->ops->ioctl(recorder->user, AGX_IOCTL_SYNCOBJ_DESTROY, &destroy);
   }
   agxw_capture_lock(recorder->file);
   if (recorder->forks == agxw_capture_forks(recorder->file)) /* else another may go on with it */
      agxw_capture_put(recorder->file, &recorder->origin, AGXW_CAPTURE_CLOSE, NULL, 0);
   agxw_capture_unlock(recorder->file);
   agxw_recorder_release_memory(recorder);
   munmap((void *)recorder->writer, sizeof(*recorder->writer));
   free(recorder);
}
