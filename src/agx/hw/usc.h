/* SPDX-License-Identifier: MIT
 *
 * Writers of USC words: what a launch loads into uniforms, how much threadgroup
 * memory and how many registers it has, where its code is. Hardware reads them
 * up to the preamble word, which must come last. Source: docs/hw/cmdstream.md
 * docs/hw/cmdstream.md 2.
 */
#pragma once

#include "agx/hw/packet.h"

#define AGX_HW_USC_ALIGN_B      64u  /* of the first word */
#define AGX_HW_CODE_ALIGN_B     128u /* as Mesa aligns code */
#define AGX_HW_USC_UNIFORM_MAX  64u  /* halves that one word loads */
#define AGX_HW_SHARED_MAX_BYTES 32768u
/* What follows the Uniform words in a compute program: Shared, Shader, Registers, and the
 * longer of the last ones. */
#define AGX_HW_USC_TAIL_MAX_BYTES                                                                  \
   (AGX_HW_USC_SHARED_BYTES + AGX_HW_USC_SHADER_BYTES + AGX_HW_USC_REGISTERS_BYTES +               \
    AGX_HW_USC_PRESHADER_BYTES)

/* Loads uniforms start .. start + halves (512 at most) from address (4-aligned, 40 bits):
 * one word for each 64 halves, and the upper 256 by words of their own. */
AGX_MUST_CHECK agx_status agx_hw_usc_uniforms(struct agx_hw_buffer *buffer, uint32_t start,
                                              uint32_t halves, uint64_t address);

/* A Uniform word that agx_hw_usc_uniforms made for an address, moved on by bytes (a multiple of 4;
 * the sum has 40 bits). The address stands, by 4, in its bits from 26 on. */
static inline uint64_t agx_hw_usc_uniform_at(uint64_t word, uint64_t bytes)
{
   return word + (bytes << 24);
}

/* The same for Texture and Sampler words, whose address, by 8, stands from bit 27 on. */
static inline uint64_t agx_hw_usc_states_at(uint64_t word, uint64_t bytes)
{
   return word + (bytes << 24);
}

/* In a register that names a sampler: the first of the command's heap, each of 8 bytes; smaller
 * numbers are state registers. Source: docs/hw/simulator.md, U-img-11. */
#define AGX_HW_SAMPLER_HEAP_FIRST 28u
#define AGX_HW_SAMPLER_HEAP_SLOTS 1024u /* of a heap. Source: Metal's feature tables */

/* The end of a compute program. */
struct agx_hw_usc_program {
   uint32_t shared_B;    /* threadgroup memory, up to 32768; 0: none */
   uint32_t code_offset; /* from the window's start */
   uint32_t gpr_halves;  /* up to 256 */
   uint32_t scratch_B;   /* per thread; 0: none */
   bool has_preamble;
   uint32_t preamble_offset; /* from the window's start */
};
/* Writes the words of a compute program: threadgroup memory, shader, registers, preamble. */
AGX_MUST_CHECK agx_status agx_hw_usc_compute(struct agx_hw_buffer *buffer,
                                             const struct agx_hw_usc_program *program);
