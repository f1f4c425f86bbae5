/* SPDX-License-Identifier: MIT
 *
 * Makes launch plans with the packers of agx/hw: executable_load.c calls agx_plan_make() once for
 * each entry point, the general path of recording changes copies of a plan.
 */
#include "hal/executable/launch_plan.h"

#include <string.h>

#include "base/util.h"

/* ---- words ------------------------------------------------------------- */

/* The launch's code for so many samplers of 8 bytes. */
static uint32_t sampler_states(uint32_t count)
{
   return count <= 16 ? (uint32_t)agx_div_up(count, 4) : AGX_HW_SAMPLER_STATES_16_COMPACT;
}

static void count_states(const struct agx_program *program, struct agx_plan *plan)
{
   for (uint32_t i = 0; i < program->state_count; i++)
      *(agx_state_is_texture(program->states[i].kind) ? &plan->texture_count
                                                      : &plan->sampler_count) += 1;
}

/* counts_va 0: the grid is in the stream. */
static agx_status pack_stream(const struct agx_chip *chip, const struct agx_program *program,
                              uint64_t counts_va, struct agx_plan *plan)
{
   const struct agx_hw_launch launch = {
      .uniform_halves = program->uniform_halves,
      .preamble_halves = program->preamble_gpr_halves,
      .texture_count = plan->texture_count,
      .sampler_states = sampler_states(plan->sampler_count),
      .mode = counts_va ? AGX_HW_CDM_MODE_INDIRECT_GLOBAL : AGX_HW_CDM_MODE_DIRECT,
      .indirect_address = counts_va,
      .local = {program->local_size[0], program->local_size[1], program->local_size[2]},
   };
   struct agx_hw_buffer words = {(uint8_t *)plan->stream, sizeof(plan->stream), 0};
   AGX_TRY(agx_hw_cdm_launch(&words, chip, &launch));
   plan->stream_B = (uint32_t)words.used;
   plan->is_indirect = counts_va;
   plan->grid_at_B = plan->stream_B - AGX_HW_CDM_GLOBAL_SIZE_BYTES - AGX_HW_CDM_LOCAL_SIZE_BYTES;
   return AGX_OK;
}

/* Words that would load from address 0 on. */
static agx_status pack_loads(struct agx_plan *plan)
{
   struct agx_hw_buffer words = {(uint8_t *)plan->loads, sizeof(plan->loads), 0};
   AGX_TRY(agx_hw_usc_uniforms(&words, 0, plan->uniform_B / 2, 0));
   plan->load_count = (uint32_t)(words.used / AGX_HW_USC_UNIFORM_BYTES);
   return AGX_OK;
}

static agx_status pack_tail(const struct agx_program *program, const struct agx_plan_code *code,
                            struct agx_plan *plan)
{
   const struct agx_hw_usc_program usc = {
      .shared_B = program->shared_B,
      .code_offset = code->code_offset_B,
      .gpr_halves = AGX_MAX(program->gpr_halves, 1u),
      .scratch_B = program->scratch_B,
      .has_preamble = program->preamble_B > 0,
      .preamble_offset = code->preamble_offset_B,
   };
   struct agx_hw_buffer words = {(uint8_t *)plan->tail, sizeof(plan->tail), 0};
   return agx_hw_usc_compute(&words, &usc);
}

/* ---- plans --------------------------------------------------------------- */

static uint32_t provided_uniform_B(const struct agx_program *program)
{
   uint32_t halves = 0;
   for (uint32_t i = 0; i < program->uniform_count; i++)
      halves = AGX_MAX(halves, program->uniforms[i].start + program->uniforms[i].halves);
   return (uint32_t)agx_align_up(halves * 2u, 4);
}

agx_status agx_plan_make(const struct agx_chip *chip, const struct agx_program *program,
                         const struct agx_plan_code *code, struct agx_plan *out_plan)
{
   *out_plan = (struct agx_plan){.uniform_B = provided_uniform_B(program)};
   count_states(program, out_plan);
   AGX_TRY(pack_stream(chip, program, 0, out_plan));
   AGX_TRY(pack_loads(out_plan));
   AGX_TRY(pack_tail(program, code, out_plan));
   out_plan->uniform_B = (uint32_t)agx_align_up(out_plan->uniform_B, 8);
   return AGX_OK;
}

agx_status agx_plan_resize(const struct agx_chip *chip, const struct agx_program *program,
                           const struct agx_plan_code *code, const uint32_t local_size[3],
                           uint32_t more_shared_B, struct agx_plan *plan)
{
   struct agx_program resized = *program;
   memcpy(resized.local_size, local_size, sizeof(resized.local_size));
   resized.shared_B += more_shared_B;
   AGX_TRY(pack_stream(chip, &resized, 0, plan));
   return pack_tail(&resized, code, plan);
}

agx_status agx_plan_indirect(const struct agx_chip *chip, const struct agx_program *program,
                             const uint32_t local_size[3], uint64_t counts_va,
                             struct agx_plan *plan)
{
   struct agx_program resized = *program;
   memcpy(resized.local_size, local_size, sizeof(resized.local_size));
   return pack_stream(chip, &resized, counts_va, plan);
}

/* ---- blocks ------------------------------------------------------------ */

struct agx_block agx_plan_block(const struct agx_plan *plan, uint32_t heap_B)
{
   struct agx_block block;
   uint64_t words_B = (plan->load_count + plan->other_count) * AGX_HW_USC_UNIFORM_BYTES +
                      sizeof(plan->tail) + (plan->texture_count ? AGX_HW_USC_TEXTURE_BYTES : 0) +
                      (plan->sampler_count ? AGX_HW_USC_SAMPLER_BYTES : 0);
   uint64_t at = agx_align_up(words_B, 8);
   block.uniforms_at = (uint32_t)at;
   at =
      agx_align_up(at + plan->uniform_B,
                   plan->texture_count || plan->sampler_count || heap_B ? AGX_PLAN_PART_ALIGN : 8);
   block.states_at = (uint32_t)at;
   at = agx_align_up(at + agx_plan_state_B(plan), AGX_PLAN_PART_ALIGN);
   block.heap_at = (uint32_t)at;
   block.total_B = (uint32_t)agx_align_up(at + heap_B, AGX_PLAN_PART_ALIGN);
   return block;
}
