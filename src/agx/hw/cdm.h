/* SPDX-License-Identifier: MIT
 *
 * Writers of compute streams: a launch with all its words, barriers, links, the
 * end. Source: docs/hw/cmdstream.md 1.
 */
#pragma once

#include "agx/chip.h"
#include "agx/hw/packet.h"

/* The longest launch, in bytes. */
#define AGX_HW_CDM_LAUNCH_MAX_BYTES                                                                \
   (AGX_HW_CDM_LAUNCH_WORD_0_BYTES + AGX_HW_CDM_LAUNCH_WORD_1_BYTES + AGX_HW_CDM_UNK_G14X_BYTES +  \
    AGX_HW_CDM_GLOBAL_SIZE_BYTES + AGX_HW_CDM_LOCAL_SIZE_BYTES)

/* One launch. The writers take it, the walk of decode.h gives it back. Counts that come
 * back are what is allocated: rounded up to the hardware's groups. */
struct agx_hw_launch {
   uint32_t uniform_halves;   /* up to 512 */
   uint32_t texture_count;    /* up to 256 */
   uint32_t preamble_halves;  /* registers of the preamble, up to 256 */
   uint32_t sampler_states;   /* enum agx_hw_sampler_states */
   uint32_t usc_offset;       /* of the USC words from the window's start, 64-aligned */
   uint32_t mode;             /* enum agx_hw_cdm_mode */
   uint64_t indirect_address; /* of the sizes, 4-aligned, 40 bits; modes other than direct */
   uint32_t global[3];        /* threads of the grid; direct mode */
   uint32_t local[3];         /* threads of a workgroup; not when the sizes are all indirect */
};

/* Appends the words of a launch as the chip wants them. On failure nothing is appended. */
AGX_MUST_CHECK agx_status agx_hw_cdm_launch(struct agx_hw_buffer *buffer,
                                            const struct agx_chip *chip,
                                            const struct agx_hw_launch *launch);

/* Everything before has run and is visible before what follows. */
AGX_MUST_CHECK agx_status agx_hw_cdm_barrier(struct agx_hw_buffer *buffer);
/* The word that agx_hw_cdm_barrier appends, which is always the same. */
#define AGX_HW_CDM_BARRIER_WORD 0x600fffffu

/* Goes on at address (40 bits); with is_call comes back at a Return. */
AGX_MUST_CHECK agx_status agx_hw_cdm_link(struct agx_hw_buffer *buffer, uint64_t address,
                                          bool is_call);
/* Ends the stream. */
AGX_MUST_CHECK agx_status agx_hw_cdm_terminate(struct agx_hw_buffer *buffer);
