/* SPDX-License-Identifier: MIT
 *
 * Writing into a command buffer's chunks. The stream grows from a chunk's start, the blocks that
 * launches refer to from its end down; where they would meet, a Link leads on to the next chunk.
 * Memory is written once and never read.
 */
#pragma once

#include <string.h>

#include "base/util.h"
#include "hal/record/command_buffer.h"

/* Fails a recording that found no host memory. */
AGX_MUST_CHECK agx_status agx_record_no_memory(const struct agx_command_buffer *commands);

/* For a command buffer that can't take commands now. */
AGX_MUST_CHECK agx_status agx_record_refuse(const struct agx_command_buffer *commands,
                                            const char *what);

/* Returns whether the command buffer takes commands now. */
static inline bool agx_record_is_open(const struct agx_command_buffer *commands)
{
   return commands->state == AGX_RECORD_RECORDING && !agx_is_inherited(commands);
}

/* That it can; what: the command, for the message. */
static inline AGX_MUST_CHECK agx_status agx_record_check(const struct agx_command_buffer *commands,
                                                         const char *what)
{
   return agx_record_is_open(commands) ? AGX_OK : agx_record_refuse(commands, what);
}

/* A launch whose room is taken. */
struct agx_launch {
   uint8_t *block; /* 64-byte aligned, as block_va */
   uint64_t block_va;
   uint8_t *words; /* in the stream */
};

/* Goes on in the chunk, which is empty. */
void agx_record_open_chunk(struct agx_command_buffer *commands, struct agx_chunk *chunk);

/* The GPU address of the next word. */
static inline uint64_t agx_record_stream_va(const struct agx_command_buffer *commands)
{
   return (uintptr_t)commands->stream + commands->va_bias;
}

/* Goes on in another chunk, with that much room at least. */
AGX_MUST_CHECK agx_status agx_record_next_chunk(struct agx_command_buffer *commands,
                                                uint64_t stream_B, uint64_t block_B);

/* Of a chunk's stream, to go on elsewhere. */
#define AGX_RECORD_RESERVE_B AGX_HW_CDM_STREAM_LINK_BYTES

/* Of the beginning of a stream. */
#define AGX_RECORD_STREAM_ALIGN 1024u

/* Ends a command of the submission here, the time of whose end goes to so many bytes behind the
 * beginning of a buffer, and begins another one. */
AGX_MUST_CHECK agx_status agx_record_end_segment(struct agx_command_buffer *commands,
                                                 const struct agxw_bo *stamped,
                                                 uint32_t stamped_offset_B);

/* Makes room for so many bytes of the stream and of blocks, in the open chunk or another one. */
static inline agx_status agx_record_room(struct agx_command_buffer *commands, uint64_t stream_B,
                                         uint64_t block_B)
{
   uint64_t room = (uint64_t)(commands->blocks - commands->stream);
   if (__builtin_expect(stream_B + block_B + AGX_RECORD_RESERVE_B <= room, 1))
      return AGX_OK;
   return agx_record_next_chunk(commands, stream_B, block_B);
}

/* Takes the room of a launch and, where it needs one, writes the barrier word before it. Hazards
 * were noted (commands->hazards). */
static inline agx_status agx_record_open(struct agx_command_buffer *commands,
                                         const struct agx_plan *plan, uint32_t block_B,
                                         bool needs_barrier, struct agx_launch *out_launch)
{
   AGX_TRY(agx_record_room(commands, plan->stream_B + AGX_HW_CDM_BARRIER_BYTES, block_B));
   if (needs_barrier) {
      const uint32_t word = AGX_HW_CDM_BARRIER_WORD;
      memcpy(commands->stream, &word, sizeof(word));
      commands->stream += sizeof(word);
      agx_hazard_word_written(&commands->hazards);
   }
   commands->blocks -= block_B;
   out_launch->block = commands->blocks;
   out_launch->block_va = (uintptr_t)commands->blocks + commands->va_bias;
   out_launch->words = commands->stream;
   commands->stream += plan->stream_B;
   return AGX_OK;
}

/* The launch's words in the stream, over a grid of so many threads, unless that is in memory. */
static inline void agx_record_close(struct agx_command_buffer *commands,
                                    const struct agx_plan *plan, const struct agx_launch *launch,
                                    const uint32_t threads[3])
{
   uint64_t head = plan->stream[0] + ((launch->block_va - commands->usc_base) << 32);
   memcpy(launch->words, &head, sizeof(head));
   if (__builtin_expect(plan->is_indirect, 0)) {
      memcpy(launch->words + sizeof(head), &plan->stream[1], plan->stream_B - sizeof(head));
      return;
   }
   if (plan->grid_at_B > sizeof(head))
      memcpy(launch->words + sizeof(head), &plan->stream[1], sizeof(head));
   uint8_t *grid = launch->words + plan->grid_at_B;
   memcpy(grid, threads, 3 * sizeof(threads[0]));
   memcpy(grid + AGX_HW_CDM_GLOBAL_SIZE_BYTES,
          (const uint8_t *)plan->stream + plan->grid_at_B + AGX_HW_CDM_GLOBAL_SIZE_BYTES,
          AGX_HW_CDM_LOCAL_SIZE_BYTES);
}

/* That the launches from here on are of the executable, under the open label: what is told of them
 * in agx_command_buffer_dispatch_label. */
AGX_MUST_CHECK agx_status agx_record_new_run(struct agx_command_buffer *commands,
                                             struct agx_executable *executable);

/* Counts a launch, under the run that it belongs to; called once for each launch. */
static inline agx_status agx_record_run(struct agx_command_buffer *commands,
                                        struct agx_executable *executable)
{
   commands->dispatch_count++;
   if (__builtin_expect(
          commands->run.executable == executable && commands->run.label == commands->label_open, 1))
      return AGX_OK;
   return agx_record_new_run(commands, executable);
}

/* Keeps the object for the recording. */
static inline struct agx_use *agx_record_use(struct agx_command_buffer *commands, void *object)
{
   return agx_resources_use(&commands->resources, agx_context_of(commands->device)->alloc, object);
}

/* The first recording error stays, and is end()'s. */
agx_status agx_record_fail(struct agx_command_buffer *commands, agx_status status);
