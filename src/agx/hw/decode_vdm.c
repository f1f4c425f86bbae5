/* SPDX-License-Identifier: MIT
 *
 * The walk over vertex streams and the records of the primitive pipeline. A block or record is a
 * word of presence bits and, in the order of a table here, what they say follows. Source:
 * docs/hw/cmdstream.md 6.
 */
#include <inttypes.h>
#include <stddef.h>

#include "agx/hw/decode_impl.h"
#include "base/util.h"

struct walk {
   const struct agx_hw_reader *reader;
   const struct agx_hw_visitor *visitor;
   uint64_t usc_base, va;
   uint64_t returns[AGX_HW_MAX_CALL_DEPTH];
   uint32_t depth, jumps, varyings;
   bool is_done;
};

/* Room for any packet's values. */
union values {
   struct agx_hw_vdm_state_vertex_shader_word_1 vertex;
   struct agx_hw_fragment_shader_word_0 fragment_counts;
   struct agx_hw_fragment_shader_word_1 fragment;
   struct agx_hw_fragment_shader_word_2 varyings;
   uint8_t any[AGX_HW_MAX_STRUCT_BYTES];
};

/* A packet that follows when a bit is set: `present` is the offset of its bool. */
struct part {
   const struct agx_hw_packet *packet;
   uint16_t present;
   bool per_viewport; /* one for each */
};

static agx_status take(struct walk *walk, const struct agx_hw_packet *packet, void *out)
{
   return agx_hw_take_packet(walk->reader, walk->visitor, packet, &walk->va, out);
}

static agx_status tell_program(struct walk *walk, enum agx_hw_stage stage, uint32_t pipeline)
{
   struct agx_hw_usc_info info;
   AGX_TRY(agx_hw_walk_usc(walk->reader, walk->usc_base + pipeline, walk->visitor, &info));
   const struct agx_hw_visitor *visitor = walk->visitor;
   return visitor->program ? visitor->program(visitor->user, stage, &info) : AGX_OK;
}

static agx_status tell_words(struct walk *walk, uint64_t end, bool is_padding)
{
   const struct agx_hw_visitor *visitor = walk->visitor;
   uint64_t va = walk->va;
   walk->va = end;
   return end > va && visitor->words
             ? visitor->words(visitor->user, va, (uint32_t)((end - va) / 4), is_padding)
             : AGX_OK;
}

/* Where a fragment shader's varyings go: a header and a word for each. */
static agx_status walk_varyings(struct walk *walk, uint32_t offset)
{
   union values values;
   uint64_t after = walk->va;
   walk->va = walk->usc_base + offset;
   AGX_TRY(take(walk, &agx_hw_cf_binding_header_packet, &values));
   for (uint32_t i = 0; i < walk->varyings; i++)
      AGX_TRY(take(walk, &agx_hw_cf_binding_packet, &values));
   walk->va = after;
   return AGX_OK;
}

/* What a packet points at. */
static agx_status follow(struct walk *walk, const struct agx_hw_packet *packet,
                         const union values *values)
{
   if (packet == &agx_hw_vdm_state_vertex_shader_word_1_packet)
      return tell_program(walk, AGX_HW_STAGE_VERTEX, values->vertex.pipeline);
   if (packet == &agx_hw_fragment_shader_word_1_packet && values->fragment.pipeline)
      return tell_program(walk, AGX_HW_STAGE_FRAGMENT, values->fragment.pipeline);
   if (packet == &agx_hw_fragment_shader_word_0_packet)
      walk->varyings = values->fragment_counts.cf_binding_count;
   if (packet == &agx_hw_fragment_shader_word_2_packet && values->varyings.cf_bindings)
      return walk_varyings(walk, values->varyings.cf_bindings);
   return AGX_OK;
}

static agx_status take_part(struct walk *walk, const struct part *part, uint32_t viewports)
{
   union values values;
   for (uint32_t i = 0; i < (part->per_viewport ? viewports : 1); i++) {
      AGX_TRY(take(walk, part->packet, &values));
      AGX_TRY(follow(walk, part->packet, &values));
   }
   return AGX_OK;
}

static agx_status take_parts(struct walk *walk, const struct part *parts, size_t count,
                             const void *presence, uint32_t viewports)
{
   for (size_t i = 0; i < count; i++)
      if (((const bool *)presence)[parts[i].present])
         AGX_TRY(take_part(walk, &parts[i], viewports));
   return AGX_OK;
}

/* ---- records of the primitive pipeline ---- */

#define PART(type, bit, packet)                                                                    \
   {                                                                                               \
      &agx_hw_##packet##_packet, offsetof(struct agx_hw_##type, bit), false                        \
   }
#define VIEWPORT_PART(bit, packet)                                                                 \
   {                                                                                               \
      &agx_hw_##packet##_packet, offsetof(struct agx_hw_ppp_header, bit), true                     \
   }

static const struct part record_parts[] = {
   PART(ppp_header, fragment_control, fragment_control),
   PART(ppp_header, fragment_control_2, fragment_control),
   PART(ppp_header, fragment_front_face, fragment_face),
   PART(ppp_header, fragment_front_face_2, fragment_face_2),
   PART(ppp_header, fragment_front_stencil, fragment_stencil),
   PART(ppp_header, fragment_back_face, fragment_face),
   PART(ppp_header, fragment_back_face_2, fragment_face_2),
   PART(ppp_header, fragment_back_stencil, fragment_stencil),
   PART(ppp_header, depth_bias_scissor, depth_bias_scissor),
   VIEWPORT_PART(region_clip, region_clip),
   PART(ppp_header, viewport, viewport_control),
   VIEWPORT_PART(viewport, viewport),
   PART(ppp_header, w_clamp, w_clamp),
   PART(ppp_header, output_select, output_select),
   PART(ppp_header, varying_counts_32, varying_counts),
   PART(ppp_header, varying_counts_16, varying_counts),
   PART(ppp_header, cull, cull),
   PART(ppp_header, cull_2, cull_2),
   PART(ppp_header, fragment_shader, fragment_shader_word_0),
   PART(ppp_header, fragment_shader, fragment_shader_word_1),
   PART(ppp_header, fragment_shader, fragment_shader_word_2),
   PART(ppp_header, fragment_shader, fragment_shader_word_3),
   PART(ppp_header, occlusion_query, fragment_occlusion_query),
   PART(ppp_header, occlusion_query_2, fragment_occlusion_query_2),
   PART(ppp_header, output_unknown, output_unknown),
   PART(ppp_header, output_size, output_size),
   PART(ppp_header, varying_word_2, varying_2),
};

static agx_status walk_record(struct walk *walk, uint64_t va, uint32_t words)
{
   struct agx_hw_ppp_header header;
   uint64_t after = walk->va, end = va + 4 * (uint64_t)words;
   walk->va = va;
   AGX_TRY(take(walk, &agx_hw_ppp_header_packet, &header));
   AGX_TRY(take_parts(walk, record_parts, AGX_COUNT(record_parts), &header, header.viewport_count));
   if (walk->va > end)
      return AGX_FAIL(AGX_DATA_LOSS,
                      "record at 0x%" PRIx64 ": its header says %" PRIu64 " words, its size is %u",
                      va, (walk->va - va) / 4, words);
   AGX_TRY(tell_words(walk, end, false));
   walk->va = after;
   return AGX_OK;
}

static agx_status walk_state(struct walk *walk)
{
   struct agx_hw_ppp_state state;
   AGX_TRY(take(walk, &agx_hw_ppp_state_packet, &state));
   return walk_record(walk, (uint64_t)state.pointer_hi << 32 | state.pointer_lo, state.size_words);
}

/* ---- blocks of the stream ---- */

static const struct part state_parts[] = {
   PART(vdm_state, restart_index_present, vdm_state_restart_index),
   PART(vdm_state, vertex_shader_word_0_present, vdm_state_vertex_shader_word_0),
   PART(vdm_state, vertex_shader_word_1_present, vdm_state_vertex_shader_word_1),
   PART(vdm_state, vertex_outputs_present, vdm_state_vertex_outputs),
   PART(vdm_state, tessellation_present, vdm_state_tessellation),
   PART(vdm_state, vertex_unknown_present, vdm_state_vertex_unknown),
   PART(vdm_state, tessellation_scale_present, vdm_state_tessellation_scale),
};

static agx_status walk_vertex_state(struct walk *walk)
{
   struct agx_hw_vdm_state state;
   uint64_t start = walk->va;
   AGX_TRY(take(walk, &agx_hw_vdm_state_packet, &state));
   AGX_TRY(take_parts(walk, state_parts, AGX_COUNT(state_parts), &state, 0));
   return tell_words(walk, start + agx_align_up(walk->va - start, 8), true);
}

static const struct part draw_parts[] = {
   PART(index_list, index_buffer_present, index_list_buffer_lo),
   PART(index_list, index_count_present, index_list_count),
   PART(index_list, instance_count_present, index_list_instances),
   PART(index_list, start_present, index_list_start),
   PART(index_list, indirect_buffer_present, index_list_indirect_buffer),
   PART(index_list, index_buffer_size_present, index_list_buffer_size),
};

static agx_status walk_draw(struct walk *walk)
{
   struct agx_hw_index_list draw;
   uint64_t start = walk->va;
   AGX_TRY(take(walk, &agx_hw_index_list_packet, &draw));
   if (draw.unk_1_present || draw.unk_2_present)
      return AGX_FAIL(AGX_DATA_LOSS, "index list at 0x%" PRIx64 ": words that are not known follow",
                      start);
   return take_parts(walk, draw_parts, AGX_COUNT(draw_parts), &draw, 0);
}

static const struct part tessellate_parts[] = {
   PART(vdm_tessellate, factor_buffer_present, vdm_tessellate_factor_buffer),
   PART(vdm_tessellate, patch_count_present, vdm_tessellate_patch_count),
   PART(vdm_tessellate, instance_count_present, vdm_tessellate_instance_count),
   PART(vdm_tessellate, base_patch_present, vdm_tessellate_base_patch),
   PART(vdm_tessellate, base_instance_present, vdm_tessellate_base_instance),
   PART(vdm_tessellate, instance_stride_present, vdm_tessellate_instance_stride),
   PART(vdm_tessellate, indirect_present, vdm_tessellate_indirect),
   PART(vdm_tessellate, factor_buffer_size_present, vdm_tessellate_factor_buffer_size),
};

static agx_status walk_tessellate(struct walk *walk)
{
   struct agx_hw_vdm_tessellate draw;
   AGX_TRY(take(walk, &agx_hw_vdm_tessellate_packet, &draw));
   return take_parts(walk, tessellate_parts, AGX_COUNT(tessellate_parts), &draw, 0);
}

static agx_status jump(struct walk *walk, uint64_t va)
{
   walk->va = va;
   if (walk->jumps++ < AGX_HW_MAX_JUMPS)
      return AGX_OK;
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "vertex stream at 0x%" PRIx64 ": no end after %u links",
                   va, AGX_HW_MAX_JUMPS);
}

static agx_status walk_link(struct walk *walk)
{
   struct agx_hw_vdm_stream_link link;
   AGX_TRY(take(walk, &agx_hw_vdm_stream_link_packet, &link));
   if (link.with_return) {
      if (walk->depth == AGX_HW_MAX_CALL_DEPTH)
         return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "call before 0x%" PRIx64 ": deeper than %u",
                         walk->va, AGX_HW_MAX_CALL_DEPTH);
      walk->returns[walk->depth++] = walk->va;
   }
   return jump(walk, (uint64_t)link.target_hi << 32 | link.target_lo);
}

static agx_status walk_barrier(struct walk *walk)
{
   struct agx_hw_vdm_barrier barrier;
   AGX_TRY(take(walk, &agx_hw_vdm_barrier_packet, &barrier));
   if (!barrier.returns)
      return AGX_OK;
   if (walk->depth == 0)
      return AGX_FAIL(AGX_DATA_LOSS, "return before 0x%" PRIx64 ": nothing was called", walk->va);
   return jump(walk, walk->returns[--walk->depth]);
}

static agx_status walk_terminate(struct walk *walk)
{
   struct agx_hw_vdm_stream_terminate block;
   AGX_TRY(take(walk, &agx_hw_vdm_stream_terminate_packet, &block));
   walk->is_done = true;
   return AGX_OK;
}

static agx_status (*const blocks[8])(struct walk *) = {
   [AGX_HW_VDM_BLOCK_TYPE_PPP_STATE_UPDATE] = walk_state,
   [AGX_HW_VDM_BLOCK_TYPE_BARRIER] = walk_barrier,
   [AGX_HW_VDM_BLOCK_TYPE_VDM_STATE_UPDATE] = walk_vertex_state,
   [AGX_HW_VDM_BLOCK_TYPE_INDEX_LIST] = walk_draw,
   [AGX_HW_VDM_BLOCK_TYPE_STREAM_LINK] = walk_link,
   [AGX_HW_VDM_BLOCK_TYPE_TESSELLATE] = walk_tessellate,
   [AGX_HW_VDM_BLOCK_TYPE_STREAM_TERMINATE] = walk_terminate,
};

static agx_status walk_block(struct walk *walk)
{
   uint8_t head[4];
   AGX_TRY(agx_hw_read_words(walk->reader, walk->va, head, 4, "vertex stream"));
   unsigned type = head[3] >> 5;
   if (!blocks[type])
      return AGX_FAIL(AGX_DATA_LOSS, "vertex stream at 0x%" PRIx64 ": block type %u is none",
                      walk->va, type);
   return blocks[type](walk);
}

agx_status agx_hw_walk_vdm(const struct agx_hw_reader *reader, uint64_t usc_base,
                           uint64_t stream_va, const struct agx_hw_visitor *visitor)
{
   struct walk walk = {.reader = reader, .visitor = visitor, .usc_base = usc_base, .va = stream_va};
   for (uint32_t i = 0; i < AGX_HW_MAX_BLOCKS; i++) {
      AGX_TRY(walk_block(&walk));
      if (walk.is_done)
         return AGX_OK;
   }
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "vertex stream at 0x%" PRIx64 ": no end after %u blocks",
                   stream_va, AGX_HW_MAX_BLOCKS);
}
