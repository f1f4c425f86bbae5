/* SPDX-License-Identifier: MIT
 *
 * A launch plan: what all launches of an executable have in common, made once, so that recording
 * one is a few stores. It says where everything of a launch is written: its words in the stream,
 * and, elsewhere, one block that holds
 *    the words of the shader core    Uniform words, Texture and Sampler words, then the end
 *    the uniform contents            from a multiple of 8 bytes on
 *    the descriptors of states       from a multiple of 64 on; textures, then samplers
 *    the heap                        from a multiple of 64 on: what code indexes
 * Source: docs/hw/cmdstream.md 1 and 2.
 */
#pragma once

#include "agx/chip.h"
#include "agx/hw/cdm.h"
#include "agx/hw/usc.h"
#include "program/program.h"

#define AGX_PLAN_MAX_LOADS  (2 * AGX_UNIFORM_HALVES / AGX_HW_USC_UNIFORM_MAX)
#define AGX_PLAN_PART_ALIGN 64u

/* Where parts of a block begin, relative to it. */
struct agx_block {
   uint32_t uniforms_at, states_at, heap_at, total_B;
};

struct agx_plan {
   /* Words of the stream. The second one is added the offset of the block in the USC window;
    * the grid follows the head. */
   uint32_t stream_B, grid_at_B;
   uint64_t stream[AGX_HW_CDM_LAUNCH_MAX_BYTES / 8];
   bool is_indirect; /* the grid is in memory: all words are complete but for the block */

   /* Words of the block: loads, to which the address of the uniform contents is added, then, not
    * where there are none, those of states; then the tail. */
   uint32_t load_count;
   uint64_t loads[AGX_PLAN_MAX_LOADS];
   uint32_t other_count; /* behind them: loads from elsewhere (indirect.c), complete */
   uint64_t others[AGX_PLAN_MAX_LOADS];
   uint64_t tail[(AGX_HW_USC_TAIL_MAX_BYTES + 7) / 8]; /* zeros behind */
   uint32_t texture_count, sampler_count;

   uint32_t uniform_B; /* contents, a multiple of 8 */
};

/* Where the code is, relative to the USC window. */
struct agx_plan_code {
   uint32_t code_offset_B, preamble_offset_B;
};
/* Makes the plan of a program whose code lies at *code. Fails where a number does not fit its
 * field. */
AGX_MUST_CHECK agx_status agx_plan_make(const struct agx_chip *chip,
                                        const struct agx_program *program,
                                        const struct agx_plan_code *code,
                                        struct agx_plan *out_plan);

/* Changes a copy of a plan for launches of another workgroup size, and with more workgroup memory
 * behind the program's own. */
AGX_MUST_CHECK agx_status agx_plan_resize(const struct agx_chip *chip,
                                          const struct agx_program *program,
                                          const struct agx_plan_code *code,
                                          const uint32_t local_size[3], uint32_t more_shared_B,
                                          struct agx_plan *plan);

/* Changes a copy of a plan for a grid that the hardware reads: workgroups along x, y, z at
 * counts_va.
 */
AGX_MUST_CHECK agx_status agx_plan_indirect(const struct agx_chip *chip,
                                            const struct agx_program *program,
                                            const uint32_t local_size[3], uint64_t counts_va,
                                            struct agx_plan *plan);

/* Bytes of the descriptors of states. */
static inline uint32_t agx_plan_state_B(const struct agx_plan *plan)
{
   return plan->texture_count * AGX_HW_TEXTURE_BYTES + plan->sampler_count * AGX_HW_SAMPLER_BYTES;
}

/* Where the parts of a launch's block begin, with heap_B bytes of heap. */
struct agx_block agx_plan_block(const struct agx_plan *plan, uint32_t heap_B);
