/* SPDX-License-Identifier: MIT
 *
 * The short way of a dispatch, for what most are: buffers, bound in the executable's order by
 * address, and push constants. Everything is checked before anything changes, so that the long way
 * can start over where something is out of the ordinary, and say what.
 */
#include "hal/indirect.h"
#include "hal/record.h"
#include "hal/shape.h"

/* Of y and z. Source: reference/cmdstream, cdm.md 1.1. */
#define MAX_GROUPS 65535u

struct plain {
   struct agx_executable *executable; /* the entry point */
   const struct agx_plan *plan;
   const struct agx_dispatch *dispatch;
   uint64_t addresses[AGX_PLAN_MAX_BINDINGS], lengths_B[AGX_PLAN_MAX_BINDINGS];
   uint32_t threads[3];
};

/* That the range is one of the buffer's that the kernel may be bound to. */
static inline bool is_sound(const struct agx_command_buffer *commands,
                            const struct agx_plan_binding *wanted, const struct agx_buffer_ref *ref,
                            uint64_t length_B)
{
   const struct agx_buffer *buffer = ref->buffer;
   return buffer->device == commands->device && !(ref->offset_B & wanted->align_mask) &&
          agx_range_fits(ref->offset_B, length_B, buffer->size_B) &&
          length_B >= wanted->min_size_B && agx_binding_usage_fits(&wanted->usage, buffer->usage) &&
          !(wanted->writes && buffer->flags & AGX_BUFFER_GPU_READ_ONLY);
}

static inline bool take_bindings(const struct agx_command_buffer *commands, struct plain *plain)
{
   const bool is_checked = !(commands->flags & AGX_COMMAND_BUFFER_UNCHECKED);
   const struct agx_plan *plan = plain->plan;
   if (plain->dispatch->binding_count != plan->binding_count ||
       (plan->binding_count && !plain->dispatch->bindings))
      return false;
   for (uint32_t i = 0; i < plan->binding_count; i++) {
      const struct agx_plan_binding *wanted = &plan->bindings[i];
      const struct agx_binding *binding = &plain->dispatch->bindings[i];
      const struct agx_buffer_ref *ref = &binding->ref;
      if (binding->set != wanted->set || binding->binding != wanted->binding ||
          binding->element != wanted->element || !ref->buffer || ref->table_slot ||
          agx_buffer_may_alias(ref->buffer))
         return false;
      uint64_t length_B = ref->length_B;
      if (length_B == AGX_WHOLE_LENGTH)
         length_B = ref->buffer->size_B - ref->offset_B;
      if (is_checked && !is_sound(commands, wanted, ref, length_B))
         return false;
      plain->addresses[i] = ref->buffer->address + ref->offset_B;
      plain->lengths_B[i] = length_B;
   }
   return true;
}

/* False also for a grid of no threads. Threads along y and z fit in 32 bits: a workgroup has at
 * most 1024. */
static inline bool take_grid(struct plain *plain)
{
   const struct agx_plan *plan = plain->plan;
   const uint32_t *groups = plain->dispatch->workgroups;
   for (unsigned i = 0; i < 3; i++)
      plain->threads[i] = groups[i] * plan->local[i];
   return groups[0] - 1 < plan->max_groups && groups[1] - 1 < MAX_GROUPS &&
          groups[2] - 1 < MAX_GROUPS;
}

static inline bool take_push(const struct plain *plain)
{
   const struct agx_dispatch *dispatch = plain->dispatch;
   return dispatch->push_B >= plain->plan->plain_push_B && dispatch->push_B <= AGX_MAX_PUSH_B &&
          (dispatch->push || !dispatch->push_B);
}

/* Whether any needs a barrier word. */
static inline agx_status note_uses(struct agx_command_buffer *commands, const struct plain *plain,
                                   bool *out_needs_barrier)
{
   const struct agx_plan *plan = plain->plan;
   const bool may_conflict = agx_order_may_conflict(&commands->order);
   bool needs = false;
   commands->order.tick++;
   for (uint32_t i = 0; i < plan->binding_count; i++) {
      struct agx_use *use = agx_record_use(commands, plain->dispatch->bindings[i].ref.buffer);
      if (!use)
         return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: out of host memory", commands->label);
      if (may_conflict)
         needs |= agx_order_use(&commands->order, use, plan->bindings[i].writes);
      else
         agx_order_stamp(&commands->order, use, plan->bindings[i].writes);
   }
   *out_needs_barrier = needs;
   return AGX_OK;
}

static inline uint8_t *put(uint8_t *at, uint64_t value, uint32_t bytes)
{
   if (bytes == 8)
      memcpy(at, &value, 8);
   else
      memcpy(at, &value, 4);
   return at + bytes;
}

static inline uint8_t *put_push(uint8_t *at, const uint8_t *from, uint32_t bytes)
{
   if (bytes == 8)
      memcpy(at, from, 8);
   else if (bytes == 4)
      memcpy(at, from, 4);
   else
      memcpy(at, from, bytes);
   return at + bytes;
}

static inline void write_contents(const struct plain *plain, uint8_t *at)
{
   const struct agx_plan *plan = plain->plan;
   for (uint32_t i = 0; i < plan->part_count; i++) {
      const struct agx_plan_part *part = &plan->parts[i];
      switch (part->kind) {
      case AGX_UNIFORM_BUFFER_ADDRESS:
         at = put(at, plain->addresses[part->index] + part->value, 8);
         break;
      case AGX_UNIFORM_PUSH:
         at = put_push(at, (const uint8_t *)plain->dispatch->push + part->index, part->bytes);
         break;
      case AGX_UNIFORM_BUFFER_SIZE:
         at = put(at, AGX_MIN(plain->lengths_B[part->index], (uint64_t)UINT32_MAX), part->bytes);
         break;
      case AGX_UNIFORM_WORKGROUP_COUNT:
         at = put(at, plain->dispatch->workgroups[part->index], part->bytes);
         break;
      default: /* AGX_UNIFORM_CONSTANT */
         at = put(at, part->value, part->bytes);
         break;
      }
   }
}

static inline void write_block(const struct plain *plain, const struct agx_launch *launch)
{
   const struct agx_plan *plan = plain->plan;
   const uint32_t contents_at = plan->load_count * 8 + (uint32_t)sizeof(plan->tail);
   uint8_t *at = launch->block;
   for (uint32_t i = 0; i < plan->load_count; i++)
      at = put(at, agx_hw_usc_uniform_at(plan->loads[i], launch->block_va + contents_at), 8);
   memcpy(at, plan->tail, sizeof(plan->tail));
   write_contents(plain, at + sizeof(plan->tail));
}

static inline agx_status record(struct agx_command_buffer *commands, const struct plain *plain)
{
   struct agx_launch launch;
   bool needs_barrier = false;
   AGX_TRY(note_uses(commands, plain, &needs_barrier));
   AGX_TRY(agx_record_run(commands, plain->executable));
   AGX_TRY(agx_record_open(commands, plain->plan, plain->plan->plain_B, needs_barrier, &launch));
   write_block(plain, &launch);
   agx_record_close(commands, plain->plan, &launch, plain->threads);
   return AGX_OK;
}

bool agx_record_plain(struct agx_command_buffer *commands, const struct agx_dispatch *dispatch,
                      agx_status *out_status)
{
   struct agx_executable *executable = dispatch->executable;
   if (executable && dispatch->entry)
      executable = agx_executable_entry(executable, dispatch->entry);
   if (!executable || !executable->plan.is_plain || agx_dispatch_has_shape(dispatch) ||
       agx_dispatch_is_indirect(dispatch) || executable->device != commands->device ||
       !agx_record_is_open(commands) || commands->is_watched)
      return false;
   struct plain plain; /* its arrays are not cleared */
   plain.executable = executable;
   plain.plan = &executable->plan;
   plain.dispatch = dispatch;
   if (!take_push(&plain) || !take_grid(&plain) || !take_bindings(commands, &plain))
      return false;
   *out_status = record(commands, &plain);
   return true;
}
