/* SPDX-License-Identifier: MIT
 *
 * Barriers and events. Nothing is written to the stream here: they move the limits that hazards
 * are found by, and the launch that meets one writes the word (hazard.h, record.h). Events are all
 * in the recording: what they order within a command buffer becomes barriers, and what lies in
 * different ones is ordered already, as submissions are.
 */
#include "base/util.h"
#include "hal/core/desc.h"
#include "hal/record/command_defer.h"
#include "hal/record/record.h"

#define DEVICE_STAGES (AGX_STAGE_ISSUE | AGX_STAGE_DISPATCH | AGX_STAGE_TRANSFER)
#define ALL_STAGES    (DEVICE_STAGES | AGX_STAGE_HOST)
#define HOST_SCOPES   (AGX_SCOPE_HOST_READ | AGX_SCOPE_HOST_WRITE)
#define ALL_SCOPES    (2u * AGX_SCOPE_MEMORY_WRITE - 1)

struct agx_event {
   struct agx_object object;
   struct agx_device *device;
};

static agx_status check_barrier(const struct agx_command_buffer *commands,
                                const struct agx_barrier *barrier)
{
   uint32_t stages = barrier->source_stages | barrier->target_stages;
   uint32_t scopes = barrier->source_scopes | barrier->target_scopes;
   if (stages & ~(uint32_t)ALL_STAGES || scopes & ~(uint32_t)ALL_SCOPES)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: barrier: unknown stages 0x%x or scopes 0x%x",
                      commands->label, stages & ~(uint32_t)ALL_STAGES,
                      scopes & ~(uint32_t)ALL_SCOPES);
   if (barrier->buffer_count && !barrier->buffers)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: barrier: %u buffers at NULL", commands->label,
                      barrier->buffer_count);
   for (uint32_t i = 0; i < barrier->buffer_count; i++) {
      const struct agx_buffer *buffer = barrier->buffers[i];
      if (!buffer)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: barrier: buffer %u is NULL", commands->label,
                         i);
      if (buffer->device != commands->device)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: barrier: %s is a buffer %s", commands->label,
                         buffer->label, agx_describe_owner(buffer->device, commands->device).text);
   }
   return AGX_OK;
}

/* Whether it stands between commands, and not only between them and the host. The host's accesses
 * are ordered by semaphores, and nothing comes before the first command but the submission's waits.
 */
static bool is_between_commands(const struct agx_barrier *barrier)
{
   uint32_t sources = barrier->source_stages ? barrier->source_stages : ALL_STAGES;
   uint32_t targets = barrier->target_stages ? barrier->target_stages : ALL_STAGES;
   uint32_t before = barrier->source_scopes ? barrier->source_scopes : ALL_SCOPES;
   uint32_t after = barrier->target_scopes ? barrier->target_scopes : ALL_SCOPES;
   return sources & (AGX_STAGE_DISPATCH | AGX_STAGE_TRANSFER) && targets & DEVICE_STAGES &&
          before & ~(uint32_t)HOST_SCOPES && after & ~(uint32_t)HOST_SCOPES;
}

/* Orders launches before that index before those to come, as the barrier says. */
static agx_status order(struct agx_command_buffer *commands, const struct agx_barrier *barrier,
                        uint32_t launch_index)
{
   if (!is_between_commands(barrier))
      return AGX_OK;
   if (barrier->buffer_count == 0)
      agx_hazard_barrier(&commands->hazards, launch_index);
   for (uint32_t i = 0; i < barrier->buffer_count; i++) {
      struct agx_use *use = agx_record_use(commands, barrier->buffers[i]);
      if (!use)
         return agx_record_no_memory(commands);
      agx_hazard_barrier_of(&commands->hazards, use, launch_index);
      if (agx_buffer_may_alias(barrier->buffers[i]))
         agx_hazard_barrier_of(&commands->hazards, &commands->aliased, launch_index);
   }
   return AGX_OK;
}

/* NULL stands for a barrier of everything. */
static agx_status read_barrier(const struct agx_command_buffer *commands,
                               const struct agx_barrier *barrier, struct agx_barrier *out)
{
   AGX_TRY(agx_desc_read("agx_barrier", barrier, out, sizeof(*out)));
   return barrier ? check_barrier(commands, out) : AGX_OK;
}

static agx_status record_barrier(struct agx_command_buffer *commands,
                                 const struct agx_barrier *barrier)
{
   struct agx_barrier read;
   AGX_TRY(agx_record_check(commands, "barrier"));
   if (!barrier) {
      agx_hazard_barrier(&commands->hazards, commands->hazards.launch_index + 1);
      return AGX_OK;
   }
   AGX_TRY(read_barrier(commands, barrier, &read));
   return order(commands, &read, commands->hazards.launch_index + 1);
}

agx_status agx_cmd_barrier(struct agx_command_buffer *commands, const struct agx_barrier *barrier)
{
   return agx_record_fail(commands, commands->table_slots ? agx_defer_barrier(commands, barrier)
                                                          : record_barrier(commands, barrier));
}

/* ---- events ------------------------------------------------------------ */

enum event_state {  /* in agx_use.written */
   EVENT_ELSEWHERE, /* signalled by an earlier submission, or by none */
   EVENT_SIGNALLED,
   EVENT_RESET,
};

static agx_status wait_event(struct agx_command_buffer *commands, const struct agx_use *event,
                             const struct agx_barrier *barrier)
{
   if (event->written == EVENT_RESET)
      return AGX_FAIL(AGX_FAILED_PRECONDITION,
                      "%s: waits for an event that was reset and is not signalled before",
                      commands->label);
   return event->written == EVENT_SIGNALLED ? order(commands, barrier, event->barrier) : AGX_OK;
}

static agx_status record_event(struct agx_command_buffer *commands, struct agx_event *event,
                               uint32_t op, const struct agx_barrier *barrier)
{
   struct agx_barrier read;
   AGX_TRY(agx_record_check(commands, "event"));
   if (!event)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: the event is NULL", commands->label);
   if (event->device != commands->device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: the event is %s", commands->label,
                      agx_describe_owner(event->device, commands->device).text);
   AGX_TRY(read_barrier(commands, barrier, &read));
   struct agx_use *use = agx_record_use(commands, event);
   if (!use)
      return agx_record_no_memory(commands);
   switch (op) {
   case AGX_EVENT_SIGNAL:
      use->written = EVENT_SIGNALLED;
      use->barrier = commands->hazards.launch_index + 1;
      return AGX_OK;
   case AGX_EVENT_RESET:
      use->written = EVENT_RESET;
      return AGX_OK;
   case AGX_EVENT_WAIT:
      return wait_event(commands, use, &read);
   default:
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: event operation %u", commands->label, op);
   }
}

agx_status agx_cmd_event(struct agx_command_buffer *commands, struct agx_event *event, uint32_t op,
                         const struct agx_barrier *barrier)
{
   return agx_record_fail(commands, commands->table_slots
                                       ? agx_defer_event(commands, event, op, barrier)
                                       : record_event(commands, event, op, barrier));
}

/* ---- the life of an event ------------------------------------------------------ */

static void event_destroy(struct agx_object *object)
{
   struct agx_event *event = agx_container_of(object, struct agx_event, object);
   struct agx_device *device = event->device;
   agx_host_free(agx_context_of(device)->alloc, event, sizeof(*event));
   agx_release(device);
}

static const struct agx_object_type event_type = {"event", event_destroy};

agx_status agx_event_create(struct agx_device *device, struct agx_event **out_event)
{
   *out_event = NULL;
   AGX_TRY(agx_fork_check(device));
   struct agx_event *event = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*event));
   if (!event)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "event: out of host memory");
   agx_object_init(&event->object, &event_type);
   agx_retain(device);
   event->device = device;
   *out_event = event;
   return AGX_OK;
}
