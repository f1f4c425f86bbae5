/* SPDX-License-Identifier: MIT
 *
 * Writes the blocks of a compute stream: launches, barriers, links and ends. The HAL makes launch
 * plans, breadcrumbs and streams split for profiles with it.
 */
#include "agx/hw/cdm.h"

#include <inttypes.h>

#include "base/util.h"

#define ADDRESS_BITS 40u

static agx_status check_address(const char *what, uint64_t address)
{
   if (address >> ADDRESS_BITS)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: address 0x%" PRIx64 " has more than 40 bits", what,
                      address);
   return AGX_OK;
}

static agx_status append_head(struct agx_hw_buffer *buffer, const struct agx_chip *chip,
                              const struct agx_hw_launch *launch)
{
   const struct agx_hw_cdm_launch_word_0 word0 = {
      .uniform_register_count = launch->uniform_halves,
      .texture_state_register_count = launch->texture_count,
      .sampler_state_register_count = launch->sampler_states,
      .preshader_register_count = launch->preamble_halves,
      .mode = launch->mode,
   };
   const struct agx_hw_cdm_launch_word_1 word1 = {.pipeline = launch->usc_offset};
   const struct agx_hw_cdm_unk_g14x extra = agx_hw_cdm_unk_g14x_default();
   AGX_TRY(agx_hw_append(buffer, &agx_hw_cdm_launch_word_0_packet, &word0));
   AGX_TRY(agx_hw_append(buffer, &agx_hw_cdm_launch_word_1_packet, &word1));
   if (chip->cdm_has_unk_words)
      AGX_TRY(agx_hw_append(buffer, &agx_hw_cdm_unk_g14x_packet, &extra));
   return AGX_OK;
}

static agx_status append_sizes(struct agx_hw_buffer *buffer, const struct agx_hw_launch *launch)
{
   const struct agx_hw_cdm_global_size global = {launch->global[0], launch->global[1],
                                                 launch->global[2]};
   const struct agx_hw_cdm_local_size local = {launch->local[0], launch->local[1],
                                               launch->local[2]};
   const struct agx_hw_cdm_indirect indirect = {
      .address_hi = (uint32_t)(launch->indirect_address >> 32),
      .address_lo = (uint32_t)launch->indirect_address,
   };
   if (launch->mode == AGX_HW_CDM_MODE_DIRECT)
      AGX_TRY(agx_hw_append(buffer, &agx_hw_cdm_global_size_packet, &global));
   else
      AGX_TRY(agx_hw_append(buffer, &agx_hw_cdm_indirect_packet, &indirect));
   if (launch->mode == AGX_HW_CDM_MODE_INDIRECT_LOCAL)
      return AGX_OK;
   return agx_hw_append(buffer, &agx_hw_cdm_local_size_packet, &local);
}

agx_status agx_hw_cdm_launch(struct agx_hw_buffer *buffer, const struct agx_chip *chip,
                             const struct agx_hw_launch *launch)
{
   size_t start = buffer->used;
   AGX_TRY(check_address("CDM launch", launch->indirect_address));
   agx_status status = append_head(buffer, chip, launch);
   if (status == AGX_OK)
      status = append_sizes(buffer, launch);
   if (status != AGX_OK)
      buffer->used = start;
   return status;
}

/* Bits 0 to 19, which Mesa sets after each launch, whatever the reason: which of them is
 * needed for what is not known [U]. */
agx_status agx_hw_cdm_barrier(struct agx_hw_buffer *buffer)
{
   const struct agx_hw_cdm_barrier barrier = {
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
   return agx_hw_append(buffer, &agx_hw_cdm_barrier_packet, &barrier);
}

agx_status agx_hw_cdm_link(struct agx_hw_buffer *buffer, uint64_t address, bool is_call)
{
   const struct agx_hw_cdm_stream_link link = {
      .target_hi = (uint32_t)(address >> 32),
      .target_lo = (uint32_t)address,
      .with_return = is_call,
   };
   AGX_TRY(check_address("CDM link", address));
   return agx_hw_append(buffer, &agx_hw_cdm_stream_link_packet, &link);
}

agx_status agx_hw_cdm_terminate(struct agx_hw_buffer *buffer)
{
   const struct agx_hw_cdm_stream_terminate block = agx_hw_cdm_stream_terminate_default();
   return agx_hw_append(buffer, &agx_hw_cdm_stream_terminate_packet, &block);
}
