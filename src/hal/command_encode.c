/* SPDX-License-Identifier: MIT
 *
 * Segments to hardware words. For each dispatch: its uniform contents, the launch words
 * that load them and name the code, and a launch in the stream. Dispatches between two
 * barriers are not ordered among each other, so a barrier word goes where one was recorded,
 * and before the end of the stream.
 * Source: reference/cmdstream, cdm.md.
 */
#include <string.h>

#include "agx/hw/packet.h"
#include "base/util.h"
#include "hal/command_buffer.h"

#define STREAM_ALIGN       1024u
#define UNIFORM_ALIGN      64u
#define WORDS_ALIGN        64u   /* launch words of one dispatch */
#define PREFETCH_B         2048u /* mapped bytes that must lie behind a stream */
#define MAX_UNIFORM_HALVES 64u   /* of one Uniform word */
#define HIGH_UNIFORM       256u  /* first half that needs Uniform High */

/* Output memory, written front to back. Sizes were computed beforehand. */
struct cursor {
   uint8_t *at;
   uint64_t va;
};

static void advance(struct cursor *cursor, size_t bytes)
{
   cursor->at += bytes;
   cursor->va += bytes;
}

static void align(struct cursor *cursor, uint64_t alignment)
{
   advance(cursor, agx_align_up(cursor->va, alignment) - cursor->va);
}

static agx_status emit(struct cursor *cursor, const struct agx_hw_packet *packet,
                       const void *values)
{
   AGX_TRY(agx_hw_pack(packet, values, cursor->at));
   advance(cursor, packet->size_B);
   return AGX_OK;
}

static void copy(struct cursor *cursor, const void *bytes, size_t size)
{
   memcpy(cursor->at, bytes, size);
   advance(cursor, size);
}

/* ---- what an executable always says ----------------------------------- */

static agx_status pack_tail(struct agx_executable *executable, struct cursor *cursor)
{
   const struct agx_program *program = executable->program;
   struct agx_hw_usc_shared shared = {
      .uses_shared_memory = program->shared_B > 0,
      .layout = AGX_HW_SHARED_LAYOUT_VERTEX_COMPUTE,
      .sample_count = 1,
      /* None is written as the most, with the flag clear. */
      .bytes_per_threadgroup = program->shared_B ? program->shared_B : 65536,
   };
   struct agx_hw_usc_shader shader = {.unk_2 = 3, .code = executable->code_offset_B};
   struct agx_hw_usc_registers registers = {.register_count = AGX_MAX(program->gpr_halves, 1u)};
   AGX_TRY(emit(cursor, &agx_hw_usc_shared_packet, &shared));
   AGX_TRY(emit(cursor, &agx_hw_usc_shader_packet, &shader));
   AGX_TRY(emit(cursor, &agx_hw_usc_registers_packet, &registers));
   if (!program->preamble_B)
      return emit(cursor, &agx_hw_usc_no_preshader_packet, &(struct agx_hw_usc_no_preshader){0});
   struct agx_hw_usc_preshader preshader = {.code = executable->preamble_offset_B};
   return emit(cursor, &agx_hw_usc_preshader_packet, &preshader);
}

agx_status agx_executable_pack(struct agx_executable *executable)
{
   const struct agx_program *program = executable->program;
   struct agx_hw_cdm_launch_word_0 launch = {
      .uniform_register_count = program->uniform_halves,
      .texture_state_register_count = 0,
      .preshader_register_count = program->preamble_gpr_halves,
      .mode = AGX_HW_CDM_MODE_DIRECT,
   };
   AGX_TRY(agx_hw_cdm_launch_word_0_pack(&launch, executable->launch_word_0));
   struct cursor cursor = {.at = executable->words_tail};
   AGX_TRY(pack_tail(executable, &cursor));
   executable->words_tail_B = (uint32_t)cursor.va;
   return AGX_OK;
}

/* ---- one dispatch ----------------------------------------------------- */

static agx_status emit_uniform(struct cursor *words, uint32_t start, uint32_t halves, uint64_t va)
{
   if (start >= HIGH_UNIFORM) {
      struct agx_hw_usc_uniform_high high = {start - HIGH_UNIFORM, halves, va};
      return emit(words, &agx_hw_usc_uniform_high_packet, &high);
   }
   struct agx_hw_usc_uniform uniform = {start, halves, va};
   return emit(words, &agx_hw_usc_uniform_packet, &uniform);
}

/* Launch words: Uniform words over the contents at va, then the executable's own. 64 divides
 * HIGH_UNIFORM, so that no word crosses it. */
static agx_status emit_words(struct cursor *words, const struct agx_executable *executable,
                             uint64_t va)
{
   uint32_t halves = executable->uniform_B / 2;
   align(words, WORDS_ALIGN);
   for (uint32_t start = 0; start < halves; start += MAX_UNIFORM_HALVES)
      AGX_TRY(
         emit_uniform(words, start, AGX_MIN(halves - start, MAX_UNIFORM_HALVES), va + start * 2u));
   copy(words, executable->words_tail, executable->words_tail_B);
   return AGX_OK;
}

static agx_status emit_launch(struct cursor *stream, const struct agx_segment *segment,
                              uint32_t words_offset, bool has_unk_words)
{
   const uint32_t *local = segment->executable->program->local_size;
   struct agx_hw_cdm_launch_word_1 word_1 = {.pipeline = words_offset};
   struct agx_hw_cdm_global_size global_size = {segment->threads[0], segment->threads[1],
                                                segment->threads[2]};
   struct agx_hw_cdm_local_size local_size = {local[0], local[1], local[2]};
   copy(stream, segment->executable->launch_word_0, sizeof(segment->executable->launch_word_0));
   AGX_TRY(emit(stream, &agx_hw_cdm_launch_word_1_packet, &word_1));
   if (has_unk_words)
      AGX_TRY(emit(stream, &agx_hw_cdm_unk_g14x_packet, &(struct agx_hw_cdm_unk_g14x){0}));
   AGX_TRY(emit(stream, &agx_hw_cdm_global_size_packet, &global_size));
   return emit(stream, &agx_hw_cdm_local_size_packet, &local_size);
}

/* Orders and flushes everything: bits 0 to 19, the one value that is known to work.
 * Source: reference/cmdstream, cdm.md 1.2 [HW]. */
static agx_status emit_barrier(struct cursor *stream)
{
   static const struct agx_hw_cdm_barrier all = {
      .unk_0 = true,
      .unk_1 = true,
      .unk_2 = true,
      .usc_cache_inval = true,
      .unk_4 = true,
      .unk_5 = true,
      .unk_6 = true,
      .unk_7 = true,
      .unk_8 = true,
      .unk_9 = true,
      .unk_10 = true,
      .unk_11 = true,
      .unk_12 = true,
      .unk_13 = true,
      .unk_14 = true,
      .unk_15 = true,
      .unk_16 = true,
      .unk_17 = true,
      .unk_18 = true,
      .unk_19 = true,
   };
   return emit(stream, &agx_hw_cdm_barrier_packet, &all);
}

/* ---- the whole command buffer ----------------------------------------- */

struct sizes {
   uint64_t stream_B, words_B, uniform_B;
   uint32_t dispatches;
};

/* Nothing runs when a dimension is 0; hardware need not be asked. */
static bool is_empty(const struct agx_segment *segment)
{
   return !segment->threads[0] || !segment->threads[1] || !segment->threads[2];
}

static struct sizes measure(const struct agx_command_buffer *commands)
{
   struct sizes sizes = {.stream_B = 4 + 8}; /* last barrier, terminate */
   agx_record_for_each (segment, commands->first) {
      if (segment->kind == AGX_SEGMENT_BARRIER) {
         sizes.stream_B += 4;
      } else if (!is_empty(segment)) {
         const struct agx_executable *executable = segment->executable;
         uint64_t loads = agx_div_up(executable->uniform_B / 2, MAX_UNIFORM_HALVES);
         sizes.stream_B += 8 + 8 + 12 + 12;
         sizes.words_B += agx_align_up(loads * 8 + executable->words_tail_B, WORDS_ALIGN);
         sizes.uniform_B += agx_align_up(executable->uniform_B, UNIFORM_ALIGN);
         sizes.dispatches++;
      }
   }
   return sizes;
}

/* Makes *bo hold size bytes: the one from the recording before if it is large enough. */
static agx_status prepare(struct agx_command_buffer *commands, struct agxw_bo **bo, uint64_t size,
                          uint32_t flags, struct cursor *out_cursor)
{
   void *memory = NULL;
   if (*bo && agxw_bo_size(*bo) < size) {
      agxw_bo_destroy(*bo);
      *bo = NULL;
   }
   if (!*bo)
      AGX_TRY(agxw_bo_create(commands->device->winsys, size, 0, flags | AGXW_BO_READ_ONLY,
                             commands->label, bo));
   AGX_TRY(agxw_bo_map(*bo, &memory));
   *out_cursor = (struct cursor){.at = memory, .va = agxw_bo_va(*bo)};
   return AGX_OK;
}

struct outputs {
   struct cursor stream, words, uniforms;
   uint64_t usc_base;
   bool has_unk_words;
};

static agx_status encode_dispatch(struct outputs *out, struct agx_segment *segment)
{
   const struct agx_executable *executable = segment->executable;
   align(&out->uniforms, UNIFORM_ALIGN);
   uint64_t uniforms_va = out->uniforms.va;
   copy(&out->uniforms, agx_segment_uniforms(segment), executable->uniform_B);
   align(&out->words, WORDS_ALIGN);
   uint32_t words_offset = (uint32_t)(out->words.va - out->usc_base);
   AGX_TRY(emit_words(&out->words, executable, uniforms_va));
   return emit_launch(&out->stream, segment, words_offset, out->has_unk_words);
}

static agx_status encode_segments(struct agx_command_buffer *commands, struct outputs *out)
{
   bool is_ordered = true; /* nothing since the last barrier */
   agx_record_for_each (segment, commands->first) {
      if (segment->kind == AGX_SEGMENT_BARRIER) {
         if (!is_ordered)
            AGX_TRY(emit_barrier(&out->stream));
         is_ordered = true;
      } else if (!is_empty(segment)) {
         AGX_TRY(encode_dispatch(out, segment));
         is_ordered = false;
      }
   }
   return is_ordered ? AGX_OK : emit_barrier(&out->stream);
}

agx_status agx_command_buffer_encode(struct agx_command_buffer *commands)
{
   const struct agxw_device_info *info = agxw_device_info(commands->device->winsys);
   struct sizes sizes = measure(commands);
   struct outputs out = {.usc_base = info->usc_base,
                         .has_unk_words = info->chip->cdm_has_unk_words};
   commands->stream_va = 0;
   if (sizes.dispatches == 0)
      return AGX_OK;
   uint64_t stream_room = agx_align_up(sizes.stream_B + PREFETCH_B, STREAM_ALIGN);
   AGX_TRY(
      prepare(commands, &commands->words, sizes.words_B + PREFETCH_B, AGXW_BO_USC, &out.words));
   AGX_TRY(prepare(commands, &commands->data, stream_room + sizes.uniform_B, 0, &out.stream));
   out.uniforms = out.stream;
   advance(&out.uniforms, stream_room);
   uint64_t stream_va = out.stream.va;
   AGX_TRY(encode_segments(commands, &out));
   commands->stream_end_va = out.stream.va;
   AGX_TRY(emit(&out.stream, &agx_hw_cdm_stream_terminate_packet,
                &(struct agx_hw_cdm_stream_terminate){0}));
   commands->stream_va = stream_va;
   return AGX_OK;
}
