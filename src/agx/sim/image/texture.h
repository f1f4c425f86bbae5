/* SPDX-License-Identifier: MIT
 *
 * Descriptors of textures, storage images and samplers, unpacked for use, and the
 * state registers that hold them in a dispatch. source: docs/hw/cmdstream.md
 * docs/hw/machine.md 14
 */
#pragma once

#include "agx/hw/packet.h"
#include "agx/layout/layout.h"
#include "agx/sim/memory/memory.h"
#include "agx/sim/image/texel.h"

#define AGXS_TEXTURE_STATES    256u
#define AGXS_SAMPLER_STATES    28u
#define AGXS_HEAP_SAMPLER      28u /* in a register: the first of the command's heap */
#define AGXS_TEXTURE_BYTES     24u
#define AGXS_SAMPLER_MAX_BYTES 24u

/* An image that a texture or PBE descriptor shows. */
struct agxs_texture {
   uint8_t descriptor[AGXS_TEXTURE_BYTES];
   uint8_t dimension; /* enum agx_hw_texture_dimension */
   struct agxs_texel_format format;
   uint8_t swizzle[4]; /* enum agx_hw_channel; PBE: what each memory channel takes */
   bool is_srgb;
   uint64_t address;
   uint32_t first_level, level_count; /* of the view */
   uint32_t layers;                   /* layers, faces or slices */
   struct agx_layout layout;
};

/* From 24 bytes; AGX_UNIMPLEMENTED names what is not modelled, AGX_INVALID_ARGUMENT what
 * the hardware does not have. */
AGX_MUST_CHECK agx_status agxs_texture_init(struct agxs_texture *texture,
                                            const uint8_t descriptor[AGXS_TEXTURE_BYTES]);
/* The same of a PBE descriptor, which stores use. */
AGX_MUST_CHECK agx_status agxs_texture_init_pbe(struct agxs_texture *texture,
                                                const uint8_t descriptor[AGXS_TEXTURE_BYTES]);

struct agxs_sampler {
   struct agx_hw_sampler state;
   bool has_border;
   uint32_t border[4]; /* custom words, memory channels */
};

/* size: 8, or 24 with a border colour. */
AGX_MUST_CHECK agx_status agxs_sampler_init(struct agxs_sampler *sampler, const uint8_t *bytes,
                                            unsigned size);

/* The state registers of a dispatch. */
struct agxs_states {
   uint32_t texture_count; /* declared */
   uint32_t sampler_count, sampler_bytes;
   bool has_texture[AGXS_TEXTURE_STATES];
   bool has_sampler[AGXS_SAMPLER_STATES];
   uint8_t texture[AGXS_TEXTURE_STATES][AGXS_TEXTURE_BYTES];
   uint8_t sampler[AGXS_SAMPLER_STATES][AGXS_SAMPLER_MAX_BYTES];
};

/* How many samplers the launch's code declares, and the bytes of each; false: no code. */
bool agxs_states_declare_samplers(struct agxs_states *states, unsigned code);

/* Why an access failed. */
struct agxs_image_error {
   agx_status status; /* AGX_DATA_LOSS: memory; AGX_UNIMPLEMENTED; AGX_INVALID_ARGUMENT */
   uint64_t va;
   const char *reason; /* static */
};

/* The bytes of texel x, y of a level and layer of the image, or NULL when its memory is not
 * mapped so, or its block is stored compressed. Coordinates are inside. */
uint8_t *agxs_texture_find(const struct agxs_texture *texture, struct agxs_tlb *tlb, uint32_t level,
                           uint32_t layer, uint32_t x, uint32_t y, uint32_t sample,
                           enum agxs_access access, struct agxs_image_error *error);

/* Marks the block around texel x, y as stored plainly; nothing to do where the level has no
 * metadata. False: it is not mapped. */
bool agxs_texture_set_plain(const struct agxs_texture *texture, struct agxs_tlb *tlb,
                            uint32_t level, uint32_t layer, uint32_t x, uint32_t y,
                            struct agxs_image_error *error);
