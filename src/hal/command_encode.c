/* SPDX-License-Identifier: MIT
 *
 * Segments to hardware words. For each dispatch: its uniform contents, the launch words
 * that load them and name the code, and a launch in the stream. Dispatches between two
 * barriers are not ordered among each other, so a barrier word goes where one was recorded,
 * and before the end of the stream.
 * Source: reference/cmdstream, cdm.md.
 */
#include <string.h>

#include "agx/hw/usc.h"
#include "base/util.h"
#include "hal/bind_array.h"
#include "hal/command_buffer.h"

#define STREAM_ALIGN  1024u
#define UNIFORM_ALIGN 64u
#define PREFETCH_B    2048u /* mapped bytes that must lie behind a stream */

/* Output memory, written front to back. Sizes were computed beforehand. */
struct area {
   struct agx_hw_buffer bytes;
   uint64_t va; /* of the first byte */
};

static uint64_t area_end(const struct area *area)
{
   return area->va + area->bytes.used;
}

static void align(struct area *area, uint64_t alignment)
{
   area->bytes.used = agx_align_up(area_end(area), alignment) - area->va;
}

static agx_status copy(struct area *area, const void *bytes, size_t size)
{
   if (!agx_range_fits(area->bytes.used, size, area->bytes.capacity))
      return AGX_FAIL(AGX_INTERNAL, "command buffer: %zu bytes more than were measured", size);
   memcpy(area->bytes.memory + area->bytes.used, bytes, size);
   area->bytes.used += size;
   return AGX_OK;
}

/* ---- what an executable always says ----------------------------------- */

/* The launch's code for so many samplers of 8 bytes. */
static uint32_t sampler_states(uint32_t count)
{
   return count <= 16 ? (uint32_t)agx_div_up(count, 4) : AGX_HW_SAMPLER_STATES_16_COMPACT;
}

static void count_states(struct agx_executable *executable)
{
   const struct agx_program *program = executable->program;
   executable->texture_count = executable->sampler_count = 0;
   for (uint32_t i = 0; i < program->state_count; i++)
      *(agx_state_is_texture(program->states[i].kind) ? &executable->texture_count
                                                      : &executable->sampler_count) += 1;
}

agx_status agx_executable_pack(struct agx_executable *executable)
{
   const struct agx_program *program = executable->program;
   count_states(executable);
   const struct agx_hw_usc_program usc = {
      .shared_B = program->shared_B,
      .code_offset = executable->code_offset_B,
      .gpr_halves = AGX_MAX(program->gpr_halves, 1u),
      .scratch_B = program->scratch_B,
      .has_preamble = program->preamble_B > 0,
      .preamble_offset = executable->preamble_offset_B,
   };
   struct agx_hw_buffer tail = {executable->words_tail, sizeof(executable->words_tail), 0};
   AGX_TRY(agx_hw_usc_compute(&tail, &usc));
   executable->words_tail_B = (uint32_t)tail.used;
   executable->launch = (struct agx_hw_launch){
      .uniform_halves = program->uniform_halves,
      .preamble_halves = program->preamble_gpr_halves,
      .texture_count = executable->texture_count,
      .sampler_states = sampler_states(executable->sampler_count),
      .mode = AGX_HW_CDM_MODE_DIRECT,
      .local = {program->local_size[0], program->local_size[1], program->local_size[2]},
   };
   return AGX_OK;
}

/* ---- the whole command buffer ----------------------------------------- */

struct sizes {
   uint64_t stream_B, words_B, uniform_B;
   uint32_t dispatches;
};

static struct sizes measure(const struct agx_command_buffer *commands)
{
   /* The tag between two barriers, and the end. */
   struct sizes sizes = {.stream_B = 2 * AGX_HW_CDM_BARRIER_BYTES + AGX_HW_CDM_LAUNCH_MAX_BYTES +
                                     AGX_HW_CDM_STREAM_TERMINATE_BYTES};
   agx_record_for_each (segment, commands->first) {
      if (segment->kind == AGX_SEGMENT_BARRIER) {
         sizes.stream_B += AGX_HW_CDM_BARRIER_BYTES;
      } else if (agx_segment_runs(segment)) {
         const struct agx_executable *executable = segment->executable;
         uint64_t loads = agx_div_up(executable->uniform_B / 2, AGX_HW_USC_UNIFORM_MAX);
         uint64_t words_B = loads * AGX_HW_USC_UNIFORM_BYTES + executable->words_tail_B +
                            AGX_HW_USC_TEXTURE_BYTES + AGX_HW_USC_SAMPLER_BYTES;
         sizes.stream_B += AGX_HW_CDM_LAUNCH_MAX_BYTES;
         sizes.words_B += agx_align_up(words_B, AGX_HW_USC_ALIGN_B);
         sizes.uniform_B += agx_align_up(executable->uniform_B, UNIFORM_ALIGN);
         sizes.uniform_B += agx_align_up(agx_executable_state_B(executable), UNIFORM_ALIGN);
         sizes.uniform_B += agx_align_up(segment->heap_B, UNIFORM_ALIGN);
         sizes.dispatches++;
      }
   }
   return sizes;
}

/* Makes *bo hold size bytes: the one from the recording before if it is large enough. */
static agx_status prepare(struct agx_command_buffer *commands, struct agxw_bo **bo, uint64_t size,
                          uint32_t flags, struct area *out_area)
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
   *out_area = (struct area){{memory, agxw_bo_size(*bo), 0}, agxw_bo_va(*bo)};
   return AGX_OK;
}

struct outputs {
   struct area stream, words, uniforms;
   const struct agxw_device_info *info;
};

/* The descriptors behind the uniform contents, and the words that name them. */
static agx_status encode_states(struct outputs *out, struct agx_segment *segment)
{
   const struct agx_executable *executable = segment->executable;
   uint32_t state_B = agx_executable_state_B(executable);
   if (state_B == 0)
      return AGX_OK;
   align(&out->uniforms, UNIFORM_ALIGN);
   const struct agx_hw_usc_texture textures = {.count = executable->texture_count,
                                               .buffer = area_end(&out->uniforms)};
   const struct agx_hw_usc_sampler samplers = {
      .count = executable->sampler_count,
      .buffer = textures.buffer + (uint64_t)executable->texture_count * AGX_HW_TEXTURE_BYTES};
   if (textures.count)
      AGX_TRY(agx_hw_append(&out->words.bytes, &agx_hw_usc_texture_packet, &textures));
   if (samplers.count)
      AGX_TRY(agx_hw_append(&out->words.bytes, &agx_hw_usc_sampler_packet, &samplers));
   return copy(&out->uniforms, agx_segment_states(segment), state_B);
}

/* What arrays are indexed in, behind that; its address goes into the uniform contents. */
static agx_status encode_heap(struct outputs *out, struct agx_segment *segment, uint8_t *uniforms)
{
   if (segment->heap_B == 0)
      return AGX_OK;
   align(&out->uniforms, UNIFORM_ALIGN);
   uint64_t heap_va = area_end(&out->uniforms);
   agx_heap_place(segment->executable->program, heap_va, uniforms);
   if (segment->range_count)
      agx_segment_ranges(segment)[AGX_BOUNDS_HEAP] =
         (struct agx_kmd_range){heap_va, segment->heap_B, 0, true, false};
   return copy(&out->uniforms, agx_segment_heap(segment), segment->heap_B);
}

/* Launch words: Uniform words over the contents, then the executable's own. */
static agx_status encode_dispatch(struct outputs *out, struct agx_segment *segment)
{
   const struct agx_executable *executable = segment->executable;
   struct agx_hw_launch launch = executable->launch;
   align(&out->uniforms, UNIFORM_ALIGN);
   align(&out->words, AGX_HW_USC_ALIGN_B);
   launch.usc_offset = (uint32_t)(area_end(&out->words) - out->info->usc_base);
   memcpy(launch.global, segment->threads, sizeof(launch.global));
   AGX_TRY(agx_hw_usc_uniforms(&out->words.bytes, 0, executable->uniform_B / 2,
                               area_end(&out->uniforms)));
   uint8_t *uniforms = out->uniforms.bytes.memory + out->uniforms.bytes.used;
   AGX_TRY(copy(&out->uniforms, agx_segment_uniforms(segment), executable->uniform_B));
   AGX_TRY(encode_states(out, segment));
   AGX_TRY(encode_heap(out, segment, uniforms));
   AGX_TRY(copy(&out->words, executable->words_tail, executable->words_tail_B));
   return agx_hw_cdm_launch(&out->stream.bytes, out->info->chip, &launch);
}

static agx_status encode_segments(struct agx_command_buffer *commands, struct outputs *out)
{
   bool is_ordered = true; /* nothing since the last barrier */
   agx_record_for_each (segment, commands->first) {
      if (segment->kind == AGX_SEGMENT_BARRIER) {
         if (!is_ordered)
            AGX_TRY(agx_hw_cdm_barrier(&out->stream.bytes));
         is_ordered = true;
      } else if (agx_segment_runs(segment)) {
         AGX_TRY(encode_dispatch(out, segment));
         is_ordered = false;
      }
   }
   if (!is_ordered)
      AGX_TRY(agx_hw_cdm_barrier(&out->stream.bytes));
   AGX_TRY(agx_hw_cdm_launch(&out->stream.bytes, out->info->chip, &commands->tag.launch));
   return agx_hw_cdm_barrier(&out->stream.bytes);
}

/* The stream first, then, behind what may be prefetched, the uniform contents. */
agx_status agx_command_buffer_encode(struct agx_command_buffer *commands)
{
   struct sizes sizes = measure(commands);
   struct outputs out = {.info = agxw_device_info(commands->device->winsys)};
   commands->stream_va = 0;
   if (sizes.dispatches == 0)
      return AGX_OK;
   if (!commands->tag.page)
      AGX_TRY(agx_tag_take(commands->device, &commands->tag));
   uint64_t stream_room = agx_align_up(sizes.stream_B + PREFETCH_B, STREAM_ALIGN);
   AGX_TRY(
      prepare(commands, &commands->words, sizes.words_B + PREFETCH_B, AGXW_BO_USC, &out.words));
   AGX_TRY(prepare(commands, &commands->data, stream_room + sizes.uniform_B, 0, &out.stream));
   out.uniforms = out.stream;
   out.uniforms.bytes.used = stream_room;
   out.stream.bytes.capacity = stream_room;
   AGX_TRY(encode_segments(commands, &out));
   commands->stream_end_va = area_end(&out.stream);
   AGX_TRY(agx_hw_cdm_terminate(&out.stream.bytes));
   commands->stream_va = out.stream.va;
   return AGX_OK;
}
