/* SPDX-License-Identifier: MIT
 *
 * What submissions ask of a recorded command buffer, for sync/: its breadcrumb, whether it may be
 * submitted, and how many submissions hold it.
 */
#include "hal/record/command_buffer.h"

const struct agx_breadcrumb *
agx_command_buffer_breadcrumb(const struct agx_command_buffer *commands)
{
   return commands->stream_va && !commands->is_watched && !commands->segments.count
             ? &commands->breadcrumb
             : NULL;
}

agx_status agx_command_buffer_check_submit(const struct agx_command_buffer *commands,
                                           const struct agx_device *device)
{
   if (!commands)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: the command buffer is NULL");
   if (commands->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: %s is %s", commands->label,
                      agx_describe_owner(commands->device, device).text);
   if (commands->state != AGX_RECORD_DONE)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "submit: %s is not recorded to its end",
                      commands->label);
   return AGX_OK;
}

/* An instance is one of its base: that is what may be recorded anew, or is one-shot. */
agx_status agx_command_buffer_begin_flight(struct agx_command_buffer *commands)
{
   struct agx_command_buffer *counted = commands->base ? commands->base : commands;
   uint32_t others = atomic_fetch_add(&commands->in_flight, 1);
   if (others && agx_command_buffer_breadcrumb(commands))
      agx_breadcrumb_make_prologues(commands->device, &commands->breadcrumb, commands->stream_va);
   if (commands->base)
      atomic_fetch_add(&counted->in_flight, 1);
   uint32_t before = atomic_fetch_add(&counted->submissions, 1);
   if (!before || !(counted->flags & AGX_COMMAND_BUFFER_ONE_SHOT))
      return AGX_OK;
   agx_command_buffer_cancel_flight(commands);
   return AGX_FAIL(AGX_FAILED_PRECONDITION, "submit: %s is one-shot and was submitted already",
                   commands->label);
}

void agx_command_buffer_cancel_flight(struct agx_command_buffer *commands)
{
   atomic_fetch_sub(&(commands->base ? commands->base : commands)->submissions, 1);
   agx_command_buffer_end_flight(commands);
}

void agx_command_buffer_end_flight(struct agx_command_buffer *commands)
{
   if (commands->base)
      atomic_fetch_sub(&commands->base->in_flight, 1);
   atomic_fetch_sub(&commands->in_flight, 1);
}
