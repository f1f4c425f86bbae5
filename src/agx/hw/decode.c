/* SPDX-License-Identifier: MIT
 *
 * The walk over compute streams, and the walk over USC words. Source: docs/hw/cmdstream.md 1 and 2.
 */
#include "agx/hw/decode_impl.h"

#include <inttypes.h>

#include "base/util.h"

#define USC_HIGH_START 256u

struct walk {
   const struct agx_chip *chip;
   const struct agx_hw_reader *reader;
   const struct agx_hw_visitor *visitor;
   uint64_t usc_base, va;
   uint64_t returns[AGX_HW_MAX_CALL_DEPTH];
   uint32_t depth, jumps;
   bool is_done;
};

agx_status agx_hw_read_words(const struct agx_hw_reader *reader, uint64_t va, void *out,
                             size_t size, const char *what)
{
   if (!reader->read(reader->user, va, out, size))
      return AGX_FAIL(AGX_DATA_LOSS, "%s at 0x%" PRIx64 ": %zu bytes are not mapped", what, va,
                      size);
   return AGX_OK;
}

agx_status agx_hw_take_packet(const struct agx_hw_reader *reader,
                              const struct agx_hw_visitor *visitor,
                              const struct agx_hw_packet *packet, uint64_t *va, void *out_values)
{
   uint8_t bytes[AGX_HW_MAX_PACKET_BYTES];
   uint64_t at = *va;
   AGX_TRY(agx_hw_read_words(reader, at, bytes, packet->size_B, packet->name));
   *va += packet->size_B;
   agx_status status = agx_hw_unpack(packet, bytes, out_values);
   if (status != AGX_OK && visitor->trouble)
      status = visitor->trouble(visitor->user, packet, at);
   AGX_TRY(status);
   return visitor->packet ? visitor->packet(visitor->user, packet, at, out_values) : AGX_OK;
}

/* ---- USC words -------------------------------------------------------- */

union usc_values {
   struct agx_hw_usc_uniform uniform;
   struct agx_hw_usc_uniform_high uniform_high;
   struct agx_hw_usc_texture texture;
   struct agx_hw_usc_sampler sampler;
   struct agx_hw_usc_shared shared;
   struct agx_hw_usc_shader shader;
   struct agx_hw_usc_registers registers;
   struct agx_hw_usc_preshader preshader;
   uint8_t any[AGX_HW_MAX_STRUCT_BYTES];
};

static void note_load(struct agx_hw_usc_info *info, uint32_t start, uint32_t halves,
                      uint64_t address)
{
   info->loads[info->load_count++] = (struct agx_hw_usc_load){start, halves, address};
}

static void note_uniform(struct agx_hw_usc_info *info, const union usc_values *values)
{
   note_load(info, values->uniform.start_halfs, values->uniform.size_halfs, values->uniform.buffer);
}

static void note_uniform_high(struct agx_hw_usc_info *info, const union usc_values *values)
{
   note_load(info, USC_HIGH_START + values->uniform_high.start_halfs,
             values->uniform_high.size_halfs, values->uniform_high.buffer);
}

static void note_texture(struct agx_hw_usc_info *info, const union usc_values *values)
{
   info->textures[info->texture_count++] = (struct agx_hw_usc_state){
      values->texture.start, values->texture.count, values->texture.buffer};
}

static void note_sampler(struct agx_hw_usc_info *info, const union usc_values *values)
{
   info->samplers[info->sampler_count++] = (struct agx_hw_usc_state){
      values->sampler.start, values->sampler.count, values->sampler.buffer};
}

static void note_shared(struct agx_hw_usc_info *info, const union usc_values *values)
{
   if (values->shared.uses_shared_memory)
      info->shared_B = values->shared.bytes_per_threadgroup;
   info->shared_layout = values->shared.layout;
   info->sample_stride_B = 8 * values->shared.sample_stride_in_8_bytes;
}

static void note_shader(struct agx_hw_usc_info *info, const union usc_values *values)
{
   info->has_shader = true;
   info->code_offset = values->shader.code;
}

static void note_registers(struct agx_hw_usc_info *info, const union usc_values *values)
{
   info->gpr_halves = values->registers.register_count;
   info->spill_code = values->registers.spill_size;
}

static void note_preshader(struct agx_hw_usc_info *info, const union usc_values *values)
{
   info->has_preamble = true;
   info->preamble_offset = values->preshader.code;
}

static void note_nothing(struct agx_hw_usc_info *info, const union usc_values *values) {}

static const struct usc_word {
   enum agx_hw_usc_control tag;
   const struct agx_hw_packet *packet;
   void (*note)(struct agx_hw_usc_info *info, const union usc_values *values);
   bool is_last;
} usc_words[] = {
   {AGX_HW_USC_CONTROL_UNIFORM, &agx_hw_usc_uniform_packet, note_uniform},
   {AGX_HW_USC_CONTROL_UNIFORM_HIGH, &agx_hw_usc_uniform_high_packet, note_uniform_high},
   {AGX_HW_USC_CONTROL_TEXTURE, &agx_hw_usc_texture_packet, note_texture},
   {AGX_HW_USC_CONTROL_SAMPLER, &agx_hw_usc_sampler_packet, note_sampler},
   {AGX_HW_USC_CONTROL_SHARED, &agx_hw_usc_shared_packet, note_shared},
   {AGX_HW_USC_CONTROL_SHADER, &agx_hw_usc_shader_packet, note_shader},
   {AGX_HW_USC_CONTROL_REGISTERS, &agx_hw_usc_registers_packet, note_registers},
   {AGX_HW_USC_CONTROL_FRAGMENT_PROPERTIES, &agx_hw_usc_fragment_properties_packet, note_nothing},
   {AGX_HW_USC_CONTROL_PRESHADER, &agx_hw_usc_preshader_packet, note_preshader, true},
   {AGX_HW_USC_CONTROL_NO_PRESHADER, &agx_hw_usc_no_preshader_packet, note_nothing, true},
};

static const struct usc_word *find_usc_word(uint8_t tag)
{
   for (size_t i = 0; i < AGX_COUNT(usc_words); i++)
      if (usc_words[i].tag == tag)
         return &usc_words[i];
   return NULL;
}

agx_status agx_hw_walk_usc(const struct agx_hw_reader *reader, uint64_t va,
                           const struct agx_hw_visitor *visitor, struct agx_hw_usc_info *out_info)
{
   memset(out_info, 0, sizeof(*out_info));
   for (uint32_t i = 0; i < AGX_HW_MAX_USC_WORDS; i++) {
      union usc_values values;
      uint8_t tag;
      AGX_TRY(agx_hw_read_words(reader, va, &tag, 1, "USC words"));
      const struct usc_word *word = find_usc_word(tag);
      if (!word)
         return AGX_FAIL(AGX_DATA_LOSS, "USC words at 0x%" PRIx64 ": tag 0x%02x is none", va, tag);
      AGX_TRY(agx_hw_take_packet(reader, visitor, word->packet, &va, &values));
      word->note(out_info, &values);
      if (word->is_last)
         return AGX_OK;
   }
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "USC words at 0x%" PRIx64 ": no end after %u", va,
                   AGX_HW_MAX_USC_WORDS);
}

/* ---- stream ----------------------------------------------------------- */

static agx_status take_block(struct walk *walk, const struct agx_hw_packet *packet, void *out)
{
   return agx_hw_take_packet(walk->reader, walk->visitor, packet, &walk->va, out);
}

static agx_status take_sizes(struct walk *walk, struct agx_hw_launch *launch)
{
   struct agx_hw_cdm_global_size global;
   struct agx_hw_cdm_local_size local;
   struct agx_hw_cdm_indirect indirect;
   if (launch->mode == AGX_HW_CDM_MODE_DIRECT) {
      AGX_TRY(take_block(walk, &agx_hw_cdm_global_size_packet, &global));
      memcpy(launch->global, &global, sizeof(launch->global));
   } else {
      AGX_TRY(take_block(walk, &agx_hw_cdm_indirect_packet, &indirect));
      launch->indirect_address = (uint64_t)indirect.address_hi << 32 | indirect.address_lo;
   }
   if (launch->mode == AGX_HW_CDM_MODE_INDIRECT_LOCAL)
      return AGX_OK;
   AGX_TRY(take_block(walk, &agx_hw_cdm_local_size_packet, &local));
   memcpy(launch->local, &local, sizeof(launch->local));
   return AGX_OK;
}

static agx_status walk_launch(struct walk *walk)
{
   struct agx_hw_cdm_launch_word_0 word0;
   struct agx_hw_cdm_launch_word_1 word1;
   struct agx_hw_cdm_unk_g14x extra;
   struct agx_hw_usc_info program;
   uint64_t start = walk->va;
   AGX_TRY(take_block(walk, &agx_hw_cdm_launch_word_0_packet, &word0));
   AGX_TRY(take_block(walk, &agx_hw_cdm_launch_word_1_packet, &word1));
   if (walk->chip->cdm_has_unk_words)
      AGX_TRY(take_block(walk, &agx_hw_cdm_unk_g14x_packet, &extra));
   if (word0.mode > AGX_HW_CDM_MODE_INDIRECT_LOCAL)
      return AGX_FAIL(AGX_DATA_LOSS, "launch at 0x%" PRIx64 ": mode %u is none", start,
                      (unsigned)word0.mode);
   struct agx_hw_launch launch = {
      .uniform_halves = word0.uniform_register_count,
      .texture_count = word0.texture_state_register_count,
      .preamble_halves = word0.preshader_register_count,
      .sampler_states = word0.sampler_state_register_count,
      .usc_offset = word1.pipeline,
      .mode = word0.mode,
   };
   AGX_TRY(take_sizes(walk, &launch));
   AGX_TRY(
      agx_hw_walk_usc(walk->reader, walk->usc_base + launch.usc_offset, walk->visitor, &program));
   const struct agx_hw_visitor *visitor = walk->visitor;
   return visitor->launch ? visitor->launch(visitor->user, &launch, &program) : AGX_OK;
}

/* A stream without jumps ends where memory does. */
static agx_status jump(struct walk *walk, uint64_t va)
{
   walk->va = va;
   if (walk->jumps++ < AGX_HW_MAX_JUMPS)
      return AGX_OK;
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "stream at 0x%" PRIx64 ": no end after %u links", va,
                   AGX_HW_MAX_JUMPS);
}

static agx_status come_back(struct walk *walk)
{
   if (walk->depth == 0)
      return AGX_FAIL(AGX_DATA_LOSS, "return before 0x%" PRIx64 ": nothing was called", walk->va);
   return jump(walk, walk->returns[--walk->depth]);
}

static agx_status walk_link(struct walk *walk)
{
   struct agx_hw_cdm_stream_link link;
   AGX_TRY(take_block(walk, &agx_hw_cdm_stream_link_packet, &link));
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
   struct agx_hw_cdm_barrier barrier;
   AGX_TRY(take_block(walk, &agx_hw_cdm_barrier_packet, &barrier));
   return barrier.returns ? come_back(walk) : AGX_OK;
}

static agx_status walk_return(struct walk *walk)
{
   struct agx_hw_cdm_stream_return block;
   AGX_TRY(take_block(walk, &agx_hw_cdm_stream_return_packet, &block));
   return come_back(walk);
}

static agx_status walk_terminate(struct walk *walk)
{
   struct agx_hw_cdm_stream_terminate block;
   AGX_TRY(take_block(walk, &agx_hw_cdm_stream_terminate_packet, &block));
   walk->is_done = true;
   return AGX_OK;
}

static agx_status (*const blocks[8])(struct walk *) = {
   [AGX_HW_CDM_BLOCK_TYPE_LAUNCH] = walk_launch,
   [AGX_HW_CDM_BLOCK_TYPE_STREAM_LINK] = walk_link,
   [AGX_HW_CDM_BLOCK_TYPE_STREAM_TERMINATE] = walk_terminate,
   [AGX_HW_CDM_BLOCK_TYPE_BARRIER] = walk_barrier,
   [AGX_HW_CDM_BLOCK_TYPE_STREAM_RETURN] = walk_return,
};

static agx_status walk_block(struct walk *walk)
{
   uint8_t head[4];
   AGX_TRY(agx_hw_read_words(walk->reader, walk->va, head, 4, "stream"));
   unsigned type = head[3] >> 5;
   if (!blocks[type])
      return AGX_FAIL(AGX_DATA_LOSS, "stream at 0x%" PRIx64 ": block type %u is none", walk->va,
                      type);
   return blocks[type](walk);
}

agx_status agx_hw_walk_cdm(const struct agx_chip *chip, const struct agx_hw_reader *reader,
                           uint64_t usc_base, uint64_t stream_va,
                           const struct agx_hw_visitor *visitor)
{
   struct walk walk = {
      .chip = chip, .reader = reader, .visitor = visitor, .usc_base = usc_base, .va = stream_va};
   for (uint32_t i = 0; i < AGX_HW_MAX_BLOCKS; i++) {
      AGX_TRY(walk_block(&walk));
      if (walk.is_done)
         return AGX_OK;
   }
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "stream at 0x%" PRIx64 ": no end after %u blocks",
                   stream_va, AGX_HW_MAX_BLOCKS);
}
