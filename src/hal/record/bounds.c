/* SPDX-License-Identifier: MIT
 *
 * AGX_DEBUG=bounds: the ranges that each launch may access: what it binds, with the rights that its
 * code needs, and the sinks of robust accesses. command_buffer.c declares them to a device that
 * watches before the command buffer is submitted. Each command buffer has one range at least, so
 * that the device watches all of them.
 */
#include "hal/record/bounds.h"

#include "base/util.h"
#include "hal/executable/executable.h"
#include "hal/record/command_buffer.h"

static agx_status add(struct agx_command_buffer *commands, struct agx_kmd_range range)
{
   struct agx_kmd_range *added =
      agx_vector_add(&commands->ranges, agx_context_of(commands->device)->alloc, sizeof(*added));
   if (!added)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: no memory for %u ranges", commands->label,
                      commands->ranges.count + 1);
   *added = range;
   return AGX_OK;
}

agx_status agx_bounds_note_bound(struct agx_command_buffer *commands,
                                 const struct agx_program_binding *binding,
                                 const struct agx_bound *it)
{
   const uint32_t dispatch = commands->dispatch_count - 1;
   bool reads = binding->access & AGX_BINDING_READS, writes = binding->access & AGX_BINDING_WRITES;
   if (it->image)
      AGX_TRY(add(commands, (struct agx_kmd_range){it->image->address, it->image->layout.size_B,
                                                   dispatch, reads, writes}));
   else if (it->length_B)
      AGX_TRY(
         add(commands, (struct agx_kmd_range){it->address, it->length_B, dispatch, reads, writes}));
   if (!it->sinks.zero_va)
      return AGX_OK;
   AGX_TRY(add(commands,
               (struct agx_kmd_range){it->sinks.zero_va, AGX_PAGE_BYTES, dispatch, true, false}));
   if (!writes)
      return AGX_OK;
   return add(commands,
              (struct agx_kmd_range){it->sinks.waste_va, AGX_PAGE_BYTES, dispatch, true, true});
}

/* The driver can't know what memory belongs to addresses that a kernel gets as data. */
agx_status agx_bounds_note_program(struct agx_command_buffer *commands,
                                   const struct agx_executable *executable)
{
   const struct agx_program *program = executable->program;
   if (program->data_B)
      AGX_TRY(agx_bounds_note_data(commands, executable->data_va, program->data_B));
   return add(commands, (struct agx_kmd_range){0, program->takes_addresses ? UINT64_MAX : 0,
                                               commands->dispatch_count - 1, true, true});
}

agx_status agx_bounds_note(struct agx_command_buffer *commands, const struct agx_binder *binder,
                           const struct agx_executable *executable, uint64_t heap_va)
{
   const struct agx_program *program = binder->program;
   AGX_TRY(agx_bounds_note_program(commands, executable));
   if (binder->heap_B)
      AGX_TRY(agx_bounds_note_data(commands, heap_va, binder->heap_B));
   for (uint32_t i = 0; i < program->binding_count; i++) {
      if (binder->bound[i].heap) /* nor what its descriptors will name */
         AGX_TRY(add(commands, (struct agx_kmd_range){0, UINT64_MAX, commands->dispatch_count - 1,
                                                      true, true}));
      for (uint32_t e = 0; e < agx_binder_elements(binder, i); e++) {
         struct agx_bound bound;
         AGX_TRY(agx_binder_element(binder, i, e, &bound));
         AGX_TRY(agx_bounds_note_bound(commands, &program->bindings[i], &bound));
      }
   }
   return AGX_OK;
}

agx_status agx_bounds_note_data(struct agx_command_buffer *commands, uint64_t va, uint64_t length_B)
{
   return add(commands,
              (struct agx_kmd_range){va, length_B, commands->dispatch_count - 1, true, false});
}

/* Of each command those of its launches, counted from its first. */
static agx_status declare_segments(struct agx_command_buffer *commands)
{
   struct agxw_device *winsys = agx_context_of(commands->device)->winsys;
   const struct agxw_compute *segments;
   const uint32_t count = agx_command_buffer_segments(commands, &segments);
   struct agx_kmd_range *ranges = commands->ranges.items;
   uint32_t at = 0;
   commands->is_declared = true;
   for (uint32_t i = 0; i < count; i++) {
      const uint32_t first = agx_command_buffer_segment_first(commands, i), from = at;
      const uint32_t end = i + 1 < count ? agx_command_buffer_segment_first(commands, i + 1)
                                         : commands->dispatch_count;
      for (; at < commands->ranges.count && ranges[at].dispatch < end; at++)
         ranges[at].dispatch -= first;
      const bool is_empty = end == first;
      const struct agx_kmd_range breadcrumb = {commands->breadcrumb.words_va,
                                               sizeof(struct agx_breadcrumb_words), 0, true, true};
      AGX_TRY(agxw_device_declare_bounds(winsys, segments[i].stream_va,
                                         is_empty ? &breadcrumb : ranges + from,
                                         is_empty ? 1 : at - from));
   }
   return AGX_OK;
}

agx_status agx_bounds_declare(struct agx_command_buffer *commands)
{
   if (!commands->is_watched)
      return AGX_OK;
   if (commands->segments.count)
      return declare_segments(commands);
   AGX_TRY(add(commands, (struct agx_kmd_range){commands->breadcrumb.words_va,
                                                sizeof(struct agx_breadcrumb_words),
                                                commands->dispatch_count, true, true}));
   AGX_TRY(agxw_device_declare_bounds(agx_context_of(commands->device)->winsys, commands->stream_va,
                                      commands->ranges.items, commands->ranges.count));
   commands->is_declared = true;
   return AGX_OK;
}

void agx_bounds_forget(struct agx_command_buffer *commands)
{
   struct agxw_device *winsys = agx_context_of(commands->device)->winsys;
   const struct agxw_compute *segments;
   const uint32_t count = agx_command_buffer_segments(commands, &segments);
   if (commands->is_declared && !count)
      (void)!agxw_device_declare_bounds(winsys, commands->stream_va, NULL, 0);
   for (uint32_t i = 0; commands->is_declared && i < count; i++)
      (void)!agxw_device_declare_bounds(winsys, segments[i].stream_va, NULL, 0);
   commands->is_declared = false;
}
