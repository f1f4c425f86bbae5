/* SPDX-License-Identifier: MIT
 *
 * What recording of every command calls and is not inline in record.h: going on in another chunk,
 * a new run of launches, and refusals.
 */
#include "hal/record/record.h"

/* ---- chunks ------------------------------------------------------------ */

void agx_record_open_chunk(struct agx_command_buffer *commands, struct agx_chunk *chunk)
{
   commands->stream = chunk->memory;
   commands->blocks = chunk->memory + chunk->usable_B;
   commands->va_bias = chunk->va - (uintptr_t)chunk->memory;
   commands->last = chunk;
}

/* Words go behind the stream; there is room for them. */
static struct agx_hw_buffer open_words(const struct agx_command_buffer *commands)
{
   return (struct agx_hw_buffer){commands->stream, (size_t)(commands->blocks - commands->stream),
                                 0};
}

static agx_status link_to(struct agx_command_buffer *commands, const struct agx_chunk *chunk)
{
   struct agx_hw_buffer words = open_words(commands);
   if (commands->last == commands->segment_chunk)
      commands->stream_end_va = agx_record_stream_va(commands);
   return agx_hw_cdm_link(&words, chunk->va, false);
}

agx_status agx_record_next_chunk(struct agx_command_buffer *commands, uint64_t stream_B,
                                 uint64_t block_B)
{
   const uint64_t need_B = stream_B + block_B + AGX_RECORD_RESERVE_B;
   bool is_small = !commands->first && need_B <= AGX_PAGE_BYTES - AGX_CHUNK_PREFETCH_B;
   struct agx_chunk *chunk;
   if (need_B > AGX_CHUNK_LARGE_B - AGX_CHUNK_PREFETCH_B)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: a command of %llu bytes; the limit is %u",
                      commands->label, (unsigned long long)need_B,
                      AGX_CHUNK_LARGE_B - AGX_CHUNK_PREFETCH_B);
   AGX_TRY(
      agx_chunk_acquire(commands->device, is_small ? AGX_CHUNK_SMALL : AGX_CHUNK_LARGE, &chunk));
   if (commands->last) {
      commands->last->next = chunk;
      AGX_TRY(link_to(commands, chunk));
   } else {
      if (commands->is_expected)
         agx_chunks_expect_no_more(commands->device);
      commands->is_expected = false;
      commands->first = commands->segment_chunk = chunk;
   }
   agx_record_open_chunk(commands, chunk);
   return AGX_OK;
}

/* ---- segments ---------------------------------------------------------- */

/* What stands at the end of a command: a barrier, and where nothing runs in it a launch of one
 * thread, the breadcrumb's, so that each command has one. */
static agx_status write_end(struct agx_command_buffer *commands)
{
   const struct agx_breadcrumb *breadcrumb = &commands->breadcrumb;
   if (commands->dispatch_count == commands->segment_first) {
      if (!breadcrumb->page)
         AGX_TRY(agx_breadcrumb_acquire(commands->device, &commands->breadcrumb));
      memcpy(commands->stream, breadcrumb->end + AGX_HW_CDM_BARRIER_BYTES,
             breadcrumb->end_B - AGX_HW_CDM_BARRIER_BYTES);
      commands->stream += breadcrumb->end_B - AGX_HW_CDM_BARRIER_BYTES;
      return AGX_OK;
   }
   struct agx_hw_buffer words = open_words(commands);
   AGX_TRY(agx_hw_cdm_barrier(&words));
   AGX_TRY(agx_hw_cdm_terminate(&words));
   commands->stream += words.used;
   return AGX_OK;
}

agx_status agx_record_end_segment(struct agx_command_buffer *commands,
                                  const struct agxw_bo *stamped, uint32_t stamped_offset_B)
{
   const struct agx_host_alloc *alloc = agx_context_of(commands->device)->alloc;
   AGX_TRY(agx_record_room(commands, AGX_BREADCRUMB_END_MAX_BYTES + AGX_RECORD_STREAM_ALIGN, 0));
   struct agxw_compute *segment = agx_vector_add(&commands->segments, alloc, sizeof(*segment));
   uint32_t *first = agx_vector_add(&commands->segment_firsts, alloc, sizeof(*first));
   if (!segment || !first)
      return agx_record_no_memory(commands);
   AGX_TRY(write_end(commands));
   if (commands->last == commands->segment_chunk)
      commands->stream_end_va = agx_record_stream_va(commands) - AGX_HW_CDM_STREAM_TERMINATE_BYTES;
   *segment = (struct agxw_compute){
      .stream_va = commands->segment_va ? commands->segment_va : commands->first->va,
      .stream_end_va = commands->stream_end_va,
      .stamped = stamped,
      .stamped_offset_B = stamped_offset_B,
   };
   *first = commands->segment_first;
   commands->segment_va = agx_align_up(agx_record_stream_va(commands), AGX_RECORD_STREAM_ALIGN);
   commands->stream += commands->segment_va - agx_record_stream_va(commands);
   commands->segment_chunk = commands->last;
   commands->segment_first = commands->dispatch_count;
   agx_hazard_all_over(&commands->hazards);
   return AGX_OK;
}

/* ---- runs -------------------------------------------------------------- */

/* What its launches need, whichever variant they run. */
static uint32_t scratch_of(const struct agx_executable *executable)
{
   const struct agx_executable *unchecked = executable->unchecked;
   const uint32_t own_B = executable->program->scratch_B;
   return unchecked ? AGX_MAX(own_B, unchecked->program->scratch_B) : own_B;
}

agx_status agx_record_new_run(struct agx_command_buffer *commands,
                              struct agx_executable *executable)
{
   const struct agx_host_alloc *alloc = agx_context_of(commands->device)->alloc;
   struct agx_run *run = agx_vector_add(&commands->runs, alloc, sizeof(*run));
   if (!run || !agx_record_use(commands, executable))
      return agx_record_no_memory(commands);
   commands->scratch_B = AGX_MAX(commands->scratch_B, scratch_of(executable));
   *run = (struct agx_run){
      .executable = executable,
      .first = commands->dispatch_count - 1,
      .label = commands->label_open,
   };
   commands->run = *run;
   return AGX_OK;
}

/* ---- refusals ---------------------------------------------------------- */

agx_status agx_record_no_memory(const struct agx_command_buffer *commands)
{
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: out of host memory", commands->label);
}

agx_status agx_record_refuse(const struct agx_command_buffer *commands, const char *what)
{
   AGX_TRY(agx_fork_check(commands));
   return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: %s outside begin and end", commands->label, what);
}

agx_status agx_record_fail(struct agx_command_buffer *commands, agx_status status)
{
   agx_failure_keep(&commands->failed, status);
   return status;
}
