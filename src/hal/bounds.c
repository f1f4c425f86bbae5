/* SPDX-License-Identifier: MIT
 *
 * AGX_DEBUG=bounds: each dispatch keeps what it may access, which is what it binds, with the
 * rights that its code needs, and where robust code sends what must not happen. A device that
 * watches is told so of each command buffer before it is submitted. Each has one range at least,
 * so that none goes unwatched.
 */
#include "base/debug.h"
#include "base/util.h"
#include "hal/command_buffer.h"

#define RANGES_PER_BINDING 3u

uint32_t agx_bounds_capacity(const struct agx_executable *executable, uint32_t elements)
{
   return executable->device->debug & AGX_DEBUG_BOUNDS
             ? (executable->program->binding_count + elements) * RANGES_PER_BINDING + 2
             : 0;
}

/* Returns how many there are of it. */
static uint32_t collect(const struct agx_program_binding *binding, const struct agx_bound *it,
                        struct agx_kmd_range *out_ranges)
{
   uint32_t count = 0;
   bool reads = binding->access & AGX_BINDING_READS, writes = binding->access & AGX_BINDING_WRITES;
   if (it->image)
      out_ranges[count++] =
         (struct agx_kmd_range){it->image->address, it->image->layout.size_B, 0, reads, writes};
   else if (it->length_B)
      out_ranges[count++] = (struct agx_kmd_range){it->address, it->length_B, 0, reads, writes};
   if (!it->sinks.zero_va)
      return count;
   out_ranges[count++] = (struct agx_kmd_range){it->sinks.zero_va, AGX_PAGE_BYTES, 0, true, false};
   if (writes)
      out_ranges[count++] =
         (struct agx_kmd_range){it->sinks.waste_va, AGX_PAGE_BYTES, 0, true, true};
   return count;
}

agx_status agx_bounds_collect(const struct agx_binder *binder, struct agx_kmd_range *out_ranges,
                              uint32_t *out_count)
{
   const struct agx_program *program = binder->program;
   uint32_t count = AGX_BOUNDS_HEAP + 1;
   /* Nobody knows what memory belongs to the addresses that a kernel is given. */
   out_ranges[0] =
      (struct agx_kmd_range){0, program->takes_addresses ? UINT64_MAX : 0, 0, true, true};
   out_ranges[AGX_BOUNDS_HEAP] = (struct agx_kmd_range){0}; /* where it will be is not known yet */
   for (uint32_t i = 0; i < program->binding_count; i++)
      for (uint32_t e = 0; e < binder->bound[i].elements; e++) {
         struct agx_bound bound;
         AGX_TRY(agx_binder_element(binder, i, e, &bound));
         count += collect(&program->bindings[i], &bound, out_ranges + count);
      }
   *out_count = count;
   return AGX_OK;
}

static uint32_t count_ranges(const struct agx_command_buffer *commands)
{
   uint32_t count = 1; /* the tag */
   agx_record_for_each (segment, commands->first)
      count += agx_segment_runs(segment) ? segment->range_count : 0;
   return count;
}

static void number_ranges(const struct agx_command_buffer *commands, struct agx_kmd_range *ranges)
{
   uint32_t dispatch = 0;
   agx_record_for_each (segment, commands->first) {
      if (!agx_segment_runs(segment))
         continue;
      for (uint32_t i = 0; i < segment->range_count; i++) {
         *ranges = agx_segment_ranges(segment)[i];
         ranges++->dispatch = dispatch;
      }
      dispatch++;
   }
   *ranges = (struct agx_kmd_range){commands->tag.count_va, sizeof(uint32_t), dispatch, true, true};
}

agx_status agx_bounds_tell(struct agx_command_buffer *commands)
{
   struct agx_device *device = commands->device;
   uint32_t count =
      device->debug & AGX_DEBUG_BOUNDS && commands->stream_va ? count_ranges(commands) : 0;
   if (count == 0)
      return AGX_OK;
   size_t size = count * sizeof(struct agx_kmd_range);
   struct agx_kmd_range *ranges = agx_host_zalloc(device->alloc, size);
   if (!ranges)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: no memory for %u ranges", commands->label,
                      count);
   number_ranges(commands, ranges);
   agx_status status = agxw_device_tell_bounds(device->winsys, commands->stream_va, ranges, count);
   agx_host_free(device->alloc, ranges, size);
   commands->is_told = status == AGX_OK;
   return status;
}

void agx_bounds_forget(struct agx_command_buffer *commands)
{
   if (commands->is_told)
      (void)!agxw_device_tell_bounds(commands->device->winsys, commands->stream_va, NULL, 0);
   commands->is_told = false;
}
