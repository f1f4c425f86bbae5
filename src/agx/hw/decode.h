/* SPDX-License-Identifier: MIT
 *
 * Reading compute streams and USC words back, packet by packet, from memory that
 * is not trusted: reads go through a callback, blocks, calls and words are
 * limited, so that a stream that links to itself ends with an error.
 */
#pragma once

#include "agx/hw/cdm.h"

#define AGX_HW_MAX_USC_WORDS  64u /* uniform, texture and sampler words of one program */
#define AGX_HW_MAX_BLOCKS     (1u << 22)
#define AGX_HW_MAX_JUMPS      16384u /* links and returns of a stream */
#define AGX_HW_MAX_CALL_DEPTH 8u

/* Copies size bytes at GPU address va; false when they are not there. */
struct agx_hw_reader {
   void *user;
   bool (*read)(void *user, uint64_t va, void *out, size_t size);
};

struct agx_hw_usc_load {
   uint32_t start, halves; /* of the uniform file, from 0 to 511 */
   uint64_t address;
};

/* Descriptors for state registers start .. start + count. */
struct agx_hw_usc_state {
   uint32_t start, count;
   uint64_t address;
};

/* What the USC words of a launch say. */
struct agx_hw_usc_info {
   uint32_t load_count;
   struct agx_hw_usc_load loads[AGX_HW_MAX_USC_WORDS];
   uint32_t texture_count, sampler_count; /* words */
   struct agx_hw_usc_state textures[AGX_HW_MAX_USC_WORDS];
   struct agx_hw_usc_state samplers[AGX_HW_MAX_USC_WORDS];
   uint32_t shared_B;
   uint32_t shared_layout;   /* enum agx_hw_shared_layout */
   uint32_t sample_stride_B; /* of a pixel's sample in tile memory */
   uint32_t code_offset;     /* from the window's start */
   uint32_t gpr_halves, spill_code;
   bool has_shader; /* a Shader word was there */
   bool has_preamble;
   uint32_t preamble_offset; /* from the window's start */
};

enum agx_hw_stage {
   AGX_HW_STAGE_VERTEX,
   AGX_HW_STAGE_FRAGMENT,
};

/* Any function may be NULL; one that fails ends the walk with its status. */
struct agx_hw_visitor {
   void *user;
   /* Each packet in reading order; `values` is the packet's struct. */
   agx_status (*packet)(void *user, const struct agx_hw_packet *packet, uint64_t va,
                        const void *values);
   /* A packet whose constant bits are wrong; the thread's error text says how. NULL: the
    * walk ends with it. */
   agx_status (*trouble)(void *user, const struct agx_hw_packet *packet, uint64_t va);
   /* A launch, when its stream words and its USC words have been read. */
   agx_status (*launch)(void *user, const struct agx_hw_launch *launch,
                        const struct agx_hw_usc_info *program);
   /* A program of a vertex stream, when its USC words have been read. */
   agx_status (*program)(void *user, enum agx_hw_stage stage,
                         const struct agx_hw_usc_info *program);
   /* Words without a packet: padding that fills a state block up, or what a record's size leaves
    * behind all that its header names. */
   agx_status (*words)(void *user, uint64_t va, uint32_t count, bool is_padding);
};

/* Walks a stream to its Terminate. usc_base is the window that launches are relative to.
 * AGX_DATA_LOSS: memory is not there, or a block or word is none; AGX_RESOURCE_EXHAUSTED:
 * a limit; the text names the address. */
AGX_MUST_CHECK agx_status agx_hw_walk_cdm(const struct agx_chip *chip,
                                          const struct agx_hw_reader *reader, uint64_t usc_base,
                                          uint64_t stream_va, const struct agx_hw_visitor *visitor);

/* The same for a vertex stream and the records of the primitive pipeline that it points at. */
AGX_MUST_CHECK agx_status agx_hw_walk_vdm(const struct agx_hw_reader *reader, uint64_t usc_base,
                                          uint64_t stream_va, const struct agx_hw_visitor *visitor);

/* The USC words at va alone, to the word that ends them. */
AGX_MUST_CHECK agx_status agx_hw_walk_usc(const struct agx_hw_reader *reader, uint64_t va,
                                          const struct agx_hw_visitor *visitor,
                                          struct agx_hw_usc_info *out_info);
