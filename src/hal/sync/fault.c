/* SPDX-License-Identifier: MIT
 *
 * The failure of a submission in words; completion.c calls it for each submission that failed. A
 * virtual device says how each command failed: here addresses become buffers, and numbers of
 * launches become dispatches. A real kernel gives the fence's error and nothing else. Source:
 * docs/hw/kernel.md 5.
 */
#include "hal/sync/fault.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "hal/sync/submission.h"

/* A text that is cut off where the room ends. */
struct text {
   char *bytes;
   size_t capacity, used;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *text, const char *format, ...)
{
   va_list arguments;
   va_start(arguments, format);
   int length = vsnprintf(text->bytes + text->used, text->capacity - text->used, format, arguments);
   va_end(arguments);
   if (length > 0)
      text->used = AGX_MIN(text->used + (size_t)length, text->capacity - 1);
}

/* ---- where ------------------------------------------------------------ */

/* Of the buffers that the recording uses as parts of the memory at *place, such as a pool's, the
 * one that holds va, or the nearest; NULL: none. */
static const struct agx_buffer *find_part(const struct agx_command_buffer *commands, uint64_t va,
                                          const struct agxw_place *place)
{
   const struct agx_buffer *best = NULL;
   uint64_t least = UINT64_MAX;
   if (commands->resources.is_unretained || place->kind != AGXW_PLACE_INSIDE)
      return NULL;
   for (uint32_t i = 0; i < commands->resources.count; i++) {
      const struct agx_object *object = commands->resources.uses[i].object;
      const struct agx_buffer *buffer = agx_container_of(object, const struct agx_buffer, object);
      if (strcmp(object->type->name, "buffer") != 0 || !buffer->parent ||
          buffer->address - place->va >= place->bytes)
         continue;
      uint64_t end = buffer->address + buffer->size_B;
      uint64_t distance = va >= end               ? va - end + 1
                          : va >= buffer->address ? 0
                                                  : buffer->address - va;
      if (distance >= least)
         continue;
      least = distance;
      best = buffer;
   }
   return best;
}

static void add_part(struct text *text, const struct agx_buffer *part, uint64_t va,
                     const struct agxw_place *place)
{
   uint64_t end = part->address + part->size_B;
   bool is_behind = va >= end, is_before = va < part->address;
   add(text, ", ");
   if (!is_behind && !is_before)
      add(text, "byte ");
   add(text, "%" PRIu64 " ",
       is_behind   ? va - end
       : is_before ? part->address - va
                   : va - part->address);
   add(text, "%s a buffer of %" PRIu64 " bytes in \"%s\"",
       is_behind   ? "bytes behind"
       : is_before ? "bytes before"
                   : "of",
       part->size_B, place->label);
}

/* Farther away than a buffer's index of 32 bits leads, whose it is would be a guess. */
#define FAR_B (UINT64_C(16) << 30)

static void add_place(struct text *text, struct agx_device *device,
                      const struct agx_command_buffer *commands, uint64_t va)
{
   struct agxw_place place;
   agxw_device_find_place(agx_context_of(device)->winsys, va, &place);
   const struct agx_buffer *part = find_part(commands, va, &place);
   if (part) {
      add_part(text, part, va, &place);
      return;
   }
   if ((place.kind == AGXW_PLACE_BEHIND || place.kind == AGXW_PLACE_BEFORE) &&
       place.distance > FAR_B) {
      add(text, ", far from every buffer");
      return;
   }
   switch (place.kind) {
   case AGXW_PLACE_INSIDE:
      add(text, ", byte %" PRIu64 " of buffer \"%s\"", place.distance, place.label);
      break;
   case AGXW_PLACE_BEHIND:
      add(text, ", %" PRIu64 " bytes behind buffer \"%s\"", place.distance, place.label);
      break;
   case AGXW_PLACE_BEFORE:
      add(text, ", %" PRIu64 " bytes before buffer \"%s\"", place.distance, place.label);
      break;
   case AGXW_PLACE_FREED:
      add(text, ", byte %" PRIu64 " of buffer \"%s\", which was released", place.distance,
          place.label);
      break;
   default:
      break;
   }
}

/* Lanes see threadgroup memory at addresses of its own. */
static bool is_device_memory(const struct agx_kmd_fault *fault)
{
   return strncmp(fault->access, "threadgroup", 11) != 0;
}

static void add_access(struct text *text, struct agx_device *device,
                       const struct agx_command_buffer *commands, const struct agx_kmd_fault *fault)
{
   add(text, ": %s", fault->access);
   if (fault->bytes)
      add(text, " of %" PRIu64 " bytes", fault->bytes);
   add(text, " at 0x%" PRIx64, fault->va);
   if (is_device_memory(fault))
      add_place(text, device, commands, fault->va);
   if (fault->kind == AGX_KMD_FAULT_BOUNDS)
      add(text, ", outside of what the dispatch may access");
}

/* ---- which dispatch --------------------------------------------------- */

static void add_dispatch(struct text *text, const struct agx_command_buffer *commands,
                         uint32_t number)
{
   char label[2 * AGX_NAME_BYTES];
   add(text, "; dispatch %u", number);
   if (agx_command_buffer_dispatch_label(commands, number, label, sizeof(label)))
      add(text, " (\"%s\")", label);
   add(text, " of \"%s\"", commands->label);
}

/* Without a number: what it may have been. */
static void add_candidates(struct text *text, const struct agx_command_buffer *commands)
{
   char label[2 * AGX_NAME_BYTES];
   uint32_t count = commands->dispatch_count;
   if (count == 1 && agx_command_buffer_dispatch_label(commands, 0, label, sizeof(label)))
      add(text, "; the only dispatch (\"%s\") of \"%s\"", label, commands->label);
   else
      add(text, "; one of the %u dispatches of \"%s\"", count, commands->label);
}

/* ---- all of it -------------------------------------------------------- */

static void describe_known(struct text *text, struct agx_device *device,
                           const struct agx_command_buffer *commands,
                           const struct agx_kmd_fault *fault)
{
   if (fault->kind == AGX_KMD_FAULT_OTHER) {
      add_dispatch(text, commands, fault->dispatch);
      add(text, ": %s", fault->text);
      return;
   }
   add_access(text, device, commands, fault);
   if (fault->dispatch != UINT32_MAX)
      add_dispatch(text, commands, fault->dispatch);
   if (fault->pc)
      add(text, ", workgroup %u,%u,%u, thread %u", fault->workgroup[0], fault->workgroup[1],
          fault->workgroup[2], fault->thread);
}

/* Of a submission whose recording has timestamps, and consists of several commands. */
static bool take_segment_fault(const struct agx_submission *submission,
                               const struct agxw_compute *segments, uint32_t count,
                               struct agx_kmd_fault *out_fault)
{
   struct agxw_device *winsys = agx_context_of(submission->device)->winsys;
   for (uint32_t i = 0; i < count; i++) {
      if (!agxw_device_take_fault(winsys, segments[i].stream_va, segments[i].stream_va, out_fault))
         continue;
      if (out_fault->dispatch != UINT32_MAX)
         out_fault->dispatch += agx_command_buffer_segment_first(submission->commands, i);
      return true;
   }
   return false;
}

static bool take_fault(const struct agx_submission *submission, struct agx_kmd_fault *out_fault)
{
   const struct agxw_compute *segments;
   uint64_t first_va = submission->stream.stream_va, last_va = first_va;
   if (!submission->commands || !submission->stream.stream_va)
      return false;
   const uint32_t count = agx_command_buffer_segments(submission->commands, &segments);
   if (count)
      return take_segment_fault(submission, segments, count, out_fault);
   if (submission->profile)
      (void)agx_profile_entry_streams(submission->profile, &first_va, &last_va);
   if (!agxw_device_take_fault(agx_context_of(submission->device)->winsys, first_va, last_va,
                               out_fault))
      return false;
   if (out_fault->dispatch == UINT32_MAX)
      return true;
   if (submission->profile)
      out_fault->dispatch +=
         agx_profile_entry_first_dispatch(submission->profile, out_fault->stream_va);
   if (submission->count > 0 && out_fault->dispatch > 0)
      out_fault->dispatch--; /* its head has a launch */
   return true;
}

/* With the labels' lock held. */
static void describe(const struct agx_submission *submission, agx_status status, int fence_error,
                     struct agx_failure *out)
{
   struct agx_device *device = submission->device;
   struct agx_kmd_fault fault;
   const char *name = agxw_fence_error_text(fence_error);
   *out = (struct agx_failure){0};
   if (status == AGX_OK)
      return;
   if (!fence_error) {
      agx_failure_keep(out, status);
      return;
   }
   out->status = status;
   struct text text = {out->text, sizeof(out->text), 0};
   if (name)
      add(&text, "%s", name);
   else
      add(&text, "fence error %d", fence_error);
   if (take_fault(submission, &fault)) {
      describe_known(&text, device, submission->commands, &fault);
      return;
   }
   if (submission->commands && status != AGX_UNAVAILABLE)
      add_candidates(&text, submission->commands);
   add(&text, "; %s tells no more than the fence's error",
       agxw_device_info(agx_context_of(device)->winsys)->node);
}

void agx_fault_describe(const struct agx_submission *submission, agx_status status, int fence_error,
                        struct agx_failure *out)
{
   struct agx_context *context = agx_context_of(submission->device);
   pthread_mutex_lock(&context->labels_lock);
   describe(submission, status, fence_error, out);
   pthread_mutex_unlock(&context->labels_lock);
}

void agx_fault_forget(const struct agx_submission *submission)
{
   struct agx_kmd_fault fault;
   (void)take_fault(submission, &fault);
}
