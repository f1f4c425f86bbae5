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
   if (commands->last == commands->first)
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
      commands->first = chunk;
   }
   agx_record_open_chunk(commands, chunk);
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
