/* SPDX-License-Identifier: MIT
 *
 * Fill, update and copy, byte-exact: dispatches of the driver's own kernels (builtin/), which see
 * their buffers as bindings. What is long is cut into parts that the kernels can count.
 */
#include "hal/record/transfer.h"

#include "base/util.h"
#include "hal/executable/builtin.h"
#include "hal/memory/buffer.h"
#include "hal/record/bounds.h"
#include "hal/record/command_defer.h"
#include "hal/record/record.h"

#define PART_B        (1ull << 30) /* keeps source and target congruent modulo 16 */
#define WORKGROUP_B   4096u        /* 64 threads, 4 stores of 16 bytes each */
#define MAX_ADDRESSES 2
/* Of an update: two of them fit in a chunk of the recording. */
#define UPDATE_PART_B (60u << 10)

struct fill_push {
   uint64_t target;
   uint32_t length, pattern;
};

struct copy_push {
   uint64_t target, source;
   uint32_t length;
};

/* ---- checks -------------------------------------------------------------- */

/* Checks a range, and puts a number in place of AGX_WHOLE_LENGTH. */
static agx_status check_ref(const struct agx_device *device, const char *what,
                            struct agx_buffer_ref *ref)
{
   const struct agx_buffer *buffer = ref->buffer;
   AGX_TRY(agx_ref_check_placed(ref, what));
   if (ref->table_slot)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "%s: slot %u, in a command buffer that was made without table_slots", what,
                      ref->table_slot - 1);
   if (!buffer)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: the buffer is NULL", what);
   if (buffer->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %s is a buffer %s", what, buffer->label,
                      agx_describe_owner(buffer->device, device).text);
   if (buffer->is_host_only)
      return AGX_FAIL(AGX_PERMISSION_DENIED,
                      "%s: %s is memory of the host that the GPU can't reach: transfer it by an "
                      "operation of its own (AGX_OP_FILL, AGX_OP_UPDATE, AGX_OP_COPY)",
                      what, buffer->label);
   if (ref->length_B == AGX_WHOLE_LENGTH && ref->offset_B <= buffer->size_B)
      ref->length_B = buffer->size_B - ref->offset_B;
   if (ref->offset_B > buffer->size_B)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: offset %llu in %s of %llu bytes", what,
                      (unsigned long long)ref->offset_B, buffer->label,
                      (unsigned long long)buffer->size_B);
   if (!agx_range_fits(ref->offset_B, ref->length_B, buffer->size_B))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: offset %llu, length %llu in %s of %llu bytes", what,
                      (unsigned long long)ref->offset_B, (unsigned long long)ref->length_B,
                      buffer->label, (unsigned long long)buffer->size_B);
   return AGX_OK;
}

static agx_status check_usage(const char *what, const struct agx_buffer *buffer, uint32_t usage,
                              const char *name)
{
   if (buffer->usage & usage)
      return AGX_OK;
   return AGX_FAIL(AGX_PERMISSION_DENIED, "%s: %s was made without %s", what, buffer->label, name);
}

agx_status agx_transfer_check_target(const struct agx_device *device, const char *what,
                                     struct agx_buffer_ref *ref)
{
   AGX_TRY(check_ref(device, what, ref));
   if (ref->buffer->flags & AGX_BUFFER_GPU_READ_ONLY)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %s is read-only", what, ref->buffer->label);
   return check_usage(what, ref->buffer, AGX_USAGE_TRANSFER_TARGET, "AGX_USAGE_TRANSFER_TARGET");
}

agx_status agx_transfer_check_source(const struct agx_device *device, const char *what,
                                     struct agx_buffer_ref *ref)
{
   AGX_TRY(check_ref(device, what, ref));
   return check_usage(what, ref->buffer, AGX_USAGE_TRANSFER_SOURCE, "AGX_USAGE_TRANSFER_SOURCE");
}

/* By addresses, since two buffers may show the same memory. */
static agx_status check_apart(const struct agx_buffer_ref *source,
                              const struct agx_buffer_ref *target)
{
   uint64_t from = source->buffer->address + source->offset_B;
   uint64_t to = target->buffer->address + target->offset_B;
   if (target->length_B != source->length_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "copy of %s to %s: %llu bytes to a range of %llu",
                      source->buffer->label, target->buffer->label,
                      (unsigned long long)source->length_B, (unsigned long long)target->length_B);
   if (from < to + target->length_B && to < from + source->length_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "copy: %llu bytes of %s at %llu overlap the target, %s at %llu",
                      (unsigned long long)source->length_B, source->buffer->label,
                      (unsigned long long)source->offset_B, target->buffer->label,
                      (unsigned long long)target->offset_B);
   return AGX_OK;
}

/* ---- dispatches ---------------------------------------------------------- */

/* All of what is to be done, cut into parts. refs: target, then source; push begins with their
 * addresses, and *length in it is the part's. */
static agx_status record_parts(struct agx_command_buffer *commands, enum agx_builtin which,
                               const struct agx_buffer_ref *refs, uint32_t ref_count,
                               const void *push, uint32_t push_B, uint32_t *length)
{
   struct agx_binding bindings[MAX_ADDRESSES] = {0};
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .workgroups = {1, 1, 1},
                                   .binding_count = ref_count,
                                   .bindings = bindings,
                                   .push = push,
                                   .push_B = push_B};
   uint64_t total_B = refs[0].length_B;
   AGX_TRY(agx_device_builtin(commands->device, which, &dispatch.executable));
   for (uint64_t done = 0; done < total_B; done += *length) {
      *length = (uint32_t)AGX_MIN(total_B - done, PART_B);
      for (uint32_t i = 0; i < ref_count; i++)
         bindings[i] = (struct agx_binding){
            .binding = i, .ref = {refs[i].buffer, refs[i].offset_B + done, *length}};
      dispatch.workgroups[0] = (uint32_t)agx_div_up(*length, WORKGROUP_B);
      AGX_TRY(agx_cmd_dispatch(commands, &dispatch));
   }
   return AGX_OK;
}

static agx_status record_fill(struct agx_command_buffer *commands, struct agx_buffer_ref *target,
                              const void *pattern, uint32_t pattern_B)
{
   struct fill_push push = {0};
   AGX_TRY(agx_record_check(commands, "fill"));
   AGX_TRY(agx_transfer_check_target(commands->device, "fill", target));
   AGX_TRY(agx_pattern_check(target, pattern, pattern_B, &push.pattern));
   return record_parts(commands, AGX_BUILTIN_FILL, target, 1, &push, sizeof(push), &push.length);
}

static agx_status record_copy(struct agx_command_buffer *commands, struct agx_buffer_ref *source,
                              struct agx_buffer_ref *target)
{
   struct copy_push push = {0};
   AGX_TRY(agx_record_check(commands, "copy"));
   AGX_TRY(agx_transfer_check_source(commands->device, "copy", source));
   AGX_TRY(agx_transfer_check_target(commands->device, "copy", target));
   AGX_TRY(check_apart(source, target));
   const struct agx_buffer_ref refs[] = {*target, *source};
   return record_parts(commands, AGX_BUILTIN_COPY, refs, AGX_COUNT(refs), &push, sizeof(push),
                       &push.length);
}

/* ---- update -------------------------------------------------------------- */

/* Puts bytes into the recording where they are congruent with the address, modulo 16. */
static agx_status keep_data(struct agx_command_buffer *commands, const uint8_t *data,
                            uint32_t length_B, uint64_t address, uint64_t *out_va)
{
   const uint32_t shift = address % 16;
   const uint32_t room_B = (uint32_t)agx_align_up(shift + length_B, 64);
   AGX_TRY(agx_record_room(commands, 0, room_B));
   commands->blocks -= room_B;
   memcpy(commands->blocks + shift, data, length_B);
   *out_va = (uintptr_t)commands->blocks + commands->va_bias + shift;
   return AGX_OK;
}

static agx_status record_update_part(struct agx_command_buffer *commands, const uint8_t *data,
                                     const struct agx_buffer_ref *target)
{
   struct copy_push push = {0};
   const uint32_t length_B = (uint32_t)target->length_B;
   AGX_TRY(keep_data(commands, data, length_B, target->buffer->address + target->offset_B,
                     &push.source));
   AGX_TRY(
      record_parts(commands, AGX_BUILTIN_UPDATE, target, 1, &push, sizeof(push), &push.length));
   return commands->is_watched ? agx_bounds_note_data(commands, push.source, length_B) : AGX_OK;
}

agx_status agx_record_update(struct agx_command_buffer *commands, const void *data,
                             struct agx_buffer_ref target)
{
   AGX_TRY(agx_record_check(commands, "update"));
   AGX_TRY(agx_transfer_check_target(commands->device, "update", &target));
   if (!data && target.length_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "update: %llu bytes at NULL",
                      (unsigned long long)target.length_B);
   for (uint64_t done = 0, part_B; done < target.length_B; done += part_B) {
      part_B = AGX_MIN(target.length_B - done, UPDATE_PART_B);
      const struct agx_buffer_ref part = {
         .buffer = target.buffer, .offset_B = target.offset_B + done, .length_B = part_B};
      AGX_TRY(record_update_part(commands, (const uint8_t *)data + done, &part));
   }
   return AGX_OK;
}

static agx_status record_limited_update(struct agx_command_buffer *commands, const void *data,
                                        struct agx_buffer_ref target)
{
   AGX_TRY(agx_record_check(commands, "update"));
   AGX_TRY(agx_transfer_check_target(commands->device, "update", &target));
   if (target.length_B > AGX_MAX_UPDATE_B)
      return AGX_FAIL(
         AGX_OUT_OF_RANGE,
         "update: %llu bytes; the limit is %u in a command buffer, a queue's operation "
         "has none",
         (unsigned long long)target.length_B, AGX_MAX_UPDATE_B);
   return agx_record_update(commands, data, target);
}

/* ---- commands ------------------------------------------------------------ */

agx_status agx_transfer_note_command(struct agx_command_buffer *commands, uint32_t first)
{
   const uint32_t launches = commands->dispatch_count - first;
   if (launches == 1)
      return AGX_OK;
   struct agx_odd_command *odd = agx_vector_add(
      &commands->odd_commands, agx_context_of(commands->device)->alloc, sizeof(*odd));
   if (!odd)
      return agx_record_no_memory(commands);
   *odd = (struct agx_odd_command){first, launches};
   return AGX_OK;
}

agx_status agx_cmd_fill(struct agx_command_buffer *commands, struct agx_buffer_ref target,
                        const void *pattern, uint32_t pattern_B)
{
   const uint32_t first = commands->dispatch_count;
   if (commands->table_slots)
      return agx_record_fail(commands, agx_defer_fill(commands, &target, pattern, pattern_B));
   agx_status status = record_fill(commands, &target, pattern, pattern_B);
   return agx_record_fail(commands,
                          status == AGX_OK ? agx_transfer_note_command(commands, first) : status);
}

agx_status agx_cmd_update(struct agx_command_buffer *commands, const void *data,
                          struct agx_buffer_ref target)
{
   const uint32_t first = commands->dispatch_count;
   if (commands->table_slots)
      return agx_record_fail(commands, agx_defer_update(commands, data, &target));
   agx_status status = record_limited_update(commands, data, target);
   return agx_record_fail(commands,
                          status == AGX_OK ? agx_transfer_note_command(commands, first) : status);
}

agx_status agx_cmd_copy(struct agx_command_buffer *commands, struct agx_buffer_ref source,
                        struct agx_buffer_ref target)
{
   const uint32_t first = commands->dispatch_count;
   if (commands->table_slots)
      return agx_record_fail(commands, agx_defer_copy(commands, &source, &target));
   agx_status status = record_copy(commands, &source, &target);
   return agx_record_fail(commands,
                          status == AGX_OK ? agx_transfer_note_command(commands, first) : status);
}
