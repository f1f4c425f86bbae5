/* SPDX-License-Identifier: MIT
 *
 * Timestamps. The kernel times commands of a submission and nothing smaller, so a timestamp ends a
 * command: what was recorded goes to the kernel as several, in one request, and each but the last
 * says where the time of its end is written to. Source: docs/hw/kernel.md 5.
 */
#include "base/util.h"
#include "hal/memory/buffer.h"
#include "hal/record/command_defer.h"
#include "hal/record/record.h"

#define TIME_B sizeof(uint64_t)

static agx_status check(const struct agx_command_buffer *commands, const struct agx_buffer_ref *ref)
{
   const struct agx_buffer *buffer = ref->buffer;
   AGX_TRY(agx_ref_check_placed(ref, "timestamp"));
   if (!buffer)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "timestamp: the buffer is NULL");
   if (buffer->device != commands->device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "timestamp: %s is a buffer %s", buffer->label,
                      agx_describe_owner(buffer->device, commands->device).text);
   if (!(buffer->usage & AGX_USAGE_TIMESTAMPS))
      return AGX_FAIL(AGX_PERMISSION_DENIED, "timestamp: %s was made without AGX_USAGE_TIMESTAMPS",
                      buffer->label);
   if (!agx_range_fits(ref->offset_B, TIME_B, buffer->size_B) || ref->length_B < TIME_B)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "timestamp: 8 bytes at %llu of %s of %llu bytes",
                      (unsigned long long)ref->offset_B, buffer->label,
                      (unsigned long long)buffer->size_B);
   if (ref->offset_B % TIME_B || ref->offset_B > UINT32_MAX)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "timestamp: offset %llu in %s is no multiple of 8 below 2^32",
                      (unsigned long long)ref->offset_B, buffer->label);
   return AGX_OK;
}

static agx_status record(struct agx_command_buffer *commands, const struct agx_buffer_ref *target)
{
   AGX_TRY(agx_record_check(commands, "timestamp"));
   AGX_TRY(check(commands, target));
   if (!agx_record_use(commands, target->buffer))
      return agx_record_no_memory(commands);
   return agx_record_end_segment(commands, target->buffer->bo, (uint32_t)target->offset_B);
}

agx_status agx_cmd_timestamp(struct agx_command_buffer *commands, struct agx_buffer_ref target)
{
   return agx_record_fail(commands, commands->table_slots ? agx_defer_timestamp(commands, &target)
                                                          : record(commands, &target));
}
